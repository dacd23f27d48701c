//! Deployments: what close looks and comparison sheets show is what the report says, and what single
//! decisions add up to.

use super::figures::{MOST_BYTES, any_counts, check, draw, look, noise, scramble, stated};
use rlsim::faces::svg;
use rlsim::limiter::Decision;
use rlsim::report::{Counter, Counts, Deciders, Detail, FaultKind, FleetDetail, LaneDetail, Report};
use rlsim::runner::{self, Closeup, Extras};
use rlsim::scenario::Plan;
use rlsim::sim::{Answered, Lane, Options, Scribe};
use rlsim::time::SimTime;
use std::sync::{Arc, Mutex};

/// Three replicas, and a store that is down for half a minute.
pub const OUTAGE: &str = r#"
title = "Down for half a minute"
limit = "30/1m"
duration = "3m"
[[traffic]]
steady = { rate = "2/1s" }
[[lane]]
name = "open"
fixed-window = {}
deployment = { central = { replicas = 3, round-trip = "1ms", timeout = "20ms", on-failure = "open" } }
[[lane]]
name = "closed"
fixed-window = {}
deployment = { central = { replicas = 3, round-trip = "1ms", timeout = "20ms", on-failure = "closed" } }
[[lane]]
name = "local"
fixed-window = {}
deployment = { local = { replicas = 3, share = "full" } }
[[lane]]
name = "synced"
token-bucket = {}
deployment = { hybrid = { replicas = 3, sync = { every = "5s", push = "5ms", pull = "5ms" } } }
[[lane]]
name = "one"
fixed-window = {}
[[fault]]
store-down = { from = "30s", until = "60s" }
"#;

/// All that can go wrong.
pub const TROUBLE: &str = r#"
limit = "100/10s"
duration = "3m"
[[traffic]]
poisson = { rate = "20/1s" }
keys = 5
[[lane]]
name = "lease"
token-bucket = {}
deployment = { hybrid = { replicas = 5, lease = { batch = 10 }, round-trip = "2ms", timeout = "20ms", on-failure = "closed" } }
[[lane]]
name = "racy"
sliding-log = {}
deployment = { central = { replicas = 5, round-trip = "40ms", operation = "get-set", timeout = "200ms", on-failure = "local" } }
[[lane]]
name = "split"
token-bucket = {}
deployment = { local = { replicas = 5, share = "split", routing = "random" } }
[[lane]]
name = "a queue that is told"
leaky-bucket = {}
deployment = { hybrid = { replicas = 5, sync = { every = "3s", push = "5ms", pull = "5ms" } } }
[[fault]]
partition = { replicas = [0, 2], from = "20s", until = "40s" }
[[fault]]
store-slow = { from = "60s", until = "75s", round-trip = "100ms" }
[[fault]]
restart = { replica = 1, at = "45s" }
[[fault]]
scale = { replicas = 8, at = "80s" }
[[fault]]
flush = { at = "100s" }
[[fault]]
failover = { at = "120s", loses = "1s" }
[[fault]]
stop = { replica = 3, at = "140s" }
"#;

/// When an attempt came, and what was decided on it.
type Attempt = (i64, Decision);

/// Writes down what a lane was asked.
struct Ear(Arc<Mutex<Vec<(u64, Attempt)>>>);

impl Scribe for Ear {
    fn meet(&mut self, _new_keys: &[Box<[u8]>]) {}
    fn answered(&mut self, answered: &Answered, _lane: Option<&Lane>) {
        let row = answered.row.unwrap_or_else(|| answered.arrival.expect("an open loop"));
        self.0.lock().expect("one thread").push((row, (answered.at.nanos(), answered.decision)));
    }
}

/// A run, a look at all of it, and every decision of each lane.
fn heard(plan: &Plan, columns: usize) -> (Report, Detail, Vec<Vec<Attempt>>) {
    let heard: Vec<_> = plan.lanes.iter().map(|_| Arc::new(Mutex::new(Vec::new()))).collect();
    let scribes = heard.iter().map(|heard| Box::new(Ear(heard.clone())) as Box<dyn Scribe>).collect();
    let extras = Extras { scribes, ..Extras::default() };
    let outcome = runner::run(plan, Options::default(), extras, &mut |_| true).expect("runs");
    let until = SimTime::from_nanos(4 * MINUTE);
    let closeup = Closeup { from: SimTime::EPOCH, until, columns, keep: 0, key: None };
    let detail = runner::detail(plan, &outcome, closeup, Options::default(), &mut || true).expect("runs again");
    let decisions = heard.iter().map(|heard| {
        let mut all = heard.lock().expect("one thread").clone();
        all.sort_by_key(|(row, _)| *row);
        all.into_iter().map(|(_, attempt)| attempt).collect()
    });
    (outcome.report, detail, decisions.collect())
}

const MS: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MS;
const MINUTE: i64 = 60 * SECOND;

fn fleet(lane: &LaneDetail) -> &FleetDetail {
    lane.fleet.as_ref().expect("a deployment")
}

/// The instants at which columns end, their last.
fn ends(detail: &Detail) -> impl Iterator<Item = i64> + '_ {
    (1..=detail.columns).map(|column| detail.edge(column).nanos() - 1)
}

#[test]
fn a_store_is_counted_again_from_its_decisions() {
    let (report, detail, decisions) = heard(&stated(OUTAGE), 240);
    let down = |at: i64| (30 * SECOND..MINUTE).contains(&at);
    for (lane, attempts) in detail.lanes.iter().zip(&decisions).take(2) {
        // Half of the round trip to the store; without an answer, until the timeout.
        let answered = |at: i64| !down(at + MS / 2);
        let released: Vec<i64> = attempts
            .iter()
            .filter(|(_, decision)| decision.admits())
            .map(|(at, _)| at + if answered(*at) { MS } else { 20 * MS })
            .collect();
        let counted: Vec<i64> =
            attempts.iter().filter(|(at, decision)| decision.admits() && answered(*at)).map(|(at, _)| *at).collect();
        for (column, end) in ends(&detail).enumerate() {
            let trailing = released.iter().filter(|at| **at <= end && end < **at + MINUTE).count();
            assert_eq!(lane.trailing[column].last, trailing as f64, "released, column {column}");
            let here = |at: &&i64| at.div_euclid(MINUTE) == end.div_euclid(MINUTE) && **at + MS / 2 <= end;
            assert_eq!(lane.level[column].last, counted.iter().filter(here).count() as f64, "store, column {column}");
        }
        assert_eq!((fleet(lane).counter, lane.level_limit), (Counter::Store, 30));
        let without: u64 = attempts.iter().filter(|(at, _)| !answered(*at)).count() as u64;
        let decided = fleet(lane).replicas.iter().flat_map(|replica| &replica.decided);
        assert_eq!(decided.map(|decided| decided.without).sum::<u64>(), without);
    }
    assert_eq!(
        report.lanes[0].fleet.as_ref().and_then(|fleet| fleet.over_spans.first()).map(|span| span.from_ns),
        Some(30_020 * MS)
    );
}

#[test]
fn replicas_are_counted_again_from_their_decisions() {
    let (_, detail, decisions) = heard(&stated(OUTAGE), 240);
    for lane in [0, 1, 2] {
        for (number, replica) in fleet(&detail.lanes[lane]).replicas.iter().enumerate() {
            // One after the other.
            let own: Vec<&Attempt> = decisions[lane].iter().skip(number).step_by(3).collect();
            for (column, end) in ends(&detail).enumerate() {
                let from = detail.edge(column).nanos();
                let came = || own.iter().filter(|(at, _)| (from..=end).contains(at));
                let denied = came().filter(|(_, decision)| *decision == Decision::Deny).count() as u64;
                let expected = Counts { allowed: came().count() as u64 - denied, delayed: 0, denied };
                assert_eq!(replica.counts[column], expected, "lane {lane}, replica {number}, column {column}");
                if lane == 2 {
                    let here = |at: i64| at <= end && at.div_euclid(MINUTE) == end.div_euclid(MINUTE);
                    let used = own.iter().filter(|(at, decision)| here(*at) && decision.admits()).count();
                    assert_eq!(replica.level[column].last, used as f64, "replica {number}, column {column}");
                }
            }
            assert_eq!(replica.running, [(detail.from, detail.until)]);
            assert_eq!(replica.level.is_empty(), lane < 2, "who asks a store keeps no count");
        }
    }
    let local = &detail.lanes[2];
    assert_eq!(fleet(local).counter, Counter::FullestReplica);
    let most = |column: usize| fleet(local).replicas.iter().map(|r| r.level[column].last).fold(0.0, f64::max);
    assert!((0..240).all(|column| local.level[column].last == most(column)));
    assert!(detail.lanes[4].fleet.is_none() && detail.lanes[4].level.len() == 240, "one process counts for itself");
}

/// What a look counts is what the report counts, wherever columns begin.
#[test]
fn looks_add_up_to_the_report() {
    for text in [OUTAGE, TROUBLE] {
        let plan = stated(text);
        let (report, sheet) = look(&plan, Options::default());
        for detail in [&sheet.whole, &sheet.focus] {
            for (lane, shown) in report.lanes.iter().zip(&detail.lanes) {
                let Some(fleet) = &shown.fleet else { continue };
                for (column, counts) in shown.counts.iter().enumerate() {
                    let mut sum = Counts::default();
                    fleet.replicas.iter().for_each(|replica| sum += replica.counts[column]);
                    assert_eq!(sum, *counts, "{}, column {column}", lane.name);
                }
            }
        }
        for (lane, shown) in report.lanes.iter().zip(&sheet.whole.lanes) {
            let highest = shown.trailing.iter().map(|extent| extent.max).fold(0.0, f64::max);
            let peak = lane.peak.as_ref().map_or(0, |peak| peak.units);
            assert_eq!((highest, shown.peak.last()), (peak as f64, Some(&peak)), "{}", lane.name);
            let (Some(fleet), Some(reported)) = (&shown.fleet, &lane.fleet) else { continue };
            let all: Vec<(Counts, Deciders)> =
                fleet.replicas.iter().map(|replica| replica.until(sheet.whole.columns)).collect();
            for (number, ((counts, decided), replica)) in all.iter().zip(&reported.replicas).enumerate() {
                let admitted = counts.allowed + counts.delayed;
                assert_eq!((admitted, counts.denied), (replica.admitted, replica.denied), "{} {number}", lane.name);
                assert_eq!(decided.store + decided.replica + decided.without, counts.total());
            }
            let without: u64 = all.iter().map(|(_, decided)| decided.without).sum();
            assert_eq!(without, reported.store.as_ref().map_or(0, |store| store.decided_without));
            let operations =
                fleet.store.as_ref().map(|store| store.operations_before + store.operations.iter().sum::<u64>());
            assert_eq!(operations, reported.store.as_ref().map(|store| store.operations), "{}", lane.name);
        }
    }
}

/// What is told of a span does not depend on where it begins.
#[test]
fn a_look_goes_on_where_another_ends() {
    let plan = stated(TROUBLE);
    let outcome = runner::run(&plan, Options::default(), Extras::default(), &mut |_| true).expect("runs");
    let detail = |from: i64, until: i64, columns: usize| {
        let (from, until) = (SimTime::from_nanos(from * SECOND), SimTime::from_nanos(until * SECOND));
        let closeup = Closeup { from, until, columns, keep: 0, key: None };
        runner::detail(&plan, &outcome, closeup, Options::default(), &mut || true).expect("runs again")
    };
    let (all, late) = (detail(0, 180, 180), detail(70, 130, 60));
    for (all, late) in all.lanes.iter().zip(&late.lanes) {
        assert_eq!(late.trailing_before as f64, all.trailing[69].last);
        for column in 0..60 {
            assert_eq!(late.trailing[column].last, all.trailing[70 + column].last);
            assert_eq!(late.level[column].last, all.level[70 + column].last);
            assert_eq!(late.peak[column], all.peak[70 + column]);
        }
        for (all, late) in fleet(all).replicas.iter().zip(&fleet(late).replicas) {
            assert_eq!((late.before, late.decided_before), all.until(70));
            assert_eq!(late.counts, all.counts[70..130]);
            let last = |levels: &[rlsim::report::Extent]| levels.iter().map(|extent| extent.last).collect::<Vec<_>>();
            assert_eq!(last(&late.level), last(all.level.get(70..130).unwrap_or_default()));
        }
    }
}

#[test]
fn faults_are_told_as_each_lane_meets_them() {
    let (report, sheet) = look(&stated(TROUBLE), Options::default());
    let told = |lane: usize| -> Vec<(FaultKind, u64, u64, &str)> {
        let seconds = |at: SimTime| (at.since(report.start).nanos() / 1_000_000_000) as u64;
        let faults = &fleet(&sheet.whole.lanes[lane]).faults;
        faults.iter().map(|f| (f.kind, seconds(f.from), seconds(f.until), f.text.as_str())).collect()
    };
    assert_eq!(
        told(1),
        [
            (FaultKind::CutOff, 20, 40, "replicas 0, 2 cut off"),
            (FaultKind::Restart, 45, 45, "replica 1 restarts"),
            (FaultKind::StoreSlow, 60, 75, "store slow, 100ms"),
            (FaultKind::Replicas, 80, 80, "to 8 replicas"),
            (FaultKind::Flush, 100, 100, "store flushed"),
            (FaultKind::Failover, 120, 120, "failover, 1s of writes lost"),
            (FaultKind::Replicas, 140, 140, "replica 3 stops"),
        ]
    );
    // Without a store there is nothing to be cut off from; and of rounds the way does not get longer.
    assert_eq!(told(2).iter().map(|fault| fault.1).collect::<Vec<_>>(), [45, 80, 140]);
    assert_eq!(told(3).iter().map(|fault| fault.1).collect::<Vec<_>>(), [20, 45, 80, 100, 120, 140]);
    let running = |replica: usize| -> Vec<(u128, u128)> {
        let seconds = |at: SimTime| at.since(report.start).nanos() / 1_000_000_000;
        fleet(&sheet.whole.lanes[0]).replicas[replica].running.iter().map(|(a, b)| (seconds(*a), seconds(*b))).collect()
    };
    let end = sheet.whole.until.since(report.start).nanos() / 1_000_000_000;
    assert_eq!((running(0), running(3), running(7)), (vec![(0, end)], vec![(0, 140)], vec![(80, end)]));
}

/// Random faults may be very many: what is told of them is not.
#[test]
fn many_faults_are_told_together() {
    let text = OUTAGE.split("[[fault]]").next().expect("a beginning").to_owned()
        + "[[fault]]\nrandom = { mean-between = \"10ms\", mean-length = \"10ms\", kind = \"partition\" }\n\
           [[fault]]\nrandom = { mean-between = \"20ms\", mean-length = \"5ms\", kind = \"store-down\" }\n";
    let (_, sheet) = look(&stated(&text), Options::default());
    let faults = &fleet(&sheet.whole.lanes[0]).faults;
    assert!((2..=200).contains(&faults.len()), "{}", faults.len());
    check("random faults", &draw(&stated(&text), Options::default()));
}

#[test]
fn sheets_of_deployments_can_be_read() {
    let many = OUTAGE.replace("replicas = 3", "replicas = 12");
    let client = "client = { retry = { exponential = { base = \"1s\" } }, max-attempts = 4, round-trip = \"10ms\" }\n";
    let closed = OUTAGE.replace("on-failure = \"open\" } }\n", &format!("on-failure = \"open\" }} }}\n{client}"));
    let unlimited = OUTAGE.replace("limit = \"30/1m\"\n", "").replace("= {}\n", "= { limit = \"9/1m\" }\n");
    let unlimited = unlimited.replace("token-bucket = { limit", "token-bucket = { rate");
    for (name, text) in [
        ("an outage", OUTAGE),
        ("trouble", TROUBLE),
        ("twelve replicas", &many),
        ("a closed loop", &closed),
        ("no limit", &unlimited),
    ] {
        let drawn = draw(&stated(text), Options::default());
        check(name, &drawn);
        assert!(drawn.len() < MOST_BYTES, "{name}: {} bytes", drawn.len());
    }
}

#[test]
fn threads_change_no_byte_of_a_deployments_sheet() {
    for text in [OUTAGE, TROUBLE] {
        let plan = stated(text);
        let one = draw(&plan, Options { threads: 1, ..Options::default() });
        for options in [Options { threads: 2, ..Options::default() }, Options { threads: 2, batch: 7, group_from: 0 }] {
            assert!(draw(&plan, options) == one, "{options:?}");
        }
    }
}

/// What stands beside each lane is what the report says of it.
#[test]
fn the_numbers_on_a_sheet_are_the_reports() {
    let (report, sheet) = look(&stated(OUTAGE), Options::default());
    let drawn = svg::sheet(&report, &sheet);
    let count = |text: &str| drawn.matches(&format!("\n{text}\n")).count();
    for (text, times) in [
        ("3.00x", 2),
        ("for 1m30s in all", 1),
        ("150 admitted", 1),
        ("60 without the store", 2),
        ("0.83 operations a request", 2),
        ("p99 20ms to decide", 2),
        // Above three lanes, and in the legend.
        ("store down", 4),
        ("r2", 4),
        ("r3", 0),
    ] {
        assert_eq!(count(text), times, "{text}");
    }
    let fleet = |lane: usize| report.lanes[lane].fleet.as_ref().expect("deployed");
    assert_eq!(fleet(0).over_limit_ns, Some(89_500 * MS as u64));
    let store = fleet(0).store.as_ref().expect("a store");
    assert_eq!((store.decided_without, store.operations), (60, 300));
    let right: u64 = report.lanes.iter().filter_map(|lane| lane.false_denials).filter(|n| *n == 0).count() as u64;
    assert_eq!(count("0 wrongly refused") as u64, right);
    assert!(drawn.contains("Faults: store down from 30s until 1m."), "the description tells of them");
}

/// Six lanes of eight replicas with as much in every column as can be.
#[test]
fn no_deployment_makes_a_sheet_large() {
    let lane = "[[lane]]\nfixed-window = {}\ndeployment = { central = { replicas = 8, round-trip = \"1ms\", \
                timeout = \"20ms\", on-failure = \"open\" } }\n";
    let text = format!(
        "limit = \"100/1m\"\nduration = \"10m\"\n[[traffic]]\npoisson = {{ rate = \"20/1s\" }}\n{}\
         [[fault]]\nstore-down = {{ from = \"2m\", until = \"3m\" }}\n",
        lane.repeat(6)
    );
    let (report, mut sheet) = look(&stated(&text), Options::default());
    let mut random = noise();
    for lane in sheet.whole.lanes.iter_mut().chain(&mut sheet.focus.lanes) {
        let replicas = lane.fleet.iter_mut().flat_map(|fleet| &mut fleet.replicas);
        for replica in replicas {
            for (counts, decided) in replica.counts.iter_mut().zip(&mut replica.decided) {
                *counts = any_counts(&mut random);
                decided.without = random(2);
            }
        }
        scramble(lane, &mut random);
    }
    let drawn = svg::sheet(&report, &sheet);
    check("noise", &drawn);
    assert!(drawn.len() < MOST_BYTES, "{} bytes", drawn.len());
}
