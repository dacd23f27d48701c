//! Random limiters and random attempts, small enough that ties and edges are common.

use proptest::prelude::*;
use rlsim::limiter::{
    Backwards, Compare, CounterAnchor, Edge, FixedWindowSpec, GcraSpec, Initial, LeakyBucketSpec, LeakyMode,
    LimiterSpec, Oldest, Refill, SlidingCounterSpec, SlidingLogSpec, TokenBucketSpec, WindowAnchor,
};
use rlsim::quota::{Limit, Rate};
use rlsim::time::{SimDuration, SimTime};

pub fn at(nanos: i64) -> SimTime {
    SimTime::from_nanos(nanos)
}

pub fn ns(nanos: u64) -> SimDuration {
    SimDuration::from_nanos(nanos)
}

/// One attempt: when, and how many units.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    pub at: i64,
    pub cost: u64,
}

/// Attempts in order of time: many at one instant, gaps up to a few windows.
pub fn attempts(max_gap: i64, max_cost: u64) -> impl Strategy<Value = Vec<Attempt>> {
    let gap = prop_oneof![3 => Just(0), 6 => 0..=max_gap / 4 + 1, 2 => 0..=max_gap, 1 => 0..=4 * max_gap];
    let cost = prop_oneof![5 => Just(1), 1 => 0..=max_cost];
    (-200_i64..200, prop::collection::vec((gap, cost), 1..80)).prop_map(|(start, steps)| {
        let mut now = start;
        steps
            .into_iter()
            .map(|(gap, cost)| {
                now += gap;
                Attempt { at: now, cost }
            })
            .collect()
    })
}

fn quantities() -> impl Strategy<Value = (u64, u64)> {
    (prop_oneof![1 => Just(0_u64), 20 => 1..9_u64], 1..40_u64)
}

fn limit() -> impl Strategy<Value = Limit> {
    quantities().prop_map(|(units, window)| Limit { units, window: ns(window) })
}

fn rate() -> impl Strategy<Value = Rate> {
    (1..12_u64, 1..60_u64).prop_map(|(units, period)| Rate { units, period: ns(period) })
}

fn compare() -> impl Strategy<Value = Compare> {
    prop_oneof![Just(Compare::After), Just(Compare::Before)]
}

pub fn fixed_window() -> impl Strategy<Value = LimiterSpec> {
    let anchor =
        prop_oneof![Just(WindowAnchor::Clock), Just(WindowAnchor::FirstRequest), Just(WindowAnchor::EveryRequest)];
    (limit(), anchor, any::<bool>()).prop_map(|(limit, anchor, count_denied)| {
        LimiterSpec::FixedWindow(FixedWindowSpec { limit, anchor, count_denied })
    })
}

pub fn sliding_log() -> impl Strategy<Value = LimiterSpec> {
    // Some with so many units that the last places are cut to fit.
    let limit = prop_oneof![5 => limit(), 1 => (9..14_u64, 1..40_u64).prop_map(|(units, window)| Limit { units, window: ns(window) })];
    (limit, prop_oneof![Just(Edge::Exclusive), Just(Edge::Inclusive)], any::<bool>())
        .prop_map(|(limit, edge, count_denied)| LimiterSpec::SlidingLog(SlidingLogSpec { limit, edge, count_denied }))
}

pub fn sliding_counter() -> impl Strategy<Value = LimiterSpec> {
    let oldest = prop_oneof![3 => Just(Oldest::Weighted), 1 => Just(Oldest::Ignored), 1 => Just(Oldest::Whole)];
    let anchor = prop_oneof![Just(CounterAnchor::Clock), Just(CounterAnchor::FirstRequest)];
    let buckets = prop_oneof![2 => Just(1_u32), 1 => 2..6_u32];
    (limit(), compare(), buckets, oldest, anchor, any::<bool>()).prop_filter_map(
        "buckets of at least a nanosecond",
        |(limit, compare, buckets, oldest, anchor, count_denied)| {
            (u128::from(buckets) <= limit.window.nanos()).then_some(LimiterSpec::SlidingCounter(SlidingCounterSpec {
                limit,
                compare,
                buckets,
                oldest,
                anchor,
                count_denied,
            }))
        },
    )
}

pub fn token_bucket() -> impl Strategy<Value = LimiterSpec> {
    let initial =
        prop_oneof![2 => Just(Initial::Full), 1 => Just(Initial::Empty), 1 => (0..9_u64).prop_map(Initial::Tokens)];
    // Clocks run forwards here: what is made of one that does not makes no difference.
    let refill = prop_oneof![
        2 => Just((Refill::Continuous, Backwards::Clamp)),
        1 => Just((Refill::Interval, Backwards::Clamp)),
        1 => prop_oneof![Just(Backwards::Mint), Just(Backwards::Abs)].prop_map(|it| (Refill::Continuous, it)),
    ];
    (rate(), 1..9_u64, initial, refill).prop_map(|(rate, burst, initial, (refill, backwards))| {
        LimiterSpec::TokenBucket(TokenBucketSpec { rate, burst, initial, refill, backwards })
    })
}

pub fn leaky_bucket() -> impl Strategy<Value = LimiterSpec> {
    let mode = prop_oneof![Just(LeakyMode::Queue), Just(LeakyMode::Meter)];
    (rate(), mode, 1..9_u64, compare()).prop_map(|(rate, mode, capacity, compare)| {
        LimiterSpec::LeakyBucket(LeakyBucketSpec { rate, mode, capacity, compare })
    })
}

pub fn gcra() -> impl Strategy<Value = LimiterSpec> {
    (rate(), 1..9_u64).prop_map(|(rate, burst)| LimiterSpec::Gcra(GcraSpec { rate, burst }))
}

/// Any algorithm with any knobs.
pub fn any_limiter() -> impl Strategy<Value = LimiterSpec> {
    prop_oneof![fixed_window(), sliding_log(), sliding_counter(), token_bucket(), leaky_bucket(), gcra()]
}

/// The window or the time to refill, as a scale for gaps.
pub fn scale(spec: &LimiterSpec) -> i64 {
    let nanos = match spec {
        LimiterSpec::FixedWindow(s) => s.limit.window,
        LimiterSpec::SlidingLog(s) => s.limit.window,
        LimiterSpec::SlidingCounter(s) => s.limit.window,
        LimiterSpec::TokenBucket(s) => s.rate.period,
        LimiterSpec::LeakyBucket(s) => s.rate.period,
        LimiterSpec::Gcra(s) => s.rate.period,
    };
    i64::try_from(nanos.nanos()).expect("small")
}

/// A limiter and attempts at its scale.
pub fn limiter_and_attempts() -> impl Strategy<Value = (LimiterSpec, Vec<Attempt>)> {
    any_limiter().prop_flat_map(|spec| {
        let gap = scale(&spec);
        (Just(spec), attempts(gap, 10))
    })
}
