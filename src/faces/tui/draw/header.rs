//! The rows at the top and bottom: title, state, signs, keys.

use super::Canvas;
use super::fleet::WRONG;
use super::theme::EXCESS;
use crate::faces::format::{Clock, count, duration, title as full_title};
use crate::faces::tui::action::Run;
use crate::faces::tui::keys;
use crate::report::LaneReport;
use crate::time::SimDuration;
use ratatui::style::Style;

/// The lesson, and what else a newcomer should know if there is room.
pub fn title(canvas: &mut Canvas, y: u16) {
    let layout = canvas.layout;
    let columns = layout.area.width.saturating_sub(2);
    let run = canvas.app.run.as_ref();
    let title = run.map_or_else(|| "rlsim".to_owned(), |run| full_title(&run.report));
    let style = canvas.theme.strong();
    canvas.paragraph((1, y), &title, (columns, layout.title), "…", style);
    let Some(about) = run.and_then(|run| run.report.about.as_deref()) else { return };
    let style = canvas.theme.dim();
    canvas.paragraph((1, y + layout.title), about, (columns, layout.about), "…", style);
}

/// The limit and the traffic; what is being done; where the cursor is and how fast it moves.
pub fn state(canvas: &mut Canvas, y: u16) {
    let app = canvas.app;
    let mut left = canvas.layout.area.width - 1;
    if let Some(run) = &app.run {
        let now = now(canvas, run, left);
        canvas.put_right(0, y, &now, left, canvas.theme.strong());
        left = left.saturating_sub(super::width(&now) as u16 + 3);
    }
    let doing = match (app.running, app.seek, app.look) {
        (Some(arrivals), ..) => format!("running: {} arrivals", count(u128::from(arrivals))),
        (None, Some(_), _) => "searching".to_owned(),
        (None, None, Some(_)) => "simulating".to_owned(),
        _ => String::new(),
    };
    if !doing.is_empty() {
        canvas.put_right(0, y, &doing, left, canvas.theme.warn());
        left = left.saturating_sub(super::width(&doing) as u16 + 3);
    }
    if let Some(run) = &app.run {
        let mut facts = facts(canvas, run).to_vec();
        facts.push(format!("seed {}", run.report.seed));
        canvas.put(1, y, &joined(&facts, usize::from(left)), left, Style::new());
    }
}

/// Where the cursor is and how fast it moves, in as many words as leave room for the facts.
fn now(canvas: &Canvas, run: &Run, columns: u16) -> String {
    let app = canvas.app;
    let start = run.report.start.nanos();
    let clock = Clock::for_span(&run.report, app.view.from - start, app.view.until - start).precise();
    let sign = if app.player.playing { "▶" } else { "‖" };
    let (now, pace) = (format!("{sign} {}", clock.time(app.cursor.at)), duration(app.player.pace(app.view)));
    let forms = [format!("{now}  plays {pace} per second"), format!("{now}  plays {pace}/s"), now];
    let facts = super::width(&facts(canvas, run).join(BETWEEN)) as u16;
    super::fitting(&forms, columns.saturating_sub(facts + BETWEEN.len() as u16)).to_owned()
}

/// Between facts.
const BETWEEN: &str = "   ";

/// What everybody wants to know of a run, the most important first.
fn facts(canvas: &Canvas, run: &Run) -> [String; 3] {
    let (app, report) = (canvas.app, &run.report);
    let plural =
        |number: u64, word: &str| format!("{} {word}{}", count(u128::from(number)), if number == 1 { "" } else { "s" });
    let limit = match report.limit {
        Some(limit) => format!("limit {}/{}", count(u128::from(limit.units)), SimDuration::from_nanos(limit.window_ns)),
        None => "no limit stated".to_owned(),
    };
    let requests = plural(report.offered.requests, "request");
    match app.key.and_then(|key| run.keys.get(key)) {
        Some(key) => {
            [limit, format!("only key {}", key.key), format!("{} of {requests}", count(u128::from(key.arrivals)))]
        }
        None => [limit, requests, plural(report.offered.keys, "key")],
    }
}

/// As many facts as fit these columns.
fn joined(facts: &[String], columns: usize) -> String {
    let mut text = String::new();
    for fact in facts {
        if text.is_empty() {
            text.push_str(fact);
        } else if super::width(&text) + BETWEEN.len() + super::width(fact) <= columns {
            text.push_str(BETWEEN);
            text.push_str(fact);
        }
    }
    text
}

/// A sign, its style, and its meaning in fewer and fewer words.
type Entry = (&'static str, Style, [&'static str; 3]);

/// The signs that this run can show.
fn entries(canvas: &Canvas) -> Vec<Entry> {
    let (theme, app) = (canvas.theme, canvas.app);
    let mixed = theme.cell(crate::report::Counts { allowed: 1, delayed: 0, denied: 1 }).style;
    let rest = if app.colour { "cursor; grey: still to come" } else { "cursor; faint: still to come" };
    let without = theme.admitted().add_modifier(ratatui::style::Modifier::UNDERLINED);
    let all: [Entry; 8] = [
        ("▇", theme.admitted(), ["admitted"; 3]),
        ("~", theme.delayed(), ["delayed"; 3]),
        ("x", theme.denied(), ["denied"; 3]),
        ("░▒▓", mixed, ["few to most admitted", "part admitted", "part"]),
        (EXCESS, theme.excess(), ["above the limit", "above limit", "above"]),
        ("▇▇", without, ["decided without the store", "without store", "without"]),
        (WRONG, theme.warn(), ["fault"; 3]),
        ("│", theme.cursor(), [rest, "cursor", "now"]),
    ];
    let lanes = app.run.as_ref().map_or(&[][..], |run| &run.report.lanes);
    let limit = app.run.as_ref().and_then(|run| run.report.limit).map_or(u64::MAX, |limit| limit.units);
    let above = |lane: &LaneReport| lane.peak.as_ref().is_some_and(|peak| peak.units > limit);
    let without_store = |lane: &LaneReport| {
        let store = lane.fleet.as_ref().and_then(|fleet| fleet.store.as_ref());
        store.is_some_and(|store| store.decided_without > 0)
    };
    let occurs = |sign: &str| match sign {
        "~" => lanes.iter().any(|lane| lane.delayed > 0),
        "x" | "░▒▓" => lanes.iter().any(|lane| lane.denied > 0),
        EXCESS => canvas.layout.charts > 0 && !app.is_closed_loop() && lanes.iter().any(above),
        "▇▇" => lanes.iter().any(without_store),
        WRONG => app.run.as_ref().is_some_and(|run| app.is_deployed() && run.report.scenario.get("fault").is_some()),
        _ => true,
    };
    all.into_iter().filter(|(sign, ..)| occurs(sign)).collect()
}

/// What the signs mean.
pub fn legend(canvas: &mut Canvas, y: u16) {
    let (entries, width) = (entries(canvas), canvas.layout.area.width);
    let taken = |form: usize| {
        entries.iter().map(|(sign, _, forms)| super::width(sign) + super::width(forms[form]) + 3).sum::<usize>()
    };
    // One blank at the left, none at the right.
    let form = (0..2).find(|form| taken(*form) <= usize::from(width) + 1).unwrap_or(2);
    let mut x = 1;
    for (sign, style, forms) in entries {
        if usize::from(x) + super::width(sign) + 1 + super::width(forms[form]) > usize::from(width) {
            break;
        }
        x = canvas.put(x, y, sign, width, style) + 1;
        x = canvas.put(x, y, forms[form], width, canvas.theme.dim()) + 2;
    }
}

/// The last row: a message, else the keys that matter most.
pub fn keys(canvas: &mut Canvas, y: u16) {
    let width = canvas.layout.area.width;
    if let Some(message) = &canvas.app.message {
        canvas.put(1, y, message, width.saturating_sub(2), canvas.theme.warn());
        return;
    }
    let taken = |shown: &[(&str, &str)]| {
        shown.iter().map(|(key, what)| super::width(key) + super::width(what) + 3).sum::<usize>()
    };
    let (hints, last) = keys::hints(canvas.app);
    let mut shown: Vec<(&str, &str)> = Vec::new();
    for hint in hints {
        if taken(&shown) + taken(&[hint]) + taken(&last) <= usize::from(width) {
            shown.push(hint);
        }
    }
    shown.extend(last);
    let mut x = 1;
    for (key, what) in shown {
        x = canvas.put(x, y, key, width, canvas.theme.strong()) + 1;
        x = canvas.put(x, y, what, width, canvas.theme.dim()) + 2;
    }
}
