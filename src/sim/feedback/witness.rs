//! Who is told what becomes of requests.

use crate::limiter::KeyId;
use crate::time::SimTime;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With an answer in time.
    Succeeded,
    /// Its client stopped trying.
    GaveUp,
    /// The run ended first.
    Unfinished,
}

/// Is told of everything that happens to requests, in order of time.
pub trait Witness: Send {
    /// An attempt went out; `made` counts those of its request, this one included.
    fn sent(&mut self, at: SimTime, made: u32);
    /// The backend, or a limiter without one, finished work.
    fn served(&mut self, at: SimTime);
    /// A request of `client` that was first sent at `first` ended.
    fn ended(&mut self, at: SimTime, first: SimTime, client: KeyId, ending: Ending);
}

/// What is told, as something that can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Attempts that went out.
    Attempts,
    /// Work that was finished.
    Throughput,
    /// Requests that were answered in time.
    Goodput,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Attempts, Self::Throughput, Self::Goodput];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Attempts => "attempts",
            Self::Throughput => "throughput",
            Self::Goodput => "goodput",
        }
    }
}

/// Both.
impl<A: Witness, B: Witness> Witness for (A, B) {
    fn sent(&mut self, at: SimTime, made: u32) {
        self.0.sent(at, made);
        self.1.sent(at, made);
    }
    fn served(&mut self, at: SimTime) {
        self.0.served(at);
        self.1.served(at);
    }
    fn ended(&mut self, at: SimTime, first: SimTime, client: KeyId, ending: Ending) {
        self.0.ended(at, first, client, ending);
        self.1.ended(at, first, client, ending);
    }
}

/// Nobody.
impl Witness for () {
    fn sent(&mut self, _at: SimTime, _made: u32) {}
    fn served(&mut self, _at: SimTime) {}
    fn ended(&mut self, _at: SimTime, _first: SimTime, _client: KeyId, _ending: Ending) {}
}
