//! Replicas that decide for themselves and hear of each other: what each has admitted since it last
//! told, and what it was told.

use super::asked::Asked;
use super::fleet::{Decider, Fleet};
use super::pending::{FleetEvent, Places};
use super::plan::instant;
use super::world::World;
use crate::limiter::{KeyId, Snapshot};
use crate::sim::deployment::{Debt, DeploymentSpec, HybridSpec, Scheme};
use crate::sim::lane::Lane;
use crate::sim::queue::Class;
use crate::time::{SimDuration, SimTime};
use std::collections::VecDeque;

/// Units that a replica took.
#[derive(Clone, Copy, Debug)]
struct Charge {
    key: KeyId,
    at: SimTime,
    cost: u64,
}

/// What replicas know of each other.
pub struct Rounds {
    every: Option<SimDuration>,
    replicas: Vec<Known>,
    messages: Places<Message>,
    /// Keys that were charged at the store, in order of first charge, and which they are.
    keys: Vec<KeyId>,
    seen: Vec<bool>,
}

/// What a replica has not heard of, or not told.
#[derive(Default)]
struct Known {
    /// Taken since it last told.
    own: Vec<Charge>,
    /// Told, and the answer is under way: by round.
    told: VecDeque<(u64, Vec<Charge>)>,
    /// Keys that changed at the store since it last heard.
    changed: Vec<KeyId>,
    is_changed: Vec<bool>,
    /// Rounds that it took part in.
    round: u64,
    /// Times that it was restarted: what is for it from before is of no use.
    restarts: u32,
}

/// What is under way between a replica and the store.
struct Message {
    replica: u32,
    round: u64,
    restarts: u32,
    charges: Vec<Charge>,
    states: Vec<(KeyId, Snapshot)>,
}

impl Known {
    fn change(&mut self, key: KeyId) {
        if key.index() >= self.is_changed.len() {
            self.is_changed.resize(key.index() + 1, false);
        }
        if !std::mem::replace(&mut self.is_changed[key.index()], true) {
            self.changed.push(key);
        }
    }
}

impl Rounds {
    /// Before the first.
    pub fn new(spec: &DeploymentSpec, replicas: u32) -> Self {
        Self {
            every: spec.scheme().and_then(Scheme::every),
            replicas: (0..replicas).map(|_| Known::default()).collect(),
            messages: Places::new(),
            keys: Vec::new(),
            seen: Vec::new(),
        }
    }

    /// Nanoseconds between two rounds, if there are any.
    pub fn every(&self) -> Option<u64> {
        self.every.map(SimDuration::short_nanos)
    }

    /// A replica forgets what it knew, and hears of every key again.
    pub fn restart(&mut self, replica: u32) {
        let known = &mut self.replicas[replica as usize];
        known.own.clear();
        known.told.clear();
        known.restarts += 1;
        for key in &self.keys {
            known.change(*key);
        }
    }

    /// A key was charged at the store: all replicas are to hear of it.
    fn charged(&mut self, key: KeyId) {
        if key.index() >= self.seen.len() {
            self.seen.resize(key.index() + 1, false);
        }
        if !std::mem::replace(&mut self.seen[key.index()], true) {
            self.keys.push(key);
        }
        self.replicas.iter_mut().for_each(|known| known.change(key));
    }
}

/// Takes units that a replica took earlier, unless their window has gone.
fn charge_late(lane: &mut Lane, charge: &Charge, now: SimTime) {
    let window = lane.plan().limiter.counts_clock_windows().map(|window| window.short_nanos().cast_signed());
    let gone = |window: i64| charge.at.nanos().div_euclid(window) < now.nanos().div_euclid(window);
    if !window.is_some_and(gone) {
        lane.charge(charge.key, charge.at, charge.cost);
    }
}

impl World<'_> {
    /// A replica decides by what it knows.
    pub(super) fn decide_by_rounds(&mut self, asked: Asked, local: SimTime, now: u64) {
        let Asked { replica, source, keys: [_, key], cost, .. } = asked;
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        let own = fleet.replicas[replica as usize].own.as_mut().expect("it has a view");
        let decision = own.decide(source, key, local, cost);
        if decision.admits() && cost > 0 {
            fleet.rounds.replicas[replica as usize].own.push(Charge { key, at: local, cost });
        }
        self.decided(asked, now, decision, Decider::Replica);
    }

    /// All replicas tell and are told, and will be again.
    pub(super) fn round(&mut self, now: u64) {
        let Some(fleet) = self.fleet.as_deref() else { return };
        match fleet.sync() {
            Some((_, push, ..)) => self.push_round(now, push),
            None => self.share_round(now),
        }
        let every = self.fleet.as_deref().and_then(|fleet| fleet.rounds.every());
        if let Some(every) = every {
            self.plan_event(now.saturating_add(every), Class::Change, FleetEvent::Round.into());
        }
    }

    /// All replicas tell what they admitted.
    fn push_round(&mut self, now: u64, push: u64) {
        let Some(fleet) = self.fleet.as_deref() else { return };
        let running = fleet.router.running().to_vec();
        for replica in running {
            let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
            if fleet.schedule.is_cut_off(replica, now) || fleet.schedule.is_down(now.saturating_add(push)) {
                continue;
            }
            let known = &mut fleet.rounds.replicas[replica as usize];
            known.round += 1;
            let charges = std::mem::take(&mut known.own);
            known.told.push_back((known.round, charges.clone()));
            let (round, restarts) = (known.round, known.restarts);
            let place = fleet.rounds.messages.put(Message { replica, round, restarts, charges, states: Vec::new() });
            self.plan_event(now.saturating_add(push), Class::Change, FleetEvent::Pushed { place }.into());
        }
    }

    /// The store hears of a replica.
    pub(super) fn pushed(&mut self, place: u32, now: u64) {
        let at = self.instant(now);
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        let Some((_, _, _, debt)) = fleet.sync() else { return self.reported(place, now) };
        self.witness.operated(at);
        // By a clock that lags what was charged by another would be forgotten.
        let ahead = fleet.replicas.iter().map(|replica| replica.skew).max().unwrap_or(0);
        let fastest = instant(at, ahead);
        let message = &mut fleet.rounds.messages.items[place as usize];
        for charge in std::mem::take(&mut message.charges) {
            charge_late(&mut self.lane, &charge, at);
            if debt == Debt::Clamp {
                self.lane.clamp(charge.key, fastest);
            }
            fleet.rounds.charged(charge.key);
        }
        // It reads after all writes of the instant.
        self.plan_event(now, Class::Store, FleetEvent::Answer { place }.into());
    }

    /// The store answers.
    pub(super) fn answer_round(&mut self, place: u32, now: u64) {
        let at = self.instant(now);
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        let Some((_, _, pull, _)) = fleet.sync() else { return self.assign(place, now) };
        let message = &mut fleet.rounds.messages.items[place as usize];
        let known = &mut fleet.rounds.replicas[message.replica as usize];
        for key in known.changed.drain(..) {
            known.is_changed[key.index()] = false;
            message.states.push((key, self.lane.check_out(key, at)));
        }
        if pull == 0 {
            self.pulled(place, now);
        } else {
            self.plan_event(now.saturating_add(pull), Class::Change, FleetEvent::Pulled { place }.into());
        }
    }

    /// A replica hears of all others.
    pub(super) fn pulled(&mut self, place: u32, now: u64) {
        let at = instant(self.plan.origin, now);
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        if fleet.sync().is_none() {
            return self.assigned(place, now);
        }
        let message = &mut fleet.rounds.messages.items[place as usize];
        let (replica, round, restarts) = (message.replica, message.round, message.restarts);
        let states = std::mem::take(&mut message.states);
        fleet.rounds.messages.free.push(place);
        let known = &mut fleet.rounds.replicas[replica as usize];
        if known.restarts != restarts {
            states.iter().for_each(|(key, _)| known.change(*key));
            return;
        }
        let replica = &mut fleet.replicas[replica as usize];
        let local = instant(at, replica.skew);
        let own = replica.own.as_mut().expect("it has a view");
        // Answers come in the order of the rounds: their delays do not change.
        while known.told.front().is_some_and(|(told, _)| *told <= round) {
            known.told.pop_front();
        }
        for (key, state) in states {
            own.commit(key, local, state);
            // What it has told since and what it has not told is not in there.
            let since = known.told.iter().flat_map(|(_, charges)| charges).chain(&known.own);
            since.filter(|charge| charge.key == key).for_each(|charge| charge_late(own, charge, local));
        }
    }
}

impl Fleet {
    /// Nanoseconds between rounds, to the store and back, and what becomes of debt.
    fn sync(&self) -> Option<(u64, u64, u64, Debt)> {
        match &self.spec {
            DeploymentSpec::Hybrid(HybridSpec { scheme: Scheme::Sync { every, push, pull, debt }, .. }) => {
                Some((every.short_nanos(), push.short_nanos(), pull.short_nanos(), *debt))
            }
            _ => None,
        }
    }
}
