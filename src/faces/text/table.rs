//! The comparison as a table.

use super::strip::NAME_WIDTH;
use super::wait;
use crate::faces::format::{count, fit, ratio};
use crate::report::{LaneReport, Report};
use comfy_table::{CellAlignment, Table};
use unicode_width::UnicodeWidthStr;

/// A column: its heading and what stands in it.
type Column = (&'static str, fn(&LaneReport) -> String);

const COLUMNS: [Column; 9] = [
    ("allowed", |lane| count(u128::from(lane.allowed))),
    ("delayed", |lane| count(u128::from(lane.delayed))),
    ("denied", |lane| count(u128::from(lane.denied))),
    ("peak", |lane| lane.peak.as_ref().map_or("-".to_owned(), |peak| count(u128::from(peak.units)))),
    ("ratio", |lane| lane.peak.as_ref().and_then(|peak| peak.ratio).map_or("-".to_owned(), ratio)),
    ("bound", |lane| match &lane.peak {
        Some(peak) => peak.bound.map_or("?".to_owned(), count),
        None => "-".to_owned(),
    }),
    ("vs log", |lane| match (lane.false_admissions, lane.false_denials) {
        (Some(0), Some(0)) => "same".to_owned(),
        (Some(more), Some(less)) => format!("+{} -{}", count(u128::from(more)), count(u128::from(less))),
        _ => "-".to_owned(),
    }),
    ("p99 wait", |lane| wait(lane.wait_ns.p99)),
    ("B/key", |lane| {
        let bytes = lane.state.bytes_per_key;
        if bytes.fract() == 0.0 { count(bytes as u128) } else { format!("{bytes:.1}") }
    }),
];

/// How a table is squeezed into its width, from comfortable to cramped.
const LAYOUTS: [Layout; 5] = [
    Layout { gap: 2, groups: true, left_out: &[] },
    Layout { gap: 1, groups: true, left_out: &[] },
    Layout { gap: 1, groups: false, left_out: &[] },
    Layout { gap: 1, groups: false, left_out: &["B/key"] },
    Layout { gap: 1, groups: false, left_out: &["B/key", "p99 wait"] },
];

struct Layout {
    /// Spaces between columns.
    gap: usize,
    /// Whether digits are grouped.
    groups: bool,
    /// Columns that must go.
    left_out: &'static [&'static str],
}

/// A heading; a cramped table has those of two words in two lines.
fn heading(name: &str, layout: &Layout) -> String {
    if layout.groups { name.to_owned() } else { name.replace("p99 wait", "p99\nwait") }
}

/// The narrowest that lane names are cut to.
const NARROWEST_NAME: usize = 12;

/// Writes the table: a row a lane, within `width`.
pub fn table(out: &mut String, report: &Report, width: usize) {
    let longest = report.lanes.iter().map(|lane| lane.name.width()).max().unwrap_or(0).clamp(4, NAME_WIDTH);
    let lay_out = |layout: &Layout| {
        let columns: Vec<Column> =
            COLUMNS.into_iter().filter(|(heading, _)| !layout.left_out.contains(heading)).collect();
        let cell = |text: String| if layout.groups { text } else { text.replace(',', "") };
        let rows: Vec<Vec<String>> =
            report.lanes.iter().map(|lane| columns.iter().map(|(_, figure)| cell(figure(lane))).collect()).collect();
        let heading = |i: usize| heading(columns[i].0, layout).split('\n').map(str::len).max().unwrap_or(0);
        let widest = |i: usize| rows.iter().map(|row| row[i].len()).max().unwrap_or(0).max(heading(i));
        let figures: usize = (0..columns.len()).map(|i| widest(i) + layout.gap).sum();
        (columns, rows, figures)
    };
    let fits = |layout: &&Layout| 2 + longest.min(NARROWEST_NAME) + lay_out(layout).2 <= width;
    let whole = |layout: &&Layout| 2 + longest + lay_out(layout).2 <= width;
    let last = &LAYOUTS[LAYOUTS.len() - 1];
    let layout = LAYOUTS[..3].iter().find(whole).or_else(|| LAYOUTS.iter().find(fits)).unwrap_or(last);
    let (columns, rows, figures) = lay_out(layout);
    let names = width.saturating_sub(2 + figures).clamp(8, longest.max(8));
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let mut head = vec!["lane".to_owned()];
    head.extend(columns.iter().map(|(name, _)| heading(name, layout)));
    table.set_header(head);
    for (lane, row) in report.lanes.iter().zip(rows) {
        let mut cells = vec![fit(&lane.name, names)];
        cells.extend(row);
        table.add_row(cells);
    }
    for i in 1..=columns.len() {
        if let Some(column) = table.column_mut(i) {
            column.set_cell_alignment(CellAlignment::Right);
            column.set_padding((layout.gap as u16, 0));
        }
    }
    if let Some(column) = table.column_mut(0) {
        column.set_padding((2, 0));
    }
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    if !layout.left_out.is_empty() {
        let needed = 2 + longest.min(NARROWEST_NAME) + lay_out(&LAYOUTS[2]).2;
        out.push_str(&format!("  without {}: that takes --width {needed}\n", layout.left_out.join(" and ")));
    }
}
