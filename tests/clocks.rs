//! A lane behind a coarse clock: what it says of the future holds on the true clock.

use crate::limiters::{Attempt, any_limiter, attempts, leaky_bucket, scale};
use proptest::prelude::*;
use rlsim::limiter::{Decision, KeyId, LimiterSpec, Workload};
use rlsim::sim::{Lane, LanePlan};
use rlsim::time::{SimDuration, SimTime};

const KEY: KeyId = KeyId(0);

fn at(nanos: i64) -> SimTime {
    SimTime::from_nanos(nanos)
}

/// A lane that has seen these attempts.
fn lane_after(plan: &LanePlan, attempts: &[Attempt]) -> Lane {
    let mut lane = Lane::new(plan.clone(), &Workload::UNKNOWN);
    for attempt in attempts {
        lane.decide(0, KEY, at(attempt.at), attempt.cost);
    }
    lane
}

/// What an attempt would be answered later, if nothing else came in between.
fn later(plan: &LanePlan, attempts: &[Attempt], when: i64, cost: u64) -> Decision {
    lane_after(plan, attempts).decide(0, KEY, at(when), cost)
}

/// Attempts of one unit that pass at an instant.
fn passing(plan: &LanePlan, attempts: &[Attempt], when: i64) -> u64 {
    let mut lane = lane_after(plan, attempts);
    (0..100).take_while(|_| lane.decide(0, KEY, at(when), 1).admits()).count() as u64
}

fn ahead(when: i64, wait: SimDuration) -> i64 {
    when + i64::try_from(wait.nanos()).expect("small")
}

fn coarse(limiter: impl Strategy<Value = LimiterSpec>) -> impl Strategy<Value = (LanePlan, Vec<Attempt>)> {
    let attempts = limiter.prop_flat_map(|spec| {
        let gap = scale(&spec);
        (Just(spec), attempts(gap, 10))
    });
    (attempts, 1..25_u64).prop_map(|((limiter, mut attempts), tick)| {
        attempts.truncate(12);
        let plan = LanePlan { clock_resolution: Some(tick), ..LanePlan::plain("lane".to_owned(), limiter) };
        (plan, attempts)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Refused until `retry_after` to the nanosecond, admitted at it.
    #[test]
    fn retry_after_is_exact((plan, attempts) in coarse(any_limiter())) {
        for n in 1..=attempts.len() {
            let (seen, now) = (&attempts[..n], attempts[n - 1].at);
            let lane = lane_after(&plan, seen);
            for cost in 1..9 {
                let Some(wait) = lane.retry_after(KEY, at(now), cost) else {
                    prop_assert_eq!(later(&plan, seen, now + 1_000_000, cost), Decision::Deny);
                    continue;
                };
                prop_assert_eq!(wait.is_zero(), later(&plan, seen, now, cost).admits());
                let then = ahead(now, wait);
                prop_assert!(later(&plan, seen, then, cost).admits(), "cost {cost} at {then}");
                if !wait.is_zero() {
                    prop_assert_eq!(later(&plan, seen, then - 1, cost), Decision::Deny, "cost {} at {}", cost, then - 1);
                }
            }
        }
    }

    /// `remaining` pass now, one more after `next`, and after `full` nothing is in use.
    #[test]
    fn the_quota_view_is_exact((plan, attempts) in coarse(any_limiter())) {
        for n in 1..=attempts.len() {
            let (seen, now) = (&attempts[..n], attempts[n - 1].at);
            let lane = lane_after(&plan, seen);
            let level = lane.level(KEY, at(now));
            prop_assert_eq!(level.remaining, passing(&plan, seen, now));
            if !level.next.is_zero() {
                prop_assert_eq!(passing(&plan, seen, ahead(now, level.next) - 1), level.remaining);
                prop_assert!(passing(&plan, seen, ahead(now, level.next)) > level.remaining);
            }
            prop_assert_eq!(lane.level(KEY, at(ahead(now, level.full))).used.numerator, 0);
            if !level.full.is_zero() {
                prop_assert!(!lane.level(KEY, at(ahead(now, level.full) - 1)).full.is_zero());
            }
        }
    }

    /// A queue releases in the order of admission, never before arrival, and at its own pace.
    #[test]
    fn a_queue_keeps_its_order((plan, attempts) in coarse(leaky_bucket())) {
        let mut lane = lane_after(&plan, &[]);
        let mut last = i64::MIN;
        for attempt in attempts.iter().filter(|attempt| attempt.cost > 0) {
            let released = match lane.decide(0, KEY, at(attempt.at), attempt.cost) {
                Decision::Allow => attempt.at,
                Decision::Delay(wait) => ahead(attempt.at, wait),
                Decision::Deny => continue,
            };
            prop_assert!(released >= last && released >= attempt.at);
            last = released;
        }
    }
}
