//! A token bucket that believes a clock that runs backwards.
//!
//! Two processes with clocks of their own may share a bucket. A sound one never moves its instant
//! back; these copy two common slips, by which every change between the clocks makes tokens.

use super::amount::{div_up, elapsed};
use super::drain::{Drain, Fill};
use super::{Algorithm, Amount, Backwards, Decision, Level, TokenBucketSpec, Used};
use crate::time::{SimDuration, SimTime};

/// A token bucket whose instant is always the last one that it was asked at; `A` holds unit x period.
#[derive(Clone, Copy, Debug)]
pub struct RewoundBucket<A> {
    drain: Drain,
    burst: u64,
    capacity: A,
    initial: A,
    /// Time that ran backwards counts as if it had run forwards.
    absolute: bool,
}

impl<A: Amount> RewoundBucket<A> {
    /// A bucket of these parameters.
    #[must_use]
    pub fn new(spec: &TokenBucketSpec) -> Self {
        let drain = Drain::new::<A>(spec.rate);
        let initial = drain.level(spec.initial_fill());
        let absolute = spec.backwards == Backwards::Abs;
        Self { drain, burst: spec.burst, capacity: drain.level(spec.burst), initial, absolute }
    }

    /// What is missing at `at`.
    fn missing(&self, state: &Fill<A>, at: SimTime) -> A {
        let (last, at) = (state.last(), at.nanos());
        let passed = if self.absolute { last.abs_diff(at) } else { elapsed(last, at) };
        state.level().minus(self.drain.falls(passed))
    }

    /// What is missing is brought to `at`, then changed.
    fn replace(&self, state: &mut Fill<A>, at: SimTime, change: impl FnOnce(A) -> A) {
        *state = Fill::new(change(self.missing(state, at)), at);
    }

    /// Time from `at`, on one clock, until no more than `target` is missing.
    fn wait(&self, state: &Fill<A>, at: SimTime, target: u128) -> SimDuration {
        if self.missing(state, at).wide() <= target {
            return SimDuration::ZERO;
        }
        // From the state's instant on: on the way to it no more comes in than has now.
        let (last, at) = (i128::from(state.last()), i128::from(at.nanos()));
        let full = div_up(state.level().wide() - target, self.drain.units());
        let wait = full as i128 + last - at;
        SimDuration::from_wide_nanos(u128::try_from(wait).expect("it is not there yet"))
    }
}

impl<A: Amount> Algorithm for RewoundBucket<A> {
    /// What is missing from the bucket.
    type State = Fill<A>;
    type Tick = ();

    fn prefetch(&self, state: &Fill<A>) -> u64 {
        state.prefetch()
    }

    fn initial(&self, at: SimTime) -> Fill<A> {
        Fill::new(self.initial, at)
    }

    fn ask(&self, state: &Fill<A>, at: SimTime, cost: u64) -> Decision {
        let room = self.capacity.minus(self.missing(state, at));
        let fits = cost <= self.burst && self.drain.level::<A>(cost) <= room;
        if fits || cost == 0 { Decision::Allow } else { Decision::Deny }
    }

    fn charge(&self, state: &mut Fill<A>, at: SimTime, cost: u64) {
        if cost > 0 {
            self.replace(state, at, |missing| missing.plus(self.drain.saturating_level(cost)));
        }
    }

    /// Whoever asks sets the instant, refused or not.
    fn refuse(&self, state: &mut Fill<A>, at: SimTime, cost: u64) {
        if cost > 0 {
            self.replace(state, at, |missing| missing);
        }
    }

    fn refund(&self, state: &mut Fill<A>, _charged_at: SimTime, at: SimTime, cost: u64) {
        self.replace(state, at, |missing| missing.minus(self.drain.saturating_level(cost)));
    }

    fn clamp(&self, state: &mut Fill<A>, at: SimTime) {
        self.replace(state, at, |missing| missing.min(self.capacity));
    }

    fn take_over(&self, state: &mut Fill<A>, from: &Self, at: SimTime) {
        self.drain.take_over(self.capacity, state, (from.drain, from.capacity), at);
    }

    fn retry_after(&self, state: &Fill<A>, at: SimTime, cost: u64) -> Option<SimDuration> {
        match cost {
            0 => Some(SimDuration::ZERO),
            _ if cost > self.burst => None,
            _ => Some(self.wait(state, at, self.capacity.wide() - self.drain.level::<A>(cost).wide())),
        }
    }

    fn level(&self, state: &Fill<A>, at: SimTime) -> Level {
        let (missing, unit) = (self.missing(state, at).wide(), self.drain.unit());
        let remaining = self.capacity.wide().saturating_sub(missing) / unit;
        let next = if remaining >= u128::from(self.burst) {
            SimDuration::ZERO
        } else {
            self.wait(state, at, self.capacity.wide() - (remaining + 1) * unit)
        };
        Level {
            limit: self.burst,
            used: Used { numerator: missing, denominator: unit },
            remaining: u64::try_from(remaining).expect("at most the burst"),
            next,
            full: self.wait(state, at, 0),
        }
    }
}
