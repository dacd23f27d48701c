//! Lines over one axis: a panel a measure, a line a lane.

use super::{HEAD, LINE, MOST_LANES, groups, heading, is_wide, labels, measured, names};
use crate::faces::svg::paint::{Anchor, Color, Painter, Point, WIDTH, palette};
use crate::faces::svg::scale::{Scale, ends, power};
use crate::faces::svg::ticks::label;
use crate::faces::svg::{MARGIN, SMALL};
use crate::report::{MeasureUnit, SweepReport};

/// Left of a panel, for its numbers.
const NUMBERS: i32 = 116;
/// Between panels.
const GAP: i32 = 50;
/// Height of what is plotted.
const PLOT: i32 = 480;
/// Above it: name and unit; below it: labels and the axis's name.
const ABOVE: i32 = 64;
const BELOW: i32 = 104;
/// Width of a sample in the legend.
const SAMPLE: i32 = 72;

/// Colours of lines: apart for all eyes, of different lightness, at least 3 to 1 on white.
const COLOURS: [Color; 7] = [
    Color(0x1B, 0x1F, 0x24),
    Color(0xD5, 0x5E, 0x00),
    Color(0x00, 0x72, 0xB2),
    Color(0x00, 0x8A, 0x64),
    Color(0x8A, 0x2C, 0x7A),
    Color(0x3D, 0x96, 0xCC),
    Color(0xA8, 0x78, 0x00),
];

/// Shapes of marks, which tell lines apart in grey.
const SHAPES: usize = 6;

/// The picture, laid out.
pub struct Layout<'a> {
    report: &'a SweepReport,
    /// Lines of the legend: which group, and what it is called.
    legend: Vec<Vec<(usize, String)>>,
    /// What is said below the title.
    below: String,
    top: i32,
    panels: Vec<Panel<'a>>,
    /// Its height.
    pub height: i32,
}

impl<'a> Layout<'a> {
    pub fn new(report: &'a SweepReport) -> Self {
        let drawn = |m: &usize| report.measures[*m].unit != MeasureUnit::Word;
        let measures: Vec<usize> = (0..report.measures.len()).filter(drawn).collect();
        let mut groups = groups(report, &measures);
        let hidden = groups.len().saturating_sub(MOST_LANES);
        groups.truncate(MOST_LANES);
        let mut below = format!("{} values of {}", report.axes[0].values.len(), report.axes[0].path);
        if hidden > 0 {
            below.push_str(&format!("; {hidden} more lanes are not drawn"));
        }
        let top = heading(None, report, &below);
        let legend = legend(report, &groups);
        let first = top + 20 + legend.len() as i32 * 40 + 20;
        let columns = if measures.len() > 1 { 2 } else { 1 };
        let width = (WIDTH - 2 * MARGIN - (columns - 1) * GAP) / columns;
        let panels: Vec<Panel<'_>> = measures
            .iter()
            .enumerate()
            .map(|(i, measure)| {
                let (row, column) = (i as i32 / columns, i as i32 % columns);
                let left = MARGIN + column * (width + GAP);
                let top = first + row * (ABOVE + PLOT + BELOW);
                Panel::new(report, *measure, &groups, (left, left + width), top)
            })
            .collect();
        let rows = (measures.len() as i32 + columns - 1) / columns;
        let height = (first + rows * (ABOVE + PLOT + BELOW) + 21) / 2 * 2;
        Self { report, legend, below, top, panels, height }
    }

    pub fn draw(&self, painter: &Painter<'_>) {
        heading(Some(painter), self.report, &self.below);
        let mut y = self.top + 30;
        for line in &self.legend {
            let mut x = MARGIN;
            for (group, name) in line {
                painter.line(&[(x, y - 8), (x + SAMPLE, y - 8)], colour(*group), 5);
                mark(painter, (x + SAMPLE / 2, y - 8), *group);
                painter.text((x + SAMPLE + 12, y), SMALL, palette::INK, Anchor::Start, name);
                x += SAMPLE + 12 + SMALL.width(name) + 40;
            }
            y += 40;
        }
        for panel in &self.panels {
            panel.draw(painter);
        }
    }
}

fn legend(report: &SweepReport, groups: &[Vec<usize>]) -> Vec<Vec<(usize, String)>> {
    let room = WIDTH - 2 * MARGIN;
    let mut lines: Vec<Vec<(usize, String)>> = Vec::new();
    let mut x = room;
    for (i, group) in groups.iter().enumerate() {
        let name = SMALL.clip(&names(report, group), room - SAMPLE - 12);
        let width = SAMPLE + 12 + SMALL.width(&name);
        if x + width > room {
            lines.push(Vec::new());
            x = 0;
        }
        x += width + 40;
        lines.last_mut().expect("a line was begun").push((i, name));
    }
    lines
}

fn colour(i: usize) -> Color {
    COLOURS[i % COLOURS.len()]
}

/// A mark of a line's own shape.
fn mark(painter: &Painter<'_>, (x, y): Point, i: usize) {
    let color = colour(i);
    match i % SHAPES {
        0 => painter.dot((x, y), 9, color),
        1 => painter.rect((x - 8, y - 8), (x + 8, y + 8), color),
        2 => painter.polygon(&[(x, y - 11), (x + 11, y + 8), (x - 11, y + 8)], color),
        3 => painter.polygon(&[(x, y - 12), (x + 12, y), (x, y + 12), (x - 12, y)], color),
        4 => {
            painter.dot((x, y), 10, color);
            painter.dot((x, y), 5, palette::PAPER);
        }
        _ => {
            painter.rect((x - 9, y - 9), (x + 9, y + 9), color);
            painter.rect((x - 5, y - 5), (x + 5, y + 5), palette::PAPER);
        }
    }
}

/// One measure.
struct Panel<'a> {
    report: &'a SweepReport,
    name: String,
    /// Left and right of what is plotted.
    span: (i32, i32),
    top: i32,
    x: Scale,
    /// Where each value of the axis is, in its own numbers.
    xs: Vec<f64>,
    y: Scale,
    /// What a figure is divided by before it is written.
    unit: f64,
    /// For each group the values along the axis.
    series: Vec<Vec<(f64, Option<f64>)>>,
}

impl<'a> Panel<'a> {
    fn new(report: &'a SweepReport, m: usize, groups: &[Vec<usize>], (left, right): (i32, i32), top: i32) -> Self {
        let (axis, measure) = (&report.axes[0], &report.measures[m]);
        let evenly: Vec<f64> = (0..axis.values.len()).map(|i| i as f64).collect();
        let xs = axis.numbers.clone().unwrap_or(evenly);
        let (low, high) = ends(xs.iter().copied());
        let one = |group: &Vec<usize>| {
            let lane = &report.lanes[group[0]];
            let value = |point: usize| report.value(point, lane, m).and_then(|value| value.number());
            let mut line: Vec<(f64, Option<f64>)> = xs.iter().enumerate().map(|(i, x)| (*x, value(i))).collect();
            line.sort_by(|a, b| a.0.total_cmp(&b.0));
            line
        };
        let series: Vec<Vec<(f64, Option<f64>)>> = groups.iter().map(one).collect();
        let (least, most) = ends(series.iter().flatten().filter_map(|(_, y)| *y));
        let (least, most) = if least <= most { (least, most) } else { (0.0, 1.0) };
        let (unit, spelt) = match measure.unit {
            MeasureUnit::Nanos => unit_of(most.max(-least)),
            _ => (1.0, ""),
        };
        let log = is_wide(least, most);
        let y = if log {
            Scale { low: power(libm::log10(least / unit).floor() as i32) * unit, high: most * 1.25, log }
        } else {
            let high = if most > 0.0 { most * 1.06 } else { least.abs().max(1.0) };
            Scale { low: least.min(0.0), high, log }
        };
        let name = measured(&measure.name, measure.unit);
        let name = if spelt.is_empty() { name } else { format!("{name} ({spelt})") };
        let name = if log { format!("{name}, log scale") } else { name };
        let x = Scale { low, high, log: axis.log && low > 0.0 };
        Self { report, name, span: (left + NUMBERS, right - 30), top: top + ABOVE, x, xs, y, unit, series }
    }

    fn at(&self, x: f64, y: f64) -> Point {
        (self.x.place(x, self.span), self.y.place(y, (self.top + PLOT, self.top)))
    }

    /// Values that are labelled upright.
    fn levels(&self) -> Vec<f64> {
        let scale = Scale { low: self.y.low / self.unit, high: self.y.high / self.unit, ..self.y };
        scale.labels(7).into_iter().map(|value| value * self.unit).collect()
    }

    fn draw(&self, painter: &Painter<'_>) {
        let ((left, right), bottom) = (self.span, self.top + PLOT);
        let room = right - left + NUMBERS;
        painter.text((left - NUMBERS, self.top - 26), HEAD, palette::INK, Anchor::Start, &HEAD.clip(&self.name, room));
        for level in self.levels() {
            let (_, y) = self.at(self.x.low, level);
            painter.line(&[(left, y), (right, y)], palette::FAINT, 2);
            painter.text((left - 14, y + 8), SMALL, palette::SOFT, Anchor::End, &label(level / self.unit));
        }
        painter.line(&[(left, self.top), (left, bottom), (right, bottom)], palette::RULE, 2);
        self.axis(painter);
        for (i, line) in self.series.iter().enumerate() {
            for piece in line.split(|(_, y)| y.is_none()) {
                let points: Vec<Point> = piece.iter().filter_map(|(x, y)| Some(self.at(*x, (*y)?))).collect();
                painter.line(&points, colour(i), 5 + 4 * self.covered(i));
            }
        }
        // Where points are close, lines take turns with their marks.
        let apart = (right - left) / (self.xs.len().max(2) as i32 - 1);
        let turns = (60 / apart.max(1)).clamp(1, self.xs.len().max(1) as i32) as usize;
        for (i, line) in self.series.iter().enumerate() {
            for (k, (x, y)) in line.iter().enumerate() {
                if let (Some(y), true) = (y, k % turns == i % turns) {
                    mark(painter, self.at(*x, *y), i);
                }
            }
        }
    }

    /// How many later lines would hide this one along most of its way: it is drawn wider.
    fn covered(&self, i: usize) -> u32 {
        let own = &self.series[i];
        let hides = |other: &&Vec<(f64, Option<f64>)>| {
            let alike = |k: &usize| own[*k].1.is_some() && own[*k].1 == other[*k].1 && own[k + 1].1 == other[k + 1].1;
            let pieces = own.len().saturating_sub(1);
            2 * (0..pieces).filter(alike).count() > pieces
        };
        (self.series[i + 1..].iter().filter(hides).count() as u32).min(3)
    }

    /// The values along the axis, as many as there is room for.
    fn axis(&self, painter: &Painter<'_>) {
        let (axis, bottom) = (&self.report.axes[0], self.top + PLOT);
        let mut values: Vec<(i32, &str)> =
            self.xs.iter().zip(&axis.values).map(|(x, text)| (self.x.place(*x, self.span), text.as_str())).collect();
        values.sort_by_key(|(x, _)| *x);
        for (x, _) in &values {
            painter.line(&[(*x, bottom), (*x, bottom + 8)], palette::RULE, 2);
        }
        labels(painter, &values, self.span.1 + 30 + GAP / 2, bottom + 36);
        let scale = if self.x.log { ", log scale" } else { "" };
        let (left, right) = self.span;
        let name = SMALL.clip(&format!("{}{scale}", axis.path), right - left + NUMBERS);
        let centre = ((left + right) / 2).max(left - NUMBERS + SMALL.width(&name) / 2);
        painter.text((centre, bottom + 36 + LINE + 4), SMALL, palette::INK, Anchor::Middle, &name);
    }
}

/// The unit of time in which a span has a handy number, in nanoseconds.
fn unit_of(nanos: f64) -> (f64, &'static str) {
    let units = [(3.6e12, "h"), (6e10, "m"), (1e9, "s"), (1e6, "ms"), (1e3, "us")];
    // Minutes and hours only where seconds have four digits or more.
    let fits =
        |(unit, name): &&(f64, &str)| if ["h", "m"].contains(name) { nanos >= unit * 20.0 } else { nanos >= *unit };
    units.iter().find(fits).copied().unwrap_or((1.0, "ns"))
}
