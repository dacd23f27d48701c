//! Spans of a run as a row of columns.

/// The shortest span that is shown, in nanoseconds.
pub const SHORTEST: i64 = 1_000;

/// A span in nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First instant.
    pub from: i64,
    /// First instant after it.
    pub until: i64,
}

impl Span {
    /// The span of this length, or the shortest, from `from` on.
    #[must_use]
    pub fn new(from: i64, until: i64) -> Self {
        Self { from, until: until.max(from.saturating_add(SHORTEST)) }
    }

    /// Its length in nanoseconds.
    #[must_use]
    pub const fn length(self) -> i64 {
        self.until.saturating_sub(self.from)
    }

    /// Its last instant.
    #[must_use]
    pub const fn last(self) -> i64 {
        self.until - 1
    }

    /// Whether an instant lies in it.
    #[must_use]
    pub const fn contains(self, at: i64) -> bool {
        self.from <= at && at < self.until
    }

    /// Whether another span lies in it.
    #[must_use]
    pub const fn covers(self, other: Self) -> bool {
        self.from <= other.from && other.until <= self.until
    }

    /// The column of an instant, cut to the span.
    #[must_use]
    pub fn column(self, at: i64, columns: usize) -> usize {
        let offset = i128::from(at.clamp(self.from, self.last())) - i128::from(self.from);
        let column = ((offset + 1) * columns as i128 - 1) / i128::from(self.length());
        (column as usize).min(columns.saturating_sub(1))
    }

    /// First instant of a column; that of column `columns` is the end of the span.
    #[must_use]
    pub fn edge(self, column: usize, columns: usize) -> i64 {
        let offset = i128::from(self.length()) * column as i128 / columns.max(1) as i128;
        self.from + offset as i64
    }

    /// The longest power of ten, in nanoseconds, that is no longer than a column: instants that
    /// people did not choose are multiples of it.
    fn round(self, columns: usize) -> i64 {
        let column = self.length() / columns.max(1) as i64;
        column.checked_ilog10().map_or(1, |power| 10_i64.pow(power))
    }

    /// The last round instant up to `at`.
    #[must_use]
    pub fn rounded_down(self, at: i64, columns: usize) -> i64 {
        at.saturating_sub(at.rem_euclid(self.round(columns)))
    }

    /// The first round instant from `at` on.
    #[must_use]
    pub fn rounded_up(self, at: i64, columns: usize) -> i64 {
        at.saturating_add(at.saturating_neg().rem_euclid(self.round(columns)))
    }

    /// The same length, moved so that it lies in `whole`; `whole` itself if it is longer.
    #[must_use]
    pub fn within(self, whole: Self) -> Self {
        let length = self.length().min(whole.length());
        let from = self.from.clamp(whole.from, whole.until - length);
        Self { from, until: from + length }
    }

    /// The same length, moved by a share of it, within `whole`.
    #[must_use]
    pub fn moved(self, numerator: i64, denominator: i64, whole: Self) -> Self {
        let by = (i128::from(self.length()) * i128::from(numerator) / i128::from(denominator)) as i64;
        let from = self.from.saturating_add(by);
        Self { from, until: from.saturating_add(self.length()) }.within(whole)
    }

    /// Half or twice as long, the instant `around` staying where it is on the screen.
    #[must_use]
    pub fn zoomed(self, closer: bool, around: i64, whole: Self) -> Self {
        let length = if closer { self.length() / 2 } else { self.length().saturating_mul(2) };
        let length = length.clamp(SHORTEST.min(whole.length()), whole.length());
        let before = i128::from(around - self.from) * i128::from(length) / i128::from(self.length());
        let from = around - before as i64;
        Self { from, until: from.saturating_add(length) }.within(whole)
    }

    /// The same length, moved so that it holds `at`: near its beginning when going forward, near
    /// its end when going back.
    #[must_use]
    pub fn around(self, at: i64, forward: bool, whole: Self) -> Self {
        let ahead = if forward { self.length() / 4 } else { self.length() / 4 * 3 };
        let from = at.saturating_sub(ahead);
        Self { from, until: from.saturating_add(self.length()) }.within(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SimTime;

    const WHOLE: Span = Span { from: -5_000, until: 95_000 };

    #[test]
    fn zooming_keeps_the_instant_in_place_and_stays_in_the_run() {
        let span = Span { from: 10_000, until: 50_000 };
        let closer = span.zoomed(true, 20_000, WHOLE);
        assert_eq!(closer, Span { from: 15_000, until: 35_000 });
        assert_eq!(closer.zoomed(false, 20_000, WHOLE), span);
        let mut wide = span;
        (0..9).for_each(|_| wide = wide.zoomed(false, 20_000, WHOLE));
        assert_eq!(wide, WHOLE);
        let mut close = span;
        (0..99).for_each(|_| close = close.zoomed(true, 20_000, WHOLE));
        assert_eq!((close.length(), close.contains(20_000)), (SHORTEST, true));
    }

    #[test]
    fn every_instant_lies_in_its_column() {
        let span = Span { from: -1_000, until: 2_000 };
        for at in span.from..span.until {
            let column = span.column(at, 7);
            assert!(span.edge(column, 7) <= at && at < span.edge(column + 1, 7));
        }
        assert_eq!((span.column(-9_999, 7), span.column(9_999, 7)), (0, 6));
    }

    #[test]
    fn every_column_has_a_round_instant() {
        let span = Span { from: -1_234_567, until: 2_345_678 };
        for column in 0..34 {
            let (from, last) = (span.edge(column, 34), span.edge(column + 1, 34) - 1);
            let (up, down) = (span.rounded_up(from, 34), span.rounded_down(last, 34));
            assert!(from <= up && up <= down && down <= last, "{from} {up} {down} {last}");
            assert_eq!((up % 100_000, down % 100_000), (0, 0));
        }
        let close = Span { from: 5, until: 25 };
        assert_eq!((close.rounded_up(7, 34), close.rounded_down(7, 34)), (7, 7));
    }

    #[test]
    fn the_longest_run_there_can_be_does_not_overflow() {
        let whole = Span { from: SimTime::MIN.nanos(), until: SimTime::MAX.nanos() + 1 };
        let span = whole.zoomed(false, 0, whole).zoomed(true, whole.last(), whole);
        assert!(whole.covers(span) && span.contains(whole.last()));
        assert_eq!((whole.column(-1, 100), whole.column(0, 100)), (49, 50));
    }
}
