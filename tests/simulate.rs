//! Scenario texts, run through the runner; what arrived and what was decided, arrival by arrival.

use rlsim::error::Error;
use rlsim::limiter::{Decision, Verdicts};
use rlsim::report::{LaneReport, Report};
use rlsim::runner::{Extras, Outcome, run};
use rlsim::scenario::{Plan, ScenarioSource};
use rlsim::sim::{Observer, Options, Step};
use rlsim::time::SimDuration;
use rlsim::traffic::{Batch, Traffic};

/// One second in nanoseconds.
pub const S: i64 = 1_000_000_000;
/// One millisecond in nanoseconds.
pub const MS: i64 = 1_000_000;

/// One arrival, as the traffic made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Nanoseconds since the epoch.
    pub at: i64,
    pub cost: u64,
    /// Number of its traffic table.
    pub source: u16,
    /// Its key in each column, as a number and as text.
    pub ids: Vec<u32>,
    pub names: Vec<String>,
}

pub fn try_plan(text: &str) -> Result<Plan, Error> {
    let source =
        ScenarioSource { name: "test".to_owned(), text: text.to_owned(), folder: Default::default(), embedded: false };
    Plan::new(&source, &[])
}

pub fn plan(text: &str) -> Plan {
    try_plan(text).unwrap_or_else(|error| panic!("{error}: {error:?}\n{text}"))
}

/// All arrivals of a plan.
pub fn arrivals(plan: &Plan) -> Vec<Arrival> {
    let mut traffic = Traffic::open(&plan.traffic).expect("synthetic");
    let mut batch = Batch::default();
    let mut all = Vec::new();
    loop {
        traffic.fill(&mut batch, 1000).expect("synthetic");
        if batch.is_empty() {
            return all;
        }
        for row in 0..batch.len() {
            let ids: Vec<u32> = batch.keys.iter().map(|column| column[row].0).collect();
            let names = ids.iter().enumerate().map(|(column, id)| {
                String::from_utf8(traffic.keys(column).name(*id).to_vec()).expect("names of synthetic keys are text")
            });
            all.push(Arrival {
                at: batch.at[row].nanos(),
                cost: batch.cost[row],
                source: batch.source[row],
                names: names.collect(),
                ids,
            });
        }
    }
}

/// The instants of all arrivals of a scenario.
pub fn instants(text: &str) -> Vec<i64> {
    let mut traffic = Traffic::open(&plan(text).traffic).expect("synthetic");
    let mut batch = Batch::default();
    let mut all = Vec::new();
    loop {
        traffic.fill(&mut batch, 10_000).expect("synthetic");
        if batch.is_empty() {
            return all;
        }
        all.extend(batch.at.iter().map(|at| at.nanos()));
    }
}

/// Keeps every decision of every reported lane.
struct Decisions(Vec<Vec<Decision>>);

impl Observer for Decisions {
    fn observe(&mut self, step: &Step, verdicts: &[Verdicts]) {
        for (lane, kept) in self.0.iter_mut().enumerate() {
            let mut waits = verdicts[lane].waits.iter().peekable();
            for row in 0..step.batch.len() {
                let wait = waits.next_if(|(delayed, _)| *delayed as usize == row).map(|(_, wait)| *wait);
                kept.push(match (verdicts[lane].admitted.get(row), wait) {
                    (false, _) => Decision::Deny,
                    (true, None) => Decision::Allow,
                    (true, Some(wait)) => Decision::Delay(SimDuration::from_nanos(wait)),
                });
            }
        }
    }
}

/// Runs a plan; the decisions are by lane, then by arrival.
pub fn run_plan(plan: &Plan, options: Options) -> Result<(Outcome, Vec<Vec<Decision>>), Error> {
    let mut decisions = Decisions(vec![Vec::new(); plan.lanes.len()]);
    let extras = Extras { taps: Vec::new(), observers: vec![Box::new(&mut decisions)], ..Extras::default() };
    let outcome = run(plan, options, extras, &mut |_| true)?;
    Ok((outcome, decisions.0))
}

pub fn decisions(text: &str) -> (Report, Vec<Vec<Decision>>) {
    let (outcome, decisions) = run_plan(&plan(text), Options::default()).expect("in range");
    (outcome.report, decisions)
}

pub fn report(text: &str) -> Report {
    decisions(text).0
}

pub fn lane<'a>(report: &'a Report, name: &str) -> &'a LaneReport {
    report.lane(name).unwrap_or_else(|| panic!("no lane {name}"))
}

/// Units measured and bound at a span of the envelope.
pub fn envelope(lane: &LaneReport, span: i64) -> (u64, Option<u128>) {
    let point = lane.envelope.iter().find(|point| point.span_ns == span as u64).expect("a stated span");
    (point.units, point.bound)
}

/// A duration as scenarios write it.
pub fn text(nanos: i64) -> String {
    SimDuration::from_nanos(u64::try_from(nanos).expect("not negative")).to_string()
}

/// `[[traffic]]` tables: so many requests at each instant, all of one client.
///
/// Every table has a key of its own; what makes them one client is the attribute `who`, by which
/// the lanes count.
pub fn bursts(trace: &[(i64, u64)]) -> String {
    let table = |(at, requests): &(i64, u64)| {
        let at = text(*at);
        format!("[[traffic]]\nburst = {{ requests = {requests}, at = \"{at}\" }}\ngroups = {{ who = \"client\" }}\n")
    };
    trace.iter().map(table).collect()
}

/// A `[[lane]]` table that counts by `who`.
pub fn who_lane(name: &str, algorithm: &str) -> String {
    format!("[[lane]]\nname = \"{name}\"\nkey = \"who\"\n{algorithm}\n")
}

/// What an algorithm calls its burst.
pub fn burst_of(algorithm: &str) -> &'static str {
    if algorithm == "leaky-bucket" { "capacity" } else { "burst" }
}
