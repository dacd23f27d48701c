//! Lanes that decide alike: said once, and by a short tag in each lane.

use crate::report::{LaneReport, Report};

/// The groups with names, in the report's order.
fn named(report: &Report) -> impl Iterator<Item = (String, &Vec<String>)> {
    let any = report.offered.requests > 0;
    let shared = report.groups.iter().filter(move |group| any && group.len() > 1);
    shared.enumerate().map(|(i, group)| {
        let letter = u8::try_from(i).ok().filter(|i| *i < 26).map_or('Z', |i| char::from(b'A' + i));
        (letter.to_string(), group)
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

/// A lane's tag: its group, and whether it only admits what others of it admit at once.
pub fn tag(report: &Report, lane: &LaneReport) -> Option<String> {
    let (name, group) = named(report).find(|(_, group)| group.contains(&lane.name))?;
    let prompt = |name: &String| report.lane(name).is_some_and(|lane| lane.delayed == 0);
    let later = lane.delayed > 0 && group.iter().any(prompt);
    Some(if later { format!("{name}, later") } else { name })
}
