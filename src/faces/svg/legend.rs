//! What the marks mean, for those that the sheet holds.

use super::measure::clean;
use super::paint::{Anchor, Painter, RESTART_DASH, palette};
use super::panel::Panel;
use super::row::Axes;
use super::{Followed, SMALL, deployed, followed, groups, words};
use crate::faces::format::count;
use crate::report::LaneReport;

/// Width of a sign.
const SIGN: i32 = 44;
/// Between entries.
const BETWEEN: i32 = 36;
/// Height of a line.
const LINE: i32 = 36;
/// Width of a group's name and of what surrounds it.
const TAG: i32 = 60;

/// What an entry explains.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// An attempt released at once.
    Allowed,
    /// One released later.
    Delayed,
    /// One refused.
    Denied,
    /// Bins of many.
    Bin,
    /// The trailing count.
    Trailing,
    /// The limit.
    Limit,
    /// What is above it.
    Excess,
    /// The lane's own state.
    State,
    /// What waits.
    Waiting,
    /// How low a line goes.
    Band,
    /// Where a window ends.
    Restart,
    /// The highest values.
    Skyline,
    /// A group of lanes.
    Group,
    /// A further line of a group.
    More,
    /// In a closed loop: first attempts.
    First,
    /// Retries.
    Retry,
    /// Admitted attempts.
    Admitted,
    /// Answers in time.
    Good,
    /// What is asked for.
    Offered,
    /// A slow backend.
    Slow,
    /// In a deployment: a replica's strip.
    Strip,
    /// What was decided without the store.
    Without,
    /// Where something is wrong.
    Trouble,
    /// Where something changes.
    Change,
}

/// Entries on a line.
pub type Group = Vec<(Sign, String)>;

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
        let arrivals = |panel: &&Panel<'_>| panel.detail.arrivals_within > 0;
        let panels = axes.panels;
        Self {
            marks: panels.iter().filter(arrivals).any(Panel::marked),
            bins: panels.iter().filter(arrivals).any(|panel| !panel.marked()),
            ..Self::of(entries(axes), width)
        }
    }

    /// These entries, in lines of at most `width`.
    pub fn of(entries: Group, width: i32) -> Self {
        let mut lines: Vec<Group> = Vec::new();
        let mut x = width;
        for (sign, text) in entries {
            let entry = SIGN + SMALL.width(&text);
            // Groups stand below the rest, each on lines of its own.
            if sign == Sign::Group {
                let rows = SMALL.wrap(&text, width - TAG, 3);
                lines.extend(
                    rows.into_iter().enumerate().map(|(i, row)| vec![(if i == 0 { sign } else { Sign::More }, row)]),
                );
                continue;
            }
            if x + entry > width {
                lines.push(Group::new());
                x = 0;
            }
            x += entry + BETWEEN;
            lines.last_mut().expect("there is a line").push((sign, text));
        }
        Self { lines, marks: false, bins: true }
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
                if let Sign::Group | Sign::More = sign {
                    group(painter, *sign, (x, baseline), text);
                    continue;
                }
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
            Sign::Band => {
                painter.rect((x, y - 9), (x + 17, y + 9), palette::BAND);
                painter.rect((x + 17, y - 9), (x + 34, y + 9), palette::STATE_BAND);
                painter.line(&[(x, y - 9), (x + 17, y - 9)], palette::INK, 3);
                painter.line(&[(x + 17, y - 9), (x + 34, y - 9)], palette::STATE, 2);
            }
            Sign::Restart => painter.upright(x + 16, (y - 12, y + 12), RESTART_DASH, palette::STATE),
            Sign::Skyline => painter.rect((x, y - 9), (x + 32, y + 9), palette::FAINT),
            Sign::First => painter.rect((x + 8, y - 9), (x + 26, y + 9), palette::INK),
            Sign::Retry => {
                painter.rect((x + 8, y - 9), (x + 26, y + 9), palette::DENIED);
                painter.stripes(&[(x + 8, x + 26)], (y - 9, y + 9), palette::PAPER);
            }
            Sign::Admitted => painter.line(&[(x, y), (x + 32, y)], palette::ALLOWED, 3),
            Sign::Good => painter.rect((x, y - 9), (x + 32, y + 9), palette::GOOD),
            Sign::Offered => painter.line(&[(x, y), (x + 32, y)], palette::INK, 2),
            Sign::Slow => painter.rect((x, y - 9), (x + 32, y + 9), palette::BAND),
            Sign::Strip => {
                painter.rect((x + 2, y - 4), (x + 17, y + 6), palette::ALLOWED);
                painter.rect((x + 2, y - 9), (x + 17, y - 4), palette::DENIED);
                painter.rect((x + 17, y - 2), (x + 32, y + 6), palette::ALLOWED);
                painter.line(&[(x, y + 7), (x + 34, y + 7)], palette::RULE, 2);
            }
            Sign::Without => painter.rect((x, y), (x + 32, y + 5), palette::INK),
            Sign::Trouble => {
                painter.rect((x, y - 10), (x + 34, y + 10), palette::TROUBLE);
                painter.hatch((x, x + 34), (y - 10, y + 10), palette::HATCH);
            }
            Sign::Change => painter.upright(x + 16, (y - 12, y + 12), (10, 5), palette::INK),
            Sign::Group | Sign::More => {}
        }
    }
}

/// A line about a group: its name as in the lanes, and which lanes.
fn group(painter: &Painter<'_>, sign: Sign, (x, baseline): (i32, i32), text: &str) {
    let (name, text) = text.split_once(": ").filter(|_| sign == Sign::Group).unwrap_or(("", text));
    if !name.is_empty() {
        painter.rect((x, baseline - 25), (x + SMALL.width(name) + 24, baseline + 8), palette::TAG);
        painter.text((x + 12, baseline), SMALL, palette::INK, Anchor::Start, name);
    }
    painter.text((x + TAG, baseline), SMALL, palette::SOFT, Anchor::Start, text);
}

/// What needs to be explained: the arrivals, the lines, which lanes are alike.
fn entries(axes: Axes<'_>) -> Group {
    let mut entries = Group::new();
    if axes.report.offered.requests > 0 {
        arrivals(axes, &mut entries);
        lines(axes, &mut entries);
        states(axes, &mut entries);
        entries.extend(deployed::legend::entries(axes.report, axes.panels));
        entries.extend(
            groups::list(axes.report).iter().map(|(name, text)| (Sign::Group, clean(&format!("{name}: {text}")))),
        );
    }
    entries
}

fn arrivals(Axes { report, panels, .. }: Axes<'_>, entries: &mut Group) {
    let any = |count: fn(&LaneReport) -> u64| report.lanes.iter().any(|lane| count(lane) > 0);
    if any(|lane| lane.allowed) {
        entries.push((Sign::Allowed, "allowed at once".to_owned()));
    }
    if any(|lane| lane.delayed) {
        entries.push((Sign::Delayed, "delayed".to_owned()));
    }
    if any(|lane| lane.denied) {
        entries.push((Sign::Denied, "denied".to_owned()));
    }
    entries.extend(bars(panels).map(|text| (Sign::Bin, text)));
}

/// The trailing count and the limit.
fn lines(Axes { report, panels, .. }: Axes<'_>, entries: &mut Group) {
    let (Some(window), Some(stated)) = (words::window(report), words::limit(report)) else { return };
    let whose = match followed(report, &panels[0]) {
        Followed::Only => String::new(),
        Followed::One(key) => format!(" of key {}", SMALL.clip(&clean(key), 400)),
        Followed::Each => " of the lane's key".to_owned(),
    };
    entries.push((Sign::Trailing, format!("{}{whose} released in the last {window}", words::things(report))));
    if panels.iter().any(|panel| panel.skyline) {
        entries.push((Sign::Skyline, "its most in each bar".to_owned()));
    }
    entries.push((Sign::Limit, format!("limit, {stated}")));
    if report.lanes.iter().any(|lane| lane.over.as_ref().is_some_and(|over| over.keys > 0)) {
        entries.push((Sign::Excess, "above it".to_owned()));
    }
    if report.lanes.iter().any(|lane| lane.delayed > 0) {
        entries.push((Sign::Waiting, "waiting".to_owned()));
    }
}

/// What the lanes themselves count.
fn states(axes: Axes<'_>, entries: &mut Group) {
    let Axes { report, panels, .. } = axes;
    let lanes = || (0..report.lanes.len()).filter(|index| panels.iter().all(|panel| *index < panel.detail.lanes.len()));
    let ahead = report.lanes.iter().any(|lane| lane.algorithm == "gcra");
    let ahead = if ahead { " (TAT ahead: how far the schedule runs ahead of the clock)" } else { "" };
    let own = deployed::legend::counter(report, panels).unwrap_or("the lane's own count");
    entries.push((Sign::State, format!("{own}, full at the dashed line{ahead}")));
    let banded = |index| panels.iter().any(|panel| panel.banded(index, axes.plot(index, 0), axes.own(index, 0)));
    if lanes().any(banded) {
        entries.push((Sign::Band, "shaded down to its lowest".to_owned()));
    }
    let mut drawn = panels.iter().filter(|panel| !panel.skyline).flat_map(|panel| &panel.detail.lanes);
    if drawn.any(|lane| !lane.restarts.is_empty()) {
        entries.push((Sign::Restart, "clock window ends".to_owned()));
    }
}

/// What the bars of arrivals count.
fn bars(panels: &[Panel<'_>]) -> Option<String> {
    let say = |(width, highest): (u64, u64)| {
        format!("per {}, up to {}", words::span(u128::from(width)), count(u128::from(highest)))
    };
    let bars: Vec<Option<String>> = panels.iter().map(|panel| panel.highest_bin().map(say)).collect();
    match &bars[..] {
        [Some(whole), Some(close)] => Some(format!("bars: requests {whole}; close-up {close}")),
        [None, Some(close)] => Some(format!("bars in the close-up: requests {close}")),
        [Some(whole), None] => Some(format!("bars in the whole run: requests {whole}")),
        [Some(whole)] => Some(format!("bars: requests {whole}")),
        _ => None,
    }
}
