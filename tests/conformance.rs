//! Decisions of real rate limiters, recorded request by request, against lanes set to their rules.
//!
//! `data/conformance` holds what was recorded; its README says what each column means. Every row
//! must agree: there is no tolerance.

use crate::simulate::plan;
use rlsim::limiter::{Decision, KeyId, Workload};
use rlsim::sim::Lane;
use rlsim::time::{SimDuration, SimTime};
use std::path::Path;

/// What of a recorded row is compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decided {
    /// The decision, and the delay where one is given.
    Whole,
    /// The decision; the delay was measured on a real clock.
    Kind,
    /// Only whether it is admitted: the limiter delays by a rule that no lane has.
    Admission,
}
use Decided::{Admission, Kind, Whole};

/// What its limiter reports beside the decision, where that is its own exact answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reported {
    /// Nothing, or something rounded or meant otherwise.
    Nothing,
    /// `remaining`.
    Remaining,
    /// `retry_after_us`, in multiples of so many nanoseconds, rounded up.
    Retry(u128),
    /// Both.
    Quota(u128),
}
use Reported::{Nothing, Quota, Remaining, Retry};

const NANO: u128 = 1;
const MILLI: u128 = 1_000_000;
const SECOND: u128 = 1_000_000_000;

/// A recording and the lanes that must reproduce it.
struct Preset {
    name: &'static str,
    config: &'static str,
    decided: Decided,
    reported: Reported,
    lanes: Vec<String>,
}

impl Preset {
    fn compare(self, decided: Decided) -> Self {
        Self { decided, ..self }
    }
}

fn one(name: &'static str, config: &'static str, reported: Reported, lane: &str) -> Preset {
    Preset { name, config, decided: Whole, reported, lanes: vec![lane.to_owned()] }
}

/// Token bucket, GCRA and leaky meter of one rate and burst: three spellings of one rule.
fn bucket(name: &'static str, config: &'static str, reported: Reported, rate: &str, burst: u64, knobs: &str) -> Preset {
    let lanes = [
        format!("token-bucket = {{ rate = \"{rate}\", burst = {burst} }}{knobs}"),
        format!("gcra = {{ rate = \"{rate}\", burst = {burst} }}{knobs}"),
        format!("leaky-bucket = {{ rate = \"{rate}\", capacity = {burst}, mode = \"meter\" }}{knobs}"),
    ];
    Preset { name, config, decided: Whole, reported, lanes: lanes.to_vec() }
}

const MILLISECONDS: &str = "\nclock-resolution = \"1ms\"";
const SECONDS: &str = "\nclock-resolution = \"1s\"";

/// Where a row and a lane disagree.
struct Row {
    at: SimTime,
    key: KeyId,
    cost: u64,
    cells: csv::StringRecord,
}

fn read(path: &Path, epoch_us: i64) -> Vec<Row> {
    let mut keys: Vec<String> = Vec::new();
    let mut reader = csv::Reader::from_path(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let rows = reader.records().map(|record| {
        let cells = record.expect("a recorded row");
        let key = keys.iter().position(|known| *known == cells[1]).unwrap_or_else(|| {
            keys.push(cells[1].to_owned());
            keys.len() - 1
        });
        let time: i64 = cells[0].parse().expect("microseconds");
        Row {
            at: SimTime::from_nanos((epoch_us + time) * 1000),
            key: KeyId(key as u32),
            cost: cells[2].parse().expect("a cost"),
            cells,
        }
    });
    rows.collect()
}

/// Microseconds with up to three decimals, in nanoseconds.
fn nanos(cell: &str) -> u128 {
    let (whole, rest) = cell.split_once('.').unwrap_or((cell, ""));
    format!("{whole}{rest:0<3}").parse().expect("microseconds")
}

/// What differs between a recorded row and the lane's answer to it.
fn difference(preset: &Preset, row: &Row, decision: Decision, lane: &Lane) -> Option<String> {
    let (recorded, delay, remaining, retry) = (&row.cells[3], &row.cells[4], &row.cells[5], &row.cells[6]);
    let kind = match decision {
        Decision::Allow => "allow",
        Decision::Delay(_) => "delay",
        Decision::Deny => "deny",
    };
    let same = if preset.decided == Admission { (recorded != "deny") == decision.admits() } else { recorded == kind };
    if !same {
        return Some(format!("recorded {recorded}, decided {kind}"));
    }
    let wait = if let Decision::Delay(wait) = decision { wait } else { SimDuration::ZERO };
    if preset.decided == Whole && recorded != "deny" && !delay.is_empty() && nanos(delay) != wait.nanos() {
        return Some(format!("recorded a delay of {delay} us, decided {wait}"));
    }
    if matches!(preset.reported, Remaining | Quota(_)) && !remaining.is_empty() {
        let level = lane.level(row.key, row.at);
        // Some say by how much a key is over.
        let stated = remaining.parse().map(|stated: i64| stated.max(0).unsigned_abs());
        if stated != Ok(level.remaining) {
            return Some(format!("recorded {remaining} remaining, reckoned {}", level.remaining));
        }
    }
    if let Retry(step) | Quota(step) = preset.reported
        && recorded == "deny"
    {
        let wait = lane.retry_after(row.key, row.at, row.cost).map(|wait| wait.nanos().div_ceil(step) * step);
        // Never is reported as nothing.
        if wait != (!retry.is_empty()).then(|| nanos(retry)) {
            return Some(format!("recorded a retry after {retry} us, reckoned {wait:?} ns"));
        }
    }
    None
}

fn check(presets: Vec<Preset>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/conformance");
    let manifest = std::fs::read_to_string(root.join("MANIFEST.toml")).expect("the manifest");
    let manifest: toml::Table = toml::from_str(&manifest).expect("the manifest is TOML");
    let mut failures = Vec::new();
    for preset in presets {
        let about = &manifest[preset.name][preset.config];
        let number = |name: &str| about[name].as_integer().expect("a number");
        let mut counts = [0_i64; 4];
        for pattern in about["patterns"].as_array().expect("patterns") {
            let pattern = pattern.as_str().expect("a pattern's name");
            let path = root.join(preset.name).join(format!("{}__{pattern}.csv", preset.config));
            let rows = read(&path, number("epoch-base-us"));
            for row in &rows {
                counts[0] += 1;
                let kind = ["allow", "delay", "deny"].iter().position(|kind| *kind == &row.cells[3]);
                counts[kind.expect("a known decision") + 1] += 1;
            }
            for text in &preset.lanes {
                let plan = plan(&format!("[[traffic]]\nburst = {{ requests = 1 }}\n[[lane]]\n{text}\n"));
                let mut lane = Lane::new(plan.lanes[0].clone(), &Workload::UNKNOWN);
                let mut differences = rows.iter().enumerate().filter_map(|(i, row)| {
                    let decision = lane.decide(0, row.key, row.at, row.cost);
                    difference(&preset, row, decision, &lane).map(|what| (i, what))
                });
                if let Some((i, what)) = differences.next() {
                    let more = differences.count();
                    failures.push(format!("{} row {}: {what} ({more} more)\n    {text}", path.display(), i + 1));
                }
            }
        }
        let stated = ["rows", "allow", "delay", "deny"].map(number);
        assert_eq!(counts, stated, "rows, allow, delay, deny of {} {}", preset.name, preset.config);
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn token_buckets() {
    check(vec![
        bucket("governor", "r10s_b10", Quota(NANO), "10/s", 10, ""),
        bucket("governor", "r5s_b20", Quota(NANO), "5/s", 20, ""),
        bucket("governor", "r7s_b7", Remaining, "7/s", 7, ""),
        bucket("governor", "r30m_b1", Quota(NANO), "30/m", 1, ""),
        bucket("go_xtime_rate_allow", "r10s_b10", Nothing, "10/s", 10, ""),
        bucket("go_xtime_rate_allow", "r5s_b20", Nothing, "5/s", 20, ""),
        bucket("go_xtime_rate_allow", "r7s_b7", Nothing, "7/s", 7, ""),
        bucket("go_xtime_rate_allow", "r30m_b1", Nothing, "30/m", 1, ""),
        bucket("gcra_crate", "c10_1s", Quota(NANO), "10/s", 10, ""),
        bucket("gcra_crate", "c7_1s", Remaining, "7/s", 7, ""),
        bucket("ratelimit_meter_leaky", "c10_1s", Retry(NANO), "10/s", 10, ""),
        bucket("ratelimit_meter_leaky", "c7_1s", Nothing, "7/s", 7, ""),
        bucket("ratelimit_crate", "r10s_b10", Quota(NANO), "10/s", 10, ""),
        bucket("ratelimit_crate", "r7s_b20", Remaining, "7/s", 20, ""),
        bucket("redis_cell", "b9_10_1s", Remaining, "10/s", 10, ""),
        bucket("redis_cell", "b15_30_60s", Quota(SECOND), "30/60s", 16, ""),
        bucket("redis_rate_go_v10", "r10_b10_1s", Nothing, "10/s", 10, ""),
        bucket("redis_rate_go_v10", "r5_b20_1s", Nothing, "5/s", 20, ""),
        // Its tolerance is the whole period: one more passes at once. Weighted requests are charged otherwise.
        bucket("ratelimit_meter_gcra", "c10_1s", Nothing, "10/s", 11, ""),
        bucket("ratelimit_meter_gcra", "c7_1s", Nothing, "7/s", 8, ""),
        // One request more passes on credit; a weighted one passes on any credit.
        bucket("guava_bursty_try", "r10", Nothing, "10/s", 11, ""),
        // Whole seconds: tokens come at second edges.
        bucket("redis_scg_token", "r10_b20", Remaining, "10/s", 20, SECONDS),
        bucket("redis_scg_token", "r1_b5", Remaining, "1/s", 5, SECONDS),
        bucket("xt_limit", "wall_r10s_b5", Nothing, "10/s", 5, ""),
        bucket("xt_limit", "wall_r5s_b20", Nothing, "5/s", 20, ""),
        bucket("xt_hashlimit", "wall_r10s_b5", Nothing, "10/s", 5, ""),
        bucket("nft_limit", "wall_r10s_b5", Nothing, "10/s", 5, ""),
        bucket("nft_limit", "wall_r5s_b20", Nothing, "5/s", 20, ""),
    ]);
}

/// nginx admits its burst and one more; without `nodelay` it is a queue.
#[test]
fn nginx() {
    let queue = |rate: &str, capacity: u64| {
        format!("leaky-bucket = {{ rate = \"{rate}\", capacity = {capacity} }}{MILLISECONDS}")
    };
    check(vec![
        bucket("nginx_limit_req", "r10s", Nothing, "10/s", 1, MILLISECONDS),
        one("nginx_limit_req", "r10s", Nothing, &queue("10/s", 1)),
        one("nginx_limit_req", "r10s_b5", Nothing, &queue("10/s", 6)),
        bucket("nginx_limit_req", "r10s_b5_nodelay", Nothing, "10/s", 6, MILLISECONDS),
        // A soft burst: the first eight of the waiting are not held.
        bucket("nginx_limit_req", "r10s_b20_d8", Nothing, "10/s", 21, MILLISECONDS).compare(Admission),
        bucket("nginx_limit_req", "r30m", Nothing, "30/m", 1, MILLISECONDS),
        bucket("nginx_limit_req", "wall_r10s", Nothing, "10/s", 1, MILLISECONDS),
        one("nginx_limit_req", "wall_r10s_b5", Nothing, &queue("10/s", 6)).compare(Kind),
        bucket("nginx_limit_req", "wall_r10s_b5_nodelay", Nothing, "10/s", 6, MILLISECONDS),
        bucket("nginx_limit_req", "wall_r10s_b20_d8", Nothing, "10/s", 21, MILLISECONDS).compare(Admission),
        bucket("nginx_limit_req", "wall_r30m_b5_nodelay", Nothing, "30/m", 6, MILLISECONDS),
    ]);
}

#[test]
fn fixed_windows() {
    let window = |limit: &str, knobs: &str| format!("fixed-window = {{ limit = \"{limit}\"{knobs} }}");
    let anchored = ", anchor = \"first-request\", count-denied = true";
    check(vec![
        one("pylimits_fixed", "l10_10s", Quota(NANO), &window("10/10s", anchored)),
        one("pylimits_fixed", "l100_1m", Quota(NANO), &window("100/1m", anchored)),
        one("pylimits_fixed", "l10_10s_skew", Quota(NANO), &window("10/10s", anchored)),
        one("express_rate_limit", "l10_10s", Quota(SECOND), &window("10/10s", anchored)),
        one("express_rate_limit", "l100_1m", Quota(SECOND), &window("100/1m", anchored)),
        one("fastify_rate_limit", "l10_10s", Quota(SECOND), &window("10/10s", anchored)),
        one("rlf_memory", "p10_10s", Quota(NANO), &window("10/10s", anchored)),
        // It spreads a window's requests by delays of its own.
        one("rlf_memory", "p10_10s_even", Quota(NANO), &window("10/10s", anchored)).compare(Admission),
        // A Redis key still exists at the very instant of its expiry: a window one nanosecond longer.
        one("pylimits_redis_fixed", "l10_10s", Remaining, &window("10/10.000000001s", anchored)),
        one("redis_incr_expire", "l10_10s", Remaining, &window("10/10.000000001s", anchored)),
        one("upstash_fixed", "l10_10s", Quota(NANO), &window("10/10s", ", count-denied = true")),
        one("rack_attack", "l10_10s", Quota(SECOND), &(window("10/10s", ", count-denied = true") + SECONDS)),
    ]);
}

#[test]
fn sliding_logs() {
    let log = |limit: &str, knobs: &str| format!("sliding-log = {{ limit = \"{limit}\"{knobs} }}");
    let inclusive = ", edge = \"inclusive\"";
    check(vec![
        one("drf_throttle", "l10_1m", Retry(NANO), &log("10/1m", "")),
        one("redis_zset_log", "l10_10s", Remaining, &log("10/10s", "")),
        one("redis_zset_log_denied_count", "l10_10s", Remaining, &log("10/10s", ", count-denied = true")),
        one("pylimits_moving", "l10_10s", Nothing, &log("10/10s", inclusive)),
        one("pylimits_moving", "l100_1m", Nothing, &log("100/1m", inclusive)),
        one("pylimits_moving", "l10_10s_skew", Nothing, &log("10/10s", inclusive)),
        one("pylimits_redis_moving", "l10_10s", Remaining, &log("10/10s", inclusive)),
        one("pyrate", "l10_1s", Retry(MILLI), &log("10/1s", inclusive)),
    ]);
}

/// They compare before: the estimate, rounded down, against the limit. Weighted requests they
/// count in other ways.
#[test]
fn sliding_counters() {
    let counter =
        |limit: &str, knobs: &str| format!("sliding-counter = {{ limit = \"{limit}\", compare = \"before\"{knobs} }}");
    let anchored = ", anchor = \"first-request\"";
    check(vec![
        one("upstash_sliding", "l10_10s", Remaining, &counter("10/10s", "")),
        one("upstash_sliding", "l10_10s_skew", Remaining, &counter("10/10s", "")),
        one("pylimits_swc", "l10_10s", Remaining, &counter("10/10s", "")),
        one("pylimits_swc", "l10_10s_skew", Remaining, &counter("10/10s", "")),
        one("pylimits_redis_swc", "l10_10s", Nothing, &counter("10/10.000000001s", anchored)),
        one(
            "haproxy_req_rate",
            "p10s_gt20",
            Remaining,
            &counter("20/10s", &format!("{anchored}, count-denied = true")),
        ),
        one(
            "haproxy_req_rate",
            "wall_p1s_gt10",
            Nothing,
            &counter("10/1s", &format!("{anchored}, count-denied = true")),
        ),
    ]);
}
