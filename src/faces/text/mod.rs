//! The report as text: offer, verdict, strips, table, and what happened.

mod comeback;
mod deployed;
mod paper;
mod refused;
mod replications;
mod spans;
mod story;
mod strip;
mod sweep;
mod table;

pub use paper::paper;
pub use replications::replications;
pub use story::{story, verdict};
pub use sweep::sweep;

use super::format::{Clock, count, date, duration, padded, title};
use crate::report::Report;
use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

/// How text is laid out.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// Columns of the terminal; at least 80 are used.
    pub width: usize,
    /// Whether to colour it.
    pub color: bool,
}

/// The narrowest layout.
const MIN_WIDTH: usize = 80;

/// Styles of the parts of a text.
#[derive(Clone, Copy)]
struct Styles {
    title: Style,
    dim: Style,
    admitted: Style,
    delayed: Style,
    denied: Style,
    over: Style,
}

impl Styles {
    fn new(color: bool) -> Self {
        let plain = Style::new();
        if !color {
            return Self { title: plain, dim: plain, admitted: plain, delayed: plain, denied: plain, over: plain };
        }
        Self {
            title: plain.bold(),
            dim: plain.dimmed(),
            admitted: AnsiColor::Blue.on_default(),
            delayed: AnsiColor::Yellow.on_default(),
            denied: AnsiColor::Red.on_default(),
            over: AnsiColor::Red.on_default().bold(),
        }
    }
}

/// A text in a style; nothing is added to it in the plain one.
fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// The report as text, ending in a line feed.
#[must_use]
pub fn text(report: &Report, options: TextOptions) -> String {
    let width = options.width.max(MIN_WIDTH);
    let styles = Styles::new(options.color);
    let mut out = String::new();
    for line in textwrap::wrap(&title(report), wrapping(width, "")) {
        out.push_str(&styled(styles.title, &line));
        out.push('\n');
    }
    paragraph(&mut out, &offer(report), width, "");
    for note in notes(report) {
        paragraph(&mut out, &note, width, "");
    }
    out.push('\n');
    paragraph(&mut out, &verdict(report), width, "");
    if report.offered.requests > 0 {
        out.push('\n');
        strip::strips(&mut out, report, width, &styles);
        out.push('\n');
        let fleet = report.lanes.iter().any(|lane| lane.fleet.is_some());
        let tables = [&table::DECISIONS, &table::DEPLOYED];
        // Where something goes wrong, what came of it comes first.
        let tables = if deployed::has_faults(report) { [tables[1], tables[0]] } else { tables };
        for kind in tables.into_iter().filter(|kind| fleet || !std::ptr::eq(*kind, &table::DEPLOYED)) {
            table::table(&mut out, report, width, kind);
            if std::ptr::eq(kind, &table::DEPLOYED) {
                paragraph(&mut out, &deployed::legend(report), width, "  ");
            }
            if fleet {
                out.push('\n');
            }
        }
        if fleet && out.ends_with("\n\n") {
            out.pop();
        }
        if report.lanes.iter().any(|lane| lane.closed.is_some()) {
            out.push('\n');
            table::table(&mut out, report, width, &table::REQUESTS);
            paragraph(&mut out, &legend(report), width, "  ");
        }
    }
    section(&mut out, "Most released in any span of this length, of its bound", spans::spans(report, width), &styles);
    out.push('\n');
    out.push_str(&styled(styles.title, "What happened"));
    out.push('\n');
    for sentence in story(report) {
        paragraph(&mut out, &sentence, width, "  ");
    }
    section(&mut out, "Replicas: admitted of what they met", deployed::replicas(report, width), &styles);
    section(&mut out, "Most refused", refused::refused(report, width), &styles);
    out.push('\n');
    out.push_str(&styled(styles.title, "Settings"));
    out.push('\n');
    settings(&mut out, report, width, &styles);
    out
}

/// A section with a heading, if there is anything in it.
fn section(out: &mut String, heading: &str, lines: Vec<String>, styles: &Styles) {
    if lines.is_empty() {
        return;
    }
    out.push('\n');
    out.push_str(&styled(styles.title, heading));
    out.push('\n');
    for line in lines {
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// Lines of a width with an indent; names with hyphens stay whole.
fn wrapping(width: usize, indent: &str) -> textwrap::Options<'_> {
    textwrap::Options::new(width)
        .initial_indent(indent)
        .subsequent_indent(indent)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
}

/// Wraps a paragraph with an indent.
fn paragraph(out: &mut String, text: &str, width: usize, indent: &str) {
    for line in textwrap::wrap(text, wrapping(width, indent)) {
        out.push_str(&line);
        out.push('\n');
    }
}

/// What the table of requests shows.
fn legend(report: &Report) -> String {
    let bin = report.lanes.iter().find_map(|lane| lane.closed.as_ref()).map_or(0, |closed| closed.metric_bin_ns);
    format!(
        "each: attempts a request; done: answered in time; last: from the first attempt to the last of these; p50, p99: time to that of all requests; recovered: from when on neither retries outnumber first attempts nor failures answers; clumps: variance over mean of attempts in {}, 1 if they know nothing of each other (a first burst counts, too)",
        span(bin)
    )
}

/// How many of something, with its plural.
pub(super) fn plural(n: u128, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{} {one}s", count(n)) }
}

/// What was offered, in one line.
fn offer(report: &Report) -> String {
    let offered = &report.offered;
    let mut parts = vec![plural(u128::from(offered.requests), "request")];
    if let Some(clients) = population(report) {
        // What they make later depends on the lane.
        parts[0].push_str(&format!(" at first, {} of a closed population", plural(u128::from(clients), "client")));
    }
    if offered.cost != offered.requests {
        parts[0].push_str(&format!(" costing {}", plural(u128::from(offered.cost), "unit")));
    }
    let mut keys = plural(u128::from(offered.keys), "key");
    if !offered.keyed.is_empty() {
        keys.push_str(&format!(" ({})", offered.keyed));
    }
    parts.push(keys);
    if let (Some(first), Some(last)) = (offered.first_ns, offered.last_ns) {
        let clock = Clock::for_span(report, first, last).precise();
        let day = date(report.instant(first));
        let (first, last) = (clock.time(report.instant(first)), clock.time(report.instant(last)));
        // A run without a date of its own starts with the epoch: that date says nothing.
        let (day, zone) = match &*day {
            "1970-01-01" if !clock.shows_date() => (String::new(), ""),
            _ if clock.shows_date() => (String::new(), " UTC"),
            _ => (day + " ", " UTC"),
        };
        parts.push(if first == last {
            format!("all at {day}{first}{zone}")
        } else {
            format!("{day}{first} to {last}{zone}")
        });
    }
    parts.push(match &report.limit {
        Some(limit) => format!("limit {} per {}", count(u128::from(limit.units)), span(limit.window_ns)),
        None => "no limit stated".to_owned(),
    });
    if report.input.is_empty() {
        parts.push(format!("seed {}", report.seed));
    }
    parts.join(", ")
}

/// How many clients there are that make one request after another.
fn population(report: &Report) -> Option<u64> {
    let traffic = report.scenario.get("traffic")?.as_array()?;
    let counts = traffic.iter().filter_map(|entry| entry.pointer("/clients/count")?.as_u64());
    Some(counts.sum()).filter(|clients| *clients > 0)
}

/// A configured span as it is written in a scenario.
pub(super) fn span(nanos: u64) -> String {
    crate::time::SimDuration::from_nanos(nanos).to_string()
}

/// What a reader must know of how the input was treated.
fn notes(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    for input in &report.input {
        if input.order != "strict" {
            notes.push(format!("{}: rows {} by time", input.file, input.order));
        }
        if input.bad > 0 {
            let mut note = format!("{}: {} left out", input.file, plural(u128::from(input.bad), "bad row"));
            if let Some(first) = input.first_bad.first() {
                note.push_str(&format!(", first line {}: {}", first.line, first.reason));
            }
            notes.push(note);
        }
    }
    let faults = report.scenario.get("fault").and_then(|faults| faults.as_array());
    let told: Vec<String> = faults.into_iter().flatten().map(inline).collect();
    if !told.is_empty() {
        notes.push(format!("what goes wrong: {}", told.join("; ")));
    }
    if report.limit.is_none() {
        notes.push("no limit stated, so there is no peak and no sliding log to measure against".to_owned());
    }
    notes.extend(report.warnings.iter().map(|warning| format!("note: {warning}")));
    notes
}

/// Every lane's parameters, resolved.
fn settings(out: &mut String, report: &Report, width: usize, styles: &Styles) {
    let names = report.lanes.iter().map(|lane| lane.name.width()).max().unwrap_or(0).min(strip::NAME_WIDTH);
    for (i, lane) in report.lanes.iter().enumerate() {
        let mut knobs = vec![];
        if lane.name != lane.algorithm {
            knobs.push(lane.algorithm.to_owned());
        }
        if let Some(spec) = lane.spec.as_object() {
            knobs.extend(spec.iter().map(|(knob, value)| format!("{knob} {}", plain(value))));
        }
        if lane.key != "key" {
            knobs.push(format!("by {}", lane.key));
        }
        if !lane.exempt.is_empty() {
            knobs.push(format!("exempt {}", lane.exempt.join(" and ")));
        }
        if let Some(tick) = lane.clock_resolution_ns {
            knobs.push(format!("clock-resolution {}", span(tick)));
        }
        for part in ["deployment", "client", "response", "backend"] {
            let stated = report.scenario.pointer(&format!("/lane/{i}/{part}"));
            knobs.extend(stated.map(|stated| format!("{part} {}", inline(stated))));
        }
        let name = padded(&lane.name, names);
        if knobs.is_empty() {
            knobs.push("admits nothing".to_owned());
        }
        let indent = " ".repeat(names + 4);
        let text = knobs.join(", ");
        for (i, line) in textwrap::wrap(&text, wrapping(width, &indent)).iter().enumerate() {
            if i == 0 {
                out.push_str(&format!("  {name}  {}\n", styled(styles.dim, line.trim_start())));
            } else {
                out.push_str(&format!("{}\n", styled(styles.dim, line)));
            }
        }
    }
}

/// A table in a line: `(retry exponential (base 1s, jitter full), round-trip 0s)`.
fn inline(value: &serde_json::Value) -> String {
    let Some(table) = value.as_object() else { return plain(value) };
    let parts: Vec<String> = table
        .iter()
        .map(|(key, value)| match value.as_object() {
            Some(knobs) if knobs.is_empty() => key.clone(),
            _ => format!("{key} {}", inline(value)),
        })
        .collect();
    match &parts[..] {
        [one] => one.clone(),
        parts => format!("({})", parts.join(", ")),
    }
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The wait as it stands in a table.
fn wait(nanos: Option<u64>) -> String {
    match nanos {
        None | Some(0) => "-".to_owned(),
        Some(nanos) => duration(u128::from(nanos)),
    }
}
