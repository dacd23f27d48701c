//! A closer look at one span of a run.

use super::{Outcome, closed, deployed};
use crate::error::Error;
use crate::limiter::{FixedWindowSpec, KeyId, LimiterSpec, WindowAnchor};
use crate::record::{
    Columns, FleetSpan, KeptArrival, KeptArrivals, KeptDecisions, LevelCourse, Passage, PeakRise, RequestSpan,
    SpanRecorder, Whose,
};
use crate::report::{ArrivalDetail, DecisionDetail, Detail, LaneDetail, SlowDetail};
use crate::scenario::Plan;
use crate::sim::{Lane, LanePlan, MILLION, Observer, Options, Step, Tap, replay};
use crate::time::SimTime;
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

/// Ends of clock windows in a span at most.
const RESTARTS: usize = 8;

/// What is recorded of one span.
struct Look {
    closeup: Closeup,
    arrivals: KeptArrivals,
    spans: Vec<SpanRecorder>,
    /// None where the lane's attempts are not all that its level depends on.
    levels: Vec<LevelCourse>,
}

/// What sees a run.
type Watcher<'a> = Box<dyn Observer + 'a>;

/// Who is told what becomes of one lane's requests, and, in a deployed plan, of what it does.
type Watch = (RequestSpan, Option<FleetSpan>);

impl Closeup {
    fn columns(&self) -> Columns {
        Columns { from: self.from, until: self.until, count: self.columns.max(1) }
    }

    fn whose(&self) -> Whose {
        self.key.map_or(Whose::All, Whose::Key)
    }

    /// The keys of the lanes' columns that are followed: a lane that counts by something else than
    /// the traffic's key follows its own notable one.
    fn tracked(&self, plan: &Plan, outcome: &Outcome) -> Vec<Option<KeyId>> {
        let lanes = plan.lanes.iter().zip(&outcome.index.notable_keys);
        lanes.map(|(lane, notable)| if lane.column == 0 { self.key.or(*notable) } else { *notable }).collect()
    }
}

impl Look {
    fn new(plan: &Plan, closeup: Closeup, tracked: &[Option<KeyId>], closed: bool) -> Self {
        // Retries are no arrivals, so single decisions of a closed loop are not beside them.
        let closeup = Closeup { keep: if closed { 0 } else { closeup.keep }, ..closeup };
        let (columns, whose, workload) = (closeup.columns(), closeup.whose(), plan.workload());
        let window = plan.limit.map(|limit| limit.window);
        let lanes = || plan.lanes.iter().zip(tracked);
        let apart = plan.is_deployed();
        let span = |(i, (lane, key)): (usize, (&LanePlan, &Option<KeyId>))| {
            let i = if closed { 0 } else { i };
            let (key, window) = if apart { (None, None) } else { (*key, window) };
            SpanRecorder::new(i, lane, columns, whose, key, window, closeup.keep)
        };
        Self {
            closeup,
            arrivals: KeptArrivals::new(columns, whose, closeup.keep),
            spans: lanes().enumerate().map(span).collect(),
            levels: lanes()
                .filter(|_| !apart)
                .map(|(lane, key)| LevelCourse::new(lane, &workload, columns, *key))
                .collect(),
        }
    }

    /// What sees the arrivals, and what sees each lane.
    fn observers(&mut self) -> (Watcher<'_>, Vec<Vec<Watcher<'_>>>) {
        let mut lanes: Vec<Vec<Watcher<'_>>> = self.spans.iter_mut().map(|span| vec![Box::new(span) as _]).collect();
        lanes.iter_mut().zip(&mut self.levels).for_each(|(lane, level)| lane.push(Box::new(level)));
        (Box::new(&mut self.arrivals), lanes)
    }

    fn finish(
        self,
        plan: &Plan,
        traffic: &Traffic,
        tracked: &[Option<KeyId>],
        decisions: Vec<Vec<DecisionDetail>>,
        peaks: Vec<Passage<u64>>,
        watches: Vec<Watch>,
    ) -> Detail {
        let Self { closeup, arrivals, spans, levels } = self;
        let few = arrivals.within <= closeup.keep as u64;
        let levels = levels.into_iter().map(LevelCourse::finish).chain(std::iter::repeat_with(Default::default));
        let recorded = spans.into_iter().zip(levels).zip(decisions);
        let mut lanes: Vec<LaneDetail> = recorded
            .zip(plan.lanes.iter().zip(tracked))
            .map(|(((span, (level, level_limit)), decisions), (lane, key))| LaneDetail {
                key: key.map(|key| display_key(traffic.keys(lane.column).name(key.0))),
                level,
                level_limit,
                restarts: restarts(&lane.limiter, closeup.from, closeup.until),
                slow: slow(lane, traffic.start(), closeup.from, closeup.until),
                decisions: if few { decisions } else { Vec::new() },
                ..span.finish()
            })
            .collect();
        for (lane, peak) in lanes.iter_mut().zip(peaks) {
            (lane.peak_before, lane.peak, lane.peak_changes) = (peak.before, peak.columns, peak.changes);
        }
        for ((lane, (requests, fleet)), spec) in lanes.iter_mut().zip(watches).zip(&plan.lanes) {
            (lane.requests_before, lane.requests) = requests.finish();
            if let Some(fleet) = fleet {
                fleet.finish(lane);
                deployed::look(plan, spec, traffic.start(), (closeup.from, closeup.until), lane);
            }
        }
        let kept = if few { arrivals.kept } else { Vec::new() };
        Detail {
            from: closeup.from,
            until: closeup.until,
            columns: closeup.columns().count,
            arrivals_before: arrivals.before,
            arrivals_within: arrivals.within,
            ticks: arrivals.ticks,
            between_ticks: arrivals.between_ticks,
            arrivals: kept
                .into_iter()
                .map(|KeptArrival { number, at, key, cost }| ArrivalDetail {
                    number,
                    at,
                    key: display_key(traffic.keys(0).name(key.0)),
                    cost,
                })
                .collect(),
            split: arrivals.split,
            lanes,
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
    let [detail] = details(plan, outcome, [closeup], options, go_on)?;
    Ok(detail)
}

/// Runs a plan again, once, and looks closely at several spans.
///
/// # Errors
/// As [`detail`].
pub fn details<const N: usize>(
    plan: &Plan,
    outcome: &Outcome,
    closeups: [Closeup; N],
    options: Options,
    go_on: &mut (dyn FnMut() -> bool + Send),
) -> Result<[Detail; N], Error> {
    if plan.traffic.entries.iter().any(|entry| entry.reads_stdin()) {
        return Err(Error::usage("standard input cannot be read twice for a closer look"));
    }
    let mut traffic = Traffic::open(&plan.traffic)?;
    let tracked = closeups.map(|closeup| closeup.tracked(plan, outcome));
    let closed = plan.needs_feedback();
    let mut looks: [Look; N] = std::array::from_fn(|i| Look::new(plan, closeups[i], &tracked[i], closed));
    let mut rises = rises(plan, outcome, &closeups, closed);
    let mut decisions: Vec<[KeptDecisions; N]> = (0..plan.lanes.len())
        .map(|lane| {
            std::array::from_fn(|i| {
                let closeup = &closeups[i];
                KeptDecisions::new(closeup.columns(), closeup.whose(), tracked[i][lane], closeup.keep)
            })
        })
        .collect();
    // Only a closed loop's requests come to different ends.
    let with_clients = if closed { plan.lanes.len() } else { 0 };
    let mut watches: Vec<[Watch; N]> = (0..with_clients)
        .map(|lane| std::array::from_fn(|i| watch(plan, lane, &closeups[i], tracked[i][lane], traffic.start())))
        .collect();
    if closed {
        watch_closed(plan, &mut traffic, &mut looks, &mut rises, &mut watches, options, go_on)?;
    } else {
        let until = closeups.iter().map(|closeup| closeup.until).max();
        watch_open(plan, &mut traffic, &mut looks, &mut rises, &mut decisions, until, options, go_on)?;
    }
    // A key that is followed may come only after the spans, where the run was ended.
    let mut rest = Batch::default();
    for (lane, key) in tracked.iter().flat_map(|keys| plan.lanes.iter().zip(keys)) {
        while key.is_some_and(|key| key.index() >= traffic.keys(lane.column).len()) {
            traffic.fill(&mut rest, options.batch)?;
            if rest.is_empty() {
                break;
            }
        }
    }
    let mut kept: [Vec<Vec<DecisionDetail>>; N] = std::array::from_fn(|_| Vec::new());
    for taps in decisions {
        kept.iter_mut().zip(taps).for_each(|(kept, tap)| kept.push(tap.finish()));
    }
    let mut risen: Vec<(usize, Vec<Passage<u64>>)> = rises.into_iter().flat_map(PeakRise::finish).collect();
    // In a closed loop each lane is the only one of its own; they come in their order.
    risen.sort_by_key(|(lane, _)| *lane);
    let mut peaks: [Vec<Passage<u64>>; N] = std::array::from_fn(|_| Vec::new());
    for (_, passages) in risen {
        peaks.iter_mut().zip(passages).for_each(|(peaks, passage)| peaks.push(passage));
    }
    let mut ends: [Vec<Watch>; N] = std::array::from_fn(|_| Vec::new());
    for of_lane in watches {
        ends.iter_mut().zip(of_lane).for_each(|(ends, span)| ends.push(span));
    }
    let mut parts = looks.into_iter().zip(&tracked).zip(kept).zip(peaks).zip(ends);
    Ok(std::array::from_fn(|_| {
        let ((((look, tracked), decisions), peaks), ends) = parts.next().expect("one a look");
        look.finish(plan, &traffic, tracked, decisions, peaks, ends)
    }))
}

/// Who watches lane number `lane` through a span.
fn watch(plan: &Plan, lane: usize, closeup: &Closeup, tracked: Option<KeyId>, start: SimTime) -> Watch {
    let (columns, whose, lane) = (closeup.columns(), closeup.whose(), &plan.lanes[lane]);
    let window = plan.limit.map(|limit| limit.window);
    let replicas = deployed::fleet_plan(plan, lane, start).replicas;
    let fleet = || FleetSpan::new(lane, replicas, columns, whose, tracked, window);
    (RequestSpan::new(columns, whose), plan.is_deployed().then(fleet))
}

/// Shows all arrivals, and what the lanes decide on them, to what looks at them.
#[expect(clippy::too_many_arguments, reason = "what looks, and what it looks at")]
fn watch_open<const N: usize>(
    plan: &Plan,
    traffic: &mut Traffic,
    looks: &mut [Look; N],
    rises: &mut [PeakRise],
    decisions: &mut [[KeptDecisions; N]],
    until: Option<SimTime>,
    options: Options,
    go_on: &mut (dyn FnMut() -> bool + Send),
) -> Result<(), Error> {
    let workload = plan.workload();
    let mut lanes: Vec<Lane> = plan.lanes.iter().map(|lane| Lane::new(lane.clone(), &workload)).collect();
    let mut taps: Vec<Option<Box<dyn Tap + '_>>> =
        decisions.iter_mut().map(|taps| Some(Box::new(&mut taps[..]) as Box<dyn Tap + '_>)).collect();
    let mut observers: Vec<Box<dyn Observer + '_>> = Vec::new();
    for look in looks {
        let (arrivals, lanes) = look.observers();
        observers.push(arrivals);
        observers.extend(lanes.into_iter().flatten());
    }
    observers.extend(rises.iter_mut().map(|rise| Box::new(rise) as Box<dyn Observer + '_>));
    let mut interrupted = false;
    let mut watch = |step: &Step| {
        interrupted = !go_on();
        !interrupted && step.batch.at.last() < until.as_ref()
    };
    replay(traffic, &mut lanes, &mut taps, &mut observers, options, &mut watch)?;
    if interrupted { Err(Error::Interrupted) } else { Ok(()) }
}

/// Shows each lane's attempts to what looks at it, and first attempts to what looks at arrivals.
fn watch_closed<const N: usize>(
    plan: &Plan,
    traffic: &mut Traffic,
    looks: &mut [Look; N],
    rises: &mut [PeakRise],
    watches: &mut [[Watch; N]],
    options: Options,
    go_on: &mut (dyn FnMut() -> bool + Send),
) -> Result<(), Error> {
    let mut of_lanes: Vec<Vec<Box<dyn Observer + '_>>> = plan.lanes.iter().map(|_| Vec::new()).collect();
    let mut of_first: Vec<Box<dyn Observer + '_>> = Vec::new();
    for look in looks {
        let (arrivals, lanes) = look.observers();
        of_first.push(arrivals);
        of_lanes.iter_mut().zip(lanes).for_each(|(all, lane)| all.extend(lane));
    }
    for (all, rise) in of_lanes.iter_mut().zip(rises) {
        all.push(Box::new(rise));
    }
    closed::watch(plan, traffic, of_lanes, of_first, watches, options, go_on)
}

/// How the lanes' peaks rise: those of any key, unless one key alone is looked at.
fn rises(plan: &Plan, outcome: &Outcome, closeups: &[Closeup], closed: bool) -> Vec<PeakRise> {
    let alone = closeups.iter().any(|closeup| closeup.key.is_some());
    // Releases of a deployed plan come in an order of their own, and are watched elsewhere.
    let Some(limit) = plan.limit.filter(|_| !alone && !plan.is_deployed()) else { return Vec::new() };
    let columns: Vec<Columns> = closeups.iter().map(Closeup::columns).collect();
    let peaks: Vec<u64> =
        outcome.report.lanes.iter().map(|lane| lane.peak.as_ref().map_or(0, |peak| peak.units)).collect();
    let keep = closeups.iter().map(|closeup| closeup.keep).max().unwrap_or(0);
    let of = |lanes: &[LanePlan], peaks: &[u64]| PeakRise::of(lanes, peaks, limit.window, &columns, keep);
    if closed {
        // Each lane has attempts of its own.
        let lanes = plan.lanes.iter().zip(&peaks);
        return lanes.flat_map(|(lane, peak)| of(std::slice::from_ref(lane), &[*peak])).collect();
    }
    of(&plan.lanes, &peaks)
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

/// Where in a span a lane's backend is slow.
fn slow(lane: &LanePlan, start: SimTime, from: SimTime, until: SimTime) -> Vec<SlowDetail> {
    let at = |offset: u64| SimTime::from_nanos(start.nanos().saturating_add_unsigned(offset));
    let slow = lane.backend.iter().flat_map(|backend| &backend.slow);
    slow.map(|slow| SlowDetail {
        from: at(slow.from).max(from),
        until: at(slow.until).min(until),
        speed: slow.speed as f64 / MILLION as f64,
    })
    .filter(|slow| slow.from < slow.until)
    .collect()
}
