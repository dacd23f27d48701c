//! Deployments attain their proven worst cases, and never pass them.

use crate::simulate::plan;
use rlsim::report::{LaneReport, Report};
use rlsim::runner::{Extras, run};
use rlsim::sim::Options;
use std::io::Write;

/// Runs a scenario of this text.
pub fn report(text: &str) -> Report {
    let plan = plan(text);
    run(&plan, Options::default(), Extras::default(), &mut |_| true).unwrap_or_else(|e| panic!("{e}: {text}")).report
}

/// Its only lane.
pub fn only(text: &str) -> LaneReport {
    let report = report(text);
    assert_eq!(report.lanes.len(), 1);
    report.lanes.into_iter().next().expect("one")
}

/// Attempts in order of time: when in nanoseconds, at which of the replicas that go round, how many.
pub type Visits = Vec<(u64, u32, u64)>;

/// A trace of these visits to replicas that attempts meet one after the other: what costs nothing moves
/// the turn on and leaves no trace anywhere else.
pub struct Steered(tempfile::NamedTempFile);

impl Steered {
    pub fn new(visits: &[(u64, u32, u64)], replicas: u32) -> Self {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        let mut turn = 0;
        let mut text = String::from("time,cost\n");
        for (at, replica, count) in visits {
            for _ in 0..*count {
                while turn != *replica {
                    text += &format!("{at},0\n");
                    turn = (turn + 1) % replicas;
                }
                text += &format!("{at},1\n");
                turn = (turn + 1) % replicas;
            }
        }
        file.write_all(text.as_bytes()).expect("written");
        Self(file)
    }

    /// The traffic of a scenario.
    pub fn traffic(&self) -> String {
        format!(
            "[[traffic]]\ntrace = {{ file = {:?}, time = \"time\", time-format = \"ns\", cost = \"cost\" }}\n",
            self.0.path()
        )
    }
}

/// A lane whose replicas are visited in this way.
pub fn steered(visits: &[(u64, u32, u64)], replicas: u32, head: &str, lane: &str, tail: &str) -> LaneReport {
    let trace = Steered::new(visits, replicas);
    only(&format!("start = \"1970-01-01T00:00:00Z\"\n{head}\n{}[[lane]]\n{lane}\n{tail}\n", trace.traffic()))
}

const SECOND: u64 = 1_000_000_000;

/// Units that passed: what costs nothing always does.
fn units(lane: &LaneReport) -> u64 {
    lane.cost_admitted
}

/// The peak and its bound.
pub fn peak(lane: &LaneReport) -> (u64, Option<u128>) {
    let peak = lane.peak.as_ref().expect("a limit");
    (peak.units, peak.bound)
}

/// D1: N full buckets let N times as much through, when traffic is spread evenly.
#[test]
fn full_shares_multiply_the_limit() {
    for (replicas, limit) in [(2, 5), (3, 30), (8, 4)] {
        let burst = u64::from(replicas) * limit;
        let visits: Visits = [59, 60]
            .into_iter()
            .flat_map(|at| (0..burst).map(move |n| (at * SECOND, (n % u64::from(replicas)) as u32, 1)))
            .collect();
        let lane = steered(
            &visits,
            replicas,
            &format!("limit = \"{limit}/1m\""),
            &format!("fixed-window = {{}}\ndeployment = {{ local = {{ replicas = {replicas} }} }}"),
            "",
        );
        assert_eq!(peak(&lane), (2 * burst, Some(u128::from(2 * burst))));
        let own: Vec<_> = lane.fleet.expect("replicas").replicas.iter().map(|r| r.peak_units).collect();
        assert_eq!(own, vec![Some(2 * limit); replicas as usize]);
    }
}

/// D1: a sticky key meets one limiter, and a fresh one whenever it is routed anew.
#[test]
fn a_key_that_is_routed_anew_meets_a_fresh_limiter() {
    for moves in 0..4_u64 {
        let faults: String =
            (0..moves).map(|n| format!("[[fault]]\nreroute = {{ at = \"{}s\" }}\n", n * 10 + 15)).collect();
        let lane = only(&format!(
            "limit = \"5/1h\"\nstart = \"1970-01-01T00:00:00Z\"\n[[traffic]]\nidle-then-spike = {{ idle = \"10s\", requests = 4000, repeat = {} }}\nkeys = 400\n\
             [[lane]]\nfixed-window = {{}}\ndeployment = {{ local = {{ replicas = 20, routing = \"hash\" }} }}\n{faults}",
            moves + 1
        ));
        // Of 400 keys some meet another replica each time.
        assert_eq!(peak(&lane), (5 * (moves + 1), Some(u128::from(10 * (moves + 1)))));
    }
}

/// D2: of a legal client with shares p a split limit admits the sum of min(p, 1/N).
#[test]
fn split_shares_refuse_what_is_uneven() {
    for shares in [[30, 0, 0], [10, 10, 10], [21, 6, 3], [15, 15, 0]] {
        let visits: Visits = (0..3).map(|replica| (1, replica, shares[replica as usize])).collect();
        let lane = steered(
            &visits,
            3,
            "limit = \"30/1m\"",
            "sliding-log = {}\ndeployment = { local = { replicas = 3, share = \"split\" } }",
            "",
        );
        assert_eq!(units(&lane), shares.iter().map(|share| *share.min(&10)).sum::<u64>(), "{shares:?}");
        assert_eq!(lane.under_admitted, Some(30 - units(&lane)));
        assert_eq!(lane.over_admitted, Some(0));
    }
}

/// De Moivre: the mean absolute deviation of Bin(n, 1/parts).
fn mean_deviation(n: u64, parts: u64) -> f64 {
    let p = 1.0 / parts as f64;
    let (mean, mut chance, mut sum) = (n as f64 * p, (1.0 - p).powi(n as i32), 0.0);
    for k in 0..=n {
        sum += (k as f64 - mean).abs() * chance;
        chance *= (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
    }
    sum
}

/// D2: even a perfectly even random balancer loses N/2 MAD(Bin(L, 1/N)) / L of a legal client.
#[test]
fn random_routing_of_split_shares_loses_what_de_moivre_says() {
    for (replicas, limit, stated) in [(10_u64, 100_u64, 0.119), (10, 1000, 0.038), (50, 1000, 0.088)] {
        let windows = 400_000 / limit;
        let lane = only(&format!(
            "limit = \"{limit}/1s\"\nduration = \"{windows}s\"\n[[traffic]]\nsteady = {{ rate = \"{limit}/1s\" }}\n\
             [[lane]]\nfixed-window = {{}}\ndeployment = {{ local = {{ replicas = {replicas}, share = \"split\", routing = \"random\" }} }}\n"
        ));
        let lost = lane.denied as f64 / lane.attempts as f64;
        let expected = replicas as f64 / 2.0 * mean_deviation(limit, replicas) / limit as f64;
        assert!((expected - stated).abs() < 0.0006, "{expected}");
        // A window's loss varies by less than its mean.
        assert!((lost - expected).abs() < 4.0 * expected / (windows as f64).sqrt(), "{lost} {expected}");
    }
}

fn central(operation: &str, more: &str) -> String {
    format!("fixed-window = {{}}\ndeployment = {{ central = {{ replicas = 3, operation = \"{operation}\", {more} }} }}")
}

/// D3: scripts and counters admit the limit exactly, whatever the round trip.
#[test]
fn scripts_and_counters_admit_the_limit() {
    for operation in ["script", "incr"] {
        for way in [
            "\"0s\"",
            "\"80ms\"",
            "{ exponential = \"80ms\" }",
            "{ normal = { hop = \"80ms\", deviation = \"40ms\" } }",
        ] {
            let lane = only(&format!(
                "limit = \"50/1h\"\nduration = \"20s\"\n[[traffic]]\nsteady = {{ rate = \"100/1s\" }}\n[[lane]]\n{}\n",
                central(operation, &format!("round-trip = {way}"))
            ));
            assert_eq!(lane.allowed, 50, "{operation} {way}");
        }
    }
}

/// D3: who reads, decides and then counts lets the limit and all but one of those under way through.
#[test]
fn counting_late_lets_those_under_way_through() {
    for under_way in [1, 2, 7, 20_u64] {
        let lane = only(&format!(
            "limit = \"50/1h\"\nduration = \"100s\"\n[[traffic]]\nsteady = {{ rate = \"{under_way}/1s\" }}\n[[lane]]\n{}\n",
            central("get-incr", "round-trip = \"1s\"")
        ));
        assert_eq!(lane.allowed, 50 + under_way - 1, "{under_way}");
        let (units, bound) = peak(&lane);
        assert!(u128::from(units) <= bound.expect("proven"));
    }
}

/// T4: who writes back what it read moves the counter once a round trip, whatever the load.
#[test]
fn writing_back_multiplies_the_limit_by_those_under_way() {
    for (under_way, admitted) in [(1, 50), (2, 100), (5, 250), (20, 1000_u64)] {
        let lane = only(&format!(
            "limit = \"50/1h\"\nduration = \"100s\"\n[[traffic]]\nsteady = {{ rate = \"{under_way}/1s\" }}\n[[lane]]\n{}\n",
            central("get-set", "round-trip = \"1s\"")
        ));
        assert_eq!(lane.allowed, admitted, "{under_way}");
        // A window's edge may lie in any hour.
        assert_eq!(peak(&lane).1, Some(u128::from(2 * admitted)));
    }
}

/// D3: a stalled writer rewinds the counter: with two slots C(L + 2, 2) - 1, here 5 for a limit of 2.
#[test]
fn a_stalled_writer_rewinds_the_counter() {
    // Sent at 0 and at 16 with a round trip of 10 s: read 5 s, decided 10 s, written 15 s later.
    let slow = |from: u64| {
        format!("[[fault]]\nstore-slow = {{ from = \"{from}s\", until = \"{}s\", round-trip = \"10s\" }}\n", from + 1)
    };
    let text = format!(
        "limit = \"2/1h\"\n{}[[lane]]\n{}\n{}{}",
        [0, 6, 7, 16, 22]
            .map(|at| format!("[[traffic]]\nburst = {{ requests = 1, at = \"{at}s\" }}\ngroups = {{ k = \"all\" }}\n"))
            .concat(),
        central("get-set", "round-trip = \"2ms\"").replacen("fixed-window", "key = \"k\"\nfixed-window", 1),
        slow(0),
        slow(16)
    );
    let lane = only(&text);
    assert_eq!(lane.allowed, 5);
    // Releases lie up to ten seconds apart from their decisions, so an hour of them may meet three windows.
    assert_eq!(peak(&lane).1, Some(3 * (6 - 1)));
}

/// T5 and D5: what replicas do not know of each other.
#[test]
fn reconciliation_lets_through_what_is_not_known_yet() {
    for (replicas, limit, sync, rate) in [(3_u32, 5_u64, 3_u64, 1_u64), (2, 10, 2, 3), (4, 6, 5, 1), (3, 4, 2, 4)] {
        let unseen = limit.min(rate * sync);
        let mut visits: Visits = vec![(0, 0, limit - unseen)];
        // From the round on every replica gets what it can before the next.
        for tick in 0..sync {
            visits.extend((0..replicas).map(|replica| ((sync + tick) * SECOND, replica, rate)));
        }
        let lane = steered(
            &visits,
            replicas,
            &format!("limit = \"{limit}/1h\""),
            &format!(
                "fixed-window = {{}}\ndeployment = {{ hybrid = {{ replicas = {replicas}, sync = {{ every = \"{sync}s\" }} }} }}"
            ),
            "",
        );
        let worst = limit + (u64::from(replicas) - 1) * unseen;
        assert_eq!(units(&lane), worst, "{replicas} {limit} {sync} {rate}");
        if (replicas, limit, sync, rate) == (3, 5, 3, 1) {
            assert_eq!(worst, 11);
        }
        assert_eq!(peak(&lane).1, Some(u128::from(2 * worst)));
    }
}

/// D5: debt that is carried brings the long run back to the rate; debt that is forgotten does not.
#[test]
fn debt_decides_the_long_run() {
    let admitted = |debt: &str, seconds: u64| {
        let text = format!(
            "limit = \"10/1s\"\nduration = \"{seconds}s\"\n[[traffic]]\nburst = {{ requests = 400 }}\ngroups = {{ k = \"all\" }}\n\
             [[traffic]]\nsteady = {{ rate = \"80/1s\" }}\nfrom = \"25ms\"\ngroups = {{ k = \"all\" }}\n\
             [[lane]]\nkey = \"k\"\ntoken-bucket = {{ burst = 100 }}\n\
             deployment = {{ hybrid = {{ replicas = 4, sync = {{ every = \"5s\", debt = \"{debt}\" }} }} }}\n"
        );
        only(&text).allowed
    };
    // The first interval: N (b + r S), the last token at its end.
    assert_eq!(admitted("carry", 5), 4 * (100 + 49));
    // Afterwards r, and N r less the part of a token that each round forgets.
    let (short, long) = (admitted("carry", 400), admitted("carry", 1400));
    assert!((9_980..=10_020).contains(&(long - short)), "{short} {long}");
    let (short, long) = (admitted("clamp", 400), admitted("clamp", 1400));
    assert_eq!(long - short, 4 * 49 * 200);
}

/// D6: units that were fetched and not spent come on top of a burst.
#[test]
fn leases_bank_units() {
    for (replicas, batch, prefetch) in [(3_u32, 5_u64, false), (4, 10, false), (3, 5, true), (2, 7, true)] {
        let touch = if prefetch { batch } else { 1 };
        let mut visits: Visits = (0..replicas).map(|replica| (0, replica, touch)).collect();
        // By now the store's bucket is full again.
        visits.extend((0..replicas).map(|replica| (60 * SECOND, replica, 200)));
        let lane = steered(
            &visits,
            replicas,
            "limit = \"100/1s\"\nenvelope = [\"1ns\"]",
            &format!(
                "token-bucket = {{}}\ndeployment = {{ hybrid = {{ replicas = {replicas}, lease = {{ batch = {batch}, prefetch = {prefetch} }} }} }}"
            ),
            "",
        );
        let banked = u64::from(replicas) * if prefetch { batch } else { batch - 1 };
        let point = &lane.envelope[0];
        assert_eq!((point.units, point.bound), (banked + 100, Some(u128::from(banked + 100))));
    }
}

/// D6: what others have fetched is refused to the last one.
#[test]
fn leases_strand_units() {
    for (replicas, batch) in [(2_u32, 3_u64), (3, 5), (5, 4)] {
        let others = u64::from(replicas) - 1;
        let mut visits: Visits = (0..replicas - 1).map(|replica| (0, replica, 1)).collect();
        visits.push((1, replicas - 1, 60 - others));
        let lane = steered(
            &visits,
            replicas,
            "limit = \"60/1h\"",
            &format!(
                "fixed-window = {{}}\ndeployment = {{ hybrid = {{ replicas = {replicas}, lease = {{ batch = {batch} }} }} }}"
            ),
            "",
        );
        assert_eq!(lane.under_admitted, Some(others * (batch - 1)));
    }
}

/// T6: clocks that are two ticks apart make three windows meet.
#[test]
fn skewed_windows_let_three_limits_through() {
    // Clock readings of two replicas, one ahead: each takes what its window holds as soon as it can.
    for (skew, worst) in [(0_u64, 4), (1, 4), (2, 6), (3, 6)] {
        let mut visits: Visits = Vec::new();
        for tick in 0..20 {
            visits.extend([(tick, 0, 2), (tick, 1, 2)]);
        }
        let lane = steered(
            &visits,
            2,
            "limit = \"2/5ns\"",
            &format!(
                "fixed-window = {{}}\ndeployment = {{ central = {{ replicas = 2, skew = [\"0s\", \"{skew}ns\"] }} }}"
            ),
            "",
        );
        let (units, bound) = peak(&lane);
        // The recipe for the worst case: the slow one late in its window, both inside, the fast one early.
        assert!(units <= worst && u128::from(units) <= bound.expect("proven"), "{skew}: {units} {bound:?}");
    }
    // Slow: the last tick of its window; both: the next; fast: its clock shows the one after.
    for (skew, worst) in [(0_u64, 4), (1, 4), (2, 6)] {
        let visits: Visits = vec![(4, 0, 2), (5, 0, 2), (10 - skew, 1, 2)];
        let lane = steered(
            &visits,
            2,
            "limit = \"2/5ns\"",
            &format!(
                "fixed-window = {{}}\ndeployment = {{ central = {{ replicas = 2, skew = [\"0s\", \"{skew}ns\"] }} }}"
            ),
            "",
        );
        assert_eq!(peak(&lane).0, worst, "{skew}");
    }
}

/// A question from practice: two pods whose clocks differ, a window counter that both share.
#[test]
fn pods_with_clocks_of_their_own_see_two_windows() {
    // Replica 1 is right, replica 0 is five seconds behind it: clocks are told by how far they are ahead.
    let visits: Visits = vec![(56 * SECOND, 1, 10), (56 * SECOND, 0, 10)];
    let admitted = |clock: &str| {
        let lane = format!(
            "fixed-window = {{}}\ndeployment = {{ central = {{ replicas = 2, skew = [\"0s\", \"5s\"], clock = \"{clock}\" }} }}"
        );
        units(&steered(&visits, 2, "limit = \"10/1m\"", &lane, ""))
    };
    assert_eq!(admitted("replica"), 20);
    assert_eq!(admitted("store"), 10);
}

/// D10: a failover forgives what was written last.
#[test]
fn a_failover_forgives_the_last_writes() {
    for (limit, rate, loses, failovers) in [(20_u64, 1_u64, 5_u64, 1_u64), (20, 3, 5, 2), (10, 1, 3, 3)] {
        let faults: String = (1..=failovers)
            .map(|n| format!("[[fault]]\nfailover = {{ at = \"{}s\", loses = \"{loses}s\" }}\n", n * 40))
            .collect();
        // The last writes before each failover use up the limit.
        let forgiven = limit.min(rate * loses);
        let mut bursts = vec![(0, limit - forgiven)];
        for n in 1..=failovers {
            bursts.extend((1..=loses).map(|s| (n * 40 - s, rate)));
        }
        bursts.push((failovers * 40, limit));
        let traffic: String = bursts
            .iter()
            .filter(|(_, requests)| *requests > 0)
            .map(|(at, requests)| {
                format!(
                    "[[traffic]]\nburst = {{ requests = {requests}, at = \"{at}s\" }}\ngroups = {{ k = \"all\" }}\n"
                )
            })
            .collect();
        let lane = only(&format!(
            "limit = \"{limit}/1h\"\n{traffic}[[lane]]\nkey = \"k\"\nfixed-window = {{}}\ndeployment = {{ central = {{ on-failure = \"closed\" }} }}\n{faults}"
        ));
        assert_eq!(lane.allowed, limit + failovers * forgiven, "{limit} {rate} {loses} {failovers}");
        let (units, bound) = peak(&lane);
        assert!(u128::from(units) <= bound.expect("proven"));
    }
}

/// A question from practice: a store is down for 30 of 90 seconds.
#[test]
fn open_closed_and_local_in_numbers() {
    let admitted = |on_failure: &str| {
        only(&format!(
            "limit = \"3/10s\"\nduration = \"90s\"\n[[traffic]]\nsteady = {{ rate = \"1/1s\" }}\n[[lane]]\nfixed-window = {{}}\n\
             deployment = {{ central = {{ on-failure = \"{on_failure}\" }} }}\n[[fault]]\nstore-down = {{ from = \"30s\", until = \"60s\" }}\n"
        ))
    };
    for (on_failure, allowed) in [("open", 48), ("closed", 18), ("local", 27)] {
        let lane = admitted(on_failure);
        assert_eq!(lane.allowed, allowed, "{on_failure}");
        let fleet = lane.fleet.expect("a store");
        let store = fleet.store.expect("a store");
        assert_eq!((store.decided_without, store.unavailable_ns, store.operations), (30, 30 * SECOND, 60));
    }
}

/// D4: a bucket that fails open admits its bound and all that comes in the outage.
#[test]
fn failing_open_admits_the_outage() {
    for rate in [8_u64, 15, 50] {
        let lane = only(&format!(
            "limit = \"10/1s\"\nenvelope = [\"60s\"]\nduration = \"60s\"\n[[traffic]]\nsteady = {{ rate = \"{rate}/1s\" }}\n[[lane]]\ntoken-bucket = {{ burst = 10 }}\n\
             deployment = {{ central = {{ on-failure = \"open\" }} }}\n[[fault]]\nstore-down = {{ from = \"20s\", until = \"40s\" }}\n"
        ));
        let point = &lane.envelope[0];
        assert!(u128::from(point.units) <= point.bound.expect("proven"), "{rate}");
        // In the outage everything; the bucket stays as it was and fills meanwhile.
        let fleet = lane.fleet.expect("a store");
        assert_eq!(fleet.store.expect("a store").decided_without, rate * 20);
        // 20 s of the rate before, full again after: 10 + 200, 20 s open, 10 + 200.
        let limited = if rate > 10 { 2 * (10 + 199) } else { 2 * rate * 20 };
        assert!(point.units.abs_diff(limited + rate * 20) <= 2, "{rate}: {}", point.units);
    }
}

/// Questions from practice: a margin over pods, and a restart that hands out a fresh bucket.
#[test]
fn margins_and_restarts() {
    for (visits, passes) in [(vec![(0, 0, 250), (0, 1, 250), (0, 2, 250), (0, 3, 250)], 948), (vec![(0, 2, 1000)], 237)]
    {
        let lane = steered(
            &visits,
            4,
            "limit = \"1000/1s\"",
            "fixed-window = { limit = \"950/1s\" }\ndeployment = { local = { replicas = 4, share = \"split\" } }",
            "",
        );
        assert_eq!(units(&lane), passes);
    }
    let restarts =
        "[[fault]]\nrestart = { replica = 0, at = \"20s\" }\n[[fault]]\nrestart = { replica = 0, at = \"40s\" }\n";
    for (faults, passes) in [("", 5), (restarts, 9)] {
        let lane = only(&format!(
            "limit = \"3/60s\"\nduration = \"60s\"\n[[traffic]]\nsteady = {{ rate = \"1/1s\" }}\n[[lane]]\ntoken-bucket = {{ burst = 3 }}\n\
             deployment = {{ local = {{ replicas = 1 }} }}\n{faults}"
        ));
        assert_eq!(lane.allowed, passes);
    }
}

/// D9: with a clock far ahead of the tolerance a fast replica that is busy starves the slow one.
#[test]
fn a_fast_clock_starves_a_slow_one() {
    let mut visits: Visits = Vec::new();
    for tick in 0..2000 {
        // The fast one takes all that it can, then the slow one asks.
        visits.extend([(tick, 1, 6), (tick, 0, 1)]);
    }
    let lane = steered(
        &visits,
        2,
        "limit = \"5/5ns\"",
        "gcra = { rate = \"1/1ns\", burst = 5 }\ndeployment = { central = { replicas = 2, skew = [\"0s\", \"5ns\"] } }",
        "",
    );
    // Of what each met, all but these cost nothing.
    let replicas = lane.fleet.as_ref().map(|fleet| fleet.replicas.clone()).expect("replicas");
    let steering = |n: usize, asked: u64| replicas[n].admitted + replicas[n].denied - asked;
    assert_eq!(replicas[0].admitted - steering(0, 2000), 0, "slow");
    // A burst of five, and one each further tick.
    assert_eq!(replicas[1].admitted - steering(1, 12_000), 2004, "fast");
}

/// A script with no round trip is the limiter itself.
#[test]
fn a_store_without_a_round_trip_is_the_limiter_itself() {
    for algorithm in rlsim::limiter::LimiterSpec::NAMES {
        let report = report(&format!(
            "limit = \"7/1s\"\nduration = \"60s\"\n[[traffic]]\npoisson = {{ rate = \"20/1s\" }}\nkeys = 3\ncost = 2\n\
             [[lane]]\n{algorithm} = {{}}\n[[lane]]\n{algorithm} = {{}}\ndeployment = {{ central = {{ replicas = 5, routing = \"random\" }} }}\n"
        ));
        assert_eq!(report.lanes[0].fingerprint, report.lanes[1].fingerprint, "{algorithm}");
        assert_eq!(report.lanes[1].same_as.as_deref(), Some(report.lanes[0].name.as_str()));
        assert_eq!(report.lanes[0].peak.as_ref().map(|p| p.units), report.lanes[1].peak.as_ref().map(|p| p.units));
    }
}
