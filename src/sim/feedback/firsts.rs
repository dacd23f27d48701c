//! What becomes of the traffic's own arrivals, in their order.

use super::later::Later;
use crate::limiter::{Decision, Verdicts};

/// Decisions on arrivals that have not been taken.
#[derive(Debug, Default)]
pub struct Firsts {
    later: Later,
    taken: u64,
}

impl Firsts {
    /// An arrival comes.
    pub fn open(&mut self) {
        self.later.open();
    }

    /// Arrival number `number` is decided, unless it is already.
    pub fn settle(&mut self, number: u64, decision: Decision) {
        if let Some(place) = number.checked_sub(self.taken) {
            self.later.settle(place as usize, decision);
        }
    }

    /// All that are not decided never will be.
    pub fn close(&mut self) {
        self.later.close();
    }

    /// How many are decided before the first that is not.
    pub const fn decided(&self) -> usize {
        self.later.decided
    }

    /// Takes the first so many decisions.
    pub fn take(&mut self, count: usize, verdicts: &mut Verdicts) {
        verdicts.clear();
        self.later.take(count).for_each(|decision| verdicts.push(decision));
        self.taken += count as u64;
    }
}
