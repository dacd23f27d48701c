//! A lane's row: its heading, its panels and its score.

use super::measure::{Font, clean};
use super::paint::{Anchor, Painter, RESTART_DASH, WIDTH, palette};
use super::panel::{Panel, Plot};
use super::score::{self, Scale};
use super::{BAND, MARGIN, PANELS_RIGHT, PANELS_X, SMALL, words};
use crate::faces::format::count;
use crate::report::{LaneReport, Report};

/// A lane's name.
pub const NAME: Font = Font::bold(28);
/// Height of a heading's line.
pub const LINE: i32 = 34;
/// Between a heading and the lines.
const AFTER_HEADING: i32 = 20;
/// Between the lines and the arrivals.
const BEFORE_BAND: i32 = 8;
/// Below the arrivals.
const AFTER_BAND: i32 = 18;
/// Below the texts at the right, which may be taller than the panels.
const AFTER_SCORE: i32 = 14;

/// A piece of a heading.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Name,
    Rule,
    Tag,
    State,
}

struct Piece {
    kind: Kind,
    x: i32,
    line: i32,
    text: String,
}

/// A lane's heading, laid out: name, how it works, whom it decides as, the name of its own state.
struct Heading {
    pieces: Vec<Piece>,
    lines: i32,
}

impl Heading {
    fn new(name: &str, rule: &str, tag: Option<&str>, state: &str) -> Self {
        let width = PANELS_RIGHT - MARGIN;
        let mut heading = Self { pieces: Vec::new(), lines: 1 };
        let mut x = MARGIN;
        for (i, text) in NAME.wrap(&clean(name), width, 4).into_iter().enumerate() {
            heading.lines = i as i32 + 1;
            x = MARGIN + NAME.width(&text) + 22;
            heading.push(Kind::Name, MARGIN, text);
        }
        let rule = clean(rule);
        if x + SMALL.width(&rule) <= PANELS_RIGHT {
            let end = x + SMALL.width(&rule) + 22;
            heading.push(Kind::Rule, x, rule);
            x = end;
        } else {
            for text in SMALL.wrap(&rule, width, 3) {
                heading.lines += 1;
                x = MARGIN + SMALL.width(&text) + 22;
                heading.push(Kind::Rule, MARGIN, text);
            }
        }
        if let Some(tag) = tag {
            let tag = SMALL.clip(&clean(tag), width - 40);
            let wide = SMALL.width(&tag) + 24;
            if x + wide > PANELS_RIGHT {
                heading.lines += 1;
                x = MARGIN;
            }
            heading.push(Kind::Tag, x, tag);
            x += wide + 22;
        }
        let wide = SMALL.width(state) + 44;
        if x + wide > PANELS_RIGHT {
            heading.lines += 1;
        }
        heading.push(Kind::State, PANELS_RIGHT - wide, state.to_owned());
        heading
    }

    fn push(&mut self, kind: Kind, x: i32, text: String) {
        self.pieces.push(Piece { kind, x, line: self.lines - 1, text });
    }

    fn draw(&self, painter: &Painter<'_>, top: i32) {
        for piece in &self.pieces {
            let (x, baseline) = (piece.x, top + 34 + piece.line * LINE);
            let text = |x: i32, font: Font, color| painter.text((x, baseline), font, color, Anchor::Start, &piece.text);
            match piece.kind {
                Kind::Name => text(x, NAME, palette::INK),
                Kind::Rule => text(x, SMALL, palette::SOFT),
                Kind::Tag => {
                    painter.rect((x, baseline - 25), (x + SMALL.width(&piece.text) + 24, baseline + 8), palette::TAG);
                    text(x + 12, SMALL, palette::INK);
                }
                Kind::State => {
                    painter.line(&[(x, baseline - 9), (x + 34, baseline - 9)], palette::STATE, 2);
                    text(x + 44, SMALL, palette::STATE);
                }
            }
        }
    }
}

/// What all rows share.
#[derive(Clone, Copy)]
pub struct Axes<'a> {
    /// The run.
    pub report: &'a Report,
    /// The spans, from left to right.
    pub panels: &'a [Panel<'a>],
    /// The scale of ratios to the limit.
    pub scale: Option<Scale>,
    /// The highest value of all lines.
    pub peak: f64,
    /// The value at their top.
    pub highest: f64,
    /// Height of the lines.
    pub height: i32,
}

impl Axes<'_> {
    /// The extent of a lane's lines below `top`.
    pub fn plot(self, top: i32) -> Plot {
        let base = top + self.height;
        // Without a limit the line at which the lane's own state is full keeps its place.
        let limit = self.report.limit.map_or(top + 14, |limit| {
            base - (limit.units as f64 / self.highest * f64::from(self.height)).round() as i32
        });
        Plot { top, base, limit, highest: self.highest }
    }

    /// What a lane's own state is called, with what it is full at where the limit does not say it.
    fn state(self, index: usize) -> String {
        let mut text = words::state(&self.report.lanes[index]).to_owned();
        let lanes = || self.panels.iter().map(|panel| &panel.detail.lanes[index]);
        let full = lanes().map(|lane| lane.level_limit).max().unwrap_or(0);
        if full > 0 && self.report.limit.is_none_or(|limit| limit.units != full) {
            text.push_str(&format!(", full at {}", compact(full)));
        }
        // What is cut off at the top is said.
        let most = lanes().flat_map(|lane| &lane.level).map(|extent| extent.max).fold(0.0, f64::max);
        let plot = self.plot(0);
        if full > 0 && most / full as f64 * f64::from(plot.base - plot.limit) > f64::from(self.height + 1) {
            text.push_str(&format!(", up to {}", compact(most.round() as u64)));
        }
        text
    }
}

/// A lane's row.
pub struct Row<'a> {
    lane: &'a LaneReport,
    index: usize,
    heading: Heading,
    top: i32,
    /// Top and bottom of its panels.
    pub band: (i32, i32),
    /// Where the next row begins.
    pub bottom: i32,
}

impl<'a> Row<'a> {
    /// Lays out the row of lane number `index`, whose lines follow `key` if that must be said.
    pub fn new(axes: Axes<'a>, index: usize, key: Option<&str>, top: i32) -> Self {
        let lane = &axes.report.lanes[index];
        let mut rule = words::rule(lane);
        if let Some(key) = key {
            rule.push_str(&format!("; key {}", SMALL.clip(&clean(key), 320)));
        }
        let alike = words::alike(axes.report, lane);
        let heading = Heading::new(&lane.name, &rule, alike.as_deref(), &axes.state(index));
        let plot_top = top + heading.lines * LINE + AFTER_HEADING;
        let band = (plot_top, plot_top + axes.height + BEFORE_BAND + BAND);
        let bottom = (band.1 + AFTER_BAND).max(top + score::height(axes.report, lane) + AFTER_SCORE);
        Self { lane, index, heading, top, band, bottom }
    }

    /// Draws it.
    pub fn draw(&self, painter: &Painter<'_>, axes: Axes<'_>) {
        painter.line(&[(MARGIN, self.top), (WIDTH - MARGIN, self.top)], palette::FAINT, 2);
        self.heading.draw(painter, self.top);
        let limit = axes.report.limit.map(|limit| limit.units);
        let (top, base) = (self.band.0, self.band.0 + axes.height);
        let plot = axes.plot(top);
        let limit_y = plot.limit;
        let band = (base + BEFORE_BAND, base + BEFORE_BAND + BAND);
        for (n, panel) in axes.panels.iter().enumerate() {
            panel.grid(painter, (top, band.1));
            if limit.is_some() {
                panel.excess(painter, self.index, plot);
            }
            panel.state(painter, self.index, plot, self.lane.delayed > 0);
            painter.line(&[(panel.x, base), (panel.right(), base)], palette::RULE, 2);
            if limit != Some(0) {
                painter.dashes((panel.x, panel.right()), limit_y, palette::SOFT);
            }
            for restart in &panel.detail.lanes[self.index].restarts {
                painter.upright(panel.at(*restart), (top, base), RESTART_DASH, palette::STATE);
            }
            if limit.is_some() {
                panel.trailing(painter, self.index, plot);
            }
            panel.decisions(painter, self.index, band);
            if n + 1 == axes.panels.len() {
                self.restart(painter, panel, plot);
            }
        }
        let label = limit.map_or_else(|| "full".to_owned(), compact);
        painter.text((PANELS_X - 12, limit_y + 9), SMALL, palette::SOFT, Anchor::End, &label);
        if limit != Some(0) && base - limit_y > 26 {
            painter.text((PANELS_X - 12, base + 9), SMALL, palette::SOFT, Anchor::End, "0");
        }
        let peak_y = base - (axes.peak / axes.highest * f64::from(axes.height)).round() as i32;
        if limit.is_some() && limit_y - peak_y > 26 {
            let label = compact(axes.peak as u64);
            painter.text((PANELS_X - 12, peak_y + 11), SMALL, palette::SOFT, Anchor::End, &label);
        }
        if let Some(scale) = axes.scale {
            scale.lane(painter, axes.report, self.lane, top + axes.height / 2);
        }
        score::texts(painter, axes.report, self.lane, self.top);
    }

    /// Names the first end of a window where the space above the limit is free.
    fn restart(&self, painter: &Painter<'_>, panel: &Panel<'_>, plot: Plot) {
        const TEXT: &str = "counter back to 0";
        let Some(restart) = panel.detail.lanes[self.index].restarts.first() else { return };
        let (x, width) = (panel.at(*restart), SMALL.width(TEXT) + 14);
        if plot.limit - plot.top < 32 {
            return;
        }
        let free = |from: i32, until: i32| {
            let restarts = &panel.detail.lanes[self.index].restarts[1..];
            from >= panel.x
                && until <= panel.right()
                && restarts.iter().all(|other| !(from..until).contains(&panel.at(*other)))
                && panel.below(self.index, (from, until), plot, plot.limit)
        };
        let baseline = plot.limit - 12;
        if free(x - width, x) {
            painter.text((x - 12, baseline), SMALL, palette::STATE, Anchor::End, TEXT);
        } else if free(x, x + width) {
            painter.text((x + 12, baseline), SMALL, palette::STATE, Anchor::Start, TEXT);
        }
    }
}

/// A number in few characters: `100`, `12.5k`, `600k`, `1.5M`.
fn compact(value: u64) -> String {
    let short = |scale: f64, unit: &str| {
        let decimals = usize::from(value as f64 / scale < 99.95);
        let text = format!("{:.decimals$}", value as f64 / scale);
        format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match value {
        0..10_000 => count(u128::from(value)),
        10_000..1_000_000 => short(1e3, "k"),
        1_000_000..1_000_000_000 => short(1e6, "M"),
        _ => short(1e9, "G"),
    }
}
