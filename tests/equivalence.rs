//! Different algorithms, one decision function.

use crate::limiters::{any_limiter, at, attempts, ns, scale};
use proptest::prelude::*;
use rlsim::limiter::{
    Backwards, Compare, Costs, GcraSpec, Initial, KeyId, LeakyBucketSpec, LeakyMode, LimiterSpec, Refill, Rows,
    TokenBucketSpec, Verdicts, Workload,
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

/// What may be done with one key.
#[derive(Clone, Copy, Debug)]
enum Step {
    Decide(u64),
    Charge(u64),
    Refuse(u64),
    /// Of what was charged so many nanoseconds ago.
    Refund(i64, u64),
    Clamp,
    Reset,
}

/// Steps and how far time moves before each: with `debt` also those that charge more than there is.
fn steps(gap: i64, debt: bool) -> impl Strategy<Value = Vec<(i64, Step)>> {
    let cost = prop_oneof![8 => Just(1_u64), 1 => Just(0)];
    let decide = cost.clone().prop_map(Step::Decide);
    let refund = (prop_oneof![Just(0), 0..=gap], cost.clone()).prop_map(|(ago, cost)| Step::Refund(ago, cost));
    let charge =
        prop_oneof![3 => (0..4_u64).prop_map(Step::Charge), 1 => cost.prop_map(Step::Refuse), 1 => Just(Step::Clamp)];
    let step = prop_oneof![6 => decide, 1 => refund, 1 => Just(Step::Reset), 3 * u32::from(debt) => charge];
    let moves = prop_oneof![4 => Just(0), 8 => 0..=gap / 4 + 1, 2 => 0..=2 * gap, 1 => -gap..=0];
    prop::collection::vec((moves, step), 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    /// What is known of attempts beforehand makes a limiter smaller and quicker; it answers the same, also
    /// in debt and by a clock that runs backwards.
    #[test]
    fn small_states_answer_as_large_ones(
        (spec, debt, steps) in (any_limiter(), any::<bool>()).prop_flat_map(|(spec, debt)| {
            let gap = scale(&spec);
            (Just(spec), Just(debt), steps(gap, debt))
        })
    ) {
        let reach = 200 * scale(&spec);
        let times = (at(-reach), at(reach));
        let mut small = spec.build(&Workload { unit_cost: true, times, debt });
        let mut large = spec.build(&Workload { debt, ..Workload::UNKNOWN });
        let mut now = 0;
        for (moves, step) in steps {
            now += moves;
            let when = at(now);
            match step {
                Step::Decide(cost) => {
                    prop_assert_eq!(small.ask(KEY, when, cost), large.ask(KEY, when, cost));
                    prop_assert_eq!(small.decide(KEY, when, cost), large.decide(KEY, when, cost));
                }
                other => [&mut small, &mut large].into_iter().for_each(|limiter| match other {
                    Step::Charge(cost) => limiter.charge(KEY, when, cost),
                    Step::Refuse(cost) => limiter.refuse(KEY, when, cost),
                    Step::Refund(ago, cost) => limiter.refund(KEY, at(now - ago), when, cost),
                    Step::Clamp => limiter.clamp(KEY, when),
                    Step::Reset | Step::Decide(_) => limiter.reset(KEY, when),
                }),
            }
            prop_assert_eq!(small.level(KEY, when), large.level(KEY, when), "{:?} at {}", step, now);
            for cost in 0..4 {
                prop_assert_eq!(small.retry_after(KEY, when, cost), large.retry_after(KEY, when, cost));
            }
        }
    }

    /// A batch is its rows one by one, in any order of time, and leaves the same memory.
    #[test]
    fn a_batch_is_its_rows_one_by_one(
        (spec, rows, costs, known) in any_limiter().prop_flat_map(|spec| {
            let gap = scale(&spec);
            let moves = prop_oneof![4 => Just(0), 8 => 0..=gap / 4 + 1, 2 => 0..=2 * gap, 1 => -gap..=0];
            let cost = prop_oneof![Just(1_u64), Just(0)];
            let costs = prop::option::of(prop::collection::vec(cost, 200));
            (Just(spec), prop::collection::vec((moves, 0..3_u32), 1..200), costs, any::<bool>())
        })
    ) {
        let reach = 500 * scale(&spec);
        let narrow = Workload { unit_cost: true, times: (at(-reach), at(reach)), debt: false };
        let workload = if known { narrow } else { Workload::UNKNOWN };
        let (mut together, mut apart) = (spec.build(&workload), spec.build(&workload));
        let mut now = 0;
        let instants: Vec<_> = rows.iter().map(|(moves, _)| { now += moves; at(now) }).collect();
        // New keys are numbered by first appearance.
        let mut seen = Vec::new();
        let keys: Vec<_> = rows.iter().map(|(_, key)| {
            let place = seen.iter().position(|known| known == key).unwrap_or(seen.len());
            if place == seen.len() { seen.push(*key) }
            KeyId(place as u32)
        }).collect();
        let (mut verdicts, mut expected) = (Verdicts::default(), Verdicts::default());
        let cost = costs.as_ref().map_or(Costs::One, |costs| Costs::Each(&costs[..rows.len()]));
        together.decide_batch(Rows { at: &instants, key: &keys, cost }, &mut verdicts);
        for (row, (when, key)) in instants.iter().zip(&keys).enumerate() {
            expected.push(apart.decide(*key, *when, costs.as_ref().map_or(1, |costs| costs[row])));
        }
        prop_assert_eq!(verdicts, expected);
        prop_assert_eq!(together.size(), apart.size());
    }
}
