//! The closed loop: published and proven figures, equality with the open loop, laws.

use crate::simulate::{plan, try_plan};
use proptest::prelude::*;
use rlsim::report::{LaneReport, LoopReport, Report};
use rlsim::runner::{Extras, run};
use rlsim::sim::Options;

const SECOND: u64 = 1_000_000_000;

/// A lane of a scenario of one lane, and what became of its requests.
fn lane(text: &str) -> (LaneReport, LoopReport) {
    let plan = plan(text);
    let outcome = run(&plan, Options::default(), Extras::default(), &mut |_| true).expect("it runs");
    let lane = outcome.report.lanes.into_iter().next().expect("a lane");
    let closed = lane.closed.clone().expect("a closed loop");
    (lane, closed)
}

/// M requests at once against a limiter, by clients that come back.
fn herd(requests: u64, limit: &str, limiter: &str, response: &str, client: &str) -> (LaneReport, LoopReport) {
    lane(&format!(
        "limit = \"{limit}\"\n[[traffic]]\nburst = {{ requests = {requests} }}\n\
         [[lane]]\n{limiter}\nresponse = {{ {response} }}\nclient = {{ {client} }}\n"
    ))
}

/// Bounds B1: everybody is told the window's end; L leave at each.
#[test]
fn reset_herd() {
    for (m, l) in [(10, 1), (10, 3), (100, 10), (1000, 7)] {
        let limit = format!("{l}/1m");
        let (lane, closed) =
            herd(m, &limit, "fixed-window = {}", "retry-after = \"exact\"", "retry = { retry-after = {} }");
        let n = m.div_ceil(l);
        assert_eq!(lane.attempts, n * m - l * n * (n - 1) / 2, "{m} {l}");
        assert_eq!(closed.drain_ns, Some((n - 1) * 60 * SECOND));
        assert_eq!((closed.succeeded, closed.most_attempts), (m, m));
    }
}

/// Bounds B2 and T8: everybody is told the next token; and each a place of its own.
#[test]
fn next_token_herd_and_reservation() {
    for (m, b, initial) in [(50, 1, "full"), (50, 10, "full"), (500, 10, "full"), (500, 10, "empty")] {
        let limiter = format!("token-bucket = {{ burst = {b}, initial = \"{initial}\" }}");
        let at_first = if initial == "full" { b } else { 0 };
        let left = m - at_first;
        let told = |how: &str| {
            let response = format!("retry-after = \"{how}\"");
            herd(m, "10/1s", &limiter, &response, "retry = { retry-after = {} }")
        };
        let (next, closed) = told("exact");
        assert_eq!(next.attempts, m + left * (left + 1) / 2, "{m} {b} {initial}");
        assert_eq!(closed.drain_ns, Some(left * SECOND / 10));
        let (reserved, closed) = told("reserved");
        assert_eq!(reserved.attempts, m + left, "{m} {b} {initial}");
        assert_eq!((closed.drain_ns, closed.ideal_drain_ns), (Some(left * SECOND / 10), Some(left * SECOND / 10)));
    }
    let (_, closed) = herd(
        500,
        "10/1s",
        "token-bucket = { initial = \"empty\" }",
        "retry-after = \"exact\"",
        "retry = { retry-after = {} }",
    );
    assert_eq!(closed.most_retries, 4865);
    assert_eq!(closed.amplification, Some(251.5));
}

/// Waves at base (2^j - 1), each of which drains the bucket.
fn waves(m: u64, b: u64, rate: u64, cap: u64) -> (u64, u64) {
    let (mut left, mut tokens, mut at, mut attempts, mut wave) = (m, b, 0, 0, 0_u32);
    loop {
        attempts += left;
        let taken = left.min(tokens);
        left -= taken;
        if left == 0 {
            return (at, attempts);
        }
        let delay = cap.min(1_u64.checked_shl(wave).unwrap_or(u64::MAX));
        wave += 1;
        at += delay;
        tokens = b.min(tokens - taken + rate * delay);
    }
}

/// Bounds B4 and T9.
#[test]
fn exponential_backoff_without_jitter_stays_synchronised() {
    assert_eq!(waves(1000, 10, 10, 60), (5643, 50_500));
    assert_eq!(waves(100, 10, 10, 60).0, 243);
    assert_eq!(waves(100, 10, 10, u64::MAX).0, 511);
    for (m, b, cap) in [(100, 10, None), (100, 10, Some(60)), (1000, 10, Some(60)), (1000, 100, Some(60))] {
        let limiter = format!("token-bucket = {{ burst = {b} }}");
        let stated = cap.map_or(String::new(), |cap| format!(", cap = \"{cap}s\""));
        let client = format!("retry = {{ exponential = {{ base = \"1s\"{stated} }} }}");
        let (lane, closed) = herd(m, "10/1s", &limiter, "", &client);
        let (drain, attempts) = waves(m, b, 10, cap.unwrap_or(u64::MAX));
        assert_eq!((closed.drain_ns, lane.attempts), (Some(drain * SECOND), attempts), "{m} {b} {cap:?}");
        assert_eq!(closed.ideal_drain_ns, Some((m - b) * SECOND / 10));
    }
}

/// Bounds B5: the rows without randomness to the digit, with an empty and with a full bucket.
#[test]
fn storm_without_randomness() {
    let fixed = "retry = { fixed = { delay = \"1s\" } }";
    let exponential = "retry = { exponential = { base = \"1s\", cap = \"60s\" } }";
    let obeyed = "retry = { retry-after = {} }";
    let rows = [
        ("empty", "", fixed, 26.5, 50, Some(500)),
        ("empty", "retry-after = \"seconds\"", obeyed, 26.5, 50, Some(500)),
        ("empty", "", exponential, 26.5, 2703, Some(500)),
        ("empty", "retry-after = \"exact\"", obeyed, 251.5, 50, Some(4865)),
        ("empty", "retry-after = \"reserved\"", obeyed, 2.0, 50, Some(10)),
        ("full", "", fixed, 25.5, 49, None),
        ("full", "retry-after = \"seconds\"", obeyed, 25.5, 49, None),
        ("full", "", exponential, 25.5, 2643, None),
        ("full", "retry-after = \"exact\"", obeyed, 241.59, 49, None),
    ];
    for (initial, response, client, attempts, drain, most) in rows {
        let limiter = format!("token-bucket = {{ initial = \"{initial}\" }}");
        let (lane, closed) = herd(500, "10/1s", &limiter, response, client);
        assert_eq!(closed.amplification, Some(attempts), "{initial} {response} {client}");
        assert_eq!(lane.attempts as f64 / 500.0, attempts);
        assert_eq!(closed.drain_ns, Some(drain * SECOND), "{initial} {response} {client}");
        if let Some(most) = most {
            assert_eq!(closed.most_retries, most);
        }
    }
}

/// Bounds B5: rows with randomness. The table's figures are means of five runs of another program, so
/// both means have an error: ours over forty seeds, theirs as if of the same spread.
#[test]
fn storm_with_randomness() {
    let jittered =
        |kind: &str| format!("retry = {{ exponential = {{ base = \"1s\", cap = \"60s\", jitter = \"{kind}\" }} }}");
    let obeyed = || "retry = { retry-after = {} }".to_owned();
    let rows = [
        ("", jittered("full"), 6.34, 89.0, 630.0),
        ("", jittered("equal"), 6.15, 111.0, 500.0),
        ("", jittered("decorrelated"), 5.62, 87.0, 295.0),
        ("retry-after = \"exact\", spread = \"50s\"", obeyed(), 2.06, 94.0, 18.0),
        ("retry-after = \"exact\", spread = \"1.25x\"", obeyed(), 2.01, 63.0, 14.0),
    ];
    const SEEDS: u32 = 40;
    for (response, client, attempts, drain, most) in rows {
        let mut found: [Vec<f64>; 3] = Default::default();
        for seed in 1..=SEEDS {
            let (_, closed) = lane(&format!(
                "seed = {seed}\nlimit = \"10/1s\"\n[[traffic]]\nburst = {{ requests = 500 }}\n\
                 [[lane]]\ntoken-bucket = {{ initial = \"empty\" }}\nresponse = {{ {response} }}\nclient = {{ {client} }}\n"
            ));
            found[0].push(closed.amplification.expect("attempts"));
            found[1].push(closed.drain_ns.expect("it drains") as f64 / 1e9);
            found[2].push(closed.most_retries as f64);
        }
        for (what, found, expected) in
            [("attempts", &found[0], attempts), ("drain", &found[1], drain), ("peak", &found[2], most)]
        {
            let n = f64::from(SEEDS);
            let mean = found.iter().sum::<f64>() / n;
            let variance = found.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
            let error = (variance / n + variance / 5.0).sqrt();
            // The table is rounded to its last digit.
            let rounding = if expected < 10.0 { 0.005 } else { 0.5 };
            let distance = (mean - expected).abs();
            assert!(distance <= 4.0 * error + rounding, "{what} of {client} {response}: {mean} +- {error}, {expected}");
        }
    }
}

/// Requests answered within the last hundred seconds of four hundred, exactly.
fn tail_goodput(rate: &str, client: &str, queue: u64, order: &str) -> f64 {
    // Bins of a hundred seconds: the fourth is the last.
    let text = format!(
        "duration = \"400s\"\nmetric-bin = \"100s\"\nlimit = \"100/1s\"\n[[traffic]]\nsteady = {{ rate = \"{rate}\" }}\n\
         [[lane]]\ngcra = {{}}\nclient = {{ {client} }}\n\
         backend = {{ servers = 1, service = \"100ms\", queue = {queue}, order = \"{order}\", overflow = \"drop\", \
         timeout = \"2s\", stall = {{ from = \"20s\", until = \"30s\" }} }}\n"
    );
    let good = |text: &str| lane(text).1.succeeded as f64;
    (good(&text) - good(&text.replace("duration = \"400s\"", "duration = \"300s\""))) / 100.0
}

/// Bounds B7 (c) and T11: what a stall of ten seconds leaves behind.
#[test]
fn metastable_queue() {
    let retries = "retry = { immediate = {} }, max-attempts = 4";
    let budget = "retry = { immediate = {} }, max-attempts = 4, budget = { ratio = 0.1 }";
    let rows = [
        ("12/5s", retries, 1000, "fifo", 2.4),
        ("3/1s", retries, 1000, "fifo", 0.0),
        ("3/1s", retries, 15, "fifo", 3.0),
        ("3/1s", retries, 25, "fifo", 0.0),
        ("3/1s", retries, 1000, "lifo", 3.0),
        ("3/1s", budget, 1000, "fifo", 3.0),
        ("8/1s", budget, 1000, "fifo", 8.0),
        ("19/2s", budget, 1000, "fifo", 0.0),
        ("9/1s", "retry = { none = {} }", 1000, "fifo", 9.0),
    ];
    for (rate, client, queue, order, expected) in rows {
        let found = tail_goodput(rate, client, queue, order);
        assert!((found - expected).abs() < 0.005, "{rate} {client} {queue} {order}: {found}, not {expected}");
    }
}

/// Bounds B7: without retries a FIFO stays dead (lambda D - mu timeout) / (mu - lambda) + timeout
/// after the repair, give or take a service.
#[test]
fn dead_time_after_a_stall() {
    for (lambda, dead) in [(9_u64, 72.0), (8, 32.0), (5, 8.0)] {
        let (_, closed) = lane(&format!(
            "duration = \"400s\"\nmetric-bin = \"100ms\"\nlimit = \"100/1s\"\n[[traffic]]\nsteady = {{ rate = \"{lambda}/1s\" }}\n\
             [[lane]]\ngcra = {{}}\nclient = {{}}\n\
             backend = {{ servers = 1, service = \"100ms\", timeout = \"2s\", stall = {{ from = \"20s\", until = \"30s\" }} }}\n"
        ));
        // Requests are lost from two seconds before the stall until the queue is short enough again:
        // the number of those lost is exact, the time follows.
        let lost = closed.gave_up as f64 / lambda as f64;
        assert!((lost - (dead + 10.0)).abs() <= 2.5, "{lambda}/s: {lost} s lost, {dead} s after the repair");
    }
}

/// Bounds A15 and T10: the largest wait behind each limiter at mu = 1.2/s.
#[test]
fn latency_behind_each_limiter() {
    let behind = |limiter: &str, traffic: &str| {
        let (_, closed) = lane(&format!(
            "limit = \"60/1m\"\nduration = \"1000s\"\n{traffic}\n[[lane]]\nkey = \"who\"\n{limiter}\nclient = {{}}\nbackend = {{ rate = \"6/5s\" }}\n"
        ));
        closed.time_to_success_ns.max.expect("an answer") as f64 / 1e9
    };
    let one = "groups = { who = \"one\" }\n[[traffic]]\ngroups = { who = \"one\" }";
    let twice = format!(
        "[[traffic]]\nburst = {{ requests = 60, at = \"59999999us\" }}\n{one}\nburst = {{ requests = 60, at = \"60s\" }}"
    );
    let steady = |at: &str| {
        format!(
            "[[traffic]]\nburst = {{ requests = 60, at = \"{at}\" }}\n{one}\nfrom = \"61s\"\nsteady = {{ rate = \"1/1s\" }}"
        )
    };
    let near = |found: f64, expected: f64| assert!((found - expected).abs() < 0.005, "{found}, not {expected}");
    near(behind("fixed-window = {}", &twice), 100.0);
    near(behind("sliding-counter = {}", &steady("59999999us")), 50.0);
    near(behind("token-bucket = {}", &steady("60s")), 50.0);
    near(behind("token-bucket = { burst = 10 }", &steady("60s")), 8.33);
}

/// Case 34: fifty clients, ten a minute, each back after the exact wait.
#[test]
fn everyone_comes_back_at_the_reset() {
    let obeyed = "retry = { retry-after = {} }";
    for (limiter, attempts) in [("fixed-window = {}", 150), ("token-bucket = {}", 870)] {
        let (lane, closed) = herd(50, "10/1m", limiter, "retry-after = \"exact\"", obeyed);
        assert_eq!((lane.attempts, lane.denied), (attempts, attempts - 50), "{limiter}");
        assert_eq!(closed.drain_ns, Some(240 * SECOND));
    }
}

/// Whole seconds line clients up, and an HTTP date does so whatever the instant of the refusal.
#[test]
fn rounding_lines_clients_up() {
    let (_, exact) = herd(
        300,
        "10/1s",
        "token-bucket = { initial = \"empty\" }",
        "retry-after = \"reserved\"",
        "retry = { retry-after = {} }",
    );
    assert_eq!(exact.most_retries, 10);
    let text = |how: &str| {
        format!(
            "limit = \"10/1s\"\n[[traffic]]\nburst = {{ requests = 300, over = \"900ms\" }}\n[[lane]]\n\
             token-bucket = {{ initial = \"empty\" }}\nresponse = {{ retry-after = \"{how}\" }}\nclient = {{ retry = {{ retry-after = {{}} }} }}\n"
        )
    };
    // One comes every 3 ms, the last at 0.897 s, and a token every 0.1 s: eight pass. A date falls on a
    // second, so all that are left come at once: two find a token at 1 s, ten at each of 2 to 30 s.
    let (lane, date) = lane(&text("date"));
    assert_eq!(lane.attempts, 300 + 292 + (1..=29).map(|wave| wave * 10).sum::<u64>());
    assert_eq!(date.loop_timeline.retries.iter().filter(|n| **n > 0).count(), 30);
    assert_eq!((date.most_retries, date.drain_ns), (292, Some(30 * SECOND)));
}

fn without_closed(report: &Report) -> serde_json::Value {
    let mut value = serde_json::to_value(report).expect("plain data");
    value.as_object_mut().expect("a table").remove("scenario");
    for lane in value["lanes"].as_array_mut().expect("lanes") {
        let lane = lane.as_object_mut().expect("a table");
        let known: Vec<String> = lane.keys().cloned().collect();
        let extra = [
            "partial",
            "first_attempts",
            "amplification",
            "succeeded",
            "gave_up",
            "goodput_per_s",
            "throughput_per_s",
            "drain_ns",
            "ideal_drain_ns",
            "time_to_success_ns",
            "time_to_success_all_ns",
            "metric_bin_ns",
            "most_attempts",
            "most_retries",
            "peak_to_mean",
            "dispersion",
            "jain",
            "overloaded_bins",
            "recovered_ns",
            "loop_timeline",
        ];
        // Logs that decide batch by batch keep a place free, so they may have grown earlier.
        let state = lane["state"].as_object_mut().expect("a table");
        state.remove("bytes");
        state.remove("bytes_per_key");
        known.iter().filter(|key| extra.contains(&key.as_str())).for_each(|key| {
            lane.remove(key);
        });
    }
    // Told only for open loops: retries take part in what a lane knows.
    for disagreement in value["disagreements"].as_array_mut().expect("a list") {
        disagreement.as_object_mut().expect("a table").remove("levels");
    }
    value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// With retries off the feedback driver's report is the open loop's, fingerprints included.
    #[test]
    fn without_retries_both_drivers_report_the_same(scene in crate::scenes::scene(), batch in 1_usize..50) {
        let Ok(open) = try_plan(&scene) else { return Ok(()) };
        let closed = plan(&format!("client = {{}}\n{scene}"));
        let options = Options { batch, threads: 1 + batch % 2, ..Options::default() };
        let open = run(&open, Options::default(), Extras::default(), &mut |_| true).expect("it runs").report;
        let closed = run(&closed, options, Extras::default(), &mut |_| true).expect("it runs").report;
        prop_assert_eq!(without_closed(&open), without_closed(&closed));
    }

    /// Attempts and requests are conserved, whatever clients do.
    #[test]
    fn nothing_is_lost(
        seed in 0_u64..1000,
        retry in prop::sample::select(vec![
            "immediate = {}", "fixed = { delay = \"300ms\" }", "retry-after = { jitter = \"1s\" }", "paced = {}",
            "exponential = { base = \"100ms\", cap = \"5s\", jitter = \"decorrelated\" }",
            "sdk = { name = \"aws-adaptive-1.44\" }", "sdk = { name = \"grpc-1.85\" }", "sdk = { name = \"urllib3-2.8\" }",
        ]),
        extra in prop::sample::select(vec![
            "", ", deadline = \"3s\"", ", budget = \"finagle\"", ", budget = \"envoy\"",
            ", throttle = { adaptive = { k = 1.5, window = \"5s\" } }",
            ", throttle = { breaker = { share = 0.3 } }", ", budget = { bucket = { size = 5, ratio = 0.1 } }", ", round-trip = \"70ms\"",
        ]),
        backend in prop::sample::select(vec![
            "", "backend = { service = \"40ms\", queue = 5, timeout = \"400ms\" }",
            "backend = { hop = { exponential = \"30ms\" }, failure = 0.4, timeout = \"100ms\" }",
            "backend = { optimistic = { hop = \"10ms\", deviation = \"2ms\" } }",
            "backend = { servers = 3, service = { exponential = \"90ms\" }, timeout = \"200ms\", overflow = \"drop\" }",
            "backend = { service = { load-dependent = { base = \"20ms\", each = \"5ms\" } }, brown-out = { from = \"3s\", until = \"6s\", factor = 0.1 } }",
        ]),
        limiter in prop::sample::select(vec!["token-bucket = {}", "leaky-bucket = {}", "sliding-counter = {}"]),
        population in any::<bool>(),
    ) {
        let traffic = if population {
            "clients = { count = 20, think = \"200ms\" }"
        } else {
            "poisson = { rate = \"30/1s\" }\nkeys = 7"
        };
        let text = format!(
            "seed = {seed}\nduration = \"10s\"\nlimit = \"5/1s\"\nresponse = {{ retry-after = \"seconds\", headers = \"ietf\" }}\n\
             client = {{ retry = {{ {retry} }}, max-attempts = 6{extra} }}\n{backend}\n[[traffic]]\n{traffic}\n[[lane]]\n{limiter}\n"
        );
        let (lane, closed) = lane(&text);
        prop_assert_eq!(lane.attempts, lane.allowed + lane.delayed + lane.denied);
        prop_assert_eq!(lane.attempts, closed.first_attempts + lane.retries);
        prop_assert_eq!(lane.requests, closed.succeeded + closed.gave_up + lane.unfinished);
        prop_assert!(closed.first_attempts <= lane.requests);
        prop_assert!(closed.succeeded <= lane.allowed + lane.delayed);
        let sum = |counts: &[u64]| counts.iter().sum::<u64>();
        prop_assert_eq!(sum(&closed.loop_timeline.first), closed.first_attempts);
        prop_assert_eq!(sum(&closed.loop_timeline.retries), lane.retries);
        prop_assert_eq!(sum(&closed.loop_timeline.good), closed.succeeded);
        prop_assert!(sum(&closed.loop_timeline.served) <= lane.allowed + lane.delayed);
    }

    /// A batch of one or of thousands, one thread or two: the same bytes.
    #[test]
    fn neither_batches_nor_threads_change_anything(seed in 0_u64..100, batch in 1_usize..60) {
        let text = format!(
            "seed = {seed}\nduration = \"5s\"\nlimit = \"5/1s\"\nresponse = {{ retry-after = \"exact\", spread = \"1.5x\" }}\n\
             client = {{ retry = {{ retry-after = {{}} }} }}\n[[traffic]]\nidle-then-spike = {{ idle = \"1s\", requests = 40, repeat = 4 }}\nkeys = 3\n"
        );
        let plan = plan(&text);
        let json = |options: Options| {
            let outcome = run(&plan, options, Extras::default(), &mut |_| true).expect("it runs");
            serde_json::to_string(&outcome.report).expect("plain data")
        };
        let options = Options { batch, threads: 2, ..Options::default() };
        prop_assert_eq!(json(Options::default()), json(options));
    }
}

/// One of four equal attempts passes; and where all fail, every request makes all its attempts
/// (bounds B6 at p = 1).
#[test]
fn retries_are_amplified_by_the_share_that_fails() {
    let (lane, closed) = lane(
        "duration = \"1000s\"\nlimit = \"1/1s\"\n[[traffic]]\nsteady = { rate = \"4/1s\" }\n[[lane]]\nfixed-window = {}\nclient = {}\n",
    );
    assert_eq!((lane.allowed, lane.denied, closed.succeeded), (1000, 3000, 1000));
    for k in 1..=6 {
        let retry = if k == 1 {
            "retry = { none = {} }".to_owned()
        } else {
            format!("retry = {{ fixed = {{ delay = \"10ms\" }} }}, max-attempts = {k}")
        };
        let (lane, closed) = herd(100, "0/1s", "fixed-window = {}", "", &retry);
        assert_eq!((lane.attempts, closed.gave_up), (100 * k, 100));
    }
}

#[test]
fn a_runaway_storm_is_stopped_and_says_so() {
    let (lane, closed) = lane(
        "max-events = 5000\nlimit = \"10/1s\"\n[[traffic]]\nburst = { requests = 500 }\n[[lane]]\ntoken-bucket = {}\n\
         response = { retry-after = \"exact\" }\nclient = { retry = { retry-after = {} } }\n",
    );
    assert!(closed.partial);
    assert_eq!(lane.requests, closed.succeeded + closed.gave_up + lane.unfinished);
}

/// Optimistic concurrency without randomness: of those that read at one instant the first to write
/// wins, and the others come back in the next round.
#[test]
fn optimistic_writers_take_turns() {
    let writers = |n: u64, hop: &str| {
        lane(&format!(
            "[[traffic]]\nburst = {{ requests = {n} }}\n[[lane]]\nfixed-window = {{ limit = \"1000000/1h\" }}\n\
             client = {{ retry = {{ fixed = {{ delay = \"5ms\" }} }} }}\nbackend = {{ optimistic = {hop} }}\n"
        ))
    };
    for n in [1, 2, 7] {
        let (lane, closed) = writers(n, "{ hop = \"10ms\" }");
        // Four hops a round, and the pause between two.
        assert_eq!((lane.attempts, closed.succeeded), (n * (n + 1) / 2, n));
        assert_eq!(closed.drain_ns, Some((n * 40 + (n - 1) * 5) * 1_000_000));
    }
    let (lane, closed) = writers(20, "{ hop = \"10ms\", deviation = \"2ms\" }");
    assert!(closed.succeeded == 20 && lane.attempts > 20 && lane.attempts < 210);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// With K attempts at most, each failing with probability p: 1 - p^K succeed, and a request makes
    /// (1 - p^K) / (1 - p) attempts (bounds B6, results 3.2).
    #[test]
    fn a_backend_fails_its_share(per_cent in 1_u32..95, most in 1_i32..7, seed in 0_u64..1000) {
        let p = f64::from(per_cent) / 100.0;
        let retry = if most == 1 { "none" } else { "immediate" };
        let (lane, closed) = lane(&format!(
            "seed = {seed}\n[[traffic]]\nuntil = \"20s\"\npoisson = {{ rate = \"1000/1s\" }}\n[[lane]]\nfixed-window = {{ limit = \"1000000/1h\" }}\n\
             client = {{ retry = {{ {retry} = {{}} }}, max-attempts = {most} }}\n\
             backend = {{ failure = {p}, hop = {{ exponential = \"10ms\" }} }}\n"
        ));
        let n = lane.requests as f64;
        // P(N >= k) = p^(k-1): the mean is their sum, and E[N^2] that of (2k - 1) p^(k-1).
        let tails = || (1..=most).map(|k| (f64::from(k), p.powi(k - 1)));
        let mean: f64 = tails().map(|(_, tail)| tail).sum();
        let variance = tails().map(|(k, tail)| (2.0 * k - 1.0) * tail).sum::<f64>() - mean * mean;
        let good = 1.0 - p.powi(most);
        prop_assert!((mean - good / (1.0 - p)).abs() < 1e-9);
        // Five deviations: of forty-eight such tests in one run of these, one in a hundred thousand fails.
        let load = closed.amplification.expect("attempts");
        prop_assert!((load - mean).abs() <= 5.0 * (variance / n).sqrt(), "{} for {}", load, mean);
        let success = closed.succeeded as f64 / n;
        prop_assert!((success - good).abs() <= 5.0 * (good * (1.0 - good) / n).sqrt(), "{} for {}", success, good);
    }
}

/// An answer that is still on its way when the client stops waiting comes too late.
#[test]
fn answers_on_their_way_may_come_too_late() {
    let text = |timeout: &str| {
        format!(
            "[[traffic]]\nburst = {{ requests = 1 }}\n[[lane]]\nfixed-window = {{ limit = \"10/1s\" }}\n\
             client = {{ retry = {{ fixed = {{ delay = \"1s\" }} }}, max-attempts = 2 }}\n\
             backend = {{ service = \"20ms\", hop = \"10ms\", timeout = \"{timeout}\" }}\n"
        )
    };
    let (_, in_time) = lane(&text("41ms"));
    assert_eq!((in_time.succeeded, in_time.drain_ns), (1, Some(40_000_000)));
    let (late, closed) = lane(&text("39ms"));
    assert_eq!((late.attempts, closed.succeeded, closed.gave_up), (2, 0, 1));
}

/// A hundred requests at once, one served every 100 ms.
#[test]
fn quantiles_of_the_time_to_success() {
    let (_, closed) = lane(
        "[[traffic]]\nburst = { requests = 100 }\n[[lane]]\nfixed-window = { limit = \"1000/1h\" }\n\
         client = {}\nbackend = { service = \"100ms\" }\n",
    );
    let times = closed.time_to_success_ns;
    for (found, expected) in [(times.p50, 5.0), (times.p95, 9.5), (times.p99, 9.9), (times.max, 10.0)] {
        let found = found.expect("all are answered") as f64 / 1e9;
        assert!((found / expected - 1.0).abs() <= 1e-3, "{found}, not {expected}");
    }
}

/// Whoever waits at the end has not recovered, however still it is: exponential waves at 1, 3, 7, 15 s
/// leave whole seconds empty.
#[test]
fn a_storm_that_is_cut_off_has_not_recovered() {
    let storm = |duration: &str, client: &str| {
        lane(&format!(
            "duration = \"{duration}\"\nlimit = \"10/1s\"\n[[traffic]]\nburst = {{ requests = 500 }}\n[[lane]]\n\
             token-bucket = {{}}\nclient = {{ {client} }}\n"
        ))
        .1
    };
    let exponential = "retry = { exponential = { base = \"1s\", cap = \"60s\" } }";
    assert_eq!(storm("25s", exponential).recovered_ns, None);
    assert_eq!(storm("25s", "retry = { fixed = { delay = \"1s\" } }").recovered_ns, None);
    // Forty-nine waves after the first, and the last of them is the end of it.
    assert_eq!(storm("100s", "retry = { fixed = { delay = \"1s\" } }").recovered_ns, Some(50 * SECOND));
}

/// Each is answered, though in the second after its own: nothing had to recover.
#[test]
fn slow_answers_are_answers() {
    let (_, closed) = lane(
        "duration = \"60s\"\nlimit = \"100/1s\"\nbackend = { service = \"600ms\" }\n\
         client = { retry = { fixed = { delay = \"1s\" } }, max-attempts = 3 }\n\
         [[traffic]]\nsteady = { rate = \"1/2s\" }\nfrom = \"1.5s\"\n[[lane]]\ngcra = {}\n",
    );
    assert_eq!((closed.succeeded, closed.overloaded_bins, closed.recovered_ns), (30, 0, Some(0)));
}

/// A collapse is one whatever is left of the last bin.
#[test]
fn a_collapse_lasts_through_a_short_last_bin() {
    for duration in ["180s", "180001ms", "180005ms", "180900ms", "181s"] {
        let (_, closed) = lane(&format!(
            "duration = \"{duration}\"\nlimit = \"100/1s\"\n[[traffic]]\nsteady = {{ rate = \"3/1s\" }}\n[[lane]]\ngcra = {{}}\n\
             client = {{ retry = {{ immediate = {{}} }}, max-attempts = 4 }}\n\
             backend = {{ service = \"100ms\", overflow = \"drop\", timeout = \"2s\", stall = {{ from = \"20s\", until = \"30s\" }} }}\n"
        ));
        assert_eq!(closed.recovered_ns, None, "{duration}");
    }
}

/// Three retries in flight are always allowed, so hardly any is refused for the budget; what a deadline
/// forbids is not counted for ever.
#[test]
fn a_deadline_leaves_nothing_in_a_budget() {
    let retries = |budget: &str| {
        let (lane, _) = lane(&format!(
            "duration = \"100s\"\nlimit = \"1000/1s\"\nbackend = {{ servers = 100, service = \"10ms\", failure = 0.2 }}\n\
             [[traffic]]\nsteady = {{ rate = \"50/s\" }}\n[[lane]]\ngcra = {{}}\n\
             client = {{ retry = {{ exponential = {{ base = \"400ms\", cap = \"400ms\", jitter = \"full\" }} }}, \
             max-attempts = 4, deadline = \"150ms\"{budget} }}\n"
        ));
        lane.retries
    };
    let (with, without) = (retries(", budget = \"envoy\""), retries(""));
    assert!(without > 100 && with <= without && with * 100 >= without * 95, "{with} of {without}");
}

/// The crowd that a spread is for is that of the key: two requests of each key, and ten a second.
#[test]
fn a_spread_is_for_the_crowd_of_its_key() {
    let (_, closed) = lane(
        "limit = \"10/1s\"\n[[traffic]]\nburst = { requests = 1000 }\nkeys = 500\n[[lane]]\ntoken-bucket = { initial = \"empty\" }\n\
         response = { retry-after = \"exact\", spread = \"1.25x\" }\nclient = { retry = { retry-after = {} } }\n",
    );
    // The first is told 0.1 s and at most 0.25 s more; so is the second, and once or twice again.
    assert!(closed.drain_ns.is_some_and(|drain| drain < 2 * SECOND), "{:?}", closed.drain_ns);
}

#[test]
fn first_attempts_count_among_the_events() {
    let (lane, closed) = lane(
        "max-events = 1000\nlimit = \"10/1s\"\nclient = { retry = { fixed = { delay = \"1s\" } } }\n\
         [[traffic]]\nburst = { requests = 1000000000 }\n[[lane]]\ngcra = {}\n",
    );
    assert!(closed.partial && lane.attempts <= 1001, "{}", lane.attempts);
    assert_eq!(closed.recovered_ns, None);
}

#[test]
fn a_closed_loop_of_more_than_its_clock_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "time,key\n1830-01-01T00:00:00Z,a\n2110-01-01T00:00:00Z,a\n").expect("written");
    let text = format!(
        "limit = \"1/1m\"\nclient = {{ retry = {{ fixed = {{ delay = \"1s\" }} }}, max-attempts = 3 }}\n\
         [[traffic]]\ntrace = {{ file = \"{}\", time = \"time\", key = \"key\" }}\n[[lane]]\ngcra = {{}}\n",
        path.display()
    );
    let error = run(&plan(&text), Options::default(), Extras::default(), &mut |_| true).expect_err("it is too long");
    assert!(error.to_string().contains("at most 146 years"), "{error}");
}

/// A client that holds a request back until after its deadline gives it up unsent.
#[test]
fn what_is_held_back_for_too_long_is_given_up() {
    for seed in 0..60 {
        let (lane, closed) = lane(&format!(
            "seed = {seed}\nduration = \"10s\"\nlimit = \"5/1s\"\nresponse = {{ retry-after = \"seconds\", headers = \"ietf\" }}\n\
             client = {{ retry = {{ sdk = {{ name = \"aws-adaptive-1.44\" }} }}, max-attempts = 6, deadline = \"3s\" }}\n\
             backend = {{ service = \"40ms\", queue = 5, timeout = \"400ms\" }}\n\
             [[traffic]]\npoisson = {{ rate = \"30/1s\" }}\nkeys = 7\n[[lane]]\ntoken-bucket = {{}}\n"
        ));
        assert_eq!(lane.requests, closed.succeeded + closed.gave_up + lane.unfinished);
        assert!(closed.time_to_success_ns.max <= Some(3 * SECOND));
    }
}
