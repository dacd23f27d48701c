//! How well a sliding counter knows the rates of its keys.
//!
//! Rates are of all that is offered, refused or not, and are looked at upon each arrival, which counts
//! itself: the *real rate* is what came in the window that ends there, `(t - window, t]`; the *estimate*
//! is what came in the clock's window so far, and what came in the one before it x the part of that
//! which still lies inside.

use crate::limiter::Verdicts;
use crate::quota::Limit;
use crate::sim::{Observer, Step};
use num_rational::BigRational;
use std::collections::{BTreeMap, VecDeque};

/// Compares estimates with real rates, in whole numbers until it is asked for their mean.
#[derive(Debug)]
pub struct CounterAccuracy {
    units: u64,
    window: i64,
    column: usize,
    keys: Vec<Rates>,
    attempts: u64,
    estimated_above: u64,
    really_above: u64,
    wrong_side: u64,
    /// For each real rate, the sum of |estimate - real rate|, in units x window.
    distances: BTreeMap<u64, u128>,
}

/// What is known of one key.
#[derive(Clone, Debug, Default)]
struct Rates {
    /// Number of the clock's window that the newest arrival fell in.
    index: i64,
    newest: u64,
    previous: u64,
    /// Arrivals of the window that ends now, and their cost.
    trailing: VecDeque<(i64, u64)>,
    real: u64,
    /// The highest real rate.
    most: u64,
    /// Whether an estimate was ever above the limit.
    mitigated: bool,
}

impl Rates {
    /// Counts an arrival; returns its estimate, in units x window.
    fn count(&mut self, at: i64, cost: u64, window: i64) -> u128 {
        let (index, elapsed) = (at.div_euclid(window), at.rem_euclid(window));
        if index != self.index {
            self.previous = if index == self.index + 1 { self.newest } else { 0 };
            (self.newest, self.index) = (0, index);
        }
        self.newest += cost;
        while let Some((_, gone)) = self.trailing.pop_front_if(|(then, _)| *then <= at - window) {
            self.real -= gone;
        }
        self.trailing.push_back((at, cost));
        self.real += cost;
        self.most = self.most.max(self.real);
        let wide = |units: u64, time: i64| u128::from(units) * u128::from(time.unsigned_abs());
        wide(self.previous, window - elapsed) + wide(self.newest, window)
    }
}

/// How the keys of a run stand to the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Keys whose real rate was ever above the limit.
    pub above: u64,
    /// Keys whose estimate was ever above the limit.
    pub mitigated: u64,
    /// Keys whose real rate was above the limit, and their estimate never.
    pub missed: u64,
    /// Units that the highest real rate of those was above it.
    pub overshoot: u64,
    /// Keys whose estimate was above the limit, and their real rate never.
    pub wronged: u64,
}

impl CounterAccuracy {
    /// Of a counter with this limit that counts by a key column.
    #[must_use]
    pub const fn new(limit: Limit, column: usize) -> Self {
        Self {
            units: limit.units,
            window: limit.window.short_nanos().cast_signed(),
            column,
            keys: Vec::new(),
            attempts: 0,
            estimated_above: 0,
            really_above: 0,
            wrong_side: 0,
            distances: BTreeMap::new(),
        }
    }

    /// Arrivals.
    #[must_use]
    pub const fn attempts(&self) -> u64 {
        self.attempts
    }

    /// Arrivals upon which the estimate was above the limit.
    #[must_use]
    pub const fn estimated_above(&self) -> u64 {
        self.estimated_above
    }

    /// Arrivals upon which the real rate was above the limit.
    #[must_use]
    pub const fn really_above(&self) -> u64 {
        self.really_above
    }

    /// Arrivals upon which one of the two was above the limit and the other was not.
    #[must_use]
    pub const fn wrong_side(&self) -> u64 {
        self.wrong_side
    }

    /// How the keys stand to the limit.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let mut standing = Standing::default();
        for key in &self.keys {
            let above = key.most > self.units;
            standing.above += u64::from(above);
            standing.mitigated += u64::from(key.mitigated);
            standing.wronged += u64::from(key.mitigated && !above);
            if above && !key.mitigated {
                standing.missed += 1;
                standing.overshoot = standing.overshoot.max(key.most - self.units);
            }
        }
        standing
    }

    /// The mean over all arrivals of |estimate - real rate| / real rate; nothing without arrivals.
    #[must_use]
    pub fn mean_error(&self) -> Option<BigRational> {
        let each = |(real, distance): (&u64, &u128)| BigRational::new((*distance).into(), (*real).into());
        let sum: BigRational = self.distances.iter().map(each).sum();
        let whole = u128::from(self.window.unsigned_abs()) * u128::from(self.attempts);
        (whole > 0).then(|| sum / BigRational::from_integer(whole.into()))
    }
}

impl Observer for CounterAccuracy {
    fn observe(&mut self, step: &Step, _verdicts: &[Verdicts]) {
        let batch = &step.batch;
        let window = u128::from(self.window.unsigned_abs());
        for ((at, cost), key) in batch.at.iter().zip(&batch.cost).zip(&batch.keys[self.column]) {
            self.attempts += 1;
            if *cost == 0 {
                continue;
            }
            if key.index() >= self.keys.len() {
                self.keys.resize_with(key.index() + 1, Rates::default);
            }
            let rates = &mut self.keys[key.index()];
            let estimate = rates.count(at.nanos(), *cost, self.window);
            let (estimated_above, really_above) = (estimate > u128::from(self.units) * window, rates.real > self.units);
            rates.mitigated |= estimated_above;
            self.estimated_above += u64::from(estimated_above);
            self.really_above += u64::from(really_above);
            self.wrong_side += u64::from(estimated_above != really_above);
            let distance = estimate.abs_diff(u128::from(rates.real) * window);
            *self.distances.entry(rates.real).or_default() += distance;
        }
    }
}
