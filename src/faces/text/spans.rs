//! The envelope at spans that a scenario lists besides its limit's window.

use super::span;
use super::strip::NAME_WIDTH;
use crate::faces::format::{count, fit, padded};
use crate::report::{EnvelopePoint, Report};
use unicode_width::UnicodeWidthStr;

/// Spaces between columns.
const GAP: usize = 2;

/// A table of the most units released in any such span, a row a lane; more of them below each
/// other where there are too many spans for the width.
pub fn spans(report: &Report, width: usize) -> Vec<String> {
    let window = report.limit.map(|limit| limit.window_ns);
    let points = report.lanes.first().map_or(&[][..], |lane| &lane.envelope);
    let wanted: Vec<usize> = (0..points.len()).filter(|i| Some(points[*i].span_ns) != window).collect();
    let names = report.lanes.iter().map(|lane| lane.name.width()).max().unwrap_or(0).clamp(4, NAME_WIDTH);
    let cells = |i: usize| report.lanes.iter().map(move |lane| lane.envelope.get(i).map_or_else(String::new, cell));
    let widest = |i: usize| cells(i).map(|cell| cell.width()).max().unwrap_or(0).max(span(points[i].span_ns).width());
    let mut lines = Vec::new();
    let mut rest = &wanted[..];
    while !rest.is_empty() {
        let mut taken = 0;
        let mut used = 2 + names;
        while taken < rest.len() && (taken == 0 || used + GAP + widest(rest[taken]) <= width) {
            used += GAP + widest(rest[taken]);
            taken += 1;
        }
        let (columns, later) = rest.split_at(taken);
        let line = |name: &str, cell: &dyn Fn(usize) -> String| {
            let mut line = format!("  {}", padded(&fit(name, names), names));
            for i in columns {
                line.push_str(&format!("{:>width$}", cell(*i), width = GAP + widest(*i)));
            }
            line
        };
        lines.push(line("lane", &|i| span(points[i].span_ns)));
        for lane in &report.lanes {
            lines.push(line(&lane.name, &|i| lane.envelope.get(i).map_or_else(String::new, cell)));
        }
        rest = later;
    }
    lines
}

/// Units released, and the proven most.
fn cell(point: &EnvelopePoint) -> String {
    format!("{} of {}", count(u128::from(point.units)), point.bound.map_or("?".to_owned(), count))
}
