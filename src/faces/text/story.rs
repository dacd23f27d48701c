//! Why the lanes differ, in sentences whose every number is a figure of the report.

use super::refused::KEY_WIDTH;
use super::{comeback, deployed, plural, span};
use crate::faces::format::{Clock, count, duration, fit, ratio};
use crate::report::{Disagreement, LaneReport, LevelReport, Report};

/// Sentences at most.
const MOST: usize = 5;

/// Groups of lanes that a sentence tells of one by one.
const TOLD: usize = 4;

/// Names as a list: `a`, `a and b`, `a, b and c`.
pub(super) fn list<S: AsRef<str>>(names: &[S]) -> String {
    match names {
        [] => "no lane".to_owned(),
        [one] => one.as_ref().to_owned(),
        [rest @ .., last] => {
            let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", rest.join(", "), last.as_ref())
        }
    }
}

/// A verb after `n` subjects.
pub(super) const fn verb<'a>(n: usize, one: &'a str, many: &'a str) -> &'a str {
    if n == 1 { one } else { many }
}

/// What is limited: requests, or units where some cost more.
fn things(report: &Report, n: u128) -> String {
    plural(n, if report.offered.largest_cost <= 1 { "request" } else { "unit" })
}

/// Lanes that exceeded the limit and those that kept it, with what each refused.
#[must_use]
pub fn verdict(report: &Report) -> String {
    if report.offered.requests == 0 {
        return "Nothing arrived, so there is nothing to judge.".to_owned();
    }
    let refused = |lanes: &[&LaneReport]| {
        let classes = by_class(lanes[0]);
        let classes = if classes.is_empty() { String::new() } else { format!(" ({})", classes.join(", ")) };
        format!("refused {}{classes}", count(u128::from(lanes[0].denied)))
    };
    let refusals = |lane: &LaneReport| (lane.denied, by_class(lane));
    let Some(limit) = report.limit else {
        let lanes = by(&report.lanes.iter().collect::<Vec<_>>(), refusals);
        let parts: Vec<String> =
            lanes.iter().map(|lanes| format!("{} {}", list(&names(lanes)), refused(lanes))).collect();
        return format!("No limit to keep: {}.", parts.join("; "));
    };
    let (over, within): (Vec<&LaneReport>, Vec<&LaneReport>) =
        report.lanes.iter().partition(|lane| lane.peak.as_ref().is_some_and(|peak| peak.units > limit.units));
    let mut over = by(&over, |lane| (lane.peak.as_ref().map_or(0, |peak| peak.units), refusals(lane)));
    over.sort_by_key(|lanes| std::cmp::Reverse(lanes[0].peak.as_ref().map_or(0, |peak| peak.units)));
    let over: Vec<String> = over
        .iter()
        .map(|lanes| {
            let peak = lanes[0].peak.as_ref().and_then(|peak| peak.ratio);
            let by = peak.map_or_else(|| "something".to_owned(), ratio);
            format!("{} let {by} through and {}", list(&names(lanes)), refused(lanes))
        })
        .collect();
    let within: Vec<String> =
        by(&within, refusals).iter().map(|lanes| format!("{} {}", list(&names(lanes)), refused(lanes))).collect();
    match (over.is_empty(), within.is_empty()) {
        (true, true) => "Nothing to judge.".to_owned(),
        (true, false) => format!("Every lane kept the limit: {}.", within.join("; ")),
        (false, true) => format!("Every lane exceeded the limit: {}.", over.join("; ")),
        (false, false) => format!("Over the limit: {}. Within it: {}.", over.join("; "), within.join("; ")),
    }
}

/// How many of each class a lane refused, if there are several and it refused any.
fn by_class(lane: &LaneReport) -> Vec<String> {
    let classes = lane.classes.iter().filter(|class| class.attempts > 0);
    let shares: Vec<String> = classes
        .map(|class| {
            let (denied, attempts) = (count(u128::from(class.denied)), count(u128::from(class.attempts)));
            format!("{denied} of {attempts} {}", class.class)
        })
        .collect();
    if shares.len() > 1 && lane.denied > 0 { shares } else { Vec::new() }
}

pub(super) fn names<'a>(lanes: &[&'a LaneReport]) -> Vec<&'a str> {
    lanes.iter().map(|lane| lane.name.as_str()).collect()
}

/// Lanes grouped by a figure, in order of first appearance.
pub(super) fn by<'a, K: PartialEq>(
    lanes: &[&'a LaneReport],
    figure: impl Fn(&LaneReport) -> K,
) -> Vec<Vec<&'a LaneReport>> {
    let mut groups: Vec<(K, Vec<&LaneReport>)> = Vec::new();
    for lane in lanes {
        let key = figure(lane);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(lane),
            None => groups.push((key, vec![lane])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Two to five sentences on what happened and why.
#[must_use]
pub fn story(report: &Report) -> Vec<String> {
    if report.offered.requests == 0 {
        return vec!["Nothing arrived, so nothing was decided: 0 requests.".to_owned()];
    }
    // In the order they are told, each with its rank: of too many, the last ranks are left out.
    let mut sentences: Vec<(u8, String)> = deployed::sentences(report);
    if !sentences.is_empty() {
        sentences.extend([5, 7].into_iter().zip(exceeded(report)));
        sentences.extend(wronged(report).map(|text| (3, text)));
        if report.lanes.iter().any(|lane| lane.closed.is_some()) {
            sentences.extend(comeback::sentences(report).into_iter().map(|text| (6, text)));
        }
        sentences.extend([7, 8].into_iter().zip(agreement(report)));
        return shortened(sentences);
    }
    if report.lanes.iter().any(|lane| lane.closed.is_some()) {
        sentences.extend(comeback::sentences(report).into_iter().map(|text| (0, text)));
        sentences.extend([5, 7].into_iter().zip(exceeded(report)));
        sentences.extend(delays(report).map(|text| (6, text)));
        if sentences.len() < 2 {
            sentences.extend([6, 7].into_iter().zip(agreement(report)));
        }
        return shortened(sentences);
    }
    sentences.extend([0, 6].into_iter().zip(agreement(report)));
    sentences.extend([1, 5].into_iter().zip(exceeded(report)));
    sentences.extend(delays(report).map(|text| (2, text)));
    sentences.extend(wronged(report).map(|text| (3, text)));
    sentences.extend(victims(report).map(|text| (4, text)));
    if sentences.len() < 2 {
        sentences.push((7, load(report)));
    }
    shortened(sentences)
}

/// At most so many of them: the last ranks are left out.
fn shortened(mut sentences: Vec<(u8, String)>) -> Vec<String> {
    while sentences.len() > MOST {
        let last = sentences.iter().rposition(|(rank, _)| Some(*rank) == sentences.iter().map(|(rank, _)| *rank).max());
        sentences.remove(last.expect("there are some"));
    }
    sentences.into_iter().map(|(_, text)| text).collect()
}

/// Which lanes decide alike, and where they part.
fn agreement(report: &Report) -> Vec<String> {
    let all = u128::from(report.offered.requests);
    if let [only] = &report.lanes[..] {
        return vec![format!(
            "{} admits {} of {} and denies {}.",
            only.name,
            count(u128::from(only.admitted())),
            plural(all, "request"),
            count(u128::from(only.denied))
        )];
    }
    let Some(first) = report.disagreements.first() else {
        let lane = &report.lanes[0];
        return vec![format!(
            "{} admit and deny alike: {} of {} admitted, {} denied.",
            all_lanes(report),
            count(u128::from(lane.admitted())),
            plural(all, "request"),
            count(u128::from(lane.denied))
        )];
    };
    let who = if first.admitted.len() + first.denied.len() == report.lanes.len() {
        all_lanes(report)
    } else {
        list(&[first.admitted.as_slice(), &first.denied].concat())
    };
    let mut text = match first.arrival {
        1 => format!("{who} part at the very first arrival ({})", place(report, first)),
        2 => format!("{who} agree on the first arrival and part at the second ({})", place(report, first)),
        n => format!(
            "{who} agree on the first {} arrivals and part at arrival {} ({})",
            count(u128::from(n - 1)),
            count(u128::from(n)),
            place(report, first)
        ),
    };
    text.push_str(&format!(": {}.", sides(report, first)));
    let mut sentences = vec![text];
    if let Some(next) = report.disagreements.get(1) {
        sentences.push(format!(
            "{} part at arrival {} ({}): {}.",
            list(&[next.admitted.as_slice(), &next.denied].concat()),
            count(u128::from(next.arrival)),
            place(report, next),
            sides(report, next)
        ));
    }
    sentences
}

fn all_lanes(report: &Report) -> String {
    match report.lanes.len() {
        2 => "Both lanes".to_owned(),
        n => format!("All {n} lanes"),
    }
}

/// When an arrival came and whose it is.
fn place(report: &Report, at: &Disagreement) -> String {
    let clock = Clock::for_span(report, report.focus.from_ns, report.focus.until_ns).precise();
    let mut text = clock.time(report.instant(at.time_ns));
    if report.offered.keys > 1 {
        text.push_str(&format!(", key {}", fit(&at.key, KEY_WIDTH)));
    }
    if at.cost != 1 {
        text.push_str(&format!(", cost {}", count(u128::from(at.cost))));
    }
    text
}

/// Who admits and who denies, each with what it knew.
fn sides(report: &Report, at: &Disagreement) -> String {
    let all = at.admitted.len() + at.denied.len() == report.lanes.len();
    let side = |lanes: &[String], others: &[String], one: &str, many: &str| {
        let groups = knowing(report, at, lanes);
        match &groups[..] {
            // Naming the others tells which they are.
            [(level, _)] if all && lanes.len() > 3 && others.len() < lanes.len() => {
                format!("every other lane{} {one} it", bracketed(level))
            }
            _ => {
                let parts: Vec<String> =
                    groups.iter().map(|(level, lanes)| format!("{}{}", list(lanes), bracketed(level))).collect();
                format!("{} {} it", list(&parts), verb(lanes.len(), one, many))
            }
        }
    };
    let admit = side(&at.admitted, &at.denied, "admits", "admit");
    let deny = side(&at.denied, &at.admitted, "denies", "deny");
    if admit.starts_with("every other") { format!("{deny}, {admit}") } else { format!("{admit}, {deny}") }
}

fn bracketed(level: &str) -> String {
    if level.is_empty() { String::new() } else { format!(" ({level})") }
}

/// Lanes with their levels, those of equal level together.
fn knowing<'a>(report: &Report, at: &Disagreement, lanes: &'a [String]) -> Vec<(String, Vec<&'a str>)> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for lane in lanes {
        let level = at.levels.iter().find(|level| level.lane == *lane);
        let level = level.map_or_else(String::new, |level| shown(report, at, level));
        match groups.iter_mut().find(|(other, _)| *other == level) {
            Some((_, group)) => group.push(lane),
            None => groups.push((level, vec![lane])),
        }
    }
    groups
}

fn shown(report: &Report, at: &Disagreement, level: &LevelReport) -> String {
    if level.exempt {
        return "which it does not limit".to_owned();
    }
    // Cut, not rounded: 99.97 of 100 is not 100 of 100.
    let tenths = (level.used * 10.0).floor();
    let used = if (level.used - level.used.round()).abs() < 1e-9 {
        count(level.used.round() as u128)
    } else {
        format!("{}.{}", count((tenths / 10.0) as u128), (tenths % 10.0) as u8)
    };
    let mut text = format!("{used} of {} used", count(u128::from(level.limit)));
    if let Some(from) = level.window_from_ns.filter(|_| level.used == 0.0 && at.arrival > 1) {
        let clock = Clock::for_span(report, report.focus.from_ns, report.focus.until_ns).precise();
        text.push_str(&format!(" since its new window at {}", clock.time(report.instant(from))));
    }
    text
}

/// Who exceeded the limit, when, for how long, and what the worst would be.
fn exceeded(report: &Report) -> Vec<String> {
    let Some(limit) = report.limit else { return Vec::new() };
    let per = span(limit.window_ns);
    let units = |lane: &LaneReport| lane.peak.as_ref().map_or(0, |peak| peak.units);
    let over: Vec<&LaneReport> = report.lanes.iter().filter(|lane| units(lane) > limit.units).collect();
    let mut over = by(&over, |lane| (units(lane), lane.peak.as_ref().and_then(|peak| peak.bound)));
    over.sort_by_key(|lanes| std::cmp::Reverse(units(lanes[0])));
    let Some(worst) = over.first() else {
        return vec![kept(report, limit.units, &per)];
    };
    let (lane, n) = (worst[0], worst.len());
    let peak = lane.peak.as_ref().expect("a lane over the limit has a peak");
    let clock = Clock::for_span(report, report.focus.from_ns, report.focus.until_ns).precise();
    let at = |ns: i64| clock.time(report.instant(ns));
    let mut text = format!(
        "{} {} {}",
        list(&names(worst)),
        verb(n, "releases", "release"),
        things(report, u128::from(peak.units))
    );
    text.push_str(&format!(" within {per}"));
    if let Some(from) = peak.from_ns {
        text.push_str(&format!(" from {}", at(from)));
    }
    if report.offered.keys > 1
        && let Some(key) = &peak.key
    {
        text.push_str(&format!(" for {} {}", lane.key, fit(key, KEY_WIDTH)));
    }
    if let Some(times) = peak.ratio {
        text.push_str(&format!(", {} the limit", ratio(times)));
    }
    if let Some(excess) = &lane.over
        && let Some(first) = excess.first_ns
    {
        if excess.keys > 1 {
            text.push_str(&format!(", {} keys above it, the first at {}", count(u128::from(excess.keys)), at(first)));
        } else {
            text.push_str(&format!(", above it from {} on, for {} in all", at(first), duration(excess.peak_key_ns)));
        }
    }
    // The worst case of a deployment depends on how much is offered.
    let of_rates = if lane.fleet.is_some() { " of these rates" } else { "" };
    text.push_str(&match peak.bound {
        Some(bound) if bound <= u128::from(peak.units) => format!("; no traffic{of_rates} could get more."),
        Some(bound) => format!("; other traffic{of_rates} could get {}.", count(bound)),
        None => ".".to_owned(),
    });
    let mut sentences = vec![text];
    let mut others: Vec<String> = over[1..]
        .iter()
        .take(TOLD)
        .map(|lanes| {
            let peak = lanes[0].peak.as_ref().expect("a lane over the limit has a peak");
            let by = peak.ratio.map_or_else(String::new, |by| format!(" ({})", ratio(by)));
            let bound = match peak.bound {
                Some(bound) if bound > u128::from(peak.units) => format!(" and could reach {}", count(bound)),
                _ => String::new(),
            };
            let reach = verb(lanes.len(), "reaches", "reach");
            format!("{} {reach} {}{by}{bound}", list(&names(lanes)), count(u128::from(peak.units)))
        })
        .collect();
    let untold: usize = over.iter().skip(1 + TOLD).map(Vec::len).sum();
    if untold > 0 {
        others.push(format!("{} {} less", plural(untold as u128, "other lane"), verb(untold, "reaches", "reach")));
    }
    if !others.is_empty() {
        sentences.push(format!("{}.", others.join("; ")));
    }
    sentences
}

/// Nobody exceeded the limit: how close it was, and who could on other traffic.
fn kept(report: &Report, limit: u64, per: &str) -> String {
    let highest = report.lanes.iter().filter_map(|lane| Some((lane.peak.as_ref()?.units, lane))).max_by_key(|p| p.0);
    let mut text = format!("No lane exceeds {} per {per}", things(report, u128::from(limit)));
    if let Some((units, _)) = highest {
        let at: Vec<&LaneReport> =
            report.lanes.iter().filter(|lane| lane.peak.as_ref().is_some_and(|peak| peak.units == units)).collect();
        let who = if at.len() == report.lanes.len() { "every lane".to_owned() } else { list(&names(&at)) };
        text.push_str(&format!(": the highest peak is {} ({who})", count(u128::from(units))));
    }
    let rates = if report.lanes.iter().any(|lane| lane.fleet.is_some()) { " of these rates" } else { "" };
    let bound = |lane: &LaneReport| lane.peak.as_ref().and_then(|peak| peak.bound).unwrap_or(0);
    if let Some(most) = report.lanes.iter().map(bound).max().filter(|most| *most > u128::from(limit)) {
        let worst: Vec<&LaneReport> = report.lanes.iter().filter(|lane| bound(lane) == most).collect();
        text.push_str(&format!("; on other traffic{rates} {} could release {}", list(&names(&worst)), count(most)));
    }
    text.push('.');
    text
}

/// What shaping costs: who waits, and how long.
fn delays(report: &Report) -> Option<String> {
    let lane = report.lanes.iter().filter(|lane| lane.delayed > 0).max_by_key(|lane| lane.wait_ns.max)?;
    let group = report.groups.iter().find(|group| group.contains(&lane.name))?;
    let others: Vec<&String> = group.iter().filter(|name| **name != lane.name).collect();
    let mut text = if others.is_empty() {
        format!("{} admits {}", lane.name, count(u128::from(lane.admitted())))
    } else {
        format!("{} admits the same {} as {}", lane.name, count(u128::from(lane.admitted())), list(&others))
    };
    text.push_str(&format!(
        " and makes {} of them wait, the longest {}",
        count(u128::from(lane.delayed)),
        duration(u128::from(lane.wait_ns.max.unwrap_or(0)))
    ));
    if let Some(peak) = &lane.peak {
        text.push_str(&format!(", so that its peak is {}", count(u128::from(peak.units))));
    }
    text.push('.');
    Some(text)
}

/// Whom the exact log would have let through.
fn wronged(report: &Report) -> Option<String> {
    let wrong = |lane: &LaneReport| lane.false_denials.unwrap_or(0);
    let lanes: Vec<&LaneReport> = report.lanes.iter().filter(|lane| wrong(lane) > 0).collect();
    let mut groups = by(&lanes, wrong);
    groups.sort_by_key(|lanes| std::cmp::Reverse(wrong(lanes[0])));
    let mut parts: Vec<String> = groups
        .iter()
        .take(TOLD)
        .map(|lanes| {
            let (refuse, each) = (verb(lanes.len(), "refuses", "refuse"), verb(lanes.len(), "", " each"));
            format!("{} {refuse} {}{each}", list(&names(lanes)), count(u128::from(wrong(lanes[0]))))
        })
        .collect();
    let untold: usize = groups.iter().skip(TOLD).map(Vec::len).sum();
    if untold > 0 {
        parts.push(format!("{} fewer", plural(untold as u128, "other lane")));
    }
    let noun = if wrong(groups.first()?[0]) == 1 && lanes.len() == 1 { "request" } else { "requests" };
    Some(format!("Of the {noun} that the exact sliding log admits, {}.", list(&parts)))
}

/// Whom the strictest lane refuses most.
fn victims(report: &Report) -> Option<String> {
    if report.offered.keys < 2 {
        return None;
    }
    let most = report.lanes.iter().map(|lane| lane.denied).max().filter(|most| *most > 0)?;
    let strictest: Vec<&LaneReport> = report.lanes.iter().filter(|lane| lane.denied == most).collect();
    let lane = strictest[0];
    let worst = lane.top_denied.first()?;
    let told = |lane: &LaneReport| {
        let worst = lane.top_denied.first().map(|worst| (worst.key.clone(), worst.denied, worst.attempts));
        (lane.key.clone(), lane.keys_denied, worst)
    };
    let denied = count(u128::from(most));
    let refuses = if strictest.iter().any(|other| told(other) != told(lane)) {
        format!("{} refuses as many as any lane, {denied}", lane.name)
    } else if strictest.len() == 1 {
        format!("{} refuses the most, {denied}", lane.name)
    } else if strictest.len() == report.lanes.len() {
        format!("Every lane refuses {denied}")
    } else {
        format!("{} refuse the most, {denied} each", list(&names(&strictest)))
    };
    Some(format!(
        "{refuses}, to {}; {} loses {} of its {}.",
        plural(u128::from(lane.keys_denied), &lane.key),
        fit(&worst.key, KEY_WIDTH),
        count(u128::from(worst.denied)),
        count(u128::from(worst.attempts))
    ))
}

/// How much was offered at most.
fn load(report: &Report) -> String {
    let offered = &report.offered;
    match (offered.peak, report.limit) {
        (Some(peak), Some(limit)) => format!(
            "At most {} arrive within {} for one key, against a limit of {}.",
            things(report, u128::from(peak)),
            span(limit.window_ns),
            count(u128::from(limit.units))
        ),
        _ => format!(
            "{} arrive in {}.",
            plural(u128::from(offered.requests), "request"),
            duration(u128::from(
                offered.last_ns.unwrap_or(0).saturating_sub(offered.first_ns.unwrap_or(0)).unsigned_abs()
            ))
        ),
    }
}
