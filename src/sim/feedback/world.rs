//! One lane's world: its limiter, its clients, its backend, and what is yet to happen.

use super::firsts::Firsts;
use super::fleet::{Decider, Fleet};
use super::pending::{Answer, Event, Met, Phase, Places, Request, Thinker};
use super::plan::{Outcome, Races, Remains, WorldPlan, instant};
use super::stream::{Sent, Stream};
use super::way::Passing;
use super::witness::{Ending, Scribe, Told, Witness};
use crate::error::Error;
use crate::limiter::{Decision, Interval, Verdicts};
use crate::sim::backend::Overflow;
use crate::sim::backend::{Backend, Job};
use crate::sim::client::{Attempt, ClientSpec, ClientState, Dice, Failure, Memory};
use crate::sim::lane::Lane;
use crate::sim::queue::{Class, Due, EventQueue};
use crate::sim::response::{ResponseSpec, Seen};
use crate::sim::step::Step;
use crate::time::{SimDuration, SimTime};

/// One lane and all that answers to it.
pub struct World<'a> {
    pub(super) plan: WorldPlan,
    pub(super) lane: Lane,
    pub(super) response: ResponseSpec,
    pub(super) client: ClientSpec,
    pub(super) backend: Option<Backend>,
    pub(super) overflow: Overflow,
    pub(super) timeout: Option<u64>,
    pub(super) interval: Option<Interval>,
    pub(super) reads: bool,
    queue: EventQueue<Event>,
    pub(super) requests: Places<Request>,
    /// What the client of each request saw last, if clients look at all.
    pub(super) seen: Vec<Seen>,
    pub(super) releases: Places<Job>,
    pub(super) thinkers: Places<Thinker>,
    pub(super) clients: Vec<ClientState>,
    fresh: ClientState,
    /// For each key, the instant that the last refusal was promised, in nanoseconds since the origin.
    pub(super) promised: Vec<u64>,
    /// Requests that failed and will be sent again, or have just been refused.
    /// For each key of the lane, units of those that are refused now and will be sent again.
    pub(super) crowd: Vec<u64>,
    pub(super) end: u64,
    events: u64,
    stopped: bool,
    finished: bool,
    /// Admitted and not yet released.
    pub(super) waiting: u64,
    pub(super) stream: Stream<'a>,
    pub(super) fleet: Option<Box<Fleet>>,
    pub(super) firsts: Firsts,
    /// What is released, in its order, and what of it waits.
    pub(super) released: Option<Stream<'a>>,
    pub(super) passing: Vec<Passing>,
    /// For each request of a deployment, its last attempt.
    pub(super) met: Vec<Met>,
    /// Events to come that happen whether or not anybody notices.
    pub(super) background: u64,
    left_out: u64,
    pub(super) witness: &'a mut dyn Witness,
    pub(super) scribe: Option<Box<dyn Scribe + 'a>>,
    /// Whether the witness looks into the books.
    pub(super) watched: bool,
}

impl<'a> World<'a> {
    /// A world before its first arrival.
    #[must_use]
    pub fn new(plan: WorldPlan, mut lane: Lane, stream: Stream<'a>, witness: &'a mut dyn Witness) -> Self {
        let lane_plan = lane.plan().clone();
        let client = lane_plan.client.clone().unwrap_or(ClientSpec::NEVER);
        let (response, spec) = (lane_plan.response, lane_plan.backend.clone());
        let interval = lane_plan.limiter.interval();
        if client.holds_back() {
            lane.number_keys();
        }
        let end = plan.end.map_or(Due::MAX, |end| (end.since(plan.origin).short_nanos()).min(Due::MAX));
        let deployment = lane_plan.deployment.clone();
        let mut world = Self {
            lane,
            response,
            reads: client.reads() && response.tells(),
            fresh: client.client(),
            client,
            overflow: spec.as_ref().map_or(Overflow::Reject, |spec| spec.overflow),
            timeout: spec.as_ref().and_then(|spec| spec.timeout).map(SimDuration::short_nanos),
            interval,
            backend: spec.map(Backend::new),
            queue: EventQueue::default(),
            requests: Places::new(),
            seen: Vec::new(),
            releases: Places::new(),
            thinkers: Places::new(),
            clients: Vec::new(),
            promised: Vec::new(),
            crowd: Vec::new(),
            end,
            events: 0,
            stopped: false,
            finished: false,
            waiting: 0,
            stream,
            fleet: None,
            firsts: Firsts::default(),
            released: None,
            passing: Vec::new(),
            met: Vec::new(),
            background: 0,
            left_out: 0,
            watched: witness.looks(),
            witness,
            scribe: None,
            plan,
        };
        if let Some(deployment) = deployment {
            world.deploy(&deployment);
        }
        world
    }

    /// The world with somebody who writes down every attempt.
    #[must_use]
    pub fn with_scribe(mut self, scribe: Box<dyn Scribe + 'a>) -> Self {
        self.reads = self.response.tells();
        self.scribe = Some(scribe);
        self
    }

    /// Whether it has been.
    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// The world with a stream of what is released, in order of release.
    #[must_use]
    pub fn with_released(mut self, released: Stream<'a>) -> Self {
        self.released = Some(released);
        self
    }

    /// What is left of it.
    #[must_use]
    pub fn into_remains(self) -> Remains {
        let mut size = self.lane.size();
        let mut races = Races::default();
        if let Some(fleet) = &self.fleet {
            fleet.add_size(&mut size);
            races = fleet.racing.races();
        }
        Remains { lane: self.lane, stopped: self.stopped, left_out: self.left_out, size, races }
    }

    /// Decisions on arrivals that can be taken, in their order.
    #[must_use]
    pub const fn arrivals_decided(&self) -> usize {
        self.firsts.decided()
    }

    /// Takes the first so many of them.
    pub fn take_decided(&mut self, count: usize, verdicts: &mut Verdicts) {
        self.firsts.take(count, verdicts);
    }

    /// Events so far: attempts, answers, releases, departures, each once.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }

    pub(super) fn instant(&self, at: u64) -> SimTime {
        instant(self.plan.origin, at)
    }

    /// Takes a batch of first attempts, and everything that is due before the last of them.
    ///
    /// # Errors
    /// If all attempts together cost more than is counted exactly.
    pub fn advance(&mut self, step: &Step) -> Result<(), Error> {
        self.stream.meet(step);
        self.released.iter_mut().for_each(|released| released.meet(step));
        if let Some(scribe) = &mut self.scribe {
            scribe.meet(&step.new_keys);
        }
        let batch = &step.batch;
        let column = self.lane.plan().column;
        for row in 0..batch.len() {
            let at = batch.at[row].since(self.plan.origin).short_nanos();
            if at >= Due::MAX {
                return Err(Error::Range {
                    message: format!(
                        "arrival number {} comes {} after the first: a closed loop lasts at most 146 years",
                        batch.first + row as u64 + 1,
                        SimDuration::from_nanos(at)
                    ),
                });
            }
            self.run_until(Due::new(at, Class::Retry))?;
            let thinker = Thinker {
                keys: [batch.keys[0][row], batch.keys[column][row]],
                cost: batch.cost[row],
                source: batch.source[row],
                number: batch.first + row as u64,
            };
            self.show_books(at);
            self.firsts.open();
            let outcome = if self.stopped { Outcome::Unsent } else { self.request(thinker, at)? };
            match outcome {
                Outcome::Decided(decision) => self.firsts.settle(thinker.number, decision),
                // What is held back is not admitted now.
                Outcome::Unsent => self.firsts.settle(thinker.number, Decision::Deny),
                Outcome::Asked => {}
            }
        }
        Ok(())
    }

    /// Lets what is still to come happen, at most so many events of it; whether that was all.
    ///
    /// # Errors
    /// As [`advance`](Self::advance).
    pub fn go_on(&mut self, events: u64) -> Result<bool, Error> {
        if self.finished {
            return Ok(true);
        }
        let until = self.events.saturating_add(events);
        while self.events < until
            && !self.stopped
            && let Some((due, event)) = self.next(Due::new(Due::MAX, Class::Retry))
        {
            if event.is_background() && self.queue.len() as u64 + 1 == self.background {
                // Nobody is left who notices it, nor any other.
                self.finish();
                return Ok(true);
            }
            self.count(due, event)?;
        }
        if self.stopped || self.queue.is_empty() {
            self.finish();
        }
        Ok(self.finished)
    }

    /// Ends all requests that have not ended.
    fn finish(&mut self) {
        self.finished = true;
        self.show_books(Due::MAX);
        let last = self.instant(self.queue.next().map_or(0, Due::at));
        for i in 0..self.requests.items.len() {
            let Request { phase, first_at, keys, .. } = self.requests.items[i];
            if phase != Phase::Free {
                self.witness.ended(last, self.instant(first_at), keys[0], Ending::Unfinished);
            }
        }
        self.left_out = self.stream.finish();
        self.released.iter_mut().for_each(|released| _ = released.finish());
        self.firsts.close();
        assert!(self.stopped || self.waiting == 0, "what is admitted is released");
    }

    fn run_until(&mut self, before: Due) -> Result<(), Error> {
        while !self.stopped
            && let Some((due, event)) = self.next(before)
        {
            self.count(due, event)?;
        }
        Ok(())
    }

    /// The earliest event, if it is due before `before`.
    #[inline]
    fn next(&mut self, before: Due) -> Option<(Due, Event)> {
        let requests = &self.requests.items;
        // Requests lie about in memory: a read that nothing waits for brings them near.
        self.queue.pop_looking_ahead(before, |event| {
            if let Event::Request { slot, .. } = event {
                std::hint::black_box(requests[*slot as usize].generation);
            }
        })
    }

    fn count(&mut self, due: Due, event: Event) -> Result<(), Error> {
        self.events += 1;
        self.stopped |= self.events >= self.plan.max_events;
        self.show_books(due.at());
        self.happen(due.at(), event)
    }

    fn happen(&mut self, now: u64, event: Event) -> Result<(), Error> {
        match event {
            Event::Request { slot, generation } => {
                let request = &self.requests.items[slot as usize];
                if request.generation != generation {
                    return Ok(());
                }
                match request.phase {
                    Phase::Free => {}
                    Phase::Resting => {
                        self.attempt(slot, now)?;
                    }
                    Phase::Refused => self.refuse(slot, now),
                    Phase::Away => self.conclude(slot, now, Answer::Failure(Failure::TimedOut)),
                    Phase::Answered(answer) => self.conclude(slot, now, answer),
                }
            }
            Event::Departure { slot, generation } => {
                self.depart(slot, generation, now);
            }
            Event::Release { place } => {
                self.releases.free.push(place);
                self.waiting -= 1;
                if let Some(passing) = self.passing.get(place as usize).copied() {
                    self.pass(&passing, now);
                }
                self.deliver(self.releases.items[place as usize], now);
            }
            Event::Reach { place } => self.reach(place, now),
            Event::Write { place, version } => self.write(place, version, now),
            Event::Done { slot, generation } => self.answered(slot, generation, now, true),
            Event::Failed { slot, generation } => self.answered(slot, generation, now, false),
            Event::Next { place } => {
                self.thinkers.free.push(place);
                let thinker = self.thinkers.items[place as usize];
                if now < self.end {
                    self.request(thinker, now)?;
                }
            }
            Event::Fleet(event) => self.happen_in_fleet(now, event),
        }
        Ok(())
    }

    pub(super) fn is_away(&self, slot: u32, generation: u32) -> bool {
        let request = &self.requests.items[slot as usize];
        request.generation == generation && request.phase == Phase::Away
    }

    #[inline(always)]
    pub(super) fn plan_event(&mut self, at: u64, class: Class, event: Event) {
        // What lies beyond the clock never happens.
        if at < Due::MAX {
            self.background += u64::from(event.is_background());
            self.queue.push(Due::new(at, class), event);
        }
    }

    /// A new request, and its first attempt, if that is sent at once.
    fn request(&mut self, thinker: Thinker, now: u64) -> Result<Outcome, Error> {
        let Thinker { keys, cost, source, number } = thinker;
        let client = keys[0].index();
        if client >= self.clients.len() {
            self.clients.resize(client + 1, self.fresh.clone());
        }
        let request = Request {
            number,
            first_at: now,
            cost,
            keys,
            made: 0,
            generation: 0,
            source,
            phase: Phase::Resting,
            memory: Memory::default(),
        };
        let generation = self.requests.free.last().map_or(0, |slot| self.requests.items[*slot as usize].generation);
        let slot = self.requests.put(Request { generation: generation.wrapping_add(1), ..request });
        let held = self.client.hold(&mut self.clients[client], now);
        if held > 0 {
            self.rest(slot, now.saturating_add(held));
            return Ok(Outcome::Unsent);
        }
        self.events += 1;
        self.stopped |= self.events >= self.plan.max_events;
        self.attempt(slot, now)
    }

    /// A request's next attempt is at `at`.
    #[inline]
    pub(super) fn rest(&mut self, slot: u32, at: u64) {
        let request = &mut self.requests.items[slot as usize];
        request.phase = Phase::Resting;
        request.generation = request.generation.wrapping_add(1);
        let generation = request.generation;
        self.plan_event(at, Class::Retry, Event::Request { slot, generation });
    }

    /// A request's next attempt.
    fn attempt(&mut self, slot: u32, now: u64) -> Result<Outcome, Error> {
        let Request { number, cost, keys, made, source, .. } = self.requests.items[slot as usize];
        let dice = Dice::new(self.plan.seed, number);
        self.leave_crowd(slot);
        if now >= self.end {
            self.end_request(slot, now, Ending::Unfinished);
            return Ok(Outcome::Unsent);
        }
        // Held back for so long that no answer is of use: a retry is never planned so late.
        let first_at = self.requests.items[slot as usize].first_at;
        let last = self.client.last_use().map(|span| first_at.saturating_add(span.short_nanos()));
        if made == 0 && last.is_some_and(|last| now > last) {
            self.end_request(slot, now, Ending::GaveUp);
            return Ok(Outcome::Unsent);
        }
        let state = &mut self.clients[keys[0].index()];
        if !self.client.lets_out(state, &Attempt { now, made, dice }) {
            let memory = self.requests.items[slot as usize].memory;
            self.client.gave_up(state, &memory);
            self.end_request(slot, now, Ending::GaveUp);
            return Ok(Outcome::Unsent);
        }
        let at = self.instant(now);
        let made = made + 1;
        self.witness.sent(at, keys[0], made);
        if self.reads {
            self.see(slot, Seen::default());
        }
        self.requests.items[slot as usize].made = made;
        if self.fleet.is_some() {
            self.ask(slot, now)?;
            return Ok(Outcome::Asked);
        }
        let decision = self.lane.decide(source, keys[1], at, cost);
        self.stream.push(Sent { at, cost, source, keys }, decision)?;
        if self.released.is_some() {
            let told = Told {
                came: at,
                at,
                replica: 0,
                decision,
                decider: Decider::Store,
                cost,
                key: keys[1],
                client: keys[0],
            };
            self.witness.told(&told);
        }
        match decision {
            Decision::Deny => self.deny(slot, now),
            Decision::Allow | Decision::Delay(_) => {
                let asked = self.attempt_of(slot, now);
                self.admit(&asked, now, decision, Decider::Store, true);
            }
        }
        Ok(Outcome::Decided(decision))
    }
}
