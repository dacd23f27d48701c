//! A level that falls at a constant rate: the arithmetic that the token bucket and the leaky
//! meter share. The level is kept in unit x period, so that no rate is rounded.

use super::Amount;
use super::amount::{Scale, div_up, elapsed};
use crate::quota::Rate;
use crate::time::{SimDuration, SimTime};
use std::hint::select_unpredictable;

/// A level and the instant at which it was true.
#[derive(Clone, Copy, Debug)]
pub struct Fill<A> {
    fill: A,
    last: i64,
}

impl<A: Amount> Fill<A> {
    /// A level at an instant.
    pub const fn new(fill: A, at: SimTime) -> Self {
        Self { fill, last: at.nanos() }
    }

    /// Reads it, so that it is in the cache.
    #[inline(always)]
    pub const fn prefetch(&self) -> u64 {
        self.last as u64
    }

    /// The level at its own instant.
    pub(super) const fn level(&self) -> A {
        self.fill
    }

    /// Its instant, in nanoseconds.
    pub(super) const fn last(&self) -> i64 {
        self.last
    }

    /// Replaces the level; the instant never runs backwards.
    #[inline(always)]
    pub fn set(&mut self, fill: A, at: SimTime) {
        self.fill = fill;
        self.last = self.last.max(at.nanos());
    }
}

/// A rate in lowest terms: a level in unit x period falls by `units` each nanosecond.
#[derive(Clone, Copy, Debug)]
pub struct Drain {
    period: u64,
    units: u64,
    /// No level takes longer to drain.
    reach: u64,
}

impl Drain {
    /// The drain of a rate, for levels of type `A`.
    pub fn new<A: Amount>(rate: Rate) -> Self {
        let (period, units) = rate.reduced();
        Self { period, units, reach: A::reach(units) }
    }

    /// The size of one unit in a level.
    pub fn unit(self) -> u128 {
        u128::from(self.period)
    }

    /// `cost` units as a level; the caller has checked that it fits.
    #[inline(always)]
    pub fn level<A: Amount>(self, cost: u64) -> A {
        A::product(cost, self.period)
    }

    /// `cost` units as a level, or the largest one.
    pub fn saturating_level<A: Amount>(self, cost: u64) -> A {
        A::saturating_product(cost, self.period)
    }

    /// Units that come back in a nanosecond, times the size of one.
    pub fn units(self) -> u128 {
        u128::from(self.units)
    }

    /// How much any level falls in so many nanoseconds.
    pub fn falls<A: Amount>(self, nanos: u64) -> A {
        A::product(nanos.min(self.reach), self.units)
    }

    /// How much any level has fallen by `at`.
    #[inline(always)]
    pub fn drained<A: Amount>(self, state: &Fill<A>, at: SimTime) -> A {
        A::product(elapsed(state.last, at.nanos()).min(self.reach), self.units)
    }

    /// Takes `cost` units if the level at `at` is at most `room`; whether it is.
    #[inline(always)]
    pub fn add_within<A: Amount>(self, state: &mut Fill<A>, at: SimTime, cost: u64, room: A, may: bool) -> bool {
        // fill - drained <= room, without the difference: what follows does not wait for it.
        let drained = self.drained(state, at);
        let fits = may & (state.fill <= drained.plus(room));
        let level = state.fill.minus(drained);
        state.set(select_unpredictable(fits, level.plus(self.level(cost)), level), at);
        fits
    }

    /// The level at `at`.
    #[inline(always)]
    pub fn fill<A: Amount>(self, state: &Fill<A>, at: SimTime) -> A {
        state.fill.minus(self.drained(state, at))
    }

    /// Adds `cost` units, whatever the level.
    #[inline]
    pub fn add<A: Amount>(self, state: &mut Fill<A>, at: SimTime, cost: u64) {
        state.set(self.fill(state, at).plus(A::saturating_product(cost, self.period)), at);
    }

    /// Takes `cost` units away again.
    pub fn take<A: Amount>(self, state: &mut Fill<A>, at: SimTime, cost: u64) {
        state.set(self.fill(state, at).minus(A::saturating_product(cost, self.period)), at);
    }

    /// Makes a level of another drain and capacity its own: as much is left below `capacity`.
    pub fn take_over<A: Amount>(self, capacity: A, state: &mut Fill<A>, from: (Self, A), at: SimTime) {
        let scale = |(drain, capacity): (Self, A)| Scale { capacity: capacity.wide(), unit: drain.unit() };
        let level = from.0.fill(state, at).wide();
        state.set(A::narrow(scale((self, capacity)).take_over(scale(from), level)), at);
    }

    /// Time from `at` until the level is at most `target`.
    pub fn wait<A: Amount>(self, state: &Fill<A>, at: SimTime, target: u128) -> SimDuration {
        let excess = self.fill(state, at).wide().saturating_sub(target);
        if excess == 0 {
            return SimDuration::ZERO;
        }
        // A state ahead of this caller's clock does not fall before that clock has caught up.
        let ahead = elapsed(at.nanos(), state.last);
        SimDuration::from_wide_nanos(div_up(excess, u128::from(self.units)) + u128::from(ahead))
    }
}
