//! What is configured: a limit per window, a rate per period, both as two integers.

use crate::time::SimDuration;
use std::fmt;
use std::str::FromStr;

/// The most units that a limit, a rate or a burst may state: with the bounds of
/// [`SimDuration::MAX_CONFIGURED`] every product stays within 128 bits.
pub const MAX_UNITS: u64 = 1 << 62;

/// A limit: `units` in each `window`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Limit {
    /// Units admitted in a window.
    pub units: u64,
    /// The window's length, never zero.
    pub window: SimDuration,
}

/// A sustained rate: `units` in each `period`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rate {
    /// Units in a period; zero admits nothing.
    pub units: u64,
    /// The period's length, never zero.
    pub period: SimDuration,
}

impl Rate {
    /// `(period_ns, units)` reduced by their greatest common divisor: one unit every
    /// `period_ns / units` nanoseconds.
    #[must_use]
    pub fn reduced(self) -> (u64, u64) {
        let period = self.period.short_nanos();
        let divisor = gcd(period, self.units);
        (period / divisor, self.units / divisor)
    }
}

impl From<Limit> for Rate {
    fn from(limit: Limit) -> Self {
        Self { units: limit.units, period: limit.window }
    }
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// What is wrong with the text of a limit or a rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseQuotaError(String);

impl fmt::Display for ParseQuotaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseQuotaError {}

impl FromStr for Rate {
    type Err = ParseQuotaError;

    /// Parses `100/1m`, `100/min`, `10/s`, `10r/s`, `1_000_000/1h`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |why: String| Err(ParseQuotaError(format!("{why}; write units per time, as in `100/1m` or `10/s`")));
        let Some((units, period)) = text.split_once('/') else {
            return if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
                fail(format!("`{text}` does not say per what time"))
            } else {
                fail(format!("`{text}` is not a rate"))
            };
        };
        let (units, period) = (units.trim(), period.trim());
        let digits: String = units.strip_suffix('r').unwrap_or(units).chars().filter(|c| *c != '_').collect();
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return fail(format!("`{units}` is not a whole number of units"));
        }
        let units = match digits.parse::<u64>() {
            Ok(units) if units <= MAX_UNITS => units,
            _ => return fail(format!("`{units}` units are more than {MAX_UNITS}, the most that is counted exactly")),
        };
        let period = match period {
            "sec" | "second" => SimDuration::from_secs(1),
            "min" | "minute" => SimDuration::from_secs(60),
            "hour" => SimDuration::from_secs(3_600),
            "day" => SimDuration::from_secs(86_400),
            unit if !unit.is_empty() && unit.bytes().all(|b| b.is_ascii_alphabetic()) => {
                match crate::time::unit_nanos(unit) {
                    Some(nanos) => SimDuration::from_nanos(nanos),
                    None => return fail(format!("`{unit}` is not a unit of time")),
                }
            }
            other => match other.parse::<SimDuration>() {
                Ok(period) => period,
                Err(error) => return Err(ParseQuotaError(error.to_string())),
            },
        };
        if period.is_zero() {
            return fail(format!("`{text}` has a period of zero"));
        }
        Ok(Self { units, period })
    }
}

impl FromStr for Limit {
    type Err = ParseQuotaError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Rate { units, period } = text.parse()?;
        Ok(Self { units, window: period })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let period = self.period.to_string();
        // `10/1s` and `30/2m30s`: a leading number is always there, so the text reads back.
        write!(f, "{}/{period}", self.units)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Rate::from(*self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_spelling() {
        for (text, canonical) in [
            ("100/1m", "100/1m"),
            ("100/min", "100/1m"),
            ("100/minute", "100/1m"),
            ("100/m", "100/1m"),
            ("10/s", "10/1s"),
            ("10r/s", "10/1s"),
            ("30r/m", "30/1m"),
            ("1_000_000/1h", "1000000/1h"),
            ("0/1m", "0/1m"),
            ("1/30d", "1/30d"),
            ("5/90s", "5/1m30s"),
        ] {
            assert_eq!(text.parse::<Rate>().expect(text).to_string(), canonical, "{text}");
        }
    }

    #[test]
    fn refuses_with_a_hint() {
        for (text, part) in [
            ("100", "does not say per what time"),
            ("", "not a rate"),
            ("x/1m", "not a whole number"),
            ("1.5/1m", "not a whole number"),
            ("-1/1m", "not a whole number"),
            ("1/0s", "period of zero"),
            ("1/fortnight", "not a unit of time"),
            ("1/", "duration"),
            ("99999999999999999999/1s", "more than"),
        ] {
            let error = text.parse::<Rate>().expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn reduces_to_lowest_terms() {
        assert_eq!("100/1m".parse::<Rate>().expect("valid").reduced(), (600_000_000, 1));
        assert_eq!("7/1s".parse::<Rate>().expect("valid").reduced(), (1_000_000_000, 7));
        assert_eq!("0/1m".parse::<Rate>().expect("valid").reduced(), (1, 0));
    }
}
