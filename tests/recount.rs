//! A slow recount of everything that a report counts, from the full list of decisions.

use crate::oracle::Oracle;
use crate::simulate::Arrival;
use rlsim::limiter::{Decision, KeyId, LimiterSpec, Workload};
use rlsim::report::{LaneReport, Report};
use rlsim::scenario::Plan;
use rlsim::sim::LanePlan;
use rlsim::time::{SimDuration, SimTime};
use std::collections::BTreeMap;

/// All that is known of a run, arrival by arrival.
pub struct Facts<'a> {
    pub plan: &'a Plan,
    pub start: i64,
    pub arrivals: &'a [Arrival],
    /// By lane, then by arrival.
    pub decisions: &'a [Vec<Decision>],
}

/// One release: when, whose (by name and by number of first appearance), how many units.
#[derive(Clone, Debug)]
pub struct Release {
    pub at: i64,
    pub key: u32,
    pub cost: u64,
}

fn wait_of(decision: Decision) -> i64 {
    match decision {
        Decision::Delay(wait) => i64::try_from(wait.nanos()).expect("short"),
        _ => 0,
    }
}

/// What a lane must answer, from the rational model of its limiter.
pub fn modelled(plan: &LanePlan, arrivals: &[Arrival]) -> Vec<Decision> {
    let mut models: BTreeMap<&str, Oracle> = BTreeMap::new();
    let tick = i64::try_from(plan.clock_resolution.unwrap_or(1)).expect("short");
    arrivals
        .iter()
        .map(|arrival| {
            if plan.exempts(arrival.source) {
                return Decision::Allow;
            }
            let model = models.entry(&arrival.names[plan.column]).or_insert_with(|| Oracle::new(&plan.limiter));
            let seen = arrival.at.div_euclid(tick) * tick;
            let decision = model.decide(seen, arrival.cost);
            if !matches!(decision, Decision::Delay(_)) {
                return decision;
            }
            // Released when the wait from the tick is over, at once if it already is.
            match seen + wait_of(decision) - arrival.at {
                late if late <= 0 => Decision::Allow,
                wait => Decision::Delay(SimDuration::from_nanos(wait.unsigned_abs())),
            }
        })
        .collect()
}

/// What a lane releases of the traffic that is subject to its limiter.
pub fn releases(lane: &LanePlan, arrivals: &[Arrival], decisions: &[Decision]) -> Vec<Release> {
    let rows = arrivals.iter().zip(decisions);
    let released = rows.filter(|(a, d)| d.admits() && a.cost > 0 && !lane.exempts(a.source));
    let release =
        |(a, d): (&Arrival, &Decision)| Release { at: a.at + wait_of(*d), key: a.ids[lane.column], cost: a.cost };
    released.map(release).collect()
}

/// The first of the spans that hold the most units of one key.
fn peak(releases: &[Release], span: i64) -> (u64, Option<(i64, u32)>) {
    let mut best: (u64, Option<(i64, u32)>) = (0, None);
    for first in releases {
        let within = |other: &&Release| other.key == first.key && (first.at..first.at + span).contains(&other.at);
        let units: u64 = releases.iter().filter(within).map(|release| release.cost).sum();
        let place = (first.at, first.key);
        if units > best.0 || (units == best.0 && best.1.is_some_and(|known| place < known)) {
            best = (units, Some(place));
        }
    }
    best
}

/// Units of a key released in `(at - window, at]`.
pub fn trailing(releases: &[Release], key: u32, at: i64, window: i64) -> u64 {
    let within = |r: &&Release| r.key == key && r.at > at - window && r.at <= at;
    releases.iter().filter(within).map(|release| release.cost).sum()
}

/// The spans in which a key has more than the limit released in the window behind.
fn above(releases: &[Release], key: u32, window: i64, limit: u64) -> Vec<(i64, i64)> {
    // That changes only where something comes or leaves.
    let own = releases.iter().filter(|release| release.key == key);
    let mut changes: Vec<i64> = own.flat_map(|release| [release.at, release.at + window]).collect();
    changes.sort_unstable();
    let spans = changes.windows(2).map(|pair| (pair[0], pair[1]));
    spans.filter(|(from, until)| from < until && trailing(releases, key, *from, window) > limit).collect()
}

impl Facts<'_> {
    fn lane(&self, i: usize) -> &LanePlan {
        &self.plan.lanes[i]
    }

    fn releases(&self, i: usize) -> Vec<Release> {
        releases(self.lane(i), self.arrivals, &self.decisions[i])
    }

    fn count(&self, i: usize, counted: impl Fn(&Arrival, Decision) -> bool) -> u64 {
        let rows = self.arrivals.iter().zip(&self.decisions[i]);
        rows.filter(|(arrival, decision)| counted(arrival, **decision)).count() as u64
    }

    fn check_counts(&self, i: usize, report: &LaneReport) {
        let allowed = self.count(i, |_, d| d == Decision::Allow);
        let denied = self.count(i, |_, d| d == Decision::Deny);
        let delayed = self.count(i, |_, d| matches!(d, Decision::Delay(_)));
        assert_eq!((report.allowed, report.delayed, report.denied), (allowed, delayed, denied));
        let all = self.arrivals.len() as u64;
        assert_eq!((report.requests, report.attempts, report.retries, report.unfinished), (all, all, 0, 0));
        let admitted = self.arrivals.iter().zip(&self.decisions[i]).filter(|(_, d)| d.admits());
        assert_eq!(report.cost_admitted, admitted.map(|(a, _)| a.cost).sum::<u64>());
        assert_eq!(report.cost_offered, self.arrivals.iter().map(|a| a.cost).sum::<u64>());
    }

    fn check_peak(&self, i: usize, report: &LaneReport) {
        let releases = self.releases(i);
        let name = |key: u32| {
            let arrival = self.arrivals.iter().find(|a| a.ids[self.lane(i).column] == key).expect("seen");
            arrival.names[self.lane(i).column].clone()
        };
        let limit = self.plan.limit.expect("a limit");
        let window = i64::try_from(limit.window.nanos()).expect("short");
        let (units, first) = peak(&releases, window);
        let found = report.peak.as_ref().expect("a limit");
        assert_eq!(found.units, units);
        assert_eq!(
            (found.from_ns, found.key.clone()),
            match first {
                Some((at, key)) => (Some(at - self.start), Some(name(key))),
                None => (None, None),
            }
        );
        assert_eq!(found.ratio, (limit.units > 0).then(|| units as f64 / limit.units as f64));
        let spans = match &self.plan.envelope[..] {
            [] => vec![limit.window],
            spans => spans.to_vec(),
        };
        assert_eq!(report.envelope.len(), spans.len());
        for (point, span) in report.envelope.iter().zip(spans) {
            assert_eq!(u128::from(point.span_ns), span.nanos());
            assert_eq!(point.units, peak(&releases, i64::try_from(span.nanos()).expect("short")).0);
        }

        let over = report.over.as_ref().expect("a limit");
        let mut keys: Vec<u32> = releases.iter().map(|r| r.key).collect();
        keys.sort_unstable();
        keys.dedup();
        let above = keys.iter().map(|key| (*key, above(&releases, *key, window, limit.units)));
        let above: BTreeMap<u32, Vec<(i64, i64)>> = above.filter(|(_, spans)| !spans.is_empty()).collect();
        assert_eq!(over.keys, above.len() as u64);
        assert_eq!(over.first_ns, above.values().map(|spans| spans[0].0 - self.start).min());
        let lasting = first.and_then(|(_, key)| above.get(&key)).into_iter().flatten();
        assert_eq!(over.peak_key_ns, lasting.map(|(from, until)| (until - from) as u128).sum::<u128>());
    }

    fn check_reference(&self, i: usize, report: &LaneReport) {
        let lane = self.lane(i);
        let limit = self.plan.limit.expect("a limit");
        let log = rlsim::limiter::SlidingLogSpec { limit, edge: Default::default(), count_denied: false };
        let exact = LanePlan { limiter: LimiterSpec::SlidingLog(log), clock_resolution: None, ..lane.clone() };
        let pairs = modelled(&exact, self.arrivals).into_iter().zip(&self.decisions[i]);
        let (mut denials, mut admissions) = (0, 0);
        for (exact, decision) in pairs {
            denials += u64::from(exact.admits() && !decision.admits());
            admissions += u64::from(!exact.admits() && decision.admits());
        }
        assert_eq!((report.false_denials, report.false_admissions), (Some(denials), Some(admissions)));
    }

    fn check_waits(&self, i: usize, report: &LaneReport) {
        let mut waits: Vec<i64> =
            self.decisions[i].iter().filter(|decision| decision.admits()).map(|decision| wait_of(*decision)).collect();
        waits.sort_unstable();
        assert_eq!(report.wait_ns.max, waits.last().map(|wait| wait.unsigned_abs()));
        let quantiles = [(50, report.wait_ns.p50), (95, report.wait_ns.p95), (99, report.wait_ns.p99)];
        for (percent, found) in quantiles {
            // The smallest wait that this share of the admitted does not pass.
            let rank = (waits.len() * percent).div_ceil(100);
            let exact = rank.checked_sub(1).map(|rank| waits[rank].unsigned_abs());
            let near = match (exact, found) {
                (Some(exact), Some(found)) => found >= exact && found - exact <= exact / 1000,
                (exact, found) => exact == found,
            };
            assert!(near, "p{percent} of {waits:?} is {exact:?}, reported {found:?}");
        }
    }

    fn check_keys(&self, i: usize, report: &LaneReport) {
        let lane = self.lane(i);
        // By first appearance: name, attempts, refusals.
        let mut keys: Vec<(&str, u64, u64)> = Vec::new();
        for (arrival, decision) in self.arrivals.iter().zip(&self.decisions[i]) {
            let name = &arrival.names[lane.column];
            let at = keys.iter().position(|(known, ..)| known == name).unwrap_or_else(|| {
                keys.push((name, 0, 0));
                keys.len() - 1
            });
            keys[at].1 += 1;
            keys[at].2 += u64::from(!decision.admits());
        }
        let mut denied: Vec<_> = keys.iter().filter(|(_, _, denied)| *denied > 0).copied().collect();
        assert_eq!(report.keys_denied, denied.len() as u64);
        denied.sort_by_key(|(_, _, denied)| std::cmp::Reverse(*denied));
        denied.truncate(10);
        let found: Vec<_> = report.top_denied.iter().map(|k| (k.key.as_str(), k.attempts, k.denied)).collect();
        assert_eq!(found, denied);
        // Only keys that the limiter has met have a state.
        let mut met: Vec<&str> = self
            .arrivals
            .iter()
            .filter(|arrival| !lane.exempts(arrival.source))
            .map(|arrival| arrival.names[lane.column].as_str())
            .collect();
        met.sort_unstable();
        met.dedup();
        assert_eq!(report.state.keys, met.len() as u64);
        assert_eq!(report.state.bytes == 0, met.is_empty());
        let each = if met.is_empty() { 0.0 } else { report.state.bytes as f64 / met.len() as f64 };
        assert!((report.state.bytes_per_key - each).abs() <= 0.05);
    }

    fn check_classes(&self, i: usize, report: &LaneReport) {
        let entries = &self.plan.traffic.entries;
        if entries.iter().all(|entry| entry.class.is_none()) {
            assert!(report.classes.is_empty());
            return;
        }
        let class = |source: u16| entries[usize::from(source)].class.as_deref().unwrap_or("other");
        let mut names: Vec<&str> = Vec::new();
        for source in 0..entries.len() {
            let name = class(source as u16);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        assert_eq!(report.classes.iter().map(|c| c.class.as_str()).collect::<Vec<_>>(), names);
        for found in &report.classes {
            let of = |wanted: fn(Decision) -> bool| {
                self.count(i, |arrival, decision| class(arrival.source) == found.class && wanted(decision))
            };
            assert_eq!(found.attempts, of(|_| true));
            assert_eq!(found.allowed, of(|d| d == Decision::Allow));
            assert_eq!(found.delayed, of(|d| matches!(d, Decision::Delay(_))));
            assert_eq!(found.denied, of(|d| d == Decision::Deny));
        }
    }

    fn check_timeline(&self, i: usize, report: &LaneReport) {
        let timeline = &report.timeline;
        let bins = timeline.allowed.len();
        assert!(bins <= rlsim::record::BINS && timeline.delayed.len() == bins && timeline.denied.len() == bins);
        assert!(timeline.bin_ns.is_power_of_two());
        let Some(last) = self.arrivals.last() else {
            assert_eq!(bins, 0);
            return;
        };
        let bin = |at: i64| ((at - self.start - timeline.from_ns) as u64 / timeline.bin_ns) as usize;
        assert_eq!(bins, bin(last.at) + 1);
        assert_eq!(timeline.from_ns, 0, "no synthetic arrival comes before the start");
        for at in 0..bins {
            let of = |wanted: fn(Decision) -> bool| self.count(i, |a, d| bin(a.at) == at && wanted(d));
            assert_eq!(timeline.allowed[at], of(|d| d == Decision::Allow));
            assert_eq!(timeline.delayed[at], of(|d| matches!(d, Decision::Delay(_))));
            assert_eq!(timeline.denied[at], of(|d| d == Decision::Deny));
        }
    }

    /// Lanes that decide alike, and where others part from them.
    fn check_agreement(&self, report: &Report) {
        let lanes = self.plan.lanes.len();
        let admits = |lane: usize| self.decisions[lane].iter().map(|d| d.admits()).collect::<Vec<_>>();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for lane in 0..lanes {
            match groups.iter_mut().find(|group| admits(group[0]) == admits(lane)) {
                Some(group) => group.push(lane),
                None => groups.push(vec![lane]),
            }
        }
        let names = |group: &[usize]| group.iter().map(|i| self.lane(*i).name.clone()).collect::<Vec<_>>();
        assert_eq!(report.groups, groups.iter().map(|group| names(group)).collect::<Vec<_>>());
        for (i, lane) in report.lanes.iter().enumerate() {
            let same = (0..i).find(|j| self.decisions[*j] == self.decisions[i]);
            assert_eq!(lane.same_as, same.map(|j| self.lane(j).name.clone()));
            let equal = |j: &usize| report.lanes[*j].fingerprint == lane.fingerprint;
            assert_eq!((0..i).find(equal), same, "fingerprints are equal iff all decisions are");
        }

        // Parting by parting: at each arrival every group of lanes that agreed so far may split.
        let mut agreed: Vec<Vec<usize>> = vec![(0..lanes).collect()];
        let mut partings = Vec::new();
        for (n, arrival) in self.arrivals.iter().enumerate() {
            let mut next = Vec::new();
            for group in agreed {
                let (admitted, denied): (Vec<usize>, Vec<usize>) =
                    group.iter().partition(|lane| self.decisions[**lane][n].admits());
                if admitted.is_empty() || denied.is_empty() {
                    next.push(group);
                    continue;
                }
                partings.push((n, arrival, admitted.clone(), denied.clone()));
                next.extend([admitted, denied]);
            }
            agreed = next;
        }
        assert_eq!(report.disagreements.len(), partings.len());
        for (n, arrival, admitted, denied) in partings {
            let found = report
                .disagreements
                .iter()
                .find(|d| d.arrival == n as u64 + 1 && d.admitted == names(&admitted))
                .unwrap_or_else(|| panic!("no parting at arrival {} of {admitted:?} and {denied:?}", n + 1));
            assert_eq!((found.time_ns, found.cost), (arrival.at - self.start, arrival.cost));
            assert_eq!((&found.key, &found.denied), (&arrival.names[0], &names(&denied)));
            let lanes: Vec<usize> = admitted.iter().chain(&denied).copied().collect();
            assert_eq!(found.levels.len(), lanes.len());
            for (level, lane) in found.levels.iter().zip(lanes) {
                self.check_level(lane, n, level);
            }
        }
        assert!(report.disagreements.is_sorted_by_key(|d| d.arrival));
    }

    /// What a lane knew of a key just before arrival number `n`.
    fn check_level(&self, i: usize, n: usize, found: &rlsim::report::LevelReport) {
        let lane = self.lane(i);
        let tick = i64::try_from(lane.clock_resolution.unwrap_or(1)).expect("short");
        let seen = |at: i64| SimTime::from_nanos(at.div_euclid(tick) * tick);
        let mut limiter = lane.limiter.build(&Workload::UNKNOWN);
        let name = &self.arrivals[n].names[lane.column];
        for arrival in &self.arrivals[..n] {
            if arrival.names[lane.column] == *name && !lane.exempts(arrival.source) {
                limiter.decide(KeyId(0), seen(arrival.at), arrival.cost);
            }
        }
        let level = limiter.level(KeyId(0), seen(self.arrivals[n].at));
        assert_eq!((&found.lane, found.limit, found.remaining), (&lane.name, level.limit, level.remaining));
        let used = level.used.numerator as f64 / level.used.denominator as f64;
        assert!((found.used - used).abs() < 1e-9);
    }

    fn check_offered(&self, report: &Report) {
        let offered = &report.offered;
        let costs = || self.arrivals.iter().map(|a| a.cost);
        assert_eq!((offered.requests, offered.cost), (self.arrivals.len() as u64, costs().sum()));
        assert_eq!(offered.largest_cost, costs().max().unwrap_or(0));
        let mut keys: Vec<&str> = self.arrivals.iter().map(|a| a.names[0].as_str()).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(offered.keys, keys.len() as u64);
        assert_eq!(offered.first_ns, self.arrivals.first().map(|a| a.at - self.start));
        assert_eq!(offered.last_ns, self.arrivals.last().map(|a| a.at - self.start));
        let window = self.plan.limit.expect("a limit").window;
        let all: Vec<Release> =
            self.arrivals.iter().map(|a| Release { at: a.at, key: a.ids[0], cost: a.cost }).collect();
        assert_eq!(offered.peak, Some(peak(&all, i64::try_from(window.nanos()).expect("short")).0));
    }

    /// All of it.
    pub fn check(&self, report: &Report) {
        self.check_offered(report);
        self.check_agreement(report);
        for (i, lane) in report.lanes.iter().enumerate() {
            self.check_counts(i, lane);
            self.check_peak(i, lane);
            self.check_reference(i, lane);
            self.check_waits(i, lane);
            self.check_keys(i, lane);
            self.check_classes(i, lane);
            self.check_timeline(i, lane);
        }
    }
}
