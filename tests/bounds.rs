//! Worst cases: the traffic that attains each algorithm's bound, and random traffic that never
//! passes it.
//!
//! L = 100 units, W = 60 s. In continuous time A(T) is the most units in any half-open span T; on
//! a clock of whole nanoseconds two instants are the shortest span that can hold an edge.

use crate::scenes::scene;
use crate::simulate::{S, arrivals, bursts, decisions, envelope, lane, plan, report, run_plan, try_plan, who_lane};
use proptest::prelude::*;
use rlsim::limiter::{KeyId, Limiter, Workload};
use rlsim::report::LaneReport;
use rlsim::sim::Options;
use rlsim::time::SimTime;

const L: i64 = 100;
const W: i64 = 60 * S;
/// One nanosecond.
const E: i64 = 1;
/// Time for one unit.
const I: i64 = W / L;
/// Half-open spans: one instant, two, three; and those of the table.
const SPANS: [i64; 7] = [E, 2 * E, 3 * E, 10 * S, 60 * S, 61 * S, 120 * S];

type Trace = Vec<(i64, u64)>;

/// A burst of L at each instant.
fn full(instants: &[i64]) -> Trace {
    instants.iter().map(|at| (*at, L as u64)).collect()
}

/// Single requests.
fn singles(instants: impl Iterator<Item = i64>) -> Trace {
    instants.map(|at| (at, 1)).collect()
}

/// One client's trace through one lane.
fn replay(trace: &[(i64, u64)], algorithm: &str) -> LaneReport {
    let spans: Vec<String> = SPANS.iter().map(|span| format!("\"{span}ns\"")).collect();
    let text = format!(
        "limit = \"100/60s\"\nenvelope = [{}]\n{}{}",
        spans.join(", "),
        bursts(trace),
        who_lane("lane", algorithm)
    );
    report(&text).lanes.remove(0)
}

/// The trace attains the bound at each span: `None` where the table has no figure.
///
/// The first figure is the limit for T -> 0, reached in the `shortest` span.
fn attains(algorithm: &str, trace: &[(i64, u64)], shortest: i64, figures: [Option<u64>; 5], denied: u64) {
    let lane = replay(trace, algorithm);
    assert_eq!(lane.denied, denied, "{algorithm}");
    let spans = [shortest, 10 * S, 60 * S, 61 * S, 120 * S];
    for (span, figure) in spans.into_iter().zip(figures) {
        let (units, bound) = envelope(&lane, span);
        if let Some(figure) = figure {
            assert_eq!((units, bound), (figure, Some(u128::from(figure))), "{algorithm} at {span} ns");
        }
        let bound = bound.expect("proven");
        assert!(u128::from(units) <= bound, "{algorithm} at {span} ns: {units} pass {bound}");
    }
    // In continuous time the same bound holds from the shortest span on.
    assert_eq!(envelope(&lane, E).1, figures[0].map(u128::from), "{algorithm} for T -> 0");
    let peak = lane.peak.as_ref().expect("a limit");
    assert_eq!(Some(peak.units), figures[2], "{algorithm}");
    assert_eq!((peak.bound, peak.key.as_deref()), (figures[2].map(u128::from), Some("client")), "{algorithm}");
    assert_eq!(peak.ratio, Some(peak.units as f64 / L as f64), "{algorithm}");
}

fn all(figures: [u64; 5]) -> [Option<u64>; 5] {
    figures.map(Some)
}

#[test]
fn fixed_window() {
    let trace = full(&[W - E, W, 2 * W]);
    attains("fixed-window = {}", &trace, 2 * E, all([200, 200, 200, 300, 300]), 0);
    let lane = replay(&trace, "fixed-window = {}");
    assert_eq!(lane.peak.expect("a limit").from_ns, Some(W - E));
}

#[test]
fn anchored_window() {
    let trace = vec![(0, 1), (W - E, 99), (W, 100), (2 * W, 100)];
    attains("fixed-window = { anchor = \"first-request\" }", &trace, 2 * E, all([199, 199, 199, 299, 299]), 0);
}

/// A window that every request pushes on never lets more through; who never falls silent is locked
/// out for ever.
#[test]
fn pushed_window() {
    let window = "fixed-window = { anchor = \"every-request\" }";
    attains(window, &full(&[0, W, 2 * W]), E, all([100, 100, 100, 200, 200]), 0);
    let text = format!(
        "limit = \"100/60s\"\nduration = \"10m\"\n[[traffic]]\nsteady = {{ rate = \"100/60s\" }}\n[[lane]]\n{window}\n"
    );
    let steady = report(&text).lanes.remove(0);
    assert_eq!((steady.allowed, steady.denied, steady.false_denials), (100, 900, Some(900)));
}

#[test]
fn sliding_log() {
    attains("sliding-log = {}", &full(&[0, W, 2 * W]), E, all([100, 100, 100, 200, 200]), 0);
    // An entry exactly W old still counts: a window one tick longer.
    let later = full(&[0, W + E, 2 * (W + E)]);
    attains("sliding-log = { edge = \"inclusive\" }", &later, E, all([100, 100, 100, 200, 200]), 0);
}

/// V1: L just before the edge, then one as soon as the weight of the last window allows it; from
/// the third window on the window before held L - 1.
#[test]
fn sliding_counter_after() {
    let mut trace = full(&[W - E]);
    trace.extend(singles((1..L).map(|i| W + i * I)));
    trace.extend(singles((0..L - 1).map(|i| 2 * W + (i * W + L - 2) / (L - 1))));
    attains("sliding-counter = {}", &trace, E, all([100, 116, 199, 201, 298]), 0);
}

/// V2: one tick after each instant at which V1 would have refused still.
#[test]
fn sliding_counter_before() {
    let mut trace = full(&[W - E]);
    trace.extend(singles((0..2 * L).map(|i| W + i * I + E)));
    attains("sliding-counter = { compare = \"before\" }", &trace, 3 * E, all([101, 117, 200, 202, 300]), 0);
}

/// k = 6 buckets of w = 10 s.
#[test]
fn buckets_of_a_window() {
    let w = W / 6;
    let ignored = "sliding-counter = { buckets = 6, oldest = \"ignored\" }";
    attains(ignored, &full(&[w - E, 6 * w, 12 * w]), E, all([100, 100, 200, 200, 300]), 0);
    // All of the leak lies beyond W - w.
    let lane = replay(&full(&[w - E, 6 * w]), ignored);
    assert_eq!(lane.peak.expect("a limit").units, 200);

    let whole = "sliding-counter = { buckets = 6, oldest = \"whole\" }";
    attains(whole, &full(&[w - E, 6 * w, 7 * w, 14 * w]), E, all([100, 100, 100, 200, 200]), 100);

    let mut trace = full(&[w - E]);
    trace.extend(singles((1..L).map(|i| W + i * w / L)));
    let weighted = "sliding-counter = { buckets = 6 }";
    attains(weighted, &trace, E, [Some(100), Some(100), Some(199), None, None], 0);
}

/// b = L, r = L/W: token bucket, GCRA with tolerance (b - 1) I, and the meter are one function.
#[test]
fn buckets() {
    let mut trace = full(&[0]);
    trace.extend(singles((1..2 * L).map(|i| i * I)));
    for bucket in ["token-bucket = {}", "gcra = {}", "leaky-bucket = { mode = \"meter\" }"] {
        attains(bucket, &trace, E, all([100, 116, 199, 201, 299]), 0);
    }
    let mut trace = full(&[0]);
    trace.extend(singles((0..2 * L).map(|i| i * I + E)));
    let before = "leaky-bucket = { mode = \"meter\", compare = \"before\" }";
    attains(before, &trace, 2 * E, all([101, 117, 200, 202, 300]), 0);
}

/// GCRA without tolerance, and what a queue releases.
#[test]
fn one_at_a_time() {
    let steady = singles((0..2 * L).map(|i| i * I));
    for bucket in ["gcra = { burst = 1 }", "token-bucket = { burst = 1 }"] {
        attains(bucket, &steady, E, all([1, 17, 100, 102, 200]), 0);
    }
    let mut trace = full(&[0]);
    trace.extend(singles((1..=L).map(|i| i * I)));
    attains("leaky-bucket = {}", &trace, E, all([1, 17, 100, 102, 200]), 0);
}

/// To keep L in every half-open window a bucket needs b + ceil(rW) - 1 <= L.
#[test]
fn a_bucket_that_keeps_the_limit() {
    let mut trace = vec![(0, 50)];
    trace.extend(singles((1..=50).map(|i| i * 2 * I)));
    let lane = replay(&trace, "token-bucket = { rate = \"50/60s\", burst = 50 }");
    let peak = lane.peak.expect("a limit");
    assert_eq!((lane.denied, peak.units, peak.bound), (0, 99, Some(99)));
}

/// Twenty bursts of L on the edges: a client within its limit.
#[test]
fn the_cron_client() {
    let spikes: Vec<i64> = (0..20).map(|minute| minute * W).collect();
    let trace = full(&spikes);
    for (algorithm, denied) in [
        ("fixed-window = {}", 0),
        ("fixed-window = { anchor = \"first-request\" }", 0),
        ("sliding-log = {}", 0),
        ("sliding-log = { count-denied = true }", 0),
        ("sliding-log = { edge = \"inclusive\" }", 1000),
        ("sliding-log = { edge = \"inclusive\", count-denied = true }", 1900),
        ("sliding-counter = {}", 1000),
        ("sliding-counter = { compare = \"before\" }", 1000),
        ("sliding-counter = { count-denied = true }", 1900),
        ("sliding-counter = { compare = \"before\", count-denied = true }", 1900),
        ("sliding-counter = { buckets = 6, oldest = \"whole\" }", 1000),
        ("sliding-counter = { buckets = 6, oldest = \"ignored\" }", 0),
        ("token-bucket = {}", 0),
        ("token-bucket = { burst = 10 }", 1800),
        ("gcra = { burst = 10 }", 1800),
        ("leaky-bucket = {}", 0),
        // A page load of L parallel requests loses all but one.
        ("gcra = { burst = 1 }", 20 * 99),
    ] {
        let lane = replay(&trace, algorithm);
        // Every refusal is false: the exact log refuses nothing.
        assert_eq!((lane.denied, lane.false_denials), (denied, Some(denied)), "{algorithm}");
    }
}

/// The same client at phase f of every window: the counter admits 1/(2 - f) of it in the long run,
/// f of it if refusals count.
#[test]
fn the_cron_client_at_a_phase() {
    let windows = 1000_u64;
    for (percent, stated) in [(25_u64, 0.5706), (50, 0.6656), (75, 0.8004), (90, 0.9052)] {
        let text = format!(
            "limit = \"100/60s\"\n[[traffic]]\nfrom = \"{}ms\"\n\
             idle-then-spike = {{ idle = \"60s\", requests = 100, repeat = {windows} }}\n\
             [[lane]]\nsliding-counter = {{}}\n\
             [[lane]]\nname = \"counting\"\nsliding-counter = {{ count-denied = true }}\n\
             [[lane]]\ntoken-bucket = {{}}\n[[lane]]\nfixed-window = {{}}\n[[lane]]\nsliding-log = {{}}\n",
            600 * percent
        );
        let report = report(&text);
        // What the rule says, window by window: a = floor(L - before (1 - f)).
        let next = |before: &u64| Some(100 - (before * (100 - percent)).div_ceil(100));
        let admitted: u64 = std::iter::successors(Some(100), next).take(windows as usize).sum();
        let counter = lane(&report, "sliding-counter").allowed;
        assert_eq!(counter, admitted, "phase 0.{percent}");
        let share = counter as f64 / (100 * windows) as f64;
        let f = percent as f64 / 100.0;
        assert!((share - 1.0 / (2.0 - f)).abs() <= 0.01, "phase {f}: {share}");
        assert!((share - stated).abs() <= 0.001, "phase {f}: {share}");
        assert_eq!(lane(&report, "counting").allowed, 100 + (windows - 1) * percent, "phase {f}");
        for name in ["token-bucket", "fixed-window", "sliding-log"] {
            assert_eq!(lane(&report, name).denied, 0, "{name} at phase {f}");
        }
    }
}

/// Over a random phase: ln 2 of it, and half of it if refusals count.
#[test]
fn the_cron_client_on_average() {
    let phases = 50;
    let clients: String = (0..phases)
        .map(|i| {
            format!(
                "[[traffic]]\nfrom = \"{}ms\"\nidle-then-spike = {{ idle = \"60s\", requests = 100, repeat = 60 }}\n",
                600 + 1200 * i
            )
        })
        .collect();
    let report = report(&format!(
        "limit = \"100/60s\"\n{clients}[[lane]]\nsliding-counter = {{}}\n\
         [[lane]]\nname = \"counting\"\nsliding-counter = {{ count-denied = true }}\n"
    ));
    let share = |name: &str| lane(&report, name).allowed as f64 / report.offered.requests as f64;
    let (counter, counting) = (share("sliding-counter"), share("counting"));
    assert!((counter - std::f64::consts::LN_2).abs() < 0.01, "{counter}");
    assert!((counting - 0.5).abs() < 0.01, "{counting}");
}

/// A client that always asks for all it could get, on a clock of 20 ticks a window: units per
/// window in the long run.
#[test]
fn the_greedy_client() {
    for (algorithm, expected) in [
        ("fixed-window = {}", 5),
        ("fixed-window = { anchor = \"first-request\" }", 5),
        ("sliding-log = {}", 5),
        ("sliding-log = { count-denied = true }", 0),
        ("sliding-counter = {}", 4),
        ("sliding-counter = { compare = \"before\" }", 5),
        ("sliding-counter = { count-denied = true }", 0),
        ("sliding-counter = { buckets = 4, oldest = \"ignored\" }", 5),
        ("sliding-counter = { buckets = 4, oldest = \"whole\" }", 4),
        ("token-bucket = {}", 5),
        ("gcra = {}", 5),
    ] {
        let text = format!(
            "limit = \"5/20s\"\nduration = \"2400s\"\n[[traffic]]\nsteady = {{ rate = \"5/s\" }}\n\
             [[lane]]\nclock-resolution = \"1s\"\n{algorithm}\n"
        );
        let (_, decided) = decisions(&text);
        let late = arrivals(&plan(&text)).into_iter().zip(&decided[0]).filter(|(a, _)| a.at >= 400 * S);
        let admitted = late.filter(|(_, decision)| decision.admits()).count();
        assert_eq!(admitted, 100 * expected, "{algorithm}");
    }
    // L = 1: the counter halves the rate.
    let text = "limit = \"1/20s\"\nduration = \"2000s\"\n[[traffic]]\nsteady = { rate = \"5/s\" }\n[[lane]]\n\
                clock-resolution = \"1s\"\nsliding-counter = {}\n";
    assert_eq!(report(text).lanes[0].allowed, 50);
}

/// After L at offset x of a window of 60 ticks, L = 6: ticks until one passes, and until L do.
#[test]
fn recovery_after_a_burst() {
    let passing = |limiter: &dyn Limiter, at: i64| {
        let mut copy = limiter.check_out(KeyId(0), SimTime::from_nanos(at));
        (0..6).filter(|_| limiter.decide_on(&mut copy, SimTime::from_nanos(at), 1).admits()).count()
    };
    type Recovery = fn(i64) -> (i64, i64);
    let table: [(&str, Recovery); 9] = [
        ("fixed-window = {}", |x| (60 - x, 60 - x)),
        ("fixed-window = { anchor = \"first-request\" }", |_| (60, 60)),
        ("sliding-log = {}", |_| (60, 60)),
        ("sliding-counter = {}", |x| (60 - x + 10, 120 - x)),
        ("sliding-counter = { compare = \"before\" }", |x| (60 - x + 1, 111 - x)),
        ("sliding-counter = { buckets = 6, oldest = \"ignored\" }", |x| (60 - x % 10, 60 - x % 10)),
        ("sliding-counter = { buckets = 6, oldest = \"whole\" }", |x| (70 - x % 10, 70 - x % 10)),
        ("token-bucket = {}", |_| (10, 60)),
        ("gcra = {}", |_| (10, 60)),
    ];
    for (algorithm, expected) in table {
        let text = format!("limit = \"6/60ns\"\n[[traffic]]\nburst = {{ requests = 1 }}\n[[lane]]\n{algorithm}\n");
        let spec = plan(&text).lanes[0].limiter.clone();
        for x in 0..60 {
            let mut limiter = spec.build(&Workload::UNKNOWN);
            assert!((0..6).all(|_| limiter.decide(KeyId(0), SimTime::from_nanos(x), 1).admits()));
            let until = |count: usize| (0..200).find(|ticks| passing(&*limiter, x + ticks) >= count);
            let (one, all) = expected(x);
            assert_eq!((until(1), until(6)), (Some(one), Some(all)), "{algorithm} at {x}");
        }
    }
}

/// GCRA with a line spacing d between requests passes 1 + floor(tau / (I - d)) in a row.
#[test]
fn gcra_at_line_speed() {
    for interval in 2..9_i64 {
        for spacing in 1..interval {
            for burst in 1..12_i64 {
                let text = format!(
                    "[[traffic]]\nburst = {{ requests = 1 }}\n[[lane]]\n\
                     gcra = {{ rate = \"1/{interval}ns\", burst = {burst} }}\n"
                );
                let mut limiter = plan(&text).lanes[0].limiter.build(&Workload::UNKNOWN);
                let mut at = (0..).map(|i| SimTime::from_nanos(i * spacing));
                let passed = at.by_ref().take_while(|at| limiter.decide(KeyId(0), *at, 1).admits()).count();
                let tau = (burst - 1) * interval;
                assert_eq!(passed as i64, 1 + tau / (interval - spacing), "I = {interval}, d = {spacing}, b = {burst}");
            }
        }
    }
}

/// A bucket of one on a clock of milliseconds: one each ceil(1000 / r) ms, whatever the rate says.
#[test]
fn rates_on_a_coarse_clock() {
    for (rate, interval) in [(700, 2), (600, 2), (501, 2), (500, 2), (334, 3)] {
        for bucket in ["token-bucket", "gcra"] {
            let text = format!(
                "duration = \"20s\"\n[[traffic]]\nsteady = {{ rate = \"5000/s\" }}\n[[lane]]\n\
                 clock-resolution = \"1ms\"\n{bucket} = {{ rate = \"{rate}/s\", burst = 1 }}\n"
            );
            let allowed = report(&text).lanes[0].allowed;
            assert_eq!(allowed, 20_000_u64.div_ceil(interval), "{bucket} at {rate}/s");
        }
    }
    // 700/s is 500/s; 334/s is 333/s.
    assert_eq!((1000 / 2, 1000 / 3), (500, 333));
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 1_000_000, ..ProptestConfig::with_cases(3_000) })]

    /// Whatever the traffic, the knobs, the keys, the costs and the clock: nothing passes its bound.
    #[test]
    fn nothing_passes_its_bound(text in scene()) {
        let Ok(plan) = try_plan(&text) else { return Err(TestCaseError::reject("not valid")) };
        let (outcome, _) = run_plan(&plan, Options::default()).expect("in range");
        for lane in &outcome.report.lanes {
            let peak = lane.peak.as_ref().expect("a limit");
            if let Some(bound) = peak.bound {
                prop_assert!(u128::from(peak.units) <= bound, "{}: peak {} passes {bound}", lane.name, peak.units);
            }
            for point in &lane.envelope {
                if let Some(bound) = point.bound {
                    let (units, span) = (point.units, point.span_ns);
                    prop_assert!(u128::from(units) <= bound, "{}: {units} in {span} ns pass {bound}", lane.name);
                }
            }
        }
    }
}

/// What a lane refuses for ever, or never sees, is no part of its worst case.
#[test]
fn a_queue_is_bounded_by_what_it_can_admit() {
    let text = |lane: &str| {
        format!(
            "limit = \"100/1m\"\nduration = \"1m\"\n[[traffic]]\nclass = \"big\"\ncost = 1000\nburst = {{ requests = 2 }}\n\
             [[traffic]]\nsteady = {{ rate = \"1/1s\" }}\n[[lane]]\n{lane}\n"
        )
    };
    let bound = |lane: &str| crate::simulate::report(&text(lane)).lanes[0].peak.as_ref().expect("a limit").bound;
    // ceil(rT) - 1 + c with c = 100, the capacity; with c = 1 where the dear ones pass by.
    assert_eq!(bound("leaky-bucket = {}"), Some(199));
    assert_eq!(bound("exempt = [\"big\"]\nleaky-bucket = {}"), Some(100));
    assert_eq!(bound("leaky-bucket = { mode = \"meter\", compare = \"before\" }"), None);
    assert_eq!(bound("exempt = [\"big\"]\nleaky-bucket = { mode = \"meter\", compare = \"before\" }"), Some(200));
}
