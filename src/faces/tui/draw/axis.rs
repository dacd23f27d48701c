//! The time axis: round instants, and what the figures beside the strips are.

use super::Canvas;
use crate::faces::format::{Clock, ticks};
use crate::faces::tui::view::Span;
use crate::report::Report;

/// Columns of round instants, and the labels of those that have room for one; no label is longer
/// than it takes to tell it from the others.
fn labels(report: &Report, view: Span, columns: usize) -> Vec<(usize, Option<String>)> {
    let start = report.start.nanos();
    let (from, until) = (view.from - start, view.until - start);
    let clock = Clock::for_span(report, from, until);
    for most in (1..=columns / 4).rev() {
        let instants: Vec<_> = ticks(report, from, until, most).into_iter().map(|at| report.instant(at)).collect();
        let texts: Vec<String> = instants.iter().map(|at| clock.time(*at)).collect();
        let labels = shortened(&texts);
        let shortest = labels.iter().map(|label| super::width(&label.text)).min().unwrap_or(0);
        let at: Vec<usize> = instants.iter().map(|at| view.column(at.nanos(), columns)).collect();
        let apart = at.windows(2).all(|pair| pair[0] + shortest + 2 <= pair[1]);
        let shown = placed(&at, &labels, columns);
        // A full label may run over the right end, but never into another.
        let missing = |i: usize| labels[i].full && !shown[i] && at[i] + 1 + super::width(&labels[i].text) <= columns;
        if most == 1 || apart && !(0..labels.len()).any(missing) {
            let texts = labels.into_iter().zip(shown).map(|(label, shown)| shown.then_some(label.text));
            return at.into_iter().zip(texts).collect();
        }
    }
    Vec::new()
}

/// The label of an instant.
#[derive(Debug, PartialEq, Eq)]
struct Label {
    text: String,
    /// It makes sense without another; else it needs the full label before it, or, where there is
    /// none, the one after it.
    full: bool,
}

/// Labels without what tells nothing: zeros at their ends, and what the label before has said.
fn shortened(texts: &[String]) -> Vec<Label> {
    let zeros = texts.iter().map(|text| trailing_zeros(text)).min().unwrap_or(0);
    let texts: Vec<&str> = texts.iter().map(|text| &text[..text.len() - zeros]).collect();
    // If a new second begins on the axis, what comes before it needs none.
    let opens = texts.first().zip(texts.last()).is_some_and(|(first, last)| news(Some(first), last) == *last);
    let before = |i: usize| if i == 0 { texts.first().filter(|_| opens) } else { texts.get(i - 1) };
    let news = texts.iter().enumerate().map(|(i, text)| (news(before(i).copied(), text), *text));
    // A whole second says so, without its fraction.
    let whole = |label: &str| label[..label.len() - trailing_zeros(label)].to_owned();
    let is_whole = |label: &str| label.contains('.') && !whole(label).contains('.');
    news.map(|(new, text)| {
        let full = new == text || is_whole(text);
        Label { text: if full { whole(text) } else { new.to_owned() }, full }
    })
    .collect()
}

/// Which labels are shown: where there is room the full ones first, then those that they give their
/// sense.
fn placed(at: &[usize], labels: &[Label], columns: usize) -> Vec<bool> {
    let mut taken = vec![false; columns + 1];
    let mut shown = vec![false; labels.len()];
    let full = |i: &usize| labels[*i].full;
    let order = (0..labels.len()).filter(full).chain((0..labels.len()).filter(|i| !full(i)));
    for i in order {
        let base = (0..i).rev().find(full).or_else(|| (i + 1..labels.len()).find(full));
        let clear = full(&i) || base.is_none_or(|base| shown[base]);
        let end = at[i] + 1 + super::width(&labels[i].text);
        if clear && end <= columns && !taken[at[i]..=end].contains(&true) {
            taken[at[i]..=end].fill(true);
            shown[i] = true;
        }
    }
    shown
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
    let labels = labels(&run.report, app.view, columns);
    for (column, _) in &labels {
        canvas.put(layout.strip.x + *column as u16, y, "╷", 1, dim);
    }
    for (column, text) in &labels {
        if let Some(text) = text {
            canvas.put(layout.strip.x + *column as u16 + 1, y, text, layout.strip.width, dim);
        }
    }
    if layout.faults == 0 && app.is_deployed() {
        super::fleet::on_axis(canvas, y);
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
    use super::{Label, news, placed, shortened, trailing_zeros};

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

    #[test]
    fn labels_are_as_short_as_they_may_be() {
        let of = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            shortened(&texts).into_iter().map(|label| label.text).collect::<Vec<_>>()
        };
        assert_eq!(of(&["11:59:59.990", "12:00:00.000", "12:00:00.010"]), [".99", "12:00:00", ".01"]);
        assert_eq!(of(&["11:59:59.000", "11:59:59.500", "12:00:00.000"]), ["11:59:59", ".5", "12:00:00"]);
        assert_eq!(of(&["12:00:00.100", "12:00:00.200"]), ["12:00:00.1", ".2"]);
        assert_eq!(of(&["11:59:59.000", "12:00:00.000"]), ["11:59:59", "12:00:00"]);
        assert_eq!(of(&["12:00", "12:30"]), ["12:00", "12:30"]);
    }

    fn label(text: &str) -> Label {
        Label { text: text.to_owned(), full: text.len() > 3 }
    }

    #[test]
    fn labels_that_have_no_room_leave_their_ticks() {
        let labels = [".99", "12:00:00", ".01", ".02"].map(label);
        assert_eq!(placed(&[1, 10, 16, 36], &labels, 40), [true, true, false, true]);
    }

    #[test]
    fn a_fraction_is_not_shown_without_its_second() {
        let labels = ["12:00:00", ".5", "12:00:01", ".5", "12:00:02"].map(label);
        assert_eq!(placed(&[0, 4, 8, 12, 16], &labels, 40), [true, false, false, false, true]);
        assert_eq!(placed(&[0, 14, 28, 42, 56], &labels, 60), [true, true, true, true, false]);
    }
}
