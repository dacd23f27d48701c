//! Many runs of one plan, each with a seed of its own.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// What many runs have in common.
#[derive(Clone, Debug, Serialize)]
pub struct Replications {
    /// How many.
    pub runs: u64,
    /// The first one's seed; each has the next.
    pub first_seed: u64,
    /// How often an interval holds the true value.
    pub confidence: f64,
    /// How intervals of means are found: `student-t`.
    pub interval: &'static str,
    /// How intervals of shares are found: `wilson`.
    pub share_interval: &'static str,
    /// Each lane's figures.
    pub lanes: Vec<LaneReplications>,
}

/// One lane's figures over many runs.
#[derive(Clone, Debug, Serialize)]
pub struct LaneReplications {
    /// Its name.
    pub name: String,
    /// Figures by the names that they have in the report of one run, dots as `_`.
    #[serde(serialize_with = "as_map")]
    pub figures: Vec<(&'static str, Estimate)>,
    /// Runs that meet each condition.
    pub conditions: Vec<ConditionReport>,
}

/// A mean over runs and where the true one lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Runs that have the figure.
    pub runs: u64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation; 0 for one run.
    pub deviation: f64,
    /// Low end of the interval.
    pub low: f64,
    /// High end of the interval.
    pub high: f64,
}

impl Estimate {
    /// The standard error of the mean.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.deviation / (self.runs.max(1) as f64).sqrt()
    }
}

/// Runs that meet a condition.
#[derive(Clone, Debug, Serialize)]
pub struct ConditionReport {
    /// Its name.
    pub name: String,
    /// As it is written.
    pub condition: String,
    /// What is compared, as it is written.
    pub figure: String,
    /// The same a second, over all runs.
    pub rate_per_s: Estimate,
    /// Runs that meet it.
    pub met: u64,
    /// Their share.
    pub share: f64,
    /// Low end of its interval.
    pub low: f64,
    /// High end of its interval.
    pub high: f64,
}

impl Replications {
    /// A lane by name.
    #[must_use]
    pub fn lane(&self, name: &str) -> Option<&LaneReplications> {
        self.lanes.iter().find(|lane| lane.name == name)
    }
}

impl LaneReplications {
    /// A figure by name.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<Estimate> {
        self.figures.iter().find(|(figure, _)| *figure == name).map(|(_, estimate)| *estimate)
    }

    /// A condition by name.
    #[must_use]
    pub fn condition(&self, name: &str) -> Option<&ConditionReport> {
        self.conditions.iter().find(|condition| condition.name == name)
    }
}

fn as_map<S: Serializer>(figures: &[(&'static str, Estimate)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(figures.len()))?;
    for (name, estimate) in figures {
        map.serialize_entry(name, estimate)?;
    }
    map.end()
}
