//! Rate-limiter algorithms as pure integer arithmetic.
//!
//! An [`Algorithm`] holds its parameters; the state of one key lies outside and time is an
//! argument. [`Keyed`] holds the states of all keys and implements the object-safe [`Limiter`];
//! [`LimiterSpec`] is the one registry of what can be built.

mod amount;
mod charges;
mod counts;
mod drain;
mod entries;
mod fixed_window;
mod gcra;
mod keyed;
mod leaky_bucket;
mod part;
mod rewound;
mod ring;
mod schedule;
mod sliding_counter;
mod sliding_log;
mod spec;
mod stamps;
mod token_bucket;

pub use amount::Amount;
pub use charges::Charges;
pub use counts::{ClockGrid, Counts, FirstRequestGrid, Grid};
pub use drain::Fill;
pub use entries::{Entries, Span};
pub use fixed_window::{FixedWindow, FixedWindowSpec, WindowAnchor};
pub use gcra::{Gcra, GcraSpec};
pub use keyed::{Bits, Costs, KeyId, Keyed, Limiter, Rows, Snapshot, StateSize, Verdicts};
pub use leaky_bucket::{LeakyBucketSpec, LeakyMeter, LeakyMode, LeakyQueue};
pub use part::Part;
pub use rewound::RewoundBucket;
pub use ring::Ring;
pub use schedule::Ticks;
pub use sliding_counter::{CounterAnchor, Oldest, SlidingCounter, SlidingCounterSpec};
pub use sliding_log::{Edge, SlidingLog, SlidingLogSpec};
pub use spec::{Interval, LimiterSpec, Workload};
pub use stamps::Stamps;
pub use token_bucket::{Backwards, Initial, Refill, SteppedBucket, TokenBucket, TokenBucketSpec};

use crate::time::{SimDuration, SimTime};
use serde::{Deserialize, Serialize};

/// What a limiter answers to one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Admitted, released at once.
    Allow,
    /// Admitted, released after this wait (never zero).
    Delay(SimDuration),
    /// Refused.
    Deny,
}

impl Decision {
    /// Whether the attempt was admitted, at once or later.
    #[must_use]
    pub const fn admits(self) -> bool {
        !matches!(self, Self::Deny)
    }
}

/// When a test compares the level with the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// Level with this attempt's cost against the limit: `level + cost <= limit`.
    #[default]
    After,
    /// Level without it: `level < limit`, and a cost no larger than the limit.
    Before,
}

/// An exact non-negative quantity: `numerator / denominator` units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Numerator, in units times the denominator.
    pub numerator: u128,
    /// Denominator, never zero.
    pub denominator: u128,
}

impl Used {
    /// A whole number of units.
    #[must_use]
    pub const fn whole(units: u64) -> Self {
        Self { numerator: units as u128, denominator: 1 }
    }
}

/// What a limiter knows of one key at one instant: the quota view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Units that can be in use at most: the limit, burst or capacity.
    pub limit: u64,
    /// Units in use.
    pub used: Used,
    /// Attempts of cost 1 that would be admitted now, one after another.
    pub remaining: u64,
    /// Time until one more of them would be; zero when all are.
    pub next: SimDuration,
    /// Time until the state of an untouched key.
    pub full: SimDuration,
}

/// One rate-limiter algorithm: parameters in `self`, the state of one key outside.
///
/// `at` may run backwards (replicas with clocks of their own): every algorithm then treats it as
/// the latest instant that the state has seen, except GCRA, whose one stored number stands for
/// itself. A cost of zero is always admitted and changes nothing.
pub trait Algorithm {
    /// The state of one key.
    type State: Clone + Send + Sync + 'static;
    /// What attempts of one instant share, whatever their key; kept from one to the next in a batch.
    type Tick: Clone + Default;

    /// The state of a key first seen at `at`.
    fn initial(&self, at: SimTime) -> Self::State;

    /// What this attempt would be answered; changes nothing.
    fn ask(&self, state: &Self::State, at: SimTime, cost: u64) -> Decision;

    /// Takes `cost` units, whether or not they are there: the level may pass the limit (debt).
    fn charge(&self, state: &mut Self::State, at: SimTime, cost: u64);

    /// What a refused attempt leaves behind: nothing, unless denied attempts count.
    fn refuse(&self, state: &mut Self::State, at: SimTime, cost: u64) {
        let _ = (state, at, cost);
    }

    /// Gives back `cost` units charged at `charged_at`, if what they were charged to still exists.
    fn refund(&self, state: &mut Self::State, charged_at: SimTime, at: SimTime, cost: u64);

    /// Forgives debt: a level above the limit is cut to it.
    fn clamp(&self, state: &mut Self::State, at: SimTime);

    /// Makes a state of the same algorithm with other parameters its own. Windows, logs and counters keep
    /// what was used; buckets and schedules override this to keep what was left.
    fn take_over(&self, state: &mut Self::State, from: &Self, at: SimTime) {
        let _ = (state, from, at);
    }

    /// The smallest wait after which this attempt would be admitted if nothing else arrived; zero
    /// if it would be now, `None` if no wait helps.
    fn retry_after(&self, state: &Self::State, at: SimTime, cost: u64) -> Option<SimDuration>;

    /// The quota view of the key.
    fn level(&self, state: &Self::State, at: SimTime) -> Level;

    /// Units in use: [`level`](Self::level) without what takes longer to find.
    fn usage(&self, state: &Self::State, at: SimTime) -> Used {
        self.level(state, at).used
    }

    /// Decides and keeps what the decision leaves behind: [`ask`](Self::ask), then
    /// [`charge`](Self::charge) or [`refuse`](Self::refuse).
    #[inline(always)]
    fn decide(&self, state: &mut Self::State, at: SimTime, cost: u64) -> Decision {
        let decision = self.ask(state, at, cost);
        if decision.admits() {
            self.charge(state, at, cost);
        } else {
            self.refuse(state, at, cost);
        }
        decision
    }

    /// Whether it may delay what it admits.
    const DELAYS: bool = false;

    /// Brings what attempts share to the instant of the next.
    #[inline(always)]
    fn tick(&self, tick: &mut Self::Tick, at: SimTime) {
        let _ = (tick, at);
    }

    /// Reads what a decision reads first, so that it is in the cache.
    fn prefetch(&self, state: &Self::State) -> u64;

    /// [`decide`](Self::decide) in a batch, as numbers: whether the attempt is admitted, and its wait
    /// in nanoseconds.
    #[inline(always)]
    fn settle(&self, state: &mut Self::State, tick: &Self::Tick, at: SimTime, cost: u64) -> (bool, u64) {
        let _ = tick;
        match self.decide(state, at, cost) {
            Decision::Allow => (true, 0),
            Decision::Delay(wait) => (true, wait.short_nanos()),
            Decision::Deny => (false, 0),
        }
    }

    /// Bytes that one state holds beyond its own size.
    fn heap_bytes(&self, state: &Self::State) -> usize {
        let _ = state;
        0
    }
}
