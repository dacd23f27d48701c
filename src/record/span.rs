//! A close look at one span: counts, trailing sums and levels by column, single decisions while
//! they are few.

use crate::limiter::{Decision, KeyId, Level, Verdicts};
use crate::report::{Counts, DecisionDetail, DecisionKind, Extent};
use crate::sim::{Lane, LanePlan, Observer, Step, Tap};
use crate::time::{SimDuration, SimTime};
use crate::traffic::Batch;
use std::collections::VecDeque;

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
        let (offset, span) = (i128::from(at) - i128::from(self.from.nanos()), self.span());
        // The largest i whose edge, rounded down, is not after the instant.
        let column = ((offset + 1) * self.count as i128 - 1).div_euclid(span);
        Some((column as usize).min(self.count - 1))
    }

    /// First instant of column `column`.
    #[must_use]
    pub fn edge(&self, column: usize) -> i64 {
        (i128::from(self.from.nanos()) + self.span() * column as i128 / self.count as i128) as i64
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
    fn counts(self, batch: &Batch, row: usize) -> bool {
        match self {
            Self::All => true,
            Self::Key(key) => batch.keys[0][row] == key,
        }
    }
}

/// A quantity that changes in steps, as its extent in each column.
#[derive(Debug)]
struct Trace {
    columns: Columns,
    extents: Vec<Extent>,
    /// The first column that is not finished.
    open: usize,
    /// The smallest and largest value in it so far.
    low: f64,
    high: f64,
    value: f64,
}

impl Trace {
    fn new(columns: Columns) -> Self {
        Self { columns, extents: Vec::with_capacity(columns.count), open: 0, low: 0.0, high: 0.0, value: 0.0 }
    }

    /// Finishes the columns that end at or before `at` with the value as it is.
    fn advance(&mut self, at: i64) {
        while self.open < self.columns.count && self.columns.edge(self.open + 1) <= at {
            self.extents.push(Extent { min: self.low, max: self.high, last: self.value });
            self.open += 1;
            (self.low, self.high) = (self.value, self.value);
        }
    }

    /// The value from `at` on.
    fn set(&mut self, at: i64, value: f64) {
        self.advance(at);
        self.value = value;
        if at < self.columns.from.nanos() {
            (self.low, self.high) = (value, value);
        } else {
            self.low = self.low.min(value);
            self.high = self.high.max(value);
        }
    }

    fn finish(mut self) -> Vec<Extent> {
        self.advance(i64::MAX);
        self.extents
    }
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
    pub before: Counts,
    /// Counts in each column.
    pub counts: Vec<Counts>,
    live: VecDeque<(i64, u64)>,
    sum: u64,
    trailing: Trace,
}

impl SpanRecorder {
    /// Records lane number `lane`; follows `tracked`, a key of its column, through windows of
    /// `window`. As for the peak, only what is subject to the limiter counts there.
    #[must_use]
    pub fn new(
        lane: usize,
        plan: LanePlan,
        columns: Columns,
        whose: Whose,
        tracked: Option<KeyId>,
        window: Option<SimDuration>,
    ) -> Self {
        Self {
            lane,
            plan,
            columns,
            whose,
            tracked,
            window: window.map(|window| i64::try_from(window.short_nanos()).expect("a configured span")),
            before: Counts::default(),
            counts: vec![Counts::default(); columns.count],
            live: VecDeque::new(),
            sum: 0,
            trailing: Trace::new(columns),
        }
    }

    fn count(&mut self, at: i64, kind: DecisionKind) {
        let counts = match self.columns.column(at) {
            Some(column) => &mut self.counts[column],
            None if at < self.columns.from.nanos() => &mut self.before,
            None => return,
        };
        match kind {
            DecisionKind::Allow => counts.allowed += 1,
            DecisionKind::Delay => counts.delayed += 1,
            DecisionKind::Deny => counts.denied += 1,
        }
    }

    /// Lets all releases leave the window that have left it at `at`.
    fn expire(&mut self, at: i64, window: i64) {
        while let Some((released, cost)) = self.live.front().copied().filter(|(released, _)| *released <= at - window) {
            self.live.pop_front();
            self.sum -= cost;
            self.trailing.set(released + window, self.sum as f64);
        }
    }

    /// The units released in the last window, in each column.
    #[must_use]
    pub fn finish_trailing(&mut self) -> Vec<Extent> {
        let Some(window) = self.window else { return Vec::new() };
        self.expire(self.columns.until.nanos(), window);
        let columns = self.columns;
        std::mem::replace(&mut self.trailing, Trace::new(columns)).finish()
    }
}

impl Observer for SpanRecorder {
    fn observe(&mut self, step: &Step, verdicts: &[Verdicts]) {
        let (batch, verdict) = (&step.batch, &verdicts[self.lane]);
        let mut waits = verdict.waits.iter().peekable();
        for row in 0..batch.len() {
            let wait = waits.next_if(|(delayed, _)| *delayed as usize == row).map_or(0, |(_, wait)| *wait);
            let admitted = verdict.admitted.get(row);
            let at = batch.at[row].nanos();
            if self.whose.counts(batch, row) {
                let kind = match (admitted, wait) {
                    (false, _) => DecisionKind::Deny,
                    (true, 0) => DecisionKind::Allow,
                    (true, _) => DecisionKind::Delay,
                };
                self.count(at, kind);
            }
            if let Some(window) = self.window
                && admitted
                && self.tracked == Some(batch.keys[self.plan.column][row])
                && !self.plan.exempts(batch.source[row])
                // What takes nothing never waits: it may overtake, and has no units to show.
                && batch.cost[row] > 0
            {
                let released = at + wait as i64;
                self.expire(released, window);
                self.live.push_back((released, batch.cost[row]));
                self.sum += batch.cost[row];
                self.trailing.set(released, self.sum as f64);
            }
        }
    }
}

/// Follows the level of one key, and keeps single decisions while they are few.
#[derive(Debug)]
pub struct LevelTap {
    columns: Columns,
    whose: Whose,
    tracked: Option<KeyId>,
    extents: Vec<Extent>,
    low: f64,
    high: f64,
    /// The most that can be in use.
    pub limit: u64,
    keep: usize,
    /// Decisions in the span, while they are few; more than `keep`: too many, none kept.
    pub decisions: Vec<DecisionDetail>,
    seen: usize,
}

fn used(level: &Level) -> f64 {
    level.used.numerator as f64 / level.used.denominator as f64
}

impl LevelTap {
    /// Follows `tracked`, a key of the lane's column; keeps at most `keep` decisions.
    #[must_use]
    pub fn new(columns: Columns, whose: Whose, tracked: Option<KeyId>, keep: usize) -> Self {
        Self {
            columns,
            whose,
            tracked,
            extents: Vec::with_capacity(columns.count),
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            limit: 0,
            keep,
            decisions: Vec::new(),
            seen: 0,
        }
    }

    fn note(&mut self, value: f64) {
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }

    /// Samples the edges of all columns that end at or before `at`.
    fn sample(&mut self, at: i64, lane: &Lane) {
        let Some(key) = self.tracked else { return };
        while self.extents.len() < self.columns.count && self.columns.edge(self.extents.len() + 1) <= at {
            if self.extents.is_empty() && self.low == f64::INFINITY {
                // Nothing of this key in the first column: its level only fell there.
                let level = lane.level(key, self.columns.from);
                self.limit = level.limit;
                self.note(used(&level));
            }
            let edge = self.columns.edge(self.extents.len() + 1);
            let level = lane.level(key, SimTime::from_nanos(edge));
            self.limit = level.limit;
            let last = used(&level);
            self.note(last);
            self.extents.push(Extent { min: self.low, max: self.high, last });
            (self.low, self.high) = (last, last);
        }
    }

    /// The level in each column, once the lane has seen all arrivals of the span.
    #[must_use]
    pub fn finish(&mut self, lane: &Lane) -> Vec<Extent> {
        self.sample(i64::MAX, lane);
        std::mem::take(&mut self.extents)
    }

    /// The decisions kept; `None` if there were too many.
    #[must_use]
    pub fn take_decisions(&mut self) -> Option<Vec<DecisionDetail>> {
        (self.seen <= self.keep).then(|| std::mem::take(&mut self.decisions))
    }
}

impl Tap for LevelTap {
    fn wants(&self, batch: &Batch) -> bool {
        // Until all columns are sampled, even a batch behind the span: its first row closes them.
        let unfinished = self.tracked.is_some() && self.extents.len() < self.columns.count;
        let (Some(first), Some(last)) = (batch.at.first(), batch.at.last()) else { return false };
        *last >= self.columns.from && (*first < self.columns.until || unfinished)
    }

    fn before(&mut self, batch: &Batch, row: usize, lane: &Lane) {
        let at = batch.at[row].nanos();
        if at < self.columns.from.nanos() {
            return;
        }
        self.sample(at.min(self.columns.until.nanos()), lane);
        if let Some(key) = self.tracked
            && at < self.columns.until.nanos()
            && batch.keys[lane.plan().column][row] == key
        {
            self.note(used(&lane.level(key, batch.at[row])));
        }
    }

    fn after(&mut self, batch: &Batch, row: usize, decision: Decision, lane: &Lane) {
        let at = batch.at[row];
        if at < self.columns.from || at >= self.columns.until {
            return;
        }
        let key = batch.keys[lane.plan().column][row];
        let tracked = self.tracked == Some(key);
        let counted = self.whose.counts(batch, row);
        if tracked {
            self.note(used(&lane.level(key, at)));
        }
        if counted {
            self.seen += 1;
            if self.seen > self.keep {
                self.decisions = Vec::new();
                return;
            }
            let level = lane.level(key, at);
            let (kind, wait_ns) = match decision {
                Decision::Allow => (DecisionKind::Allow, 0),
                Decision::Delay(wait) => (DecisionKind::Delay, wait.short_nanos()),
                Decision::Deny => (DecisionKind::Deny, 0),
            };
            let retry_after_ns = if kind == DecisionKind::Deny {
                lane.retry_after(key, at, batch.cost[row]).map(SimDuration::nanos)
            } else {
                None
            };
            self.decisions.push(DecisionDetail {
                kind,
                wait_ns,
                remaining: level.remaining,
                next_ns: level.next.nanos(),
                full_ns: level.full.nanos(),
                retry_after_ns,
            });
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
