//! Clients: what they do when they are refused.
//!
//! One machine for all: an attempt fails; is the failure one that is retried at all, does a budget
//! or throttle allow it, are attempts left, and after what delay does the next one go out.

mod budget;
mod pace;
mod sdk;
mod throttle;

pub use budget::{BudgetRule, BudgetSpec};
pub use sdk::Sdk;
pub use throttle::ThrottleSpec;

use super::response::Seen;
use crate::rng::mix;
use crate::time::SimDuration;
use budget::Budget;
use pace::SendRate;
use throttle::Throttle;

/// How a client behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSpec {
    /// When it tries again.
    pub retry: RetrySpec,
    /// Attempts at most, the first included.
    pub max_attempts: Option<u32>,
    /// How long after the first attempt an answer is still of use.
    pub deadline: Option<SimDuration>,
    /// From an attempt's departure to the arrival of an instant answer.
    pub round_trip: SimDuration,
    /// What retries may be in proportion to requests.
    pub budget: Option<BudgetSpec>,
    /// What stops attempts of a client that keeps failing.
    pub throttle: Option<ThrottleSpec>,
}

/// When a client tries again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetrySpec {
    /// Never.
    None,
    /// At once.
    Immediate,
    /// After a fixed delay.
    Fixed {
        /// The delay.
        delay: SimDuration,
    },
    /// After `base`, twice that, and so on up to `cap`.
    Exponential {
        /// Before the first retry.
        base: SimDuration,
        /// The longest.
        cap: SimDuration,
        /// What is left to chance.
        jitter: Jitter,
    },
    /// After what the answer says; without it, after a second, two, and so on up to a minute.
    RetryAfter {
        /// Up to this much is added.
        jitter: SimDuration,
    },
    /// The same, and a client that has nothing remaining waits for the reset before it is refused.
    Paced,
    /// As a named release of a client library.
    Sdk(Sdk),
}

/// Which part of an exponential delay is left to chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Jitter {
    /// None.
    #[default]
    None,
    /// All of it.
    Full,
    /// Half of it.
    Equal,
    /// From `base` to three times the delay before.
    Decorrelated,
}

/// Why an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The limiter refused it.
    Denied {
        /// With this status.
        status: u16,
    },
    /// The backend had no place for it, or failed.
    Rejected,
    /// No answer came in time.
    TimedOut,
}

/// What a client remembers of one request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// The delay before the last attempt, in nanoseconds.
    pub slept: u64,
    /// Whether its budget counts it among those that are retried.
    pub retried: bool,
    /// Whether it is counted among those that are refused now.
    pub refused: bool,
    /// What the last attempt took from a quota of retries.
    pub paid: u16,
}

/// A draw that depends on nothing but the run's seed, what it is for, the request and its attempt:
/// every lane meets the same luck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dice {
    seed: u64,
    request: u64,
}

/// What is drawn for.
#[derive(Clone, Copy, Debug)]
pub enum Draw {
    /// A client's jitter.
    Jitter = 1,
    /// The spread of a server's answers.
    Spread,
    /// A client's throttle.
    Throttle,
    /// The time that a server takes.
    Service,
    /// The time that a message is on its way.
    Hop,
    /// Whether a backend fails.
    Failure,
    /// Which replica is met.
    Route,
    /// The time to the store and back.
    RoundTrip,
    /// Whether a replica refuses the part that is over the limit.
    Drop,
}

impl Dice {
    /// Draws for one request of a run.
    #[must_use]
    pub const fn new(seed: u64, request: u64) -> Self {
        Self { seed, request }
    }

    /// 64 random bits.
    #[must_use]
    pub const fn bits(self, draw: Draw, attempt: u32) -> u64 {
        let component = mix(self.seed ^ (draw as u64).wrapping_mul(0xd6e8_feb8_6659_fd93));
        let request = mix(component.wrapping_add(self.request.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        mix(request ^ (attempt as u64).wrapping_mul(0xa076_1d64_78bd_642f))
    }

    /// A whole number from 0 to `most`, both included, all equally likely.
    #[must_use]
    pub const fn up_to(self, draw: Draw, attempt: u32, most: u64) -> u64 {
        ((self.bits(draw, attempt) as u128 * (most as u128 + 1)) >> 64) as u64
    }
}

/// What all requests of one client share.
#[derive(Clone, Debug, Default)]
pub struct ClientState {
    budget: Option<Budget>,
    throttle: Option<Throttle>,
    /// Nothing remains before this instant, as far as the client knows.
    held_until: u64,
    rate: Option<Box<SendRate>>,
}

/// One attempt as a client sees it.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    /// When its outcome is known, in nanoseconds since the run's origin.
    pub now: u64,
    /// Attempts of the request so far.
    pub made: u32,
    /// The request's draws.
    pub dice: Dice,
}

impl ClientSpec {
    /// A client that takes a refusal for an answer.
    pub const NEVER: Self = Self {
        retry: RetrySpec::None,
        max_attempts: None,
        deadline: None,
        round_trip: SimDuration::ZERO,
        budget: None,
        throttle: None,
    };

    /// Attempts of one request at most.
    #[must_use]
    pub fn most_attempts(&self) -> Option<u32> {
        match self.retry {
            RetrySpec::None => Some(1),
            RetrySpec::Sdk(sdk) => self.max_attempts.or(sdk.attempts()),
            _ => self.max_attempts,
        }
    }

    /// After how long an answer is of no use any more.
    #[must_use]
    pub fn last_use(&self) -> Option<SimDuration> {
        match self.retry {
            RetrySpec::Sdk(sdk) => self.deadline.or(sdk.deadline()),
            _ => self.deadline,
        }
    }

    /// Whether requests may wait before they are first sent.
    #[must_use]
    pub fn holds_back(&self) -> bool {
        matches!(self.retry, RetrySpec::Paced | RetrySpec::Sdk(Sdk::AwsAdaptive144))
    }

    /// Whether clients look at what an answer says.
    #[must_use]
    pub fn reads(&self) -> bool {
        match self.retry {
            RetrySpec::RetryAfter { .. } | RetrySpec::Paced => true,
            RetrySpec::Sdk(sdk) => sdk.reads(),
            _ => false,
        }
    }

    /// A client before its first request.
    #[must_use]
    pub fn client(&self) -> ClientState {
        let sdk = match self.retry {
            RetrySpec::Sdk(sdk) => Some(sdk),
            _ => None,
        };
        ClientState {
            budget: self.budget.map(Budget::new),
            throttle: self.throttle.or_else(|| sdk.and_then(Sdk::throttle)).map(Throttle::new),
            held_until: 0,
            rate: (sdk == Some(Sdk::AwsAdaptive144)).then(Box::default),
        }
    }

    /// How long a request must wait before it is sent, in nanoseconds.
    pub fn hold(&self, client: &mut ClientState, now: u64) -> u64 {
        if let Some(rate) = &mut client.rate {
            return rate.acquire(now);
        }
        client.held_until.saturating_sub(now)
    }

    /// Whether an attempt leaves the client at all; counts a request's first.
    pub fn lets_out(&self, client: &mut ClientState, attempt: &Attempt) -> bool {
        if attempt.made == 0
            && let Some(budget) = &mut client.budget
        {
            budget.deposit(attempt.now);
        }
        match &mut client.throttle {
            Some(throttle) => throttle.lets_out(attempt),
            None => true,
        }
    }

    /// An attempt was answered as it should be.
    pub fn succeeded(&self, client: &mut ClientState, attempt: &Attempt, memory: &Memory, seen: &Seen) {
        if let Some(throttle) = &mut client.throttle {
            throttle.succeeded(attempt, memory);
        }
        if let Some(budget) = &mut client.budget {
            budget.finished(memory.retried);
        }
        if let Some(rate) = &mut client.rate {
            rate.answered(attempt.now, false);
        }
        self.look(client, attempt.now, seen);
    }

    /// A request ended without success.
    pub fn gave_up(&self, client: &mut ClientState, memory: &Memory) {
        if let Some(budget) = &mut client.budget {
            budget.finished(memory.retried);
        }
    }

    /// What a client learns of the quota.
    fn look(&self, client: &mut ClientState, now: u64, seen: &Seen) {
        if self.retry == RetrySpec::Paced
            && let Some((0, reset)) = seen.quota
        {
            client.held_until = client.held_until.max(now.saturating_add(reset));
        }
    }

    /// An attempt failed: after how many nanoseconds the next one goes out, if one does, not later
    /// than at `last`.
    pub fn failed(
        &self,
        client: &mut ClientState,
        attempt: &Attempt,
        failure: Failure,
        seen: &Seen,
        memory: &mut Memory,
        last: u64,
    ) -> Option<u64> {
        self.look(client, attempt.now, seen);
        if let Some(rate) = &mut client.rate {
            rate.answered(attempt.now, matches!(failure, Failure::Denied { status: 429 }));
        }
        let throttled = client.throttle.as_mut().is_some_and(|throttle| !throttle.failed());
        let delay = self.delay(attempt, failure, seen, memory)?;
        if self.most_attempts().is_some_and(|most| attempt.made >= most) || throttled {
            return None;
        }
        // What the deadline forbids costs nothing.
        if attempt.now.saturating_add(delay) > last {
            return None;
        }
        if let Some(throttle) = &mut client.throttle
            && !throttle.pay(failure, memory)
        {
            return None;
        }
        if let Some(budget) = &mut client.budget
            && !budget.withdraw(attempt.now, memory.retried)
        {
            return None;
        }
        (memory.slept, memory.retried) = (delay, true);
        Some(delay)
    }

    /// The delay before the next attempt; `None` if such a failure is not retried.
    fn delay(&self, attempt: &Attempt, failure: Failure, seen: &Seen, memory: &Memory) -> Option<u64> {
        let jitter = |most: u64| attempt.dice.up_to(Draw::Jitter, attempt.made, most);
        match self.retry {
            RetrySpec::None => None,
            RetrySpec::Immediate => Some(0),
            RetrySpec::Fixed { delay } => Some(delay.short_nanos()),
            RetrySpec::Exponential { base, cap, jitter: kind } => {
                let (base, cap) = (base.short_nanos(), cap.short_nanos());
                let full = doubled(base, attempt.made - 1, cap);
                Some(match kind {
                    Jitter::None => full,
                    Jitter::Full => jitter(full),
                    Jitter::Equal => full / 2 + jitter(full - full / 2),
                    Jitter::Decorrelated => {
                        let most = memory.slept.max(base).saturating_mul(3);
                        (base + jitter(most - base)).min(cap)
                    }
                })
            }
            RetrySpec::RetryAfter { jitter: most } => {
                let wait = seen.retry_after.unwrap_or_else(|| fallback(attempt.made));
                Some(wait.saturating_add(jitter(most.short_nanos())))
            }
            RetrySpec::Paced => {
                let reset = seen.quota.map(|(_, reset)| reset);
                Some(seen.retry_after.or(reset).unwrap_or_else(|| fallback(attempt.made)))
            }
            RetrySpec::Sdk(sdk) => sdk.delay(attempt, failure, seen),
        }
    }
}

/// `base` doubled `times` times, at most `cap`.
fn doubled(base: u64, times: u32, cap: u64) -> u64 {
    u64::try_from(u128::from(base) << times.min(64)).unwrap_or(u64::MAX).min(cap)
}

/// What a client that is told nothing waits.
fn fallback(made: u32) -> u64 {
    doubled(super::response::SECOND, made - 1, 60 * super::response::SECOND)
}
