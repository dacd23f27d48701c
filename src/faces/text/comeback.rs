//! What clients that come back made of it, in sentences whose every number is a figure of the report.

use super::story::{by, list, names, verb};
use super::{plural, span};
use crate::faces::format::{count, duration};
use crate::report::{LaneReport, LoopReport, Report};

/// Lanes that a sentence names one by one.
const TOLD: usize = 4;

fn closed(lane: &LaneReport) -> Option<&LoopReport> {
    lane.closed.as_ref()
}

fn figure(lane: &LaneReport, of: impl Fn(&LoopReport) -> u64) -> u64 {
    closed(lane).map_or(0, of)
}

/// Up to three sentences: who tried how often, who recovered, who was answered.
pub fn sentences(report: &Report) -> Vec<String> {
    let lanes: Vec<&LaneReport> = report.lanes.iter().filter(|lane| lane.closed.is_some()).collect();
    let mut sentences = Vec::new();
    sentences.extend(stopped(&lanes));
    sentences.extend(tried(&lanes));
    sentences.extend(recovered(&lanes));
    sentences.extend(answered(report, &lanes));
    sentences
}

/// Who was stopped before the end.
fn stopped(lanes: &[&LaneReport]) -> Option<String> {
    let lanes: Vec<&LaneReport> =
        lanes.iter().copied().filter(|lane| closed(lane).is_some_and(|l| l.partial)).collect();
    let first = lanes.first()?;
    Some(format!(
        "{} {} stopped after as many events as are allowed, with {} unfinished: all that is told of {} is partial.",
        list(&names(&lanes)),
        verb(lanes.len(), "was", "were"),
        plural(u128::from(first.unfinished), "request"),
        verb(lanes.len(), "it", "them")
    ))
}

/// Attempts for each request, with two places.
fn each(lane: &LaneReport) -> String {
    format!("{:.2}", closed(lane).and_then(|l| l.amplification).unwrap_or(0.0))
}

/// Who makes the most attempts for a request, and who the fewest.
fn tried(lanes: &[&LaneReport]) -> Option<String> {
    let ratio = |lane: &LaneReport| closed(lane).and_then(|l| l.amplification).unwrap_or(0.0);
    let (most, least) = (
        lanes.iter().copied().map(ratio).fold(0.0, f64::max),
        lanes.iter().copied().map(ratio).fold(f64::INFINITY, f64::min),
    );
    let at = |value: f64| lanes.iter().copied().filter(|lane| ratio(lane) == value).collect::<Vec<_>>();
    let (worst, best) = (at(most), at(least));
    let lane = worst.first()?;
    let retries = |lane: &LaneReport| {
        if lane.retries == 0 {
            "no retries".to_owned()
        } else {
            format!(
                "{} {}, up to {} in {}",
                count(u128::from(lane.retries)),
                if lane.retries == 1 { "retry" } else { "retries" },
                count(u128::from(figure(lane, |l| l.most_retries))),
                span(figure(lane, |l| l.metric_bin_ns))
            )
        }
    };
    let who = if worst.len() == lanes.len() && lanes.len() > 1 {
        "Every lane's clients".to_owned()
    } else {
        format!("The clients of {}", list(&names(&worst)))
    };
    let mut text = format!("{who} make {} attempts a request ({})", each(lane), retries(lane));
    if most > least {
        text.push_str(&format!("; those of {} make {} ({})", list(&names(&best)), each(best[0]), retries(best[0])));
    }
    text.push('.');
    Some(text)
}

/// In which lanes retries outnumbered first attempts, and until when.
fn recovered(lanes: &[&LaneReport]) -> Option<String> {
    let over: Vec<&LaneReport> = lanes.iter().copied().filter(|lane| figure(lane, |l| l.overloaded_bins) > 0).collect();
    let bin = span(figure(lanes.first()?, |l| l.metric_bin_ns));
    if over.is_empty() {
        let who = if lanes.len() == 1 { lanes[0].name.clone() } else { "every lane".to_owned() };
        return Some(format!(
            "In {who} retries never outnumber first attempts within {bin}, nor failures answers: nothing had to recover."
        ));
    }
    let groups = by(&over, |lane| closed(lane).and_then(|l| l.recovered_ns));
    let mut groups: Vec<(Option<u64>, Vec<&LaneReport>)> =
        groups.into_iter().map(|group| (closed(group[0]).and_then(|l| l.recovered_ns), group)).collect();
    // Those that never did come last.
    groups.sort_by_key(|(at, _)| at.unwrap_or(u64::MAX));
    let untold: usize = groups.iter().skip(TOLD).map(|(_, group)| group.len()).sum();
    let last = groups.pop();
    let mut told: Vec<_> = groups.into_iter().take(TOLD - 1).collect();
    told.extend(last);
    let parts: Vec<String> = told
        .iter()
        .map(|(at, group)| match at {
            Some(at) => format!("{} until {}", list(&names(group)), duration(u128::from(*at))),
            None => {
                format!("{} to the end: {} not recover", list(&names(group)), verb(group.len(), "it does", "they do"))
            }
        })
        .collect();
    let others =
        if untold > 0 { format!(" ({} between)", plural(untold as u128, "other lane")) } else { String::new() };
    Some(format!(
        "Retries outnumber first attempts, or more requests fail than are answered: {}{others}.",
        parts.join("; ")
    ))
}

/// How many requests were answered, how long the last took, and how short that could have been.
fn answered(report: &Report, lanes: &[&LaneReport]) -> Option<String> {
    let groups = by(lanes, |lane| closed(lane).map(|l| (l.succeeded, l.gave_up, lane.unfinished, l.drain_ns)));
    let ends = report.scenario.get("duration").is_some();
    // One that is left over takes no more room than to say so.
    let told = if groups.len() == TOLD + 1 { TOLD + 1 } else { TOLD };
    let parts: Vec<String> = groups
        .iter()
        .take(told)
        .map(|group| {
            let lane = group[0];
            let l = closed(lane).expect("only lanes of a closed loop");
            let mut text = format!(
                "{} {} {} of {}",
                list(&names(group)),
                verb(group.len(), "answers", "answer"),
                count(u128::from(l.succeeded)),
                plural(u128::from(lane.requests), "request")
            );
            // Where the run was to end anyway, the last answer says little.
            if let Some(drain) = l.drain_ns.filter(|_| !ends) {
                text.push_str(&format!(" within {}", duration(u128::from(drain))));
                if let Some(ideal) = l.ideal_drain_ns.filter(|ideal| *ideal > 0 && l.succeeded == lane.requests) {
                    text.push_str(&format!(" ({:.1}x the least)", drain as f64 / ideal as f64));
                }
            }
            if l.gave_up > 0 {
                text.push_str(&format!(", {} give up", count(u128::from(l.gave_up))));
            }
            if lane.unfinished > 0 {
                text.push_str(&format!(", {} wait at the end", count(u128::from(lane.unfinished))));
            }
            text
        })
        .collect();
    let untold: usize = groups.iter().skip(told).map(Vec::len).sum();
    let others =
        if untold > 0 { format!("; {} not named here", plural(untold as u128, "lane")) } else { String::new() };
    Some(format!("{}{others}.", parts.join("; ")))
}
