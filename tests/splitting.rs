//! Splitting a token bucket never lowers the sum of its token waits (Guerin, arXiv 1909.08969).
//!
//! An arrival waits, first come first served, for the earliest instant at which its bucket has a token for it,
//! and takes that. One bucket is split into some that have its rate and its burst together, and each
//! arrival is sent to any one of them.
//!
//! Why it holds: let v be a bucket's level less those who wait for it. It is the least, over all
//! instants s up to now, of burst + rate x (now - s) - arrivals since s; so the v of the parts add up to
//! no more than the v of the whole. As many wait as -v rounded up, if that is positive: never fewer in all
//! the parts than in the whole. The sum of waits is the number of those who wait, added up over time.

use crate::limiters::{at, ns};
use proptest::prelude::*;
use rlsim::limiter::{Backwards, Decision, Initial, KeyId, LimiterSpec, Refill, TokenBucketSpec, Workload};
use rlsim::quota::Rate;

/// A bucket that gets a token every so many nanoseconds and holds so many.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    interval: i64,
    burst: i64,
}

impl Bucket {
    /// When each arrival gets its token, with the level counted in tokens x interval.
    fn releases(self, arrivals: &[i64]) -> Vec<i64> {
        let full = self.burst * self.interval;
        let (mut level, mut since) = (full, arrivals.first().copied().unwrap_or(0));
        let release = |arrival: &i64| {
            let first = since.max(*arrival);
            level = full.min(level + first - since);
            let wait = (self.interval - level).max(0);
            (level, since) = (level + wait - self.interval, first + wait);
            since
        };
        arrivals.iter().map(release).collect()
    }

    /// The same, asked of the limiter: one that is denied comes again when it is told to.
    fn asked(self, arrivals: &[i64]) -> Vec<i64> {
        let rate = Rate { units: 1, period: ns(self.interval.unsigned_abs()) };
        let burst = self.burst.unsigned_abs();
        let spec = TokenBucketSpec {
            rate,
            burst,
            initial: Initial::Full,
            refill: Refill::Continuous,
            backwards: Backwards::Clamp,
        };
        let mut limiter = LimiterSpec::TokenBucket(spec).build(&Workload::UNKNOWN);
        let mut since = i64::MIN;
        let release = |arrival: &i64| {
            since = since.max(*arrival);
            if limiter.decide(KeyId(0), at(since), 1) == Decision::Deny {
                let wait = limiter.retry_after(KeyId(0), at(since), 1).expect("a token comes");
                since += i64::try_from(wait.nanos()).expect("short");
                assert_eq!(limiter.decide(KeyId(0), at(since), 1), Decision::Allow);
            }
            since
        };
        arrivals.iter().map(release).collect()
    }
}

/// One bucket, and parts of it with the same rate and burst together.
#[derive(Clone, Debug)]
struct Split {
    whole: Bucket,
    parts: Vec<Bucket>,
}

impl Split {
    /// Parts that get tokens in proportion to their shares and hold so many each.
    fn new(base: i64, parts: &[(i64, i64)]) -> Self {
        let shares: i64 = parts.iter().map(|(share, _)| share).sum();
        // A multiple of all shares up to four: every interval is whole.
        let whole = Bucket { interval: 12 * base, burst: parts.iter().map(|(_, burst)| burst).sum() };
        let part = |(share, burst): &(i64, i64)| Bucket { interval: whole.interval * shares / share, burst: *burst };
        Self { whole, parts: parts.iter().map(part).collect() }
    }

    /// Equal parts.
    fn evenly(base: i64, parts: usize, burst: i64) -> Self {
        Self::new(base, &vec![(1, burst); parts])
    }

    /// When each arrival gets its token from the part that it is sent to.
    fn releases(&self, arrivals: &[i64], sent_to: &[usize]) -> Vec<i64> {
        let mut all = vec![0; arrivals.len()];
        for (i, part) in self.parts.iter().enumerate() {
            let own: Vec<usize> = (0..arrivals.len()).filter(|row| sent_to[*row] == i).collect();
            let releases = part.releases(&own.iter().map(|row| arrivals[*row]).collect::<Vec<_>>());
            own.into_iter().zip(releases).for_each(|(row, release)| all[row] = release);
        }
        all
    }
}

fn waits(arrivals: &[i64], releases: &[i64]) -> i64 {
    releases.iter().sum::<i64>() - arrivals.iter().sum::<i64>()
}

fn arrivals() -> impl Strategy<Value = Vec<i64>> {
    let gap = prop_oneof![4 => Just(0_i64), 4 => 0..30_i64, 2 => 0..200_i64, 1 => 0..2_000_i64];
    prop::collection::vec(gap, 1..60).prop_map(|gaps| {
        let mut now = 0;
        gaps.into_iter()
            .map(|gap| {
                now += gap;
                now
            })
            .collect()
    })
}

fn evenly() -> impl Strategy<Value = Split> {
    (1..5_i64, 1..6_usize, 1..5_i64).prop_map(|(base, parts, burst)| Split::evenly(base, parts, burst))
}

fn any_split() -> impl Strategy<Value = Split> {
    let parts = prop::collection::vec((1..5_i64, 1..5_i64), 1..6);
    prop_oneof![evenly(), (1..5_i64, parts).prop_map(|(base, parts)| Split::new(base, &parts))]
}

/// A split, arrivals, and where each of them is sent.
fn dispatched(split: impl Strategy<Value = Split>) -> impl Strategy<Value = (Split, Vec<i64>, Vec<usize>)> {
    (split, arrivals()).prop_flat_map(|(split, arrivals)| {
        let sent_to = prop::collection::vec(0..split.parts.len(), arrivals.len());
        (Just(split), Just(arrivals), sent_to)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_limiter_gives_its_tokens_at_these_instants(split in any_split(), arrivals in arrivals()) {
        for bucket in split.parts.iter().chain([&split.whole]) {
            prop_assert_eq!(bucket.asked(&arrivals), bucket.releases(&arrivals), "{:?}", bucket);
        }
    }

    /// For any arrivals and any dispatch; nor has the split ever given more tokens than the whole.
    #[test]
    fn a_split_bucket_never_waits_less((split, arrivals, sent_to) in dispatched(any_split())) {
        let whole = split.whole.releases(&arrivals);
        let mut parts = split.releases(&arrivals, &sent_to);
        prop_assert!(waits(&arrivals, &parts) >= waits(&arrivals, &whole), "{:?} {:?}", whole, parts);
        parts.sort_unstable();
        prop_assert!(whole.iter().zip(&parts).all(|(whole, part)| whole <= part), "{:?} {:?}", whole, parts);
    }

    /// Even for a dispatch that knows all buckets and sends each arrival where it waits least.
    #[test]
    fn nor_does_the_shortest_wait(split in evenly(), arrivals in arrivals()) {
        let mut sent_to: Vec<usize> = Vec::new();
        for row in 0..arrivals.len() {
            let release = |part: usize| {
                let tried: Vec<usize> = sent_to.iter().copied().chain([part]).collect();
                split.releases(&arrivals[..=row], &tried)[row]
            };
            let best = (0..split.parts.len()).min_by_key(|part| release(*part)).expect("a part");
            sent_to.push(best);
        }
        let (whole, parts) = (split.whole.releases(&arrivals), split.releases(&arrivals, &sent_to));
        prop_assert!(waits(&arrivals, &parts) >= waits(&arrivals, &whole));
    }
}

/// Two tokens in one bucket, or one in each of two, 24 ns or 48 ns for the next.
#[test]
fn how_much_it_costs_is_up_to_the_dispatch() {
    let split = Split::evenly(2, 2, 1);
    let sum = |arrivals: &[i64], sent_to: &[usize]| waits(arrivals, &split.releases(arrivals, sent_to));
    let whole = |arrivals: &[i64]| waits(arrivals, &split.whole.releases(arrivals));
    // Nobody waits if each finds the other token, one does who finds none.
    assert_eq!((whole(&[0, 0]), sum(&[0, 0], &[0, 1]), sum(&[0, 0], &[0, 0])), (0, 0, 48));
    // Four at once wait 24 and 48; half as fast, two wait 48 each even in turn.
    assert_eq!((whole(&[0; 4]), sum(&[0; 4], &[0, 1, 0, 1]), sum(&[0; 4], &[0; 4])), (72, 96, 288));
}

/// Every dispatch of every short run: the best one is as good as the whole only sometimes.
#[test]
fn every_dispatch_of_six_arrivals() {
    let split = Split::evenly(1, 2, 1);
    let (mut same, mut worse) = (0, 0);
    for gaps in 0..5_u32.pow(5) {
        let gap = |i: u32| i64::from(gaps / 5_u32.pow(i) % 5) * 6;
        let arrivals: Vec<i64> = (0..6).map(|i| (0..i).map(gap).sum()).collect();
        let whole = waits(&arrivals, &split.whole.releases(&arrivals));
        let of = |dispatch: usize| {
            let sent_to: Vec<usize> = (0..6).map(|row| dispatch >> row & 1).collect();
            waits(&arrivals, &split.releases(&arrivals, &sent_to))
        };
        let least = (0..64).map(of).min().expect("some");
        assert!(least >= whole, "{arrivals:?}: {least} < {whole}");
        if least == whole { same += 1 } else { worse += 1 }
    }
    assert!(same > 0 && worse > same, "{same} {worse}");
}
