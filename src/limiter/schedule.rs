//! A virtual schedule: the instant at which all accepted work is done, in 1/units nanoseconds.
//!
//! GCRA calls that instant the theoretical arrival time, a leaky queue the time its server is next
//! free; both accept an attempt when the backlog with it stays within a capacity.

use super::amount::{Scale, div_up};
use super::{Level, Used};
use crate::quota::Rate;
use crate::time::{SimDuration, SimTime};
use std::fmt::Debug;

/// A signed integer wide enough for an instant in 1/units nanoseconds.
pub trait Ticks: Copy + Debug + Ord + Send + Sync + 'static {
    /// Before every instant.
    const LEAST: Self;
    /// `a * b`; the caller has checked that it fits.
    fn instant(a: i64, b: u64) -> Self;
    /// `a * b` for a cost within the capacity; the caller has checked that it fits.
    fn span(a: u64, b: u64) -> Self;
    /// `self + other`, or the largest value.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// `self - other`, or the smallest value.
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// The value in 128 bits.
    fn wide(self) -> i128;
    /// A value of 128 bits, or the nearest.
    fn narrow(wide: i128) -> Self;
    /// `self / units` rounded up, or the largest value, for a value that is not negative.
    fn nanos(self, units: u64) -> u64;
}

impl Ticks for i64 {
    const LEAST: Self = Self::MIN;

    #[inline(always)]
    fn instant(a: i64, b: u64) -> Self {
        a.wrapping_mul(b as i64)
    }
    #[inline(always)]
    fn span(a: u64, b: u64) -> Self {
        a.wrapping_mul(b) as i64
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
    #[inline]
    fn wide(self) -> i128 {
        i128::from(self)
    }
    fn narrow(wide: i128) -> Self {
        Self::try_from(wide).unwrap_or(if wide < 0 { Self::MIN } else { Self::MAX })
    }
    #[inline]
    fn nanos(self, units: u64) -> u64 {
        // Most rates reduce to one unit: a division that is easily foretold to be none.
        if units == 1 { self as u64 } else { (self as u64).div_ceil(units) }
    }
}

impl Ticks for i128 {
    const LEAST: Self = Self::MIN;

    #[inline(always)]
    fn instant(a: i64, b: u64) -> Self {
        i128::from(a) * i128::from(b)
    }
    #[inline(always)]
    fn span(a: u64, b: u64) -> Self {
        i128::from(a) * i128::from(b)
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
    fn wide(self) -> i128 {
        self
    }
    fn narrow(wide: i128) -> Self {
        wide
    }
    #[inline]
    fn nanos(self, units: u64) -> u64 {
        u64::try_from(div_up(self as u128, u128::from(units))).unwrap_or(u64::MAX)
    }
}

/// The parameters of a virtual schedule: one unit every `period / units` nanoseconds, and at most
/// `burst` units of backlog.
#[derive(Clone, Copy, Debug)]
pub struct Schedule<T> {
    origin: i64,
    period: u64,
    units: u64,
    burst: u64,
    capacity: T,
}

impl<T: Ticks> Schedule<T> {
    /// A schedule whose instants count from `origin`.
    pub fn new(rate: Rate, burst: u64, origin: SimTime) -> Self {
        let (period, units) = rate.reduced();
        Self { origin: origin.nanos(), period, units, burst, capacity: T::span(burst, period) }
    }

    /// `at` on this schedule's scale.
    #[inline(always)]
    pub fn now(&self, at: SimTime) -> T {
        T::instant(at.nanos() - self.origin, self.units)
    }

    /// Whether `cost` more units keep the backlog within the capacity.
    #[inline(always)]
    pub fn fits(&self, done: T, at: SimTime, cost: u64) -> bool {
        // max(done, now) - now <= capacity - need, with the least to wait for after `done` is known.
        let need = T::span(cost, self.period);
        (cost <= self.burst) & (done <= self.now(at).plus(self.capacity.minus(need)))
    }

    /// The instant at which `cost` more units are done too; none change nothing.
    #[inline(always)]
    pub fn advance(&self, done: T, at: SimTime, cost: u64) -> T {
        let later = done.max(self.now(at)).plus(T::span(cost, self.period));
        if cost == 0 { done } else { later }
    }

    /// The instant without `cost` of its units, not earlier than `at`.
    pub fn withdraw(&self, done: T, at: SimTime, cost: u64) -> T {
        let now = self.now(at);
        done.max(now).minus(T::span(cost, self.period)).max(now)
    }

    /// The instant with no more than the capacity of work that is not done.
    pub fn clamp(&self, done: T, at: SimTime) -> T {
        done.min(self.now(at).plus(self.capacity))
    }

    /// An instant of another schedule on this one, with as much room left as there was.
    pub fn with_room_of(&self, done: T, from: &Self, at: SimTime) -> T {
        let scale = |of: &Self| Scale { capacity: of.capacity.wide().unsigned_abs(), unit: u128::from(of.period) };
        self.after(scale(self).take_over(scale(from), from.backlog(done, at)), at)
    }

    /// An instant of another schedule on this one: the same instant.
    pub fn at_time_of(&self, done: T, from: &Self, at: SimTime) -> T {
        let (backlog, units, scale) = (from.backlog(done, at), u128::from(from.units.max(1)), u128::from(self.units));
        // Whole nanoseconds and the rest apart: each product fits.
        self.after((backlog / units * scale).saturating_add((backlog % units * scale).div_ceil(units)), at)
    }

    /// The instant at which so much work is done from `at` on.
    fn after(&self, backlog: u128, at: SimTime) -> T {
        let backlog = i128::try_from(backlog).unwrap_or(i128::MAX);
        T::narrow(self.now(at).wide().saturating_add(backlog))
    }

    /// Work accepted and not done at `at`, in 1/units nanoseconds.
    /// Exact also where `at` lies past all arrivals and on no 64-bit scale any more.
    pub fn backlog(&self, done: T, at: SimTime) -> u128 {
        let now = (i128::from(at.nanos()) - i128::from(self.origin)) * i128::from(self.units);
        done.wide().saturating_sub(now).max(0) as u128
    }

    /// Nanoseconds, rounded up, from `at` until what was accepted is done; saturates.
    #[inline(always)]
    pub fn delay(&self, done: T, at: SimTime) -> u64 {
        let now = self.now(at);
        // Where nothing is ever released, nothing waits.
        done.max(now).minus(now).nanos(self.units.max(1))
    }

    /// Nanoseconds, rounded up, that `backlog` takes.
    #[inline]
    pub fn nanos(&self, backlog: u128) -> SimDuration {
        if backlog == 0 {
            return SimDuration::ZERO;
        }
        SimDuration::from_wide_nanos(div_up(backlog, u128::from(self.units)))
    }

    /// The smallest wait after which `cost` units fit.
    pub fn retry_after(&self, done: T, at: SimTime, cost: u64) -> Option<SimDuration> {
        if cost > self.burst {
            return None;
        }
        if cost == 0 {
            return Some(SimDuration::ZERO);
        }
        let need = self.backlog(done, at) + u128::from(cost) * u128::from(self.period);
        Some(self.nanos(need.saturating_sub(self.capacity.wide() as u128)))
    }

    /// The quota view.
    pub fn level(&self, done: T, at: SimTime) -> Level {
        let (backlog, period) = (self.backlog(done, at), u128::from(self.period));
        let capacity = self.capacity.wide() as u128;
        let remaining = capacity.saturating_sub(backlog) / period;
        let next = if remaining >= u128::from(self.burst) { 0 } else { backlog + (remaining + 1) * period - capacity };
        Level {
            limit: self.burst,
            used: Used { numerator: backlog, denominator: period },
            remaining: u64::try_from(remaining).expect("at most the burst"),
            next: self.nanos(next),
            full: self.nanos(backlog),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A level is asked for after the last arrival too, where 64 bits do not hold the scaled instant.
        #[test]
        fn narrow_levels_are_wide_levels(
            units in 1..2_000_000_000_u64, burst in 1..1_000_u64, done in 0..8_000_000_000_i64, at in 0..1_i64 << 61
        ) {
            let rate = Rate { units, period: SimDuration::from_secs(1) };
            let (narrow, wide) = (
                Schedule::<i64>::new(rate, burst, SimTime::EPOCH),
                Schedule::<i128>::new(rate, burst, SimTime::EPOCH),
            );
            let (done, at) = (SimTime::from_nanos(done), SimTime::from_nanos(at));
            prop_assume!(i64::try_from(wide.now(done)).is_ok());
            prop_assert_eq!(narrow.level(narrow.now(done), at), wide.level(wide.now(done), at));
            prop_assert_eq!(narrow.retry_after(narrow.now(done), at, 1), wide.retry_after(wide.now(done), at, 1));
        }
    }
}
