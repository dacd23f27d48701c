//! Where something is wrong: shaded, with a label above; and where something changes: an upright line.

use super::super::SMALL;
use super::super::measure::clean;
use super::super::paint::{Anchor, Painter, palette};
use super::super::panel::{OVERHANG, Panel};
use super::fleet;
use crate::report::FaultDetail;

/// Lines of labels above a lane's panels at most.
const MOST_LINES: usize = 4;
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
    /// Where the text begins.
    left: i32,
    text: String,
}

/// The labels above one lane's panels.
pub struct Labels {
    labels: Vec<Label>,
    lines: usize,
}

impl Labels {
    /// Labels of a lane's faults, each where it begins; what is alike is named once a panel, and what
    /// has no room is left to the shading.
    pub fn new(panels: &[Panel<'_>], lane: usize) -> Self {
        let (mut labels, mut lines) = (Vec::new(), 0);
        for panel in panels {
            let mut named: Vec<&FaultDetail> = Vec::new();
            for fault in fleet(panel, lane).into_iter().flat_map(|fleet| &fleet.faults) {
                if named.iter().all(|other| other.text != fault.text) {
                    named.push(fault);
                }
            }
            // From the right, so that no pole stands in a text: those are of later faults.
            let mut taken = [i32::MAX; MOST_LINES];
            for fault in named.into_iter().rev() {
                let text = SMALL.clip(&clean(&fault.text), panel.width - POLE);
                let (x, width) = (panel.at(fault.from), SMALL.width(&text));
                // At the right edge a text stands left of its pole.
                let left = if x + POLE + width <= panel.right() + OVERHANG { x + POLE } else { x - POLE - width };
                let left = left.max(panel.x);
                let Some(line) = taken.iter().position(|taken| (left + width).max(x) + APART <= *taken) else {
                    continue;
                };
                taken[..=line].iter_mut().for_each(|taken| *taken = (*taken).min(left.min(x)));
                lines = lines.max(line + 1);
                labels.push(Label { line, x, left, text });
            }
        }
        Self { labels, lines }
    }

    /// How high they are.
    pub const fn height(&self) -> i32 {
        self.lines as i32 * LINE
    }

    /// Writes them, the lowest line just above `bottom`.
    pub fn draw(&self, painter: &Painter<'_>, bottom: i32) {
        for Label { line, x, left, text } in &self.labels {
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
