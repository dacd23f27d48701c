//! A lane's row in the sheet of a closed loop.

use super::super::paint::{Anchor, Painter, WIDTH, palette};
use super::super::row::{Heading, LINE, compact};
use super::super::{MARGIN, PANELS_X, SMALL, WHOLE_WIDTH, groups};
use super::strips::Strip;
use super::{Axes, score, words};
use crate::faces::format::count;
use crate::report::LaneReport;

/// Between a heading and the bars: the captions stand there.
const CAPTION: i32 = 42;
/// Between bars and lines.
const BETWEEN: i32 = 12;
/// Below the lines.
const AFTER: i32 = 18;

/// A lane's row.
pub struct Row<'a> {
    lane: &'a LaneReport,
    index: usize,
    heading: Heading,
    /// Where it begins.
    pub top: i32,
    /// Top and bottom of its panels.
    pub band: (i32, i32),
    /// Where the next row begins.
    pub bottom: i32,
}

/// Heights of the bars and of the lines.
const fn strips(lanes: usize) -> (i32, i32) {
    if lanes > 8 { (96, 56) } else { (120, 68) }
}

impl<'a> Row<'a> {
    /// Lays out the row of lane number `index`.
    pub fn new(axes: Axes<'a>, index: usize, top: i32) -> Self {
        let lane = &axes.report.lanes[index];
        let tag = groups::tag(axes.report, lane);
        let heading = Heading::new(&lane.name, &words::rule(axes.report, index), tag.as_deref(), None);
        let (bars, lines) = strips(axes.report.lanes.len());
        let band = top + heading.lines * LINE + CAPTION;
        let band = (band, band + bars + BETWEEN + lines);
        let bottom = (band.1 + AFTER).max(top + score::height(axes.report, lane));
        Self { lane, index, heading, top, band, bottom }
    }

    /// Draws it.
    pub fn draw(&self, painter: &Painter<'_>, axes: Axes<'_>) {
        let Axes { report, panels, heights, scale } = axes;
        painter.line(&[(MARGIN, self.top), (WIDTH - MARGIN, self.top)], palette::FAINT, 2);
        self.heading.draw(painter, self.top);
        let (bars, lines) = strips(report.lanes.len());
        let bars = (self.band.0, self.band.0 + bars);
        let strip = Strip { top: self.band.1 - lines, base: self.band.1, rate: heights.rate };
        for (panel, shared) in panels.iter().zip(heights.attempts) {
            panel.slow(painter, self.index, self.band);
            panel.grid(painter, self.band);
            let attempts = panel.attempts(self.index);
            let most = attempts.most();
            panel.bars(painter, &attempts, bars, shared.unwrap_or(most));
            panel.flow(painter, self.index, strip, heights);
            let caption = words::most(most, attempts.width_ns(), panel.width > WHOLE_WIDTH);
            painter.text((panel.x, bars.0 - 10), SMALL, palette::SOFT, Anchor::Start, &caption);
        }
        let number = |y: i32, text: &str| {
            painter.text((PANELS_X - 12, y + 9), SMALL, palette::SOFT, Anchor::End, text);
        };
        match heights.limit {
            Some(limit) => number(strip.y(limit), &compact(limit as u64)),
            None => number(strip.top, &level(heights.rate)),
        }
        if strip.base - heights.limit.map_or(strip.top, |limit| strip.y(limit)) > 24 {
            number(strip.base, "0");
        }
        scale.lane(painter, self.lane, i32::midpoint(self.band.0, self.band.1));
        score::texts(painter, report, self.lane, self.top);
    }
}

/// A rate at the end of an axis.
fn level(rate: f64) -> String {
    if rate < 9.95 {
        let text = format!("{rate:.1}");
        return text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned);
    }
    if rate < 9_999.5 { count(rate.round() as u128) } else { compact(rate as u64) }
}
