//! Limiters at the ends of every range: a right answer, never a wrap or a panic.

use crate::limiters::at;
use crate::oracle::Oracle;
use crate::simulate::{S, plan};
use proptest::prelude::*;
use proptest::sample::select;
use rlsim::limiter::{
    Backwards, Compare, CounterAnchor, Decision, Edge, FixedWindowSpec, GcraSpec, Initial, KeyId, LeakyBucketSpec,
    LeakyMode, Limiter, LimiterSpec, Oldest, Refill, SlidingCounterSpec, SlidingLogSpec, TokenBucketSpec, WindowAnchor,
    Workload,
};
use rlsim::quota::{Limit, MAX_UNITS, Rate};
use rlsim::time::{SimDuration, SimTime};

const KEY: KeyId = KeyId(0);
const DAY: i64 = 86_400 * S;
pub const MIN: i64 = SimTime::MIN.nanos();
pub const MAX: i64 = SimTime::MAX.nanos();
pub const LONGEST: i64 = 53_000 * DAY;

fn span(nanos: i64) -> SimDuration {
    SimDuration::from_nanos(nanos as u64)
}

/// The buckets of a rate and a burst that admit alike.
fn buckets(rate: Rate, burst: u64) -> Vec<LimiterSpec> {
    let leaky =
        |mode| LimiterSpec::LeakyBucket(LeakyBucketSpec { rate, mode, capacity: burst, compare: Compare::After });
    let token = TokenBucketSpec {
        rate,
        burst,
        initial: Initial::Full,
        refill: Refill::Continuous,
        backwards: Backwards::Clamp,
    };
    let all = vec![
        LimiterSpec::TokenBucket(token),
        LimiterSpec::Gcra(GcraSpec { rate, burst }),
        leaky(LeakyMode::Meter),
        leaky(LeakyMode::Queue),
    ];
    all.into_iter().filter(|spec| spec.refusal().is_none()).collect()
}

/// Every rate with every burst, from the first to the last instant: after a burst the k-th unit is
/// there at ceil(k period / units), not a nanosecond before.
#[test]
fn every_unit_is_there_when_it_is_due() {
    let rates =
        [(1, 30 * DAY), (1, LONGEST), (1, S), (7, S), (1_000_000_000, S), (999_999_937, S), (1_000_000_000, 30 * DAY)];
    for (units, period) in rates {
        let rate = Rate { units, period: span(period) };
        let due = |k: u64| (i128::from(k) * i128::from(period)).div_ceil_by(i128::from(units));
        for burst in [1, 2, 1_000, 1_000_000_000] {
            for start in [MIN, -1, 0, 1_767_225_600 * S, MAX - 30 * DAY] {
                for spec in buckets(rate, burst) {
                    let mut limiter = spec.build(&Workload::UNKNOWN);
                    assert!(limiter.decide(KEY, at(start), burst).admits(), "{spec:?}");
                    for k in [1, 2, burst / 2, burst] {
                        if k == 0 || k > burst {
                            continue;
                        }
                        let wait = limiter.retry_after(KEY, at(start), k).expect("it comes back");
                        assert_eq!(wait.nanos() as i128, due(k), "{spec:?}, {k} units");
                        let Some(then) = i64::try_from(i128::from(start) + due(k)).ok().filter(|t| *t <= MAX) else {
                            continue;
                        };
                        assert_eq!(limiter.ask(KEY, at(then - 1), k), Decision::Deny, "{spec:?}, {k} units");
                        assert!(limiter.ask(KEY, at(then), k).admits(), "{spec:?}, {k} units");
                    }
                    assert_eq!(limiter.level(KEY, at(start)).full.nanos() as i128, due(burst), "{spec:?}");
                    assert_eq!(limiter.retry_after(KEY, at(start), burst + 1), None, "{spec:?}");
                    assert_eq!(limiter.ask(KEY, at(MAX), burst + 1), Decision::Deny, "{spec:?}");
                }
            }
        }
    }
}

trait DivCeil {
    fn div_ceil_by(self, by: Self) -> Self;
}

impl DivCeil for i128 {
    fn div_ceil_by(self, by: Self) -> Self {
        (self + by - 1).div_euclid(by)
    }
}

/// The largest units there are, with every span: all six admit the whole limit once, deny one more
/// and count it exactly.
#[test]
fn the_largest_limits() {
    for window in [1, 1_000, S, 30 * DAY, LONGEST] {
        let limit = Limit { units: MAX_UNITS, window: span(window) };
        let mut specs = buckets(Rate::from(limit), MAX_UNITS);
        specs.extend(windows(limit));
        for spec in specs {
            for start in [MIN, 0, MAX - 10] {
                for workload in
                    [Workload::UNKNOWN, Workload { unit_cost: false, times: (at(start), at(start + 10)), debt: false }]
                {
                    let mut limiter = spec.build(&workload);
                    assert!(limiter.decide(KEY, at(start), MAX_UNITS - 1).admits(), "{spec:?} at {start}");
                    assert_eq!(limiter.level(KEY, at(start)).remaining, 1, "{spec:?} at {start}");
                    assert!(limiter.decide(KEY, at(start), 1).admits(), "{spec:?} at {start}");
                    assert_eq!(limiter.decide(KEY, at(start), 1), Decision::Deny, "{spec:?} at {start}");
                    let wait = limiter.retry_after(KEY, at(start), 1).expect("it comes back").nanos();
                    // A counter on the grid forgets at last after two windows.
                    assert!((1..=2 * window as u128 + 1).contains(&wait), "{spec:?} at {start}: {wait}");
                    assert_eq!(limiter.retry_after(KEY, at(start), u64::MAX), None, "{spec:?}");
                    assert_eq!(limiter.decide(KEY, at(start), u64::MAX), Decision::Deny, "{spec:?}");
                }
            }
        }
    }
}

/// Windows of all three kinds, with all their knobs.
fn windows(limit: Limit) -> Vec<LimiterSpec> {
    let mut specs = Vec::new();
    for count_denied in [false, true] {
        for anchor in [WindowAnchor::Clock, WindowAnchor::FirstRequest, WindowAnchor::EveryRequest] {
            specs.push(LimiterSpec::FixedWindow(FixedWindowSpec { limit, anchor, count_denied }));
        }
        for edge in [Edge::Exclusive, Edge::Inclusive] {
            specs.push(LimiterSpec::SlidingLog(SlidingLogSpec { limit, edge, count_denied }));
        }
        for compare in [Compare::After, Compare::Before] {
            for oldest in [Oldest::Weighted, Oldest::Ignored, Oldest::Whole] {
                for anchor in [CounterAnchor::Clock, CounterAnchor::FirstRequest] {
                    for buckets in [1, 2, 7] {
                        let spec = SlidingCounterSpec { limit, compare, buckets, oldest, anchor, count_denied };
                        let spec = LimiterSpec::SlidingCounter(spec);
                        specs.extend(spec.refusal().is_none().then_some(spec));
                    }
                }
            }
        }
    }
    specs
}

#[test]
fn a_limit_of_zero_denies_for_ever() {
    let limit = Limit { units: 0, window: span(60 * S) };
    let mut specs = windows(limit);
    for name in LimiterSpec::NAMES {
        let text = format!("limit = \"0/60s\"\n[[traffic]]\nburst = {{ requests = 1 }}\n[[lane]]\n{name} = {{}}\n");
        specs.push(plan(&text).lanes[0].limiter.clone());
    }
    for spec in specs {
        let mut limiter = spec.build(&Workload::UNKNOWN);
        for when in [0, 1, 60 * S, 30 * DAY, MAX] {
            assert_eq!(limiter.decide(KEY, at(when), 1), Decision::Deny, "{spec:?}");
            assert_eq!(limiter.retry_after(KEY, at(when), 1), None, "{spec:?}");
            assert_eq!(limiter.decide(KEY, at(when), 0), Decision::Allow, "{spec:?}");
            let level = limiter.level(KEY, at(when));
            assert_eq!((level.limit, level.remaining, level.next), (0, 0, SimDuration::ZERO), "{spec:?}");
        }
        assert_eq!(spec.bound(span(120 * S), 5), Some(0), "{spec:?}");
    }
}

const UNITS: [u64; 7] = [1, 2, 3, 1_000, 999_999_937, 1_000_000_000, 4_000_000_000];
const LENGTHS: [i64; 8] = [1, 2, 1_000, S, 60 * S, 30 * DAY, LONGEST - 1, LONGEST];

fn extreme_limiter() -> impl Strategy<Value = LimiterSpec> {
    let limits =
        (select(&UNITS[..]), select(&LENGTHS[..])).prop_map(|(units, window)| Limit { units, window: span(window) });
    let window = limits.clone().prop_flat_map(|limit| select(windows(limit)));
    let bursts = select(vec![1_u64, 2, 10, 1_000_000_000]);
    let bucket = (limits, bursts, any::<bool>(), any::<bool>()).prop_flat_map(|(limit, burst, empty, interval)| {
        let rate = Rate::from(limit);
        let mut specs = buckets(rate, burst);
        let initial = if empty { Initial::Empty } else { Initial::Tokens(1) };
        let refill = if interval { Refill::Interval } else { Refill::Continuous };
        specs.push(LimiterSpec::TokenBucket(TokenBucketSpec {
            rate,
            burst,
            initial,
            refill,
            backwards: Backwards::Clamp,
        }));
        for backwards in [Backwards::Mint, Backwards::Abs] {
            let refill = Refill::Continuous;
            specs.push(LimiterSpec::TokenBucket(TokenBucketSpec { rate, burst, initial, refill, backwards }));
        }
        let before = LeakyBucketSpec { rate, mode: LeakyMode::Meter, capacity: burst, compare: Compare::Before };
        specs.push(LimiterSpec::LeakyBucket(before));
        select(specs)
    });
    prop_oneof![window, bucket]
}

/// Units and nanoseconds at which a limiter's answers change.
fn scales(spec: &LimiterSpec) -> (u64, i64, i64) {
    let (units, most, length) = match spec {
        LimiterSpec::FixedWindow(s) => (s.limit.units, s.limit.units, s.limit.window),
        LimiterSpec::SlidingLog(s) => (s.limit.units, s.limit.units, s.limit.window),
        LimiterSpec::SlidingCounter(s) => (s.limit.units, s.limit.units, s.limit.window),
        LimiterSpec::TokenBucket(s) => (s.rate.units, s.burst, s.rate.period),
        LimiterSpec::LeakyBucket(s) => (s.rate.units, s.capacity, s.rate.period),
        LimiterSpec::Gcra(s) => (s.rate.units, s.burst, s.rate.period),
    };
    let length = length.nanos() as i64;
    (most, length, length / i64::try_from(units).expect("small"))
}

/// Attempts in order of time between two instants, at and around the spans that matter.
fn extreme_attempts(spec: &LimiterSpec) -> impl Strategy<Value = Vec<(i64, u64)>> + use<> {
    let (most, length, each) = scales(spec);
    let gap = select(vec![0, 0, 1, each, each + 1, length / 2, length - 1, length, length + 1, 2 * (length / 2)]);
    let cost = select(vec![0, 1, 1, 2, most / 2, most.saturating_sub(1), most, most + 1, MAX_UNITS]);
    let start = select(vec![MIN, MIN + 1, -length, -1, 0, 1_767_225_600 * S, MAX - length, MAX - 1, MAX]);
    (start, prop::collection::vec((gap, cost), 1..25)).prop_map(|(start, steps)| {
        let mut now = start.max(MIN);
        steps
            .into_iter()
            .map(|(gap, cost)| {
                now = now.saturating_add(gap).min(MAX);
                (now, cost)
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// The rational model and the machine agree at the ends of every range.
    #[test]
    fn extreme_decisions_are_rational(
        (spec, attempts) in extreme_limiter().prop_flat_map(|spec| {
            let attempts = extreme_attempts(&spec);
            (Just(spec), attempts)
        })
    ) {
        let known = Workload {
            unit_cost: attempts.iter().all(|(_, cost)| *cost <= 1),
            times: (at(attempts[0].0), at(attempts[attempts.len() - 1].0)),
            debt: false,
        };
        let mut oracle = Oracle::new(&spec);
        let mut limiters = [Workload::UNKNOWN, known].map(|workload| spec.build(&workload));
        for (when, cost) in attempts {
            let expected = oracle.decide(when, cost);
            for limiter in &mut limiters {
                let wait = limiter.retry_after(KEY, at(when), cost);
                let level = limiter.level(KEY, at(when));
                prop_assert!(level.remaining <= level.limit);
                prop_assert_eq!(wait.is_some_and(SimDuration::is_zero), expected.admits(), "{:?} at {}", wait, when);
                prop_assert_eq!(limiter.decide(KEY, at(when), cost), expected, "cost {} at {}", cost, when);
            }
        }
    }

    /// Cost 0 is admitted always and leaves no trace: opens no window, logs nothing, moves no time, not
    /// even that of a clock that is ahead.
    #[test]
    fn cost_zero_changes_nothing((spec, attempts) in crate::limiters::limiter_and_attempts(), ahead in 0..200_i64) {
        // A bucket that starts empty fills from the first attempt of any cost.
        let full = !matches!(&spec, LimiterSpec::TokenBucket(s) if s.initial != Initial::Full);
        prop_assume!(full);
        // What has a level knows the first clock that asked.
        let level = matches!(&spec, LimiterSpec::TokenBucket(_))
            || matches!(&spec, LimiterSpec::LeakyBucket(s) if s.mode == LeakyMode::Meter);
        let mut plain = spec.build(&Workload::UNKNOWN);
        let mut mixed = spec.build(&Workload::UNKNOWN);
        for attempt in attempts.iter().filter(|attempt| attempt.cost > 0) {
            let when = at(attempt.at);
            for _ in 0..2 {
                prop_assert_eq!(mixed.ask(KEY, when, 0), Decision::Allow);
                prop_assert_eq!(mixed.decide(KEY, when, 0), Decision::Allow);
                prop_assert_eq!(mixed.retry_after(KEY, when, 0), Some(SimDuration::ZERO));
            }
            prop_assert_eq!(mixed.level(KEY, when), plain.level(KEY, when));
            if !level {
                prop_assert_eq!(mixed.decide(KEY, at(attempt.at + ahead), 0), Decision::Allow);
            }
            prop_assert_eq!(mixed.decide(KEY, when, attempt.cost), plain.decide(KEY, when, attempt.cost));
            prop_assert_eq!(mixed.decide(KEY, at(attempt.at + ahead), 0), Decision::Allow);
            mixed.charge(KEY, at(attempt.at + ahead), 0);
            prop_assert_eq!(mixed.level(KEY, when), plain.level(KEY, when));
        }
    }

    /// Whom a schedule refuses leaves no trace, not even that of a clock that is ahead.
    #[test]
    fn what_a_schedule_refuses_leaves_nothing(
        spec in prop_oneof![crate::limiters::gcra(), crate::limiters::leaky_bucket()], ahead in 0..200_i64
    ) {
        let spec = match spec {
            LimiterSpec::LeakyBucket(spec) => {
                LimiterSpec::LeakyBucket(LeakyBucketSpec { mode: LeakyMode::Queue, compare: Compare::After, ..spec })
            }
            gcra => gcra,
        };
        let (mut fresh, mut asked) = (spec.build(&Workload::UNKNOWN), spec.build(&Workload::UNKNOWN));
        prop_assert_eq!(asked.decide(KEY, at(ahead), u64::MAX), Decision::Deny);
        prop_assert_eq!(asked.level(KEY, at(0)), fresh.level(KEY, at(0)));
        prop_assert_eq!(asked.decide(KEY, at(0), 1), fresh.decide(KEY, at(0), 1));
    }
}

/// Debt: charges far beyond the limit are owed in full.
#[test]
fn debt_is_counted_exactly() {
    let second = SimDuration::from_nanos(S as u64);
    let rate = Rate { units: 1_000_000_000, period: second };
    let limit = Limit { units: 1_000_000_000, window: second };
    let owed = |limiter: &mut dyn Limiter| {
        (0..40).for_each(|_| limiter.charge(KEY, at(0), 1_000_000_000));
        limiter.retry_after(KEY, at(0), 1).map(SimDuration::nanos)
    };
    // Forty seconds' worth: 39 must come back before one of the thousand million is free again.
    for spec in &buckets(rate, 1_000_000_000)[..3] {
        let wait = owed(&mut *spec.build(&Workload::UNKNOWN));
        assert_eq!(wait, Some(39 * S as u128 + 1), "{spec:?}");
    }
    for spec in windows(limit) {
        let mut limiter = spec.build(&Workload::UNKNOWN);
        let wait = owed(&mut *limiter).expect("windows end");
        let then = i64::try_from(wait).expect("short");
        assert!(then <= 2 * S + 1, "{spec:?}: {wait}");
        for early in (0..then).step_by(9_999_991).chain([then - 1]) {
            assert_eq!(limiter.ask(KEY, at(early), 1), Decision::Deny, "{spec:?} at {early}");
        }
        assert!(limiter.ask(KEY, at(then), 1).admits(), "{spec:?}");
        let LimiterSpec::SlidingCounter(s) = &spec else { continue };
        if s.buckets == 1 && s.oldest == Oldest::Weighted && s.compare == Compare::After {
            // 40 windows' worth before: it leaves room for one when a fortieth of it less one unit is left.
            let left = (999_999_999_u128 * S as u128) / 40_000_000_000;
            assert_eq!(wait, 2 * S as u128 - left, "{spec:?}");
        }
    }
}
