//! Exact counts within stated spans of a run.

use crate::limiter::KeyId;
use crate::sim::{Ending, Measure, Witness};
use crate::time::SimTime;

/// What is counted, from an instant on and before another.
#[derive(Clone, Copy, Debug)]
pub struct Tallied {
    /// What.
    pub measure: Measure,
    /// First instant.
    pub from: SimTime,
    /// First instant after it.
    pub until: SimTime,
}

/// Counts what one lane is told within spans.
#[derive(Debug)]
pub struct Tallies {
    spans: Vec<(Tallied, u64)>,
}

impl Tallies {
    /// None counted yet.
    #[must_use]
    pub fn new(spans: &[Tallied]) -> Self {
        Self { spans: spans.iter().map(|span| (*span, 0)).collect() }
    }

    /// The counts, in the order of the spans.
    #[must_use]
    pub fn counts(&self) -> Vec<u64> {
        self.spans.iter().map(|(_, count)| *count).collect()
    }

    fn count(&mut self, measure: Measure, at: SimTime) {
        for (span, count) in &mut self.spans {
            *count += u64::from(span.measure == measure && span.from <= at && at < span.until);
        }
    }
}

impl Witness for Tallies {
    fn sent(&mut self, at: SimTime, _client: KeyId, _made: u32) {
        self.count(Measure::Attempts, at);
    }

    fn served(&mut self, at: SimTime) {
        self.count(Measure::Throughput, at);
    }

    fn ended(&mut self, at: SimTime, _first: SimTime, _client: KeyId, ending: Ending) {
        if ending == Ending::Succeeded {
            self.count(Measure::Goodput, at);
        }
    }
}
