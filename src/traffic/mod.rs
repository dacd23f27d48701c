//! Traffic: synthetic patterns and recorded traces, as batches of arrivals in order of time.

mod keys;
mod merge;
mod pattern;
mod spec;
mod trace;

pub use keys::{KeyTable, display_key, stable_hash};
pub use merge::{Batch, Traffic};
pub use spec::{
    AttributeSource, BadRows, Column, KeysSpec, Order, Pattern, PatternSpec, TimeFormat, TraceFile, TraceSpec,
    TrafficKind, TrafficPlan, TrafficSpec,
};
pub use trace::{TraceSource, check_time_pattern};

use crate::error::Error;
use crate::time::SimTime;

/// Arrivals of one source, as columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct SourceRows {
    /// When each arrives, never decreasing.
    pub at: Vec<SimTime>,
    /// Units it takes.
    pub cost: Vec<u64>,
    /// For each attribute of the plan, the source's own number of its value.
    pub ids: Vec<Vec<u32>>,
}

impl SourceRows {
    /// No rows, with this many attribute columns.
    #[must_use]
    pub fn new(attributes: usize) -> Self {
        Self { at: Vec::new(), cost: Vec::new(), ids: vec![Vec::new(); attributes] }
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.at.clear();
        self.cost.clear();
        self.ids.iter_mut().for_each(Vec::clear);
    }
}

/// A row that was not used, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// Its line in the file, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// What was read from a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputSummary {
    /// The file as the user named it.
    pub file: String,
    /// Rows used.
    pub rows: u64,
    /// Rows left out.
    pub bad: u64,
    /// The first of those left out, at most twenty.
    pub first_bad: Vec<BadRow>,
    /// Rows earlier than one before them in the file, put in order.
    pub late: u64,
    /// The column that holds the time, by its name or as `column 1`; none in an empty file.
    pub timed_by: Option<String>,
    /// The column that holds the key; without one, all rows have the same key.
    pub keyed_by: Option<String>,
}

/// A source of arrivals in order of time.
pub trait Source: Send {
    /// Appends up to `max` arrivals; appends none only at the end.
    ///
    /// # Errors
    /// If the source cannot be read or a row of it is bad.
    fn fill(&mut self, rows: &mut SourceRows, max: usize) -> Result<(), Error>;

    /// The values of attribute `attribute` (0 is the key), by the source's own numbers.
    fn keys(&self, attribute: usize) -> &KeyTable;

    /// What has been read so far, if this is a trace.
    fn input(&self) -> Option<InputSummary> {
        None
    }
}
