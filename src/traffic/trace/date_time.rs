//! Times as dates and times of day, after RFC 3339.

use super::decimal::digit;
use super::stamp::{Fault, trim};
use crate::time::SimTime;

/// Length of `2026-01-31T12:00`.
pub const PREFIX: usize = 16;

/// The number that two digits are.
fn two(field: &[u8], at: usize) -> Result<u32, Fault> {
    match (field.get(at).copied().and_then(digit), field.get(at + 1).copied().and_then(digit)) {
        (Some(tens), Some(ones)) => Ok(tens * 10 + ones),
        _ => Err(Fault::Shape),
    }
}

/// The first second since the epoch of a minute, written `2026-01-31T12:00`.
pub fn minute(prefix: &[u8; PREFIX]) -> Result<i64, Fault> {
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
pub fn within_minute(minute: i64, rest: &[u8]) -> Result<SimTime, Fault> {
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
