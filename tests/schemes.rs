//! Replicas that divide a limit by demand: leases that never pass it, what newcomers wait for, what those
//! who are gone strand, and what a cold start lets through.

use crate::limiters::{at, limiter_and_attempts};
use crate::simulate::{S, plan, report, try_plan};
use proptest::prelude::*;
use rlsim::limiter::{
    Compare, Decision, KeyId, LeakyBucketSpec, LeakyMode, LimiterSpec, Part, SlidingLogSpec, Workload,
};
use rlsim::scenario::Plan;
use rlsim::sim::{Decider, Ending, Lane, Options, Stream, Told, Witness, World, WorldPlan, feedback};
use rlsim::time::{SimDuration, SimTime};
use rlsim::traffic::Traffic;

/// What a lane's replicas hold and decide, instant by instant.
#[derive(Default)]
struct Kept {
    /// When, which, and its part from then on.
    parts: Vec<(i64, u32, Option<Part>)>,
    told: Vec<(i64, Told)>,
}

impl Witness for Kept {
    fn sent(&mut self, _at: SimTime, _client: KeyId, _made: u32) {}
    fn served(&mut self, _at: SimTime) {}
    fn ended(&mut self, _at: SimTime, _first: SimTime, _client: KeyId, _ending: Ending) {}
    fn told(&mut self, told: &Told) {
        self.told.push((told.at.nanos(), *told));
    }
    fn holds(&mut self, at: SimTime, replica: u32, part: Option<Part>) {
        self.parts.push((at.nanos(), replica, part));
    }
}

impl Kept {
    /// Units that replicas admitted from one instant to before another.
    fn admitted(&self, of: impl Fn(&Told) -> bool, from: i64, until: i64) -> u64 {
        let within = self.told.iter().filter(|(at, told)| (from..until).contains(at) && told.decision.admits());
        within.filter(|(_, told)| of(told)).map(|(_, told)| told.cost).sum()
    }

    /// What a replica holds at an instant.
    fn part(&self, replica: u32, at: i64) -> Option<Part> {
        let mut own = self.parts.iter().filter(|(when, which, _)| *when <= at && *which == replica);
        own.next_back().and_then(|(.., part)| *part)
    }
}

/// Runs the first lane of a plan for this witness.
fn watch(plan: &Plan) -> Kept {
    let mut kept = Kept::default();
    let mut traffic = Traffic::open(&plan.traffic).expect("synthetic");
    let origin = traffic.start();
    let world = WorldPlan {
        seed: plan.traffic.seed,
        origin,
        end: plan.traffic.duration.and_then(|duration| origin.checked_add(duration)),
        max_events: plan.max_events,
        populations: plan.populations(),
        faults: plan.faults.clone(),
        workload: plan.workload(),
    };
    let spec = plan.lanes[0].clone();
    let stream = Stream::new(plan.traffic.columns.len(), spec.column, None, Vec::new());
    let mut worlds = [World::new(world, Lane::new(spec, &plan.workload()), stream, &mut kept)];
    feedback(&mut traffic, &mut worlds, &mut [], Options::default(), &mut |_| true).expect("in range");
    drop(worlds);
    kept
}

/// A lane of so many replicas with this scheme, offered a steady rate from a second on.
fn steady(limit: &str, rate: u64, from: &str, duration: &str, algorithm: &str, hybrid: &str) -> String {
    format!(
        "limit = \"{limit}\"\nduration = \"{duration}\"\n[[traffic]]\nfrom = \"{from}\"\nsteady = {{ rate = \
         \"{rate}/1s\" }}\n[[lane]]\n{algorithm}\ndeployment = {{ hybrid = {{ {hybrid} }} }}\n"
    )
}

fn part(numerator: u128, denominator: u128) -> Option<Part> {
    Some(Part::of(numerator, denominator))
}

/// N idle replicas are asked at once: each knows of its own demand for an interval before it hears of the
/// others, and takes the whole limit.
#[test]
fn a_cold_step_lets_every_other_replica_take_the_limit_once_more() {
    for replicas in [2_u64, 5, 10] {
        let hybrid = format!("replicas = {replicas}, proportional = {{ every = \"1s\", weight = 1 }}");
        let text = steady("100/1s", 100 * replicas, "3s", "13s", "fixed-window = {}", &hybrid);
        let report = report(&text);
        // Ten intervals, all of which use up the limit.
        assert_eq!(report.lanes[0].cost_admitted - 10 * 100, (replicas - 1) * 100, "{replicas} replicas");
        let kept = watch(&plan(&text));
        for second in 3..13 {
            let expected = if second == 4 { 100 * replicas } else { 100 };
            assert_eq!(kept.admitted(|_| true, second * S, (second + 1) * S), expected);
        }
    }
}

/// The same with an average over the past: a replica's own estimate runs ahead of what it heard.
#[test]
fn a_long_average_lengthens_the_overshoot() {
    // e(k) = 1 - 0.9^k of what is offered, as whole numbers over 10^k.
    let estimate = |k: u32| 10_u128.pow(k) - 9_u128.pow(k);
    let hybrid = "replicas = 10, proportional = { every = \"1s\", weight = 0.1 }";
    let kept = watch(&plan(&steady("200/1s", 2_000, "3s", "38s", "fixed-window = {}", hybrid)));
    for k in 1..35_u32 {
        let (own, others) = (estimate(k), 9 * 10 * estimate(k - 1));
        let from = (3 + i64::from(k)) * S;
        let each = u64::try_from(200 * own / (own + others)).expect("at most the limit");
        assert_eq!(kept.admitted(|_| true, from, from + S), 10 * each, "interval {k}");
    }
    // Without whole units: the sum over all intervals, in units of rate x interval.
    let exact = |replicas: f64, weight: f64| -> f64 {
        let e: Vec<f64> = (0..400).map(|k| 1.0 - (1.0 - weight).powi(k)).collect();
        e.windows(2).map(|e| replicas * e[1] / (e[1] + (replicas - 1.0) * e[0]) - 1.0).sum()
    };
    assert!((exact(10.0, 0.1) - 11.3).abs() < 0.05 && (exact(10.0, 1.0) - 9.0).abs() < 1e-9);
    let bucket = "token-bucket = { burst = 100, initial = \"empty\" }";
    let report = report(&steady("200/1s", 2_000, "3s", "63s", bucket, hybrid));
    let extra = (report.lanes[0].cost_admitted as f64 - 60.0 * 200.0) / 200.0;
    // Each of ten buckets keeps less than a unit, and the intervals after the sixtieth are missing.
    assert!((extra - exact(10.0, 0.1)).abs() < 0.06, "{extra}");
}

#[test]
fn a_steady_limit_is_divided_whole() {
    for weight in ["1", "0.1"] {
        let hybrid = format!("replicas = 4, proportional = {{ every = \"500ms\", weight = {weight} }}");
        let kept = watch(&plan(&steady("100/1s", 400, "0s", "100s", "gcra = {}", &hybrid)));
        for replica in 0..4 {
            assert_eq!(kept.part(replica, 100 * S), part(1, 4), "weight {weight}");
        }
    }
}

#[test]
fn seven_to_three_is_what_each_gets() {
    let hybrid = "replicas = 2, routing = { weights = [7, 3] }, proportional = { every = \"1s\" }";
    let kept = watch(&plan(&steady("400/1s", 1_000, "0s", "60s", "token-bucket = { burst = 40 }", hybrid)));
    // A part is estimated from some 19 intervals of 1000 attempts; four standard errors.
    let (numerator, denominator) = kept.part(0, 60 * S).expect("a part").fraction();
    assert!((numerator as f64 / denominator as f64 - 0.7).abs() < 4.0 * (0.21_f64 / 19_000.0).sqrt());
    let of = |replica: u32| kept.admitted(|told| told.replica == replica, 20 * S, 60 * S) as f64;
    let share = of(0) / (of(0) + of(1));
    assert!((share - 0.7).abs() < 4.0 * (0.21_f64 / 19_000.0).sqrt(), "{share}");
    assert!((of(0) + of(1) - 16_000.0).abs() <= 200.0);
}

/// Each replica is told of one other in a round: it takes three rounds until it has heard of all three.
#[test]
fn with_a_small_fanout_the_overshoot_lasts_longer() {
    let extra = |fanout: u32| {
        let hybrid = format!("replicas = 4, proportional = {{ every = \"1s\", weight = 1, fanout = {fanout} }}");
        report(&steady("120/1s", 480, "3s", "13s", "fixed-window = {}", &hybrid)).lanes[0].cost_admitted - 10 * 120
    };
    // Each knows of 1, 2, 3, then 4 replicas with demand: 4 L / known - L.
    assert_eq!((extra(3), extra(1)), (3 * 120, (3 + 1) * 120 + 40));
}

/// Everything passes until demand is known; then chance refuses the rest.
#[test]
fn random_drop_admits_about_the_limit() {
    let text =
        steady("1000/1s", 2_000, "0s", "60s", "gcra = {}", "replicas = 2, drop = { every = \"1s\", weight = 1 }");
    let kept = watch(&plan(&text));
    // Nothing is known in the first interval, and in the second each knows half of the demand, which is
    // just the limit.
    assert_eq!(kept.admitted(|_| true, 0, 2 * S), 4_000);
    let admitted = kept.admitted(|_| true, 2 * S, 60 * S) as f64;
    let deviation = (116_000.0_f64 * 0.25).sqrt();
    assert!((admitted - 58_000.0).abs() < 4.0 * deviation, "{admitted}");
}

#[test]
fn a_newcomer_waits_for_one_round() {
    let hybrid = "replicas = 2, quota = { every = \"2s\", lease = \"10s\" }";
    let text = steady("100/1s", 300, "0s", "12s", "token-bucket = { burst = 10 }", hybrid)
        + "[[fault]]\nscale = { replicas = 3, at = \"5s\" }\n";
    let kept = watch(&plan(&text));
    let of = |from: i64, until: i64| kept.admitted(|told| told.replica == 2, from * S, until * S);
    assert_eq!((kept.part(2, 5 * S), of(5, 6)), (None, 0));
    // It was offered 100 of 100, 100 and 100 + 50 of the others: a third to begin with, and no more wanted.
    assert!(of(6, 8) > 0 && kept.part(2, 6 * S).is_some());
    assert_eq!((0..3).map(|replica| kept.part(replica, 8 * S)).collect::<Vec<_>>(), [part(1, 3); 3]);
}

#[test]
fn what_a_stopped_replica_holds_is_stranded_until_its_lease_ends() {
    let hybrid = "replicas = 2, quota = { every = \"1s\", lease = \"10s\" }";
    let text = steady("100/1s", 400, "0s", "20s", "fixed-window = {}", hybrid)
        + "[[fault]]\nstop = { replica = 1, at = \"3s500ms\" }\n";
    let kept = watch(&plan(&text));
    // The last grant was at 3 s.
    for second in 4..13 {
        assert_eq!(kept.part(0, second * S), part(1, 2), "at {second} s");
        assert_eq!(kept.admitted(|_| true, second * S, (second + 1) * S), 50);
    }
    assert_eq!((kept.part(1, 12 * S), kept.part(1, 13 * S)), (part(1, 2), None));
    assert_eq!((kept.part(0, 13 * S), kept.admitted(|_| true, 13 * S, 14 * S)), (part(1, 1), 100));
}

/// A replica that does not reach the store keeps its part until the lease ends, and then has nothing.
#[test]
fn a_lease_outlives_the_way_to_the_store() {
    let hybrid = "replicas = 2, quota = { every = \"1s\", lease = \"3s\" }";
    let text = steady("100/1s", 400, "0s", "14s", "fixed-window = {}", hybrid)
        + "[[fault]]\npartition = { replicas = [1], from = \"4s500ms\", until = \"10s500ms\" }\n";
    let kept = watch(&plan(&text));
    let of = |second: i64| kept.admitted(|told| told.replica == 1, second * S, (second + 1) * S);
    assert_eq!((4..12).map(of).collect::<Vec<_>>(), [50, 50, 50, 0, 0, 0, 0, 50]);
    // Meanwhile the other one has what is there.
    assert_eq!((kept.part(0, 6 * S), kept.part(0, 7 * S)), (part(1, 2), part(1, 1)));
    assert_eq!(kept.part(0, 11 * S), part(1, 2));
}

/// Without an assignment all pass: N x rate x (report + round trip), and not one more.
#[test]
fn before_its_first_assignment_a_replica_lets_all_through() {
    let hybrid = "replicas = 3, round-trip = \"100ms\", assignment = { report = \"2s\", no-assignment = \"WHAT\" }";
    let text =
        |what: &str| steady("100/1s", 600, "0s", "10s", "token-bucket = { burst = 3 }", &hybrid.replace("WHAT", what));
    let kept = watch(&plan(&text("allow")));
    let unassigned = |kept: &Kept| kept.admitted(|told| told.decider == Decider::Rule, 0, 10 * S);
    assert_eq!((unassigned(&kept), kept.admitted(|_| true, 0, 2 * S + S / 10)), (3 * 200 * 21 / 10, 3 * 200 * 21 / 10));
    let kept = watch(&plan(&text("deny")));
    assert_eq!((unassigned(&kept), kept.admitted(|_| true, 0, 2 * S + S / 10)), (0, 0));
    assert_eq!(kept.part(2, 3 * S), part(1, 3));
}

#[test]
fn an_assignment_that_expired_is_kept_or_dropped() {
    let kept = |expired: &str| {
        let hybrid = format!(
            "replicas = 2, assignment = {{ report = \"1s\", lease = \"2s\", no-assignment = \"deny\", expired = \
             \"{expired}\" }}"
        );
        let text = steady("100/1s", 400, "0s", "10s", "fixed-window = {}", &hybrid)
            + "[[fault]]\nstore-down = { from = \"3s500ms\", until = \"8s500ms\" }\n";
        let kept = watch(&plan(&text));
        (0..10).map(|second| kept.admitted(|_| true, second * S, (second + 1) * S)).collect::<Vec<_>>()
    };
    assert_eq!(kept("reuse"), [0, 100, 100, 100, 100, 100, 100, 100, 100, 100]);
    // The last came at 3 s and holds for two.
    assert_eq!(kept("drop"), [0, 100, 100, 100, 100, 0, 0, 0, 0, 100]);
}

const ALGORITHMS: [&str; 8] = [
    "fixed-window = {}",
    "sliding-log = {}",
    "sliding-counter = {}",
    "token-bucket = {}",
    "token-bucket = { refill = \"interval\" }",
    "leaky-bucket = {}",
    "leaky-bucket = { mode = \"meter\" }",
    "gcra = {}",
];

const SCHEMES: [&str; 5] = [
    "quota = { every = \"700ms\", lease = \"2s\" }",
    "drop = { every = \"700ms\", weight = 0.5 }",
    "proportional = { every = \"300ms\", weight = 0.5 }",
    "proportional = { every = \"300ms\", fanout = 1 }",
    "assignment = { report = \"700ms\", no-assignment = \"deny\" }",
];

/// A part changes every round and a limiter with it: what it knew goes over, so that the long run is right.
#[test]
fn every_algorithm_keeps_the_limit_under_every_scheme() {
    for algorithm in ALGORITHMS {
        for scheme in SCHEMES {
            let hybrid = format!("replicas = 3, routing = {{ weights = [5, 3, 2] }}, {scheme}");
            let report = report(&steady("100/1s", 300, "0s", "40s", algorithm, &hybrid));
            let admitted = report.lanes[0].cost_admitted;
            assert!((3_400..=4_700).contains(&admitted), "{algorithm}, {scheme}: {admitted}");
        }
    }
}

/// A part in units of 2^-62, rounded down.
fn bits(part: Part) -> u128 {
    let (numerator, denominator) = part.fraction();
    (u128::from(numerator) << 62) / u128::from(denominator)
}

fn faults() -> impl Strategy<Value = String> {
    let span = |(from, long): (u32, u32)| (from * 100, (from + long) * 100);
    let fault = prop_oneof![
        (1..90_u32, 1..40_u32).prop_map(move |at| {
            let (from, until) = span(at);
            format!("store-down = {{ from = \"{from}ms\", until = \"{until}ms\" }}")
        }),
        (1..90_u32, 1..40_u32, 0..3_u32).prop_map(move |(from, long, replica)| {
            let (from, until) = span((from, long));
            format!("partition = {{ replicas = [{replica}], from = \"{from}ms\", until = \"{until}ms\" }}")
        }),
        (1..90_u32, 0..3_u32)
            .prop_map(|(at, replica)| format!("restart = {{ replica = {replica}, at = \"{at}00ms\" }}")),
        (1..90_u32, 1..6_u32)
            .prop_map(|(at, replicas)| format!("scale = {{ replicas = {replicas}, at = \"{at}00ms\" }}")),
    ];
    // Of each kind one at most: two that contradict each other are refused.
    prop::collection::vec(fault, 0..3).prop_map(|faults| {
        let mut kinds = std::collections::BTreeSet::new();
        let fresh = faults.into_iter().filter(|fault| kinds.insert(fault.split(' ').next().map(str::to_owned)));
        fresh.map(|fault| format!("[[fault]]\n{fault}\n")).collect()
    })
}

/// A lane in a random world.
fn world() -> impl Strategy<Value = String> {
    let routing = prop_oneof![Just("\"round-robin\""), Just("\"hash\""), Just("{ weights = [7, 2, 1] }")];
    let scheme = prop_oneof![
        3 => (1..20_u32, 0..40_u32).prop_map(|(every, more)| {
            format!("quota = {{ every = \"{every}00ms\", lease = \"{}00ms\" }}", every + more)
        }),
        1 => (1..20_u32, 1..=10_u32, 1..3_u32).prop_map(|(every, weight, fanout)| {
            format!("proportional = {{ every = \"{every}00ms\", weight = {}, fanout = {fanout} }}", f64::from(weight) / 10.0)
        }),
        1 => (1..20_u32, 0..40_u32, any::<(bool, bool)>()).prop_map(|(every, more, (allow, reuse))| {
            format!(
                "round-trip = \"70ms\", assignment = {{ report = \"{every}00ms\", lease = \"{}00ms\", no-assignment = \
                 \"{}\", expired = \"{}\" }}",
                every + more,
                if allow { "allow" } else { "deny" },
                if reuse { "reuse" } else { "drop" }
            )
        }),
    ];
    let limit = prop_oneof![Just("20/1s"), Just("7/1s"), Just("50/3s"), Just("5/100ms")];
    let traffic = prop_oneof![
        (1..200_u32).prop_map(|rate| format!("poisson = {{ rate = \"{rate}/1s\" }}")),
        (1..200_u32).prop_map(|rate| format!("on-off = {{ rate = \"{rate}/1s\", on = \"700ms\", off = \"1s300ms\" }}")),
        (1..40_u32).prop_map(|n| format!("idle-then-spike = {{ idle = \"900ms\", requests = {n}, repeat = 9 }}")),
    ];
    (
        (routing, scheme, limit, prop::sample::select(&ALGORITHMS[..]), faults()),
        (prop::collection::vec((traffic, 1..3_u32), 1..3), any::<bool>(), any::<u32>()),
    )
        .prop_map(|((routing, scheme, limit, algorithm, faults), (traffic, skewed, seed))| {
            let skew = if skewed { "skew = [\"0s\", \"130ms\", \"1s\"], " } else { "" };
            let traffic: String = traffic
                .into_iter()
                .map(|(pattern, cost)| format!("[[traffic]]\n{pattern}\ncost = {cost}\nkeys = 2\n"))
                .collect();
            format!(
                "limit = \"{limit}\"\nduration = \"10s\"\nseed = {seed}\nenvelope = [\"1ns\", \"50ms\", \"1s\", \
                 \"4s\"]\n{traffic}[[lane]]\n{algorithm}\ndeployment = {{ hybrid = {{ replicas = 3, routing = \
                 {routing}, {skew}{scheme} }} }}\n{faults}"
            )
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// At every instant, also in the middle of a round.
    #[test]
    fn leases_never_pass_the_limit(text in world().prop_filter("leases", |text| text.contains("quota"))) {
        // Faults that contradict each other are refused.
        prop_assume!(try_plan(&text).is_ok());
        let plan = plan(&text);
        let kept = watch(&plan);
        let mut held = std::collections::BTreeMap::new();
        for (at, replica, part) in kept.parts {
            held.insert(replica, part.map_or(0, bits));
            prop_assert!(held.values().sum::<u128>() <= 1 << 62, "at {at}: {held:?}\n{text}");
        }
    }

    #[test]
    fn no_run_passes_what_is_proven(text in world()) {
        prop_assume!(try_plan(&text).is_ok());
        let report = report(&text);
        for point in &report.lanes[0].envelope {
            if let Some(bound) = point.bound {
                prop_assert!(u128::from(point.units) <= bound, "{point:?}\n{text}");
            }
        }
    }
}

/// A deployment's workload: more may be charged than there is.
const APART: Workload = Workload { debt: true, ..Workload::UNKNOWN };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_limiter_that_takes_over_from_its_like_decides_alike((spec, attempts) in limiter_and_attempts()) {
        let (mut plain, mut changed) = (spec.build(&APART), spec.build(&APART));
        for attempt in attempts {
            let (when, key) = (at(attempt.at), KeyId(0));
            let before = std::mem::replace(&mut changed, spec.build(&APART));
            changed.take_over(before, when);
            prop_assert_eq!(changed.level(key, when), plain.level(key, when), "{:?}", &spec);
            prop_assert_eq!(changed.decide(key, when, attempt.cost), plain.decide(key, when, attempt.cost));
        }
    }

    /// Of what there was: what is left of a bucket, what was used of a window.
    #[test]
    fn what_a_limiter_knew_goes_over(
        (spec, attempts) in limiter_and_attempts(), parts in prop::collection::vec((0..=12_u128, 1..=12_u128), 80)
    ) {
        let mut limiter = spec.build(&APART);
        for (attempt, (a, b)) in attempts.into_iter().zip(parts) {
            let (when, key) = (at(attempt.at), KeyId(0));
            limiter.decide(key, when, attempt.cost);
            let before = limiter.level(key, when);
            let mut part = spec.scaled(Part::of(a, b)).build(&APART);
            part.take_over(limiter, when);
            let after = part.level(key, when);
            match spec {
                LimiterSpec::FixedWindow(_) | LimiterSpec::SlidingLog(_) | LimiterSpec::SlidingCounter(_) => {
                    prop_assert_eq!(before.used, after.used, "{:?}", &spec);
                }
                // What waits keeps its instant.
                LimiterSpec::LeakyBucket(LeakyBucketSpec { mode: LeakyMode::Queue, .. }) => {
                    prop_assert!(after.full.nanos().abs_diff(before.full.nanos()) <= 1, "{spec:?}");
                }
                LimiterSpec::LeakyBucket(LeakyBucketSpec { compare: Compare::Before, .. }) => {}
                _ => {
                    let expected = before.remaining.min(after.limit);
                    // Less than a unit may be rounded away.
                    prop_assert!((expected.saturating_sub(1)..=expected).contains(&after.remaining), "{spec:?}");
                }
            }
            limiter = part;
        }
    }

    /// Whatever part it has and when, it admits no more than with all of the limit.
    #[test]
    fn parts_that_change_admit_no_more_than_the_whole(
        (spec, attempts) in limiter_and_attempts(), parts in prop::collection::vec((0..=12_u128, 1..=12_u128), 80)
    ) {
        // It forgets what is more than its part, and nothing is proven of it.
        prop_assume!(!matches!(spec, LimiterSpec::SlidingLog(SlidingLogSpec { count_denied: true, .. })));
        let mut limiter = spec.scaled(Part::of(1, 2)).build(&APART);
        let mut released: Vec<(i64, u64)> = Vec::new();
        let largest = attempts.iter().map(|attempt| attempt.cost).max().unwrap_or(0);
        for (attempt, (a, b)) in attempts.into_iter().zip(parts) {
            let when = at(attempt.at);
            let before = std::mem::replace(&mut limiter, spec.scaled(Part::of(a, b)).build(&APART));
            limiter.take_over(before, when);
            match limiter.decide(KeyId(0), when, attempt.cost) {
                Decision::Deny => {}
                Decision::Allow => released.push((attempt.at, attempt.cost)),
                Decision::Delay(wait) => released.push((attempt.at + wait.short_nanos() as i64, attempt.cost)),
            }
        }
        released.sort_unstable();
        for span in [1, 2, 5, 10, 20, 50, 100, 200, 500] {
            let Some(bound) = spec.bound(SimDuration::from_nanos(span), largest) else { continue };
            for (from, _) in &released {
                let within = released.iter().filter(|(when, _)| (*from..*from + span as i64).contains(when));
                let units: u64 = within.map(|(_, units)| units).sum();
                prop_assert!(u128::from(units) <= bound, "{units} in {span} ns, at most {bound}: {spec:?}");
            }
        }
    }
}

/// Without a skew the six algorithms have a bound under leases that is below that of replicas apart.
#[test]
fn leases_prove_more_than_replicas_apart() {
    let peak = |algorithm: &str, hybrid: &str| {
        let text = steady("100/1s", 400, "0s", "20s", algorithm, hybrid);
        report(&text).lanes[0].peak.as_ref().and_then(|peak| peak.bound)
    };
    let quota = "replicas = 10, quota = { every = \"5s\", lease = \"10s\" }";
    let proportional = "replicas = 10, proportional = { every = \"5s\" }";
    // Nine bursts beyond the one bucket's; two divisions in a window and one at its edge.
    assert_eq!(peak("token-bucket = { burst = 10 }", quota), Some(10 + 100 - 1 + 9 * 10));
    assert_eq!(peak("sliding-log = {}", quota), Some(200));
    assert_eq!(peak("sliding-log = {}", proportional), Some(1_000));
    assert_eq!(peak("sliding-log = {}", "replicas = 10, drop = { every = \"5s\" }"), None);
}

/// A store that has forgotten whom it lent what confirms what replicas hold, and lends a newcomer nothing,
/// for as long as a lease lasts.
#[test]
fn a_store_that_forgot_its_leases_learns_them_first() {
    let world = |flush: &str| {
        let hybrid = "replicas = 2, quota = { every = \"1s\", lease = \"5s\" }";
        let text = steady("100/1s", 200, "0s", "30s", "token-bucket = {}", hybrid);
        watch(&plan(&format!(
            "{text}[[fault]]\nstop = {{ replica = 1, at = \"3s\" }}\n[[fault]]\nstart = {{ replica = 1, at = \"10500ms\" }}\n{flush}"
        )))
    };
    // Known by the store, it gets its part when it first reports; its old lease has ended by then.
    let known = world("");
    assert!(known.part(1, 11 * S).is_some_and(|part| part != Part::NONE));
    let forgotten = world("[[fault]]\nflush = { at = \"10s\" }\n");
    for second in 11..15 {
        assert_eq!(forgotten.part(1, second * S), Some(Part::NONE), "{second}");
        // The other keeps what it had.
        assert_eq!(forgotten.part(0, second * S), forgotten.part(0, 9 * S), "{second}");
    }
    assert!(forgotten.part(1, 16 * S).is_some_and(|part| part != Part::NONE));
}
