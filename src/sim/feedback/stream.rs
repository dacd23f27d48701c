//! One lane's attempts, retries among them, as batches for its observers.

use super::later::Later;
use crate::error::Error;
use crate::limiter::{Decision, KeyId, Verdicts};
use crate::sim::lane::Lane;
use crate::sim::step::{Step, hash_rows};
use crate::sim::{Observer, TOTAL_COST_MAX};
use crate::time::SimTime;
use crate::traffic::stable_hash;

/// Attempts that are kept before they are shown.
const BATCH: usize = 4096;

/// Collects a lane's attempts and shows them, in the order in which they were sent.
pub struct Stream<'a> {
    step: Step,
    /// What becomes of attempts that are decided after they were sent.
    later: Later,
    /// Attempts that have been shown.
    shown: u64,
    /// The lane's own decisions, then those of the exact log on the same attempts if it is another.
    verdicts: Vec<Verdicts>,
    reference: Option<Lane>,
    observers: Vec<Box<dyn Observer + 'a>>,
    key_hashes: Vec<u64>,
    column: usize,
    cost: u64,
}

/// One attempt.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub at: SimTime,
    pub cost: u64,
    pub source: u16,
    /// Its key of the first column and of the lane's.
    pub keys: [KeyId; 2],
}

impl<'a> Stream<'a> {
    /// Shows attempts of a lane that counts by `column` of `columns` to these observers, beside the
    /// decisions of `reference`.
    #[must_use]
    pub fn new(columns: usize, column: usize, reference: Option<Lane>, observers: Vec<Box<dyn Observer + 'a>>) -> Self {
        let mut step = Step::default();
        step.batch.keys = vec![Vec::new(); columns];
        let verdicts = vec![Verdicts::default(); 1 + usize::from(reference.is_some())];
        Self {
            step,
            later: Later::default(),
            shown: 0,
            verdicts,
            reference,
            observers,
            key_hashes: Vec::new(),
            column,
            cost: 0,
        }
    }

    /// Learns the names of keys that are new in a batch of the traffic.
    pub fn meet(&mut self, step: &Step) {
        self.key_hashes.extend(step.new_keys.iter().map(|name| stable_hash(name)));
    }

    /// Takes an attempt that has been decided.
    ///
    /// # Errors
    /// If all attempts together cost more than is counted exactly.
    #[inline]
    pub fn push(&mut self, sent: Sent, decision: Decision) -> Result<(), Error> {
        self.take(sent)?;
        self.verdicts[0].push(decision);
        if self.step.batch.len() == BATCH {
            self.flush();
        }
        Ok(())
    }

    /// Takes what was released of attempts that have been taken elsewhere.
    pub fn push_counted(&mut self, sent: Sent) {
        self.put(sent);
        self.verdicts[0].push(Decision::Allow);
        if self.step.batch.len() == BATCH {
            self.flush();
        }
    }

    /// Takes an attempt that will be decided, and numbers it.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub fn open(&mut self, sent: Sent) -> Result<u64, Error> {
        self.take(sent)?;
        self.later.open();
        Ok(self.shown + self.step.batch.len() as u64 - 1)
    }

    /// An attempt is decided.
    pub fn settle(&mut self, row: u64, decision: Decision) {
        if self.later.settle((row - self.shown) as usize, decision) >= BATCH {
            self.show_decided();
        }
    }

    /// Shows all that are decided and before which none is not.
    fn show_decided(&mut self) {
        let count = self.later.decided;
        let rest = Step { batch: self.step.batch.split_off(count), ..Step::default() };
        self.verdicts[0].clear();
        self.later.take(count).for_each(|decision| self.verdicts[0].push(decision));
        self.flush();
        self.step = rest;
    }

    #[inline(always)]
    fn put(&mut self, sent: Sent) {
        let batch = &mut self.step.batch;
        batch.at.push(sent.at);
        batch.cost.push(sent.cost);
        batch.source.push(sent.source);
        batch.keys[0].push(sent.keys[0]);
        if self.column > 0 {
            batch.keys[self.column].push(sent.keys[1]);
        }
    }

    #[inline(always)]
    fn take(&mut self, sent: Sent) -> Result<(), Error> {
        self.put(sent);
        self.cost = self.cost.saturating_add(sent.cost);
        if self.cost > TOTAL_COST_MAX {
            return Err(Error::Range {
                message: format!(
                    "a lane's attempts cost more than {TOTAL_COST_MAX} units together; sums would not be exact"
                ),
            });
        }
        Ok(())
    }

    /// Shows what has been taken and decided; how many attempts are left out. In a run that was stopped
    /// nobody knows what would have become of those that are not decided, and of what came after them.
    pub fn finish(&mut self) -> u64 {
        if self.later.is_empty() {
            self.flush();
            return 0;
        }
        self.show_decided();
        self.step.batch.len() as u64
    }

    fn flush(&mut self) {
        if self.step.batch.is_empty() {
            return;
        }
        hash_rows(&mut self.step, &self.key_hashes);
        if let Some(reference) = &mut self.reference {
            reference.decide_batch(&self.step, None);
            std::mem::swap(&mut reference.verdicts, &mut self.verdicts[1]);
        }
        self.shown += self.step.batch.len() as u64;
        self.observers.iter_mut().for_each(|observer| observer.observe(&self.step, &self.verdicts));
        self.step.batch.clear(self.step.batch.keys.len());
        self.verdicts[0].clear();
    }
}
