//! How a quantity runs through a span: extents by column, and every change while there are few.

use super::span::Columns;
use crate::report::{Change, Extent};
use crate::time::SimTime;

/// A quantity that changes in steps. To its extents only values count that last: what leaves and
/// comes at one instant makes one step.
#[derive(Debug)]
pub struct Course {
    columns: Columns,
    keep: usize,
    extents: Vec<Extent>,
    /// The first column that is not finished.
    open: usize,
    /// The smallest and largest value that has lasted in it so far.
    lasted: Option<(u64, u64)>,
    value: u64,
    /// Since when; an instant before the span counts as its beginning.
    since: i64,
    /// The changes in the span, while they are few; more than `keep`: too many, none kept.
    changes: Vec<Change>,
    changed: usize,
    /// The value just before the span.
    before: u64,
}

/// A quantity's way through a span.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passage<T> {
    /// The value just before the span.
    pub before: u64,
    /// One entry a column.
    pub columns: Vec<T>,
    /// Every change while they are few, the first at the span's beginning; else none.
    pub changes: Vec<Change>,
}

impl Course {
    /// Zero from the beginning of time on; keeps at most `keep` changes.
    #[must_use]
    pub fn new(columns: Columns, keep: usize) -> Self {
        let first = Change { at: columns.from, arrival: 0, value: 0 };
        Self {
            columns,
            keep,
            extents: Vec::with_capacity(columns.count),
            open: 0,
            lasted: None,
            value: 0,
            since: columns.from.nanos(),
            changes: vec![first],
            changed: 0,
            before: 0,
        }
    }

    /// The value has lasted until `at`.
    fn last(&mut self, at: i64) {
        if at > self.since {
            let (low, high) = self.lasted.unwrap_or((self.value, self.value));
            self.lasted = Some((low.min(self.value), high.max(self.value)));
            self.since = at;
        }
    }

    /// Finishes the columns that end at or before `at` with the value as it is.
    fn advance(&mut self, at: i64) {
        while self.open < self.columns.count && self.columns.edge(self.open + 1) <= at {
            self.last(self.columns.edge(self.open + 1));
            // A column of no width holds the value, too.
            let (low, high) = self.lasted.take().unwrap_or((self.value, self.value));
            let (low, high) = (low.min(self.value), high.max(self.value));
            self.extents.push(Extent { min: low as f64, max: high as f64, last: self.value as f64 });
            self.open += 1;
        }
    }

    /// The value from `at` on, never before the last change; arrival number `arrival` made it.
    pub fn set(&mut self, at: i64, arrival: u64, value: u64) {
        self.advance(at);
        self.last(at);
        self.value = value;
        if at < self.columns.from.nanos() {
            self.before = value;
            if let Some(first) = self.changes.first_mut() {
                first.value = value;
            }
            return;
        }
        if at < self.columns.until.nanos() {
            self.changed += 1;
            if self.changed > self.keep {
                self.changes = Vec::new();
            } else {
                self.changes.push(Change { at: SimTime::from_nanos(at), arrival, value });
            }
        }
    }

    /// The extents in all columns, and the changes if they were few.
    #[must_use]
    pub fn finish(mut self) -> Passage<Extent> {
        self.advance(i64::MAX);
        Passage { before: self.before, columns: self.extents, changes: self.changes }
    }
}

/// The largest value so far of a quantity whose values need not come in order of time.
#[derive(Clone, Debug)]
pub struct PeakCourse {
    columns: Columns,
    keep: usize,
    before: u64,
    best: Vec<u64>,
    /// Values in the span that may be records, while they are few; more than `keep`: none kept.
    candidates: Vec<Change>,
    noted: usize,
}

impl PeakCourse {
    /// Nothing yet; keeps at most `keep` records.
    #[must_use]
    pub fn new(columns: Columns, keep: usize) -> Self {
        Self { columns, keep, before: 0, best: vec![0; columns.count], candidates: Vec::new(), noted: 0 }
    }

    /// At `at`, arrival number `arrival` made the quantity `value`.
    pub fn note(&mut self, at: i64, arrival: u64, value: u64) {
        if at < self.columns.from.nanos() {
            self.before = self.before.max(value);
        } else if value > self.before
            && let Some(column) = self.columns.column(at)
        {
            self.best[column] = self.best[column].max(value);
            self.noted += 1;
            if self.noted > self.keep {
                self.candidates = Vec::new();
            } else {
                self.candidates.push(Change { at: SimTime::from_nanos(at), arrival, value });
            }
        }
    }

    /// The largest value so far at the end of each column, and its records if they were few.
    #[must_use]
    pub fn finish(mut self) -> Passage<u64> {
        let mut best = self.before;
        for value in &mut self.best {
            best = best.max(*value);
            *value = best;
        }
        if self.noted > self.keep {
            return Passage { before: self.before, columns: self.best, changes: Vec::new() };
        }
        let mut records = vec![Change { at: self.columns.from, arrival: 0, value: self.before }];
        self.candidates.sort_by_key(|change| (change.at, change.arrival));
        for change in self.candidates {
            if records.last().is_none_or(|last| change.value > last.value) {
                records.push(change);
            }
        }
        Passage { before: self.before, columns: self.best, changes: records }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Columns {
        Columns { from: SimTime::from_nanos(10), until: SimTime::from_nanos(30), count: 2 }
    }

    fn change(at: i64, arrival: u64, value: u64) -> Change {
        Change { at: SimTime::from_nanos(at), arrival, value }
    }

    #[test]
    fn a_course_knows_extents_and_changes() {
        let mut course = Course::new(columns(), 8);
        for (at, arrival, value) in [(3, 1, 4), (9, 2, 5), (12, 3, 6), (25, 0, 2), (30, 4, 3)] {
            course.set(at, arrival, value);
        }
        let Passage { before, columns, changes } = course.finish();
        assert_eq!(before, 5);
        assert_eq!(columns, [Extent { min: 5.0, max: 6.0, last: 6.0 }, Extent { min: 2.0, max: 6.0, last: 2.0 }]);
        assert_eq!(changes, [change(10, 0, 5), change(12, 3, 6), change(25, 0, 2)]);
    }

    #[test]
    fn too_many_changes_are_not_kept() {
        let mut course = Course::new(columns(), 1);
        course.set(12, 1, 1);
        course.set(13, 2, 2);
        assert_eq!(course.finish().changes, []);
    }

    #[test]
    fn records_are_put_in_order_of_time() {
        let mut peak = PeakCourse::new(columns(), 8);
        for (at, arrival, value) in [(2, 1, 3), (22, 2, 9), (11, 3, 5), (11, 4, 3), (12, 5, 4), (99, 6, 50)] {
            peak.note(at, arrival, value);
        }
        let Passage { before, columns, changes } = peak.finish();
        assert_eq!((before, columns), (3, vec![5, 9]));
        assert_eq!(changes, [change(10, 0, 3), change(11, 3, 5), change(22, 2, 9)]);
    }
}
