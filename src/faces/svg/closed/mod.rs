//! The comparison sheet of a closed loop: what clients asked for again and again, and what they got.
//!
//! A row for each lane. In each panel bars of attempts, first attempts and retries apart, so that
//! clients which come back together are spikes; below them, on one scale for all lanes, what was asked
//! for, what the limiter admitted and what was answered in time. At the right how many attempts a
//! request took, and what came of the requests.

mod legend;
mod row;
mod score;
mod strips;
mod words;

use super::header::Header;
use super::legend::Legend;
use super::measure::clean;
use super::paint::{Anchor, Painter, WIDTH, palette};
use super::panel::Panel;
use super::row::{LINE, NAME};
use super::{MARGIN, MOST_LANES, PANELS_RIGHT, SMALL, dated, length, more_lanes};
use crate::report::Report;
use row::Row;
use score::Scale;
use strips::Heights;
pub use words::description;

/// What stands before the sentence about the traffic.
const OFFERED: &str = "offered";
/// Height of the panels' captions.
const CAPTIONS: i32 = 76;

/// What all rows share.
#[derive(Clone, Copy)]
struct Axes<'a> {
    report: &'a Report,
    panels: &'a [Panel<'a>],
    heights: Heights,
    scale: Scale,
}

/// Where everything stands.
pub struct Layout<'a> {
    axes: Axes<'a>,
    header: Header,
    offered: Vec<String>,
    top: i32,
    rows: Vec<Row<'a>>,
    bottom: i32,
    /// Height of the sheet.
    pub height: i32,
}

impl<'a> Layout<'a> {
    /// Lays out the sheet of a closed loop.
    pub fn new(report: &'a Report, panels: &'a [Panel<'a>]) -> Self {
        let axes = Axes { report, panels, heights: Heights::new(report, panels), scale: Scale::new(report) };
        let header = Header::new(report, Legend::of(legend::entries(axes), WIDTH - 2 * MARGIN));
        let top = header.draw(None);
        let offered = SMALL.wrap(&clean(&words::offered(report)), PANELS_RIGHT - offered_x(), 3);
        let mut next = top + LINE * offered.len().max(1) as i32 + CAPTIONS;
        let mut rows = Vec::new();
        for index in 0..report.lanes.len().min(MOST_LANES) {
            let row = Row::new(axes, index, next);
            next = row.bottom;
            rows.push(row);
        }
        let more = if report.lanes.len() > MOST_LANES { 44 } else { 0 };
        let labels = if dated(report) { 80 } else { 50 };
        Self { axes, header, offered, top, rows, bottom: next, height: (next + labels + more + 1) / 2 * 2 }
    }

    /// Draws it.
    pub fn draw(&self, painter: &Painter<'_>) {
        let Axes { report, panels, scale, .. } = self.axes;
        self.header.draw(Some(painter));
        let mut baseline = self.top + 28;
        painter.text((MARGIN, baseline), NAME, palette::INK, Anchor::Start, OFFERED);
        for line in &self.offered {
            painter.text((offered_x(), baseline), SMALL, palette::SOFT, Anchor::Start, line);
            baseline += LINE;
        }
        let first = self.rows.first().map_or(self.bottom, |row| row.top);
        scale.key(painter, report, self.top);
        scale.head(painter, first - 12);
        scale.grid(painter, (first, self.bottom));
        self.captions(painter, first);
        for row in &self.rows {
            row.draw(painter, self.axes);
        }
        for panel in panels {
            painter.line(&[(panel.x, self.bottom), (panel.right(), self.bottom)], palette::RULE, 2);
            panel.axis(painter, self.bottom, SMALL, dated(report));
        }
        if report.lanes.len() > MOST_LANES {
            more_lanes(painter, report.lanes.len() - MOST_LANES, self.height);
        }
    }

    /// The panels' names, and where the close-up lies in the whole run.
    fn captions(&self, painter: &Painter<'_>, first: i32) {
        for (n, panel) in self.axes.panels.iter().enumerate() {
            let name = if n > 0 { "close-up" } else { "whole run" };
            let caption = format!("{name}, {}", length(panel));
            painter.text((panel.x, first - 34), SMALL, palette::SOFT, Anchor::Start, &caption);
        }
        let [whole, close] = self.axes.panels else { return };
        let (from, until) = (whole.at(close.detail.from) - 1, whole.at(close.detail.until));
        let until = until.max(from + 6);
        for row in &self.rows {
            painter.rect((from, row.band.0), (until, row.band.1), palette::LENS);
        }
        let top = first - 24;
        let (middle, right) = (i32::midpoint(from, until), close.right());
        painter.line(&[(middle, top + 12), (middle, top), (right, top), (right, top + 12)], palette::RULE, 2);
        painter.line(&[(close.x, top), (close.x, top + 12)], palette::RULE, 2);
    }
}

fn offered_x() -> i32 {
    MARGIN + NAME.width(OFFERED) + 22
}
