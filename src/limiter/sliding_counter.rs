//! Sliding counter: estimate the sliding log from the counts of a few buckets.
//!
//! # Rule
//! The window is cut into `buckets`. `estimate` = the newest `buckets` counts + the one before
//! them x the part of it that still lies inside the window ("weighted"; or all of it, "whole"; or
//! none of it, "ignored"). Admit iff `estimate + cost <= limit` (compare after), or
//! `estimate < limit` and `cost <= limit` (compare before).
//!
//! # State
//! Two counts and a bucket number for one bucket: 24 bytes a key. `buckets + 1` counts on the heap
//! for more. First-request grids add their origin and the last counted attempt, 16 bytes.
//!
//! # Worst case
//! One bucket: `limit + ceil(limit * T / window) - 1` units in a half-open span T up to a window,
//! twice the limit less one in a window; comparing before, one more. It refuses up to half of what
//! an honest client sends.
//!
//! # Differs from
//! The fixed window is one bucket with the oldest ignored. The sliding log needs no estimate.
//!
//! # Source
//! "How we built rate limiting capable of scaling to millions of domains", Cloudflare, 2017
//! (`rlsim paper cloudflare` measures how far the estimate is off); Upstash's Lua scripts compare
//! before.

use super::amount::div_up;
use super::counts::{Counts, Grid};
use super::{Algorithm, Compare, Decision, Level, Used};
use crate::quota::Limit;
use crate::time::{SimDuration, SimTime};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::hint::select_unpredictable;
use std::marker::PhantomData;

/// What becomes of the oldest bucket, which lies only partly inside the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Oldest {
    /// It counts with the part of it that lies inside.
    #[default]
    Weighted,
    /// It does not count.
    Ignored,
    /// It counts whole.
    Whole,
}

/// What the grid of buckets is tied to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CounterAnchor {
    /// Multiples of the bucket since the Unix epoch.
    #[default]
    Clock,
    /// The key's first counted attempt, and again after two windows without one.
    FirstRequest,
}

/// The parameters of a sliding counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlidingCounterSpec {
    /// Units in a window.
    pub limit: Limit,
    /// When the estimate is compared.
    pub compare: Compare,
    /// Buckets that a window is cut into, at least one.
    pub buckets: u32,
    /// What becomes of the oldest bucket.
    pub oldest: Oldest,
    /// What the grid is tied to.
    pub anchor: CounterAnchor,
    /// Whether refused attempts are counted.
    pub count_denied: bool,
}

impl SlidingCounterSpec {
    /// The most units admitted in any half-open span, if that is proven for such costs.
    #[must_use]
    pub fn bound(&self, span: SimDuration, largest_cost: u64) -> Option<u128> {
        let (units, window) = (u128::from(self.limit.units), self.limit.window.nanos());
        let (span, buckets) = (span.nanos(), u128::from(self.buckets));
        if units == 0 || span == 0 {
            return Some(0);
        }
        if self.compare == Compare::Before && largest_cost > 1 {
            return None;
        }
        match (self.oldest, self.compare) {
            (Oldest::Ignored, _) => Some(units * div_up(buckets * span + window, buckets * window)),
            (Oldest::Whole, _) => Some(units * div_up(buckets * span + window, (buckets + 1) * window)),
            (Oldest::Weighted, Compare::Before) => (buckets == 1).then(|| units + div_up(units * span, window)),
            (Oldest::Weighted, Compare::After) if buckets == 1 => Some(if span <= window {
                units + div_up(units * span, window) - 1
            } else if units == 1 {
                div_up(span + window, 2 * window)
            } else {
                units + div_up((units - 1) * span, window)
            }),
            (Oldest::Weighted, Compare::After) => {
                // Proven up to a window; a longer span is no more than its parts.
                let (windows, rest) = (span / window, span % window);
                Some(windows * self.part_bound(window) + self.part_bound(rest))
            }
        }
    }

    /// Several weighted buckets, a span of at most one window.
    fn part_bound(&self, span: u128) -> u128 {
        let (units, window, buckets) =
            (u128::from(self.limit.units), self.limit.window.nanos(), u128::from(self.buckets));
        if span == 0 {
            return 0;
        }
        // Past the first `window - bucket` the oldest bucket's weight starts to fall.
        let past = (buckets * span).saturating_sub((buckets - 1) * window);
        if past == 0 { units } else { units + div_up(units * past, window) - 1 }
    }
}

/// The bucket of the clock's grid that an attempt falls in.
#[derive(Clone, Debug, Default)]
pub struct Bucket {
    index: u64,
    from: i64,
    until: i64,
}

/// A sliding counter: `C` holds the counts, `G` the grid.
#[derive(Clone, Copy, Debug)]
pub struct SlidingCounter<C, G> {
    units: u64,
    window: u64,
    /// A multiple of the bucket since the epoch before all arrivals: numbers of buckets count from it.
    clock: i64,
    buckets: u32,
    compare: Compare,
    oldest: Oldest,
    count_denied: bool,
    /// The limit in units x window where the usual knobs are set and nothing ever counts for more than
    /// 64 bits hold on that scale.
    plain: Option<u64>,
    parts: PhantomData<(C, G)>,
}

/// The counts of one key.
#[derive(Clone, Debug)]
pub struct Counter<C, G> {
    grid: G,
    /// Number of the newest bucket on the grid.
    index: u64,
    counts: C,
}

/// Where an attempt falls: its bucket, and how far into it, in 1/buckets nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Place {
    origin: i64,
    fresh: bool,
    index: u64,
    phase: u64,
    /// Buckets since the state's newest; `fresh` counts as all of them.
    shift: u64,
}

impl<C: Counts, G: Grid> SlidingCounter<C, G> {
    /// A counter of these parameters; more is charged than there is only with `debt`.
    #[must_use]
    pub fn new(spec: &SlidingCounterSpec, debt: bool) -> Self {
        // An estimate of two full buckets and one unit more fits, too.
        let (units, window) = (spec.limit.units, spec.limit.window.short_nanos());
        let largest = units.checked_mul(2).and_then(|twice| (twice + 1).checked_mul(window));
        let usual = spec.compare == Compare::After && spec.oldest == Oldest::Weighted && !spec.count_denied;
        Self {
            plain: largest.filter(|_| usual && !debt).map(|_| units * window),
            units: spec.limit.units,
            window: spec.limit.window.short_nanos(),
            clock: {
                let window = spec.limit.window.short_nanos() as i64;
                SimTime::MIN.nanos().div_euclid(window) * window
            },
            buckets: spec.buckets,
            compare: spec.compare,
            oldest: spec.oldest,
            count_denied: spec.count_denied,
            parts: PhantomData,
        }
    }

    /// The bucket of `at` on a grid, and the phase in it; before the origin, the first.
    #[inline(always)]
    fn locate(&self, origin: i64, at: i64) -> (u64, u64) {
        // Instants and origins are less than 2^64 apart.
        let since = at.max(origin).wrapping_sub(origin) as u64;
        if self.buckets == 1 {
            (since / self.window, since % self.window)
        } else {
            let (since, window) = (u128::from(since) * u128::from(self.buckets), u128::from(self.window));
            // A bucket takes a nanosecond at least: its number fits 64 bits.
            ((since / window) as u64, (since % window) as u64)
        }
    }

    #[inline(always)]
    fn place(&self, state: &Counter<C, G>, at: SimTime) -> Place {
        let at = at.nanos();
        let (origin, fresh) = state.grid.origin(at, 2 * self.window as i64, self.clock);
        let (index, phase) = self.locate(origin, at);
        if fresh {
            return Place { origin, fresh, index, phase, shift: u64::MAX };
        }
        if index < state.index {
            // A clock that runs behind: the start of the newest bucket.
            return Place { origin, fresh, index: state.index, phase: 0, shift: 0 };
        }
        Place { origin, fresh, index, phase, shift: index - state.index }
    }

    /// The count `age` buckets before the one that is `shift` after the state's newest.
    #[inline(always)]
    fn count(&self, counts: &C, shift: u64, age: u64) -> u64 {
        if shift > age { 0 } else { counts.as_ref().get((age - shift) as usize).copied().unwrap_or(0) }
    }

    /// Units of the buckets that lie whole inside the window, and of the one that does not.
    #[inline(always)]
    fn sums(&self, counts: &C, shift: u64) -> (u64, u64) {
        let buckets = u64::from(self.buckets);
        if shift > buckets {
            return (0, 0);
        }
        let whole = (shift..buckets).map(|age| self.count(counts, shift, age)).fold(0, u64::saturating_add);
        (whole, self.count(counts, shift, buckets))
    }

    /// The oldest bucket's weight, times the window.
    #[inline(always)]
    fn weight(&self, phase: u64) -> u64 {
        match self.oldest {
            Oldest::Weighted => self.window - phase,
            Oldest::Whole => self.window,
            Oldest::Ignored => 0,
        }
    }

    /// Whether the estimate leaves room: `estimate + extra <= units`, or `<` if strict.
    #[inline(always)]
    fn leaves(&self, (whole, oldest): (u64, u64), phase: u64, extra: u64, strict: bool) -> bool {
        let taken = whole.saturating_add(extra);
        let partial = u128::from(oldest) * u128::from(self.weight(phase));
        let room = u128::from(self.units.saturating_sub(taken)) * u128::from(self.window);
        let enough = if strict { partial < room } else { partial <= room };
        (taken <= self.units) & enough
    }

    #[inline(always)]
    fn fits(&self, sums: (u64, u64), phase: u64, cost: u64) -> bool {
        match self.compare {
            Compare::After => self.leaves(sums, phase, cost, false),
            Compare::Before => (cost <= self.units) & self.leaves(sums, phase, 0, true),
        }
    }

    #[inline(always)]
    fn advance(&self, state: &mut Counter<C, G>, place: Place) {
        let counts = state.counts.as_mut();
        if place.shift >= counts.len() as u64 {
            counts.fill(0);
        } else if place.shift > 0 {
            let shift = place.shift as usize;
            counts.copy_within(..counts.len() - shift, shift);
            counts[..shift].fill(0);
        }
        state.index = place.index;
    }

    #[inline(always)]
    fn add(&self, state: &mut Counter<C, G>, place: Place, at: SimTime, cost: u64) {
        self.advance(state, place);
        state.grid.counted(place.origin, at.nanos());
        let newest = &mut state.counts.as_mut()[0];
        *newest = newest.saturating_add(cost);
    }

    /// Time from `at` until `estimate + extra <= units` (`<` if strict) holds.
    fn wait(&self, state: &Counter<C, G>, at: SimTime, extra: u64, strict: bool) -> Option<SimDuration> {
        let place = self.place(state, at);
        let (buckets, window) = (i128::from(self.buckets), i128::from(self.window));
        let now = (i128::from(at.nanos()) - i128::from(place.origin)) * buckets;
        for ahead in 0..=u64::from(self.buckets) + 1 {
            let sums = self.sums(&state.counts, place.shift.saturating_add(ahead));
            let from = if ahead == 0 { place.phase } else { 0 };
            let Some(phase) = self.first_phase(sums, from, extra, strict) else { continue };
            let instant = (i128::from(place.index) + i128::from(ahead)) * window + i128::from(phase);
            let wait = u128::try_from(instant - now).unwrap_or(0).div_ceil(u128::from(self.buckets));
            return Some(SimDuration::from_wide_nanos(wait));
        }
        None
    }

    /// The first phase of a bucket, not before `from`, at which the estimate leaves room.
    fn first_phase(&self, sums: (u64, u64), from: u64, extra: u64, strict: bool) -> Option<u64> {
        if self.leaves(sums, from, extra, strict) {
            return Some(from);
        }
        let (whole, oldest) = sums;
        let room = self.units.checked_sub(whole)?.checked_sub(extra)?;
        if self.oldest != Oldest::Weighted || oldest == 0 {
            return None;
        }
        // oldest * (window - phase) <= room * window, or < if strict.
        let room = u128::from(room) * u128::from(self.window);
        let overlap = if strict { div_up(room, u128::from(oldest)).checked_sub(1)? } else { room / u128::from(oldest) };
        let phase = self.window.checked_sub(u64::try_from(overlap).ok()?)?;
        (phase < self.window).then_some(phase.max(from))
    }
}

impl<C: Counts, G: Grid> Algorithm for SlidingCounter<C, G> {
    type State = Counter<C, G>;
    type Tick = Bucket;

    #[inline(always)]
    fn prefetch(&self, state: &Self::State) -> u64 {
        state.counts.as_ref().first().copied().unwrap_or(0)
    }

    fn initial(&self, at: SimTime) -> Counter<C, G> {
        let (origin, _) = G::NEW.origin(at.nanos(), 0, self.clock);
        Counter { grid: G::NEW, index: self.locate(origin, at.nanos()).0, counts: C::zero(self.buckets) }
    }

    #[inline]
    fn ask(&self, state: &Counter<C, G>, at: SimTime, cost: u64) -> Decision {
        let place = self.place(state, at);
        let fits = cost == 0 || self.fits(self.sums(&state.counts, place.shift), place.phase, cost);
        if fits { Decision::Allow } else { Decision::Deny }
    }

    #[inline]
    fn charge(&self, state: &mut Counter<C, G>, at: SimTime, cost: u64) {
        if cost > 0 {
            self.add(state, self.place(state, at), at, cost);
        }
    }

    #[inline]
    fn refuse(&self, state: &mut Counter<C, G>, at: SimTime, cost: u64) {
        if self.count_denied {
            self.charge(state, at, cost);
        }
    }

    fn refund(&self, state: &mut Counter<C, G>, charged_at: SimTime, at: SimTime, cost: u64) {
        let place = self.place(state, at);
        if place.fresh || charged_at.nanos() < place.origin {
            return;
        }
        let (index, _) = self.locate(place.origin, charged_at.nanos());
        let age = state.index.checked_sub(index).and_then(|age| usize::try_from(age).ok());
        if let Some(count) = age.and_then(|age| state.counts.as_mut().get_mut(age)) {
            *count = count.saturating_sub(cost);
        }
    }

    /// What is over is forgiven of the newest bucket.
    fn clamp(&self, state: &mut Counter<C, G>, at: SimTime) {
        let place = self.place(state, at);
        if place.shift > 0 {
            return;
        }
        let (whole, _) = self.sums(&state.counts, 0);
        let newest = &mut state.counts.as_mut()[0];
        *newest = newest.saturating_sub(whole.saturating_sub(self.units));
    }

    fn retry_after(&self, state: &Counter<C, G>, at: SimTime, cost: u64) -> Option<SimDuration> {
        match (cost, self.compare) {
            (0, _) => Some(SimDuration::ZERO),
            _ if cost > self.units => None,
            (_, Compare::After) => self.wait(state, at, cost, false),
            (_, Compare::Before) => self.wait(state, at, 0, true),
        }
    }

    fn level(&self, state: &Counter<C, G>, at: SimTime) -> Level {
        let place = self.place(state, at);
        let (whole, oldest) = self.sums(&state.counts, place.shift);
        let window = u128::from(self.window);
        let used = u128::from(whole) * window + u128::from(oldest) * u128::from(self.weight(place.phase));
        let room = (u128::from(self.units) * window).saturating_sub(used);
        let (remaining, next) = match self.compare {
            Compare::After => {
                let remaining = (room / window) as u64;
                (remaining, self.wait(state, at, remaining + 1, false))
            }
            Compare::Before => {
                let remaining = div_up(room, window) as u64;
                (remaining, self.wait(state, at, remaining, true))
            }
        };
        Level {
            limit: self.units,
            used: Used { numerator: used, denominator: window },
            remaining,
            next: if remaining >= self.units { SimDuration::ZERO } else { next.unwrap_or_default() },
            full: self.full(state, place, at),
        }
    }

    #[inline(always)]
    fn decide(&self, state: &mut Counter<C, G>, at: SimTime, cost: u64) -> Decision {
        if cost == 0 {
            return Decision::Allow;
        }
        let place = self.place(state, at);
        let fits = self.fits(self.sums(&state.counts, place.shift), place.phase, cost);
        let counts = fits | self.count_denied;
        if counts {
            self.add(state, place, at, cost);
        }
        if fits { Decision::Allow } else { Decision::Deny }
    }

    #[inline(always)]
    fn tick(&self, tick: &mut Bucket, at: SimTime) {
        let at = at.nanos();
        if self.buckets == 1 && !G::REMEMBERS && (at >= tick.until || at < tick.from) {
            let (index, phase) = self.locate(self.clock, at);
            let from = at - phase as i64;
            *tick = Bucket { index, from, until: from + self.window as i64 };
        }
    }

    #[inline(always)]
    fn settle(&self, state: &mut Counter<C, G>, tick: &Bucket, at: SimTime, cost: u64) -> (bool, u64) {
        let pair = if G::REMEMBERS { None } else { state.counts.pair() };
        let Some(counts) = pair else {
            return (self.decide(state, at, cost).admits(), 0);
        };
        if let Some(limit) = self.plain
            && cost == 1
            && tick.index >= state.index
        {
            return (self.settle_plain(limit, &mut state.index, counts, tick, at), 0);
        }
        // Which bucket the newest count is of and whether an attempt fits are hard to foretell: no
        // branch on either. A clock that runs behind is at the start of the newest bucket.
        let behind = tick.index < state.index;
        let index = tick.index.max(state.index);
        let phase = select_unpredictable(behind, 0, (at.nanos() - tick.from) as u64);
        let shift = index - state.index;
        let newest = select_unpredictable(shift == 0, counts[0], 0);
        let moved = select_unpredictable(shift == 1, counts[0], 0);
        let oldest = select_unpredictable(shift == 0, counts[1], moved);
        let fits = self.fits((newest, oldest), phase, cost);
        let counted = (fits | self.count_denied) & (cost > 0);
        counts[0] = select_unpredictable(counted, newest.saturating_add(cost), counts[0]);
        counts[1] = select_unpredictable(counted, oldest, counts[1]);
        state.index = select_unpredictable(counted, index, state.index);
        (fits | (cost == 0), 0)
    }

    fn heap_bytes(&self, state: &Counter<C, G>) -> usize {
        state.counts.heap_bytes()
    }
}

impl<C: Counts, G: Grid> SlidingCounter<C, G> {
    /// [`settle`](Algorithm::settle) for what is usual: one unit, and no knob set.
    #[inline(always)]
    fn settle_plain(&self, limit: u64, index: &mut u64, counts: &mut [u64; 2], tick: &Bucket, at: SimTime) -> bool {
        let shift = tick.index - *index;
        let newest = select_unpredictable(shift == 0, counts[0], 0);
        let moved = select_unpredictable(shift == 1, counts[0], 0);
        let oldest = select_unpredictable(shift == 0, counts[1], moved);
        let fits = (newest + 1) * self.window + oldest * (tick.until - at.nanos()) as u64 <= limit;
        counts[0] = select_unpredictable(fits, newest + 1, counts[0]);
        counts[1] = select_unpredictable(fits, oldest, counts[1]);
        *index = select_unpredictable(fits, tick.index, *index);
        fits
    }

    /// Time until no count has any influence.
    fn full(&self, state: &Counter<C, G>, place: Place, at: SimTime) -> SimDuration {
        let buckets = u64::from(self.buckets);
        let reach = if self.oldest == Oldest::Ignored { buckets } else { buckets + 1 };
        let newest = (place.shift..reach).find(|age| self.count(&state.counts, place.shift, *age) > 0);
        let Some(age) = newest else { return SimDuration::ZERO };
        let gone = (i128::from(place.index) + i128::from(reach - age)) * i128::from(self.window);
        let now = (i128::from(at.nanos()) - i128::from(place.origin)) * i128::from(self.buckets);
        SimDuration::from_wide_nanos(u128::try_from(gone - now).unwrap_or(0).div_ceil(u128::from(buckets)))
    }
}
