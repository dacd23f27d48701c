//! What the marks of a closed loop mean.

use super::super::groups;
use super::super::legend::{Group, Sign};
use super::super::measure::clean;
use super::super::words::{limit, span};
use super::{Axes, words};

/// The entries, for the marks that the sheet holds.
pub fn entries(axes: Axes<'_>) -> Group {
    let Axes { report, panels, heights, .. } = axes;
    let widths: Vec<String> = panels.iter().map(|panel| span(u128::from(panel.attempts(0).width_ns()))).collect();
    let per = match &widths[..] {
        [whole, close] => format!("attempts per {whole}, close-up per {close}"),
        widths => format!("attempts per {}", widths.concat()),
    };
    let own = heights.attempts[0].is_none();
    let scale = match (report.lanes.len(), own) {
        (1, _) => "",
        (_, true) => "; each lane on a scale of its own",
        (_, false) => "; all lanes on one scale",
    };
    let mut entries = vec![
        (Sign::First, "first attempts".to_owned()),
        (Sign::Retry, format!("retries (bars: {per}{scale})")),
        (Sign::Good, "goodput: answers in time".to_owned()),
        (Sign::Admitted, "admitted attempts".to_owned()),
    ];
    let cut = if heights.cut { ", cut off at the top" } else { "" };
    let unit = words::window(heights.window_ns);
    entries.push((Sign::Offered, format!("first attempts (all three per {unit}{cut})")));
    entries.extend(heights.limit.and(limit(report)).map(|limit| (Sign::Limit, format!("limit, {limit}"))));
    let slow = || panels.iter().flat_map(|panel| &panel.detail.lanes).flat_map(|lane| &lane.slow);
    if slow().count() > 0 {
        let text = match (slow().any(|slow| slow.speed == 0.0), slow().any(|slow| slow.speed > 0.0)) {
            (true, true) => "the backend stands still or is slow",
            (true, false) => "the backend stands still",
            _ => "the backend is slow",
        };
        entries.push((Sign::Slow, text.to_owned()));
    }
    entries.extend(groups::list(report).iter().map(|(name, text)| (Sign::Group, clean(&format!("{name}: {text}")))));
    entries
}
