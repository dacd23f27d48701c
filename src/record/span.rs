//! A close look at one span: counts, trailing sums and levels by column, single decisions while
//! they are few.

use super::{Course, Passage, PeakCourse};
use crate::limiter::{Decision, KeyId, Used, Verdicts};
use crate::report::{Counts, DecisionDetail, DecisionKind, Extent, LaneDetail};
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
            self.trailing.set(released + window, 0, self.sum);
        }
    }

    /// What was found. `level` is left to a [`LevelTap`]; without a limit, nothing was followed.
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
                let number = batch.first + row as u64 + 1;
                self.trailing.set(released, number, self.sum);
                if self.sum > self.highest {
                    self.highest = self.sum;
                    self.peak.note(released, number, self.sum);
                }
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
    /// The level after the last arrival of the key, and when: it counts if it lasts.
    latest: Option<(i64, f64)>,
    /// The most that can be in use.
    pub limit: u64,
    keep: usize,
    /// Decisions in the span, while they are few; more than `keep`: too many, none kept.
    pub decisions: Vec<DecisionDetail>,
    seen: usize,
}

fn units(used: Used) -> f64 {
    used.numerator as f64 / used.denominator as f64
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
            latest: None,
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

    /// Notes the level after the last arrival if it has lasted until `at`.
    fn settle(&mut self, at: i64) {
        if let Some((since, value)) = self.latest
            && since < at
        {
            self.note(value);
            self.latest = None;
        }
    }

    /// Samples the ends of all columns that end at or before `at`.
    fn sample(&mut self, at: i64, lane: &Lane) {
        let Some(key) = self.tracked else { return };
        while self.extents.len() < self.columns.count && self.columns.edge(self.extents.len() + 1) <= at {
            if self.extents.is_empty() && self.low == f64::INFINITY {
                // Nothing of this key in the first column: its level only fell there.
                self.begin(key, lane);
            }
            self.settle(self.columns.edge(self.extents.len() + 1));
            // The column's last instant: what the next one begins with is its own.
            let end = (self.columns.edge(self.extents.len() + 1) - 1).max(self.columns.from.nanos());
            let last = units(lane.usage(key, SimTime::from_nanos(end)));
            self.note(last);
            self.extents.push(Extent { min: self.low, max: self.high, last });
            (self.low, self.high) = (last, last);
        }
    }

    /// Notes the level at the span's beginning.
    fn begin(&mut self, key: KeyId, lane: &Lane) {
        let level = lane.level(key, self.columns.from);
        self.limit = level.limit;
        self.note(units(level.used));
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
            if self.extents.is_empty() && self.low == f64::INFINITY {
                self.begin(key, lane);
            }
            // What it was until now: at this instant something may have left already.
            let until = batch.at[row].nanos() - 1;
            if until >= self.columns.edge(self.extents.len()) && self.latest.is_none_or(|(since, _)| since <= until) {
                self.note(units(lane.usage(key, SimTime::from_nanos(until))));
            }
            self.settle(batch.at[row].nanos());
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
            self.latest = Some((at.nanos(), units(lane.usage(key, at))));
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
                used: tracked.then(|| units(level.used)),
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
