//! Who is told what becomes of requests.

use super::books::Books;
use super::fleet::Decider;
use crate::limiter::{Decision, KeyId, Part};
use crate::sim::lane::Lane;
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
    /// An attempt of `client` went out; `made` counts those of its request, this one included.
    fn sent(&mut self, at: SimTime, client: KeyId, made: u32);
    /// The backend, or a limiter without one, finished work.
    fn served(&mut self, at: SimTime);
    /// A request of `client` that was first sent at `first` ended.
    fn ended(&mut self, at: SimTime, first: SimTime, client: KeyId, ending: Ending);
    /// A replica knows what was decided on an attempt.
    fn told(&mut self, told: &Told) {
        let _ = told;
    }
    /// An admitted attempt was released.
    fn released(&mut self, released: &Released) {
        let _ = released;
    }
    /// The store executed an operation.
    fn operated(&mut self, at: SimTime) {
        let _ = at;
    }
    /// A replica has this part of the limit from now on, or none.
    fn holds(&mut self, at: SimTime, replica: u32, part: Option<Part>) {
        let _ = (at, replica, part);
    }
    /// Whether it looks into the books.
    fn looks(&self) -> bool {
        false
    }
    /// If it does: time comes to `at`, and until then this was known.
    fn look(&mut self, at: SimTime, books: &Books<'_>) {
        let _ = (at, books);
    }
}

/// What was decided on an attempt at a replica.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// When it came.
    pub came: SimTime,
    /// When it was decided.
    pub at: SimTime,
    /// The replica that it met.
    pub replica: u32,
    /// Its key of the first column.
    pub client: KeyId,
    /// The decision.
    pub decision: Decision,
    /// Who made it.
    pub decider: Decider,
    /// Its key of the lane's column.
    pub key: KeyId,
    /// Units it takes.
    pub cost: u64,
}

/// An attempt that passes a lane.
#[derive(Clone, Copy, Debug)]
pub struct Released {
    /// When.
    pub at: SimTime,
    /// Its key of the lane's column.
    pub key: KeyId,
    /// Its key of the first column.
    pub client: KeyId,
    /// Units it takes.
    pub cost: u64,
    /// Its source of traffic.
    pub source: u16,
    /// The replica that it met.
    pub replica: u32,
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
    fn sent(&mut self, at: SimTime, client: KeyId, made: u32) {
        self.0.sent(at, client, made);
        self.1.sent(at, client, made);
    }
    fn served(&mut self, at: SimTime) {
        self.0.served(at);
        self.1.served(at);
    }
    fn ended(&mut self, at: SimTime, first: SimTime, client: KeyId, ending: Ending) {
        self.0.ended(at, first, client, ending);
        self.1.ended(at, first, client, ending);
    }
    fn told(&mut self, told: &Told) {
        self.0.told(told);
        self.1.told(told);
    }
    fn released(&mut self, released: &Released) {
        self.0.released(released);
        self.1.released(released);
    }
    fn operated(&mut self, at: SimTime) {
        self.0.operated(at);
        self.1.operated(at);
    }
    fn holds(&mut self, at: SimTime, replica: u32, part: Option<Part>) {
        self.0.holds(at, replica, part);
        self.1.holds(at, replica, part);
    }
    fn looks(&self) -> bool {
        self.0.looks() || self.1.looks()
    }
    fn look(&mut self, at: SimTime, books: &Books<'_>) {
        self.0.look(at, books);
        self.1.look(at, books);
    }
}

/// Somebody, perhaps.
impl<T: Witness> Witness for Option<T> {
    fn sent(&mut self, at: SimTime, client: KeyId, made: u32) {
        self.iter_mut().for_each(|witness| witness.sent(at, client, made));
    }
    fn served(&mut self, at: SimTime) {
        self.iter_mut().for_each(|witness| witness.served(at));
    }
    fn ended(&mut self, at: SimTime, first: SimTime, client: KeyId, ending: Ending) {
        self.iter_mut().for_each(|witness| witness.ended(at, first, client, ending));
    }
    fn told(&mut self, told: &Told) {
        self.iter_mut().for_each(|witness| witness.told(told));
    }
    fn released(&mut self, released: &Released) {
        self.iter_mut().for_each(|witness| witness.released(released));
    }
    fn operated(&mut self, at: SimTime) {
        self.iter_mut().for_each(|witness| witness.operated(at));
    }
    fn holds(&mut self, at: SimTime, replica: u32, part: Option<Part>) {
        self.iter_mut().for_each(|witness| witness.holds(at, replica, part));
    }
    fn looks(&self) -> bool {
        self.iter().any(Witness::looks)
    }
    fn look(&mut self, at: SimTime, books: &Books<'_>) {
        self.iter_mut().for_each(|witness| witness.look(at, books));
    }
}

/// Nobody.
impl Witness for () {
    fn sent(&mut self, _at: SimTime, _client: KeyId, _made: u32) {}
    fn served(&mut self, _at: SimTime) {}
    fn ended(&mut self, _at: SimTime, _first: SimTime, _client: KeyId, _ending: Ending) {}
}

/// One attempt and what it was answered.
#[derive(Clone, Copy, Debug)]
pub struct Answered {
    /// Number of the attempt among those of a deployed lane, from 0: it may be decided before one that
    /// came earlier.
    pub row: Option<u64>,
    /// Number of its request among the arrivals, from 1; none for later requests of a closed population.
    pub arrival: Option<u64>,
    /// Which attempt of its request, from 1.
    pub made: u32,
    /// When it came.
    pub at: SimTime,
    /// Its key of the first column and of the lane's.
    pub keys: [KeyId; 2],
    /// Units it takes.
    pub cost: u64,
    /// What was decided.
    pub decision: Decision,
    /// The wait that it was told, in nanoseconds.
    pub told: Option<u64>,
    /// When the answer was known.
    pub known: SimTime,
    /// Of a deployed lane, the replica that it met, and who decided.
    pub way: Option<(u32, Decider)>,
}

/// Writes down every attempt of a lane while the limiter's state is at hand.
pub trait Scribe: Send {
    /// Keys of the first column that are new, in order of their numbers.
    fn meet(&mut self, new_keys: &[Box<[u8]>]);
    /// An attempt was answered, by a limiter or by a rule.
    fn answered(&mut self, answered: &Answered, lane: Option<&Lane>);
}

/// All of them.
impl<T: Witness, const N: usize> Witness for [T; N] {
    fn sent(&mut self, at: SimTime, client: KeyId, made: u32) {
        self.iter_mut().for_each(|witness| witness.sent(at, client, made));
    }
    fn served(&mut self, at: SimTime) {
        self.iter_mut().for_each(|witness| witness.served(at));
    }
    fn ended(&mut self, at: SimTime, first: SimTime, client: KeyId, ending: Ending) {
        self.iter_mut().for_each(|witness| witness.ended(at, first, client, ending));
    }
    fn told(&mut self, told: &Told) {
        self.iter_mut().for_each(|witness| witness.told(told));
    }
    fn released(&mut self, released: &Released) {
        self.iter_mut().for_each(|witness| witness.released(released));
    }
    fn operated(&mut self, at: SimTime) {
        self.iter_mut().for_each(|witness| witness.operated(at));
    }
    fn holds(&mut self, at: SimTime, replica: u32, part: Option<Part>) {
        self.iter_mut().for_each(|witness| witness.holds(at, replica, part));
    }
    fn looks(&self) -> bool {
        self.iter().any(Witness::looks)
    }
    fn look(&mut self, at: SimTime, books: &Books<'_>) {
        self.iter_mut().for_each(|witness| witness.look(at, books));
    }
}
