//! Whose attempts were refused most: the keys to ask about.

use super::story::{by, list, names};
use super::{plural, wrapping};
use crate::faces::format::{count, fit};
use crate::report::{LaneReport, Report};

/// Keys of a lane that are told.
const TOLD: usize = 5;

/// The most columns that a key takes.
pub const KEY_WIDTH: usize = 40;

/// Lines for each group of lanes that refused the same to the same keys; none where there is but
/// one key to refuse anything to.
pub fn refused(report: &Report, width: usize) -> Vec<String> {
    if report.offered.keys < 2 {
        return Vec::new();
    }
    let lanes: Vec<&LaneReport> = report.lanes.iter().filter(|lane| lane.denied > 0).collect();
    let groups = by(&lanes, |lane| (lane.key.clone(), lane.keys_denied, worst(lane)));
    let mut lines = Vec::new();
    for lanes in groups {
        let lane = lanes[0];
        let keys = plural(u128::from(lane.keys_denied), &lane.key);
        let text = format!("{}, {keys}: {}", list(&names(&lanes)), worst(lane).join(", "));
        let options = wrapping(width, "    ").initial_indent("  ");
        lines.extend(textwrap::wrap(&text, options).into_iter().map(std::borrow::Cow::into_owned));
    }
    lines
}

fn worst(lane: &LaneReport) -> Vec<String> {
    let told = lane.top_denied.iter().take(TOLD).map(|key| {
        let (denied, attempts) = (count(u128::from(key.denied)), count(u128::from(key.attempts)));
        format!("{} {denied} of {attempts}", fit(&key.key, KEY_WIDTH))
    });
    told.collect()
}
