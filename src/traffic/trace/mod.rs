//! Recorded traffic: CSV files, plain or gzip.
//!
//! In this order: `input` unpacks the text; `records` splits it, by way of `marks` and `quoted`;
//! `rows` decodes it, by way of `columns` and `stamp` (`decimal`, `date_time`, `pattern`); `late`
//! puts rows in order.

mod columns;
mod date_time;
mod decimal;
mod input;
mod late;
mod marks;
mod pattern;
mod quoted;
mod records;
mod rows;
mod stamp;

pub use pattern::check_time_pattern;

use super::{InputSummary, KeyTable, Order, Source, SourceRows, TimeFormat, TraceSpec, display_key};
use crate::error::Error;
use input::Input;
use late::Reorder;
use rows::Rows;
use std::io::Read;

/// A trace being read.
pub struct TraceSource {
    rows: Rows,
    reorder: Option<Reorder>,
}

impl TraceSource {
    /// Opens a trace; `attributes` are the names that some lane keys by, beyond the key itself.
    ///
    /// # Errors
    /// If the file cannot be opened, or its header lacks a column that the spec names.
    pub fn open(spec: &TraceSpec, attributes: &[String]) -> Result<Self, Error> {
        Self::new(Input::open(spec)?, spec, attributes, records::BLOCK)
    }

    /// Reads a trace from `reader` instead of the file that the spec names, `block` bytes at a
    /// time; what is read does not depend on `block`.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_reader(
        reader: Box<dyn Read + Send>,
        spec: &TraceSpec,
        attributes: &[String],
        block: usize,
    ) -> Result<Self, Error> {
        Self::new(Input::new(reader, spec.display.clone())?, spec, attributes, block)
    }

    fn new(input: Input, spec: &TraceSpec, attributes: &[String], block: usize) -> Result<Self, Error> {
        if let TimeFormat::Pattern(pattern) = &spec.time_format {
            check_time_pattern(pattern).map_err(|reason| Error::Trace {
                file: spec.display.clone(),
                line: None,
                reason: format!("time-format: {reason}"),
                remedy: None,
            })?;
        }
        let rows = Rows::new(input, spec, attributes, block)?;
        let reorder = match spec.order {
            Order::Strict => None,
            Order::Sort => Some(Reorder::new(1 + attributes.len(), false)),
            Order::Window(_) => Some(Reorder::new(1 + attributes.len(), true)),
        };
        Ok(Self { rows, reorder })
    }
}

impl Source for TraceSource {
    fn fill(&mut self, rows: &mut SourceRows, max: usize) -> Result<(), Error> {
        match &mut self.reorder {
            None => self.rows.fill(rows, max),
            Some(reorder) => reorder.fill(&mut self.rows, rows, max),
        }
    }

    fn keys(&self, attribute: usize) -> &KeyTable {
        match &self.reorder {
            None => self.rows.keys(attribute),
            Some(reorder) => reorder.keys(attribute),
        }
    }

    fn input(&self) -> Option<InputSummary> {
        Some(self.rows.summary().clone())
    }
}

/// Bytes of a file in a message: between backticks, shortened.
fn quote(bytes: &[u8]) -> String {
    const SHOWN: usize = 60;
    let text = display_key(&bytes[..bytes.len().min(4 * SHOWN)]);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}
