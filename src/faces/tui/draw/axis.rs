//! The time axis: round instants, and what the figures beside the strips are.

use super::Canvas;
use crate::faces::format::{Clock, ticks};
use crate::faces::tui::view::Span;
use crate::report::Report;

/// Round instants as offsets from the start, with labels as close as they may stand and no longer
/// than it takes to tell them apart.
fn labels(report: &Report, view: Span, columns: usize) -> Vec<(i64, String)> {
    let start = report.start.nanos();
    let (from, until) = (view.from - start, view.until - start);
    let clock = Clock::for_span(report, from, until);
    for most in (1..=columns / 5).rev() {
        let instants = ticks(report, from, until, most);
        let texts: Vec<String> = instants.iter().map(|at| clock.time(report.instant(*at))).collect();
        let zeros = texts.iter().map(|text| trailing_zeros(text)).min().unwrap_or(0);
        let texts: Vec<&str> = texts.iter().map(|text| &text[..text.len() - zeros]).collect();
        // If a new second begins on the axis, what comes before it needs none.
        let opens = texts.first().zip(texts.last()).is_some_and(|(first, last)| news(Some(first), last) == *last);
        let before = |i: usize| if i == 0 { texts.first().filter(|_| opens) } else { texts.get(i - 1) };
        let shown = texts.iter().enumerate().map(|(i, text)| news(before(i).copied(), text).to_owned());
        let labels: Vec<_> = instants.into_iter().zip(shown).collect();
        let column = |at: i64| view.column(report.instant(at).nanos(), columns);
        if labels.windows(2).all(|pair| column(pair[0].0) + super::width(&pair[0].1) + 3 <= column(pair[1].0)) {
            return labels;
        }
    }
    Vec::new()
}

/// What a label tells beyond the one before it: the time of the same day, the fraction of the same
/// second.
fn news<'a>(before: Option<&str>, label: &'a str) -> &'a str {
    for mark in ['.', ' '] {
        if let (Some(before), Some(at)) = (before, label.rfind(mark))
            && before.get(..at) == Some(&label[..at])
            && before[at..].starts_with(mark)
        {
            return label[at..].trim_start();
        }
    }
    label
}

/// Zeros at the end of a fraction, with its point if nothing else is left of it.
fn trailing_zeros(text: &str) -> usize {
    let Some(point) = text.rfind('.') else { return 0 };
    let kept = text.trim_end_matches('0').len();
    text.len() - if kept == point + 1 { point } else { kept }
}

/// Paints the axis and the heads of the figures.
pub fn paint(canvas: &mut Canvas, y: u16) {
    let (app, layout) = (canvas.app, canvas.layout);
    let Some(run) = &app.run else { return };
    let dim = canvas.theme.dim();
    let (total, last) = (run.report.lanes.len(), layout.first + usize::from(layout.lanes));
    if last - layout.first < total {
        let shown = format!("{}-{last} of {total}", layout.first + 1);
        canvas.put(1, y, &shown, layout.names.width - 1, dim);
    }
    let columns = usize::from(layout.strip.width);
    for (at, text) in labels(&run.report, app.view, columns) {
        let column = app.view.column(run.report.instant(at).nanos(), columns);
        if column + 1 + super::width(&text) <= columns {
            let x = canvas.put(layout.strip.x + column as u16, y, "╷", 1, dim);
            canvas.put(x, y, &text, layout.strip.width, dim);
        }
    }
    // The line does not cross a label.
    let free = |symbol: &str| symbol == " " || symbol == "╷";
    if canvas.buf.cell((canvas.cursor_x(), y)).is_some_and(|cell| free(cell.symbol())) {
        canvas.cursor(y);
    }
    heads(canvas, y);
}

/// Heads of the figures: what they are, or, with a row below, as of when.
fn heads(canvas: &mut Canvas, y: u16) {
    let layout = canvas.layout;
    if layout.arrivals == 0 {
        return names(canvas, y);
    }
    let at_end = super::lanes::figures(layout.columns).filter(|figure| figure.at_end);
    let end = at_end.map(|figure| figure.width).sum();
    let (x, width) = (layout.figures.x, layout.figures.width - end);
    canvas.put_right(x, y, "at the cursor", width, canvas.theme.strong());
    canvas.put_right(x + width, y, "at the end", end, canvas.theme.dim());
    names(canvas, y + 1);
}

/// The names of the figures.
fn names(canvas: &mut Canvas, y: u16) {
    let mut x = canvas.layout.figures.x;
    for figure in super::lanes::figures(canvas.layout.columns) {
        let style = if figure.at_end { canvas.theme.dim() } else { canvas.theme.strong() };
        canvas.put_right(x, y, figure.head, figure.width, style);
        x += figure.width;
    }
}

#[cfg(test)]
mod tests {
    use super::{news, trailing_zeros};

    #[test]
    fn fractions_lose_what_tells_nothing() {
        let cases = [("12:00:00.500", 2), ("12:00:00.000", 4), ("12:00:00.123", 0), ("12:00", 0), ("12:00:10", 0)];
        for (text, zeros) in cases {
            assert_eq!(trailing_zeros(text), zeros, "{text}");
        }
    }
    #[test]
    fn labels_tell_only_what_is_new() {
        assert_eq!(news(None, "12:00:00.1"), "12:00:00.1");
        assert_eq!(news(Some("12:00:00.1"), "12:00:00.2"), ".2");
        assert_eq!(news(Some("12:00:00.9"), "12:00:01.0"), "12:00:01.0");
        assert_eq!(news(Some("1970-01-01 00:00"), "1970-01-01 12:00"), "12:00");
        assert_eq!(news(Some("1970-01-01 12:00"), "1970-01-02 00:00"), "1970-01-02 00:00");
    }
}
