//! A close look at one span of a closed loop: what became of requests, by column.

use super::{Columns, Whose};
use crate::limiter::KeyId;
use crate::report::RequestCounts;
use crate::sim::{Ending, Witness};
use crate::time::SimTime;

/// Counts what becomes of one lane's requests by column.
#[derive(Debug)]
pub struct RequestSpan {
    columns: Columns,
    whose: Whose,
    before: RequestCounts,
    counts: Vec<RequestCounts>,
}

impl RequestSpan {
    /// None yet.
    #[must_use]
    pub fn new(columns: Columns, whose: Whose) -> Self {
        let counts = vec![RequestCounts::default(); columns.count];
        Self { columns, whose, before: RequestCounts::default(), counts }
    }

    /// Where an instant's events of a client are counted, if they are.
    fn place(&mut self, at: SimTime, client: KeyId) -> Option<&mut RequestCounts> {
        if matches!(self.whose, Whose::Key(key) if key != client) {
            return None;
        }
        match self.columns.column(at.nanos()) {
            Some(column) => self.counts.get_mut(column),
            None if at < self.columns.from => Some(&mut self.before),
            None => None,
        }
    }

    /// Counts before the span, and in each column.
    #[must_use]
    pub fn finish(self) -> (RequestCounts, Vec<RequestCounts>) {
        (self.before, self.counts)
    }
}

impl Witness for RequestSpan {
    fn sent(&mut self, at: SimTime, client: KeyId, made: u32) {
        if made == 1
            && let Some(counts) = self.place(at, client)
        {
            counts.first += 1;
        }
    }

    fn served(&mut self, _at: SimTime) {}

    fn ended(&mut self, at: SimTime, _first: SimTime, client: KeyId, ending: Ending) {
        let Some(counts) = self.place(at, client) else { return };
        match ending {
            Ending::Succeeded => counts.good += 1,
            Ending::GaveUp => counts.gave_up += 1,
            Ending::Unfinished => {}
        }
    }
}
