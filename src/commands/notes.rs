//! What is allowed and most likely not meant.

use crate::scenario::Plan;
use crate::traffic::{Batch, KeysSpec, TraceFile, Traffic, TrafficKind, TrafficPlan, TrafficSpec};

/// Traces that are not there. A run says so itself.
pub fn missing(plan: &Plan) -> Vec<String> {
    let mut notes = Vec::new();
    for entry in &plan.traffic.entries {
        if let TrafficKind::Trace(trace) = &entry.kind
            && let TraceFile::Path(path) = &trace.file
            && !path.exists()
        {
            notes.push(format!("traffic `{}` reads {}, which is not there", entry.name, trace.display));
        }
    }
    notes
}

/// Traffic that sends nothing, as after a change of the duration: not an error, so that a run can be
/// cut short.
pub fn silent(plan: &Plan) -> Vec<String> {
    let entries = plan.traffic.entries.iter().filter(|entry| is_silent(&plan.traffic, entry));
    let told = entries.map(|entry| {
        let end = entry.until.into_iter().chain(plan.traffic.duration).min();
        let end = end.map_or_else(String::new, |end| format!(" before its end at {end}"));
        format!("traffic `{}` sends nothing{end}", entry.name)
    });
    told.collect()
}

/// Whether a pattern has no arrival at all. Whose keys they would be does not matter for that.
fn is_silent(plan: &TrafficPlan, entry: &TrafficSpec) -> bool {
    let mut entry = entry.clone();
    let TrafficKind::Pattern(pattern) = &mut entry.kind else { return false };
    pattern.keys = KeysSpec::Count(1);
    pattern.attributes.clear();
    let alone =
        TrafficPlan { entries: vec![entry], attributes: vec![String::new()], columns: vec![vec![0]], ..plan.clone() };
    let mut batch = Batch::default();
    let filled = Traffic::open(&alone).and_then(|mut traffic| traffic.fill(&mut batch, 1));
    filled.is_ok() && batch.is_empty()
}
