//! The comparison as a table.

use super::strip::NAME_WIDTH;
use super::wait;
use crate::faces::format::{count, duration, fit, ratio};
use crate::report::{FleetReport, LaneReport, LoopReport, Report, StoreReport};
use comfy_table::{CellAlignment, Table};
use unicode_width::UnicodeWidthStr;

/// A column: its heading and what stands in it.
type Column = (&'static str, fn(&LaneReport) -> String);

/// What a table is made of.
pub struct Layouts {
    columns: &'static [Column],
    /// How it is squeezed into its width, from comfortable to cramped.
    layouts: [Layout; 5],
    /// Whether it shows columns in which nothing stands.
    keeps_empty: bool,
}

/// What the limiters did.
pub static DECISIONS: Layouts =
    Layouts { columns: &COLUMNS, layouts: layouts(&["B/key"], &["B/key", "p99 wait"]), keeps_empty: true };

/// What replicas and store did.
pub static DEPLOYED: Layouts =
    Layouts { columns: &DEPLOYED_COLUMNS, layouts: layouts(&["p99"], &["p99", "ops"]), keeps_empty: false };

/// What became of the requests of a closed loop.
pub const REQUESTS: Layouts =
    Layouts { columns: &LOOP_COLUMNS, layouts: layouts(&["clumps"], &["clumps", "last"]), keeps_empty: true };

const COLUMNS: [Column; 9] = [
    ("allowed", |lane| count(u128::from(lane.allowed))),
    ("delayed", |lane| count(u128::from(lane.delayed))),
    ("denied", |lane| count(u128::from(lane.denied))),
    ("peak", |lane| lane.peak.as_ref().map_or("-".to_owned(), |peak| count(u128::from(peak.units)))),
    ("ratio", |lane| lane.peak.as_ref().and_then(|peak| peak.ratio).map_or("-".to_owned(), ratio)),
    ("bound", |lane| match &lane.peak {
        Some(peak) => peak.bound.map_or("?".to_owned(), count),
        None => "-".to_owned(),
    }),
    ("vs log", |lane| match (lane.false_admissions, lane.false_denials) {
        (Some(0), Some(0)) => "same".to_owned(),
        (Some(more), Some(less)) => format!("+{} -{}", count(u128::from(more)), count(u128::from(less))),
        _ => "-".to_owned(),
    }),
    ("p99 wait", |lane| wait(lane.wait_ns.p99)),
    ("B/key", |lane| {
        let bytes = lane.state.bytes_per_key;
        if bytes.fract() == 0.0 { count(bytes as u128) } else { format!("{bytes:.1}") }
    }),
];

/// A figure of a deployment.
fn of_fleet(lane: &LaneReport, figure: impl Fn(&FleetReport) -> Option<String>) -> String {
    lane.fleet.as_ref().and_then(figure).unwrap_or_else(|| "-".to_owned())
}

/// A figure of a store.
fn of_store(lane: &LaneReport, figure: impl Fn(&StoreReport) -> Option<String>) -> String {
    of_fleet(lane, |fleet| fleet.store.as_ref().and_then(&figure))
}

fn lasting(nanos: u64) -> String {
    if nanos == 0 { "0".to_owned() } else { duration(u128::from(nanos)) }
}

const DEPLOYED_COLUMNS: [Column; 8] = [
    ("over", |lane| lane.over_admitted.map_or("-".to_owned(), |units| count(u128::from(units)))),
    ("backend over", |lane| of_fleet(lane, |fleet| fleet.backend_overload_ns.map(lasting))),
    ("refused", |lane| lane.false_denials.map_or("-".to_owned(), |refused| count(u128::from(refused)))),
    ("time over", |lane| of_fleet(lane, |fleet| fleet.over_limit_ns.map(lasting))),
    ("of bound", |lane| match lane.peak.as_ref().map(|peak| peak.bound) {
        Some(None) => "?".to_owned(),
        _ => of_fleet(lane, |fleet| fleet.of_bound.map(|part| format!("{:.0}%", part * 100.0))),
    }),
    ("ops", |lane| of_store(lane, |store| Some(format!("{:.2}", store.per_request)))),
    ("p99", |lane| of_store(lane, |store| store.latency_ns.p99.map(lasting))),
    ("without", |lane| of_store(lane, |store| Some(count(u128::from(store.decided_without))))),
];

/// A figure of a closed loop.
fn of_loop(lane: &LaneReport, figure: impl Fn(&LoopReport) -> String) -> String {
    lane.closed.as_ref().map_or_else(|| "-".to_owned(), figure)
}

/// A number with two places, or with none where it is large.
fn decimal(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value >= 1000.0 => count(value.round() as u128),
        Some(value) => format!("{value:.2}"),
    }
}

fn time(nanos: Option<u64>, never: &str) -> String {
    nanos.map_or_else(|| never.to_owned(), |nanos| duration(u128::from(nanos)))
}

const LOOP_COLUMNS: [Column; 10] = [
    ("attempts", |lane| count(u128::from(lane.attempts))),
    ("each", |lane| of_loop(lane, |l| decimal(l.amplification))),
    ("done", |lane| of_loop(lane, |l| count(u128::from(l.succeeded)))),
    ("not", |lane| of_loop(lane, |l| count(u128::from(l.gave_up + lane.unfinished)))),
    ("good/s", |lane| of_loop(lane, |l| decimal(l.goodput_per_s))),
    ("last", |lane| of_loop(lane, |l| time(l.drain_ns, "-"))),
    ("p50", |lane| of_loop(lane, |l| time(l.time_to_success_all_ns.p50, "never"))),
    ("p99", |lane| of_loop(lane, |l| time(l.time_to_success_all_ns.p99, "never"))),
    ("recovered", |lane| {
        of_loop(lane, |l| if l.overloaded_bins == 0 { "-".to_owned() } else { time(l.recovered_ns, "never") })
    }),
    ("clumps", |lane| of_loop(lane, |l| decimal(l.dispersion))),
];

const fn layouts(second: &'static [&'static str], third: &'static [&'static str]) -> [Layout; 5] {
    [
        Layout { gap: 2, groups: true, left_out: &[] },
        Layout { gap: 1, groups: true, left_out: &[] },
        Layout { gap: 1, groups: false, left_out: &[] },
        Layout { gap: 1, groups: false, left_out: second },
        Layout { gap: 1, groups: false, left_out: third },
    ]
}

struct Layout {
    /// Spaces between columns.
    gap: usize,
    /// Whether digits are grouped.
    groups: bool,
    /// Columns that must go.
    left_out: &'static [&'static str],
}

/// A heading; a cramped table has those of two words in two lines.
fn heading(name: &str, layout: &Layout) -> String {
    if layout.groups {
        return name.to_owned();
    }
    name.replace("p99 wait", "p99\nwait").replace("backend over", "backend\nover").replace("time over", "time\nover")
}

/// The narrowest that lane names are cut to.
const NARROWEST_NAME: usize = 12;

/// Writes the table: a row a lane, within `width`.
pub fn table(out: &mut String, report: &Report, width: usize, kind: &Layouts) {
    let Layouts { columns: all, layouts, .. } = kind;
    let longest = report.lanes.iter().map(|lane| lane.name.width()).max().unwrap_or(0).clamp(4, NAME_WIDTH);
    let known = |(_, figure): &Column| kind.keeps_empty || report.lanes.iter().any(|lane| figure(lane) != "-");
    let lay_out = |layout: &Layout| {
        let columns: Vec<Column> =
            all.iter().copied().filter(known).filter(|(heading, _)| !layout.left_out.contains(heading)).collect();
        let cell = |text: String| if layout.groups { text } else { text.replace(',', "") };
        let rows: Vec<Vec<String>> =
            report.lanes.iter().map(|lane| columns.iter().map(|(_, figure)| cell(figure(lane))).collect()).collect();
        let heading = |i: usize| heading(columns[i].0, layout).split('\n').map(str::len).max().unwrap_or(0);
        let widest = |i: usize| rows.iter().map(|row| row[i].len()).max().unwrap_or(0).max(heading(i));
        let figures: usize = (0..columns.len()).map(|i| widest(i) + layout.gap).sum();
        (columns, rows, figures)
    };
    let fits = |layout: &&Layout| 2 + longest.min(NARROWEST_NAME) + lay_out(layout).2 <= width;
    let whole = |layout: &&Layout| 2 + longest + lay_out(layout).2 <= width;
    let last = &layouts[layouts.len() - 1];
    let layout = layouts[..3].iter().find(whole).or_else(|| layouts.iter().find(fits)).unwrap_or(last);
    let (columns, rows, figures) = lay_out(layout);
    let names = width.saturating_sub(2 + figures).clamp(8, longest.max(8));
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let mut head = vec!["lane".to_owned()];
    head.extend(columns.iter().map(|(name, _)| heading(name, layout)));
    table.set_header(head);
    for (lane, row) in report.lanes.iter().zip(rows) {
        let mut cells = vec![fit(&lane.name, names)];
        cells.extend(row);
        table.add_row(cells);
    }
    for i in 1..=columns.len() {
        if let Some(column) = table.column_mut(i) {
            column.set_cell_alignment(CellAlignment::Right);
            column.set_padding((layout.gap as u16, 0));
        }
    }
    if let Some(column) = table.column_mut(0) {
        column.set_padding((2, 0));
    }
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    if !layout.left_out.is_empty() {
        let needed = 2 + longest.min(NARROWEST_NAME) + lay_out(&layouts[2]).2;
        out.push_str(&format!("  without {}: that takes --width {needed}\n", layout.left_out.join(" and ")));
    }
}
