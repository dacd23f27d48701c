//! The way of an attempt through a deployment, up to its decision.

use super::fleet::{Decider, Fleet, Run};
use super::operation::Task;
use super::pending::{Event, FleetEvent, Met, Phase};
use super::plan::{LATER, instant};
use super::stream::Sent;
use super::witness::Told;
use super::world::World;
use crate::error::Error;
use crate::limiter::{Decision, KeyId};
use crate::sim::client::Dice;
use crate::sim::deployment::{Change, DeploymentSpec, HybridSpec, Scheme};
use crate::sim::lane::Lane;
use crate::sim::queue::Class;

/// An attempt that has met a replica and is not decided.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The place of its request, and which attempt there waits.
    pub slot: u32,
    pub generation: u32,
    pub replica: u32,
    pub made: u32,
    pub source: u16,
    /// Its row among the lane's attempts.
    pub row: u64,
    /// Its request's number.
    pub number: u64,
    /// When it came.
    pub at: u64,
    pub keys: [KeyId; 2],
    pub cost: u64,
}

impl Asked {
    /// When it came by a clock that is so far ahead.
    pub const fn local(&self, skew: u64) -> u64 {
        self.at.saturating_add(skew)
    }
}

impl World<'_> {
    /// The lane is kept by a deployment.
    pub(super) fn deploy(&mut self, spec: &DeploymentSpec) {
        let (lane, workload) = (self.lane.plan().clone(), self.plan.workload);
        let run = Run { seed: self.plan.seed, end: self.end };
        let fleet = Fleet::new(&lane, spec, &self.plan.faults, &run, &workload);
        // Leases are fetched from counters that are named as a store names them.
        let store = spec.link().is_some();
        self.lane = Lane::part(&lane, lane.limiter.clone(), &workload, store);
        for (number, (at, _)) in (0_u32..).zip(fleet.schedule.changes()) {
            self.plan_event(*at, Class::Departure, FleetEvent::Change { number }.into());
        }
        if let Some(every) = fleet.rounds.every() {
            self.plan_event(every, Class::Change, FleetEvent::Round.into());
        }
        let lent = fleet.shares.first_leases();
        self.fleet = Some(Box::new(fleet));
        for (replica, until) in lent {
            self.plan_event(until, Class::Change, FleetEvent::Lapse { replica, given: 0 }.into());
        }
        self.show_parts(0);
    }

    /// Something of the deployment is due. Most worlds have none: kept out of the way of their events.
    #[inline(never)]
    pub(super) fn happen_in_fleet(&mut self, now: u64, event: FleetEvent) {
        self.background -= u64::from(event.is_background());
        match event {
            FleetEvent::Change { number } => self.change(number, now),
            FleetEvent::AtStore { place } => self.reach_store(place, now),
            FleetEvent::Execute { place } => self.execute(place, now),
            FleetEvent::Heard { place } => self.heard(place, now),
            FleetEvent::Patience { place } => self.patience(place, now),
            FleetEvent::Land { place } => self.land(place, now),
            FleetEvent::Visible { place } => self.visible(place),
            FleetEvent::Round => self.round(now),
            FleetEvent::Pushed { place } => self.pushed(place, now),
            FleetEvent::Answer { place } => self.answer_round(place, now),
            FleetEvent::Pulled { place } => self.pulled(place, now),
            FleetEvent::Lapse { replica, given } => self.lapse(replica, given, now),
        }
    }

    /// An attempt goes out to the deployment.
    pub(super) fn ask(&mut self, slot: u32, now: u64) -> Result<(), Error> {
        let at = self.instant(now);
        let request = &mut self.requests.items[slot as usize];
        request.phase = Phase::Away;
        request.generation = request.generation.wrapping_add(1);
        let (generation, keys, cost, source) = (request.generation, request.keys, request.cost, request.source);
        let (number, made, first_at) = (request.number, request.made, request.first_at);
        let row = self.stream.open(Sent { at, cost, source, keys })?;
        if slot as usize >= self.met.len() {
            self.met.resize(slot as usize + 1, Met::default());
        }
        self.met[slot as usize] = Met { came: now, row, ..Met::default() };
        if let Some(last) = self.client.last_use() {
            let patience = first_at.saturating_add(last.short_nanos() + 1);
            self.plan_event(patience, Class::Change, Event::Request { slot, generation });
        }
        let exempt = self.lane.plan().exempts(source);
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        let replica = fleet.router.route(keys[1], Dice::new(self.plan.seed, number), made);
        fleet.router.begin(replica);
        let asked = Asked { slot, generation, replica, made, source, row, number, at: now, keys, cost };
        if exempt {
            self.decided(asked, now, Decision::Allow, Decider::Exempt);
            return Ok(());
        }
        let known = &mut fleet.replicas[replica as usize];
        let local = instant(self.plan.origin, asked.local(known.skew));
        match &fleet.spec {
            DeploymentSpec::Local(_) => {
                let own = known.own.as_mut().expect("a replica decides for itself");
                let decision = own.decide(source, keys[1], local, cost);
                self.decided(asked, now, decision, Decider::Replica);
            }
            DeploymentSpec::Central(_) => {
                if let Some(before) = &mut known.own
                    && !before.decide(source, keys[1], local, cost).admits()
                {
                    self.decided(asked, now, Decision::Deny, Decider::Replica);
                    return Ok(());
                }
                self.ask_store(asked, Task::Decide, now);
            }
            DeploymentSpec::Hybrid(HybridSpec { scheme: Scheme::Lease { .. }, .. }) => self.spend(asked, now),
            DeploymentSpec::Hybrid(HybridSpec { scheme: Scheme::Sync { .. }, .. }) => {
                self.decide_by_rounds(asked, local, now);
            }
            DeploymentSpec::Hybrid(_) => self.decide_by_share(asked, now),
        }
        Ok(())
    }

    /// An attempt is decided, and its replica knows.
    pub(super) fn decided(&mut self, asked: Asked, now: u64, decision: Decision, decider: Decider) {
        let Asked { slot, generation, replica, row, number, made, cost, .. } = asked;
        self.stream.settle(row, decision);
        if made == 1 && number & LATER == 0 {
            self.firsts.settle(number, decision);
        }
        let (came, at) = (self.instant(asked.at), self.instant(now));
        let [client, key] = asked.keys;
        self.witness.told(&Told { came, at, replica, client, decision, decider, key, cost });
        let waits = self.is_away(slot, generation);
        if waits {
            self.met[slot as usize].decided = (decider, replica);
        }
        match decision {
            Decision::Deny => {
                self.done_with(replica);
                if waits {
                    self.deny(slot, now);
                } else {
                    self.write_down(&asked, now, decider, decision);
                }
            }
            Decision::Allow | Decision::Delay(_) => self.admit(&asked, now, decision, decider, waits),
        }
    }

    /// A replica has done with an attempt.
    pub(super) fn done_with(&mut self, replica: u32) {
        if let Some(fleet) = self.fleet.as_deref_mut() {
            fleet.router.done(replica);
        }
    }

    /// The world changes.
    pub(super) fn change(&mut self, number: u32, now: u64) {
        self.make_change(number);
        self.show_parts(now);
    }

    fn make_change(&mut self, number: u32) {
        let Some(fleet) = self.fleet.as_deref_mut() else { return };
        let (now, change) = fleet.schedule.changes()[number as usize];
        match change {
            Change::Copy(fault) => fleet.copies.push((fault, self.lane.copy())),
            Change::Failover(fault) => {
                if let Some(place) = fleet.copies.iter().position(|(number, _)| *number == fault) {
                    self.lane.put_back(fleet.copies.swap_remove(place).1);
                }
                fleet.shares.forget(now);
            }
            Change::Flush => {
                self.lane.forget();
                fleet.shares.forget(now);
                fleet.expiry = super::fleet::Expiry::Kept;
            }
            Change::Lag(by) => {
                let mut behind = self.lane.fresh();
                behind.put_back(self.lane.copy());
                fleet.lag += 1;
                fleet.lagging = Some((behind, by));
            }
            Change::UpToDate => fleet.lagging = None,
            // A counter that is named by its window is another one in the next.
            Change::LostExpire if self.lane.plan().limiter.counts_clock_windows().is_some() => {}
            Change::LostExpire => fleet.lose_expiry(),
            Change::Start(replica) => {
                fleet.restart(replica);
                let running: Vec<u32> = fleet.router.running().iter().copied().chain([replica]).collect();
                fleet.router.run(running);
            }
            Change::Stop(replica) => {
                let running: Vec<u32> =
                    fleet.router.running().iter().copied().filter(|other| *other != replica).collect();
                if !running.is_empty() {
                    fleet.router.run(running);
                }
            }
            Change::Restart(replica) => fleet.restart(replica),
            Change::Scale(replicas) => fleet.scale(replicas),
            Change::Reroute => fleet.router.reroute(),
        }
    }
}

impl Fleet {
    /// The first so many replicas run: those that did not start with nothing known.
    fn scale(&mut self, replicas: u32) {
        for replica in 0..replicas {
            if !self.router.running().contains(&replica) {
                self.restart(replica);
            }
        }
        self.router.run(0..replicas);
    }
}
