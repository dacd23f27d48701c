//! A sweep as a picture: lines over one axis, a panel a measure; or maps over two, one a lane.

mod heat;
mod lines;
mod ramp;

use super::measure::Font;
use super::paint::{Anchor, Painter, WIDTH, palette};
use super::{MARGIN, SMALL, accessible, drawn};
use crate::faces::format::figure;
use crate::report::{MeasureUnit, SweepReport, SweepValue};

const TITLE: Font = Font::bold(40);
const HEAD: Font = Font::bold(28);
/// Height of a line of small text.
const LINE: i32 = 34;
/// Lanes drawn.
const MOST_LANES: usize = 40;
/// Values that differ by this factor or more are drawn by factors.
const WIDE: f64 = 200.0;

/// Draws the figures of a sweep over one or two axes.
#[must_use]
pub fn sweep(report: &SweepReport) -> String {
    let (height, svg) = match report.axes.len() {
        1 => {
            let layout = lines::Layout::new(report);
            (layout.height, drawn(layout.height, |painter| layout.draw(painter)))
        }
        _ => {
            let layout = heat::Layout::new(report);
            (layout.height, drawn(layout.height, |painter| layout.draw(painter)))
        }
    };
    accessible(&svg, "sweep", height, &title(report), &description(report))
}

fn title(report: &SweepReport) -> String {
    match &report.changed[..] {
        [] => report.title.clone(),
        changed => format!("{} (changed: {})", report.title, changed.join(", ")),
    }
}

/// Lanes whose figures are the same everywhere in these measures, together: they share a line or a map.
fn groups(report: &SweepReport, measures: &[usize]) -> Vec<Vec<usize>> {
    let same = |a: usize, b: usize| {
        let value = |lane: usize, point, measure| report.value(point, &report.lanes[lane], measure);
        let points = 0..report.points.len();
        measures.iter().all(|m| points.clone().all(|point| value(a, point, *m) == value(b, point, *m)))
    };
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for lane in 0..report.lanes.len() {
        match groups.iter_mut().find(|group| same(group[0], lane)) {
            Some(group) => group.push(lane),
            None => groups.push(vec![lane]),
        }
    }
    groups
}

/// The names of a group.
fn names(report: &SweepReport, group: &[usize]) -> String {
    group.iter().map(|lane| report.lanes[*lane].as_str()).collect::<Vec<_>>().join(" = ")
}

/// The title and a line below it; where they end. Without a painter they are only measured.
fn heading(painter: Option<&Painter<'_>>, report: &SweepReport, below: &str) -> i32 {
    let width = WIDTH - 2 * MARGIN;
    let mut y = 20;
    for line in TITLE.balance(&title(report), width, 6) {
        y += 50;
        if let Some(painter) = painter {
            painter.text((MARGIN, y), TITLE, palette::INK, Anchor::Start, &line);
        }
    }
    y += 14;
    for line in SMALL.wrap(below, width, 4) {
        y += LINE;
        if let Some(painter) = painter {
            painter.text((MARGIN, y), SMALL, palette::SOFT, Anchor::Start, &line);
        }
    }
    y + 16
}

/// How a measure is named, with its unit.
fn measured(name: &str, unit: MeasureUnit) -> String {
    match (name, unit) {
        (name, MeasureUnit::Count)
            if name.starts_with("peak") || name.starts_with("cost") || name.starts_with("envelope") =>
        {
            format!("{name} (units)")
        }
        ("requests" | "succeeded" | "gave-up" | "unfinished", _) => name.to_owned(),
        ("attempts" | "retries" | "allowed" | "delayed" | "denied" | "first-attempts", _) => {
            format!("{name} (attempts)")
        }
        ("false-denials" | "false-admissions" | "most-attempts" | "most-retries", _) => format!("{name} (attempts)"),
        ("amplification", _) => format!("{name} (attempts a request)"),
        ("peak.ratio", _) => format!("{name} (of the limit)"),
        (name, _) => name.to_owned(),
    }
}

/// The picture in a few sentences.
fn description(report: &SweepReport) -> String {
    let axes = report.axes.iter().map(|axis| {
        let (first, last) = (axis.values.first(), axis.values.last());
        let text = |value: Option<&String>| value.cloned().unwrap_or_default();
        format!("{} from {} to {}", axis.path, text(first), text(last))
    });
    let mut text = format!("{} lanes over {}.", report.lanes.len(), axes.collect::<Vec<_>>().join(" and "));
    for (m, measure) in report.measures.iter().enumerate() {
        if report.axes.len() > 1 && m > 0 {
            break;
        }
        let number = |value: &&SweepValue| value.number();
        let of_lane = |lane: &String| {
            let values = || (0..report.points.len()).filter_map(|point| report.value(point, lane, m));
            let least = values().filter(|v| number(v).is_some()).min_by(|a, b| cmp(a, b))?;
            let most = values().filter(|v| number(v).is_some()).max_by(|a, b| cmp(a, b))?;
            let (least, most) = (figure(least, measure.unit), figure(most, measure.unit));
            Some(if least == most { format!("{lane} {least}") } else { format!("{lane} {least} to {most}") })
        };
        let lanes: Vec<String> = report.lanes.iter().take(MOST_LANES).filter_map(of_lane).collect();
        text.push_str(&format!(" {}: {}.", measured(&measure.name, measure.unit), lanes.join(", ")));
    }
    text
}

fn cmp(a: &SweepValue, b: &SweepValue) -> std::cmp::Ordering {
    a.number().unwrap_or(0.0).total_cmp(&b.number().unwrap_or(0.0))
}

/// Whether values from the least to the most are drawn by factors.
fn is_wide(least: f64, most: f64) -> bool {
    least > 0.0 && most / least >= WIDE
}

/// Labels around their places, as many as there is room for, kept left of an end.
fn labels(painter: &Painter<'_>, values: &[(i32, &str)], end: i32, baseline: i32) {
    let texts: Vec<String> = values.iter().map(|(_, text)| SMALL.clip(text, 220)).collect();
    let kept = |((x, _), text): (&(i32, &str), &String)| {
        let width = SMALL.width(text);
        ((*x).min(end - width / 2), width)
    };
    let places: Vec<(i32, i32)> = values.iter().zip(&texts).map(kept).collect();
    for i in spaced(&places, 12) {
        painter.text((places[i].0, baseline), SMALL, palette::SOFT, Anchor::Middle, &texts[i]);
    }
}

/// Which of some labels are drawn so that none touches the next: the first, the last, and what fits
/// between. Of each its place and its width.
fn spaced(labels: &[(i32, i32)], gap: i32) -> Vec<usize> {
    let Some(last) = labels.len().checked_sub(1) else { return Vec::new() };
    let clear = |a: (i32, i32), b: (i32, i32)| b.0 - b.1 / 2 - (a.0 + a.1 / 2) >= gap;
    let mut chosen = vec![0];
    for i in 1..last {
        if clear(labels[chosen[chosen.len() - 1]], labels[i]) && clear(labels[i], labels[last]) {
            chosen.push(i);
        }
    }
    if last > 0 && clear(labels[chosen[chosen.len() - 1]], labels[last]) {
        chosen.push(last);
    }
    chosen
}
