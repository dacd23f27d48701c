//! Rows of a trace in file order: decoded, checked, their keys numbered.

use super::super::{BadRow, BadRows, InputSummary, KeyTable, Order, SourceRows, TraceSpec};
use super::columns::{Columns, fields};
use super::input::Input;
use super::late::window_for;
use super::quote;
use super::records::{Record, Records};
use super::stamp::{Stamps, trim};
use crate::error::{Error, Remedy};
use crate::quota::MAX_UNITS;
use crate::time::{SimDuration, SimTime};

/// Rows decoded at a time.
const BATCH: usize = 64;
/// Bad rows that are listed.
const LISTED: usize = 20;
/// The key of all rows where no column holds it.
const ONE_KEY: &[u8] = b"all";

/// A trace being read in file order.
pub struct Rows {
    records: Records,
    /// The first record of a file without a header is found and not yet decoded.
    first: bool,
    columns: Columns,
    stamps: Stamps,
    bad_rows: BadRows,
    /// How late a row may be; without, as late as it likes.
    window: Option<SimDuration>,
    /// The largest time so far, and the earliest that the next row may have.
    latest: SimTime,
    earliest: SimTime,
    keys: Vec<KeyTable>,
    summary: InputSummary,
}

impl Rows {
    /// Reads the header, if there is one, and finds the columns.
    pub fn new(input: Input, spec: &TraceSpec, attributes: &[String], block: usize) -> Result<Self, Error> {
        let fail = |line, reason, remedy| Error::Trace { file: spec.display.clone(), line, reason, remedy };
        let mut records = Records::new(input, block);
        let some = records.advance(1, true)? > 0;
        let columns = match some.then(|| records.get(0)) {
            Some(Some(record)) => Columns::resolve(spec, attributes, record)
                .map_err(|fault| fail(Some(records.line(0)), fault.reason, fault.remedy))?,
            Some(None) if spec.header => return Err(fail(Some(records.line(0)), OPEN_QUOTE.to_owned(), None)),
            None if spec.header => return Err(fail(None, "the file is empty: no header".to_owned(), None)),
            Some(None) | None => Columns::none(),
        };
        let window = match spec.order {
            Order::Strict => Some(SimDuration::ZERO),
            Order::Window(window) => Some(window),
            Order::Sort => None,
        };
        Ok(Self {
            records,
            first: some && !spec.header,
            stamps: Stamps::new(spec.time_format.clone()),
            bad_rows: spec.bad_rows,
            window,
            latest: SimTime::MIN,
            earliest: SimTime::MIN,
            keys: (0..=attributes.len()).map(|_| KeyTable::new()).collect(),
            summary: InputSummary {
                file: spec.display.clone(),
                timed_by: columns.timed_by.clone(),
                keyed_by: columns.keyed_by.clone(),
                ..InputSummary::default()
            },
            columns,
        })
    }

    /// The values of an attribute, numbered by first appearance in the file.
    pub fn keys(&self, attribute: usize) -> &KeyTable {
        &self.keys[attribute]
    }

    /// What has been read so far.
    pub const fn summary(&self) -> &InputSummary {
        &self.summary
    }

    /// No later row is earlier than this.
    pub const fn earliest(&self) -> SimTime {
        self.earliest
    }

    /// Appends up to `max` rows in file order; none only at the end.
    pub fn fill(&mut self, rows: &mut SourceRows, max: usize) -> Result<(), Error> {
        let target = rows.at.len() + max;
        let mut got = false;
        while rows.at.len() < target {
            let first = std::mem::take(&mut self.first);
            let count = match first {
                true => 1,
                // What is at hand goes out before more is waited for.
                false => self.records.advance(BATCH.min(target - rows.at.len()), !got)?,
            };
            if count == 0 {
                break;
            }
            let from = rows.at.len();
            let result = self.decode(count, rows, first);
            self.summary.rows += (rows.at.len() - from) as u64;
            got |= rows.at.len() > from;
            result?;
        }
        Ok(())
    }

    /// Decodes the records found last.
    fn decode(&mut self, count: usize, rows: &mut SourceRows, first: bool) -> Result<(), Error> {
        let mut good = [0; BATCH];
        let mut goods = 0;
        let mut result = Ok(());
        for index in 0..count {
            let record = self.records.get(index);
            match decode(record, &self.columns, &mut self.stamps) {
                Ok((at, cost)) => {
                    if at < self.latest {
                        if at < self.earliest {
                            result = Err(self.too_late(index, at));
                            break;
                        }
                        self.summary.late += 1;
                    } else {
                        self.latest = at;
                        self.earliest = self.window.map_or(SimTime::MIN, |window| back(at, window));
                    }
                    rows.at.push(at);
                    rows.cost.push(cost);
                    good[goods] = index;
                    goods += 1;
                }
                Err(reason) => {
                    result = self.bad(index, reason, first);
                    if result.is_err() {
                        break;
                    }
                }
            }
        }
        self.number(&good[..goods], rows);
        result
    }

    /// Numbers the keys of the good ones among the records found last.
    fn number(&mut self, good: &[usize], rows: &mut SourceRows) {
        let columns = std::iter::once(self.columns.key).chain(self.columns.attributes.iter().copied().map(Some));
        for ((column, table), ids) in columns.zip(&mut self.keys).zip(&mut rows.ids) {
            if let Some(column) = column {
                let mut values = [&b""[..]; BATCH];
                for (value, index) in values.iter_mut().zip(good) {
                    *value = self.records.get(*index).map_or(&b""[..], |record| record.field(column));
                }
                table.intern_all(&values[..good.len()], ids);
            } else if !good.is_empty() {
                let id = table.intern(ONE_KEY);
                ids.resize(ids.len() + good.len(), id);
            }
        }
    }

    /// The field of the time column; empty where a row ends before it.
    fn time_field(&self, index: usize) -> &[u8] {
        let record = self.records.get(index).filter(|record| record.len() > self.columns.time);
        record.map_or(&b""[..], |record| record.field(self.columns.time))
    }

    /// Takes note of a bad row.
    #[cold]
    fn bad(&mut self, index: usize, reason: String, first: bool) -> Result<(), Error> {
        let line = self.records.line(index);
        if self.bad_rows == BadRows::Error {
            let skip = Remedy::setting("bad-rows", "\"skip\"", "skip", "leaves such rows out");
            let field = self.time_field(index);
            let remedy = match self.stamps.finer(field) {
                Some(unit) => {
                    Remedy::setting("time-format", &format!("\"{unit}\""), unit, "reads it so").then("; ", &skip)
                }
                None if first => {
                    let named = Remedy::either(
                        "if this line names the columns: header = true; else ",
                        "if this line names the columns: --time NAME and no --no-header; else ",
                    );
                    named.then("", &skip)
                }
                None => skip,
            };
            let file = self.summary.file.clone();
            return Err(Error::Trace { file, line: Some(line), reason, remedy: Some(remedy) });
        }
        self.summary.bad += 1;
        if self.summary.first_bad.len() < LISTED {
            self.summary.first_bad.push(BadRow { line, reason });
        }
        Ok(())
    }

    /// A row is earlier than the order allows.
    #[cold]
    fn too_late(&self, index: usize, at: SimTime) -> Error {
        let field = self.time_field(index);
        let show = |at| self.stamps.show(at, field);
        let (this, latest) = (show(at), show(self.latest));
        let reason = match self.window {
            None | Some(SimDuration::ZERO) => {
                format!("time {this} is earlier than {latest}, the time of the row before")
            }
            Some(window) => format!("time {this} is more than {window} earlier than {latest}, the latest time before"),
        };
        let sort = Remedy::setting("order", "\"sort\"", "sort", "sorts the whole file in memory");
        let remedy = match window_for(self.latest.since(at)) {
            Some(window) => {
                let table = format!("{{ window = \"{window}\" }}");
                Remedy::setting("order", &table, &window.to_string(), "lets rows be late by that much")
                    .then("; ", &sort)
            }
            None => sort,
        };
        let file = self.summary.file.clone();
        Error::Trace { file, line: Some(self.records.line(index)), reason, remedy: Some(remedy) }
    }
}

const OPEN_QUOTE: &str = "the quote that opens here is not closed before the end of the file";

/// The instant `span` before `at`.
fn back(at: SimTime, span: SimDuration) -> SimTime {
    let span = i64::try_from(span.nanos()).unwrap_or(i64::MAX);
    SimTime::from_nanos(at.nanos().saturating_sub(span))
}

/// Time and cost of a record, or what is wrong with it.
#[inline]
fn decode(record: Option<Record<'_>>, columns: &Columns, stamps: &mut Stamps) -> Result<(SimTime, u64), String> {
    let Some(record) = record else { return Err(OPEN_QUOTE.to_owned()) };
    if record.len() != columns.count {
        return Err(format!("{} expected, found {}", fields(columns.count), record.len()));
    }
    let at = stamps.read(record.field(columns.time))?;
    let cost = match &columns.costs[..] {
        [] => 1,
        [(column, called)] => units(record.field(*column), called)?,
        costs => sum(record, costs)?,
    };
    Ok((at, cost))
}

fn sum(record: Record<'_>, costs: &[(usize, String)]) -> Result<u64, String> {
    costs.iter().try_fold(0, |total, (column, called)| match total + units(record.field(*column), called)? {
        total if total > MAX_UNITS => Err(format!("the costs add up to more than {MAX_UNITS}, {TOO_MANY}")),
        total => Ok(total),
    })
}

const TOO_MANY: &str = "the most that is counted exactly";

/// The units that a field states.
#[inline]
fn units(field: &[u8], called: &str) -> Result<u64, String> {
    match whole(field) {
        Some(units) => Ok(units),
        None => odd_units(field, called),
    }
}

/// A number of up to 18 digits: within [`MAX_UNITS`].
#[inline]
fn whole(field: &[u8]) -> Option<u64> {
    if field.is_empty() || field.len() > 18 {
        return None;
    }
    field.iter().try_fold(0, |units, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit <= 9).then(|| units * 10 + u64::from(digit))
    })
}

/// Units with spaces around them or many digits, or why they are none.
#[cold]
fn odd_units(field: &[u8], called: &str) -> Result<u64, String> {
    let text = trim(field);
    let digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    if digits(text) {
        let value = text.iter().try_fold(0_u64, |units, byte| {
            units.checked_mul(10)?.checked_add(u64::from(byte - b'0')).filter(|units| *units <= MAX_UNITS)
        });
        return value.ok_or_else(|| format!("{called} {} is more than {MAX_UNITS}, {TOO_MANY}", quote(text)));
    }
    Err(match text {
        [] => format!("{called} is empty"),
        [b'-', rest @ ..] if digits(rest) => format!("{called} {} is negative", quote(text)),
        _ => format!("{called} {} is not a whole number", quote(text)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_costs_or_says_why_not() {
        let read = |text: &str| units(text.as_bytes(), "cost");
        for (text, value) in
            [("0", 0), ("7", 7), (" 7\t", 7), ("0000000000000000000000007", 7), ("4611686018427387904", MAX_UNITS)]
        {
            assert_eq!(read(text), Ok(value));
        }
        for (text, why) in [
            ("", "cost is empty"),
            ("  ", "cost is empty"),
            ("-1", "cost `-1` is negative"),
            ("1.5", "cost `1.5` is not a whole number"),
            ("-1.5", "cost `-1.5` is not a whole number"),
            ("+1", "cost `+1` is not a whole number"),
            ("1_000", "cost `1_000` is not a whole number"),
            ("1e3", "cost `1e3` is not a whole number"),
            ("many", "cost `many` is not a whole number"),
            (
                "4611686018427387905",
                "cost `4611686018427387905` is more than 4611686018427387904, the most that is counted exactly",
            ),
            (
                "18446744073709551616",
                "cost `18446744073709551616` is more than 4611686018427387904, the most that is counted exactly",
            ),
        ] {
            assert_eq!(read(text), Err(why.to_owned()));
        }
    }
}
