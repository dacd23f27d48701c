//! The proven worst case of a deployment: the most units of one key released in any half-open span, for
//! any traffic with the quantities that were measured.
//!
//! Each replica by itself keeps to its limiter's bound A(T). What a deployment adds is what replicas do not
//! know of each other, what a store does not know of operations under way, and what is decided without
//! it.

use super::{CentralSpec, Change, DeploymentSpec, HybridSpec, LocalSpec, Operation, Routing, Schedule, Scheme, Share};
use super::{Clock, Debt, LinkSpec, OnFailure, ReplicasSpec, StoreSpec, divided};
use crate::limiter::{FixedWindowSpec, LimiterSpec, Refill, TokenBucketSpec, WindowAnchor};
use crate::sim::lane::LanePlan;
use crate::time::SimDuration;

/// What was measured of a run, as far as a worst case depends on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// Between the shortest and the longest time from asking to knowing.
    pub latency_spread: SimDuration,
    /// The most units of one key that had been read for and not been written.
    pub in_flight: u64,
    /// The most units of one key that were admitted on what was read and whose write never arrived.
    pub unwritten: u64,
    /// The largest cost of one attempt.
    pub largest_cost: u64,
    /// The most units of one key that one replica, or the store, was offered in the time in which others do
    /// not hear of them.
    pub offered: u64,
    /// For each span, the most units of one key that were decided without the store in it.
    pub unanswered: Vec<(SimDuration, u64)>,
    /// The same over the whole run.
    pub all_unanswered: u64,
}

fn plus(a: SimDuration, b: SimDuration) -> SimDuration {
    SimDuration::from_wide_nanos(a.nanos().saturating_add(b.nanos()))
}

pub(super) fn times(units: Option<u128>, count: u128) -> Option<u128> {
    units.map(|units| units.saturating_mul(count))
}

pub(super) fn sum(a: Option<u128>, b: Option<u128>) -> Option<u128> {
    Some(a?.saturating_add(b?))
}

/// How often in a span a limiter forgets what it let pass too much: windows that the span can meet; once
/// where there are none.
fn windows(limiter: &LimiterSpec, span: SimDuration) -> u128 {
    let of = |window: SimDuration| span.nanos().div_ceil(window.nanos().max(1));
    match limiter {
        LimiterSpec::FixedWindow(spec) => of(spec.limit.window) + 1,
        LimiterSpec::SlidingCounter(spec) => of(spec.limit.window) + 1,
        LimiterSpec::SlidingLog(spec) => of(spec.limit.window).max(1),
        // A refill that runs over in part makes good what was overdrawn, each time.
        LimiterSpec::TokenBucket(TokenBucketSpec { rate, burst, refill: Refill::Interval, .. })
            if u128::from(*burst) < u128::from(rate.units) =>
        {
            of(rate.period) + 1
        }
        LimiterSpec::TokenBucket(_) | LimiterSpec::LeakyBucket(_) | LimiterSpec::Gcra(_) => 1,
    }
}

impl DeploymentSpec {
    /// How long who decides does not hear of what others admit, if that matters: a round, and the longest
    /// time for which rounds fail; or how far a store is read behind itself, and the way to it.
    #[must_use]
    pub fn staleness(&self, schedule: &Schedule) -> Option<SimDuration> {
        if let Self::Central(CentralSpec { link, .. }) = self {
            let behind = schedule.changes().iter().filter_map(|(_, change)| match change {
                Change::Lag(by) => Some(SimDuration::from_nanos(*by)),
                _ => None,
            });
            return Some(plus(behind.max()?, link.timeout.or(link.round_trip.longest())?));
        }
        let Self::Hybrid(HybridSpec { scheme: Scheme::Sync { every, push, pull, .. }, .. }) = self else { return None };
        let spans = schedule.down().iter().chain(schedule.cut().iter().map(|(span, _)| span));
        let outage = spans.map(|(from, until)| until - from).sum::<u64>();
        let round = plus(plus(*every, *push), *pull);
        // An outage ends between two rounds.
        let missed = if outage == 0 { SimDuration::ZERO } else { plus(SimDuration::from_nanos(outage), *every) };
        Some(plus(round, missed))
    }

    /// The most units of one key released in any half-open span; `None` where nothing is proven.
    #[must_use]
    pub fn bound(&self, lane: &LanePlan, schedule: &Schedule, span: SimDuration, measured: &Measured) -> Option<u128> {
        let largest = measured.largest_cost;
        let clocks = |replicas: &ReplicasSpec| {
            let ahead = replicas.skew.iter().max().copied().unwrap_or_default();
            let behind = replicas.skew.iter().min().copied().unwrap_or_default();
            SimDuration::from_wide_nanos(ahead.nanos() - behind.nanos())
        };
        let limiter =
            |spec: &LimiterSpec, span| LanePlan { limiter: spec.clone(), ..lane.clone() }.bound(span, largest);
        match self {
            Self::Local(LocalSpec { replicas, share }) => {
                let own = match share {
                    Share::Full => lane.limiter.clone(),
                    Share::Split => lane.limiter.split(replicas.count)?,
                };
                times(limiter(&own, span), lives(replicas, schedule))
            }
            Self::Central(CentralSpec { replicas, link, operation, clock, .. }) => {
                let skew = if *clock == Clock::Replica { clocks(replicas) } else { SimDuration::ZERO };
                let reach = plus(plus(span, measured.latency_spread), skew);
                let one = limiter(&lane.limiter, reach);
                let others = u128::from(measured.in_flight.saturating_sub(1));
                let racing = match operation {
                    Operation::Script | Operation::Incr => one,
                    Operation::GetIncr => sum(one, Some(others.saturating_mul(windows(&lane.limiter, reach)))),
                    // The state moves once for all who read it.
                    Operation::GetSet
                        if link.round_trip.longest().is_some() && schedule.slow_spans().next().is_none() =>
                    {
                        times(one, others + 1)
                    }
                    Operation::GetSet => stalled(&lane.limiter, reach, u128::from(measured.in_flight)),
                };
                // The store knows of all others: what it never hears of comes on top.
                let racing = sum(racing, Some(measured.unwritten.into()));
                let lost = self.lost(lane, schedule, reach, racing, measured);
                sum(sum(racing, lost), without(lane, link, replicas, schedule, span, measured))
            }
            Self::Hybrid(HybridSpec { replicas, scheme, link }) => match scheme {
                Scheme::Sync { debt, .. } => {
                    let reach = plus(span, clocks(replicas));
                    let apart = times(limiter(&lane.limiter, reach), lives(replicas, schedule));
                    // Where debt is forgotten by its age, a replica may forget what it admitted itself.
                    let ages = matches!(lane.limiter, LimiterSpec::SlidingLog(_) | LimiterSpec::SlidingCounter(_));
                    let apart = apart.filter(|_| *debt == Debt::Carry || !ages);
                    let stale = self.staleness(schedule)?;
                    let each = limiter(&lane.limiter, stale).map(|units| units.min(u128::from(measured.offered)));
                    let unseen = times(each, lives(replicas, schedule) - 1);
                    let known = match (&lane.limiter, debt) {
                        // Windows that requests open end at other instants on each replica: what it is told
                        // of in one that is about to end, it forgets.
                        (LimiterSpec::FixedWindow(FixedWindowSpec { anchor: WindowAnchor::Clock, .. }), _)
                        | (LimiterSpec::SlidingLog(_), Debt::Carry) => {
                            let tick = SimDuration::from_nanos(lane.clock_resolution.unwrap_or(0));
                            let each = sum(Some(lane.limiter.most_at_once().into()), unseen);
                            times(each, windows(&lane.limiter, plus(reach, tick)))
                        }
                        (
                            LimiterSpec::TokenBucket(TokenBucketSpec { refill: Refill::Continuous, .. })
                            | LimiterSpec::Gcra(_),
                            Debt::Carry,
                        ) => sum(limiter(&lane.limiter, reach), unseen),
                        _ => None,
                    };
                    // A replica that starts anew does not know what it admitted itself.
                    let known = known.filter(|_| !schedule.restarts());
                    // What the store forgets, replicas forget when they hear from it.
                    times(apart.into_iter().chain(known).min(), schedule.forgets() + 1)
                }
                Scheme::Lease { batch, prefetch } => {
                    let each = u128::from((*batch).max(largest)) - u128::from(!prefetch);
                    let banked = each.saturating_mul(u128::from(schedule.most_replicas()));
                    let reach = plus(plus(span, measured.latency_spread), clocks(replicas));
                    let one = sum(limiter(&lane.limiter, reach), Some(banked));
                    let lost = self.lost(lane, schedule, span, one, measured);
                    sum(sum(one, lost), without(lane, link, replicas, schedule, span, measured))
                }
                scheme => divided::bound(scheme, replicas, lane, schedule, span, measured),
            },
        }
    }

    /// What a store that forgets lets pass again.
    fn lost(
        &self,
        lane: &LanePlan,
        schedule: &Schedule,
        span: SimDuration,
        all: Option<u128>,
        measured: &Measured,
    ) -> Option<u128> {
        let mut lost = Some(0);
        for (at, change) in schedule.changes() {
            let again = match change {
                Change::Flush => all,
                Change::Failover(number) => {
                    let copied = schedule.changes().iter().find(|(_, other)| *other == Change::Copy(*number));
                    let loses = SimDuration::from_nanos(at - copied.map_or(0, |(at, _)| *at));
                    let written = lane.bound(plus(loses, SimDuration::from_nanos(1)), measured.largest_cost);
                    let written = sum(written, Some(measured.in_flight.into()));
                    let most = u128::from(lane.limiter.most_at_once());
                    // A queue forgets what it admitted, which may be more than it released.
                    if lane.limiter.delays() { Some(most) } else { written.map(|written| written.min(most)) }
                }
                // Whoever reads an old copy does not see what was written since.
                Change::Lag(_) => self
                    .staleness(schedule)
                    .map(|_| u128::from(measured.offered).saturating_mul(windows(&lane.limiter, span))),
                _ => Some(0),
            };
            lost = sum(lost, again);
        }
        lost
    }
}

/// Limiters of replicas that begin anew in the course of the run, at most.
pub(super) fn fresh(schedule: &Schedule) -> u128 {
    let fresh = |change: &Change| match change {
        Change::Start(_) | Change::Restart(_) => 1,
        Change::Scale(count) => u128::from(*count),
        _ => 0,
    };
    schedule.changes().iter().map(|(_, change)| fresh(change)).sum()
}

/// Limiters of replicas that a key can meet, fresh ones counted again.
pub(super) fn lives(replicas: &ReplicasSpec, schedule: &Schedule) -> u128 {
    let all = u128::from(schedule.most_replicas());
    let started = fresh(schedule);
    let moves = |change: &Change| {
        matches!(change, Change::Reroute | Change::Start(_) | Change::Stop(_) | Change::Restart(_) | Change::Scale(_))
    };
    let moved = 1 + schedule.changes().iter().filter(|(_, change)| moves(change)).count() as u128;
    match replicas.routing {
        Routing::Hash => moved.min(all + started),
        _ => all + started,
    }
}

/// A write that stalls may rewind the state: with `slots` operations under way, C(limit + slots, slots) - 1
/// in a window.
fn stalled(limiter: &LimiterSpec, span: SimDuration, slots: u128) -> Option<u128> {
    let LimiterSpec::FixedWindow(spec) = limiter else { return None };
    let mut ways = 1_u128;
    for slot in 1..=slots {
        ways = ways.checked_mul(u128::from(spec.limit.units) + slot)? / slot;
    }
    Some((ways - 1).saturating_mul(windows(limiter, span)))
}

/// What is decided without the store.
fn without(
    lane: &LanePlan,
    link: &LinkSpec,
    replicas: &ReplicasSpec,
    schedule: &Schedule,
    span: SimDuration,
    measured: &Measured,
) -> Option<u128> {
    // Within a longer span, at least as much.
    let longer = measured.unanswered.iter().filter(|(other, _)| *other >= span).map(|(_, asked)| *asked);
    let asked = u128::from(longer.min().unwrap_or(measured.all_unanswered));
    // Once before the first fault, if the store is too slow, and once for each.
    let in_time =
        link.timeout.is_none_or(|timeout| link.round_trip.longest().is_some_and(|longest| longest <= timeout));
    let always = link.store == StoreSpec::default() && in_time;
    let times_fresh =
        u128::from(schedule.most_replicas()) * (schedule.outages() + u128::from(!always)) + fresh(schedule);
    let delays = lane.limiter.delays();
    let own = |limiter: LimiterSpec| {
        let each =
            LanePlan { limiter, ..lane.clone() }.bound(plus(span, measured.latency_spread), measured.largest_cost);
        // What waits is released later than it was asked for.
        times(each, times_fresh).map(|units| if delays { units } else { units.min(asked) })
    };
    match link.on_failure {
        None | Some(OnFailure::Closed) => Some(0),
        Some(OnFailure::Open) => Some(asked),
        Some(OnFailure::Local(Share::Full)) => own(lane.limiter.clone()),
        Some(OnFailure::Local(Share::Split)) => own(lane.limiter.split(replicas.count)?),
        Some(OnFailure::SafeRate(rate)) => own(super::safe_bucket(rate)),
    }
}
