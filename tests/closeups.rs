//! A close look at a span of a run, against a slow recount of what arrived and was decided.

use crate::recount::{Release, releases, trailing};
use crate::scenes::scene_in;
use crate::simulate::{Arrival, arrivals, run_plan, try_plan};
use proptest::prelude::*;
use rlsim::limiter::{Decision, KeyId, Workload};
use rlsim::report::{Counts, DecisionDetail, DecisionKind, Detail, LaneDetail};
use rlsim::runner::{Closeup, detail};
use rlsim::scenario::Plan;
use rlsim::sim::{Lane, Options};
use rlsim::time::{SimDuration, SimTime};

fn kind(decision: Decision) -> DecisionKind {
    match decision {
        Decision::Allow => DecisionKind::Allow,
        Decision::Delay(_) => DecisionKind::Delay,
        Decision::Deny => DecisionKind::Deny,
    }
}

fn counts(decisions: impl Iterator<Item = Decision>) -> Counts {
    let mut counts = Counts::default();
    for decision in decisions {
        match kind(decision) {
            DecisionKind::Allow => counts.allowed += 1,
            DecisionKind::Delay => counts.delayed += 1,
            DecisionKind::Deny => counts.denied += 1,
        }
    }
    counts
}

struct Look<'a> {
    plan: &'a Plan,
    closeup: Closeup,
    arrivals: &'a [Arrival],
    decisions: &'a [Vec<Decision>],
    detail: &'a Detail,
}

impl Look<'_> {
    /// Whether an arrival is one of those looked at.
    fn counted(&self, arrival: &Arrival) -> bool {
        self.closeup.key.is_none_or(|key| arrival.ids[0] == key.0)
    }

    fn within(&self, arrival: &Arrival) -> bool {
        self.counted(arrival) && (self.closeup.from.nanos()..self.closeup.until.nanos()).contains(&arrival.at)
    }

    fn check_arrivals(&self) {
        let before = self.arrivals.iter().filter(|a| self.counted(a) && a.at < self.closeup.from.nanos());
        assert_eq!(self.detail.arrivals_before, before.count() as u64);
        let within: Vec<usize> = (0..self.arrivals.len()).filter(|n| self.within(&self.arrivals[*n])).collect();
        assert_eq!(self.detail.arrivals_within, within.len() as u64);
        if within.len() > self.closeup.keep {
            assert!(self.detail.arrivals.is_empty());
            return;
        }
        assert_eq!(self.detail.arrivals.len(), within.len());
        for (found, n) in self.detail.arrivals.iter().zip(within) {
            let arrival = &self.arrivals[n];
            assert_eq!((found.number, found.at.nanos(), found.cost), (n as u64 + 1, arrival.at, arrival.cost));
            assert_eq!(found.key, arrival.names[0]);
        }
    }

    fn check_counts(&self, i: usize, found: &LaneDetail) {
        let rows = || self.arrivals.iter().zip(&self.decisions[i]).filter(|(arrival, _)| self.counted(arrival));
        let in_span = |from: i64, until: i64| {
            counts(rows().filter(|(a, _)| (from..until).contains(&a.at)).map(|(_, decision)| *decision))
        };
        assert_eq!(found.before, in_span(i64::MIN, self.closeup.from.nanos()));
        assert_eq!(found.counts.len(), self.detail.columns);
        for (column, counts) in found.counts.iter().enumerate() {
            let (from, until) = (self.detail.edge(column), self.detail.edge(column + 1));
            assert_eq!(*counts, in_span(from.nanos(), until.nanos()), "column {column}");
        }
    }

    /// Units of the followed key in the window behind each instant.
    fn check_trailing(&self, i: usize, followed: Option<u32>, found: &LaneDetail) {
        let window = self.plan.limit.expect("a limit").window.nanos() as i64;
        assert_eq!(found.trailing.len(), self.detail.columns);
        let all: Vec<Release> = releases(&self.plan.lanes[i], self.arrivals, &self.decisions[i]);
        for (column, extent) in found.trailing.iter().enumerate() {
            let (from, until) = (self.detail.edge(column).nanos(), self.detail.edge(column + 1).nanos());
            let value = |at: i64| followed.map_or(0, |key| trailing(&all, key, at, window)) as f64;
            if from == until {
                continue;
            }
            assert!((extent.last - value(until - 1)).abs() < f64::EPSILON, "column {column}");
            let highest = (from..until).map(value).fold(0.0, f64::max);
            let known = highest.max(value(from - 1));
            assert!(highest <= extent.max && extent.max <= known, "column {column}");
        }
    }

    /// The level at each column's last instant, and every decision with what the limiter says after it.
    fn check_states(&self, i: usize, followed: Option<KeyId>, found: &LaneDetail) {
        let plan = &self.plan.lanes[i];
        let mut lane = Lane::new(plan.clone(), &Workload::UNKNOWN);
        let mut rows = self.arrivals.iter().zip(&self.decisions[i]).peekable();
        let mut decisions = Vec::new();
        let mut levels = Vec::new();
        for column in 0..=self.detail.columns {
            let edge = self.detail.edge(column);
            while let Some((arrival, decided)) = rows.next_if(|(arrival, _)| arrival.at < edge.nanos()) {
                let (key, at) = (KeyId(arrival.ids[plan.column]), SimTime::from_nanos(arrival.at));
                assert_eq!(lane.decide(arrival.source, key, at, arrival.cost), *decided);
                if !self.within(arrival) {
                    continue;
                }
                let level = lane.level(key, at);
                let retry = lane.retry_after(key, at, arrival.cost).map(SimDuration::nanos);
                decisions.push(DecisionDetail {
                    kind: kind(*decided),
                    wait_ns: if let Decision::Delay(wait) = decided { wait.short_nanos() } else { 0 },
                    remaining: level.remaining,
                    next_ns: level.next.nanos(),
                    full_ns: level.full.nanos(),
                    used: (followed == Some(key)).then(|| level.used.numerator as f64 / level.used.denominator as f64),
                    retry_after_ns: retry.filter(|_| *decided == Decision::Deny),
                });
            }
            if let (Some(key), 1..) = (followed, column) {
                let last = (edge.nanos() - 1).max(self.closeup.from.nanos());
                let level = lane.level(key, SimTime::from_nanos(last));
                levels.push(level.used.numerator as f64 / level.used.denominator as f64);
            }
        }
        let found_levels: Vec<f64> = found.level.iter().map(|extent| extent.last).collect();
        assert_eq!(found_levels, levels);
        assert!(found.level.iter().all(|extent| extent.min <= extent.last && extent.last <= extent.max));
        if self.detail.arrivals_within <= self.closeup.keep as u64 {
            assert_eq!(found.decisions, decisions);
        } else {
            assert!(found.decisions.is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 900_000, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn a_close_look_shows_what_happened(
        text in scene_in(vec!["ns"]), from in -20_i64..200, span in 1_i64..300, columns in 1..40_usize, keep in 0..60_usize,
        key in prop::option::of(0..4_u32), batch in prop::sample::select(vec![1, 29, 16_384])
    ) {
        let Ok(plan) = try_plan(&text) else { return Err(TestCaseError::reject("not valid")) };
        let arrivals = arrivals(&plan);
        prop_assume!(arrivals.len() <= 300);
        let (outcome, decisions) = run_plan(&plan, Options::default()).expect("in range");
        let start = outcome.report.start.nanos();
        let known = arrivals.iter().map(|arrival| arrival.ids[0]).max();
        let closeup = Closeup {
            from: SimTime::from_nanos(start + from),
            until: SimTime::from_nanos(start + from + span),
            columns,
            keep,
            key: key.filter(|key| known.is_some_and(|known| *key <= known)).map(KeyId),
        };
        let options = Options { batch, ..Options::default() };
        let detail = detail(&plan, &outcome, closeup, options, &mut || true).expect("in range");
        let look = Look { plan: &plan, closeup, arrivals: &arrivals, decisions: &decisions, detail: &detail };
        look.check_arrivals();
        for (i, found) in detail.lanes.iter().enumerate() {
            let column = plan.lanes[i].column;
            let followed = closeup.key.filter(|_| column == 0).or(outcome.index.notable_keys[i]);
            let name = followed.map(|key| {
                let arrival = arrivals.iter().find(|arrival| arrival.ids[column] == key.0).expect("seen");
                arrival.names[column].clone()
            });
            prop_assert_eq!(&found.key, &name);
            look.check_counts(i, found);
            look.check_trailing(i, followed.map(|key| key.0), found);
            look.check_states(i, followed, found);
        }
    }
}
