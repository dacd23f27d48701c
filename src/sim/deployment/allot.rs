//! How a limit is divided among replicas by what they want of it.

use crate::limiter::Part;
use crate::sim::MILLION;

/// Bits that an amount is cut to, so that every product below fits 128.
const BITS: u32 = 44;

/// An estimate of demand: millionths of a unit offered in an interval.
pub type Demand = u128;

/// The estimate after an interval in which so many units were offered, of which the last has this
/// weight in parts per million.
///
/// It moves by a whole millionth at least, so that it arrives where demand is steady.
#[must_use]
pub fn smoothed(before: Demand, units: u64, weight: u64) -> Demand {
    let offered = u128::from(units) * u128::from(MILLION);
    let step = (before.abs_diff(offered) * u128::from(weight)).div_ceil(u128::from(MILLION));
    if offered > before { before + step } else { before - step }
}

/// The parts of a whole that those who ask for `wants` are granted, while the parts `lent` are with
/// others.
///
/// What they want, if that fits. Else equal parts to begin with: who wants no more gets what it wants,
/// and what it leaves tops up the others in proportion to what they want beyond their equal part. The sum
/// of all parts never passes the whole.
#[must_use]
pub fn allot(whole: Demand, lent: &[Part], wants: &[Demand]) -> Vec<Part> {
    let count = wants.len() as u128;
    if count == 0 || whole == 0 {
        return vec![Part::NONE; wants.len()];
    }
    // A want far beyond the whole tells no more than one that is 65 536 times it.
    let wants = wants.iter().map(|want| (*want).min(whole.saturating_mul(1 << 16)));
    let largest = wants.clone().max().unwrap_or(0).max(whole);
    let shift = (u128::BITS - largest.leading_zeros()).saturating_sub(BITS);
    let (whole, wants) = (whole >> shift, wants.map(|want| want >> shift));
    let out = |part: &Part| {
        let (numerator, denominator) = part.fraction();
        (whole * u128::from(numerator)).div_ceil(u128::from(denominator))
    };
    let there = whole.saturating_sub(lent.iter().map(out).sum());
    if wants.clone().sum::<u128>() <= there {
        return wants.map(|want| Part::of(want, whole)).collect();
    }
    // All times the number of those who ask: then an equal part is what there is.
    let beyond = |want: u128| (want * count).saturating_sub(there);
    let left: u128 = wants.clone().map(|want| there.saturating_sub(want * count)).sum();
    let over: u128 = wants.clone().map(beyond).sum();
    let granted = |want: u128| match beyond(want) {
        0 => Part::of(want, whole),
        more => Part::of(there * over + more * left, count * over * whole),
    };
    wants.map(granted).collect()
}

/// The part that some demand is of all; equal parts of so many where there is none at all.
#[must_use]
pub fn proportion(own: Demand, all: Demand, equals: usize) -> Part {
    if all == 0 { Part::of(1, equals as u128) } else { Part::of(own, all) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part(numerator: u128, denominator: u128) -> Part {
        Part::of(numerator, denominator)
    }

    #[test]
    fn wants_that_fit_are_met() {
        assert_eq!(allot(100, &[], &[20, 0, 80]), [part(1, 5), Part::NONE, part(4, 5)]);
        assert_eq!(allot(100, &[part(1, 2)], &[20, 30]), [part(1, 5), part(3, 10)]);
    }

    #[test]
    fn what_some_leave_tops_up_the_others() {
        // Equal parts are 40: two want less and leave 20 + 30; the others want 20 and 60 beyond.
        let parts = [part(20, 200), part(10, 200), part(400 + 125, 2000), part(400 + 375, 2000), part(40, 200)];
        assert_eq!(allot(200, &[], &[20, 10, 60, 100, 40]), parts);
        // Equal wants: exact thirds, whatever the limit.
        assert_eq!(allot(10, &[], &[9, 9, 9]), [part(1, 3); 3]);
    }

    #[test]
    fn an_estimate_arrives() {
        let mut estimate = 0;
        for _ in 0..400 {
            estimate = smoothed(estimate, 7, 100_000);
        }
        assert_eq!(estimate, 7_000_000);
        for _ in 0..400 {
            estimate = smoothed(estimate, 0, 100_000);
        }
        assert_eq!((estimate, smoothed(5, 9, MILLION)), (0, 9_000_000));
    }

    /// A part in units of 2^-64, rounded down.
    fn bits(part: &Part) -> u128 {
        let (numerator, denominator) = part.fraction();
        (u128::from(numerator) << 64) / u128::from(denominator)
    }

    proptest! {
        #[test]
        fn no_more_is_granted_than_there_is(
            whole in 1..u128::MAX >> 20, wants in prop::collection::vec(any::<u128>(), 1..20),
            lent in prop::collection::vec(0..100_u128, 0..4)
        ) {
            let lent: Vec<Part> = lent.into_iter().map(|share| part(share, 400)).collect();
            for wants in [wants.clone(), wants.iter().map(|want| want % whole.saturating_mul(3).max(1)).collect()] {
                let parts = allot(whole, &lent, &wants);
                let sum: u128 = parts.iter().chain(&lent).map(bits).sum();
                prop_assert!(sum <= 1 << 64, "{parts:?}");
            }
        }
    }
}
