//! Decisions that are made later than they are asked for, in the order of asking.

use crate::limiter::Decision;
use crate::time::SimDuration;
use std::collections::VecDeque;

/// Decisions by number, some of them still open.
#[derive(Debug, Default)]
pub struct Later {
    /// A wait in nanoseconds, or one of the two below.
    codes: VecDeque<u64>,
    /// How many are decided before the first that is not.
    pub decided: usize,
}

const DENIED: u64 = u64::MAX;
const OPEN: u64 = u64::MAX - 1;

fn code(decision: Decision) -> u64 {
    match decision {
        Decision::Allow => 0,
        Decision::Delay(wait) => wait.short_nanos().min(OPEN - 1),
        Decision::Deny => DENIED,
    }
}

impl Later {
    /// One more is asked for.
    pub fn open(&mut self) {
        self.codes.push_back(OPEN);
    }

    /// Number `place` of those that have not been taken is decided, unless it is already; how many are
    /// decided before the first that is not.
    pub fn settle(&mut self, place: usize, decision: Decision) -> usize {
        if self.codes[place] == OPEN {
            self.codes[place] = code(decision);
        }
        while self.codes.get(self.decided).is_some_and(|code| *code != OPEN) {
            self.decided += 1;
        }
        self.decided
    }

    /// Whether all have been taken.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// All that are open will never be decided: they count as refused.
    pub fn close(&mut self) {
        self.decided = self.codes.len();
    }

    /// The first so many decisions; what is open counts as refused.
    pub fn take(&mut self, count: usize) -> impl Iterator<Item = Decision> + '_ {
        self.decided = self.decided.saturating_sub(count);
        self.codes.drain(..count).map(|code| match code {
            0 => Decision::Allow,
            DENIED | OPEN => Decision::Deny,
            wait => Decision::Delay(SimDuration::from_nanos(wait)),
        })
    }
}
