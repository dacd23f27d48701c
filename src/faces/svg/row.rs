//! A lane's row: its heading, its panels and its score.

use super::measure::{Font, clean};
use super::paint::{Anchor, Painter, RESTART_DASH, WIDTH, palette};
use super::panel::{Panel, Plot};
use super::score::{self, Scale};
use super::{BAND, MARGIN, PANELS_RIGHT, PANELS_X, SMALL, deployed, groups, words};
use crate::faces::format::{count, state_name};
use crate::report::{Counter, LaneDetail, LaneReport, Report};

/// A lane's name.
pub const NAME: Font = Font::bold(28);
/// Height of a heading's line.
pub const LINE: i32 = 34;
/// Between a heading and the lines.
const AFTER_HEADING: i32 = 20;
/// Between the lines and the arrivals.
const BEFORE_BAND: i32 = 8;
/// Between the lines and a strip for what the lane itself counts.
const BEFORE_STRIP: i32 = 32;
/// Height of the strip.
const STRIP: i32 = 52;
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
pub struct Heading {
    pieces: Vec<Piece>,
    /// How many.
    pub lines: i32,
}

impl Heading {
    /// Lays it out.
    pub fn new(name: &str, rule: &str, tag: Option<&str>, state: Option<&str>) -> Self {
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
        if let Some(state) = state {
            let wide = SMALL.width(state) + 44;
            if x + wide > PANELS_RIGHT {
                heading.lines += 1;
            }
            heading.push(Kind::State, PANELS_RIGHT - wide, state.to_owned());
        }
        heading
    }

    fn push(&mut self, kind: Kind, x: i32, text: String) {
        self.pieces.push(Piece { kind, x, line: self.lines - 1, text });
    }

    /// Draws it below `top`.
    pub fn draw(&self, painter: &Painter<'_>, top: i32) {
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

impl<'a> Axes<'a> {
    /// The extent of lane number `index`'s lines below `top`.
    pub fn plot(self, index: usize, top: i32) -> Plot {
        let base = top + self.height;
        let (highest, limit) = match self.report.limit {
            Some(limit) => (self.highest, limit.units as f64),
            // Without a limit there is only the lane's own state.
            None => (7.0 / 6.0 * self.full(index).max(1) as f64, self.full(index) as f64),
        };
        let mut plot = Plot { top, base, limit: base, highest };
        plot.limit = plot.units(limit);
        plot
    }

    /// The same of what the lane itself counts: the same, or a strip below on a scale of its own, where
    /// it is full at something else than the limit.
    pub fn own(self, index: usize, top: i32) -> Plot {
        if !self.strip(index) {
            return self.plot(index, top);
        }
        let full = self.full(index) as f64;
        let top = top + self.height + BEFORE_STRIP;
        let highest = self.most(index).min(2.0 * full).max(full);
        let mut plot = Plot { top, base: top + STRIP, limit: top, highest };
        plot.limit = plot.units(full);
        plot
    }

    /// Height of all lines of a lane.
    fn lines(self, index: usize) -> i32 {
        self.height + if self.strip(index) { BEFORE_STRIP + STRIP } else { 0 }
    }

    fn strip(self, index: usize) -> bool {
        let full = self.full(index);
        full > 0 && self.report.limit.is_some_and(|limit| limit.units != full)
    }

    fn states(self, index: usize) -> impl Iterator<Item = &'a LaneDetail> {
        self.panels.iter().map(move |panel| &panel.detail.lanes[index])
    }

    /// What a lane's own state is full at.
    fn full(self, index: usize) -> u64 {
        self.states(index).map(|lane| lane.level_limit).max().unwrap_or(0)
    }

    /// The most that it was.
    fn most(self, index: usize) -> f64 {
        self.states(index).flat_map(|lane| &lane.level).map(|extent| extent.max).fold(0.0, f64::max)
    }

    /// What a lane's own state is called, and what of it cannot be seen.
    fn state(self, index: usize) -> Option<String> {
        let counter = self.states(index).filter_map(|lane| lane.fleet.as_ref()).map(|fleet| fleet.counter).next();
        let mut text = match counter {
            None => state_name(&self.report.lanes[index]).to_owned(),
            Some(Counter::Store) => format!("the store's {}", state_name(&self.report.lanes[index])),
            Some(Counter::FullestReplica) => "the fullest replica".to_owned(),
            Some(Counter::Nobody) => return None,
        };
        let (full, most) = (self.full(index), self.most(index));
        if self.report.limit.is_none() && full > 0 {
            text.push_str(&format!(", full at {}", compact(full)));
        }
        if most > self.own(index, 0).highest {
            text.push_str(&format!(", up to {}", compact(most.round() as u64)));
        }
        let mut followed = self.panels.iter().filter(|panel| !panel.skyline);
        if self.report.limit.is_some_and(|limit| limit.units > 0)
            && !self.strip(index)
            && followed.all(|panel| panel.hidden(index))
        {
            text.push_str(": the black line");
        }
        Some(text)
    }
}

/// A lane's row.
pub struct Row<'a> {
    lane: &'a LaneReport,
    index: usize,
    heading: Heading,
    faults: deployed::Labels,
    strips: deployed::Strips,
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
        let own = || words::shared_rule(axes.report).is_none().then(|| words::rule(lane));
        let mut rule = match deployed::words::rule(axes.report, index) {
            Some(deployment) => own().into_iter().chain([deployment]).collect::<Vec<_>>().join("; "),
            None => words::rule(lane),
        };
        if axes.states(index).filter_map(|lane| lane.fleet.as_ref()).any(deployed::is_crowded) {
            rule.push_str("; replicas drawn together");
        }
        if let Some(key) = key {
            rule.push_str(&format!("; key {}", SMALL.clip(&clean(key), 320)));
        }
        let tag = groups::tag(axes.report, lane);
        let heading = Heading::new(&lane.name, &rule, tag.as_deref(), axes.state(index).as_deref());
        let (faults, strips) = (deployed::Labels::new(axes.panels, index), deployed::Strips::new(axes.panels, index));
        let plot_top = top + heading.lines * LINE + AFTER_HEADING + faults.height();
        let band = (plot_top, plot_top + axes.lines(index) + BEFORE_BAND + BAND + strips.height());
        let bottom = (band.1 + AFTER_BAND).max(top + score::height(axes.report, index) + AFTER_SCORE);
        Self { lane, index, heading, faults, strips, top, band, bottom }
    }

    /// Draws it.
    pub fn draw(&self, painter: &Painter<'_>, axes: Axes<'_>) {
        painter.line(&[(MARGIN, self.top), (WIDTH - MARGIN, self.top)], palette::FAINT, 2);
        self.heading.draw(painter, self.top);
        let (plot, own) = (axes.plot(self.index, self.band.0), axes.own(self.index, self.band.0));
        let arrivals = self.band.1 - self.strips.height();
        self.faults.draw(painter, self.band.0);
        for (n, panel) in axes.panels.iter().enumerate() {
            panel.trouble(painter, self.index, self.band);
            panel.grid(painter, self.band);
            self.lines(painter, axes, panel, (plot, own));
            panel.decisions(painter, self.index, (arrivals - BAND, arrivals));
            if n + 1 == axes.panels.len() {
                self.restart(painter, panel, (plot, own));
            }
        }
        self.strips.draw(painter, axes.panels, self.index, arrivals);
        axes.panels.iter().for_each(|panel| panel.changes(painter, self.index, self.band));
        self.scale(painter, axes, (plot, own));
        if let Some(scale) = axes.scale {
            scale.lane(painter, axes.report, self.lane, plot.top + axes.height / 2);
        }
        score::texts(painter, axes.report, self.index, self.top);
    }

    /// The lane's lines in one panel.
    fn lines(&self, painter: &Painter<'_>, axes: Axes<'_>, panel: &Panel<'_>, (plot, own): (Plot, Plot)) {
        let limit = axes.report.limit.map(|limit| limit.units);
        if let Some(limit) = limit {
            panel.excess(painter, self.index, plot, limit);
        }
        panel.state(painter, self.index, own, self.lane.delayed > 0);
        painter.line(&[(panel.x, plot.base), (panel.right(), plot.base)], palette::RULE, 2);
        if limit != Some(0) {
            painter.dashes((panel.x, panel.right()), plot.limit, palette::SOFT);
        }
        if axes.strip(self.index) && !panel.skyline {
            painter.line(&[(panel.x, own.base), (panel.right(), own.base)], palette::RULE, 2);
            painter.dashes((panel.x, panel.right()), own.limit, palette::STATE);
        }
        for restart in panel.detail.lanes[self.index].restarts.iter().filter(|_| !panel.skyline) {
            painter.upright(panel.at(*restart), (own.top, own.base), RESTART_DASH, palette::STATE);
        }
        if limit.is_some() {
            panel.trailing(painter, self.index, plot);
        }
    }

    /// The numbers at the left of the lines.
    fn scale(&self, painter: &Painter<'_>, axes: Axes<'_>, (plot, own): (Plot, Plot)) {
        let write = |y: i32, color, text: &str| {
            painter.text((PANELS_X - 12, y + 9), SMALL, color, Anchor::End, text);
        };
        let full = compact(axes.full(self.index));
        let limit = axes.report.limit.map(|limit| limit.units);
        match limit {
            Some(limit) => write(plot.limit, palette::SOFT, &compact(limit)),
            None => write(plot.limit, palette::STATE, &full),
        }
        if limit != Some(0) && plot.base - plot.limit > 26 {
            write(plot.base, palette::SOFT, "0");
        }
        let peak = plot.units(axes.peak);
        if limit.is_some() && plot.limit - peak > 26 {
            write(peak + 2, palette::SOFT, &compact(axes.peak as u64));
        }
        if axes.strip(self.index) {
            write(own.limit, palette::STATE, &full);
            if own.base - own.limit > 24 {
                write(own.base, palette::STATE, "0");
            }
        }
    }

    /// Names the first end of a window where the space above the limit is free.
    fn restart(&self, painter: &Painter<'_>, panel: &Panel<'_>, (plot, own): (Plot, Plot)) {
        const TEXT: &str = "counter back to 0";
        let Some(restart) = panel.detail.lanes[self.index].restarts.first() else { return };
        let (x, width) = (panel.at(*restart), SMALL.width(TEXT) + 14);
        // It would stand on what is shaded.
        let troubled = panel.detail.lanes[self.index].fleet.as_ref().is_some_and(|fleet| !fleet.faults.is_empty());
        if plot.limit - plot.top < 32 || plot.top != own.top || troubled {
            return;
        }
        let free = |from: i32, until: i32| {
            let restarts = &panel.detail.lanes[self.index].restarts[1..];
            from >= panel.x
                && until <= panel.right()
                && restarts.iter().all(|other| !(from..until).contains(&panel.at(*other)))
                && panel.below(self.index, (from, until), (plot, own), plot.limit)
        };
        let baseline = plot.limit - 12;
        if free(x - width, x) {
            painter.text((x - 12, baseline), SMALL, palette::STATE, Anchor::End, TEXT);
        } else if free(x, x + width) {
            painter.text((x + 12, baseline), SMALL, palette::STATE, Anchor::Start, TEXT);
        }
    }
}

/// A number in few characters: `100`, `12.5k`, `600k`, `1.5M`, `2T`.
pub fn compact(value: u64) -> String {
    let short = |scale: f64, unit: &str| {
        let decimals = usize::from(value as f64 / scale < 99.95);
        let text = format!("{:.decimals$}", value as f64 / scale);
        format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
    };
    match value {
        0..10_000 => count(u128::from(value)),
        10_000..1_000_000 => short(1e3, "k"),
        1_000_000..1_000_000_000 => short(1e6, "M"),
        1_000_000_000..1_000_000_000_000 => short(1e9, "G"),
        1_000_000_000_000..1_000_000_000_000_000 => short(1e12, "T"),
        1_000_000_000_000_000..1_000_000_000_000_000_000 => short(1e15, "P"),
        _ => short(1e18, "E"),
    }
}
