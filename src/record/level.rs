//! The level of one key through a span.

use super::span::{Columns, rows_of};
use crate::limiter::{KeyId, Used, Verdicts, Workload};
use crate::report::Extent;
use crate::sim::{Lane, LanePlan, Observer, Step};
use crate::time::SimTime;

/// Follows the level of one key, on a lane that meets nobody else: keys share nothing.
pub struct LevelCourse {
    columns: Columns,
    key: Option<KeyId>,
    lane: Lane,
    extents: Vec<Extent>,
    low: f64,
    high: f64,
    /// The level after the last arrival, and when: it counts if it lasts.
    latest: Option<(i64, f64)>,
    limit: u64,
}

/// The key's number in a lane of its own.
const ONLY: KeyId = KeyId(0);

/// Units in use, as a picture shows them.
pub(super) fn units(used: Used) -> f64 {
    used.numerator as f64 / used.denominator as f64
}

impl LevelCourse {
    /// Follows a key of the lane's column; nothing without one.
    #[must_use]
    pub fn new(plan: &LanePlan, workload: &Workload, columns: Columns, key: Option<KeyId>) -> Self {
        Self {
            columns,
            key,
            lane: Lane::new(plan.clone(), workload),
            extents: Vec::with_capacity(columns.count),
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            latest: None,
            limit: 0,
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

    /// Notes the level at the span's beginning, once.
    fn begin(&mut self) {
        if self.extents.is_empty() && self.low == f64::INFINITY {
            let level = self.lane.level(ONLY, self.columns.from);
            self.limit = level.limit;
            self.note(units(level.used));
        }
    }

    fn is_finished(&self) -> bool {
        self.extents.len() == self.columns.count
    }

    /// Samples the ends of all columns that end at or before `at`.
    fn sample(&mut self, at: i64) {
        while !self.is_finished() && self.columns.edge(self.extents.len() + 1) <= at {
            let edge = self.columns.edge(self.extents.len() + 1);
            self.begin();
            self.settle(edge);
            // The column's last instant: what the next one begins with is its own.
            let end = (edge - 1).max(self.columns.from.nanos());
            let last = units(self.lane.usage(ONLY, SimTime::from_nanos(end)));
            self.note(last);
            self.extents.push(Extent { min: self.low, max: self.high, last });
            (self.low, self.high) = (last, last);
        }
    }

    /// The next attempt of the key.
    fn arrive(&mut self, source: u16, at: SimTime, cost: u64) {
        let within = at >= self.columns.from && at < self.columns.until;
        if at >= self.columns.from {
            self.sample(at.min(self.columns.until).nanos());
        }
        if within {
            self.begin();
            // What it was until now: at this instant something may have left already.
            let until = at.nanos() - 1;
            if until >= self.columns.edge(self.extents.len()) && self.latest.is_none_or(|(since, _)| since <= until) {
                self.note(units(self.lane.usage(ONLY, SimTime::from_nanos(until))));
            }
            self.settle(at.nanos());
        }
        self.lane.decide(source, ONLY, at, cost);
        if within {
            self.latest = Some((at.nanos(), units(self.lane.usage(ONLY, at))));
        }
    }

    /// The level in each column, and the most that it can be.
    #[must_use]
    pub fn finish(mut self) -> (Vec<Extent>, u64) {
        if self.key.is_some() {
            self.sample(i64::MAX);
        }
        (self.extents, self.limit)
    }
}

impl Observer for LevelCourse {
    fn observe(&mut self, step: &Step, _verdicts: &[Verdicts]) {
        let (batch, column) = (&step.batch, self.lane.plan().column);
        let Some(key) = self.key.filter(|_| !self.is_finished()) else { return };
        for row in rows_of(&batch.keys[column], key) {
            self.arrive(batch.source[row], batch.at[row], batch.cost[row]);
        }
    }
}
