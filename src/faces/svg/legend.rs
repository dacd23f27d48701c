//! What the marks mean, for those that the sheet holds.

use super::measure::clean;
use super::paint::{Anchor, Painter, RESTART_DASH, palette};
use super::panel::Panel;
use super::row::Axes;
use super::score::Scale;
use super::{Followed, SMALL, followed, words};
use crate::faces::format::{count, duration};
use crate::report::LaneReport;

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
    Tally,
    Trailing,
    Limit,
    Excess,
    State,
    Waiting,
    Band,
    Restart,
    Peak,
    Bound,
}

/// Entries that stand together on a line, as long as there is room.
type Group = Vec<(Sign, String)>;

/// The legend, laid out in lines.
pub struct Legend {
    lines: Vec<Group>,
    /// Whether there are marks for single arrivals, and bins of many.
    marks: bool,
    bins: bool,
}

impl Legend {
    /// The entries of a sheet, in lines of at most `width`.
    pub fn new(axes: Axes<'_>, width: i32) -> Self {
        let panels = axes.panels;
        let mut lines: Vec<Group> = Vec::new();
        for group in groups(axes) {
            let mut x = 0;
            let mut line = Group::new();
            for (sign, text) in group {
                let entry = SIGN + SMALL.width(&text);
                if x + entry > width && !line.is_empty() {
                    lines.push(std::mem::take(&mut line));
                    x = 0;
                }
                x += entry + BETWEEN;
                line.push((sign, text));
            }
            if !line.is_empty() {
                lines.push(line);
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
            Sign::Tally => painter.text((x + 36, y + 9), SMALL, palette::INK, Anchor::End, "12"),
            Sign::Bin => painter.rect((x + 10, y - 9), (x + 26, y + 9), palette::SOFT),
            Sign::Trailing => painter.line(&[(x, y + 6), (x + 12, y - 6), (x + 32, y - 6)], palette::INK, 3),
            Sign::Limit => painter.dashes((x, x + 34), y, palette::SOFT),
            Sign::Excess => painter.rect((x, y - 9), (x + 32, y + 9), palette::EXCESS),
            Sign::State => painter.line(&[(x, y + 6), (x + 14, y - 6), (x + 32, y)], palette::STATE, 2),
            Sign::Waiting => painter.rect((x, y - 9), (x + 32, y + 9), palette::WAITING),
            Sign::Band => {
                painter.rect((x, y - 9), (x + 17, y + 9), palette::BAND);
                painter.rect((x + 17, y - 9), (x + 34, y + 9), palette::STATE_BAND);
                painter.line(&[(x, y - 9), (x + 17, y - 9)], palette::INK, 3);
                painter.line(&[(x + 17, y - 9), (x + 34, y - 9)], palette::STATE, 2);
            }
            Sign::Restart => painter.upright(x + 16, (y - 12, y + 12), RESTART_DASH, palette::STATE),
            Sign::Peak => painter.dot((x + 16, y), 10, palette::INK),
            Sign::Bound => painter.rect((x + 14, y - 13), (x + 19, y + 13), palette::SOFT),
        }
    }
}

/// What needs to be explained: the arrivals, the lines, the scale.
fn groups(axes: Axes<'_>) -> [Group; 4] {
    let Axes { report, panels, .. } = axes;
    let any = |count: fn(&LaneReport) -> u64| report.lanes.iter().any(|lane| count(lane) > 0);
    let entry = |sign: Sign, text: &str| (sign, text.to_owned());
    let mut arrivals = Group::new();
    if any(|lane| lane.allowed) {
        arrivals.push(entry(Sign::Allowed, "allowed at once"));
    }
    if any(|lane| lane.delayed) {
        arrivals.push(entry(Sign::Delayed, "admitted, but delayed"));
    }
    if any(|lane| lane.denied) {
        arrivals.push(entry(Sign::Denied, "denied"));
    }
    if report.offered.requests > 0 {
        arrivals.push(entry(Sign::Tally, "sent between two grid lines"));
    }
    arrivals.extend(bars(panels).map(|text| (Sign::Bin, text)));

    let (mut limit, mut scale) = (Group::new(), Group::new());
    let mut state = vec![entry(Sign::State, "what the lane itself counts; at the dashed line it is full and denies")];
    if let (Some(window), Some(stated)) = (words::window(report), words::limit(report)) {
        let whose = match followed(report, &panels[0]) {
            Followed::Only => String::new(),
            Followed::One(key) => format!(" of key {}", SMALL.clip(&clean(key), 400)),
            Followed::Each => " of the lane's key".to_owned(),
        };
        limit.push((Sign::Trailing, format!("{}{whose} let through in the last {window}", words::things(report))));
        limit.push((Sign::Limit, format!("limit of every lane, {stated}")));
        if report.lanes.iter().any(|lane| lane.over.as_ref().is_some_and(|over| over.keys > 0)) {
            limit.push(entry(Sign::Excess, "above it"));
        }
        if let Some(ratios) = Scale::new(report) {
            let beyond = if ratios.passed(report) { "; an arrow: beyond the scale" } else { "" };
            scale.push((Sign::Peak, format!("most in any {window}, as a multiple of the limit")));
            scale.push((Sign::Bound, format!("the most that any traffic could get{beyond}")));
        }
    }
    if panels.iter().any(|panel| panel.banded(axes.plot(0))) {
        state.push(entry(Sign::Band, "down to the lowest within a pixel"));
    }
    if any(|lane| lane.delayed) {
        state.push(entry(Sign::Waiting, "waiting to be let through"));
    }
    if panels.iter().flat_map(|panel| &panel.detail.lanes).any(|lane| !lane.restarts.is_empty()) {
        state.push(entry(Sign::Restart, "a window of the clock ends"));
    }
    [arrivals, limit, state, scale]
}

/// What the bars of arrivals count.
fn bars(panels: &[Panel<'_>]) -> Option<String> {
    let mut bars = panels.iter().enumerate().filter_map(|(n, panel)| Some((n, panel.highest_bin()?)));
    let say =
        |(width, highest): (u64, u64)| (duration(u128::from(width)), format!("at most {}", count(u128::from(highest))));
    let (n, first) = bars.next()?;
    let (width, highest) = say(first);
    Some(match (bars.next(), n, panels.len()) {
        (Some((_, second)), ..) => {
            let (second, most) = say(second);
            format!("bars: arrivals in {width}, {highest}; at the right in {second}, {most}")
        }
        (None, 0, 2) => format!("bars at the left: arrivals in {width}, {highest}"),
        (None, _, 2) => format!("bars at the right: arrivals in {width}, {highest}"),
        _ => format!("bars: arrivals in {width}, {highest}"),
    })
}
