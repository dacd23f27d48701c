//! What was offered, whatever the lanes did with it.

use crate::limiter::Verdicts;
use crate::sim::{Observer, Step};
use crate::time::SimTime;

/// Counts all arrivals.
#[derive(Debug)]
pub struct Offered {
    /// Arrivals.
    pub requests: u64,
    /// Their cost.
    pub cost: u64,
    /// For each source, the largest cost of one.
    pub largest_cost: Vec<u64>,
    /// The first arrival.
    pub first: Option<SimTime>,
    /// The last.
    pub last: Option<SimTime>,
    /// For each key column, arrivals by key.
    pub by_key: Vec<Vec<u64>>,
    /// Arrivals by source.
    pub by_source: Vec<u64>,
}

impl Offered {
    /// Nothing yet, with this many key columns and sources.
    #[must_use]
    pub fn new(columns: usize, sources: usize) -> Self {
        Self {
            requests: 0,
            cost: 0,
            largest_cost: vec![0; sources.max(1)],
            first: None,
            last: None,
            by_key: vec![Vec::new(); columns],
            by_source: vec![0; sources],
        }
    }
}

impl Observer for Offered {
    fn observe(&mut self, step: &Step, _verdicts: &[Verdicts]) {
        let batch = &step.batch;
        self.requests += batch.len() as u64;
        self.cost += batch.cost.iter().sum::<u64>();
        self.first = self.first.or(batch.at.first().copied());
        self.last = batch.at.last().copied().or(self.last);
        for (counts, keys) in self.by_key.iter_mut().zip(&batch.keys) {
            for key in keys {
                if key.index() >= counts.len() {
                    counts.resize(key.index() + 1, 0);
                }
                counts[key.index()] += 1;
            }
        }
        if let ([only], [largest]) = (&mut self.by_source[..], &mut self.largest_cost[..]) {
            *only += batch.len() as u64;
            *largest = batch.cost.iter().copied().max().unwrap_or(0).max(*largest);
        } else {
            for (source, cost) in batch.source.iter().zip(&batch.cost) {
                self.by_source[usize::from(*source)] += 1;
                let largest = &mut self.largest_cost[usize::from(*source)];
                *largest = (*largest).max(*cost);
            }
        }
    }
}
