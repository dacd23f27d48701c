//! `rlsim explain`: algorithms from their own documentation, traffic, and the words of the report.

use super::cli::ExplainArgs;
use super::headers;
use super::output::stdout;
use super::topics::TOPICS;
use crate::error::Error;
use crate::limiter::LimiterSpec;
use crate::scenario::{closest, embedded};

/// The sources of the algorithms: their opening comments are what is explained.
const ALGORITHMS: [(&str, &str, &str); 6] = [
    (
        "fixed-window",
        include_str!("../limiter/fixed_window.rs"),
        "limit, anchor = \"clock\" / \"first-request\" / \"every-request\", count-denied = false / true",
    ),
    (
        "sliding-log",
        include_str!("../limiter/sliding_log.rs"),
        "limit, edge = \"exclusive\" / \"inclusive\", count-denied = false / true",
    ),
    (
        "sliding-counter",
        include_str!("../limiter/sliding_counter.rs"),
        "limit, compare = \"after\" / \"before\", buckets = 1.., oldest = \"weighted\" / \"ignored\" / \"whole\", anchor = \"clock\" / \"first-request\", count-denied = false / true",
    ),
    (
        "token-bucket",
        include_str!("../limiter/token_bucket.rs"),
        "rate, burst, initial = \"full\" / \"empty\" / n, refill = \"continuous\" / \"interval\", backwards = \"clamp\" / \"mint\" / \"abs\" (continuous)",
    ),
    (
        "leaky-bucket",
        include_str!("../limiter/leaky_bucket.rs"),
        "rate, mode = \"queue\" / \"meter\", capacity, compare = \"after\" / \"before\" (meter)",
    ),
    ("gcra", include_str!("../limiter/gcra.rs"), "rate, burst"),
];

/// Kinds of traffic.
pub const TRAFFIC: [(&str, &str); 9] = [
    ("burst", "Requests in one instant, or evenly over a time. Fields: requests, at (0s), over (0s)."),
    (
        "boundary-burst",
        "Requests just before and just after each edge of the limit's window. With n requests and margin m, n arrive at edge - m + i m/n and n at edge + i m/n, i = 0..n-1, at each edge strictly inside the run. Fields: requests, margin, edges (at most so many).",
    ),
    ("idle-then-spike", "Silence, then requests in one instant. Fields: idle, requests, repeat (1)."),
    ("steady", "Evenly spaced requests. Field: rate."),
    ("poisson", "Requests with exponential gaps, as from many independent clients. Field: rate."),
    ("on-off", "Evenly spaced requests while on, none while off. Fields: rate, on, off."),
    ("ramp", "A rate that changes linearly. Fields: rate (at the beginning), to (at the end)."),
    (
        "clients",
        "A closed population: each client makes a request, waits for its outcome, thinks, and makes the next one. Fields: count, think.",
    ),
    (
        "trace",
        "A CSV file, plain or gzip. Fields: file; time (a column; without it the first in the file's order that is called timestamp, @timestamp, time, ts, datetime, date_time, date, unix_time, epoch or created_at, in any case; without a header column 1); time-format (\"auto\", which is decimal seconds or a date-time, UTC if it has no zone; else \"s\", \"ms\", \"us\", \"ns\", \"rfc3339\" or a strptime pattern); key (a column; without it all rows have one key); cost (a column, or a list of columns to add; without it 1); attributes (none); order (\"strict\"; else \"sort\" or { window = \"5s\" }); bad-rows (\"error\"; else \"skip\"); header (true, unless time is a number and no column is named).",
    ),
];

/// Words of the report.
pub const WORDS: [(&str, &str); 22] = [
    ("arrival", "One attempt at one instant. A request is what a client wants; it takes one or more attempts."),
    ("key", "What the limit is counted by: a client, an address, a tenant."),
    ("cost", "Units that an attempt takes, 1 by default."),
    ("limit", "Units per window that every lane must enforce; the yardstick of peak and ratio."),
    ("rate", "Units per period that a bucket sustains."),
    ("burst", "Units that a bucket admits at once: its capacity."),
    ("lane", "One system under test. Every lane meets the same traffic."),
    ("allow", "Admitted and released at once."),
    ("delay", "Admitted and released later, by a leaky bucket that queues."),
    ("deny", "Refused."),
    (
        "peak",
        "The most units released in any half-open span as long as the limit's window, for any key, exactly. Its ratio is peak / limit.",
    ),
    ("envelope", "The same for other spans: A(T) is the most units released in any half-open span of length T."),
    (
        "bound",
        "The proven worst case of the peak: no traffic with such costs can make it larger; of a deployment, no traffic of such rates and latencies either. A `?` means that nothing is proven for this setting.",
    ),
    (
        "vs-log",
        "Admissions compared with the exact sliding log over the same traffic: `+3 -0` is 3 false admissions (admitted although the log refuses) and 0 false denials (refused although the log admits).",
    ),
    ("attempt", "What reaches the limiter. A request takes one or, if its client comes back, more of them."),
    ("amplification", "Attempts over first attempts: 1 if nobody comes back."),
    ("goodput", "Requests answered while their client still waits, a second. Throughput counts all work done."),
    (
        "recovered",
        "When the last bin ended in which retries outnumber first attempts, or requests given up those answered in time. A bin in which nothing happens while requests wait is as the one before it.",
    ),
    (
        "clumps",
        "Variance over mean of attempts in a bin (index of dispersion): 1 for attempts that know nothing of each other, far more for those that come in step.",
    ),
    (
        "wait",
        "How long admitted attempts are held; those allowed at once count as zero. Percentiles are rounded up, by 0.1 % at most; the longest wait is exact.",
    ),
    ("b-key", "Bytes of state that the limiter holds for a key, as really held."),
    (
        "retry-after",
        "The smallest wait after which the same attempt would be admitted if nothing else arrived, or never.",
    ),
];

/// What is part of a topic, and the topic.
const PARTS: [(&str, &str); 27] = [
    ("central", "deployment"),
    ("local", "deployment"),
    ("hybrid", "deployment"),
    ("sync", "deployment"),
    ("lease", "deployment"),
    ("quota", "deployment"),
    ("drop", "deployment"),
    ("proportional", "deployment"),
    ("assignment", "deployment"),
    ("store", "deployment"),
    ("breaker", "deployment"),
    ("prefilter", "deployment"),
    ("skew", "deployment"),
    ("on-failure", "deployment"),
    ("store-down", "faults"),
    ("store-slow", "faults"),
    ("store-lag", "faults"),
    ("partition", "faults"),
    ("failover", "faults"),
    ("flush", "faults"),
    ("lost-expire", "faults"),
    ("restart", "faults"),
    ("scale", "faults"),
    ("reroute", "faults"),
    ("retry", "client"),
    ("budget", "client"),
    ("throttle", "client"),
];

/// The opening comment of an algorithm's source, as plain text.
fn documentation(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let mut text = String::new();
    for line in lines {
        let line = line.strip_prefix(' ').unwrap_or(line);
        text.push_str(line.strip_prefix("# ").map_or(line.to_owned(), str::to_uppercase).as_str());
        text.push('\n');
    }
    text
}

/// The first sentence of an algorithm's documentation.
pub fn algorithm_summary(name: &str) -> String {
    let source = ALGORITHMS.iter().find(|(other, ..)| *other == name).map_or("", |(_, source, _)| source);
    let text = documentation(source);
    let paragraph = text.split("\n\n").next().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, after) = paragraph.split_once(": ").unwrap_or(("", &paragraph));
    after.split_once(". ").map_or(after, |(first, _)| first).trim_end_matches('.').to_owned()
}

/// Explains one name.
pub fn explain(args: &ExplainArgs) -> Result<u8, Error> {
    let name = args.name.to_ascii_lowercase().replace([' ', '_'], "-");
    // Names with a hyphen are not torn apart.
    let width = textwrap::Options::new(88).word_splitter(textwrap::WordSplitter::NoHyphenation);
    let wrapped = |text: &str| textwrap::fill(text, &width);
    if let Some((_, source, knobs)) = ALGORITHMS.iter().find(|(other, ..)| *other == name) {
        stdout(&format!("{}\nKNOBS (default first)\n{}\n", documentation(source), wrapped(knobs)))?;
        return Ok(0);
    }
    // A name may be that of a kind of traffic and a word too.
    let lists = [("traffic", &TRAFFIC[..]), ("word of the report", &WORDS[..])];
    let meanings = lists.iter().flat_map(|(what, list)| list.iter().map(move |(known, text)| (what, known, text)));
    let meanings: Vec<_> = meanings.filter(|(_, known, _)| **known == name).collect();
    let told: Vec<String> = meanings
        .iter()
        .map(|(what, known, text)| match meanings.len() {
            1 => format!("{}\n", wrapped(&format!("{known}: {text}"))),
            _ => format!("{}\n", wrapped(&format!("{known} ({what}): {text}"))),
        })
        .collect();
    if !told.is_empty() {
        stdout(&told.join("\n"))?;
        if let Some(scenario) = embedded(&name) {
            stdout(&format!("\nIt is a scenario too: rlsim show {0}, or rlsim run {0}\n", scenario.name))?;
        }
        return Ok(0);
    }
    if let Some(topic) = TOPICS.iter().find(|topic| topic.name == name) {
        stdout(topic.text)?;
        if topic.name == "headers" {
            stdout(&headers::shown())?;
        }
        return Ok(0);
    }
    if let Some((_, topic)) = PARTS.iter().find(|(part, _)| *part == name) {
        return Err(Error::usage(format!("`{name}` is explained with others: rlsim explain {topic}")));
    }
    if let Some(scenario) = embedded(&name) {
        let name = scenario.name;
        return Err(Error::usage(format!("`{name}` is a scenario: rlsim show {name}, or rlsim run {name}")));
    }
    let names = LimiterSpec::NAMES
        .into_iter()
        .chain(TOPICS.iter().map(|topic| topic.name))
        .chain(TRAFFIC.iter().map(|(name, _)| *name))
        .chain(WORDS.iter().map(|(name, _)| *name).filter(|word| TRAFFIC.iter().all(|(name, _)| name != word)));
    let help = match closest(&name, names.clone()) {
        Some(close) => format!("did you mean `{close}`? `rlsim list` names all"),
        None => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
    };
    Err(Error::usage(format!("nothing is known of `{}`; {help}", args.name)))
}
