//! What a world needs to know, and what is left of it.

use crate::limiter::{Decision, StateSize, Workload};
use crate::sim::deployment::FaultSpec;
use crate::sim::lane::Lane;
use crate::time::{SimDuration, SimTime};

/// What a world needs to know of the run.
#[derive(Clone, Debug)]
pub struct WorldPlan {
    /// Seed of all draws.
    pub seed: u64,
    /// No instant lies before it.
    pub origin: SimTime,
    /// From here on nothing is sent.
    pub end: Option<SimTime>,
    /// Events after which the world is stopped.
    pub max_events: u64,
    /// For each source of traffic, how its clients go on, if it is a closed population.
    pub populations: Vec<Option<Population>>,
    /// What goes wrong.
    pub faults: Vec<FaultSpec>,
    /// What is known of the attempts.
    pub workload: Workload,
}

/// So many nanoseconds after an origin.
pub(super) const fn instant(origin: SimTime, nanos: u64) -> SimTime {
    SimTime::from_nanos(origin.nanos().saturating_add_unsigned(nanos))
}

/// What is left of a world.
pub struct Remains {
    /// The lane; of a deployment, the store's.
    pub lane: Lane,
    /// Whether it was stopped after its most events.
    pub stopped: bool,
    /// Attempts that were sent, but are not shown to observers because the run was stopped.
    pub left_out: u64,
    /// Memory held, by replicas, too.
    pub size: StateSize,
    /// What its store did not know of.
    pub races: Races,
}

/// Operations that read a store, decide elsewhere and write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Races {
    /// The most units of one key that had been read for and not been written.
    pub in_flight: u64,
    /// The most units of one key that were admitted and whose write never arrived.
    pub unwritten: u64,
}

/// What became of an attempt at once.
pub(super) enum Outcome {
    Decided(Decision),
    /// A deployment decides.
    Asked,
    /// It did not leave the client.
    Unsent,
}

/// How the clients of a closed population go on.
#[derive(Clone, Copy, Debug)]
pub struct Population {
    /// How long they think before their next request.
    pub think: SimDuration,
    /// From this much time after the origin on they make no more.
    pub until: Option<SimDuration>,
}

/// Set in the numbers of later requests of a closed population.
pub(super) const LATER: u64 = 1 << 63;
