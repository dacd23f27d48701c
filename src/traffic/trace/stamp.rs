//! Times as they are written, exact to the nanosecond: decimal numbers and date-times.

use super::super::TimeFormat;
use super::{pattern::Strptime, quote};
use crate::time::SimTime;
use jiff::Timestamp;

/// Reads and shows times in one format.
#[derive(Debug)]
pub struct Stamps {
    format: TimeFormat,
    strptime: Strptime,
    /// The date, hour and minute seen last, and the minute's first second since the epoch.
    prefix: u128,
    minute: i64,
}

/// Length of `2026-01-31T12:00`.
const PREFIX: usize = 16;

/// Why a text is not a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It is no decimal number, no date-time.
    Shape,
    Exponent,
    /// Digits beyond the nanosecond.
    Fine,
    /// Outside of what the clock holds.
    Range,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    LeapSecond,
    Zone,
}

impl Stamps {
    /// Reads times in this format.
    pub fn new(format: TimeFormat) -> Self {
        let strptime = Strptime::new(match &format {
            TimeFormat::Pattern(pattern) => pattern.clone(),
            _ => String::new(),
        });
        Self { format, strptime, prefix: 0, minute: 0 }
    }

    /// The instant that a field states; spaces around it do not count.
    ///
    /// # Errors
    /// What is wrong with the field.
    #[inline]
    pub fn read(&mut self, field: &[u8]) -> Result<SimTime, String> {
        if let TimeFormat::Auto | TimeFormat::Rfc3339 = self.format
            && let Some((prefix, rest)) = field.split_first_chunk::<PREFIX>()
            && u128::from_le_bytes(*prefix) == self.prefix
            && let Ok(at) = within_minute(self.minute, rest)
        {
            return Ok(at);
        }
        self.read_any(trim(field))
    }

    fn read_any(&mut self, field: &[u8]) -> Result<SimTime, String> {
        if field.is_empty() {
            return Err("the time is empty".to_owned());
        }
        let result = match &self.format {
            TimeFormat::Auto => decimal(field, 9).or_else(|fault| match fault {
                Fault::Shape => self.date_time(field),
                other => Err(other),
            }),
            TimeFormat::Seconds => decimal(field, 9),
            TimeFormat::Millis => decimal(field, 6),
            TimeFormat::Micros => decimal(field, 3),
            TimeFormat::Nanos => decimal(field, 0),
            TimeFormat::Rfc3339 => self.date_time(field),
            TimeFormat::Pattern(_) => return self.strptime.read(field),
        };
        result.map_err(|fault| self.explain(field, fault))
    }

    /// A time as this format writes it, and as `like`, where the format leaves a choice.
    pub fn show(&self, at: SimTime, like: &[u8]) -> String {
        match self.format {
            TimeFormat::Auto if decimal(trim(like), 9).is_ok() => show_decimal(at, 9),
            TimeFormat::Seconds => show_decimal(at, 9),
            TimeFormat::Millis => show_decimal(at, 6),
            TimeFormat::Micros => show_decimal(at, 3),
            TimeFormat::Nanos => show_decimal(at, 0),
            TimeFormat::Auto | TimeFormat::Rfc3339 | TimeFormat::Pattern(_) => {
                Timestamp::from_nanosecond(at.nanos().into()).map_or_else(|_| show_decimal(at, 9), |at| at.to_string())
            }
        }
    }

    /// `YYYY-MM-DD`, `T` or a space, `hh:mm:ss`, a fraction or none, a zone or none.
    fn date_time(&mut self, field: &[u8]) -> Result<SimTime, Fault> {
        let (prefix, rest) = field.split_first_chunk().ok_or(Fault::Shape)?;
        let minute = minute(prefix)?;
        let at = within_minute(minute, rest)?;
        (self.prefix, self.minute) = (u128::from_le_bytes(*prefix), minute);
        Ok(at)
    }

    #[cold]
    fn explain(&self, field: &[u8], fault: Fault) -> String {
        let why = match (fault, &self.format) {
            (Fault::Shape, TimeFormat::Auto) => {
                "is neither a number of seconds nor a date-time such as 2026-01-31T12:00:00Z"
            }
            (Fault::Shape, TimeFormat::Rfc3339) => "is not a date-time such as 2026-01-31T12:00:00Z",
            (Fault::Shape, _) => "is not a decimal number",
            (Fault::Exponent, _) => "has an exponent; only plain decimal numbers are exact",
            (Fault::Fine, _) => "is finer than a nanosecond",
            (Fault::Range, format) => return self.explain_range(field, format),
            (Fault::Month, _) => "has no such month",
            (Fault::Day, _) => "has a day that its month does not have",
            (Fault::Hour, _) => "has an hour above 23",
            (Fault::Minute, _) => "has a minute above 59",
            (Fault::Second, _) => "has a second above 59",
            (Fault::LeapSecond, _) => "is a leap second, which Unix time does not count",
            (Fault::Zone, _) => "has something after the seconds that is no zone such as Z or +01:00",
        };
        format!("time {} {why}", quote(field))
    }

    fn explain_range(&self, field: &[u8], format: &TimeFormat) -> String {
        let finer = [("ms", 6), ("us", 3), ("ns", 0)];
        let hint = match format {
            TimeFormat::Auto | TimeFormat::Seconds => finer.iter().find(|(_, digits)| decimal(field, *digits).is_ok()),
            _ => None,
        };
        let hint = hint.map_or(String::new(), |(unit, _)| format!(" (is it in {unit}? time-format = \"{unit}\")"));
        format!("time {} lies outside 1823-11-12 to 2116-02-20, which is what the clock holds{hint}", quote(field))
    }
}

/// The field without spaces and tabs around it.
pub fn trim(field: &[u8]) -> &[u8] {
    let blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    let start = field.iter().position(|byte| !blank(byte)).unwrap_or(field.len());
    let end = field.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    &field[start..end]
}

const fn digit(byte: u8) -> Option<u32> {
    let digit = byte.wrapping_sub(b'0');
    if digit <= 9 { Some(digit as u32) } else { None }
}

/// A decimal number of units of 10^`places` ns.
fn decimal(field: &[u8], places: u32) -> Result<SimTime, Fault> {
    let (negative, rest) = match field {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let mut whole = 0_u64;
    let mut digits = 0;
    let mut bytes = rest.iter();
    let mut next = bytes.next();
    while let Some(value) = next.copied().and_then(digit) {
        // Where this saturates, the number is out of range in any unit.
        whole = whole.saturating_mul(10).saturating_add(value.into());
        digits += 1;
        next = bytes.next();
    }
    let mut part = 0;
    let mut left = places;
    let mut fine = false;
    if next == Some(&b'.') {
        next = bytes.next();
        while let Some(value) = next.copied().and_then(digit) {
            if left > 0 {
                part = part * 10 + u64::from(value);
                left -= 1;
            } else {
                fine |= value > 0;
            }
            digits += 1;
            next = bytes.next();
        }
    }
    match next {
        None if digits > 0 => {}
        Some(b'e' | b'E') if digits > 0 => return Err(Fault::Exponent),
        _ => return Err(Fault::Shape),
    }
    if fine {
        return Err(Fault::Fine);
    }
    let nanos = i128::from(whole) * i128::from(10_u64.pow(places)) + i128::from(part * 10_u64.pow(left));
    SimTime::from_wide_nanos(if negative { -nanos } else { nanos }).ok_or(Fault::Range)
}

/// `at` as a decimal number of units of 10^`places` ns.
fn show_decimal(at: SimTime, places: u32) -> String {
    let unit = 10_u64.pow(places);
    let size = at.nanos().unsigned_abs();
    let sign = if at.nanos() < 0 { "-" } else { "" };
    let whole = format!("{sign}{}", size / unit);
    match size % unit {
        0 => whole,
        part => {
            let width = places as usize;
            format!("{whole}.{part:0width$}").trim_end_matches('0').to_owned()
        }
    }
}

/// The number that two digits are.
fn two(field: &[u8], at: usize) -> Result<u32, Fault> {
    match (field.get(at).copied().and_then(digit), field.get(at + 1).copied().and_then(digit)) {
        (Some(tens), Some(ones)) => Ok(tens * 10 + ones),
        _ => Err(Fault::Shape),
    }
}

/// The first second since the epoch of a minute, written `2026-01-31T12:00`.
fn minute(prefix: &[u8; PREFIX]) -> Result<i64, Fault> {
    if [prefix[4], prefix[7], prefix[13]] != *b"--:" || !matches!(prefix[10], b'T' | b't' | b' ') {
        return Err(Fault::Shape);
    }
    let year = two(prefix, 0)? * 100 + two(prefix, 2)?;
    let (month, day) = (two(prefix, 5)?, two(prefix, 8)?);
    let (hour, minute) = (two(prefix, 11)?, two(prefix, 14)?);
    if !(1..=12).contains(&month) {
        return Err(Fault::Month);
    }
    if day < 1 || day > days_in(year, month) {
        return Err(Fault::Day);
    }
    if hour > 23 {
        return Err(Fault::Hour);
    }
    if minute > 59 {
        return Err(Fault::Minute);
    }
    Ok(days(year, month, day) * 86_400 + i64::from(hour * 3_600 + minute * 60))
}

const fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since the epoch. The year is counted from March, so that a leap day is its last.
const fn days(year: u32, month: u32, day: u32) -> i64 {
    let (year, month) = if month > 2 { (year as i64, month - 3) } else { (year as i64 - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + leap_days + day_of_year as i64 - 719_468
}

/// The instant in a minute that `:ss[.fraction][zone]` states.
#[inline]
fn within_minute(minute: i64, rest: &[u8]) -> Result<SimTime, Fault> {
    let [b':', tens, ones, rest @ ..] = rest else { return Err(Fault::Shape) };
    let (Some(tens), Some(ones)) = (digit(*tens), digit(*ones)) else { return Err(Fault::Shape) };
    let second = tens * 10 + ones;
    if second > 59 {
        return Err(if second == 60 { Fault::LeapSecond } else { Fault::Second });
    }
    let (nanos, rest) = match rest {
        [b'.', rest @ ..] => nanosecond(rest)?,
        rest => (0, rest),
    };
    let offset = match rest {
        [] | [b'Z' | b'z'] => 0,
        _ => zone(rest)?,
    };
    let seconds = minute + i64::from(second) - offset;
    // Far outside, the product would not fit.
    if seconds.abs() > SimTime::MAX.nanos() / 1_000_000_000 + 1 {
        return Err(Fault::Range);
    }
    SimTime::from_wide_nanos(i128::from(seconds) * 1_000_000_000 + i128::from(nanos)).ok_or(Fault::Range)
}

/// The nanoseconds of a fraction of a second, and what follows it.
#[inline]
fn nanosecond(text: &[u8]) -> Result<(u32, &[u8]), Fault> {
    let mut nanos = 0;
    let mut unit = 1_000_000_000;
    let mut rest = text;
    // Most fractions are three, six or nine digits.
    while unit > 1
        && let [a, b, c, tail @ ..] = rest
        && let (Some(a), Some(b), Some(c)) = (digit(*a), digit(*b), digit(*c))
    {
        unit /= 1000;
        nanos += (a * 100 + b * 10 + c) * unit;
        rest = tail;
    }
    while let [byte, tail @ ..] = rest
        && let Some(value) = digit(*byte)
    {
        unit /= 10;
        if unit == 0 && value > 0 {
            return Err(Fault::Fine);
        }
        nanos += value * unit;
        rest = tail;
    }
    if rest.len() == text.len() { Err(Fault::Shape) } else { Ok((nanos, rest)) }
}

/// Seconds that a zone is ahead of UTC: ` UTC`, `Z`, `+hh`, `+hhmm`, `+hh:mm`, after a space or not.
fn zone(text: &[u8]) -> Result<i64, Fault> {
    let text = trim(text);
    let (sign, digits) = match text {
        b"Z" | b"z" | b"UTC" => return Ok(0),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return Err(Fault::Zone),
    };
    let minutes = match digits {
        [_, _] => 0,
        [_, _, _, _] => two(digits, 2).map_err(|_| Fault::Zone)?,
        [_, _, b':', _, _] => two(digits, 3).map_err(|_| Fault::Zone)?,
        _ => return Err(Fault::Zone),
    };
    let hours = two(digits, 0).map_err(|_| Fault::Zone)?;
    if hours > 23 || minutes > 59 {
        return Err(Fault::Zone);
    }
    Ok(sign * i64::from(hours * 3_600 + minutes * 60))
}
