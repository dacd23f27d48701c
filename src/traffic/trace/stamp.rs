//! Times as they are written, exact to the nanosecond: decimal numbers and date-times.

use super::super::TimeFormat;
use super::date_time::{PREFIX, minute, within_minute};
use super::decimal::{decimal, show_decimal};
use super::pattern::Strptime;
use super::quote;
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

/// Why a text is not a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
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
            (Fault::Range, _) => return self.explain_range(field),
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

    /// For a number too large to be seconds: the unit in which it would be a time.
    pub fn finer(&self, field: &[u8]) -> Option<&'static str> {
        let field = trim(field);
        if !matches!(self.format, TimeFormat::Auto | TimeFormat::Seconds) || decimal(field, 9) != Err(Fault::Range) {
            return None;
        }
        let units = [("ms", 6), ("us", 3), ("ns", 0)];
        units.into_iter().find(|(_, digits)| decimal(field, *digits).is_ok()).map(|(unit, _)| unit)
    }

    fn explain_range(&self, field: &[u8]) -> String {
        let hint = self.finer(field).map_or(String::new(), |unit| format!(" (is it in {unit}?)"));
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
        assert!(error.ends_with("(is it in ms?)"), "{error}");
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
