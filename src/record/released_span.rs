//! A close look at one span of what a lane releases, in the order in which it does: in a deployment,
//! attempts may overtake each other on their way.

use super::{Columns, Course, Passage, PeakCourse, Trailing};
use crate::limiter::KeyId;
use crate::report::LaneDetail;
use crate::sim::{LanePlan, Released};
use crate::time::SimDuration;
use std::collections::VecDeque;

/// Follows what is released of one key in the last window, and the peak of any key.
#[derive(Debug)]
pub struct ReleasedSpan {
    plan: LanePlan,
    columns: Columns,
    tracked: Option<KeyId>,
    window: i64,
    live: VecDeque<(i64, u64)>,
    sum: u64,
    trailing: Course,
    /// All keys, unless only one is looked at.
    all: Option<Trailing>,
    peak: PeakCourse,
    highest: u64,
}

impl ReleasedSpan {
    /// Follows `tracked` through windows of `window`, and the peak of any key or of that one `alone`.
    #[must_use]
    pub fn new(plan: &LanePlan, columns: Columns, tracked: Option<KeyId>, window: SimDuration, alone: bool) -> Self {
        let window = i64::try_from(window.short_nanos()).expect("a configured span");
        Self {
            plan: plan.clone(),
            columns,
            tracked,
            window,
            live: VecDeque::new(),
            sum: 0,
            // Single arrivals of such a lane are not listed, so its columns are all there is.
            trailing: Course::new(columns, 0),
            all: (!alone).then(|| Trailing::new(window)),
            peak: PeakCourse::new(columns, 0),
            highest: 0,
        }
    }

    /// Takes the next release.
    pub fn released(&mut self, released: &Released) {
        let (at, units) = (released.at.nanos(), released.cost);
        if units == 0 || self.plan.exempts(released.source) {
            return;
        }
        let tracked = self.tracked == Some(released.key);
        if tracked {
            self.expire(at);
            self.live.push_back((at, units));
            self.sum += units;
            self.trailing.set(at, 0, self.sum);
        }
        let sum = match &mut self.all {
            Some(all) => all.add(released.key, at, units),
            None if tracked => self.sum,
            None => return,
        };
        if sum > self.highest {
            self.highest = sum;
            self.peak.note(at, 0, sum);
        }
    }

    /// Lets all releases leave the window that have left it at `at`.
    fn expire(&mut self, at: i64) {
        let left = at.saturating_sub(self.window);
        while let Some((released, units)) = self.live.front().copied().filter(|(released, _)| *released <= left) {
            self.live.pop_front();
            self.sum -= units;
            self.trailing.set(released + self.window, 0, self.sum);
        }
    }

    /// Writes down what was found.
    pub fn finish(mut self, detail: &mut LaneDetail) {
        self.expire(self.columns.until.nanos());
        let Passage { before, columns, .. } = self.trailing.finish();
        (detail.trailing_before, detail.trailing) = (before, columns);
        let Passage { before, columns, .. } = self.peak.finish();
        (detail.peak_before, detail.peak) = (before, columns);
    }
}
