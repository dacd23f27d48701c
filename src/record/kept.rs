//! Single arrivals of a span and what was decided on them, while they are few.

use super::level::units;
use super::span::{Columns, Whose, rows_of};
use crate::limiter::{Bits, Decision, KeyId, Verdicts};
use crate::report::{DecisionDetail, DecisionKind};
use crate::sim::{Lane, Observer, Step, Tap};
use crate::time::{SimDuration, SimTime, round_instants};
use crate::traffic::Batch;
use std::ops::Range;

/// Round instants of a span at most.
const TICKS: usize = 4;

/// One arrival.
#[derive(Clone, Copy, Debug)]
pub struct KeptArrival {
    /// Its number, from 1.
    pub number: u64,
    /// When.
    pub at: SimTime,
    /// Its key of the first column.
    pub key: KeyId,
    /// Units it takes.
    pub cost: u64,
}

/// Keeps the arrivals of a span, while they are few, and counts them between round instants.
#[derive(Debug)]
pub struct KeptArrivals {
    columns: Columns,
    whose: Whose,
    keep: usize,
    /// Arrivals before the span.
    pub before: u64,
    /// Arrivals within it.
    pub within: u64,
    /// Round instants in the span.
    pub ticks: Vec<SimTime>,
    /// Arrivals before the first of them, between them, after the last.
    pub between_ticks: Vec<u64>,
    /// The first arrivals: all, if they are not more than asked for.
    pub kept: Vec<KeptArrival>,
    /// In each column, the arrivals on which the lanes do not all agree, waits apart.
    pub split: Vec<u64>,
}

impl KeptArrivals {
    /// None yet; keeps at most `keep`.
    #[must_use]
    pub fn new(columns: Columns, whose: Whose, keep: usize) -> Self {
        let ticks = round_instants(columns.from, columns.until, TICKS);
        Self {
            columns,
            whose,
            keep,
            before: 0,
            within: 0,
            between_ticks: vec![0; ticks.len() + 1],
            ticks,
            kept: Vec::new(),
            split: vec![0; columns.count],
        }
    }

    /// Counts rows of one column, all of them looked at.
    fn count(&mut self, batch: &Batch, split: &Bits, column: usize, rows: Range<usize>) {
        self.split[column] += split.count(rows.clone());
        let keep = rows.clone().take((self.keep as u64).saturating_sub(self.within) as usize);
        self.kept.extend(keep.map(|row| KeptArrival {
            number: batch.first + row as u64 + 1,
            at: batch.at[row],
            key: batch.keys[0][row],
            cost: batch.cost[row],
        }));
        self.within += rows.len() as u64;
        let mut rest = rows;
        while !rest.is_empty() {
            let stretch = self.ticks.partition_point(|tick| *tick <= batch.at[rest.start]);
            let end = match self.ticks.get(stretch) {
                Some(tick) => rest.start + batch.at[rest.clone()].partition_point(|at| at < tick),
                None => rest.end,
            };
            self.between_ticks[stretch] += (end - rest.start) as u64;
            rest.start = end;
        }
    }
}

impl Observer for KeptArrivals {
    fn observe(&mut self, step: &Step, verdicts: &[Verdicts]) {
        let batch = &step.batch;
        let (columns, (first, last)) = (self.columns, self.columns.rows(batch));
        let mut split = Bits::default();
        if first < last {
            split.fill_zero(batch.len());
            for verdict in verdicts {
                split.mark_differences(&verdicts[0].admitted, &verdict.admitted);
            }
        }
        match self.whose {
            Whose::All => {
                self.before += first as u64;
                for (column, rows) in columns.runs(batch, first..last) {
                    self.count(batch, &split, column, rows);
                }
            }
            Whose::Key(key) => {
                self.before += rows_of(&batch.keys[0][..first], key).count() as u64;
                for row in rows_of(&batch.keys[0][first..last], key).map(|row| first + row) {
                    if let Some(column) = columns.column(batch.at[row].nanos()) {
                        self.count(batch, &split, column, row..row + 1);
                    }
                }
            }
        }
    }
}

/// Keeps one lane's decisions in a span, while they are few.
#[derive(Debug)]
pub struct KeptDecisions {
    columns: Columns,
    whose: Whose,
    tracked: Option<KeyId>,
    keep: usize,
    kept: Vec<DecisionDetail>,
    seen: usize,
}

impl KeptDecisions {
    /// Keeps at most `keep` decisions, with the level of `tracked`, a key of the lane's column.
    #[must_use]
    pub const fn new(columns: Columns, whose: Whose, tracked: Option<KeyId>, keep: usize) -> Self {
        Self { columns, whose, tracked, keep, kept: Vec::new(), seen: 0 }
    }

    /// The decisions; none if there were too many.
    #[must_use]
    pub fn finish(self) -> Vec<DecisionDetail> {
        if self.seen <= self.keep { self.kept } else { Vec::new() }
    }
}

impl Tap for KeptDecisions {
    fn wants(&self, batch: &Batch) -> bool {
        let (first, last) = self.columns.rows(batch);
        let counted = match self.whose {
            Whose::All => first < last,
            Whose::Key(key) => rows_of(&batch.keys[0][first..last], key).next().is_some(),
        };
        counted && self.seen <= self.keep
    }

    fn after(&mut self, batch: &Batch, row: usize, decision: Decision, lane: &Lane) {
        let at = batch.at[row];
        let within = at >= self.columns.from && at < self.columns.until;
        if !within || !self.whose.counts(batch, row) || self.seen > self.keep {
            return;
        }
        self.seen += 1;
        if self.seen > self.keep {
            self.kept = Vec::new();
            return;
        }
        let key = batch.keys[lane.plan().column][row];
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
        self.kept.push(DecisionDetail {
            kind,
            wait_ns,
            remaining: level.remaining,
            next_ns: level.next.nanos(),
            full_ns: level.full.nanos(),
            used: (self.tracked == Some(key)).then(|| units(level.used)),
            retry_after_ns,
        });
    }
}
