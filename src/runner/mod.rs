//! Runs a plan, or a closer look at one span of it: determinism is the storage format.

mod closed;
mod deployed;
mod detail;
mod faults;
mod levels;
mod replicate;
mod seek;
mod sheet;
mod sweep;

pub use detail::{Closeup, detail, details};
pub use replicate::replicate;
pub use seek::{Search, seek};
pub use sheet::sheet;
pub use sweep::{Done, Look, Prospect, prospect, sweep};

use crate::error::Error;
use crate::limiter::{KeyId, LimiterSpec};
use crate::record::{Findings, RecordPlan, Recording, Room, focus};
use crate::report::{BadRowReport, Disagreement, InputReport, LimitReport, OfferedReport, Report, SCHEMA};
use crate::scenario::{Plan, lane_spec};
use crate::sim::{Lane, Observer, Options, Scribe, Step, Tap, replay};
use crate::time::{SimDuration, SimTime};
use crate::traffic::{InputSummary, Order, TraceSpec, Traffic, TrafficKind, display_key};

/// A run's results.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What faces see.
    pub report: Report,
    /// What a closer look needs to know beside it.
    pub index: RunIndex,
}

/// Numbers of keys, which the report names.
#[derive(Clone, Debug, Default)]
pub struct RunIndex {
    /// For each lane, the key of its peak, or its most refused key.
    pub notable_keys: Vec<Option<KeyId>>,
    /// Keys with the most arrivals, most first: name, number, arrivals.
    pub busiest: Vec<(String, KeyId, u64)>,
    /// Arrivals on which the lanes do not all agree, by bin of the report's timelines.
    pub split: Vec<u64>,
}

/// Keys listed in [`RunIndex::busiest`].
const BUSIEST: usize = 1_000;

/// What else is to see a run: taps by lane, observers of all lanes.
#[derive(Default)]
pub struct Extras<'a> {
    /// One for each reported lane, or none at all.
    pub taps: Vec<Option<Box<dyn Tap + 'a>>>,
    /// Further observers.
    pub observers: Vec<Box<dyn Observer + 'a>>,
    /// Those who write down the attempts of a closed loop: one for each lane, or none at all. They
    /// take the place of taps and observers there.
    pub scribes: Vec<Box<dyn Scribe + 'a>>,
}

/// Runs a plan.
///
/// `progress` is told how many arrivals have been decided, and may end the run by answering
/// `false`.
///
/// # Errors
/// If a trace fails, a quantity leaves its exact range, or the run is ended.
pub fn run(
    plan: &Plan,
    options: Options,
    extras: Extras<'_>,
    progress: &mut (dyn FnMut(u64) -> bool + Send),
) -> Result<Outcome, Error> {
    let mut traffic = Traffic::open(&plan.traffic)?;
    let start = traffic.start();
    let record = record_plan(plan, start);
    let spec = |limiter: &_| serde_json::to_value(lane_spec(limiter)).expect("knobs are plain data");
    let closed = plan.needs_feedback();
    let findings = if closed {
        closed::findings(plan, &mut traffic, &record, options, extras.scribes, spec, progress)?.0
    } else {
        open_loop(plan, &mut traffic, record, options, extras, progress, spec)?
    };
    let names = |lanes: &[usize]| lanes.iter().map(|lane| plan.lanes[*lane].name.clone()).collect::<Vec<_>>();
    // Retries take part in what a lane knows; only open loops are told without them.
    let levels = if closed { Vec::new() } else { levels::before(plan, &findings.partings)? };
    let levels = levels.into_iter().chain(std::iter::repeat_with(Vec::new));
    let disagreements = findings
        .partings
        .iter()
        .zip(levels)
        .map(|(parting, levels)| Disagreement {
            arrival: parting.arrival + 1,
            time_ns: parting.at.nanos().saturating_sub(start.nanos()),
            key: display_key(traffic.keys(0).name(parting.keys[0].0)),
            cost: parting.cost,
            admitted: names(&parting.admitted),
            denied: names(&parting.denied),
            levels,
        })
        .collect();
    let offered = OfferedReport { keyed: keyed(plan), ..findings.offered };
    let mut busiest: Vec<(KeyId, u64)> =
        findings.arrivals_by_key.iter().enumerate().map(|(key, count)| (KeyId(key as u32), *count)).collect();
    busiest.sort_by_key(|(key, count)| (std::cmp::Reverse(*count), *key));
    busiest.truncate(BUSIEST);
    let end_ns = end(plan, start, findings.last_sent_ns.max(offered.last_ns));
    let window_ns = plan.limit.map(|limit| limit.window.short_nanos());
    let report = Report {
        schema: SCHEMA,
        rlsim: env!("CARGO_PKG_VERSION"),
        title: plan.title.clone(),
        about: plan.about.clone(),
        changed: plan.changed.clone(),
        warnings: plan.warnings.clone(),
        seed: plan.traffic.seed,
        start,
        end_ns,
        focus: closed::slow_focus(plan, end_ns)
            .unwrap_or_else(|| focus(&findings.lanes, &findings.split, end_ns, window_ns)),
        limit: plan.limit.map(|limit| LimitReport { units: limit.units, window_ns: limit.window.short_nanos() }),
        scenario: serde_json::to_value(plan.resolved()).expect("a scenario is plain data"),
        input: inputs(plan, traffic.inputs()),
        groups: findings.groups.iter().map(|group| names(group)).collect(),
        disagreements,
        offered,
        lanes: findings.lanes,
        replications: None,
    };
    let busiest =
        busiest.into_iter().map(|(key, count)| (display_key(traffic.keys(0).name(key.0)), key, count)).collect();
    let index = RunIndex { notable_keys: findings.notable_keys, busiest, split: findings.split };
    Ok(Outcome { report, index })
}

/// What a recording needs to know of a plan.
fn record_plan(plan: &Plan, start: SimTime) -> RecordPlan {
    RecordPlan {
        lanes: plan.lanes.clone(),
        limit: plan.limit,
        envelope: plan.envelope.clone(),
        columns: plan.traffic.columns.len(),
        classes: plan.traffic.entries.iter().map(|entry| entry.class.clone()).collect(),
        start,
        apart: plan.is_deployed(),
    }
}

/// Runs a plan's open loop and records it.
fn open_loop(
    plan: &Plan,
    traffic: &mut Traffic,
    record: RecordPlan,
    options: Options,
    extras: Extras<'_>,
    progress: &mut (dyn FnMut(u64) -> bool + Send),
    spec: impl Fn(&LimiterSpec) -> serde_json::Value,
) -> Result<Findings, Error> {
    let mut recording = Recording::new(record);
    let workload = plan.workload();
    let mut lanes: Vec<Lane> = recording.lanes().iter().map(|lane| Lane::new(lane.clone(), &workload)).collect();
    let mut taps = extras.taps;
    if !taps.is_empty() {
        taps.resize_with(lanes.len(), || None);
    }
    let (room, longest) = (recording.room(), recording.longest_window());
    let mut observers = recording.observers();
    observers.extend(extras.observers);
    let mut interrupted = false;
    let mut watch = |step: &Step| {
        interrupted = !progress(step.batch.first);
        !interrupted && !room.is_used_up()
    };
    replay(traffic, &mut lanes, &mut taps, &mut observers, options, &mut watch)?;
    drop(observers);
    if interrupted {
        return Err(Error::Interrupted);
    }
    if room.is_used_up() {
        return Err(Error::Range {
            message: format!(
                "more than {} releases lie within {}; an exact peak would need more than 4 GiB for them: shorten the limit's window or the envelope's spans",
                Room::MOST,
                longest.unwrap_or(SimDuration::ZERO)
            ),
        });
    }
    Ok(recording.finish(traffic, &lanes, spec, &plan.column_names))
}

/// The end of the run: as stated, or the last arrival.
fn end(plan: &Plan, start: SimTime, last_ns: Option<i64>) -> i64 {
    let stated = plan.traffic.duration.and_then(|duration| start.checked_add(duration));
    stated.map_or(last_ns.unwrap_or(0), |end| end.nanos() - start.nanos())
}

/// How a trace was keyed, in words; empty for synthetic traffic.
fn keyed(plan: &Plan) -> String {
    let traces: Vec<_> = plan
        .traffic
        .entries
        .iter()
        .filter_map(|entry| match &entry.kind {
            TrafficKind::Trace(trace) => Some(trace),
            TrafficKind::Pattern(_) => None,
        })
        .collect();
    let how = |trace: &TraceSpec| match &trace.key {
        None => "no key column given".to_owned(),
        Some(column) => format!("column {column}"),
    };
    match traces.first() {
        None => String::new(),
        Some(first) if traces.iter().all(|trace| how(trace) == how(first)) => how(first),
        Some(_) => {
            let each: Vec<String> = traces.iter().map(|trace| format!("{}: {}", trace.display, how(trace))).collect();
            each.join("; ")
        }
    }
}

fn inputs(plan: &Plan, summaries: Vec<InputSummary>) -> Vec<InputReport> {
    let orders = plan.traffic.entries.iter().filter_map(|entry| match &entry.kind {
        TrafficKind::Trace(trace) => Some(match trace.order {
            Order::Strict => "strict".to_owned(),
            Order::Sort => "sorted".to_owned(),
            Order::Window(window) => format!("reordered within {window}"),
        }),
        TrafficKind::Pattern(_) => None,
    });
    summaries
        .into_iter()
        .zip(orders)
        .map(|(input, order)| InputReport {
            file: input.file,
            rows: input.rows,
            bad: input.bad,
            first_bad: input
                .first_bad
                .into_iter()
                .map(|bad| BadRowReport { line: bad.line, reason: bad.reason })
                .collect(),
            order,
        })
        .collect()
}
