//! What a comparison sheet draws: the whole run and its focus.

use super::{Closeup, Outcome, detail};
use crate::error::Error;
use crate::record::whole;
use crate::report::{Focus, Sheet};
use crate::scenario::Plan;
use crate::sim::Options;

/// Runs a plan again for its comparison sheet.
///
/// # Errors
/// As [`detail()`].
pub fn sheet(
    plan: &Plan,
    outcome: &Outcome,
    options: Options,
    go_on: &mut (dyn FnMut() -> bool + Send),
) -> Result<Sheet, Error> {
    let report = &outcome.report;
    let window_ns = report.limit.map(|limit| limit.window_ns);
    let mut look = |focus: Focus| {
        let closeup = Closeup {
            from: report.instant(focus.from_ns),
            until: report.instant(focus.until_ns),
            columns: Sheet::COLUMNS,
            keep: Sheet::KEEP,
            key: None,
        };
        detail(plan, outcome, closeup, options, go_on)
    };
    Ok(Sheet {
        whole: look(whole(&report.lanes, &report.offered, report.end_ns, window_ns))?,
        focus: look(report.focus)?,
    })
}
