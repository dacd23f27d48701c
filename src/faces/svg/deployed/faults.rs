//! Where something is wrong: shaded, with a label above; and where something changes: an upright line.

use super::super::SMALL;
use super::super::measure::clean;
use super::super::paint::{Anchor, Painter, palette};
use super::super::panel::{OVERHANG, Panel};
use super::fleet;
use crate::report::FaultDetail;

/// Lines of labels above a lane's panels at most.
const MOST_LINES: usize = 6;
/// Height of a line.
const LINE: i32 = 28;
/// Between labels.
const APART: i32 = 14;
/// From a label's pole to its text.
const POLE: i32 = 8;
/// Dash and gap of a line at which something changes.
const DASH: (i32, i32) = (10, 5);

/// A text on a pole that stands where a fault begins.
struct Label {
    line: usize,
    x: i32,
    /// Where the text begins, and how wide it is.
    left: i32,
    width: i32,
    text: String,
}

impl Label {
    /// Where pole and text begin and end.
    fn extent(&self) -> (i32, i32) {
        (self.x.min(self.left), self.x.max(self.left + self.width))
    }
}

/// Labels of one panel's faults on lines on which no text stands on another, nor on a pole.
fn placed(panel: &Panel<'_>, faults: &[&FaultDetail]) -> Vec<Label> {
    let label = |fault: &&FaultDetail| {
        let width = SMALL.width(&clean(&fault.text)).min(panel.width - POLE);
        let x = panel.at(fault.from);
        // At the right edge a text stands left of its pole.
        let fits = x + POLE + width <= panel.right() + OVERHANG;
        let left = if fits { x + POLE } else { (x - POLE - width).max(panel.x) };
        Label { line: 0, x, left, width, text: fault.text.clone() }
    };
    let (ahead, back): (Vec<Label>, Vec<Label>) = faults.iter().map(label).partition(|label| label.left > label.x);
    let mut placed: Vec<Label> = Vec::new();
    // From the right: poles further left pass by what stands on lower lines.
    for mut label in ahead.into_iter().rev() {
        let (_, end) = label.extent();
        let free = |line: &usize| placed.iter().all(|other| other.line < *line || end + APART <= other.extent().0);
        if let Some(line) = (0..MOST_LINES).find(free) {
            label.line = line;
            placed.push(label);
        }
    }
    // From the left, each above all poles that it passes.
    for mut label in back {
        let (begin, end) = label.extent();
        let passed = placed.iter().filter(|other| other.extent().1 + APART > begin && other.extent().0 <= end);
        let line = passed.map(|other| other.line + 1).max().unwrap_or(0);
        if line < MOST_LINES {
            label.line = line;
            placed.push(label);
        }
    }
    placed
}

/// The labels above one lane's panels.
pub struct Labels {
    labels: Vec<Label>,
    lines: usize,
}

impl Labels {
    /// Labels of a lane's faults, each where it begins. What is alike is named once, in the close-up if
    /// it is there, and what has no room is left to the shading.
    pub fn new(panels: &[Panel<'_>], lane: usize) -> Self {
        let mut labels: Vec<Label> = Vec::new();
        for panel in panels.iter().rev() {
            let mut named: Vec<&FaultDetail> = Vec::new();
            for fault in fleet(panel, lane).into_iter().flat_map(|fleet| &fleet.faults) {
                let known = labels.iter().map(|label| &label.text).chain(named.iter().map(|fault| &fault.text));
                if known.into_iter().all(|text| *text != fault.text) {
                    named.push(fault);
                }
            }
            labels.extend(placed(panel, &named));
        }
        let lines = labels.iter().map(|label| label.line + 1).max().unwrap_or(0);
        labels.iter_mut().for_each(|label| label.text = SMALL.clip(&clean(&label.text), label.width));
        Self { labels, lines }
    }

    /// How high they are.
    pub const fn height(&self) -> i32 {
        self.lines as i32 * LINE
    }

    /// Writes them, the lowest line just above `bottom`.
    pub fn draw(&self, painter: &Painter<'_>, bottom: i32) {
        for Label { line, x, left, text, .. } in &self.labels {
            let baseline = bottom - 8 - *line as i32 * LINE;
            painter.line(&[(*x, baseline - 18), (*x, bottom)], palette::INK, 2);
            painter.text((*left, baseline), SMALL, palette::INK, Anchor::Start, text);
        }
    }
}

impl Panel<'_> {
    /// Shades where something is wrong with the store: behind all else.
    pub fn trouble(&self, painter: &Painter<'_>, lane: usize, extent: (i32, i32)) {
        let Some(fleet) = fleet(self, lane) else { return };
        let wide = |fault: &&FaultDetail| !fault.kind.is_instant();
        for fault in fleet.faults.iter().filter(wide).filter(|fault| fault.replicas.is_empty()) {
            self.shade(painter, fault, extent);
        }
    }

    /// Shades the span of one fault.
    pub fn shade(&self, painter: &Painter<'_>, fault: &FaultDetail, (top, bottom): (i32, i32)) {
        let from = self.at(fault.from).min(self.right() - 4);
        let until = self.at(fault.until).max(from + 4);
        painter.rect((from, top), (until, bottom), palette::TROUBLE);
        painter.hatch((from, until), (top, bottom), palette::HATCH);
    }

    /// Upright lines where something changes.
    pub fn changes(&self, painter: &Painter<'_>, lane: usize, extent: (i32, i32)) {
        let Some(fleet) = fleet(self, lane) else { return };
        let mut last = i32::MIN;
        for fault in fleet.faults.iter().filter(|fault| fault.kind.is_instant()) {
            let x = self.at(fault.from);
            if x > last {
                painter.upright(x, extent, DASH, palette::INK);
            }
            last = x;
        }
    }
}
