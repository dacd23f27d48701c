//! The rows at the top and bottom: title, state, signs, keys.

use super::Canvas;
use crate::faces::format::{Clock, count, duration, title as full_title};
use crate::faces::tui::action::Run;
use crate::faces::tui::keys;
use crate::time::SimDuration;
use ratatui::style::Style;

/// The lesson.
pub fn title(canvas: &mut Canvas, y: u16) {
    let title = canvas.app.run.as_ref().map_or_else(|| "rlsim".to_owned(), |run| full_title(&run.report));
    canvas.put(1, y, &title, canvas.layout.area.width.saturating_sub(2), canvas.theme.strong());
}

/// The limit and the traffic; what is being done; where the cursor is and how fast it moves.
pub fn state(canvas: &mut Canvas, y: u16) {
    let app = canvas.app;
    let width = canvas.layout.area.width;
    let doing = match (app.running, app.seek, app.look) {
        (Some(arrivals), ..) => format!("running: {} arrivals", count(u128::from(arrivals))),
        (None, Some(_), _) => "searching".to_owned(),
        (None, None, Some(_)) => "simulating".to_owned(),
        _ => String::new(),
    };
    let mut left = width - 1;
    if let Some(run) = &app.run {
        let start = run.report.start.nanos();
        let clock = Clock::for_span(&run.report, app.view.from - start, app.view.until - start).precise();
        let sign = if app.player.playing { "▶" } else { "‖" };
        let now = format!("{sign} {}  {}", clock.time(app.cursor.at), app.player.label());
        canvas.put_right(0, y, &now, left, canvas.theme.strong());
        left = left.saturating_sub(super::width(&now) as u16 + 3);
    }
    if !doing.is_empty() {
        canvas.put_right(0, y, &doing, left, canvas.theme.warn());
        left = left.saturating_sub(super::width(&doing) as u16 + 3);
    }
    if let Some(run) = &app.run {
        let text = facts(canvas, run, usize::from(left));
        canvas.put(1, y, &text, left, Style::new());
    }
}

/// As many facts as fit this many columns, the most important first.
fn facts(canvas: &Canvas, run: &Run, columns: usize) -> String {
    let (app, report) = (canvas.app, &run.report);
    let plural =
        |number: u64, word: &str| format!("{} {word}{}", count(u128::from(number)), if number == 1 { "" } else { "s" });
    let limit = match report.limit {
        Some(limit) => format!("limit {}/{}", limit.units, SimDuration::from_nanos(limit.window_ns)),
        None => "no limit stated".to_owned(),
    };
    let requests = plural(report.offered.requests, "request");
    let (whose, rest) = match app.key.and_then(|key| run.keys.get(key)) {
        Some(key) => (format!("only key {}", key.key), format!("{} of {requests}", count(u128::from(key.arrivals)))),
        None => (requests, plural(report.offered.keys, "key")),
    };
    let pace = format!("{} a second", duration(app.player.pace(app.view)));
    let facts = [limit, whose, rest, pace, format!("seed {}", report.seed)];
    let mut text = String::new();
    for fact in facts {
        if text.is_empty() {
            text = fact;
        } else if super::width(&text) + 3 + super::width(&fact) <= columns {
            text.push_str("   ");
            text.push_str(&fact);
        }
    }
    text
}

/// What the signs mean.
pub fn legend(canvas: &mut Canvas, y: u16) {
    let theme = canvas.theme;
    let dim = theme.dim();
    let signs = [
        ("▇", theme.admitted(), "admitted"),
        ("~", theme.delayed(), "delayed"),
        ("x", theme.denied(), "denied"),
        ("▒", theme.cell(crate::report::Counts { allowed: 1, delayed: 0, denied: 1 }).style, "some of each"),
        ("▓", theme.excess(), "above the limit"),
        ("│", theme.cursor(), "cursor; grey: still to come"),
    ];
    let width = canvas.layout.area.width;
    let mut x = 1;
    for (sign, style, meaning) in signs {
        if sign == "▓"
            && (canvas.layout.charts == 0 || canvas.app.run.as_ref().is_none_or(|run| run.report.limit.is_none()))
        {
            continue;
        }
        if usize::from(x) + 2 + super::width(meaning) > usize::from(width) {
            break;
        }
        x = canvas.put(x, y, sign, 1, style) + 1;
        x = canvas.put(x, y, meaning, width, dim) + 2;
    }
}

/// The last row: a message, else the keys that matter most.
pub fn keys(canvas: &mut Canvas, y: u16) {
    let width = canvas.layout.area.width;
    if let Some(message) = &canvas.app.message {
        canvas.put(1, y, message, width.saturating_sub(2), canvas.theme.warn());
        return;
    }
    let mut shown: Vec<(&str, &str)> = Vec::new();
    let taken = |shown: &[(&str, &str)]| {
        shown.iter().map(|(key, what)| super::width(key) + super::width(what) + 3).sum::<usize>()
    };
    let last = [("?", "help"), ("q", "quit")];
    for hint in keys::hints(canvas.app) {
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
