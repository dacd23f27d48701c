//! One batch of arrivals and what every lane shares of it.

use crate::error::Error;
use crate::rng::mix;
use crate::traffic::{Batch, KeyTable, Traffic, stable_hash};

/// The most units that a whole run may offer: sums then fit 63 bits everywhere.
pub const TOTAL_COST_MAX: u64 = i64::MAX as u64;

/// A batch and the hashes of its rows.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// The arrivals.
    pub batch: Batch,
    /// For each row, the hash of (sequence, time, key bytes, cost, denied).
    pub denied_hash: Vec<u64>,
    /// For each row, the hash of (sequence, time, key bytes, cost, allowed).
    pub allowed_hash: Vec<u64>,
    /// Keys of the first column that are new in this batch, in order of their numbers.
    pub new_keys: Vec<Box<[u8]>>,
}

/// Fills steps from traffic.
pub(super) struct Feeder<'a> {
    traffic: &'a mut Traffic,
    key_hashes: Vec<u64>,
    total_cost: u64,
}

impl<'a> Feeder<'a> {
    pub const fn new(traffic: &'a mut Traffic) -> Self {
        Self { traffic, key_hashes: Vec::new(), total_cost: 0 }
    }

    /// Replaces the step by the next arrivals.
    pub fn fill(&mut self, step: &mut Step, max: usize) -> Result<(), Error> {
        self.traffic.fill(&mut step.batch, max)?;
        for (row, cost) in step.batch.cost.iter().enumerate() {
            self.total_cost = self.total_cost.checked_add(*cost).filter(|total| *total <= TOTAL_COST_MAX).ok_or_else(
                || Error::Range {
                    message: format!(
                        "the arrivals up to number {} cost more than {TOTAL_COST_MAX} units together; sums would not be exact",
                        step.batch.first + row as u64 + 1
                    ),
                },
            )?;
        }
        hash_rows(step, self.traffic.keys(0), &mut self.key_hashes);
        Ok(())
    }
}

fn hash_rows(step: &mut Step, keys: &KeyTable, key_hashes: &mut Vec<u64>) {
    let Step { batch, denied_hash, allowed_hash, new_keys } = step;
    new_keys.clear();
    for id in key_hashes.len()..keys.len() {
        let name = keys.name(id as u32);
        key_hashes.push(stable_hash(name));
        new_keys.push(name.into());
    }
    denied_hash.clear();
    allowed_hash.clear();
    for (i, ((at, key), cost)) in batch.at.iter().zip(&batch.keys[0]).zip(&batch.cost).enumerate() {
        let place = (batch.first + i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ at.nanos() as u64;
        let row = mix(place) ^ key_hashes[key.index()].wrapping_add(cost.wrapping_mul(0xd6e8_feb8_6659_fd93));
        let denied = mix(row);
        denied_hash.push(denied);
        allowed_hash.push(denied.rotate_left(29).wrapping_mul(0xa076_1d64_78bd_642f));
    }
}
