//! The validated plan of a run.

use super::conditions::{self, SpanCondition};
use super::diagnose;
use super::expect::{Expectation, Reader};
use super::file::{Algorithms, LaneTable, ScenarioTable};
use super::lanes::{Lanes, default_limiter};
use super::loops::Loops;
use super::names::{check_prose, names};
use super::overrides::Override;
use super::source::ScenarioSource;
use super::traffic::Traffic;
use super::warnings::warnings;
use crate::error::Error;
use crate::limiter::{LimiterSpec, Workload};
use crate::quota::Limit;
use crate::sim::{FaultSpec, LanePlan, Population};
use crate::time::{SimDuration, SimTime};
use crate::traffic::{Pattern, PatternSpec, TrafficKind, TrafficPlan, TrafficSpec};
use toml::Spanned;

/// Events after which a lane of a closed loop is stopped, unless stated otherwise.
const MAX_EVENTS: u64 = 100_000_000;

/// Width of the bins that attempts and answers are counted in, unless stated otherwise.
const METRIC_BIN: SimDuration = SimDuration::from_secs(1);

/// Lanes that a run may have.
const MAX_LANES: usize = 1_000;

/// A scenario, validated, with every default resolved.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The lesson, or what is replayed.
    pub title: String,
    /// What a newcomer should know.
    pub about: Option<String>,
    /// What the command line changed.
    pub changed: Vec<String>,
    /// What every lane must enforce.
    pub limit: Option<Limit>,
    /// Spans at which the envelope is measured.
    pub envelope: Vec<SimDuration>,
    /// The traffic.
    pub traffic: TrafficPlan,
    /// Names of the key columns: `key`, `ip`, `tenant+ip`.
    pub column_names: Vec<String>,
    /// The lanes.
    pub lanes: Vec<LanePlan>,
    /// What goes wrong in the world of all lanes.
    pub faults: Vec<FaultSpec>,
    /// What is legal and most likely not meant, a line each.
    pub warnings: Vec<String>,
    /// Events after which a lane of a closed loop is stopped.
    pub max_events: u64,
    /// Width of the bins that attempts and answers are counted in.
    pub metric_bin: SimDuration,
    /// What runs are sorted by.
    pub conditions: Vec<SpanCondition>,
    /// What is expected of them.
    pub expectations: Vec<Expectation>,
}

impl Plan {
    /// Reads and validates a scenario with what the command line changes of it.
    ///
    /// # Errors
    /// If the text is not a valid scenario: with the place, what was found and what is accepted.
    pub fn new(source: &ScenarioSource, overrides: &[Override]) -> Result<Self, Error> {
        if overrides.is_empty() {
            return Self::read(source);
        }
        // The unchanged text is checked first: its errors are the author's, not the override's.
        Self::read(source)?;
        let changed = Override::apply(overrides, source)?;
        let mut plan = Self::read(&changed)?;
        plan.changed = overrides.iter().map(ToString::to_string).collect();
        plan.expectations.clear();
        Ok(plan)
    }

    /// A plan of traffic that meets no lane yet, all else as usual.
    pub(super) fn without_lanes(title: String, limit: Option<Limit>, traffic: TrafficPlan) -> Self {
        Self {
            title,
            about: None,
            changed: Vec::new(),
            limit,
            envelope: Vec::new(),
            traffic,
            column_names: vec!["key".to_owned()],
            lanes: Vec::new(),
            faults: Vec::new(),
            warnings: Vec::new(),
            max_events: MAX_EVENTS,
            metric_bin: METRIC_BIN,
            conditions: Vec::new(),
            expectations: Vec::new(),
        }
    }

    fn read(source: &ScenarioSource) -> Result<Self, Error> {
        let table: ScenarioTable = toml::from_str(&source.text).map_err(|error| diagnose::explain(source, &error))?;
        let limit = table.limit.as_ref().map(|limit| limit.get_ref().0);
        let duration = table.duration.as_ref().map(|duration| duration.get_ref().0);
        let start = table.start.as_ref().map(|start| start.get_ref().0);
        if let (Some(stated), Some(span)) = (&table.duration, duration) {
            if span.is_zero() {
                let help = Some("write a duration such as \"2m\"".to_owned());
                return Err(source.error(stated.span(), "a duration of zero has no room for arrivals", "zero", help));
            }
            if start.unwrap_or(SimTime::EPOCH).checked_add(span).is_none_or(|end| end > SimTime::MAX) {
                return Err(source.error(stated.span(), "the run would end after the year 2116", "too long", None));
            }
        }
        check_prose(source, "title", table.title.as_ref())?;
        check_prose(source, "about", table.about.as_ref())?;
        let envelope = envelope(source, &table)?;
        let traffic = traffic(source, &table, limit, start, duration)?;
        let title = table.title.as_ref().map_or_else(|| source.name.clone(), |title| title.get_ref().clone());
        let mut plan = Self {
            about: table.about.as_ref().map(|about| about.get_ref().split_whitespace().collect::<Vec<_>>().join(" ")),
            envelope,
            ..Self::without_lanes(title, limit, traffic)
        };
        match &table.lane {
            None => {
                let Some(limit) = limit else {
                    return Err(source.error(
                        0..source.text.find('\n').unwrap_or(source.text.len()),
                        "no lane and no limit: nothing to simulate",
                        "neither `limit` nor `[[lane]]` in this scenario",
                        Some("write `limit = \"100/1m\"`: without lanes, it runs all six algorithms".to_owned()),
                    ));
                };
                plan.default_lanes(limit);
            }
            Some(lanes) => plan.stated_lanes(source, lanes)?,
        }
        Loops { source, table: &table }.apply(&mut plan)?;
        plan.warnings = warnings(&plan, &table);
        if let Some(stated) = &table.conditions {
            plan.conditions = conditions::Reader { source, duration, closed: plan.is_closed_loop() }.read(stated)?;
        }
        if let Some(expect) = &table.expect {
            plan.expectations = Reader { source, plan: &plan }.read(expect)?;
        }
        Ok(plan)
    }

    /// One lane for each algorithm.
    pub(super) fn default_lanes(&mut self, limit: Limit) {
        let lanes = LimiterSpec::NAMES
            .iter()
            .filter_map(|name| Some(LanePlan::plain((*name).to_owned(), default_limiter(name, limit)?)));
        self.lanes = lanes.collect();
    }

    fn stated_lanes(&mut self, source: &ScenarioSource, lanes: &[Spanned<LaneTable>]) -> Result<(), Error> {
        if lanes.len() > MAX_LANES {
            let span = lanes[MAX_LANES].span();
            return Err(source.error(span, format!("more than {MAX_LANES} lanes"), "one too many", None));
        }
        let resolver = Lanes { source, limit: self.limit };
        let limiter =
            |lane: &Spanned<LaneTable>| resolver.limiter(&Algorithms::from(lane.get_ref()), lane.span(), "lane");
        let limiters = lanes.iter().map(limiter).collect::<Result<Vec<_>, _>>()?;
        let own = lanes.iter().map(|lane| lane.get_ref().name.as_ref());
        let names = names(source, "lane", own, limiters.iter().map(LimiterSpec::name))?;
        for ((lane, limiter), name) in lanes.iter().zip(limiters).zip(names) {
            let table = lane.get_ref();
            let column = self.column(source, table)?;
            let exempt = self.exempt(source, table)?;
            let clock_resolution = match &table.clock_resolution {
                None => None,
                Some(stated) if stated.get_ref().0.is_zero() => {
                    let help = Some("leave it out for an exact clock".to_owned());
                    return Err(source.error(stated.span(), "a clock resolution of zero", "zero", help));
                }
                Some(stated) => Some(stated.get_ref().0.short_nanos()),
            };
            self.lanes.push(LanePlan { column, exempt, clock_resolution, ..LanePlan::plain(name, limiter) });
        }
        Ok(())
    }

    /// The key column of a lane, new or known.
    fn column(&mut self, source: &ScenarioSource, lane: &LaneTable) -> Result<usize, Error> {
        let Some(stated) = &lane.key else { return Ok(0) };
        let names = &stated.get_ref().0;
        if names.is_empty() {
            let help = Some("leave `key` out to count by the traffic's key".to_owned());
            return Err(source.error(stated.span(), "a lane that counts by nothing", "empty", help));
        }
        let mut attributes = Vec::new();
        for name in names {
            if name == "key" {
                attributes.push(0);
                continue;
            }
            for entry in &self.traffic.entries {
                let known = entry.attribute_names();
                if !known.iter().any(|known| known == name) {
                    let help = match &known[..] {
                        [] => format!(
                            "give `{}` one: `groups = {{ {name} = 20 }}` or `spread = {{ {name} = 20 }}` for a pattern, `attributes = [\"{name}\"]` for a trace",
                            entry.name
                        ),
                        known => format!("`{}` has {}", entry.name, known.join(", ")),
                    };
                    return Err(source.error(
                        stated.span(),
                        format!("traffic `{}` has no attribute `{name}` to count by", entry.name),
                        "unknown attribute",
                        Some(help),
                    ));
                }
            }
            let index = self.traffic.attributes.iter().skip(1).position(|known| known == name);
            attributes.push(index.map_or_else(
                || {
                    self.traffic.attributes.push(name.clone());
                    self.traffic.attributes.len() - 1
                },
                |index| index + 1,
            ));
        }
        if let Some(known) = self.traffic.columns.iter().position(|column| *column == attributes) {
            return Ok(known);
        }
        self.traffic.columns.push(attributes);
        self.column_names.push(names.join("+"));
        Ok(self.traffic.columns.len() - 1)
    }

    /// For each traffic entry, whether the lane lets its class bypass the limiter.
    fn exempt(&self, source: &ScenarioSource, lane: &LaneTable) -> Result<Vec<bool>, Error> {
        let Some(stated) = &lane.exempt else { return Ok(Vec::new()) };
        let classes: Vec<&str> = self.traffic.entries.iter().filter_map(|entry| entry.class.as_deref()).collect();
        for class in stated.get_ref() {
            if !classes.contains(&class.get_ref().as_str()) {
                let help = match &classes[..] {
                    [] => format!("no traffic states a class; write `class = \"{}\"` in one", class.get_ref()),
                    classes => format!("classes in this scenario: {}", classes.join(", ")),
                };
                return Err(source.error(
                    class.span(),
                    format!("no traffic has the class `{}`", class.get_ref()),
                    "unknown class",
                    Some(help),
                ));
            }
        }
        let exempts = |class: &str| stated.get_ref().iter().any(|exempt| exempt.get_ref() == class);
        Ok(self.traffic.entries.iter().map(|entry| entry.class.as_deref().is_some_and(exempts)).collect())
    }

    /// Whether what lanes answer decides what they are asked next.
    #[must_use]
    pub fn is_closed_loop(&self) -> bool {
        self.lanes.iter().any(LanePlan::is_closed_loop) || self.populations().iter().any(Option::is_some)
    }

    /// Whether a lane's limit is kept by more than one process.
    #[must_use]
    pub fn is_deployed(&self) -> bool {
        self.lanes.iter().any(|lane| lane.deployment.is_some())
    }

    /// Whether what happens depends on what happened before in more than the limiters.
    #[must_use]
    pub fn needs_feedback(&self) -> bool {
        self.is_closed_loop() || self.is_deployed()
    }

    /// For each traffic entry, how its clients go on, if it is a closed population.
    #[must_use]
    pub fn populations(&self) -> Vec<Option<Population>> {
        let population = |entry: &TrafficSpec| match &entry.kind {
            TrafficKind::Pattern(PatternSpec { pattern: Pattern::Clients { think, .. }, .. }) => {
                Some(Population { think: *think, until: entry.until })
            }
            _ => None,
        };
        self.traffic.entries.iter().map(population).collect()
    }

    /// The start of the run, if it is known before the traffic is opened.
    #[must_use]
    pub fn stated_start(&self) -> Option<SimTime> {
        let synthetic = self.traffic.entries.iter().all(|entry| matches!(entry.kind, TrafficKind::Pattern(_)));
        self.traffic.start.or(synthetic.then_some(SimTime::EPOCH))
    }

    /// Spans at which the envelope is measured: those stated, else the limit's window.
    #[must_use]
    pub fn measured_spans(&self) -> Vec<SimDuration> {
        match self.envelope.is_empty() {
            true => self.limit.iter().map(|limit| limit.window).collect(),
            false => self.envelope.clone(),
        }
    }

    /// Classes that are counted: those stated, and `other` for traffic beside them without one.
    #[must_use]
    pub fn classes(&self) -> Vec<&str> {
        let stated = |entry: &'_ TrafficSpec| entry.class.is_some();
        if !self.traffic.entries.iter().any(stated) {
            return Vec::new();
        }
        let mut classes = Vec::new();
        for entry in &self.traffic.entries {
            let class = entry.class.as_deref().unwrap_or("other");
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        classes
    }

    /// Makes a key column of every attribute that all traffic has, whether a lane keys by it or not.
    pub fn key_by_every_attribute(&mut self) {
        let mut names: Vec<String> = Vec::new();
        for entry in &self.traffic.entries {
            names.extend(entry.attribute_names());
        }
        names.retain(|name| self.traffic.entries.iter().all(|entry| entry.attribute_names().contains(name)));
        names.sort();
        names.dedup();
        self.traffic.columns = (0..=names.len()).map(|attribute| vec![attribute]).collect();
        self.traffic.attributes = std::iter::once(String::new()).chain(names).collect();
    }

    /// What is known of the attempts before the run.
    #[must_use]
    pub fn workload(&self) -> Workload {
        let (from, until) = self.traffic.times();
        // Retries come after the last arrival, unless the run is stated to end.
        let open_end = self.needs_feedback() && self.traffic.duration.is_none();
        let until = if open_end { SimTime::MAX } else { until };
        Workload { unit_cost: self.traffic.unit_cost(), times: (from, until), debt: false }
    }
}

/// The error about an algorithm that does not exist.
pub fn unknown_algorithm(name: &str) -> Error {
    let hint = match diagnose::closest(name, LimiterSpec::NAMES) {
        Some(close) => format!("did you mean `{close}`? "),
        None => String::new(),
    };
    Error::usage(format!("unknown algorithm `{name}`; {hint}accepted: {}", LimiterSpec::NAMES.join(", ")))
}

/// Spans of an envelope at most.
const MOST_SPANS: usize = 32;

fn envelope(source: &ScenarioSource, table: &ScenarioTable) -> Result<Vec<SimDuration>, Error> {
    let mut spans = Vec::new();
    for stated in table.envelope.iter().flatten() {
        let span = stated.get_ref().0;
        if span.is_zero() {
            let help = Some("write a span such as \"1s\"".to_owned());
            return Err(source.error(stated.span(), "a span of zero holds nothing", "zero", help));
        }
        if spans.len() == MOST_SPANS {
            let what = format!("an envelope of more than {MOST_SPANS} spans");
            let help = Some("each span keeps all that was released in it; state those that matter".to_owned());
            return Err(source.error(stated.span(), what, "one too many", help));
        }
        if !spans.contains(&span) {
            spans.push(span);
        }
    }
    Ok(spans)
}

fn traffic(
    source: &ScenarioSource,
    table: &ScenarioTable,
    limit: Option<Limit>,
    start: Option<SimTime>,
    duration: Option<SimDuration>,
) -> Result<TrafficPlan, Error> {
    if table.traffic.is_empty() {
        return Err(source.error(
            source.text.trim_end().len()..source.text.trim_end().len(),
            "no traffic: nothing would arrive",
            "no `[[traffic]]` in this scenario",
            Some("add `[[traffic]]` and a kind, as in `steady = { rate = \"10/s\" }`".to_owned()),
        ));
    }
    if table.traffic.len() > usize::from(u16::MAX) {
        return Err(source.error(table.traffic[65_535].span(), "more than 65535 traffic tables", "one too many", None));
    }
    let classes = table.traffic.iter().any(|entry| entry.get_ref().class.is_some());
    let resolver = Traffic { source, classes, limit, duration };
    let mut entries = Vec::new();
    for entry in &table.traffic {
        entries.push(resolver.entry(entry, str::to_owned)?);
    }
    let own = table.traffic.iter().map(|entry| entry.get_ref().name.as_ref());
    let kinds: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
    let names = names(source, "traffic", own, kinds.iter().map(String::as_str))?;
    for (entry, name) in entries.iter_mut().zip(names) {
        entry.name = name;
    }
    let stdin = entries.iter().filter(|entry| entry.reads_stdin()).count();
    if stdin > 1 {
        let last = table.traffic.iter().rfind(|entry| entry.get_ref().trace.is_some());
        let span = last.map_or(0..0, Spanned::span);
        return Err(source.error(span, "standard input can be read only once", "the second `-`", None));
    }
    Ok(TrafficPlan {
        entries,
        attributes: vec![String::new()],
        columns: vec![vec![0]],
        start,
        duration,
        seed: table.seed.map_or(1, |seed| seed.0),
        window: limit.map(|limit| limit.window),
    })
}
