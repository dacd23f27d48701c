//! A deployment at work: its replicas, and what they keep.

use super::lease::Leases;
use super::operation::Operation;
use super::pending::Places;
use super::plan::Races;
use super::rounds::Rounds;
use super::server::Server;
use super::shares::Shares;
use crate::limiter::{Decision, KeyId, LimiterSpec, StateSize, Workload};
use crate::sim::deployment::{
    CentralSpec, DeploymentSpec, FaultSpec, HybridSpec, LinkSpec, LocalSpec, OnFailure, Router, Schedule, Scheme,
    Share, safe_bucket,
};
use crate::sim::lane::{Copied, Lane, LanePlan};
use crate::time::SimTime;

/// Who decided an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decider {
    /// The store, or the only limiter.
    #[default]
    Store,
    /// The limiter of the replica itself.
    Replica,
    /// The limiter that a replica has for when the store does not answer.
    Fallback,
    /// A rule, without a limiter, because the store does not answer.
    Rule,
    /// Nobody: its class bypasses the limiter.
    Exempt,
}

impl Decider {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Replica => "replica",
            Self::Fallback => "fallback",
            Self::Rule => "rule",
            Self::Exempt => "exempt",
        }
    }
}

/// A deployment at work.
pub struct Fleet {
    pub spec: DeploymentSpec,
    pub schedule: Schedule,
    pub router: Router,
    pub replicas: Vec<Replica>,
    pub operations: Places<Operation>,
    pub server: Server,
    /// What the store is read from while it is behind, and by how many nanoseconds it is.
    pub lagging: Option<(Lane, u64)>,
    /// Numbers the times that it was: what became visible of another is of no interest.
    pub lag: u32,
    pub visible: Places<(u32, KeyId, SimTime, u64)>,
    /// What takes over at failovers, by their numbers.
    pub copies: Vec<(u32, Copied)>,
    pub expiry: Expiry,
    pub rounds: Rounds,
    pub shares: Shares,
    pub racing: Racing,
}

/// Units of each key that have been read for and not been written.
#[derive(Debug, Default)]
pub struct Racing {
    keys: Vec<u64>,
    /// The most of one key so far.
    most: u64,
    /// Units of each key whose write never arrived.
    lost: Vec<u64>,
}

impl Racing {
    pub fn begin(&mut self, key: KeyId, units: u64) {
        if key.index() >= self.keys.len() {
            self.keys.resize(key.index() + 1, 0);
        }
        self.keys[key.index()] += units;
        self.most = self.most.max(self.keys[key.index()]);
    }

    pub fn end(&mut self, key: KeyId, units: u64) {
        self.keys[key.index()] -= units;
    }

    pub fn lose(&mut self, key: KeyId, units: u64) {
        if key.index() >= self.lost.len() {
            self.lost.resize(key.index() + 1, 0);
        }
        self.lost[key.index()] += units;
    }

    /// The most of one key.
    pub fn races(&self) -> Races {
        Races { in_flight: self.most, unwritten: self.lost.iter().copied().max().unwrap_or(0) }
    }
}

/// Whether a key's counter has lost its expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// None has.
    Kept,
    /// That of the next key that is written will be.
    AboutToBeLost,
    /// That of this key, whose time stands still at this instant.
    Lost(KeyId, SimTime),
}

impl Expiry {
    /// The instant that a counter of a key counts at.
    pub fn time(self, key: KeyId, at: SimTime) -> SimTime {
        match self {
            Self::Lost(lost, stopped) if lost == key => at.min(stopped),
            _ => at,
        }
    }

    /// Whether a key waits for ever.
    pub fn is_lost(self, key: KeyId) -> bool {
        matches!(self, Self::Lost(lost, _) if lost == key)
    }
}

/// One replica.
pub struct Replica {
    /// How many nanoseconds its clock is ahead.
    pub skew: u64,
    /// Its own limiter: the only one, a view of the shared one, or one before the store.
    pub own: Option<Lane>,
    /// The one it asks when the store does not answer, and how many faults had begun when it was fresh.
    pub fallback: Option<(Lane, usize)>,
    /// Failures in a row.
    pub failures: u32,
    /// Since when it does not ask the store any more, and whether one attempt is out to see.
    pub open: Option<(u64, bool)>,
    /// Operations under way.
    pub connections: u32,
    /// Operations that wait for a connection, the oldest first.
    pub queue: std::collections::VecDeque<u32>,
    /// Units that it has fetched.
    pub leases: Leases,
}

impl Fleet {
    /// Before the first arrival.
    pub fn new(plan: &LanePlan, spec: &DeploymentSpec, faults: &[FaultSpec], run: &Run, workload: &Workload) -> Self {
        let replicas = spec.replicas();
        let schedule = Schedule::new(faults, replicas.count, run.seed, run.end);
        let most = schedule.most_replicas();
        let shares = Shares::new(&plan.limiter, spec, most);
        let part = |limiter: LimiterSpec| Lane::part(plan, limiter, workload, false);
        let replica = |number: u32| {
            let own = match spec {
                DeploymentSpec::Central(CentralSpec { prefilter, .. }) => prefilter.clone().map(part),
                DeploymentSpec::Local(LocalSpec { share, .. }) => {
                    Some(part(shared(&plan.limiter, *share, replicas.count)))
                }
                DeploymentSpec::Hybrid(HybridSpec { scheme: Scheme::Sync { .. }, .. }) => {
                    Some(part(plan.limiter.clone()))
                }
                DeploymentSpec::Hybrid(HybridSpec { scheme: Scheme::Lease { .. } | Scheme::Drop { .. }, .. }) => None,
                DeploymentSpec::Hybrid(_) => Some(part(shares.first_limiter(number))),
            };
            let fallback = spec.link().and_then(|link| fallback(&plan.limiter, link, replicas.count)).map(part);
            Replica {
                skew: replicas.skew.get(number as usize).map_or(0, |skew| skew.short_nanos()),
                own,
                fallback: fallback.map(|lane| (lane, 0)),
                failures: 0,
                open: None,
                connections: 0,
                queue: std::collections::VecDeque::new(),
                leases: Leases::default(),
            }
        };
        Self {
            router: Router::new(replicas, most),
            replicas: (0..most).map(replica).collect(),
            operations: Places::new(),
            server: Server::new(spec.link().map(|link| link.store).unwrap_or_default()),
            lagging: None,
            lag: 0,
            visible: Places::new(),
            copies: Vec::new(),
            expiry: Expiry::Kept,
            racing: Racing::default(),
            rounds: Rounds::new(spec, most),
            shares,
            spec: spec.clone(),
            schedule,
        }
    }

    /// Adds the memory that replicas hold.
    pub fn add_size(&self, size: &mut StateSize) {
        for Replica { own, fallback, .. } in &self.replicas {
            let lanes = own.iter().chain(fallback.iter().map(|(lane, _)| lane));
            size.bytes += lanes.map(|lane| lane.size().bytes).sum::<u64>();
            size.keys = size.keys.max(own.as_ref().map_or(0, |lane| lane.size().keys));
        }
    }

    /// The way to the store.
    pub fn link(&self) -> &LinkSpec {
        self.spec.link().expect("only deployments with one ask a store")
    }

    /// The limiter of a replica that decided.
    pub fn decided_by(&self, decider: Decider, replica: u32) -> Option<&Lane> {
        let replica = &self.replicas[replica as usize];
        match decider {
            Decider::Replica => replica.own.as_ref(),
            Decider::Fallback => replica.fallback.as_ref().map(|(lane, _)| lane),
            Decider::Store | Decider::Rule | Decider::Exempt => None,
        }
    }

    /// A replica forgets everything.
    pub fn restart(&mut self, replica: u32) {
        let known = &mut self.replicas[replica as usize];
        known.own.iter_mut().for_each(Lane::forget);
        known.fallback.iter_mut().for_each(|(lane, _)| lane.forget());
        (known.failures, known.open) = (0, None);
        known.leases.forget();
        self.rounds.restart(replica);
        self.restart_share(replica);
    }

    /// What a replica decides without the store, and how.
    pub fn decide_without(
        &mut self,
        source: u16,
        replica: u32,
        key: KeyId,
        now: u64,
        local: SimTime,
        cost: u64,
    ) -> (Decision, Decider) {
        let begun = self.schedule.begun(now);
        match self.link().on_failure {
            Some(OnFailure::Open) => (Decision::Allow, Decider::Rule),
            Some(OnFailure::Closed) | None => (Decision::Deny, Decider::Rule),
            Some(OnFailure::Local(_) | OnFailure::SafeRate(_)) => {
                let fallback = self.replicas[replica as usize].fallback.as_mut();
                let (lane, fresh) = fallback.expect("made for this");
                if *fresh != begun {
                    lane.forget();
                    *fresh = begun;
                }
                (lane.decide(source, key, local, cost), Decider::Fallback)
            }
        }
    }
}

/// What a deployment needs to know of the run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Its seed.
    pub seed: u64,
    /// Its end in nanoseconds from its origin.
    pub end: u64,
}

/// A limiter's share of a limit.
fn shared(limiter: &LimiterSpec, share: Share, replicas: u32) -> LimiterSpec {
    match share {
        Share::Full => limiter.clone(),
        Share::Split => limiter.split(replicas).expect("checked with the plan"),
    }
}

/// The limiter that a replica asks when the store does not answer, if it asks one.
fn fallback(limiter: &LimiterSpec, link: &LinkSpec, replicas: u32) -> Option<LimiterSpec> {
    match link.on_failure {
        Some(OnFailure::Local(share)) => Some(shared(limiter, share, replicas)),
        Some(OnFailure::SafeRate(rate)) => Some(safe_bucket(rate)),
        _ => None,
    }
}
