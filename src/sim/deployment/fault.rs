//! What goes wrong: the same world for every lane.

use super::HopSpec;
use crate::time::SimDuration;

/// One thing that goes wrong, or changes; times are from the run's origin, spans are [from, until).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultSpec {
    /// The store answers nobody.
    StoreDown {
        /// From then on.
        from: SimDuration,
        /// Until then.
        until: SimDuration,
    },
    /// The way to the store takes another time.
    StoreSlow {
        /// From then on.
        from: SimDuration,
        /// Until then.
        until: SimDuration,
        /// From a replica to the store and back.
        round_trip: HopSpec,
    },
    /// The store is read from a copy that is behind; writes reach the original.
    StoreLag {
        /// By so much.
        by: SimDuration,
        /// From then on.
        from: SimDuration,
        /// Until then.
        until: SimDuration,
    },
    /// These replicas do not reach the store, nor others through it.
    Partition {
        /// Which.
        replicas: Vec<u32>,
        /// From then on.
        from: SimDuration,
        /// Until then.
        until: SimDuration,
    },
    /// The store's successor takes over without the last writes.
    Failover {
        /// When.
        at: SimDuration,
        /// Writes of this long are lost.
        loses: SimDuration,
    },
    /// The store forgets everything.
    Flush {
        /// When.
        at: SimDuration,
    },
    /// A process dies between counting and setting the expiry: the next key whose window opens never
    /// resets.
    LostExpire {
        /// From when on.
        at: SimDuration,
    },
    /// A replica starts, with nothing known.
    Start {
        /// Which.
        replica: u32,
        /// When.
        at: SimDuration,
    },
    /// A replica stops.
    Stop {
        /// Which.
        replica: u32,
        /// When.
        at: SimDuration,
    },
    /// A replica forgets everything.
    Restart {
        /// Which.
        replica: u32,
        /// When.
        at: SimDuration,
    },
    /// The first so many replicas run, and no others.
    Scale {
        /// When.
        at: SimDuration,
        /// How many.
        replicas: u32,
    },
    /// Sticky keys are routed anew.
    Reroute {
        /// When.
        at: SimDuration,
    },
    /// Spans of a kind, with exponentially distributed lengths and distances.
    Random {
        /// From the end of one to the beginning of the next, on average.
        mean_between: SimDuration,
        /// Length, on average.
        mean_length: SimDuration,
        /// What they are.
        kind: RandomKind,
    },
}

impl FaultSpec {
    /// From when until when it lasts, or the instant at which it happens twice; nothing for what happens at
    /// random.
    #[must_use]
    pub const fn span(&self) -> Option<(SimDuration, SimDuration)> {
        match self {
            Self::StoreDown { from, until }
            | Self::StoreSlow { from, until, .. }
            | Self::StoreLag { from, until, .. }
            | Self::Partition { from, until, .. } => Some((*from, *until)),
            Self::Failover { at, .. }
            | Self::Flush { at }
            | Self::LostExpire { at }
            | Self::Start { at, .. }
            | Self::Stop { at, .. }
            | Self::Restart { at, .. }
            | Self::Scale { at, .. }
            | Self::Reroute { at } => Some((*at, *at)),
            Self::Random { .. } => None,
        }
    }
}

/// What happens at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomKind {
    /// The store answers nobody.
    StoreDown,
    /// The way to the store takes another time.
    StoreSlow {
        /// From a replica to the store and back.
        round_trip: HopSpec,
    },
    /// One replica, any, does not reach the store.
    Partition,
    /// One replica, any, forgets everything, at the beginning of the span.
    Restart,
}
