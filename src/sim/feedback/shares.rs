//! Replicas that divide a limit by demand: what each is offered, hears of the others, and holds.

use super::asked::Asked;
use super::fleet::{Decider, Fleet};
use super::pending::{FleetEvent, Places};
use super::plan::instant;
use super::world::World;
use crate::limiter::{Decision, LimiterSpec, Part};
use crate::rng::mix;
use crate::sim::MILLION;
use crate::sim::client::{Dice, Draw};
use crate::sim::deployment::{
    Demand, DeploymentSpec, Expired, HybridSpec, Scheme, Unassigned, allot, proportion, smoothed,
};
use crate::sim::queue::Class;
use crate::time::SimTime;

/// What replicas hold of the limit, and know of each other's demand.
pub struct Shares {
    replicas: Vec<Holder>,
    /// Rounds so far: whom a replica hears of goes by their number.
    rounds: u64,
    /// What the limit lets through between two rounds.
    whole: Demand,
    /// The limiter that each has a part of.
    limiter: LimiterSpec,
    /// How long a part is lent.
    lease: Option<u64>,
    /// Until then the store, which has forgotten whom it lent what, confirms what replicas still hold and
    /// lends nothing else.
    learns_until: u64,
    messages: Places<Message>,
}

/// One replica.
#[derive(Default)]
struct Holder {
    /// Units offered since the last round.
    offered: u64,
    /// Its demand after the last round, and after the one before, which is what others hear.
    demand: Demand,
    before: Demand,
    /// What it heard last of each other one.
    heard: Vec<Demand>,
    /// Its part of the limit; none: it has not been given one, or has one no more.
    part: Option<Part>,
    /// The part last shown to the witness.
    shown: Option<Option<Part>>,
    /// The part of all attempts that it refuses.
    refused: Part,
    /// What the store has lent it, whether or not it still knows.
    lent: Option<Part>,
    /// Times that it was given a part: the lease of the last counts.
    given: u32,
    /// The round of the assignment that it follows.
    follows: u64,
    /// What it told the store last, and when that came.
    told: Option<(u64, Demand)>,
    /// Times that it was restarted.
    restarts: u32,
}

/// A report on its way to the store, or an assignment on its way back.
struct Message {
    replica: u32,
    restarts: u32,
    round: u64,
    demand: Demand,
    /// The way back, in nanoseconds.
    back: u64,
    part: Part,
}

impl Shares {
    /// Before the first round.
    pub fn new(limiter: &LimiterSpec, spec: &DeploymentSpec, most: u32) -> Self {
        let rate = limiter.rate();
        let every = spec.scheme().and_then(Scheme::every).map_or(0, |every| every.nanos());
        let units = Demand::from(rate.units) * Demand::from(MILLION);
        let period = rate.period.nanos();
        // What does not fit is far beyond any demand.
        let whole = units.checked_mul(every).map_or_else(|| (units / period).saturating_mul(every), |all| all / period);
        let holder = |_| Holder { heard: vec![0; most as usize], ..Holder::default() };
        let mut shares = Self {
            replicas: (0..most).map(holder).collect(),
            rounds: 0,
            whole,
            limiter: limiter.clone(),
            lease: match spec.scheme() {
                Some(Scheme::Quota { lease, .. } | Scheme::Assignment { lease, .. }) => Some(lease.short_nanos()),
                _ => None,
            },
            learns_until: 0,
            messages: Places::new(),
        };
        let count = spec.replicas().count;
        let equal = Some(Part::of(1, count.into()));
        for holder in shares.replicas.iter_mut().take(count as usize) {
            match spec.scheme() {
                Some(Scheme::Quota { .. }) => (holder.part, holder.lent) = (equal, equal),
                Some(Scheme::Proportional { .. }) => holder.part = equal,
                _ => {}
            }
        }
        shares
    }

    /// The replicas that are lent a part at the start, and until when.
    pub fn first_leases(&self) -> Vec<(u32, u64)> {
        let Some(until) = self.lease else { return Vec::new() };
        let lent = (0..).zip(&self.replicas).filter(|(_, holder)| holder.lent.is_some());
        lent.map(|(replica, _)| (replica, until)).collect()
    }

    /// The limiter that a replica begins with.
    pub fn first_limiter(&self, replica: u32) -> LimiterSpec {
        self.limiter.scaled(self.replicas[replica as usize].part.unwrap_or(Part::NONE))
    }

    /// The store forgets what it lent and what it was told.
    pub fn forget(&mut self, now: u64) {
        for holder in &mut self.replicas {
            (holder.lent, holder.told) = (None, None);
        }
        self.learns_until = now.saturating_add(self.lease.unwrap_or(0));
    }

    /// A replica forgets what it holds and what it knows; the store does not.
    fn restart(&mut self, replica: u32, equal: Option<Part>) {
        let holder = &mut self.replicas[replica as usize];
        *holder = Holder {
            heard: vec![0; holder.heard.len()],
            part: equal,
            restarts: holder.restarts + 1,
            shown: holder.shown,
            lent: holder.lent,
            given: holder.given,
            told: holder.told,
            ..Holder::default()
        };
    }
}

impl Fleet {
    /// Whether each replica has a limiter with a part of the limit.
    pub fn divides(&self) -> bool {
        matches!(
            self.spec.scheme(),
            Some(Scheme::Quota { .. } | Scheme::Proportional { .. } | Scheme::Assignment { .. })
        )
    }

    /// Whether a replica reaches the store, or others through it.
    fn reaches(&self, replica: u32, now: u64) -> bool {
        !self.schedule.is_cut_off(replica, now) && !self.schedule.is_down(now)
    }

    /// A replica forgets its part of the limit; the one that it begins with again.
    pub fn restart_share(&mut self, replica: u32) {
        let running = self.router.running();
        let equals = running.len() + usize::from(!running.contains(&replica));
        let equal = matches!(self.spec.scheme(), Some(Scheme::Proportional { .. }));
        self.shares.restart(replica, equal.then(|| Part::of(1, equals as u128)));
        let limiter = self.shares.first_limiter(replica);
        if let (true, Some(own)) = (self.divides(), &mut self.replicas[replica as usize].own) {
            // It was forgotten before: there is nothing to take over.
            own.rescale(limiter, SimTime::EPOCH);
        }
    }

    /// The replicas that run and reach each other, after every one that runs has closed its interval.
    fn close_interval(&mut self, scheme: &Scheme, now: u64) -> (Vec<u32>, Vec<u32>) {
        let running = self.router.running().to_vec();
        for replica in &running {
            let holder = &mut self.shares.replicas[*replica as usize];
            holder.before = holder.demand;
            holder.demand = smoothed(holder.demand, std::mem::take(&mut holder.offered), scheme.weight());
        }
        let reaching = running.iter().copied().filter(|replica| self.reaches(*replica, now)).collect();
        (running, reaching)
    }
}

impl World<'_> {
    /// A replica decides by its part of the limit.
    pub(super) fn decide_by_share(&mut self, asked: Asked, now: u64) {
        let origin = self.plan.origin;
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        let Asked { replica, source, keys: [_, key], cost, number, made, .. } = asked;
        let known = &mut fleet.replicas[replica as usize];
        let local = instant(origin, asked.local(known.skew));
        let holder = &mut fleet.shares.replicas[replica as usize];
        holder.offered = holder.offered.saturating_add(cost);
        let scheme = fleet.spec.scheme().expect("only a scheme has shares");
        let (decision, decider) = match scheme {
            Scheme::Drop { .. } => {
                let (part, all) = holder.refused.fraction();
                let bits = Dice::new(self.plan.seed, number).bits(Draw::Drop, made);
                let refused = cost > 0 && u128::from(bits) * u128::from(all) < u128::from(part) << 64;
                (if refused { Decision::Deny } else { Decision::Allow }, Decider::Replica)
            }
            Scheme::Assignment { unassigned, .. } if holder.part.is_none() => match unassigned {
                Unassigned::Allow => (Decision::Allow, Decider::Rule),
                Unassigned::Deny => (Decision::Deny, Decider::Rule),
            },
            _ => {
                let own = known.own.as_mut().expect("it has a part of the limiter");
                (own.decide(source, key, local, cost), Decider::Replica)
            }
        };
        self.decided(asked, now, decision, decider);
    }

    /// All replicas report, or hear of each other.
    pub(super) fn share_round(&mut self, now: u64) {
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        let Some(scheme) = fleet.spec.scheme().copied() else { return };
        let (running, reaching) = fleet.close_interval(&scheme, now);
        fleet.shares.rounds += 1;
        match scheme {
            Scheme::Quota { lease, .. } => self.lend(&reaching, now, lease.short_nanos()),
            Scheme::Drop { .. } => {
                self.hear(&reaching, usize::MAX);
                self.refuse_a_part(&running);
            }
            Scheme::Proportional { fanout, .. } => {
                self.hear(&reaching, fanout as usize);
                self.take_parts(&running, now);
            }
            Scheme::Assignment { .. } => reaching.iter().for_each(|replica| self.report(*replica, now)),
            Scheme::Sync { .. } | Scheme::Lease { .. } => {}
        }
    }

    /// The store lends those who report what they want, or what there is, by what others do not hold.
    fn lend(&mut self, reaching: &[u32], now: u64, lease: u64) {
        let at = self.instant(now);
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        let shares = &fleet.shares;
        let others = |(replica, holder): (u32, &Holder)| holder.lent.filter(|_| !reaching.contains(&replica));
        let lent: Vec<Part> = (0..).zip(&shares.replicas).filter_map(others).collect();
        let wants: Vec<Demand> = reaching.iter().map(|replica| shares.replicas[*replica as usize].demand).collect();
        let parts = if now < shares.learns_until {
            let held = |replica: &u32| shares.replicas[*replica as usize].part.unwrap_or(Part::NONE);
            reaching.iter().map(held).collect()
        } else {
            allot(shares.whole, &lent, &wants)
        };
        let until = now.saturating_add(lease);
        // What some give back is there before others take it.
        let held = |replica: u32| shares.replicas[replica as usize].lent.unwrap_or(Part::NONE);
        let mut grants: Vec<(u32, Part)> = reaching.iter().copied().zip(parts).collect();
        grants.sort_by_key(|(replica, part)| !part.is_at_most(held(*replica)));
        for (replica, part) in grants {
            self.witness.operated(at);
            let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
            fleet.shares.replicas[replica as usize].lent = Some(part);
            let given = self.give(replica, Some(part), now);
            self.plan_event(until, Class::Change, FleetEvent::Lapse { replica, given }.into());
        }
    }

    /// Each hears of so many others, in turn, what their demand was a round ago.
    fn hear(&mut self, reaching: &[u32], fanout: usize) {
        let shares = &mut self.fleet.as_deref_mut().expect("the lane is deployed").shares;
        let others = reaching.len().saturating_sub(1);
        let fanout = fanout.min(others);
        // The round before this one was number 0.
        let turn = (u128::from(shares.rounds - 1) * fanout as u128 % others.max(1) as u128) as usize;
        for (place, replica) in reaching.iter().enumerate() {
            for next in 0..fanout {
                let other = reaching[(place + 1 + (turn + next) % others) % reaching.len()] as usize;
                let before = shares.replicas[other].before;
                shares.replicas[*replica as usize].heard[other] = before;
            }
        }
    }

    /// All demand that a replica knows of: its own, and what it heard of those that run.
    fn known_demand(shares: &Shares, replica: u32, running: &[u32]) -> Demand {
        let holder = &shares.replicas[replica as usize];
        let others = running.iter().filter(|other| **other != replica);
        holder.demand.saturating_add(others.map(|other| holder.heard[*other as usize]).sum())
    }

    /// Each refuses the part of all attempts by which demand passes the limit.
    fn refuse_a_part(&mut self, running: &[u32]) {
        let shares = &mut self.fleet.as_deref_mut().expect("the lane is deployed").shares;
        for replica in running {
            let all = Self::known_demand(shares, *replica, running);
            shares.replicas[*replica as usize].refused = Part::of(all.saturating_sub(shares.whole), all);
        }
    }

    /// Each takes the part of the limit that its demand is of all that it knows of.
    fn take_parts(&mut self, running: &[u32], now: u64) {
        for replica in running {
            let shares = &self.fleet.as_deref().expect("the lane is deployed").shares;
            let all = Self::known_demand(shares, *replica, running);
            let part = proportion(shares.replicas[*replica as usize].demand, all, running.len());
            self.give(*replica, Some(part), now);
        }
    }

    /// A replica sends the store what it is offered.
    fn report(&mut self, replica: u32, now: u64) {
        let seed = self.plan.seed;
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        let DeploymentSpec::Hybrid(HybridSpec { link, .. }) = &fleet.spec else { return };
        let holder = &fleet.shares.replicas[replica as usize];
        let (restarts, demand) = (holder.restarts, holder.demand);
        // The first report is of the first attempts.
        if demand == 0 && holder.part.is_none() {
            return;
        }
        let round = fleet.shares.rounds;
        let dice = Dice::new(seed, mix(u64::from(replica) << 32 ^ round));
        let round_trip = fleet.schedule.slow(now).unwrap_or(link.round_trip).round_trip(dice, 0);
        let there = round_trip / 2;
        if fleet.schedule.is_down(now.saturating_add(there)) {
            return;
        }
        let back = round_trip - there;
        let message = Message { replica, restarts, round, demand, back, part: Part::NONE };
        let place = fleet.shares.messages.put(message);
        self.plan_event(now.saturating_add(there), Class::Change, FleetEvent::Pushed { place }.into());
    }

    /// The store hears a report; it answers by all that it has heard at that instant.
    pub(super) fn reported(&mut self, place: u32, now: u64) {
        self.witness.operated(self.instant(now));
        let shares = &mut self.fleet.as_deref_mut().expect("the lane is deployed").shares;
        let Message { replica, demand, .. } = shares.messages.items[place as usize];
        shares.replicas[replica as usize].told = Some((now, demand));
        self.plan_event(now, Class::Store, FleetEvent::Answer { place }.into());
    }

    /// The store assigns a part by the reports that are not older than an assignment holds.
    pub(super) fn assign(&mut self, place: u32, now: u64) {
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        let Some(Scheme::Assignment { lease, .. }) = fleet.spec.scheme() else { return };
        let shares = &mut fleet.shares;
        let told = shares.replicas.iter().filter_map(|holder| holder.told);
        let recent = told.filter(|(at, _)| at.saturating_add(lease.short_nanos()) > now);
        let (all, asking) = recent.fold((0, 0), |(all, asking), (_, demand)| (demand.saturating_add(all), asking + 1));
        let message = &mut shares.messages.items[place as usize];
        message.part = proportion(message.demand, all, asking);
        let arrives = now.saturating_add(message.back);
        self.plan_event(arrives, Class::Change, FleetEvent::Pulled { place }.into());
    }

    /// A replica is assigned a part.
    pub(super) fn assigned(&mut self, place: u32, now: u64) {
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        let Some(Scheme::Assignment { lease, .. }) = fleet.spec.scheme().copied() else { return };
        let shares = &mut fleet.shares;
        let Message { replica, restarts, round, part, .. } = shares.messages.items[place as usize];
        shares.messages.free.push(place);
        let holder = &shares.replicas[replica as usize];
        // What was for it before it restarted, and what was overtaken, is of no use.
        if holder.restarts != restarts || holder.follows > round {
            return;
        }
        shares.replicas[replica as usize].follows = round;
        let given = self.give(replica, Some(part), now);
        self.plan_event(
            now.saturating_add(lease.short_nanos()),
            Class::Change,
            FleetEvent::Lapse { replica, given }.into(),
        );
    }

    /// What a replica was given ends, unless it was given something since.
    pub(super) fn lapse(&mut self, replica: u32, given: u32, now: u64) {
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        let scheme = fleet.spec.scheme().copied();
        let holder = &mut fleet.shares.replicas[replica as usize];
        if holder.given != given {
            return;
        }
        holder.lent = None;
        if !matches!(scheme, Some(Scheme::Assignment { expired: Expired::Reuse, .. })) {
            self.give(replica, None, now);
        }
    }

    /// A replica has another part from now on; which time that is.
    fn give(&mut self, replica: u32, part: Option<Part>, now: u64) -> u32 {
        let origin = self.plan.origin;
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        let holder = &mut fleet.shares.replicas[replica as usize];
        holder.given = holder.given.wrapping_add(1);
        let given = holder.given;
        if holder.part != part {
            holder.part = part;
            let known = &mut fleet.replicas[replica as usize];
            let local = instant(origin, now.saturating_add(known.skew));
            let own = known.own.as_mut().expect("it has a part of the limiter");
            // Without an assignment it is not asked, and keeps what it knows.
            let nothing = matches!(fleet.spec.scheme(), Some(Scheme::Quota { .. })).then_some(Part::NONE);
            if let Some(part) = part.or(nothing) {
                own.rescale(fleet.shares.limiter.scaled(part), local);
            }
        }
        self.show_part(replica, now);
        given
    }

    /// The witness sees what a replica holds, if that is something else.
    pub(super) fn show_part(&mut self, replica: u32, now: u64) {
        let at = self.instant(now);
        let fleet = self.fleet.as_deref_mut().expect("the lane is deployed");
        let holder = &mut fleet.shares.replicas[replica as usize];
        if holder.shown != Some(holder.part) {
            holder.shown = Some(holder.part);
            self.witness.holds(at, replica, holder.part);
        }
    }

    /// It sees what all hold.
    pub(super) fn show_parts(&mut self, now: u64) {
        let fleet = self.fleet.as_deref().expect("the lane is deployed");
        if fleet.divides() {
            (0..fleet.replicas.len() as u32).for_each(|replica| self.show_part(replica, now));
        }
    }
}
