//! Close looks: what a look at a span says as of a place is what single decisions add up to.

use proptest::prelude::*;
use rlsim::report::{Counts, DecisionKind, Detail, Direction, Mark, Place};
use rlsim::runner::{self, Closeup, Extras, Outcome, Search};
use rlsim::scenario::{Plan, ScenarioSource};
use rlsim::sim::Options;
use rlsim::time::SimTime;

/// Three clients that delay, refuse and differ, some at the same instants.
pub const BUSY: &str = r#"
start = "1969-12-31T23:59:50Z"
duration = "60s"
limit = "5/10s"
[[traffic]]
name = "crowd"
poisson = { rate = "3/s" }
keys = 3
[[traffic]]
name = "burst"
burst = { requests = 12, at = "20s" }
[[traffic]]
name = "again"
burst = { requests = 8, at = "20s" }
keys = 2
"#;

pub fn plan(text: &str) -> Plan {
    let source = ScenarioSource { name: "test".into(), text: text.into(), folder: "".into(), embedded: false };
    Plan::new(&source, &[]).expect("a valid scenario")
}

fn outcome(plan: &Plan, options: Options) -> Outcome {
    runner::run(plan, options, Extras::default(), &mut |_| true).expect("it runs")
}

fn look(
    plan: &Plan,
    outcome: &Outcome,
    from: i64,
    until: i64,
    columns: usize,
    keep: usize,
    key: Option<usize>,
) -> Detail {
    let key = key.map(|key| outcome.index.busiest[key].1);
    let closeup = Closeup { from: SimTime::from_nanos(from), until: SimTime::from_nanos(until), columns, keep, key };
    runner::detail(plan, outcome, closeup, Options { batch: 7, ..Options::default() }, &mut || true)
        .expect("it runs again")
}

const FROM: i64 = -10_000_000_000;
const UNTIL: i64 = 50_000_000_000;
const WINDOW: i64 = 10_000_000_000;

/// Everything, arrival by arrival: what the shorter looks are compared with.
fn all(plan: &Plan, outcome: &Outcome, key: Option<usize>) -> Detail {
    let all = look(plan, outcome, FROM, UNTIL, 1, usize::MAX, key);
    assert!(all.lists_arrivals() && all.arrivals.len() > 50);
    all
}

fn counts(all: &Detail, lane: usize, place: Place) -> Counts {
    let mut sum = Counts::default();
    for (arrival, decision) in all.arrivals.iter().zip(&all.lanes[lane].decisions) {
        if place.includes(arrival.at, arrival.number) {
            sum += decision.kind.once();
        }
    }
    sum
}

/// Releases of a lane: when, by which arrival, whose.
fn releases(all: &Detail, lane: usize) -> Vec<(i64, u64, &str)> {
    let admitted = all.arrivals.iter().zip(&all.lanes[lane].decisions).filter(|(_, d)| d.kind != DecisionKind::Deny);
    admitted.map(|(arrival, d)| (arrival.at.nanos() + d.wait_ns as i64, arrival.number, arrival.key.as_str())).collect()
}

/// Units released to a key in the window that ends at a place.
fn trailing(releases: &[(i64, u64, &str)], place: Place, key: &str) -> u64 {
    let in_window = |(at, number, whose): &&(i64, u64, &str)| {
        *whose == key && *at > place.at.nanos() - WINDOW && place.includes(SimTime::from_nanos(*at), *number)
    };
    releases.iter().filter(in_window).count() as u64
}

/// The peak so far: the largest such sum right after any release.
fn peak(releases: &[(i64, u64, &str)], place: Place, key: Option<&str>) -> u64 {
    let seen = releases.iter().filter(|(at, number, _)| place.includes(SimTime::from_nanos(*at), *number));
    let seen = seen.filter(|(.., whose)| key.is_none_or(|key| key == *whose));
    seen.map(|(at, number, whose)| {
        let then = Place { at: SimTime::from_nanos(*at), arrival: Some(*number) };
        trailing(releases, then, whose)
    })
    .max()
    .unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_look_as_of_a_place_is_what_the_decisions_add_up_to(
        from in FROM..UNTIL - 2_000,
        length in 1_000_i64..40_000_000_000,
        share in 0.0..1.0_f64,
        columns in 1_usize..80,
        key in prop::option::of(0_usize..3),
    ) {
        let plan = plan(BUSY);
        let outcome = outcome(&plan, Options::default());
        let all = all(&plan, &outcome, key);
        let until = from + length;
        let detail = look(&plan, &outcome, from, until, columns, 10_000, key);
        prop_assert!(detail.lists_arrivals());
        let at = SimTime::from_nanos(from + (length as f64 * share) as i64);
        // Between arrivals, and at the next arrival itself.
        let next = detail.arrivals.iter().find(|arrival| arrival.at >= at);
        let places = [Some(Place::after(at)), next.map(|next| Place { at: next.at, arrival: Some(next.number) })];
        for place in places.into_iter().flatten() {
            for lane in 0..plan.lanes.len() {
                prop_assert_eq!(detail.counts_at(lane, place), counts(&all, lane, place), "{}", plan.lanes[lane].name);
                let releases = releases(&all, lane);
                let whose = detail.lanes[lane].key.clone().expect("somebody arrived");
                prop_assert_eq!(detail.trailing_at(lane, place), Some(trailing(&releases, place, &whose)));
                let only = key.map(|_| whose.as_str());
                prop_assert_eq!(detail.peak_at(lane, place), Some(peak(&releases, place, only)), "{}", plan.lanes[lane].name);
            }
        }
    }

    #[test]
    fn a_look_that_lists_nothing_is_exact_at_the_ends_of_columns(
        from in FROM..UNTIL - 2_000,
        length in 1_000_i64..40_000_000_000,
        columns in 1_usize..80,
        share in 0.0..1.0_f64,
    ) {
        let plan = plan(BUSY);
        let outcome = outcome(&plan, Options::default());
        let all = all(&plan, &outcome, None);
        let detail = look(&plan, &outcome, from, from + length, columns, 0, None);
        let column = (columns as f64 * share) as usize;
        let place = Place::after(SimTime::from_nanos(detail.edge(column + 1).nanos() - 1));
        for lane in 0..plan.lanes.len() {
            let releases = releases(&all, lane);
            let whose = detail.lanes[lane].key.clone().expect("somebody arrived");
            prop_assert_eq!(detail.counts_at(lane, place), counts(&all, lane, place));
            prop_assert_eq!(detail.trailing_at(lane, place), Some(trailing(&releases, place, &whose)));
            prop_assert_eq!(detail.peak_at(lane, place), Some(peak(&releases, place, None)));
        }
    }
}

#[test]
fn the_last_place_of_a_run_has_the_reports_figures() {
    let plan = plan(BUSY);
    let outcome = outcome(&plan, Options::default());
    // Long enough for the last delayed release.
    let detail = look(&plan, &outcome, FROM, UNTIL + 60_000_000_000, 40, 10_000, None);
    let end = Place::after(SimTime::from_nanos(UNTIL + 59_999_999_999));
    for (lane, report) in outcome.report.lanes.iter().enumerate() {
        let Counts { allowed, delayed, denied } = detail.counts_at(lane, end);
        assert_eq!((allowed, delayed, denied), (report.allowed, report.delayed, report.denied), "{}", report.name);
        assert_eq!(detail.peak_at(lane, end), report.peak.as_ref().map(|peak| peak.units), "{}", report.name);
    }
    let split: u64 = detail.split.iter().sum();
    assert_eq!(split, outcome.index.split.iter().sum::<u64>());
}

/// What a search should find, from the decisions alone.
fn marked(all: &Detail, mark: Mark) -> Vec<Place> {
    let kinds =
        |i: usize| -> Vec<bool> { all.lanes.iter().map(|lane| lane.decisions[i].kind != DecisionKind::Deny).collect() };
    let marks = (0..all.arrivals.len()).filter(|i| match mark {
        Mark::Arrival => true,
        Mark::Denial { lane } => all.lanes[lane].decisions[*i].kind == DecisionKind::Deny,
        Mark::Split => {
            let now = kinds(*i);
            now.iter().any(|admitted| *admitted != now[0]) && (*i == 0 || kinds(i - 1) != now)
        }
    });
    marks.map(|i| Place { at: all.arrivals[i].at, arrival: Some(all.arrivals[i].number) }).collect()
}

#[test]
fn searches_find_every_mark_both_ways_whatever_the_batch() {
    let plan = plan(BUSY);
    let outcome = outcome(&plan, Options::default());
    for key in [None, Some(0), Some(2)] {
        let all = all(&plan, &outcome, key);
        for mark in [Mark::Arrival, Mark::Split, Mark::Denial { lane: 1 }, Mark::Denial { lane: 4 }] {
            let expected = marked(&all, mark);
            assert!(!expected.is_empty());
            for options in
                [Options { batch: 3, ..Options::default() }, Options { threads: 2, batch: 64, group_from: 0 }]
            {
                let find = |from, direction| {
                    let key = key.map(|key| outcome.index.busiest[key].1);
                    let search = Search { mark, direction, from, key };
                    runner::seek(&plan, search, options, &mut || true).expect("it runs again")
                };
                let mut place = Place::after(SimTime::from_nanos(FROM - 1));
                for next in &expected {
                    let found = find(place, Direction::Forward).expect("there is one more");
                    assert_eq!(found, *next, "{mark:?}");
                    place = found;
                }
                assert_eq!(find(place, Direction::Forward), None);
                place = Place::after(SimTime::from_nanos(UNTIL));
                for previous in expected.iter().rev() {
                    let found = find(place, Direction::Backward).expect("there is one before");
                    assert_eq!(found, *previous, "{mark:?}");
                    place = found;
                }
                assert_eq!(find(place, Direction::Backward), None);
            }
        }
    }
}

#[test]
fn a_look_can_be_given_up() {
    let plan = plan(BUSY);
    let outcome = outcome(&plan, Options::default());
    let options = Options { batch: 4, ..Options::default() };
    let closeup = Closeup {
        from: SimTime::from_nanos(FROM),
        until: SimTime::from_nanos(UNTIL),
        columns: 10,
        keep: 10,
        key: None,
    };
    let mut batches = 0;
    let given_up = runner::detail(&plan, &outcome, closeup, options, &mut || {
        batches += 1;
        batches < 3
    });
    assert!(matches!(given_up, Err(rlsim::error::Error::Interrupted)));
    let search = Search {
        mark: Mark::Denial { lane: 0 },
        direction: Direction::Backward,
        from: Place::after(SimTime::from_nanos(UNTIL)),
        key: None,
    };
    let given_up = runner::seek(&plan, search, options, &mut || false);
    assert!(matches!(given_up, Err(rlsim::error::Error::Interrupted)));
}
