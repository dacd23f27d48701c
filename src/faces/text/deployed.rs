//! What replicas and store made of it: sentences and lines whose every number is a figure of the report.

use super::story::{by, list, names, verb};
use super::{plural, wrapping};
use crate::faces::format::{Clock, count, duration};
use crate::report::{FleetReport, LaneReport, LimitReport, Report};

/// Lanes that a sentence names one by one.
const TOLD: usize = 4;

/// Replicas that are told of one by one.
const LISTED: usize = 8;

fn fleet(lane: &LaneReport) -> Option<&FleetReport> {
    lane.fleet.as_ref()
}

/// Whether something goes wrong in the world of all lanes.
pub fn has_faults(report: &Report) -> bool {
    report.scenario.get("fault").and_then(|faults| faults.as_array()).is_some_and(|faults| !faults.is_empty())
}

/// Sentences with their ranks: who was over and for how long, who decided without the store, what the store
/// cost.
pub fn sentences(report: &Report) -> Vec<(u8, String)> {
    let lanes: Vec<&LaneReport> = report.lanes.iter().filter(|lane| lane.fleet.is_some()).collect();
    if lanes.is_empty() {
        return Vec::new();
    }
    let mut sentences = Vec::new();
    sentences.extend(report.limit.as_ref().and_then(|limit| over(report, &lanes, limit)).map(|text| (0, text)));
    sentences.extend(overloaded(&lanes).map(|text| (1, text)));
    sentences.extend(without(&lanes).map(|text| (2, text)));
    sentences.extend(asked(&lanes).map(|text| (4, text)));
    sentences
}

/// Who had more than the limit released within a window, for how long, and what is proven.
fn over(report: &Report, lanes: &[&LaneReport], limit: &LimitReport) -> Option<String> {
    let time = |lane: &LaneReport| fleet(lane).and_then(|fleet| fleet.over_limit_ns).unwrap_or(0);
    let mut groups = by(lanes, |lane| (time(lane), lane.over_admitted));
    groups.sort_by_key(|lanes| std::cmp::Reverse(time(lanes[0])));
    let clock = Clock::for_span(report, report.focus.from_ns, report.focus.until_ns).precise();
    let at = |ns: i64| clock.time(report.instant(ns));
    let (over, kept): (Vec<_>, Vec<_>) = groups.into_iter().partition(|lanes| time(lanes[0]) > 0);
    if over.is_empty() {
        let (lanes, verb) = match lanes {
            [one] => (one.name.clone(), "has"),
            _ => ("No lane".to_owned(), "ever has"),
        };
        let never = if verb == "has" { "never " } else { "" };
        return Some(format!(
            "{lanes} {never}{} more than {} released within {}.",
            if never.is_empty() { verb } else { "has" },
            count(u128::from(limit.units)),
            super::span(limit.window_ns)
        ));
    }
    let parts: Vec<String> = over
        .iter()
        .take(TOLD)
        .enumerate()
        .map(|(i, lanes)| {
            let lane = lanes[0];
            let fleet = fleet(lane).expect("only lanes with replicas");
            let above = lane.over_admitted.unwrap_or(0);
            let mut text = format!(
                "{} {} {}over it for {} and {} {} that the exact log refuses",
                list(&names(lanes)),
                verb(lanes.len(), "is", "are"),
                if lanes.len() > 1 { "each " } else { "" },
                duration(u128::from(time(lane))),
                verb(lanes.len(), "admits", "admit"),
                plural(u128::from(above), if report.offered.largest_cost <= 1 { "request" } else { "unit" }),
            );
            if i == 0
                && let [first, ..] = &fleet.over_spans[..]
            {
                text.push_str(&match fleet.over_times.unwrap_or(0) {
                    1 => format!(" ({} to {})", at(first.from_ns), at(first.until_ns)),
                    n => format!(" ({n} times, from {} on)", at(first.from_ns)),
                });
            }
            text
        })
        .collect();
    let mut text = parts.join("; ");
    if !kept.is_empty() {
        let kept: Vec<&LaneReport> = kept.into_iter().flatten().collect();
        text.push_str(&format!("; {} never {}", list(&names(&kept)), verb(kept.len(), "is", "are")));
    }
    Some(format!("Of the limit of {} per {}: {text}.", count(u128::from(limit.units)), super::span(limit.window_ns)))
}

/// Whose backend gets more than it can do, for how long.
fn overloaded(lanes: &[&LaneReport]) -> Option<String> {
    let time = |lane: &LaneReport| fleet(lane).and_then(|fleet| fleet.backend_overload_ns);
    let known: Vec<&LaneReport> = lanes.iter().copied().filter(|lane| time(lane).is_some()).collect();
    if known.is_empty() {
        return None;
    }
    let mut groups = by(&known, time);
    groups.sort_by_key(|lanes| std::cmp::Reverse(time(lanes[0])));
    let (over, well): (Vec<_>, Vec<_>) = groups.into_iter().partition(|lanes| time(lanes[0]) > Some(0));
    let mut parts: Vec<String> = over
        .iter()
        .take(TOLD)
        .map(|lanes| {
            format!("for {} behind {}", duration(u128::from(time(lanes[0]).unwrap_or(0))), list(&names(lanes)))
        })
        .collect();
    if !well.is_empty() {
        parts.push(format!("never behind {}", list(&names(&well.concat()))));
    }
    Some(format!("The backend is sent more than it can do {}.", list(&parts)))
}

/// What was decided because the store did not answer.
fn without(lanes: &[&LaneReport]) -> Option<String> {
    let decided =
        |lane: &LaneReport| fleet(lane).and_then(|f| f.store.as_ref()).map_or(0, |store| store.decided_without);
    let affected: Vec<&LaneReport> = lanes.iter().copied().filter(|lane| decided(lane) > 0).collect();
    if affected.is_empty() {
        return None;
    }
    let groups = by(&affected, decided);
    let parts: Vec<String> = groups
        .iter()
        .take(TOLD)
        .map(|lanes| {
            let each = if lanes.len() > 1 { " each" } else { "" };
            format!(
                "{} {} {}{each}",
                list(&names(lanes)),
                verb(lanes.len(), "decides", "decide"),
                count(u128::from(decided(lanes[0])))
            )
        })
        .collect();
    let down = affected.iter().filter_map(|lane| fleet(lane)?.store.as_ref()).map(|store| store.unavailable_ns).max();
    let down = match down.filter(|nanos| *nanos > 0) {
        Some(nanos) => format!("The store is down for {}; without an answer from it", duration(u128::from(nanos))),
        None => "Without an answer from the store".to_owned(),
    };
    Some(format!("{down}, {}.", list(&parts)))
}

/// How often the store is asked, and how long that takes.
fn asked(lanes: &[&LaneReport]) -> Option<String> {
    let of = |lane: &LaneReport| {
        let store = fleet(lane)?.store.as_ref()?;
        Some((store.per_request.to_bits(), store.latency_ns.p50, store.latency_ns.p99))
    };
    let known: Vec<&LaneReport> = lanes.iter().copied().filter(|lane| of(lane).is_some()).collect();
    if known.is_empty() {
        return None;
    }
    let parts: Vec<String> = by(&known, of)
        .iter()
        .take(TOLD)
        .map(|lanes| {
            let store = fleet(lanes[0]).and_then(|fleet| fleet.store.as_ref()).expect("only lanes with a store");
            let (p50, p99) = (store.latency_ns.p50.unwrap_or(0), store.latency_ns.p99.unwrap_or(0));
            let waits = match (p50, p99) {
                (0, 0) => "without waiting".to_owned(),
                (p50, p99) if p50 == p99 => format!("waiting {}", duration(u128::from(p50))),
                (p50, p99) => {
                    format!("waiting {} (p50) to {} (p99)", duration(u128::from(p50)), duration(u128::from(p99)))
                }
            };
            let each = if lanes.len() > 1 { "each " } else { "" };
            format!("{} {each}{:.2} times, {waits}", list(&names(lanes)), store.per_request)
        })
        .collect();
    Some(format!("Operations on the store for each attempt: {}.", parts.join("; ")))
}

/// What each replica did, a line a lane; none where no lane has several.
pub fn replicas(report: &Report, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for lane in &report.lanes {
        let Some(fleet) = fleet(lane).filter(|fleet| fleet.replicas.len() > 1) else { continue };
        let all = &fleet.replicas;
        let told: Vec<String> = if all.len() <= LISTED {
            let each = all.iter().enumerate().map(|(i, replica)| {
                let peak =
                    replica.peak_units.map_or_else(String::new, |peak| format!(", peak {}", count(u128::from(peak))));
                format!(
                    "{i}: {} of {}{peak}",
                    count(u128::from(replica.admitted)),
                    count(u128::from(replica.admitted + replica.denied))
                )
            });
            each.collect()
        } else {
            let range = |of: fn(&crate::report::ReplicaReport) -> u64| {
                let (least, most) = (all.iter().map(of).min().unwrap_or(0), all.iter().map(of).max().unwrap_or(0));
                format!("{} to {}", count(u128::from(least)), count(u128::from(most)))
            };
            vec![format!(
                "{} replicas: each {} of {}, peak {}",
                all.len(),
                range(|replica| replica.admitted),
                range(|replica| replica.admitted + replica.denied),
                range(|replica| replica.peak_units.unwrap_or(0))
            )]
        };
        let text = format!("{}  {}", lane.name, told.join(" · "));
        let options = wrapping(width, "      ").initial_indent("  ");
        lines.extend(textwrap::wrap(&text, options).into_iter().map(std::borrow::Cow::into_owned));
    }
    lines
}

/// What the table of deployments shows, of columns in which something stands.
pub fn legend(report: &Report) -> String {
    let backend = report.lanes.iter().any(|lane| fleet(lane).is_some_and(|fleet| fleet.backend_overload_ns.is_some()));
    let store = report.lanes.iter().any(|lane| fleet(lane).is_some_and(|fleet| fleet.store.is_some()));
    let mut parts = vec![
        "over: units sent that an exact log over all replicas refuses",
        "refused: attempts that it admits",
        "time over: for how long any key was above the limit",
        "of bound: the peak, of what is proven at worst",
    ];
    if backend {
        parts.push("backend over: time in which it is sent more than it can do");
    }
    if store {
        parts.extend([
            "ops: operations on the store for an attempt",
            "p99: from asking to knowing",
            "without: decided because the store did not answer",
        ]);
    }
    parts.join("; ")
}
