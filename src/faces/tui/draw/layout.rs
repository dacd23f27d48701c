//! What goes where: rows and columns of the screen, the most important first.

use super::super::app::App;
use crate::faces::format::title;
use ratatui::layout::Rect;

/// The smallest screen that is drawn.
pub const SMALLEST: (u16, u16) = (60, 12);

/// Lanes that stay visible before anything else gets room.
const LANES_FIRST: u16 = 8;

/// Rows that a title may take.
const TITLE: usize = 2;

/// Which figures stand beside the strips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// There is a limit, so there are peaks.
    pub limit: bool,
    /// What was released in the last window.
    pub window: bool,
    /// Delays so far.
    pub delayed: bool,
    /// As of the end of the run too.
    pub end: bool,
    /// Delays as of the end too.
    pub end_delayed: bool,
    /// Clients come back: attempts and answers instead of peaks and denials.
    pub closed: bool,
}

impl Columns {
    /// As many as leave room for the strips.
    fn of(width: u16, content: Content) -> Self {
        let Content { limit, delays, closed, .. } = content;
        Self {
            limit,
            window: width >= 110,
            delayed: delays && width >= 110,
            end: width >= 76,
            end_delayed: delays && width >= 140,
            closed,
        }
    }
}

/// A span of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Across {
    /// First column.
    pub x: u16,
    /// How many.
    pub width: u16,
}

/// Rows and columns of the screen; heights of zero are parts that have no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Whether there is room for anything at all.
    pub fits: bool,
    /// The whole screen.
    pub area: Rect,
    /// Rows of the title.
    pub title: u16,
    /// Rows of what the scenario is about.
    pub about: u16,
    /// Names of lanes.
    pub names: Across,
    /// What the lanes do over time.
    pub strip: Across,
    /// Figures beside it.
    pub figures: Across,
    /// Which ones.
    pub columns: Columns,
    /// The row of arrivals, all lanes' traffic.
    pub arrivals: u16,
    /// The row of what goes wrong.
    pub faults: u16,
    /// The first lane that is shown.
    pub first: usize,
    /// Lanes that are shown.
    pub lanes: u16,
    /// Rows of a lane that is not chosen: one, or one more for what it released in the last window.
    pub lane_rows: u16,
    /// Rows of charts below the chosen lane.
    pub charts: u16,
    /// The row that marks where lanes differ.
    pub differ: u16,
    /// The row that explains the signs.
    pub legend: u16,
    /// Rows of the other lanes' decisions, or of replicas.
    pub others: u16,
    /// How many of them stand in a row.
    pub others_across: u16,
    /// Blank rows between the parts.
    pub gap: u16,
}

/// What there is to be laid out.
#[derive(Clone, Copy, Debug, Default)]
struct Content {
    /// Rows that the title wants, and what the scenario is about.
    title: usize,
    about: usize,
    /// The longest name of a lane.
    names: usize,
    lanes: usize,
    limit: bool,
    /// Whether any lane delays.
    delays: bool,
    /// Whether clients come back.
    closed: bool,
    /// Where limits are kept by more than one process, the most replicas of a lane; else none.
    replicas: Option<usize>,
    /// Whether anything goes wrong.
    faults: bool,
}

impl Layout {
    /// The layout of a screen of this many columns and rows.
    pub fn of(app: &App, size: (u16, u16)) -> Self {
        let content = app.run.as_ref().map_or(Content::default(), |run| {
            let lanes = &run.report.lanes;
            let rows = |text: &str| super::wrapped(text, usize::from(size.0.saturating_sub(2))).len();
            Content {
                title: rows(&title(&run.report)),
                about: run.report.about.as_deref().map_or(0, rows),
                names: lanes.iter().map(|lane| super::width(&lane.name)).max().unwrap_or(0),
                lanes: lanes.len(),
                limit: run.report.limit.is_some(),
                delays: lanes.iter().any(|lane| lane.delayed > 0),
                closed: app.is_closed_loop(),
                replicas: lanes.iter().filter_map(|lane| Some(lane.fleet.as_ref()?.replicas.len())).max(),
                faults: run.report.scenario.get("fault").is_some(),
            }
        });
        Self::new(size, content, app.lane, app.charts)
    }

    fn new((width, height): (u16, u16), content: Content, chosen: usize, charts: bool) -> Self {
        let Content { lanes, limit, .. } = content;
        let fits = width >= SMALLEST.0 && height >= SMALLEST.1;
        let (names, strip, figures, columns) = across(width, content);
        // State, axis, keys, a row of the title; two rows for the cursor's arrival.
        let mut room = Room(height.saturating_sub(4 + 2));
        let total = lanes.min(usize::from(u16::MAX)) as u16;
        let mut shown = room.up_to(total.min(LANES_FIRST));
        // Two rows of charts say nothing.
        let mut chart_rows = if charts && lanes > 0 { room.whole(3) } else { 0 };
        let has_charts = chart_rows > 0;
        let legend = room.up_to(1);
        let arrivals = room.up_to(1);
        let faults = if content.faults { room.up_to(1) } else { 0 };
        // Narrow screens have no room for long words, and fewer rows to spare.
        let others_across = (width / if width < 120 { 40 } else { 48 }).max(1);
        // Single decisions are told where every attempt is an arrival.
        let listed = u16::from(!content.closed);
        let rows_of_others = |lanes: u16| match content.replicas {
            Some(replicas) => (replicas.min(64) as u16).div_ceil(others_across),
            None => listed * lanes.saturating_sub(1).div_ceil(others_across),
        };
        let mut others = room.up_to(rows_of_others(total.min(LANES_FIRST)));
        let differ = if lanes > 1 { room.up_to(1) } else { 0 };
        let title = 1 + room.up_to(content.title.clamp(1, TITLE) as u16 - 1);
        if has_charts {
            chart_rows += room.up_to(3);
        }
        shown += room.up_to(total - shown);
        others += room.up_to(rows_of_others(total) - others);
        let doubled = if limit { shown - u16::from(has_charts && shown > 0) } else { 0 };
        let lane_rows = if doubled > 0 && room.whole(doubled) > 0 { 2 } else { 1 };
        let about = room.whole(content.about.min(usize::from(height)) as u16);
        if has_charts {
            chart_rows += room.up_to(2);
        }
        let gap = u16::from(room.whole(3) > 0);
        if has_charts {
            chart_rows += room.up_to(height / 3);
        }
        let first = chosen.saturating_sub(usize::from(shown) / 2).min(lanes.saturating_sub(usize::from(shown)));
        Self {
            fits,
            area: Rect::new(0, 0, width, height),
            title,
            about,
            names,
            strip,
            figures,
            columns,
            arrivals,
            faults,
            first,
            lanes: shown,
            lane_rows,
            charts: chart_rows,
            differ,
            legend,
            others,
            others_across,
            gap,
        }
    }
}

/// Rows that nothing has taken yet.
struct Room(u16);

impl Room {
    /// Takes as many as there are, `wanted` at most.
    fn up_to(&mut self, wanted: u16) -> u16 {
        let taken = wanted.min(self.0);
        self.0 -= taken;
        taken
    }

    /// Takes all that is wanted or none.
    fn whole(&mut self, wanted: u16) -> u16 {
        if wanted <= self.0 { self.up_to(wanted) } else { 0 }
    }
}

/// Names, strips and figures side by side; which figures.
fn across(width: u16, content: Content) -> (Across, Across, Across, Columns) {
    let columns = Columns::of(width, content);
    let figures: u16 = super::lanes::figures(columns).map(|figure| figure.width).sum();
    // A sign before the name, a space behind it; the labels of the charts need twelve, and a third
    // of the screen is for the strips.
    let most = width.saturating_sub(figures + 3 + width / 3).clamp(15, 28);
    let names = content.names.clamp(12, usize::from(most)) as u16 + 2;
    let names = Across { x: 0, width: names.min(width) };
    let strip = Across { x: names.width, width: width.saturating_sub(names.width + figures + 1) };
    (names, strip, Across { x: strip.x + strip.width + 1, width: figures }, columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(layout: &Layout) -> u16 {
        let doubled = (layout.lanes - u16::from(layout.charts > 0)) * (layout.lane_rows - 1);
        5 + layout.title
            + layout.about
            + layout.arrivals
            + layout.faults
            + layout.lanes
            + doubled
            + layout.charts
            + layout.differ
            + layout.legend
            + layout.others
            + 3 * layout.gap
    }

    #[test]
    fn nothing_is_given_room_that_is_not_there() {
        for width in [60, 76, 80, 109, 110, 120, 200, 400] {
            for height in 12..80 {
                for lanes in [0, 1, 2, 6, 12, 40, 1_000] {
                    for charts in [false, true] {
                        let content = Content {
                            title: 1 + lanes % 3,
                            about: lanes % 5,
                            names: 8 + lanes,
                            lanes,
                            limit: height % 2 == 0,
                            delays: true,
                            closed: lanes % 2 == 0,
                            replicas: (lanes % 3 == 1).then_some(lanes / 2),
                            faults: lanes % 4 == 1,
                        };
                        let layout = Layout::new((width, height), content, lanes / 2, charts);
                        assert!(rows(&layout) <= height, "{width}x{height}, {lanes} lanes: {layout:?}");
                        assert!(layout.figures.x + layout.figures.width <= width);
                        assert!(layout.strip.width >= 20, "{layout:?}");
                        assert!(layout.first + usize::from(layout.lanes) <= lanes);
                    }
                }
            }
        }
    }

    #[test]
    fn six_lanes_fit_a_small_terminal_with_charts() {
        let content = Content { title: 1, names: 15, lanes: 6, limit: true, delays: true, ..Content::default() };
        let layout = Layout::new((80, 24), content, 0, true);
        assert_eq!((layout.lanes, layout.charts, layout.others, layout.others_across), (6, 6, 3, 2));
        assert_eq!((layout.arrivals, layout.legend, layout.differ), (1, 1, 1));
    }

    #[test]
    fn a_long_title_comes_before_tall_charts_and_eight_lanes_before_both() {
        let content = Content { title: 2, names: 15, lanes: 6, limit: true, delays: true, ..Content::default() };
        let layout = Layout::new((80, 24), content, 0, true);
        assert_eq!((layout.title, layout.charts), (2, 5));
        let eight = Layout::new((80, 24), Content { lanes: 8, ..content }, 0, true);
        assert_eq!((eight.lanes, eight.charts, eight.others, eight.title), (8, 3, 4, 1));
    }
}
