//! A plan written out with every default stated.

use super::deployment::{deployment_spec, fault_spec};
use super::loops::loop_spec;
use super::plan::Plan;
use crate::limiter::{Initial, LeakyMode, LimiterSpec};
use crate::sim::LanePlan;
use crate::time::SimDuration;
use crate::traffic::{
    AttributeSource, BadRows, Column, KeysSpec, Order, Pattern, PatternSpec, TimeFormat, TraceFile, TraceSpec,
    TrafficKind, TrafficSpec,
};
use serde::Serialize;
use toml::{Table, Value};

/// A table from its entries.
pub(super) fn table<const N: usize>(entries: [(&str, Value); N]) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

pub(super) fn text(value: impl ToString) -> Value {
    Value::String(value.to_string())
}

/// A number; TOML has 63 bits for it, and no configured number needs more.
pub(super) fn number(value: u64) -> Value {
    Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

pub(super) fn word(value: impl Serialize) -> Value {
    Value::try_from(value).expect("a word is plain data")
}

/// All knobs of a limiter.
#[must_use]
pub fn lane_spec(limiter: &LimiterSpec) -> Table {
    match limiter {
        LimiterSpec::FixedWindow(s) => table([
            ("limit", text(s.limit)),
            ("anchor", word(s.anchor)),
            ("count-denied", Value::Boolean(s.count_denied)),
        ]),
        LimiterSpec::SlidingLog(s) => {
            table([("limit", text(s.limit)), ("edge", word(s.edge)), ("count-denied", Value::Boolean(s.count_denied))])
        }
        LimiterSpec::SlidingCounter(s) => table([
            ("limit", text(s.limit)),
            ("compare", word(s.compare)),
            ("buckets", number(u64::from(s.buckets))),
            ("oldest", word(s.oldest)),
            ("anchor", word(s.anchor)),
            ("count-denied", Value::Boolean(s.count_denied)),
        ]),
        // A rate of zero comes from a limit of zero, which resolves to it again.
        LimiterSpec::TokenBucket(s) if s.rate.units == 0 => Table::new(),
        LimiterSpec::TokenBucket(s) => table([
            ("rate", text(s.rate)),
            ("burst", number(s.burst)),
            (
                "initial",
                match s.initial {
                    Initial::Full => text("full"),
                    Initial::Empty => text("empty"),
                    Initial::Tokens(tokens) => number(tokens),
                },
            ),
            ("refill", word(s.refill)),
            ("backwards", word(s.backwards)),
        ]),
        LimiterSpec::LeakyBucket(s) if s.rate.units == 0 => Table::new(),
        LimiterSpec::LeakyBucket(s) => {
            let mut knobs = table([("rate", text(s.rate)), ("mode", word(s.mode)), ("capacity", number(s.capacity))]);
            if s.mode == LeakyMode::Meter {
                knobs.insert("compare".to_owned(), word(s.compare));
            }
            knobs
        }
        LimiterSpec::Gcra(s) if s.rate.units == 0 => Table::new(),
        LimiterSpec::Gcra(s) => table([("rate", text(s.rate)), ("burst", number(s.burst))]),
    }
}

impl Plan {
    /// The plan as a scenario with every default stated.
    #[must_use]
    pub fn resolved(&self) -> Table {
        let mut scenario = table([("title", text(&self.title))]);
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                scenario.insert(key.to_owned(), value);
            }
        };
        put("about", self.about.as_ref().map(text));
        put("start", self.traffic.start.map(text));
        put("duration", self.traffic.duration.map(text));
        put("seed", Some(number(self.traffic.seed)));
        put("limit", self.limit.map(text));
        let spans: Vec<Value> = self.envelope.iter().map(text).collect();
        put("envelope", (!spans.is_empty()).then_some(Value::Array(spans)));
        if self.is_closed_loop() {
            put("max-events", Some(number(self.max_events)));
            put("metric-bin", Some(text(self.metric_bin)));
            let conditions: Table =
                self.conditions.iter().map(|condition| (condition.name.clone(), text(&condition.text))).collect();
            put("conditions", (!conditions.is_empty()).then_some(Value::Table(conditions)));
        }
        put("traffic", Some(Value::Array(self.traffic.entries.iter().map(|e| Value::Table(traffic(e))).collect())));
        put("lane", Some(Value::Array(self.lanes.iter().map(|lane| Value::Table(self.lane(lane))).collect())));
        let faults: Vec<Value> = self.faults.iter().map(|fault| Value::Table(fault_spec(fault))).collect();
        if !faults.is_empty() {
            scenario.insert("fault".to_owned(), Value::Array(faults));
        }
        scenario
    }

    fn lane(&self, lane: &LanePlan) -> Table {
        let mut entry = table([("name", text(&lane.name))]);
        if lane.column != 0 {
            let names = self.traffic.columns[lane.column].iter().map(|attribute| match attribute {
                0 => text("key"),
                attribute => text(&self.traffic.attributes[*attribute]),
            });
            entry.insert("key".to_owned(), Value::Array(names.collect()));
        }
        let mut classes: Vec<&str> = Vec::new();
        for (traffic, exempt) in self.traffic.entries.iter().zip(&lane.exempt) {
            if let (true, Some(class)) = (*exempt, traffic.class.as_deref())
                && !classes.contains(&class)
            {
                classes.push(class);
            }
        }
        if !classes.is_empty() {
            entry.insert("exempt".to_owned(), Value::Array(classes.into_iter().map(text).collect()));
        }
        if let Some(tick) = lane.clock_resolution {
            entry.insert("clock-resolution".to_owned(), text(SimDuration::from_nanos(tick)));
        }
        entry.insert(lane.limiter.name().to_owned(), Value::Table(lane_spec(&lane.limiter)));
        entry.extend(loop_spec(lane));
        let deployment = lane.deployment.as_ref().map(deployment_spec);
        entry.extend(deployment.map(|spec| ("deployment".to_owned(), Value::Table(spec))));
        entry
    }
}

fn traffic(entry: &TrafficSpec) -> Table {
    let mut t = table([("name", text(&entry.name))]);
    if let Some(class) = &entry.class {
        t.insert("class".to_owned(), text(class));
    }
    if !entry.from.is_zero() {
        t.insert("from".to_owned(), text(entry.from));
    }
    if let Some(until) = entry.until {
        t.insert("until".to_owned(), text(until));
    }
    match &entry.kind {
        TrafficKind::Pattern(spec) => pattern(spec, &mut t),
        TrafficKind::Trace(spec) => {
            t.insert("trace".to_owned(), Value::Table(trace(spec)));
        }
    }
    t
}

fn pattern(spec: &PatternSpec, t: &mut Table) {
    let keys = match spec.keys {
        KeysSpec::Count(n) => number(n),
        KeysSpec::Zipf { n, exponent } => Value::Table(table([(
            "zipf",
            Value::Table(table([("n", number(n)), ("exponent", Value::Float(exponent))])),
        )])),
    };
    t.insert("keys".to_owned(), keys);
    t.insert("cost".to_owned(), number(spec.cost));
    let mut groups = Table::new();
    let mut spread = Table::new();
    for (name, source) in &spec.attributes {
        match source {
            AttributeSource::Groups(n) => groups.insert(name.clone(), number(*n)),
            AttributeSource::Fixed(value) => groups.insert(name.clone(), text(value)),
            AttributeSource::Spread(n) => spread.insert(name.clone(), number(*n)),
        };
    }
    if !groups.is_empty() {
        t.insert("groups".to_owned(), Value::Table(groups));
    }
    if !spread.is_empty() {
        t.insert("spread".to_owned(), Value::Table(spread));
    }
    let (kind, knobs) = match &spec.pattern {
        Pattern::Burst { requests, at, over } => {
            ("burst", table([("requests", number(*requests)), ("at", text(at)), ("over", text(over))]))
        }
        Pattern::BoundaryBurst { requests, margin, edges } => {
            let mut knobs = table([("requests", number(*requests)), ("margin", text(margin))]);
            if let Some(edges) = edges {
                knobs.insert("edges".to_owned(), number(*edges));
            }
            ("boundary-burst", knobs)
        }
        Pattern::IdleThenSpike { idle, requests, repeat } => (
            "idle-then-spike",
            table([("idle", text(idle)), ("requests", number(*requests)), ("repeat", number(*repeat))]),
        ),
        Pattern::Steady { rate } => ("steady", table([("rate", text(rate))])),
        Pattern::Poisson { rate } => ("poisson", table([("rate", text(rate))])),
        Pattern::OnOff { rate, on, off } => {
            ("on-off", table([("rate", text(rate)), ("on", text(on)), ("off", text(off))]))
        }
        Pattern::Clients { count, think } => ("clients", table([("count", number(*count)), ("think", text(think))])),
        Pattern::Ramp { rate, to } => ("ramp", table([("rate", text(rate)), ("to", text(to))])),
    };
    t.insert(kind.to_owned(), Value::Table(knobs));
}

fn column(column: &Column) -> Value {
    match column {
        Column::Name(name) => text(name),
        Column::Number(n) => number(*n as u64),
    }
}

fn trace(spec: &TraceSpec) -> Table {
    let file = match &spec.file {
        TraceFile::Stdin { .. } => "-",
        TraceFile::Path(_) | TraceFile::Embedded(_) => &spec.display,
    };
    let mut t = table([("file", text(file))]);
    if let Some(time) = &spec.time {
        t.insert("time".to_owned(), column(time));
    }
    let format = match &spec.time_format {
        TimeFormat::Auto => "auto",
        TimeFormat::Seconds => "s",
        TimeFormat::Millis => "ms",
        TimeFormat::Micros => "us",
        TimeFormat::Nanos => "ns",
        TimeFormat::Rfc3339 => "rfc3339",
        TimeFormat::Pattern(pattern) => pattern,
    };
    t.insert("time-format".to_owned(), text(format));
    if let Some(key) = &spec.key {
        t.insert("key".to_owned(), column(key));
    }
    if !spec.cost.is_empty() {
        t.insert("cost".to_owned(), Value::Array(spec.cost.iter().map(column).collect()));
    }
    if !spec.attributes.is_empty() {
        let attributes = spec.attributes.iter().map(|(name, value)| (name.clone(), column(value)));
        t.insert("attributes".to_owned(), Value::Table(attributes.collect()));
    }
    let order = match spec.order {
        Order::Strict => text("strict"),
        Order::Sort => text("sort"),
        Order::Window(window) => Value::Table(table([("window", text(window))])),
    };
    t.insert("order".to_owned(), order);
    let bad_rows = match spec.bad_rows {
        BadRows::Error => "error",
        BadRows::Skip => "skip",
    };
    t.insert("bad-rows".to_owned(), text(bad_rows));
    t.insert("header".to_owned(), Value::Boolean(spec.header));
    t
}
