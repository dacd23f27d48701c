//! What a comparison sheet draws: the whole run and its focus.

use super::{Closeup, Outcome, details};
use crate::error::Error;
use crate::record::whole;
use crate::report::{Focus, Sheet};
use crate::scenario::Plan;
use crate::sim::Options;
use crate::time::{SimTime, round_spans};

/// Runs a plan again for its comparison sheet.
///
/// # Errors
/// As [`detail`](super::detail()).
pub fn sheet(
    plan: &Plan,
    outcome: &Outcome,
    options: Options,
    go_on: &mut (dyn FnMut() -> bool + Send),
) -> Result<Sheet, Error> {
    let report = &outcome.report;
    let window_ns = report.limit.map(|limit| limit.window_ns);
    let look = |focus: Focus| {
        let (from, until, columns) = round(report.instant(focus.from_ns), report.instant(focus.until_ns));
        Closeup { from, until, columns, keep: Sheet::KEEP, key: None }
    };
    let looks = [look(whole(&report.lanes, &report.offered, report.end_ns, window_ns)), look(report.focus)];
    let [whole, focus] = details(plan, outcome, looks, options, go_on)?;
    Ok(Sheet { whole, focus })
}

/// A span widened to whole columns of a round width on round times of the clock, so that columns, bins
/// made of them and the labels of the time axis share their edges; and how many columns there are.
fn round(from: SimTime, until: SimTime) -> (SimTime, SimTime, usize) {
    let (from_ns, until_ns) = (i128::from(from.nanos()), i128::from(until.nanos()));
    let widen = |width: i128| (from_ns.div_euclid(width) * width, -(-until_ns).div_euclid(width) * width);
    for width in round_spans().map(i128::from) {
        let (first, end) = widen(width);
        let columns = (end - first) / width;
        if columns > Sheet::COLUMNS as i128 {
            continue;
        }
        if let (Ok(first), Ok(end)) = (i64::try_from(first), i64::try_from(end)) {
            return (SimTime::from_nanos(first), SimTime::from_nanos(end), columns.max(1) as usize);
        }
    }
    (from, until, Sheet::COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::round_instants;

    #[test]
    fn columns_meet_the_labels_of_the_axis() {
        let mut state = 7_u64;
        for length in 1..61 {
            for _ in 0..50 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let (from, span) = ((state >> 4) as i64 - (1 << 59), ((state >> 2) % (1 << length)) as i64 + 1);
                let (stated, end) = (SimTime::from_nanos(from), SimTime::from_nanos(from.saturating_add(span)));
                let (first, until, columns) = round(stated, end);
                assert!(first <= stated && end <= until && columns <= Sheet::COLUMNS);
                let length = i128::from(until.nanos()) - i128::from(first.nanos());
                let width = length / columns as i128;
                assert_eq!(length % columns as i128, 0, "{from} + {span}");
                assert!(length - i128::from(span) < 2 * width, "{from} + {span}: too wide");
                for tick in round_instants(first, until, 4) {
                    assert_eq!((i128::from(tick.nanos()) - i128::from(first.nanos())) % width, 0, "{from} + {span}");
                }
            }
        }
    }
}
