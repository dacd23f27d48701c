//! Operations on the store, from a replica and back, on behalf of attempts.

use super::asked::Asked;
use super::fleet::{Decider, Expiry, Fleet};
use super::pending::{Event, FleetEvent};
use super::plan::instant;
use super::world::World;
use crate::limiter::{Decision, KeyId, Snapshot};
use crate::sim::client::Dice;
use crate::sim::deployment::{BreakerSpec, CentralSpec, Clock, DeploymentSpec, Operation as Kind};
use crate::sim::queue::Class;
use crate::time::SimTime;

/// One operation, or a lease's, under way.
pub struct Operation {
    pub asked: Asked,
    /// What it is to do.
    pub task: Task,
    /// When the replica wanted it, and how long the way there and back is.
    sent: u64,
    round_trip: u64,
    /// Events that still refer to it.
    legs: u8,
    /// The replica has what it wanted, or has stopped waiting.
    settled: bool,
    /// It has a connection.
    connected: bool,
    /// It is the one that sees whether the store is back.
    probe: bool,
    /// What the store said.
    reply: Reply,
}

/// What an operation does at the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Decides on the attempt.
    Decide,
    /// Fetches up to so many units of its key.
    Lease(u64),
}

enum Reply {
    None,
    Decided(Decision),
    /// What was read, and the instant that it was read for.
    Read(Snapshot, SimTime),
    Granted(u64),
}

impl World<'_> {
    fn fleet(&mut self) -> &mut Fleet {
        self.fleet.as_deref_mut().expect("only a deployment asks a store")
    }

    fn operation(&mut self, place: u32) -> &mut Operation {
        &mut self.fleet().operations.items[place as usize]
    }

    /// A replica asks the store, unless it has stopped asking.
    pub(super) fn ask_store(&mut self, asked: Asked, task: Task, now: u64) {
        let seed = self.plan.seed;
        let fleet = self.fleet();
        let probe = match fleet.may_ask(asked.replica, now) {
            None => return self.without_store(asked, task, now),
            Some(probe) => probe,
        };
        let way = fleet.schedule.slow(now).unwrap_or(fleet.link().round_trip);
        let round_trip = way.round_trip(Dice::new(seed, asked.number), asked.made);
        let most = fleet.link().store.connections;
        let timeout = fleet.link().timeout;
        let operation = Operation {
            asked,
            task,
            sent: now,
            round_trip,
            legs: 0,
            settled: false,
            connected: false,
            probe,
            reply: Reply::None,
        };
        let place = fleet.operations.put(operation);
        let replica = &mut fleet.replicas[asked.replica as usize];
        if most.is_some_and(|most| replica.connections >= most) {
            replica.queue.push_back(place);
            if let Some(timeout) = timeout {
                self.leg(
                    place,
                    now.saturating_add(timeout.short_nanos()),
                    Class::Change,
                    FleetEvent::Patience { place }.into(),
                );
            }
            return;
        }
        self.send(place, now);
    }

    /// One more event refers to an operation.
    fn leg(&mut self, place: u32, at: u64, class: Class, event: Event) {
        self.operation(place).legs += 1;
        self.plan_event(at, class, event);
    }

    /// One event less does; its place is free with the last.
    pub(super) fn leg_done(&mut self, place: u32) {
        let fleet = self.fleet();
        let operation = &mut fleet.operations.items[place as usize];
        operation.legs -= 1;
        if operation.legs == 0 && operation.settled {
            operation.reply = Reply::None;
            fleet.operations.free.push(place);
        }
    }

    /// An operation leaves its replica.
    fn send(&mut self, place: u32, now: u64) {
        let fleet = self.fleet();
        let timeout = fleet.link().timeout.map(|timeout| timeout.short_nanos());
        let operation = &mut fleet.operations.items[place as usize];
        operation.connected = true;
        let (replica, sent, round_trip) = (operation.asked.replica, operation.sent, operation.round_trip);
        let waited = operation.legs > 0;
        fleet.replicas[replica as usize].connections += 1;
        let reaches = now.saturating_add(round_trip / 2);
        let lost = fleet.schedule.is_cut_off(replica, now) || fleet.schedule.is_down(reaches);
        let patience = timeout.map(|timeout| sent.saturating_add(timeout));
        if lost {
            // Who does not wait for a time hears of a store that is down, and of one out of reach.
            let heard = patience.unwrap_or(now.saturating_add(round_trip));
            if !waited || patience.is_none() {
                self.leg(place, heard.max(now), Class::Change, FleetEvent::Patience { place }.into());
            }
            return;
        }
        if !waited && let Some(patience) = patience.filter(|patience| *patience < now.saturating_add(round_trip)) {
            self.leg(place, patience, Class::Change, FleetEvent::Patience { place }.into());
        }
        self.operation(place).legs += 1;
        if reaches == now {
            self.reach_store(place, now);
        } else {
            self.plan_event(reaches, Class::Store, FleetEvent::AtStore { place }.into());
        }
    }

    /// An operation reaches the store and takes its turn.
    pub(super) fn reach_store(&mut self, place: u32, now: u64) {
        let fleet = self.fleet();
        let executed = fleet.server.execute(now);
        if executed == now {
            return self.execute(place, now);
        }
        let back = fleet.operations.items[place as usize].round_trip.div_ceil(2);
        let timeout = fleet.link().timeout.map(|timeout| timeout.short_nanos());
        let operation = &fleet.operations.items[place as usize];
        let patience = timeout.map(|timeout| operation.sent.saturating_add(timeout));
        let alone = operation.legs == 1 && !operation.settled;
        if alone && let Some(patience) = patience.filter(|patience| *patience < executed.saturating_add(back)) {
            self.leg(place, patience.max(now), Class::Change, FleetEvent::Patience { place }.into());
        }
        self.plan_event(executed, Class::Store, FleetEvent::Execute { place }.into());
    }

    /// The store executes an operation.
    pub(super) fn execute(&mut self, place: u32, now: u64) {
        let at = self.instant(now);
        let fleet = self.fleet.as_deref_mut().expect("only a deployment asks a store");
        let operation = &mut fleet.operations.items[place as usize];
        let (asked, task) = (operation.asked, operation.task);
        let back = now.saturating_add(operation.round_trip - operation.round_trip / 2);
        if fleet.schedule.is_down(now) {
            // It went down with the operation in its hands; who does not wait for a time hears of it.
            if operation.legs == 1 && !operation.settled {
                let sent = operation.sent;
                let patience = fleet.link().timeout.map(|timeout| sent.saturating_add(timeout.short_nanos()));
                self.leg(
                    place,
                    patience.unwrap_or(back).max(now),
                    Class::Change,
                    FleetEvent::Patience { place }.into(),
                );
            }
            return self.leg_done(place);
        }
        self.witness.operated(at);
        let local = asked.local(fleet.replicas[asked.replica as usize].skew);
        let by_store = matches!(&fleet.spec, DeploymentSpec::Central(CentralSpec { clock: Clock::Store, .. }));
        let told = if by_store { at } else { instant(self.plan.origin, local) };
        let key = asked.keys[1];
        let exact = fleet.expiry.time(key, told);
        let reply = match task {
            Task::Lease(want) => {
                let remaining = self.lane.level(key, exact).remaining.min(want);
                if remaining > 0 {
                    self.lane.charge(key, exact, remaining);
                }
                Reply::Granted(remaining)
            }
            Task::Decide => match fleet.kind() {
                Kind::Script => Reply::Decided(self.decide_at_store(asked, exact, told, now, false)),
                Kind::Incr => Reply::Decided(self.decide_at_store(asked, exact, told, now, true)),
                Kind::GetIncr | Kind::GetSet => {
                    fleet.racing.begin(key, asked.cost);
                    let snapshot = match &fleet.lagging {
                        Some((behind, _)) => behind.check_out(key, exact),
                        None => self.lane.check_out(key, exact),
                    };
                    Reply::Read(snapshot, told)
                }
            },
        };
        let operation = self.operation(place);
        operation.reply = reply;
        if operation.settled {
            // Nobody decides on what was read.
            if matches!(operation.reply, Reply::Read(..)) {
                self.fleet().racing.end(key, asked.cost);
            }
            return self.leg_done(place);
        }
        if back == now {
            self.heard(place, now);
        } else {
            self.plan_event(back, Class::Change, FleetEvent::Heard { place }.into());
        }
    }

    /// The store decides for a key whose counter counts at `exact`.
    fn decide_at_store(&mut self, asked: Asked, exact: SimTime, told: SimTime, now: u64, counts_all: bool) -> Decision {
        let fleet = self.fleet.as_deref_mut().expect("only a deployment asks a store");
        let Asked { keys: [_, key], cost, source, .. } = asked;
        let decision = match &fleet.lagging {
            Some((behind, _)) => behind.ask(key, exact, cost),
            None if counts_all => self.lane.ask(key, exact, cost),
            None => {
                let decision = self.lane.decide(source, key, exact, cost);
                if decision.admits() {
                    fleet.written(key, told);
                }
                return decision;
            }
        };
        if decision.admits() || counts_all {
            self.lane.charge(key, exact, cost);
            fleet.written(key, told);
            self.becomes_visible(key, exact, cost, now);
        }
        decision
    }

    /// A write reaches what the store is read from, later.
    fn becomes_visible(&mut self, key: KeyId, at: SimTime, cost: u64, now: u64) {
        let fleet = self.fleet.as_deref_mut().expect("only a deployment asks a store");
        let Some((_, by)) = fleet.lagging else { return };
        let place = fleet.visible.put((fleet.lag, key, at, cost));
        self.plan_event(now.saturating_add(by), Class::Change, FleetEvent::Visible { place }.into());
    }

    /// It does.
    pub(super) fn visible(&mut self, place: u32) {
        let fleet = self.fleet();
        fleet.visible.free.push(place);
        let (lag, key, at, cost) = fleet.visible.items[place as usize];
        if let Some((behind, _)) = fleet.lagging.as_mut().filter(|_| lag == fleet.lag) {
            behind.charge(key, at, cost);
        }
    }

    /// A replica hears from the store.
    pub(super) fn heard(&mut self, place: u32, now: u64) {
        let operation = self.operation(place);
        if operation.settled {
            let Asked { keys, cost, .. } = operation.asked;
            if matches!(operation.reply, Reply::Read(..)) {
                self.fleet().racing.end(keys[1], cost);
            }
            return self.leg_done(place);
        }
        self.settle_operation(place, true);
        let operation = self.operation(place);
        let (asked, task, sent) = (operation.asked, operation.task, operation.sent);
        match std::mem::replace(&mut operation.reply, Reply::None) {
            Reply::None => unreachable!("the store answers once it has executed"),
            Reply::Granted(units) => {
                self.leg_done(place);
                self.free_connection(asked.replica, now);
                let Task::Lease(want) = task else { unreachable!("only a lease is granted") };
                self.granted(asked.replica, asked.keys[1], units, want, sent, now);
            }
            Reply::Decided(decision) => {
                self.leg_done(place);
                self.free_connection(asked.replica, now);
                self.decided(asked, now, decision, Decider::Store);
            }
            Reply::Read(mut snapshot, told) => {
                let exact = self.fleet().expiry.time(asked.keys[1], told);
                let decision = self.lane.decide_on(&mut snapshot, exact, asked.cost);
                if decision.admits() {
                    let operation = self.operation(place);
                    operation.reply = Reply::Read(snapshot, told);
                    let lands = now.saturating_add(operation.round_trip / 2);
                    if lands == now {
                        self.land(place, now);
                    } else {
                        self.plan_event(lands, Class::Change, FleetEvent::Land { place }.into());
                    }
                } else {
                    self.fleet().racing.end(asked.keys[1], asked.cost);
                    self.leg_done(place);
                }
                self.free_connection(asked.replica, now);
                self.decided(asked, now, decision, Decider::Store);
            }
        }
    }

    /// A write of what was decided elsewhere reaches the store.
    pub(super) fn land(&mut self, place: u32, now: u64) {
        let at = self.instant(now);
        let fleet = self.fleet.as_deref_mut().expect("only a deployment asks a store");
        let operation = &mut fleet.operations.items[place as usize];
        let asked = operation.asked;
        let Reply::Read(snapshot, told) = std::mem::replace(&mut operation.reply, Reply::None) else {
            unreachable!("it carries what was read")
        };
        fleet.racing.end(asked.keys[1], asked.cost);
        let there = !fleet.schedule.is_down(now) && !fleet.schedule.is_cut_off(asked.replica, now);
        if there {
            self.witness.operated(at);
            let key = asked.keys[1];
            let exact = fleet.expiry.time(key, told);
            if fleet.kind() == Kind::GetIncr {
                self.lane.charge(key, exact, asked.cost);
            } else {
                self.lane.commit(key, exact, snapshot);
            }
            fleet.written(key, told);
            self.becomes_visible(key, exact, asked.cost, now);
        } else {
            fleet.racing.lose(asked.keys[1], asked.cost);
        }
        self.leg_done(place);
    }

    /// A replica stops waiting for the store.
    pub(super) fn patience(&mut self, place: u32, now: u64) {
        if self.operation(place).settled {
            return self.leg_done(place);
        }
        self.settle_operation(place, false);
        let Operation { asked, task, connected, probe, .. } = *self.operation(place);
        if !connected {
            let queue = &mut self.fleet().replicas[asked.replica as usize].queue;
            queue.retain(|waiting| *waiting != place);
        }
        self.leg_done(place);
        if connected {
            self.free_connection(asked.replica, now);
        }
        self.failed(asked.replica, probe, now);
        self.without_store(asked, task, now);
    }

    fn settle_operation(&mut self, place: u32, answered: bool) {
        let fleet = self.fleet();
        let operation = &mut fleet.operations.items[place as usize];
        operation.settled = true;
        let replica = &mut fleet.replicas[operation.asked.replica as usize];
        if operation.connected {
            replica.connections -= 1;
        }
        if answered {
            // What was under way when it stopped asking does not make it ask again.
            if operation.probe || replica.open.is_none() {
                replica.failures = 0;
            }
            if operation.probe {
                replica.open = None;
            }
        } else if operation.probe
            && let Some((_, out)) = &mut replica.open
        {
            *out = false;
        }
    }

    /// A connection is free for the operation that has waited longest.
    fn free_connection(&mut self, replica: u32, now: u64) {
        let fleet = self.fleet();
        if fleet.link().store.connections.is_none() {
            return;
        }
        if let Some(place) = fleet.replicas[replica as usize].queue.pop_front() {
            self.send(place, now);
        }
    }

    /// An operation of a replica failed.
    fn failed(&mut self, replica: u32, probe: bool, now: u64) {
        let fleet = self.fleet();
        let Some(BreakerSpec { failures, .. }) = fleet.link().breaker else { return };
        let replica = &mut fleet.replicas[replica as usize];
        replica.failures = replica.failures.saturating_add(1);
        // Only the probe's own failure puts off the next one.
        if probe || replica.open.is_none() && replica.failures >= failures {
            replica.open = Some((now, false));
        }
    }

    /// A replica does without the store.
    fn without_store(&mut self, asked: Asked, task: Task, now: u64) {
        if let Task::Lease(_) = task {
            return self.not_granted(asked.replica, asked.keys[1], now);
        }
        let (decision, decider) = self.decide_without(&asked, now);
        self.decided(asked, now, decision, decider);
    }

    pub(super) fn decide_without(&mut self, asked: &Asked, now: u64) -> (Decision, Decider) {
        let origin = self.plan.origin;
        let fleet = self.fleet();
        let skew = fleet.replicas[asked.replica as usize].skew;
        let local = instant(origin, now.saturating_add(skew));
        fleet.decide_without(asked.source, asked.replica, asked.keys[1], now, local, asked.cost)
    }
}

impl Fleet {
    fn kind(&self) -> Kind {
        match &self.spec {
            DeploymentSpec::Central(spec) => spec.operation,
            _ => Kind::Script,
        }
    }

    /// Whether a replica asks the store at all, and whether to see if it is back.
    fn may_ask(&mut self, replica: u32, now: u64) -> Option<bool> {
        let Some(BreakerSpec { probe, .. }) = self.link().breaker else { return Some(false) };
        match &mut self.replicas[replica as usize].open {
            None => Some(false),
            Some((since, out)) if !*out && now >= since.saturating_add(probe.short_nanos()) => {
                *out = true;
                Some(true)
            }
            Some(_) => None,
        }
    }

    /// A process dies between counting and setting the expiry, where these are two commands.
    pub fn lose_expiry(&mut self) {
        if matches!(self.kind(), Kind::Incr | Kind::GetIncr) {
            self.expiry = Expiry::AboutToBeLost;
        }
    }

    /// A key was written: its expiry may be lost with the process that was to set it.
    fn written(&mut self, key: KeyId, at: SimTime) {
        if self.expiry == Expiry::AboutToBeLost {
            self.expiry = Expiry::Lost(key, at);
        }
    }
}
