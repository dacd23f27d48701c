//! The charts of a closed loop: attempts, and answers in time.

use super::super::lanes::short;
use super::super::{Canvas, fitting};
use super::{Bars, paint_bars};
use crate::report::Counts;
use ratatui::style::Style;

/// Paints both charts, one below the other.
pub fn paint(canvas: &mut Canvas, lane: usize, y: u16, rows: u16) {
    let columns = usize::from(canvas.layout.strip.width);
    let attempts: Vec<u64> = canvas.app.strip(lane, columns).iter().map(Counts::total).collect();
    let answers = canvas.app.requests(lane, columns, |requests| requests.good);
    let below = (rows / 3).max(1);
    let (offered, admitted) = (canvas.theme.offered(), canvas.theme.admitted());
    chart(canvas, "attempts", &attempts, (y, rows - below), offered);
    chart(canvas, "answered", &answers, (y + rows - below, below), admitted);

    let Some(now) = canvas.app.figures(lane) else { return };
    let Some(requests) = now.requests else { return };
    let (x, columns) = (canvas.layout.figures.x + 2, canvas.layout.figures.width.saturating_sub(2));
    let of = |count: u64| short(count, 10);
    let retries = now.counts.total().saturating_sub(requests.first);
    let words = |count: u64, one: &str, many: &str| format!("{} {}", of(count), if count == 1 { one } else { many });
    let lines = [
        [words(requests.first, "first attempt", "first attempts"), format!("{} first", of(requests.first))],
        [words(retries, "retry", "retries"), of(retries)],
        [words(now.counts.denied, "attempt denied", "attempts denied"), format!("{} denied", of(now.counts.denied))],
    ];
    for (row, forms) in (0..rows - below).zip(&lines) {
        canvas.put(x, y + row, fitting(forms, columns), columns, Style::new());
    }
    let good = [format!("{} answered in time", of(requests.good)), format!("{} in time", of(requests.good))];
    canvas.put(x, y + rows - below, fitting(&good, columns), columns, Style::new());
    if below > 1 {
        let lost = [format!("{} gave up", of(requests.gave_up))];
        canvas.put(x, y + rows - below + 1, fitting(&lost, columns), columns, Style::new());
    }
}

/// Answers in time, in one row.
pub fn answers(canvas: &mut Canvas, lane: usize, y: u16) {
    let columns = usize::from(canvas.layout.strip.width);
    let answers = canvas.app.requests(lane, columns, |requests| requests.good);
    let admitted = canvas.theme.admitted();
    chart(canvas, "answered", &answers, (y, 1), admitted);
}

/// One chart: its name, the most in a column, the bars.
fn chart(canvas: &mut Canvas, name: &str, counts: &[u64], (y, rows): (u16, u16), style: Style) {
    let (dim, labels) = (canvas.theme.dim(), canvas.layout.names.width - 1);
    let most = counts.iter().copied().max().unwrap_or(0);
    canvas.put_right(0, y, name, labels, dim);
    if rows > 1 {
        canvas.put_right(0, y + 1, &format!("most {}", short(most, 8)), labels, dim);
    }
    let values: Vec<f64> = counts.iter().map(|count| *count as f64).collect();
    paint_bars(canvas, &Bars { y, rows, top: most.max(1) as f64, limit: None }, &values, style);
    for row in 0..rows {
        canvas.cursor(y + row);
    }
}
