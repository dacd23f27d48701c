//! A sweep as CSV: a row for each point and lane. The last column says which sweep a row is of, so
//! that a row that is there to its end is known to be whole.

use crate::report::{SweepReport, SweepRow};

fn line<'a>(fields: impl Iterator<Item = &'a str>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let to_memory = "writing to memory does not fail";
    writer.write_record(fields).expect(to_memory);
    String::from_utf8(writer.into_inner().expect(to_memory)).expect("all cells are text")
}

/// The columns: the axes by their paths, the lane, the measures, in closed loops whether the lane was
/// stopped, and the sweep.
#[must_use]
pub fn header(report: &SweepReport) -> String {
    let axes = report.axes.iter().map(|axis| axis.path.as_str());
    let measures = report.measures.iter().map(|measure| measure.name.as_str());
    let partial = report.closed.then_some("partial");
    line(axes.chain(["lane"]).chain(measures).chain(partial).chain(["sweep"]))
}

/// The rows of a point.
#[must_use]
pub fn rows(report: &SweepReport, point: usize, rows: &[SweepRow]) -> String {
    let at = report.values_at(point);
    let one = |row: &SweepRow| {
        let values: Vec<String> =
            row.values.iter().map(|value| value.as_ref().map_or_else(String::new, ToString::to_string)).collect();
        let partial = report.closed.then_some(if row.partial { "true" } else { "false" });
        let figures = values.iter().map(String::as_str).chain(partial);
        line(at.iter().copied().chain([row.lane.as_str()]).chain(figures).chain([report.stamp.as_str()]))
    };
    rows.iter().map(one).collect()
}

/// The whole sweep.
#[must_use]
pub fn sweep(report: &SweepReport) -> String {
    let points = report.points.iter().enumerate().map(|(point, lanes)| rows(report, point, lanes));
    std::iter::once(header(report)).chain(points).collect()
}
