//! A part of a limiter, as an exact fraction.

use super::{
    FixedWindowSpec, GcraSpec, Initial, LeakyBucketSpec, LimiterSpec, Refill, SlidingCounterSpec, SlidingLogSpec,
    TokenBucketSpec,
};
use crate::quota::{Limit, MAX_UNITS, Rate};
use crate::time::SimDuration;

/// A part of a whole: a fraction from zero to one, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    numerator: u64,
    denominator: u64,
}

const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Part {
    /// Nothing.
    pub const NONE: Self = Self { numerator: 0, denominator: 1 };
    /// Everything.
    pub const WHOLE: Self = Self { numerator: 1, denominator: 1 };

    /// `numerator / denominator`, the whole at most; rounded down where 64 bits do not hold it in lowest
    /// terms. A part of nothing is nothing.
    #[must_use]
    pub fn of(numerator: u128, denominator: u128) -> Self {
        if denominator == 0 {
            return Self::NONE;
        }
        let numerator = numerator.min(denominator);
        let divisor = gcd(numerator, denominator);
        let (numerator, denominator) = (numerator / divisor, denominator / divisor);
        let shift = (u128::BITS - denominator.leading_zeros()).saturating_sub(63);
        // Cut to fewer bits, a part is never more than it was.
        let (numerator, denominator) =
            if shift == 0 { (numerator, denominator) } else { (numerator >> shift, (denominator >> shift) + 1) };
        let short = |value: u128| u64::try_from(value).expect("cut to 63 bits");
        Self { numerator: short(numerator), denominator: short(denominator) }
    }

    /// Numerator and denominator.
    #[must_use]
    pub const fn fraction(self) -> (u64, u64) {
        (self.numerator, self.denominator)
    }

    /// Whether it is no more than another.
    #[must_use]
    pub const fn is_at_most(self, other: Self) -> bool {
        self.numerator as u128 * other.denominator as u128 <= other.numerator as u128 * self.denominator as u128
    }

    /// This part of so many units, rounded down.
    #[must_use]
    pub fn floor_of(self, units: u64) -> u64 {
        let units = u128::from(units) * u128::from(self.numerator) / u128::from(self.denominator);
        u64::try_from(units).expect("a part is no more than the whole")
    }

    /// A part of a rate: exact where the clock and the count of units can tell it, else rounded down.
    fn rate_of(self, rate: Rate) -> Rate {
        let units = u128::from(rate.units) * u128::from(self.numerator);
        let period = rate.period.nanos() * u128::from(self.denominator);
        let divisor = gcd(units, period);
        let (units, period) = (units / divisor, period / divisor);
        let bits = |value: u128, most: u128| (0..128).find(|shift| value >> shift < most).unwrap_or(127);
        let shift = bits(units, u128::from(MAX_UNITS)).max(bits(period, SimDuration::MAX_CONFIGURED.nanos()));
        let period = if shift == 0 { period } else { (period >> shift) + 1 };
        let units = u64::try_from(units >> shift).expect("cut to what is counted");
        Rate { units, period: SimDuration::from_wide_nanos(period) }
    }

    /// A part of a rate and its burst: where either would be nothing, nothing fits at once.
    fn flow_of(self, rate: Rate, burst: u64) -> (Rate, u64) {
        let (part, burst) = (self.rate_of(rate), self.floor_of(burst));
        // What never fits needs no rate: levels of before go on draining.
        if part.units == 0 || burst == 0 { (rate, 0) } else { (part, burst) }
    }
}

impl LimiterSpec {
    /// A part of it: units rounded down, the rate exact where the clock can tell it.
    #[must_use]
    pub fn scaled(&self, part: Part) -> Self {
        if part == Part::WHOLE {
            return self.clone();
        }
        let limit = |limit: Limit| Limit { units: part.floor_of(limit.units), ..limit };
        match *self {
            Self::FixedWindow(spec) => Self::FixedWindow(FixedWindowSpec { limit: limit(spec.limit), ..spec }),
            Self::SlidingLog(spec) => Self::SlidingLog(SlidingLogSpec { limit: limit(spec.limit), ..spec }),
            Self::SlidingCounter(spec) => Self::SlidingCounter(SlidingCounterSpec { limit: limit(spec.limit), ..spec }),
            Self::TokenBucket(spec) => {
                let (rate, burst) = match spec.refill {
                    Refill::Continuous => part.flow_of(spec.rate, spec.burst),
                    // Tokens keep coming at the same instants.
                    Refill::Interval => match (part.floor_of(spec.rate.units), part.floor_of(spec.burst)) {
                        (0, _) | (_, 0) => (spec.rate, 0),
                        (units, burst) => (Rate { units, ..spec.rate }, burst),
                    },
                };
                let initial = match spec.initial {
                    Initial::Tokens(tokens) => Initial::Tokens(part.floor_of(tokens)),
                    other => other,
                };
                Self::TokenBucket(TokenBucketSpec { rate, burst, initial, ..spec })
            }
            Self::LeakyBucket(spec) => {
                let (rate, capacity) = part.flow_of(spec.rate, spec.capacity);
                Self::LeakyBucket(LeakyBucketSpec { rate, capacity, ..spec })
            }
            Self::Gcra(spec) => {
                let (rate, burst) = part.flow_of(spec.rate, spec.burst);
                Self::Gcra(GcraSpec { rate, burst })
            }
        }
    }
}

impl Default for Part {
    fn default() -> Self {
        Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_part_is_in_lowest_terms_and_never_more(a in any::<u128>(), b in 1..u128::MAX) {
            let (numerator, denominator) = Part::of(a, b).fraction();
            prop_assert!(numerator <= denominator && denominator > 0);
            if a <= 1 << 60 && b <= 1 << 60 {
                prop_assert_eq!(u128::from(numerator) * b, a.min(b) * u128::from(denominator));
            }
        }

        #[test]
        fn a_part_of_a_rate_is_never_more_and_hardly_less(
            units in 1..=MAX_UNITS, period in 1..1_u64 << 62, a in 1..1_u64 << 40, b in 1..1_u64 << 40
        ) {
            let (rate, part) = (Rate { units, period: SimDuration::from_nanos(period) }, Part::of(a.into(), b.into()));
            let found = part.rate_of(rate);
            prop_assert!(found.units <= MAX_UNITS && found.period <= SimDuration::MAX_CONFIGURED);
            // As floating-point numbers, which tell fifteen digits.
            let exact = units as f64 / period as f64 * (a.min(b) as f64 / b as f64);
            let told = found.units as f64 / found.period.nanos() as f64;
            prop_assert!(told <= exact * (1.0 + 1e-12), "{told} of {exact}");
        }
    }

    #[test]
    fn a_part_of_a_small_rate_is_exact() {
        let rate: Rate = "10/1s".parse().expect("valid");
        assert_eq!(Part::of(7, 10).rate_of(rate).reduced(), (1_000_000_000, 7));
        assert_eq!(Part::of(1, 3).rate_of(rate).reduced(), (300_000_000, 1));
    }
}
