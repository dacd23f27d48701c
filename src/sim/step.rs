//! One batch of arrivals and what every lane shares of it.

use crate::error::Error;
use crate::limiter::{Costs, KeyId};
use crate::rng::mix;
use crate::time::SimTime;
use crate::traffic::{Batch, Traffic, stable_hash};

/// The most units that a whole run may offer: sums then fit 63 bits everywhere.
pub const TOTAL_COST_MAX: u64 = i64::MAX as u64;

/// A batch and the hashes of its rows.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// The arrivals.
    pub batch: Batch,
    /// Whether each is known to take exactly one unit.
    pub each_takes_one: bool,
    /// For each row, the hash of (sequence, time, key bytes, cost, denied).
    pub denied_hash: Vec<u64>,
    /// For each row, the hash of (sequence, time, key bytes, cost, allowed).
    pub allowed_hash: Vec<u64>,
    /// Keys of the first column that are new in this batch, in order of their numbers.
    pub new_keys: Vec<Box<[u8]>>,
    /// For each key column, the rows grouped by key; empty where that does not pay.
    pub grouped: Vec<Grouped>,
}

/// A batch's rows in the order of their keys, those of one key in order of time. What many keys keep
/// is then walked through once instead of jumped about in.
#[derive(Clone, Debug, Default)]
pub struct Grouped {
    /// The row in the batch.
    pub row: Vec<u32>,
    /// When it arrives.
    pub at: Vec<SimTime>,
    /// Its key.
    pub key: Vec<KeyId>,
    /// Units it takes.
    pub cost: Vec<u64>,
}

/// Bits of a key's number that one pass of the sort looks at.
const DIGIT: u32 = 11;

impl Grouped {
    /// Sorts the rows by the keys of a column, whose numbers are below `keys`.
    fn fill(&mut self, batch: &Batch, column: usize, keys: usize, spare: &mut Vec<u32>) {
        let column = &batch.keys[column];
        self.row.clear();
        self.row.extend(0..batch.len() as u32);
        let mut shift = 0;
        while shift == 0 || keys >> shift > 0 {
            let digit = |row: u32| (column[row as usize].0 >> shift) as usize & ((1 << DIGIT) - 1);
            let mut starts = [0_u32; 1 << DIGIT];
            self.row.iter().for_each(|row| starts[digit(*row)] += 1);
            let mut sum = 0;
            for start in &mut starts {
                (*start, sum) = (sum, sum + *start);
            }
            spare.resize(batch.len(), 0);
            for row in &self.row {
                let start = &mut starts[digit(*row)];
                spare[*start as usize] = *row;
                *start += 1;
            }
            std::mem::swap(&mut self.row, spare);
            shift += DIGIT;
        }
        let rows = || self.row.iter().map(|row| *row as usize);
        self.at.clear();
        self.at.extend(rows().map(|row| batch.at[row]));
        self.key.clear();
        self.key.extend(rows().map(|row| column[row]));
        self.cost.clear();
        self.cost.extend(rows().map(|row| batch.cost[row]));
    }
}

impl Step {
    /// What its rows cost, or some of them, in any order, as a limiter takes it.
    pub(super) const fn costs<'a>(&self, each: &'a [u64]) -> Costs<'a> {
        if self.each_takes_one { Costs::One } else { Costs::Each(each) }
    }

    /// The rows grouped by the keys of a column, where that pays.
    #[must_use]
    pub fn grouped(&self, column: usize) -> Option<&Grouped> {
        self.grouped.get(column).filter(|grouped| !grouped.row.is_empty())
    }
}

/// Fills steps from traffic.
pub(super) struct Feeder<'a> {
    traffic: &'a mut Traffic,
    key_hashes: Vec<u64>,
    total_cost: u64,
    group_from: usize,
    spare: Vec<u32>,
}

impl<'a> Feeder<'a> {
    /// Groups rows by key where a column has at least `group_from` keys.
    pub const fn new(traffic: &'a mut Traffic, group_from: usize) -> Self {
        Self { traffic, key_hashes: Vec::new(), total_cost: 0, group_from, spare: Vec::new() }
    }

    /// Replaces the step by the next arrivals.
    pub fn fill(&mut self, step: &mut Step, max: usize) -> Result<(), Error> {
        self.traffic.fill(&mut step.batch, max)?;
        step.each_takes_one = step.batch.cost.iter().all(|cost| *cost == 1);
        for (row, cost) in step.batch.cost.iter().enumerate() {
            let total = self.total_cost.checked_add(*cost).filter(|total| *total <= TOTAL_COST_MAX);
            self.total_cost = total.ok_or_else(|| too_much(self.traffic, step.batch.first + row as u64 + 1))?;
        }
        let keys = self.traffic.keys(0);
        step.new_keys.clear();
        for id in self.key_hashes.len()..keys.len() {
            let name = keys.name(id as u32);
            self.key_hashes.push(stable_hash(name));
            step.new_keys.push(name.into());
        }
        hash_rows(step, &self.key_hashes);
        let Step { batch, grouped, .. } = step;
        grouped.resize_with(batch.keys.len(), Grouped::default);
        for (column, grouped) in grouped.iter_mut().enumerate() {
            let keys = self.traffic.keys(column).len();
            grouped.row.clear();
            if keys >= self.group_from && !batch.is_empty() {
                grouped.fill(batch, column, keys, &mut self.spare);
            }
        }
        Ok(())
    }
}

/// The error about costs whose sum is too large.
#[cold]
fn too_much(traffic: &Traffic, arrivals: u64) -> Error {
    let files: Vec<String> = traffic.inputs().into_iter().map(|input| input.file).collect();
    let files = if files.is_empty() { String::new() } else { format!("{}: ", files.join(", ")) };
    Error::Range {
        message: format!(
            "{files}the arrivals up to number {arrivals} cost more than {TOTAL_COST_MAX} units together, so that sums would not be exact; state costs in a larger unit, or take fewer arrivals at a time"
        ),
    }
}

/// Hashes what a fingerprint is made of, given the hashes of the first column's keys.
pub(super) fn hash_rows(step: &mut Step, key_hashes: &[u64]) {
    let Step { batch, denied_hash, allowed_hash, .. } = step;
    denied_hash.clear();
    allowed_hash.clear();
    // Hashes of keys first: loads that do not wait for each other.
    denied_hash.extend(batch.keys[0].iter().map(|key| key_hashes[key.index()]));
    for (i, ((hash, at), cost)) in denied_hash.iter_mut().zip(&batch.at).zip(&batch.cost).enumerate() {
        let place = (batch.first + i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ at.nanos() as u64;
        *hash = mix(mix(place) ^ hash.wrapping_add(cost.wrapping_mul(0xd6e8_feb8_6659_fd93)));
    }
    allowed_hash.extend(denied_hash.iter().map(|denied| denied.rotate_left(29).wrapping_mul(0xa076_1d64_78bd_642f)));
}
