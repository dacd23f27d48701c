//! All observers of a run, and the findings they make together.

use super::{
    Agreement, Excess, LaneRecorder, MAX_STREAMS, Offered, Parting, Peak, PeakStreams, Room, Stream, Timeline,
    peak_window,
};
use crate::limiter::{Edge, KeyId, LimiterSpec, SlidingLogSpec, StateSize};
use crate::quota::Limit;
use crate::report::{
    ClassReport, Counts, DeniedKey, EnvelopePoint, LaneReport, OfferedReport, OverReport, PeakReport, StateReport,
    TimelineReport, WaitReport,
};
use crate::sim::{Lane, LanePlan, Observer};
use crate::time::{SimDuration, SimTime};
use crate::traffic::{Traffic, display_key};

/// Keys listed in `top_denied`.
const TOP_DENIED: usize = 10;

/// What a recording needs to know of a run before it.
#[derive(Clone, Debug)]
pub struct RecordPlan {
    /// The lanes that are reported.
    pub lanes: Vec<LanePlan>,
    /// The yardstick.
    pub limit: Option<Limit>,
    /// Spans of the envelope; none: the limit's window.
    pub envelope: Vec<SimDuration>,
    /// Key columns of the traffic.
    pub columns: usize,
    /// The class of each source of traffic, if it states one.
    pub classes: Vec<Option<String>>,
    /// First instant of the run.
    pub start: SimTime,
    /// What is released is seen apart from what arrives, in order of release.
    pub apart: bool,
}

/// Who is shown batches.
pub type Observers<'a> = Vec<Box<dyn Observer + 'a>>;

/// Records a run.
pub struct Recording {
    plan: RecordPlan,
    /// All lanes that must run: those reported, then reference logs that none of them is.
    lanes: Vec<LanePlan>,
    offered: Offered,
    recorders: Vec<LaneRecorder>,
    timeline: Timeline,
    agreement: Agreement,
    /// The limit's window first, if there is a limit; then the envelope's spans.
    windows: Vec<(SimDuration, Vec<Box<dyn PeakStreams>>)>,
    room: Room,
}

/// What a recording found.
pub struct Findings {
    /// What was offered; how it was keyed is not known here.
    pub offered: OfferedReport,
    /// What each lane did; names of keys, algorithm parameters and key columns resolved.
    pub lanes: Vec<LaneReport>,
    /// Lanes with equal admissions, by number.
    pub groups: Vec<Vec<usize>>,
    /// Arrivals at which lanes part.
    pub partings: Vec<Parting>,
    /// For each lane, the key of its peak, or its most refused key, or the first key.
    pub notable_keys: Vec<Option<KeyId>>,
    /// For each lane, 64 bits over its admissions and refusals.
    pub admissions: Vec<u64>,
    /// The last attempt of a closed loop.
    pub last_sent_ns: Option<i64>,
    /// Arrivals by key of the first column.
    pub arrivals_by_key: Vec<u64>,
    /// Arrivals on which the lanes do not all agree, by bin of the timeline.
    pub split: Vec<u64>,
}

/// The exact log that tells false denials from true ones.
fn reference(lane: &LanePlan, limit: Limit) -> LanePlan {
    let log = LimiterSpec::SlidingLog(SlidingLogSpec { limit, edge: Edge::Exclusive, count_denied: false });
    let exempt = lane.exempt.clone();
    LanePlan { column: lane.column, exempt, ..LanePlan::plain("reference".to_owned(), log) }
}

/// Whether two lanes count by the same keys and leave the same traffic alone.
fn same_subject(a: &LanePlan, b: &LanePlan) -> bool {
    let exempts = |plan: &LanePlan| plan.exempt.contains(&true).then(|| plan.exempt.clone());
    a.column == b.column && exempts(a) == exempts(b)
}

impl Recording {
    /// Before the run.
    #[must_use]
    pub fn new(plan: RecordPlan) -> Self {
        let mut lanes = plan.lanes.clone();
        let reported = lanes.len();
        let mut references = vec![None; reported];
        if let Some(limit) = plan.limit {
            for (i, found) in references.iter_mut().enumerate() {
                let wanted = reference(&lanes[i], limit);
                let same = |lane: &LanePlan| {
                    lane.limiter == wanted.limiter
                        && lane.clock_resolution.is_none()
                        && lane.deployment.is_none()
                        && same_subject(lane, &wanted)
                };
                *found = Some(lanes.iter().position(same).unwrap_or_else(|| {
                    lanes.push(wanted);
                    lanes.len() - 1
                }));
            }
        }
        let (sources, room) = (plan.classes.len(), Room::default());
        let recorders = plan.lanes.iter().zip(&references).enumerate();
        let mut spans: Vec<SimDuration> = plan.limit.iter().map(|limit| limit.window).collect();
        spans.extend(plan.envelope.iter().filter(|span| Some(**span) != plan.limit.map(|limit| limit.window)));
        Self {
            offered: Offered::new(plan.columns, sources),
            recorders: recorders
                .map(|(i, (lane, reference))| LaneRecorder::new(i, lane.column, sources, *reference))
                .collect(),
            timeline: Timeline::new(reported, plan.start),
            agreement: Agreement::new(reported),
            windows: spans.into_iter().map(|span| (span, windows(&plan, span, &room))).collect(),
            room,
            lanes,
            plan,
        }
    }

    /// The room that the exact peaks have for what was released in their windows.
    #[must_use]
    pub fn room(&self) -> Room {
        self.room.clone()
    }

    /// The longest window that peaks are measured in.
    #[must_use]
    pub fn longest_window(&self) -> Option<SimDuration> {
        self.windows.iter().map(|(span, _)| *span).max()
    }

    /// All lanes that must run, in the order that the observers expect.
    #[must_use]
    pub fn lanes(&self) -> &[LanePlan] {
        &self.lanes
    }

    /// The observers, each to be shown every batch.
    pub fn observers(&mut self) -> Vec<Box<dyn Observer + '_>> {
        let mut observers: Vec<Box<dyn Observer + '_>> = Vec::new();
        // The dearest first, so that threads end together.
        for (_, windows) in &mut self.windows {
            observers.extend(windows.iter_mut().map(|window| Box::new(&mut **window) as Box<dyn Observer + '_>));
        }
        observers.extend(self.recorders.iter_mut().map(|recorder| Box::new(recorder) as Box<dyn Observer + '_>));
        observers.push(Box::new(&mut self.offered));
        observers.push(Box::new(&mut self.timeline));
        observers.push(Box::new(&mut self.agreement));
        observers
    }

    /// The observers of the only lane, of what arrives and of what is released.
    pub fn observers_apart(&mut self) -> (Observers<'_>, Observers<'_>) {
        let (mut arrivals, mut releases): (Observers<'_>, Observers<'_>) = Default::default();
        for window in self.windows.iter_mut().flat_map(|(_, windows)| windows) {
            let to = if window.streams() == [Stream::Offered] { &mut arrivals } else { &mut releases };
            to.push(Box::new(&mut **window));
        }
        arrivals.extend(self.recorders.iter_mut().map(|recorder| Box::new(recorder) as Box<dyn Observer + '_>));
        arrivals.push(Box::new(&mut self.offered));
        arrivals.push(Box::new(&mut self.timeline));
        arrivals.push(Box::new(&mut self.agreement));
        (arrivals, releases)
    }

    fn peak(&self, span: SimDuration, stream: Stream) -> Option<(Peak, Excess)> {
        let (_, windows) = self.windows.iter().find(|(other, _)| *other == span)?;
        windows.iter().find_map(|window| {
            let i = window.streams().iter().position(|other| *other == stream)?;
            Some((window.peak(i), window.excess(i)))
        })
    }

    /// What was found. `spec` writes a limiter's parameters, `column_names` those of the key
    /// columns.
    #[must_use]
    pub fn finish(
        self,
        traffic: &Traffic,
        lanes: &[Lane],
        spec: impl Fn(&LimiterSpec) -> serde_json::Value,
        column_names: &[String],
    ) -> Findings {
        let window = self.plan.limit.map(|limit| limit.window);
        let peak = window.and_then(|window| self.peak(window, Stream::Offered)).map(|(peak, _)| peak.units);
        let offered = offered_report(&self.offered, self.plan.start, peak);
        let mut reports: Vec<LaneReport> = Vec::new();
        for (i, lane) in lanes.iter().take(self.plan.lanes.len()).enumerate() {
            let report = self.lane(i, lane, traffic, spec(&lane.plan().limiter), &column_names[lane.plan().column]);
            reports.push(report);
        }
        let groups = self.agreement.groups().to_vec();
        name_equals(&groups, &mut reports);
        let notable_keys = (0..reports.len()).map(|i| self.notable_key(i)).collect();
        Findings {
            offered,
            lanes: reports,
            groups,
            partings: self.agreement.partings().to_vec(),
            notable_keys,
            last_sent_ns: None,
            admissions: self.recorders.iter().map(LaneRecorder::admissions).collect(),
            split: self.timeline.split().to_vec(),
            arrivals_by_key: self.offered.by_key.into_iter().next().unwrap_or_default(),
        }
    }

    fn offset(&self, at: SimTime) -> i64 {
        at.nanos().saturating_sub(self.plan.start.nanos())
    }

    fn notable_key(&self, i: usize) -> Option<KeyId> {
        let peak = self.plan.limit.and_then(|limit| self.peak(limit.window, Stream::Lane(i)));
        let refused = most_denied(&self.recorders[i].denied_by_key, 1).first().map(|(key, _)| *key);
        let any = (!self.offered.by_key[self.plan.lanes[i].column].is_empty()).then_some(KeyId(0));
        peak.and_then(|(peak, _)| peak.first).map(|(_, key)| key).or(refused).or(any)
    }

    fn lane(&self, i: usize, lane: &Lane, traffic: &Traffic, spec: serde_json::Value, column_name: &str) -> LaneReport {
        let (plan, recorder) = (lane.plan(), &self.recorders[i]);
        let Counts { allowed, delayed, denied } = recorder.total();
        let attempts = allowed + delayed + denied;
        assert!(attempts == self.offered.requests, "every arrival is allowed, delayed or denied, once");
        // What bypasses a limiter is no part of its worst case.
        let costs = self.offered.largest_cost.iter().enumerate();
        let subject = costs.filter(|(source, _)| !plan.exempts(*source as u16));
        let largest = subject.map(|(_, cost)| *cost).max().unwrap_or(0);
        let key_name = |key: KeyId| display_key(traffic.keys(plan.column).name(key.0));
        let points = if self.plan.envelope.is_empty() {
            self.plan.limit.iter().map(|limit| limit.window).collect()
        } else {
            self.plan.envelope.clone()
        };
        let measured = self.plan.limit.and_then(|limit| Some((limit, self.peak(limit.window, Stream::Lane(i))?)));
        let peak = measured.as_ref().map(|(limit, (peak, _))| PeakReport {
            units: peak.units,
            ratio: (limit.units > 0).then(|| peak.units as f64 / limit.units as f64),
            bound: plan.bound(limit.window, largest),
            from_ns: peak.first.map(|(at, _)| self.offset(at)),
            key: peak.first.map(|(_, key)| key_name(key)),
        });
        let over = measured.map(|(_, (_, excess))| OverReport {
            keys: excess.keys,
            first_ns: excess.first.map(|at| self.offset(at)),
            peak_key_ns: excess.peak_key_ns,
        });
        let envelope = points
            .into_iter()
            .map(|span| EnvelopePoint {
                span_ns: span.short_nanos(),
                units: self.peak(span, Stream::Lane(i)).map_or(0, |(peak, _)| peak.units),
                bound: plan.bound(span, largest),
            })
            .collect();
        let quantile = |percent| recorder.wait_quantile(percent);
        let size = lane.size();
        let by_key = &self.offered.by_key[plan.column];
        LaneReport {
            name: plan.name.clone(),
            algorithm: plan.limiter.name(),
            spec,
            key: column_name.to_owned(),
            exempt: self.exempt_classes(plan),
            clock_resolution_ns: plan.clock_resolution,
            requests: attempts,
            attempts,
            retries: 0,
            allowed,
            delayed,
            denied,
            unfinished: 0,
            cost_offered: self.offered.cost,
            cost_admitted: recorder.cost_admitted,
            peak,
            envelope,
            over,
            false_denials: self.plan.limit.map(|_| recorder.false_denials),
            false_admissions: self.plan.limit.map(|_| recorder.false_admissions),
            over_admitted: self.plan.limit.map(|_| recorder.over_admitted),
            under_admitted: self.plan.limit.map(|_| recorder.under_admitted),
            fleet: None,
            wait_ns: WaitReport {
                p50: quantile(50),
                p95: quantile(95),
                p99: quantile(99),
                max: (allowed + delayed > 0).then_some(recorder.longest_wait),
            },
            state: state_report(size),
            keys_denied: recorder.denied_by_key.iter().filter(|count| **count > 0).count() as u64,
            top_denied: most_denied(&recorder.denied_by_key, TOP_DENIED)
                .into_iter()
                .map(|(key, denied)| DeniedKey { key: key_name(key), attempts: by_key[key.index()], denied })
                .collect(),
            classes: self.classes(recorder),
            timeline: self.timeline(i),
            same_as: None,
            fingerprint: format!("{:016x}", recorder.fingerprint()),
            closed: None,
        }
    }

    /// Classes that bypass a lane, in order of first statement.
    fn exempt_classes(&self, lane: &LanePlan) -> Vec<String> {
        let mut classes: Vec<String> = Vec::new();
        for (class, exempt) in self.plan.classes.iter().zip(&lane.exempt) {
            if let (true, Some(class)) = (*exempt, class)
                && !classes.contains(class)
            {
                classes.push(class.clone());
            }
        }
        classes
    }

    /// Counts by class, in order of first statement; none if no traffic states a class.
    fn classes(&self, recorder: &LaneRecorder) -> Vec<ClassReport> {
        if self.plan.classes.iter().all(Option::is_none) {
            return Vec::new();
        }
        let mut classes: Vec<ClassReport> = Vec::new();
        for (class, counts) in self.plan.classes.iter().zip(&recorder.sources) {
            let class = class.as_deref().unwrap_or("other");
            let at = classes.iter().position(|known| known.class == class).unwrap_or_else(|| {
                classes.push(ClassReport { class: class.to_owned(), attempts: 0, allowed: 0, delayed: 0, denied: 0 });
                classes.len() - 1
            });
            let known = &mut classes[at];
            known.attempts += counts.total();
            known.allowed += counts.allowed;
            known.delayed += counts.delayed;
            known.denied += counts.denied;
        }
        classes
    }

    fn timeline(&self, i: usize) -> TimelineReport {
        let bins = self.timeline.bins(i);
        TimelineReport {
            from_ns: self.offset(self.timeline.from()),
            bin_ns: self.timeline.bin_ns(),
            allowed: bins.iter().map(|bin| bin.allowed).collect(),
            delayed: bins.iter().map(|bin| bin.delayed).collect(),
            denied: bins.iter().map(|bin| bin.denied).collect(),
        }
    }
}

/// Memory that a limiter holds.
#[must_use]
pub fn state_report(size: StateSize) -> StateReport {
    let StateSize { keys, bytes } = size;
    let bytes_per_key = if keys == 0 { 0.0 } else { (bytes as f64 / keys as f64 * 10.0).round() / 10.0 };
    StateReport { keys, bytes, bytes_per_key }
}

/// The keys with the most refusals, most first, ties by first appearance.
fn most_denied(denied: &[u64], count: usize) -> Vec<(KeyId, u64)> {
    let mut top: Vec<(KeyId, u64)> = Vec::with_capacity(count + 1);
    for (key, denied) in denied.iter().enumerate().filter(|(_, denied)| **denied > 0) {
        let at = top.partition_point(|(_, other)| other >= denied);
        if at < count {
            top.insert(at, (KeyId(key as u32), *denied));
            top.truncate(count);
        }
    }
    top
}

/// Names, within each group of lanes that decide alike, those that are equal in waits, too.
pub fn name_equals(groups: &[Vec<usize>], reports: &mut [LaneReport]) {
    for group in groups {
        for (n, i) in group.iter().enumerate() {
            let equal = group[..n].iter().find(|j| reports[**j].fingerprint == reports[*i].fingerprint);
            reports[*i].same_as = equal.map(|j| reports[*j].name.clone());
        }
    }
}

/// What was offered from `start` on; how it was keyed is not known here.
pub(super) fn offered_report(offered: &Offered, start: SimTime, peak: Option<u64>) -> OfferedReport {
    let offset = |at: SimTime| at.nanos().saturating_sub(start.nanos());
    OfferedReport {
        requests: offered.requests,
        cost: offered.cost,
        largest_cost: offered.largest_cost.iter().copied().max().unwrap_or(0),
        keys: offered.by_key[0].len() as u64,
        keyed: String::new(),
        first_ns: offered.first.map(offset),
        last_ns: offered.last.map(offset),
        peak,
    }
}

/// The window of the limit over what was offered alone.
pub(super) fn offered_window(plan: &RecordPlan, room: &Room) -> Option<Box<dyn PeakStreams>> {
    Some(peak_window(plan.limit?.window, None, 0, None, vec![Stream::Offered], true, room))
}

/// The windows of one span: lanes that release on arrival share one, those that delay have their
/// own, and what was offered goes with the first that sees all of it.
fn windows(plan: &RecordPlan, span: SimDuration, room: &Room) -> Vec<Box<dyn PeakStreams>> {
    let limit = plan.limit.filter(|limit| limit.window == span).map(|limit| limit.units);
    let mut groups: Vec<(Option<LanePlan>, usize, Vec<Stream>)> = vec![(None, 0, vec![Stream::Offered])];
    for (i, lane) in plan.lanes.iter().enumerate() {
        let subject = lane.exempt.contains(&true).then(|| lane.clone());
        if lane.limiter.delays() || plan.apart {
            groups.push((subject, lane.column, vec![Stream::Lane(i)]));
            continue;
        }
        let room = groups.iter_mut().find(|(other, column, streams)| {
            let same = match (other, &subject) {
                (None, None) => true,
                (Some(other), Some(lane)) => same_subject(other, lane),
                _ => false,
            };
            let shared = !matches!(streams[..], [Stream::Lane(lone)] if plan.lanes[lone].limiter.delays());
            *column == lane.column && same && shared && streams.len() < MAX_STREAMS
        });
        match room {
            Some((_, _, streams)) => streams.push(Stream::Lane(i)),
            None => groups.push((subject, lane.column, vec![Stream::Lane(i)])),
        }
    }
    groups
        .into_iter()
        .map(|(subject, column, streams)| {
            let delays = |lane: usize| plan.lanes[lane].limiter.delays() && !plan.apart;
            let ordered = !matches!(streams[..], [Stream::Lane(lane)] if delays(lane));
            peak_window(span, limit, column, subject, streams, ordered, room)
        })
        .collect()
}
