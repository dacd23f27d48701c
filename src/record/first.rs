//! The first attempts of a closed loop, which are the same for every lane.

use super::recording::{RecordPlan, offered_report, offered_window};
use super::{Agreement, Offered, Parting, PeakStreams, Room, Timeline};
use crate::report::OfferedReport;
use crate::sim::Observer;

/// Records what was offered, and on which first attempts the lanes agree.
pub struct FirstAttempts {
    plan: RecordPlan,
    offered: Offered,
    timeline: Timeline,
    agreement: Agreement,
    window: Option<Box<dyn PeakStreams>>,
}

/// What was found of them.
pub struct FirstFindings {
    /// What was offered; how it was keyed is not known here.
    pub offered: OfferedReport,
    /// Lanes that decide alike on all of them, by number.
    pub groups: Vec<Vec<usize>>,
    /// Those at which lanes part.
    pub partings: Vec<Parting>,
    /// First attempts by key of the first column.
    pub arrivals_by_key: Vec<u64>,
    /// First attempts on which the lanes do not all agree, by bin of the timeline.
    pub split: Vec<u64>,
    /// Width of these bins in nanoseconds.
    pub split_bin_ns: u64,
}

impl FirstAttempts {
    /// Before the run.
    #[must_use]
    pub fn new(plan: RecordPlan, room: &Room) -> Self {
        let lanes = plan.lanes.len();
        Self {
            offered: Offered::new(plan.columns, plan.classes.len()),
            timeline: Timeline::new(lanes, plan.start),
            agreement: Agreement::new(lanes),
            window: offered_window(&plan, room),
            plan,
        }
    }

    /// The observers, each to be shown every batch.
    pub fn observers(&mut self) -> Vec<Box<dyn Observer + '_>> {
        let mut observers: Vec<Box<dyn Observer + '_>> =
            vec![Box::new(&mut self.offered), Box::new(&mut self.timeline), Box::new(&mut self.agreement)];
        observers.extend(self.window.iter_mut().map(|window| Box::new(&mut **window) as Box<dyn Observer + '_>));
        observers
    }

    /// What was found.
    #[must_use]
    pub fn finish(self) -> FirstFindings {
        let peak = self.window.as_ref().map(|window| window.peak(0).units);
        FirstFindings {
            offered: offered_report(&self.offered, self.plan.start, peak),
            groups: self.agreement.groups().to_vec(),
            partings: self.agreement.partings().to_vec(),
            split: self.timeline.split().to_vec(),
            split_bin_ns: self.timeline.bin_ns(),
            arrivals_by_key: self.offered.by_key.into_iter().next().unwrap_or_default(),
        }
    }
}
