//! Which lanes decide alike, and the arrivals at which they part.

use crate::limiter::{KeyId, Verdicts};
use crate::sim::{Observer, Step};
use crate::time::SimTime;

/// An arrival at which lanes that had agreed so far part for the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// Arrivals before it.
    pub arrival: u64,
    /// When it came.
    pub at: SimTime,
    /// Units it takes.
    pub cost: u64,
    /// The source it came from.
    pub source: u16,
    /// Its key in each column.
    pub keys: Vec<KeyId>,
    /// Lanes that had agreed and admit it.
    pub admitted: Vec<usize>,
    /// Lanes that had agreed and deny it.
    pub denied: Vec<usize>,
}

/// Groups lanes by their admissions, waits apart.
#[derive(Debug)]
pub struct Agreement {
    /// Lanes with equal admissions so far, each group in order.
    groups: Vec<Vec<usize>>,
    partings: Vec<Parting>,
}

impl Agreement {
    /// The first `lanes` lanes, in agreement.
    #[must_use]
    pub fn new(lanes: usize) -> Self {
        Self { groups: vec![(0..lanes).collect()], partings: Vec::new() }
    }

    /// Lanes with equal admissions, by their first lane.
    #[must_use]
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// Where they parted, in order of arrival.
    #[must_use]
    pub fn partings(&self) -> &[Parting] {
        &self.partings
    }

    /// The first row of a batch, not before `from`, at which two lanes differ.
    fn first_difference(a: &Verdicts, b: &Verdicts, from: usize) -> Option<usize> {
        let words = a.admitted.words().iter().zip(b.admitted.words()).enumerate().skip(from / 64);
        for (i, (a, b)) in words {
            let mut differ = a ^ b;
            if i == from / 64 {
                differ &= !0 << (from % 64);
            }
            if differ != 0 {
                return Some(i * 64 + differ.trailing_zeros() as usize);
            }
        }
        None
    }

    /// Splits a group at its first difference from row `from` on, and what comes of it.
    fn split(
        &mut self,
        group: Vec<usize>,
        from: usize,
        step: &Step,
        verdicts: &[Verdicts],
        groups: &mut Vec<Vec<usize>>,
    ) {
        let leader = group[0];
        let others = group[1..].iter();
        let first = others.filter_map(|lane| Self::first_difference(&verdicts[leader], &verdicts[*lane], from)).min();
        let Some(row) = first else {
            groups.push(group);
            return;
        };
        let (admitted, denied): (Vec<usize>, Vec<usize>) =
            group.into_iter().partition(|lane| verdicts[*lane].admitted.get(row));
        let batch = &step.batch;
        self.partings.push(Parting {
            arrival: batch.first + row as u64,
            at: batch.at[row],
            cost: batch.cost[row],
            source: batch.source[row],
            keys: batch.keys.iter().map(|column| column[row]).collect(),
            admitted: admitted.clone(),
            denied: denied.clone(),
        });
        self.split(admitted, row + 1, step, verdicts, groups);
        self.split(denied, row + 1, step, verdicts, groups);
    }
}

impl Observer for Agreement {
    fn observe(&mut self, step: &Step, verdicts: &[Verdicts]) {
        let mut groups = Vec::with_capacity(self.groups.len());
        for group in std::mem::take(&mut self.groups) {
            if group.is_empty() {
                continue;
            }
            self.split(group, 0, step, verdicts, &mut groups);
        }
        groups.sort();
        self.groups = groups;
        // Several groups may part at one arrival; a batch finds them group by group.
        self.partings.sort_by_key(|parting| (parting.arrival, parting.admitted[0].min(parting.denied[0])));
    }
}
