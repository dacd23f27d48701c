//! The arrival at the cursor, and what every lane did with it.

use super::Canvas;
use crate::faces::format::{Clock, count, duration};
use crate::faces::tui::action::Run;
use crate::report::{DecisionDetail, DecisionKind, Detail};
use ratatui::style::Style;

/// Paints the arrival, the chosen lane's decision, then those of the others.
pub fn paint(canvas: &mut Canvas, run: &Run, y: u16) {
    let (app, layout) = (canvas.app, canvas.layout);
    let width = layout.area.width.saturating_sub(2);
    let dim = canvas.theme.dim();
    let Some(detail) = app.listing() else {
        let text = match app.covering() {
            Some(_) if app.look.is_none() => "too many arrivals here to tell them apart: + zooms in, n and d go to one",
            _ => "simulating what is on the screen...",
        };
        canvas.put(1, y, text, width, dim);
        return;
    };
    let Some(i) = detail.decided(app.cursor).checked_sub(1) else {
        let text = match detail.arrivals_before {
            0 if run.report.offered.requests == 0 => "no arrivals in this run",
            0 => "before the first arrival",
            _ => "no arrival since the left end of the screen",
        };
        canvas.put(1, y, text, width, dim);
        return;
    };
    let arrival = &detail.arrivals[i];
    let start = run.report.start.nanos();
    let clock = Clock::for_span(&run.report, app.view.from - start, app.view.until - start).precise();
    let mut text = format!(
        "arrival {} of {} at {}, {}, cost {}",
        count(u128::from(arrival.number)),
        count(u128::from(run.report.offered.requests)),
        clock.time(arrival.at),
        if arrival.key.is_empty() { "the empty key" } else { &arrival.key },
        count(u128::from(arrival.cost)),
    );
    let ago = app.cursor.at.since(arrival.at);
    if !ago.is_zero() {
        text.push_str(&format!(" ({} ago)", duration(ago.nanos())));
    }
    canvas.put(1, y, &text, width, canvas.theme.strong());

    let name = &run.report.lanes[app.lane].name;
    if let Some(decision) = decision(detail, app.lane, i) {
        let x = canvas.put(1, y + 1, &format!("{name}: "), width / 2, Style::new());
        let x = paint_kind(canvas, x, y + 1, decision);
        let algorithm = run.report.lanes[app.lane].algorithm;
        canvas.put(x, y + 1, &consequence(decision, algorithm), width.saturating_sub(x), Style::new());
    }
    others(canvas, run, detail, i, y + 2);
}

fn decision(detail: &Detail, lane: usize, arrival: usize) -> Option<DecisionDetail> {
    detail.lanes.get(lane)?.decisions.get(arrival).copied()
}

/// The decisions of the lanes that are not chosen, in a grid.
fn others(canvas: &mut Canvas, run: &Run, detail: &Detail, arrival: usize, y: u16) {
    let layout = canvas.layout;
    if layout.others == 0 {
        return;
    }
    let cell = layout.area.width / layout.others_across;
    let names = (layout.names.width - 2).min(cell / 2);
    let places = usize::from(layout.others) * usize::from(layout.others_across);
    // Those on the screen come first.
    let shown = layout.first..layout.first + usize::from(layout.lanes);
    let rest = (0..run.report.lanes.len()).filter(|lane| !shown.contains(lane));
    let lanes = shown.clone().chain(rest).filter(|lane| *lane != canvas.app.lane).take(places);
    for (i, lane) in lanes.enumerate() {
        let (row, column) = (i as u16 % layout.others, i as u16 / layout.others);
        let (x, y) = (column * cell, y + row);
        canvas.put(x + 1, y, &run.report.lanes[lane].name, names, Style::new());
        if let Some(decision) = decision(detail, lane, arrival) {
            let from = x + names + 2;
            let after = paint_kind(canvas, from, y, decision);
            canvas.put(after, y, &briefly(decision), (x + cell).saturating_sub(after), Style::new());
        }
    }
}

fn paint_kind(canvas: &mut Canvas, x: u16, y: u16, decision: DecisionDetail) -> u16 {
    let theme = canvas.theme;
    let (word, style) = match decision.kind {
        DecisionKind::Allow => ("allow", theme.admitted()),
        DecisionKind::Delay => ("delay", theme.delayed()),
        DecisionKind::Deny => ("deny", theme.denied()),
    };
    canvas.put(x, y, word, 5, style)
}

/// What follows the word, in few words.
fn briefly(decision: DecisionDetail) -> String {
    match (decision.kind, decision.retry_after_ns) {
        (DecisionKind::Allow, _) => format!(", {} left", count(u128::from(decision.remaining))),
        (DecisionKind::Delay, _) => format!(" {}", duration(u128::from(decision.wait_ns))),
        (DecisionKind::Deny, Some(wait)) => format!(", retry in {}", duration(wait)),
        (DecisionKind::Deny, None) => ", never".to_owned(),
    }
}

/// What follows the word, in full.
fn consequence(decision: DecisionDetail, algorithm: &str) -> String {
    let left = count(u128::from(decision.remaining));
    let full = match (decision.full_ns, algorithm) {
        (0, _) => String::new(),
        (wait, "fixed-window") => format!(", resets in {}", duration(wait)),
        (wait, "leaky-bucket") => format!(", empty in {}", duration(wait)),
        (wait, _) => format!(", all free in {}", duration(wait)),
    };
    match (decision.kind, decision.retry_after_ns) {
        (DecisionKind::Allow, _) => format!(", {left} left{full}"),
        (DecisionKind::Delay, _) => format!(" by {}, {left} left{full}", duration(u128::from(decision.wait_ns))),
        (DecisionKind::Deny, Some(wait)) => format!(", retry after {}{full}", duration(wait)),
        (DecisionKind::Deny, None) => ", never: no wait helps".to_owned(),
    }
}
