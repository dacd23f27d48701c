//! Virtual time: integer nanoseconds, never the wall clock.
//!
//! Instants count from the Unix epoch, so that windows align to the real clock. Both types are
//! bounded so that the sum of any instant and any configured span still fits: instants lie within
//! [`SimTime::MIN`]`..=`[`SimTime::MAX`] (years 1823 to 2116) and a configured span is at most
//! [`SimDuration::MAX_CONFIGURED`] (145 years).

use std::fmt;
use std::str::FromStr;

/// Nanoseconds in a second.
pub const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// An instant: nanoseconds since the Unix epoch, negative before 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(i64);

impl SimTime {
    /// The Unix epoch.
    pub const EPOCH: Self = Self(0);
    /// The earliest instant that an arrival may have, in 1823.
    pub const MIN: Self = Self(-Self::MAX.0);
    /// The latest instant that an arrival may have, in 2116.
    pub const MAX: Self = Self((1 << 62) - 1);

    /// An instant from nanoseconds since the Unix epoch.
    #[must_use]
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// An instant from wide nanoseconds, if an arrival may have it.
    #[must_use]
    pub fn from_wide_nanos(nanos: i128) -> Option<Self> {
        let time = Self(i64::try_from(nanos).ok()?);
        (Self::MIN..=Self::MAX).contains(&time).then_some(time)
    }

    /// Nanoseconds since the Unix epoch.
    #[must_use]
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// The time from `earlier` to `self`, zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> SimDuration {
        let nanos = self.0 as i128 - earlier.0 as i128;
        SimDuration(if nanos > 0 { nanos as u128 } else { 0 })
    }

    /// The instant `wait` later, if it can be represented.
    #[must_use]
    pub fn checked_add(self, wait: SimDuration) -> Option<Self> {
        let wait = i64::try_from(wait.0).ok()?;
        self.0.checked_add(wait).map(Self)
    }

    /// The instant rounded down to a multiple of `step` nanoseconds since the epoch, but not below
    /// [`Self::MIN`].
    #[must_use]
    pub fn floor_to(self, step: u64) -> Self {
        // At most one configured span below the earliest instant: it does not wrap.
        Self(self.0 - self.0.rem_euclid(step as i64)).max(Self::MIN)
    }
}

impl fmt::Display for SimTime {
    /// RFC 3339 in UTC, as many decimals as it takes: `2026-01-01T11:59:00Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time =
            jiff::Timestamp::from_nanosecond(i128::from(self.0)).expect("64 bits of nanoseconds are 1677 to 2262");
        time.fmt(f)
    }
}

/// A non-negative span in nanoseconds.
///
/// 128 bits: a bucket of a billion refilled once a month takes 82 million years to fill, and the
/// wait for it is still exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimDuration(u128);

impl SimDuration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span that a scenario may state: 145 years, so that instant + span never wraps.
    pub const MAX_CONFIGURED: Self = Self(53_000 * 86_400 * NANOS_PER_SECOND as u128);

    /// A span from nanoseconds.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos as u128)
    }

    /// A span from wide nanoseconds.
    #[must_use]
    pub const fn from_wide_nanos(nanos: u128) -> Self {
        Self(nanos)
    }

    /// A span from whole seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs as u128 * NANOS_PER_SECOND as u128)
    }

    /// Nanoseconds.
    #[must_use]
    pub const fn nanos(self) -> u128 {
        self.0
    }

    /// Nanoseconds of a span known to be configured (at most [`Self::MAX_CONFIGURED`]) or shorter
    /// than 584 years; saturates beyond.
    #[must_use]
    pub const fn short_nanos(self) -> u64 {
        if self.0 > u64::MAX as u128 { u64::MAX } else { self.0 as u64 }
    }

    /// Whether the span is zero.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// Round spans from a second up, in seconds: what clocks are divided into.
const ROUND_SECONDS: [i64; 20] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
];

/// Round spans in ascending order, in nanoseconds: 1, 2 and 5 of each power of ten below a second, what
/// clocks are divided into above, then whole weeks. One that is 60 times another or more is a multiple
/// of it.
pub fn round_spans() -> impl Iterator<Item = i64> {
    let below = (0..9).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_i64.pow(power)));
    let above = ROUND_SECONDS.into_iter().map(|step| step * NANOS_PER_SECOND as i64);
    let weeks = (1..64).map(|doubling| (604_800 * NANOS_PER_SECOND as i64).saturating_mul(1 << doubling.min(20)));
    below.chain(above).chain(weeks)
}

/// Instants from `from` to before `until` on round times of the clock, at equal distances, at most
/// `most`: where a time axis has its labels.
#[must_use]
pub fn round_instants(from: SimTime, until: SimTime, most: usize) -> Vec<SimTime> {
    let span = until.nanos().saturating_sub(from.nanos());
    if span <= 0 || most == 0 {
        return Vec::new();
    }
    let fits = |step: &i64| span / step < most as i64;
    let Some(step) = round_spans().find(fits) else { return Vec::new() };
    let first = i128::from(from.nanos()).div_euclid(i128::from(step)) * i128::from(step);
    (0..=most as i128 + 1)
        .filter_map(|i| i64::try_from(first + i * i128::from(step)).ok())
        .filter(|at| (from.nanos()..until.nanos()).contains(at))
        .take(most)
        .map(SimTime)
        .collect()
}

const UNITS: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", NANOS_PER_SECOND),
    ("m", 60 * NANOS_PER_SECOND),
    ("h", 3_600 * NANOS_PER_SECOND),
    ("d", 86_400 * NANOS_PER_SECOND),
];

/// The length of a unit of time in nanoseconds.
#[must_use]
pub fn unit_nanos(unit: &str) -> Option<u64> {
    UNITS.iter().find(|(name, _)| *name == unit).map(|(_, nanos)| *nanos)
}

/// What is wrong with the text of a duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseDurationError(String);

impl fmt::Display for ParseDurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseDurationError {}

impl FromStr for SimDuration {
    type Err = ParseDurationError;

    /// Parses `(number unit)+` such as `1m30s`, `250ms`, `1.5h`; units are ns us ms s m h d.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = |why: &str| {
            Err(ParseDurationError(format!(
                "`{text}` is not a duration: {why}; write numbers with units ns us ms s m h d, as in `1m30s`"
            )))
        };
        if text.is_empty() {
            return fail("it is empty");
        }
        let mut rest = text;
        let mut total: u128 = 0;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(rest.len());
            let (number, tail) = rest.split_at(digits);
            let letters = tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len());
            let (unit, tail) = tail.split_at(letters);
            if number.is_empty() {
                return fail("a number is missing");
            }
            if unit.is_empty() {
                return fail("a unit is missing");
            }
            let Some(scale) = unit_nanos(unit) else {
                return fail(&format!("`{unit}` is not a unit"));
            };
            let Some(nanos) = decimal_times(number, scale) else {
                return fail(&format!("`{number}{unit}` is not a whole number of nanoseconds"));
            };
            total = total.saturating_add(nanos);
            rest = tail;
        }
        if total > Self::MAX_CONFIGURED.0 {
            return fail("it is longer than 53000d (145 years), the longest span that this clock holds");
        }
        Ok(Self(total))
    }
}

/// `number * scale`, if `number` is a decimal and the product is whole.
fn decimal_times(number: &str, scale: u64) -> Option<u128> {
    let clean: String = number.chars().filter(|c| *c != '_').collect();
    let (whole, fraction) = clean.split_once('.').unwrap_or((&clean, ""));
    if whole.is_empty() || (clean.contains('.') && fraction.is_empty()) || fraction.contains('.') || fraction.len() > 18
    {
        return None;
    }
    let whole: u128 = if whole.len() > 20 { u128::from(u64::MAX) } else { whole.parse().ok()? };
    let mut total = whole.checked_mul(u128::from(scale))?;
    if !fraction.is_empty() {
        let parts: u128 = fraction.parse().ok()?;
        let denominator = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
        let product = parts * u128::from(scale);
        if !product.is_multiple_of(denominator) {
            return None;
        }
        total += product / denominator;
    }
    Some(total)
}

impl fmt::Display for SimDuration {
    /// The shortest spelling that [`FromStr`] reads back: `1m30s`, `1.5s`, `250ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        let mut rest = self.0;
        for (name, nanos) in [UNITS[6], UNITS[5], UNITS[4]] {
            let count = rest / u128::from(nanos);
            if count > 0 {
                write!(f, "{count}{name}")?;
                rest %= u128::from(nanos);
            }
        }
        if rest == 0 {
            return Ok(());
        }
        let (name, scale) = [UNITS[3], UNITS[2], UNITS[1], UNITS[0]]
            .into_iter()
            .find(|(_, scale)| rest >= u128::from(*scale))
            .expect("a nanosecond is the smallest unit and the rest is not zero");
        let scale = u128::from(scale);
        write!(f, "{}", rest / scale)?;
        let fraction = rest % scale;
        if fraction > 0 {
            let width = usize::try_from(scale.ilog10()).expect("at most nine digits");
            let digits = format!("{fraction:0width$}");
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        f.write_str(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(text: &str) -> Result<u128, String> {
        text.parse::<SimDuration>().map(SimDuration::nanos).map_err(|e| e.to_string())
    }

    #[test]
    fn reads_durations() {
        assert_eq!(nanos("1m30s"), Ok(90_000_000_000));
        assert_eq!(nanos("250ms"), Ok(250_000_000));
        assert_eq!(nanos("1.5s"), Ok(1_500_000_000));
        assert_eq!(nanos("0s"), Ok(0));
        assert_eq!(nanos("30d"), Ok(2_592_000_000_000_000));
        assert_eq!(nanos("1d1h1m1s1ms1us1ns"), Ok(90_061_001_001_001));
    }

    #[test]
    fn refuses_what_is_not_a_duration() {
        for text in ["", "5", "s", "5 s", "5x", "-1s", "1.s", ".5s", "1..5s", "0.1ns", "200y", "53001d", "1e3s"] {
            assert!(nanos(text).is_err(), "{text}");
        }
    }

    #[test]
    fn spells_durations_so_that_they_read_back() {
        for text in ["1m30s", "1m", "1.5s", "250ms", "2d", "1h500ms", "1.000001ms", "0s", "999ns", "53000d"] {
            assert_eq!(text.parse::<SimDuration>().expect(text).to_string(), text);
        }
        assert_eq!("90s".parse::<SimDuration>().expect("valid").to_string(), "1m30s");
        assert_eq!("1500ms".parse::<SimDuration>().expect("valid").to_string(), "1.5s");
    }

    #[test]
    fn axes_have_few_round_instants() {
        let s = |n: i64| n * NANOS_PER_SECOND as i64;
        let instants = |from: i64, until: i64, most| -> Vec<i64> {
            let found = round_instants(SimTime(from), SimTime(until), most);
            found.into_iter().map(SimTime::nanos).collect()
        };
        assert_eq!(instants(s(58) + 800_000_000, s(61) + 200_000_000, 4), [s(59), s(60), s(61)]);
        assert_eq!(instants(0, s(126), 4), [0, s(60), s(120)]);
        assert_eq!(instants(s(-130), s(70), 4), [s(-120), s(-60), 0, s(60)]);
        assert_eq!(instants(7, 8, 4), [7]);
        assert_eq!(instants(5, 5, 4), [0; 0]);
        for span in [1, 999, s(3), s(86_400 * 30), s(86_400 * 365 * 100), i64::MAX] {
            let found = instants(-span / 2, span / 2 + 1, 4);
            assert!((1..=4).contains(&found.len()), "{span}: {found:?}");
        }
    }

    #[test]
    fn rounds_down_before_the_epoch_too() {
        assert_eq!(SimTime::from_nanos(-1).floor_to(10).nanos(), -10);
        assert_eq!(SimTime::from_nanos(19).floor_to(10).nanos(), 10);
    }
}
