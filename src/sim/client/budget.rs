//! Retry budgets: what retries may be in proportion to requests.

use crate::time::SimDuration;

/// How many retries a client may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetSpec {
    /// What is counted.
    pub rule: BudgetRule,
    /// How it was stated; nothing where the rule says it all.
    pub stated: Option<StatedBudget>,
}

/// A budget as a user states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedBudget {
    /// Retries in proportion to requests, in parts per million.
    pub ratio: u64,
    /// Retries a second beside them.
    pub per_second: u64,
    /// How long both last.
    pub ttl: SimDuration,
    /// Whose arithmetic is used.
    pub like: Option<&'static str>,
}

/// What a budget counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetRule {
    /// Each request deposits; each retry withdraws; both are forgotten after a while.
    Window {
        /// What a request deposits.
        deposit: u64,
        /// What a retry withdraws.
        withdraw: u64,
        /// What is there without any request.
        reserve: u64,
        /// How long both last.
        ttl: SimDuration,
    },
    /// A share of the requests in flight may be retries (Envoy).
    Concurrent {
        /// Per cent.
        percent: u64,
        /// Retries in flight that are always allowed.
        least: u64,
    },
    /// A bucket that is full at first; each request deposits, each retry withdraws one and needs more
    /// than that (Brooker, "Fixing retries with token buckets and circuit breakers").
    Bucket {
        /// Retries that it holds.
        size: u64,
        /// What a request deposits, in parts per million of a retry.
        deposit: u64,
    },
}

impl BudgetRule {
    /// Whether only so many retries are possible at one instant.
    #[must_use]
    pub const fn is_finite(self) -> bool {
        !matches!(self, Self::Concurrent { .. })
    }
}

/// Units that one request is worth where a ratio is stated in parts per million.
const MILLION: u64 = 1_000_000;

impl BudgetSpec {
    /// Retries up to `ratio` parts per million of the requests of the last `ttl`, and `per_second` more.
    #[must_use]
    pub fn ratio(ratio: u64, per_second: u64, ttl: SimDuration) -> Self {
        let reserve = u128::from(per_second) * ttl.nanos() * u128::from(MILLION) / 1_000_000_000;
        let reserve = reserve.min(u128::from(u64::MAX >> 2)) as u64;
        let rule = BudgetRule::Window { deposit: ratio, withdraw: MILLION, reserve, ttl };
        Self { rule, stated: Some(StatedBudget { ratio, per_second, ttl, like: None }) }
    }

    /// Twitter Finagle: a retry costs 1000/ratio thousandths, cut; ratio in parts per million.
    #[must_use]
    pub fn finagle(ratio: u64, per_second: u64, ttl: SimDuration) -> Self {
        Self::scaled(1_000, StatedBudget { ratio, per_second, ttl, like: Some("finagle") })
    }

    /// The Rust crate tower 0.5: as Finagle, but a ratio up to 1 is cut to one in a whole number.
    #[must_use]
    pub fn tower(ratio: u64, per_second: u64, ttl: SimDuration) -> Self {
        let deposit = if ratio <= MILLION { 1 } else { 1_000 };
        Self::scaled(deposit, StatedBudget { ratio, per_second, ttl, like: Some("tower-0.5") })
    }

    /// Envoy: a fifth of the requests in flight, and three at least.
    #[must_use]
    pub const fn envoy() -> Self {
        Self { rule: BudgetRule::Concurrent { percent: 20, least: 3 }, stated: None }
    }

    /// A bucket of `size` retries, filled by `deposit` parts per million of one by each request.
    #[must_use]
    pub const fn bucket(size: u64, deposit: u64) -> Self {
        Self { rule: BudgetRule::Bucket { size, deposit }, stated: None }
    }

    fn scaled(deposit: u64, stated: StatedBudget) -> Self {
        let StatedBudget { ratio, per_second, ttl, .. } = stated;
        let withdraw = (deposit * MILLION).checked_div(ratio).map_or(u64::from(u32::MAX), |withdraw| withdraw.max(1));
        let reserve = u128::from(per_second) * ttl.nanos() / 1_000_000_000 * u128::from(withdraw);
        let reserve = reserve.min(u128::from(u64::MAX >> 2)) as u64;
        let deposit = if ratio == 0 { 0 } else { deposit };
        Self { rule: BudgetRule::Window { deposit, withdraw, reserve, ttl }, stated: Some(stated) }
    }
}

/// Slices that a window is kept in.
const SLICES: usize = 10;

/// A budget in use.
#[derive(Clone, Debug)]
pub struct Budget {
    rule: BudgetRule,
    /// Deposits less withdrawals by slice, the newest at `slice % SLICES`.
    sums: [i64; SLICES],
    slice: u64,
    /// Requests in flight, and those of them that are retried.
    active: u64,
    retrying: u64,
    /// What a bucket holds, in parts per million of a retry.
    tokens: u64,
}

impl Budget {
    pub const fn new(spec: BudgetSpec) -> Self {
        let tokens = match spec.rule {
            BudgetRule::Bucket { size, .. } => size * MILLION,
            _ => 0,
        };
        Self { rule: spec.rule, sums: [0; SLICES], slice: 0, active: 0, retrying: 0, tokens }
    }

    fn turn(&mut self, now: u64, ttl: SimDuration) {
        let slice = now / (ttl.short_nanos() / SLICES as u64).max(1);
        let passed = slice.saturating_sub(self.slice).min(SLICES as u64);
        for i in 0..passed {
            self.sums[((slice - i) % SLICES as u64) as usize] = 0;
        }
        self.slice = self.slice.max(slice);
    }

    fn sum(&mut self) -> &mut i64 {
        &mut self.sums[(self.slice % SLICES as u64) as usize]
    }

    /// A request is made.
    pub fn deposit(&mut self, now: u64) {
        self.active += 1;
        match self.rule {
            BudgetRule::Window { deposit, ttl, .. } => {
                self.turn(now, ttl);
                *self.sum() += deposit as i64;
            }
            BudgetRule::Bucket { size, deposit } => self.tokens = (self.tokens + deposit).min(size * MILLION),
            BudgetRule::Concurrent { .. } => {}
        }
    }

    /// Whether a retry may be made; takes it if so. `again`: its request has been retried before.
    pub fn withdraw(&mut self, now: u64, again: bool) -> bool {
        let allowed = match self.rule {
            BudgetRule::Window { withdraw, reserve, ttl, .. } => {
                self.turn(now, ttl);
                let left = i128::from(self.sums.iter().sum::<i64>()) + i128::from(reserve);
                let allowed = left >= i128::from(withdraw);
                if allowed {
                    *self.sum() -= withdraw as i64;
                }
                allowed
            }
            BudgetRule::Concurrent { percent, least } => {
                let others = self.retrying - u64::from(again);
                others < (percent * self.active / 100).max(least)
            }
            BudgetRule::Bucket { .. } => {
                let allowed = self.tokens > MILLION;
                self.tokens -= if allowed { MILLION } else { 0 };
                allowed
            }
        };
        if allowed && !again {
            self.retrying += 1;
        }
        allowed
    }

    /// A request has ended.
    pub fn finished(&mut self, retried: bool) {
        self.active -= 1;
        self.retrying -= u64::from(retried);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn granted(budget: &mut Budget, now: u64, tries: u32) -> u32 {
        (0..tries).map(|_| u32::from(budget.withdraw(now, false))).sum()
    }

    /// Finagle's default of 20 % and 10 a second: a hundred at once, and not again within ten seconds.
    #[test]
    fn the_minimum_a_second_is_a_lump_a_ttl() {
        let mut budget = Budget::new(BudgetSpec::finagle(200_000, 10, SimDuration::from_secs(10)));
        assert_eq!(granted(&mut budget, 0, 200), 100);
        assert_eq!(granted(&mut budget, 9 * SECOND, 200), 0);
        assert_eq!(granted(&mut budget, 10 * SECOND, 200), 100);
    }

    #[test]
    fn requests_pay_for_retries() {
        let mut budget = Budget::new(BudgetSpec::finagle(200_000, 0, SimDuration::from_secs(10)));
        (0..100).for_each(|_| budget.deposit(0));
        assert_eq!(granted(&mut budget, SECOND, 100), 20);
    }

    /// tower cuts 1/ratio to a whole number: 0.6 becomes 100 %, 0.3 becomes 33 %.
    #[test]
    fn tower_cuts_the_ratio() {
        for (ratio, granted_of_99) in [(600_000, 99), (300_000, 33), (100_000, 9)] {
            let mut budget = Budget::new(BudgetSpec::tower(ratio, 0, SimDuration::from_secs(10)));
            (0..99).for_each(|_| budget.deposit(0));
            assert_eq!(granted(&mut budget, 0, 200), granted_of_99, "{ratio}");
        }
    }

    /// Five, of which the last is never taken; ten requests pay for one more.
    #[test]
    fn a_bucket_keeps_its_last_retry() {
        let mut budget = Budget::new(BudgetSpec::bucket(5, 100_000));
        budget.deposit(0);
        assert_eq!(granted(&mut budget, 0, 100), 4);
        (0..10).for_each(|_| budget.deposit(0));
        assert_eq!(granted(&mut budget, 0, 100), 1);
    }

    /// Envoy: a fifth of what is in flight, three at least.
    #[test]
    fn envoy_counts_what_is_in_flight() {
        for (active, retries) in [(5, 3), (15, 3), (20, 4), (100, 20)] {
            let mut budget = Budget::new(BudgetSpec::envoy());
            (0..active).for_each(|_| budget.deposit(0));
            assert_eq!(granted(&mut budget, 0, 100), retries, "{active} active");
        }
    }
}
