//! The report's lanes as CSV, a row each.

mod sweep;

pub use sweep::{header as sweep_header, rows as sweep_rows, sweep};

use crate::report::{FleetReport, LaneReport, LoopReport, Report, StoreReport};

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

type LoopColumn = (&'static str, fn(&LoopReport) -> String);

/// What a closed loop adds.
const LOOP_COLUMNS: [LoopColumn; 18] = [
    ("first_attempts", |closed| closed.first_attempts.to_string()),
    ("amplification", |closed| or_empty(closed.amplification)),
    ("succeeded", |closed| closed.succeeded.to_string()),
    ("gave_up", |closed| closed.gave_up.to_string()),
    ("goodput_per_s", |closed| or_empty(closed.goodput_per_s)),
    ("throughput_per_s", |closed| or_empty(closed.throughput_per_s)),
    ("drain_ns", |closed| or_empty(closed.drain_ns)),
    ("ideal_drain_ns", |closed| or_empty(closed.ideal_drain_ns)),
    ("time_to_success_p50_ns", |closed| or_empty(closed.time_to_success_ns.p50)),
    ("time_to_success_p99_ns", |closed| or_empty(closed.time_to_success_ns.p99)),
    ("time_to_success_max_ns", |closed| or_empty(closed.time_to_success_ns.max)),
    ("most_attempts", |closed| closed.most_attempts.to_string()),
    ("most_retries", |closed| closed.most_retries.to_string()),
    ("peak_to_mean", |closed| or_empty(closed.peak_to_mean)),
    ("dispersion", |closed| or_empty(closed.dispersion)),
    ("jain", |closed| or_empty(closed.jain)),
    ("overloaded_bins", |closed| closed.overloaded_bins.to_string()),
    ("recovered_ns", |closed| or_empty(closed.recovered_ns)),
];

type FleetColumn = (&'static str, fn(&LaneReport, &FleetReport) -> String);

fn of_store(fleet: &FleetReport, figure: impl Fn(&StoreReport) -> Option<String>) -> String {
    or_empty(fleet.store.as_ref().and_then(figure))
}

/// What a deployment adds.
const FLEET_COLUMNS: [FleetColumn; 10] = [
    ("replicas", |_, fleet| fleet.replicas.len().to_string()),
    ("over_limit_ns", |_, fleet| or_empty(fleet.over_limit_ns)),
    ("backend_overload_ns", |_, fleet| or_empty(fleet.backend_overload_ns)),
    ("over_admitted", |lane, _| or_empty(lane.over_admitted)),
    ("under_admitted", |lane, _| or_empty(lane.under_admitted)),
    ("store_operations", |_, fleet| of_store(fleet, |store| Some(store.operations.to_string()))),
    ("store_per_request", |_, fleet| of_store(fleet, |store| Some(store.per_request.to_string()))),
    ("store_latency_p99_ns", |_, fleet| of_store(fleet, |store| store.latency_ns.p99.map(|nanos| nanos.to_string()))),
    ("store_unavailable_ns", |_, fleet| of_store(fleet, |store| Some(store.unavailable_ns.to_string()))),
    ("store_decided_without", |_, fleet| of_store(fleet, |store| Some(store.decided_without.to_string()))),
];

/// The lanes as CSV with a header.
#[must_use]
pub fn csv(report: &Report) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let to_memory = "writing to memory does not fail";
    let closed = report.lanes.iter().any(|lane| lane.closed.is_some());
    let more: &[LoopColumn] = if closed { &LOOP_COLUMNS } else { &[] };
    let deployed = report.lanes.iter().any(|lane| lane.fleet.is_some());
    let fleet: &[FleetColumn] = if deployed { &FLEET_COLUMNS } else { &[] };
    let names = COLUMNS.iter().map(|(name, _)| *name).chain(more.iter().map(|(name, _)| *name));
    let names = names.chain(fleet.iter().map(|(name, _)| *name));
    writer.write_record(names).expect(to_memory);
    for lane in &report.lanes {
        let of_loop = more.iter().map(|(_, cell)| lane.closed.as_ref().map_or_else(String::new, cell));
        let of_fleet = fleet.iter().map(|(_, cell)| lane.fleet.as_ref().map_or_else(String::new, |f| cell(lane, f)));
        writer
            .write_record(COLUMNS.iter().map(|(_, cell)| cell(lane)).chain(of_loop).chain(of_fleet))
            .expect(to_memory);
    }
    let bytes = writer.into_inner().expect(to_memory);
    String::from_utf8(bytes).expect("all cells are text")
}
