//! What a closed loop adds to a lane's results.

use super::WaitReport;
use serde::Serialize;

/// What became of a lane's requests.
#[derive(Clone, Debug, Serialize)]
pub struct LoopReport {
    /// The run was stopped after its most events: these are not all.
    pub partial: bool,
    /// Attempts that were the first of their request.
    pub first_attempts: u64,
    /// Attempts for each of them.
    pub amplification: Option<f64>,
    /// Requests answered in time.
    pub succeeded: u64,
    /// Requests whose client stopped trying.
    pub gave_up: u64,
    /// Answers in time a second.
    pub goodput_per_s: Option<f64>,
    /// Work done a second, for clients that no longer wait, too.
    pub throughput_per_s: Option<f64>,
    /// From the first attempt to the last success.
    pub drain_ns: Option<u64>,
    /// The shortest that the limit allows, where one key has all of it.
    pub ideal_drain_ns: Option<u64>,
    /// From a request's first attempt to its answer, over those that succeeded.
    pub time_to_success_ns: WaitReport,
    /// The same over all requests; absent: never.
    pub time_to_success_all_ns: SuccessReport,
    /// Width of the bins that attempts are counted in.
    pub metric_bin_ns: u64,
    /// The most attempts in one.
    pub most_attempts: u64,
    /// The most retries in one.
    pub most_retries: u64,
    /// The most attempts in one, over the mean.
    pub peak_to_mean: Option<f64>,
    /// Variance over mean of attempts a bin: 1 for arrivals that know nothing of each other.
    pub dispersion: Option<f64>,
    /// Fairness over clients by successes: 1 if all have the same, k/n if k of n share them.
    pub jain: Option<f64>,
    /// Bins in which retries outnumber first attempts, or requests given up those answered in time;
    /// and those after them in which nothing happens while requests wait.
    pub overloaded_bins: u64,
    /// When the last of them ended; 0 if there is none; absent if that was not before the run's end.
    pub recovered_ns: Option<u64>,
    /// Counts over time.
    pub loop_timeline: LoopTimeline,
}

/// Quantiles that may be infinite.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SuccessReport {
    /// Half take no longer.
    pub p50: Option<u64>,
    /// 95 % take no longer.
    pub p95: Option<u64>,
    /// 99 % take no longer.
    pub p99: Option<u64>,
    /// The longest.
    pub max: Option<u64>,
}

/// Counts over time.
#[derive(Clone, Debug, Serialize)]
pub struct LoopTimeline {
    /// First instant of the first bin.
    pub from_ns: i64,
    /// Width of a bin.
    pub bin_ns: u64,
    /// First attempts, a number a bin.
    pub first: Vec<u64>,
    /// Retries.
    pub retries: Vec<u64>,
    /// Answers in time.
    pub good: Vec<u64>,
    /// Work done.
    pub served: Vec<u64>,
}
