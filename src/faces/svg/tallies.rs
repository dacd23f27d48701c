//! How many were sent, as numbers above the arrivals that they count.

use super::measure::Font;
use super::paint::{Anchor, Painter, palette};
use super::panel::{OVERHANG, Panel};
use crate::faces::format::count;

/// Arrivals closer than this are counted together.
const APART: i32 = 24;
/// More clumps than this are counted by stretches of the grid.
const MOST: usize = 14;
/// On either side of a number.
const ROOM: i32 = 6;

/// Arrivals that are counted together.
#[derive(Clone, Copy)]
struct Tally {
    /// From where to where they came.
    left: i32,
    right: i32,
    sent: u64,
    /// Between which labels of the time axis.
    stretch: usize,
}

impl Tally {
    fn with(self, next: Self) -> Self {
        Self { right: next.right, sent: self.sent + next.sent, stretch: next.stretch, left: self.left }
    }

    /// From where to where its number stands, within its panel.
    fn label(&self, panel: &Panel<'_>, font: Font) -> (i32, i32) {
        let half = font.width(&count(u128::from(self.sent))) / 2 + ROOM;
        let middle = i32::midpoint(self.left, self.right);
        let middle = middle.min(panel.right() + OVERHANG - half).max(panel.x - OVERHANG + half);
        (middle - half, middle + half)
    }
}

impl Panel<'_> {
    /// How many were sent, as numbers on `baseline`, each above a bracket over what it counts; none is
    /// left out.
    pub fn tallies(&self, painter: &Painter<'_>, baseline: i32, font: Font) {
        for tally in self.placed(font) {
            let (left, right) = tally.label(self, font);
            let text = count(u128::from(tally.sent));
            painter.text((i32::midpoint(left, right), baseline), font, palette::INK, Anchor::Middle, &text);
            let (top, end) = (baseline + 5, tally.right.max(tally.left + 2));
            painter.line(&[(tally.left, top + 5), (tally.left, top), (end, top), (end, top + 5)], palette::SOFT, 2);
        }
    }

    /// Clumps of arrivals whose numbers have room: each alone if they are few, else those between two
    /// grid lines together, and neighbours where even that is too narrow.
    fn placed(&self, font: Font) -> Vec<Tally> {
        let clumps = self.clumps();
        let together = self.without_overlap(clumps.clone(), font);
        if clumps.len() <= MOST && together.len() == clumps.len() {
            return clumps;
        }
        let mut stretches: Vec<Tally> = Vec::new();
        for clump in clumps {
            match stretches.last_mut() {
                Some(last) if last.stretch == clump.stretch => *last = last.with(clump),
                _ => stretches.push(clump),
            }
        }
        self.without_overlap(stretches, font)
    }

    /// Columns with arrivals, taken together where they are close and no grid line is between them.
    fn clumps(&self) -> Vec<Tally> {
        let Some(lane) = self.detail.lanes.first() else { return Vec::new() };
        let mut clumps: Vec<Tally> = Vec::new();
        for (column, sent) in lane.arrivals().enumerate().filter(|(_, sent)| *sent > 0) {
            let begin = self.detail.edge(column);
            let stretch = self.detail.ticks.partition_point(|tick| *tick <= begin);
            let left = self.column_x(column);
            // A column of one instant has its arrivals where it begins.
            let right = if self.column_ns() == Some(1) { left } else { self.column_x(column + 1) };
            let next = Tally { left, right, sent, stretch };
            match clumps.last_mut() {
                Some(last) if last.stretch == stretch && next.left - last.right < APART => *last = last.with(next),
                _ => clumps.push(next),
            }
        }
        clumps
    }

    /// Neighbours taken together until no number stands on another.
    fn without_overlap(&self, mut tallies: Vec<Tally>, font: Font) -> Vec<Tally> {
        let overlap = |pair: &[Tally]| pair[0].label(self, font).1 > pair[1].label(self, font).0;
        while let Some(i) = tallies.windows(2).position(overlap) {
            tallies[i] = tallies[i].with(tallies[i + 1]);
            tallies.remove(i + 1);
        }
        tallies
    }
}
