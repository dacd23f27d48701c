//! One system under test: a limiter, what it counts by, and whom it leaves alone.

mod apart;
mod ids;

use super::backend::BackendSpec;
use super::client::ClientSpec;
use super::deployment::DeploymentSpec;
use super::response::ResponseSpec;
use super::step::{Grouped, Step};
use crate::limiter::{Bits, Decision, KeyId, Level, Limiter, LimiterSpec, Rows, StateSize, Used, Verdicts, Workload};
use crate::time::{SimDuration, SimTime};
use crate::traffic::Batch;
use ids::{Ids, Renumber};

pub use apart::Copied;

/// A lane, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanePlan {
    /// Its name, unique in the run.
    pub name: String,
    /// Its limiter.
    pub limiter: LimiterSpec,
    /// The key column it counts by.
    pub column: usize,
    /// For each source of traffic, whether it bypasses the limiter; empty: none does.
    pub exempt: Vec<bool>,
    /// The limiter sees time rounded down to a multiple of this many nanoseconds.
    pub clock_resolution: Option<u64>,
    /// What it answers.
    pub response: ResponseSpec,
    /// Who calls it; without, nobody who would come back.
    pub client: Option<ClientSpec>,
    /// What stands behind it.
    pub backend: Option<BackendSpec>,
    /// How its limit is kept by more than one process; without, by one.
    pub deployment: Option<DeploymentSpec>,
}

impl LanePlan {
    /// A lane with this limiter and nothing else.
    #[must_use]
    pub fn plain(name: String, limiter: LimiterSpec) -> Self {
        Self {
            name,
            limiter,
            column: 0,
            exempt: Vec::new(),
            clock_resolution: None,
            response: ResponseSpec::default(),
            client: None,
            backend: None,
            deployment: None,
        }
    }

    /// Whether what the lane answers decides what it is asked next, or when it answers matters.
    #[must_use]
    pub fn is_closed_loop(&self) -> bool {
        self.client.is_some() || self.backend.is_some() || self.response.tells()
    }

    /// The most units released in any half-open span; `None` where nothing is proven.
    #[must_use]
    pub fn bound(&self, span: SimDuration, largest_cost: u64) -> Option<u128> {
        let span = match self.clock_resolution {
            // What waits is released at its place in the schedule, or on arrival if that is later
            // in the tick: what is released from s on has its place no earlier than the tick of s.
            Some(tick) if !span.is_zero() && self.limiter.delays() => {
                SimDuration::from_wide_nanos(span.nanos() + u128::from(tick) - 1)
            }
            // The clock's ticks in a span of T lie in a closed span of ceil((T - 1 ns) / tick) ticks.
            Some(tick) if !span.is_zero() => {
                let tick = u128::from(tick);
                SimDuration::from_wide_nanos((span.nanos() - 1).div_ceil(tick) * tick + 1)
            }
            _ => span,
        };
        self.limiter.bound(span, largest_cost)
    }

    /// Whether an arrival of this source bypasses the limiter.
    #[must_use]
    pub fn exempts(&self, source: u16) -> bool {
        self.exempt.get(usize::from(source)).copied().unwrap_or(false)
    }
}

/// Looks at single decisions while the limiter's state is at hand.
pub trait Tap: Send {
    /// Whether the rows of this batch are of interest.
    fn wants(&self, batch: &Batch) -> bool;
    /// Row `row` was decided.
    fn after(&mut self, batch: &Batch, row: usize, decision: Decision, lane: &Lane);
}

impl<T: Tap> Tap for &mut [T] {
    fn wants(&self, batch: &Batch) -> bool {
        self.iter().any(|tap| tap.wants(batch))
    }
    fn after(&mut self, batch: &Batch, row: usize, decision: Decision, lane: &Lane) {
        self.iter_mut().for_each(|tap| tap.after(batch, row, decision, lane));
    }
}

/// A running lane.
pub struct Lane {
    plan: LanePlan,
    limiter: Box<dyn Limiter>,
    /// The decisions on the last batch.
    pub(super) verdicts: Verdicts,
    scratch: Scratch,
    /// The limiter's own numbers of the column's keys.
    ids: Ids,
    workload: Workload,
}

#[derive(Default)]
struct Scratch {
    at: Vec<SimTime>,
    cost: Vec<u64>,
    key: Vec<KeyId>,
    row: Vec<u32>,
    /// For each row its wait, zero for none.
    wait: Vec<u64>,
    verdicts: Verdicts,
}

impl Lane {
    /// A lane before its first arrival.
    #[must_use]
    pub fn new(plan: LanePlan, workload: &Workload) -> Self {
        // The limiter sees the tick before the first arrival, which may lie before all of them.
        let (from, until) = workload.times;
        let from = plan.clock_resolution.map_or(from, |tick| from.floor_to(tick));
        let limiter = plan.limiter.build(&Workload { times: (from, until), ..*workload });
        let ids = if plan.exempt.contains(&true) { Ids::Renumber(Renumber::default()) } else { Ids::Same };
        Self { plan, limiter, verdicts: Verdicts::default(), scratch: Scratch::default(), ids, workload: *workload }
    }

    /// Numbers keys by their first attempt: they may come in another order than they are met in.
    pub(super) fn number_keys(&mut self) {
        if matches!(self.ids, Ids::Same) {
            self.ids = Ids::Renumber(Renumber::default());
        }
    }

    /// What it was made of.
    #[must_use]
    pub const fn plan(&self) -> &LanePlan {
        &self.plan
    }

    /// Memory that the limiter holds.
    #[must_use]
    pub fn size(&self) -> StateSize {
        self.limiter.size()
    }

    /// The instant that the limiter sees.
    fn tick(&self, at: SimTime) -> SimTime {
        self.plan.clock_resolution.map_or(at, |tick| at.floor_to(tick))
    }

    /// A wait that the limiter counts from its tick, as seen from `at`: until the first tick not
    /// earlier than its end.
    fn until_tick(&self, at: SimTime, wait: SimDuration) -> SimDuration {
        let Some(tick) = self.plan.clock_resolution else { return wait };
        if wait.is_zero() {
            return wait;
        }
        let late = at.since(self.tick(at)).nanos();
        SimDuration::from_wide_nanos(wait.nanos().div_ceil(u128::from(tick)) * u128::from(tick) - late)
    }

    /// What a decision means at `at` if it was made for the tick before it.
    fn from_tick(at: SimTime, tick: SimTime, decision: Decision) -> Decision {
        match decision {
            Decision::Delay(wait) => {
                let late = at.since(tick).nanos();
                match wait.nanos().checked_sub(late).filter(|wait| *wait > 0) {
                    Some(wait) => Decision::Delay(SimDuration::from_wide_nanos(wait)),
                    None => Decision::Allow,
                }
            }
            other => other,
        }
    }

    /// The quota view of one of the column's keys.
    #[must_use]
    pub fn level(&self, key: KeyId, at: SimTime) -> Level {
        let tick = self.tick(at);
        let mut level = self.limiter.level(self.ids.known(key, tick), tick);
        level.next = self.until_tick(at, level.next);
        level.full = self.until_tick(at, level.full);
        level
    }

    /// Units of one of the column's keys in use.
    #[must_use]
    pub fn usage(&self, key: KeyId, at: SimTime) -> Used {
        let tick = self.tick(at);
        self.limiter.usage(self.ids.known(key, tick), tick)
    }

    /// The smallest wait after which an attempt would be admitted, `None` for never.
    #[must_use]
    pub fn retry_after(&self, key: KeyId, at: SimTime, cost: u64) -> Option<SimDuration> {
        let tick = self.tick(at);
        let key = self.ids.known(key, tick);
        self.limiter.retry_after(key, tick, cost).map(|wait| self.until_tick(at, wait))
    }

    /// Decides one attempt.
    pub fn decide(&mut self, source: u16, key: KeyId, at: SimTime, cost: u64) -> Decision {
        if self.plan.exempts(source) {
            return Decision::Allow;
        }
        let tick = self.tick(at);
        let key = self.id(key, tick);
        Self::from_tick(at, tick, self.limiter.decide(key, tick, cost))
    }

    /// Decides a batch.
    pub(super) fn decide_batch(&mut self, step: &Step, tap: Option<&mut (dyn Tap + '_)>) {
        let batch = &step.batch;
        if batch.is_empty() {
            // A run that ends early shows its last batch to the observers beside an empty one.
            return self.verdicts.clear();
        }
        if let Some(tap) = tap
            && tap.wants(batch)
        {
            return self.decide_tapped(batch, tap);
        }
        if !matches!(self.ids, Ids::Same) {
            return self.decide_subject(step);
        }
        let (key, cost) = (&batch.keys[self.plan.column], step.costs(&batch.cost));
        let Some(tick) = self.plan.clock_resolution else {
            if let Some(grouped) = step.grouped(self.plan.column) {
                return self.decide_grouped(step, grouped);
            }
            return self.limiter.decide_batch(Rows { at: &batch.at, key, cost }, &mut self.verdicts);
        };
        self.scratch.at.clear();
        self.scratch.at.extend(batch.at.iter().map(|at| at.floor_to(tick)));
        self.limiter.decide_batch(Rows { at: &self.scratch.at, key, cost }, &mut self.verdicts);
        let ticks = &self.scratch.at;
        self.verdicts.waits.retain_mut(|(row, wait)| {
            let row = *row as usize;
            let late = batch.at[row].since(ticks[row]).short_nanos();
            *wait = wait.saturating_sub(late);
            *wait > 0
        });
    }

    /// Decides key by key, and puts the verdicts in the order of the rows.
    fn decide_grouped(&mut self, step: &Step, grouped: &Grouped) {
        let Self { scratch, verdicts, limiter, .. } = self;
        let (row, count) = (&grouped.row, grouped.row.len());
        let rows = Rows { at: &grouped.at, key: &grouped.key, cost: step.costs(&grouped.cost) };
        limiter.decide_batch(rows, &mut scratch.verdicts);
        verdicts.admitted.fill_zero(count);
        for i in scratch.verdicts.admitted.ones() {
            verdicts.admitted.set(row[i] as usize);
        }
        verdicts.waits.clear();
        if scratch.verdicts.waits.is_empty() {
            return;
        }
        scratch.wait.clear();
        scratch.wait.resize(count, 0);
        for (i, wait) in &scratch.verdicts.waits {
            scratch.wait[row[*i as usize] as usize] = *wait;
        }
        let waits = scratch.wait.iter().enumerate().filter(|(_, wait)| **wait > 0);
        verdicts.waits.extend(waits.map(|(row, wait)| (row as u32, *wait)));
    }

    fn decide_tapped(&mut self, batch: &Batch, tap: &mut dyn Tap) {
        self.verdicts.clear();
        for row in 0..batch.len() {
            let (key, at, cost) = (batch.keys[self.plan.column][row], batch.at[row], batch.cost[row]);
            let decision = self.decide(batch.source[row], key, at, cost);
            self.verdicts.push(decision);
            tap.after(batch, row, decision, self);
        }
    }

    /// Decides the rows that are subject to the limiter and lets the others through.
    fn decide_subject(&mut self, step: &Step) {
        let batch = &step.batch;
        let Self { plan, scratch, ids, verdicts, limiter, .. } = self;
        let Scratch { at, cost, key, row, verdicts: subject, .. } = scratch;
        at.clear();
        cost.clear();
        key.clear();
        row.clear();
        verdicts.admitted.fill_zero(batch.len());
        verdicts.waits.clear();
        for i in 0..batch.len() {
            if plan.exempts(batch.source[i]) {
                verdicts.admitted.set(i);
                continue;
            }
            at.push(plan.clock_resolution.map_or(batch.at[i], |tick| batch.at[i].floor_to(tick)));
            cost.push(batch.cost[i]);
            key.push(ids.id(batch.keys[plan.column][i], batch.at[i]).0);
            row.push(i as u32);
        }
        limiter.decide_batch(Rows { at, key, cost: step.costs(cost) }, subject);
        for i in subject.admitted.ones() {
            verdicts.admitted.set(row[i] as usize);
        }
        verdicts.waits.extend(subject.waits.iter().filter_map(|(i, wait)| {
            let i = *i as usize;
            let late = batch.at[row[i] as usize].since(at[i]).short_nanos();
            wait.checked_sub(late).filter(|wait| *wait > 0).map(|wait| (row[i], wait))
        }));
    }

    /// The rows of a batch that are subject to the limiter; `None`: all.
    #[must_use]
    pub fn subject(plan: &LanePlan, batch: &Batch) -> Option<Bits> {
        if !plan.exempt.contains(&true) {
            return None;
        }
        let mut bits = Bits::default();
        for source in &batch.source {
            bits.push(!plan.exempts(*source));
        }
        Some(bits)
    }
}
