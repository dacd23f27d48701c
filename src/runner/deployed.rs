//! What a deployment adds to a run's results.

use super::faults;
use crate::record::{FleetPlan, FleetRecord};
use crate::report::{BoundPoint, FleetReport, LaneDetail, LaneReport};
use crate::scenario::Plan;
use crate::sim::{BackendSpec, LanePlan, Races, Schedule, ServiceSpec};
use crate::time::{SimDuration, SimTime};

/// The faults of a plan as a lane meets them.
fn schedule(plan: &Plan, lane: &LanePlan) -> Schedule {
    let replicas = lane.deployment.as_ref().map_or(1, |deployment| deployment.replicas().count);
    let end = plan.traffic.duration.map_or(u64::MAX, SimDuration::short_nanos);
    Schedule::new(&plan.faults, replicas, plan.traffic.seed, end)
}

/// What a record of a lane needs to know.
pub fn fleet_plan(plan: &Plan, lane: &LanePlan, start: SimTime) -> FleetPlan {
    let schedule = schedule(plan, lane);
    let mut spans = plan.measured_spans();
    spans.extend(plan.limit.map(|limit| limit.window));
    spans.dedup();
    FleetPlan {
        start,
        limit: plan.limit,
        replicas: if lane.deployment.is_some() { schedule.most_replicas() } else { 1 },
        spans,
        exempt: lane.exempt.clone(),
        staleness: lane.deployment.as_ref().and_then(|deployment| deployment.staleness(&schedule)),
        backend: lane.backend.as_ref().and_then(capacity).map(|(units, period)| (units, period, plan.metric_bin)),
    }
}

/// What a backend can do: so many requests in so many nanoseconds.
fn capacity(backend: &BackendSpec) -> Option<(u64, u64)> {
    let servers = u64::from(backend.servers?);
    match backend.service {
        ServiceSpec::Constant { period: 0, .. } | ServiceSpec::LoadDependent { .. } | ServiceSpec::Optimistic => None,
        ServiceSpec::Constant { period, units } => Some((units.saturating_mul(servers), period)),
        ServiceSpec::Exponential { mean } => Some((servers, mean.short_nanos())),
    }
}

/// Completes the results of a lane with what its deployment did and could have done.
pub fn complete(
    plan: &Plan,
    lane: &LanePlan,
    fleet: FleetRecord,
    races: Races,
    largest_cost: u64,
    report: &mut LaneReport,
) {
    let schedule = schedule(plan, lane);
    let measured = fleet.measured(races, largest_cost);
    if let Some(deployment) = &lane.deployment {
        let bound = |span: SimDuration| deployment.bound(lane, &schedule, span, &measured);
        if let (Some(peak), Some(limit)) = (&mut report.peak, plan.limit) {
            peak.bound = bound(limit.window);
        }
        for point in &mut report.envelope {
            point.bound = bound(SimDuration::from_nanos(point.span_ns));
        }
    }
    let mut fleet = finished(plan, lane, &schedule, fleet);
    if let (Some(deployment), Some(limit)) = (&lane.deployment, plan.limit) {
        let quarter = limit.window.short_nanos().div_ceil(4);
        let point = |span_ns: u64| {
            let bound = deployment.bound(lane, &schedule, SimDuration::from_nanos(span_ns), &measured);
            BoundPoint { span_ns, bound }
        };
        fleet.bounds = (1..=12).map(|n| point(quarter.saturating_mul(n))).collect();
        let staleness = deployment.staleness(&schedule);
        fleet.staleness_ns = staleness.map(|span| u64::try_from(span.nanos()).unwrap_or(u64::MAX));
    }
    let peak = report.peak.as_ref().and_then(|peak| Some((peak.units, peak.bound.filter(|bound| *bound > 0)?)));
    fleet.of_bound = peak.map(|(units, bound)| units as f64 / bound as f64);
    report.fleet = Some(fleet);
}

/// What a record found.
fn finished(plan: &Plan, lane: &LanePlan, schedule: &Schedule, fleet: FleetRecord) -> FleetReport {
    let end = plan.traffic.duration.map_or(u64::MAX, SimDuration::short_nanos);
    let store =
        lane.deployment.as_ref().and_then(|deployment| deployment.has_store().then(|| schedule.unavailable(end)));
    fleet.finish(store)
}

/// Completes a close look at a lane with what goes wrong meanwhile, and which replicas run.
pub fn look(plan: &Plan, lane: &LanePlan, start: SimTime, span: (SimTime, SimTime), detail: &mut LaneDetail) {
    let Some(fleet) = &mut detail.fleet else { return };
    let schedule = schedule(plan, lane);
    fleet.faults = faults::faults(&plan.faults, lane, &schedule, start, span);
    let running = faults::running(lane, &schedule, start, span);
    fleet.replicas.iter_mut().zip(running).for_each(|(replica, running)| replica.running = running);
}
