//! How deployments and faults are read, and written out again.

use crate::cli::{folder, rlsim_in, write};
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

/// What is noted of one lane with this deployment and these knobs, above a limit of 100 a minute.
fn noted(algorithm: &str, rest: &str) -> Vec<String> {
    plan(&format!("{TOP}{TRAFFIC}[[lane]]\nname = \"x\"\n{algorithm}\n{rest}\n")).warnings
}

#[test]
fn what_is_most_likely_not_meant_is_noted_with_its_numbers() {
    let local = |knobs: &str| format!("deployment = {{ local = {{ replicas = 3{knobs} }} }}");
    let client = "client = { retry = { retry-after = {} }, deadline = \"2s\" }";
    for (algorithm, rest, words) in [
        ("token-bucket = {}", local(""), "lane `x`: 3 replicas may each admit 100/1m, 3 times that in all"),
        ("gcra = { rate = \"34/1m\" }", local(""), "above the limit of 100/1m; write `share = \"split\"`"),
        (
            "gcra = {}",
            "deployment = { hybrid = { replicas = 2, sync = { every = \"2m\" } } }".to_owned(),
            "every 2m, longer than the window of 1m",
        ),
        (
            "gcra = {}",
            "deployment = { hybrid = { replicas = 2, lease = { batch = 100 } } }".to_owned(),
            "a batch of 100 is all of the 100 that there are",
        ),
        (
            "gcra = {}",
            format!("response = {{ retry-after = \"seconds\" }}\n{client}"),
            "told to come back at one time, and do; add a spread",
        ),
        (
            "gcra = {}",
            "client = { deadline = \"2s\" }\ndeployment = { central = { timeout = \"3s\", on-failure = \"open\" } }"
                .to_owned(),
            "replicas wait 3s for the store, and clients give up after 2s",
        ),
        (
            "gcra = {}",
            "client = { deadline = \"2s\" }\nbackend = { service = \"1ms\", timeout = \"3s\" }".to_owned(),
            "clients wait 3s for the backend",
        ),
        (
            "gcra = {}",
            "deployment = { central = { round-trip = \"30ms\", timeout = \"20ms\" } }".to_owned(),
            "every attempt times out; write a `timeout` above 30ms",
        ),
        (
            "gcra = { rate = \"101/1s\" }",
            "backend = { servers = 10, service = \"100ms\" }".to_owned(),
            "admits 101/1s of one key alone, and the backend serves 100/1s",
        ),
        (
            "gcra = { rate = \"34/1s\" }",
            format!("backend = {{ rate = \"100/1s\" }}\n{}", local("")),
            "admits 3 times 34/1s of one key alone",
        ),
        (
            "gcra = {}",
            format!("{}\n[[fault]]\nscale = {{ at = \"10m\", replicas = 2 }}", local(", share = \"split\"")),
            "fault `scale` at 10m: the run ends at 10m",
        ),
    ] {
        let found = noted(algorithm, &rest);
        assert!(found.iter().any(|note| note.contains(words)), "{algorithm} {rest}: {found:?}");
    }
}

#[test]
fn what_may_be_meant_is_not_noted() {
    let local = |knobs: &str| format!("deployment = {{ local = {{ replicas = 3{knobs} }} }}");
    for (algorithm, rest) in [
        ("token-bucket = {}", local(", share = \"split\"")),
        ("token-bucket = {}", local(", routing = \"hash\"")),
        ("token-bucket = {}", local(", routing = { weights = [0, 1, 0] }")),
        ("gcra = { rate = \"33/1m\" }", local("")),
        ("gcra = {}", "deployment = { hybrid = { replicas = 2, sync = { every = \"1m\" } } }".to_owned()),
        ("gcra = {}", "deployment = { hybrid = { sync = { every = \"2m\" } } }".to_owned()),
        (
            "gcra = {}",
            "client = { retry = { retry-after = { jitter = \"1s\" } } }\nresponse = { retry-after = \"date\" }"
                .to_owned(),
        ),
        (
            "gcra = {}",
            "client = { retry = { retry-after = {} } }\nresponse = { retry-after = \"reserved\" }".to_owned(),
        ),
        ("gcra = { rate = \"100/1s\" }", "backend = { servers = 10, service = \"100ms\" }".to_owned()),
        ("gcra = { rate = \"1000/1s\" }", "backend = { hop = \"100ms\" }".to_owned()),
    ] {
        assert_eq!(noted(algorithm, &rest), [""; 0], "{algorithm} {rest}");
    }
}

#[test]
fn notes_are_told_by_every_command() {
    let folder = folder();
    let text = format!("{TOP}{TRAFFIC}[[lane]]\ngcra = {{}}\nbackend = {{ rate = \"1/1m\" }}\n");
    write(&folder, "s.toml", &text);
    let words = "lane `gcra`: admits 100/1m of one key alone, and the backend serves 1/1m";
    let checked = rlsim_in(folder.path(), &["check", "s.toml"], b"");
    assert!(checked.status == 0 && checked.stderr.contains(&format!("note: s.toml: {words}")), "{}", checked.stderr);
    let ran = rlsim_in(folder.path(), &["run", "s.toml", "--width", "200"], b"").clean();
    assert!(ran.contains(&format!("\nnote: {words}")), "{ran}");
    let json: serde_json::Value =
        serde_json::from_str(&rlsim_in(folder.path(), &["run", "s.toml", "--json"], b"").clean()).expect("JSON");
    assert!(json["warnings"][0].as_str().is_some_and(|note| note.starts_with(words)), "{}", json["warnings"]);
    // Lanes of which the same is to be said are named together.
    let both = plan(&format!("{text}[[lane]]\nname = \"b\"\ngcra = {{}}\nbackend = {{ rate = \"1/1m\" }}\n"));
    assert_eq!(both.warnings.len(), 1);
    assert!(both.warnings[0].starts_with("lanes `gcra` and `b`: admits"), "{:?}", both.warnings);
}

#[test]
fn deployments_and_faults_can_be_changed_from_the_command_line() {
    let folder = folder();
    let text = format!("{FAULTS}{TOP}{TRAFFIC}[[lane]]\ngcra = {{}}\ndeployment = {{ {HARDY} }}\n");
    write(&folder, "s.toml", &text);
    let set = |changes: &[&str]| {
        let changes = changes.iter().flat_map(|change| ["--set", change]);
        let args: Vec<&str> = ["check", "--resolved", "s.toml"].into_iter().chain(changes).collect();
        rlsim_in(folder.path(), &args, b"")
    };
    let changed =
        set(&["gcra.deployment.central.replicas=4", "fault.store-down.until=70s", "fault.random-2.mean-length=7s"]);
    let plan = plan(&changed.clean());
    assert_eq!(plan.lanes[0].deployment.as_ref().map(|deployment| deployment.replicas().count), Some(4));
    assert_eq!(
        plan.faults[0],
        FaultSpec::StoreDown { from: SimDuration::from_secs(30), until: SimDuration::from_secs(70) }
    );
    let FaultSpec::Random { mean_length, .. } = plan.faults[13] else { panic!("the second at random") };
    assert_eq!(mean_length, SimDuration::from_secs(7));
    set(&["fault.flood.at=1s"]).fails(2, &["no fault `flood`; there are store-down, store-slow"]);
    set(&["fault.flush=1s"]).fails(2, &["name a fault and what to change of it"]);
    set(&["fault.store-down.until=10s"]).fails(2, &["it ends before it begins"]);
    rlsim_in(folder.path(), &["check", "boundary", "--set", "fault.flush.at=1s"], b"").fails(2, &["has no faults"]);
}

/// What happens to a third replica happens to lanes that have one.
#[test]
fn a_lane_without_that_replica_is_left_alone() {
    let folder = folder();
    let lanes = "[[lane]]\nname = \"one\"\ngcra = {}\ndeployment = { local = {} }\n[[lane]]\nname = \"three\"\n\
                 gcra = {}\ndeployment = { local = { replicas = 3 } }\n";
    let faults = "[[fault]]\nrestart = { replica = 2, at = \"1m\" }\n[[fault]]\nstop = { replica = 2, at = \"2m\" }\n\
                  [[fault]]\nstart = { replica = 2, at = \"3m\" }\n";
    let run = |faults: &str| {
        write(&folder, "s.toml", &format!("{TOP}{TRAFFIC}{lanes}{faults}"));
        let json = rlsim_in(folder.path(), &["run", "s.toml", "--json"], b"").clean();
        let report: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        [0, 1].map(|lane| report["lanes"][lane]["fingerprint"].clone())
    };
    let (calm, troubled) = (run(""), run(faults));
    assert!(calm[0] == troubled[0] && calm[1] != troubled[1], "{calm:?} {troubled:?}");
}
