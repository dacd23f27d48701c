//! Lanes that decide alike: said once, and by a short tag in each lane.

use crate::report::{LaneReport, Report};

/// Lanes of a group with a name of its own; two can name each other.
const NAMED: usize = 3;

/// The groups with names, in the report's order.
fn named(report: &Report) -> impl Iterator<Item = (String, &Vec<String>)> {
    let any = report.offered.requests > 0;
    let large = report.groups.iter().filter(move |group| any && group.len() >= NAMED);
    large.enumerate().map(|(i, group)| {
        let letter = u8::try_from(i).ok().filter(|i| *i < 26).map_or('Z', |i| char::from(b'A' + i));
        (format!("group {letter}"), group)
    })
}

/// Each group with a name: the name, and what its lanes have in common.
pub fn list(report: &Report) -> Vec<(String, String)> {
    let describe = |group: &Vec<String>| {
        let lanes = || group.iter().filter_map(|name| report.lane(name));
        let names = |later: bool| -> Vec<&str> {
            lanes().filter(|lane| (lane.delayed > 0) == later).map(|lane| lane.name.as_str()).collect()
        };
        let (now, later) = (names(false), names(true));
        match (now.len(), later.len()) {
            (_, 0) => format!("{} decide alike", now.join(", ")),
            (0, _) => format!("{} admit the same", later.join(", ")),
            (one, 1) => format!("{} {}; {} admits the same, but later", now.join(", "), alike(one), later[0]),
            (one, _) => format!("{} {}; {} admit the same, but later", now.join(", "), alike(one), later.join(", ")),
        }
    };
    named(report).map(|(name, group)| (name, describe(group))).collect()
}

const fn alike(lanes: usize) -> &'static str {
    if lanes == 1 { "admits at once" } else { "decide alike" }
}

/// A lane's tag: its group, or the one lane that decides or admits as it does.
pub fn tag(report: &Report, lane: &LaneReport) -> Option<String> {
    if report.offered.requests == 0 {
        return None;
    }
    if let Some((name, group)) = named(report).find(|(_, group)| group.contains(&lane.name)) {
        let prompt = |name: &String| report.lane(name).is_some_and(|lane| lane.delayed == 0);
        let later = lane.delayed > 0 && group.iter().any(prompt);
        return Some(if later { format!("{name}, later") } else { name });
    }
    let group = report.groups.iter().find(|group| group.contains(&lane.name))?;
    let other = report.lane(group.iter().find(|name| **name != lane.name)?)?;
    let first = |lane: &LaneReport| lane.same_as.clone().unwrap_or_else(|| lane.name.clone());
    if first(lane) == first(other) {
        return Some(format!("same as {}", other.name));
    }
    (lane.delayed > 0).then(|| format!("admits as {}", other.name))
}
