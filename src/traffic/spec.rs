//! What traffic a scenario states, resolved.

use crate::quota::Rate;
use crate::rng::later_seed;
use crate::time::{SimDuration, SimTime};
use std::path::PathBuf;

/// All traffic of a run and how it is keyed.
#[derive(Clone, Debug)]
pub struct TrafficPlan {
    /// The sources, in order of the scenario.
    pub entries: Vec<TrafficSpec>,
    /// Attributes that some lane keys by; the first is the key itself and has no name.
    pub attributes: Vec<String>,
    /// Key columns: each a list of attributes whose values together are the key. The first is the
    /// key itself.
    pub columns: Vec<Vec<usize>>,
    /// The first instant of the run; where a trace has none, its first arrival.
    pub start: Option<SimTime>,
    /// How long arrivals are taken.
    pub duration: Option<SimDuration>,
    /// Seed of all random streams.
    pub seed: u64,
    /// The limit's window, whose edges `boundary-burst` aims at.
    pub window: Option<SimDuration>,
}

/// One source of traffic.
#[derive(Clone, Debug)]
pub struct TrafficSpec {
    /// Its name: of its random stream and of its keys.
    pub name: String,
    /// Its class, if it states one.
    pub class: Option<String>,
    /// Arrivals before this much time since the start are left out.
    pub from: SimDuration,
    /// Arrivals from this much time since the start on are left out.
    pub until: Option<SimDuration>,
    /// Where its arrivals come from.
    pub kind: TrafficKind,
}

/// Synthetic or recorded.
#[derive(Clone, Debug)]
pub enum TrafficKind {
    /// Arrivals by a rule.
    Pattern(PatternSpec),
    /// Arrivals from a file.
    Trace(TraceSpec),
}

/// Synthetic arrivals.
#[derive(Clone, Debug)]
pub struct PatternSpec {
    /// When they arrive.
    pub pattern: Pattern,
    /// Whose they are.
    pub keys: KeysSpec,
    /// Units each takes.
    pub cost: u64,
    /// Further attributes by name.
    pub attributes: Vec<(String, AttributeSource)>,
}

/// When synthetic arrivals come; instants count from the traffic's `from`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// `requests` evenly over `over`, from `at` on.
    Burst {
        /// How many.
        requests: u64,
        /// When the first comes.
        at: SimDuration,
        /// Over what time; zero: in one instant.
        over: SimDuration,
    },
    /// At each edge of the limit's window, `requests` within `margin` before it and as many after.
    BoundaryBurst {
        /// How many on each side.
        requests: u64,
        /// How far from the edge.
        margin: SimDuration,
        /// At how many edges at most.
        edges: Option<u64>,
    },
    /// Silence, then `requests` in one instant; again and again.
    IdleThenSpike {
        /// Silence before each spike.
        idle: SimDuration,
        /// How many in a spike.
        requests: u64,
        /// How many spikes.
        repeat: u64,
    },
    /// Evenly spaced.
    Steady {
        /// How fast.
        rate: Rate,
    },
    /// Exponential gaps.
    Poisson {
        /// How fast on average.
        rate: Rate,
    },
    /// Evenly spaced while on, silent while off.
    OnOff {
        /// How fast while on.
        rate: Rate,
        /// How long it is on.
        on: SimDuration,
        /// How long it is off.
        off: SimDuration,
    },
    /// From one rate to another, linearly.
    Ramp {
        /// Rate at the beginning.
        rate: Rate,
        /// Rate at the end.
        to: Rate,
    },
    /// A closed population: each client makes its first request at the beginning, and the next one
    /// some time after the one before has ended.
    Clients {
        /// How many.
        count: u64,
        /// How long they think.
        think: SimDuration,
    },
}

/// Whose synthetic arrivals are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeysSpec {
    /// This many keys in turn.
    Count(u64),
    /// Random keys, the k-th with a share proportional to 1/k^exponent.
    Zipf {
        /// How many keys.
        n: u64,
        /// The exponent; 0 gives all the same share.
        exponent: f64,
    },
}

impl KeysSpec {
    /// How many keys there can be.
    #[must_use]
    pub const fn count(self) -> u64 {
        match self {
            Self::Count(n) | Self::Zipf { n, .. } => n,
        }
    }
}

/// The values of a further attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeSource {
    /// The keys are spread over this many values: key k has value k mod n.
    Groups(u64),
    /// Each key's arrivals take this many values in turn.
    Spread(u64),
    /// Every arrival has this value, which other traffic may share.
    Fixed(String),
}

/// Where a trace is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceFile {
    /// A file.
    Path(PathBuf),
    /// Standard input.
    Stdin {
        /// A file that holds what has been read of it already.
        head: Option<PathBuf>,
    },
    /// Bytes inside the program.
    Embedded(&'static [u8]),
}

/// A CSV trace and how to read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceSpec {
    /// Where it is.
    pub file: TraceFile,
    /// How the user named it.
    pub display: String,
    /// Column of the arrival time; without one, the first with a usual name.
    pub time: Option<Column>,
    /// How times are written.
    pub time_format: TimeFormat,
    /// Column of the key; without one, all rows have the same key.
    pub key: Option<Column>,
    /// Columns whose sum is the cost; without any, every row costs 1.
    pub cost: Vec<Column>,
    /// Columns of further attributes, by the attribute's name.
    pub attributes: Vec<(String, Column)>,
    /// Whether the first record names the columns.
    pub header: bool,
    /// What to do about rows out of order.
    pub order: Order,
    /// What to do about bad rows.
    pub bad_rows: BadRows,
}

/// A column of a CSV file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// By its name in the header.
    Name(String),
    /// By its number, from 1.
    Number(usize),
}

impl std::fmt::Display for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Number(number) => number.fmt(f),
        }
    }
}

/// How times are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TimeFormat {
    /// A decimal number is Unix seconds, anything else a date-time.
    #[default]
    Auto,
    /// Decimal seconds since the epoch.
    Seconds,
    /// Decimal milliseconds.
    Millis,
    /// Decimal microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
    /// RFC 3339.
    Rfc3339,
    /// A strptime pattern.
    Pattern(String),
}

/// What to do about rows out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// They are errors.
    #[default]
    Strict,
    /// The whole file is sorted first.
    Sort,
    /// Rows may be late by this much.
    Window(SimDuration),
}

/// What to do about bad rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BadRows {
    /// The first ends the run.
    #[default]
    Error,
    /// They are left out, counted and listed.
    Skip,
}

impl TrafficSpec {
    /// The attributes that a lane may key by, beyond the key itself.
    #[must_use]
    pub fn attribute_names(&self) -> Vec<String> {
        match &self.kind {
            TrafficKind::Pattern(pattern) => pattern.attributes.iter().map(|(name, _)| name.clone()).collect(),
            TrafficKind::Trace(trace) => trace.attributes.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    /// Whether it is a trace from standard input.
    #[must_use]
    pub fn reads_stdin(&self) -> bool {
        matches!(&self.kind, TrafficKind::Trace(TraceSpec { file: TraceFile::Stdin { .. }, .. }))
    }
}

impl TrafficPlan {
    /// The seed of a run that repeats this one, so many runs later.
    #[must_use]
    pub const fn seed_of_run(&self, later: u64) -> u64 {
        later_seed(self.seed, later)
    }

    /// Whether every arrival costs one unit or none.
    #[must_use]
    pub fn unit_cost(&self) -> bool {
        self.entries.iter().all(|entry| match &entry.kind {
            TrafficKind::Pattern(pattern) => pattern.cost <= 1,
            TrafficKind::Trace(trace) => trace.cost.is_empty(),
        })
    }

    /// The instants between which all arrivals lie, where that is known before the run.
    #[must_use]
    pub fn times(&self) -> (SimTime, SimTime) {
        let synthetic = self.entries.iter().all(|entry| matches!(entry.kind, TrafficKind::Pattern(_)));
        let start = self.start.or(synthetic.then_some(SimTime::EPOCH));
        match (start, self.duration) {
            (Some(start), Some(duration)) if synthetic => {
                (start, start.checked_add(duration).unwrap_or(SimTime::MAX).min(SimTime::MAX))
            }
            _ => (SimTime::MIN, SimTime::MAX),
        }
    }
}
