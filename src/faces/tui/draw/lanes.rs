//! Lanes: a name, what became of the arrivals over time, figures as of the cursor and at the end.

use super::Canvas;
use super::layout::Columns;
use super::theme::EIGHTHS;
use crate::faces::format::{count, decimal, ratio};
use crate::faces::tui::action::Run;
use crate::faces::tui::sight::Figures;
use crate::report::{Counts, LaneReport, LoopReport, PeakReport, RequestCounts};
use ratatui::style::Style;

/// A figure beside a strip.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// What it is called.
    pub head: &'static str,
    /// Columns that it takes.
    pub width: u16,
    /// As of the end of the run, not of the cursor.
    pub at_end: bool,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Window,
    Peak,
    Allowed,
    Delayed,
    Denied,
    Attempts,
    Retries,
    /// Attempts a request.
    Amplification,
    /// Requests answered in time.
    Answered,
    GaveUp,
}

const fn figure(what: What, head: &'static str, width: u16, at_end: bool) -> Figure {
    Figure { head, width, at_end, what }
}

/// The figures that stand beside a strip.
pub fn figures(columns: Columns) -> impl Iterator<Item = Figure> {
    let of_loop = closed_figures(columns).into_iter().filter(move |_| columns.closed);
    let first = |at_end| match columns.limit {
        true => figure(What::Peak, "peak", 7, at_end),
        false => figure(What::Allowed, "allowed", 9, at_end),
    };
    let all = [
        (columns.window && columns.limit, figure(What::Window, "in window", 10, false)),
        (true, first(false)),
        (columns.delayed, figure(What::Delayed, "delayed", 8, false)),
        (true, figure(What::Denied, "denied", 7, false)),
        (columns.end, first(true)),
        (columns.end && columns.end_delayed, figure(What::Delayed, "delayed", 8, true)),
        (columns.end, figure(What::Denied, "denied", 7, true)),
    ];
    let all = all.into_iter().filter(move |_| !columns.closed);
    all.chain(of_loop).filter(|(shown, _)| *shown).map(|(_, figure)| figure)
}

/// Those of a closed loop, and whether there is room for them.
const fn closed_figures(columns: Columns) -> [(bool, Figure); 7] {
    [
        (true, figure(What::Attempts, "attempts", 9, false)),
        (columns.window, figure(What::Retries, "retries", 9, false)),
        (true, figure(What::Amplification, "amplif.", 8, false)),
        (columns.end, figure(What::Answered, "answered", 9, false)),
        (columns.end, figure(What::Amplification, "amplif.", if columns.window { 8 } else { 11 }, true)),
        (columns.window, figure(What::Answered, "answered", 9, true)),
        (columns.window, figure(What::GaveUp, "gave up", 8, true)),
    ]
}

/// A count that fits: whole if it can be, else in thousands, millions, ...
pub fn short(value: u64, columns: u16) -> String {
    let text = count(u128::from(value));
    if text.len() < usize::from(columns) {
        return text;
    }
    let (scale, unit) = [(1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T"), (1e15, "P")]
        .into_iter()
        .find(|(scale, _)| value as f64 / scale < 999.5)
        .unwrap_or((1e18, "E"));
    let scaled = value as f64 / scale;
    if scaled < 9.95 { format!("{scaled:.1}{unit}") } else { format!("{scaled:.0}{unit}") }
}

/// A peak so far as the report writes peaks: over the limit's units, or in units.
fn peak(units: u64, run: &Run, columns: u16) -> String {
    match run.report.limit.filter(|limit| limit.units > 0) {
        Some(limit) => ratio(units as f64 / limit.units as f64),
        None => short(units, columns),
    }
}

fn final_peak(peak: &PeakReport, columns: u16) -> String {
    peak.ratio.map_or_else(|| short(peak.units, columns), ratio)
}

/// The row of all arrivals, or of the chosen lane's first attempts: bars as high as the busiest
/// column allows.
pub fn arrivals(canvas: &mut Canvas, y: u16) {
    let strip = canvas.layout.strip;
    let columns = usize::from(strip.width);
    let (name, counts) = if canvas.app.is_closed_loop() {
        ("first tries", canvas.app.requests(canvas.app.lane, columns, |requests| requests.first))
    } else {
        ("arrivals", canvas.app.strip(0, columns).iter().map(Counts::total).collect())
    };
    canvas.put(1, y, name, canvas.layout.names.width - 1, canvas.theme.dim());
    let most = counts.iter().copied().max().unwrap_or(0);
    canvas.cursor(y);
    for (x, count) in (strip.x..).zip(counts) {
        let eighths = (u128::from(count) * 8).div_ceil(u128::from(most.max(1)));
        match count {
            0 if x == canvas.cursor_x() => {}
            0 => drop(canvas.put(x, y, "·", 1, canvas.theme.dim())),
            _ => canvas.sign(x, y, EIGHTHS[(eighths as usize).clamp(1, 8) - 1], canvas.theme.offered()),
        }
    }
}

/// The row that marks where lanes differ.
pub fn differ(canvas: &mut Canvas, y: u16) {
    let strip = canvas.layout.strip;
    canvas.put(1, y, "lanes differ", canvas.layout.names.width - 1, canvas.theme.dim());
    let split = canvas.app.split(usize::from(strip.width));
    canvas.cursor(y);
    for (x, _) in (strip.x..).zip(&split).filter(|(_, split)| **split > 0) {
        canvas.sign(x, y, "▴", Style::new());
    }
}

/// The row of one lane.
pub fn lane(canvas: &mut Canvas, run: &Run, lane: usize, y: u16) {
    let report = &run.report.lanes[lane];
    let layout = canvas.layout;
    if lane == canvas.app.lane {
        canvas.put(0, y, "▸", 1, canvas.theme.strong());
        canvas.put(1, y, &report.name, layout.names.width - 2, canvas.theme.strong());
    } else {
        canvas.put(1, y, &report.name, layout.names.width - 2, Style::new());
    }
    let strip = canvas.app.strip(lane, usize::from(layout.strip.width));
    canvas.cursor(y);
    for (x, counts) in (layout.strip.x..).zip(&strip) {
        let cell = canvas.theme.cell(*counts);
        match counts.total() {
            0 if x == canvas.cursor_x() => {}
            0 => drop(canvas.put(x, y, cell.sign, 1, cell.style)),
            _ => canvas.sign(x, y, cell.sign, cell.style),
        }
    }
    super::fleet::mark_without(canvas, lane, y);
    let now = canvas.app.figures(lane);
    let mut x = layout.figures.x;
    for figure in figures(layout.columns) {
        let (text, style) = value(canvas, run, report, now, figure);
        canvas.put_right(x, y, &text, figure.width, style);
        x += figure.width;
    }
}

/// One figure and how it looks.
fn value(canvas: &Canvas, run: &Run, report: &LaneReport, now: Option<Figures>, figure: Figure) -> (String, Style) {
    let theme = canvas.theme;
    if figure.at_end {
        // The report knows the ends of all keys together.
        let alone = canvas.app.key.is_some() && run.keys.len() > 1;
        let text = match figure.what {
            _ if alone => String::new(),
            What::Window | What::Peak => {
                report.peak.as_ref().map_or_else(String::new, |peak| final_peak(peak, figure.width))
            }
            What::Allowed => short(report.allowed, figure.width),
            What::Delayed => short(report.delayed, figure.width),
            What::Denied => short(report.denied, figure.width),
            _ => report.closed.as_ref().map_or_else(String::new, |closed| at_end(report, closed, figure)),
        };
        return (text, theme.dim());
    }
    let Some(now) = now else { return ("…".to_owned(), theme.dim()) };
    let limit = run.report.limit.map_or(u64::MAX, |limit| limit.units);
    let over = |units: u64| if units > limit { theme.excess() } else { Style::new() };
    let some = |count: u64, style: Style| if count == 0 { Style::new() } else { style };
    let unknown = || ("…".to_owned(), theme.dim());
    match figure.what {
        What::Window => now.trailing.map_or_else(unknown, |units| (short(units, figure.width), over(units))),
        What::Peak => now.peak.map_or_else(unknown, |units| (peak(units, run, figure.width), over(units))),
        What::Allowed => (short(now.counts.allowed, figure.width), Style::new()),
        What::Delayed => (short(now.counts.delayed, figure.width), some(now.counts.delayed, theme.delayed())),
        What::Denied => (short(now.counts.denied, figure.width), some(now.counts.denied, theme.denied())),
        What::Attempts => (short(now.counts.total(), figure.width), Style::new()),
        _ => now.requests.map_or_else(unknown, |requests| (so_far(now.counts, requests, figure), Style::new())),
    }
}

/// A figure of a closed loop at its end.
fn at_end(report: &LaneReport, closed: &LoopReport, figure: Figure) -> String {
    match figure.what {
        What::Amplification => closed.amplification.map_or_else(|| "-".to_owned(), decimal),
        What::Answered => short(closed.succeeded, figure.width),
        What::GaveUp => short(closed.gave_up, figure.width),
        What::Retries => short(report.retries, figure.width),
        _ => short(report.attempts, figure.width),
    }
}

/// A figure of a closed loop as of the cursor.
fn so_far(counts: Counts, requests: RequestCounts, figure: Figure) -> String {
    match figure.what {
        What::Amplification if requests.first == 0 => "-".to_owned(),
        What::Amplification => decimal(counts.total() as f64 / requests.first as f64),
        What::Answered => short(requests.good, figure.width),
        What::GaveUp => short(requests.gave_up, figure.width),
        _ => short(counts.total().saturating_sub(requests.first), figure.width),
    }
}

/// A second row: what the lane released in the last window, the limit at half its height; in a closed
/// loop, answers in time.
pub fn trailing(canvas: &mut Canvas, run: &Run, lane: usize, y: u16) {
    if canvas.app.is_closed_loop() {
        return super::charts::answers(canvas, lane, y);
    }
    let strip = canvas.layout.strip;
    let Some(limit) = run.report.limit else { return };
    let (long, room) = (format!("in window ▄={}", short(limit.units, 8)), canvas.layout.names.width - 1);
    let label = if super::width(&long) <= usize::from(room) { long.as_str() } else { "in window" };
    canvas.put_right(0, y, label, room, canvas.theme.dim());
    let extents = canvas.app.extents(usize::from(strip.width), |detail| &detail.lanes[lane].trailing);
    let cursor = canvas.cursor_x();
    for (x, extent) in (strip.x..).zip(&extents).filter(|(_, extent)| extent.max > 0.0) {
        let eighths = (extent.max * 4.0 / limit.units.max(1) as f64).ceil() as usize;
        let colour = if extent.max > limit.units as f64 { canvas.theme.excess() } else { canvas.theme.admitted() };
        let style = if x < cursor { colour } else { canvas.theme.dim() };
        canvas.put(x, y, EIGHTHS[eighths.clamp(1, 8) - 1], 1, style);
    }
    canvas.cursor(y);
    if let Some(forms) = canvas.whose(run, lane) {
        let (x, columns) = (canvas.layout.figures.x + 2, canvas.layout.figures.width.saturating_sub(2));
        canvas.put(x, y, super::fitting(&forms, columns), columns, canvas.theme.dim());
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn counts_are_cut_only_where_they_do_not_fit() {
        assert_eq!(short(0, 8), "0");
        assert_eq!(short(123_456, 8), "123,456");
        assert_eq!(short(1_234_567, 8), "1.2M");
        assert_eq!(short(999_950_000, 8), "1.0G");
        assert_eq!(short(u64::MAX, 8), "18E");
    }
}
