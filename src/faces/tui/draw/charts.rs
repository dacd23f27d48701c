//! The chosen lane's charts: what it released in the last window, and what it keeps of it itself; in a
//! closed loop attempts and answers.

mod closed;

pub use closed::answers;

use super::Canvas;
use super::theme::EIGHTHS;
use crate::faces::format::{count, state_name};
use crate::faces::tui::action::Run;
use crate::report::{Counter, LaneReport};
use crate::time::SimDuration;
use ratatui::style::Style;

/// Bars over the strip's columns, from row `y` on.
struct Bars {
    y: u16,
    rows: u16,
    /// The value at the top.
    top: f64,
    /// The limit: what is above it is marked.
    limit: Option<f64>,
}

/// Paints both charts, one below the other.
pub fn paint(canvas: &mut Canvas, run: &Run, lane: usize, y: u16) {
    let report = &run.report.lanes[lane];
    let rows = canvas.layout.charts;
    if canvas.app.is_closed_loop() {
        return closed::paint(canvas, lane, y, rows);
    }
    let own = match run.report.limit {
        Some(limit) => {
            let released = rows - (rows / 3).max(1);
            let top = report.peak.as_ref().map_or(0, |peak| peak.units).max(limit.units).max(1);
            // The limit lies between two rows, so that a row is either below it or above.
            let below = (u64::from(released) * limit.units / top).clamp(1, u64::from(released));
            let top =
                if limit.units == 0 { top as f64 } else { limit.units as f64 * f64::from(released) / below as f64 };
            let bars = Bars { y, rows: released, top, limit: (limit.units > 0).then_some(limit.units as f64) };
            let limit_row = released - below as u16;
            window(canvas, run, lane, &bars, limit_row, limit.window_ns);
            released
        }
        None => 0,
    };
    level(canvas, report, lane, y + own, rows - own);
}

fn window(canvas: &mut Canvas, run: &Run, lane: usize, bars: &Bars, limit_row: u16, window_ns: u64) {
    let layout = canvas.layout;
    let (dim, labels) = (canvas.theme.dim(), layout.names.width - 1);
    let units = run.report.limit.map_or(0, |limit| limit.units);
    let last = SimDuration::from_nanos(window_ns).to_string();
    let limit_label = format!("limit {}", super::lanes::short(units, 8));
    let name_row = if limit_row == 0 && bars.rows > 1 { 1 } else { 0 };
    canvas.put_right(0, bars.y + name_row, &format!("in last {last}"), labels, dim);
    if bars.limit.is_some() && (limit_row != name_row || bars.rows == 1) {
        canvas.put_right(0, bars.y + limit_row, &limit_label, labels, dim);
    }
    let values = canvas.app.extents(usize::from(layout.strip.width), |detail| &detail.lanes[lane].trailing);
    let values: Vec<f64> = values.iter().map(|extent| extent.max).collect();
    let admitted = canvas.theme.admitted();
    paint_bars(canvas, bars, &values, admitted);
    if bars.limit.is_some() {
        // The limit's dashes, wherever no bar is in the way.
        let y = bars.y + limit_row;
        for x in (layout.strip.x..layout.strip.x + layout.strip.width).step_by(2) {
            if canvas.buf[(x, y)].symbol() == " " {
                canvas.put(x, y, "▔", 1, dim);
            }
        }
    }
    for row in 0..bars.rows {
        canvas.cursor(bars.y + row);
    }

    let Some(released) = canvas.app.figures(lane).and_then(|now| now.trailing) else { return };
    let (x, columns) = (layout.figures.x + 2, layout.figures.width.saturating_sub(2));
    let (now, excess) = (count(u128::from(released)), count(u128::from(released.saturating_sub(units))));
    let mut lines = vec![(vec![format!("{now} in the last {last}"), format!("{now} in {last}")], Style::new())];
    if released > units {
        lines.push((vec![format!("{excess} above the limit"), format!("{excess} above")], canvas.theme.excess()));
    }
    if let Some(forms) = canvas.whose(run, lane) {
        lines.push((forms.to_vec(), dim));
    }
    for (row, (forms, style)) in (0..bars.rows).zip(lines) {
        canvas.put(x, bars.y + row, super::fitting(&forms, columns), columns, style);
    }
}

/// What the limiter itself has in use.
fn level(canvas: &mut Canvas, report: &LaneReport, lane: usize, y: u16, rows: u16) {
    let layout = canvas.layout;
    let (dim, labels) = (canvas.theme.dim(), layout.names.width - 1);
    let extents = canvas.app.extents(usize::from(layout.strip.width), |detail| &detail.lanes[lane].level);
    let limit = canvas.app.covering().map_or(0, |detail| detail.lanes[lane].level_limit);
    let counter = canvas.app.covering().and_then(|detail| Some(detail.lanes[lane].fleet.as_ref()?.counter));
    let name = match counter {
        None => state_name(report),
        Some(Counter::Store) => "store counts",
        Some(Counter::FullestReplica) => "top replica",
        Some(Counter::Nobody) => "not counted",
    };
    canvas.put_right(0, y, name, labels, dim);
    if rows > 1 && limit > 0 {
        canvas.put_right(0, y + 1, &format!("of {}", super::lanes::short(limit, 8)), labels, dim);
    }
    let values: Vec<f64> = extents.iter().map(|extent| extent.last).collect();
    let bars = Bars { y, rows, top: limit.max(1) as f64, limit: None };
    let style = canvas.theme.level();
    paint_bars(canvas, &bars, &values, style);
    for row in 0..rows {
        canvas.cursor(y + row);
    }
    if let Some(used) = canvas.app.figures(lane).and_then(|figures| figures.level) {
        // Cut, not rounded: a bucket that is not quite full is not shown as full.
        let whole = count(used.floor() as u128);
        let used = if used.fract() == 0.0 { whole } else { format!("{whole}.{}", (used.fract() * 10.0).floor()) };
        let share = format!("{used} of {}", count(u128::from(limit)));
        let forms = [format!("{name} {share}"), share];
        let columns = layout.figures.width.saturating_sub(2);
        canvas.put(layout.figures.x + 2, y, super::fitting(&forms, columns), columns, Style::new());
    }
}

fn paint_bars(canvas: &mut Canvas, bars: &Bars, values: &[f64], passed: Style) {
    let strip = canvas.layout.strip;
    let cursor = canvas.cursor_x();
    let (dim, excess) = (canvas.theme.dim(), canvas.theme.excess());
    let all = usize::from(bars.rows) * 8;
    for (x, value) in (strip.x..).zip(values).filter(|(_, value)| **value > 0.0) {
        let eighths = ((value / bars.top * all as f64).round() as usize).clamp(1, all);
        for row in 0..bars.rows {
            let below = usize::from(bars.rows - 1 - row) * 8;
            let Some(filled) = eighths.checked_sub(below).filter(|filled| *filled > 0) else { continue };
            let over = bars.limit.is_some_and(|limit| bars.top * below as f64 / all as f64 >= limit * 0.999_999);
            // The highest row keeps an edge, so that charts do not run into what is above them.
            let highest = if row == 0 { 7 } else { 8 };
            let sign = if over { canvas.theme.above(filled) } else { EIGHTHS[filled.min(highest) - 1] };
            let style = match (x < cursor, over) {
                (false, _) => dim,
                (true, true) => excess,
                (true, false) => passed,
            };
            canvas.put(x, bars.y + row, sign, 1, style);
        }
    }
}
