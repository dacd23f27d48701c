//! One span of the run on the time axis: a lane's lines.

use super::curve::{Curve, above, closed, straight};
use super::measure::Font;
use super::paint::{Anchor, Painter, Point, palette};
use crate::faces::format::{Clock, date};
use crate::report::{Change, Detail, Extent};
use crate::time::SimTime;

/// The narrowest column, in the sheet's units: a pixel.
pub const COLUMN: i32 = 2;
/// How far a label of the time axis reaches out of its panel.
pub const OVERHANG: i32 = 14;
/// A line that turns more often than once in this many units is a scribble.
const TURN: i32 = 7;
/// What is above the limit is marked at least this high, however little it is.
const LEAST_EXCESS: i32 = 8;

/// A span and where it stands on the sheet.
#[derive(Clone, Copy)]
pub struct Panel<'a> {
    /// The span.
    pub detail: &'a Detail,
    /// Left edge.
    pub x: i32,
    /// Width.
    pub width: i32,
    /// Whether the lines go up and down too often to be followed at this width: then only the highest
    /// values are drawn, a bin each.
    pub skyline: bool,
}

/// The upright extent of a lane's lines, and what they measure.
#[derive(Clone, Copy)]
pub struct Plot {
    /// Where the highest value stands.
    pub top: i32,
    /// Where zero stands.
    pub base: i32,
    /// Where the limit stands; of a lane's own state, where it is full.
    pub limit: i32,
    /// The highest value.
    pub highest: f64,
}

impl Plot {
    /// Where a number of units stands.
    pub fn units(&self, value: f64) -> i32 {
        let share = (value / self.highest).clamp(0.0, 1.0);
        self.base - (share * f64::from(self.base - self.top)).round() as i32
    }
}

impl Panel<'_> {
    /// Right edge.
    pub const fn right(&self) -> i32 {
        self.x + self.width
    }

    /// Where an instant stands.
    pub fn at(&self, at: SimTime) -> i32 {
        let (from, until) = (i128::from(self.detail.from.nanos()), i128::from(self.detail.until.nanos()));
        let offset = (i128::from(at.nanos()) - from).clamp(0, (until - from).max(1));
        self.x + (offset * i128::from(self.width) / (until - from).max(1)) as i32
    }

    /// Columns taken together so that none is narrower than `narrowest`.
    pub fn merge(&self, narrowest: i32) -> usize {
        let most = (self.width / narrowest).max(1) as usize;
        self.detail.columns.div_ceil(most).max(1)
    }

    /// The width of a column, where all are equally wide.
    pub fn column_ns(&self) -> Option<i128> {
        let span = i128::from(self.detail.until.nanos()) - i128::from(self.detail.from.nanos());
        let columns = self.detail.columns.max(1) as i128;
        (span % columns == 0 && span > 0).then_some(span / columns)
    }

    /// Where a column begins.
    pub fn column_x(&self, column: usize) -> i32 {
        self.x + (self.width as usize * column.min(self.detail.columns) / self.detail.columns.max(1)) as i32
    }

    /// A quantity's line: a step for each column that it changes in, up and down where it does both;
    /// where that is most of them, its highest values and the band down to the lowest.
    fn curve(&self, extents: &[Extent], y: impl Fn(f64) -> i32) -> Curve {
        let curve = self.curve_by(COLUMN, extents, &y);
        // Beside many replicas a scribble is drawn coarser: there is more to hold on one sheet.
        let apart = self.detail.lanes.iter().any(|lane| lane.fleet.is_some());
        if apart && !curve.band.is_empty() { self.curve_by(3 * COLUMN, extents, &y) } else { curve }
    }

    /// The same, of columns that are not narrower than this.
    fn curve_by(&self, narrowest: i32, extents: &[Extent], y: &dyn Fn(f64) -> i32) -> Curve {
        let step = self.merge(narrowest);
        // A column of one instant changes there, not on the way to the next.
        let instant = step == 1 && self.column_ns() == Some(1);
        let mut curve = Curve::default();
        let (mut tops, mut feet) = (Vec::new(), Vec::new());
        let mut both = 0;
        let mut now = None;
        for (i, merged) in extents.chunks(step).enumerate() {
            let (Some(first), Some(last)) = (merged.first(), merged.last()) else { continue };
            let low = y(merged.iter().map(|e| e.min).fold(f64::INFINITY, f64::min));
            let high = y(merged.iter().map(|e| e.max).fold(f64::NEG_INFINITY, f64::max));
            let last = y(last.last);
            let (left, right) = (self.column_x(i * step), self.column_x((i + 1) * step));
            let middle = (left + right) / 2;
            tops.push((middle, high));
            feet.push((middle, low));
            // Before the first column nothing is known but that it began within its extent.
            let before = *now.get_or_insert_with(|| {
                let start = if y(first.last) == y(first.max) { y(first.min) } else { y(first.max) };
                curve.line.push((left, start));
                start
            });
            let (high, low) = (high.min(before), low.max(before));
            if (before, last) == (low, high) || (before, last) == (high, low) {
                // Up or down, or level.
                if curve.line.last() != Some(&(left, before)) {
                    curve.line.push((left, before));
                }
                if instant {
                    curve.line.push((left, last));
                }
                curve.line.push((right, last));
                now = Some(last);
            } else {
                // Both: to the nearer end first.
                let ends = if (before - high).abs() < (before - low).abs() { [high, low] } else { [low, high] };
                curve.line.push((middle, ends[0]));
                curve.line.push((right, ends[1]));
                now = Some(ends[1]);
                both += usize::from(low - high > 2);
            }
        }
        if both > tops.len() / 4 {
            curve.line = straight(&tops);
            feet.reverse();
            tops.extend(feet);
            curve.band = straight(&tops);
        }
        curve.line = straight(&curve.line);
        curve
    }

    /// The line of single changes: upright at each, level between them.
    fn steps(&self, changes: &[Change], plot: Plot) -> Curve {
        let mut line: Vec<Point> = Vec::new();
        for (i, change) in changes.iter().enumerate() {
            // What leaves and comes at one instant makes one step.
            if changes.get(i + 1).is_some_and(|next| next.at == change.at) {
                continue;
            }
            let (x, y) = (self.at(change.at), plot.units(change.value as f64));
            line.extend(line.last().map(|before| (x, before.1)));
            line.push((x, y));
        }
        line.extend(line.last().map(|last| (self.right(), last.1)));
        Curve { line: straight(&line), band: Vec::new() }
    }

    fn trailing_curve(&self, lane: usize, plot: Plot) -> Curve {
        let detail = &self.detail.lanes[lane];
        if detail.trailing_changes.is_empty() {
            self.curve(&detail.trailing, |value| plot.units(value))
        } else {
            self.steps(&detail.trailing_changes, plot)
        }
    }

    fn state_curve(&self, lane: usize, own: Plot) -> Curve {
        self.curve(&self.detail.lanes[lane].level, |used| own.units(used))
    }

    /// Whether some lane's lines turn too often to be followed.
    pub fn scribbled(&self) -> bool {
        (0..self.detail.lanes.len()).any(|lane| {
            let detail = &self.detail.lanes[lane];
            let highest = detail.trailing.iter().map(|extent| extent.max).fold(1.0, f64::max);
            let plot = Plot { top: 0, base: 64, limit: 0, highest };
            let curve = self.trailing_curve(lane, plot);
            !curve.band.is_empty() || curve.turns() as i32 * TURN > self.width
        })
    }

    /// The units released in the last window.
    pub fn trailing(&self, painter: &Painter<'_>, lane: usize, plot: Plot) {
        if !self.skyline {
            painter.line(&self.trailing_curve(lane, plot).line, palette::INK, 3);
        }
    }

    /// What lies behind the lines: how low the trailing count goes, and what of it is above the limit.
    pub fn excess(&self, painter: &Painter<'_>, lane: usize, plot: Plot, limit: u64) {
        let (line, band) = if self.skyline {
            let line = self.skyline(lane, plot);
            let area = closed(&line, plot.base);
            (line, area)
        } else {
            let curve = self.trailing_curve(lane, plot);
            (curve.line, curve.band)
        };
        // Lighter than what is above the limit, in grey too.
        painter.polygon(&band, if self.skyline { palette::FAINT } else { palette::BAND });
        if line.iter().any(|(_, y)| *y < plot.limit) {
            painter.polygon(&above(&line, plot.limit), palette::EXCESS);
        }
        let (level, edge) = (plot.limit, plot.limit - LEAST_EXCESS);
        let over = self.over(lane, limit);
        let marks =
            over.iter().flat_map(|(from, until)| [(*from, level), (*from, edge), (*until, edge), (*until, level)]);
        painter.polygon(&straight(&marks.collect::<Vec<_>>()), palette::EXCESS);
    }

    /// The highest values of the trailing count, a bin each.
    fn skyline(&self, lane: usize, plot: Plot) -> Vec<Point> {
        let trailing = &self.detail.lanes[lane].trailing;
        let mut line = Vec::new();
        for pair in self.bins().edges.windows(2) {
            let Some(within) = trailing.get(pair[0]..pair[1]) else { continue };
            let y = plot.units(within.iter().map(|extent| extent.max).fold(0.0, f64::max));
            line.extend([(self.column_x(pair[0]), y), (self.column_x(pair[1]), y)]);
        }
        straight(&line)
    }

    /// From where to where the trailing count is above the limit.
    fn over(&self, lane: usize, limit: u64) -> Vec<(i32, i32)> {
        let detail = &self.detail.lanes[lane];
        let mut spans: Vec<(i32, i32)> = Vec::new();
        let mut push = |from: i32, until: i32| match spans.last_mut() {
            Some(last) if from <= last.1 => last.1 = until,
            _ => spans.push((from, until)),
        };
        if detail.trailing_changes.is_empty() {
            for (i, _) in detail.trailing.iter().enumerate().filter(|(_, extent)| extent.max > limit as f64) {
                push(self.column_x(i), self.column_x(i + 1));
            }
        } else {
            for (i, change) in detail.trailing_changes.iter().enumerate() {
                let next = detail.trailing_changes.get(i + 1).map_or(self.detail.until, |next| next.at);
                if change.value > limit && next > change.at {
                    push(self.at(change.at), self.at(next));
                }
            }
        }
        spans
    }

    /// What the lane itself counts as used.
    pub fn state(&self, painter: &Painter<'_>, lane: usize, own: Plot, waiting: bool) {
        if self.skyline {
            return;
        }
        let curve = self.state_curve(lane, own);
        if waiting && curve.line.iter().any(|(_, y)| *y < own.base) {
            painter.polygon(&closed(&curve.line, own.base), palette::WAITING);
        }
        painter.polygon(&curve.band, palette::STATE_BAND);
        painter.line(&curve.line, palette::STATE, 2);
    }

    /// Whether the line of the lane's own state lies under that of the trailing count, all but nowhere
    /// apart.
    pub fn hidden(&self, lane: usize) -> bool {
        let detail = &self.detail.lanes[lane];
        let pairs = || detail.trailing.iter().zip(&detail.level);
        let apart =
            pairs().filter(|(trailing, level)| (trailing.last - level.last).abs() > 0.01 * trailing.max.max(1.0));
        pairs().len() > 0 && apart.count() * 50 <= pairs().len()
    }

    /// Whether some line is drawn as the top of a band.
    pub fn banded(&self, lane: usize, plot: Plot, own: Plot) -> bool {
        let curves = [self.trailing_curve(lane, plot), self.state_curve(lane, own)];
        !self.skyline && curves.iter().any(|curve| !curve.band.is_empty())
    }

    /// Whether a lane's lines keep below height `level` between two places.
    pub fn below(&self, lane: usize, (from, until): (i32, i32), plots: (Plot, Plot), level: i32) -> bool {
        [self.trailing_curve(lane, plots.0), self.state_curve(lane, plots.1)].iter().all(|curve| {
            curve
                .line
                .windows(2)
                .all(|pair| pair[1].0 < from || pair[0].0 >= until || (pair[0].1 >= level && pair[1].1 >= level))
        })
    }

    /// Faint upright lines at the labelled instants.
    pub fn grid(&self, painter: &Painter<'_>, (top, bottom): (i32, i32)) {
        for tick in &self.detail.ticks {
            let x = self.at(*tick);
            painter.line(&[(x, top), (x, bottom)], palette::FAINT, 2);
        }
    }

    /// The labels of the time axis under `y`: times, and dates below where the run has several.
    pub fn axis(&self, painter: &Painter<'_>, y: i32, font: Font, dated: bool) {
        let ticks = &self.detail.ticks;
        let daily = ticks.len() > 1 && ticks.iter().all(|at| at.nanos() % 86_400_000_000_000 == 0);
        let clock = Clock::for_instants(ticks);
        let mut free = [i32::MIN; 2];
        let mut shown = String::new();
        let mut label = |line: usize, x: i32, text: &str| {
            let half = font.width(text) / 2;
            // A label keeps within its panel, as far as it can.
            let middle = x.max(self.x + half - OVERHANG).min(self.right() - half + OVERHANG);
            let fits = middle - half >= free[line];
            if fits {
                free[line] = middle + half + 16;
                let baseline = y + 30 + 30 * line as i32;
                painter.text((middle, baseline), font, palette::SOFT, Anchor::Middle, text);
            }
            fits
        };
        for tick in ticks {
            let x = self.at(*tick);
            painter.line(&[(x, y), (x, y + 8)], palette::RULE, 2);
            let day = date(*tick);
            if daily {
                label(0, x, &day);
                continue;
            }
            if label(0, x, &clock.time(*tick)) && dated && day != shown && label(1, x, &day) {
                shown = day;
            }
        }
    }
}
