//! A closed loop: every lane a world of its own.

use super::deployed;
use crate::error::Error;
use crate::limiter::LimiterSpec;
use crate::record::{
    Findings, FirstAttempts, FleetPlan, FleetRecord, Outcomes, RecordPlan, Recording, Room, Tallied, Tallies,
    name_equals, state_report,
};
use crate::report::{Focus, LoopReport, TimelineReport};
use crate::scenario::{Plan, SpanCondition};
use crate::sim::{
    FaultSpec, Lane, Observer, Options, Remains, Scribe, Step, Stream, Witness, World, WorldPlan, feedback,
};
use crate::time::{SimDuration, SimTime};
use crate::traffic::Traffic;

/// Who is told what becomes of one lane's requests.
type Watched = ((Outcomes, Tallies), Option<FleetRecord>);

/// Runs a plan's closed loop again for observers of each lane's attempts, among which it is lane
/// number 0, for observers of the first attempts, and for a witness of each lane's requests.
///
/// # Errors
/// As [`run`](super::run).
pub fn watch(
    plan: &Plan,
    traffic: &mut Traffic,
    of_lanes: Vec<Vec<Box<dyn Observer + '_>>>,
    mut of_first: Vec<Box<dyn Observer + '_>>,
    witnesses: &mut [impl Witness],
    options: Options,
    go_on: &mut (dyn FnMut() -> bool + Send),
) -> Result<(), Error> {
    let start = traffic.start();
    let (workload, end) = (plan.workload(), sending_ends(plan, start));
    let mut worlds: Vec<World<'_>> = plan
        .lanes
        .iter()
        .zip(of_lanes)
        .zip(witnesses)
        .map(|((lane, observers), witness)| {
            let stream = Stream::new(plan.traffic.columns.len(), lane.column, None, observers);
            let world = World::new(world_plan(plan, start, end), Lane::new(lane.clone(), &workload), stream, witness);
            if !plan.is_deployed() {
                return world;
            }
            // Only with a stream of its own is anybody told of what is released.
            world.with_released(Stream::new(plan.traffic.columns.len(), lane.column, None, Vec::new()))
        })
        .collect();
    let mut interrupted = false;
    let mut watch = |_: &Step| {
        interrupted = !go_on();
        !interrupted
    };
    feedback(traffic, &mut worlds, &mut of_first, options, &mut watch)?;
    if interrupted { Err(Error::Interrupted) } else { Ok(()) }
}

/// From when on nothing is sent, if that is stated.
fn sending_ends(plan: &Plan, start: SimTime) -> Option<SimTime> {
    plan.traffic.duration.and_then(|duration| start.checked_add(duration))
}

/// Runs a plan's closed loop and records it; for each lane the counts of the plan's conditions.
///
/// # Errors
/// As [`run`](super::run).
pub fn findings(
    plan: &Plan,
    traffic: &mut Traffic,
    record: &RecordPlan,
    options: Options,
    scribes: Vec<Box<dyn Scribe + '_>>,
    spec: impl Fn(&LimiterSpec) -> serde_json::Value,
    progress: &mut (dyn FnMut(u64) -> bool + Send),
) -> Result<(Findings, Vec<Vec<u64>>), Error> {
    let room = Room::default();
    let mut first = FirstAttempts::new(record.clone(), &room);
    let mut recordings: Vec<Recording> = plan
        .lanes
        .iter()
        .map(|lane| Recording::new(RecordPlan { lanes: vec![lane.clone()], ..record.clone() }))
        .collect();
    let tallied: Vec<Tallied> = plan.conditions.iter().map(|condition| tallied(condition, record.start)).collect();
    let fleets: Vec<FleetPlan> = plan.lanes.iter().map(|lane| deployed::fleet_plan(plan, lane, record.start)).collect();
    let mut outcomes: Vec<Watched> = fleets
        .iter()
        .map(|fleet| {
            let fleet = plan.is_deployed().then(|| FleetRecord::new(fleet));
            ((Outcomes::new(record.start, plan.metric_bin), Tallies::new(&tallied)), fleet)
        })
        .collect();
    let end = sending_ends(plan, record.start);
    let mut interrupted = false;
    let remains: Vec<Remains> = {
        let mut worlds: Vec<World<'_>> = recordings
            .iter_mut()
            .zip(&mut outcomes)
            .map(|(recording, outcomes)| world(plan, record, end, recording, outcomes))
            .collect();
        if !scribes.is_empty() {
            worlds = worlds.into_iter().zip(scribes).map(|(world, scribe)| world.with_scribe(scribe)).collect();
        }
        let mut observers = first.observers();
        let mut watch = |step: &Step| {
            interrupted = !progress(step.batch.first);
            !interrupted
        };
        feedback(traffic, &mut worlds, &mut observers, options, &mut watch)?;
        worlds.into_iter().map(World::into_remains).collect()
    };
    if interrupted {
        return Err(Error::Interrupted);
    }
    let first = first.finish();
    let mut found = Findings {
        offered: first.offered,
        lanes: Vec::new(),
        groups: Vec::new(),
        partings: first.partings,
        notable_keys: Vec::new(),
        admissions: Vec::new(),
        last_sent_ns: None,
        arrivals_by_key: first.arrivals_by_key,
        split: Vec::new(),
    };
    let mut any_stopped = false;
    let counts = outcomes.iter().map(|((_, tallies), _)| tallies.counts()).collect();
    for ((recording, ((outcomes, _), fleet)), remains) in recordings.into_iter().zip(outcomes).zip(remains) {
        let Remains { lane, stopped, left_out, size, races } = remains;
        any_stopped |= stopped;
        let (limiter, lane_plan) = (lane.plan().limiter.clone(), lane.plan().clone());
        let (ended, unfinished) = outcomes.requests();
        let sent = outcomes.attempts();
        let last = outcomes.last_sent().nanos().saturating_sub(record.start.nanos());
        found.last_sent_ns = found.last_sent_ns.max(Some(last));
        let mut own = recording.finish(traffic, &[lane], &spec, &plan.column_names);
        let mut report = own.lanes.pop().expect("one lane was recorded");
        // Of a crowd that comes at once and shares a key: else arrivals or keys decide, too.
        let crowd = found.offered.first_ns == found.offered.last_ns && plan.populations().iter().all(Option::is_none);
        let one_key = report.state.keys <= 1 && crowd;
        let ideal = one_key.then(|| ideal_drain(&limiter, found.offered.cost)).flatten();
        let closed: LoopReport = outcomes.finish(end, ideal, stopped);
        // Counted by the clients, and by the limiter.
        assert!(report.attempts + left_out == sent, "every attempt that goes out is decided, once");
        assert!(closed.succeeded <= report.allowed + report.delayed + left_out, "who is answered was admitted");
        report.requests = ended + unfinished;
        report.retries = report.attempts.saturating_sub(closed.first_attempts);
        report.unfinished = unfinished;
        // Who was stopped says so.
        report.closed = (plan.is_closed_loop() || stopped).then_some(closed);
        if let Some(fleet) = fleet {
            deployed::complete(plan, &lane_plan, fleet, races, own.offered.largest_cost, &mut report);
            report.state = state_report(size);
        }
        found.lanes.push(report);
        found.notable_keys.append(&mut own.notable_keys);
        found.admissions.append(&mut own.admissions);
    }
    // Lanes decide alike if they do on first attempts and on all that come of them.
    for group in first.groups {
        let mut rest = group;
        while let Some(leader) = rest.first().copied() {
            let alike = |lane: &usize| found.admissions[*lane] == found.admissions[leader];
            let (same, others): (Vec<usize>, Vec<usize>) = rest.into_iter().partition(alike);
            found.groups.push(same);
            rest = others;
        }
    }
    if any_stopped {
        // What was not simulated was not refused.
        found.partings.clear();
    }
    found.groups.sort();
    name_equals(&found.groups, &mut found.lanes);
    found.split = align(
        &mut found.lanes.iter_mut().map(|lane| &mut lane.timeline).collect::<Vec<_>>(),
        first.split,
        first.split_bin_ns,
    );
    Ok((found, counts))
}

/// What a condition counts in a run from `start` on.
fn tallied(condition: &SpanCondition, start: SimTime) -> Tallied {
    let instant = |offset: SimDuration| start.checked_add(offset).unwrap_or(SimTime::MAX);
    Tallied { measure: condition.measure, from: instant(condition.from), until: instant(condition.until) }
}

/// One lane's world.
fn world<'a>(
    plan: &Plan,
    record: &RecordPlan,
    end: Option<SimTime>,
    recording: &'a mut Recording,
    outcomes: &'a mut Watched,
) -> World<'a> {
    let workload = plan.workload();
    let mut lanes = recording.lanes().iter().map(|lane| Lane::new(lane.clone(), &workload)).collect::<Vec<_>>();
    let reference = (lanes.len() > 1).then(|| lanes.pop()).flatten();
    let lane = lanes.pop().expect("the recorded lane comes first");
    let (columns, column, world) = (record.columns, lane.plan().column, world_plan(plan, record.start, end));
    if !record.apart {
        return World::new(world, lane, Stream::new(columns, column, reference, recording.observers()), outcomes);
    }
    let (arrivals, releases) = recording.observers_apart();
    let stream = Stream::new(columns, column, reference, arrivals);
    World::new(world, lane, stream, outcomes).with_released(Stream::new(columns, column, None, releases))
}

fn world_plan(plan: &Plan, start: SimTime, end: Option<SimTime>) -> WorldPlan {
    WorldPlan {
        seed: plan.traffic.seed,
        origin: start,
        end,
        max_events: plan.max_events,
        populations: plan.populations(),
        faults: plan.faults.clone(),
        workload: plan.workload(),
    }
}

/// The shortest time in which a limit lets so many units through.
fn ideal_drain(limiter: &LimiterSpec, cost: u64) -> Option<SimDuration> {
    let interval = limiter.interval()?;
    Some(SimDuration::from_nanos(interval.nanos(cost.saturating_sub(limiter.at_first()))))
}

/// Where the action is if a backend is slow for a while or something goes wrong: that, a little before it,
/// and what comes of it.
pub fn slow_focus(plan: &Plan, end_ns: i64) -> Option<Focus> {
    let backends = plan.lanes.iter().filter_map(|lane| lane.backend.as_ref()).flat_map(|backend| &backend.slow);
    let window = plan.limit.map_or(0, |limit| limit.window.short_nanos());
    let spans: Vec<(u64, u64)> = backends
        .map(|slow| (slow.from, slow.until))
        .chain(plan.faults.iter().filter_map(FaultSpec::span).map(|(from, until)| {
            let (from, until) = (from.short_nanos(), until.short_nanos());
            // What happens at an instant is seen a window before and after it.
            if from == until { (from.saturating_sub(window), until.saturating_add(window)) } else { (from, until) }
        }))
        .collect();
    let (from, until) = (spans.iter().map(|span| span.0).min()?, spans.iter().map(|span| span.1).max()?);
    let long = until - from;
    let end = u64::try_from(end_ns).ok()?;
    let (from, until) = (from.saturating_sub(long / 2), until.saturating_add(2 * (long / 2)).min(end));
    // What comes after the run is no close look; of hardly less than all of it, all is.
    if from >= until {
        return None;
    }
    let close = (until - from).saturating_mul(3) <= end;
    let (from, until) = if close { (from, until) } else { (0, end) };
    Some(Focus { from_ns: from.cast_signed(), until_ns: until.cast_signed() })
}

/// Gives all timelines the same bins; those of `split`, which are not wider, too.
fn align(timelines: &mut [&mut TimelineReport], split: Vec<u64>, split_bin_ns: u64) -> Vec<u64> {
    let width = timelines.iter().map(|t| t.bin_ns).max().unwrap_or(split_bin_ns).max(split_bin_ns);
    let coarse = |counts: &[u64], width_now: u64| -> Vec<u64> {
        let by = (width / width_now.max(1)).max(1);
        counts.chunks(usize::try_from(by).unwrap_or(usize::MAX)).map(|bins| bins.iter().sum()).collect()
    };
    let mut longest = 0;
    for timeline in timelines.iter_mut() {
        for counts in [&mut timeline.allowed, &mut timeline.delayed, &mut timeline.denied] {
            *counts = coarse(counts, timeline.bin_ns);
            longest = longest.max(counts.len());
        }
        timeline.bin_ns = width;
    }
    let mut split = coarse(&split, split_bin_ns);
    for timeline in timelines {
        for counts in [&mut timeline.allowed, &mut timeline.delayed, &mut timeline.denied] {
            counts.resize(longest, 0);
        }
    }
    split.resize(longest, 0);
    split
}
