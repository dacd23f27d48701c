//! What the sheet of a closed loop says in words.

use super::super::groups;
use super::super::words::{self as open, span};
use crate::faces::format::{count, decimal, ratio};
use crate::report::{LaneReport, LoopReport, Report};
use crate::time::SimDuration;
use serde_json::Value;

/// What is said of a run that came to no end of its own.
pub const STOPPED: &str = "stopped after its most events";

fn number(n: u64) -> String {
    count(u128::from(n))
}

/// What rates are told over.
pub fn window(nanos: u64) -> String {
    SimDuration::from_nanos(nanos).to_string()
}

/// What the highest bar counts, in full where there is room.
pub fn most(attempts: u64, width_ns: u64, room: bool) -> String {
    let what = if room { "attempts per" } else { "per" };
    match attempts {
        0 => "no attempts".to_owned(),
        most => format!("most {} {what} {}", number(most), span(u128::from(width_ns))),
    }
}

/// What was offered; what all lanes share is said here, once.
pub fn offered(report: &Report) -> String {
    let mut text = open::offered(report);
    if report.lanes.iter().any(|lane| lane.requests > report.offered.requests) {
        text.push_str("; each client makes its next request after its last has ended");
    }
    if open::things(report) == "units" {
        text.push_str("; bars and lines count attempts, whatever they cost");
    }
    if let Some(shared) = open::shared_rule(report) {
        text.push_str(&format!("; every lane: {shared}"));
    }
    text
}

/// How a lane works: its clients, its limiter unless all are alike, its backend.
pub fn rule(report: &Report, index: usize) -> String {
    let lane = &report.lanes[index];
    let spec = report.scenario.get("lane").and_then(|lanes| lanes.get(index)).unwrap_or(&Value::Null);
    let limiter = open::shared_rule(report).is_none().then(|| open::rule(lane));
    let parts = [Some(clients(spec)), told(spec), limiter, backend(spec)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

/// A knob as it is written.
fn knob(table: &Value, name: &str) -> Option<String> {
    let value = table.get(name)?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// What the clients do when they are refused.
fn clients(spec: &Value) -> String {
    let Some(client) = spec.get("client") else { return "clients do not come back".to_owned() };
    let retry = client.get("retry").and_then(Value::as_object).and_then(|retry| retry.iter().next());
    let (kind, knobs) = retry.map_or(("none", &Value::Null), |(kind, knobs)| (kind.as_str(), knobs));
    let of = |name: &str| knob(knobs, name).unwrap_or_default();
    let mut text = match kind {
        "none" => "clients do not come back".to_owned(),
        "immediate" => "clients come back at once".to_owned(),
        "fixed" => format!("clients come back after {}", of("delay")),
        "exponential" => {
            let cap = knob(knobs, "cap").map_or_else(String::new, |cap| format!(" up to {cap}"));
            let jitter = match of("jitter").as_str() {
                "none" => "without jitter".to_owned(),
                jitter => format!("{jitter} jitter"),
            };
            format!("clients back off from {}{cap}, {jitter}", of("base"))
        }
        "retry-after" => match of("jitter").as_str() {
            "0s" => "clients come back when they are told to".to_owned(),
            jitter => format!("clients come back when they are told to, or up to {jitter} later"),
        },
        "sdk" => format!("clients are {}", of("name")),
        "paced" => "clients keep to the pace of their quota".to_owned(),
        kind => format!("clients: {kind}"),
    };
    if let Some(attempts) = knob(client, "max-attempts") {
        text.push_str(&format!(", {attempts} attempts at most"));
    }
    if let Some(deadline) = knob(client, "deadline") {
        text.push_str(&format!(", deadline {deadline}"));
    }
    if let Some(trip) = knob(client, "round-trip").filter(|trip| trip != "0s") {
        text.push_str(&format!(", round trip {trip}"));
    }
    if let Some(budget) = client.get("budget") {
        let like = budget.as_str().or_else(|| budget.get("like")?.as_str()).map(str::to_owned);
        let like = like.or_else(|| knob(budget, "ratio").map(|ratio| format!("ratio {ratio}")));
        text.push_str(&format!(", budget {}", like.unwrap_or_default()));
    }
    if let Some((kind, _)) = client.get("throttle").and_then(Value::as_object).and_then(|kinds| kinds.iter().next()) {
        text.push_str(&format!(", throttle {kind}"));
    }
    text
}

/// What they are told.
fn told(spec: &Value) -> Option<String> {
    let response = spec.get("response")?;
    let wait = knob(response, "retry-after").filter(|wait| wait != "none")?;
    let spread = knob(response, "spread").filter(|spread| spread != "0s");
    Some(format!("told {wait} waits{}", spread.map_or_else(String::new, |spread| format!(", spread {spread}"))))
}

/// What stands behind the limiter.
fn backend(spec: &Value) -> Option<String> {
    let backend = spec.get("backend")?;
    let timeout = || knob(backend, "timeout").map(|timeout| format!("timeout {timeout}"));
    if let Some(row) = backend.get("optimistic") {
        let mut parts = vec!["one row, optimistic concurrency".to_owned()];
        parts.extend(knob(row, "hop").map(|hop| format!("messages of {hop}")));
        parts.extend(timeout());
        return Some(format!("backend: {}", parts.join(", ")));
    }
    let service =
        backend.get("service").map(|service| match service.as_object().and_then(|kinds| kinds.iter().next()) {
            Some((kind, mean)) => format!("{kind} {}", mean.as_str().unwrap_or_default()).trim_end().to_owned(),
            None => service.as_str().unwrap_or_default().to_owned(),
        });
    let mut parts = Vec::new();
    match knob(backend, "servers") {
        Some(one) if one == "1" => parts.push("1 server".to_owned()),
        Some(servers) => parts.push(format!("{servers} servers")),
        // Nobody ever waits.
        None => {}
    }
    parts.extend(service.or_else(|| knob(backend, "rate")));
    if knob(backend, "servers").is_some() {
        let queue = knob(backend, "queue").map(|queue| format!("queue of {queue}"));
        parts.push(queue.unwrap_or_else(|| "endless queue".to_owned()));
    }
    parts.extend(knob(backend, "failure").map(|share| format!("a share of {share} fails")));
    parts.extend(timeout());
    Some(format!("backend: {}", parts.join(", ")))
}

/// Whether a lane was overloaded to its end.
pub fn is_stuck(lane: &LaneReport) -> bool {
    lane.closed.as_ref().is_some_and(|closed| closed.recovered_ns.is_none())
}

/// How fast requests were answered: how long a crowd took, or how many a second.
pub fn pace(report: &Report, closed: &LoopReport) -> Vec<String> {
    let offered = &report.offered;
    let sent = offered.last_ns.unwrap_or(0).abs_diff(offered.first_ns.unwrap_or(0));
    match (closed.drain_ns, closed.goodput_per_s) {
        (Some(drain), _) if sent < drain / 2 => {
            let all = closed.gave_up == 0 && closed.succeeded >= offered.requests;
            let mut phrases = vec![match all {
                true => format!("drained in {}", span(u128::from(drain))),
                false => format!("last answer after {}", span(u128::from(drain))),
            }];
            let ideal = closed.ideal_drain_ns.filter(|ideal| *ideal > 0);
            phrases.extend(ideal.map(|ideal| format!("{} ideal", ratio(drain as f64 / ideal as f64))));
            phrases
        }
        (_, Some(goodput)) => vec![format!("goodput {} a second", decimal(goodput))],
        _ => vec!["nothing answered in time".to_owned()],
    }
}

/// How requests ended: `answered` in time, given up, or not at all.
pub fn endings(lane: &LaneReport, closed: &LoopReport, answered: &str) -> Vec<String> {
    let mut phrases =
        vec![format!("{} {answered}", number(closed.succeeded)), format!("{} gave up", number(closed.gave_up))];
    phrases.extend((lane.unfinished > 0).then(|| format!("{} unfinished", number(lane.unfinished))));
    phrases
}

/// Attempts that were refused, and how far the lane went beyond the limit.
pub fn refusals(report: &Report, lane: &LaneReport) -> Vec<String> {
    let mut phrases = vec![format!("{} denied", number(lane.denied))];
    let above = report.limit.zip(lane.peak.as_ref()).filter(|(limit, peak)| peak.units > limit.units);
    phrases.extend(above.and_then(|(_, peak)| peak.ratio).map(|times| format!("peak {} limit", ratio(times))));
    phrases
}

/// Whether the lane was overloaded, and until when.
pub fn recovery(closed: &LoopReport) -> String {
    match closed.recovered_ns {
        None => "overloaded to the end".to_owned(),
        Some(0) => "never overloaded".to_owned(),
        Some(until) => format!("overloaded until {}", span(u128::from(until))),
    }
}

/// The whole sheet in sentences, for those who do not see it.
pub fn description(report: &Report) -> String {
    let mut sentences: Vec<String> = report.about.iter().cloned().collect();
    sentences.push(format!("{}.", offered(report).trim_end_matches('.')));
    sentences.extend(open::limit(report).map(|limit| format!("Every lane must enforce {limit}.")));
    sentences.push(
        "For each lane: bars of attempts over time, first attempts and retries apart; below them first attempts, \
         admitted attempts and goodput, which is answers in time, as rates."
            .to_owned(),
    );
    for (index, lane) in report.lanes.iter().enumerate() {
        let Some(closed) = &lane.closed else { continue };
        let mut parts = vec![format!(
            "{} ({}): {} attempts, {} first and {} retries",
            lane.name,
            rule(report, index),
            number(lane.attempts),
            number(closed.first_attempts),
            number(lane.retries)
        )];
        parts.extend(closed.amplification.map(|times| format!("{} attempts a request", decimal(times))));
        parts.push(format!("{} admitted", number(lane.admitted())));
        parts.extend(refusals(report, lane));
        parts.extend(endings(lane, closed, "answered in time"));
        parts.extend(pace(report, closed));
        parts.push(recovery(closed));
        parts.extend(closed.partial.then(|| STOPPED.to_owned()));
        parts.extend(groups::tag(report, lane).map(|tag| format!("group {tag}")));
        sentences.push(format!("{}.", parts.join(", ")));
    }
    sentences.extend(groups::list(report).into_iter().map(|(name, members)| format!("Group {name}: {members}.")));
    sentences.join(" ")
}
