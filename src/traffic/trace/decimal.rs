//! Times as decimal numbers, exact to the nanosecond.

use super::stamp::Fault;
use crate::time::SimTime;

pub const fn digit(byte: u8) -> Option<u32> {
    let digit = byte.wrapping_sub(b'0');
    if digit <= 9 { Some(digit as u32) } else { None }
}

/// A decimal number of units of 10^`places` ns.
pub fn decimal(field: &[u8], places: u32) -> Result<SimTime, Fault> {
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
pub fn show_decimal(at: SimTime, places: u32) -> String {
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
