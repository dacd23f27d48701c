//! How deployments and faults are read, and written out again.

use rlsim::limiter::LimiterSpec;
use rlsim::quota::Rate;
use rlsim::scenario::{Plan, ScenarioSource};
use rlsim::sim::{
    BreakerSpec, CentralSpec, Clock, Debt, DeploymentSpec, Expired, FaultSpec, HopSpec, HybridSpec, LinkSpec,
    LocalSpec, OnFailure, Operation, RandomKind, ReplicasSpec, Routing, Scheme, Share, StoreSpec, Unassigned,
};
use rlsim::time::SimDuration;

fn plan(text: &str) -> Plan {
    let source =
        ScenarioSource { name: "s.toml".to_owned(), text: text.to_owned(), folder: "".into(), embedded: false };
    Plan::new(&source, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const TOP: &str = "limit = \"100/1m\"\nduration = \"10m\"\n";
const TRAFFIC: &str = "[[traffic]]\nsteady = { rate = \"10/s\" }\n";

/// One lane with this deployment, in a world with these faults.
fn with(deployment: &str, faults: &str) -> Plan {
    plan(&format!("{TOP}{TRAFFIC}[[lane]]\ntoken-bucket = {{}}\ndeployment = {{ {deployment} }}\n{faults}"))
}

fn deployed(deployment: &str) -> DeploymentSpec {
    with(deployment, "").lanes[0].deployment.clone().expect("a deployment")
}

fn ms(millis: u64) -> SimDuration {
    SimDuration::from_nanos(millis * 1_000_000)
}

fn replicas(count: u32) -> ReplicasSpec {
    ReplicasSpec { count, routing: Routing::RoundRobin, skew: Vec::new() }
}

fn no_link() -> LinkSpec {
    LinkSpec {
        round_trip: HopSpec::Constant(SimDuration::ZERO),
        timeout: None,
        on_failure: None,
        breaker: None,
        store: StoreSpec::default(),
    }
}

fn rate(text: &str) -> Rate {
    text.parse().expect(text)
}

#[test]
fn a_central_deployment_states_all_or_nothing() {
    let plain = CentralSpec {
        replicas: replicas(1),
        link: no_link(),
        operation: Operation::Script,
        clock: Clock::Replica,
        prefilter: None,
    };
    assert_eq!(deployed("central = {}"), DeploymentSpec::Central(plain));
    let all = "central = { replicas = 3, routing = { weights = [7, 2, 1] }, skew = [\"0s\", \"250ms\", \"1s\"], \
               round-trip = { normal = { hop = \"2ms\", deviation = \"1ms\" } }, operation = \"get-set\", \
               timeout = \"20ms\", on-failure = { safe-rate = \"5/1s\" }, breaker = { failures = 5, probe = \"1s\" }, \
               clock = \"store\", store = { capacity = \"50000/1s\", service = \"20us\", connections = 64 }, \
               prefilter = { gcra = { rate = \"10/1s\", burst = 5 } } }";
    let DeploymentSpec::Central(found) = deployed(all) else { panic!("central") };
    let replicas = ReplicasSpec {
        count: 3,
        routing: Routing::Weights(vec![7, 2, 1]),
        skew: vec![SimDuration::ZERO, ms(250), ms(1000)],
    };
    assert_eq!(found.replicas, replicas);
    let store =
        StoreSpec { capacity: Some(rate("50000/1s")), service: SimDuration::from_nanos(20_000), connections: Some(64) };
    let link = LinkSpec {
        round_trip: HopSpec::Normal { mean: ms(2), deviation: ms(1) },
        timeout: Some(ms(20)),
        on_failure: Some(OnFailure::SafeRate(rate("5/1s"))),
        breaker: Some(BreakerSpec { failures: 5, probe: ms(1000) }),
        store,
    };
    assert_eq!((found.link, found.operation, found.clock), (link, Operation::GetSet, Clock::Store));
    let Some(LimiterSpec::Gcra(prefilter)) = found.prefilter else { panic!("a prefilter") };
    assert_eq!((prefilter.rate, prefilter.burst), (rate("10/1s"), 5));
}

#[test]
fn a_fallback_is_split_unless_there_is_but_one() {
    let falls_back = |text: &str| match deployed(text) {
        DeploymentSpec::Central(central) => central.link.on_failure,
        _ => None,
    };
    for (text, share) in [
        ("central = { replicas = 3, on-failure = \"local\" }", Share::Split),
        ("central = { on-failure = \"local\" }", Share::Full),
        ("central = { replicas = 3, on-failure = \"local\", fallback-share = \"full\" }", Share::Full),
        ("central = { replicas = 1, on-failure = \"local\", fallback-share = \"split\" }", Share::Split),
    ] {
        assert_eq!(falls_back(text), Some(OnFailure::Local(share)), "{text}");
    }
}

#[test]
fn replicas_are_routed_to() {
    for (word, routing) in [
        ("\"round-robin\"", Routing::RoundRobin),
        ("\"random\"", Routing::Random),
        ("\"hash\"", Routing::Hash),
        ("\"least\"", Routing::Least),
        ("{ weights = [1, 0] }", Routing::Weights(vec![1, 0])),
    ] {
        let local = deployed(&format!("local = {{ replicas = 2, routing = {word}, share = \"split\" }}"));
        let replicas = ReplicasSpec { routing, ..replicas(2) };
        assert_eq!(local, DeploymentSpec::Local(LocalSpec { replicas, share: Share::Split }));
    }
}

#[test]
fn every_scheme_of_a_hybrid_is_read() {
    let schemes = [
        (
            "sync = { every = \"1s\" }",
            Scheme::Sync { every: ms(1000), push: SimDuration::ZERO, pull: SimDuration::ZERO, debt: Debt::Carry },
        ),
        (
            "sync = { every = \"1s\", push = \"5ms\", pull = \"6ms\", debt = \"clamp\" }",
            Scheme::Sync { every: ms(1000), push: ms(5), pull: ms(6), debt: Debt::Clamp },
        ),
        ("lease = { batch = 10 }", Scheme::Lease { batch: 10, prefetch: false }),
        ("lease = { batch = 10, prefetch = true }", Scheme::Lease { batch: 10, prefetch: true }),
        ("quota = { every = \"8s\", lease = \"300s\" }", Scheme::Quota { every: ms(8000), lease: ms(300_000) }),
        ("drop = { every = \"50ms\", weight = 0.25 }", Scheme::Drop { every: ms(50), weight: 250_000 }),
        ("drop = { every = \"50ms\" }", Scheme::Drop { every: ms(50), weight: 100_000 }),
        ("proportional = { every = \"50ms\" }", Scheme::Proportional { every: ms(50), weight: 100_000, fanout: 2 }),
        (
            "proportional = { every = \"50ms\", weight = 1, fanout = 1 }",
            Scheme::Proportional { every: ms(50), weight: 1_000_000, fanout: 1 },
        ),
        (
            "assignment = { report = \"5s\" }",
            Scheme::Assignment {
                report: ms(5000),
                lease: ms(10_000),
                unassigned: Unassigned::Allow,
                expired: Expired::Reuse,
            },
        ),
        (
            "assignment = { report = \"5s\", lease = \"6s\", no-assignment = \"deny\", expired = \"drop\" }",
            Scheme::Assignment {
                report: ms(5000),
                lease: ms(6000),
                unassigned: Unassigned::Deny,
                expired: Expired::Drop,
            },
        ),
    ];
    for (text, scheme) in schemes {
        let found = deployed(&format!("hybrid = {{ replicas = 3, {text} }}"));
        assert_eq!(found, DeploymentSpec::Hybrid(HybridSpec { replicas: replicas(3), scheme, link: no_link() }));
    }
    let lease = deployed("hybrid = { lease = { batch = 1 }, round-trip = \"1ms\", on-failure = \"closed\" }");
    let link = LinkSpec { round_trip: HopSpec::Constant(ms(1)), on_failure: Some(OnFailure::Closed), ..no_link() };
    assert_eq!(lease.link(), Some(&link));
}

/// Every kind of fault, in a world that bears them.
const FAULTS: &str = r#"
fault = [
  { store-down = { from = "30s", until = "60s" } },
  { store-slow = { from = "1s", until = "2s", round-trip = { exponential = "200ms" } } },
  { store-lag = { by = "300ms", from = "10s", until = "20s" } },
  { partition = { replicas = [2, 0], from = "70s", until = "80s" } },
  { failover = { at = "90s", loses = "1s" } },
  { flush = { at = "91s" } },
  { lost-expire = { at = "92s" } },
  { stop = { replica = 1, at = "93s" } },
  { start = { replica = 1, at = "94s" } },
  { restart = { replica = 1, at = "95s" } },
  { scale = { at = "96s", replicas = 5 } },
  { reroute = { at = "97s" } },
  { random = { mean-between = "60s", mean-length = "5s", kind = "store-down" } },
  { random = { mean-between = "60s", mean-length = "5s", kind = "store-slow", round-trip = "1s" } },
  { random = { mean-between = "60s", mean-length = "5s", kind = "partition" } },
  { random = { mean-between = "60s", kind = "restart" } },
]
"#;

const HARDY: &str = "central = { replicas = 3, routing = \"hash\", on-failure = \"open\" }";

#[test]
fn every_fault_is_read() {
    let text = format!("{FAULTS}{TOP}{TRAFFIC}[[lane]]\ngcra = {{}}\ndeployment = {{ {HARDY} }}\n");
    let s = |seconds: u64| SimDuration::from_secs(seconds);
    let random = |kind: RandomKind| FaultSpec::Random { mean_between: s(60), mean_length: s(5), kind };
    let expected = [
        FaultSpec::StoreDown { from: s(30), until: s(60) },
        FaultSpec::StoreSlow { from: s(1), until: s(2), round_trip: HopSpec::Exponential { mean: ms(200) } },
        FaultSpec::StoreLag { by: ms(300), from: s(10), until: s(20) },
        FaultSpec::Partition { replicas: vec![0, 2], from: s(70), until: s(80) },
        FaultSpec::Failover { at: s(90), loses: s(1) },
        FaultSpec::Flush { at: s(91) },
        FaultSpec::LostExpire { at: s(92) },
        FaultSpec::Stop { replica: 1, at: s(93) },
        FaultSpec::Start { replica: 1, at: s(94) },
        FaultSpec::Restart { replica: 1, at: s(95) },
        FaultSpec::Scale { at: s(96), replicas: 5 },
        FaultSpec::Reroute { at: s(97) },
        random(RandomKind::StoreDown),
        random(RandomKind::StoreSlow { round_trip: HopSpec::Constant(s(1)) }),
        random(RandomKind::Partition),
        FaultSpec::Random { mean_between: s(60), mean_length: SimDuration::ZERO, kind: RandomKind::Restart },
    ];
    assert_eq!(plan(&text).faults, expected);
}

#[test]
fn what_is_resolved_reads_back() {
    let links = "round-trip = { exponential = \"1ms\" }, timeout = \"20ms\", breaker = { failures = 2, probe = \"1s\" }, \
                 store = { capacity = \"9/1s\", service = \"1us\", connections = 4 }";
    let mut deployments = vec![
        "single = {}".to_owned(),
        "central = {}".to_owned(),
        format!("central = {{ replicas = 3, on-failure = \"local\", prefilter = {{ fixed-window = {{}} }}, {links} }}"),
        format!("central = {{ skew = [\"1s\"], on-failure = {{ safe-rate = \"7/3s\" }}, {links} }}"),
        "central = { operation = \"incr\", clock = \"store\", on-failure = \"open\" }".to_owned(),
        "local = { replicas = 3, share = \"split\", routing = { weights = [7, 0, 1] } }".to_owned(),
        format!(
            "hybrid = {{ replicas = 2, lease = {{ batch = 3, prefetch = true }}, on-failure = \"closed\", {links} }}"
        ),
    ];
    for scheme in [
        "sync = { every = \"1s\", push = \"5ms\", debt = \"clamp\" }",
        "quota = { every = \"8s\", lease = \"300s\" }",
        "drop = { every = \"50ms\", weight = 0.123456 }",
        "proportional = { every = \"50ms\" }",
        "assignment = { report = \"5s\", expired = \"drop\" }",
    ] {
        deployments.push(format!("hybrid = {{ replicas = 3, routing = \"least\", {scheme} }}"));
        deployments.push(format!("hybrid = {{ {scheme} }}"));
    }
    let reads_back = |plan: &Plan| {
        let text = toml::to_string_pretty(&plan.resolved()).expect("plain data");
        let again = self::plan(&text);
        assert_eq!(again.lanes, plan.lanes, "{text}");
        assert_eq!(again.faults, plan.faults, "{text}");
        assert_eq!(again.resolved(), plan.resolved(), "{text}");
    };
    for deployment in deployments {
        reads_back(&with(&deployment, ""));
    }
    reads_back(&plan(&format!("{FAULTS}{TOP}{TRAFFIC}[[lane]]\ngcra = {{}}\ndeployment = {{ {HARDY} }}\n")));
}

#[test]
fn a_lane_has_its_own_deployment_or_that_at_the_top() {
    let text = format!(
        "{TOP}deployment = {{ local = {{ replicas = 2 }} }}\n{TRAFFIC}[[lane]]\ngcra = {{}}\n[[lane]]\nfixed-window = \
         {{}}\n[lane.deployment.single]\n[[lane]]\ntoken-bucket = {{}}\n[lane.deployment.central]\nreplicas = 4\n"
    );
    let plan = plan(&text);
    let counts: Vec<_> =
        plan.lanes.iter().map(|lane| lane.deployment.as_ref().map(|d| (d.name(), d.replicas().count))).collect();
    assert_eq!(counts, [Some(("local", 2)), None, Some(("central", 4))]);
    // Without a lane, all six have it.
    let all = self::plan(&format!("{TOP}deployment = {{ local = {{ replicas = 2 }} }}\n{TRAFFIC}"));
    assert!(all.lanes.len() == 6 && all.lanes.iter().all(|lane| lane.deployment.is_some()));
}
