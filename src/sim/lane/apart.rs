//! A lane's limiter one step at a time: what a store and replicas with views of it do.

use super::{Ids, Lane, LanePlan};
use crate::limiter::{Decision, KeyId, Limiter, LimiterSpec, Snapshot, Workload};
use crate::time::SimTime;

use super::ids::{Renumber, Windows};

impl Lane {
    /// A lane that is part of a deployment: keys come in any order, more may be charged than there
    /// is, and clocks may differ. A store names its counters by key and window.
    #[must_use]
    pub fn part(plan: &LanePlan, limiter: LimiterSpec, workload: &Workload, store: bool) -> Self {
        let workload = Workload { debt: true, ..*workload };
        let window = limiter.counts_clock_windows().filter(|_| store);
        let mut lane = Self::new(LanePlan { limiter, ..plan.clone() }, &workload);
        lane.ids = match window {
            Some(window) => {
                let skew = plan.deployment.iter().flat_map(|deployment| &deployment.replicas().skew);
                let apart = skew.max().map_or(0, |ahead| ahead.short_nanos());
                Ids::Windows(Windows::new(window.short_nanos().cast_signed(), apart))
            }
            None => Ids::Renumber(Renumber::default()),
        };
        lane
    }

    /// The limiter's own number of a key.
    #[inline]
    pub(super) fn id(&mut self, key: KeyId, tick: SimTime) -> KeyId {
        if matches!(self.ids, Ids::Same) {
            return key;
        }
        let (id, stale) = self.ids.id(key, tick);
        if stale {
            self.limiter.reset(id, tick);
        }
        id
    }

    /// What one attempt would be answered.
    #[must_use]
    pub fn ask(&self, key: KeyId, at: SimTime, cost: u64) -> Decision {
        let tick = self.tick(at);
        Self::from_tick(at, tick, self.limiter.ask(self.ids.known(key, tick), tick, cost))
    }

    /// Takes units, whether or not they are there.
    pub fn charge(&mut self, key: KeyId, at: SimTime, cost: u64) {
        let tick = self.tick(at);
        let key = self.id(key, tick);
        self.limiter.charge(key, tick, cost);
    }

    /// Forgives a key's debt.
    pub fn clamp(&mut self, key: KeyId, at: SimTime) {
        let tick = self.tick(at);
        self.limiter.clamp(self.ids.known(key, tick), tick);
    }

    /// A copy of a key's state.
    #[must_use]
    pub fn check_out(&self, key: KeyId, at: SimTime) -> Snapshot {
        let tick = self.tick(at);
        self.limiter.check_out(self.ids.known(key, tick), tick)
    }

    /// Decides on a copy.
    pub fn decide_on(&self, snapshot: &mut Snapshot, at: SimTime, cost: u64) -> Decision {
        let tick = self.tick(at);
        Self::from_tick(at, tick, self.limiter.decide_on(snapshot, tick, cost))
    }

    /// Replaces a key's state by a copy.
    pub fn commit(&mut self, key: KeyId, at: SimTime, snapshot: Snapshot) {
        let tick = self.tick(at);
        let key = self.id(key, tick);
        self.limiter.commit(key, tick, snapshot);
    }

    /// Forgets everything.
    pub fn forget(&mut self) {
        self.limiter = self.plan.limiter.build(&self.workload);
        match &mut self.ids {
            Ids::Same => {}
            Ids::Renumber(known) => *known = Renumber::default(),
            Ids::Windows(known) => known.forget(),
        }
    }

    /// The same lane with other parameters of the same algorithm; what it knows of keys goes over.
    pub fn rescale(&mut self, limiter: LimiterSpec, at: SimTime) {
        let tick = self.tick(at);
        let old = std::mem::replace(&mut self.limiter, limiter.build(&self.workload));
        self.limiter.take_over(old, tick);
        self.plan.limiter = limiter;
    }

    /// The same lane with nothing known.
    #[must_use]
    pub fn fresh(&self) -> Self {
        let mut lane = Self::new(self.plan.clone(), &self.workload);
        lane.ids = self.ids.clone();
        lane.forget();
        lane
    }

    /// What is known now, to be put back later.
    #[must_use]
    pub fn copy(&self) -> Copied {
        Copied { limiter: self.limiter.duplicate(), ids: self.ids.clone() }
    }

    /// Goes back to what was known.
    pub fn put_back(&mut self, copied: Copied) {
        (self.limiter, self.ids) = (copied.limiter, copied.ids);
    }
}

/// What a lane knew.
pub struct Copied {
    limiter: Box<dyn Limiter>,
    ids: Ids,
}
