//! Sliding log: remember every admitted attempt for a window. Exact, at O(limit) memory a key.
//!
//! # Rule
//! Admit iff the cost of the entries in `(t - window, t]` plus this cost is at most the limit;
//! with the inclusive edge the entries in `[t - window, t]`.
//!
//! # State
//! A ring that grows on demand: 48 bytes a key with places for two entries where every cost is one,
//! and beyond two 8 bytes a place, their number doubling; else 64 and 16. What has left makes place
//! before it grows, and it never holds more entries than the limit has units.
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
use super::{Algorithm, Decision, Level, Ring, Used};
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

/// A log's entries; two fit beside what else a key has in a line of the cache.
type Entries<E> = Ring<E, 2>;

/// One admitted attempt.
pub trait Entry: Copy + Default + Send + Sync + std::fmt::Debug + 'static {
    /// An entry of one unit, if all entries are such.
    fn unit(at: i64) -> Option<Self>;
    /// Records `cost` units at `at`.
    fn record(log: &mut Entries<Self>, at: i64, cost: u64);
    /// When it was admitted.
    fn at(self) -> i64;
    /// How many units it took.
    fn cost(self) -> u64;
    /// Takes back up to `units` of what was recorded at `at`; returns how many.
    fn take_back(log: &mut Entries<Self>, at: i64, units: u64) -> u64;
}

/// An entry of one unit: attempts of a higher cost leave several.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnitEntry(i64);

impl Entry for UnitEntry {
    #[inline(always)]
    fn unit(at: i64) -> Option<Self> {
        Some(Self(at))
    }
    #[inline(always)]
    fn record(log: &mut Entries<Self>, at: i64, cost: u64) {
        for _ in 0..cost {
            log.push_back(Self(at));
        }
    }
    #[inline]
    fn at(self) -> i64 {
        self.0
    }
    #[inline]
    fn cost(self) -> u64 {
        1
    }
    fn take_back(log: &mut Entries<Self>, at: i64, units: u64) -> u64 {
        log.edit(|log| {
            let end = log.partition_point(|entry| entry.0 <= at);
            let same = end - log.partition_point(|entry| entry.0 < at);
            let taken = same.min(usize::try_from(units).unwrap_or(usize::MAX));
            log.drain(end - taken..end);
            taken as u64
        })
    }
}

/// An entry with its cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct WeightedEntry {
    at: i64,
    cost: u64,
}

impl Entry for WeightedEntry {
    #[inline(always)]
    fn unit(_at: i64) -> Option<Self> {
        None
    }
    #[inline(always)]
    fn record(log: &mut Entries<Self>, at: i64, cost: u64) {
        if cost > 0 {
            log.push_back(Self { at, cost });
        }
    }
    #[inline]
    fn at(self) -> i64 {
        self.at
    }
    #[inline]
    fn cost(self) -> u64 {
        self.cost
    }
    fn take_back(log: &mut Entries<Self>, at: i64, units: u64) -> u64 {
        log.edit(|log| {
            let mut left = units;
            let mut end = log.partition_point(|entry| entry.at <= at);
            while left > 0 && end > 0 && log[end - 1].at == at {
                end -= 1;
                let given = log[end].cost.min(left);
                log[end].cost -= given;
                left -= given;
                if log[end].cost == 0 {
                    log.remove(end);
                }
            }
            units - left
        })
    }
}

/// A sliding log with entries of type `E`.
#[derive(Clone, Copy, Debug)]
pub struct SlidingLog<E> {
    units: u64,
    lifetime: i64,
    count_denied: bool,
    entries: std::marker::PhantomData<E>,
}

/// The entries of one key, oldest first, and the sum of their costs. Entries that have left may
/// linger until their room is needed.
#[derive(Clone, Debug)]
pub struct Log<E> {
    entries: Entries<E>,
    sum: u64,
}

impl<E: Entry> SlidingLog<E> {
    /// A log of these parameters.
    #[must_use]
    pub fn new(spec: &SlidingLogSpec) -> Self {
        Self {
            units: spec.limit.units,
            lifetime: i64::try_from(spec.lifetime()).expect("a configured span is at most 2^62"),
            count_denied: spec.count_denied,
            entries: std::marker::PhantomData,
        }
    }

    /// The instant this attempt counts at: time never runs backwards inside a log.
    #[inline(always)]
    fn ordered(log: &Log<E>, at: SimTime) -> i64 {
        log.entries.back().map_or(at.nanos(), |newest| newest.at().max(at.nanos()))
    }

    #[inline]
    fn live(&self, entry: E, at: i64) -> bool {
        entry.at() > at - self.lifetime
    }

    /// Units of the entries that count at `at`.
    fn used(&self, log: &Log<E>, at: i64) -> u64 {
        let gone: u64 = log.entries.iter().take_while(|e| !self.live(*e, at)).map(|e| e.cost()).sum();
        log.sum - gone
    }

    /// Drops entries that have left until `cost` more units fit or none has.
    #[inline(always)]
    fn make_room(&self, log: &mut Log<E>, at: i64, cost: u64) {
        let room = self.units.saturating_sub(cost);
        while log.sum > room {
            match log.entries.front() {
                Some(oldest) if !self.live(oldest, at) => {
                    log.sum -= oldest.cost();
                    log.entries.pop_front();
                }
                _ => break,
            }
        }
    }

    /// Appends an entry of `cost` units. What has left makes place before the ring grows.
    #[inline(always)]
    fn append(&self, log: &mut Log<E>, at: i64, cost: u64) {
        if log.entries.is_full() {
            self.drop_gone(log, at);
        }
        E::record(&mut log.entries, at, cost);
        log.sum = log.sum.saturating_add(cost);
    }

    #[cold]
    fn drop_gone(&self, log: &mut Log<E>, at: i64) {
        while let Some(oldest) = log.entries.front().filter(|oldest| !self.live(*oldest, at)) {
            log.sum -= oldest.cost();
            log.entries.pop_front();
        }
    }

    #[inline(always)]
    fn record(&self, log: &mut Log<E>, at: i64, cost: u64) {
        self.make_room(log, at, cost);
        self.append(log, at, cost);
    }

    /// Time from `at` until at most `target` units count.
    fn wait(&self, log: &Log<E>, at: SimTime, target: u64) -> SimDuration {
        let now = Self::ordered(log, at);
        let mut used = self.used(log, now);
        if used <= target {
            return SimDuration::ZERO;
        }
        for entry in log.entries.iter().skip_while(|e| !self.live(*e, now)) {
            used -= entry.cost();
            if used <= target {
                return SimTime::from_nanos(entry.at() + self.lifetime).since(at);
            }
        }
        SimDuration::ZERO
    }
}

impl<E: Entry> Algorithm for SlidingLog<E> {
    type State = Log<E>;
    type Tick = ();

    #[inline(always)]
    fn prefetch(&self, state: &Self::State) -> u64 {
        state.sum ^ state.entries.back().map_or(0, |newest| newest.at() as u64)
    }

    fn initial(&self, _at: SimTime) -> Log<E> {
        Log { entries: Ring::new(), sum: 0 }
    }

    #[inline]
    fn ask(&self, log: &Log<E>, at: SimTime, cost: u64) -> Decision {
        let fits = cost <= self.units
            && (log.sum <= self.units - cost || {
                let at = Self::ordered(log, at);
                self.used(log, at) <= self.units - cost
            });
        if fits || cost == 0 { Decision::Allow } else { Decision::Deny }
    }

    #[inline]
    fn charge(&self, log: &mut Log<E>, at: SimTime, cost: u64) {
        let at = Self::ordered(log, at);
        self.record(log, at, cost);
    }

    #[inline]
    fn refuse(&self, log: &mut Log<E>, at: SimTime, cost: u64) {
        if !self.count_denied || cost == 0 || self.units == 0 {
            return;
        }
        // More than the limit changes no answer: the log need not grow beyond it.
        let at = Self::ordered(log, at);
        let cost = cost.min(self.units);
        self.record(log, at, cost);
        while let Some(oldest) = log.entries.front()
            && log.sum - oldest.cost() >= self.units
        {
            log.sum -= oldest.cost();
            log.entries.pop_front();
        }
    }

    fn refund(&self, log: &mut Log<E>, charged_at: SimTime, at: SimTime, cost: u64) {
        let charged_at = charged_at.nanos();
        if charged_at > Self::ordered(log, at) - self.lifetime {
            log.sum -= E::take_back(&mut log.entries, charged_at, cost);
        }
    }

    /// What is over is forgiven of the newest entries.
    fn clamp(&self, log: &mut Log<E>, at: SimTime) {
        self.drop_gone(log, Self::ordered(log, at));
        while log.sum > self.units
            && let Some(newest) = log.entries.back()
        {
            log.sum -= E::take_back(&mut log.entries, newest.at(), log.sum - self.units);
        }
    }

    fn retry_after(&self, log: &Log<E>, at: SimTime, cost: u64) -> Option<SimDuration> {
        match cost {
            0 => Some(SimDuration::ZERO),
            _ if cost > self.units => None,
            _ => Some(self.wait(log, at, self.units - cost)),
        }
    }

    fn level(&self, log: &Log<E>, at: SimTime) -> Level {
        let used = self.used(log, Self::ordered(log, at));
        let remaining = self.units.saturating_sub(used);
        let next =
            if remaining == self.units { SimDuration::ZERO } else { self.wait(log, at, self.units - remaining - 1) };
        Level { limit: self.units, used: Used::whole(used), remaining, next, full: self.wait(log, at, 0) }
    }

    fn usage(&self, log: &Log<E>, at: SimTime) -> Used {
        Used::whole(self.used(log, Self::ordered(log, at)))
    }

    #[inline(always)]
    fn decide(&self, log: &mut Log<E>, at: SimTime, cost: u64) -> Decision {
        if cost == 0 {
            return Decision::Allow;
        }
        if cost <= self.units {
            let now = Self::ordered(log, at);
            // Decisions on a batch write into a free place: there is one, however a log is asked.
            if log.entries.is_full() && cost == 1 && !self.count_denied && log.sum <= self.units {
                self.drop_gone(log, now);
                if log.entries.is_full() {
                    log.entries.grow();
                }
            }
            self.make_room(log, now, cost);
            if log.sum <= self.units - cost {
                self.append(log, now, cost);
                return Decision::Allow;
            }
        }
        self.refuse(log, at, cost);
        Decision::Deny
    }

    #[inline(always)]
    fn settle(&self, log: &mut Log<E>, _tick: &(), at: SimTime, cost: u64) -> (bool, u64) {
        let plain = cost == 1 && !self.count_denied && log.sum <= self.units;
        // That time never runs backwards here is foretold, so that nothing waits for the newest entry.
        let ordered = log.entries.back().is_none_or(|newest| newest.at() <= at.nanos());
        let entry = E::unit(at.nanos()).filter(|_| plain & ordered);
        let (Some(entry), Some(oldest)) = (entry, log.entries.front()) else {
            return (self.decide(log, at, cost).admits(), 0);
        };
        // A free place is needed even where one entry leaves for one that comes.
        if log.entries.is_full() {
            return (self.decide(log, at, cost).admits(), 0);
        }
        // One entry leaves where one comes, if it may: whether it may is hard to foretell.
        let full = log.sum >= self.units;
        let leaves = full & !self.live(oldest, entry.at());
        let fits = !full | leaves;
        log.entries.slide(leaves, fits, entry);
        log.sum = log.sum + u64::from(fits) - u64::from(leaves);
        (fits, 0)
    }

    fn heap_bytes(&self, log: &Log<E>) -> usize {
        log.entries.heap_bytes()
    }
}
