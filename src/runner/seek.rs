//! The next or previous arrival of a kind: the run again, up to it.

use super::closed;
use crate::error::Error;
use crate::limiter::{Bits, KeyId, Verdicts};
use crate::report::{Direction, Mark, Place};
use crate::scenario::Plan;
use crate::sim::{Lane, Observer, Options, Step, replay};
use crate::traffic::{Batch, Traffic};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A search.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// What is looked for.
    pub mark: Mark,
    /// Which way.
    pub direction: Direction,
    /// From where; what happens right there is not meant.
    pub from: Place,
    /// Only arrivals of this key of the first column.
    pub key: Option<KeyId>,
}

/// Looks at all batches and keeps what was found.
struct Seeker<'a> {
    search: Search,
    lanes: usize,
    /// What each lane did with the arrival before this batch.
    last: Vec<bool>,
    found: Option<Place>,
    /// Nothing later can be meant.
    done: &'a AtomicBool,
}

impl Seeker<'_> {
    fn is_meant(&self, place: Place) -> bool {
        let number = place.arrival.unwrap_or_default();
        match (self.search.direction, self.search.from) {
            (Direction::Forward, from) => !from.includes(place.at, number),
            (Direction::Backward, Place { at, arrival: None }) => place.at < at,
            (Direction::Backward, Place { at, arrival: Some(last) }) => (place.at, number) < (at, last),
        }
    }

    /// The rows of one key that are marked, one by one.
    fn marks_of_key(&mut self, key: KeyId, batch: &Batch, verdicts: &[Verdicts]) -> Bits {
        let mut marks = Bits::default();
        marks.fill_zero(batch.len());
        for row in (0..batch.len()).filter(|row| batch.keys[0][*row] == key) {
            let marked = match self.search.mark {
                Mark::Arrival => true,
                Mark::Denial { lane } => !verdicts[lane].admitted.get(row),
                Mark::Split => {
                    let admits = |lane: usize| verdicts[lane].admitted.get(row);
                    let split = (1..self.lanes).any(|lane| admits(lane) != admits(0));
                    let new = self.last.is_empty() || (0..self.lanes).any(|lane| admits(lane) != self.last[lane]);
                    if new {
                        self.last = (0..self.lanes).map(admits).collect();
                    }
                    split && new
                }
            };
            if marked {
                marks.set(row);
            }
        }
        marks
    }

    /// The rows that are marked, whosever they are.
    fn marks(&mut self, batch: &Batch, verdicts: &[Verdicts]) -> Bits {
        let rows = batch.len();
        let mut marks = Bits::default();
        marks.fill_zero(rows);
        match self.search.mark {
            Mark::Arrival => (0..rows).for_each(|row| marks.set(row)),
            Mark::Denial { lane } => {
                (0..rows).filter(|row| !verdicts[lane].admitted.get(*row)).for_each(|row| marks.set(row));
            }
            Mark::Split => {
                let mut split = Bits::default();
                split.fill_zero(rows);
                for verdict in &verdicts[1..self.lanes] {
                    split.mark_differences(&verdicts[0].admitted, &verdict.admitted);
                }
                for row in split.ones() {
                    let new = match row.checked_sub(1) {
                        Some(before) => verdicts[..self.lanes]
                            .iter()
                            .any(|verdict| verdict.admitted.get(row) != verdict.admitted.get(before)),
                        None => {
                            self.last.is_empty()
                                || (0..self.lanes).any(|lane| verdicts[lane].admitted.get(0) != self.last[lane])
                        }
                    };
                    if new {
                        marks.set(row);
                    }
                }
                self.last = verdicts[..self.lanes].iter().map(|verdict| verdict.admitted.get(rows - 1)).collect();
            }
        }
        marks
    }
}

impl Observer for Seeker<'_> {
    fn observe(&mut self, step: &Step, verdicts: &[Verdicts]) {
        let batch = &step.batch;
        let Some(last) = batch.at.last().filter(|_| !self.done.load(Relaxed)) else { return };
        let marks = match self.search.key {
            Some(key) => self.marks_of_key(key, batch, verdicts),
            None => self.marks(batch, verdicts),
        };
        let forward = self.search.direction == Direction::Forward;
        for row in marks.ones() {
            let place = Place { at: batch.at[row], arrival: Some(batch.first + row as u64 + 1) };
            let meant = self.is_meant(place);
            if meant {
                self.found = Some(place);
            }
            // The first after the place, or the last before it: then comes one that is not.
            if meant == forward {
                return self.done.store(true, Relaxed);
            }
        }
        if !forward && *last > self.search.from.at {
            self.done.store(true, Relaxed);
        }
    }
}

/// Runs a plan again and looks for an arrival; answers its place.
///
/// # Errors
/// As [`run`](super::run); and if standard input would have to be read twice.
pub fn seek(
    plan: &Plan,
    search: Search,
    options: Options,
    go_on: &mut (dyn FnMut() -> bool + Send),
) -> Result<Option<Place>, Error> {
    if plan.traffic.entries.iter().any(|entry| entry.reads_stdin()) {
        return Err(Error::usage("standard input cannot be read twice for a search"));
    }
    let mut traffic = Traffic::open(&plan.traffic)?;
    if plan.needs_feedback() {
        return seek_closed(plan, &mut traffic, search, options, go_on);
    }
    let workload = plan.workload();
    let mut lanes: Vec<Lane> = plan.lanes.iter().map(|lane| Lane::new(lane.clone(), &workload)).collect();
    let done = AtomicBool::new(false);
    let mut seeker = Seeker { search, lanes: lanes.len(), last: Vec::new(), found: None, done: &done };
    let mut interrupted = false;
    let mut watch = |_: &Step| {
        interrupted = !go_on();
        !interrupted && !done.load(Relaxed)
    };
    replay(&mut traffic, &mut lanes, &mut [], &mut [Box::new(&mut seeker)], options, &mut watch)?;
    if interrupted {
        return Err(Error::Interrupted);
    }
    Ok(seeker.found)
}

/// Looks for an attempt of a lane's own, or for a first attempt.
fn seek_closed(
    plan: &Plan,
    traffic: &mut Traffic,
    search: Search,
    options: Options,
    go_on: &mut (dyn FnMut() -> bool + Send),
) -> Result<Option<Place>, Error> {
    let done = AtomicBool::new(false);
    let (lane, lanes, mark) = match search.mark {
        Mark::Denial { lane } => (Some(lane), 1, Mark::Denial { lane: 0 }),
        other => (None, plan.lanes.len(), other),
    };
    let mut seeker = Seeker { search: Search { mark, ..search }, lanes, last: Vec::new(), found: None, done: &done };
    {
        let mut of_lanes: Vec<Vec<Box<dyn Observer + '_>>> = plan.lanes.iter().map(|_| Vec::new()).collect();
        let mut of_first: Vec<Box<dyn Observer + '_>> = Vec::new();
        match lane {
            Some(lane) => of_lanes[lane].push(Box::new(&mut seeker)),
            None => of_first.push(Box::new(&mut seeker)),
        }
        let mut nobody = vec![(); plan.lanes.len()];
        closed::watch(plan, traffic, of_lanes, of_first, &mut nobody, options, go_on)?;
    }
    Ok(seeker.found)
}
