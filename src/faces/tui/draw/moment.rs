//! The arrival at the cursor, and what every lane did with it.

use super::Canvas;
use crate::faces::format::{Clock, count, decimal, duration};
use crate::faces::tui::action::Run;
use crate::report::{ArrivalDetail, DecisionDetail, DecisionKind, Detail, LoopReport};
use ratatui::style::Style;

/// Paints the arrival, the chosen lane's decision, then those of the others.
pub fn paint(canvas: &mut Canvas, run: &Run, y: u16) {
    let (app, layout) = (canvas.app, canvas.layout);
    let width = layout.area.width.saturating_sub(2);
    if let Some(closed) = &run.report.lanes[app.lane].closed {
        return requests(canvas, run, closed, y);
    }
    let Some(detail) = app.listing() else {
        let text = match app.covering() {
            Some(_) if app.look.is_none() => "too many arrivals here to tell them apart: + zooms in, n and d go to one",
            _ => "simulating what is on the screen...",
        };
        let style = canvas.theme.dim();
        canvas.paragraph((1, y), text, (width, 2), "…", style);
        return;
    };
    let Some(i) = detail.decided(app.cursor).checked_sub(1) else {
        return nothing(canvas, run, detail.arrivals_before, y);
    };
    let forms = arrival(canvas, run, &detail.arrivals[i]);
    canvas.put(1, y, super::fitting(&forms, width), width, canvas.theme.strong());
    let lane = &run.report.lanes[app.lane];
    if let Some(decision) = decision(detail, app.lane, i) {
        let x = canvas.put(1, y + 1, &format!("{}: ", lane.name), width / 2, Style::new());
        let x = paint_kind(canvas, x, y + 1, decision);
        let columns = (width + 1).saturating_sub(x);
        let forms = consequence(decision, lane.algorithm);
        canvas.put(x, y + 1, super::fitting(&forms, columns), columns, Style::new());
    }
    others(canvas, run, detail, i, y + 2);
}

/// How many of something.
fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(u128::from(n)), if n == 1 { one } else { many })
}

/// What had become of the chosen lane's requests, and what becomes of them.
fn requests(canvas: &mut Canvas, run: &Run, closed: &LoopReport, y: u16) {
    let app = canvas.app;
    let width = canvas.layout.area.width.saturating_sub(2);
    let lane = &run.report.lanes[app.lane];
    let number = |n: u64| count(u128::from(n));
    let known = app.figures(app.lane).and_then(|now| Some((now.counts, now.requests?)));
    let Some((counts, requests)) = known else {
        canvas.put(1, y, "simulating what is on the screen...", width, canvas.theme.dim());
        return;
    };
    let (attempts, answers) = (counts.total(), number(requests.good));
    let retries = plural(attempts.saturating_sub(requests.first), "retry", "retries");
    let first = plural(requests.first, "first attempt", "first attempts");
    let wanted = plural(requests.first, "request", "requests");
    let (admitted, gave_up) = (number(counts.allowed + counts.delayed), number(requests.gave_up));
    let attempts = plural(attempts, "attempt", "attempts");
    let name = &lane.name;
    let forms = [
        format!(
            "{name}, so far: {first}, {retries}, {admitted} admitted, {answers} answered in time, {gave_up} gave up"
        ),
        format!("{name}, so far: {attempts} for {wanted}, {answers} answered in time"),
        format!("{attempts} for {wanted}, {answers} answered"),
    ];
    canvas.put(1, y, super::fitting(&forms, width), width, canvas.theme.strong());
    // The report knows the ends of all keys together.
    if app.key.is_some() && run.keys.len() > 1 {
        return;
    }
    let each = closed.amplification.map_or_else(|| "-".to_owned(), decimal);
    let (answered, lost) = (number(closed.succeeded), number(closed.gave_up));
    let recovery = match closed.recovered_ns {
        _ if closed.partial => "stopped after its most events".to_owned(),
        None => "overloaded to the end".to_owned(),
        Some(0) => "never overloaded".to_owned(),
        Some(until) => format!("overloaded until {}", duration(u128::from(until))),
    };
    let short = format!("at the end: {each} attempts a request, {recovery}");
    let forms = [
        format!("at the end: {each} attempts a request, {answered} answered in time, {lost} gave up, {recovery}"),
        short,
    ];
    canvas.put(1, y + 1, super::fitting(&forms, width), width, canvas.theme.dim());
}

/// What is said where there is no arrival; before the first, there is room for what the scenario is
/// about.
fn nothing(canvas: &mut Canvas, run: &Run, before: u64, y: u16) {
    let layout = canvas.layout;
    let (dim, columns) = (canvas.theme.dim(), layout.area.width.saturating_sub(2));
    let text = match before {
        0 if run.report.offered.requests == 0 => "no arrivals in this run",
        0 => "before the first arrival",
        _ => "no arrival since the left end of the screen",
    };
    canvas.put(1, y, text, columns, dim);
    if let Some(about) = run.report.about.as_deref().filter(|_| before == 0 && layout.about == 0) {
        let rows = (layout.area.height - 1).saturating_sub(y + 1);
        canvas.paragraph((1, y + 1), about, (columns, rows), " … (? has it all)", dim);
    }
}

/// An arrival in fewer and fewer words.
fn arrival(canvas: &Canvas, run: &Run, arrival: &ArrivalDetail) -> [String; 3] {
    let (app, report) = (canvas.app, &run.report);
    let start = report.start.nanos();
    let clock = Clock::for_span(report, app.view.from - start, app.view.until - start).precise();
    let (number, time) = (count(u128::from(arrival.number)), clock.time(arrival.at));
    let all = count(u128::from(report.offered.requests));
    // The key of all arrivals tells nothing.
    let key = match arrival.key.as_str() {
        _ if report.offered.keys == 1 => String::new(),
        "" => ", the empty key".to_owned(),
        key => format!(", key {key}"),
    };
    let cost = format!(", cost {}", count(u128::from(arrival.cost)));
    let ago = app.cursor.at.since(arrival.at);
    let ago = if ago.is_zero() { String::new() } else { format!(" ({} ago)", duration(ago.nanos())) };
    [
        format!("arrival {number} of {all} at {time}{key}{cost}{ago}"),
        format!("arrival {number} of {all} at {time}{key}{ago}"),
        format!("arrival {number} at {time}{key}{ago}"),
    ]
}

fn decision(detail: &Detail, lane: usize, arrival: usize) -> Option<DecisionDetail> {
    detail.lanes.get(lane)?.decisions.get(arrival).copied()
}

/// The decisions of the lanes that are not chosen, in a grid; its last place tells how many are
/// left out.
fn others(canvas: &mut Canvas, run: &Run, detail: &Detail, arrival: usize, y: u16) {
    let layout = canvas.layout;
    let places = usize::from(layout.others) * usize::from(layout.others_across);
    let total = run.report.lanes.len();
    if places == 0 {
        return;
    }
    // Those on the screen come first.
    let on_screen = layout.first..layout.first + usize::from(layout.lanes);
    let rest = (0..total).filter(|lane| !on_screen.contains(lane));
    let mut lanes: Vec<usize> = on_screen.clone().chain(rest).filter(|lane| *lane != canvas.app.lane).collect();
    let missing = if lanes.len() > places { lanes.len() + 1 - places } else { 0 };
    lanes.truncate(lanes.len() - missing);

    let cell = layout.area.width / layout.others_across;
    let place = |i: usize| (i as u16 / layout.others * cell, y + i as u16 % layout.others);
    let longest = lanes.iter().map(|lane| super::width(&run.report.lanes[*lane].name)).max().unwrap_or(0) as u16;
    let decisions: Vec<_> = lanes.iter().filter_map(|lane| decision(detail, *lane, arrival)).collect();
    // All in the same words: the first that fit everywhere, beside whole names if they can.
    let fits = |(form, names): (usize, u16)| {
        let room = usize::from(cell.saturating_sub(names + 2));
        decisions.iter().all(|decision| word(*decision).len() + super::width(&briefly(*decision)[form]) < room)
    };
    let (form, names) =
        [(0, longest), (1, longest)].into_iter().find(|way| fits(*way)).unwrap_or((1, longest.min(cell / 2)));
    for (i, (lane, decision)) in lanes.iter().zip(&decisions).enumerate() {
        let (x, y) = place(i);
        canvas.put(x + 1, y, &run.report.lanes[*lane].name, names, Style::new());
        let after = paint_kind(canvas, x + names + 2, y, *decision);
        canvas.put(after, y, &briefly(*decision)[form], (x + cell).saturating_sub(after), Style::new());
    }
    if missing > 0 {
        let (x, y) = place(places - 1);
        canvas.put(x + 1, y, &format!("and {} more lanes", count(missing as u128)), cell, canvas.theme.dim());
    }
}

const fn word(decision: DecisionDetail) -> &'static str {
    match decision.kind {
        DecisionKind::Allow => "allow",
        DecisionKind::Delay => "delay",
        DecisionKind::Deny => "deny",
    }
}

fn paint_kind(canvas: &mut Canvas, x: u16, y: u16, decision: DecisionDetail) -> u16 {
    let theme = canvas.theme;
    let style = match decision.kind {
        DecisionKind::Allow => theme.admitted(),
        DecisionKind::Delay => theme.delayed(),
        DecisionKind::Deny => theme.denied(),
    };
    canvas.put(x, y, word(decision), 5, style)
}

/// What follows the word, in few words and in fewer.
fn briefly(decision: DecisionDetail) -> [String; 2] {
    let both = |text: String| [text.clone(), text];
    match (decision.kind, decision.retry_after_ns) {
        (DecisionKind::Allow, _) => both(format!(", {} left", count(u128::from(decision.remaining)))),
        (DecisionKind::Delay, _) => both(format!(" {}", duration(u128::from(decision.wait_ns)))),
        (DecisionKind::Deny, Some(wait)) => {
            let wait = duration(wait);
            [format!(", retry after {wait}"), format!(", after {wait}")]
        }
        (DecisionKind::Deny, None) => both(", never".to_owned()),
    }
}

/// What follows the word, in full, and without what matters less.
fn consequence(decision: DecisionDetail, algorithm: &str) -> [String; 2] {
    let left = count(u128::from(decision.remaining));
    let full = match (decision.full_ns, algorithm) {
        (0, _) => String::new(),
        (wait, "fixed-window") => format!(", resets in {}", duration(wait)),
        (wait, "leaky-bucket") => format!(", empty in {}", duration(wait)),
        (wait, _) => format!(", all free in {}", duration(wait)),
    };
    let short = match (decision.kind, decision.retry_after_ns) {
        (DecisionKind::Allow, _) => format!(", {left} left"),
        (DecisionKind::Delay, _) => format!(" by {}, {left} left", duration(u128::from(decision.wait_ns))),
        (DecisionKind::Deny, Some(wait)) => format!(", retry after {}", duration(wait)),
        (DecisionKind::Deny, None) => return [", never: no wait helps".to_owned(), ", never".to_owned()],
    };
    [format!("{short}{full}"), short]
}
