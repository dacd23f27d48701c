//! Recorded traffic: CSV files, plain or gzip.

use super::{InputSummary, KeyTable, Source, SourceRows, TraceSpec};
use crate::error::Error;

/// A trace being read.
#[derive(Debug)]
pub struct TraceSource {
    keys: Vec<KeyTable>,
    summary: InputSummary,
}

impl TraceSource {
    /// Opens a trace; `attributes` are the names that some lane keys by, beyond the key itself.
    ///
    /// # Errors
    /// If the file cannot be opened, or its header lacks a column that the spec names.
    pub fn open(spec: &TraceSpec, attributes: &[String]) -> Result<Self, Error> {
        let _ = (spec, attributes);
        todo!()
    }
}

impl Source for TraceSource {
    fn fill(&mut self, rows: &mut SourceRows, max: usize) -> Result<(), Error> {
        let _ = (rows, max);
        todo!()
    }

    fn keys(&self, attribute: usize) -> &KeyTable {
        &self.keys[attribute]
    }

    fn input(&self) -> Option<InputSummary> {
        Some(self.summary.clone())
    }
}
