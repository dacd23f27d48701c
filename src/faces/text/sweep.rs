//! A sweep as tables: with one axis a row a value and a column a lane, with two a table a lane, with
//! more a row for each point and lane.

use super::{Styles, TextOptions, paragraph, plural, styled};
use crate::faces::format::{figure, fit};
use crate::report::{SweepAxis, SweepReport};
use comfy_table::{CellAlignment, Table};
use unicode_width::UnicodeWidthStr;

/// Columns that a heading or a name takes at most.
const NAME_WIDTH: usize = 24;
/// Between columns.
const GAP: usize = 2;

/// The sweep as text, ending in a line feed.
#[must_use]
pub fn sweep(report: &SweepReport, options: TextOptions) -> String {
    let width = options.width.max(super::MIN_WIDTH);
    let page = Page { report, width, styles: Styles::new(options.color) };
    let mut out = String::new();
    page.heading(&mut out);
    match &report.axes[..] {
        [axis] => page.one_axis(&mut out, axis),
        [across, down] => page.two_axes(&mut out, across, down),
        _ => page.list(&mut out),
    }
    page.notes(&mut out);
    out
}

/// A column: what stands above it, and its cells.
struct Column {
    head: String,
    cells: Vec<String>,
    /// Whether it is of words.
    words: bool,
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().map(|cell| cell.width()).chain([self.head.width()]).max().unwrap_or(0)
    }
}

struct Page<'a> {
    report: &'a SweepReport,
    width: usize,
    styles: Styles,
}

impl Page<'_> {
    fn heading(&self, out: &mut String) {
        let report = self.report;
        let changed = match &report.changed[..] {
            [] => String::new(),
            changed => format!(" (changed: {})", changed.join(", ")),
        };
        for line in textwrap::wrap(&format!("{}{changed}", report.title), super::wrapping(self.width, "")) {
            out.push_str(&format!("{}\n", styled(self.styles.title, &line)));
        }
        let axes = report.axes.iter().map(|axis| {
            let of = if axis.name == axis.path { String::new() } else { format!(" ({})", axis.path) };
            let ends = match &axis.values[..] {
                [only] => only.clone(),
                [first, .., last] => format!("{first} to {last}"),
                [] => String::new(),
            };
            format!("{}{of}: {}, {ends}", axis.name, plural(axis.values.len() as u128, "value"))
        });
        let points = plural(report.points.len() as u128, "point");
        paragraph(out, &format!("{points}. {}.", axes.collect::<Vec<_>>().join("; ")), self.width, "");
    }

    /// A row a value, a column a lane; a table a measure.
    fn one_axis(&self, out: &mut String, axis: &SweepAxis) {
        for (m, measure) in self.report.measures.iter().enumerate() {
            let columns =
                self.report.lanes.iter().map(|lane| {
                    self.column(lane.clone(), m, (0..axis.values.len()).map(|point| (point, lane.as_str())))
                });
            self.table(out, &measure.name, &[values(axis)], columns.collect());
        }
    }

    /// A column a value of the first axis, a row one of the second, as in a picture; a table a measure
    /// and lane.
    fn two_axes(&self, out: &mut String, across: &SweepAxis, down: &SweepAxis) {
        let stride = down.values.len();
        let stub = values(down);
        let stub = Column { head: fit(&format!("{} \\ {}", down.name, across.name), NAME_WIDTH), ..stub };
        for (m, measure) in self.report.measures.iter().enumerate() {
            let mut flat = Vec::new();
            for lane in &self.report.lanes {
                if let Some(value) = self.report.everywhere(lane, m) {
                    flat.push(format!("{lane} {}", figure(value, measure.unit)));
                    continue;
                }
                let columns = across.values.iter().enumerate().map(|(i, value)| {
                    let points = (0..stride).map(|row| (i * stride + row, lane.as_str()));
                    self.column(value.clone(), m, points)
                });
                let heading = format!("{lane}: {}", measure.name);
                self.table(out, &heading, std::slice::from_ref(&stub), columns.collect());
            }
            if !flat.is_empty() {
                out.push('\n');
                paragraph(out, &format!("{} everywhere: {}", measure.name, flat.join(", ")), self.width, "");
            }
        }
    }

    /// A row for each point and lane.
    fn list(&self, out: &mut String) {
        let report = self.report;
        let rows: Vec<(usize, &str)> = report
            .points
            .iter()
            .enumerate()
            .flat_map(|(point, lanes)| lanes.iter().map(move |row| (point, row.lane.as_str())))
            .collect();
        let mut stubs: Vec<Column> = Vec::new();
        for (i, axis) in report.axes.iter().enumerate() {
            let cells = rows.iter().map(|(point, _)| axis.values[report.at(*point)[i]].clone()).collect();
            stubs.push(Column { cells, ..values(axis) });
        }
        let lanes = rows.iter().map(|(_, lane)| fit(lane, NAME_WIDTH)).collect();
        stubs.push(Column { head: "lane".to_owned(), cells: lanes, words: true });
        let columns = report.measures.iter().enumerate();
        let columns = columns.map(|(m, measure)| self.column(measure.name.clone(), m, rows.iter().copied()));
        self.table(out, "", &stubs, columns.collect());
    }

    /// A measure's figures at some points of some lanes.
    fn column<'b>(&self, head: String, measure: usize, rows: impl Iterator<Item = (usize, &'b str)>) -> Column {
        let unit = self.report.measures[measure].unit;
        let cells = rows.map(|(point, lane)| {
            let value = self.report.value(point, lane, measure);
            value.map_or_else(|| "-".to_owned(), |value| fit(&figure(value, unit), NAME_WIDTH))
        });
        Column { head: fit(&head, NAME_WIDTH), cells: cells.collect(), words: false }
    }

    /// Columns beside what their rows are called, as many at a time as there is room for.
    fn table(&self, out: &mut String, heading: &str, stubs: &[Column], columns: Vec<Column>) {
        let room = self.width.saturating_sub(stubs.iter().map(|stub| stub.width() + GAP).sum());
        let mut rest = &columns[..];
        let mut first = true;
        while first || !rest.is_empty() {
            let mut used = 0;
            let fits = |column: &&Column| {
                used += column.width() + GAP;
                used <= room
            };
            let now = rest.iter().take_while(fits).count().max(1).min(rest.len());
            let (these, others) = rest.split_at(now);
            out.push('\n');
            if !heading.is_empty() {
                let more = if first { "" } else { ", continued" };
                out.push_str(&format!(
                    "{}\n",
                    styled(self.styles.title, &fit(&format!("{heading}{more}"), self.width))
                ));
            }
            write(out, stubs, these);
            (rest, first) = (others, false);
        }
    }

    fn notes(&self, out: &mut String) {
        let stopped: Vec<(usize, &str)> = self.report.stopped().collect();
        if !stopped.is_empty() {
            let lanes = plural(stopped.len() as u128, "result");
            let text = format!("{lanes} partial, of lanes that were stopped after their most events.");
            out.push('\n');
            paragraph(out, &text, self.width, "");
        }
    }
}

/// The values of an axis as what rows are called.
fn values(axis: &SweepAxis) -> Column {
    let words = axis.numbers.is_none();
    Column {
        head: fit(&axis.name, NAME_WIDTH),
        cells: axis.values.iter().map(|value| fit(value, NAME_WIDTH)).collect(),
        words,
    }
}

fn write(out: &mut String, stubs: &[Column], columns: &[Column]) {
    let all: Vec<&Column> = stubs.iter().chain(columns).collect();
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(all.iter().map(|column| column.head.as_str()));
    for row in 0..all.first().map_or(0, |column| column.cells.len()) {
        table.add_row(all.iter().map(|column| column.cells[row].as_str()));
    }
    for (i, column) in all.iter().enumerate() {
        if let Some(laid) = table.column_mut(i) {
            laid.set_cell_alignment(if column.words { CellAlignment::Left } else { CellAlignment::Right });
            laid.set_padding((GAP as u16, 0));
        }
    }
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
}
