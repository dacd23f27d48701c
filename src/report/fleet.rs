//! What a deployment adds to a lane's results.

use serde::Serialize;

/// What replicas and store did.
#[derive(Clone, Debug, Serialize)]
pub struct FleetReport {
    /// The peak over its bound; absent where nothing is proven.
    pub of_bound: Option<f64>,
    /// The most that any traffic with the quantities of this run could get released, by span.
    pub bounds: Vec<BoundPoint>,
    /// How long a replica does not hear of what others admit; absent where that does not matter.
    pub staleness_ns: Option<u64>,
    /// What each replica did.
    pub replicas: Vec<ReplicaReport>,
    /// What the store did; absent without one.
    pub store: Option<StoreReport>,
    /// For how long any key had more than the limit released within a window; absent without a limit.
    pub over_limit_ns: Option<u64>,
    /// How many times it had.
    pub over_times: Option<u64>,
    /// When it had: the first thousand spans.
    pub over_spans: Vec<OverSpan>,
    /// Time in bins in which more was released than the backend can do; absent without a backend.
    pub backend_overload_ns: Option<u64>,
}

/// A worst case.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BoundPoint {
    /// Length of the half-open span.
    pub span_ns: u64,
    /// The most units; absent where nothing is proven.
    pub bound: Option<u128>,
}

/// What one replica did.
#[derive(Clone, Debug, Serialize)]
pub struct ReplicaReport {
    /// Attempts that it let pass.
    pub admitted: u64,
    /// Attempts that it refused.
    pub denied: u64,
    /// The most units of one key that it released within the limit's window; absent without a limit.
    pub peak_units: Option<u64>,
}

/// What the store did.
#[derive(Clone, Debug, Serialize)]
pub struct StoreReport {
    /// Operations that it executed.
    pub operations: u64,
    /// For each attempt.
    pub per_request: f64,
    /// From asking to knowing, over all attempts.
    pub latency_ns: LatencyReport,
    /// For how long it was down.
    pub unavailable_ns: u64,
    /// Attempts that were decided without it because it did not answer.
    pub decided_without: u64,
}

/// Quantiles of a time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LatencyReport {
    /// Half take no longer.
    pub p50: Option<u64>,
    /// 99 % take no longer.
    pub p99: Option<u64>,
    /// The longest.
    pub max: Option<u64>,
}

/// A span over the limit.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OverSpan {
    /// First instant.
    pub from_ns: i64,
    /// First instant after it.
    pub until_ns: i64,
}
