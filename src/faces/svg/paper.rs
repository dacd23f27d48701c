//! The counterpart of a published figure: a line for each lane, and a dot where a figure was published.

use super::measure::Font;
use super::paint::{Anchor, Color, Painter, Point, WIDTH, palette};
use super::scale::{Scale, ends, power};
use super::ticks::{label, ticks};
use super::{SMALL, accessible, drawn};
use crate::report::{PaperPanel, PaperReport};

const TITLE: Font = Font::bold(32);
const HEAD: Font = Font::bold(26);
const MARGIN: i32 = 40;
/// Left of a panel, for its numbers and its label.
const NUMBERS: i32 = 130;
/// Top and bottom of the panels.
const TOP: i32 = 190;
const BOTTOM: i32 = 760;
const HEIGHT: i32 = 1000;
/// Between two labels at least.
const LABEL_GAP: i32 = 14;
/// Nothing less is told apart where equal lengths are equal factors.
const LEAST: f64 = 1e-9;

/// Colours of lines, told apart by lightness too.
const LINES: [Color; 5] = [
    Color(0x1B, 0x1F, 0x24),
    Color(0xC4, 0x3C, 0x1E),
    Color(0x1F, 0x6F, 0xB5),
    Color(0x2E, 0x8B, 0x57),
    Color(0x8A, 0x2C, 0x7A),
];

/// Draws the figure.
#[must_use]
pub fn paper(report: &PaperReport) -> String {
    let svg = drawn(HEIGHT, |painter| {
        let title = TITLE.clip(&report.title, WIDTH - 2 * MARGIN);
        painter.text((MARGIN, 56), TITLE, palette::INK, Anchor::Start, &title);
        let source = SMALL.clip(&format!("after {}", report.source), WIDTH - 2 * MARGIN);
        painter.text((MARGIN, 96), SMALL, palette::SOFT, Anchor::Start, &source);
        let count = report.panels.len().max(1) as i32;
        let room = (WIDTH - 2 * MARGIN) / count;
        for (i, panel) in report.panels.iter().enumerate() {
            let left = MARGIN + room * i as i32 + NUMBERS;
            let right = MARGIN + room * (i as i32 + 1) - MARGIN;
            Axes::new(panel, left, right).draw(painter, panel);
        }
        legend(painter, report);
    });
    let compared = report.rows.iter().filter(|row| row.agrees.is_some()).count();
    let description = format!(
        "{} of {compared} figures that can be compared agree; after {}.",
        compared - report.misses,
        report.source
    );
    accessible(&svg, "paper", HEIGHT, &report.title, &description)
}

fn colour(i: usize) -> Color {
    LINES[i % LINES.len()]
}

fn legend(painter: &Painter<'_>, report: &PaperReport) {
    let Some(panel) = report.panels.first() else { return };
    let (mut x, y) = (MARGIN + NUMBERS, HEIGHT - 90);
    for (i, series) in panel.series.iter().enumerate() {
        painter.line(&[(x, y - 8), (x + 44, y - 8)], colour(i), 5);
        painter.text((x + 56, y), SMALL, palette::INK, Anchor::Start, series.name);
        x += 56 + SMALL.width(series.name) + 50;
    }
    let y = HEIGHT - 44;
    let mut x = MARGIN + NUMBERS;
    let lines = match report.runs {
        1 => "lines: one run here".to_owned(),
        runs => format!("lines: mean of {runs} runs here"),
    };
    painter.text((x, y), SMALL, palette::SOFT, Anchor::Start, &lines);
    if report.panels.iter().any(|panel| panel.series.iter().any(|series| !series.published.is_empty())) {
        x += SMALL.width(&lines) + 60;
        painter.dot((x, y - 8), 9, palette::SOFT);
        painter.text((x + 20, y), SMALL, palette::SOFT, Anchor::Start, "published");
        x += 20 + SMALL.width("published");
    } else {
        x += SMALL.width(&lines);
    }
    let mut levels: Vec<&str> = report.panels.iter().filter_map(|panel| Some(panel.level.as_ref()?.name)).collect();
    levels.dedup();
    if !levels.is_empty() {
        x += 60;
        painter.dashes((x, x + 62), y - 8, palette::INK);
        let text = format!("published, on other traffic: {}", levels.join("; "));
        painter.text((x + 74, y), SMALL, palette::SOFT, Anchor::Start, &text);
    }
}

/// A panel's axes.
struct Axes {
    left: i32,
    right: i32,
    x: Scale,
    y: Scale,
}

impl Axes {
    fn new(panel: &PaperPanel, left: i32, right: i32) -> Self {
        let points = || panel.series.iter().flat_map(|series| series.found.iter().chain(&series.published));
        let finite = |value: &f64| value.is_finite();
        let (low, high) = ends(points().map(|(x, _)| *x).filter(finite));
        let (low, high) = if low < high { (low, high) } else { (low - 1.0, low + 1.0) };
        let x = Scale { low: if panel.log_x { low.max(LEAST) } else { low }, high, log: panel.log_x };
        let level = panel.level.iter().map(|level| level.value);
        let (low, high) = ends(points().map(|(_, y)| *y).chain(level).filter(finite));
        let y = if panel.log {
            let low = power(libm::log10(low.max(LEAST)).floor() as i32);
            Scale { low, high: high.max(LEAST) * 1.5, log: true }
        } else {
            Scale { low: 0.0, high: if high > 0.0 { high * 1.08 } else { 1.0 }, log: false }
        };
        Self { left, right, x, y }
    }

    fn at(&self, (x, y): (f64, f64)) -> Point {
        (self.x.place(x, (self.left, self.right)), self.y.place(y, (BOTTOM, TOP)))
    }

    /// Values that are labelled along it.
    fn places(&self) -> Vec<f64> {
        let Scale { low, high, log } = self.x;
        if !log {
            return ticks((low, high), 8);
        }
        let powers = libm::log10(low).floor() as i32..=libm::log10(high.max(LEAST)).floor() as i32;
        let values = powers.flat_map(|exponent| [1.0, 2.0, 5.0].map(|digit| digit * power(exponent)));
        values.filter(|value| (low..=high).contains(value)).collect()
    }

    fn draw(&self, painter: &Painter<'_>, panel: &PaperPanel) {
        painter.text((self.left, TOP - 50), HEAD, palette::INK, Anchor::Start, panel.title);
        painter.text((self.left, TOP - 18), SMALL, palette::SOFT, Anchor::Start, panel.y);
        for level in self.y.labels(7) {
            let (_, y) = self.at((self.x.low, level));
            painter.line(&[(self.left, y), (self.right, y)], palette::FAINT, 2);
            painter.text((self.left - 14, y + 8), SMALL, palette::SOFT, Anchor::End, &label(level));
        }
        let mut free = i32::MIN;
        for x in self.places() {
            let (place, _) = self.at((x, self.y.low));
            painter.line(&[(place, BOTTOM), (place, BOTTOM + 8)], palette::RULE, 2);
            let (text, half) = (label(x), SMALL.width(&label(x)) / 2);
            if place - half >= free {
                painter.text((place, BOTTOM + 38), SMALL, palette::SOFT, Anchor::Middle, &text);
                free = place + half + LABEL_GAP;
            }
        }
        let middle = (self.left + self.right) / 2;
        painter.text((middle, BOTTOM + 82), SMALL, palette::SOFT, Anchor::Middle, panel.x);
        painter.line(&[(self.left, TOP), (self.left, BOTTOM), (self.right, BOTTOM)], palette::RULE, 2);
        if let Some(level) = &panel.level {
            let (_, y) = self.at((self.x.low, level.value));
            painter.dashes((self.left, self.right), y, palette::INK);
        }
        for (i, series) in panel.series.iter().enumerate() {
            let line: Vec<Point> = series.found.iter().map(|point| self.at(*point)).collect();
            painter.line(&line, colour(i), 5);
            if let [only] = line[..] {
                painter.ring(only, 13, colour(i));
            }
            for point in &series.published {
                painter.dot(self.at(*point), 9, colour(i));
            }
        }
    }
}
