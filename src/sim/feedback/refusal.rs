//! What a refused client is told, and the crowd of those that are refused now.

use super::pending::{Answer, Request};
use super::witness::Answered;
use super::world::{LATER, World};
use crate::limiter::Decision;
use crate::sim::client::{Dice, Draw, Failure};
use crate::sim::queue::Due;
use crate::sim::response::{QuotaHeaders, RetryAfter, Seen, Spread};

impl World<'_> {
    /// Answers an attempt that was refused at `now`.
    pub(super) fn refuse(&mut self, slot: u32, now: u64) {
        if self.reads {
            let quota = self.quota(slot, now);
            let retry_after = self.wait(slot, now);
            self.see(slot, Seen { retry_after, quota });
        }
        self.write_down(slot, now, Decision::Deny);
        let status = self.response.status;
        self.answer(slot, now, Answer::Failure(Failure::Denied { status }));
    }

    pub(super) fn write_down(&mut self, slot: u32, now: u64, decision: Decision) {
        let at = self.instant(now);
        let Some(scribe) = &mut self.scribe else { return };
        let Request { number, made, keys, cost, .. } = self.requests.items[slot as usize];
        let arrival = (number & LATER == 0).then_some(number + 1);
        let told = self.seen.get(slot as usize).and_then(|seen| seen.retry_after);
        scribe.answered(&Answered { arrival, made, at, keys, cost, decision, told }, &self.lane);
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
        self.response.quota(&self.lane.level(key, self.instant(now)))
    }

    /// The wait that a client is told.
    pub(super) fn wait(&mut self, slot: u32, now: u64) -> Option<u64> {
        let Request { keys: [_, key], cost, number, made, .. } = self.requests.items[slot as usize];
        if self.response.retry_after == RetryAfter::None {
            return None;
        }
        let (at, dice) = (self.instant(now), Dice::new(self.plan.seed, number));
        let mut wait = self.lane.retry_after(key, at, cost)?.short_nanos();
        if self.response.headers == QuotaHeaders::Ietf {
            // The wait is not to be shorter than the time until there is more.
            wait = wait.max(self.lane.level(key, at).next.short_nanos());
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
