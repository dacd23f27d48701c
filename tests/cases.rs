//! Questions that people ask about rate limits, with the right answer and why.
//!
//! Numbers in names are those of the collection of cases; what is not here needs several tiers, a
//! store, replicas or clients that come back.

use crate::simulate::{MS, S, arrivals, bursts, decisions, lane, plan, report, run_plan, try_plan, who_lane};
use rlsim::error::Error;
use rlsim::limiter::{Decision, KeyId, Limiter, Workload};
use rlsim::sim::Options;
use rlsim::time::{SimDuration, SimTime};

const KEY: KeyId = KeyId(0);
const BUCKETS: [&str; 3] = ["token-bucket = { RATE, burst = N }", "gcra = { RATE, burst = N }", METER];
const METER: &str = "leaky-bucket = { RATE, capacity = N, mode = \"meter\" }";

/// Token bucket, GCRA and meter of a rate and a capacity.
fn buckets(rate: &str, capacity: u64) -> [String; 3] {
    BUCKETS.map(|lane| lane.replace("RATE", &format!("rate = \"{rate}\"")).replace("= N", &format!("= {capacity}")))
}

/// One limiter, asked directly.
struct Asked(Box<dyn Limiter>);

impl Asked {
    fn new(lane: &str) -> Self {
        let plan = plan(&format!("[[traffic]]\nburst = {{ requests = 1 }}\n[[lane]]\n{lane}\n"));
        Self(plan.lanes[0].limiter.build(&Workload::UNKNOWN))
    }

    fn passes(&mut self, at: i64, cost: u64) -> bool {
        self.0.decide(KEY, SimTime::from_nanos(at), cost).admits()
    }

    /// How many of `requests` at one instant pass.
    fn passing(&mut self, at: i64, requests: usize) -> usize {
        (0..requests).filter(|_| self.passes(at, 1)).count()
    }

    /// The wait in nanoseconds; `None` is never.
    fn wait(&self, at: i64, cost: u64) -> Option<i64> {
        let wait = self.0.retry_after(KEY, SimTime::from_nanos(at), cost)?;
        Some(i64::try_from(wait.nanos()).expect("short"))
    }

    fn remaining(&self, at: i64) -> u64 {
        self.0.level(KEY, SimTime::from_nanos(at)).remaining
    }
}

/// Whole seconds, rounded up, as a header says them.
fn header(wait: i64) -> i64 {
    wait / S + i64::from(wait % S != 0)
}

/// For each arrival of a scenario with one lane, when it comes and whether it passes.
fn passes(text: &str) -> Vec<(i64, bool)> {
    let (_, decided) = decisions(text);
    let instants = arrivals(&plan(text)).into_iter().map(|arrival| arrival.at);
    instants.zip(decided[0].iter().map(|decision| decision.admits())).collect()
}

fn count(text: &str) -> usize {
    passes(text).iter().filter(|(_, passed)| *passed).count()
}

#[test]
fn c01_burst_plus_one() {
    for bucket in buckets("1/s", 6) {
        let who = who_lane("nginx", &format!("clock-resolution = \"1ms\"\n{bucket}"));
        let passed = passes(&format!("{}{who}", bursts(&[(0, 7), (S, 2)])));
        let expected = [true, true, true, true, true, true, false, true, false];
        assert_eq!(passed.iter().map(|(_, passed)| *passed).collect::<Vec<_>>(), expected, "{bucket}");
    }
}

/// Who is served and who is refused; the waits of a soft burst are a rule that no lane has.
#[test]
fn c02_two_stage_limit_admissions() {
    for bucket in buckets("5/s", 13) {
        assert_eq!(Asked::new(&bucket).passing(0, 15), 13, "{bucket}");
    }
}

#[test]
fn c03_millisecond_clocks_hide_fast_rates() {
    let traffic = bursts(&[(0, 1), (400_000, 1)]);
    let bucket = "token-bucket = { rate = \"5000/s\", burst = 1 }";
    assert_eq!(count(&format!("{traffic}{}", who_lane("exact", bucket))), 2);
    assert_eq!(count(&format!("{traffic}{}", who_lane("ms", &format!("clock-resolution = \"1ms\"\n{bucket}")))), 1);
}

#[test]
fn c04_fifteen_a_minute_turn_into_29() {
    let run = |duration: &str, burst: u64| {
        report(&format!(
            "limit = \"15/60s\"\nduration = \"{duration}\"\n[[traffic]]\nsteady = {{ rate = \"20/s\" }}\n\
             [[lane]]\ntoken-bucket = {{ burst = {burst} }}\n"
        ))
    };
    assert_eq!(run("60s", 15).lanes[0].allowed, 29);
    assert_eq!(run("60.001s", 15).lanes[0].allowed, 30);
    // Capacity 1 keeps every half-open minute; 2 does not.
    for (burst, most) in [(1, 15), (2, 16), (15, 29)] {
        let report = run("10m", burst);
        let peak = lane(&report, "token-bucket").peak.as_ref().expect("a limit");
        assert_eq!((peak.units, peak.bound), (most, Some(u128::from(most))), "capacity {burst}");
    }
}

#[test]
fn c05_twice_the_limit_is_visible() {
    let report = report(
        "limit = \"5/10s\"\n[[traffic]]\nburst = { requests = 10, at = \"9s\", over = \"2s\" }\n\
         [[lane]]\nfixed-window = {}\n[[lane]]\nsliding-log = {}\n",
    );
    let window = lane(&report, "fixed-window");
    let peak = window.peak.as_ref().expect("a limit");
    assert_eq!((window.allowed, window.denied, peak.units, peak.ratio), (10, 0, 10, Some(2.0)));
    assert_eq!((peak.from_ns, window.false_admissions), (Some(9 * S), Some(5)));
    let log = lane(&report, "sliding-log");
    assert_eq!((log.allowed, log.peak.as_ref().expect("a limit").units), (5, 5));
}

#[test]
fn c06_half_the_traffic_passes_not_none() {
    let traffic = "duration = \"1h\"\n[[traffic]]\nsteady = { rate = \"1/30s\" }\n[[lane]]\n";
    assert_eq!(count(&format!("{traffic}sliding-log = {{ limit = \"10/600s\" }}")), 60);
    assert_eq!(count(&format!("{traffic}sliding-log = {{ limit = \"10/600s\", count-denied = true }}")), 10);
}

/// A key that holds more than its limit waits until enough of it has left.
#[test]
fn c07_limit_lowered_below_what_a_client_holds() {
    let mut log = Asked::new("sliding-log = { limit = \"4/60s\" }");
    (0..10).for_each(|second| log.0.charge(KEY, SimTime::from_nanos(second * S), 1));
    assert!(!log.passes(20 * S, 1));
    assert_eq!(log.wait(20 * S, 1), Some(46 * S));
}

#[test]
fn c08_retry_after_is_rounded_up() {
    for bucket in buckets("2/5s", 1) {
        let mut asked = Asked::new(&bucket);
        assert!(asked.passes(0, 1));
        assert!(!asked.passes(S, 1));
        let wait = asked.wait(S, 1).expect("some time");
        assert_eq!((wait, header(wait)), (1_500 * MS, 2), "{bucket}");
        assert!(!asked.passes(2 * S, 1));
        assert!(asked.passes(3 * S, 1));
    }
}

#[test]
fn c09_the_counters_wait_is_one_second_not_48() {
    let mut counter = Asked::new("sliding-counter = { limit = \"60/60s\" }");
    assert!((0..60).all(|second| counter.passes(second * S, 1)));
    assert_eq!(counter.passing(72 * S, 13), 12);
    assert_eq!(counter.wait(72 * S, 1), Some(S));
    assert!(!counter.passes(73 * S - 1, 1));
    assert!(counter.passes(73 * S, 1));
}

#[test]
fn c10_a_hint_takes_the_burst_into_account() {
    for bucket in buckets("1/s", 5) {
        let mut asked = Asked::new(&bucket);
        assert_eq!(asked.passing(0, 6), 5, "{bucket}");
        assert_eq!(asked.wait(0, 1), Some(S), "{bucket}");
        assert_eq!(asked.0.level(KEY, SimTime::EPOCH).full, SimDuration::from_secs(5), "{bucket}");
    }
}

#[test]
fn c11_cost_equal_to_the_capacity_is_possible_one_more_never() {
    for bucket in buckets("1/s", 5) {
        let mut asked = Asked::new(&bucket);
        assert!(asked.passes(0, 5));
        assert!(!asked.passes(S, 5));
        assert_eq!((asked.wait(S, 5), asked.wait(S, 6)), (Some(4 * S), None), "{bucket}");
        assert!(asked.passes(5 * S, 5));
    }
}

#[test]
fn c12_a_refused_large_request_takes_nothing() {
    for bucket in buckets("1/s", 10) {
        let mut asked = Asked::new(&bucket);
        assert_eq!((asked.passes(0, 8), asked.remaining(0)), (true, 2), "{bucket}");
        assert_eq!((asked.passes(0, 5), asked.remaining(0)), (false, 2), "{bucket}");
        assert_eq!((asked.passes(0, 2), asked.remaining(0)), (true, 0), "{bucket}");
    }
}

#[test]
fn c13_reset_as_seconds_or_as_a_date() {
    let start = 1_620_105_666_039 * MS;
    let mut window = Asked::new("fixed-window = { limit = \"1/60s\", anchor = \"first-request\" }");
    assert!(window.passes(start, 1));
    assert!(!window.passes(start, 1));
    let wait = window.wait(start, 1).expect("some time");
    assert_eq!((header(wait), header(start + wait)), (60, 1_620_105_727));
}

#[test]
fn c14_smooth_or_in_steps() {
    let times = [0, 0, 1, 30, 60, 60].map(|second| second * S);
    let mut smooth = Asked::new("token-bucket = { rate = \"2/60s\", burst = 2 }");
    assert_eq!(times.map(|at| smooth.passes(at, 1)), [true, true, false, true, true, false]);
    let mut steps = Asked::new("token-bucket = { rate = \"2/60s\", burst = 2, refill = \"interval\" }");
    assert_eq!(times.map(|at| steps.passes(at, 1)), [true, true, false, false, true, true]);
}

#[test]
fn c15_a_partly_grown_token_shortens_the_wait() {
    for bucket in buckets("1/s", 1) {
        let mut asked = Asked::new(&bucket);
        assert!(asked.passes(0, 1));
        assert!(!asked.passes(200 * MS, 1));
        assert_eq!(asked.wait(200 * MS, 1), Some(800 * MS), "{bucket}");
    }
}

#[test]
fn c16_polling_faster_than_a_token_still_refills() {
    for bucket in buckets("10/s", 10) {
        let mut asked = Asked::new(&bucket);
        assert_eq!(asked.passing(0, 10), 10);
        assert!([500, 1000, 1500, 2000].into_iter().all(|at| asked.passes(at * MS, 1)), "{bucket}");
        assert_eq!(asked.remaining(2 * S), 9, "{bucket}");
    }
}

#[test]
fn c17_steps_against_smooth_refill_under_overload() {
    let traffic = "duration = \"3s\"\n[[traffic]]\nsteady = { rate = \"50/s\" }\n[[lane]]\n";
    let bucket = |refill: &str| format!("token-bucket = {{ rate = \"10/1s\", burst = 10, refill = \"{refill}\" }}");
    assert_eq!(count(&format!("{traffic}{}", bucket("interval"))), 30);
    assert_eq!(count(&format!("{traffic}{}", bucket("continuous"))), 39);
}

#[test]
fn c18_a_burst_smaller_than_the_rate() {
    for bucket in buckets("100/s", 50) {
        let mut asked = Asked::new(&bucket);
        assert_eq!(asked.passing(0, 100), 50, "{bucket}");
        assert!((1..=100).all(|i| asked.passes(i * 10 * MS, 1)), "{bucket}");
    }
}

/// The strict bucket; granting on credit is a rule that no lane has.
#[test]
fn c19_a_strict_bucket_does_not_lend() {
    for bucket in buckets("5/s", 5) {
        let mut asked = Asked::new(&bucket);
        assert_eq!((asked.passes(0, 5000), asked.wait(0, 5000)), (false, None), "{bucket}");
        assert!(asked.passes(0, 1), "{bucket}");
    }
}

#[test]
fn c20_old_timestamps_mint_no_tokens() {
    for bucket in buckets("2/s", 4) {
        let mut asked = Asked::new(&bucket);
        let passed = asked.passing(100 * S, 5) + asked.passing(90 * S, 1) + asked.passing(100 * S, 5);
        assert_eq!(passed, 4, "{bucket}");
    }
}

#[test]
fn c22_rates_that_do_not_divide_a_millisecond() {
    for (capacity, expected) in [(2, 701), (1, 698)] {
        for bucket in buckets("700/60s", capacity) {
            let traffic = "duration = \"60s\"\n[[traffic]]\nsteady = { rate = \"1000/s\" }\n[[lane]]\n";
            assert_eq!(count(&format!("{traffic}{bucket}")), expected, "{bucket}");
        }
    }
    for bucket in buckets("120000/60s", 1) {
        // One each half millisecond.
        let mut asked = Asked::new(&bucket);
        assert_eq!([0, 499_999, 500_000].map(|at| asked.passes(at, 1)), [true, false, true], "{bucket}");
    }
}

/// One unit in 3169 years is refused with the reason; one in 145 years, the longest, is exact.
#[test]
fn c23_a_tiny_rate() {
    for bucket in buckets("1/100000000000s", 1) {
        let text = format!("[[traffic]]\nburst = {{ requests = 1 }}\n[[lane]]\n{bucket}\n");
        let Err(Error::Scenario(error)) = try_plan(&text) else { panic!("{bucket} is not refused") };
        assert!(error.message.contains("longest span"), "{error}");
        assert_eq!(&text[error.span.clone()], "\"1/100000000000s\"");
    }
    for bucket in buckets("1/53000d", 1) {
        let mut asked = Asked::new(&bucket);
        assert_eq!([0, S].map(|at| asked.passes(at, 1)), [true, false], "{bucket}");
        assert_eq!(asked.wait(S, 1), Some((53_000 * 86_400 - 1) * S), "{bucket}");
    }
}

#[test]
fn c24_a_daily_quota_as_a_bucket() {
    for bucket in buckets("25000/1d", 25_000) {
        let mut asked = Asked::new(&bucket);
        assert_eq!(asked.passing(0, 25_001), 25_000, "{bucket}");
        assert_eq!(asked.wait(0, 1), Some(3_456 * MS), "{bucket}");
    }
}

#[test]
fn c25_zero_is_never_unlimited() {
    let plan = plan("limit = \"0/60s\"\n[[traffic]]\nburst = { requests = 3 }\n");
    let (outcome, _) = run_plan(&plan, Options::default()).expect("in range");
    assert_eq!(outcome.report.lanes.len(), 6);
    for (report, lane) in outcome.report.lanes.iter().zip(&plan.lanes) {
        assert_eq!((report.denied, report.admitted()), (3, 0), "{}", report.name);
        let limiter = lane.limiter.build(&Workload::UNKNOWN);
        assert_eq!(limiter.retry_after(KEY, SimTime::EPOCH, 1), None, "{}", report.name);
    }
    for (rate, burst, at_fault) in [("0/s", 1, "\"0/s\""), ("1/s", 0, "0")] {
        for bucket in buckets(rate, burst) {
            let text = format!("[[traffic]]\nburst = {{ requests = 1 }}\n[[lane]]\n{bucket}\n");
            let Err(Error::Scenario(error)) = try_plan(&text) else { panic!("{bucket} is not refused") };
            assert!(error.message.contains("zero"), "{error}");
            assert_eq!(&text[error.span.clone()], at_fault);
        }
    }
}

#[test]
fn c26_expired_entries_are_dropped_before_counting() {
    let mut log = Asked::new("sliding-log = { limit = \"1/10s\" }");
    assert_eq!([0, 10_500].map(|at| log.passes(at * MS, 1)), [true, true]);
}

/// Each pod is a key of its own.
#[test]
fn c29_dividing_a_fleets_limit_with_a_margin() {
    let run = |pods: u64| {
        count(&format!(
            "[[traffic]]\nburst = {{ requests = 1000, over = \"1s\" }}\nkeys = {pods}\n\
             [[lane]]\nfixed-window = {{ limit = \"{}/1s\" }}\n",
            1000 * 95 / 100 / 4
        ))
    };
    assert_eq!((run(4), run(1)), (948, 237));
}

#[test]
fn c31_a_restart_hands_out_a_full_bucket() {
    for bucket in buckets("3/60s", 3) {
        let run = |restarts: &[i64]| {
            let mut asked = Asked::new(&bucket);
            let mut passed = 0;
            for second in 0..60 {
                if restarts.contains(&second) {
                    asked.0.reset(KEY, SimTime::from_nanos(second * S));
                }
                passed += asked.passing(second * S, 1);
            }
            passed
        };
        assert_eq!((run(&[20, 40]), run(&[])), (9, 5), "{bucket}");
    }
}

#[test]
fn c33_a_company_behind_one_address() {
    let report = report(
        "limit = \"60/60s\"\n[[traffic]]\nkeys = 200\ngroups = { ip = 1 }\n\
         burst = { requests = 1200, over = \"60s\" }\n\
         [[lane]]\nname = \"by address\"\nkey = \"ip\"\nfixed-window = {}\n\
         [[lane]]\nname = \"by user\"\nfixed-window = {}\n",
    );
    let address = lane(&report, "by address");
    assert_eq!((address.allowed, address.denied, address.keys_denied), (60, 1140, 1));
    let user = lane(&report, "by user");
    assert_eq!((user.allowed, user.denied, user.keys_denied), (1200, 0, 0));
}

/// Three ways to count a call whose cost is known only at its end: 150 of the 500 reserved.
#[test]
fn c35_reserve_and_give_back() {
    let window = || Asked::new("fixed-window = { limit = \"1000/60s\" }");
    let (start, end) = (SimTime::EPOCH, SimTime::from_nanos(5 * S));
    let mut settled = window();
    let mut passed = [0; 3].map(|at| settled.passes(at, 500)).to_vec();
    passed.iter().filter(|passed| **passed).for_each(|_| settled.0.refund(KEY, start, end, 350));
    assert_eq!(settled.0.level(KEY, end).used.numerator, 300);
    passed.push(settled.passes(5 * S, 500));
    assert_eq!(passed, [true, true, false, true]);

    let mut afterwards = window();
    let mut passed = [0; 3].map(|at| afterwards.passes(at, 0)).to_vec();
    (0..3).for_each(|_| afterwards.0.charge(KEY, end, 150));
    passed.push(afterwards.0.ask(KEY, end, 1) == Decision::Allow);
    assert_eq!(passed, [true; 4]);

    let mut kept = window();
    assert_eq!([0, 0, 0, 5].map(|second| kept.passes(second * S, 500)), [true, true, false, false]);
}

#[test]
fn c38_two_calendars_double_a_daily_ceiling() {
    let hour = 3_600 * S;
    let day = 24 * hour;
    let trace = bursts(&[(23 * hour + hour / 6 * 5, 240), (day + hour / 6, 240)]);
    let text = format!(
        "start = \"2025-06-10T00:00:00Z\"\nlimit = \"240/1d\"\n{trace}{}",
        who_lane("client", "fixed-window = {}")
    );
    let report = report(&text);
    let client = lane(&report, "client");
    assert_eq!((client.allowed, client.peak.as_ref().expect("a limit").units), (480, 480));
    // All of it lies in one day of the provider, seven hours behind.
    let days: Vec<i64> = arrivals(&plan(&text)).iter().map(|arrival| (arrival.at - 7 * hour).div_euclid(day)).collect();
    assert!(days.iter().all(|day| *day == days[0]));
}

/// The rolling thirty days; calendar months are windows that no lane has.
#[test]
fn c39_rolling_thirty_days() {
    let instant = |text: &str| text.parse::<jiff::Timestamp>().expect("an instant").as_second() * S;
    let (first, second) = (instant("2024-01-31T23:59:59Z"), instant("2024-02-01T00:00:01Z"));
    let mut log = Asked::new("sliding-log = { limit = \"100/30d\" }");
    assert_eq!((log.passing(first, 100), log.passing(second, 100)), (100, 0));
    assert_eq!(log.wait(second, 1).map(|wait| second + wait), Some(instant("2024-03-01T23:59:59Z")));
}

#[test]
fn c40_five_a_minute_ten_passed() {
    let passed = passes(
        "[[traffic]]\nburst = { requests = 24, at = \"30s\", over = \"2m\" }\n\
         [[lane]]\nfixed-window = { limit = \"5/60s\" }\n",
    );
    let refused: Vec<i64> = passed.iter().filter(|(_, passed)| !passed).map(|(at, _)| at / S).collect();
    assert_eq!(refused, [55, 85, 90, 95, 100, 105, 110, 115, 145]);
    let admitted = |n: usize| passed[..n].iter().filter(|(_, passed)| *passed).count();
    assert_eq!((admitted(12), admitted(24)), (10, 15));
}

#[test]
fn c41_the_smallest_limit_that_refuses_nobody() {
    let refused = |lane: &str| {
        let traffic = "[[traffic]]\nburst = { requests = 30, over = \"15s\" }\n[[lane]]\n";
        30 - count(&format!("{traffic}{lane}"))
    };
    for (limit, expected) in [(5, 20), (10, 10), (19, 1), (20, 0)] {
        assert_eq!(refused(&format!("fixed-window = {{ limit = \"{limit}/10s\" }}")), expected);
        assert_eq!(refused(&format!("sliding-log = {{ limit = \"{limit}/10s\" }}")), expected);
    }
    for (capacity, expected) in [(10, 6), (15, 1), (16, 0)] {
        for bucket in buckets("1/s", capacity) {
            assert_eq!(refused(&bucket), expected, "{bucket}");
        }
    }
}

#[test]
fn c42_windows_double_at_their_edge() {
    let mut window = Asked::new("fixed-window = { limit = \"2/1s\" }");
    assert_eq!((window.passing(900 * MS, 2), window.passing(S, 2)), (2, 2));
}

#[test]
fn c43_a_meter_does_not_reset_to_full_each_period() {
    for bucket in buckets("3/s", 3) {
        let mut asked = Asked::new(&bucket);
        let passed: Vec<i64> = (0..30).filter(|tenth| asked.passes(tenth * 100 * MS, 1)).collect();
        assert_eq!(passed, [0, 1, 2, 4, 7, 10, 14, 17, 20, 24, 27], "{bucket}");
    }
}
