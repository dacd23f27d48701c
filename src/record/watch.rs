//! A level that somebody keeps, through a span.

use super::level::units;
use super::span::Columns;
use crate::limiter::KeyId;
use crate::report::Extent;
use crate::sim::{Book, Books};
use crate::time::SimTime;

/// Follows the level of one key in one book. Between two changes a level only falls, so it is asked for
/// at both ends of the time between them.
#[derive(Debug)]
pub struct LevelWatch {
    book: Book,
    key: Option<KeyId>,
    columns: Columns,
    extents: Vec<Extent>,
    low: f64,
    high: f64,
    /// Since when nothing has changed.
    since: i64,
    limit: Option<u64>,
    /// Whether the book has it.
    kept: bool,
}

impl LevelWatch {
    /// Follows a key of the lane's column; nothing without one.
    #[must_use]
    pub const fn new(book: Book, key: Option<KeyId>, columns: Columns) -> Self {
        Self {
            book,
            key,
            columns,
            extents: Vec::new(),
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            since: i64::MIN,
            limit: None,
            kept: true,
        }
    }

    /// Until `at` the books were as they are.
    pub fn look(&mut self, at: i64, books: &Books<'_>) {
        let (from, since) = (self.columns.from.nanos(), self.since);
        if at <= since || !self.kept {
            return;
        }
        self.since = at;
        let (Some(key), true) = (self.key, at > from && self.extents.len() < self.columns.count) else { return };
        let start = since.max(from);
        if !self.begin(key, start, books) {
            return;
        }
        while self.extents.len() < self.columns.count {
            let edge = self.columns.edge(self.extents.len() + 1);
            if edge > at {
                self.note(key, at - 1, books);
                return;
            }
            // The column's last instant: what the next one begins with is its own.
            let last = self.note(key, (edge - 1).max(start), books);
            self.extents.push(Extent { min: self.low, max: self.high, last });
            (self.low, self.high) = (last, last);
        }
    }

    /// Notes the level that the last change has left; whether there is one.
    fn begin(&mut self, key: KeyId, at: i64, books: &Books<'_>) -> bool {
        let at_first = self.extents.is_empty() && self.low == f64::INFINITY;
        if at_first {
            self.kept = books.units(self.book, key, SimTime::from_nanos(at)).is_some();
            self.limit = books.limit(self.book, key, SimTime::from_nanos(at));
        }
        if self.kept {
            self.note(key, at, books);
        }
        self.kept
    }

    fn note(&mut self, key: KeyId, at: i64, books: &Books<'_>) -> f64 {
        let value = books.units(self.book, key, SimTime::from_nanos(at)).map_or(0.0, units);
        self.low = self.low.min(value);
        self.high = self.high.max(value);
        value
    }

    /// The level in each column, none where nobody keeps it; and the most that it can be, where that is
    /// told.
    #[must_use]
    pub fn finish(self) -> (Vec<Extent>, Option<u64>) {
        (self.extents, self.limit)
    }
}
