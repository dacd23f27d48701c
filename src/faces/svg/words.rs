//! What the sheet says in words.

use super::{deployed, groups};
use crate::faces::format::{Clock, count, date, duration, ratio};
use crate::report::{ClassReport, LaneReport, Report};
use crate::time::SimDuration;

/// A configured span as it is written in a scenario.
fn configured(nanos: u64) -> String {
    SimDuration::from_nanos(nanos).to_string()
}

/// A span as all spans of the sheet are written: `59.4s`, `1m20s`, `10m08s`.
pub fn span(nanos: u128) -> String {
    const S: u128 = 1_000_000_000;
    let seconds = (nanos + S / 2) / S;
    if nanos < 100 * S && seconds >= 60 {
        return if seconds == 60 { "1m".to_owned() } else { format!("1m{:02}s", seconds - 60) };
    }
    duration(nanos).replace(' ', "")
}

/// A number of units, written out as long as that is short enough.
fn units(value: u128) -> String {
    if value < 1_000_000_000_000_000 { count(value) } else { format!("{:.2e}", value as f64) }
}

/// How many of something.
fn plural(n: u64, one: &str) -> String {
    format!("{} {one}{}", count(u128::from(n)), if n == 1 { "" } else { "s" })
}

/// A number with its digits in groups.
fn grouped(digits: &str) -> String {
    digits.parse().map_or_else(|_| digits.to_owned(), count)
}

/// What is counted: requests, or units where an arrival may cost more than one.
pub const fn things(report: &Report) -> &'static str {
    if report.offered.largest_cost > 1 { "units" } else { "requests" }
}

/// The limit: `100 per 1m`.
pub fn limit(report: &Report) -> Option<String> {
    report.limit.map(|limit| format!("{} per {}", count(u128::from(limit.units)), configured(limit.window_ns)))
}

/// The limit's window: `1m`.
pub fn window(report: &Report) -> Option<String> {
    report.limit.map(|limit| configured(limit.window_ns))
}

/// What was offered and when, and what the sheet counts of it.
pub fn offer(report: &Report) -> String {
    let mut text = offered(report);
    if deployed::is_deployed(report)
        && let Some(shared) = shared_rule(report)
    {
        text.push_str(&format!("; every lane: {shared}"));
    }
    let wrongly = |lane: &LaneReport| lane.false_denials.is_some_and(|n| n > 0);
    if deployed::is_deployed(report) && report.lanes.iter().any(wrongly) {
        text.push_str("; wrongly refused: an exact log of the same attempts admits it");
    }
    if report.offered.requests > 0 && things(report) == "units" {
        text.push_str("; lines count units, bars and numbers requests");
    }
    if report.offered.requests > 0 && report.limit.is_none() {
        text.push_str("; no limit is stated, so nothing is above or within it");
    }
    text
}

/// What was offered, and when.
pub fn offered(report: &Report) -> String {
    let offered = &report.offered;
    if offered.requests == 0 {
        return "No requests arrived: there was nothing to decide.".to_owned();
    }
    let mut text = plural(offered.requests, "request");
    if offered.cost != offered.requests {
        text.push_str(&format!(" costing {}", plural(offered.cost, "unit")));
    }
    text.push_str(&match offered.keys {
        1 => " with one key".to_owned(),
        keys => format!(" with {} keys", count(u128::from(keys))),
    });
    if let (Some(first), Some(last)) = (offered.first_ns, offered.last_ns) {
        let (from, until) = if first == last { (report.focus.from_ns, report.focus.until_ns) } else { (first, last) };
        let clock = Clock::for_span(report, from, until).precise();
        let (first, last) = (clock.time(report.instant(first)), clock.time(report.instant(last)));
        text.push_str(&if first == last { format!(", all at {first}") } else { format!(", {first} to {last}") });
        text.push_str(&match report.start.nanos() {
            0 => " from the start".to_owned(),
            _ if super::dated(report) => " UTC".to_owned(),
            _ => format!(" UTC, {}", date(report.start)),
        });
    }
    text
}

/// How a lane works, in a few words, with every knob that is not at its default.
pub fn rule(lane: &LaneReport) -> String {
    let knob =
        |name: &str| lane.spec.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let is = |name: &str, value: &str| knob(name).as_deref() == Some(value);
    let quota = |name: &str| {
        let text = knob(name).unwrap_or_default();
        text.split_once('/').map(|(units, per)| (grouped(units), per.to_owned())).unwrap_or_default()
    };
    let (units, window) = quota("limit");
    let (rate, period) = quota("rate");
    let rate = format!("{rate}/{period}");
    let (capacity, burst) =
        (grouped(&knob("capacity").unwrap_or_default()), grouped(&knob("burst").unwrap_or_default()));
    let mut text = match lane.algorithm {
        _ if lane.spec.as_object().is_none_or(serde_json::Map::is_empty) => "admits nothing".to_owned(),
        "fixed-window" if is("anchor", "first-request") => format!("{units} in {window} from a first request on"),
        "fixed-window" if is("anchor", "every-request") => format!("{units} until {window} without a request"),
        "fixed-window" => format!("{units} in each {window} of the clock"),
        "sliding-log" => format!("{units} in any {window}"),
        "sliding-counter" if is("buckets", "1") => format!("{units} per {window}, estimated from two windows"),
        "sliding-counter" => {
            format!("{units} per {window}, estimated from {} buckets", knob("buckets").unwrap_or_default())
        }
        "token-bucket" => {
            format!("{burst} token{}, refilled at {rate}", if burst == "1" { "" } else { "s" })
        }
        "leaky-bucket" if is("mode", "meter") => format!("level of {capacity}, drained at {rate}"),
        "leaky-bucket" => format!("queue of {capacity}, drained at {rate}"),
        _ => format!("{rate} on average, {burst} at once"),
    };
    if lane.name != lane.algorithm {
        text = format!("{}: {text}", lane.algorithm);
    }
    for (name, default) in [
        ("edge", "exclusive"),
        ("compare", "after"),
        ("oldest", "weighted"),
        ("initial", "full"),
        ("refill", "continuous"),
        ("backwards", "clamp"),
        ("count-denied", "false"),
    ] {
        if let Some(value) = knob(name).filter(|value| value != default) {
            text.push_str(&if value == "true" { format!(", {name}") } else { format!(", {name} {value}") });
        }
    }
    if lane.algorithm == "sliding-counter" && is("anchor", "first-request") {
        text.push_str(", anchor first-request");
    }
    if lane.key != "key" {
        text.push_str(&format!(", by {}", lane.key));
    }
    if !lane.exempt.is_empty() {
        text.push_str(&format!(", exempt {}", lane.exempt.join(" and ")));
    }
    if let Some(tick) = lane.clock_resolution_ns {
        text.push_str(&format!(", clock-resolution {}", configured(tick)));
    }
    text
}

/// How all limiters work, if all work alike.
pub fn shared_rule(report: &Report) -> Option<String> {
    let first = rule(report.lanes.first()?);
    (report.lanes.len() > 1 && report.lanes.iter().all(|lane| rule(lane) == first)).then_some(first)
}

/// What a lane counts by, where that is not simply all there is.
fn counted(report: &Report, lane: &LaneReport) -> Option<String> {
    let special = report.lanes.iter().any(|lane| lane.key != "key");
    (special || report.offered.keys > 1).then(|| lane.key.clone())
}

/// Whether and how a lane passed the limit: by how much at most, for how long its key did, and why, in
/// phrases; none without a limit.
pub fn verdict(report: &Report, lane: &LaneReport) -> Vec<String> {
    let (Some(limit), Some(peak)) = (report.limit, lane.peak.as_ref()) else { return Vec::new() };
    if peak.units <= limit.units {
        return vec![match (counted(report, lane), lane.state.keys) {
            (Some(key), keys @ 2..) => format!("none of {} above (by {key})", count(u128::from(keys))),
            (Some(key), _) => format!("never above (by {key})"),
            // What is counted are releases: a queue admits more than it lets out within a window.
            (None, _) if lane.delayed > 0 => "never above when released".to_owned(),
            (None, _) => "never above the limit".to_owned(),
        }];
    }
    let mut phrases = vec![format!("up to {} above", units(u128::from(peak.units - limit.units)))];
    // Of several keys, the one with the highest peak need not be the one that was above the longest.
    let over = lane.over.as_ref().filter(|over| over.peak_key_ns > 0);
    let whose = |keys: u64| if keys > 1 { "that key " } else { "" };
    phrases.extend(over.map(|over| format!("{}{} in all", whose(over.keys), span(over.peak_key_ns))));
    phrases.extend(why(report, lane).map(str::to_owned));
    phrases
}

/// How a lane whose own limit is the stated one can pass it.
fn why(report: &Report, lane: &LaneReport) -> Option<&'static str> {
    let limit = report.limit?;
    let own = format!("{}/{}", limit.units, configured(limit.window_ns));
    let knob =
        |name: &str| lane.spec.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let is = |name: &str, value: &str| knob(name).as_deref() == Some(value);
    let full = |name: &str| is("rate", &own) && is(name, &limit.units.to_string());
    match lane.algorithm {
        "fixed-window" if is("limit", &own) => Some("across two windows"),
        "sliding-counter" if is("limit", &own) && is("compare", "after") => Some("the estimate was low"),
        "token-bucket" if full("burst") => Some("by the refill"),
        "leaky-bucket" if full("capacity") && is("mode", "meter") => Some("by the drain"),
        "gcra" if full("burst") => Some("by the refill"),
        _ => None,
    }
}

/// Units admitted, where an arrival may cost more than one.
pub fn units_admitted(report: &Report, lane: &LaneReport) -> Option<String> {
    (report.offered.cost != report.offered.requests)
        .then(|| format!("{} units admitted", units(u128::from(lane.cost_admitted))))
}

/// What was denied to each class of traffic, where there are several: the class, and how many of how
/// many.
pub fn classes(lane: &LaneReport) -> Vec<(String, String)> {
    const MOST: usize = 5;
    let number = |n: u64| count(u128::from(n));
    let line =
        |class: &ClassReport| (class.class.clone(), format!(" {} of {}", number(class.denied), number(class.attempts)));
    let mut lines: Vec<_> = lane.classes.iter().filter(|_| lane.classes.len() > 1).map(line).collect();
    if lines.len() > MOST {
        let more = lines.split_off(MOST - 1).len();
        lines.push((String::new(), format!("and {more} more classes")));
    }
    lines
}

/// Keys above the limit, where there are several keys.
pub fn keys_over(report: &Report, lane: &LaneReport) -> Option<String> {
    let over = lane.over.as_ref().filter(|over| over.keys > 0 && report.offered.keys > 1)?;
    Some(format!("{} above the limit", plural(over.keys, "key")))
}

/// What waiting costs.
pub fn waits(lane: &LaneReport) -> Option<String> {
    let longest = lane.wait_ns.max.filter(|_| lane.delayed > 0)?;
    Some(format!("{} delayed, up to {}", count(u128::from(lane.delayed)), span(u128::from(longest))))
}

/// The worst that any traffic could do, as a ratio to the limit.
pub fn bound(report: &Report, lane: &LaneReport) -> Option<f64> {
    let limit = report.limit.filter(|limit| limit.units > 0)?;
    Some(lane.peak.as_ref()?.bound? as f64 / limit.units as f64)
}

/// The whole sheet in sentences, for those who do not see it.
pub fn description(report: &Report) -> String {
    let mut sentences: Vec<String> = report.about.iter().cloned().collect();
    sentences.push(format!("{}.", offer(report).trim_end_matches('.')));
    sentences.extend(limit(report).map(|limit| format!("Every lane must enforce {limit}.")));
    sentences.extend(deployed::words::faults(report));
    let apart = deployed::is_deployed(report);
    for (index, lane) in report.lanes.iter().enumerate() {
        let mut parts = vec![format!(
            "{} ({}): {} admitted, {} denied",
            lane.name,
            rule(lane),
            count(u128::from(lane.admitted())),
            count(u128::from(lane.denied))
        )];
        if let Some(peak) = &lane.peak {
            let times = peak.ratio.map_or_else(String::new, |times| format!(", {} the limit", ratio(times)));
            parts.push(format!("peak {}{times}", count(u128::from(peak.units))));
        }
        parts.extend(if apart { deployed::words::over(report, lane) } else { verdict(report, lane) });
        parts.extend(if apart { deployed::words::described(report, index) } else { Vec::new() });
        parts.extend(bound(report, lane).map(|bound| format!("at worst {} on other traffic", ratio(bound))));
        parts.extend(units_admitted(report, lane));
        parts.extend(classes(lane).into_iter().map(|(class, denied)| format!("denied {class}{denied}")));
        parts.extend(waits(lane));
        parts.extend(groups::tag(report, lane).map(|tag| format!("group {tag}")));
        sentences.push(format!("{}.", parts.join(", ")));
    }
    sentences.extend(groups::list(report).into_iter().map(|(name, members)| format!("Group {name}: {members}.")));
    sentences.join(" ")
}
