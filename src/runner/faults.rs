//! What goes wrong in a span, as a deployed lane meets it.

use crate::report::{FaultDetail, FaultKind};
use crate::sim::{Change, DeploymentSpec, FaultSpec, HopSpec, LanePlan, Operation, Schedule};
use crate::time::{SimDuration, SimTime};

/// Faults of a kind that are told one by one; where there are more, neighbours are told together.
const MOST: usize = 200;

/// Faults in a span of a run that starts at `start`, in order of time.
pub fn faults(
    faults: &[FaultSpec],
    lane: &LanePlan,
    schedule: &Schedule,
    start: SimTime,
    (from, until): (SimTime, SimTime),
) -> Vec<FaultDetail> {
    let Some(deployment) = &lane.deployment else { return Vec::new() };
    let at = |offset: u64| SimTime::from_nanos(start.nanos().saturating_add_unsigned(offset));
    let mut found: Vec<FaultDetail> = Vec::new();
    let mut add = |kind, (begins, ends): (u64, u64), replicas: &[u32], text: String| {
        let (begins, ends) = (at(begins).max(from), at(ends).min(until));
        if begins < ends {
            found.push(FaultDetail { kind, from: begins, until: ends, replicas: replicas.to_vec(), text });
        }
    };
    let asks = deployment.link().is_some();
    if deployment.has_store() {
        for span in schedule.down() {
            add(FaultKind::StoreDown, *span, &[], "store down".to_owned());
        }
        for (span, way) in schedule.slow_ways().filter(|_| asks) {
            add(FaultKind::StoreSlow, span, &[], format!("store slow, {}", trip(way)));
        }
        for (span, replicas) in cut_off(schedule) {
            add(FaultKind::CutOff, span, &replicas, format!("{} cut off", named(&replicas)));
        }
        let behind = |begins: u64| {
            schedule.changes().iter().find_map(|(at, change)| match change {
                Change::Lag(by) if *at == begins => Some(SimDuration::from_nanos(*by)),
                _ => None,
            })
        };
        for span in schedule.lag().iter().filter(|_| matches!(deployment, DeploymentSpec::Central(_))) {
            let by = behind(span.0).map_or_else(String::new, |by| format!(" {by}"));
            add(FaultKind::StoreLag, *span, &[], format!("reads{by} behind"));
        }
    }
    for (offset, change) in schedule.changes() {
        let at = at(*offset);
        if at < from || at >= until {
            continue;
        }
        let Some((kind, replicas, text)) = told(*change, faults, lane, deployment) else { continue };
        found.push(FaultDetail { kind, from: at, until: at, replicas, text });
    }
    found.sort_by(|a, b| (a.from, a.kind, &a.replicas).cmp(&(b.from, b.kind, &b.replicas)));
    joined(found, (from, until))
}

/// A change in a few words; nothing if it does not matter to the lane.
fn told(
    change: Change,
    faults: &[FaultSpec],
    lane: &LanePlan,
    deployment: &DeploymentSpec,
) -> Option<(FaultKind, Vec<u32>, String)> {
    let has_store = deployment.has_store();
    Some(match change {
        Change::Copy(_) | Change::Lag(_) | Change::UpToDate => return None,
        Change::Failover(number) if has_store => {
            let loses = match faults.get(number as usize) {
                Some(FaultSpec::Failover { loses, .. }) if !loses.is_zero() => format!(", {loses} of writes lost"),
                _ => String::new(),
            };
            (FaultKind::Failover, Vec::new(), format!("failover{loses}"))
        }
        Change::Flush if has_store => (FaultKind::Flush, Vec::new(), "store flushed".to_owned()),
        Change::LostExpire if loses_expiry(lane, deployment) => {
            (FaultKind::LostExpire, Vec::new(), "expiry lost".to_owned())
        }
        Change::Failover(_) | Change::Flush | Change::LostExpire => return None,
        Change::Restart(replica) => (FaultKind::Restart, vec![replica], format!("{} restarts", named(&[replica]))),
        Change::Start(replica) => (FaultKind::Replicas, vec![replica], format!("{} starts", named(&[replica]))),
        Change::Stop(replica) => (FaultKind::Replicas, vec![replica], format!("{} stops", named(&[replica]))),
        Change::Scale(replicas) => {
            (FaultKind::Replicas, Vec::new(), format!("to {replicas} replica{}", if replicas == 1 { "" } else { "s" }))
        }
        Change::Reroute => (FaultKind::Reroute, Vec::new(), "keys rerouted".to_owned()),
    })
}

/// Whether a counter's expiry is set by a second command, and not by the counter's name.
fn loses_expiry(lane: &LanePlan, deployment: &DeploymentSpec) -> bool {
    let DeploymentSpec::Central(central) = deployment else { return false };
    let two = matches!(central.operation, Operation::Incr | Operation::GetIncr);
    two && lane.limiter.counts_clock_windows().is_none()
}

/// `replica 1`, `replicas 0, 2`.
fn named(replicas: &[u32]) -> String {
    let numbers: Vec<String> = replicas.iter().map(u32::to_string).collect();
    format!("replica{} {}", if replicas.len() == 1 { "" } else { "s" }, numbers.join(", "))
}

fn trip(way: HopSpec) -> String {
    match way {
        HopSpec::Constant(span) => format!("{span}"),
        HopSpec::Exponential { mean } | HopSpec::Normal { mean, .. } => format!("about {mean}"),
    }
}

/// Spans in which replicas are cut off, those of one partition together.
fn cut_off(schedule: &Schedule) -> Vec<((u64, u64), Vec<u32>)> {
    let mut found: Vec<((u64, u64), Vec<u32>)> = Vec::new();
    // Lanes of fewer replicas do not have those of others.
    for (span, replica) in schedule.cut().iter().filter(|(_, replica)| *replica < schedule.most_replicas()) {
        match found.last_mut() {
            Some((last, replicas)) if last == span => replicas.push(*replica),
            _ => found.push((*span, vec![*replica])),
        }
    }
    found
}

/// The same faults; neighbours that are alike together where there are very many.
fn joined(mut faults: Vec<FaultDetail>, (from, until): (SimTime, SimTime)) -> Vec<FaultDetail> {
    let length = i128::from(until.nanos()) - i128::from(from.nanos());
    let mut apart = length / MOST as i128;
    while faults.len() > MOST {
        let mut kept: Vec<FaultDetail> = Vec::new();
        for fault in faults {
            let near = |old: &&mut FaultDetail| {
                let gap = i128::from(fault.from.nanos()) - i128::from(old.until.nanos());
                old.kind == fault.kind && gap <= apart
            };
            match kept.iter_mut().rev().take(MOST).find(near) {
                Some(old) => {
                    old.until = old.until.max(fault.until);
                    if old.replicas != fault.replicas {
                        old.text = "replicas now and then".to_owned();
                        old.replicas.clear();
                    }
                }
                None => kept.push(fault),
            }
        }
        faults = kept;
        apart = apart.saturating_mul(2).max(1);
    }
    faults
}

/// For each replica, when in a span it runs.
pub fn running(
    lane: &LanePlan,
    schedule: &Schedule,
    start: SimTime,
    (from, until): (SimTime, SimTime),
) -> Vec<Vec<(SimTime, SimTime)>> {
    let Some(deployment) = &lane.deployment else { return Vec::new() };
    let most = schedule.most_replicas() as usize;
    let at = |offset: u64| SimTime::from_nanos(start.nanos().saturating_add_unsigned(offset));
    let mut runs: Vec<bool> = (0..most).map(|replica| replica < deployment.replicas().count as usize).collect();
    let mut spans: Vec<Vec<(SimTime, SimTime)>> = vec![Vec::new(); most];
    let mut since = from;
    let mut pass = |runs: &[bool], since: &mut SimTime, now: SimTime| {
        let now = now.clamp(from, until);
        if now > *since {
            for spans in runs.iter().zip(&mut spans).filter(|(runs, _)| **runs).map(|(_, spans)| spans) {
                match spans.last_mut() {
                    Some((_, last)) if *last == *since => *last = now,
                    _ => spans.push((*since, now)),
                }
            }
            *since = now;
        }
    };
    for (offset, change) in schedule.changes() {
        let next: Vec<bool> = match change {
            Change::Start(replica) => (0..most).map(|i| runs[i] || i == *replica as usize).collect(),
            Change::Stop(replica) => (0..most).map(|i| runs[i] && i != *replica as usize).collect(),
            Change::Scale(replicas) => (0..most).map(|i| i < *replicas as usize).collect(),
            _ => continue,
        };
        // The last one is not stopped.
        if next.contains(&true) {
            pass(&runs, &mut since, at(*offset));
            runs = next;
        }
    }
    pass(&runs, &mut since, until);
    spans
}
