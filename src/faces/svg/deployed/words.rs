//! What the sheet of deployments says in words.

use super::super::words::span;
use crate::faces::format::{count, decimal, duration};
use crate::report::{LaneReport, Report};
use serde_json::Value;

fn number(n: u64) -> String {
    count(u128::from(n))
}

/// A knob as it is written.
fn knob(table: &Value, name: &str) -> Option<String> {
    let value = table.get(name)?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// The only key of a table of one, or a text itself; and what is in it.
fn kind(value: &Value) -> (String, &Value) {
    match value.as_object().and_then(|table| table.iter().next()) {
        Some((name, inside)) => (name.clone(), inside),
        None => (value.as_str().unwrap_or_default().to_owned(), &Value::Null),
    }
}

/// How a lane's limit is kept, in a few words; nothing of one process.
pub fn rule(report: &Report, index: usize) -> Option<String> {
    let deployment = report.scenario.get("lane")?.get(index)?.get("deployment")?;
    let (name, spec) = kind(deployment);
    let number = knob(spec, "replicas").unwrap_or_default();
    let one = number == "1";
    let replicas = if one { "1 replica".to_owned() } else { format!("{number} replicas") };
    let mut parts = match name.as_str() {
        "local" => vec![match knob(spec, "share").as_deref() {
            _ if one => format!("{replicas} by itself"),
            Some("split") => format!("{replicas}, each with its part of the limit"),
            _ => format!("{replicas}, each with the whole limit"),
        }],
        "central" => {
            let operation = knob(spec, "operation").filter(|operation| operation != "script");
            vec![format!("{replicas} and a store{}", operation.map_or_else(String::new, |op| format!(", {op}")))]
        }
        _ => vec![format!("{replicas}, {}", scheme(spec))],
    };
    parts.extend(knob(spec, "round-trip").filter(|trip| trip != "0s").map(|_| {
        let (name, trip) = kind(&spec["round-trip"]);
        match knob(trip, "mean").or_else(|| knob(trip, "hop")).or_else(|| trip.as_str().map(str::to_owned)) {
            Some(mean) => format!("round trip about {mean}"),
            None => format!("round trip {name}"),
        }
    }));
    parts.extend(knob(spec, "timeout").map(|timeout| format!("timeout {timeout}")));
    parts.extend(spec.get("on-failure").map(on_failure));
    parts.extend(spec.get("breaker").and_then(|breaker| knob(breaker, "failures")).map(|n| format!("breaker at {n}")));
    parts.extend(spec.get("prefilter").map(|filter| format!("prefilter {}", kind(filter).0)));
    let routing = spec.get("routing").map(kind).filter(|(name, _)| name != "round-robin" && !name.is_empty());
    parts.extend(routing.map(|(name, weights)| match weights.as_array() {
        Some(weights) => {
            let weights: Vec<String> = weights.iter().map(Value::to_string).collect();
            format!("routed {}", weights.join(":"))
        }
        None => format!("routed by {name}"),
    }));
    parts.extend(spec.get("skew").map(|_| "clocks differ".to_owned()));
    parts.extend(knob(spec, "clock").filter(|clock| clock == "store").map(|_| "by the store's clock".to_owned()));
    Some(parts.join(", "))
}

/// How replicas hear of each other.
fn scheme(spec: &Value) -> String {
    let of = |table: &str, name: &str| spec.get(table).and_then(|table| knob(table, name)).unwrap_or_default();
    let has = |table: &str| spec.get(table).is_some();
    match () {
        () if has("sync") => format!("synced every {}", of("sync", "every")),
        () if has("lease") => {
            let ahead = if of("lease", "prefetch") == "true" { " ahead" } else { "" };
            format!("leases of {}{ahead}", of("lease", "batch"))
        }
        () if has("quota") => format!("quotas by demand every {}", of("quota", "every")),
        () if has("drop") => format!("random drops, gossip every {}", of("drop", "every")),
        () if has("proportional") => format!("shares by demand, gossip every {}", of("proportional", "every")),
        () if has("assignment") => format!("assignments, reports every {}", of("assignment", "report")),
        () => "told of each other".to_owned(),
    }
}

fn on_failure(value: &Value) -> String {
    match kind(value) {
        (name, rate) if name == "safe-rate" => format!("fails to {}", rate.as_str().unwrap_or("a safe rate")),
        (name, _) if name == "local" => "falls back to replicas".to_owned(),
        (name, _) => format!("fails {name}"),
    }
}

/// Whether and for how long a lane had more than the limit.
pub fn over(report: &Report, lane: &LaneReport) -> Vec<String> {
    let (Some(limit), Some(peak)) = (report.limit, lane.peak.as_ref()) else { return Vec::new() };
    if peak.units <= limit.units {
        return vec!["never above the limit".to_owned()];
    }
    let long = lane.fleet.as_ref().and_then(|fleet| fleet.over_limit_ns).unwrap_or(0);
    vec![format!("up to {} above", number(peak.units - limit.units)), format!("for {} in all", span(u128::from(long)))]
}

/// What a deployment cost, in lines.
pub fn costs(report: &Report, index: usize) -> Vec<String> {
    let lane = &report.lanes[index];
    let mut lines = Vec::new();
    lines.extend(lane.false_denials.map(|n| format!("{} wrongly refused", number(n))));
    let Some(fleet) = lane.fleet.as_ref() else { return lines };
    if let Some(store) = &fleet.store {
        lines.push(format!("{} without the store", number(store.decided_without)));
        lines.push(format!("{} operations a request", rate(store.per_request)));
        lines.extend(store.latency_ns.p99.map(|p99| match p99 {
            0 => "decides at once".to_owned(),
            p99 => format!("p99 {} to decide", duration(u128::from(p99)).replace(' ', "")),
        }));
    }
    let overload = fleet.backend_overload_ns.filter(|long| *long > 0);
    lines.extend(overload.map(|long| format!("backend overloaded {}", span(u128::from(long)))));
    if let Some(closed) = lane.closed.as_ref().filter(|_| lane.retries > 0) {
        lines.extend(closed.amplification.map(|times| format!("{} attempts a request", decimal(times))));
        lines.push(format!("{} answered in time", number(closed.succeeded)));
    }
    lines
}

/// A number that may be small, in two digits or more.
fn rate(value: f64) -> String {
    if value > 0.0 && value < 0.0995 { format!("{value:.3}") } else { decimal(value) }
}

/// A lane's deployment in phrases, for those who do not see it.
pub fn described(report: &Report, index: usize) -> Vec<String> {
    let mut phrases: Vec<String> = rule(report, index).into_iter().collect();
    phrases.extend(costs(report, index));
    phrases
}

/// What goes wrong in the world of all lanes, in words.
pub fn faults(report: &Report) -> Option<String> {
    let faults = report.scenario.get("fault")?.as_array().filter(|faults| !faults.is_empty())?;
    let told: Vec<String> = faults
        .iter()
        .map(|fault| {
            let (name, spec) = kind(fault);
            let when = match (knob(spec, "from"), knob(spec, "until"), knob(spec, "at")) {
                (Some(from), Some(until), _) => format!(" from {from} until {until}"),
                (Some(from), None, _) => format!(" from {from}"),
                (_, _, Some(at)) => format!(" at {at}"),
                _ => String::new(),
            };
            format!("{}{when}", name.replace('-', " "))
        })
        .collect();
    Some(format!("Faults: {}.", told.join(", ")))
}
