//! A closer look at one span of a run.

use super::Outcome;
use crate::error::Error;
use crate::limiter::{Bits, FixedWindowSpec, KeyId, LimiterSpec, Verdicts, WindowAnchor};
use crate::record::{Columns, LevelTap, PeakRise, SpanRecorder, Whose};
use crate::report::{ArrivalDetail, Detail, LaneDetail};
use crate::scenario::Plan;
use crate::sim::{Lane, Observer, Options, Step, Tap, replay};
use crate::time::{SimTime, round_instants};
use crate::traffic::{Batch, Traffic, display_key};

/// Which span to look at, and how closely.
#[derive(Clone, Copy, Debug)]
pub struct Closeup {
    /// First instant.
    pub from: SimTime,
    /// First instant after it.
    pub until: SimTime,
    /// Columns to cut it into.
    pub columns: usize,
    /// Arrivals to keep one by one; if there are more, none are.
    pub keep: usize,
    /// Only the attempts of this key of the first column.
    pub key: Option<KeyId>,
}

/// Round instants of a span at most.
const TICKS: usize = 4;

/// Ends of clock windows in a span at most.
const RESTARTS: usize = 8;

/// Keeps the arrivals of a span, while they are few, and counts them between round instants.
struct Arrivals {
    columns: Columns,
    whose: Whose,
    keep: usize,
    before: u64,
    within: u64,
    ticks: Vec<SimTime>,
    between_ticks: Vec<u64>,
    kept: Vec<(u64, SimTime, KeyId, u64)>,
    split: Vec<u64>,
}

impl Observer for Arrivals {
    fn observe(&mut self, step: &Step, verdicts: &[Verdicts]) {
        let batch = &step.batch;
        let first = batch.at.partition_point(|at| *at < self.columns.from);
        let last = batch.at.partition_point(|at| *at < self.columns.until);
        let counted = |row: &usize| match self.whose {
            Whose::All => true,
            Whose::Key(key) => batch.keys[0][*row] == key,
        };
        self.before += (0..first).filter(counted).count() as u64;
        if first == last {
            return;
        }
        let mut split = Bits::default();
        split.fill_zero(batch.len());
        for verdict in verdicts {
            split.mark_differences(&verdicts[0].admitted, &verdict.admitted);
        }
        for row in (first..last).filter(counted) {
            self.within += 1;
            let stretch = self.ticks.partition_point(|tick| *tick <= batch.at[row]);
            self.between_ticks[stretch] += 1;
            if split.get(row)
                && let Some(column) = self.columns.column(batch.at[row].nanos())
            {
                self.split[column] += 1;
            }
            if self.within <= self.keep as u64 {
                self.kept.push((batch.first + row as u64 + 1, batch.at[row], batch.keys[0][row], batch.cost[row]));
            }
        }
    }
}

/// Runs a plan again and looks closely at one span.
///
/// # Errors
/// As [`run`](super::run); and if standard input would have to be read twice.
pub fn detail(
    plan: &Plan,
    outcome: &Outcome,
    closeup: Closeup,
    options: Options,
    go_on: &mut (dyn FnMut() -> bool + Send),
) -> Result<Detail, Error> {
    if plan.traffic.entries.iter().any(|entry| entry.reads_stdin()) {
        return Err(Error::usage("standard input cannot be read twice for a closer look"));
    }
    let columns = Columns { from: closeup.from, until: closeup.until, count: closeup.columns.max(1) };
    let whose = closeup.key.map_or(Whose::All, Whose::Key);
    let window = plan.limit.map(|limit| limit.window);
    let mut traffic = Traffic::open(&plan.traffic)?;
    let workload = plan.workload();
    let mut lanes: Vec<Lane> = plan.lanes.iter().map(|lane| Lane::new(lane.clone(), &workload)).collect();
    // A lane that counts by something else follows its own notable key.
    let tracked: Vec<Option<KeyId>> = plan
        .lanes
        .iter()
        .zip(&outcome.index.notable_keys)
        .map(|(lane, notable)| if lane.column == 0 { closeup.key.or(*notable) } else { *notable })
        .collect();
    let ticks = round_instants(closeup.from, closeup.until, TICKS);
    let mut arrivals = Arrivals {
        columns,
        whose,
        keep: closeup.keep,
        before: 0,
        within: 0,
        between_ticks: vec![0; ticks.len() + 1],
        ticks,
        kept: Vec::new(),
        split: vec![0; columns.count],
    };
    let mut spans: Vec<SpanRecorder> = plan
        .lanes
        .iter()
        .zip(&tracked)
        .enumerate()
        .map(|(i, (lane, key))| SpanRecorder::new(i, lane, columns, whose, *key, window, closeup.keep))
        .collect();
    // The peak is that of any key, unless one key alone is looked at.
    let mut rises = match (plan.limit, closeup.key) {
        (Some(limit), None) => PeakRise::of(&plan.lanes, limit.window, columns, closeup.keep),
        _ => Vec::new(),
    };
    let mut levels: Vec<LevelTap> =
        tracked.iter().map(|key| LevelTap::new(columns, whose, *key, closeup.keep)).collect();
    {
        let mut taps: Vec<Option<Box<dyn Tap + '_>>> =
            levels.iter_mut().map(|tap| Some(Box::new(tap) as Box<dyn Tap + '_>)).collect();
        let mut observers: Vec<Box<dyn Observer + '_>> = vec![Box::new(&mut arrivals)];
        observers.extend(rises.iter_mut().map(|rise| Box::new(rise) as Box<dyn Observer + '_>));
        observers.extend(spans.iter_mut().map(|span| Box::new(span) as Box<dyn Observer + '_>));
        let mut interrupted = false;
        let mut watch = |step: &Step| {
            interrupted = !go_on();
            !interrupted && step.batch.at.last().is_none_or(|last| *last < closeup.until)
        };
        replay(&mut traffic, &mut lanes, &mut taps, &mut observers, options, &mut watch)?;
        if interrupted {
            return Err(Error::Interrupted);
        }
    }
    // A key that is followed may come only after the span, where the run was ended.
    let mut rest = Batch::default();
    for (lane, key) in lanes.iter().zip(&tracked) {
        while key.is_some_and(|key| key.index() >= traffic.keys(lane.plan().column).len()) {
            traffic.fill(&mut rest, options.batch)?;
            if rest.is_empty() {
                break;
            }
        }
    }
    let few = arrivals.within <= closeup.keep as u64;
    let mut lane_details: Vec<LaneDetail> = spans
        .into_iter()
        .zip(&mut levels)
        .zip(&lanes)
        .zip(&tracked)
        .map(|(((span, level), lane), key)| LaneDetail {
            key: key.map(|key| display_key(traffic.keys(lane.plan().column).name(key.0))),
            level: level.finish(lane),
            level_limit: level.limit,
            restarts: restarts(&lane.plan().limiter, closeup.from, closeup.until),
            decisions: if few { level.take_decisions().unwrap_or_default() } else { Vec::new() },
            ..span.finish()
        })
        .collect();
    for (lane, rise) in rises.into_iter().flat_map(PeakRise::finish) {
        let lane = &mut lane_details[lane];
        (lane.peak_before, lane.peak, lane.peak_changes) = (rise.before, rise.columns, rise.changes);
    }
    Ok(Detail {
        from: closeup.from,
        until: closeup.until,
        columns: columns.count,
        arrivals_before: arrivals.before,
        arrivals_within: arrivals.within,
        ticks: arrivals.ticks,
        between_ticks: arrivals.between_ticks,
        arrivals: if few {
            let kept = arrivals.kept.into_iter();
            kept.map(|(number, at, key, cost)| ArrivalDetail {
                number,
                at,
                key: display_key(traffic.keys(0).name(key.0)),
                cost,
            })
            .collect()
        } else {
            Vec::new()
        },
        split: arrivals.split,
        lanes: lane_details,
    })
}

/// Where in a span windows of the clock end, for a limiter that counts by such windows alone.
fn restarts(limiter: &LimiterSpec, from: SimTime, until: SimTime) -> Vec<SimTime> {
    let LimiterSpec::FixedWindow(FixedWindowSpec { limit, anchor: WindowAnchor::Clock, .. }) = limiter else {
        return Vec::new();
    };
    let window = i128::from(limit.window.short_nanos());
    let first = i128::from(from.nanos()).div_euclid(window) + 1;
    let last = (i128::from(until.nanos()) - 1).div_euclid(window);
    if last - first >= RESTARTS as i128 {
        return Vec::new();
    }
    (first..=last).filter_map(|n| SimTime::from_wide_nanos(n * window)).collect()
}
