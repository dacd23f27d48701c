//! Token bucket: tokens trickle in, each unit takes one, the bucket holds at most `burst`.
//!
//! # Rule
//! `tokens = min(burst, tokens + elapsed * rate)`; admit iff `tokens >= cost`, then take `cost`.
//! With `refill = "interval"` the tokens of a period arrive together at multiples of the period
//! since the Unix epoch.
//!
//! A clock may run backwards where several processes share a bucket. With `backwards = "clamp"` the
//! instant of the bucket never does; "mint" gives no tokens for it and moves the instant back, so
//! that the same time counts twice; "abs" gives tokens for the difference in either direction.
//!
//! # State
//! What is missing, as *fill* `(burst - tokens) * period` in 8 bytes (16 where 8 do not suffice),
//! and the instant it was true: 16 or 32 bytes a key.
//!
//! # Worst case
//! `burst + ceil(rate * T) - 1` units in any half-open span T; with burst = limit and rate =
//! limit per window that is twice the limit less one in a window. Stepped: `burst + min(burst,
//! units) * ceil(T / period)`. Nothing is proven for "mint" and "abs".
//!
//! # Differs from
//! GCRA decides alike and stores one number. A leaky meter is the same bucket counted from the
//! other end. A leaky queue admits the same attempts and spaces their release.
//!
//! # Source
//! Affine arrival curve `b + r t`: Le Boudec and Thiran, *Network Calculus*, LNCS 2050.

use super::amount::div_up;
use super::drain::{Drain, Fill};
use super::{Algorithm, Amount, Decision, Level, Used};
use crate::quota::Rate;
use crate::time::{SimDuration, SimTime};
use serde::{Deserialize, Serialize};

/// How full a bucket is when its key is first seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Initial {
    /// `burst` tokens.
    #[default]
    Full,
    /// None.
    Empty,
    /// This many.
    Tokens(u64),
}

/// How tokens arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refill {
    /// Evenly over the period.
    #[default]
    Continuous,
    /// All of a period's tokens at once, at multiples of the period since the epoch.
    Interval,
}

/// What a bucket makes of a time before the one that it was last asked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backwards {
    /// Nothing: its instant never moves back.
    #[default]
    Clamp,
    /// No tokens, but its instant moves back: the time until the other clock counts again.
    Mint,
    /// Tokens for the difference, and its instant moves back.
    Abs,
}

/// The parameters of a token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenBucketSpec {
    /// Tokens per period.
    pub rate: Rate,
    /// Tokens that the bucket holds.
    pub burst: u64,
    /// Tokens of a new key.
    pub initial: Initial,
    /// How tokens arrive.
    pub refill: Refill,
    /// What it makes of a time that runs backwards; other than [`Backwards::Clamp`] only with
    /// [`Refill::Continuous`].
    pub backwards: Backwards,
}

impl TokenBucketSpec {
    /// The most units admitted in any half-open span, if its instant never moves back.
    #[must_use]
    pub fn bound(&self, span: SimDuration) -> u128 {
        let burst = u128::from(self.burst);
        if self.burst == 0 || self.rate.units == 0 || span.is_zero() {
            return if span.is_zero() { 0 } else { burst };
        }
        match self.refill {
            Refill::Continuous => {
                let (period, units) = self.rate.reduced();
                burst + div_up(u128::from(units) * span.nanos(), u128::from(period)) - 1
            }
            Refill::Interval => {
                let steps = div_up(span.nanos(), self.rate.period.nanos());
                burst + u128::from(self.burst.min(self.rate.units)) * steps
            }
        }
    }

    pub(super) fn initial_fill(&self) -> u64 {
        match self.initial {
            Initial::Full => 0,
            Initial::Empty => self.burst,
            Initial::Tokens(tokens) => self.burst.saturating_sub(tokens),
        }
    }
}

/// A token bucket that refills continuously; `A` holds unit x period.
#[derive(Clone, Copy, Debug)]
pub struct TokenBucket<A> {
    drain: Drain,
    burst: u64,
    capacity: A,
    initial: A,
}

impl<A: Amount> TokenBucket<A> {
    /// A bucket of these parameters.
    #[must_use]
    pub fn new(spec: &TokenBucketSpec) -> Self {
        let drain = Drain::new::<A>(spec.rate);
        Self { drain, burst: spec.burst, capacity: drain.level(spec.burst), initial: drain.level(spec.initial_fill()) }
    }
}

impl<A: Amount> Algorithm for TokenBucket<A> {
    /// What is missing from the bucket.
    type State = Fill<A>;
    type Tick = ();

    #[inline(always)]
    fn prefetch(&self, state: &Self::State) -> u64 {
        state.prefetch()
    }

    fn initial(&self, at: SimTime) -> Fill<A> {
        Fill::new(self.initial, at)
    }

    #[inline]
    fn ask(&self, state: &Fill<A>, at: SimTime, cost: u64) -> Decision {
        let room = self.capacity.minus(self.drain.fill(state, at));
        if (cost <= self.burst) & (self.drain.level::<A>(cost) <= room) { Decision::Allow } else { Decision::Deny }
    }

    #[inline]
    fn charge(&self, state: &mut Fill<A>, at: SimTime, cost: u64) {
        if cost > 0 {
            self.drain.add(state, at, cost);
        }
    }

    fn refund(&self, state: &mut Fill<A>, _charged_at: SimTime, at: SimTime, cost: u64) {
        self.drain.take(state, at, cost);
    }

    fn clamp(&self, state: &mut Fill<A>, at: SimTime) {
        state.set(self.drain.fill(state, at).min(self.capacity), at);
    }

    fn take_over(&self, state: &mut Fill<A>, from: &Self, at: SimTime) {
        self.drain.take_over(self.capacity, state, (from.drain, from.capacity), at);
    }

    fn retry_after(&self, state: &Fill<A>, at: SimTime, cost: u64) -> Option<SimDuration> {
        match cost {
            0 => Some(SimDuration::ZERO),
            _ if cost > self.burst => None,
            _ => Some(self.drain.wait(state, at, self.capacity.wide() - self.drain.level::<A>(cost).wide())),
        }
    }

    fn level(&self, state: &Fill<A>, at: SimTime) -> Level {
        let (fill, unit) = (self.drain.fill(state, at).wide(), self.drain.unit());
        let remaining = self.capacity.wide().saturating_sub(fill) / unit;
        let next = if remaining >= u128::from(self.burst) {
            SimDuration::ZERO
        } else {
            self.drain.wait(state, at, self.capacity.wide() - (remaining + 1) * unit)
        };
        Level {
            limit: self.burst,
            used: Used { numerator: fill, denominator: unit },
            remaining: u64::try_from(remaining).expect("at most the burst"),
            next,
            full: self.drain.wait(state, at, 0),
        }
    }

    #[inline(always)]
    fn decide(&self, state: &mut Fill<A>, at: SimTime, cost: u64) -> Decision {
        if cost == 0 {
            return Decision::Allow;
        }
        let room = self.capacity.minus(self.drain.level(cost));
        let fits = self.drain.add_within(state, at, cost, room, cost <= self.burst);
        if fits { Decision::Allow } else { Decision::Deny }
    }
}

/// A token bucket whose tokens arrive in steps at multiples of the period since the epoch.
#[derive(Clone, Copy, Debug)]
pub struct SteppedBucket {
    period: i64,
    units: u64,
    burst: u64,
    initial: u64,
}

/// Tokens missing from a stepped bucket, and the period in which that was true.
#[derive(Clone, Copy, Debug)]
pub struct SteppedFill {
    missing: u64,
    step: i64,
}

impl SteppedBucket {
    /// A bucket of these parameters.
    #[must_use]
    pub fn new(spec: &TokenBucketSpec) -> Self {
        Self {
            period: i64::try_from(spec.rate.period.short_nanos()).expect("a configured span is below 2^62"),
            units: spec.rate.units,
            burst: spec.burst,
            initial: spec.initial_fill(),
        }
    }

    #[inline]
    fn step(&self, state: &SteppedFill, at: SimTime) -> i64 {
        at.nanos().div_euclid(self.period).max(state.step)
    }

    #[inline]
    fn missing(&self, state: &SteppedFill, at: SimTime) -> u64 {
        let steps = (self.step(state, at) - state.step) as u64;
        state.missing.saturating_sub(steps.saturating_mul(self.units))
    }

    /// Time from `at` until `excess` units have come back.
    fn wait(&self, state: &SteppedFill, at: SimTime, excess: u64) -> SimDuration {
        if excess == 0 {
            return SimDuration::ZERO;
        }
        let steps = i128::from(self.step(state, at)) + i128::from(excess.div_ceil(self.units));
        let wait = steps * i128::from(self.period) - i128::from(at.nanos());
        SimDuration::from_wide_nanos(u128::try_from(wait).expect("the next step lies ahead"))
    }
}

impl Algorithm for SteppedBucket {
    type State = SteppedFill;
    type Tick = ();

    #[inline(always)]
    fn prefetch(&self, state: &Self::State) -> u64 {
        state.missing
    }

    fn initial(&self, at: SimTime) -> SteppedFill {
        SteppedFill { missing: self.initial, step: at.nanos().div_euclid(self.period) }
    }

    #[inline]
    fn ask(&self, state: &SteppedFill, at: SimTime, cost: u64) -> Decision {
        let room = self.burst.saturating_sub(self.missing(state, at));
        if cost <= room { Decision::Allow } else { Decision::Deny }
    }

    #[inline]
    fn charge(&self, state: &mut SteppedFill, at: SimTime, cost: u64) {
        if cost == 0 {
            return;
        }
        let step = self.step(state, at);
        state.missing = self.missing(state, at).saturating_add(cost);
        state.step = step;
    }

    fn refund(&self, state: &mut SteppedFill, _charged_at: SimTime, at: SimTime, cost: u64) {
        let step = self.step(state, at);
        state.missing = self.missing(state, at).saturating_sub(cost);
        state.step = step;
    }

    fn clamp(&self, state: &mut SteppedFill, _at: SimTime) {
        state.missing = state.missing.min(self.burst);
    }

    fn take_over(&self, state: &mut SteppedFill, from: &Self, at: SimTime) {
        let (step, missing) = (from.step(state, at), from.missing(state, at));
        state.missing = match from.burst.checked_sub(missing) {
            Some(left) => self.burst.saturating_sub(left),
            None => self.burst.saturating_add(missing - from.burst),
        };
        state.step = step;
    }

    fn retry_after(&self, state: &SteppedFill, at: SimTime, cost: u64) -> Option<SimDuration> {
        match cost {
            0 => Some(SimDuration::ZERO),
            _ if cost > self.burst => None,
            _ => Some(self.wait(state, at, self.missing(state, at).saturating_sub(self.burst - cost))),
        }
    }

    fn level(&self, state: &SteppedFill, at: SimTime) -> Level {
        let missing = self.missing(state, at);
        let remaining = self.burst.saturating_sub(missing);
        let next = if remaining == self.burst { 0 } else { missing - (self.burst - remaining - 1) };
        Level {
            limit: self.burst,
            used: Used::whole(missing),
            remaining,
            next: self.wait(state, at, next),
            full: self.wait(state, at, missing),
        }
    }
}
