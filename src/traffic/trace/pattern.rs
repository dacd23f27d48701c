//! Times that a strptime pattern describes.

use super::quote;
use crate::time::SimTime;
use jiff::Timestamp;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::{Offset, TimeZone};

/// Reads times by a pattern.
#[derive(Debug)]
pub struct Strptime {
    pattern: String,
    /// The text read last and its instant: logs repeat their times.
    text: Vec<u8>,
    at: SimTime,
}

/// Whether a strptime pattern is one.
///
/// # Errors
/// What is wrong with it.
pub fn check_time_pattern(pattern: &str) -> Result<(), String> {
    let whole = Timestamp::UNIX_EPOCH.to_zoned_datetime(TimeZone::UTC);
    match BrokenDownTime::from(&whole).to_string(pattern) {
        Ok(_) => Ok(()),
        Err(error) => {
            let why = error.to_string();
            let why = why.trim_start_matches("strftime formatting failed: ");
            Err(format!("`{pattern}` is not a strptime pattern: {why}"))
        }
    }
}

impl Strptime {
    /// Reads times by this pattern.
    pub fn new(pattern: String) -> Self {
        Self { pattern, text: Vec::new(), at: SimTime::EPOCH }
    }

    /// The instant that a text states, in UTC where it states no zone.
    ///
    /// # Errors
    /// Why it does not match.
    pub fn read(&mut self, text: &[u8]) -> Result<SimTime, String> {
        if text != self.text {
            self.at = self.parse(text)?;
            self.text.clear();
            self.text.extend_from_slice(text);
        }
        Ok(self.at)
    }

    fn parse(&self, text: &[u8]) -> Result<SimTime, String> {
        let fail = |why: &str| Err(format!("time {} does not match `{}`: {why}", quote(text), self.pattern));
        let parts = match BrokenDownTime::parse(&self.pattern, text) {
            Ok(parts) => parts,
            Err(error) => return fail(&error.to_string()),
        };
        let nanos = match instant(&parts) {
            Ok(nanos) => nanos,
            Err(why) => return fail(&why),
        };
        if parts.second() == Some(59) && self.reads_60_as_59(text, nanos) {
            return fail("it is a leap second, which Unix time does not count");
        }
        match SimTime::from_wide_nanos(nanos) {
            Some(at) => Ok(at),
            None => fail("it lies outside 1823-11-12 to 2116-02-20, which is what the clock holds"),
        }
    }

    /// `jiff` takes second 60 for 59. A 60 that can be 59 and change nothing is such a second.
    fn reads_60_as_59(&self, text: &[u8], nanos: i128) -> bool {
        let places = text.windows(2).enumerate().filter(|(_, two)| two == b"60");
        places.into_iter().any(|(at, _)| {
            let mut other = text.to_vec();
            other[at..at + 2].copy_from_slice(b"59");
            let parts = BrokenDownTime::parse(&self.pattern, &other);
            parts.is_ok_and(|parts| instant(&parts) == Ok(nanos))
        })
    }
}

/// The instant that was parsed, in nanoseconds since the epoch.
fn instant(parts: &BrokenDownTime) -> Result<i128, String> {
    let timestamp = if let Some(seconds) = parts.timestamp() {
        // `%s` is whole seconds; a fraction may follow it.
        let part = parts.subsec_nanosecond().unwrap_or(0);
        if part > 0 && seconds < Timestamp::UNIX_EPOCH {
            return Err("a fraction of negative seconds; the time format `s` reads those".to_owned());
        }
        return Ok(seconds.as_nanosecond() + i128::from(part));
    } else if parts.iana_time_zone().is_some() {
        return Err("zones by name are not known, only offsets from UTC".to_owned());
    } else if parts.offset().is_some() {
        parts.to_timestamp()
    } else {
        parts.to_datetime().and_then(|date_time| Offset::UTC.to_timestamp(date_time))
    };
    timestamp.map(|timestamp| timestamp.as_nanosecond()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(pattern: &str, text: &str) -> Result<i64, String> {
        Strptime::new(pattern.to_owned()).read(text.as_bytes()).map(SimTime::nanos)
    }

    const SECOND: i64 = 1_000_000_000;

    #[test]
    fn reads_by_pattern() {
        let day = 1_700_000_004 * SECOND;
        assert_eq!(nanos("%d/%b/%Y:%H:%M:%S %z", "14/Nov/2023:23:13:24 +0100"), Ok(day));
        assert_eq!(nanos("%Y-%m-%d %H:%M:%S", "2023-11-14 22:13:24"), Ok(day));
        assert_eq!(nanos("%Y-%m-%d %H:%M:%S%.f", "2023-11-14 22:13:24.000000001"), Ok(day + 1));
        assert_eq!(nanos("%Y-%m-%d %H:%M:%S,%f", "2023-11-14 22:13:24,5"), Ok(day + SECOND / 2));
        assert_eq!(nanos("%d.%m.%y %H:%M", "14.11.23 22:13"), Ok(day - 24 * SECOND));
        assert_eq!(nanos("%s.%f", "1700000004.25"), Ok(day + SECOND / 4));
        assert_eq!(nanos("%s", "-1"), Ok(-SECOND));
    }

    #[test]
    fn says_why_a_text_does_not_match() {
        for (pattern, text, part) in [
            ("%H:%M:%S", "22:13:24", "year"),
            ("%Y-%m-%d", "2023-02-30", "does not match"),
            ("%Y-%m-%d", "2300-01-01", "outside"),
            ("%Y-%m-%d", "2023-01-01 ", "does not match"),
            ("%s.%f", "-1.5", "fraction"),
            ("%Y-%m-%d %H:%M:%S%.f", "2023-11-14 22:13:24.0000000001", "does not match"),
            ("%Y-%m-%d %H:%M:%S %Q", "2023-11-14 22:13:24 Europe/Berlin", "offsets"),
        ] {
            let error = nanos(pattern, text).expect_err(text);
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_leap_second_is_refused_and_a_60_elsewhere_is_not() {
        assert!(nanos("%Y-%m-%d %H:%M:%S", "2016-12-31 23:59:60").expect_err("leap").contains("leap second"));
        assert!(nanos("%Y-%m-%d %T", "2016-12-31 23:59:60").expect_err("leap").contains("leap second"));
        assert!(nanos("%Y-%m-%d %H:%M:%S%.f", "2016-12-31 23:59:59.60").is_ok());
        assert!(nanos("%Y-%m-%d %H:%M:%S", "1960-12-31 23:59:59").is_ok());
    }

    #[test]
    fn knows_what_a_pattern_is() {
        assert!(check_time_pattern("%d/%b/%Y:%H:%M:%S %z").is_ok());
        assert!(check_time_pattern("%Y-%m-%d %H:%M:%S%.f").is_ok());
        let error = check_time_pattern("%Y-%m-%d %!").expect_err("no such directive");
        assert_eq!(error, "`%Y-%m-%d %!` is not a strptime pattern: found unrecognized specifier directive `!`");
    }
}
