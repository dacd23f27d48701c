//! A part of a limiter, as an exact fraction.

use super::{
    FixedWindowSpec, GcraSpec, Initial, LeakyBucketSpec, LimiterSpec, Refill, SlidingCounterSpec, SlidingLogSpec,
    TokenBucketSpec,
};
use crate::quota::{Limit, MAX_UNITS, Rate};
use crate::time::SimDuration;

/// A part of a whole: a fraction from zero to one, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    numerator: u64,
    denominator: u64,
}

const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A fraction in lowest terms.
const fn lowest(numerator: u128, denominator: u128) -> (u128, u128) {
    let divisor = gcd(numerator, denominator);
    (numerator / divisor, denominator / divisor)
}

impl Part {
    /// Nothing.
    pub const NONE: Self = Self { numerator: 0, denominator: 1 };
    /// Everything.
    pub const WHOLE: Self = Self { numerator: 1, denominator: 1 };

    /// `numerator / denominator`, the whole at most; rounded down where 64 bits do not hold it in lowest
    /// terms. A part of nothing is nothing.
    #[must_use]
    pub fn of(numerator: u128, denominator: u128) -> Self {
        if denominator == 0 {
            return Self::NONE;
        }
        let (numerator, denominator) = lowest(numerator.min(denominator), denominator);
        let shift = (u128::BITS - denominator.leading_zeros()).saturating_sub(63);
        // Cut to fewer bits, a part is never more than it was.
        let (numerator, denominator) = match shift {
            0 => (numerator, denominator),
            _ => lowest(numerator >> shift, (denominator >> shift) + 1),
        };
        let short = |value: u128| u64::try_from(value).expect("cut to 63 bits");
        Self { numerator: short(numerator), denominator: short(denominator) }
    }

    /// Numerator and denominator.
    #[must_use]
    pub const fn fraction(self) -> (u64, u64) {
        (self.numerator, self.denominator)
    }

    /// Whether it is no more than another.
    #[must_use]
    pub const fn is_at_most(self, other: Self) -> bool {
        self.numerator as u128 * other.denominator as u128 <= other.numerator as u128 * self.denominator as u128
    }

    /// This part of so many units, rounded down.
    #[must_use]
    pub fn floor_of(self, units: u64) -> u64 {
        let units = u128::from(units) * u128::from(self.numerator) / u128::from(self.denominator);
        u64::try_from(units).expect("a part is no more than the whole")
    }

    /// A part of a rate: exact where the clock and the count of units can tell it, else rounded down.
    fn rate_of(self, rate: Rate) -> Rate {
        let units = u128::from(rate.units) * u128::from(self.numerator);
        let period = rate.period.nanos() * u128::from(self.denominator);
        let (units, period) = lowest(units, period);
        let cut = |shift: u32| (units >> shift, (period >> shift) + u128::from(shift > 0));
        let fits = |(units, period)| units <= u128::from(MAX_UNITS) && period <= SimDuration::MAX_CONFIGURED.nanos();
        let (units, period) = (0..u128::BITS).map(cut).find(|cut| fits(*cut)).expect("cut to one bit, all fits");
        let units = u64::try_from(units).expect("cut to what is counted");
        Rate { units, period: SimDuration::from_wide_nanos(period) }
    }

    /// A part of a rate and its burst: where either would be nothing, nothing fits at once.
    fn flow_of(self, rate: Rate, burst: u64) -> (Rate, u64) {
        let (part, burst) = (self.rate_of(rate), self.floor_of(burst));
        // What never fits needs no rate: levels of before go on draining.
        if part.units == 0 || burst == 0 { (rate, 0) } else { (part, burst) }
    }
}

impl LimiterSpec {
    /// A part of it: units rounded down, the rate exact where the clock can tell it.
    #[must_use]
    pub fn scaled(&self, part: Part) -> Self {
        if part == Part::WHOLE {
            return self.clone();
        }
        let limit = |limit: Limit| Limit { units: part.floor_of(limit.units), ..limit };
        match *self {
            Self::FixedWindow(spec) => Self::FixedWindow(FixedWindowSpec { limit: limit(spec.limit), ..spec }),
            Self::SlidingLog(spec) => Self::SlidingLog(SlidingLogSpec { limit: limit(spec.limit), ..spec }),
            Self::SlidingCounter(spec) => Self::SlidingCounter(SlidingCounterSpec { limit: limit(spec.limit), ..spec }),
            Self::TokenBucket(spec) => {
                let (rate, burst) = match spec.refill {
                    Refill::Continuous => part.flow_of(spec.rate, spec.burst),
                    // Tokens keep coming at the same instants.
                    Refill::Interval => match (part.floor_of(spec.rate.units), part.floor_of(spec.burst)) {
                        (0, _) | (_, 0) => (spec.rate, 0),
                        (units, burst) => (Rate { units, ..spec.rate }, burst),
                    },
                };
                let initial = match spec.initial {
                    Initial::Tokens(tokens) => Initial::Tokens(part.floor_of(tokens)),
                    other => other,
                };
                Self::TokenBucket(TokenBucketSpec { rate, burst, initial, ..spec })
            }
            Self::LeakyBucket(spec) => {
                let (rate, capacity) = part.flow_of(spec.rate, spec.capacity);
                Self::LeakyBucket(LeakyBucketSpec { rate, capacity, ..spec })
            }
            Self::Gcra(spec) => {
                let (rate, burst) = part.flow_of(spec.rate, spec.burst);
                Self::Gcra(GcraSpec { rate, burst })
            }
        }
    }
}

impl Default for Part {
    fn default() -> Self {
        Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::BigRational;
    use proptest::prelude::*;

    fn fraction(numerator: impl Into<u128>, denominator: impl Into<u128>) -> BigRational {
        BigRational::new(numerator.into().into(), denominator.into().into())
    }

    /// Numbers of all lengths, from one to a power of two.
    fn sized(bits: u32) -> impl Strategy<Value = u128> {
        (0..=bits).prop_flat_map(|bits| 1..=1_u128 << bits)
    }

    proptest! {
        #[test]
        fn a_part_is_in_lowest_terms_and_never_more(a in sized(127), b in sized(127)) {
            let (numerator, denominator) = Part::of(a, b).fraction();
            let (told, exact) = (fraction(numerator, denominator), fraction(a.min(b), b));
            prop_assert_eq!(gcd(numerator.into(), denominator.into()), 1);
            if exact.denom().bits() <= 63 {
                prop_assert_eq!(told, exact);
            } else {
                // Of 63 bits, the first is one: either number is off by less than one in 2^62.
                let off = (&exact - &told) * fraction(1_u128 << 61, 1_u8);
                prop_assert!(told <= exact && off < fraction(1_u8, 1_u8), "{told} of {exact}");
            }
        }

        #[test]
        fn a_part_of_a_rate_is_never_more_and_hardly_less(
            units in sized(62), period in sized(61), a in sized(62), b in sized(62)
        ) {
            let rate = Rate { units: units as u64, period: SimDuration::from_wide_nanos(period) };
            let found = Part::of(a, b).rate_of(rate);
            let (told, longest) = (found.period.nanos(), SimDuration::MAX_CONFIGURED.nanos());
            let exact = fraction(units, period) * fraction(a.min(b), b);
            prop_assert!(found.units <= MAX_UNITS && told <= longest);
            if *exact.numer() <= MAX_UNITS.into() && *exact.denom() <= longest.into() {
                prop_assert_eq!(fraction(found.units, told), exact);
            } else {
                // Less than one step of either number away, and half the step would not fit.
                prop_assert!(fraction(found.units, told) <= exact, "{found} of {exact}");
                prop_assert!(exact * fraction(told - 1, 1_u8) < fraction(found.units + 1, 1_u8), "{found}");
                prop_assert!(found.units >= MAX_UNITS / 2 || told * 2 > longest, "{found}");
            }
        }
    }

    #[test]
    fn what_just_fits_is_not_cut() {
        let longest = Rate { units: 1, period: SimDuration::MAX_CONFIGURED };
        let most = Rate { units: MAX_UNITS, period: SimDuration::from_nanos(3) };
        let half = Rate { units: 1, period: SimDuration::from_wide_nanos(longest.period.nanos() / 2) };
        assert_eq!(Part::of(1, 2).rate_of(half), longest);
        assert_eq!(Part::WHOLE.rate_of(most), most);
    }

    #[test]
    fn a_part_of_a_small_rate_is_exact() {
        let rate: Rate = "10/1s".parse().expect("valid");
        assert_eq!(Part::of(7, 10).rate_of(rate).reduced(), (1_000_000_000, 7));
        assert_eq!(Part::of(1, 3).rate_of(rate).reduced(), (300_000_000, 1));
    }
}
