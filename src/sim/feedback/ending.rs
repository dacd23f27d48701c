//! What a client makes of an answer, and how requests end.

use super::pending::{Answer, Event, Phase, Request, Thinker};
use super::plan::{LATER, Population};
use super::witness::Ending;
use super::world::World;
use crate::sim::client::{Attempt, Dice};
use crate::sim::queue::Class;

impl World<'_> {
    /// An answer is there, or none will come.
    pub(super) fn conclude(&mut self, slot: u32, now: u64, answer: Answer) {
        let Request { number, made, first_at, keys, mut memory, .. } = self.requests.items[slot as usize];
        let seen = self.seen.get(slot as usize).copied().unwrap_or_default();
        let attempt = Attempt { now, made, dice: Dice::new(self.plan.seed, number) };
        let state = &mut self.clients[keys[0].index()];
        let last_use = self.client.last_use().map(|span| first_at.saturating_add(span.short_nanos()));
        let failure = match answer {
            Answer::Success => {
                self.client.succeeded(state, &attempt, &memory, &seen);
                let late = last_use.is_some_and(|last| now > last);
                return self.end_request(slot, now, if late { Ending::GaveUp } else { Ending::Succeeded });
            }
            Answer::Failure(failure) => failure,
        };
        let last = last_use.unwrap_or(u64::MAX);
        let Some(delay) = self.client.failed(state, &attempt, failure, &seen, &mut memory, last) else {
            self.client.gave_up(state, &memory);
            self.leave_crowd(slot);
            return self.end_request(slot, now, Ending::GaveUp);
        };
        // The send rate of an adaptive client holds retries back, too.
        let again = now.saturating_add(delay);
        let held = self.client.hold(state, again);
        let again = again.saturating_add(held);
        if again > last {
            self.client.gave_up(state, &memory);
            self.leave_crowd(slot);
            return self.end_request(slot, now, Ending::GaveUp);
        }
        self.requests.items[slot as usize].memory = memory;
        self.rest(slot, again);
    }

    pub(super) fn end_request(&mut self, slot: u32, now: u64, ending: Ending) {
        let request = &mut self.requests.items[slot as usize];
        request.phase = Phase::Free;
        let Request { first_at, keys, cost, source, number, .. } = *request;
        self.requests.free.push(slot);
        self.witness.ended(self.instant(now), self.instant(first_at), keys[0], ending);
        if let Some(Population { think, until }) = self.plan.populations.get(usize::from(source)).copied().flatten() {
            let next = now.saturating_add(think.short_nanos());
            if until.is_some_and(|until| next >= until.short_nanos()) {
                return;
            }
            // Requests of a client are numbered apart from those of all others.
            let number = crate::rng::mix(number ^ 0x5851_f42d_4c95_7f2d) | LATER;
            let place = self.thinkers.put(Thinker { keys, cost, source, number });
            self.plan_event(next, Class::Retry, Event::Next { place });
        }
    }
}
