//! What a deployment did: who admitted, how long that took, what passed the limit, and what the proofs
//! of its worst case need to know.

use super::Trailing;
use crate::limiter::{Decision, KeyId};
use crate::quota::Limit;
use crate::report::{FleetReport, LatencyReport, OverSpan, ReplicaReport, StoreReport};
use crate::sim::{Decider, Ending, Measured, Races, Released, Told, Witness};
use crate::time::{SimDuration, SimTime};
use hdrhistogram::Histogram;
use std::collections::VecDeque;

/// Spans over the limit that are kept.
const SPANS: usize = 1_000;

/// Records what a lane of a deployed plan does.
#[derive(Debug)]
pub struct FleetRecord {
    start: i64,
    limit: Option<Limit>,
    replicas: Vec<Replica>,
    latency: Histogram<u64>,
    least_latency: u64,
    longest_latency: u64,
    operations: u64,
    decided: u64,
    without: u64,
    /// Asked of a replica whose store did not answer, for each measured span.
    unanswered: Vec<(SimDuration, Trailing)>,
    /// The same for each key over the whole run.
    all_unanswered: Vec<u64>,
    /// Units of a key offered to one replica within the time in which the others do not hear of them.
    staleness: Option<i64>,
    over: Over,
    backend: Option<BackendLoad>,
    exempt: Vec<bool>,
}

#[derive(Debug)]
struct Replica {
    admitted: u64,
    denied: u64,
    released: Trailing,
    offered: Trailing,
}

/// For how long any key had more than the limit within the window.
#[derive(Debug, Default)]
struct Over {
    /// Releases of the last window, in their order.
    live: VecDeque<(i64, KeyId, u64)>,
    sums: Vec<u64>,
    keys: u64,
    since: i64,
    total: u64,
    spans: Vec<(i64, i64)>,
    times: u64,
    last_end: Option<i64>,
    window: i64,
    limit: u64,
}

/// Bins in which a backend gets more than it can do.
#[derive(Debug)]
struct BackendLoad {
    bin: i64,
    /// What it can do in one, times a whole number, and that number.
    capacity: u128,
    scale: u128,
    open: i64,
    count: u64,
    overloaded: u64,
}

/// What a record needs to know of a lane.
#[derive(Clone, Debug)]
pub struct FleetPlan {
    /// First instant of the run.
    pub start: SimTime,
    /// The yardstick.
    pub limit: Option<Limit>,
    /// Replicas that ever run.
    pub replicas: u32,
    /// For each source of traffic, whether it bypasses the limiter; empty: none does.
    pub exempt: Vec<bool>,
    /// Spans at which the worst case is told.
    pub spans: Vec<SimDuration>,
    /// How long a replica does not hear of what others admit, if that matters.
    pub staleness: Option<SimDuration>,
    /// How many requests the backend does in how many nanoseconds, and the width of the bins in which that is told.
    pub backend: Option<(u64, u64, SimDuration)>,
}

fn signed(span: SimDuration) -> i64 {
    i64::try_from(span.nanos()).unwrap_or(i64::MAX)
}

impl FleetRecord {
    /// Nothing has happened yet.
    #[must_use]
    pub fn new(plan: &FleetPlan) -> Self {
        let window = plan.limit.map_or(1, |limit| signed(limit.window));
        let stale = plan.staleness.map(signed);
        let replica = |_| Replica {
            admitted: 0,
            denied: 0,
            released: Trailing::new(window),
            offered: Trailing::new(stale.unwrap_or(1)),
        };
        Self {
            start: plan.start.nanos(),
            limit: plan.limit,
            replicas: (0..plan.replicas).map(replica).collect(),
            latency: Histogram::new(3).expect("three digits are a valid precision"),
            least_latency: u64::MAX,
            longest_latency: 0,
            operations: 0,
            decided: 0,
            without: 0,
            unanswered: plan.spans.iter().map(|span| (*span, Trailing::new(signed(*span)))).collect(),
            all_unanswered: Vec::new(),
            staleness: stale,
            over: Over { window, limit: plan.limit.map_or(u64::MAX, |limit| limit.units), ..Over::default() },
            exempt: plan.exempt.clone(),
            backend: plan.backend.map(|(units, period, bin)| BackendLoad {
                bin: signed(bin),
                capacity: u128::from(units) * bin.nanos(),
                scale: u128::from(period),
                open: i64::MIN,
                count: 0,
                overloaded: 0,
            }),
        }
    }

    /// What the proof of a worst case needs to know.
    #[must_use]
    pub fn measured(&self, races: Races, largest_cost: u64) -> Measured {
        let spread = self.longest_latency.saturating_sub(self.least_latency.min(self.longest_latency));
        Measured {
            latency_spread: SimDuration::from_nanos(spread),
            in_flight: races.in_flight,
            unwritten: races.unwritten,
            largest_cost,
            offered: self.replicas.iter().map(|replica| replica.offered.most()).max().unwrap_or(0),
            unanswered: self.unanswered.iter().map(|(span, trailing)| (*span, trailing.most())).collect(),
            all_unanswered: self.all_unanswered.iter().copied().max().unwrap_or(0),
        }
    }

    /// What was found; the store was not there for `unavailable` nanoseconds.
    #[must_use]
    pub fn finish(mut self, unavailable: Option<u64>) -> FleetReport {
        let offset = |at: i64| at.saturating_sub(self.start);
        self.over.close();
        let quantile = |q: f64| (self.decided > 0).then(|| self.latency.value_at_quantile(q).min(self.longest_latency));
        let latency_ns = LatencyReport {
            p50: quantile(0.5),
            p99: quantile(0.99),
            max: (self.decided > 0).then_some(self.longest_latency),
        };
        FleetReport {
            of_bound: None,
            bounds: Vec::new(),
            staleness_ns: None,
            replicas: self
                .replicas
                .iter()
                .map(|replica| ReplicaReport {
                    admitted: replica.admitted,
                    denied: replica.denied,
                    peak_units: self.limit.map(|_| replica.released.most()),
                })
                .collect(),
            store: unavailable.map(|unavailable_ns| StoreReport {
                operations: self.operations,
                per_request: if self.decided == 0 {
                    0.0
                } else {
                    (self.operations as f64 / self.decided as f64 * 1e6).round() / 1e6
                },
                latency_ns,
                unavailable_ns,
                decided_without: self.without,
            }),
            over_limit_ns: self.limit.map(|_| self.over.total),
            over_times: self.limit.map(|_| self.over.times),
            over_spans: self
                .over
                .spans
                .iter()
                .map(|(from, until)| OverSpan { from_ns: offset(*from), until_ns: offset(*until) })
                .collect(),
            backend_overload_ns: self.backend.as_mut().map(BackendLoad::finish),
        }
    }
}

impl Over {
    /// What was released so long before `until` has left the window.
    fn expire(&mut self, until: i64) {
        let (window, limit) = (self.window, self.limit);
        while let Some((at, key, units)) = self.live.front().copied().filter(|(at, ..)| *at <= until - window) {
            self.live.pop_front();
            let sum = &mut self.sums[key.index()];
            let was_over = *sum > limit;
            *sum -= units;
            if was_over && *sum <= limit {
                self.keys -= 1;
                if self.keys == 0 {
                    self.end(at + window);
                }
            }
        }
    }

    fn end(&mut self, at: i64) {
        self.total += at.saturating_sub(self.since).cast_unsigned();
        let since = self.since;
        self.times += u64::from(self.last_end != Some(since));
        self.last_end = Some(at);
        // It may have gone on at the instant at which it ended.
        if let Some((_, until)) = self.spans.last_mut().filter(|(_, until)| *until == since) {
            *until = at;
        } else if self.spans.len() < SPANS {
            self.spans.push((since, at));
        }
    }

    fn release(&mut self, released: &Released) {
        let (at, limit) = (released.at.nanos(), self.limit);
        self.expire(at);
        let key = released.key;
        if key.index() >= self.sums.len() {
            self.sums.resize(key.index() + 1, 0);
        }
        let sum = &mut self.sums[key.index()];
        let was_over = *sum > limit;
        *sum += released.cost;
        if !was_over && *sum > limit {
            if self.keys == 0 {
                self.since = at;
            }
            self.keys += 1;
        }
        self.live.push_back((at, key, released.cost));
    }

    /// What was released last leaves the window, too.
    fn close(&mut self) {
        self.expire(i64::MAX);
    }
}

impl BackendLoad {
    fn release(&mut self, at: i64) {
        let bin = at.div_euclid(self.bin);
        if bin != self.open {
            self.overloaded += u64::from(self.is_over());
            (self.open, self.count) = (bin, 0);
        }
        self.count += 1;
    }

    fn is_over(&self) -> bool {
        u128::from(self.count) * self.scale > self.capacity
    }

    fn finish(&mut self) -> u64 {
        (self.overloaded + u64::from(self.is_over())) * self.bin.cast_unsigned()
    }
}

impl Witness for FleetRecord {
    fn sent(&mut self, _at: SimTime, _client: KeyId, _made: u32) {}
    fn served(&mut self, _at: SimTime) {}
    fn ended(&mut self, _at: SimTime, _first: SimTime, _client: KeyId, _ending: Ending) {}

    fn told(&mut self, told: &Told) {
        let latency = told.at.since(told.came).short_nanos();
        self.decided += 1;
        self.latency.record(latency).expect("the histogram grows to any time");
        if told.decision != Decision::Deny {
            self.least_latency = self.least_latency.min(latency);
        }
        self.longest_latency = self.longest_latency.max(latency);
        let replica = &mut self.replicas[told.replica as usize];
        if told.decision.admits() {
            replica.admitted += 1
        } else {
            replica.denied += 1
        }
        if self.staleness.is_some() {
            match told.decider {
                Decider::Replica => _ = replica.offered.add(told.key, told.at.nanos(), told.cost),
                // All that ask the store do so at one place.
                Decider::Store => _ = self.replicas[0].offered.add(told.key, told.at.nanos(), told.cost),
                Decider::Fallback | Decider::Rule | Decider::Exempt => {}
            }
        }
        if matches!(told.decider, Decider::Fallback | Decider::Rule) {
            self.without += 1;
            let trailing = self.unanswered.iter_mut();
            trailing.for_each(|(_, trailing)| _ = trailing.add(told.key, told.at.nanos(), told.cost));
            let key = told.key.index();
            if key >= self.all_unanswered.len() {
                self.all_unanswered.resize(key + 1, 0);
            }
            self.all_unanswered[key] += told.cost;
        }
    }

    fn released(&mut self, released: &Released) {
        // What bypasses the limiter is no part of what it lets through.
        let exempt = self.exempt.get(usize::from(released.source)).copied().unwrap_or(false);
        if self.limit.is_some() && !exempt {
            self.over.release(released);
            let replica = &mut self.replicas[released.replica as usize];
            replica.released.add(released.key, released.at.nanos(), released.cost);
        }
        if let Some(backend) = &mut self.backend {
            backend.release(released.at.nanos() - self.start);
        }
    }

    fn operated(&mut self, _at: SimTime) {
        self.operations += 1;
    }
}
