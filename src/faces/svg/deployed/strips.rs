//! A strip for each replica: what came to it and what became of that, and what was decided without the
//! store.

use super::super::bins::Bins;
use super::super::curve::{closed, straight};
use super::super::paint::{Anchor, Painter, Point, palette};
use super::super::panel::Panel;
use super::super::{PANELS_X, SMALL};
use super::fleet;
use crate::report::{Counts, FleetDetail, ReplicaDetail};
use crate::time::SimTime;

/// Replicas drawn apart at most.
pub const MOST: usize = 8;
/// Height of the mark below what was decided without the store.
const MARK: i32 = 5;
/// Above the first strip.
const BEFORE: i32 = 14;

/// The strips of one lane.
#[derive(Clone, Copy)]
pub struct Strips {
    /// Replicas that have one each; zero: there is one process, or there are too many.
    count: usize,
    /// Whether some were decided without the store.
    without: bool,
}

impl Strips {
    /// Those of lane number `lane`.
    pub fn new(panels: &[Panel<'_>], lane: usize) -> Self {
        let fleets = || panels.iter().filter_map(|panel| fleet(panel, lane));
        let replicas = fleets().map(|fleet| fleet.replicas.len()).max().unwrap_or(0);
        let count = if (2..=MOST).contains(&replicas) { replicas } else { 0 };
        let replicas = || fleets().flat_map(|fleet| &fleet.replicas);
        Self { count, without: replicas().flat_map(|replica| &replica.decided).any(|decided| decided.without > 0) }
    }

    /// From the top of one to the top of the next.
    const fn pitch(self) -> i32 {
        if self.count > 4 { 26 } else { 32 }
    }

    /// Height of the bars.
    const fn bars(self) -> i32 {
        self.pitch() - MARK - 5
    }

    /// How high all are, with the mark below the arrivals of a lane that has none.
    pub const fn height(self) -> i32 {
        match (self.count, self.without) {
            (0, false) => 0,
            (0, true) => MARK,
            (count, _) => BEFORE + count as i32 * self.pitch(),
        }
    }

    /// Draws them below `top`, and their numbers left of the panels.
    pub fn draw(self, painter: &Painter<'_>, panels: &[Panel<'_>], lane: usize, top: i32) {
        for number in 0..self.count {
            let base = top + BEFORE + number as i32 * self.pitch() + self.bars();
            // Where they are close, every other one is named.
            if self.count <= 4 || number % 2 == 0 {
                let name = format!("r{number}");
                painter.text((PANELS_X - 12, base + 1), SMALL, palette::SOFT, Anchor::End, &name);
            }
        }
        for panel in panels {
            let Some(fleet) = fleet(panel, lane) else { continue };
            if self.count == 0 {
                let all: Vec<&ReplicaDetail> = fleet.replicas.iter().collect();
                panel.without(painter, &all, top);
            } else {
                self.panel(painter, panel, fleet, top + BEFORE);
            }
        }
    }

    fn panel(self, painter: &Painter<'_>, panel: &Panel<'_>, fleet: &FleetDetail, top: i32) {
        let bins = calm(panel, fleet, if self.count > 4 { 32 } else { 16 });
        let sums: Vec<Vec<Counts>> = fleet.replicas.iter().map(|replica| bins.sum(&replica.counts)).collect();
        let highest = sums.iter().flatten().map(Counts::total).max().unwrap_or(0).max(1);
        for (number, (replica, counts)) in fleet.replicas.iter().zip(&sums).enumerate().take(self.count) {
            let top = top + number as i32 * self.pitch();
            let base = top + self.bars();
            for fault in fleet.faults.iter().filter(|fault| !fault.kind.is_instant()) {
                if fault.replicas.contains(&(number as u32)) {
                    panel.shade(painter, fault, (top, base + MARK + 2));
                }
            }
            panel.layers(painter, (top, base), &bins, counts, highest);
            for (from, until) in &replica.running {
                painter.line(&[(panel.at(*from), base), (panel.at(*until), base)], palette::RULE, 2);
            }
            panel.without(painter, &[replica], base);
        }
    }
}

impl Panel<'_> {
    /// Bars of what became of attempts, upon each other: all that came behind those that were admitted,
    /// and those behind what was released at once, so that each needs only its upper edge.
    pub fn layers(&self, painter: &Painter<'_>, (top, base): (i32, i32), bins: &Bins, counts: &[Counts], highest: u64) {
        // What is there at all is seen.
        let high = |count: u64| match count {
            0 => 0,
            count => ((count as f64 / highest as f64 * f64::from(base - top)).round() as i32).max(2),
        };
        let parts = |counts: &Counts| [counts.allowed, counts.delayed, counts.denied];
        for (upto, color) in [(3, palette::DENIED), (2, palette::DELAYED), (1, palette::ALLOWED)] {
            if counts.iter().all(|counts| parts(counts)[upto - 1] == 0) {
                continue;
            }
            let step = |(pair, counts): (&[usize], &Counts)| {
                let height: i32 = parts(counts)[..upto].iter().map(|count| high(*count)).sum();
                let y = (base - height).max(top);
                [(self.column_x(pair[0]), y), (self.column_x(pair[1]), y)]
            };
            let line: Vec<Point> = bins.edges.windows(2).zip(counts).flat_map(step).collect();
            painter.polygon(&closed(&straight(&line), base), color);
        }
    }

    /// A bar below `base` where some of these replicas decided without the store.
    fn without(&self, painter: &Painter<'_>, replicas: &[&ReplicaDetail], base: i32) {
        let Bins { edges, .. } = self.bins();
        let decided = |column: usize| {
            replicas.iter().any(|replica| replica.decided.get(column).is_some_and(|decided| decided.without > 0))
        };
        let mut spans: Vec<(i32, i32)> = Vec::new();
        for pair in edges.windows(2).filter(|pair| (pair[0]..pair[1]).any(decided)) {
            let (from, until) = (self.column_x(pair[0]), self.column_x(pair[1]));
            match spans.last_mut() {
                Some(last) if last.1 == from => last.1 = until,
                _ => spans.push((from, until)),
            }
        }
        let (top, bottom) = (base + 2, base + 2 + MARK);
        let bar = |(from, until): &(i32, i32)| [(*from, bottom), (*from, top), (*until, top), (*until, bottom)];
        painter.polygon(&straight(&spans.iter().flat_map(bar).collect::<Vec<_>>()), palette::INK);
    }
}

/// Bins wide enough that it does not show whether a replica got one attempt more or less.
fn calm(panel: &Panel<'_>, fleet: &FleetDetail, narrowest: i32) -> Bins {
    const ENOUGH: u64 = 5;
    let few = |bins: &Bins| {
        let sums = fleet.replicas.iter().flat_map(|replica| bins.sum(&replica.counts));
        let (sum, count) = sums
            .map(|counts| counts.total())
            .filter(|total| *total > 0)
            .fold((0, 0), |(sum, count), total| (sum + total, count + 1));
        sum < ENOUGH * count
    };
    let wider = [24, 32, 48, 64].into_iter().filter(|wider| *wider > narrowest).map(|wider| panel.bins_from(wider));
    let mut bins = panel.bins_from(narrowest);
    for wider in wider {
        if !few(&bins) {
            break;
        }
        bins = wider;
    }
    bins
}

/// Whether a replica is ever stopped or not started in a span.
pub fn pauses(fleet: &FleetDetail, (from, until): (SimTime, SimTime)) -> bool {
    fleet.replicas.iter().any(|replica| replica.running != [(from, until)])
}
