//! What the marks of a deployment mean.

use super::super::legend::{Group, Sign};
use super::super::panel::Panel;
use super::{fleet, strips};
use crate::report::{Counter, FaultKind, FleetDetail, Report};

fn fleets<'a>(report: &Report, panels: &[Panel<'a>]) -> impl Iterator<Item = (&'a FleetDetail, Panel<'a>)> {
    let lanes = report.lanes.len();
    panels
        .iter()
        .copied()
        .flat_map(move |panel| (0..lanes).filter_map(move |lane| fleet(&panel, lane).map(|fleet| (fleet, panel))))
}

/// Whose counts are drawn.
pub fn counter(report: &Report, panels: &[Panel<'_>]) -> Option<&'static str> {
    let any = |counter: Counter| fleets(report, panels).any(|(fleet, _)| fleet.counter == counter);
    Some(match (any(Counter::Store), any(Counter::FullestReplica)) {
        (true, true) => "what the store counts, or the fullest replica for itself",
        (true, false) => "what the store counts",
        (false, true) => "what the fullest replica counts for itself",
        (false, false) => return None,
    })
}

/// The entries, for the marks that the sheet holds.
pub fn entries(report: &Report, panels: &[Panel<'_>]) -> Group {
    let mut entries = Group::new();
    let all = || fleets(report, panels);
    let most = all().map(|(fleet, _)| fleet.replicas.len()).filter(|n| (2..=strips::MOST).contains(n)).max();
    if let Some(most) = most {
        let names = match most {
            2 => "r0, r1".to_owned(),
            most => format!("r0 to r{}", most - 1),
        };
        let stopped = all().any(|(fleet, panel)| strips::pauses(fleet, (panel.detail.from, panel.detail.until)));
        let stopped = if stopped { ", no line: it does not run" } else { "" };
        entries.push((Sign::Strip, format!("{names}: what each replica did{stopped}")));
    }
    let decided = |fleet: &FleetDetail| {
        fleet.replicas.iter().flat_map(|replica| &replica.decided).any(|decided| decided.without > 0)
    };
    if all().any(|(fleet, _)| decided(fleet)) {
        entries.push((Sign::Without, "decided without the store".to_owned()));
    }
    let has = |kind: FaultKind| all().any(|(fleet, _)| fleet.faults.iter().any(|fault| fault.kind == kind));
    let store = [(FaultKind::StoreDown, "down"), (FaultKind::StoreSlow, "slow"), (FaultKind::StoreLag, "behind")];
    let store: Vec<&str> = store.into_iter().filter(|(kind, _)| has(*kind)).map(|(_, word)| word).collect();
    let mut wrong = Vec::new();
    if !store.is_empty() {
        wrong.push(format!("store {}", store.join(" or ")));
    }
    if has(FaultKind::CutOff) {
        wrong.push("a replica does not reach it".replace("it", if store.is_empty() { "the store" } else { "it" }));
    }
    if !wrong.is_empty() {
        entries.push((Sign::Trouble, wrong.join("; ")));
    }
    if all().any(|(fleet, _)| fleet.faults.iter().any(|fault| fault.kind.is_instant())) {
        entries.push((Sign::Change, "something changes".to_owned()));
    }
    entries
}
