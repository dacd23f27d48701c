//! One span of the run on the time axis: a lane's lines, and the arrivals below them.

use super::measure::Font;
use super::paint::{Anchor, Color, Painter, Point, palette};
use crate::faces::format::{Clock, date};
use crate::report::{Counts, DecisionKind, Detail, Extent};
use crate::time::SimTime;

/// The narrowest column, in the sheet's units: a pixel.
const COLUMN: i32 = 2;
/// How far a label of the time axis reaches out of its panel.
const OVERHANG: i32 = 14;
/// The narrowest bin of arrivals.
const BIN: i32 = 8;

/// A span and where it stands on the sheet.
#[derive(Clone, Copy)]
pub struct Panel<'a> {
    /// The span.
    pub detail: &'a Detail,
    /// Left edge.
    pub x: i32,
    /// Width.
    pub width: i32,
}

/// A quantity over time.
#[derive(Default)]
struct Curve {
    line: Vec<Point>,
    /// Where the line is only the top of what the quantity did.
    band: Vec<Point>,
}

/// The upright extent of a lane's lines, and what they measure.
#[derive(Clone, Copy)]
pub struct Plot {
    /// Where the highest value stands.
    pub top: i32,
    /// Where zero stands.
    pub base: i32,
    /// Where the limit stands: there the lane's own state is full, too.
    pub limit: i32,
    /// The highest value.
    pub highest: f64,
}

impl Plot {
    /// Where a number of units stands.
    fn units(&self, value: f64) -> i32 {
        let share = (value / self.highest).clamp(0.0, 1.0);
        self.base - (share * f64::from(self.base - self.top)).round() as i32
    }

    /// Where a share of the lane's own capacity stands.
    fn share(&self, used: f64, capacity: u64) -> i32 {
        let share = if capacity == 0 { 0.0 } else { used / capacity as f64 };
        (self.base - (share * f64::from(self.base - self.limit)).round() as i32).max(self.top)
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
    fn merge(&self, narrowest: i32) -> usize {
        let most = (self.width / narrowest).max(1) as usize;
        self.detail.columns.div_ceil(most).max(1)
    }

    fn column_x(&self, column: usize) -> i32 {
        self.x + (self.width as usize * column.min(self.detail.columns) / self.detail.columns.max(1)) as i32
    }

    /// A quantity's line: a step for each column that it changes in, up and down where it does both;
    /// where that is most of them, its highest values and the band down to the lowest.
    fn curve(&self, extents: &[Extent], y: impl Fn(f64) -> i32) -> Curve {
        let step = self.merge(COLUMN);
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

    fn trailing_curve(&self, lane: usize, plot: Plot) -> Curve {
        self.curve(&self.detail.lanes[lane].trailing, |value| plot.units(value))
    }

    fn state_curve(&self, lane: usize, plot: Plot) -> Curve {
        let detail = &self.detail.lanes[lane];
        self.curve(&detail.level, |used| plot.share(used, detail.level_limit))
    }

    /// The units released in the last window.
    pub fn trailing(&self, painter: &Painter<'_>, lane: usize, plot: Plot) {
        painter.line(&self.trailing_curve(lane, plot).line, palette::INK, 3);
    }

    /// What lies behind the lines: how low the trailing count goes, and what of it is above the limit.
    pub fn excess(&self, painter: &Painter<'_>, lane: usize, plot: Plot) {
        let curve = self.trailing_curve(lane, plot);
        painter.polygon(&curve.band, palette::BAND);
        if curve.line.iter().any(|(_, y)| *y < plot.limit) {
            painter.polygon(&above(&curve.line, plot.limit), palette::EXCESS);
        }
    }

    /// What the lane itself counts as used.
    pub fn state(&self, painter: &Painter<'_>, lane: usize, plot: Plot, waiting: bool) {
        let curve = self.state_curve(lane, plot);
        if waiting && curve.line.iter().any(|(_, y)| *y < plot.base) {
            painter.polygon(&closed(&curve.line, plot.base), palette::WAITING);
        }
        painter.polygon(&curve.band, palette::STATE_BAND);
        painter.line(&curve.line, palette::STATE, 2);
    }

    /// Whether some line is drawn as the top of a band.
    pub fn banded(&self, plot: Plot) -> bool {
        (0..self.detail.lanes.len()).any(|lane| {
            !self.trailing_curve(lane, plot).band.is_empty() || !self.state_curve(lane, plot).band.is_empty()
        })
    }

    /// Whether a lane's lines keep below height `level` between two places.
    pub fn below(&self, lane: usize, (from, until): (i32, i32), plot: Plot, level: i32) -> bool {
        [self.trailing_curve(lane, plot), self.state_curve(lane, plot)].iter().all(|curve| {
            curve
                .line
                .windows(2)
                .all(|pair| pair[1].0 < from || pair[0].0 >= until || (pair[0].1 >= level && pair[1].1 >= level))
        })
    }

    /// Whether arrivals are few enough for a mark each.
    pub fn marked(&self) -> bool {
        let step = self.merge(COLUMN);
        let crowded = |lane: &crate::report::LaneDetail| {
            lane.counts.chunks(step).any(|merged| merged.iter().map(Counts::total).sum::<u64>() > 2)
        };
        !self.detail.arrivals.is_empty() && !self.detail.lanes.first().is_some_and(crowded)
    }

    /// What was sent: a mark each, or bins.
    pub fn sent(&self, painter: &Painter<'_>, (top, bottom): (i32, i32)) {
        if self.marked() {
            let xs: Vec<i32> = self.detail.arrivals.iter().map(|arrival| self.at(arrival.at)).collect();
            painter.ticks(&xs, (top, bottom), palette::SOFT);
        } else if let Some(lane) = self.detail.lanes.first() {
            let bins: Vec<u64> = self.bins(&lane.counts).iter().map(Counts::total).collect();
            let highest = bins.iter().copied().max().unwrap_or(0).max(1);
            self.stack(painter, (top, bottom), &[(bins, palette::SOFT)], highest);
        }
        painter.line(&[(self.x, bottom), (self.right(), bottom)], palette::RULE, 1);
    }

    /// What a lane did with each arrival, or with how many in each bin.
    pub fn decisions(&self, painter: &Painter<'_>, lane: usize, (top, bottom): (i32, i32)) {
        let detail = &self.detail.lanes[lane];
        if self.marked() {
            let of = |kind: DecisionKind| -> Vec<i32> {
                let arrivals = self.detail.arrivals.iter().zip(&detail.decisions);
                arrivals.filter(|(_, decision)| decision.kind == kind).map(|(arrival, _)| self.at(arrival.at)).collect()
            };
            let middle = (top + bottom) / 2;
            painter.ticks(&of(DecisionKind::Allow), (top, middle), palette::ALLOWED);
            for x in of(DecisionKind::Delay) {
                painter.ring((x, (top + middle) / 2), 5, palette::DELAYED_INK);
            }
            painter.crosses(&of(DecisionKind::Deny), (middle + 3, bottom), palette::DENIED);
        } else {
            let bins = self.bins(&detail.counts);
            let highest = bins.iter().map(Counts::total).max().unwrap_or(0).max(1);
            let of = |kind: fn(&Counts) -> u64| bins.iter().map(kind).collect::<Vec<_>>();
            let kinds = [
                (of(|c| c.allowed), palette::ALLOWED),
                (of(|c| c.delayed), palette::DELAYED),
                (of(|c| c.denied), palette::DENIED),
            ];
            self.stack(painter, (top, bottom), &kinds, highest);
            painter.line(&[(self.x, bottom), (self.right(), bottom)], palette::RULE, 1);
        }
    }

    /// Columns taken together to bins that can be told apart.
    fn bins(&self, counts: &[Counts]) -> Vec<Counts> {
        let sum = |merged: &[Counts]| {
            merged.iter().fold(Counts::default(), |mut sum, counts| {
                sum += *counts;
                sum
            })
        };
        counts.chunks(self.merge(BIN)).map(sum).collect()
    }

    /// The width of a bin in nanoseconds and the most arrivals in one, where arrivals are binned.
    pub fn highest_bin(&self) -> Option<(u64, u64)> {
        if self.marked() || self.detail.arrivals_within == 0 {
            return None;
        }
        let highest = self.bins(&self.detail.lanes.first()?.counts).iter().map(Counts::total).max()?;
        let step = self.merge(BIN).min(self.detail.columns);
        let width = self.detail.edge(step).nanos().abs_diff(self.detail.from.nanos());
        Some((width, highest))
    }

    /// Bins of several kinds upon each other; what is there at all is seen.
    fn stack(&self, painter: &Painter<'_>, (top, bottom): (i32, i32), kinds: &[(Vec<u64>, Color)], highest: u64) {
        let step = self.merge(BIN);
        let height = f64::from(bottom - top);
        let mut floor = vec![bottom; kinds.first().map_or(0, |(bins, _)| bins.len())];
        for (bins, color) in kinds {
            let ceiling: Vec<i32> = bins
                .iter()
                .zip(&floor)
                .map(|(count, floor)| match count {
                    0 => *floor,
                    count => floor - ((*count as f64 / highest as f64 * height).round() as i32).max(2),
                })
                .collect();
            // One polygon, without area where there is nothing.
            if bins.iter().any(|count| *count > 0) {
                let x = |bin: usize| self.column_x(bin * step);
                let over = (0..bins.len()).flat_map(|bin| [(x(bin), ceiling[bin]), (x(bin + 1), ceiling[bin])]);
                let under = (0..bins.len()).rev().flat_map(|bin| [(x(bin + 1), floor[bin]), (x(bin), floor[bin])]);
                painter.polygon(&straight(&over.chain(under).collect::<Vec<_>>()), *color);
            }
            floor = ceiling;
        }
    }

    /// Faint upright lines at the labelled instants.
    pub fn grid(&self, painter: &Painter<'_>, (top, bottom): (i32, i32)) {
        for tick in &self.detail.ticks {
            let x = self.at(*tick);
            painter.line(&[(x, top), (x, bottom)], palette::FAINT, 2);
        }
    }

    /// How many were sent between labelled instants, as numbers on `baseline`.
    pub fn tallies(&self, painter: &Painter<'_>, baseline: i32, font: Font) {
        let mut edges = vec![self.x];
        edges.extend(self.detail.ticks.iter().map(|tick| self.at(*tick)));
        edges.push(self.right());
        for (stretch, sent) in edges.windows(2).zip(&self.detail.between_ticks) {
            let text = crate::faces::format::count(u128::from(*sent));
            if *sent > 0 && font.width(&text) + 8 <= stretch[1] - stretch[0] {
                let middle = (stretch[0] + stretch[1]) / 2;
                painter.text((middle, baseline), font, palette::INK, Anchor::Middle, &text);
            }
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

/// The same line without the points that lie between their neighbours.
fn straight(points: &[Point]) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::with_capacity(points.len());
    for &point in points {
        while let [.., a, b] = kept[..] {
            let (ab, bc) = ((b.0 - a.0, b.1 - a.1), (point.0 - b.0, point.1 - b.1));
            let cross = i64::from(ab.0) * i64::from(bc.1) - i64::from(ab.1) * i64::from(bc.0);
            let along = i64::from(ab.0) * i64::from(bc.0) + i64::from(ab.1) * i64::from(bc.1);
            if cross != 0 || along < 0 {
                break;
            }
            kept.pop();
        }
        if kept.last() != Some(&point) {
            kept.push(point);
        }
    }
    kept
}

/// The area between a line and a level below it, where the line is above it.
fn above(points: &[Point], level: i32) -> Vec<Point> {
    let mut clipped: Vec<Point> = Vec::with_capacity(points.len() + 2);
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        clipped.push((a.0, a.1.min(level)));
        if (a.1 < level) != (b.1 < level) && a.1 != b.1 {
            let part = f64::from(level - a.1) / f64::from(b.1 - a.1);
            clipped.push((a.0 + (f64::from(b.0 - a.0) * part).round() as i32, level));
        }
    }
    clipped.extend(points.last().map(|last| (last.0, last.1.min(level))));
    closed(&straight(&clipped), level)
}

/// A line closed to an area down to `level`.
fn closed(points: &[Point], level: i32) -> Vec<Point> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    let mut area = vec![(first.0, level)];
    area.extend_from_slice(points);
    area.push((last.0, level));
    straight(&area)
}
