//! A run as of one place in it: what had happened there and then.

use super::detail::{Change, Counts, Detail, RequestCounts};
use crate::time::SimTime;

/// A place in a run: everything up to it has happened, nothing after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The instant.
    pub at: SimTime,
    /// The last arrival of this instant that has been decided; `None`: all of them have.
    pub arrival: Option<u64>,
}

/// An arrival that is worth going to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Any.
    Arrival,
    /// One on which the lanes do not all agree, waits apart. Neighbours on which the same lanes
    /// refuse count once: the first of them is meant.
    Split,
    /// One that this lane refuses.
    Denial {
        /// The lane's number.
        lane: usize,
    },
}

/// Which way to go from a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To what comes after it.
    Forward,
    /// To what comes before it.
    Backward,
}

impl Place {
    /// The end of an instant: all its arrivals have been decided.
    #[must_use]
    pub const fn after(at: SimTime) -> Self {
        Self { at, arrival: None }
    }

    /// The beginning of an instant: none of its arrivals has been decided.
    #[must_use]
    pub const fn before(at: SimTime) -> Self {
        Self { at, arrival: Some(0) }
    }

    /// Whether what arrival `number` did at `at` has happened.
    #[must_use]
    pub fn includes(self, at: SimTime, number: u64) -> bool {
        at < self.at || (at == self.at && self.arrival.is_none_or(|last| number <= last))
    }
}

impl Detail {
    /// Whether the place lies in the span.
    #[must_use]
    pub fn contains(&self, place: Place) -> bool {
        self.from <= place.at && place.at < self.until
    }

    /// Whether the arrivals of the span are listed one by one.
    #[must_use]
    pub const fn lists_arrivals(&self) -> bool {
        self.arrivals.len() as u64 == self.arrivals_within
    }

    /// How many of the listed arrivals have been decided.
    #[must_use]
    pub fn decided(&self, place: Place) -> usize {
        self.arrivals.partition_point(|arrival| place.includes(arrival.at, arrival.number))
    }

    /// Columns that have passed entirely.
    #[must_use]
    pub fn columns_passed(&self, place: Place) -> usize {
        // A column has passed when its last nanosecond has; with arrivals of that one to come, not yet.
        let end = i128::from(place.at.nanos()) + i128::from(place.arrival.is_none());
        let (mut low, mut high) = (0, self.columns);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if i128::from(self.edge(middle).nanos()) <= end { low = middle } else { high = middle - 1 }
        }
        low
    }

    /// What lane number `lane` had decided: exact while arrivals are listed, else up to the last
    /// column that has passed.
    #[must_use]
    pub fn counts_at(&self, lane: usize, place: Place) -> Counts {
        let lane = &self.lanes[lane];
        let passed = self.columns_passed(place);
        let mut sum = lane.before;
        lane.counts[..passed].iter().for_each(|counts| sum += *counts);
        if self.lists_arrivals() {
            let edge = self.edge(passed);
            let from = self.arrivals.partition_point(|arrival| arrival.at < edge);
            for decision in &lane.decisions[from..self.decided(place).max(from)] {
                sum += decision.kind.once();
            }
        }
        sum
    }

    /// What had become of lane number `lane`'s requests, up to the last column that has passed; `None`
    /// in an open loop.
    #[must_use]
    pub fn requests_at(&self, lane: usize, place: Place) -> Option<RequestCounts> {
        let lane = &self.lanes[lane];
        let passed = lane.requests.get(..self.columns_passed(place)).filter(|_| !lane.requests.is_empty())?;
        let mut sum = lane.requests_before;
        passed.iter().for_each(|counts| sum += *counts);
        Some(sum)
    }

    /// Units that lane number `lane` had released to its key in the last window; `None` without a
    /// limit.
    #[must_use]
    pub fn trailing_at(&self, lane: usize, place: Place) -> Option<u64> {
        let lane = &self.lanes[lane];
        let passed = |passed: usize| match passed.checked_sub(1) {
            None => (!lane.trailing.is_empty()).then_some(lane.trailing_before),
            Some(last) => lane.trailing.get(last).map(|extent| extent.last as u64),
        };
        value_at(&lane.trailing_changes, place).or_else(|| passed(self.columns_passed(place)))
    }

    /// The peak so far of lane number `lane`; `None` without a limit.
    #[must_use]
    pub fn peak_at(&self, lane: usize, place: Place) -> Option<u64> {
        let lane = &self.lanes[lane];
        let passed = |passed: usize| match passed.checked_sub(1) {
            None => (!lane.peak.is_empty()).then_some(lane.peak_before),
            Some(last) => lane.peak.get(last).copied(),
        };
        value_at(&lane.peak_changes, place).or_else(|| passed(self.columns_passed(place)))
    }

    /// The units in use that lane number `lane` last saw of its key: right after an arrival in
    /// this column, else at the end of the column before; `None` where neither is known.
    #[must_use]
    pub fn level_at(&self, lane: usize, place: Place) -> Option<f64> {
        let lane = &self.lanes[lane];
        let passed = self.columns_passed(place);
        let from = self.edge(passed);
        let listed = self.arrivals.iter().zip(&lane.decisions).take(self.decided(place)).rev();
        let recent = listed.take_while(|(arrival, _)| arrival.at >= from).find_map(|(_, decision)| decision.used);
        recent.or_else(|| lane.level.get(passed.checked_sub(1)?).map(|extent| extent.last))
    }
}

/// The last value that had been taken.
fn value_at(changes: &[Change], place: Place) -> Option<u64> {
    let passed = changes.partition_point(|change| place.includes(change.at, change.arrival));
    changes.get(passed.checked_sub(1)?).map(|change| change.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_passes_arrival_by_arrival() {
        let at = SimTime::from_nanos(5);
        let place = Place { at, arrival: Some(3) };
        assert!(place.includes(at, 3) && place.includes(SimTime::from_nanos(4), 9));
        assert!(!place.includes(at, 4) && !place.includes(SimTime::from_nanos(6), 1));
        assert!(Place::after(at).includes(at, 4));
        assert!(!Place::before(at).includes(at, 1) && Place::before(at).includes(SimTime::from_nanos(4), 9));
    }

    #[test]
    fn columns_pass_with_their_last_nanosecond() {
        let detail = Detail {
            from: SimTime::from_nanos(-10),
            until: SimTime::from_nanos(10),
            columns: 4,
            arrivals_before: 0,
            arrivals_within: 0,
            arrivals: Vec::new(),
            split: Vec::new(),
            ticks: Vec::new(),
            between_ticks: vec![0],
            lanes: Vec::new(),
        };
        let passed = |at| detail.columns_passed(Place::after(SimTime::from_nanos(at)));
        assert_eq!([-10, -7, -6, -5, 3, 4, 8, 9, 99].map(passed), [0, 0, 1, 1, 2, 3, 3, 4, 4]);
        let held = Place { at: SimTime::from_nanos(-6), arrival: Some(1) };
        assert_eq!(detail.columns_passed(held), 0);
    }
}
