//! Units that replicas have fetched and not spent.

use super::asked::Asked;
use super::fleet::{Decider, Fleet};
use super::operation::Task;
use super::world::World;
use crate::limiter::{Decision, KeyId};
use crate::sim::deployment::{DeploymentSpec, HybridSpec, Scheme};
use std::collections::VecDeque;

/// What one replica has of each key.
#[derive(Default)]
pub struct Leases(Vec<Lease>);

#[derive(Default)]
struct Lease {
    units: u64,
    /// More have been asked for.
    asking: bool,
    /// Attempts that wait for them, the oldest first.
    waiting: VecDeque<Asked>,
}

impl Leases {
    fn of(&mut self, key: KeyId) -> &mut Lease {
        if key.index() >= self.0.len() {
            self.0.resize_with(key.index() + 1, Lease::default);
        }
        &mut self.0[key.index()]
    }

    /// Units of a key that are there to be spent.
    pub fn held(&self, key: KeyId) -> u64 {
        self.0.get(key.index()).map_or(0, |lease| lease.units)
    }

    /// What was fetched is lost; who waits goes on waiting.
    pub fn forget(&mut self) {
        self.0.iter_mut().for_each(|lease| lease.units = 0);
    }
}

impl Fleet {
    fn batch(&self) -> (u64, bool) {
        match &self.spec {
            DeploymentSpec::Hybrid(HybridSpec { scheme: Scheme::Lease { batch, prefetch }, .. }) => (*batch, *prefetch),
            _ => unreachable!("only a lease spends what it fetched"),
        }
    }

    fn lease(&mut self, replica: u32, key: KeyId) -> &mut Lease {
        self.replicas[replica as usize].leases.of(key)
    }
}

impl World<'_> {
    /// An attempt takes what its replica has, or waits for more.
    pub(super) fn spend(&mut self, asked: Asked, now: u64) {
        if asked.cost > self.lane.plan().limiter.most_at_once() {
            return self.decided(asked, now, Decision::Deny, Decider::Replica);
        }
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        fleet.lease(asked.replica, asked.keys[1]).waiting.push_back(asked);
        self.serve_lease(asked.replica, asked.keys[1], None, now);
    }

    /// Those who wait take what there is, in order; more is asked for, but those who came before the store
    /// was asked at `exhausted` and gave all it had are refused.
    fn serve_lease(&mut self, replica: u32, key: KeyId, exhausted: Option<u64>, now: u64) {
        loop {
            let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
            let (batch, prefetch) = fleet.batch();
            let lease = fleet.lease(replica, key);
            let Some(asked) = lease.waiting.front().copied() else { return };
            if lease.units >= asked.cost {
                lease.units -= asked.cost;
                lease.waiting.pop_front();
                let ask = prefetch && lease.units == 0 && !lease.asking && asked.cost > 0 && exhausted.is_none();
                lease.asking |= ask;
                self.decided(asked, now, Decision::Allow, Decider::Replica);
                if ask {
                    self.ask_store(asked, Task::Lease(batch), now);
                }
            } else if exhausted.is_some_and(|sent| asked.at <= sent) {
                lease.waiting.pop_front();
                self.decided(asked, now, Decision::Deny, Decider::Store);
            } else {
                if !std::mem::replace(&mut lease.asking, true) {
                    let want = batch.max(asked.cost - lease.units);
                    self.ask_store(asked, Task::Lease(want), now);
                }
                return;
            }
        }
    }

    /// The store gave a replica so many units of those that it wanted.
    pub(super) fn granted(&mut self, replica: u32, key: KeyId, units: u64, want: u64, sent: u64, now: u64) {
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        let lease = fleet.lease(replica, key);
        lease.asking = false;
        lease.units = lease.units.saturating_add(units);
        self.serve_lease(replica, key, (units < want).then_some(sent), now);
    }

    /// The store gave no answer: those who wait are decided without it.
    pub(super) fn not_granted(&mut self, replica: u32, key: KeyId, now: u64) {
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        let lease = fleet.lease(replica, key);
        lease.asking = false;
        for asked in std::mem::take(&mut lease.waiting) {
            let (decision, decider) = self.decide_without(&asked, now);
            self.decided(asked, now, decision, decider);
        }
    }
}
