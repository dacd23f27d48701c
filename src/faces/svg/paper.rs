//! The counterpart of a published figure: a line for each lane, and a dot where a figure was published.

use super::accessible;
use super::measure::Font;
use super::paint::{Anchor, Color, Painter, Point, WIDTH, palette};
use super::ticks::{label, ticks};
use crate::report::{PaperPanel, PaperReport};

const TITLE: Font = Font::bold(32);
const HEAD: Font = Font::bold(26);
const SMALL: Font = Font::regular(24);
const MARGIN: i32 = 40;
/// Left of a panel, for its numbers and its label.
const NUMBERS: i32 = 130;
/// Top and bottom of the panels.
const TOP: i32 = 190;
const BOTTOM: i32 = 760;
const HEIGHT: i32 = 1000;

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
    let mut svg = String::new();
    {
        let painter = Painter::new(&mut svg, HEIGHT);
        let title = TITLE.clip(&report.title, WIDTH - 2 * MARGIN);
        painter.text((MARGIN, 56), TITLE, palette::INK, Anchor::Start, &title);
        let source = SMALL.clip(&format!("after {}", report.source), WIDTH - 2 * MARGIN);
        painter.text((MARGIN, 96), SMALL, palette::SOFT, Anchor::Start, &source);
        let count = report.panels.len().max(1) as i32;
        let room = (WIDTH - 2 * MARGIN) / count;
        for (i, panel) in report.panels.iter().enumerate() {
            let left = MARGIN + room * i as i32 + NUMBERS;
            let right = MARGIN + room * (i as i32 + 1) - MARGIN;
            Axes::new(panel, left, right).draw(&painter, panel);
        }
        legend(&painter, report);
        painter.finish();
    }
    let description = format!(
        "{} of {} published figures agree; after {}.",
        report.rows.len() - report.misses,
        report.rows.len(),
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
    }
}

/// A panel's axes.
struct Axes {
    left: i32,
    right: i32,
    x: (f64, f64),
    y: (f64, f64),
    log: bool,
}

impl Axes {
    fn new(panel: &PaperPanel, left: i32, right: i32) -> Self {
        let points = || panel.series.iter().flat_map(|series| series.found.iter().chain(&series.published));
        let bounds = |values: &mut dyn Iterator<Item = f64>| {
            values
                .filter(|value| value.is_finite())
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
        };
        let (low, high) = bounds(&mut points().map(|(x, _)| *x));
        let x = if low < high { (low, high) } else { (low - 1.0, low + 1.0) };
        let (low, high) = bounds(&mut points().map(|(_, y)| *y));
        let y = if panel.log {
            (10_f64.powf(libm::log10(low.max(1e-9)).floor()), high.max(1e-9) * 1.5)
        } else {
            (0.0, if high > 0.0 { high * 1.08 } else { 1.0 })
        };
        Self { left, right, x, y, log: panel.log }
    }

    fn at(&self, (x, y): (f64, f64)) -> Point {
        let share = (x - self.x.0) / (self.x.1 - self.x.0);
        let scale = |value: f64| if self.log { libm::log10(value.max(1e-9)) } else { value };
        let height = (scale(y) - scale(self.y.0)) / (scale(self.y.1) - scale(self.y.0));
        let place =
            |from: i32, until: i32, share: f64| from + (f64::from(until - from) * share.clamp(0.0, 1.0)).round() as i32;
        (place(self.left, self.right, share), place(BOTTOM, TOP, height))
    }

    /// Values that are labelled upright.
    fn levels(&self) -> Vec<f64> {
        if self.log {
            let (low, high) = (libm::log10(self.y.0).round() as i32, libm::log10(self.y.1).floor() as i32);
            return (low..=high).map(|power| 10_f64.powi(power)).collect();
        }
        ticks(self.y, 7)
    }

    fn draw(&self, painter: &Painter<'_>, panel: &PaperPanel) {
        painter.text((self.left, TOP - 50), HEAD, palette::INK, Anchor::Start, panel.title);
        painter.text((self.left, TOP - 18), SMALL, palette::SOFT, Anchor::Start, panel.y);
        for level in self.levels() {
            let (_, y) = self.at((self.x.0, level));
            painter.line(&[(self.left, y), (self.right, y)], palette::FAINT, 2);
            painter.text((self.left - 14, y + 8), SMALL, palette::SOFT, Anchor::End, &label(level));
        }
        for x in ticks(self.x, 8) {
            let (place, _) = self.at((x, self.y.0));
            painter.line(&[(place, BOTTOM), (place, BOTTOM + 8)], palette::RULE, 2);
            painter.text((place, BOTTOM + 38), SMALL, palette::SOFT, Anchor::Middle, &label(x));
        }
        let middle = (self.left + self.right) / 2;
        painter.text((middle, BOTTOM + 82), SMALL, palette::SOFT, Anchor::Middle, panel.x);
        painter.line(&[(self.left, TOP), (self.left, BOTTOM), (self.right, BOTTOM)], palette::RULE, 2);
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
