//! What a refused client is told, and the crowd of those that are refused now.

use super::asked::Asked;
use super::fleet::Decider;
use super::pending::{Answer, Event, Met, Phase, Request, UNNUMBERED};
use super::plan::LATER;
use super::witness::Answered;
use super::world::World;
use crate::limiter::Decision;
use crate::sim::client::{Dice, Draw, Failure};
use crate::sim::lane::Lane;
use crate::sim::queue::{Class, Due};
use crate::sim::response::{QuotaHeaders, RetryAfter, Seen, Spread};

impl World<'_> {
    /// An attempt is refused; its client is told now or at the end of the instant.
    pub(super) fn deny(&mut self, slot: u32, now: u64) {
        self.join_crowd(slot);
        if self.reads && matches!(self.response.spread, Spread::Crowd(_)) {
            // How many are refused at this instant is known at its end.
            let request = &mut self.requests.items[slot as usize];
            request.phase = Phase::Refused;
            let generation = request.generation;
            self.plan_event(now, Class::Retry, Event::Request { slot, generation });
        } else {
            self.refuse(slot, now);
        }
    }

    /// Answers an attempt that was refused at `now`.
    pub(super) fn refuse(&mut self, slot: u32, now: u64) {
        if self.reads {
            let quota = self.quota(slot, now);
            let retry_after = self.wait(slot, now);
            self.see(slot, Seen { retry_after, quota });
        }
        if self.scribe.is_some() {
            let (decider, _) = self.met(slot, now).decided;
            self.write_down(&self.attempt_of(slot, now), now, decider, Decision::Deny);
        }
        let status = self.response.status;
        self.answer(slot, now, Answer::Failure(Failure::Denied { status }));
    }

    /// What is known of a request's last attempt, which without a deployment is decided when it comes.
    fn met(&self, slot: u32, now: u64) -> Met {
        let undeployed = Met { came: now, row: UNNUMBERED, ..Met::default() };
        self.met.get(slot as usize).copied().unwrap_or(undeployed)
    }

    /// The attempt that a request waits for.
    pub(super) fn attempt_of(&self, slot: u32, now: u64) -> Asked {
        let Request { number, made, generation, keys, cost, source, .. } = self.requests.items[slot as usize];
        let Met { came, row, decided } = self.met(slot, now);
        Asked { slot, generation, replica: decided.1, made, source, row, number, at: came, keys, cost }
    }

    /// Writes down what an attempt was answered.
    pub(super) fn write_down(&mut self, asked: &Asked, now: u64, decider: Decider, decision: Decision) {
        let Some(mut scribe) = self.scribe.take() else { return };
        let Asked { slot, row, number, made, keys, cost, .. } = *asked;
        let answered = Answered {
            row: (row != UNNUMBERED).then_some(row),
            arrival: (number & LATER == 0).then_some(number + 1),
            made,
            at: self.instant(asked.at),
            keys,
            cost,
            decision,
            told: self.seen.get(slot as usize).and_then(|seen| seen.retry_after),
            known: self.instant(now),
            way: self.fleet.is_some().then_some((asked.replica, decider)),
        };
        scribe.answered(&answered, self.decided_by(decider, asked.replica));
        self.scribe = Some(scribe);
    }

    /// The limiter that decided, if one did.
    fn decided_by(&self, decider: Decider, replica: u32) -> Option<&Lane> {
        match (decider, &self.fleet) {
            (Decider::Store, _) | (_, None) => Some(&self.lane),
            (_, Some(fleet)) => fleet.decided_by(decider, replica),
        }
    }

    /// A client sees an answer.
    pub(super) fn see(&mut self, slot: u32, seen: Seen) {
        let slot = slot as usize;
        if slot >= self.seen.len() {
            self.seen.resize(slot + 1, Seen::default());
        }
        self.seen[slot] = seen;
    }

    /// What a client sees of its quota.
    pub(super) fn quota(&self, slot: u32, now: u64) -> Option<(u64, u64)> {
        let key = self.requests.items[slot as usize].keys[1];
        let (decider, replica) = self.met(slot, now).decided;
        let lane = self.decided_by(decider, replica)?;
        self.response.quota(&lane.level(key, self.instant(now)))
    }

    /// The wait that a client is told.
    pub(super) fn wait(&mut self, slot: u32, now: u64) -> Option<u64> {
        let Request { keys: [_, key], cost, number, made, .. } = self.requests.items[slot as usize];
        let (decider, replica) = self.met(slot, now).decided;
        if self.response.retry_after == RetryAfter::None {
            return None;
        }
        let (at, dice) = (self.instant(now), Dice::new(self.plan.seed, number));
        if self.fleet.as_ref().is_some_and(|fleet| fleet.expiry.is_lost(key)) && decider == Decider::Store {
            return None;
        }
        let lane = self.decided_by(decider, replica)?;
        let mut wait = lane.retry_after(key, at, cost)?.short_nanos();
        if self.response.headers == QuotaHeaders::Ietf {
            // The wait is not to be shorter than the time until there is more.
            wait = wait.max(lane.level(key, at).next.short_nanos());
        }
        if self.response.retry_after == RetryAfter::Reserved
            && let Some(interval) = self.interval
        {
            if key.index() >= self.promised.len() {
                self.promised.resize(key.index() + 1, 0);
            }
            let promised = &mut self.promised[key.index()];
            let next = promised.saturating_add(interval.nanos(cost));
            *promised = next.max(now.saturating_add(wait)).min(Due::MAX);
            wait = *promised - now;
        }
        let most = match self.response.spread {
            Spread::Fixed(span) => span.short_nanos(),
            Spread::Crowd(thousandths) => self.interval.map_or(0, |interval| {
                let nanos = u128::from(interval.nanos(self.crowd.get(key.index()).copied().unwrap_or(0)))
                    * u128::from(thousandths)
                    / 1000;
                u64::try_from(nanos).unwrap_or(Due::MAX)
            }),
        };
        self.response.told(at, wait.saturating_add(dice.up_to(Draw::Spread, made, most)))
    }

    /// A request was refused, and with it its units wait.
    pub(super) fn join_crowd(&mut self, slot: u32) {
        if !matches!(self.response.spread, Spread::Crowd(_)) {
            return;
        }
        let request = &mut self.requests.items[slot as usize];
        request.memory.refused = true;
        let key = request.keys[1].index();
        if key >= self.crowd.len() {
            self.crowd.resize(key + 1, 0);
        }
        self.crowd[key] = self.crowd[key].saturating_add(request.cost);
    }

    /// It is sent again, or never.
    pub(super) fn leave_crowd(&mut self, slot: u32) {
        let request = &mut self.requests.items[slot as usize];
        if std::mem::take(&mut request.memory.refused) {
            let crowd = &mut self.crowd[request.keys[1].index()];
            *crowd = crowd.saturating_sub(request.cost);
        }
    }
}
