//! Deployments: one limiter over replicas, with a store or without.
//!
//! A [`DeploymentSpec`] says how a lane's limit is kept by more than one process; a [`FaultSpec`]
//! says what goes wrong in the world of all lanes.

mod allot;
mod bound;
mod divided;
mod fault;
mod router;
mod schedule;

pub use allot::{Demand, allot, proportion, smoothed};
pub use bound::Measured;
pub use fault::{FaultSpec, RandomKind};
pub use router::Router;
pub use schedule::{Change, Schedule};

use super::backend::{HopSpec, MILLION};
use crate::limiter::{Backwards, Initial, LimiterSpec, Refill, TokenBucketSpec};
use crate::quota::Rate;
use crate::time::SimDuration;
use serde::{Deserialize, Serialize};

/// How a lane's limit is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeploymentSpec {
    /// One store decides for all replicas.
    Central(CentralSpec),
    /// Each replica decides for itself.
    Local(LocalSpec),
    /// Each replica decides for itself and hears of the others.
    Hybrid(HybridSpec),
}

/// The replicas, and which of them an attempt meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicasSpec {
    /// Replicas at the start of the run, at least one.
    pub count: u32,
    /// Which of them an attempt meets.
    pub routing: Routing,
    /// How far each replica's clock is ahead; empty: all are right, else one for each.
    pub skew: Vec<SimDuration>,
}

/// Which of the running replicas an attempt meets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// One after the other.
    #[default]
    RoundRobin,
    /// Any, each as likely.
    Random,
    /// Always the same for a key, until keys are routed anew or replicas start or stop.
    Hash,
    /// Any, as likely as these weights say: one for each replica, not all zero.
    Weights(Vec<u64>),
    /// The one with the fewest attempts that are not yet decided and released, the first of them on
    /// a tie.
    Least,
}

/// How much of the limit a replica has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// All of it.
    #[default]
    Full,
    /// An equal part: units and burst rounded down, the rate exact.
    Split,
}

/// How an operation on the store decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Reads, decides and writes as one.
    #[default]
    Script,
    /// Counts the attempt, then tells whether it fitted: what is refused has been counted.
    Incr,
    /// Reads; the caller decides and, if it admits, sends an increment.
    GetIncr,
    /// Reads; the caller decides and, if it admits, sends the new state.
    GetSet,
}

/// Whose clock a central limiter goes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The asking replica's, at the instant of asking.
    #[default]
    Replica,
    /// The store's, at the instant of deciding.
    Store,
}

/// What a replica does when the store does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// Admits.
    Open,
    /// Refuses.
    Closed,
    /// Asks a limiter of its own, which has this share and is fresh when the fault begins.
    Local(Share),
    /// Asks a token bucket of its own with this rate, and a burst of the rate's units.
    SafeRate(Rate),
}

/// The limiter of a replica that goes by a safe rate: a burst of the rate's units.
#[must_use]
pub fn safe_bucket(rate: Rate) -> LimiterSpec {
    LimiterSpec::TokenBucket(TokenBucketSpec {
        rate,
        burst: rate.units,
        initial: Initial::Full,
        refill: Refill::Continuous,
        backwards: Backwards::Clamp,
    })
}

/// When a replica stops asking a store that does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerSpec {
    /// After this many failures in a row.
    pub failures: u32,
    /// One attempt asks again after this time.
    pub probe: SimDuration,
}

/// The store as a resource: one server that executes operations in the order in which they come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreSpec {
    /// Operations that it begins a period at most.
    pub capacity: Option<Rate>,
    /// How long it is busy with one.
    pub service: SimDuration,
    /// Operations that a replica has under way at most; further ones wait there for their turn.
    pub connections: Option<u32>,
}

/// The way to the store, and what becomes of those whom it does not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSpec {
    /// From a replica to the store and back.
    pub round_trip: HopSpec,
    /// After how long a replica stops waiting; without, it hears of a store that is down after a
    /// round trip, and waits for a slow one.
    pub timeout: Option<SimDuration>,
    /// What it does then; stated wherever a fault can reach.
    pub on_failure: Option<OnFailure>,
    /// When it stops asking.
    pub breaker: Option<BreakerSpec>,
    /// The store's limits.
    pub store: StoreSpec,
}

/// One store decides for all replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CentralSpec {
    /// The replicas.
    pub replicas: ReplicasSpec,
    /// The way to the store.
    pub link: LinkSpec,
    /// How it decides.
    pub operation: Operation,
    /// By whose clock.
    pub clock: Clock,
    /// A limiter of each replica's own that an attempt must pass before the store is asked.
    pub prefilter: Option<LimiterSpec>,
}

/// Each replica decides for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalSpec {
    /// The replicas.
    pub replicas: ReplicasSpec,
    /// How much of the limit each has, of the replicas at the start.
    pub share: Share,
}

/// Each replica decides for itself and hears of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HybridSpec {
    /// The replicas.
    pub replicas: ReplicasSpec,
    /// How it hears of them.
    pub scheme: Scheme,
    /// The way to the store, where a scheme asks one on an attempt's behalf.
    pub link: LinkSpec,
}

/// What happens to more than there was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Debt {
    /// It is owed: the shared level may pass the limit.
    #[default]
    Carry,
    /// It is forgotten: the shared level is cut to the limit.
    Clamp,
}

/// What a replica does without an assignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unassigned {
    /// Admits all.
    #[default]
    Allow,
    /// Refuses all.
    Deny,
}

/// What a replica does with an assignment that has expired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expired {
    /// Keeps it.
    #[default]
    Reuse,
    /// Is without one again.
    Drop,
}

/// How replicas hear of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Every so often each replica sends what it admitted and gets what all have.
    Sync {
        /// Between two rounds; the first is this long after the start.
        every: SimDuration,
        /// From the replica to the store.
        push: SimDuration,
        /// From the store to the replica.
        pull: SimDuration,
        /// What happens to more than there was.
        debt: Debt,
    },
    /// Units are fetched in batches, key by key, and spent without asking.
    Lease {
        /// Units that are asked for at a time.
        batch: u64,
        /// Asks for the next batch with the last unit of the one before, not with the first attempt
        /// after it.
        prefetch: bool,
    },
    /// The limit is divided by demand, and each part is lent for a time.
    Quota {
        /// Between two reports of a replica.
        every: SimDuration,
        /// How long a part is lent.
        lease: SimDuration,
    },
    /// Every replica refuses the same part of all attempts: that by which all demand passes the limit.
    Drop {
        /// Between two rounds of gossip.
        every: SimDuration,
        /// Weight of the last interval in the estimate of demand, in parts per million.
        weight: u64,
    },
    /// Every replica has the part of the limit that its demand is of all demand.
    Proportional {
        /// Between two rounds of gossip.
        every: SimDuration,
        /// Weight of the last interval in the estimate of demand, in parts per million.
        weight: u64,
        /// Replicas that each one tells in a round.
        fanout: u32,
    },
    /// A replica reports its demand and is assigned a part.
    Assignment {
        /// Between two reports of a replica.
        report: SimDuration,
        /// How long an assignment holds.
        lease: SimDuration,
        /// What it does before the first.
        unassigned: Unassigned,
        /// What it does after the last.
        expired: Expired,
    },
}

impl Scheme {
    /// Between two rounds, if it has any.
    #[must_use]
    pub const fn every(&self) -> Option<SimDuration> {
        match self {
            Self::Lease { .. } => None,
            Self::Sync { every, .. }
            | Self::Quota { every, .. }
            | Self::Drop { every, .. }
            | Self::Proportional { every, .. }
            | Self::Assignment { report: every, .. } => Some(*every),
        }
    }

    /// Weight of the last interval in an estimate of demand, in parts per million.
    #[must_use]
    pub const fn weight(&self) -> u64 {
        match self {
            Self::Drop { weight, .. } | Self::Proportional { weight, .. } => *weight,
            _ => MILLION,
        }
    }
}

impl DeploymentSpec {
    /// How replicas hear of each other, if they do.
    #[must_use]
    pub const fn scheme(&self) -> Option<&Scheme> {
        match self {
            Self::Hybrid(HybridSpec { scheme, .. }) => Some(scheme),
            Self::Central(_) | Self::Local(_) => None,
        }
    }

    /// Its name in a scenario.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Central(_) => "central",
            Self::Local(_) => "local",
            Self::Hybrid(_) => "hybrid",
        }
    }

    /// The replicas.
    #[must_use]
    pub const fn replicas(&self) -> &ReplicasSpec {
        match self {
            Self::Central(spec) => &spec.replicas,
            Self::Local(spec) => &spec.replicas,
            Self::Hybrid(spec) => &spec.replicas,
        }
    }

    /// Whether replicas share a store.
    #[must_use]
    pub const fn has_store(&self) -> bool {
        // Who gossips tells the others themselves.
        let gossip =
            matches!(self, Self::Hybrid(HybridSpec { scheme: Scheme::Drop { .. } | Scheme::Proportional { .. }, .. }));
        !matches!(self, Self::Local(_)) && !gossip
    }

    /// The way to the store, if attempts wait for one.
    #[must_use]
    pub const fn link(&self) -> Option<&LinkSpec> {
        match self {
            Self::Central(spec) => Some(&spec.link),
            Self::Hybrid(HybridSpec { scheme: Scheme::Lease { .. }, link, .. }) => Some(link),
            Self::Local(_) | Self::Hybrid(_) => None,
        }
    }
}
