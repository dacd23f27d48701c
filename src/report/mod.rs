//! Results: immutable, serializable, the only thing that faces see.
//!
//! Times are nanoseconds from the run's start unless a field says otherwise. Field names are those
//! of the JSON report and stay.

mod closed;
mod detail;
mod fleet;
mod fleet_detail;
mod paper;
mod place;
mod replications;
mod sweep;

pub use closed::{LoopReport, LoopTimeline, SuccessReport};
pub use detail::{
    ArrivalDetail, Change, Counts, DecisionDetail, DecisionKind, Detail, Extent, LaneDetail, RequestCounts, Sheet,
    SlowDetail,
};
pub use fleet::{BoundPoint, FleetReport, LatencyReport, OverSpan, ReplicaReport, StoreReport};
pub use fleet_detail::{Counter, Deciders, FaultDetail, FaultKind, FleetDetail, ReplicaDetail, StoreDetail};
pub use paper::{PaperLevel, PaperPanel, PaperReport, PaperRow, PaperSeries};
pub use place::{Direction, Mark, Place};
pub use replications::{ConditionReport, Estimate, LaneReplications, Replications};
pub use sweep::{AxisUnit, MeasureUnit, SweepAxis, SweepMeasure, SweepReport, SweepRow, SweepValue};

use crate::time::SimTime;
use serde::{Serialize, Serializer};

/// Version of the JSON report.
pub const SCHEMA: u32 = 1;

/// All that a run found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Version of the program.
    pub rlsim: &'static str,
    /// The lesson, or what was replayed.
    pub title: String,
    /// What a newcomer should know.
    pub about: Option<String>,
    /// What the command line changed in the scenario.
    pub changed: Vec<String>,
    /// What is legal in the scenario and most likely not meant.
    pub warnings: Vec<String>,
    /// Seed of all random streams.
    pub seed: u64,
    /// First instant of the run.
    #[serde(serialize_with = "rfc3339")]
    pub start: SimTime,
    /// The last instant of interest: the stated duration, or the last arrival.
    pub end_ns: i64,
    /// The span that is worth a close look.
    pub focus: Focus,
    /// What every lane must enforce.
    pub limit: Option<LimitReport>,
    /// The whole scenario with all defaults resolved.
    pub scenario: serde_json::Value,
    /// What was read of each trace.
    pub input: Vec<InputReport>,
    /// What was offered.
    pub offered: OfferedReport,
    /// What each lane did.
    pub lanes: Vec<LaneReport>,
    /// Lanes with equal admissions, waits apart.
    pub groups: Vec<Vec<String>>,
    /// Arrivals at which lanes that had agreed so far part.
    pub disagreements: Vec<Disagreement>,
    /// What many runs have in common, if there were many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replications: Option<Replications>,
}

/// A span of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Focus {
    /// First instant.
    pub from_ns: i64,
    /// First instant after it.
    pub until_ns: i64,
}

/// The yardstick.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LimitReport {
    /// Units in a window.
    pub units: u64,
    /// The window's length.
    pub window_ns: u64,
}

/// What was read of a trace.
#[derive(Clone, Debug, Serialize)]
pub struct InputReport {
    /// The file as the user named it.
    pub file: String,
    /// Rows used.
    pub rows: u64,
    /// Rows left out.
    pub bad: u64,
    /// The first of those left out.
    pub first_bad: Vec<BadRowReport>,
    /// How rows out of order were treated.
    pub order: String,
}

/// A row that was left out.
#[derive(Clone, Debug, Serialize)]
pub struct BadRowReport {
    /// Its line.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// What was offered to every lane.
#[derive(Clone, Debug, Serialize)]
pub struct OfferedReport {
    /// Arrivals.
    pub requests: u64,
    /// Their cost.
    pub cost: u64,
    /// The largest cost of one arrival.
    pub largest_cost: u64,
    /// Keys seen.
    pub keys: u64,
    /// How a trace was keyed, in words; empty for synthetic traffic.
    pub keyed: String,
    /// First arrival.
    pub first_ns: Option<i64>,
    /// Last arrival.
    pub last_ns: Option<i64>,
    /// The most units that arrived within a window, for any key.
    pub peak: Option<u64>,
}

/// What one lane did.
#[derive(Clone, Debug, Serialize)]
pub struct LaneReport {
    /// Its name.
    pub name: String,
    /// Its algorithm.
    pub algorithm: &'static str,
    /// All its parameters, resolved.
    pub spec: serde_json::Value,
    /// What it counts by.
    pub key: String,
    /// Classes of traffic that bypass it.
    pub exempt: Vec<String>,
    /// The limiter sees time rounded down to a multiple of this.
    pub clock_resolution_ns: Option<u64>,
    /// What clients wanted.
    pub requests: u64,
    /// Attempts they made.
    pub attempts: u64,
    /// Attempts after the first.
    pub retries: u64,
    /// Released at once.
    pub allowed: u64,
    /// Released later.
    pub delayed: u64,
    /// Refused.
    pub denied: u64,
    /// Neither released nor refused when the run ended.
    pub unfinished: u64,
    /// Units offered.
    pub cost_offered: u64,
    /// Units admitted.
    pub cost_admitted: u64,
    /// The most units released within the limit's window; absent without a limit.
    pub peak: Option<PeakReport>,
    /// The same for other spans.
    pub envelope: Vec<EnvelopePoint>,
    /// Who passed the limit, and for how long; absent without a limit.
    pub over: Option<OverReport>,
    /// Refused although the exact sliding log admits.
    pub false_denials: Option<u64>,
    /// Admitted although the exact sliding log refuses.
    pub false_admissions: Option<u64>,
    /// Waits of the admitted.
    pub wait_ns: WaitReport,
    /// Memory that the limiter held at the end.
    pub state: StateReport,
    /// Keys with at least one refused attempt.
    pub keys_denied: u64,
    /// The keys with the most of them.
    pub top_denied: Vec<DeniedKey>,
    /// Counts by class of traffic, if there is more than one.
    pub classes: Vec<ClassReport>,
    /// Counts over time.
    pub timeline: TimelineReport,
    /// An earlier lane whose every decision is equal, waits included.
    pub same_as: Option<String>,
    /// 64 bits over all decisions, as 16 hex digits.
    pub fingerprint: String,
    /// Units admitted although the exact sliding log over the same attempts refuses them.
    pub over_admitted: Option<u64>,
    /// Units refused although it admits them.
    pub under_admitted: Option<u64>,
    /// What replicas and store did, where a lane of the run has any.
    #[serde(flatten)]
    pub fleet: Option<FleetReport>,
    /// What became of its clients' requests, in a closed loop.
    #[serde(flatten)]
    pub closed: Option<LoopReport>,
}

/// The most units released within a span, for any key.
#[derive(Clone, Debug, Serialize)]
pub struct PeakReport {
    /// Units.
    pub units: u64,
    /// Units over the limit's units; absent for a limit of zero.
    pub ratio: Option<f64>,
    /// The most that any traffic could get; absent where nothing is proven.
    pub bound: Option<u128>,
    /// First release of the first span that holds them.
    pub from_ns: Option<i64>,
    /// Whose they are.
    pub key: Option<String>,
}

/// One point of the envelope.
#[derive(Clone, Debug, Serialize)]
pub struct EnvelopePoint {
    /// Length of the half-open span.
    pub span_ns: u64,
    /// The most units released in one.
    pub units: u64,
    /// The most that any traffic could get.
    pub bound: Option<u128>,
}

/// How the limit was passed.
#[derive(Clone, Debug, Serialize)]
pub struct OverReport {
    /// Keys that had more than the limit released within a window.
    pub keys: u64,
    /// When the first of them did.
    pub first_ns: Option<i64>,
    /// How long the key with the highest peak did.
    pub peak_key_ns: u128,
}

/// Waits of admitted attempts, those released at once counting as zero.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct WaitReport {
    /// Half wait no longer.
    pub p50: Option<u64>,
    /// 95 % wait no longer.
    pub p95: Option<u64>,
    /// 99 % wait no longer.
    pub p99: Option<u64>,
    /// The longest.
    pub max: Option<u64>,
}

/// Memory of a limiter.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct StateReport {
    /// Keys with a state.
    pub keys: u64,
    /// Bytes of all states.
    pub bytes: u64,
    /// Bytes of one, on average.
    pub bytes_per_key: f64,
}

/// A key and what was refused to it.
#[derive(Clone, Debug, Serialize)]
pub struct DeniedKey {
    /// The key.
    pub key: String,
    /// Its attempts.
    pub attempts: u64,
    /// Those refused.
    pub denied: u64,
}

/// A key and how often it was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCount {
    /// The key.
    pub key: String,
    /// Its arrivals.
    pub arrivals: u64,
}

/// Counts of a class of traffic.
#[derive(Clone, Debug, Serialize)]
pub struct ClassReport {
    /// The class.
    pub class: String,
    /// Its attempts.
    pub attempts: u64,
    /// Released at once.
    pub allowed: u64,
    /// Released later.
    pub delayed: u64,
    /// Refused.
    pub denied: u64,
}

/// Counts over time of arrival.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TimelineReport {
    /// First instant of the first bin.
    pub from_ns: i64,
    /// Width of a bin.
    pub bin_ns: u64,
    /// Released at once, a number a bin.
    pub allowed: Vec<u64>,
    /// Released later.
    pub delayed: Vec<u64>,
    /// Refused.
    pub denied: Vec<u64>,
}

/// An arrival at which lanes that had agreed so far part.
#[derive(Clone, Debug, Serialize)]
pub struct Disagreement {
    /// The arrival's number, from 1.
    pub arrival: u64,
    /// When it came.
    pub time_ns: i64,
    /// Its key.
    pub key: String,
    /// Units it takes.
    pub cost: u64,
    /// Lanes that had agreed and admit it.
    pub admitted: Vec<String>,
    /// Lanes that had agreed and deny it.
    pub denied: Vec<String>,
    /// What these lanes knew of its key just before it; empty where the trace could not be read
    /// again.
    pub levels: Vec<LevelReport>,
}

/// The quota view of one key in one lane.
#[derive(Clone, Debug, Serialize)]
pub struct LevelReport {
    /// The lane.
    pub lane: String,
    /// Units that can be in use.
    pub limit: u64,
    /// Units in use.
    pub used: f64,
    /// Attempts of cost 1 that would pass.
    pub remaining: u64,
    /// For a window on the clock: when it began.
    pub window_from_ns: Option<i64>,
    /// The arrival's class bypasses the lane.
    pub exempt: bool,
}

impl Report {
    /// A lane by name.
    #[must_use]
    pub fn lane(&self, name: &str) -> Option<&LaneReport> {
        self.lanes.iter().find(|lane| lane.name == name)
    }

    /// The instant `offset` nanoseconds after the start.
    #[must_use]
    pub fn instant(&self, offset: i64) -> SimTime {
        SimTime::from_nanos(self.start.nanos().saturating_add(offset))
    }
}

impl LaneReport {
    /// Allowed and delayed.
    #[must_use]
    pub const fn admitted(&self) -> u64 {
        self.allowed + self.delayed
    }
}

fn rfc3339<S: Serializer>(time: &SimTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(time)
}
