//! A close look at one span: counts and trailing sums by column.

use super::{Course, Passage, PeakCourse};
use crate::limiter::{KeyId, Verdicts};
use crate::report::{Counts, LaneDetail};
use crate::sim::{LanePlan, Observer, Step};
use crate::time::{SimDuration, SimTime};
use crate::traffic::Batch;
use std::collections::VecDeque;
use std::ops::Range;

/// The columns of a span.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    /// First instant.
    pub from: SimTime,
    /// First instant after it.
    pub until: SimTime,
    /// How many columns.
    pub count: usize,
}

impl Columns {
    /// The column of an instant in the span.
    #[must_use]
    pub fn column(&self, at: i64) -> Option<usize> {
        if at < self.from.nanos() || at >= self.until.nanos() {
            return None;
        }
        // The largest i whose edge, rounded down, is not after the instant.
        let offset = at.abs_diff(self.from.nanos());
        let column = match self.narrow() {
            Some(span) => (((offset + 1) * self.count as u64 - 1) / span) as usize,
            None => (((i128::from(offset) + 1) * self.count as i128 - 1) / self.span()) as usize,
        };
        Some(column.min(self.count - 1))
    }

    /// First instant of column `column`.
    #[must_use]
    pub fn edge(&self, column: usize) -> i64 {
        let offset = match self.narrow() {
            Some(span) => (span * column as u64 / self.count as u64) as i128,
            None => self.span() * column as i128 / self.count as i128,
        };
        (i128::from(self.from.nanos()) + offset) as i64
    }

    /// The span, if 64 bits hold it times any column: they divide much faster.
    fn narrow(&self) -> Option<u64> {
        let span = self.until.nanos().abs_diff(self.from.nanos());
        (span < u64::MAX >> 12 && self.count < 1 << 12).then_some(span)
    }

    /// Where in a batch the rows within the span begin and end.
    #[must_use]
    pub fn rows(&self, batch: &Batch) -> (usize, usize) {
        let first = batch.at.partition_point(|at| *at < self.from);
        (first, first + batch.at[first..].partition_point(|at| *at < self.until))
    }

    /// Rows within the span, as runs that lie in one column.
    pub fn runs<'a>(
        &'a self,
        batch: &'a Batch,
        rows: Range<usize>,
    ) -> impl Iterator<Item = (usize, Range<usize>)> + 'a {
        let mut row = rows.start;
        std::iter::from_fn(move || {
            let rest = batch.at.get(row..rows.end).filter(|rest| !rest.is_empty())?;
            let column = self.column(rest[0].nanos())?;
            let edge = self.edge(column + 1);
            let first = row;
            row += rest.partition_point(|at| at.nanos() < edge);
            Some((column, first..row))
        })
    }

    fn span(&self) -> i128 {
        i128::from(self.until.nanos()) - i128::from(self.from.nanos())
    }
}

/// Whose attempts are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Everybody's.
    All,
    /// Those of one key of the first column.
    Key(KeyId),
}

impl Whose {
    /// Whether row `row` is one of them.
    #[must_use]
    pub fn counts(self, batch: &Batch, row: usize) -> bool {
        match self {
            Self::All => true,
            Self::Key(key) => batch.keys[0][row] == key,
        }
    }
}

/// The rows of one key in a column of keys.
pub(super) fn rows_of(keys: &[KeyId], key: KeyId) -> impl Iterator<Item = usize> + '_ {
    keys.iter().enumerate().filter(move |(_, other)| **other == key).map(|(row, _)| row)
}

/// What was decided on a range of rows.
pub(super) fn tally(verdicts: &Verdicts, rows: Range<usize>) -> Counts {
    let place = |row: usize| verdicts.waits.partition_point(|(delayed, _)| (*delayed as usize) < row);
    let admitted = verdicts.admitted.count(rows.clone());
    let delayed = (place(rows.end) - place(rows.start)) as u64;
    Counts { allowed: admitted - delayed, delayed, denied: rows.len() as u64 - admitted }
}

/// Counts one lane's decisions by column and follows the releases of one key.
#[derive(Debug)]
pub struct SpanRecorder {
    lane: usize,
    plan: LanePlan,
    columns: Columns,
    whose: Whose,
    tracked: Option<KeyId>,
    window: Option<i64>,
    /// Counts before the span.
    before: Counts,
    /// Counts in each column.
    counts: Vec<Counts>,
    live: VecDeque<(i64, u64)>,
    sum: u64,
    trailing: Course,
    peak: PeakCourse,
    highest: u64,
}

impl SpanRecorder {
    /// Records lane number `lane` of this plan; follows `tracked` through windows of `window`;
    /// keeps at most `keep` changes.
    #[must_use]
    pub fn new(
        lane: usize,
        plan: &LanePlan,
        columns: Columns,
        whose: Whose,
        tracked: Option<KeyId>,
        window: Option<SimDuration>,
        keep: usize,
    ) -> Self {
        Self {
            lane,
            plan: plan.clone(),
            columns,
            whose,
            tracked,
            window: window.map(|window| i64::try_from(window.short_nanos()).expect("a configured span")),
            before: Counts::default(),
            counts: vec![Counts::default(); columns.count],
            live: VecDeque::new(),
            sum: 0,
            trailing: Course::new(columns, keep),
            peak: PeakCourse::new(columns, keep),
            highest: 0,
        }
    }

    /// Counts the decisions on a batch, whose rows are in order of time.
    fn count(&mut self, batch: &Batch, verdicts: &Verdicts) {
        match self.whose {
            Whose::All => {
                let (first, last) = self.columns.rows(batch);
                self.before += tally(verdicts, 0..first);
                for (column, rows) in self.columns.runs(batch, first..last) {
                    self.counts[column] += tally(verdicts, rows);
                }
            }
            Whose::Key(key) => {
                for row in rows_of(&batch.keys[0], key) {
                    let at = batch.at[row].nanos();
                    match self.columns.column(at) {
                        Some(column) => self.counts[column] += tally(verdicts, row..row + 1),
                        None if at < self.columns.from.nanos() => self.before += tally(verdicts, row..row + 1),
                        None => {}
                    }
                }
            }
        }
    }

    /// Follows what was released of the tracked key.
    fn follow(&mut self, batch: &Batch, verdicts: &Verdicts, key: KeyId, window: i64) {
        for row in rows_of(&batch.keys[self.plan.column], key) {
            // What takes nothing never waits: it may overtake, and has no units to show.
            let cost = batch.cost[row];
            if !verdicts.admitted.get(row) || self.plan.exempts(batch.source[row]) || cost == 0 {
                continue;
            }
            let released = batch.at[row].nanos() + verdicts.wait(row) as i64;
            self.expire(released, window);
            self.live.push_back((released, cost));
            self.sum += cost;
            let number = batch.first + row as u64 + 1;
            self.trailing.set(released, number, self.sum);
            if self.sum > self.highest {
                self.highest = self.sum;
                self.peak.note(released, number, self.sum);
            }
        }
    }

    /// Lets all releases leave the window that have left it at `at`.
    fn expire(&mut self, at: i64, window: i64) {
        while let Some((released, cost)) = self.live.front().copied().filter(|(released, _)| *released <= at - window) {
            self.live.pop_front();
            self.sum -= cost;
            self.trailing.set(released + window, 0, self.sum);
        }
    }

    /// What was found. The level is left to a [`LevelCourse`](super::LevelCourse); without a limit,
    /// nothing was followed.
    #[must_use]
    pub fn finish(mut self) -> LaneDetail {
        let mut detail = LaneDetail { before: self.before, ..LaneDetail::default() };
        if let Some(window) = self.window {
            self.expire(self.columns.until.nanos(), window);
            let Passage { before, columns, changes } = self.trailing.finish();
            (detail.trailing_before, detail.trailing, detail.trailing_changes) = (before, columns, changes);
            let Passage { before, columns, changes } = self.peak.finish();
            (detail.peak_before, detail.peak, detail.peak_changes) = (before, columns, changes);
        }
        detail.counts = self.counts;
        detail
    }
}

impl Observer for SpanRecorder {
    fn observe(&mut self, step: &Step, verdicts: &[Verdicts]) {
        let verdicts = &verdicts[self.lane];
        self.count(&step.batch, verdicts);
        if let (Some(window), Some(key)) = (self.window, self.tracked) {
            self.follow(&step.batch, verdicts, key, window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instant_lies_between_its_columns_edges() {
        for (from, until, count) in [(0, 100, 7), (-50, 13, 5), (10, 13, 8), (0, 1_000_003, 500)] {
            let columns = Columns { from: SimTime::from_nanos(from), until: SimTime::from_nanos(until), count };
            for at in from..until.min(from + 2000) {
                let column = columns.column(at).expect("inside");
                assert!(columns.edge(column) <= at && at < columns.edge(column + 1), "{at} in {from}..{until}");
            }
            assert_eq!((columns.column(from - 1), columns.column(until)), (None, None));
            assert_eq!((columns.edge(0), columns.edge(count)), (from, until));
        }
    }
}
