//! Leaky bucket: a queue that spaces what it admits, or a meter that only counts.
//!
//! # Rule
//! `level` falls at `rate`. Queue: admit iff `level + cost <= capacity`; the attempt is released
//! when all that was admitted before it has leaked, and holds the server for `cost / rate`; one of
//! cost 0 is released at once. Meter: admit iff `level + cost <= capacity` (compare after), or
//! `level < capacity` and `cost <= capacity` (compare before), and release at once.
//!
//! # State
//! Queue: the instant at which the server is free, 8 bytes a key (16 where 8 do not suffice).
//! Meter: fill and its instant, 16 bytes (32).
//!
//! # Worst case
//! Queue, released: `ceil(rate * T) - 1 + c` units in any half-open span T, where c is the largest
//! cost, but no more than the capacity: what costs more is refused. Meter: as
//! a token bucket, `capacity + ceil(rate * T) - 1`; comparing before, `capacity + ceil(rate * T)`
//! at cost 1.
//!
//! # Differs from
//! The queue admits what a token bucket of `burst = capacity` admits and delays it. The meter is
//! that token bucket counted from the other end.
//!
//! # Source
//! Turner, "New directions in communications", IEEE Communications Magazine, 1986 (meter); the
//! queue is a single server with a finite waiting room.

use super::amount::div_up;
use super::drain::{Drain, Fill};
use super::schedule::{Schedule, Ticks};
use super::{Algorithm, Amount, Compare, Decision, Level, Used};
use crate::quota::Rate;
use crate::time::{SimDuration, SimTime};
use serde::{Deserialize, Serialize};
use std::hint::select_unpredictable;

/// What a leaky bucket does with the attempts it admits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeakyMode {
    /// Holds them and releases them evenly.
    #[default]
    Queue,
    /// Releases them at once.
    Meter,
}

/// The parameters of a leaky bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeakyBucketSpec {
    /// Units that leak per period.
    pub rate: Rate,
    /// Queue or meter.
    pub mode: LeakyMode,
    /// Places, the one in service included.
    pub capacity: u64,
    /// When a meter compares; a queue always compares after.
    pub compare: Compare,
}

impl LeakyBucketSpec {
    /// The most units released in any half-open span, if that is proven for such costs.
    #[must_use]
    pub fn bound(&self, span: SimDuration, largest_cost: u64) -> Option<u128> {
        if self.capacity == 0 || span.is_zero() {
            return Some(0);
        }
        let (period, units) = self.rate.reduced();
        let leaked = div_up(u128::from(units) * span.nanos(), u128::from(period));
        match (self.mode, self.compare) {
            // What costs more than there are places is refused.
            (LeakyMode::Queue, _) => Some(leaked.max(1) - 1 + u128::from(largest_cost.clamp(1, self.capacity))),
            (LeakyMode::Meter, Compare::After) => Some(u128::from(self.capacity) + leaked.max(1) - 1),
            (LeakyMode::Meter, Compare::Before) => (largest_cost <= 1).then(|| u128::from(self.capacity) + leaked),
        }
    }
}

/// A leaky bucket that delays: a server with a bounded queue.
#[derive(Clone, Copy, Debug)]
pub struct LeakyQueue<T> {
    schedule: Schedule<T>,
}

impl<T: Ticks> LeakyQueue<T> {
    /// A queue of these parameters; its instants count from `origin`.
    #[must_use]
    pub fn new(spec: &LeakyBucketSpec, origin: SimTime) -> Self {
        Self { schedule: Schedule::new(spec.rate, spec.capacity, origin) }
    }

    /// Whether an attempt is admitted, and its wait in nanoseconds.
    #[inline(always)]
    fn answer(&self, next_free: T, at: SimTime, cost: u64) -> (bool, u64) {
        let fits = self.schedule.fits(next_free, at, cost) & (cost > 0);
        let wait = self.schedule.delay(next_free, at);
        (fits | (cost == 0), select_unpredictable(fits, wait, 0))
    }
}

impl<T: Ticks> Algorithm for LeakyQueue<T> {
    /// The instant at which the server is next free.
    type State = T;
    type Tick = ();

    #[inline(always)]
    fn prefetch(&self, state: &Self::State) -> u64 {
        state.wide() as u64
    }

    /// Whoever's clock asks first: until something is admitted, nothing is remembered.
    fn initial(&self, _at: SimTime) -> T {
        T::LEAST
    }

    #[inline]
    fn ask(&self, next_free: &T, at: SimTime, cost: u64) -> Decision {
        decision(self.answer(*next_free, at, cost))
    }

    #[inline]
    fn charge(&self, next_free: &mut T, at: SimTime, cost: u64) {
        *next_free = self.schedule.advance(*next_free, at, cost);
    }

    fn refund(&self, next_free: &mut T, _charged_at: SimTime, at: SimTime, cost: u64) {
        *next_free = self.schedule.withdraw(*next_free, at, cost);
    }

    fn clamp(&self, next_free: &mut T, at: SimTime) {
        *next_free = self.schedule.clamp(*next_free, at);
    }

    /// What waits keeps its place, so what comes after it keeps its distance: not the room is kept, but
    /// the instant.
    fn take_over(&self, next_free: &mut T, from: &Self, at: SimTime) {
        *next_free = self.schedule.at_time_of(*next_free, &from.schedule, at);
    }

    fn retry_after(&self, next_free: &T, at: SimTime, cost: u64) -> Option<SimDuration> {
        self.schedule.retry_after(*next_free, at, cost)
    }

    fn level(&self, next_free: &T, at: SimTime) -> Level {
        self.schedule.level(*next_free, at)
    }

    #[inline(always)]
    fn decide(&self, next_free: &mut T, at: SimTime, cost: u64) -> Decision {
        decision(self.settle(next_free, &(), at, cost))
    }

    const DELAYS: bool = true;

    #[inline(always)]
    fn settle(&self, next_free: &mut T, _tick: &(), at: SimTime, cost: u64) -> (bool, u64) {
        let answer = self.answer(*next_free, at, cost);
        *next_free = select_unpredictable(answer.0, self.schedule.advance(*next_free, at, cost), *next_free);
        answer
    }
}

#[inline(always)]
const fn decision((admitted, wait): (bool, u64)) -> Decision {
    match (admitted, wait) {
        (false, _) => Decision::Deny,
        (true, 0) => Decision::Allow,
        (true, wait) => Decision::Delay(SimDuration::from_nanos(wait)),
    }
}

/// A leaky bucket that only counts; `A` holds unit x period.
#[derive(Clone, Copy, Debug)]
pub struct LeakyMeter<A> {
    drain: Drain,
    places: u64,
    capacity: A,
    compare: Compare,
}

impl<A: Amount> LeakyMeter<A> {
    /// A meter of these parameters.
    #[must_use]
    pub fn new(spec: &LeakyBucketSpec) -> Self {
        let drain = Drain::new::<A>(spec.rate);
        Self { drain, places: spec.capacity, capacity: drain.level(spec.capacity), compare: spec.compare }
    }

    #[inline(always)]
    fn fits(&self, fill: A, cost: u64) -> bool {
        let fits = match self.compare {
            Compare::After => self.drain.level::<A>(cost) <= self.capacity.minus(fill),
            Compare::Before => fill < self.capacity,
        };
        (cost == 0) | ((cost <= self.places) & fits)
    }
}

impl<A: Amount> Algorithm for LeakyMeter<A> {
    /// What the bucket holds.
    type State = Fill<A>;
    type Tick = ();

    #[inline(always)]
    fn prefetch(&self, state: &Self::State) -> u64 {
        state.prefetch()
    }

    fn initial(&self, at: SimTime) -> Fill<A> {
        Fill::new(A::default(), at)
    }

    #[inline]
    fn ask(&self, state: &Fill<A>, at: SimTime, cost: u64) -> Decision {
        if self.fits(self.drain.fill(state, at), cost) { Decision::Allow } else { Decision::Deny }
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
        if cost == 0 {
            return Some(SimDuration::ZERO);
        }
        if cost > self.places {
            return None;
        }
        let room = match self.compare {
            Compare::After => self.drain.level::<A>(cost).wide(),
            // Below the capacity, not at it.
            Compare::Before => 1,
        };
        Some(self.drain.wait(state, at, self.capacity.wide() - room))
    }

    fn level(&self, state: &Fill<A>, at: SimTime) -> Level {
        let (fill, unit) = (self.drain.fill(state, at).wide(), self.drain.unit());
        let room = self.capacity.wide().saturating_sub(fill);
        // The room that one more attempt than now needs.
        let (remaining, more) = match self.compare {
            Compare::After => (room / unit, (room / unit + 1) * unit),
            Compare::Before => (div_up(room, unit), div_up(room, unit) * unit + 1),
        };
        let next = if remaining >= u128::from(self.places) {
            SimDuration::ZERO
        } else {
            self.drain.wait(state, at, self.capacity.wide() - more)
        };
        Level {
            limit: self.places,
            used: Used { numerator: fill, denominator: unit },
            remaining: u64::try_from(remaining).expect("at most the capacity"),
            next,
            full: self.drain.wait(state, at, 0),
        }
    }

    #[inline(always)]
    fn decide(&self, state: &mut Fill<A>, at: SimTime, cost: u64) -> Decision {
        if cost == 0 {
            return Decision::Allow;
        }
        let room = match self.compare {
            Compare::After => self.capacity.minus(self.drain.level(cost)),
            // Below the capacity, not at it.
            Compare::Before => self.capacity.minus(A::product(1, 1)),
        };
        let fits = self.drain.add_within(state, at, cost, room, cost <= self.places);
        if fits { Decision::Allow } else { Decision::Deny }
    }
}
