//! The one registry of limiters: resolved parameters in, a running limiter out.

use super::counts::{ClockGrid, FirstRequestGrid};
use super::{
    Backwards, Charges, CounterAnchor, FixedWindow, FixedWindowSpec, Gcra, GcraSpec, Initial, Keyed, LeakyBucketSpec,
    LeakyMeter, LeakyMode, LeakyQueue, Limiter, Refill, RewoundBucket, SlidingCounter, SlidingCounterSpec, SlidingLog,
    SlidingLogSpec, Stamps, SteppedBucket, TokenBucket, TokenBucketSpec, WindowAnchor,
};
use crate::quota::{Limit, Rate};
use crate::time::{SimDuration, SimTime};

/// An algorithm with all its parameters resolved.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LimiterSpec {
    /// Fixed window.
    FixedWindow(FixedWindowSpec),
    /// Sliding log.
    SlidingLog(SlidingLogSpec),
    /// Sliding counter.
    SlidingCounter(SlidingCounterSpec),
    /// Token bucket.
    TokenBucket(TokenBucketSpec),
    /// Leaky bucket.
    LeakyBucket(LeakyBucketSpec),
    /// GCRA.
    Gcra(GcraSpec),
}

/// What is known of the attempts before the run: narrower states where it allows them.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// Every attempt costs one unit (or none).
    pub unit_cost: bool,
    /// All attempts lie within these instants.
    pub times: (SimTime, SimTime),
    /// More may be charged than there is.
    pub debt: bool,
}

impl Workload {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { unit_cost: false, times: (SimTime::MIN, SimTime::MAX), debt: false };

    /// The origin of a schedule whose scaled instants fit 63 bits, if one does.
    fn narrow_origin(&self, rate: Rate, burst: u64) -> Option<SimTime> {
        if self.debt {
            return None;
        }
        let (from, until) = self.times;
        let (period, units) = rate.reduced();
        let backlog = u128::from(burst) * u128::from(period);
        let fits = |reach: u128| reach * u128::from(units) + 2 * backlog < (1 << 63) - 1;
        // Instants from the epoch where they fit; else from the first attempt.
        let reach = u128::from(from.nanos().unsigned_abs().max(until.nanos().unsigned_abs()));
        if fits(reach) {
            return Some(SimTime::EPOCH);
        }
        fits(until.since(from).nanos()).then_some(from)
    }
}

/// Whether `units * span`, and a few times it, fits 64 bits.
fn narrow(units: u64, span: u64) -> bool {
    u128::from(units) * u128::from(span) < 1 << 61
}

/// How far apart units are at a sustained rate: `period / units` nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    period: u64,
    units: u64,
}

impl Interval {
    /// The time that so many units take, in nanoseconds, rounded up.
    #[must_use]
    pub fn nanos(self, count: u64) -> u64 {
        let nanos = (u128::from(self.period) * u128::from(count)).div_ceil(u128::from(self.units));
        u64::try_from(nanos).unwrap_or(u64::MAX)
    }
}

impl LimiterSpec {
    /// Units that a new key is admitted at once.
    #[must_use]
    pub const fn at_first(&self) -> u64 {
        match self {
            Self::TokenBucket(TokenBucketSpec { initial: Initial::Empty, .. }) => 0,
            Self::TokenBucket(TokenBucketSpec { initial: Initial::Tokens(tokens), .. }) => *tokens,
            // A queue releases one and makes the others wait.
            Self::LeakyBucket(LeakyBucketSpec { mode: LeakyMode::Queue, .. }) => 1,
            _ => self.most_at_once(),
        }
    }

    /// The largest cost that is ever admitted.
    #[must_use]
    pub const fn most_at_once(&self) -> u64 {
        match self {
            Self::FixedWindow(FixedWindowSpec { limit, .. })
            | Self::SlidingLog(SlidingLogSpec { limit, .. })
            | Self::SlidingCounter(SlidingCounterSpec { limit, .. }) => limit.units,
            Self::TokenBucket(TokenBucketSpec { burst, rate, .. }) | Self::Gcra(GcraSpec { burst, rate }) => {
                if rate.units == 0 { 0 } else { *burst }
            }
            Self::LeakyBucket(LeakyBucketSpec { capacity, rate, .. }) => {
                if rate.units == 0 {
                    0
                } else {
                    *capacity
                }
            }
        }
    }

    /// The sustained rate, as an interval; `None` if it is zero.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        let (period, units) = self.rate().reduced();
        (units > 0).then_some(Interval { period, units })
    }

    /// The sustained rate.
    #[must_use]
    pub fn rate(&self) -> Rate {
        match self {
            Self::FixedWindow(FixedWindowSpec { limit, .. })
            | Self::SlidingLog(SlidingLogSpec { limit, .. })
            | Self::SlidingCounter(SlidingCounterSpec { limit, .. }) => Rate::from(*limit),
            Self::TokenBucket(TokenBucketSpec { rate, .. })
            | Self::LeakyBucket(LeakyBucketSpec { rate, .. })
            | Self::Gcra(GcraSpec { rate, .. }) => *rate,
        }
    }

    /// An equal part of it for each of `parts`: units rounded down, the rate exact. `None` if that
    /// leaves less than one unit, or no rate that the clock can tell.
    #[must_use]
    pub fn split(&self, parts: u32) -> Option<Self> {
        let parts = u64::from(parts);
        let limit = |limit: Limit| (limit.units >= parts).then(|| Limit { units: limit.units / parts, ..limit });
        let burst = |burst: u64| (burst >= parts).then(|| burst / parts);
        let rate = |rate: Rate| {
            if rate.units.is_multiple_of(parts) {
                return Some(Rate { units: rate.units / parts, ..rate });
            }
            let period = rate.period.nanos() * u128::from(parts);
            let told = period <= SimDuration::MAX_CONFIGURED.nanos();
            told.then(|| Rate { period: SimDuration::from_wide_nanos(period), ..rate })
        };
        Some(match *self {
            Self::FixedWindow(spec) => Self::FixedWindow(FixedWindowSpec { limit: limit(spec.limit)?, ..spec }),
            Self::SlidingLog(spec) => Self::SlidingLog(SlidingLogSpec { limit: limit(spec.limit)?, ..spec }),
            Self::SlidingCounter(spec) => {
                Self::SlidingCounter(SlidingCounterSpec { limit: limit(spec.limit)?, ..spec })
            }
            Self::TokenBucket(spec) => {
                let burst = burst(spec.burst)?;
                let initial = match spec.initial {
                    Initial::Tokens(tokens) => Initial::Tokens(tokens / parts),
                    other => other,
                };
                Self::TokenBucket(TokenBucketSpec { rate: rate(spec.rate)?, burst, initial, ..spec })
            }
            Self::LeakyBucket(spec) => {
                let capacity = burst(spec.capacity)?;
                Self::LeakyBucket(LeakyBucketSpec { rate: rate(spec.rate)?, capacity, ..spec })
            }
            Self::Gcra(spec) => Self::Gcra(GcraSpec { rate: rate(spec.rate)?, burst: burst(spec.burst)? }),
        })
    }

    /// Whether windows of the clock are all that it counts by.
    #[must_use]
    pub const fn counts_clock_windows(&self) -> Option<SimDuration> {
        match self {
            Self::FixedWindow(FixedWindowSpec { limit, anchor: WindowAnchor::Clock, .. }) => Some(limit.window),
            _ => None,
        }
    }

    /// Every algorithm's name, in the order in which they are shown.
    pub const NAMES: [&'static str; 6] =
        ["fixed-window", "sliding-log", "sliding-counter", "token-bucket", "leaky-bucket", "gcra"];

    /// The algorithm's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::FixedWindow(_) => "fixed-window",
            Self::SlidingLog(_) => "sliding-log",
            Self::SlidingCounter(_) => "sliding-counter",
            Self::TokenBucket(_) => "token-bucket",
            Self::LeakyBucket(_) => "leaky-bucket",
            Self::Gcra(_) => "gcra",
        }
    }

    /// Whether it may delay what it admits.
    #[must_use]
    pub const fn delays(&self) -> bool {
        matches!(self, Self::LeakyBucket(LeakyBucketSpec { mode: LeakyMode::Queue, .. }))
    }

    /// The most units released in any half-open span, for any traffic with such costs; `None`
    /// where nothing is proven.
    #[must_use]
    pub fn bound(&self, span: SimDuration, largest_cost: u64) -> Option<u128> {
        match self {
            Self::FixedWindow(spec) => Some(spec.bound(span)),
            Self::SlidingLog(spec) => Some(spec.bound(span)),
            Self::SlidingCounter(spec) => spec.bound(span, largest_cost),
            Self::TokenBucket(spec) => (spec.backwards == Backwards::Clamp).then(|| spec.bound(span)),
            Self::LeakyBucket(spec) => spec.bound(span, largest_cost),
            Self::Gcra(spec) => Some(spec.bound(span)),
        }
    }

    /// Why these parameters cannot be simulated exactly, with the numbers, if they cannot.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::LeakyBucket(spec) if spec.mode == LeakyMode::Queue && spec.rate.units > 0 => {
                let drain = u128::from(spec.capacity) * spec.rate.period.nanos() / u128::from(spec.rate.units);
                (drain > SimDuration::MAX_CONFIGURED.nanos()).then(|| {
                    format!(
                        "a full queue of {} at {} would release its last attempt after {} days; at most {} days fit the clock",
                        spec.capacity,
                        spec.rate,
                        drain / 86_400_000_000_000,
                        SimDuration::MAX_CONFIGURED.nanos() / 86_400_000_000_000
                    )
                })
            }
            Self::SlidingCounter(spec) if u128::from(spec.buckets) > spec.limit.window.nanos() => Some(format!(
                "{} buckets in a window of {} would be shorter than a nanosecond",
                spec.buckets, spec.limit.window
            )),
            _ => None,
        }
    }

    /// A running limiter with no keys yet.
    #[must_use]
    pub fn build(&self, workload: &Workload) -> Box<dyn Limiter> {
        match self {
            Self::FixedWindow(spec) => Box::new(Keyed::new(FixedWindow::new(spec))),
            Self::SlidingLog(spec) if workload.unit_cost => Box::new(Keyed::new(SlidingLog::<Stamps>::new(spec))),
            Self::SlidingLog(spec) => Box::new(Keyed::new(SlidingLog::<Charges>::new(spec))),
            Self::SlidingCounter(spec) => counter(spec, workload.debt),
            Self::TokenBucket(spec) if spec.refill == Refill::Interval => {
                Box::new(Keyed::new(SteppedBucket::new(spec)))
            }
            Self::TokenBucket(spec) if spec.backwards != Backwards::Clamp => {
                if !workload.debt && narrow(spec.burst, spec.rate.reduced().0) {
                    Box::new(Keyed::new(RewoundBucket::<u64>::new(spec)))
                } else {
                    Box::new(Keyed::new(RewoundBucket::<u128>::new(spec)))
                }
            }
            Self::TokenBucket(spec) if !workload.debt && narrow(spec.burst, spec.rate.reduced().0) => {
                Box::new(Keyed::new(TokenBucket::<u64>::new(spec)))
            }
            Self::TokenBucket(spec) => Box::new(Keyed::new(TokenBucket::<u128>::new(spec))),
            Self::LeakyBucket(spec) => match spec.mode {
                LeakyMode::Queue => match workload.narrow_origin(spec.rate, spec.capacity) {
                    Some(origin) => Box::new(Keyed::new(LeakyQueue::<i64>::new(spec, origin))),
                    None => Box::new(Keyed::new(LeakyQueue::<i128>::new(spec, SimTime::EPOCH))),
                },
                LeakyMode::Meter if !workload.debt && narrow(spec.capacity, spec.rate.reduced().0) => {
                    Box::new(Keyed::new(LeakyMeter::<u64>::new(spec)))
                }
                LeakyMode::Meter => Box::new(Keyed::new(LeakyMeter::<u128>::new(spec))),
            },
            Self::Gcra(spec) => match workload.narrow_origin(spec.rate, spec.burst) {
                Some(origin) => Box::new(Keyed::new(Gcra::<i64>::new(spec, origin))),
                None => Box::new(Keyed::new(Gcra::<i128>::new(spec, SimTime::EPOCH))),
            },
        }
    }
}

fn counter(spec: &SlidingCounterSpec, debt: bool) -> Box<dyn Limiter> {
    match (spec.anchor, spec.buckets) {
        (CounterAnchor::Clock, 1) => Box::new(Keyed::new(SlidingCounter::<[u64; 2], ClockGrid>::new(spec, debt))),
        (CounterAnchor::Clock, _) => Box::new(Keyed::new(SlidingCounter::<Box<[u64]>, ClockGrid>::new(spec, debt))),
        (CounterAnchor::FirstRequest, 1) => {
            Box::new(Keyed::new(SlidingCounter::<[u64; 2], FirstRequestGrid>::new(spec, debt)))
        }
        (CounterAnchor::FirstRequest, _) => {
            Box::new(Keyed::new(SlidingCounter::<Box<[u64]>, FirstRequestGrid>::new(spec, debt)))
        }
    }
}
