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
    /// An attempt of `client` went out; `made` counts those of its request, this one included.
    fn sent(&mut self, at: SimTime, client: KeyId, made: u32);
    /// The backend, or a limiter without one, finished work.
    fn served(&mut self, at: SimTime);
    /// A request of `client` that was first sent at `first` ended.
    fn ended(&mut self, at: SimTime, first: SimTime, client: KeyId, ending: Ending);
}

/// Nobody.
impl Witness for () {
    fn sent(&mut self, _at: SimTime, _client: KeyId, _made: u32) {}
    fn served(&mut self, _at: SimTime) {}
    fn ended(&mut self, _at: SimTime, _first: SimTime, _client: KeyId, _ending: Ending) {}
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
}
