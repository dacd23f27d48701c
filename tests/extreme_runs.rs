//! Whole runs at the ends of every range: the first and last instants, no arrival and a million keys.

use crate::extremes::{LONGEST, MAX, MIN};
use crate::oracle::Oracle;
use crate::simulate::{S, burst_of, plan, report, run_plan, try_plan};
use rlsim::error::Error;
use rlsim::quota::MAX_UNITS;
use rlsim::report::Report;
use rlsim::sim::Options;
use rlsim::time::SimTime;

/// All six algorithms and a few knobs, in one run; `head` may state anything.
fn all_lanes(head: &str) -> String {
    let lanes = [
        "fixed-window = {}",
        "fixed-window = { anchor = \"first-request\" }",
        "fixed-window = { anchor = \"every-request\" }",
        "sliding-log = {}",
        "sliding-log = { edge = \"inclusive\", count-denied = true }",
        "sliding-counter = {}",
        "sliding-counter = { anchor = \"first-request\", compare = \"before\", count-denied = true }",
        "token-bucket = {}",
        "token-bucket = { refill = \"interval\" }",
        "leaky-bucket = {}",
        "leaky-bucket = { mode = \"meter\" }",
        "gcra = {}",
    ];
    let lanes: String = lanes.iter().map(|lane| format!("[[lane]]\n{lane}\n")).collect();
    format!("{head}\n{lanes}")
}

/// What each lane decided is what its model says.
fn check_run(text: &str) -> Report {
    let plan = plan(text);
    let arrivals = crate::simulate::arrivals(&plan);
    let (outcome, decisions) = run_plan(&plan, Options::default()).expect("in range");
    for (lane, decisions) in plan.lanes.iter().zip(&decisions) {
        let tick = i64::try_from(lane.clock_resolution.unwrap_or(1)).expect("short");
        let mut model = Oracle::new(&lane.limiter);
        for (arrival, decision) in arrivals.iter().zip(decisions) {
            let seen = (arrival.at.div_euclid(tick) * tick).max(MIN);
            assert_eq!(model.decide(seen, arrival.cost).admits(), decision.admits(), "{} at {}", lane.name, arrival.at);
        }
    }
    outcome.report
}

/// The first and the last instants there are.
#[test]
fn runs_at_the_ends_of_time() {
    let (first, last) = (SimTime::MIN.to_string(), SimTime::from_nanos(MAX - 100 * S).to_string());
    for start in [&first, &last] {
        for limit in ["5/10s", "1/30d", "3/53000d", "1000000000/1s"] {
            let report = check_run(&all_lanes(&format!(
                "start = \"{start}\"\nduration = \"100s\"\nlimit = \"{limit}\"\nenvelope = [\"1ns\", \"53000d\"]\n\
                 [[traffic]]\nsteady = {{ rate = \"1/1s\" }}\n"
            )));
            assert_eq!(report.offered.requests, 100);
            assert_eq!((report.offered.first_ns, report.offered.last_ns), (Some(0), Some(99 * S)));
            assert_eq!(report.start.to_string(), *start);
        }
    }
    // Not before, and not beyond.
    let refused = |text: &str| {
        let text = format!("limit = \"1/1m\"\n{text}\n[[traffic]]\nsteady = {{ rate = \"1/1s\" }}\n");
        let Err(Error::Scenario(error)) = try_plan(&text) else { panic!("not refused: {text}") };
        text[error.span].to_owned()
    };
    assert_eq!(refused("start = \"1823-01-01T00:00:00Z\"\nduration = \"1s\""), "\"1823-01-01T00:00:00Z\"");
    assert_eq!(refused("start = \"2117-01-01T00:00:00Z\"\nduration = \"1s\""), "\"2117-01-01T00:00:00Z\"");
    assert_eq!(refused(&format!("start = \"{last}\"\nduration = \"101s\"")), "\"101s\"");
    assert_eq!(refused("duration = \"0s\""), "\"0s\"");
}

/// Traffic with an end of its own that would pass the last instant ends the run with the reason.
#[test]
fn no_arrival_comes_after_the_end_of_time() {
    let start = SimTime::from_nanos(MAX - 100 * S).to_string();
    for traffic in [
        "burst = { requests = 2, over = \"1d\" }",
        "burst = { requests = 1, at = \"53000d\" }",
        "idle-then-spike = { idle = \"60s\", requests = 1, repeat = 5 }",
        "boundary-burst = { requests = 1, margin = \"1s\", edges = 9 }",
        "until = \"53000d\"\nsteady = { rate = \"1/1m\" }",
        "until = \"53000d\"\npoisson = { rate = \"1/1m\" }",
        "until = \"53000d\"\non-off = { rate = \"1/1s\", on = \"1s\", off = \"300d\" }",
        "until = \"53000d\"\nramp = { rate = \"1/1s\", to = \"2/1s\" }",
        "from = \"53000d\"\nburst = { requests = 1 }",
    ] {
        let plan = plan(&format!("start = \"{start}\"\nlimit = \"1/1m\"\n[[traffic]]\n{traffic}\n"));
        let error = run_plan(&plan, Options::default()).err();
        let Some(Error::Range { message }) = error else { panic!("{traffic}: {error:?}") };
        assert!(message.contains("2116"), "{message}");
    }
}

/// A run of 290 years, and releases 72 years after its end.
#[test]
fn the_longest_runs() {
    let start = SimTime::from_nanos(MAX - 2 * LONGEST).to_string();
    let report = check_run(&all_lanes(&format!(
        "start = \"{start}\"\nlimit = \"1/53000d\"\nenvelope = [\"1ns\", \"53000d\"]\n\
         [[traffic]]\nidle-then-spike = {{ idle = \"53000d\", requests = 2, repeat = 2 }}\n"
    )));
    assert_eq!((report.offered.requests, report.end_ns), (4, 2 * LONGEST));
    let start = SimTime::from_nanos(MAX - S).to_string();
    let report = check_run(&format!(
        "start = \"{start}\"\nlimit = \"1/53000d\"\n[[traffic]]\nburst = {{ requests = 4 }}\n\
         [[lane]]\nleaky-bucket = {{ rate = \"2/53000d\", capacity = 2 }}\n"
    ));
    let queue = &report.lanes[0];
    assert_eq!((queue.allowed, queue.delayed, queue.denied), (1, 1, 2));
    assert_eq!(queue.wait_ns.max, Some(LONGEST as u64 / 2));
    // Two in the window from the second release until the first has left it.
    let over = queue.over.as_ref().expect("a limit");
    assert_eq!((over.first_ns, over.peak_key_ns), (Some(LONGEST / 2), (LONGEST / 2) as u128));
}

/// A clock far coarser than the run, on which the only tick lies long before it.
#[test]
fn coarse_clocks() {
    for start in ["2026-01-01T00:00:59.5Z", "1969-12-31T23:59:59.5Z", "2116-02-20T00:00:59.5Z"] {
        for tick in ["1ms", "1s", "18446743947ns", "1m", "1d", "365d"] {
            for rate in ["1000000007/1s", "999999937/1s", "1/1s", "3/1h"] {
                let lanes: String = ["token-bucket", "gcra", "leaky-bucket"]
                    .iter()
                    .map(|lane| {
                        format!(
                            "[[lane]]\nclock-resolution = \"{tick}\"\n{lane} = {{ rate = \"{rate}\", {} = 3 }}\n",
                            burst_of(lane)
                        )
                    })
                    .collect();
                check_run(&format!(
                    "start = \"{start}\"\nduration = \"1s\"\nlimit = \"1/1m\"\n[[traffic]]\nsteady = {{ rate = \"50/1s\" }}\n{lanes}"
                ));
            }
        }
    }
    // At the first instants there are, a tick may begin before time does.
    let first = SimTime::from_nanos(MIN + 1).to_string();
    for tick in ["7ns", "1d", "365d", "53000d"] {
        let lanes = all_lanes("").replace("[[lane]]\n", &format!("[[lane]]\nclock-resolution = \"{tick}\"\n"));
        check_run(&format!(
            "start = \"{first}\"\nduration = \"1000d\"\nlimit = \"3/30d\"\n[[traffic]]\nsteady = {{ rate = \"1/3d\" }}\n{lanes}"
        ));
    }
}

/// Windows of a nanosecond, and buckets of one.
#[test]
fn the_shortest_windows() {
    check_run(&all_lanes("limit = \"2/1ns\"\nduration = \"200ns\"\n[[traffic]]\nsteady = { rate = \"5/1ns\" }\n"));
    check_run(
        "limit = \"5/1us\"\nduration = \"3us\"\n[[traffic]]\npoisson = { rate = \"1/20ns\" }\n\
         [[lane]]\nsliding-counter = { buckets = 1000 }\n[[lane]]\nsliding-counter = { buckets = 1000, oldest = \"whole\" }\n\
         [[lane]]\nsliding-counter = { buckets = 999, compare = \"before\", anchor = \"first-request\" }\n",
    );
    let text =
        "limit = \"5/1us\"\n[[traffic]]\nburst = { requests = 1 }\n[[lane]]\nsliding-counter = { buckets = 1001 }\n";
    let Err(Error::Scenario(error)) = try_plan(text) else { panic!("buckets below a nanosecond") };
    assert!(error.message.contains("shorter than a nanosecond"), "{error}");
}

#[test]
fn no_arrival_at_all() {
    let report =
        report(&all_lanes("limit = \"5/1m\"\nenvelope = [\"1s\", \"1h\"]\n[[traffic]]\nburst = { requests = 0 }\n"));
    let offered = &report.offered;
    assert_eq!(
        (offered.requests, offered.cost, offered.largest_cost, offered.keys, offered.peak),
        (0, 0, 0, 0, Some(0))
    );
    assert_eq!((offered.first_ns, offered.last_ns, report.end_ns), (None, None, 0));
    assert_eq!((report.groups.len(), report.disagreements.len()), (1, 0));
    for lane in &report.lanes {
        assert_eq!((lane.attempts, lane.admitted(), lane.denied, lane.keys_denied), (0, 0, 0, 0));
        let peak = lane.peak.as_ref().expect("a limit");
        assert_eq!((peak.units, peak.ratio, peak.from_ns, &peak.key), (0, Some(0.0), None, &None));
        let wait = lane.wait_ns;
        assert_eq!((wait.p50, wait.p95, wait.p99, wait.max), (None, None, None, None));
        assert_eq!((lane.state.keys, lane.state.bytes, lane.state.bytes_per_key), (0, 0, 0.0));
        assert_eq!((lane.timeline.allowed.len(), lane.top_denied.len()), (0, 0));
        assert_eq!((lane.false_denials, lane.false_admissions), (Some(0), Some(0)));
        assert!(lane.envelope.iter().all(|point| point.units == 0));
    }
}

#[test]
fn one_arrival() {
    let report =
        report(&all_lanes("limit = \"5/1m\"\n[[traffic]]\nname = \"only\"\nburst = { requests = 1, at = \"3s\" }\n"));
    assert_eq!((report.offered.requests, report.offered.peak, report.end_ns), (1, Some(1), 3 * S));
    for lane in &report.lanes {
        assert_eq!((lane.allowed, lane.delayed, lane.denied), (1, 0, 0), "{}", lane.name);
        let peak = lane.peak.as_ref().expect("a limit");
        assert_eq!((peak.units, peak.from_ns, peak.key.as_deref()), (1, Some(3 * S), Some("only")));
        assert_eq!((lane.wait_ns.p50, lane.wait_ns.max), (Some(0), Some(0)));
        assert_eq!((lane.state.keys, lane.timeline.allowed.iter().sum::<u64>()), (1, 1));
    }
}

/// A million keys, two requests each and a limit of one: every key has its second refused.
#[test]
fn a_million_keys() {
    let keys = 1_000_000;
    let report = report(&format!(
        "limit = \"1/1h\"\n[[traffic]]\nkeys = {keys}\nburst = {{ requests = {}, over = \"1m\" }}\n\
         [[lane]]\nfixed-window = {{ anchor = \"first-request\" }}\n[[lane]]\nsliding-log = {{}}\n[[lane]]\ngcra = {{}}\n",
        2 * keys
    ));
    assert_eq!((report.offered.keys, report.offered.peak), (keys, Some(2)));
    for lane in &report.lanes {
        assert_eq!((lane.allowed, lane.denied, lane.keys_denied), (keys, keys, keys), "{}", lane.name);
        assert_eq!((lane.state.keys, lane.false_denials), (keys, Some(0)), "{}", lane.name);
        assert_eq!(lane.peak.as_ref().expect("a limit").units, 1, "{}", lane.name);
        // The first ten of equals.
        let top: Vec<(&str, u64, u64)> =
            lane.top_denied.iter().map(|k| (k.key.as_str(), k.attempts, k.denied)).collect();
        let expected: Vec<String> = (1..=10).map(|i| format!("burst.{i}")).collect();
        assert_eq!(top, expected.iter().map(|key| (key.as_str(), 2, 1)).collect::<Vec<_>>());
    }
}

/// All that arrives costs at most 2^63 - 1 together: at it exact, past it refused.
#[test]
fn the_total_cost_has_an_end() {
    let text = |second: u64| {
        all_lanes(&format!(
            "limit = \"4611686018427387904/1s\"\n[[traffic]]\ncost = {MAX_UNITS}\nburst = {{ requests = 1 }}\n\
             [[traffic]]\ncost = {second}\nburst = {{ requests = 1 }}\n"
        ))
    };
    let largest = report(&text(MAX_UNITS - 1));
    assert_eq!(largest.offered.cost, i64::MAX as u64);
    // Each is the whole limit of a key of its own.
    let window = &largest.lanes[0];
    assert_eq!((window.cost_offered, window.cost_admitted), (i64::MAX as u64, i64::MAX as u64));
    assert_eq!(window.peak.as_ref().expect("a limit").units, MAX_UNITS);
    let error = run_plan(&plan(&text(MAX_UNITS)), Options::default()).err();
    let Some(Error::Range { message }) = error else { panic!("not refused: {error:?}") };
    assert!(message.contains("9223372036854775807"), "{message}");
    // A cost beyond the most is refused where it is written.
    let Err(Error::Scenario(error)) = try_plan(&text(MAX_UNITS + 1)) else { panic!("not refused") };
    assert!(error.message.contains("4611686018427387905"), "{error}");
}
