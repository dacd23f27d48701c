//! The comparison as a table.

use super::strip::{NAME_WIDTH, fit};
use super::wait;
use crate::faces::format::{count, ratio};
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
    ("bound", |lane| lane.peak.as_ref().and_then(|peak| peak.bound).map_or("?".to_owned(), count)),
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

/// Writes the table: a row a lane, within `width`.
pub fn table(out: &mut String, report: &Report, width: usize) {
    let rows: Vec<Vec<String>> =
        report.lanes.iter().map(|lane| COLUMNS.iter().map(|(_, cell)| cell(lane)).collect()).collect();
    let widest = |i: usize| {
        let cells = rows.iter().map(|row| row[i].len());
        cells.max().unwrap_or(0).max(COLUMNS[i].0.len())
    };
    let longest = report.lanes.iter().map(|lane| lane.name.width()).max().unwrap_or(0).clamp(4, NAME_WIDTH);
    let figures: usize = (0..COLUMNS.len()).map(widest).sum();
    // Two spaces between columns where they fit, else one; then names give way.
    let gap = if 2 + longest + figures + 2 * COLUMNS.len() <= width { 2 } else { 1 };
    let names = width.saturating_sub(2 + figures + gap * COLUMNS.len()).clamp(8, longest.max(8));
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let mut heading = vec!["lane".to_owned()];
    heading.extend(COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    table.set_header(heading);
    for (lane, row) in report.lanes.iter().zip(rows) {
        let mut cells = vec![fit(&lane.name, names)];
        cells.extend(row);
        table.add_row(cells);
    }
    for i in 1..=COLUMNS.len() {
        if let Some(column) = table.column_mut(i) {
            column.set_cell_alignment(CellAlignment::Right);
            column.set_padding((gap as u16, 0));
        }
    }
    if let Some(column) = table.column_mut(0) {
        column.set_padding((2, 0));
    }
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
}
