//! The report as JSON.

use crate::report::Report;
use serde::Serialize;

/// The report as one JSON document, ending in a line feed.
#[must_use]
pub fn json(report: &Report) -> String {
    plain(report)
}

/// Any results as one JSON document, ending in a line feed.
#[must_use]
pub fn plain(results: &impl Serialize) -> String {
    let mut text = serde_json::to_string(results).expect("results are plain data with text keys");
    text.push('\n');
    text
}
