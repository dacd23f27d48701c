//! The figures that may be expected: their names, what can be compared with each, and where each
//! stands in a report.

use crate::report::{ClassReport, FleetReport, LaneReport, LoopReport, StoreReport};
use crate::scenario::diagnose::closest;
use crate::scenario::plan::Plan;
use crate::time::SimDuration;

/// What a figure is, which says what it can be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// So many of the attempts.
    Attempts,
    /// A whole number of something else.
    Whole,
    /// A number with a fraction.
    Real,
    /// Nanoseconds.
    Span,
    /// Nanoseconds from the start of the run, before it where negative.
    Instant,
    /// The name of an algorithm.
    Algorithm,
    /// What a lane counts by.
    CountedBy,
    /// Another lane.
    Lane,
    /// 16 hexadecimal digits.
    Fingerprint,
    /// Some key of the traffic.
    Key,
}

/// What a report says of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// A whole number, exactly.
    Whole(i128),
    /// A number with a fraction.
    Real(f64),
    /// A text.
    Text(String),
    /// Nothing, as the peak without a limit.
    Absent,
}

impl Found {
    fn whole(value: Option<impl TryInto<i128>>) -> Self {
        value.map_or(Self::Absent, |value| Self::Whole(value.try_into().unwrap_or(i128::MAX)))
    }

    fn real(value: Option<f64>) -> Self {
        value.map_or(Self::Absent, Self::Real)
    }

    fn text(value: Option<&str>) -> Self {
        value.map_or(Self::Absent, |text| Self::Text(text.to_owned()))
    }
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Real(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Absent => f.write_str("null"),
        }
    }
}

/// A figure that every lane has.
#[derive(Debug)]
pub struct Entry {
    name: &'static str,
    kind: Kind,
    /// When there is no such figure.
    absent: Absent,
    read: fn(&LaneReport) -> Found,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Absent {
    Never,
    /// As the longest wait where nothing was admitted.
    Sometimes,
    /// Nothing is measured against a limit where none is stated.
    WithoutLimit,
    /// Nothing comes back in an open loop.
    InOpenLoop,
    /// The same, and sometimes in a closed one.
    OftenInOpenLoop,
    /// Where every lane is one process, and sometimes elsewhere.
    Undeployed,
}

const fn entry(name: &'static str, kind: Kind, absent: Absent, read: fn(&LaneReport) -> Found) -> Entry {
    Entry { name, kind, absent, read }
}

static ENTRIES: [Entry; 65] = {
    use Absent::{InOpenLoop, Never, OftenInOpenLoop, Sometimes, Undeployed, WithoutLimit};
    use Kind::{Attempts, Instant, Real, Span, Whole};
    [
        entry("algorithm", Kind::Algorithm, Never, |lane| Found::text(Some(lane.algorithm))),
        entry("key", Kind::CountedBy, Never, |lane| Found::text(Some(&lane.key))),
        entry("requests", Attempts, Never, |lane| Found::whole(Some(lane.requests))),
        entry("attempts", Attempts, Never, |lane| Found::whole(Some(lane.attempts))),
        entry("retries", Attempts, Never, |lane| Found::whole(Some(lane.retries))),
        entry("allowed", Attempts, Never, |lane| Found::whole(Some(lane.allowed))),
        entry("delayed", Attempts, Never, |lane| Found::whole(Some(lane.delayed))),
        entry("denied", Attempts, Never, |lane| Found::whole(Some(lane.denied))),
        entry("unfinished", Attempts, Never, |lane| Found::whole(Some(lane.unfinished))),
        entry("cost-offered", Whole, Never, |lane| Found::whole(Some(lane.cost_offered))),
        entry("cost-admitted", Whole, Never, |lane| Found::whole(Some(lane.cost_admitted))),
        entry("peak", Whole, WithoutLimit, peak_units),
        entry("peak.units", Whole, WithoutLimit, peak_units),
        entry("peak.ratio", Real, WithoutLimit, |lane| Found::real(lane.peak.as_ref().and_then(|peak| peak.ratio))),
        entry("peak.bound", Whole, WithoutLimit, |lane| Found::whole(lane.peak.as_ref().and_then(|peak| peak.bound))),
        entry("peak.from-ns", Instant, WithoutLimit, |lane| {
            Found::whole(lane.peak.as_ref().and_then(|peak| peak.from_ns))
        }),
        entry("peak.key", Kind::Key, WithoutLimit, |lane| {
            Found::text(lane.peak.as_ref().and_then(|peak| peak.key.as_deref()))
        }),
        entry("over.keys", Whole, WithoutLimit, |lane| Found::whole(lane.over.as_ref().map(|over| over.keys))),
        entry("over.first-ns", Instant, WithoutLimit, |lane| {
            Found::whole(lane.over.as_ref().and_then(|over| over.first_ns))
        }),
        entry("over.peak-key-ns", Span, WithoutLimit, |lane| {
            Found::whole(lane.over.as_ref().map(|over| over.peak_key_ns))
        }),
        entry("false-denials", Attempts, WithoutLimit, |lane| Found::whole(lane.false_denials)),
        entry("false-admissions", Attempts, WithoutLimit, |lane| Found::whole(lane.false_admissions)),
        entry("wait-ns.p50", Span, Sometimes, |lane| Found::whole(lane.wait_ns.p50)),
        entry("wait-ns.p95", Span, Sometimes, |lane| Found::whole(lane.wait_ns.p95)),
        entry("wait-ns.p99", Span, Sometimes, |lane| Found::whole(lane.wait_ns.p99)),
        entry("wait-ns.max", Span, Sometimes, |lane| Found::whole(lane.wait_ns.max)),
        entry("state.keys", Whole, Never, |lane| Found::whole(Some(lane.state.keys))),
        entry("state.bytes", Whole, Never, |lane| Found::whole(Some(lane.state.bytes))),
        entry("state.bytes-per-key", Real, Never, |lane| Found::real(Some(lane.state.bytes_per_key))),
        entry("keys-denied", Whole, Never, |lane| Found::whole(Some(lane.keys_denied))),
        entry("same-as", Kind::Lane, Sometimes, |lane| Found::text(lane.same_as.as_deref())),
        entry("first-attempts", Attempts, InOpenLoop, |lane| of_loop(lane, |l| Some(l.first_attempts))),
        entry("succeeded", Attempts, InOpenLoop, |lane| of_loop(lane, |l| Some(l.succeeded))),
        entry("gave-up", Attempts, InOpenLoop, |lane| of_loop(lane, |l| Some(l.gave_up))),
        entry("amplification", Real, OftenInOpenLoop, |lane| real_of_loop(lane, |l| l.amplification)),
        entry("goodput-per-s", Real, OftenInOpenLoop, |lane| real_of_loop(lane, |l| l.goodput_per_s)),
        entry("throughput-per-s", Real, OftenInOpenLoop, |lane| real_of_loop(lane, |l| l.throughput_per_s)),
        entry("drain-ns", Span, OftenInOpenLoop, |lane| of_loop(lane, |l| l.drain_ns)),
        entry("ideal-drain-ns", Span, OftenInOpenLoop, |lane| of_loop(lane, |l| l.ideal_drain_ns)),
        entry("time-to-success-ns.p50", Span, OftenInOpenLoop, |lane| of_loop(lane, |l| l.time_to_success_ns.p50)),
        entry("time-to-success-ns.p95", Span, OftenInOpenLoop, |lane| of_loop(lane, |l| l.time_to_success_ns.p95)),
        entry("time-to-success-ns.p99", Span, OftenInOpenLoop, |lane| of_loop(lane, |l| l.time_to_success_ns.p99)),
        entry("time-to-success-ns.max", Span, OftenInOpenLoop, |lane| of_loop(lane, |l| l.time_to_success_ns.max)),
        entry("time-to-success-all-ns.p50", Span, OftenInOpenLoop, |lane| {
            of_loop(lane, |l| l.time_to_success_all_ns.p50)
        }),
        entry("time-to-success-all-ns.p95", Span, OftenInOpenLoop, |lane| {
            of_loop(lane, |l| l.time_to_success_all_ns.p95)
        }),
        entry("time-to-success-all-ns.p99", Span, OftenInOpenLoop, |lane| {
            of_loop(lane, |l| l.time_to_success_all_ns.p99)
        }),
        entry("time-to-success-all-ns.max", Span, OftenInOpenLoop, |lane| {
            of_loop(lane, |l| l.time_to_success_all_ns.max)
        }),
        entry("most-attempts", Whole, InOpenLoop, |lane| of_loop(lane, |l| Some(l.most_attempts))),
        entry("most-retries", Whole, InOpenLoop, |lane| of_loop(lane, |l| Some(l.most_retries))),
        entry("peak-to-mean", Real, OftenInOpenLoop, |lane| real_of_loop(lane, |l| l.peak_to_mean)),
        entry("dispersion", Real, OftenInOpenLoop, |lane| real_of_loop(lane, |l| l.dispersion)),
        entry("jain", Real, OftenInOpenLoop, |lane| real_of_loop(lane, |l| l.jain)),
        entry("overloaded-bins", Whole, InOpenLoop, |lane| of_loop(lane, |l| Some(l.overloaded_bins))),
        entry("recovered-ns", Instant, OftenInOpenLoop, |lane| of_loop(lane, |l| l.recovered_ns)),
        entry("over-admitted", Whole, WithoutLimit, |lane| Found::whole(lane.over_admitted)),
        entry("under-admitted", Whole, WithoutLimit, |lane| Found::whole(lane.under_admitted)),
        entry("over-limit-ns", Span, Undeployed, |lane| of_fleet(lane, |fleet| fleet.over_limit_ns)),
        entry("backend-overload-ns", Span, Undeployed, |lane| of_fleet(lane, |fleet| fleet.backend_overload_ns)),
        entry("store.operations", Whole, Undeployed, |lane| of_store(lane, |store| Some(store.operations))),
        entry("store.per-request", Real, Undeployed, |lane| {
            Found::real(lane.fleet.as_ref().and_then(|fleet| fleet.store.as_ref()).map(|store| store.per_request))
        }),
        entry("store.latency-ns.p50", Span, Undeployed, |lane| of_store(lane, |store| store.latency_ns.p50)),
        entry("store.latency-ns.p99", Span, Undeployed, |lane| of_store(lane, |store| store.latency_ns.p99)),
        entry("store.unavailable-ns", Span, Undeployed, |lane| of_store(lane, |store| Some(store.unavailable_ns))),
        entry("store.decided-without", Attempts, Undeployed, |lane| {
            of_store(lane, |store| Some(store.decided_without))
        }),
        entry("fingerprint", Kind::Fingerprint, Never, |lane| Found::text(Some(&lane.fingerprint))),
    ]
};

fn of_loop(lane: &LaneReport, figure: fn(&LoopReport) -> Option<u64>) -> Found {
    Found::whole(lane.closed.as_ref().and_then(figure))
}

fn of_fleet(lane: &LaneReport, figure: fn(&FleetReport) -> Option<u64>) -> Found {
    Found::whole(lane.fleet.as_ref().and_then(figure))
}

fn of_store(lane: &LaneReport, figure: fn(&StoreReport) -> Option<u64>) -> Found {
    Found::whole(lane.fleet.as_ref().and_then(|fleet| fleet.store.as_ref()).and_then(figure))
}

fn real_of_loop(lane: &LaneReport, figure: fn(&LoopReport) -> Option<f64>) -> Found {
    Found::real(lane.closed.as_ref().and_then(figure))
}

fn peak_units(lane: &LaneReport) -> Found {
    Found::whole(lane.peak.as_ref().map(|peak| peak.units))
}

/// A count of a class of traffic.
type Count = (&'static str, fn(&ClassReport) -> u64);

static COUNTS: [Count; 4] = [
    ("attempts", |class| class.attempts),
    ("allowed", |class| class.allowed),
    ("delayed", |class| class.delayed),
    ("denied", |class| class.denied),
];

/// Every name that a figure may have.
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name).chain([
        "envelope.SPAN",
        "envelope.SPAN.bound",
        "classes.CLASS.attempts",
        "classes.CLASS.allowed",
        "classes.CLASS.delayed",
        "classes.CLASS.denied",
    ])
}

/// A figure of a lane.
#[derive(Clone, Debug)]
pub enum Figure {
    /// One that every lane has.
    Plain(&'static Entry),
    /// A point of the envelope.
    Envelope {
        /// Its span.
        span_ns: u64,
        /// Whether its worst case is meant.
        bound: bool,
    },
    /// A count of a class.
    Class {
        /// The class.
        class: String,
        /// What is counted.
        count: &'static Count,
    },
}

/// Why there is no such figure, and what there is.
#[derive(Clone, Debug)]
pub struct NoFigure {
    /// What is wrong.
    pub message: String,
    /// What stands under the caret.
    pub label: &'static str,
    /// What to write instead.
    pub help: String,
}

impl Figure {
    /// The figure that a path names in a plan's report.
    pub fn read(path: &str, plan: &Plan) -> Result<Self, NoFigure> {
        if let Some(entry) = ENTRIES.iter().find(|entry| entry.name == path) {
            return Ok(Self::Plain(entry));
        }
        if let Some(rest) = path.strip_prefix("envelope.") {
            return Self::envelope(rest, plan);
        }
        match path.strip_prefix("classes.").map(|rest| rest.rsplit_once('.').unwrap_or((rest, ""))) {
            Some((class, count)) => Self::class(class, count, plan),
            None => {
                let hint = closest(path, ENTRIES.iter().map(|entry| entry.name));
                let hint = hint.map_or_else(String::new, |close| format!("did you mean `{close}`? "));
                Err(NoFigure {
                    message: format!("no figure is named `{path}`"),
                    label: "unknown figure",
                    help: format!("{hint}accepted: {}", names().collect::<Vec<_>>().join(", ")),
                })
            }
        }
    }

    fn envelope(rest: &str, plan: &Plan) -> Result<Self, NoFigure> {
        let (span, bound) = rest.strip_suffix(".bound").map_or((rest, false), |span| (span, true));
        let measured = plan.measured_spans();
        let Ok(wanted) = span.parse::<SimDuration>() else {
            return Err(NoFigure {
                message: format!("`{span}` is not a span of time"),
                label: "not a span",
                help: "write `\"envelope.1s\"` or `\"envelope.1s.bound\"`".to_owned(),
            });
        };
        if measured.contains(&wanted) {
            return Ok(Self::Envelope { span_ns: wanted.short_nanos(), bound });
        }
        let spans: Vec<String> = measured.iter().chain([&wanted]).map(|span| format!("\"{span}\"")).collect();
        Err(NoFigure {
            message: format!("the envelope is not measured at {wanted}"),
            label: "not measured",
            help: format!("write `envelope = [{}]` at the top of the scenario", spans.join(", ")),
        })
    }

    fn class(class: &str, count: &str, plan: &Plan) -> Result<Self, NoFigure> {
        let classes = plan.classes();
        let Some(count) = COUNTS.iter().find(|(name, _)| *name == count) else {
            let class = if class.is_empty() { "CLASS" } else { class };
            return Err(NoFigure {
                message: format!(
                    "no figure is named `classes.{class}{}{count}`",
                    if count.is_empty() { "" } else { "." }
                ),
                label: "unknown figure",
                help: format!(
                    "accepted: {}",
                    COUNTS.iter().map(|(name, _)| format!("classes.{class}.{name}")).collect::<Vec<_>>().join(", ")
                ),
            });
        };
        if classes.contains(&class) {
            return Ok(Self::Class { class: class.to_owned(), count });
        }
        let hint = closest(class, classes.iter().copied());
        let hint = hint.map_or_else(String::new, |close| format!("did you mean `{close}`? "));
        Err(NoFigure {
            message: format!("no traffic has the class `{class}`"),
            label: "unknown class",
            help: match &classes[..] {
                [] => format!("no traffic states a class; write `class = \"{class}\"` in one"),
                classes => format!("{hint}classes in this scenario: {}", classes.join(", ")),
            },
        })
    }

    /// Whether both are the same figure.
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Plain(a), Self::Plain(b)) => std::ptr::eq(*a, *b),
            (Self::Envelope { span_ns: a, bound: of_a }, Self::Envelope { span_ns: b, bound: of_b }) => {
                (a, of_a) == (b, of_b)
            }
            (Self::Class { class: a, count: (of_a, _) }, Self::Class { class: b, count: (of_b, _) }) => {
                (a, of_a) == (b, of_b)
            }
            _ => false,
        }
    }

    /// What it can be compared with.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Plain(entry) => entry.kind,
            Self::Envelope { .. } => Kind::Whole,
            Self::Class { .. } => Kind::Attempts,
        }
    }

    /// Whether a report may say nothing of it.
    pub fn may_be_absent(&self) -> bool {
        match self {
            Self::Plain(entry) => !matches!(entry.absent, Absent::Never | Absent::InOpenLoop),
            Self::Envelope { bound, .. } => *bound,
            Self::Class { .. } => false,
        }
    }

    /// Whether a report says nothing of it where no limit is stated.
    pub fn needs_limit(&self) -> bool {
        matches!(self, Self::Plain(entry) if entry.absent == Absent::WithoutLimit)
    }

    /// Whether a report says nothing of it in an open loop.
    pub fn needs_closed_loop(&self) -> bool {
        matches!(self, Self::Plain(entry) if matches!(entry.absent, Absent::InOpenLoop | Absent::OftenInOpenLoop))
    }

    /// Whether a report says nothing of it where every lane is one process.
    pub fn needs_deployment(&self) -> bool {
        matches!(self, Self::Plain(entry) if entry.absent == Absent::Undeployed)
    }

    /// What a lane's report says.
    pub fn of(&self, lane: &LaneReport) -> Found {
        match self {
            Self::Plain(entry) => (entry.read)(lane),
            Self::Envelope { span_ns, bound } => {
                let point = lane.envelope.iter().find(|point| point.span_ns == *span_ns);
                match bound {
                    true => Found::whole(point.and_then(|point| point.bound)),
                    false => Found::whole(point.map(|point| point.units)),
                }
            }
            Self::Class { class, count: (_, count) } => {
                let found = lane.classes.iter().find(|found| found.class == *class);
                Found::whole(found.map(count))
            }
        }
    }

    /// The attempts that a share of this figure is of: those of the class or of the lane.
    pub fn attempts(&self, lane: &LaneReport) -> u64 {
        match self {
            Self::Class { class, .. } => {
                lane.classes.iter().find(|found| found.class == *class).map_or(0, |found| found.attempts)
            }
            Self::Plain(_) | Self::Envelope { .. } => lane.attempts,
        }
    }
}
