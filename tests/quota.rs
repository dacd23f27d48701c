//! What a limiter reports of a key: the worked table of eight requests, all fields, all algorithms.
//!
//! L = B = 3, W = 6 s, one unit every 2 s. A cell reads `decision remaining/next/full/retry`, times
//! in seconds; `A(1.5)` is admitted and held for 1.5 s. The cells come from these formulas:
//!
//! * fixed window with end E: next = full = retry = E - t;
//! * log with kept s1..sm: next = s1 + W - t, full = sm + W - t, retry = next;
//! * counter with previous P, current C, phase p: full = 2W - p if C > 0, else W - p if P > 0;
//!   retry = W(1 - (L - n - C)/P) - p if C + n <= L, else W - p + W(1 - (L - n)/C);
//! * bucket with k tokens: next = (floor k + 1 - k)/r, full = (B - k)/r, retry = (n - k)/r;
//! * queue with delay d: as the bucket with k = B - d r.

use num_rational::Ratio;
use rlsim::limiter::{Decision, KeyId, Limiter, LimiterSpec, Workload};
use rlsim::time::{SimDuration, SimTime};

use crate::simulate::plan;

const KEY: KeyId = KeyId(0);
const TIMES: [&str; 8] = ["1", "1.5", "2", "2.5", "4", "5.5", "6", "7.25"];

const ALIGNED: [&str; 8] = [
    "A 2/5/5",
    "A 1/4.5/4.5",
    "A 0/4/4",
    "D 0/3.5/3.5/3.5",
    "D 0/2/2/2",
    "D 0/0.5/0.5/0.5",
    "A 2/6/6",
    "A 1/4.75/4.75",
];
const ANCHORED: [&str; 8] =
    ["A 2/6/6", "A 1/5.5/5.5", "A 0/5/5", "D 0/4.5/4.5/4.5", "D 0/3/3/3", "D 0/1.5/1.5/1.5", "D 0/1/1/1", "A 2/6/6"];
const LOG: [&str; 8] =
    ["A 2/6/6", "A 1/5.5/6", "A 0/5/6", "D 0/4.5/5.5/4.5", "D 0/3/4/3", "D 0/1.5/2.5/1.5", "D 0/1/2/1", "A 0/0.25/6"];
const COUNTER: [&str; 8] = [
    "A 2/11/11",
    "A 1/7.5/10.5",
    "A 0/6/10",
    "D 0/5.5/9.5/5.5",
    "D 0/4/8/4",
    "D 0/2.5/6.5/2.5",
    "D 0/2/6/2",
    "D 0/0.75/4.75/0.75",
];
const BUCKET: [&str; 8] =
    ["A 2/2/2", "A 1/1.5/3.5", "A 0/1/5", "D 0/0.5/4.5/0.5", "A 0/1/5", "A 0/1.5/5.5", "D 0/1/5/1", "A 0/1.75/5.75"];
const QUEUE: [&str; 8] = [
    "A(0) 2/2/2",
    "A(1.5) 1/1.5/3.5",
    "A(3) 0/1/5",
    "D 0/0.5/4.5/0.5",
    "A(3) 0/1/5",
    "A(3.5) 0/1.5/5.5",
    "D 0/1/5/1",
    "A(3.75) 0/1.75/5.75",
];

/// Decimal seconds in nanoseconds.
fn nanos(seconds: &str) -> u128 {
    let (whole, rest) = seconds.split_once('.').unwrap_or((seconds, ""));
    format!("{whole}{rest:0<9}").parse().expect("seconds")
}

/// A multiple of the window since the epoch, years after it.
const BASE: i64 = 6 * 283_333_333;

fn at(seconds: &str) -> SimTime {
    SimTime::from_nanos(BASE * 1_000_000_000 + i64::try_from(nanos(seconds)).expect("small"))
}

fn spec(lane: &str) -> LimiterSpec {
    plan(&format!("limit = \"3/6s\"\n[[traffic]]\nburst = {{ requests = 1 }}\n[[lane]]\n{lane}\n")).lanes[0]
        .limiter
        .clone()
}

/// Each way in which the same limiter is built: nothing known of the run, and all of it known.
fn limiters(lane: &str) -> Vec<Box<dyn Limiter>> {
    let known = Workload { unit_cost: true, times: (at("0"), at("10")), debt: false };
    [Workload::UNKNOWN, known].iter().map(|workload| spec(lane).build(workload)).collect()
}

/// An answer as the table writes it.
fn cell(decision: Decision, limiter: &dyn Limiter, when: SimTime) -> (String, Vec<u128>) {
    let level = limiter.level(KEY, when);
    assert_eq!(level.limit, 3);
    let mut fields = vec![u128::from(level.remaining), level.next.nanos(), level.full.nanos()];
    let retry = limiter.retry_after(KEY, when, 1).expect("a wait helps");
    match decision {
        Decision::Allow => {}
        Decision::Delay(wait) => fields.push(wait.nanos()),
        Decision::Deny => fields.push(retry.nanos()),
    }
    (if decision.admits() { "A" } else { "D" }.to_owned(), fields)
}

/// A cell of the table in the same form.
fn expected(text: &str) -> (String, Vec<u128>) {
    let (decision, fields) = text.split_once(' ').expect("a decision and its fields");
    let mut fields = fields.split('/');
    let mut numbers = vec![fields.next().expect("remaining").parse().expect("a number")];
    numbers.extend(fields.map(nanos));
    let delay = decision.strip_prefix("A(").and_then(|rest| rest.strip_suffix(')')).map(nanos);
    numbers.extend(delay.filter(|delay| *delay > 0));
    (decision[..1].to_owned(), numbers)
}

fn check(lane: &str, table: [&str; 8]) {
    for mut limiter in limiters(lane) {
        for (time, row) in TIMES.iter().zip(table) {
            let asked = limiter.ask(KEY, at(time), 1);
            let decision = limiter.decide(KEY, at(time), 1);
            assert_eq!(asked, decision, "{lane} at {time}");
            assert_eq!(cell(decision, &*limiter, at(time)), expected(row), "{lane} at {time}: {row}");
        }
    }
}

const BUCKETS: [&str; 3] = ["token-bucket = {}", "gcra = {}", "leaky-bucket = { mode = \"meter\" }"];

#[test]
fn fixed_windows() {
    check("fixed-window = {}", ALIGNED);
    check("fixed-window = { anchor = \"first-request\" }", ANCHORED);
}

#[test]
fn sliding_windows() {
    check("sliding-log = {}", LOG);
    check("sliding-counter = {}", COUNTER);
}

#[test]
fn buckets() {
    for lane in BUCKETS {
        check(lane, BUCKET);
    }
}

/// Two waiting places and the one in service.
#[test]
fn queue() {
    check("leaky-bucket = { capacity = 3 }", QUEUE);
}

/// The same limit and window admit 5, 4, 4, 3, 6 and 6 of the eight.
#[test]
fn each_algorithm_admits_another_number() {
    let tables = [ALIGNED, ANCHORED, LOG, COUNTER, BUCKET, QUEUE];
    assert_eq!(tables.map(|table| table.iter().filter(|cell| cell.starts_with('A')).count()), [5, 4, 4, 3, 6, 6]);
}

/// Levels in between: tokens, the theoretical arrival time, the counter's estimate.
#[test]
fn check_values() {
    let used = |limiter: &dyn Limiter, time: &str| {
        let used = limiter.level(KEY, at(time)).used;
        Ratio::new(used.numerator, used.denominator)
    };
    let eighths = |n: u128| Ratio::new(n, 8);
    // Tokens after each row: 2, 1.25, 0.5, 0.75, 0.5, 0.25, 0.5, 0.125.
    let tokens = [16, 10, 4, 6, 4, 2, 4, 1];
    let tat = [3, 5, 7, 7, 9, 11, 11, 13_i64];
    for lane in BUCKETS {
        for mut limiter in limiters(lane) {
            for ((time, tokens), tat) in TIMES.iter().zip(tokens).zip(tat) {
                limiter.decide(KEY, at(time), 1);
                assert_eq!(Ratio::from_integer(3) - used(&*limiter, time), eighths(tokens), "{lane} at {time}");
                let full = i64::try_from(limiter.level(KEY, at(time)).full.nanos()).expect("small");
                assert_eq!(at(time).nanos() + full, (BASE + tat) * 1_000_000_000, "{lane} at {time}");
            }
        }
    }
    for mut limiter in limiters("sliding-counter = {}") {
        for time in TIMES {
            limiter.decide(KEY, at(time), 1);
        }
        // 2.375 units at the last row, which is refused.
        assert_eq!(used(&*limiter, "7.25"), eighths(19));
    }
}

/// Before its first request a key has everything, and nothing to wait for.
#[test]
fn an_untouched_key_is_full() {
    let lanes = [
        "fixed-window = {}",
        "fixed-window = { anchor = \"first-request\" }",
        "fixed-window = { anchor = \"every-request\" }",
        "sliding-log = {}",
        "sliding-counter = {}",
        "leaky-bucket = { capacity = 3 }",
    ];
    for lane in lanes.into_iter().chain(BUCKETS) {
        for limiter in limiters(lane) {
            let level = limiter.level(KEY, at("2.5"));
            assert_eq!((level.limit, level.remaining, level.used.numerator), (3, 3, 0), "{lane}");
            assert_eq!((level.next, level.full), (SimDuration::ZERO, SimDuration::ZERO), "{lane}");
            assert_eq!(limiter.retry_after(KEY, at("2.5"), 3), Some(SimDuration::ZERO), "{lane}");
            assert_eq!(limiter.retry_after(KEY, at("2.5"), 4), None, "{lane}");
        }
    }
}
