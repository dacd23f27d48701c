//! The proven worst cases of deployments, pinned where random worlds once passed them, and in random worlds.

use crate::deployed::{peak, steered};
use crate::simulate::try_plan;
use proptest::prelude::*;
use rlsim::runner::{Extras, run};
use rlsim::sim::Options;

const MS: u64 = 1_000_000;

/// What is admitted on what was read, and written while nothing gets through, the store never hears of.
#[test]
fn writes_that_never_arrive_count() {
    // Each of five requests reads after 10 ms, knows after 20 and writes at 30, when it is cut off.
    let visits: Vec<_> = (0..15).map(|i| (100 * i * MS, 0, 1)).collect();
    let cut = |i| format!("[[fault]]\npartition = {{ replicas = [0], from = \"{i}25ms\", until = \"{i}35ms\" }}\n");
    let faults: String = (1..6).map(cut).collect();
    let lane = "gcra = {}\ndeployment = { central = { operation = \"get-incr\", round-trip = \"20ms\", \
                on-failure = \"closed\" } }";
    // Of one limiter 5 + ceil(5) - 1, and the five that it does not know of.
    assert_eq!(peak(&steered(&visits, 1, "limit = \"5/1m\"", lane, &faults)), (10, Some(14)));
}

/// A replica alone keeps the bound of its limiter, and attains it, whatever opens its windows.
#[test]
fn windows_that_requests_open_keep_their_bound() {
    let peak = |anchor: &str| {
        let visits = [(0, 0, 1), (999 * MS, 0, 4), (1000 * MS, 0, 5)];
        let lane = format!(
            "fixed-window = {{ anchor = \"{anchor}\" }}\n\
             deployment = {{ hybrid = {{ replicas = 1, sync = {{ every = \"1s\" }} }} }}"
        );
        peak(&steered(&visits, 1, "limit = \"5/1s\"", &lane, ""))
    };
    // One opens the window, the others come at its end: 2 L - 1.
    assert_eq!(peak("first-request"), (9, Some(9)));
    // Every attempt moves the end.
    assert_eq!(peak("every-request"), (5, Some(5)));
    // Four before the edge and five after it, of at most 2 L.
    assert_eq!(peak("clock"), (9, Some(10)));
}

/// A refill larger than the bucket makes good what was overdrawn, so that it can be overdrawn again.
#[test]
fn a_bucket_that_runs_over_is_overdrawn_again() {
    // Each second three at once read a bucket of two: all three are admitted, three are refilled.
    let visits: Vec<_> = (0..5).map(|i| (1000 * i * MS, 0, 3)).collect();
    let lane = "token-bucket = { burst = 2, refill = \"interval\" }\n\
                deployment = { central = { operation = \"get-incr\", round-trip = \"20ms\" } }";
    let lane = steered(&visits, 1, "limit = \"3/1s\"\nenvelope = [\"4s1ms\"]", lane, "");
    // 2 + 5 x 2 of one bucket, and two of the three under way at up to six fillings.
    assert_eq!((lane.envelope[0].units, lane.envelope[0].bound), (15, Some(24)));
}

/// Every algorithm, with every knob that changes what it can let through.
const LIMITERS: [&str; 19] = [
    "fixed-window = {}",
    "fixed-window = { anchor = \"first-request\" }",
    "fixed-window = { anchor = \"every-request\" }",
    "fixed-window = { anchor = \"first-request\", count-denied = true }",
    "sliding-log = {}",
    "sliding-log = { edge = \"inclusive\" }",
    "sliding-log = { count-denied = true }",
    "sliding-counter = {}",
    "sliding-counter = { buckets = 3 }",
    "sliding-counter = { oldest = \"ignored\" }",
    "sliding-counter = { anchor = \"first-request\" }",
    "sliding-counter = { count-denied = true }",
    "token-bucket = {}",
    "token-bucket = { burst = 2, refill = \"interval\" }",
    "token-bucket = { initial = \"empty\" }",
    "leaky-bucket = {}",
    "leaky-bucket = { mode = \"meter\" }",
    "gcra = {}",
    "gcra = { burst = 2 }",
];

/// A deployment of a lane, as a scenario has it, with what it can be asked of.
fn deployment() -> impl Strategy<Value = String> {
    let routing = prop_oneof![Just("\"round-robin\""), Just("\"random\""), Just("\"hash\""), Just("\"least\""),];
    let round_trip = prop_oneof![Just("\"0s\""), Just("\"30ms\""), Just("{ exponential = \"40ms\" }")];
    let operation = prop_oneof![Just("script"), Just("incr"), Just("get-incr"), Just("get-set")];
    let on_failure = prop_oneof![
        Just("\"open\""),
        Just("\"closed\""),
        Just("\"local\", fallback-share = \"full\""),
        Just("{ safe-rate = \"3/1s\" }")
    ];
    let more = prop_oneof![
        Just(""),
        Just(", breaker = { failures = 2, probe = \"300ms\" }"),
        Just(", store = { capacity = \"60/1s\" }"),
        Just(", store = { service = \"20ms\" }"),
        Just(", store = { service = \"20ms\", connections = 2 }"),
    ];
    let clock = prop_oneof![Just(""), Just(", skew = [\"0s\", \"70ms\", \"300ms\"]"), Just(", clock = \"store\"")];
    let link = (round_trip, on_failure, more).prop_map(|(round_trip, on_failure, more)| {
        format!("round-trip = {round_trip}, timeout = \"90ms\", on-failure = {on_failure}{more}")
    });
    let central = (operation, link.clone(), clock).prop_map(|(operation, link, clock)| {
        format!("central = {{ operation = \"{operation}\", {link}{clock}, REPLICAS }}")
    });
    let local = prop_oneof![Just("full"), Just("split")]
        .prop_map(|share| format!("local = {{ share = \"{share}\", REPLICAS }}"));
    let sync = (prop_oneof![Just("carry"), Just("clamp")], prop_oneof![Just("200ms"), Just("1100ms")], 0_u32..80).prop_map(
        |(debt, every, push)| {
            format!("hybrid = {{ skew = [\"0s\", \"250ms\", \"40ms\"], sync = {{ every = \"{every}\", push = \"{push}ms\", pull = \"40ms\", debt = \"{debt}\" }}, REPLICAS }}")
        },
    );
    let lease = (1_u64..9, any::<bool>(), link).prop_map(|(batch, prefetch, link)| {
        format!("hybrid = {{ lease = {{ batch = {batch}, prefetch = {prefetch} }}, {link}, REPLICAS }}")
    });
    let divided = prop_oneof![
        Just("quota = { every = \"500ms\", lease = \"1s\" }"),
        Just("drop = { every = \"300ms\" }"),
        Just("proportional = { every = \"300ms\", weight = 1.0, fanout = 1 }"),
        Just("assignment = { report = \"700ms\", no-assignment = \"deny\" }"),
        Just("assignment = { report = \"400ms\", no-assignment = \"allow\", expired = \"drop\" }"),
    ]
    .prop_map(|scheme| format!("hybrid = {{ {scheme}, REPLICAS }}"));
    (prop_oneof![3 => central, 1 => local, 2 => sync, 2 => lease, 2 => divided], routing, 1..4).prop_map(
        |(deployment, routing, replicas)| {
            let replicas = if deployment.contains("skew") { 3 } else { replicas };
            deployment.replace("REPLICAS", &format!("replicas = {replicas}, routing = {routing}"))
        },
    )
}

/// What goes wrong in a run of ten seconds.
fn faults() -> impl Strategy<Value = String> {
    let span = |kind: &'static str, more: &'static str| {
        (0_u32..90, 1_u32..60).prop_map(move |(from, length)| {
            format!("{kind} = {{ from = \"{from}00ms\", until = \"{}00ms\"{more} }}", from + length)
        })
    };
    let instant = |kind: &'static str, more: &'static str| {
        (1_u32..95).prop_map(move |at| format!("{kind} = {{ at = \"{at}00ms\"{more} }}"))
    };
    let one = prop_oneof![
        3 => span("store-down", ""),
        1 => span("store-slow", ", round-trip = \"150ms\""),
        1 => span("store-lag", ", by = \"400ms\""),
        2 => span("partition", ", replicas = [0]"),
        1 => instant("failover", ", loses = \"700ms\""),
        1 => instant("flush", ""),
        1 => instant("restart", ", replica = 0"),
        1 => instant("scale", ", replicas = 2"),
        1 => instant("reroute", ""),
        1 => Just("random = { mean-between = \"2s\", mean-length = \"300ms\", kind = \"partition\" }".to_owned()),
    ];
    proptest::collection::vec(one, 0..3).prop_map(|faults| {
        let mut kinds: Vec<&str> = Vec::new();
        let mut text = String::new();
        for fault in &faults {
            let kind = fault.split(' ').next().unwrap_or_default();
            // A fault of each kind at most: two at one time contradict each other.
            let overlaps = kind == "random" && kinds.contains(&"partition");
            if !kinds.contains(&kind) && !overlaps {
                kinds.push(kind);
                text += &format!("[[fault]]\n{fault}\n");
            }
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever comes and goes wrong, no lane passes its proven worst case, every attempt is decided once,
    /// and threads change nothing.
    #[test]
    fn worst_cases_are_never_passed(
        limiter in proptest::sample::select(&LIMITERS[..]),
        deployment in deployment(),
        faults in faults(),
        limit in 3_u64..12,
        rates in (5_u64..60, 1_u64..80),
        cost in 1_u64..3,
        client in prop_oneof![Just(""), Just("client = { retry = { fixed = { delay = \"130ms\" } }, max-attempts = 3, deadline = \"2s\" }\n")],
        seed in any::<u32>(),
    ) {
        let text = format!(
            "limit = \"{limit}/1s\"\nenvelope = [\"1ns\", \"300ms\", \"1s\", \"3s\"]\nduration = \"10s\"\nseed = {seed}\n{client}\
             [[traffic]]\npoisson = {{ rate = \"{}/1s\" }}\nkeys = 2\ncost = {cost}\n\
             [[traffic]]\non-off = {{ rate = \"{}/1s\", on = \"900ms\", off = \"1500ms\" }}\n\
             [[lane]]\n{limiter}\ndeployment = {{ {deployment} }}\n{faults}",
            rates.0, rates.1
        );
        let Ok(plan) = try_plan(&text) else { return Err(TestCaseError::reject("contradictory")) };
        let run = |threads| {
            let options = Options { threads, ..Options::default() };
            run(&plan, options, Extras::default(), &mut |_| true).expect("it runs").report
        };
        let report = run(1);
        let lane = &report.lanes[0];
        prop_assert_eq!(lane.attempts, lane.allowed + lane.delayed + lane.denied);
        for point in &lane.envelope {
            if let Some(bound) = point.bound {
                prop_assert!(u128::from(point.units) <= bound, "{} units in {} ns, bound {}\n{}", point.units, point.span_ns, bound, text);
            }
        }
        let fleet = lane.fleet.as_ref().expect("a deployment");
        let (admitted, denied) = fleet.replicas.iter().fold((0, 0), |sum, r| (sum.0 + r.admitted, sum.1 + r.denied));
        prop_assert_eq!((admitted, denied), (lane.allowed + lane.delayed, lane.denied));
        prop_assert_eq!(&run(2).lanes[0].fingerprint, &lane.fingerprint);
    }
}
