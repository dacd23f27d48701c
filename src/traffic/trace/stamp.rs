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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: i64 = 1_000_000_000;

    fn read(format: &TimeFormat, text: &str) -> Result<i64, String> {
        Stamps::new(format.clone()).read(text.as_bytes()).map(SimTime::nanos)
    }

    #[test]
    fn reads_numbers() {
        use TimeFormat::{Auto, Micros, Millis, Nanos, Seconds};
        for (format, text, nanos) in [
            (Auto, "1700000000", 1_700_000_000 * SECOND),
            (Auto, "1700000002.999999999", 1_700_000_002 * SECOND + 999_999_999),
            (Auto, " 1\t", SECOND),
            (Auto, "+1.5", SECOND + SECOND / 2),
            (Auto, "-1", -SECOND),
            (Auto, "-0.5", -SECOND / 2),
            (Auto, "-0.000000001", -1),
            (Auto, "-0", 0),
            (Auto, ".5", SECOND / 2),
            (Auto, "5.", 5 * SECOND),
            (Seconds, "0.1234567890000", 123_456_789),
            (Seconds, "00000000000000000000000000000001", SECOND),
            (Seconds, "4611686018.427387903", SimTime::MAX.nanos()),
            (Seconds, "-4611686018.427387903", SimTime::MIN.nanos()),
            (Millis, "1700000000123.456789", 1_700_000_000_123_456_789),
            (Micros, "1700000000123456.789", 1_700_000_000_123_456_789),
            (Nanos, "1700000000123456789", 1_700_000_000_123_456_789),
            (Nanos, "1.000", 1),
        ] {
            assert_eq!(read(&format, text), Ok(nanos), "{format:?} {text}");
        }
    }

    #[test]
    fn reads_date_times() {
        let at = 1_700_000_004 * SECOND;
        for (text, nanos) in [
            ("2023-11-14T22:13:24Z", at),
            ("2023-11-14t22:13:24z", at),
            ("2023-11-14 22:13:24", at),
            ("2023-11-14 22:13:24 UTC", at),
            ("2023-11-14T23:13:24+01:00", at),
            ("2023-11-15 03:43:24 +0530", at),
            ("2023-11-14 14:13:24-08", at),
            ("2023-11-14T22:13:24-00:00", at),
            ("2023-11-14T22:13:24.5Z", at + SECOND / 2),
            ("2023-11-14 22:13:24.0781490", at + 78_149_000),
            ("2023-11-14 22:13:24.12345678", at + 123_456_780),
            ("2023-11-14 22:13:24.000000001000+00:00", at + 1),
            ("2024-02-29T00:00:00Z", 1_709_164_800 * SECOND),
            ("1969-12-31T23:59:59.999999999Z", -1),
            ("1900-02-28T00:00:00Z", -2_203_977_600 * SECOND),
            ("2116-02-20T23:53:38.427387903Z", SimTime::MAX.nanos()),
            ("1823-11-12T00:06:21.572612097Z", SimTime::MIN.nanos()),
        ] {
            assert_eq!(read(&TimeFormat::Auto, text), Ok(nanos), "{text}");
            assert_eq!(read(&TimeFormat::Rfc3339, text), Ok(nanos), "{text}");
        }
    }

    #[test]
    fn says_what_is_wrong() {
        use TimeFormat::{Auto, Nanos, Rfc3339, Seconds};
        let clock = "lies outside 1823-11-12 to 2116-02-20, which is what the clock holds";
        let neither = "is neither a number of seconds nor a date-time such as 2026-01-31T12:00:00Z";
        for (format, text, why) in [
            (Auto, "notatime", neither),
            (Auto, "2023-11-14", neither),
            (Auto, "2023-11-14T22:13", neither),
            (Auto, "2023-11-14T22:13:24.", neither),
            (Auto, "2023-1-14T22:13:24Z", neither),
            (Auto, "1,5", neither),
            (Auto, "1.2.3", neither),
            (Auto, ".", neither),
            (Auto, "-", neither),
            (Auto, "1_000", neither),
            (Auto, "0x10", neither),
            (Auto, "1.7e9", "has an exponent; only plain decimal numbers are exact"),
            (Auto, "0.0000000001", "is finer than a nanosecond"),
            (Nanos, "0.1", "is finer than a nanosecond"),
            (Auto, "2023-11-14T22:13:24.0000000001Z", "is finer than a nanosecond"),
            (Auto, "4611686018.427387904", clock),
            (Auto, "99999999999999999999999999999999999999999", clock),
            (Auto, "2116-02-21T00:00:00Z", clock),
            (Auto, "0000-01-01T00:00:00Z", clock),
            (Auto, "9999-12-31T23:59:59Z", clock),
            (Rfc3339, "1700000000", "is not a date-time such as 2026-01-31T12:00:00Z"),
            (Seconds, "2023-11-14T22:13:24Z", "is not a decimal number"),
            (Auto, "2023-13-01T00:00:00Z", "has no such month"),
            (Auto, "2023-00-01T00:00:00Z", "has no such month"),
            (Auto, "2024-02-30T00:00:00Z", "has a day that its month does not have"),
            (Auto, "2023-02-29T00:00:00Z", "has a day that its month does not have"),
            (Auto, "1900-02-29T00:00:00Z", "has a day that its month does not have"),
            (Auto, "2023-04-31T00:00:00Z", "has a day that its month does not have"),
            (Auto, "2023-04-00T00:00:00Z", "has a day that its month does not have"),
            (Auto, "2023-11-14T24:00:00Z", "has an hour above 23"),
            (Auto, "2023-11-14T23:60:00Z", "has a minute above 59"),
            (Auto, "2023-11-14T23:59:61Z", "has a second above 59"),
            (Auto, "2016-12-31T23:59:60Z", "is a leap second, which Unix time does not count"),
            (Auto, "2016-12-31T23:59:59X", "has something after the seconds that is no zone such as Z or +01:00"),
            (Auto, "2016-12-31T23:59:59+24:00", "has something after the seconds that is no zone such as Z or +01:00"),
            (Auto, "2016-12-31T23:59:59+1", "has something after the seconds that is no zone such as Z or +01:00"),
        ] {
            assert_eq!(read(&format, text), Err(format!("time `{text}` {why}")));
        }
        assert_eq!(read(&Auto, " "), Err("the time is empty".to_owned()));
        let error = read(&Auto, "1700000000000").expect_err("milliseconds");
        assert!(error.ends_with("(is it in ms? time-format = \"ms\")"), "{error}");
    }

    #[test]
    fn the_minute_seen_last_changes_nothing() {
        let mut stamps = Stamps::new(TimeFormat::Auto);
        let texts =
            ["2023-11-14T22:13:24Z", "2023-11-14T22:13:24+01:00", "2023-11-14T22:13:60Z", "2023-11-14T22:14:00Z"];
        for text in texts.iter().chain(&texts) {
            assert_eq!(stamps.read(text.as_bytes()).map(SimTime::nanos), read(&TimeFormat::Auto, text));
        }
    }

    proptest! {
        #[test]
        fn every_instant_reads_back(nanos in SimTime::MIN.nanos()..=SimTime::MAX.nanos(), coarse in 0_u32..10, minutes in -1439_i32..1440) {
            let unit = 10_i64.pow(coarse);
            let at = SimTime::from_nanos(nanos / unit * unit);
            use TimeFormat::{Auto, Micros, Millis, Nanos, Pattern, Rfc3339, Seconds};
            for format in [Seconds, Millis, Micros, Nanos, Rfc3339, Auto] {
                let shown = Stamps::new(format.clone()).show(at, b"");
                prop_assert_eq!(read(&format, &shown), Ok(at.nanos()), "{:?} {}", format, shown);
            }
            prop_assert_eq!(read(&Auto, &Stamps::new(Seconds).show(at, b"")), Ok(at.nanos()));
            // In another zone, printed and read by `jiff`, too.
            let offset = jiff::tz::Offset::from_seconds(minutes * 60).expect("less than a day");
            let zoned = Timestamp::from_nanosecond(at.nanos().into()).expect("in range").to_zoned_datetime(offset.to_time_zone());
            for (shape, pattern) in [("%Y-%m-%dT%H:%M:%S%.9f%:z", ""), ("%F %T%.f%z", ""), ("%d/%b/%Y:%H:%M:%S%.f %z", "%d/%b/%Y:%H:%M:%S%.f %z")] {
                let format = if pattern.is_empty() { Auto } else { Pattern(pattern.to_owned()) };
                let text = zoned.strftime(shape).to_string();
                prop_assert_eq!(read(&format, &text), Ok(at.nanos()), "{}", text);
            }
        }
    }
}
