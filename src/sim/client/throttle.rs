//! What stops a client that keeps failing: gRPC's retry throttle, adaptive throttling, a quota of
//! retries.

use super::{Attempt, Draw, Failure, Memory};
use crate::sim::backend::MILLION;
use crate::time::SimDuration;

/// What a client's attempts are stopped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThrottleSpec {
    /// gRPC (proposal A6): a failure takes a token, a success gives back a part of one; no retries
    /// while half or fewer are left.
    Grpc {
        /// Tokens at most and at first, in thousandths.
        max: u64,
        /// What a success gives back, in thousandths.
        ratio: u64,
    },
    /// Google SRE, "Handling Overload": an attempt is dropped in the client with probability
    /// (requests - k accepts) / (requests + 1) of the last `window`.
    Adaptive {
        /// k in thousandths.
        k: u64,
        /// How long both are counted.
        window: SimDuration,
    },
    /// A circuit breaker on all that a client has met: no retries while more than a share of its
    /// requests, in parts per million, have failed, each failed attempt counted.
    Breaker {
        /// The share.
        share: u64,
    },
    /// The AWS SDKs' quota of retries.
    Quota {
        /// What a retry costs after a refusal, after another failure, and after a time-out.
        costs: [u16; 3],
    },
}

/// Slices that a window is kept in.
const SLICES: usize = 60;

/// What a quota of retries holds at most, and at first.
const QUOTA: u16 = 500;

/// A throttle in use.
#[derive(Clone, Debug)]
pub enum Throttle {
    Grpc { max: u64, ratio: u64, tokens: u64 },
    Adaptive { k: u64, slice_ns: u64, slice: u64, counts: Box<[(u64, u64); SLICES]> },
    Breaker { share: u64, requests: u64, failures: u64 },
    Quota { costs: [u16; 3], left: u16 },
}

impl Throttle {
    pub fn new(spec: ThrottleSpec) -> Self {
        match spec {
            ThrottleSpec::Grpc { max, ratio } => Self::Grpc { max, ratio, tokens: max },
            ThrottleSpec::Adaptive { k, window } => Self::Adaptive {
                k,
                slice_ns: (window.short_nanos() / SLICES as u64).max(1),
                slice: 0,
                counts: Box::new([(0, 0); SLICES]),
            },
            ThrottleSpec::Breaker { share } => Self::Breaker { share, requests: 0, failures: 0 },
            ThrottleSpec::Quota { costs } => Self::Quota { costs, left: QUOTA },
        }
    }

    /// The counts of the slice that `now` lies in; what is a window old is forgotten.
    fn counts(slice_ns: u64, slice: &mut u64, counts: &mut [(u64, u64); SLICES], now: u64) -> usize {
        let current = now / slice_ns;
        for i in 0..current.saturating_sub(*slice).min(SLICES as u64) {
            counts[((current - i) % SLICES as u64) as usize] = (0, 0);
        }
        *slice = current.max(*slice);
        (*slice % SLICES as u64) as usize
    }

    /// Whether an attempt leaves the client.
    pub fn lets_out(&mut self, attempt: &Attempt) -> bool {
        if let Self::Breaker { requests, .. } = self {
            *requests += u64::from(attempt.made == 0);
        }
        let Self::Adaptive { k, slice_ns, slice, counts } = self else { return true };
        let place = Self::counts(*slice_ns, slice, counts, attempt.now);
        let requests: u64 = counts.iter().map(|(requests, _)| requests).sum();
        let accepts: u64 = counts.iter().map(|(_, accepts)| accepts).sum();
        counts[place].0 += 1;
        let excess = (u128::from(requests) * 1000).saturating_sub(u128::from(*k) * u128::from(accepts));
        let bits = attempt.dice.bits(Draw::Throttle, attempt.made);
        // Dropped if bits / 2^64 is below excess / (1000 (requests + 1)).
        (u128::from(bits) * u128::from(requests + 1) * 1000) >> 32 >= excess << 32
    }

    pub fn succeeded(&mut self, attempt: &Attempt, memory: &Memory) {
        match self {
            Self::Grpc { max, ratio, tokens } => *tokens = (*tokens + *ratio).min(*max),
            Self::Adaptive { slice_ns, slice, counts, .. } => {
                let place = Self::counts(*slice_ns, slice, counts, attempt.now);
                counts[place].1 += 1;
            }
            Self::Breaker { .. } => {}
            // A success gives back what its last retry took.
            Self::Quota { left, .. } => *left = (*left + if attempt.made == 1 { 1 } else { memory.paid }).min(QUOTA),
        }
    }

    /// An attempt failed; whether it may be retried as far as the throttle is concerned.
    pub fn failed(&mut self) -> bool {
        match self {
            Self::Grpc { max, tokens, .. } => {
                *tokens = tokens.saturating_sub(1000);
                *tokens > *max / 2
            }
            Self::Breaker { share, requests, failures } => {
                *failures += 1;
                u128::from(*failures) * u128::from(MILLION) <= u128::from(*share) * u128::from(*requests)
            }
            Self::Adaptive { .. } | Self::Quota { .. } => true,
        }
    }

    /// Takes what a retry costs; false if it is not there.
    pub fn pay(&mut self, failure: Failure, memory: &mut Memory) -> bool {
        let Self::Quota { costs, left } = self else { return true };
        let cost = match failure {
            Failure::Denied { status: 429 } => costs[0],
            Failure::Denied { .. } | Failure::Rejected => costs[1],
            Failure::TimedOut => costs[2],
        };
        match left.checked_sub(cost) {
            Some(rest) => {
                (*left, memory.paid) = (rest, cost);
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::client::Dice;

    fn attempt(made: u32) -> Attempt {
        Attempt { now: 0, made, dice: Dice::new(1, u64::from(made)) }
    }

    /// The example of proposal A6: max 10, ratio 0.1.
    #[test]
    fn grpc_stops_at_half_and_needs_eleven_successes() {
        let mut throttle = Throttle::new(ThrottleSpec::Grpc { max: 10_000, ratio: 100 });
        let retried: Vec<bool> = (0..5).map(|_| throttle.failed()).collect();
        assert_eq!(retried, [true, true, true, true, false]);
        for _ in 0..10 {
            throttle.succeeded(&attempt(1), &Memory::default());
        }
        assert!(!throttle.clone().failed());
        throttle.succeeded(&attempt(1), &Memory::default());
        assert!(throttle.failed());
    }

    /// Total outage from a full throttle: m/2 - 1 retries at most.
    #[test]
    fn grpc_allows_half_less_one_in_a_total_outage() {
        for m in (2..40).step_by(2) {
            let mut throttle = Throttle::new(ThrottleSpec::Grpc { max: m * 1000, ratio: 100 });
            let retries = (0..100).filter(|_| throttle.failed()).count();
            assert_eq!(retries as u64, m / 2 - 1);
        }
    }

    /// A tenth: the first failure of nine requests is too much, that of ten is not.
    #[test]
    fn a_breaker_opens_above_its_share() {
        for (requests, retried) in [(9, false), (10, true)] {
            let mut throttle = Throttle::new(ThrottleSpec::Breaker { share: 100_000 });
            (0..requests).for_each(|_| assert!(throttle.lets_out(&attempt(0))));
            assert_eq!(throttle.failed(), retried, "{requests}");
            assert!(!throttle.failed());
        }
    }

    /// The book's example: 100 requests, 40 accepts, K = 2: 20/101 are dropped.
    #[test]
    fn adaptive_throttling_drops_its_share() {
        let spec = ThrottleSpec::Adaptive { k: 2000, window: SimDuration::from_secs(120) };
        let mut full = Throttle::new(spec);
        let Throttle::Adaptive { counts, .. } = &mut full else { unreachable!() };
        counts[0] = (100, 40);
        let rounds = 100_000;
        let dropped = (0..rounds).filter(|n| {
            let attempt = Attempt { now: 0, made: 0, dice: Dice::new(7, *n) };
            !full.clone().lets_out(&attempt)
        });
        let (share, expected) = (dropped.count() as f64 / rounds as f64, 20.0 / 101.0);
        let deviation = (expected * (1.0 - expected) / rounds as f64).sqrt();
        assert!((share - expected).abs() < 4.0 * deviation, "{share}");
    }
}
