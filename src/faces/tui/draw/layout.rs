//! What goes where: rows and columns of the screen, the most important first.

use super::super::app::App;
use ratatui::layout::Rect;

/// The smallest screen that is drawn.
pub const SMALLEST: (u16, u16) = (60, 12);

/// Lanes that stay visible before anything else gets room.
const LANES_FIRST: u16 = 6;

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
}

impl Columns {
    /// As many as leave room for the strips.
    fn of(width: u16, limit: bool, delays: bool) -> Self {
        Self {
            limit,
            window: width >= 110,
            delayed: delays && width >= 110,
            end: width >= 76,
            end_delayed: delays && width >= 140,
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
    /// Rows of the other lanes' decisions.
    pub others: u16,
    /// How many of them stand in a row.
    pub others_across: u16,
    /// Blank rows between the parts.
    pub gap: u16,
}

/// What there is to be laid out.
#[derive(Clone, Copy, Debug, Default)]
struct Content {
    /// The longest name of a lane.
    names: usize,
    lanes: usize,
    limit: bool,
    /// Whether any lane delays.
    delays: bool,
}

impl Layout {
    /// The layout of a screen of this many columns and rows.
    pub fn of(app: &App, size: (u16, u16)) -> Self {
        let content = app.run.as_ref().map_or(Content::default(), |run| {
            let lanes = &run.report.lanes;
            Content {
                names: lanes.iter().map(|lane| super::width(&lane.name)).max().unwrap_or(0),
                lanes: lanes.len(),
                limit: run.report.limit.is_some(),
                delays: lanes.iter().any(|lane| lane.delayed > 0),
            }
        });
        Self::new(size, content, app.lane, app.charts)
    }

    fn new((width, height): (u16, u16), content: Content, chosen: usize, charts: bool) -> Self {
        let Content { names: longest, lanes, limit, delays } = content;
        let area = Rect::new(0, 0, width, height);
        let fits = width >= SMALLEST.0 && height >= SMALLEST.1;
        let columns = Columns::of(width, limit, delays);
        let figures = super::lanes::figures(columns).map(|figure| figure.width).sum();
        // A sign before the name, a space behind it; the labels of the charts need twelve.
        let longest_shown = if width < 76 { 15 } else { (width / 5).min(28) };
        let names = (longest as u16).clamp(12, longest_shown) + 2;
        let names = Across { x: 0, width: names.min(width) };
        let strip = Across { x: names.width, width: width.saturating_sub(names.width + figures + 1) };
        let figures = Across { x: strip.x + strip.width + 1, width: figures };

        // Title, state, axis, keys; two rows for the cursor's arrival.
        let mut room = height.saturating_sub(4 + 2);
        let total = lanes.min(usize::from(u16::MAX)) as u16;
        let mut take = |wanted: u16| {
            let taken = wanted.min(room);
            room -= taken;
            taken
        };
        let first_lanes = take(total.min(LANES_FIRST));
        let has_charts = charts && lanes > 0;
        let mut chart_rows = if has_charts { take(3) } else { 0 };
        if chart_rows < 3 {
            // Two rows of charts say nothing; lanes do.
            chart_rows = 0;
        }
        let legend = take(1);
        let arrivals = take(1);
        let others_across = (width / 40).max(1);
        let others = take(total.saturating_sub(1).min(LANES_FIRST - 1).div_ceil(others_across));
        let differ = if lanes > 1 { take(1) } else { 0 };
        if chart_rows > 0 {
            chart_rows += take(3);
        }
        let shown = first_lanes + take(total - first_lanes);
        if chart_rows > 0 {
            chart_rows += take(2);
        }
        let mut lane_rows = 1;
        let doubled = shown.saturating_sub(u16::from(chart_rows > 0));
        if limit && doubled > 0 && room >= doubled {
            room -= doubled;
            lane_rows = 2;
        }
        let mut take = |wanted: u16| {
            let taken = wanted.min(room);
            room -= taken;
            taken
        };
        let gap = u16::from(take(3) == 3);
        if chart_rows > 0 {
            chart_rows += take(height / 6);
        }
        // Rows that were left because two rows of charts say nothing.
        let shown = if chart_rows == 0 && has_charts { shown + take(total - shown) } else { shown };
        let first = chosen.saturating_sub(usize::from(shown) / 2).min(lanes.saturating_sub(usize::from(shown)));
        Self {
            fits,
            area,
            names,
            strip,
            figures,
            columns,
            arrivals,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(layout: &Layout) -> u16 {
        let doubled = (layout.lanes - u16::from(layout.charts > 0)) * (layout.lane_rows - 1);
        6 + layout.arrivals
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
                        let content = Content { names: 15, lanes, limit: height % 2 == 0, delays: true };
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
        let content = Content { names: 15, lanes: 6, limit: true, delays: true };
        let layout = Layout::new((80, 24), content, 0, true);
        assert_eq!((layout.lanes, layout.charts, layout.others, layout.others_across), (6, 6, 3, 2));
        assert_eq!((layout.arrivals, layout.legend, layout.differ), (1, 1, 1));
    }
}
