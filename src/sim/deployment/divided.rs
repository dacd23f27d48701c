//! The proven worst case of replicas that divide a limit by demand.
//!
//! A limiter with a part of the limit that changes admits no more than one with all of it: a window, log
//! or counter keeps what was used and never admits past the whole limit; a bucket keeps what was left, is
//! never fuller than the whole one and never fills faster; a queue keeps its instant and never serves
//! faster. So all replicas together never pass as many times the whole limiter's bound as there are
//! limiters that a key can meet. More is proven only where the parts are known to make no more than a
//! whole at every instant: where they are lent (`quota`).

use super::bound::{fresh, lives, sum, times};
use super::{Measured, ReplicasSpec, Schedule, Scheme, Unassigned};
use crate::limiter::{Compare, FixedWindowSpec, LeakyBucketSpec, LeakyMode, LimiterSpec, Refill, TokenBucketSpec};
use crate::limiter::{SlidingLogSpec, WindowAnchor};
use crate::sim::lane::LanePlan;
use crate::time::SimDuration;

/// The most units of one key released in any half-open span; `None` where nothing is proven.
///
/// - `quota`: the replicas' bounds apart, and what follows from leases that never pass the capacity.
/// - `proportional`: the replicas' bounds apart. The sum of parts passes the whole while demand moves: a
///   cold step lets (N - 1) x rate x interval more through with weight 1, and longer averages let more.
/// - `assignment`: the same, and what was admitted without an assignment, as measured.
/// - `drop`: nothing. Without a limiter any number passes until demand is known.
pub fn bound(
    scheme: &Scheme,
    replicas: &ReplicasSpec,
    lane: &LanePlan,
    schedule: &Schedule,
    span: SimDuration,
    measured: &Measured,
) -> Option<u128> {
    // A log that counts what it refuses keeps no more than its part: what it drops would count again once
    // the part grows.
    if matches!(lane.limiter, LimiterSpec::SlidingLog(SlidingLogSpec { count_denied: true, .. })) {
        return None;
    }
    let whole = lane.bound(span, measured.largest_cost);
    let apart = times(whole, lives(replicas, schedule));
    match scheme {
        Scheme::Quota { every, .. } => apart.into_iter().chain(lent(*every, replicas, lane, schedule, whole)).min(),
        Scheme::Proportional { .. } => apart,
        Scheme::Assignment { unassigned, .. } => {
            let without = match unassigned {
                Unassigned::Allow => {
                    measured.unanswered.iter().find(|(other, _)| *other == span).map(|(_, units)| *units)
                }
                Unassigned::Deny => Some(0),
            };
            sum(apart, without.map(u128::from))
        }
        Scheme::Drop { .. } | Scheme::Sync { .. } | Scheme::Lease { .. } => None,
    }
}

/// What parts that never pass the whole can admit.
///
/// Buckets: when the first attempt of the span is admitted, all of them together hold no more than one
/// burst, and from then on they fill no faster than the whole. Only one that a key has not met yet may
/// grow by more, when its part does: by a burst at most, once.
///
/// Windows and logs: between two rounds the replicas together use no more than the limit, and a window
/// meets so many divisions of it.
fn lent(
    every: SimDuration,
    replicas: &ReplicasSpec,
    lane: &LanePlan,
    schedule: &Schedule,
    whole: Option<u128>,
) -> Option<u128> {
    // Clocks that differ, or stand still for a while, meet divisions at other instants.
    if lane.clock_resolution.is_some() || !replicas.skew.is_empty() {
        return None;
    }
    let divisions = |window: SimDuration| {
        let met = (window.nanos() + 1).div_ceil(every.nanos()) + 1;
        times(whole, met + fresh(schedule))
    };
    match &lane.limiter {
        LimiterSpec::TokenBucket(TokenBucketSpec { refill: Refill::Continuous, .. })
        | LimiterSpec::Gcra(_)
        | LimiterSpec::LeakyBucket(LeakyBucketSpec { mode: LeakyMode::Meter, compare: Compare::After, .. }) => {
            let bursts = times(Some(lane.limiter.most_at_once().into()), lives(replicas, schedule) - 1);
            sum(whole, bursts)
        }
        LimiterSpec::FixedWindow(FixedWindowSpec { limit, anchor: WindowAnchor::Clock, .. })
        | LimiterSpec::SlidingLog(SlidingLogSpec { limit, .. }) => divisions(limit.window),
        _ => None,
    }
}
