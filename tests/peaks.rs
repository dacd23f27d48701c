//! Everything that a report counts is what its decisions say, whatever the batches and threads.

use crate::recount::{Facts, modelled};
use crate::scenes::scene;
use crate::simulate::{Arrival, arrivals, report, run_plan, try_plan};
use proptest::prelude::*;
use proptest::sample::select;
use rlsim::sim::Options;

/// Keys are numbered by first appearance, in every column.
fn check_numbers(arrivals: &[Arrival], columns: usize) {
    for column in 0..columns {
        let mut seen: Vec<&str> = Vec::new();
        for arrival in arrivals {
            let name = arrival.names[column].as_str();
            let number = seen.iter().position(|known| *known == name).unwrap_or_else(|| {
                seen.push(name);
                seen.len() - 1
            });
            assert_eq!(arrival.ids[column], number as u32);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 900_000, ..ProptestConfig::with_cases(1_500) })]

    #[test]
    fn a_report_is_what_its_decisions_say(
        text in scene(), batch in select(vec![1, 37, 64, 200, 16_384]), group_from in select(vec![0, 3, usize::MAX])
    ) {
        let Ok(plan) = try_plan(&text) else { return Err(TestCaseError::reject("not valid")) };
        let arrivals = arrivals(&plan);
        prop_assume!(arrivals.len() <= 400);
        let (outcome, decisions) = run_plan(&plan, Options { threads: 1, batch, group_from }).expect("in range");
        let report = outcome.report;
        check_numbers(&arrivals, plan.traffic.columns.len());
        for (i, lane) in plan.lanes.iter().enumerate() {
            prop_assert_eq!(&decisions[i], &modelled(lane, &arrivals), "decisions of lane {}", i);
        }
        let facts =
            Facts { plan: &plan, start: report.start.nanos(), arrivals: &arrivals, decisions: &decisions };
        facts.check(&report);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 900_000, ..ProptestConfig::with_cases(300) })]

    /// Neither the size of a batch, nor whether it is decided key by key, nor the number of threads changes a byte of the report.
    #[test]
    fn batches_and_threads_change_nothing(text in scene()) {
        let Ok(plan) = try_plan(&text) else { return Err(TestCaseError::reject("not valid")) };
        let json = |batch: usize, threads: usize| {
            let group_from = if threads == 1 { usize::MAX } else { 0 };
            let (outcome, _) = run_plan(&plan, Options { threads, batch, group_from }).expect("in range");
            serde_json::to_string(&outcome.report).expect("plain data")
        };
        let expected = json(1, 1);
        for (batch, threads) in [(7, 1), (4096, 1), (16_384, 1), (1, 2), (7, 8), (16_384, 8)] {
            prop_assert_eq!(&json(batch, threads), &expected, "batches of {} on {} threads", batch, threads);
        }
    }
}

/// The same with many batches of every size.
#[test]
fn long_runs_do_not_depend_on_batches_or_threads() {
    let text = "limit = \"20/1s\"\nduration = \"100s\"\nenvelope = [\"100ms\", \"1s\", \"10s\"]\n\
                [[traffic]]\nkeys = { zipf = { n = 50, exponent = 1.0 } }\nspread = { ip = 3 }\n\
                poisson = { rate = \"200/1s\" }\n\
                [[traffic]]\nclass = \"health\"\ngroups = { ip = 1 }\nsteady = { rate = \"30/1s\" }\n\
                [[lane]]\nfixed-window = {}\n[[lane]]\nkey = \"ip\"\nsliding-log = {}\n[[lane]]\nsliding-counter = {}\n\
                [[lane]]\nexempt = [\"health\"]\ntoken-bucket = {}\n[[lane]]\nleaky-bucket = {}\n\
                [[lane]]\nclock-resolution = \"7ms\"\ngcra = {}\n";
    let plan = try_plan(text).expect("valid");
    let json = |batch: usize, threads: usize| {
        let group_from = if threads == 1 { usize::MAX } else { 40 };
        let (outcome, _) = run_plan(&plan, Options { threads, batch, group_from }).expect("in range");
        assert!(outcome.report.offered.requests > 20_000);
        serde_json::to_string(&outcome.report).expect("plain data")
    };
    let expected = json(16_384, 1);
    for (batch, threads) in [(1, 1), (7, 1), (4096, 1), (7, 2), (4096, 2), (4096, 8), (16_384, 8)] {
        assert!(json(batch, threads) == expected, "batches of {batch} on {threads} threads");
    }
}

/// Lanes that share a ring of releases do not disturb each other, nor do many.
#[test]
fn forty_lanes_are_forty_runs() {
    let head = "limit = \"5/10ms\"\nduration = \"1s\"\nenvelope = [\"3ms\"]\n\
                [[traffic]]\nkeys = 7\npoisson = { rate = \"9/1ms\" }\n";
    let lanes: Vec<String> = (1..=40)
        .map(|burst| format!("[[lane]]\nname = \"{burst}\"\ntoken-bucket = {{ burst = {burst} }}\n"))
        .chain(std::iter::once("[[lane]]\nname = \"queue\"\nleaky-bucket = {}\n".to_owned()))
        .collect();
    let together = report(&format!("{head}{}", lanes.concat()));
    for (i, text) in lanes.iter().enumerate() {
        let mut alone = report(&format!("{head}{text}")).lanes.remove(0);
        let found = &together.lanes[i];
        alone.same_as.clone_from(&found.same_as);
        assert_eq!(serde_json::to_value(found).expect("plain"), serde_json::to_value(&alone).expect("plain"));
    }
}

/// Bytes a key, as each algorithm's page states them.
#[test]
fn states_are_as_small_as_stated() {
    let lanes = [
        ("fixed-window = {}", 16.0),
        // Ten entries a key: one in the state, nine in sixteen places; but no more places than the limit has units.
        ("sliding-log = {}", 32.0 + 16.0 * 8.0),
        ("sliding-log = { limit = \"10/1m\" }", 32.0 + 9.0 * 8.0),
        ("sliding-log = { limit = \"1/1m\" }", 32.0),
        ("sliding-counter = {}", 24.0),
        ("token-bucket = {}", 16.0),
        ("leaky-bucket = {}", 8.0),
        ("leaky-bucket = { mode = \"meter\" }", 16.0),
        ("gcra = {}", 8.0),
    ];
    for (lane, bytes) in lanes {
        let report = report(&format!(
            "limit = \"100/1m\"\n[[traffic]]\nkeys = 50\nburst = {{ requests = 500 }}\n[[lane]]\n{lane}\n"
        ));
        assert_eq!((report.lanes[0].state.keys, report.lanes[0].state.bytes_per_key), (50, bytes), "{lane}");
    }
}

/// Without a limit there is nothing to compare with: no peak, no excess, no false decisions.
#[test]
fn without_a_yardstick() {
    let text = "envelope = [\"1s\", \"10s\"]\n[[traffic]]\nburst = { requests = 30, over = \"30s\" }\n\
                [[lane]]\nsliding-log = { limit = \"5/10s\" }\n";
    let measured = report(text);
    let lane = &measured.lanes[0];
    assert!(measured.limit.is_none() && measured.offered.peak.is_none());
    assert!(lane.peak.is_none() && lane.over.is_none());
    assert_eq!((lane.false_denials, lane.false_admissions), (None, None));
    // Five in the first five seconds of each ten.
    assert_eq!((lane.allowed, lane.denied), (15, 15));
    let points: Vec<(u64, Option<u128>)> = lane.envelope.iter().map(|point| (point.units, point.bound)).collect();
    assert_eq!(points, [(1, Some(5)), (5, Some(5))]);
    assert!(report(&text.replace("envelope = [\"1s\", \"10s\"]\n", "")).lanes[0].envelope.is_empty());
}
