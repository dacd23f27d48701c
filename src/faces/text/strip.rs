//! One strip a lane: what it did over the span worth a close look.

use super::{Styles, styled};
use crate::faces::format::{Clock, ratio, ticks};
use crate::report::{Report, TimelineReport};
use unicode_width::UnicodeWidthStr;

/// The widest a lane's name is shown.
pub const NAME_WIDTH: usize = 24;

/// A name in at most `width` columns, its middle left out if need be.
pub fn fit(name: &str, width: usize) -> String {
    if name.width() <= width {
        return name.to_owned();
    }
    let chars: Vec<char> = name.chars().collect();
    let (head, tail) = (width.saturating_sub(1).div_ceil(2), width.saturating_sub(1) / 2);
    let mut text: String = chars[..head.min(chars.len())].iter().collect();
    text.push('…');
    text.extend(&chars[chars.len().saturating_sub(tail)..]);
    text
}

/// What one column of a strip shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cell {
    allowed: u64,
    delayed: u64,
    denied: u64,
}

impl Cell {
    /// The glyphs of what is there, most frequent first.
    fn glyphs(self) -> Vec<char> {
        let mut kinds = [(self.allowed, '█'), (self.delayed, '~'), (self.denied, 'x')];
        kinds.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        kinds.into_iter().filter(|(count, _)| *count > 0).map(|(_, glyph)| glyph).collect()
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
    for tick in ticks(report, from, until, columns / 16) {
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

    for lane in &report.lanes {
        let cells = cells(&lane.timeline, from, until, columns);
        let glyphs: Vec<Vec<char>> = cells.iter().map(|cell| cell.glyphs()).collect();
        let rows = glyphs.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for row in 0..rows {
            let name = if row == 0 { fit(&lane.name, names) } else { String::new() };
            let pad = " ".repeat(names - name.width());
            out.push_str(&format!("  {name}{pad}  "));
            strip_row(out, &glyphs, row, styles);
            if row == 0
                && let Some(peak) = lane.peak.as_ref().and_then(|peak| peak.ratio)
            {
                let style = if peak > 1.0 { styles.over } else { styles.dim };
                out.push_str(&styled(style, &format!("  {:>7}", ratio(peak))));
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
    let key = format!(
        "{} admitted   {} delayed   {} denied   · nothing   {span} shown",
        styled(styles.admitted, "█"),
        styled(styles.delayed, "~"),
        styled(styles.denied, "x"),
    );
    // The key stands under the strips where it fits, else at the edge.
    let key_width = "█ admitted   ~ delayed   x denied   · nothing    shown".width() + span.width();
    let indent = if indent.len() + key_width <= width { indent } else { "  ".to_owned() };
    out.push_str(&format!("{indent}{key}\n"));
}

/// One row of a strip: runs of one glyph share a style.
fn strip_row(out: &mut String, glyphs: &[Vec<char>], row: usize, styles: &Styles) {
    let nothing = if row == 0 { '·' } else { ' ' };
    let line: Vec<char> = glyphs.iter().map(|column| column.get(row).copied().unwrap_or(nothing)).collect();
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
    fn long_names_lose_their_middle() {
        assert_eq!(fit("token-bucket", 12), "token-bucket");
        assert_eq!(fit("a rather long name", 9), "a ra…name");
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
