//! Maps over two axes: one a lane, of the first measure, all on one scale of colours.

use super::ramp::{colour, ink_on};
use super::{HEAD, LINE, MOST_LANES, groups, heading, is_wide, labels, measured, names, spaced};
use crate::faces::format::figure;
use crate::faces::svg::paint::{Anchor, Painter, Point, WIDTH, palette};
use crate::faces::svg::scale::{Scale, ends};
use crate::faces::svg::{MARGIN, SMALL};
use crate::report::{MeasureUnit, SweepReport, SweepValue};

/// Between maps side by side.
const GAP: i32 = 40;
/// Height of a cell that has its value in it.
const CELL: i32 = 44;
/// A map is no higher.
const HIGHEST: i32 = 1100;
/// Above a map: its lane, and the name of the upright axis.
const ABOVE: i32 = 84;
/// Below it: labels, and the name of the other axis.
const BELOW: i32 = 108;
/// The widest label of a row.
const LABEL: i32 = 200;
/// The strip that explains the colours.
const STRIP: (i32, i32) = (620, 30);

/// The picture, laid out.
pub struct Layout<'a> {
    report: &'a SweepReport,
    groups: Vec<Vec<usize>>,
    scale: Scale,
    below: String,
    top: i32,
    /// Maps side by side.
    columns: i32,
    /// Width of the labels of rows.
    labels: i32,
    /// What stands above each map, and how high that is.
    heads: Vec<Vec<String>>,
    above: i32,
    /// Width and height of what is plotted of each.
    plot: (i32, i32),
    /// Whether cells have their values in them.
    printed: bool,
    /// Its height.
    pub height: i32,
}

impl<'a> Layout<'a> {
    pub fn new(report: &'a SweepReport) -> Self {
        let mut notes = Vec::new();
        let (flat, mut groups): (Vec<_>, Vec<_>) =
            groups(report, &[0]).into_iter().partition(|group| everywhere(report, group).is_some());
        if groups.is_empty() {
            groups.clone_from(&flat);
        } else if !flat.is_empty() {
            notes.push(flat_lanes(report, &flat));
        }
        let hidden = groups.len().saturating_sub(MOST_LANES);
        groups.truncate(MOST_LANES);
        let (across, up) = (&report.axes[0], &report.axes[1]);
        let mut below = format!(
            "{} over {} values of {} (across) and {} of {} (up)",
            measured(&report.measures[0].name, report.measures[0].unit),
            across.values.len(),
            across.path,
            up.values.len(),
            up.path
        );
        if hidden > 0 {
            notes.push(format!("{hidden} more lanes are not drawn"));
        }
        notes.iter().for_each(|note| below.push_str(&format!("; {note}")));
        let (nx, ny) = (across.values.len() as i32, up.values.len() as i32);
        let labels = up.values.iter().map(|text| SMALL.width(text)).max().unwrap_or(0).min(LABEL) / 2 * 2 + 18;
        let room = |columns: i32| (WIDTH - 2 * MARGIN - (columns - 1) * GAP) / columns - labels;
        let widest = cells(report).map(|text| SMALL.width(&text)).max().unwrap_or(0) + 12;
        let most = (groups.len() as i32).clamp(1, 3);
        let fits = |columns: &i32| room(*columns) / nx >= widest;
        let fitting = (1..=most).rev().find(fits);
        let printed = fitting.is_some() && ny * CELL <= HIGHEST;
        let columns = if printed { fitting.unwrap_or(1) } else { most.min(if nx > 60 { 1 } else { 2 }) };
        // Cells are no wider than they need to be.
        let width = room(columns).min(nx * 240) / 2 * 2;
        let height = if printed { ny * CELL } else { (ny * CELL).min(width * 3 / 4).max(ny.min(HIGHEST)).min(HIGHEST) };
        let head = |group: &Vec<usize>| HEAD.wrap(&names(report, group), room(columns) + labels, 3);
        let heads: Vec<Vec<String>> = groups.iter().map(head).collect();
        let lines = heads.iter().map(Vec::len).max().unwrap_or(1).max(1) as i32;
        let above = ABOVE + (lines - 1) * LINE;
        let top = heading(None, report, &below);
        let rows = (groups.len() as i32 + columns - 1) / columns;
        let all = top + 100 + rows * (above + height + BELOW);
        let scale = scale(report, &groups);
        Self {
            report,
            groups,
            scale,
            below,
            top,
            columns,
            labels,
            heads,
            above,
            plot: (width, height),
            printed,
            height: (all + 1) / 2 * 2,
        }
    }

    pub fn draw(&self, painter: &Painter<'_>) {
        heading(Some(painter), self.report, &self.below);
        self.legend(painter);
        let across = (WIDTH - 2 * MARGIN - (self.columns - 1) * GAP) / self.columns + GAP;
        for (i, group) in self.groups.iter().enumerate() {
            let (row, column) = (i as i32 / self.columns, i as i32 % self.columns);
            let left = MARGIN + column * across + self.labels;
            let (left, top) = (left / 2 * 2, self.top + 100 + row * (self.above + self.plot.1 + BELOW) + self.above);
            self.map(painter, group, &self.heads[i], (left, top / 2 * 2));
        }
    }

    /// The strip of colours with its ends.
    fn legend(&self, painter: &Painter<'_>) {
        const PIECES: i32 = 62;
        let (left, top) = (MARGIN, self.top + 10);
        let (width, height) = STRIP;
        for i in 0..PIECES {
            let share = f64::from(i) / f64::from(PIECES - 1);
            let x = |i: i32| left + width * i / PIECES;
            painter.rect((x(i), top), (x(i + 1), top + height), colour(share));
        }
        frame(painter, (left, top), STRIP);
        let unit = self.report.measures[0].unit;
        let text = |share: f64| figure(&self.value(self.scale.at(share)), unit);
        let flat = self.scale.low >= self.scale.high;
        let shares = if flat { &[0.5][..] } else { &[0.0, 0.5, 1.0] };
        let mut last = String::new();
        for share in shares {
            let x = left + (f64::from(width) * share).round() as i32;
            let anchor = match *share {
                0.0 => Anchor::Start,
                1.0 => Anchor::End,
                _ => Anchor::Middle,
            };
            let text = text(*share);
            if text != last {
                painter.text((x, top + height + 30), SMALL, palette::SOFT, anchor, &text);
            }
            last = text;
        }
        let mut x = left + width + 24;
        let name = measured(&self.report.measures[0].name, unit);
        let name = if self.scale.log { format!("{name}, log scale") } else { name };
        painter.text((x, top + 24), SMALL, palette::INK, Anchor::Start, &name);
        if self.absent() {
            x += SMALL.width(&name) + 40;
            self.blank(painter, (x, top), (x + 44, top + height));
            painter.text((x + 56, top + 24), SMALL, palette::INK, Anchor::Start, "no value");
        }
    }

    /// A number as the measure has them.
    fn value(&self, number: f64) -> SweepValue {
        match self.report.measures[0].unit {
            MeasureUnit::Number => SweepValue::Real(number),
            _ => SweepValue::Whole(number.round() as i128),
        }
    }

    fn absent(&self) -> bool {
        let lanes = self.groups.iter().map(|group| &self.report.lanes[group[0]]);
        let missing =
            |lane: &String| (0..self.report.points.len()).any(|point| self.report.value(point, lane, 0).is_none());
        lanes.into_iter().any(missing)
    }

    fn blank(&self, painter: &Painter<'_>, (left, top): (i32, i32), (right, bottom): (i32, i32)) {
        painter.rect((left, top), (right, bottom), palette::PAPER);
        painter.line(&[(left, bottom), (right, top)], palette::RULE, 2);
    }

    fn map(&self, painter: &Painter<'_>, group: &[usize], head: &[String], (left, top): (i32, i32)) {
        let (report, (width, height)) = (self.report, self.plot);
        let (across, up) = (&report.axes[0], &report.axes[1]);
        let (nx, ny) = (across.values.len(), up.values.len());
        let lane = &report.lanes[group[0]];
        // On whole pixels where cells are wide enough: else seams show.
        let edge = |i: usize, n: usize, length: i32| {
            let exact = (i64::from(length) * i as i64 / n as i64) as i32;
            if length / n as i32 >= 4 { exact / 2 * 2 } else { exact }
        };
        let x = |i: usize| left + edge(i, nx, width);
        // Upright values grow upwards.
        let y = |j: usize| top + height - edge(j, ny, height);
        let room = width + self.labels;
        let start = left - self.labels;
        for (i, line) in head.iter().rev().enumerate() {
            painter.text((start, top - 46 - i as i32 * LINE), HEAD, palette::INK, Anchor::Start, line);
        }
        painter.text((start, top - 12), SMALL, palette::INK, Anchor::Start, &SMALL.clip(&up.path, room));
        let unit = report.measures[0].unit;
        for i in 0..nx {
            for j in 0..ny {
                let (corner, opposite) = ((x(i), y(j + 1)), (x(i + 1), y(j)));
                let value = report.value(i * ny + j, lane, 0);
                let Some((value, number)) = value.and_then(|value| Some((value, value.number()?))) else {
                    self.blank(painter, corner, opposite);
                    continue;
                };
                let ground = colour(self.scale.share(number));
                painter.rect(corner, opposite, ground);
                if self.printed {
                    let middle = ((corner.0 + opposite.0) / 2, (corner.1 + opposite.1) / 2 + 8);
                    painter.text(middle, SMALL, ink_on(ground), Anchor::Middle, &cell(value, unit));
                }
            }
        }
        let bottom = top + height;
        frame(painter, (left, top), self.plot);
        let middle = |from: i32, until: i32| (from + until) / 2;
        let values = across.values.iter().enumerate().map(|(i, text)| (middle(x(i), x(i + 1)), text.as_str()));
        labels(painter, &values.collect::<Vec<_>>(), left + width + GAP / 2, bottom + 34);
        let rows: Vec<(i32, i32)> = (0..ny).map(|j| (-middle(y(j), y(j + 1)), 24)).collect();
        for j in spaced(&rows, 6) {
            let text = SMALL.clip(&up.values[j], LABEL);
            painter.text((left - 12, 8 - rows[j].0), SMALL, palette::SOFT, Anchor::End, &text);
        }
        let name = SMALL.clip(&across.path, room);
        let centre = (left + width / 2).max(start + SMALL.width(&name) / 2);
        painter.text((centre, bottom + 70), SMALL, palette::INK, Anchor::Middle, &name);
    }
}

/// A line around what is of some width and height.
fn frame(painter: &Painter<'_>, (left, top): Point, (width, height): (i32, i32)) {
    let (right, bottom) = (left + width, top + height);
    painter.line(&[(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], palette::RULE, 2);
}

/// A value as it stands in a cell: short.
fn cell(value: &SweepValue, unit: MeasureUnit) -> String {
    figure(value, unit).replace(',', "")
}

/// All of them.
fn cells(report: &SweepReport) -> impl Iterator<Item = String> {
    let unit = report.measures[0].unit;
    report.points.iter().flatten().filter_map(move |row| row.values[0].as_ref().map(|value| cell(value, unit)))
}

/// What the lanes of a group have at every point, if that is the same.
fn everywhere<'a>(report: &'a SweepReport, group: &[usize]) -> Option<&'a SweepValue> {
    report.everywhere(&report.lanes[group[0]], 0)
}

/// Lanes that need no map.
fn flat_lanes(report: &SweepReport, groups: &[Vec<usize>]) -> String {
    let unit = report.measures[0].unit;
    let one = |group: &Vec<usize>| {
        let value = everywhere(report, group).map_or_else(String::new, |value| figure(value, unit));
        format!("{} {value}", names(report, group))
    };
    format!("the same everywhere: {}", groups.iter().map(one).collect::<Vec<_>>().join(", "))
}

fn scale<'a>(report: &'a SweepReport, groups: &[Vec<usize>]) -> Scale {
    let lanes = groups.iter().map(|group| &report.lanes[group[0]]);
    let of_lane =
        |lane: &'a String| (0..report.points.len()).filter_map(move |point| report.value(point, lane, 0)?.number());
    let (low, high) = ends(lanes.flat_map(of_lane));
    let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
    Scale { low, high, log: is_wide(low, high) }
}
