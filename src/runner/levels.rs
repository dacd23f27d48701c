//! What lanes knew of a key just before an arrival: the run again, for these keys alone.

use crate::error::Error;
use crate::limiter::{LimiterSpec, WindowAnchor};
use crate::record::Parting;
use crate::report::LevelReport;
use crate::scenario::Plan;
use crate::sim::Lane;
use crate::time::SimTime;
use crate::traffic::{Batch, Traffic};

/// Arrivals read at a time.
const BATCH: usize = 16_384;

/// For each parting, the levels of its lanes just before it; none where the traffic cannot be
/// read twice.
///
/// # Errors
/// If a trace fails that did not the first time.
pub fn before(plan: &Plan, partings: &[Parting]) -> Result<Vec<Vec<LevelReport>>, Error> {
    let mut levels: Vec<Vec<LevelReport>> = vec![Vec::new(); partings.len()];
    if partings.is_empty() || plan.traffic.entries.iter().any(|entry| entry.reads_stdin()) {
        return Ok(levels);
    }
    let mut traffic = Traffic::open(&plan.traffic)?;
    let workload = plan.workload();
    let mut lanes: Vec<Lane> = plan.lanes.iter().map(|lane| Lane::new(lane.clone(), &workload)).collect();
    let mut batch = Batch::default();
    let mut next = 0;
    while next < partings.len() {
        traffic.fill(&mut batch, BATCH)?;
        if batch.is_empty() {
            break;
        }
        for row in 0..batch.len() {
            while next < partings.len() && partings[next].arrival == batch.first + row as u64 {
                let parting = &partings[next];
                levels[next] = parting
                    .admitted
                    .iter()
                    .chain(&parting.denied)
                    .map(|i| {
                        let lane = &lanes[*i];
                        let level = lane.level(batch.keys[lane.plan().column][row], batch.at[row]);
                        LevelReport {
                            exempt: lane.plan().exempts(batch.source[row]),
                            lane: lane.plan().name.clone(),
                            limit: level.limit,
                            used: level.used.numerator as f64 / level.used.denominator as f64,
                            remaining: level.remaining,
                            window_from_ns: window_start(&lane.plan().limiter, batch.at[row])
                                .map(|from| from.nanos().saturating_sub(traffic.start().nanos())),
                        }
                    })
                    .collect();
                next += 1;
            }
            if next == partings.len() {
                break;
            }
            for lane in &mut lanes {
                let column = lane.plan().column;
                let key = batch.keys[column][row];
                if partings[next..].iter().any(|parting| parting.keys[column] == key) {
                    lane.decide(batch.source[row], key, batch.at[row], batch.cost[row]);
                }
            }
        }
    }
    Ok(levels)
}

/// When the clock's window that `at` lies in began, for a limiter that counts by such windows.
fn window_start(limiter: &LimiterSpec, at: SimTime) -> Option<SimTime> {
    match limiter {
        LimiterSpec::FixedWindow(spec) if spec.anchor == WindowAnchor::Clock => {
            Some(at.floor_to(spec.limit.window.short_nanos()))
        }
        _ => None,
    }
}
