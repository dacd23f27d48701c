//! Client libraries, each as of a named release.

use super::{Attempt, Draw, Failure, ThrottleSpec, doubled};
use crate::sim::response::{SECOND, Seen};
use crate::time::SimDuration;

/// A release of a client library with its defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
pub enum Sdk {
    /// botocore 1.43, `legacy` mode.
    #[serde(rename = "aws-legacy-1.43")]
    AwsLegacy143,
    /// botocore 1.43, `standard` mode.
    #[serde(rename = "aws-standard-1.43")]
    AwsStandard143,
    /// botocore 1.44, `standard` mode, the default there.
    #[serde(rename = "aws-standard-1.44")]
    AwsStandard144,
    /// botocore 1.44, `adaptive` mode.
    #[serde(rename = "aws-adaptive-1.44")]
    AwsAdaptive144,
    /// grpc-go 1.85 with the retry policy and throttle of proposal A6's example.
    #[serde(rename = "grpc-1.85")]
    Grpc185,
    /// urllib3 2.8, `Retry()`.
    #[serde(rename = "urllib3-2.8")]
    Urllib328,
    /// stripe-python 16.1.
    #[serde(rename = "stripe-16.1")]
    Stripe161,
    /// google-api-core 2.44.
    #[serde(rename = "google-api-core-2.44")]
    GoogleApiCore244,
    /// octokit plugin-throttling 11.0, told to retry.
    #[serde(rename = "octokit-throttling-11.0")]
    OctokitThrottling110,
}

impl Sdk {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::AwsLegacy143,
        Self::AwsStandard143,
        Self::AwsStandard144,
        Self::AwsAdaptive144,
        Self::Grpc185,
        Self::Urllib328,
        Self::Stripe161,
        Self::GoogleApiCore244,
        Self::OctokitThrottling110,
    ];

    /// Its name, with the release.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AwsLegacy143 => "aws-legacy-1.43",
            Self::AwsStandard143 => "aws-standard-1.43",
            Self::AwsStandard144 => "aws-standard-1.44",
            Self::AwsAdaptive144 => "aws-adaptive-1.44",
            Self::Grpc185 => "grpc-1.85",
            Self::Urllib328 => "urllib3-2.8",
            Self::Stripe161 => "stripe-16.1",
            Self::GoogleApiCore244 => "google-api-core-2.44",
            Self::OctokitThrottling110 => "octokit-throttling-11.0",
        }
    }

    /// Attempts at most, unless stated otherwise.
    #[must_use]
    pub const fn attempts(self) -> Option<u32> {
        match self {
            Self::AwsLegacy143 => Some(5),
            Self::AwsStandard143 | Self::AwsStandard144 | Self::AwsAdaptive144 | Self::Stripe161 => Some(3),
            Self::Grpc185 => Some(4),
            Self::Urllib328 => Some(11),
            Self::GoogleApiCore244 | Self::OctokitThrottling110 => None,
        }
    }

    /// How long it goes on, unless stated otherwise.
    #[must_use]
    pub const fn deadline(self) -> Option<SimDuration> {
        match self {
            Self::GoogleApiCore244 => Some(SimDuration::from_secs(120)),
            _ => None,
        }
    }

    /// What stops it.
    #[must_use]
    pub const fn throttle(self) -> Option<ThrottleSpec> {
        match self {
            Self::AwsStandard143 => Some(ThrottleSpec::Quota { costs: [5, 5, 10] }),
            Self::AwsStandard144 | Self::AwsAdaptive144 => Some(ThrottleSpec::Quota { costs: [5, 14, 14] }),
            Self::Grpc185 => Some(ThrottleSpec::Grpc { max: 10_000, ratio: 100 }),
            _ => None,
        }
    }

    /// Whether it looks at what an answer says.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Urllib328 | Self::OctokitThrottling110)
    }

    /// The delay before the next attempt; `None` if such a failure is not retried.
    pub(super) fn delay(self, attempt: &Attempt, failure: Failure, seen: &Seen) -> Option<u64> {
        let n = attempt.made - 1;
        let jitter = |most: u64| attempt.dice.up_to(Draw::Jitter, attempt.made, most);
        let throttling = matches!(failure, Failure::Denied { status: 429 });
        match self {
            // U(0, 1) * 2^(i-1) seconds, uncapped.
            Self::AwsLegacy143 => Some(jitter(doubled(SECOND, n, u64::MAX >> 2))),
            // A bare 429 without an error code of the service is not retried.
            Self::AwsStandard143 => (!throttling).then(|| jitter(doubled(SECOND, n, 20 * SECOND))),
            Self::AwsStandard144 | Self::AwsAdaptive144 => {
                let scale = if throttling { SECOND } else { SECOND / 20 };
                Some(jitter(doubled(scale, n, 20 * SECOND)))
            }
            // 0.1 s, doubled up to 1 s, 20 % either way.
            Self::Grpc185 => {
                let delay = doubled(SECOND / 10, n, SECOND);
                Some(delay / 5 * 4 + jitter(delay / 5 * 2))
            }
            Self::Urllib328 => match failure {
                // Only with a wait in the answer; more than six hours is cut to that.
                Failure::Denied { status: 413 | 429 | 503 } => Some(seen.retry_after?.min(21_600 * SECOND)),
                Failure::Denied { .. } | Failure::Rejected => None,
                Failure::TimedOut => Some(0),
            },
            Self::Stripe161 => {
                if throttling {
                    return None;
                }
                let full = doubled(SECOND / 2, n, 5 * SECOND);
                Some((full / 2 + jitter(full - full / 2)).max(SECOND / 2))
            }
            Self::GoogleApiCore244 => Some(jitter(doubled(SECOND, n, 60 * SECOND))),
            // Primary limit: the reset, rounded up, and a second more.
            Self::OctokitThrottling110 => match (failure, seen.quota) {
                (Failure::Denied { .. }, Some((0, reset))) => Some(reset.div_ceil(SECOND) * SECOND + SECOND),
                (Failure::Denied { .. }, _) => seen.retry_after,
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::client::{ClientSpec, Dice, Memory, RetrySpec};
    use std::collections::BTreeSet;

    const DENIED: Failure = Failure::Denied { status: 429 };
    const UNAVAILABLE: Failure = Failure::Denied { status: 503 };

    fn delays(sdk: Sdk, failure: Failure, seen: Seen, made: u32) -> Option<(u64, u64)> {
        let each: Option<Vec<u64>> = (0..20_000)
            .map(|request| sdk.delay(&Attempt { now: 0, made, dice: Dice::new(1, request) }, failure, &seen))
            .collect();
        each.map(|each| (*each.iter().min().expect("many"), *each.iter().max().expect("many")))
    }

    /// The range is covered up to a thousandth of it at both ends.
    fn is_uniform(found: Option<(u64, u64)>, from: f64, to: f64) {
        let (least, most) = found.expect("it is retried");
        let (from, to) = (from * 1e9, to * 1e9);
        let slack = (to - from) / 1000.0;
        let (least, most) = (least as f64, most as f64);
        assert!(
            least >= from - 1.0 && least <= from + slack && most <= to + 1.0 && most >= to - slack,
            "{least} {most}"
        );
    }

    #[test]
    fn delays_of_the_aws_modes() {
        let none = Seen::default();
        for (made, most) in [(1, 1.0), (2, 2.0), (3, 4.0)] {
            is_uniform(delays(Sdk::AwsLegacy143, DENIED, none, made), 0.0, most);
            is_uniform(delays(Sdk::AwsStandard143, UNAVAILABLE, none, made), 0.0, most);
            is_uniform(delays(Sdk::AwsStandard144, DENIED, none, made), 0.0, most);
            is_uniform(delays(Sdk::AwsStandard144, UNAVAILABLE, none, made), 0.0, most / 20.0);
        }
        is_uniform(delays(Sdk::AwsStandard144, DENIED, none, 10), 0.0, 20.0);
        assert_eq!(delays(Sdk::AwsStandard143, DENIED, none, 1), None, "a bare 429 is not retried");
    }

    /// Retries until an untouched quota is empty.
    #[test]
    fn quotas_of_the_aws_modes() {
        let until_empty = |sdk, failure| {
            let spec = ClientSpec { retry: RetrySpec::Sdk(sdk), ..ClientSpec::NEVER };
            let mut client = spec.client();
            (0..1000_u64)
                .filter(|request| {
                    let attempt = Attempt { now: 0, made: 1, dice: Dice::new(1, *request) };
                    let (seen, mut memory) = (Seen::default(), Memory::default());
                    spec.failed(&mut client, &attempt, failure, &seen, &mut memory, u64::MAX).is_some()
                })
                .count()
        };
        assert_eq!(until_empty(Sdk::AwsStandard143, UNAVAILABLE), 100);
        assert_eq!(until_empty(Sdk::AwsStandard143, Failure::TimedOut), 50);
        assert_eq!(until_empty(Sdk::AwsStandard144, UNAVAILABLE), 35);
        assert_eq!(until_empty(Sdk::AwsStandard144, Failure::TimedOut), 35);
        assert_eq!(until_empty(Sdk::AwsStandard144, DENIED), 100);
    }

    /// Classic, all failing, three attempts each: ten units a call, so no retries after fifty calls;
    /// two retries and then a success cost five in all.
    #[test]
    fn a_success_gives_back_its_last_retry() {
        let spec = ClientSpec { retry: RetrySpec::Sdk(Sdk::AwsStandard143), ..ClientSpec::NEVER };
        let (mut client, seen) = (spec.client(), Seen::default());
        let mut call = |succeeds_at: u32| {
            let mut memory = Memory::default();
            for made in 1..=3 {
                let attempt = Attempt { now: 0, made, dice: Dice::new(1, 1) };
                if made == succeeds_at {
                    spec.succeeded(&mut client, &attempt, &memory, &seen);
                    return made;
                }
                if spec.failed(&mut client, &attempt, UNAVAILABLE, &seen, &mut memory, u64::MAX).is_none() {
                    return made;
                }
            }
            unreachable!("three attempts at most")
        };
        let calls: Vec<u32> = (0..51).map(|_| call(u32::MAX)).collect();
        assert!(calls[..50].iter().all(|made| *made == 3) && calls[50] == 1);
        let mut client = spec.client();
        let mut net = 0;
        while {
            let mut memory = Memory::default();
            let dice = Dice::new(1, 1);
            let retried = (1..=2).all(|made| {
                spec.failed(&mut client, &Attempt { now: 0, made, dice }, UNAVAILABLE, &seen, &mut memory, u64::MAX)
                    .is_some()
            });
            if retried {
                spec.succeeded(&mut client, &Attempt { now: 0, made: 3, dice }, &memory, &seen);
                net += 1;
            }
            retried
        } {}
        // 500 units at five a call; the last needs ten at once.
        assert_eq!(net, 99);
    }

    #[test]
    fn delays_of_the_others() {
        let none = Seen::default();
        // The first retry of stripe-python is always half a second.
        assert_eq!(delays(Sdk::Stripe161, UNAVAILABLE, none, 1), Some((SECOND / 2, SECOND / 2)));
        is_uniform(delays(Sdk::Stripe161, UNAVAILABLE, none, 2), 0.5, 1.0);
        is_uniform(delays(Sdk::Stripe161, UNAVAILABLE, none, 3), 1.0, 2.0);
        is_uniform(delays(Sdk::Stripe161, UNAVAILABLE, none, 5), 2.5, 5.0);
        assert_eq!(delays(Sdk::Stripe161, DENIED, none, 1), None);
        is_uniform(delays(Sdk::GoogleApiCore244, DENIED, none, 3), 0.0, 4.0);
        is_uniform(delays(Sdk::GoogleApiCore244, DENIED, none, 9), 0.0, 60.0);
        is_uniform(delays(Sdk::Grpc185, DENIED, none, 1), 0.08, 0.12);
        is_uniform(delays(Sdk::Grpc185, DENIED, none, 9), 0.8, 1.2);
        assert_eq!(delays(Sdk::Urllib328, DENIED, none, 1), None, "no wait in the answer");
        let told = Seen { retry_after: Some(3 * SECOND), quota: None };
        assert_eq!(delays(Sdk::Urllib328, DENIED, told, 1), Some((3 * SECOND, 3 * SECOND)));
        let reset = Seen { retry_after: None, quota: Some((0, 7 * SECOND)) };
        assert_eq!(delays(Sdk::OctokitThrottling110, DENIED, reset, 1), Some((8 * SECOND, 8 * SECOND)));
    }

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<&str> = Sdk::ALL.iter().map(|sdk| sdk.name()).collect();
        assert_eq!(names.len(), Sdk::ALL.len());
    }
}
