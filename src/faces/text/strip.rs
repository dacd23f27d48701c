//! One strip a lane: what it did over the span worth a close look.

use super::{Styles, styled};
use crate::faces::format::{Clock, padded, ratio, ticks};
use crate::report::{LaneReport, Report, TimelineReport};
use anstyle::Style;
use unicode_width::UnicodeWidthStr;

/// The widest a lane's name is shown.
pub const NAME_WIDTH: usize = 24;

/// How many rows show a lane: one while its columns are of one kind, two where few mix, three where
/// their shares are worth seeing.
fn rows(cells: &[Cell]) -> usize {
    let mixed = cells.iter().filter(|cell| cell.mixes()).count();
    let all = cells.iter().filter(|cell| cell.allowed + cell.delayed + cell.denied > 0).count();
    let three_kinds = cells.iter().any(|cell| cell.kinds() == 3);
    match mixed {
        0 => 1,
        few if few * 8 <= all && !three_kinds => 2,
        _ => 3,
    }
}

/// What stands beside a strip, and whether it is alarming: the peak, or, where clients come back, how
/// often they do.
fn figure(lane: &LaneReport) -> Option<(String, bool)> {
    if let Some(closed) = lane.closed.as_ref().filter(|_| lane.fleet.is_none()) {
        // A run that did not recover is; one that was always well is not.
        let tries = closed.amplification?;
        let places = usize::from(tries < 100.0) + usize::from(tries < 10.0);
        return Some((format!("{tries:.places$}/req"), closed.recovered_ns.is_none()));
    }
    let peak = lane.peak.as_ref()?.ratio?;
    Some((ratio(peak), peak > 1.0))
}

/// What one column of a strip shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cell {
    allowed: u64,
    delayed: u64,
    denied: u64,
}

impl Cell {
    /// Whether more than one kind is there.
    fn mixes(self) -> bool {
        self.kinds() > 1
    }

    fn kinds(self) -> usize {
        [self.allowed, self.delayed, self.denied].into_iter().filter(|count| *count > 0).count()
    }

    /// One glyph for each of `rows` rows, from the top: what is refused above what is delayed above
    /// what is released at once. Three rows show shares: the more frequent of two kinds has two. Of
    /// two rows, the upper has only what does not fit into the lower.
    fn glyphs(self, rows: usize) -> Vec<char> {
        let kinds: Vec<(u64, char)> = [(self.denied, 'x'), (self.delayed, '~'), (self.allowed, '█')]
            .into_iter()
            .filter(|kind| kind.0 > 0)
            .collect();
        let glyph = |row: usize| match kinds[..] {
            [] if row + 1 == rows => '·',
            [] => ' ',
            [_] if rows == 2 && row == 0 => ' ',
            [(_, only)] => only,
            [(upper, top), (lower, bottom)] => match row {
                0 => top,
                1 if rows == 3 && upper > lower => top,
                _ => bottom,
            },
            _ => kinds[row].1,
        };
        (0..rows).map(glyph).collect()
    }
}

/// The timeline over a span, in `columns` columns; each shows the bins that begin in it, the first
/// also the one that it begins in; where bins are wider, the bin that a column begins in.
fn cells(t: &TimelineReport, from: i64, until: i64, columns: usize) -> Vec<Cell> {
    let edge = |column: usize| i128::from(from) + i128::from(until - from) * column as i128 / columns as i128;
    let offset = |column: usize| edge(column) - i128::from(t.from_ns);
    let width = i128::from(t.bin_ns);
    // The bin that an instant lies in, and the first that begins at or after it.
    let within = |offset: i128| offset.div_euclid(width);
    let after = |offset: i128| -(-offset).div_euclid(width);
    let known = |bin: i128| bin.clamp(0, t.allowed.len() as i128) as usize;
    (0..columns)
        .map(|column| {
            let begun = if column == 0 { within(offset(0)) } else { after(offset(column)) };
            let end = after(offset(column + 1));
            let bins = if begun < end { begun..end } else { within(offset(column))..within(offset(column)) + 1 };
            let mut cell = Cell::default();
            for bin in known(bins.start)..known(bins.end) {
                cell.allowed += t.allowed[bin];
                cell.delayed += t.delayed[bin];
                cell.denied += t.denied[bin];
            }
            cell
        })
        .collect()
}

/// Writes all strips with their time axis and key.
pub fn strips(out: &mut String, report: &Report, width: usize, styles: &Styles) {
    let names = report.lanes.iter().map(|lane| lane.name.width()).max().unwrap_or(0).min(NAME_WIDTH);
    let suffix = 9;
    let columns = width - names - 4 - suffix;
    let (from, until) = (report.focus.from_ns, report.focus.until_ns);
    let clock = Clock::for_span(report, from, until);
    let indent = " ".repeat(names + 4);

    let mut labels = vec![' '; columns];
    let mut marks = vec!['·'; columns];
    let mut free = 0;
    for tick in ticks(report, from, until, columns / 12) {
        let column = ((i128::from(tick - from) * columns as i128) / i128::from((until - from).max(1))) as usize;
        let label: Vec<char> = clock.time(report.instant(tick)).chars().collect();
        if column >= columns {
            continue;
        }
        marks[column] = '╵';
        let start = column.saturating_sub(label.len() / 2).min(columns.saturating_sub(label.len()));
        if start >= free && start + label.len() <= columns {
            labels[start..start + label.len()].copy_from_slice(&label);
            free = start + label.len() + 2;
        }
    }
    let labels: String = labels.into_iter().collect();
    out.push_str(&format!("{indent}{}\n", styled(styles.dim, labels.trim_end())));

    let lanes: Vec<Vec<Cell>> = report.lanes.iter().map(|lane| cells(&lane.timeline, from, until, columns)).collect();
    let mixed = lanes.iter().any(|cells| rows(cells) == 3);
    let apart = lanes.iter().any(|cells| rows(cells) > 1);
    for (i, (lane, cells)) in report.lanes.iter().zip(lanes).enumerate() {
        if apart && i > 0 {
            out.push('\n');
        }
        let rows = rows(&cells);
        let glyphs: Vec<Vec<char>> = cells.iter().map(|cell| cell.glyphs(rows)).collect();
        for row in 0..rows {
            // The name stands beside the lowest row, on which the others are stacked.
            let last = row + 1 == rows;
            out.push_str(&format!("  {}  ", padded(if last { &lane.name } else { "" }, names)));
            strip_row(out, &glyphs, row, styles);
            if last && let Some((figure, over)) = figure(lane) {
                let style = if over { styles.over } else { styles.dim };
                out.push_str(&styled(style, &format!(" {figure:>8}")));
            }
            while out.ends_with(' ') {
                out.pop();
            }
            out.push('\n');
        }
    }
    let marks: String = marks.into_iter().collect();
    out.push_str(&format!("{indent}{}\n", styled(styles.dim, &marks)));
    let span = crate::faces::format::duration((until - from).max(0) as u128);
    let waits = report.lanes.iter().any(|lane| lane.delayed > 0);
    let mut kinds = vec![(styles.admitted, "█", "admitted")];
    if waits {
        kinds.push((styles.delayed, "~", "delayed"));
    }
    kinds.extend([(styles.denied, "x", "denied"), (Style::new(), "·", "nothing")]);
    let mut words: Vec<String> = kinds.iter().map(|(_, glyph, word)| format!("{glyph} {word}")).collect();
    let mut key: Vec<String> =
        kinds.iter().map(|(style, glyph, word)| format!("{} {word}", styled(*style, glyph))).collect();
    let notes = [mixed.then(|| "stacked by share".to_owned()), Some(format!("{span} shown"))];
    for note in notes.into_iter().flatten() {
        words.push(note.clone());
        key.push(note);
    }
    // The key stands under the strips where it fits, else at the edge.
    let gap = if 2 + words.join("   ").width() <= width { "   " } else { "  " };
    let indent = if indent.len() + words.join(gap).width() <= width { indent } else { "  ".to_owned() };
    out.push_str(&format!("{indent}{}\n", key.join(gap)));
}

/// One row of a strip: runs of one glyph share a style.
fn strip_row(out: &mut String, glyphs: &[Vec<char>], row: usize, styles: &Styles) {
    let line: Vec<char> = glyphs.iter().map(|column| column[row]).collect();
    for run in line.chunk_by(|a, b| a == b) {
        let style = match run[0] {
            '█' => styles.admitted,
            '~' => styles.delayed,
            'x' => styles.denied,
            _ => styles.dim,
        };
        let text: String = run.iter().collect();
        if run[0] == ' ' {
            out.push_str(&text);
        } else {
            out.push_str(&styled(style, &text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_columns_are_stacked_by_share() {
        let glyphs = |allowed, delayed, denied, rows| {
            Cell { allowed, delayed, denied }.glyphs(rows).into_iter().collect::<String>()
        };
        assert_eq!(glyphs(0, 0, 0, 3), "  ·");
        assert_eq!(glyphs(5, 0, 0, 3), "███");
        assert_eq!(glyphs(5, 0, 1, 3), "x██");
        assert_eq!(glyphs(1, 0, 5, 3), "xx█");
        assert_eq!(glyphs(9, 1, 5, 3), "x~█");
        assert_eq!(glyphs(5, 0, 0, 2), " █");
        assert_eq!(glyphs(1, 0, 5, 2), "x█");
        assert_eq!((glyphs(0, 7, 0, 1), glyphs(0, 0, 0, 1)), ("~".to_owned(), "·".to_owned()));
    }

    #[test]
    fn a_strip_of_few_columns_shows_every_bin_once() {
        for (from_ns, bin_ns, bins) in [(0, 10, 40), (-7, 3, 100), (5, 64, 33)] {
            let allowed: Vec<u64> = (1..=bins).collect();
            let (delayed, denied) = (vec![1; allowed.len()], vec![0; allowed.len()]);
            let until = from_ns + (bin_ns * bins) as i64;
            let t = TimelineReport { from_ns, bin_ns, allowed, delayed, denied };
            for columns in [1, 7, 32] {
                for from in from_ns..from_ns + bin_ns as i64 {
                    let cells = cells(&t, from, until, columns);
                    assert_eq!(cells.iter().map(|cell| cell.allowed).sum::<u64>(), bins * (bins + 1) / 2);
                    assert_eq!(cells.iter().map(|cell| cell.delayed).sum::<u64>(), bins);
                }
            }
            let wide = cells(&t, from_ns, until, 500);
            assert!(wide.iter().all(|cell| cell.allowed > 0), "no gap where bins are wider than columns");
        }
    }
}
