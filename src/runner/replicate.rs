//! Many runs of one plan, each with a seed of its own.

use super::{closed, open_loop, record_plan};
use crate::error::Error;
use crate::report::{ConditionReport, Estimate, LaneReplications, LaneReport, Replications};
use crate::runner::Extras;
use crate::scenario::Plan;
use crate::sim::Options;
use crate::traffic::Traffic;
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::sync::atomic::{AtomicU64, Ordering};

/// How often an interval holds the true value.
const CONFIDENCE: f64 = 0.95;

/// The normal distribution's quantile for it.
const NORMAL: f64 = 1.959_964;

/// Figures of one run of one lane, and its counts of the conditions.
struct Single {
    figures: Vec<(&'static str, Option<f64>)>,
    counts: Vec<u64>,
}

/// Runs a plan with as many seeds, from its own on, each run on one thread. The number of threads
/// changes no result.
///
/// `progress` is told how many runs are done, on any thread, and may end them by answering `false`.
///
/// # Errors
/// As [`run`](super::run); of several runs that fail, the first one's.
pub fn replicate(
    plan: &Plan,
    runs: u64,
    options: Options,
    progress: &(dyn Fn(u64) -> bool + Sync),
) -> Result<Replications, Error> {
    let done = AtomicU64::new(0);
    let one = |run: usize| {
        let single = single(plan, run as u64, options, &|| progress(done.load(Ordering::Relaxed)))?;
        progress(done.fetch_add(1, Ordering::Relaxed) + 1);
        Ok(single)
    };
    let all: Vec<Vec<Single>> = each(runs as usize, options.threads, one)?;
    let lanes = plan.lanes.iter().enumerate().map(|(lane, spec)| {
        let of_lane: Vec<&Single> = all.iter().map(|run| &run[lane]).collect();
        LaneReplications { name: spec.name.clone(), figures: figures(&of_lane), conditions: conditions(plan, &of_lane) }
    });
    Ok(Replications {
        runs,
        first_seed: plan.traffic.seed,
        confidence: CONFIDENCE,
        interval: "student-t",
        share_interval: "wilson",
        lanes: lanes.collect(),
    })
}

/// As many results as there are numbers below `count`, on so many threads, in order.
///
/// # Errors
/// Of several that fail, the first one's.
pub(super) fn each<T: Send>(
    count: usize,
    threads: usize,
    one: impl Fn(usize) -> Result<T, Error> + Send + Sync,
) -> Result<Vec<T>, Error> {
    let all: Vec<Result<T, Error>> = if threads > 1 {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let failed = |error| Error::usage(format!("cannot start {threads} threads: {error}"));
        pool.map_err(failed)?.install(|| (0..count).into_par_iter().map(one).collect())
    } else {
        (0..count).map(one).collect()
    };
    all.into_iter().collect()
}

/// One run; each lane's figures.
fn single(plan: &Plan, run: u64, options: Options, go_on: &(dyn Fn() -> bool + Sync)) -> Result<Vec<Single>, Error> {
    let mut plan = plan.clone();
    plan.traffic.seed = plan.traffic.seed_of_run(run);
    let (lanes, counts) = lanes(&plan, options, go_on)?;
    Ok(lanes.iter().zip(counts).map(|(lane, counts)| Single { figures: of_lane(lane), counts }).collect())
}

/// What each lane of a plan did, run on one thread, without what only a report of one run tells; and
/// its counts of the plan's conditions.
pub(super) fn lanes(
    plan: &Plan,
    options: Options,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<(Vec<LaneReport>, Vec<Vec<u64>>), Error> {
    let mut traffic = Traffic::open(&plan.traffic)?;
    let record = record_plan(plan, traffic.start());
    let options = Options { threads: 1, ..options };
    let (spec, mut progress) = (|_: &_| serde_json::Value::Null, |_| go_on());
    if plan.needs_feedback() {
        let (found, counts) = closed::findings(plan, &mut traffic, &record, options, Vec::new(), spec, &mut progress)?;
        return Ok((found.lanes, counts));
    }
    let found = open_loop(plan, &mut traffic, record, options, Extras::default(), &mut progress, spec)?;
    Ok((found.lanes, vec![Vec::new(); plan.lanes.len()]))
}

/// The figures that are averaged.
fn of_lane(lane: &LaneReport) -> Vec<(&'static str, Option<f64>)> {
    let whole = |value: u64| Some(value as f64);
    let time = |nanos: Option<u64>| nanos.map(|nanos| nanos as f64);
    let peak = ("peak", lane.peak.as_ref().map(|peak| peak.units as f64));
    let Some(closed) = &lane.closed else {
        return vec![
            ("attempts", whole(lane.attempts)),
            ("allowed", whole(lane.allowed)),
            ("delayed", whole(lane.delayed)),
            ("denied", whole(lane.denied)),
            ("wait_p99_ns", time(lane.wait_ns.p99)),
            peak,
        ];
    };
    vec![
        ("attempts", whole(lane.attempts)),
        ("amplification", closed.amplification),
        ("denied", whole(lane.denied)),
        ("succeeded", whole(closed.succeeded)),
        ("success_share", (lane.requests > 0).then(|| closed.succeeded as f64 / lane.requests as f64)),
        ("gave_up", whole(closed.gave_up)),
        ("goodput_per_s", closed.goodput_per_s),
        ("drain_ns", time(closed.drain_ns)),
        ("time_to_success_p99_ns", time(closed.time_to_success_ns.p99)),
        peak,
    ]
}

fn figures(runs: &[&Single]) -> Vec<(&'static str, Estimate)> {
    let Some(first) = runs.first() else { return Vec::new() };
    let one = |(i, (name, _)): (usize, &(&'static str, Option<f64>))| {
        let values: Vec<f64> = runs.iter().filter_map(|run| run.figures[i].1).collect();
        Some((*name, estimate(&values)?))
    };
    first.figures.iter().enumerate().filter_map(one).collect()
}

fn conditions(plan: &Plan, runs: &[&Single]) -> Vec<ConditionReport> {
    let one = |(i, condition): (usize, &crate::scenario::SpanCondition)| {
        let seconds = condition.span().short_nanos() as f64 / 1e9;
        let rates: Vec<f64> = runs.iter().map(|run| run.counts[i] as f64 / seconds).collect();
        let met = runs.iter().filter(|run| condition.met(run.counts[i])).count() as u64;
        let (low, high) = wilson(met, runs.len() as u64);
        Some(ConditionReport {
            name: condition.name.clone(),
            condition: condition.text.clone(),
            figure: condition.figure().to_owned(),
            rate_per_s: estimate(&rates)?,
            met,
            share: met as f64 / runs.len() as f64,
            low,
            high,
        })
    };
    plan.conditions.iter().enumerate().filter_map(one).collect()
}

/// Mean, deviation and Student's interval; nothing of nothing.
fn estimate(values: &[f64]) -> Option<Estimate> {
    let runs = values.len();
    if runs == 0 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / runs as f64;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let deviation = if runs > 1 { (squares / (runs - 1) as f64).sqrt() } else { 0.0 };
    let half = student(runs) * deviation / (runs as f64).sqrt();
    Some(Estimate { runs: runs as u64, mean, deviation, low: mean - half, high: mean + half })
}

/// Student's quantile for so many runs; rounded, as its last digits depend on the platform.
fn student(runs: usize) -> f64 {
    let freedom = runs.saturating_sub(1).max(1) as f64;
    let quantile = StudentsT::new(0.0, 1.0, freedom).map(|t| t.inverse_cdf(0.5 + CONFIDENCE / 2.0));
    (quantile.unwrap_or(NORMAL) * 1e6).round() / 1e6
}

/// Wilson's interval of a share.
fn wilson(met: u64, runs: u64) -> (f64, f64) {
    let (n, share, z2) = (runs as f64, met as f64 / runs as f64, NORMAL * NORMAL);
    let centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = NORMAL * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt() / (1.0 + z2 / n);
    // Of none or of all, the end is exact.
    let low = if met == 0 { 0.0 } else { (centre - half).max(0.0) };
    (low, if met == runs { 1.0 } else { (centre + half).min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tabled quantiles, and Newcombe's example (1998): 81 of 263.
    #[test]
    fn intervals_are_those_of_the_tables() {
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 5e-4, "{found}, not {expected}");
        for (runs, t) in [(2, 12.706), (3, 4.303), (11, 2.228), (31, 2.042), (101, 1.984)] {
            near(student(runs), t);
        }
        let (low, high) = wilson(81, 263);
        near(low, 0.2553);
        near(high, 0.3662);
        assert_eq!((wilson(0, 10).0, wilson(10, 10).1), (0.0, 1.0));
    }

    #[test]
    fn an_estimate_of_four() {
        let found = estimate(&[1.0, 2.0, 3.0, 4.0]).expect("four");
        assert!((found.mean, found.runs) == (2.5, 4) && (found.deviation - 1.290_994).abs() < 1e-6);
        assert!((found.high - 2.5 - 3.182_446 * 1.290_994 / 2.0).abs() < 1e-5);
        assert_eq!(estimate(&[]), None);
    }
}
