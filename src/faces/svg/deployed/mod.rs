//! What a deployment adds to the comparison sheet: in each lane's panels the time in which something is
//! wrong, and below them a strip for each replica; at the right what the deployment cost.

mod faults;
pub mod legend;
mod strips;
pub mod words;

pub use faults::Labels;
pub use strips::Strips;

use super::panel::Panel;
use crate::report::{FleetDetail, Report};

/// Whether a lane's limit is kept by more than one process.
pub fn is_deployed(report: &Report) -> bool {
    report.lanes.iter().any(|lane| lane.fleet.is_some())
}

/// Whether there are too many replicas to draw them apart.
pub fn is_crowded(fleet: &FleetDetail) -> bool {
    fleet.replicas.len() > strips::MOST
}

/// What replicas and store of lane number `lane` did in a panel's span.
fn fleet<'a>(panel: &Panel<'a>, lane: usize) -> Option<&'a FleetDetail> {
    panel.detail.lanes.get(lane)?.fleet.as_ref()
}
