//! A close look at one span of a deployed lane.

use super::{Counts, Extent};
use crate::time::SimTime;

/// What replicas and store did in a span, and what went wrong.
#[derive(Clone, Debug, Default)]
pub struct FleetDetail {
    /// All that ever run.
    pub replicas: Vec<ReplicaDetail>,
    /// The store, if there is one.
    pub store: Option<StoreDetail>,
    /// What goes wrong or changes in the span, as this lane meets it, in order of time.
    pub faults: Vec<FaultDetail>,
    /// Whose count the lane's level is.
    pub counter: Counter,
}

/// Whose count of units in use a lane's level is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counter {
    /// The store's.
    Store,
    /// That of the replica with the highest.
    FullestReplica,
    /// Nobody counts.
    #[default]
    Nobody,
}

/// What one replica did, by time of arrival.
#[derive(Clone, Debug, Default)]
pub struct ReplicaDetail {
    /// Counts before the span.
    pub before: Counts,
    /// Counts in each column.
    pub counts: Vec<Counts>,
    /// Who decided before the span.
    pub decided_before: Deciders,
    /// Who decided what came in each column.
    pub decided: Vec<Deciders>,
    /// Units of the lane's key in use by its own count, or, with a lease, those left to be spent, in
    /// each column; empty where it has no count, or there are very many replicas.
    pub level: Vec<Extent>,
    /// The most that can be in use; absent where the level is what is left of a lease.
    pub level_limit: Option<u64>,
    /// When, in the span, it runs: from the first instant to before the second.
    pub running: Vec<(SimTime, SimTime)>,
}

impl FleetDetail {
    /// What is wrong at an instant.
    pub fn faults_at(&self, at: SimTime) -> impl Iterator<Item = &FaultDetail> {
        self.faults.iter().filter(move |fault| fault.from <= at && at < fault.until)
    }
}

impl ReplicaDetail {
    /// What it did before the span and in so many columns of it, and who decided.
    #[must_use]
    pub fn until(&self, columns: usize) -> (Counts, Deciders) {
        let (mut counts, mut decided) = (self.before, self.decided_before);
        self.counts.iter().take(columns).for_each(|column| counts += *column);
        self.decided.iter().take(columns).for_each(|column| decided += *column);
        (counts, decided)
    }
}

/// Who decided so many attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deciders {
    /// The store.
    pub store: u64,
    /// The replica by itself, as it always does.
    pub replica: u64,
    /// The replica by itself, because the store did not answer.
    pub without: u64,
}

impl std::ops::AddAssign for Deciders {
    fn add_assign(&mut self, other: Self) {
        self.store += other.store;
        self.replica += other.replica;
        self.without += other.without;
    }
}

/// What the store did.
#[derive(Clone, Debug, Default)]
pub struct StoreDetail {
    /// Operations before the span.
    pub operations_before: u64,
    /// Operations in each column.
    pub operations: Vec<u64>,
}

/// What goes wrong or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultKind {
    /// The store answers nobody.
    StoreDown,
    /// The way to the store takes long.
    StoreSlow,
    /// The store is read behind itself.
    StoreLag,
    /// Some replicas do not reach the store.
    CutOff,
    /// The store's successor takes over.
    Failover,
    /// The store forgets.
    Flush,
    /// A counter loses its expiry.
    LostExpire,
    /// A replica forgets.
    Restart,
    /// Replicas start or stop.
    Replicas,
    /// Keys are routed anew.
    Reroute,
}

impl FaultKind {
    /// Whether it happens at one instant.
    #[must_use]
    pub const fn is_instant(self) -> bool {
        !matches!(self, Self::StoreDown | Self::StoreSlow | Self::StoreLag | Self::CutOff)
    }
}

/// One thing that goes wrong or changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultDetail {
    /// What.
    pub kind: FaultKind,
    /// When it begins, in the span.
    pub from: SimTime,
    /// First instant after it, in the span; the same where it happens at one instant.
    pub until: SimTime,
    /// Replicas that it strikes; none where it strikes the store, or all.
    pub replicas: Vec<u32>,
    /// It in a few words.
    pub text: String,
}
