//! What every limiter must obey, whatever its algorithm and knobs.

use crate::limiters::{Attempt, at, limiter_and_attempts};
use crate::oracle::Oracle;
use proptest::prelude::*;
use rlsim::limiter::{Decision, KeyId, Limiter, LimiterSpec, Snapshot, Workload};
use rlsim::time::SimDuration;
use std::collections::VecDeque;

const KEY: KeyId = KeyId(0);

/// Attempts of cost 1 that pass at once, one after another, on a copy of the state.
fn passing(limiter: &dyn Limiter, when: i64) -> u64 {
    let mut copy = limiter.check_out(KEY, at(when));
    passing_on(limiter, &mut copy, when)
}

fn passing_on(limiter: &dyn Limiter, copy: &mut Snapshot, when: i64) -> u64 {
    let mut count = 0;
    while count < 100 && limiter.decide_on(copy, at(when), 1).admits() {
        count += 1;
    }
    count
}

fn ahead(when: i64, wait: SimDuration) -> i64 {
    when + i64::try_from(wait.nanos()).expect("small")
}

fn run(spec: &LimiterSpec, attempts: &[Attempt], mut check: impl FnMut(&dyn Limiter, Attempt, Decision)) {
    let mut limiter = spec.build(&Workload::UNKNOWN);
    for attempt in attempts {
        let decision = limiter.decide(KEY, at(attempt.at), attempt.cost);
        check(&*limiter, *attempt, decision);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// A lone retry is refused until `retry_after` and admitted from it on; `None` means never.
    #[test]
    fn retry_after_is_exact((spec, attempts) in limiter_and_attempts()) {
        run(&spec, &attempts, |limiter, attempt, _| {
            for cost in 0..12 {
                let now = limiter.ask(KEY, at(attempt.at), cost);
                match limiter.retry_after(KEY, at(attempt.at), cost) {
                    None => {
                        assert_eq!(now, Decision::Deny);
                        for later in [1, 100, 10_000, 100_000_000] {
                            assert_eq!(limiter.ask(KEY, at(attempt.at + later), cost), Decision::Deny, "{spec:?}");
                        }
                    }
                    Some(wait) => {
                        assert_eq!(wait.is_zero(), now.admits(), "{spec:?} cost {cost} at {}", attempt.at);
                        let then = ahead(attempt.at, wait);
                        for early in [1, 2, 3, 5, 8, 13, 21, 34] {
                            if then - early >= attempt.at {
                                let answer = limiter.ask(KEY, at(then - early), cost);
                                assert_eq!(answer, Decision::Deny, "{spec:?} cost {cost}, {early} ns early");
                            }
                        }
                        for late in [0, 1, 7, 60] {
                            assert!(limiter.ask(KEY, at(then + late), cost).admits(), "{spec:?} cost {cost}");
                        }
                    }
                }
            }
        });
    }

    /// `remaining` attempts pass, `next` is when one more does, `full` when the key is as new.
    #[test]
    fn the_quota_view_is_exact((spec, attempts) in limiter_and_attempts()) {
        run(&spec, &attempts, |limiter, attempt, _| {
            let level = limiter.level(KEY, at(attempt.at));
            let passing_now = passing(limiter, attempt.at);
            assert_eq!(level.remaining, passing_now, "{spec:?} at {}", attempt.at);
            if !level.next.is_zero() {
                let then = ahead(attempt.at, level.next);
                assert_eq!(passing(limiter, then - 1), passing_now, "{spec:?}");
                assert!(passing(limiter, then) > passing_now, "{spec:?}");
            }
            let then = ahead(attempt.at, level.full);
            let untouched = limiter.level(KEY, at(then));
            assert_eq!(untouched.used.numerator, 0, "{spec:?}");
            if !level.full.is_zero() {
                assert!(limiter.level(KEY, at(then - 1)).full > SimDuration::ZERO, "{spec:?}");
            }
        });
    }

    /// A decision is an ask and then a charge or a refusal; asking changes nothing.
    #[test]
    fn deciding_is_asking_and_charging((spec, attempts) in limiter_and_attempts()) {
        let mut fused = spec.build(&Workload::UNKNOWN);
        let mut split = spec.build(&Workload::UNKNOWN);
        for attempt in &attempts {
            let when = at(attempt.at);
            let decision = fused.decide(KEY, when, attempt.cost);
            let asked = split.ask(KEY, when, attempt.cost);
            prop_assert_eq!(asked, split.ask(KEY, when, attempt.cost));
            if asked.admits() {
                split.charge(KEY, when, attempt.cost);
            } else {
                split.refuse(KEY, when, attempt.cost);
            }
            prop_assert_eq!(decision, asked);
            prop_assert_eq!(fused.level(KEY, when), split.level(KEY, when));
        }
    }

    /// Giving back at once what was just charged leaves no trace in what passes next.
    #[test]
    fn a_refund_undoes_a_charge((spec, attempts) in limiter_and_attempts()) {
        let mut limiter = spec.build(&Workload::UNKNOWN);
        for attempt in &attempts {
            let when = at(attempt.at);
            let before = passing(&*limiter, attempt.at);
            if attempt.cost > 0 && limiter.ask(KEY, when, attempt.cost).admits() {
                limiter.charge(KEY, when, attempt.cost);
                limiter.refund(KEY, when, when, attempt.cost);
                prop_assert_eq!(passing(&*limiter, attempt.at), before);
            }
            limiter.decide(KEY, when, attempt.cost);
        }
    }

    /// In any half-open span, no more than the proven bound is released.
    #[test]
    fn no_trace_passes_the_bound((spec, attempts) in limiter_and_attempts(), span in 1_i64..200) {
        let largest = attempts.iter().map(|a| a.cost).max().unwrap_or(1);
        let Some(bound) = spec.bound(SimDuration::from_nanos(span as u64), largest) else { return Ok(()) };
        let mut released: Vec<(i64, u64)> = Vec::new();
        run(&spec, &attempts, |_, attempt, decision| match decision {
            Decision::Allow => released.push((attempt.at, attempt.cost)),
            Decision::Delay(wait) => released.push((ahead(attempt.at, wait), attempt.cost)),
            Decision::Deny => {}
        });
        let mut window = VecDeque::new();
        let mut units: u128 = 0;
        for (when, cost) in released {
            window.push_back((when, cost));
            units += u128::from(cost);
            while window.front().is_some_and(|(first, _)| *first <= when - span) {
                units -= u128::from(window.pop_front().expect("just seen").1);
            }
            prop_assert!(units <= bound, "{units} in {span} ns passes {bound}: {spec:?}");
        }
    }

    /// Scaling time and all spans together changes nothing.
    #[test]
    fn scaling_time_changes_nothing((spec, attempts) in limiter_and_attempts(), factor in 2_i64..50) {
        // An inclusive edge is one nanosecond, which does not scale.
        if matches!(&spec, LimiterSpec::SlidingLog(s) if s.edge == rlsim::limiter::Edge::Inclusive) {
            return Ok(());
        }
        let scaled = scaled(&spec, factor as u64);
        let (mut small, mut large) = (spec.build(&Workload::UNKNOWN), scaled.build(&Workload::UNKNOWN));
        for attempt in &attempts {
            let (a, b) = (
                small.decide(KEY, at(attempt.at), attempt.cost),
                large.decide(KEY, at(attempt.at * factor), attempt.cost),
            );
            prop_assert_eq!(a.admits(), b.admits());
        }
    }

    /// Cost above what can ever fit is refused for ever and changes nothing unless denials count.
    #[test]
    fn keys_do_not_touch_each_other((spec, attempts) in limiter_and_attempts()) {
        let mut limiter = spec.build(&Workload::UNKNOWN);
        let mut oracles = [Oracle::new(&spec), Oracle::new(&spec)];
        for (i, attempt) in attempts.iter().enumerate() {
            let key = i % 2;
            let decision = limiter.decide(KeyId(key as u32), at(attempt.at), attempt.cost);
            prop_assert_eq!(decision, oracles[key].decide(attempt.at, attempt.cost));
        }
    }
}

fn scaled(spec: &LimiterSpec, factor: u64) -> LimiterSpec {
    let stretch = |span: SimDuration| SimDuration::from_nanos(span.short_nanos() * factor);
    let mut spec = spec.clone();
    match &mut spec {
        LimiterSpec::FixedWindow(s) => s.limit.window = stretch(s.limit.window),
        LimiterSpec::SlidingLog(s) => s.limit.window = stretch(s.limit.window),
        LimiterSpec::SlidingCounter(s) => s.limit.window = stretch(s.limit.window),
        LimiterSpec::TokenBucket(s) => s.rate.period = stretch(s.rate.period),
        LimiterSpec::LeakyBucket(s) => s.rate.period = stretch(s.rate.period),
        LimiterSpec::Gcra(s) => s.rate.period = stretch(s.rate.period),
    }
    spec
}
