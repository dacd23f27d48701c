//! The way of an admitted attempt: through the limiter to the backend, and its answer's back.

use super::asked::Asked;
use super::fleet::Decider;
use super::pending::{Answer, Event, Phase};
use super::stream::Sent;
use super::witness::Released;
use super::world::World;
use crate::limiter::Decision;
use crate::limiter::KeyId;
use crate::sim::backend::{Admission, Job, Overflow};
use crate::sim::client::{Dice, Failure};
use crate::sim::queue::Class;
use crate::sim::response::Seen;

/// What of an admitted attempt its release is counted by.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    keys: [KeyId; 2],
    cost: u64,
    source: u16,
    replica: u32,
}

impl World<'_> {
    /// The limiter admits an attempt and releases it, now or later; its client may have stopped waiting.
    pub(super) fn admit(&mut self, asked: &Asked, now: u64, decision: Decision, decider: Decider, waits: bool) {
        let Asked { slot, made, .. } = *asked;
        let wait = match decision {
            Decision::Delay(wait) => wait.short_nanos(),
            _ => 0,
        };
        if self.reads && waits {
            let quota = self.quota(slot, now);
            self.see(slot, Seen { retry_after: None, quota });
        }
        self.write_down(asked, now, decider, decision);
        let mut generation = asked.generation;
        if waits {
            let request = &mut self.requests.items[slot as usize];
            request.phase = Phase::Away;
            request.generation = request.generation.wrapping_add(1);
            generation = request.generation;
        }
        if waits && self.backend.is_some() {
            let request = &self.requests.items[slot as usize];
            // Just after the deadline no answer is waited for, either.
            let last = self.client.last_use().map(|span| request.first_at.saturating_add(span.short_nanos() + 1));
            let patience = self.timeout.map(|timeout| now.saturating_add(timeout)).into_iter().chain(last).min();
            if let Some(patience) = patience {
                self.plan_event(patience, Class::Change, Event::Request { slot, generation });
            }
        }
        let dice = Dice::new(self.plan.seed, asked.number);
        let job = Job { slot, generation, dice, made };
        let Asked { source, replica, keys, cost, .. } = *asked;
        let passing = Passing { keys, cost, source, replica };
        if wait == 0 {
            self.pass(&passing, now);
            self.deliver(job, now);
        } else {
            let place = self.releases.put(job);
            self.waiting += 1;
            if self.released.is_some() {
                let index = place as usize;
                if index >= self.passing.len() {
                    self.passing.resize(index + 1, passing);
                }
                self.passing[index] = passing;
            }
            self.plan_event(now.saturating_add(wait), Class::Change, Event::Release { place });
        }
    }

    /// An admitted attempt passes the lane.
    pub(super) fn pass(&mut self, passing: &Passing, now: u64) {
        let at = self.instant(now);
        let Passing { keys, cost, source, replica } = *passing;
        self.done_with(replica);
        let Some(released) = &mut self.released else { return };
        released.push_counted(Sent { at, cost, source, keys });
        self.witness.released(&Released { at, key: keys[1], client: keys[0], cost, source, replica });
    }

    /// The limiter lets an admitted attempt go.
    pub(super) fn deliver(&mut self, job: Job, now: u64) {
        let Some(backend) = &self.backend else {
            self.witness.served(self.instant(now));
            if self.is_away(job.slot, job.generation) {
                self.answer(job.slot, now, Answer::Success);
            }
            return;
        };
        match backend.hop(&job, 0) {
            None => self.arrive(job, now),
            Some(hop) => {
                let place = self.releases.put(job);
                self.plan_event(now.saturating_add(hop), Class::Change, Event::Reach { place });
            }
        }
    }

    /// An attempt that was on its way is there.
    pub(super) fn reach(&mut self, place: u32, now: u64) {
        let job = self.releases.items[place as usize];
        let backend = self.backend.as_ref().expect("there is a way to it");
        if !backend.is_optimistic() {
            self.releases.free.push(place);
            return self.arrive(job, now);
        }
        // What is read goes back to the client, which writes at once: nobody else sees that.
        let version = backend.version();
        let way = backend.hop(&job, 1).unwrap_or(0).saturating_add(backend.hop(&job, 2).unwrap_or(0));
        self.plan_event(now.saturating_add(way), Class::Change, Event::Write { place, version });
    }

    /// A write of what was read as this version.
    pub(super) fn write(&mut self, place: u32, version: u32, now: u64) {
        self.releases.free.push(place);
        let job = self.releases.items[place as usize];
        self.witness.served(self.instant(now));
        let backend = self.backend.as_mut().expect("there is a way to it");
        let done = backend.write(version);
        self.send_back(&job, now, 3, done);
    }

    fn arrive(&mut self, job: Job, now: u64) {
        let backend = self.backend.as_mut().expect("it was delivered there");
        match backend.arrive(job, now) {
            Admission::Started { done } => self.serve(job, done),
            Admission::Queued => {}
            Admission::Full => {
                if self.overflow == Overflow::Reject {
                    self.send_back(&job, now, 1, false);
                }
            }
        }
    }

    fn serve(&mut self, job: Job, done: u64) {
        let Job { slot, generation, .. } = job;
        self.plan_event(done, Class::Departure, Event::Departure { slot, generation });
    }

    /// A server is done with an attempt.
    pub(super) fn depart(&mut self, slot: u32, generation: u32, now: u64) {
        self.witness.served(self.instant(now));
        let backend = self.backend.as_mut().expect("only a backend's servers depart");
        let next = backend.depart(now);
        if self.is_away(slot, generation) {
            let request = &self.requests.items[slot as usize];
            let (dice, made) = (Dice::new(self.plan.seed, request.number), request.made);
            let done = self.backend.as_ref().is_none_or(|backend| !backend.fails(dice, made));
            self.send_back(&Job { slot, generation, dice, made }, now, 1, done);
        }
        if let Some((next, done)) = next {
            self.serve(next, done);
        }
    }

    /// The backend answers, with message number `leg` of the attempt.
    fn send_back(&mut self, job: &Job, now: u64, leg: u32, done: bool) {
        let Job { slot, generation, .. } = *job;
        if !self.is_away(slot, generation) {
            return;
        }
        // A client that stops waiting meanwhile does not see it.
        if let Some(hop) = self.backend.as_ref().and_then(|backend| backend.hop(job, leg)) {
            let event = if done { Event::Done { slot, generation } } else { Event::Failed { slot, generation } };
            return self.plan_event(now.saturating_add(hop), Class::Change, event);
        }
        self.answered(slot, generation, now, done);
    }

    /// The backend's answer is there, for a client that still waits.
    pub(super) fn answered(&mut self, slot: u32, generation: u32, now: u64, done: bool) {
        if self.is_away(slot, generation) {
            self.answer(slot, now, if done { Answer::Success } else { Answer::Failure(Failure::Rejected) });
        }
    }

    /// An answer leaves for the client.
    pub(super) fn answer(&mut self, slot: u32, now: u64, answer: Answer) {
        let round_trip = self.client.round_trip.short_nanos();
        if round_trip == 0 {
            return self.conclude(slot, now, answer);
        }
        let arrives = now.saturating_add(round_trip);
        let request = &mut self.requests.items[slot as usize];
        request.phase = Phase::Answered(answer);
        request.generation = request.generation.wrapping_add(1);
        let generation = request.generation;
        self.plan_event(arrives, Class::Change, Event::Request { slot, generation });
    }
}
