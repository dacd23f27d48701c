//! Integer widths: a bucket's fill in unit x period, 64 bits where they suffice, else 128.

use std::fmt::Debug;
use std::hint::black_box;

/// An unsigned integer wide enough for every product of one limiter's parameters.
///
/// The 64-bit form is chosen only where the plan proves that it fits; the 128-bit form always
/// does, because units and spans are each below 2^62.
pub trait Amount: Copy + Debug + Default + Ord + Send + Sync + 'static {
    /// `a * b`; the caller has checked that it fits.
    fn product(a: u64, b: u64) -> Self;
    /// `a * b`, or the largest value.
    fn saturating_product(a: u64, b: u64) -> Self;
    /// `self + other`, or the largest value.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// `self - other`, or zero.
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// The longest time that can be multiplied by `units`; any level has drained by then.
    fn reach(units: u64) -> u64;
    /// The value in 128 bits.
    fn wide(self) -> u128;
    /// A value of 128 bits, or the largest.
    fn narrow(wide: u128) -> Self;
}

/// The largest value of the 64-bit form: it keeps to 63 bits, so that a difference has a sign.
const LARGEST: u64 = i64::MAX as u64;

impl Amount for u64 {
    #[inline(always)]
    fn product(a: u64, b: u64) -> Self {
        a.wrapping_mul(b)
    }
    #[inline(always)]
    fn saturating_product(a: u64, b: u64) -> Self {
        a.saturating_mul(b).min(LARGEST)
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other).min(LARGEST)
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // Whether a bucket has run dry is hard to foretell. A plain maximum becomes a branch on it; a
        // mask that the compiler cannot look through does not.
        let difference = self.wrapping_sub(other) as i64;
        (difference & black_box(!(difference >> 63))) as Self
    }
    #[inline]
    fn reach(units: u64) -> u64 {
        LARGEST / units.max(1)
    }
    #[inline]
    fn wide(self) -> u128 {
        u128::from(self)
    }
    fn narrow(wide: u128) -> Self {
        Self::try_from(wide).unwrap_or(LARGEST).min(LARGEST)
    }
}

impl Amount for u128 {
    #[inline(always)]
    fn product(a: u64, b: u64) -> Self {
        u128::from(a) * u128::from(b)
    }
    #[inline(always)]
    fn saturating_product(a: u64, b: u64) -> Self {
        u128::from(a) * u128::from(b)
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.saturating_add(other)
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
    #[inline]
    fn reach(_units: u64) -> u64 {
        u64::MAX
    }
    #[inline]
    fn wide(self) -> u128 {
        self
    }
    fn narrow(wide: u128) -> Self {
        wide
    }
}

/// A capacity of whole units, and the size of one, in a limiter's own scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) capacity: u128,
    pub(super) unit: u128,
}

impl Scale {
    /// The level at which as much is left as there was with `level` in `from`, but no more than the
    /// capacity; debt stays debt. What the scale cannot tell counts as used.
    pub(super) fn take_over(self, from: Self, level: u128) -> u128 {
        // Whole units and the rest apart: each product fits.
        let whole = |level: u128| (level / from.unit).saturating_mul(self.unit);
        let rest = |level: u128| level % from.unit * self.unit;
        match from.capacity.checked_sub(level) {
            Some(left) => self.capacity.saturating_sub(whole(left).saturating_add(rest(left) / from.unit)),
            None => {
                let debt = level - from.capacity;
                self.capacity.saturating_add(whole(debt)).saturating_add(rest(debt).div_ceil(from.unit))
            }
        }
    }
}

/// Nanoseconds from `last` to `at`, zero if `at` is earlier.
#[inline]
pub(super) fn elapsed(last: i64, at: i64) -> u64 {
    (at - last).max(0) as u64
}

/// `a / b` rounded up, for any span of nanoseconds.
#[inline]
pub(super) const fn div_up(a: u128, b: u128) -> u128 {
    a.div_ceil(b)
}
