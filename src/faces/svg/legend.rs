//! What the marks mean, for those that the sheet holds.

use super::measure::Font;
use super::paint::{Anchor, Painter, RESTART_DASH, palette};
use super::panel::Panel;
use crate::faces::format::{count, duration};
use super::{SMALL, words};
use crate::report::Report;

/// Width of a sign.
const SIGN: i32 = 44;
/// Between entries.
const BETWEEN: i32 = 36;
/// Height of a line.
const LINE: i32 = 36;

/// What an entry explains.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Allowed,
    Delayed,
    Denied,
    Bin,
    Trailing,
    Limit,
    Excess,
    State,
    Waiting,
    Restart,
    Peak,
    Bound,
}

/// Entries that stand together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Arrivals,
    Limit,
    State,
    Scale,
}

impl Sign {
    const fn group(self) -> Group {
        match self {
            Self::Allowed | Self::Delayed | Self::Denied | Self::Bin => Group::Arrivals,
            Self::Trailing | Self::Limit | Self::Excess => Group::Limit,
            Self::State | Self::Waiting | Self::Restart => Group::State,
            Self::Peak | Self::Bound => Group::Scale,
        }
    }
}

/// The legend, laid out in lines.
pub struct Legend {
    lines: Vec<Vec<(Sign, String)>>,
    /// Whether there are marks for single arrivals, and bins of many.
    marks: bool,
    bins: bool,
}

impl Legend {
    /// The entries of a sheet, in lines of at most `width`.
    pub fn new(report: &Report, panels: &[Panel<'_>], width: i32) -> Self {
        let font: Font = SMALL;
        let mut lines: Vec<Vec<(Sign, String)>> = vec![Vec::new()];
        let mut x = 0;
        let mut group = Some(Group::Arrivals);
        for (sign, text) in entries(report, panels) {
            let entry = SIGN + font.width(&text);
            if x + entry > width || group.replace(sign.group()) != Some(sign.group()) {
                lines.push(Vec::new());
                x = 0;
            }
            x += entry + BETWEEN;
            if let Some(line) = lines.last_mut() {
                line.push((sign, text));
            }
        }
        let arrivals = |panel: &&Panel<'_>| panel.detail.arrivals_within > 0;
        Self {
            lines,
            marks: panels.iter().filter(arrivals).any(Panel::marked),
            bins: panels.iter().filter(arrivals).any(|panel| !panel.marked()),
        }
    }

    /// Its height.
    pub const fn height(&self) -> i32 {
        self.lines.len() as i32 * LINE
    }

    /// Draws it below `top`.
    pub fn draw(&self, painter: &Painter<'_>, left: i32, top: i32) {
        for (i, line) in self.lines.iter().enumerate() {
            let baseline = top + (i as i32 + 1) * LINE;
            let mut x = left;
            for (sign, text) in line {
                self.sign(painter, *sign, x, baseline - 9);
                painter.text((x + SIGN, baseline), SMALL, palette::SOFT, Anchor::Start, text);
                x += SIGN + SMALL.width(text) + BETWEEN;
            }
        }
    }

    /// A sign at `x`, its middle at height `y`.
    fn sign(&self, painter: &Painter<'_>, sign: Sign, x: i32, y: i32) {
        // A mark and a bin side by side where the sheet has both.
        let (mark, bin) = if self.marks && self.bins { (x + 7, x + 25) } else { (x + 16, x + 16) };
        let block = |color| {
            if self.bins {
                painter.rect((bin - 7, y - 9), (bin + 8, y + 9), color);
            }
        };
        match sign {
            Sign::Allowed => {
                block(palette::ALLOWED);
                if self.marks {
                    painter.ticks(&[mark - 3, mark + 3], (y - 9, y + 9), palette::ALLOWED);
                }
            }
            Sign::Delayed => {
                block(palette::DELAYED);
                if self.marks {
                    painter.ring((mark, y), 6, palette::DELAYED_INK);
                }
            }
            Sign::Denied => {
                block(palette::DENIED);
                if self.marks {
                    painter.crosses(&[mark], (y - 7, y + 7), palette::DENIED);
                }
            }
            Sign::Bin => painter.rect((x + 10, y - 9), (x + 26, y + 9), palette::SOFT),
            Sign::Trailing => painter.line(&[(x, y + 6), (x + 12, y - 6), (x + 32, y - 6)], palette::INK, 3),
            Sign::Limit => painter.dashes((x, x + 34), y, palette::SOFT),
            Sign::Excess => painter.rect((x, y - 9), (x + 32, y + 9), palette::EXCESS),
            Sign::State => painter.line(&[(x, y + 6), (x + 14, y - 6), (x + 32, y)], palette::STATE, 2),
            Sign::Waiting => painter.rect((x, y - 9), (x + 32, y + 9), palette::WAITING),
            Sign::Restart => painter.upright(x + 16, (y - 12, y + 12), RESTART_DASH, palette::STATE),
            Sign::Peak => painter.dot((x + 16, y), 10, palette::INK),
            Sign::Bound => painter.rect((x + 14, y - 13), (x + 19, y + 13), palette::SOFT),
        }
    }
}

/// What needs to be explained.
fn entries(report: &Report, panels: &[Panel<'_>]) -> Vec<(Sign, String)> {
    let any = |count: fn(&crate::report::LaneReport) -> u64| report.lanes.iter().any(|lane| count(lane) > 0);
    let mut entries = Vec::new();
    let mut add = |sign: Sign, text: &str| entries.push((sign, text.to_owned()));
    add(Sign::Allowed, "allowed at once");
    if any(|lane| lane.delayed) {
        add(Sign::Delayed, "admitted, but delayed");
    }
    if any(|lane| lane.denied) {
        add(Sign::Denied, "denied");
    }
    for (n, panel) in panels.iter().enumerate() {
        if let Some((width, highest)) = panel.highest_bin() {
            let place = match (n, panels.len()) {
                (_, 1) => "bars",
                (0, _) => "bars at the left",
                _ => "bars at the right",
            };
            let (width, highest) = (duration(u128::from(width)), count(u128::from(highest)));
            add(Sign::Bin, &format!("{place}: arrivals in {width}, at most {highest}"));
        }
    }
    if let (Some(window), Some(limit)) = (words::window(report), words::limit(report)) {
        add(Sign::Trailing, &format!("{} let through in the last {window}", words::things(report)));
        add(Sign::Limit, &format!("limit of every lane, {limit}"));
        if report.lanes.iter().any(|lane| lane.over.as_ref().is_some_and(|over| over.keys > 0)) {
            add(Sign::Excess, "above it");
        }
        add(Sign::State, "what the lane itself counts; at the dashed line it is full and denies");
    } else {
        add(Sign::State, "what the lane itself counts");
        add(Sign::Limit, "full: it denies");
    }
    if any(|lane| lane.delayed) {
        add(Sign::Waiting, "waiting to be let through");
    }
    if panels.iter().flat_map(|panel| &panel.detail.lanes).any(|lane| !lane.restarts.is_empty()) {
        add(Sign::Restart, "a window of the clock ends");
    }
    if let (Some(window), Some(_)) = (words::window(report), report.limit.filter(|limit| limit.units > 0)) {
        add(Sign::Peak, &format!("most in any {window}, as a multiple of the limit"));
        add(Sign::Bound, "the most that any traffic could get");
    }
    entries
}
