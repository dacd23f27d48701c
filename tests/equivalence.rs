//! Different algorithms, one decision function.

use crate::limiters::{at, attempts, ns};
use proptest::prelude::*;
use rlsim::limiter::{
    Backwards, Compare, GcraSpec, Initial, KeyId, LeakyBucketSpec, LeakyMode, LimiterSpec, Refill, TokenBucketSpec,
    Workload,
};
use rlsim::quota::Rate;

const KEY: KeyId = KeyId(0);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Token bucket, leaky meter, GCRA and the admissions of a leaky queue are one function.
    #[test]
    fn bucket_meter_gcra_and_queue_admit_alike(
        units in 1..12_u64, period in 1..60_u64, burst in 1..9_u64, attempts in attempts(60, 10)
    ) {
        let rate = Rate { units, period: ns(period) };
        let leaky = |mode| LimiterSpec::LeakyBucket(LeakyBucketSpec {
            rate, mode, capacity: burst, compare: Compare::After,
        });
        let specs = [
            LimiterSpec::TokenBucket(TokenBucketSpec {
                rate, burst, initial: Initial::Full, refill: Refill::Continuous, backwards: Backwards::Clamp,
            }),
            LimiterSpec::Gcra(GcraSpec { rate, burst }),
            leaky(LeakyMode::Meter),
            leaky(LeakyMode::Queue),
        ];
        let mut limiters: Vec<_> = specs.iter().map(|spec| spec.build(&Workload::UNKNOWN)).collect();
        for attempt in &attempts {
            let when = at(attempt.at);
            let admitted: Vec<bool> =
                limiters.iter_mut().map(|limiter| limiter.decide(KEY, when, attempt.cost).admits()).collect();
            prop_assert!(admitted.iter().all(|a| *a == admitted[0]), "{:?} at {:?}", admitted, attempt);
            let views: Vec<_> = limiters.iter().map(|limiter| limiter.level(KEY, when)).collect();
            for view in &views[1..] {
                prop_assert_eq!((view.remaining, view.next, view.full), (views[0].remaining, views[0].next, views[0].full));
            }
        }
    }
}
