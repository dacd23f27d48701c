//! A plan of traces alone, without a scenario.

use super::plan::{Plan, unknown_algorithm};
use crate::error::Error;
use crate::limiter::LimiterSpec;
use crate::quota::{Limit, MAX_UNITS};
use crate::time::SimDuration;
use crate::traffic::{TrafficKind, TrafficPlan};

/// How one or more CSV files are replayed without a scenario.
#[derive(Clone, Debug)]
pub struct TraceOptions {
    /// The traces.
    pub traces: Vec<crate::traffic::TraceSpec>,
    /// The limit.
    pub limit: Limit,
    /// Burst of the buckets, if not the limit's units.
    pub burst: Option<u64>,
    /// Algorithms, in order; none: all six.
    pub algorithms: Vec<String>,
}

impl Plan {
    /// A plan to replay traces without a scenario.
    ///
    /// # Errors
    /// If an algorithm is unknown or cannot be simulated with such a limit or burst.
    pub fn for_traces(options: TraceOptions) -> Result<Self, Error> {
        let mut title = options.traces.iter().map(|trace| trace.display.clone()).collect::<Vec<_>>().join(", ");
        if title.len() > 120 {
            title = format!("{} traces", options.traces.len());
        }
        let entries = options
            .traces
            .into_iter()
            .enumerate()
            .map(|(i, trace)| crate::traffic::TrafficSpec {
                name: if i == 0 { "trace".to_owned() } else { format!("trace-{}", i + 1) },
                class: None,
                from: SimDuration::ZERO,
                until: None,
                kind: TrafficKind::Trace(trace),
            })
            .collect();
        let traffic = TrafficPlan {
            entries,
            attributes: vec![String::new()],
            columns: vec![vec![0]],
            start: None,
            duration: None,
            seed: 1,
            window: Some(options.limit.window),
        };
        let mut plan = Self::without_lanes(title, Some(options.limit), traffic);
        plan.default_lanes(options.limit);
        if !options.algorithms.is_empty() {
            let mut lanes = Vec::new();
            for name in &options.algorithms {
                match plan.lanes.iter().find(|lane| lane.name == *name) {
                    Some(lane) if lanes.contains(lane) => {}
                    Some(lane) => lanes.push(lane.clone()),
                    None => return Err(unknown_algorithm(name)),
                }
            }
            plan.lanes = lanes;
        }
        if let Some(burst) = options.burst {
            if options.limit.units == 0 {
                let message = "a burst with a rate of zero (from the limit) would be used up once and never come back";
                return Err(Error::usage(message));
            }
            if burst > MAX_UNITS {
                let message = format!("a burst of {burst} is more than {MAX_UNITS}, the most that is counted exactly");
                return Err(Error::usage(message));
            }
            for lane in &mut plan.lanes {
                match &mut lane.limiter {
                    LimiterSpec::TokenBucket(spec) => spec.burst = burst,
                    LimiterSpec::LeakyBucket(spec) => spec.capacity = burst,
                    LimiterSpec::Gcra(spec) => spec.burst = burst,
                    _ => {}
                }
                if let Some(refusal) = lane.limiter.refusal() {
                    return Err(Error::usage(refusal));
                }
            }
        }
        Ok(plan)
    }
}
