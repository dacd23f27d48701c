//! What is legal and most likely not meant: a line each, with the lane, the numbers and a remedy.

use super::file::{LaneTable, ScenarioTable};
use super::plan::Plan;
use crate::limiter::LimiterSpec;
use crate::quota::Rate;
use crate::sim::{
    DeploymentSpec, FaultSpec, HopSpec, LanePlan, LinkSpec, RetryAfter, RetrySpec, Routing, Scheme, Sdk, ServiceSpec,
    Share, Spread,
};
use crate::time::SimDuration;

/// Looks a plan through, and the tables that it was read from.
pub fn warnings(plan: &Plan, table: &ScenarioTable) -> Vec<String> {
    // Lanes of which the same is to be said are named together.
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for lane in &plan.lanes {
        let checks = [
            full_shares(plan, lane),
            seldom_heard_of(lane),
            batches(lane),
            lockstep(lane),
            late_for_its_clients(lane),
            hasty(lane),
            looser_than_its_backend(lane),
        ];
        for text in checks.into_iter().flatten() {
            match found.iter_mut().find(|(known, _)| *known == text) {
                Some((_, lanes)) => lanes.push(&lane.name),
                None => found.push((text, vec![&lane.name])),
            }
        }
    }
    let told = found.into_iter().map(|(text, lanes)| match &lanes[..] {
        [lane] => format!("lane `{lane}`: {text}"),
        [lanes @ .., last] => format!("lanes `{}` and `{last}`: {text}", lanes.join("`, `")),
        [] => text,
    });
    let never = plan.traffic.duration.into_iter().flat_map(|end| never(plan, end));
    unused(table).chain(told).chain(never).collect()
}

/// Tables at the top instead of which every lane states its own.
fn unused(table: &ScenarioTable) -> impl Iterator<Item = String> {
    let lanes = table.lane.as_deref().unwrap_or_default();
    let own = |states: fn(&LaneTable) -> bool| !lanes.is_empty() && lanes.iter().all(|lane| states(lane.get_ref()));
    let unused = [
        ("client", table.client.is_some() && own(|lane| lane.client.is_some())),
        ("response", table.response.is_some() && own(|lane| lane.response.is_some())),
        ("backend", table.backend.is_some() && own(|lane| lane.backend.is_some())),
        ("deployment", table.deployment.is_some() && own(|lane| lane.deployment.is_some())),
    ];
    unused.into_iter().filter(|(_, unused)| *unused).map(|(key, _)| {
        format!("no lane uses the `{key}` at the top: each states its own, which takes nothing from it; leave it out")
    })
}

/// Units and time of a sustained rate.
const fn sustained(limiter: &LimiterSpec) -> Rate {
    match limiter {
        LimiterSpec::FixedWindow(spec) => Rate { units: spec.limit.units, period: spec.limit.window },
        LimiterSpec::SlidingLog(spec) => Rate { units: spec.limit.units, period: spec.limit.window },
        LimiterSpec::SlidingCounter(spec) => Rate { units: spec.limit.units, period: spec.limit.window },
        LimiterSpec::TokenBucket(spec) => spec.rate,
        LimiterSpec::LeakyBucket(spec) => spec.rate,
        LimiterSpec::Gcra(spec) => spec.rate,
    }
}

/// Whether `times` this rate is above another.
fn above(times: u64, rate: Rate, other: Rate) -> bool {
    // Units and periods fit 62 bits each, so one product does in any case; the other may be larger still.
    let most = u128::from(other.units) * nanos(rate);
    let units = u128::from(rate.units) * nanos(other);
    units.checked_mul(u128::from(times)).is_none_or(|units| units > most)
}

fn nanos(rate: Rate) -> u128 {
    u128::from(rate.period.short_nanos())
}

/// How many replicas a key meets that each have all of the limit.
fn whole_limits(lane: &LanePlan) -> u64 {
    match &lane.deployment {
        Some(DeploymentSpec::Local(local)) if local.share == Share::Full => match &local.replicas.routing {
            Routing::Hash => 1,
            Routing::Weights(weights) => weights.iter().filter(|weight| **weight > 0).count() as u64,
            _ => u64::from(local.replicas.count),
        },
        _ => 1,
    }
}

fn full_shares(plan: &Plan, lane: &LanePlan) -> Option<String> {
    let (limit, replicas) = (plan.limit?, whole_limits(lane));
    let own = sustained(&lane.limiter);
    (replicas > 1 && above(replicas, own, Rate::from(limit))).then(|| {
        format!(
            "{replicas} replicas may each admit {own}, {replicas} times that in all, above the limit of {limit}; write `share = \"split\"`, or `routing = \"hash\"` to keep each key at one of them"
        )
    })
}

fn seldom_heard_of(lane: &LanePlan) -> Option<String> {
    let Some(DeploymentSpec::Hybrid(hybrid)) = &lane.deployment else { return None };
    let every = match hybrid.scheme {
        Scheme::Sync { every, .. }
        | Scheme::Quota { every, .. }
        | Scheme::Drop { every, .. }
        | Scheme::Proportional { every, .. } => every,
        Scheme::Assignment { report, .. } => report,
        Scheme::Lease { .. } => return None,
    };
    let window = sustained(&lane.limiter).period;
    (hybrid.replicas.count > 1 && every > window).then(|| {
        format!(
            "replicas hear of each other every {every}, longer than the window of {window}, so that each may admit a whole limit before it knows of the others; write a time below {window}"
        )
    })
}

fn batches(lane: &LanePlan) -> Option<String> {
    let Some(DeploymentSpec::Hybrid(hybrid)) = &lane.deployment else { return None };
    let Scheme::Lease { batch, .. } = hybrid.scheme else { return None };
    let most = lane.limiter.most_at_once();
    (hybrid.replicas.count > 1 && batch >= most && most > 0).then(|| {
        format!(
            "a batch of {batch} is all of the {most} that there are, so that the first replica to ask leaves nothing for the others; write a `batch` below {most}"
        )
    })
}

fn lockstep(lane: &LanePlan) -> Option<String> {
    let told = matches!(lane.response.retry_after, RetryAfter::Seconds | RetryAfter::Date | RetryAfter::Exact);
    let spread = lane.response.spread != Spread::Fixed(SimDuration::ZERO);
    let obeys = match lane.client.as_ref()?.retry {
        RetrySpec::RetryAfter { jitter } => jitter.is_zero(),
        RetrySpec::Paced | RetrySpec::Sdk(Sdk::Urllib328 | Sdk::OctokitThrottling110) => true,
        _ => false,
    };
    (told && !spread && obeys).then(|| {
        "clients that are refused at one time are told to come back at one time, and do; add a spread, as in `response = { retry-after = \"seconds\", spread = \"10s\" }`"
            .to_owned()
    })
}

fn link(lane: &LanePlan) -> Option<&LinkSpec> {
    lane.deployment.as_ref().and_then(DeploymentSpec::link)
}

fn late_for_its_clients(lane: &LanePlan) -> Option<String> {
    let deadline = lane.client.as_ref()?.deadline?;
    let store = link(lane).and_then(|link| link.timeout).map(|timeout| ("replicas wait", "store", timeout));
    let backend = lane.backend.as_ref().and_then(|backend| backend.timeout);
    let backend = backend.map(|timeout| ("clients wait", "backend", timeout));
    let (who, whom, timeout) = [store, backend].into_iter().flatten().find(|(.., timeout)| *timeout > deadline)?;
    Some(format!(
        "{who} {timeout} for the {whom}, and clients give up after {deadline}: what comes of the timeout comes too late; write a `timeout` below {deadline}"
    ))
}

fn hasty(lane: &LanePlan) -> Option<String> {
    let link = link(lane)?;
    let (timeout, HopSpec::Constant(round_trip)) = (link.timeout?, link.round_trip) else { return None };
    (timeout < round_trip).then(|| {
        format!(
            "replicas wait {timeout} for a store that is {round_trip} away and back, so that every attempt times out; write a `timeout` above {round_trip}"
        )
    })
}

fn looser_than_its_backend(lane: &LanePlan) -> Option<String> {
    let backend = lane.backend.as_ref()?;
    let servers = u64::from(backend.servers?);
    let (period, units) = match backend.service {
        ServiceSpec::Constant { period, units } => (period, units),
        ServiceSpec::Exponential { mean } => (mean.short_nanos(), 1),
        ServiceSpec::LoadDependent { .. } | ServiceSpec::Optimistic => return None,
    };
    let serves = per_second(Rate { units: servers.checked_mul(units)?, period: SimDuration::from_nanos(period) });
    let (own, replicas) = (sustained(&lane.limiter), whole_limits(lane));
    (period > 0 && above(replicas, own, serves)).then(|| {
        let admits = if replicas > 1 { format!("{replicas} times {own}") } else { own.to_string() };
        format!(
            "admits {admits} of one key alone, and the backend serves {serves}: what is admitted has to wait or fails; write a lower limit"
        )
    })
}

/// The same rate by the second, if it is whole.
fn per_second(rate: Rate) -> Rate {
    let second = SimDuration::from_secs(1);
    let (units, period) = (u128::from(rate.units) * second.nanos(), rate.period.nanos());
    let whole = (period > 0 && units.is_multiple_of(period)).then(|| units / period);
    whole.and_then(|units| u64::try_from(units).ok()).map_or(rate, |units| Rate { units, period: second })
}

/// Faults after the end of the run.
fn never(plan: &Plan, end: SimDuration) -> impl Iterator<Item = String> + '_ {
    plan.faults.iter().filter_map(move |fault| {
        let (kind, at) = match fault {
            FaultSpec::StoreDown { from, .. } => ("store-down", from),
            FaultSpec::StoreSlow { from, .. } => ("store-slow", from),
            FaultSpec::StoreLag { from, .. } => ("store-lag", from),
            FaultSpec::Partition { from, .. } => ("partition", from),
            FaultSpec::Failover { at, .. } => ("failover", at),
            FaultSpec::Flush { at } => ("flush", at),
            FaultSpec::LostExpire { at } => ("lost-expire", at),
            FaultSpec::Start { at, .. } => ("start", at),
            FaultSpec::Stop { at, .. } => ("stop", at),
            FaultSpec::Restart { at, .. } => ("restart", at),
            FaultSpec::Scale { at, .. } => ("scale", at),
            FaultSpec::Reroute { at } => ("reroute", at),
            FaultSpec::Random { .. } => return None,
        };
        (*at >= end).then(|| {
            format!("fault `{kind}` at {at}: the run ends at {end}, so that no arrival meets it; write an earlier time")
        })
    })
}
