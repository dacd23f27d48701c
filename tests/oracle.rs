//! Slow, obviously right models: each keeps the whole history and works in rational numbers.

use num_rational::Ratio;
use num_traits::Zero;
use rlsim::limiter::{
    Compare, CounterAnchor, Decision, Edge, FixedWindowSpec, GcraSpec, Initial, LeakyBucketSpec, LeakyMode,
    LimiterSpec, Oldest, Refill, SlidingCounterSpec, SlidingLogSpec, TokenBucketSpec, WindowAnchor,
};
use rlsim::quota::Rate;
use rlsim::time::SimDuration;

pub type Q = Ratio<i128>;

fn q(n: impl Into<i128>) -> Q {
    Q::from_integer(n.into())
}

/// An attempt of the past and what became of it.
#[derive(Clone, Copy, Debug)]
struct Past {
    at: i64,
    cost: u64,
    admitted: bool,
}

/// A limiter that decides from its whole history.
#[derive(Clone, Debug)]
pub struct Oracle {
    spec: LimiterSpec,
    history: Vec<Past>,
}

fn nanos(span: SimDuration) -> i128 {
    i128::try_from(span.nanos()).expect("small")
}

/// Units per nanosecond.
fn per_ns(rate: Rate) -> Q {
    Q::new(i128::from(rate.units), nanos(rate.period))
}

impl Oracle {
    pub fn new(spec: &LimiterSpec) -> Self {
        Self { spec: spec.clone(), history: Vec::new() }
    }

    /// What an attempt would be answered.
    pub fn ask(&self, at: i64, cost: u64) -> Decision {
        if cost == 0 {
            return Decision::Allow;
        }
        let wait = match &self.spec {
            LimiterSpec::FixedWindow(s) => {
                yes(self.fixed_window(s, at) + u128::from(cost) <= u128::from(s.limit.units))
            }
            LimiterSpec::SlidingLog(s) => yes(self.log(s, at) + u128::from(cost) <= u128::from(s.limit.units)),
            LimiterSpec::SlidingCounter(s) => {
                let (estimate, limit) = (self.estimate(s, at), q(s.limit.units));
                yes(match s.compare {
                    Compare::After => estimate + q(cost) <= limit,
                    Compare::Before => estimate < limit && q(cost) <= limit,
                })
            }
            LimiterSpec::TokenBucket(s) => yes(self.tokens(s, at) >= q(cost)),
            LimiterSpec::Gcra(s) => self.gcra(s, at, cost),
            LimiterSpec::LeakyBucket(s) => self.leaky(s, at, cost),
        };
        match wait {
            None => Decision::Deny,
            Some(wait) if wait.is_zero() => Decision::Allow,
            Some(wait) => {
                let nanos = wait.ceil().to_integer();
                Decision::Delay(SimDuration::from_wide_nanos(u128::try_from(nanos).expect("positive")))
            }
        }
    }

    /// Decides and remembers.
    pub fn decide(&mut self, at: i64, cost: u64) -> Decision {
        let decision = self.ask(at, cost);
        self.history.push(Past { at, cost, admitted: decision.admits() });
        decision
    }

    fn counted(&self, count_denied: bool) -> impl Iterator<Item = &Past> {
        self.history.iter().filter(move |p| p.cost > 0 && (p.admitted || count_denied))
    }

    fn fixed_window(&self, s: &FixedWindowSpec, at: i64) -> u128 {
        let window = nanos(s.limit.window);
        let sum = |past: &mut dyn Iterator<Item = &Past>| past.map(|p| u128::from(p.cost)).sum::<u128>();
        match s.anchor {
            WindowAnchor::Clock => {
                let number = |t: i64| i128::from(t).div_euclid(window);
                sum(&mut self.counted(s.count_denied).filter(|p| number(p.at) == number(at)))
            }
            WindowAnchor::FirstRequest => {
                let mut start: Option<i64> = None;
                let mut used = 0;
                for past in self.counted(s.count_denied) {
                    if start.is_none_or(|start| i128::from(past.at - start) >= window) {
                        start = Some(past.at);
                        used = 0;
                    }
                    used += u128::from(past.cost);
                }
                if start.is_none_or(|start| i128::from(at - start) >= window) { 0 } else { used }
            }
            WindowAnchor::EveryRequest => {
                let mut last: Option<i64> = None;
                let mut used = 0;
                for past in self.history.iter().filter(|p| p.cost > 0) {
                    if last.is_none_or(|last| i128::from(past.at - last) >= window) {
                        used = 0;
                    }
                    last = Some(past.at);
                    if past.admitted || s.count_denied {
                        used += u128::from(past.cost);
                    }
                }
                if last.is_none_or(|last| i128::from(at - last) >= window) { 0 } else { used }
            }
        }
    }

    fn log(&self, s: &SlidingLogSpec, at: i64) -> u128 {
        let window = nanos(s.limit.window);
        self.counted(s.count_denied)
            .filter(|p| {
                let age = i128::from(at - p.at);
                age < window || (s.edge == Edge::Inclusive && age == window)
            })
            .map(|p| u128::from(p.cost))
            .sum()
    }

    fn estimate(&self, s: &SlidingCounterSpec, at: i64) -> Q {
        let window = q(nanos(s.limit.window));
        let bucket = window / q(s.buckets);
        let origin = match s.anchor {
            CounterAnchor::Clock => 0,
            CounterAnchor::FirstRequest => {
                let mut grid: Option<(i64, i64)> = None;
                for past in self.counted(s.count_denied) {
                    grid = match grid {
                        Some((origin, last)) if q(past.at - last) < window * q(2) => Some((origin, past.at)),
                        _ => Some((past.at, past.at)),
                    };
                }
                match grid {
                    Some((origin, last)) if q(at - last) < window * q(2) => origin,
                    _ => return Q::zero(),
                }
            }
        };
        let number = |t: i64| (q(t - origin) / bucket).floor();
        let now = number(at);
        let overlap = Q::from_integer(1) - (q(at - origin) - now * bucket) / bucket;
        self.counted(s.count_denied)
            .map(|p| {
                let age = now - number(p.at);
                let share = if age < q(s.buckets) {
                    q(1)
                } else if age == q(s.buckets) {
                    match s.oldest {
                        Oldest::Weighted => overlap,
                        Oldest::Ignored => q(0),
                        Oldest::Whole => q(1),
                    }
                } else {
                    q(0)
                };
                share * q(p.cost)
            })
            .sum()
    }

    fn tokens(&self, s: &TokenBucketSpec, at: i64) -> Q {
        let burst = q(s.burst);
        let mut tokens = match s.initial {
            Initial::Full => burst,
            Initial::Empty => q(0),
            Initial::Tokens(n) => q(n).min(burst),
        };
        // The bucket exists since the first attempt, of whatever cost.
        let mut last = self.history.first().map_or(at, |p| p.at);
        let gain = |from: i64, to: i64| match s.refill {
            Refill::Continuous => q(to - from) * per_ns(s.rate),
            Refill::Interval => {
                let period = nanos(s.rate.period);
                let steps = i128::from(to).div_euclid(period) - i128::from(from).div_euclid(period);
                q(steps) * q(s.rate.units)
            }
        };
        for past in &self.history {
            tokens = (tokens + gain(last, past.at)).min(burst);
            last = past.at;
            if past.admitted {
                tokens -= q(past.cost);
            }
        }
        (tokens + gain(last, at)).min(burst)
    }

    /// The theoretical arrival time, from all that was admitted.
    fn tat(&self, rate: Rate) -> Option<Q> {
        let mut tat: Option<Q> = None;
        for past in self.history.iter().filter(|p| p.admitted && p.cost > 0) {
            let base = tat.map_or(q(past.at), |tat| tat.max(q(past.at)));
            tat = Some(base + q(past.cost) / per_ns(rate));
        }
        tat
    }

    fn gcra(&self, s: &GcraSpec, at: i64, cost: u64) -> Option<Q> {
        let interval = Q::from_integer(1) / per_ns(s.rate);
        let tat = self.tat(s.rate).map_or(q(at), |tat| tat.max(q(at)));
        // Conforms iff the arrival is no earlier than TAT - tolerance, the cost's other units included.
        let tolerance = interval * (q(s.burst) - q(1));
        yes(q(at) >= tat + interval * (q(cost) - q(1)) - tolerance)
    }

    fn leaky(&self, s: &LeakyBucketSpec, at: i64, cost: u64) -> Option<Q> {
        let free = self.tat(s.rate).map_or(q(at), |free| free.max(q(at)));
        let level = (free - q(at)) * per_ns(s.rate);
        let fits = match (s.mode, s.compare) {
            (LeakyMode::Meter, Compare::Before) => level < q(s.capacity) && q(cost) <= q(s.capacity),
            _ => level + q(cost) <= q(s.capacity),
        };
        fits.then(|| if s.mode == LeakyMode::Queue { free - q(at) } else { q(0) })
    }
}

fn yes(admitted: bool) -> Option<Q> {
    admitted.then(Q::zero)
}
