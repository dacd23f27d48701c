//! How peaks rise through a span: for close looks, which want them as of every instant.

use super::{Columns, Passage, PeakCourse};
use crate::limiter::{KeyId, Verdicts};
use crate::sim::{Lane, LanePlan, Observer, Step};
use crate::time::SimDuration;
use std::collections::VecDeque;

/// Lanes that share one ring a key: one bit each.
const MOST: usize = 64;

/// The peaks of lanes that count the same arrivals by the same keys and release on arrival; or of
/// one lane that delays.
#[derive(Debug)]
pub struct PeakRise {
    /// Lanes by number.
    lanes: Vec<usize>,
    /// What tells which arrivals count, and by which keys.
    plan: LanePlan,
    window: i64,
    keys: Vec<KeyRing>,
    /// For each lane, the most so far, and the peak that it ends with: behind it nothing rises.
    highest: Vec<u64>,
    peaks: Vec<u64>,
    /// When the last lane to reach its peak did.
    reached: i64,
    /// For each lane, a course a look.
    courses: Vec<Vec<PeakCourse>>,
}

/// What was released of one key in the last window.
#[derive(Clone, Debug, Default)]
struct KeyRing {
    /// When, units, lanes.
    entries: VecDeque<(i64, u64, u64)>,
    /// Units, a number a lane.
    sums: Vec<u64>,
}

impl PeakRise {
    /// Follows all these lanes, whose peaks over the whole run are known, through the spans of some
    /// looks; keeps at most `keep` records of each.
    #[must_use]
    pub fn of(lanes: &[LanePlan], peaks: &[u64], window: SimDuration, looks: &[Columns], keep: usize) -> Vec<Self> {
        let window = i64::try_from(window.short_nanos()).expect("a configured span is below 2^62");
        let mut groups: Vec<Self> = Vec::new();
        for (lane, plan) in lanes.iter().enumerate() {
            let alike = |group: &&mut Self| {
                let same = group.plan.column == plan.column && group.plan.exempt == plan.exempt;
                same && group.lanes.len() < MOST && !group.plan.limiter.delays() && !plan.limiter.delays()
            };
            match groups.iter_mut().find(alike) {
                Some(group) => group.lanes.push(lane),
                None => groups.push(Self {
                    lanes: vec![lane],
                    plan: plan.clone(),
                    window,
                    keys: Vec::new(),
                    highest: Vec::new(),
                    peaks: Vec::new(),
                    reached: i64::MIN,
                    courses: Vec::new(),
                }),
            }
        }
        for group in &mut groups {
            group.highest = vec![0; group.lanes.len()];
            group.peaks = group.lanes.iter().map(|lane| peaks[*lane]).collect();
            let courses: Vec<_> = looks.iter().map(|columns| PeakCourse::new(*columns, keep)).collect();
            group.courses = vec![courses; group.lanes.len()];
        }
        groups
    }

    /// For each lane, by number, how its peak rose in each look.
    #[must_use]
    pub fn finish(self) -> Vec<(usize, Vec<Passage<u64>>)> {
        let passages = self.courses.into_iter().map(|looks| looks.into_iter().map(PeakCourse::finish).collect());
        self.lanes.into_iter().zip(passages).collect()
    }

    /// Arrival number `number` released units of a key in these lanes, one bit each.
    fn release(&mut self, key: KeyId, at: i64, units: u64, lanes: u64, number: u64) {
        if units == 0 || lanes == 0 {
            return;
        }
        if key.index() >= self.keys.len() {
            self.keys.resize_with(key.index() + 1, KeyRing::default);
        }
        let KeyRing { entries, sums } = &mut self.keys[key.index()];
        sums.resize(self.lanes.len(), 0);
        while let Some((_, units, lanes)) = entries.front().copied().filter(|(then, ..)| *then <= at - self.window) {
            sums.iter_mut().enumerate().for_each(|(i, sum)| *sum -= units * (lanes >> i & 1));
            entries.pop_front();
        }
        entries.push_back((at, units, lanes));
        let unordered = self.plan.limiter.delays();
        for (i, sum) in sums.iter_mut().enumerate().filter(|(i, _)| lanes >> i & 1 == 1) {
            *sum += units;
            if unordered || *sum > self.highest[i] {
                if *sum > self.highest[i] {
                    self.highest[i] = *sum;
                    self.reached = self.reached.max(at);
                }
                self.courses[i].iter_mut().for_each(|course| course.note(at, number, *sum));
            }
        }
    }
}

impl Observer for PeakRise {
    fn observe(&mut self, step: &Step, verdicts: &[Verdicts]) {
        let batch = &step.batch;
        // What is released from the last peak on cannot pass it, nor be noted before it.
        if self.highest == self.peaks && batch.at.first().is_some_and(|at| at.nanos() >= self.reached) {
            return;
        }
        let subject = Lane::subject(&self.plan, batch);
        let mut waits = verdicts[self.lanes[0]].waits.iter().peekable();
        for row in 0..batch.len() {
            let wait = waits.next_if(|(delayed, _)| *delayed as usize == row).map_or(0, |(_, wait)| *wait);
            if subject.as_ref().is_some_and(|bits| !bits.get(row)) {
                continue;
            }
            let admitted = |(i, lane): (usize, &usize)| u64::from(verdicts[*lane].admitted.get(row)) << i;
            let lanes = self.lanes.iter().enumerate().map(admitted).fold(0, |all, lane| all | lane);
            let at = batch.at[row].nanos().saturating_add(i64::try_from(wait).unwrap_or(i64::MAX));
            let key = batch.keys[self.plan.column][row];
            self.release(key, at, batch.cost[row], lanes, batch.first + row as u64 + 1);
        }
    }
}
