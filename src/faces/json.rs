//! The report as JSON.

use crate::report::Report;

/// The report as one JSON document, ending in a line feed.
#[must_use]
pub fn json(report: &Report) -> String {
    let mut text = serde_json::to_string(report).expect("a report is plain data with text keys");
    text.push('\n');
    text
}
