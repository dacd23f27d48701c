//! At the right: each lane's peak and its proven worst case on one scale, and what came of it.

use super::measure::{Font, clean};
use super::paint::{Anchor, Color, Painter, palette};
use super::row::LINE;
use super::{SMALL, deployed, words};
use crate::faces::format::{count, ratio};
use crate::report::{LaneReport, Report};

/// Left edge of the scale.
pub const SCALE_X: i32 = 1216;
/// Its width.
const SCALE_WIDTH: i32 = 170;
/// Left edge of the texts.
pub const TEXT_X: i32 = 1416;
/// Width of the texts.
pub const TEXT_WIDTH: i32 = 352;

const BIG: Font = Font::bold(36);
/// From a row's top to the first baseline.
const FIRST: i32 = 38;
/// What is denied to each class stands this far to the right.
const INDENT: i32 = 24;
/// Between baselines.
const LEADING: i32 = 33;

/// The scale: ratios to the limit from 0 to `most`.
#[derive(Clone, Copy)]
pub struct Scale {
    most: f64,
    /// How far the arrow of a bound beyond it stands out: less where texts are beside it.
    beyond: i32,
}

impl Scale {
    /// From 0 to 2x, or to a round ratio above every lane's peak.
    pub fn new(report: &Report) -> Option<Self> {
        report.limit.filter(|limit| limit.units > 0)?;
        let peak = report.lanes.iter().filter_map(|lane| lane.peak.as_ref()?.ratio).fold(0.0, f64::max);
        let most = (0..18)
            .flat_map(|power| [2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0].map(|digit| digit * 10_f64.powi(power)))
            .find(|most| *most >= peak)
            .unwrap_or(f64::MAX);
        Some(Self { most, beyond: if deployed::is_deployed(report) { 6 } else { 12 } })
    }

    /// Whether some lane's bound is beyond the scale.
    pub fn passed(self, report: &Report) -> bool {
        report.lanes.iter().filter_map(|lane| words::bound(report, lane)).any(|bound| bound > self.most)
    }

    fn x(self, ratio: f64) -> i32 {
        SCALE_X + ((ratio / self.most).min(1.0) * f64::from(SCALE_WIDTH)).round() as i32
    }

    /// What the dot and the tick mean, below `top`.
    pub fn key(self, painter: &Painter<'_>, report: &Report, top: i32) {
        let window = words::window(report).unwrap_or_default();
        let worst = match (self.passed(report), deployed::is_deployed(report)) {
            (true, _) => "worst case (arrow: off the scale)",
            (false, false) => "worst case on any traffic",
            (false, true) => "proven worst case",
        };
        painter.dot((SCALE_X + 8, top + 19), 10, palette::INK);
        painter.rect((SCALE_X + 6, top + LINE + 6), (SCALE_X + 11, top + LINE + 32), palette::SOFT);
        let texts = [format!("most in any {window} (1x: the limit)"), worst.to_owned()];
        for (i, text) in texts.iter().enumerate() {
            let text = SMALL.clip(text, TEXT_X + TEXT_WIDTH - SCALE_X - 30);
            painter.text((SCALE_X + 30, top + 28 + i as i32 * LINE), SMALL, palette::SOFT, Anchor::Start, &text);
        }
    }

    /// What stands above the scale: its ends and the limit, on `baseline`.
    pub fn head(self, painter: &Painter<'_>, baseline: i32) {
        let most = format!("{}x", count(self.most as u128));
        painter.text((self.x(0.0), baseline), SMALL, palette::SOFT, Anchor::Middle, "0");
        painter.text((self.x(self.most), baseline), SMALL, palette::SOFT, Anchor::Middle, &most);
        if self.x(1.0) - self.x(0.0) > 40 && self.x(self.most) - self.x(1.0) > 60 {
            painter.text((self.x(1.0), baseline), SMALL, palette::SOFT, Anchor::Middle, "1x");
        }
    }

    /// The upright lines of the scale through all lanes: its ends, and dashed the limit.
    pub fn grid(self, painter: &Painter<'_>, (top, bottom): (i32, i32)) {
        for end in [0.0, self.most] {
            painter.line(&[(self.x(end), top), (self.x(end), bottom)], palette::FAINT, 2);
        }
        painter.upright(self.x(1.0), (top, bottom), (14, 10), palette::SOFT);
    }

    /// A lane's dot and tick at height `y`.
    pub fn lane(self, painter: &Painter<'_>, report: &Report, lane: &LaneReport, y: i32) {
        let Some(peak) = &lane.peak else { return };
        let Some(measured) = peak.ratio else { return };
        if let Some(bound) = words::bound(report, lane) {
            let beyond = bound > self.most;
            let to = self.x(bound) + if beyond { self.beyond } else { 0 };
            painter.line(&[(self.x(measured), y), (to, y)], palette::RULE, 2);
            if beyond {
                painter.polygon(&[(to, y - 11), (to + 14, y), (to, y + 11)], palette::SOFT);
            } else {
                painter.rect((to - 2, y - 15), (to + 3, y + 15), palette::SOFT);
            }
        }
        let center = (self.x(measured), y);
        painter.dot(center, 11, palette::INK);
        if measured > 1.0 {
            painter.dot(center, 7, palette::EXCESS);
        }
    }
}

/// A text of a lane's score: where it begins, and on which line below the first.
struct Piece {
    x: i32,
    line: i32,
    font: Font,
    color: Color,
    text: String,
    /// Whether it stands on the colour of what is above the limit.
    above: bool,
}

/// What came of a lane, in lines.
fn pieces(report: &Report, index: usize) -> Vec<Piece> {
    let lane = &report.lanes[index];
    let apart = deployed::is_deployed(report);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut line = 0;
    let room = |x: i32| TEXT_X + TEXT_WIDTH - x;
    if let Some(peak) = &lane.peak {
        let above = report.limit.is_some_and(|limit| peak.units > limit.units);
        let text = peak.ratio.map_or_else(|| format!("peak {}", count(u128::from(peak.units))), ratio);
        let x = TEXT_X + BIG.width(&text) + 18;
        pieces.push(Piece { x: TEXT_X, line, font: BIG, color: palette::INK, text, above });
        let worst = match words::bound(report, lane) {
            Some(bound) => format!("can be {}", ratio(bound)),
            None if peak.ratio.is_some() => "no proven worst".to_owned(),
            None => String::new(),
        };
        if !worst.is_empty() {
            let text = SMALL.clip(&worst, room(x));
            pieces.push(Piece { x, line, font: SMALL, color: palette::SOFT, text, above: false });
        }
        line += 1;
    }
    let mut add = |line: i32, x: i32, color: Color, text: &str| {
        pieces.push(Piece { x, line, font: SMALL, color, text: SMALL.clip(text, room(x)), above: false });
    };
    let verdict = if apart { deployed::words::over(report, lane) } else { words::verdict(report, lane) };
    for text in packed(&verdict) {
        add(line, TEXT_X, palette::INK, &text);
        line += 1;
    }
    let classes = words::classes(lane);
    let admitted = format!("{} admitted", count(u128::from(lane.admitted())));
    let denied = format!("{} denied{}", count(u128::from(lane.denied)), if classes.is_empty() { "" } else { ":" });
    add(line, TEXT_X, palette::ALLOWED, &admitted);
    let x = TEXT_X + SMALL.width(&admitted) + 18;
    if SMALL.width(&denied) <= room(x) {
        add(line, x, palette::DENIED_INK, &denied);
    } else {
        line += 1;
        add(line, TEXT_X, palette::DENIED_INK, &denied);
    }
    line += 1;
    for (class, denied) in classes {
        let x = TEXT_X + INDENT;
        let class = SMALL.clip(&clean(&class), room(x) - SMALL.width(&denied));
        add(line, x, palette::DENIED_INK, &format!("{class}{denied}"));
        line += 1;
    }
    for text in words::units_admitted(report, lane).iter().flat_map(|text| SMALL.wrap(text, TEXT_WIDTH, 2)) {
        add(line, TEXT_X, palette::ALLOWED, &text);
        line += 1;
    }
    if let Some(text) = words::waits(lane) {
        add(line, TEXT_X, palette::DELAYED_INK, &text);
        line += 1;
    }
    if let Some(text) = words::keys_over(report, lane).filter(|_| !apart) {
        add(line, TEXT_X, palette::SOFT, &text);
        line += 1;
    }
    for text in if apart { deployed::words::costs(report, index) } else { Vec::new() } {
        add(line, TEXT_X, palette::INK, &text);
        line += 1;
    }
    pieces
}

/// Phrases in lines, as many in each as there is room for; one that is wider than a line is wrapped.
fn packed(phrases: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (i, phrase) in phrases.iter().enumerate() {
        let phrase = clean(phrase) + if i + 1 < phrases.len() { ";" } else { "" };
        match lines.last_mut() {
            Some(last) if SMALL.width(&format!("{last} {phrase}")) <= TEXT_WIDTH => {
                last.push(' ');
                last.push_str(&phrase);
            }
            _ => lines.extend(SMALL.wrap(&phrase, TEXT_WIDTH, 3)),
        }
    }
    lines
}

/// Height of a lane's score.
pub fn height(report: &Report, index: usize) -> i32 {
    let lines = pieces(report, index).iter().map(|piece| piece.line + 1).max().unwrap_or(0);
    FIRST + (lines - 1).max(0) * LEADING + 8
}

/// Writes a lane's score below `top`.
pub fn texts(painter: &Painter<'_>, report: &Report, index: usize, top: i32) {
    for piece in pieces(report, index) {
        let baseline = top + FIRST + piece.line * LEADING;
        if piece.above {
            let right = piece.x + piece.font.width(&piece.text) + 8;
            painter.rect((piece.x - 8, baseline - 33), (right, baseline + 7), palette::EXCESS);
        }
        painter.text((piece.x, baseline), piece.font, piece.color, Anchor::Start, &piece.text);
    }
}
