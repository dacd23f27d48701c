//! Synthetic arrivals: each pattern a rule from a number to an instant.

use super::spec::{AttributeSource, KeysSpec, Pattern, PatternSpec};
use super::{KeyTable, Source, SourceRows};
use crate::error::Error;
use crate::quota::Rate;
use crate::rng::{stream, unit_interval};
use crate::time::{SimDuration, SimTime};
use rand::Rng;
use rand::rngs::Xoshiro256PlusPlus;

/// The span in which a pattern's arrivals lie, and what it needs to know of the run.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// First instant of this traffic.
    pub from: SimTime,
    /// First instant after it, if it ends.
    pub until: Option<SimTime>,
    /// The limit's window.
    pub window: Option<SimDuration>,
}

impl Stage {
    fn contains(&self, at: i64) -> bool {
        at >= self.from.nanos() && self.until.is_none_or(|until| at < until.nanos())
    }
}

/// A synthetic source.
#[derive(Debug)]
pub struct PatternSource {
    clock: Clock,
    stage: Stage,
    rng: Xoshiro256PlusPlus,
    picker: Picker,
    cost: u64,
    key: Names,
    attributes: Vec<Attribute>,
    ended: bool,
}

/// The values of one further attribute.
#[derive(Debug)]
struct Attribute {
    source: AttributeSource,
    names: Names,
    /// For `spread`: how many arrivals each key has had.
    turns: Vec<u64>,
}

/// Values by index, named when first used.
#[derive(Debug)]
struct Names {
    table: KeyTable,
    ids: Vec<u32>,
    prefix: String,
    single: bool,
}

impl Names {
    fn new(prefix: String, single: bool) -> Self {
        Self { table: KeyTable::new(), ids: Vec::new(), prefix, single }
    }

    fn id(&mut self, index: u64) -> u32 {
        let index = usize::try_from(index).expect("an index below the number of keys");
        if index >= self.ids.len() {
            self.ids.resize(index + 1, u32::MAX);
        }
        if self.ids[index] == u32::MAX {
            // No traffic has a dot in its name, so none is named like a key of another.
            let name = if self.single { self.prefix.clone() } else { format!("{}.{}", self.prefix, index + 1) };
            self.ids[index] = self.table.intern(name.as_bytes());
        }
        self.ids[index]
    }
}

impl PatternSource {
    /// A source of this traffic; `attributes` are the names that some lane keys by.
    #[must_use]
    pub fn new(name: &str, spec: &PatternSpec, attributes: &[String], seed: u64, stage: Stage) -> Self {
        let attributes = attributes
            .iter()
            .map(|wanted| {
                let source = spec.attributes.iter().find(|(name, _)| name == wanted).map(|(_, source)| source.clone());
                let source = source.unwrap_or_else(|| AttributeSource::Fixed(String::new()));
                let names = match &source {
                    AttributeSource::Fixed(value) => Names::new(value.clone(), true),
                    AttributeSource::Groups(n) => Names::new(format!("{name}-{wanted}"), *n == 1),
                    AttributeSource::Spread(_) => Names::new(format!("{name}-{wanted}"), false),
                };
                Attribute { source, names, turns: Vec::new() }
            })
            .collect();
        Self {
            clock: Clock::new(&spec.pattern, &stage),
            stage,
            rng: stream(seed, name),
            picker: Picker::new(spec.keys),
            cost: spec.cost,
            key: Names::new(name.to_owned(), spec.keys.count() == 1),
            attributes,
            ended: false,
        }
    }
}

impl Source for PatternSource {
    fn fill(&mut self, rows: &mut SourceRows, max: usize) -> Result<(), Error> {
        let mut left = max;
        while left > 0 && !self.ended {
            let Some(at) = self.clock.next(&mut self.rng, &self.stage) else {
                self.ended = true;
                break;
            };
            if !self.stage.contains(at) {
                self.ended = self.stage.until.is_some_and(|until| at >= until.nanos());
                continue;
            }
            if at > SimTime::MAX.nanos() {
                return Err(Error::Range {
                    message: format!(
                        "traffic `{}` goes on past {}, the end of the clock's range in 2116",
                        self.key.prefix,
                        SimTime::MAX
                    ),
                });
            }
            let key = self.picker.next(&mut self.rng);
            rows.at.push(SimTime::from_nanos(at));
            rows.cost.push(self.cost);
            rows.ids[0].push(self.key.id(key));
            for (attribute, ids) in self.attributes.iter_mut().zip(&mut rows.ids[1..]) {
                let value = match attribute.source {
                    AttributeSource::Fixed(_) => 0,
                    AttributeSource::Groups(n) => key % n,
                    AttributeSource::Spread(n) => {
                        let index = usize::try_from(key).expect("an index below the number of keys");
                        if index >= attribute.turns.len() {
                            attribute.turns.resize(index + 1, 0);
                        }
                        let turn = attribute.turns[index];
                        attribute.turns[index] = (turn + 1) % n;
                        key * n + turn
                    }
                };
                ids.push(attribute.names.id(value));
            }
            left -= 1;
        }
        Ok(())
    }

    fn keys(&self, attribute: usize) -> &KeyTable {
        match attribute {
            0 => &self.key.table,
            n => &self.attributes[n - 1].names.table,
        }
    }
}

/// Which key the next arrival has.
#[derive(Debug)]
enum Picker {
    Turn { n: u64, next: u64 },
    Share { cumulative: Vec<f64> },
}

impl Picker {
    fn new(keys: KeysSpec) -> Self {
        match keys {
            KeysSpec::Count(n) => Self::Turn { n, next: 0 },
            KeysSpec::Zipf { n, exponent } => {
                let mut total = 0.0;
                let cumulative = (1..=n)
                    .map(|k| {
                        total += libm::pow(k as f64, -exponent);
                        total
                    })
                    .collect();
                Self::Share { cumulative }
            }
        }
    }

    fn next(&mut self, rng: &mut Xoshiro256PlusPlus) -> u64 {
        match self {
            Self::Turn { n, next } => {
                let key = *next;
                *next = (key + 1) % *n;
                key
            }
            Self::Share { cumulative } => {
                let total = cumulative.last().copied().unwrap_or(1.0);
                let draw = unit_interval(rng.next_u64()) * total;
                let key = cumulative.partition_point(|share| *share < draw);
                key.min(cumulative.len().saturating_sub(1)) as u64
            }
        }
    }
}

/// Evenly spaced instants: the i-th at `floor(i * period / units)`, without rounding drift.
#[derive(Clone, Copy, Debug)]
struct Steps {
    whole: u64,
    rest: u64,
    units: u64,
    at: u64,
    carry: u64,
}

impl Steps {
    fn new(rate: Rate) -> Self {
        let (period, units) = rate.reduced();
        Self { whole: period / units, rest: period % units, units, at: 0, carry: 0 }
    }

    fn next(&mut self) -> u64 {
        let at = self.at;
        self.carry += self.rest;
        let extra = u64::from(self.carry >= self.units);
        self.carry -= extra * self.units;
        self.at = self.at.saturating_add(self.whole + extra);
        at
    }
}

/// When the next arrival comes, in nanoseconds since the epoch.
#[derive(Debug)]
enum Clock {
    Even { base: i64, span: u64, requests: u64, i: u64 },
    Edges { edge: i64, window: i64, margin: u64, requests: u64, i: u64, edges: u64 },
    Spikes { next: i64, idle: i64, requests: u64, i: u64, left: u64 },
    Steady { steps: Steps },
    Poisson { at: i64, mean: f64 },
    OnOff { base: i64, rate: Rate, on: u64, period: i64, steps: Steps },
    Ramp { from: f64, slope: f64, i: u64, last: i64 },
}

fn short(span: SimDuration) -> i64 {
    i64::try_from(span.short_nanos()).expect("a configured span is below 2^62")
}

/// `i * span / n`, exactly rounded down.
fn share(i: u64, span: u64, n: u64) -> u64 {
    (u128::from(i) * u128::from(span) / u128::from(n)) as u64
}

fn per_nano(rate: Rate) -> f64 {
    rate.units as f64 / rate.period.short_nanos() as f64
}

impl Clock {
    fn new(pattern: &Pattern, stage: &Stage) -> Self {
        let from = stage.from.nanos();
        match *pattern {
            Pattern::Burst { requests, at, over } => {
                Self::Even { base: from.saturating_add(short(at)), span: over.short_nanos(), requests, i: 0 }
            }
            Pattern::Clients { count, .. } => Self::Even { base: from, span: 0, requests: count, i: 0 },
            Pattern::BoundaryBurst { requests, margin, edges } => {
                let window = stage.window.map_or(1, short);
                // The first edge strictly after the start.
                let edge = from.saturating_add(window - from.rem_euclid(window));
                Self::Edges {
                    edge,
                    window,
                    margin: margin.short_nanos(),
                    requests,
                    i: 0,
                    edges: edges.unwrap_or(u64::MAX),
                }
            }
            Pattern::IdleThenSpike { idle, requests, repeat } => {
                let idle = short(idle);
                Self::Spikes { next: from.saturating_add(idle), idle, requests, i: 0, left: repeat }
            }
            Pattern::Steady { rate } => Self::Steady { steps: Steps::new(rate) },
            Pattern::Poisson { rate } => Self::Poisson { at: from, mean: 1.0 / per_nano(rate) },
            Pattern::OnOff { rate, on, off } => Self::OnOff {
                base: from,
                rate,
                on: on.short_nanos(),
                period: short(on).saturating_add(short(off)),
                steps: Steps::new(rate),
            },
            Pattern::Ramp { rate, to } => {
                let span = stage.until.map_or(1, |until| until.nanos().saturating_sub(from).max(1)) as f64;
                let start = per_nano(rate);
                Self::Ramp { from: start, slope: (per_nano(to) - start) / span, i: 0, last: 0 }
            }
        }
    }

    fn next(&mut self, rng: &mut Xoshiro256PlusPlus, stage: &Stage) -> Option<i64> {
        let from = stage.from.nanos();
        match self {
            Self::Even { base, span, requests, i } => {
                if i == requests {
                    return None;
                }
                let at = base.saturating_add(share(*i, *span, *requests) as i64);
                *i += 1;
                Some(at)
            }
            Self::Edges { edge, window, margin, requests, i, edges } => {
                if *requests == 0 {
                    return None;
                }
                if *i == 2 * *requests {
                    *i = 0;
                    *edges -= 1;
                    *edge = edge.saturating_add(*window);
                }
                if *edges == 0 || stage.until.is_some_and(|until| *edge >= until.nanos()) {
                    return None;
                }
                let side = *i / *requests;
                let offset = share(*i % *requests, *margin, *requests) as i64;
                *i += 1;
                Some(if side == 0 { *edge - *margin as i64 + offset } else { *edge + offset })
            }
            Self::Spikes { next, idle, requests, i, left } => {
                if *requests == 0 {
                    return None;
                }
                if i == requests {
                    *i = 0;
                    *left -= 1;
                    *next = next.saturating_add(*idle);
                }
                if *left == 0 {
                    return None;
                }
                *i += 1;
                Some(*next)
            }
            Self::Steady { steps } => Some(from.saturating_add(i64::try_from(steps.next()).ok()?)),
            Self::Poisson { at, mean } => {
                let gap = -libm::log(unit_interval(rng.next_u64())) * *mean;
                *at = at.saturating_add(libm::round(gap) as i64);
                Some(*at)
            }
            Self::OnOff { base, rate, on, period, steps } => {
                let mut offset = steps.next();
                if offset >= *on {
                    *base = base.saturating_add(*period);
                    *steps = Steps::new(*rate);
                    offset = steps.next();
                }
                Some(base.saturating_add(offset as i64))
            }
            Self::Ramp { from: start, slope, i, last } => {
                // The instant t at which start * t + slope * t^2 / 2 arrivals are due is i.
                let due = *i as f64;
                let root = *start * *start + 2.0 * *slope * due;
                if root < 0.0 {
                    return None;
                }
                let denominator = *start + root.sqrt();
                let t = if *i == 0 {
                    0
                } else if denominator > 0.0 {
                    libm::round(2.0 * due / denominator) as i64
                } else {
                    return None;
                };
                *i += 1;
                *last = t.max(*last);
                Some(from.saturating_add(*last))
            }
        }
    }
}
