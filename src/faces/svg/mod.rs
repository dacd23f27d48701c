//! The comparison sheet as an SVG picture.
//!
//! The title is the lesson. Below it what was offered and what the marks mean; then a row for what
//! was sent and one for each lane, on shared axes: at the left the whole run, in the middle a
//! close-up of the span worth one, at the right how far the lane went and could go. In each panel the
//! units released in the last window, what is above the limit filled, and as a second, thin line what
//! the lane itself counts as used; below them the arrivals, by what became of them.
//!
//! In a closed loop, rows show attempts and answers instead: see `closed`. Where a limit is kept by more
//! than one process, faults are shaded and each replica has a strip: see `deployed`.
//!
//! The picture is 900 pixels wide in units of half a pixel, and needs no font: texts are laid out
//! for a wide one and anchored where they stand.

mod bins;
mod closed;
mod curve;
mod deployed;
mod groups;
mod header;
mod legend;
mod measure;
mod paint;
mod panel;
mod paper;
mod row;
mod scale;
mod score;
mod sweep;
mod tallies;
mod ticks;
mod words;

use crate::faces::format::{count, title};
use crate::report::{Detail, Extent, Report, Sheet};
use header::Header;
use legend::Legend;
use measure::{Font, clean};
use paint::{Anchor, Painter, WIDTH, palette};
use panel::Panel;
pub use paper::paper;
use row::{Axes, LINE, NAME, Row};
use score::Scale;
pub use sweep::sweep;

/// Space left of everything.
const MARGIN: i32 = 32;
/// The font of all but titles and names: 12 pixels at the size that the sheet is shown.
const SMALL: Font = Font::regular(24);
/// Left edge of the panels; numbers stand left of it.
const PANELS_X: i32 = 112;
/// Right edge of the panels.
const PANELS_RIGHT: i32 = 1176;
/// Width of the whole run where it stands beside a close-up.
const WHOLE_WIDTH: i32 = 330;
/// Between the two.
const GAP: i32 = 44;
/// Height of the arrivals.
const BAND: i32 = 34;
/// Where "sent" ends and its sentence begins.
const SENT_X: i32 = MARGIN + 84;
/// Height of what stands above the arrivals that were sent: the panels' captions, and numbers.
const CAPTIONS: i32 = 90;
/// Lanes drawn.
const MOST_LANES: usize = 40;
/// A close-up of more than the whole run over this shows nothing that the run does not.
const CLOSE: i128 = 3;

/// Draws the comparison sheet of a run.
#[must_use]
pub fn sheet(report: &Report, sheet: &Sheet) -> String {
    let panels = panels(sheet);
    let closed = report.lanes.iter().any(|lane| lane.closed.is_some()) && !deployed::is_deployed(report);
    if report.offered.requests > 0 && closed {
        let layout = closed::Layout::new(report, &panels);
        let svg = drawn(layout.height, |painter| layout.draw(painter));
        return accessible(&svg, "sheet", layout.height, &title(report), &closed::description(report));
    }
    let layout = Layout::new(report, &panels);
    let svg = drawn(layout.height, |painter| layout.draw(painter));
    accessible(&svg, "sheet", layout.height, &title(report), &words::description(report))
}

/// A sheet of this height.
fn drawn(height: i32, draw: impl FnOnce(&Painter<'_>)) -> String {
    let mut svg = String::new();
    let painter = Painter::new(&mut svg, height);
    draw(&painter);
    painter.finish();
    svg
}

/// The opening tag with the size at which a picture is shown, a title and a description, whose ids
/// begin with `id`.
fn accessible(svg: &str, id: &str, height: i32, title: &str, description: &str) -> String {
    let escape = |text: &str| clean(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let shapes = svg.split_once('\n').map_or("", |(_, shapes)| shapes);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"{id}-title {id}-desc\" stroke-linejoin=\"round\">\n\
         <title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>\n{shapes}",
        WIDTH / 2,
        height / 2,
        escape(title),
        escape(description),
    )
}

/// The whole run and a close-up; only the run where the close-up would show little else.
fn panels(sheet: &Sheet) -> Vec<Panel<'_>> {
    let span = |detail: &Detail| i128::from(detail.until.nanos()) - i128::from(detail.from.nanos());
    if span(&sheet.focus) * CLOSE > span(&sheet.whole) {
        let width = PANELS_RIGHT - PANELS_X;
        return vec![Panel { detail: &sheet.whole, x: PANELS_X, width, skyline: false }];
    }
    let x = PANELS_X + WHOLE_WIDTH + GAP;
    let mut whole = Panel { detail: &sheet.whole, x: PANELS_X, width: WHOLE_WIDTH, skyline: false };
    whole.skyline = whole.scribbled();
    vec![whole, Panel { detail: &sheet.focus, x, width: PANELS_RIGHT - x, skyline: false }]
}

/// Where everything stands.
struct Layout<'a> {
    axes: Axes<'a>,
    header: Header,
    /// What is said of the arrivals.
    sent: Vec<String>,
    /// Top of the row of what was sent.
    top: i32,
    rows: Vec<Row<'a>>,
    bottom: i32,
    height: i32,
}

impl<'a> Layout<'a> {
    fn new(report: &'a Report, panels: &'a [Panel<'a>]) -> Self {
        let height = if report.lanes.len() > 8 { 76 } else { 96 };
        let (peak, highest) = highest(report, panels);
        let axes = Axes { report, panels, scale: Scale::new(report), peak, highest, height };
        let header = Header::new(report, Legend::new(axes, WIDTH - 2 * MARGIN));
        let top = header.draw(None);
        let keys: Vec<Option<&str>> = panels[0].detail.lanes.iter().map(|lane| lane.key.as_deref()).collect();
        let named = matches!(followed(report, &panels[0]), Followed::Each);
        let sent = SMALL.wrap(&clean(&words::offer(report)), PANELS_RIGHT - SENT_X, 3);
        let mut next = top + LINE * sent.len().max(1) as i32 + CAPTIONS + BAND + 22;
        let mut rows = Vec::new();
        let empty = report.offered.requests == 0;
        if empty {
            next = top + LINE * sent.len().max(1) as i32;
        }
        for index in 0..if empty { 0 } else { report.lanes.len().min(MOST_LANES) } {
            let key = keys.get(index).copied().flatten().filter(|_| named);
            let row = Row::new(axes, index, key, next);
            next = row.bottom;
            rows.push(row);
        }
        let bottom = next;
        let more = if report.lanes.len() > MOST_LANES { 44 } else { 0 };
        let labels = if dated(report) { 80 } else { 50 };
        Self { axes, header, sent, top, rows, bottom, height: (bottom + labels + more + 1) / 2 * 2 }
    }

    fn draw(&self, painter: &Painter<'_>) {
        self.header.draw(Some(painter));
        if self.axes.report.offered.requests == 0 {
            self.sentence(painter);
            return;
        }
        self.lens(painter);
        self.sent(painter);
        for row in &self.rows {
            row.draw(painter, self.axes);
        }
        for panel in self.axes.panels {
            painter.line(&[(panel.x, self.bottom), (panel.right(), self.bottom)], palette::RULE, 2);
            panel.axis(painter, self.bottom, SMALL, dated(self.axes.report));
        }
        let lanes = self.axes.report.lanes.len();
        if lanes > MOST_LANES {
            more_lanes(painter, lanes - MOST_LANES, self.height);
        }
    }

    /// Where the arrivals that were sent stand.
    fn band(&self) -> (i32, i32) {
        let top = self.top + LINE * self.sent.len().max(1) as i32 + CAPTIONS;
        (top, top + BAND)
    }

    /// Marks the close-up's span in the whole run.
    fn lens(&self, painter: &Painter<'_>) {
        let [whole, close] = self.axes.panels else { return };
        let (from, until) = (whole.at(close.detail.from), whole.at(close.detail.until));
        let (from, until) = (from - 1, until.max(from + 5));
        let bands = std::iter::once(self.band()).chain(self.rows.iter().map(|row| row.band));
        for (top, bottom) in bands {
            painter.rect((from, top), (until, bottom), palette::LENS);
        }
        let top = self.band().0 - 46;
        let (middle, right) = ((from + until) / 2, close.right());
        painter.line(&[(middle, top + 12), (middle, top), (right, top), (right, top + 12)], palette::RULE, 2);
        painter.line(&[(close.x, top), (close.x, top + 12)], palette::RULE, 2);
    }

    /// What was sent, in words.
    fn sentence(&self, painter: &Painter<'_>) {
        let mut baseline = self.top + 28;
        painter.text((MARGIN, baseline), NAME, palette::INK, Anchor::Start, "sent");
        for line in &self.sent {
            painter.text((SENT_X, baseline), SMALL, palette::SOFT, Anchor::Start, line);
            baseline += LINE;
        }
    }

    fn sent(&self, painter: &Painter<'_>) {
        self.sentence(painter);
        let band = self.band();
        for (n, panel) in self.axes.panels.iter().enumerate() {
            panel.grid(painter, band);
            let name = if n > 0 { "close-up" } else { "whole run" };
            let caption = format!("{name}, {}", length(panel));
            painter.text((panel.x, band.0 - 54), SMALL, palette::SOFT, Anchor::Start, &caption);
            panel.tallies(painter, band.0 - 13, SMALL);
            panel.sent(painter, band);
        }
        if let Some(scale) = self.axes.scale {
            scale.key(painter, self.axes.report, self.top);
            scale.head(painter, band.0 - 8);
            scale.grid(painter, (band.0, self.bottom));
        }
    }
}

/// Says how many lanes are missing, at the foot of a sheet of this height.
fn more_lanes(painter: &Painter<'_>, missing: usize, height: i32) {
    let text = format!("{} more lanes are not drawn", count(missing as u128));
    painter.text((MARGIN, height - 16), SMALL, palette::SOFT, Anchor::Start, &text);
}

/// The highest value of the trailing counts, and where the axis ends: a little above it, above the
/// limit, and above what lanes count that share the axis, unless that is very much.
fn highest(report: &Report, panels: &[Panel<'_>]) -> (f64, f64) {
    let lanes = || panels.iter().flat_map(|panel| &panel.detail.lanes);
    let most = |extents: &[Extent]| extents.iter().map(|extent| extent.max).fold(0.0, f64::max);
    let peak = lanes().map(|lane| most(&lane.trailing)).fold(0.0, f64::max);
    let units = report.limit.map_or(0, |limit| limit.units);
    let limit = units as f64;
    let states = lanes().filter(|lane| lane.level_limit == units).map(|lane| most(&lane.level)).fold(0.0, f64::max);
    (peak, (1.04 * peak).max(1.5 * limit).max(1.04 * states.min(2.0 * limit)).max(1.0))
}

/// Whose lines are drawn.
enum Followed<'a> {
    /// There is one key.
    Only,
    /// This key's, in every lane.
    One(&'a str),
    /// Another key's in each lane.
    Each,
}

fn followed<'a>(report: &Report, panel: &Panel<'a>) -> Followed<'a> {
    let mut keys = panel.detail.lanes.iter().map(|lane| lane.key.as_deref());
    match keys.next().flatten() {
        Some(first) if report.offered.keys > 1 => {
            if keys.all(|key| key == Some(first)) {
                Followed::One(first)
            } else {
                Followed::Each
            }
        }
        _ => Followed::Only,
    }
}

/// Whether the run spans several days, so that instants need a date.
fn dated(report: &Report) -> bool {
    let day = |at: i64| report.instant(at).nanos().div_euclid(86_400_000_000_000);
    day(report.offered.first_ns.unwrap_or(0).min(0)) != day(report.end_ns.max(0))
}

/// The length of a panel's span.
fn length(panel: &Panel<'_>) -> String {
    words::span(panel.detail.until.since(panel.detail.from).nanos())
}
