//! `rlsim explain headers`: what a refused client is told, by every algorithm and in every format.

use crate::limiter::{Decision, KeyId, Workload};
use crate::scenario::{Plan, ScenarioSource};
use crate::sim::{Lane, LanePlan, Policy, QuotaHeaders, ResponseSpec, RetryAfter};
use crate::time::SimTime;

/// Four attempts, the last of which all algorithms refuse.
const EXAMPLE: &str = "limit = \"3/6s\"\n[[traffic]]\nburst = { requests = 4 }\n";

/// When they come, in nanoseconds after an instant on a window's edge.
const AT: [i64; 4] = [1_000_000_000, 1_500_000_000, 2_000_000_000, 2_500_000_000];

/// A window's edge: 2026-01-01T00:00:00Z.
const EDGE: i64 = 1_767_225_600_000_000_000;

/// Formats by the words that choose them.
const FORMATS: [(&str, QuotaHeaders); 6] = [
    ("ietf", QuotaHeaders::Ietf),
    ("draft-3", QuotaHeaders::Draft3),
    ("draft-6", QuotaHeaders::Draft6),
    ("draft-7", QuotaHeaders::Draft7),
    ("x-ratelimit", QuotaHeaders::XDelta),
    ("x-ratelimit-epoch", QuotaHeaders::XEpoch),
];

/// The answer to the last attempt.
fn answer(lane: &LanePlan, response: &ResponseSpec) -> String {
    let mut lane = Lane::new(lane.clone(), &Workload::UNKNOWN);
    let instant = |at: i64| SimTime::from_nanos(EDGE + at);
    let decisions = AT.map(|at| lane.decide(0, KeyId(0), instant(at), 1));
    let (at, denied) = (instant(AT[3]), decisions[3] == Decision::Deny);
    let wait = lane.retry_after(KeyId(0), at, 1).filter(|_| denied).map(|wait| wait.short_nanos());
    let status = match (denied, response.status) {
        (false, _) => "200 OK".to_owned(),
        (true, 429) => "429 Too Many Requests".to_owned(),
        (true, status) => status.to_string(),
    };
    let policy = Policy::of(&lane.plan().limiter);
    let mut text = format!("    HTTP/1.1 {status}\n");
    for (name, value) in response.lines(at, policy, &lane.level(KeyId(0), at), wait) {
        text.push_str(&format!("    {name}: {value}\n"));
    }
    text
}

/// The answers of all algorithms in one format, then of one algorithm in all formats.
pub fn shown() -> String {
    let source = ScenarioSource {
        name: "headers".to_owned(),
        text: EXAMPLE.to_owned(),
        folder: std::path::PathBuf::new(),
        embedded: true,
    };
    let plan = Plan::new(&source, &[]).expect("the example is a scenario");
    let mut text = String::new();
    let told = |headers| ResponseSpec { retry_after: RetryAfter::Seconds, headers, ..ResponseSpec::default() };
    for lane in &plan.lanes {
        text.push_str(&format!("{}\n{}\n", lane.name, answer(lane, &told(QuotaHeaders::Ietf))));
    }
    let gcra = plan.lanes.last().expect("six lanes");
    for (word, headers) in FORMATS {
        text.push_str(&format!("{}, headers = \"{word}\"\n{}\n", gcra.name, answer(gcra, &told(headers))));
    }
    let date = ResponseSpec { retry_after: RetryAfter::Date, ..ResponseSpec::default() };
    text.push_str(&format!("{}, retry-after = \"date\"\n{}", gcra.name, answer(gcra, &date)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rendered answers of the worked table: GCRA and the fixed window at 2.5 s.
    #[test]
    fn the_worked_answers() {
        let text = shown();
        let of = |heading: &str| {
            let (_, after) = text.split_once(&format!("{heading}\n")).expect("it is shown");
            after.split("\n\n").next().expect("an answer").to_owned()
        };
        let gcra = of("gcra, headers = \"ietf\"");
        assert_eq!(
            gcra.lines().map(str::trim).collect::<Vec<_>>(),
            [
                "HTTP/1.1 429 Too Many Requests",
                "Retry-After: 1",
                "RateLimit-Policy: \"default\";q=3;w=6",
                "RateLimit: \"default\";r=0;t=1",
            ]
        );
        assert!(of("gcra, headers = \"x-ratelimit\"").contains("X-RateLimit-Reset: 5"));
        let fixed = of("fixed-window");
        assert!(fixed.contains("Retry-After: 4") && fixed.contains("r=0;t=4"));
    }
}
