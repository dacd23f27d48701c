//! The response contract: what a refused client is told, rounding included.

use crate::limiter::{Level, LimiterSpec};
use crate::time::{SimDuration, SimTime};

/// How the wait until the next attempt is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RetryAfter {
    /// Not at all.
    #[default]
    None,
    /// In whole seconds, rounded up, at least one.
    Seconds,
    /// As an HTTP date: the next whole second.
    Date,
    /// To the nanosecond, which no header can.
    Exact,
    /// To the nanosecond, and each refusal of a key one emission interval behind the one before.
    Reserved,
}

/// What the wait that is told has on top of the one that is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Up to this much, uniformly.
    Fixed(SimDuration),
    /// Up to this many thousandths of what the clients that are refused now need at the limit's rate.
    Crowd(u64),
}

impl Default for Spread {
    fn default() -> Self {
        Self::Fixed(SimDuration::ZERO)
    }
}

/// The wire format of the quota headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuotaHeaders {
    /// None.
    #[default]
    None,
    /// `RateLimit` and `RateLimit-Policy` as structured fields (draft 8 on).
    Ietf,
    /// `RateLimit-Limit`, `-Remaining`, `-Reset`, with the policy in the limit (draft 3).
    #[serde(rename = "draft-3")]
    Draft3,
    /// The same with a `RateLimit-Policy` of its own (draft 6).
    #[serde(rename = "draft-6")]
    Draft6,
    /// One dictionary, `RateLimit: limit=…, remaining=…, reset=…` (draft 7).
    #[serde(rename = "draft-7")]
    Draft7,
    /// `X-RateLimit-Limit`, `-Remaining`, `-Reset` in seconds from now.
    #[serde(rename = "x-ratelimit")]
    XDelta,
    /// The same with the reset in seconds since the epoch.
    #[serde(rename = "x-ratelimit-epoch")]
    XEpoch,
}

/// What a lane answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseSpec {
    /// Status of a refusal.
    pub status: u16,
    /// The wait it tells.
    pub retry_after: RetryAfter,
    /// What the wait has on top.
    pub spread: Spread,
    /// The quota it tells.
    pub headers: QuotaHeaders,
}

impl Default for ResponseSpec {
    fn default() -> Self {
        Self { status: 429, retry_after: RetryAfter::None, spread: Spread::default(), headers: QuotaHeaders::None }
    }
}

/// What a client sees of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Wait that it is told, in nanoseconds.
    pub retry_after: Option<u64>,
    /// Attempts of cost 1 that would pass, and nanoseconds until there are more.
    pub quota: Option<(u64, u64)>,
}

/// Nanoseconds in a second.
pub(crate) const SECOND: u64 = 1_000_000_000;

/// A limiter's policy as headers state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Units.
    pub quota: u64,
    /// Whole seconds that they are for.
    pub window: Option<u64>,
}

impl Policy {
    /// The policy of a limiter: its window's limit, or its burst and how long that takes to fill.
    #[must_use]
    pub fn of(limiter: &LimiterSpec) -> Self {
        let window = |limit: crate::quota::Limit| (limit.units, u128::from(limit.units), limit.window.nanos());
        let bucket = |rate: crate::quota::Rate, burst: u64| {
            let (period, units) = rate.reduced();
            // The time to fill: burst / rate, as a fraction in nanoseconds.
            (burst, u128::from(units.max(1)), u128::from(burst) * u128::from(period))
        };
        let (quota, span) = match limiter {
            LimiterSpec::FixedWindow(spec) => (window(spec.limit).0, Some(spec.limit.window.nanos())),
            LimiterSpec::SlidingLog(spec) => (window(spec.limit).0, Some(spec.limit.window.nanos())),
            LimiterSpec::SlidingCounter(spec) => (window(spec.limit).0, Some(spec.limit.window.nanos())),
            LimiterSpec::TokenBucket(spec) => whole(bucket(spec.rate, spec.burst)),
            LimiterSpec::LeakyBucket(spec) => whole(bucket(spec.rate, spec.capacity)),
            LimiterSpec::Gcra(spec) => whole(bucket(spec.rate, spec.burst)),
        };
        let second = u128::from(SECOND);
        let window = span.filter(|span| span % second == 0 && *span > 0);
        Self { quota, window: window.map(|span| (span / second) as u64) }
    }
}

/// A time to fill, if it is whole in nanoseconds.
fn whole((quota, units, nanos): (u64, u128, u128)) -> (u64, Option<u128>) {
    (quota, nanos.is_multiple_of(units).then(|| nanos / units))
}

impl ResponseSpec {
    /// Whether anything of an answer depends on the limiter's state.
    #[must_use]
    pub fn tells(&self) -> bool {
        self.retry_after != RetryAfter::None || self.headers != QuotaHeaders::None
    }

    /// The wait that is told at `at` for one of `wait` nanoseconds, spread included.
    #[must_use]
    pub fn told(&self, at: SimTime, wait: u64) -> Option<u64> {
        let seconds = wait.div_ceil(SECOND).max(1) * SECOND;
        match self.retry_after {
            RetryAfter::None => None,
            RetryAfter::Seconds => Some(seconds),
            RetryAfter::Date => {
                let then = i128::from(at.nanos()) + i128::from(wait);
                let second = i128::from(SECOND);
                Some((-(-then).div_euclid(second) * second - i128::from(at.nanos())) as u64)
            }
            RetryAfter::Exact | RetryAfter::Reserved => Some(wait),
        }
    }

    /// What a client sees of the quota.
    #[must_use]
    pub fn quota(&self, level: &Level) -> Option<(u64, u64)> {
        let seconds = |span: SimDuration| (span.nanos().div_ceil(u128::from(SECOND)) as u64).saturating_mul(SECOND);
        match self.headers {
            QuotaHeaders::None => None,
            QuotaHeaders::Ietf => Some((level.remaining, seconds(level.next))),
            _ => Some((level.remaining, seconds(level.full))),
        }
    }

    /// The headers of an answer at `at`: `wait` is that of a refusal, spread included.
    #[must_use]
    pub fn lines(&self, at: SimTime, policy: Policy, level: &Level, wait: Option<u64>) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        if let Some(told) = wait.and_then(|wait| self.told(at, wait)) {
            lines.push((
                "Retry-After",
                match self.retry_after {
                    RetryAfter::Date => http_date(at, told),
                    RetryAfter::Seconds => (told / SECOND).to_string(),
                    _ => SimDuration::from_nanos(told).to_string(),
                },
            ));
        }
        let Some((remaining, reset)) = self.quota(level) else { return lines };
        let (reset, quota) = (reset / SECOND, policy.quota);
        let window = policy.window.map_or_else(String::new, |window| format!(";w={window}"));
        match self.headers {
            QuotaHeaders::None => {}
            QuotaHeaders::Ietf => {
                lines.push(("RateLimit-Policy", format!("\"default\";q={quota}{window}")));
                lines.push(("RateLimit", format!("\"default\";r={remaining};t={reset}")));
            }
            QuotaHeaders::Draft3 => {
                lines.push(("RateLimit-Limit", format!("{quota}, {quota}{window}")));
                lines.push(("RateLimit-Remaining", remaining.to_string()));
                lines.push(("RateLimit-Reset", reset.to_string()));
            }
            QuotaHeaders::Draft6 => {
                lines.push(("RateLimit-Policy", format!("{quota}{window}")));
                lines.push(("RateLimit-Limit", quota.to_string()));
                lines.push(("RateLimit-Remaining", remaining.to_string()));
                lines.push(("RateLimit-Reset", reset.to_string()));
            }
            QuotaHeaders::Draft7 => {
                lines.push(("RateLimit-Policy", format!("{quota}{window}")));
                lines.push(("RateLimit", format!("limit={quota}, remaining={remaining}, reset={reset}")));
            }
            QuotaHeaders::XDelta | QuotaHeaders::XEpoch => {
                lines.push(("X-RateLimit-Limit", quota.to_string()));
                lines.push(("X-RateLimit-Remaining", remaining.to_string()));
                let reset = match self.headers {
                    QuotaHeaders::XDelta => i128::from(reset),
                    _ => {
                        let full = i128::try_from(level.full.nanos()).unwrap_or(i128::MAX / 2);
                        -(-(i128::from(at.nanos()) + full)).div_euclid(i128::from(SECOND))
                    }
                };
                lines.push(("X-RateLimit-Reset", reset.to_string()));
            }
        }
        lines
    }
}

/// An HTTP date `wait` nanoseconds after `at`.
fn http_date(at: SimTime, wait: u64) -> String {
    let then = i128::from(at.nanos()) + i128::from(wait);
    match jiff::Timestamp::from_nanosecond(then) {
        Ok(then) => then.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string(),
        Err(_) => String::new(),
    }
}
