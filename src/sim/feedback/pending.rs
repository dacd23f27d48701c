//! What is pending in a world, and its places.

use super::fleet::Decider;
use crate::limiter::KeyId;
use crate::sim::client::{Failure, Memory};

/// Where a pending request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its place is free.
    Free,
    /// The next attempt goes out at its event.
    Resting,
    /// Refused, and not yet answered.
    Refused,
    /// With the limiter or the backend; its event is the client's patience.
    Away,
    /// An answer is on its way and arrives at its event.
    Answered(Answer),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Success,
    Failure(Failure),
}

/// The row of an attempt that is decided when it comes.
pub(super) const UNNUMBERED: u64 = u64::MAX;

/// A request that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) number: u64,
    pub(super) first_at: u64,
    pub(super) cost: u64,
    pub(super) keys: [KeyId; 2],
    pub(super) made: u32,
    pub(super) generation: u32,
    pub(super) source: u16,
    pub(super) phase: Phase,
    pub(super) memory: Memory,
}

/// What is known of a deployed request's last attempt, apart: most requests meet no deployment, and an event
/// is to touch little memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Met {
    /// When it came.
    pub(super) came: u64,
    /// Its row.
    pub(super) row: u64,
    /// Who decided it, and at which replica.
    pub(super) decided: (Decider, u32),
}

// The queue moves events about: they are to stay small.
const _: () = assert!(size_of::<Event>() <= 12);

/// What is due.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// Something for the request at a place, if it is still the same.
    Request { slot: u32, generation: u32 },
    /// A server is done with a request.
    Departure { slot: u32, generation: u32 },
    /// The limiter lets a delayed attempt go.
    Release { place: u32 },
    /// An admitted attempt reaches the backend.
    Reach { place: u32 },
    /// Its write does, of what it read as this version.
    Write { place: u32, version: u32 },
    /// The backend's answer reaches the client.
    Done { slot: u32, generation: u32 },
    /// That it failed does.
    Failed { slot: u32, generation: u32 },
    /// A client of a closed population makes its next request.
    Next { place: u32 },
    /// Something of a deployment.
    Fleet(FleetEvent),
}

/// What is due in a deployment.
#[derive(Clone, Copy, Debug)]
pub(super) enum FleetEvent {
    /// The world changes.
    Change { number: u32 },
    /// An operation reaches the store.
    AtStore { place: u32 },
    /// The store executes it.
    Execute { place: u32 },
    /// Its replica hears what came of it.
    Heard { place: u32 },
    /// Its replica waits no longer.
    Patience { place: u32 },
    /// The write of what was decided elsewhere reaches the store.
    Land { place: u32 },
    /// A write becomes visible where the store is read.
    Visible { place: u32 },
    /// Replicas tell the store what they admitted.
    Round,
    /// It hears of one.
    Pushed { place: u32 },
    /// It answers.
    Answer { place: u32 },
    /// A replica hears of the others.
    Pulled { place: u32 },
    /// What a replica was given of the limit ends.
    Lapse { replica: u32, given: u32 },
}

impl FleetEvent {
    /// Whether it happens whether or not anybody is left who notices.
    pub(super) const fn is_background(self) -> bool {
        matches!(
            self,
            Self::Change { .. }
                | Self::Visible { .. }
                | Self::Round
                | Self::Pushed { .. }
                | Self::Answer { .. }
                | Self::Pulled { .. }
                | Self::Lapse { .. }
        )
    }
}

impl From<FleetEvent> for Event {
    fn from(event: FleetEvent) -> Self {
        Self::Fleet(event)
    }
}

impl Event {
    /// Whether it is one of a deployment that happens whether or not anybody is left who notices.
    pub(super) const fn is_background(&self) -> bool {
        matches!(self, Self::Fleet(event) if event.is_background())
    }
}

/// A client of a closed population between two requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thinker {
    pub(super) keys: [KeyId; 2],
    pub(super) cost: u64,
    pub(super) source: u16,
    pub(super) number: u64,
}

/// Things with places that are used again.
#[derive(Debug)]
pub(super) struct Places<T> {
    pub(super) items: Vec<T>,
    pub(super) free: Vec<u32>,
}

impl<T> Places<T> {
    pub(super) const fn new() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }

    pub(super) fn put(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.items[place as usize] = item;
                place
            }
            None => {
                self.items.push(item);
                u32::try_from(self.items.len() - 1).expect("fewer than 2^32 pending")
            }
        }
    }
}
