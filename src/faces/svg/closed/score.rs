//! At the right: attempts a request on one scale for all lanes, and what came of the requests.

use super::super::SMALL;
use super::super::measure::Font;
use super::super::paint::{Anchor, Color, Painter, palette};
use super::super::row::LINE;
use super::words;
use crate::faces::format::decimal;
use crate::report::{LaneReport, Report};

/// Left edge of the scale.
const SCALE_X: i32 = 1216;
/// Its width.
const SCALE_WIDTH: i32 = 150;
/// Left edge of the texts.
const TEXT_X: i32 = 1392;
/// Width of the texts.
const TEXT_WIDTH: i32 = 376;

const BIG: Font = Font::bold(36);
/// From a row's top to the first baseline.
const FIRST: i32 = 38;
/// Between baselines.
const LEADING: i32 = 33;
/// Below the last one.
const AFTER: i32 = 22;

/// The scale: attempts a request, from 1 to a power of ten, each power as long as the others.
#[derive(Clone, Copy)]
pub struct Scale {
    powers: i32,
}

impl Scale {
    /// Up to a power of ten that no lane passes.
    pub fn new(report: &Report) -> Self {
        let most = report.lanes.iter().filter_map(|lane| lane.closed.as_ref()?.amplification).fold(1.0, f64::max);
        let powers = (1..19).find(|powers| 10_f64.powi(*powers) >= most).unwrap_or(19);
        Self { powers }
    }

    fn x(self, times: f64) -> i32 {
        // Powers of ten by their digits: no platform's logarithm decides a coordinate.
        let mut rest = times.max(1.0);
        let mut whole = 0.0;
        while rest >= 10.0 {
            rest /= 10.0;
            whole += 1.0;
        }
        let mut part = 0.0;
        let mut step = 0.5;
        while step > 1e-4 {
            rest *= rest;
            if rest >= 10.0 {
                rest /= 10.0;
                part += step;
            }
            step /= 2.0;
        }
        let share = ((whole + part) / f64::from(self.powers)).min(1.0);
        SCALE_X + (share * f64::from(SCALE_WIDTH)).round() as i32
    }

    /// What the dots mean, below `top`.
    pub fn key(self, painter: &Painter<'_>, report: &Report, top: i32) {
        painter.dot((SCALE_X + 8, top + 19), 10, palette::INK);
        let stuck = report.lanes.iter().any(words::is_stuck);
        if stuck {
            painter.dot((SCALE_X + 8, top + LINE + 19), 10, palette::INK);
            painter.dot((SCALE_X + 8, top + LINE + 19), 6, palette::EXCESS);
        }
        let texts = ["attempts a request (1: nobody comes back)", "overloaded to the end"];
        for (i, text) in texts.iter().take(1 + usize::from(stuck)).enumerate() {
            painter.text((SCALE_X + 30, top + 28 + i as i32 * LINE), SMALL, palette::SOFT, Anchor::Start, text);
        }
    }

    /// The powers of ten above the scale, on `baseline`; the ends where there is no room for all.
    pub fn head(self, painter: &Painter<'_>, baseline: i32) {
        let mut free = i32::MIN;
        let last = Self::name(self.powers);
        let last = SCALE_X + SCALE_WIDTH - SMALL.width(&last) / 2;
        for power in 0..=self.powers {
            let text = Self::name(power);
            let (x, half) = (self.x(10_f64.powi(power)), SMALL.width(&text) / 2);
            if power == self.powers || (x - half >= free && x + half + 4 <= last) {
                painter.text((x, baseline), SMALL, palette::SOFT, Anchor::Middle, &text);
                free = x + half + 4;
            }
        }
    }

    /// A power of ten in few characters.
    fn name(power: i32) -> String {
        let unit = ["", "k", "M", "G", "T", "P", "E"].get(power as usize / 3).copied().unwrap_or_default();
        format!("{}{unit}", 10_u64.pow(power.unsigned_abs() % 3))
    }

    /// The upright lines of the scale through all lanes.
    pub fn grid(self, painter: &Painter<'_>, (top, bottom): (i32, i32)) {
        for power in 0..=self.powers {
            let x = self.x(10_f64.powi(power));
            painter.line(&[(x, top), (x, bottom)], palette::FAINT, 2);
        }
    }

    /// A lane's dot at height `y`.
    pub fn lane(self, painter: &Painter<'_>, lane: &LaneReport, y: i32) {
        let Some(times) = lane.closed.as_ref().and_then(|closed| closed.amplification) else { return };
        let center = (self.x(times), y);
        painter.line(&[(self.x(1.0), y), center], palette::INK, 4);
        painter.dot(center, 11, palette::INK);
        if words::is_stuck(lane) {
            painter.dot(center, 7, palette::EXCESS);
        }
    }
}

/// A text of a lane's score.
struct Piece {
    x: i32,
    line: i32,
    font: Font,
    color: Color,
    text: String,
    /// Whether it stands on the colour of what is above the limit.
    marked: bool,
}

/// What came of a lane, in lines.
fn pieces(report: &Report, lane: &LaneReport) -> Vec<Piece> {
    let Some(closed) = &lane.closed else { return Vec::new() };
    let mut pieces: Vec<Piece> = Vec::new();
    let mut line = 0;
    if let Some(times) = closed.amplification {
        let text = decimal(times);
        let x = TEXT_X + BIG.width(&text) + 18;
        pieces.push(Piece { x: TEXT_X, line, font: BIG, color: palette::INK, text, marked: false });
        let unit = "attempts a request";
        let (x, below) = if x + SMALL.width(unit) > TEXT_X + TEXT_WIDTH { (TEXT_X, 1) } else { (x, 0) };
        line += below;
        let text = unit.to_owned();
        pieces.push(Piece { x, line, font: SMALL, color: palette::SOFT, text, marked: false });
        line += 1;
    }
    let mut add = |phrases: Vec<(String, Color)>, marked: bool| {
        let mut x = TEXT_X;
        for (text, color) in phrases {
            if x > TEXT_X && x + SMALL.width(&text) > TEXT_X + TEXT_WIDTH {
                line += 1;
                x = TEXT_X;
            }
            let text = SMALL.clip(&text, TEXT_X + TEXT_WIDTH - x);
            let end = x + SMALL.width(&text) + 18;
            pieces.push(Piece { x, line, font: SMALL, color, text, marked });
            x = end;
        }
        line += 1;
    };
    if closed.partial {
        add(vec![(words::STOPPED.to_owned(), palette::INK)], true);
    }
    add(words::pace(report, closed).into_iter().map(|text| (text, palette::INK)).collect(), false);
    let lost = if closed.gave_up > 0 { palette::DENIED_INK } else { palette::SOFT };
    let colors = [palette::GOOD_INK, lost, palette::SOFT];
    add(words::endings(lane, closed, "answered").into_iter().zip(colors).collect(), false);
    add(words::refusals(report, lane).into_iter().map(|text| (text, palette::SOFT)).collect(), false);
    add(vec![(words::recovery(closed), palette::INK)], words::is_stuck(lane));
    pieces
}

/// Height of a lane's score.
pub fn height(report: &Report, lane: &LaneReport) -> i32 {
    let lines = pieces(report, lane).iter().map(|piece| piece.line + 1).max().unwrap_or(0);
    FIRST + (lines - 1).max(0) * LEADING + AFTER
}

/// Writes a lane's score below `top`.
pub fn texts(painter: &Painter<'_>, report: &Report, lane: &LaneReport, top: i32) {
    for piece in pieces(report, lane) {
        let baseline = top + FIRST + piece.line * LEADING;
        if piece.marked {
            let right = piece.x + piece.font.width(&piece.text) + 8;
            painter.rect((piece.x - 8, baseline - 25), (right, baseline + 8), palette::EXCESS);
        }
        painter.text((piece.x, baseline), piece.font, piece.color, Anchor::Start, &piece.text);
    }
}
