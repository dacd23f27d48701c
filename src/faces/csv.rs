//! The report's lanes as CSV, a row each.

use crate::report::{LaneReport, Report};

type Column = (&'static str, fn(&LaneReport) -> String);

fn or_empty(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

const COLUMNS: [Column; 27] = [
    ("lane", |lane| lane.name.clone()),
    ("algorithm", |lane| lane.algorithm.to_owned()),
    ("key", |lane| lane.key.clone()),
    ("requests", |lane| lane.requests.to_string()),
    ("attempts", |lane| lane.attempts.to_string()),
    ("retries", |lane| lane.retries.to_string()),
    ("allowed", |lane| lane.allowed.to_string()),
    ("delayed", |lane| lane.delayed.to_string()),
    ("denied", |lane| lane.denied.to_string()),
    ("cost_offered", |lane| lane.cost_offered.to_string()),
    ("cost_admitted", |lane| lane.cost_admitted.to_string()),
    ("peak_units", |lane| or_empty(lane.peak.as_ref().map(|peak| peak.units))),
    ("peak_ratio", |lane| or_empty(lane.peak.as_ref().and_then(|peak| peak.ratio))),
    ("peak_bound", |lane| or_empty(lane.peak.as_ref().and_then(|peak| peak.bound))),
    ("peak_from_ns", |lane| or_empty(lane.peak.as_ref().and_then(|peak| peak.from_ns))),
    ("peak_key", |lane| or_empty(lane.peak.as_ref().and_then(|peak| peak.key.clone()))),
    ("false_denials", |lane| or_empty(lane.false_denials)),
    ("false_admissions", |lane| or_empty(lane.false_admissions)),
    ("wait_p50_ns", |lane| or_empty(lane.wait_ns.p50)),
    ("wait_p95_ns", |lane| or_empty(lane.wait_ns.p95)),
    ("wait_p99_ns", |lane| or_empty(lane.wait_ns.p99)),
    ("wait_max_ns", |lane| or_empty(lane.wait_ns.max)),
    ("state_keys", |lane| lane.state.keys.to_string()),
    ("state_bytes", |lane| lane.state.bytes.to_string()),
    ("keys_denied", |lane| lane.keys_denied.to_string()),
    ("same_as", |lane| or_empty(lane.same_as.clone())),
    ("fingerprint", |lane| lane.fingerprint.clone()),
];

/// The lanes as CSV with a header.
#[must_use]
pub fn csv(report: &Report) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let to_memory = "writing to memory does not fail";
    writer.write_record(COLUMNS.iter().map(|(name, _)| *name)).expect(to_memory);
    for lane in &report.lanes {
        writer.write_record(COLUMNS.iter().map(|(_, cell)| cell(lane))).expect(to_memory);
    }
    let bytes = writer.into_inner().expect(to_memory);
    String::from_utf8(bytes).expect("all cells are text")
}
