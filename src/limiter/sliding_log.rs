//! Sliding log: remember every admitted attempt for a window. Exact, at O(limit) memory a key.
//!
//! # Rule
//! Admit iff the cost of the entries in `(t - window, t]` plus this cost is at most the limit;
//! with the inclusive edge the entries in `[t - window, t]`.
//!
//! # State
//! Where every cost is known to be one (or none): 32 bytes a key that hold its newest entry, and 8 bytes
//! a place for older ones, their number doubling on demand up to the limit. Else 64 bytes that hold two
//! entries, and 16 a place beyond. What has left makes place before there are more places.
//!
//! # Worst case
//! `limit * ceil(T / window)` units in any half-open span T: never more than the limit in a window,
//! and never a refusal of a client that keeps it. Inclusive: as a window one nanosecond longer.
//!
//! # Differs from
//! The sliding counter estimates this sum from two numbers. No limiter can be exact in less memory
//! than the log needs.
//!
//! # Source
//! The sorted-set recipe (`ZREMRANGEBYSCORE`, `ZCARD`, `ZADD`); Django REST framework's
//! `SimpleRateThrottle` keeps the same list.

use super::amount::div_up;
use super::entries::{Entries, Span};
use super::{Algorithm, Decision, Level, Used};
use crate::quota::Limit;
use crate::time::{SimDuration, SimTime};
use serde::{Deserialize, Serialize};

/// Whether an entry exactly one window old still counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edge {
    /// It has left.
    #[default]
    Exclusive,
    /// It still counts.
    Inclusive,
}

/// The parameters of a sliding log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlidingLogSpec {
    /// Units in any window.
    pub limit: Limit,
    /// Whether an entry exactly one window old still counts.
    pub edge: Edge,
    /// Whether refused attempts are logged too.
    pub count_denied: bool,
}

impl SlidingLogSpec {
    /// The most units admitted in any half-open span.
    #[must_use]
    pub fn bound(&self, span: SimDuration) -> u128 {
        u128::from(self.limit.units) * div_up(span.nanos(), u128::from(self.lifetime()))
    }

    /// Nanoseconds for which an entry counts.
    fn lifetime(&self) -> u64 {
        self.limit.window.short_nanos() + u64::from(self.edge == Edge::Inclusive)
    }
}

/// A sliding log that keeps its entries as `E`.
#[derive(Clone, Copy, Debug)]
pub struct SlidingLog<E> {
    span: Span,
    count_denied: bool,
    /// The same as `span`, with no units where a quick decision would leave out what a refusal leaves.
    quick: Span,
    entries: std::marker::PhantomData<E>,
}

impl<E: Entries> SlidingLog<E> {
    /// A log of these parameters.
    #[must_use]
    pub fn new(spec: &SlidingLogSpec) -> Self {
        let lifetime = i64::try_from(spec.lifetime()).expect("a configured span is at most 2^62");
        let span = Span { units: spec.limit.units, lifetime };
        Self {
            span,
            count_denied: spec.count_denied,
            quick: if spec.count_denied { Span { units: 0, ..span } } else { span },
            entries: std::marker::PhantomData,
        }
    }

    /// The instant this attempt counts at: time never runs backwards inside a log.
    #[inline(always)]
    fn ordered(log: &E, at: SimTime) -> i64 {
        log.newest().max(at.nanos())
    }

    /// Units that count at `at`.
    fn used(&self, log: &E, at: SimTime) -> u64 {
        log.used(self.span.gone(Self::ordered(log, at)))
    }

    /// Time from `at` until at most `target` units count.
    fn wait(&self, log: &E, at: SimTime, target: u64) -> SimDuration {
        let mut used = self.used(log, at);
        if used <= target {
            return SimDuration::ZERO;
        }
        for (entry, cost) in log.iter(self.span.gone(Self::ordered(log, at))) {
            used -= cost;
            if used <= target {
                return SimTime::from_nanos(entry + self.span.lifetime).since(at);
            }
        }
        SimDuration::ZERO
    }
}

impl<E: Entries> Algorithm for SlidingLog<E> {
    type State = E;
    type Tick = ();

    #[inline(always)]
    fn prefetch(&self, log: &E) -> u64 {
        log.prefetch()
    }

    fn initial(&self, _at: SimTime) -> E {
        E::none()
    }

    #[inline]
    fn ask(&self, log: &E, at: SimTime, cost: u64) -> Decision {
        let fits = cost <= self.span.units && self.used(log, at) <= self.span.units - cost;
        if fits || cost == 0 { Decision::Allow } else { Decision::Deny }
    }

    #[inline]
    fn charge(&self, log: &mut E, at: SimTime, cost: u64) {
        if cost > 0 {
            log.append(Self::ordered(log, at), cost, self.span);
        }
    }

    #[inline]
    fn refuse(&self, log: &mut E, at: SimTime, cost: u64) {
        if self.count_denied && cost > 0 && self.span.units > 0 {
            log.append_refused(Self::ordered(log, at), cost.min(self.span.units), self.span);
        }
    }

    fn refund(&self, log: &mut E, charged_at: SimTime, at: SimTime, cost: u64) {
        let gone = self.span.gone(Self::ordered(log, at));
        // Without its newest entry a log no longer knows how late it was: first to what is to be forgotten.
        log.sweep(gone);
        if charged_at.nanos() > gone {
            log.take_back(charged_at.nanos(), cost);
        }
    }

    /// What is over is forgiven of the newest entries.
    fn clamp(&self, log: &mut E, at: SimTime) {
        let mut over = log.sweep(self.span.gone(Self::ordered(log, at))).saturating_sub(self.span.units);
        while over > 0 {
            over -= log.take_back(log.newest(), over);
        }
    }

    fn retry_after(&self, log: &E, at: SimTime, cost: u64) -> Option<SimDuration> {
        match cost {
            0 => Some(SimDuration::ZERO),
            _ if cost > self.span.units => None,
            _ => Some(self.wait(log, at, self.span.units - cost)),
        }
    }

    fn level(&self, log: &E, at: SimTime) -> Level {
        let (units, used) = (self.span.units, self.used(log, at));
        let remaining = units.saturating_sub(used);
        let next = if remaining == units { SimDuration::ZERO } else { self.wait(log, at, units - remaining - 1) };
        Level { limit: units, used: Used::whole(used), remaining, next, full: self.wait(log, at, 0) }
    }

    fn usage(&self, log: &E, at: SimTime) -> Used {
        Used::whole(self.used(log, at))
    }

    #[inline(always)]
    fn decide(&self, log: &mut E, at: SimTime, cost: u64) -> Decision {
        let fits = log.settle(at.nanos(), cost, self.quick).unwrap_or_else(|| self.decide_slowly(log, at, cost));
        if fits { Decision::Allow } else { Decision::Deny }
    }

    fn heap_bytes(&self, log: &E) -> usize {
        log.heap_bytes()
    }
}

impl<E: Entries> SlidingLog<E> {
    #[inline(never)]
    fn decide_slowly(&self, log: &mut E, at: SimTime, cost: u64) -> bool {
        if cost == 0 {
            return true;
        }
        let now = Self::ordered(log, at);
        let fits = cost <= self.span.units && log.sweep(self.span.gone(now)) <= self.span.units - cost;
        if fits {
            log.append(now, cost, self.span);
        } else {
            self.refuse(log, at, cost);
        }
        fits
    }
}
