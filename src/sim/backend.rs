//! What stands behind the limiter: servers, a queue, and time that runs slower for a while.

use super::client::{Dice, Draw};
use crate::rng::{exponential, normal};
use crate::time::SimDuration;
use std::collections::VecDeque;

/// A backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackendSpec {
    /// Requests served at a time; without, all that come.
    pub servers: Option<u32>,
    /// How long one takes.
    pub service: ServiceSpec,
    /// Requests that may wait; without, all.
    pub queue: Option<u64>,
    /// Which of them is next.
    pub order: QueueOrder,
    /// What happens to one that finds the queue full.
    pub overflow: Overflow,
    /// After how long a client stops waiting; what it asked for is served all the same.
    pub timeout: Option<SimDuration>,
    /// Time of a server that one rejection takes.
    pub rejection_cost: SimDuration,
    /// Spans in which servers are slower or stand still.
    pub slow: Vec<Slow>,
    /// How long a message is on its way to it, and an answer back.
    pub hop: Option<HopSpec>,
    /// How many of a million requests it fails to do, each independently, after its work.
    pub failure: u64,
}

/// How long a message is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HopSpec {
    /// Always the same.
    Constant(SimDuration),
    /// Exponentially distributed.
    Exponential {
        /// The mean.
        mean: SimDuration,
    },
    /// The distance from zero of a normally distributed time.
    Normal {
        /// Its mean.
        mean: SimDuration,
        /// Its standard deviation.
        deviation: SimDuration,
    },
}

impl HopSpec {
    /// Messages that one attempt may send.
    const LEGS: u32 = 4;

    /// How long message number `leg` of an attempt takes, in nanoseconds.
    #[must_use]
    pub fn nanos(self, dice: Dice, made: u32, leg: u32) -> u64 {
        self.drawn(|| dice.bits(Draw::Hop, made.wrapping_mul(Self::LEGS).wrapping_add(leg)))
    }

    /// How long it takes to the store and back on behalf of an attempt, in nanoseconds.
    #[must_use]
    pub fn round_trip(self, dice: Dice, made: u32) -> u64 {
        self.drawn(|| dice.bits(Draw::RoundTrip, made))
    }

    fn drawn(self, bits: impl Fn() -> u64) -> u64 {
        match self {
            Self::Constant(span) => span.short_nanos(),
            Self::Exponential { mean } => exponential(bits(), mean.short_nanos()),
            Self::Normal { mean, deviation } => normal(bits(), mean.short_nanos(), deviation.short_nanos()),
        }
    }

    /// The longest that it can take, if there is one.
    #[must_use]
    pub const fn longest(self) -> Option<SimDuration> {
        match self {
            Self::Constant(span) => Some(span),
            Self::Exponential { .. } | Self::Normal { .. } => None,
        }
    }
}

/// How long a request takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceSpec {
    /// `period / units` nanoseconds, on average exactly.
    Constant {
        /// Nanoseconds.
        period: u64,
        /// Requests in them.
        units: u64,
    },
    /// Exponentially distributed.
    Exponential {
        /// The mean.
        mean: SimDuration,
    },
    /// Longer for each request that is served at its beginning, itself not counted.
    LoadDependent {
        /// With none.
        base: SimDuration,
        /// For each.
        each: SimDuration,
    },
    /// One row under optimistic concurrency control: an attempt reads its version and then writes,
    /// which succeeds if no other has written since.
    Optimistic,
}

/// Which waiting request is next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueOrder {
    /// The oldest.
    #[default]
    Fifo,
    /// The newest.
    Lifo,
}

/// What happens to a request that finds the queue full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overflow {
    /// It is answered with 503 at once.
    #[default]
    Reject,
    /// It gets no answer.
    Drop,
}

/// A span in which servers do only a part of their work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slow {
    /// From this much time after the run's origin, in nanoseconds.
    pub from: u64,
    /// Until this much.
    pub until: u64,
    /// The part that is done, in parts per million; zero: they stand still.
    pub speed: u64,
}

/// Parts of a whole.
pub const MILLION: u64 = 1_000_000;

/// A request in the backend's hands: its place among the pending, and which attempt of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its place.
    pub slot: u32,
    /// The attempt, as numbered there.
    pub generation: u32,
    /// Draws of its request.
    pub dice: Dice,
    /// Attempts of it so far.
    pub made: u32,
}

/// What became of a request that reached the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// A server works on it until then.
    Started {
        /// When it is done, in nanoseconds since the run's origin.
        done: u64,
    },
    /// It waits.
    Queued,
    /// It was turned away.
    Full,
}

/// A backend at work.
#[derive(Debug)]
pub struct Backend {
    spec: BackendSpec,
    waiting: VecDeque<Job>,
    serving: u64,
    /// Parts of a nanosecond that constant service still owes.
    carry: u64,
    /// Work of rejections that no server has done yet.
    debt: u64,
    /// Writes that succeeded.
    version: u32,
}

impl Backend {
    /// Idle.
    #[must_use]
    pub const fn new(spec: BackendSpec) -> Self {
        Self { spec, waiting: VecDeque::new(), serving: 0, carry: 0, debt: 0, version: 0 }
    }

    /// How long message number `leg` of an attempt is on its way; nothing where there is no way.
    #[must_use]
    pub fn hop(&self, job: &Job, leg: u32) -> Option<u64> {
        self.spec.hop.map(|hop| hop.nanos(job.dice, job.made, leg))
    }

    /// Whether an attempt of one row reads before it writes.
    #[must_use]
    pub fn is_optimistic(&self) -> bool {
        self.spec.service == ServiceSpec::Optimistic
    }

    /// The version of the row.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.version
    }

    /// Writes the row if it is still of this version; whether it was.
    pub const fn write(&mut self, version: u32) -> bool {
        let unchanged = self.version == version;
        self.version = self.version.wrapping_add(unchanged as u32);
        unchanged
    }

    /// Whether it fails to do what an attempt asks for.
    #[must_use]
    pub fn fails(&self, dice: Dice, made: u32) -> bool {
        self.spec.failure > 0 && dice.up_to(Draw::Failure, made, MILLION - 1) < self.spec.failure
    }

    /// A request arrives.
    pub fn arrive(&mut self, job: Job, now: u64) -> Admission {
        if self.spec.servers.is_none_or(|servers| self.serving < u64::from(servers)) {
            return Admission::Started { done: self.start(&job, now) };
        }
        if self.spec.queue.is_none_or(|queue| (self.waiting.len() as u64) < queue) {
            self.waiting.push_back(job);
            return Admission::Queued;
        }
        self.debt = self.debt.saturating_add(self.spec.rejection_cost.short_nanos());
        Admission::Full
    }

    /// A server is done; what it works on next, and until when.
    pub fn depart(&mut self, now: u64) -> Option<(Job, u64)> {
        self.serving -= 1;
        let next = match self.spec.order {
            QueueOrder::Fifo => self.waiting.pop_front(),
            QueueOrder::Lifo => self.waiting.pop_back(),
        }?;
        Some((next, self.start(&next, now)))
    }

    fn start(&mut self, job: &Job, now: u64) -> u64 {
        let work = match self.spec.service {
            ServiceSpec::Constant { period, units } => {
                let owed = u128::from(period) + u128::from(self.carry);
                self.carry = (owed % u128::from(units)) as u64;
                (owed / u128::from(units)) as u64
            }
            ServiceSpec::Exponential { mean } => {
                let bits = job.dice.bits(Draw::Service, job.made);
                exponential(bits, mean.short_nanos())
            }
            ServiceSpec::LoadDependent { base, each } => {
                base.short_nanos().saturating_add(each.short_nanos().saturating_mul(self.serving))
            }
            ServiceSpec::Optimistic => 0,
        };
        self.serving += 1;
        let work = work.saturating_add(std::mem::take(&mut self.debt));
        self.finish(now, work)
    }

    /// When work that is begun at `now` is done, given the spans in which it goes slower.
    fn finish(&self, mut now: u64, mut work: u64) -> u64 {
        for slow in &self.spec.slow {
            if slow.until <= now {
                continue;
            }
            let before = slow.from.saturating_sub(now);
            if work <= before {
                return now + work;
            }
            (now, work) = (now + before, work - before);
            // Work done within the span, rounded down: what is left of a nanosecond is done after it.
            let possible = (u128::from(slow.until - now) * u128::from(slow.speed) / u128::from(MILLION)) as u64;
            if slow.speed > 0 && work <= possible {
                return now + (u128::from(work) * u128::from(MILLION)).div_ceil(u128::from(slow.speed)) as u64;
            }
            (now, work) = (slow.until, work - possible);
        }
        now.saturating_add(work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(service: ServiceSpec) -> BackendSpec {
        BackendSpec {
            servers: Some(1),
            service,
            queue: Some(2),
            order: QueueOrder::Fifo,
            overflow: Overflow::Reject,
            timeout: None,
            rejection_cost: SimDuration::ZERO,
            slow: Vec::new(),
            hop: None,
            failure: 0,
        }
    }

    fn job(slot: u32) -> Job {
        Job { slot, generation: 0, dice: Dice::new(1, u64::from(slot)), made: 1 }
    }

    #[test]
    fn fifo_and_lifo_differ_in_who_is_next() {
        for (order, next) in [(QueueOrder::Fifo, 1), (QueueOrder::Lifo, 2)] {
            let constant = ServiceSpec::Constant { period: 10, units: 1 };
            let mut backend = Backend::new(BackendSpec { order, ..spec(constant) });
            assert_eq!(backend.arrive(job(0), 5), Admission::Started { done: 15 });
            assert_eq!(backend.arrive(job(1), 5), Admission::Queued);
            assert_eq!(backend.arrive(job(2), 5), Admission::Queued);
            assert_eq!(backend.arrive(job(3), 5), Admission::Full);
            assert_eq!(backend.serving + backend.waiting.len() as u64, 3);
            assert_eq!(backend.depart(15).map(|(job, done)| (job.slot, done)), Some((next, 25)));
        }
    }

    /// A rate that does not divide the nanoseconds is exact over any number of requests.
    #[test]
    fn constant_service_keeps_its_rate() {
        let mut backend = Backend::new(spec(ServiceSpec::Constant { period: 5_000_000_000, units: 6 }));
        let mut now = 0;
        for n in 1..=600_u64 {
            let Admission::Started { done } = backend.arrive(job(0), now) else { panic!("it is idle") };
            backend.depart(done);
            now = done;
            assert_eq!(now, n * 5_000_000_000 / 6);
        }
    }

    #[test]
    fn work_stands_still_in_a_stall_and_crawls_in_a_brown_out() {
        let constant = ServiceSpec::Constant { period: 100, units: 1 };
        let slow = vec![Slow { from: 50, until: 250, speed: 0 }, Slow { from: 300, until: 1300, speed: MILLION / 10 }];
        let begun = |now| {
            let mut backend = Backend::new(BackendSpec { slow: slow.clone(), ..spec(constant) });
            let Admission::Started { done } = backend.arrive(job(0), now) else { panic!("it is idle") };
            done
        };
        // 50 before the stall, 50 after it.
        assert_eq!(begun(0), 300);
        // Half of it after the stall, half in the brown-out at a tenth of the speed.
        assert_eq!(begun(100), 800);
        assert_eq!(begun(300), 1300);
        assert_eq!(begun(1290), 1399);
        assert_eq!(begun(1300), 1400);
    }

    #[test]
    fn rejections_take_time_of_a_server() {
        let constant = ServiceSpec::Constant { period: 10, units: 1 };
        let mut backend =
            Backend::new(BackendSpec { queue: Some(1), rejection_cost: SimDuration::from_nanos(3), ..spec(constant) });
        backend.arrive(job(0), 0);
        backend.arrive(job(1), 0);
        for _ in 0..4 {
            assert_eq!(backend.arrive(job(2), 1), Admission::Full);
        }
        assert_eq!(backend.depart(10).map(|(_, done)| done), Some(10 + 10 + 12));
    }

    /// Of two that read the same version one writes; the other must read again.
    #[test]
    fn one_writer_of_a_version_wins() {
        let mut backend = Backend::new(spec(ServiceSpec::Optimistic));
        let (first, second) = (backend.version(), backend.version());
        assert!(backend.write(second) && !backend.write(first));
        assert!(backend.write(backend.version()));
    }

    #[test]
    fn failures_have_their_share() {
        let backend = Backend::new(BackendSpec { failure: 300_000, ..spec(ServiceSpec::Optimistic) });
        let failed = (0..100_000).filter(|n| backend.fails(Dice::new(1, *n), 1)).count() as f64;
        assert!((failed / 100_000.0 - 0.3).abs() < 4.0 * (0.21_f64 / 100_000.0).sqrt(), "{failed}");
    }

    #[test]
    fn load_makes_it_slower() {
        let each = SimDuration::from_nanos(10);
        let service = ServiceSpec::LoadDependent { base: SimDuration::from_nanos(1000), each };
        let mut backend = Backend::new(BackendSpec { servers: None, ..spec(service) });
        for n in 0..5 {
            assert_eq!(backend.arrive(job(n), 7), Admission::Started { done: 1007 + 10 * u64::from(n) });
        }
    }
}
