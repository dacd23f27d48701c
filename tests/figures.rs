//! The comparison sheets: byte for byte those of `output/`, and fit to be read.
//!
//! `RLSIM_BLESS=1 cargo test figures` writes `output/` anew.

use rlsim::faces::svg;
use rlsim::report::{Counts, DecisionKind, Extent, LaneDetail, Report, Sheet};
use rlsim::runner::{self, Extras};
use rlsim::scenario::{EMBEDDED, Plan, ScenarioSource};
use rlsim::sim::Options;
use roxmltree::{Document, Node};
use std::fs;

/// A figure is shown at this many pixels a unit, and texts are at least this high there.
const SMALLEST_TEXT: f64 = 12.0;
/// Pixels at which it is measured.
const SHOWN_WIDTH: f64 = 900.0;
/// Bytes of a sheet with six lanes, whatever the traffic.
pub const MOST_BYTES: usize = 300_000;

pub fn look(plan: &Plan, options: Options) -> (Report, Sheet) {
    let outcome = runner::run(plan, options, Extras::default(), &mut |_| true).expect("runs");
    let sheet = runner::sheet(plan, &outcome, options, &mut || true).expect("runs again");
    (outcome.report, sheet)
}

pub fn draw(plan: &Plan, options: Options) -> String {
    let (report, sheet) = look(plan, options);
    svg::sheet(&report, &sheet)
}

pub fn embedded(name: &str) -> Plan {
    ScenarioSource::load(name).and_then(|source| Plan::new(&source, &[])).expect("a scenario of ours")
}

fn source(text: &str) -> ScenarioSource {
    ScenarioSource {
        name: "figure.toml".to_owned(),
        text: text.to_owned(),
        folder: "tests/data".into(),
        embedded: false,
    }
}

pub fn stated(text: &str) -> Plan {
    Plan::new(&source(text), &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn the_sheet_of_every_scenario_is_the_committed_one() {
    let bless = std::env::var_os("RLSIM_BLESS").is_some();
    for scenario in EMBEDDED {
        let path = format!("output/{}.svg", scenario.name);
        let drawn = draw(&embedded(scenario.name), Options::default());
        if bless {
            fs::create_dir_all("output").and_then(|()| fs::write(&path, &drawn)).expect("output/ can be written");
        }
        let committed = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(drawn == committed, "{path} is not what is drawn now; RLSIM_BLESS=1 writes it anew");
    }
}

#[test]
fn threads_and_batches_change_no_byte() {
    for name in ["boundary", "noisy-neighbour"] {
        let plan = embedded(name);
        let one = draw(&plan, Options { batch: 4096, ..Options::default() });
        for options in [
            Options { threads: 8, batch: 4096, group_from: 0 },
            Options { batch: 1, ..Options::default() },
            Options::default(),
        ] {
            assert!(draw(&plan, options) == one, "{name} with {options:?}");
        }
    }
}

#[test]
fn every_sheet_can_be_read() {
    for scenario in EMBEDDED {
        check(scenario.name, &draw(&embedded(scenario.name), Options::default()));
    }
}

/// What is unusual: no arrivals, no limit, a limit of zero, many lanes, long names, long spans.
#[test]
fn unusual_sheets_can_be_read() {
    let long = "an uncommonly talkative title ".repeat(12);
    let lanes: String =
        (0..45).map(|i| format!("[[lane]]\nname = \"lane {i:-<54}\"\ngcra = {{ burst = {} }}\n", i + 1)).collect();
    let start = "start = \"2026-03-01T23:58:30Z\"\n";
    let steady = "[[traffic]]\nsteady = { rate = \"6/1m\" }\n";
    for (name, text) in [
        (
            "empty",
            "limit = \"100/1m\"\nduration = \"1m\"\n[[traffic]]\nsteady = { rate = \"1/1m\" }\nfrom = \"5m\"\n".to_owned(),
        ),
        ("no limit", format!("duration = \"3m\"\n{steady}[[lane]]\nleaky-bucket = {{ rate = \"2/1m\", capacity = 3 }}\n")),
        ("limit of zero", format!("limit = \"0/1m\"\nduration = \"3m\"\n{steady}")),
        ("two days", format!("{start}limit = \"5/1m\"\nduration = \"3m\"\n{steady}")),
        ("thirty days", format!("{start}limit = \"5/1h\"\nduration = \"30d\"\n{}", steady.replace("6/1m", "100/1d"))),
        ("all at once", "limit = \"10/1s\"\nduration = \"3s\"\n[[traffic]]\nburst = { requests = 50 }\n".to_owned()),
        (
            "a century",
            "limit = \"10/1d\"\nduration = \"50000d\"\n[[traffic]]\nsteady = { rate = \"1/500d\" }\n\
             [[traffic]]\nburst = { requests = 99, at = \"40000d\" }\n"
                .to_owned(),
        ),
        ("nothing denied", format!("limit = \"100/1m\"\nduration = \"9m\"\n{steady}")),
        ("many lanes", format!("title = \"{long}\"\nabout = \"{long}\"\nlimit = \"50/1m\"\nduration = \"3m\"\n{steady}{lanes}")),
        (
            "far above",
            "limit = \"7/1m\"\nduration = \"3m\"\n[[traffic]]\nsteady = { rate = \"9/1s\" }\ncost = 3\nkeys = 3\n\
             [[lane]]\nfixed-window = { limit = \"1000000/1s\" }\n[[lane]]\nleaky-bucket = { mode = \"meter\", compare = \"before\" }\n"
                .to_owned(),
        ),
        (
            "nine thousand",
            "limit = \"100/1m\"\nduration = \"5m\"\n[[traffic]]\nburst = { requests = 9000, at = \"1m\", over = \"1m\" }\n"
                .to_owned(),
        ),
        ("nanoseconds", "limit = \"3/10ns\"\nduration = \"10ns\"\n[[traffic]]\nsteady = { rate = \"1/2ns\" }\n".to_owned()),
        (
            "one arrival",
            format!("limit = \"9/1m\"\n[[traffic]]\nburst = {{ requests = 1, at = \"1s\" }}\n[[lane]]\nname = \"{}\"\ngcra = {{}}\n", "数の制限".repeat(15)),
        ),
        (
            "huge costs",
            format!(
                "title = \"{long}\"\nlimit = \"1_000_000_000_000/1m\"\nduration = \"3m\"\n\
                 [[traffic]]\nburst = {{ requests = 2000, at = \"59s\", over = \"2s\" }}\ncost = 987_654_303\n\
                 [[lane]]\nfixed-window = {{}}\n[[lane]]\ntoken-bucket = {{}}\n[[lane]]\nfixed-window = {{ limit = \"9_000_000_000_000_000/1m\" }}\n"
            ),
        ),
        (
            "many classes",
            (0..7).fold("limit = \"5/1m\"\nduration = \"3m\"\n".to_owned(), |text, class| {
                text + &format!("[[traffic]]\nclass = \"class {class:->40}\"\nsteady = {{ rate = \"6/1m\" }}\n")
            }),
        ),
        (
            "hostile",
            "title = \"<script>&amp;]]> \\\"quoted\\\"\"\nabout = \"<b>'\"\nlimit = \"2/1m\"\nduration = \"3m\"\n\
             [[traffic]]\nname = \"</text><x a='\\\"'>&\"\nkeys = 2\nsteady = { rate = \"6/1m\" }\n\
             [[lane]]\nname = \"<&>'\\\"\"\nfixed-window = {}\n[[lane]]\nname = \"数の制限 ограничение\"\ngcra = {}\n"
                .to_owned(),
        ),
    ] {
        let mut plan = stated(&text);
        if name == "hostile" {
            // No scenario can have such a title, but a report is whatever it is made of.
            plan.title.push_str("\u{1}\u{85}");
        }
        check(name, &draw(&plan, Options::default()));
    }
}

/// Keys of a trace may hold any bytes.
#[test]
fn hostile_keys_are_escaped() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut csv = b"time,key\n".to_vec();
    for second in 0..40 {
        csv.extend_from_slice(format!("{second},").as_bytes());
        csv.extend_from_slice(if second % 2 == 0 { b"<b>&'\x01\x1b[31m\xff" } else { b"</text>" });
        csv.push(b'\n');
    }
    fs::write(folder.path().join("hostile.csv"), csv).expect("can be written");
    let mut source =
        source("limit = \"5/1m\"\n[[traffic]]\ntrace = { file = \"hostile.csv\", time = \"time\", key = \"key\" }\n");
    source.folder = folder.path().to_owned();
    let plan = Plan::new(&source, &[]).expect("valid");
    let svg = draw(&plan, Options::default());
    check("hostile keys", &svg);
    assert!(
        svg.contains("&lt;b&gt;&amp;") && svg.contains("\\x01") && svg.contains("\\xff"),
        "the key is shown escaped"
    );
}

/// Numbers below a bound, the same in every run.
pub fn noise() -> impl FnMut(u64) -> u64 {
    let mut state = 1_u64;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

/// As much of everything as can be.
pub fn any_counts(random: &mut impl FnMut(u64) -> u64) -> Counts {
    Counts { allowed: random(999_999), delayed: random(999_999), denied: random(999_999) }
}

/// Puts noise in every column of a lane.
pub fn scramble(lane: &mut LaneDetail, random: &mut impl FnMut(u64) -> u64) {
    lane.counts.iter_mut().for_each(|counts| *counts = any_counts(random));
    for extent in lane.trailing.iter_mut().chain(&mut lane.level) {
        let (a, b) = (random(200) as f64, random(200) as f64);
        *extent = Extent { min: a.min(b), max: a.max(b), last: a };
    }
}

/// Six lanes with as much in every column as can be.
#[test]
fn no_traffic_makes_a_sheet_large() {
    let plan = stated("limit = \"100/1m\"\nduration = \"10m\"\n[[traffic]]\npoisson = { rate = \"200/1s\" }\n");
    let (report, mut sheet) = look(&plan, Options::default());
    let drawn = svg::sheet(&report, &sheet);
    check("120,000 arrivals", &drawn);
    assert!(drawn.len() < MOST_BYTES, "{} bytes", drawn.len());

    let mut random = noise();
    for detail in [&mut sheet.whole, &mut sheet.focus] {
        detail.lanes.iter_mut().for_each(|lane| scramble(lane, &mut random));
    }
    let drawn = svg::sheet(&report, &sheet);
    check("noise", &drawn);
    assert!(drawn.len() < MOST_BYTES, "{} bytes", drawn.len());
    assert!(elements(&drawn) < 1_000, "{} elements", elements(&drawn));
}

/// As many single marks as are drawn, in six lanes that delay or deny most of them.
#[test]
fn marks_are_few() {
    let lanes = "[[lane]]\nleaky-bucket = {}\n".repeat(6);
    let text = format!("limit = \"100/1m\"\nduration = \"240s\"\n[[traffic]]\nsteady = {{ rate = \"1/1s\" }}\n{lanes}");
    let drawn = draw(&stated(&text), Options::default());
    assert!(drawn.len() < MOST_BYTES, "{} bytes", drawn.len());
    assert!(elements(&drawn) < 2_500, "{} elements", elements(&drawn));
}

fn elements(svg: &str) -> usize {
    let document = Document::parse(svg).expect("XML");
    document.descendants().filter(Node::is_element).count()
}

/// The checks find what they look for.
#[test]
fn faults_are_found() {
    let svg = draw(&embedded("boundary"), Options::default());
    check("sound", &svg);
    let text = |name: &str| {
        let end = svg.find(name).expect("is there");
        let start = svg[..end].rfind("<text").expect("is in a text");
        &svg[start..end + svg[end..].find("</text>").expect("ends") + "</text>".len()]
    };
    let (lane, score) = (text("\nsliding-log\n"), text("\n1.00x\n"));
    for (fault, changed) in [
        ("small", svg.replace("font-size=\"24\"", "font-size=\"22\"")),
        ("twice", svg.replacen(lane, &format!("{lane}{}", lane.replace("sliding", "gliding")), 1)),
        ("cut off", svg.replacen(score, &score.replace("x=\"1", "x=\"17"), 1)),
        ("pale", svg.replacen(lane, &lane.replace("fill=\"#16202E\"", "fill=\"#9AA5B1\""), 1)),
        ("unnamed", svg.replacen("<title", "<other", 1).replacen("</title", "</other", 1)),
    ] {
        assert!(changed != svg, "{fault}: nothing changed");
        assert!(std::panic::catch_unwind(|| check(fault, &changed)).is_err(), "{fault} is not found");
    }
}

/// The trailing count and the log's own state, counted again from single decisions.
#[test]
fn lines_are_those_of_the_decisions() {
    for (name, log) in [("boundary", "sliding-log"), ("window-edges", "log exclusive")] {
        let (report, sheet) = look(&embedded(name), Options::default());
        let window = i64::try_from(report.limit.expect("a limit").window_ns).expect("short");
        let arrivals = &sheet.whole.arrivals;
        assert_eq!(arrivals.len() as u64, report.offered.requests, "{name}: all are kept");
        for (detail, part) in [(&sheet.whole, "whole"), (&sheet.focus, "focus")] {
            for (i, lane) in detail.lanes.iter().enumerate() {
                // Each admitted arrival counts from its release until a window later.
                let decisions = arrivals.iter().zip(&sheet.whole.lanes[i].decisions);
                let spans: Vec<(i64, i64, u64)> = decisions
                    .filter(|(_, decision)| decision.kind != DecisionKind::Deny)
                    .map(|(arrival, decision)| {
                        let released = arrival.at.nanos() + decision.wait_ns as i64;
                        (released, released + window, arrival.cost)
                    })
                    .collect();
                let mut changes: Vec<i64> = spans.iter().flat_map(|(from, until, _)| [*from, *until]).collect();
                changes.sort_unstable();
                changes.dedup();
                let at = |instant: i64| -> u64 {
                    spans.iter().filter(|(from, until, _)| (*from..*until).contains(&instant)).map(|s| s.2).sum()
                };
                for (column, extent) in lane.trailing.iter().enumerate() {
                    let (from, until) = (detail.edge(column).nanos(), detail.edge(column + 1).nanos());
                    let within = changes.iter().copied().filter(|change| (from + 1..until).contains(change));
                    let values: Vec<u64> = std::iter::once(from).chain(within).map(at).collect();
                    let expected = Extent {
                        min: *values.iter().min().expect("one at least") as f64,
                        max: *values.iter().max().expect("one at least") as f64,
                        last: at(until - 1) as f64,
                    };
                    assert_eq!(*extent, expected, "{name}, {part}, {}, column {column}", report.lanes[i].name);
                    if report.lanes[i].name == log {
                        assert_eq!(lane.level[column].last, expected.last, "{name}, {part}, {log}, column {column}");
                    }
                }
            }
        }
    }
}

/// The highest point of a lane's line is the lane's peak.
#[test]
fn lines_rise_to_the_peak() {
    for scenario in EMBEDDED {
        let (report, sheet) = look(&embedded(scenario.name), Options::default());
        for (lane, detail) in report.lanes.iter().zip(&sheet.whole.lanes) {
            let highest = detail.trailing.iter().map(|extent| extent.max).fold(0.0, f64::max);
            let peak = lane.peak.as_ref().map_or(0, |peak| peak.units);
            assert_eq!(highest, peak as f64, "{}, {}", scenario.name, lane.name);
        }
    }
}

/// A text on the sheet, in its units.
struct Label<'a> {
    text: &'a str,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    color: &'a str,
}

/// The width of a text in a common sans-serif, roughly, in its size.
fn width(text: &str, bold: bool) -> f64 {
    let of = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.29,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '-' | '/' | '\\' => 0.37,
        'm' | 'w' | 'M' | 'W' | '%' | '&' | '@' => 0.9,
        c if c.is_ascii_uppercase() => 0.68,
        c if c.is_ascii() => 0.58,
        c if c as u32 > 0x2E80 => 1.0,
        _ => 0.62,
    };
    text.chars().map(of).sum::<f64>() * if bold { 1.1 } else { 1.0 }
}

pub fn number(node: Node<'_, '_>, name: &str) -> f64 {
    let text = node.attribute(name).unwrap_or_else(|| panic!("{} without {name}", node.tag_name().name()));
    text.parse().unwrap_or_else(|_| panic!("{name}=\"{text}\""))
}

/// What every sheet must be.
pub fn check(name: &str, svg: &str) {
    let document = Document::parse(svg).unwrap_or_else(|error| panic!("{name}: {error}"));
    let root = document.root_element();
    assert_eq!(root.attribute("role"), Some("img"), "{name}");
    let named = root.attribute("aria-labelledby").expect("labelled");
    let ids: Vec<&str> = root.children().filter_map(|child| child.attribute("id")).collect();
    assert_eq!(named, ids.join(" "), "{name}: title and description come first and name the picture");
    for tag in ["title", "desc"] {
        let text = root.children().find(|child| child.has_tag_name(("http://www.w3.org/2000/svg", tag)));
        assert!(text.and_then(|node| node.text()).is_some_and(|text| !text.trim().is_empty()), "{name}: no {tag}");
    }
    let view: Vec<f64> =
        root.attribute("viewBox").expect("a viewBox").split(' ').map(|n| n.parse().expect("a number")).collect();
    let (right, bottom) = (view[2], view[3]);
    assert!((number(root, "width") / number(root, "height") - right / bottom).abs() < 0.001, "{name}: distorted");

    let labels = labels(&document);
    let scale = SHOWN_WIDTH / right;
    for label in &labels {
        let high = (label.bottom - label.top) * scale;
        assert!(high >= SMALLEST_TEXT - 1e-6, "{name}: `{}` is {high} pixels high", label.text);
        let inside = label.left >= 0.0 && label.right <= right && label.top >= 0.0 && label.bottom <= bottom;
        assert!(inside, "{name}: `{}` is cut off", label.text);
        assert!(!label.text.chars().any(char::is_control), "{name}: `{}`", label.text);
    }
    for (i, a) in labels.iter().enumerate() {
        for b in &labels[i + 1..] {
            // Ascenders and descenders seldom meet: the middle two thirds of a line are its own.
            let slack = (a.bottom - a.top).min(b.bottom - b.top) / 3.0;
            let apart =
                a.right <= b.left || b.right <= a.left || a.bottom - slack <= b.top || b.bottom - slack <= a.top;
            assert!(apart, "{name}: `{}` stands on `{}`", a.text, b.text);
        }
    }
    contrast(name, &document, &labels);
    for polygon in document.descendants().filter(|node| node.has_attribute("points")) {
        let points = polygon.attribute("points").unwrap_or_default().split_whitespace();
        for point in points {
            let (x, y) = point.split_once(',').expect("a point");
            let (x, y): (f64, f64) = (x.parse().expect("a number"), y.parse().expect("a number"));
            assert!((0.0..=right).contains(&x) && (0.0..=bottom).contains(&y), "{name}: {point} is off the sheet");
        }
    }
}

fn labels<'a>(document: &'a Document<'a>) -> Vec<Label<'a>> {
    let texts = document.descendants().filter(|node| node.tag_name().name() == "text");
    texts
        .map(|node| {
            let text = node.text().unwrap_or("").trim();
            let size = number(node, "font-size");
            let wide = width(text, node.attribute("font-weight") == Some("bold")) * size;
            let x = number(node, "x");
            let left = match node.attribute("text-anchor") {
                Some("start") => x,
                Some("middle") => x - wide / 2.0,
                Some("end") => x - wide,
                other => panic!("`{text}` is anchored {other:?}"),
            };
            assert_eq!(node.attribute("dy"), Some("0.76em"), "`{text}` hangs from its top");
            let top = number(node, "y");
            Label {
                text,
                left,
                right: left + wide,
                top,
                bottom: top + size,
                color: node.attribute("fill").unwrap_or(""),
            }
        })
        .collect()
}

/// Relative luminance of `#RRGGBB`, as WCAG defines it.
fn luminance(color: &str) -> f64 {
    let channel = |range| {
        let value = u8::from_str_radix(&color[range], 16).expect("a colour");
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(1..3) + 0.7152 * channel(3..5) + 0.0722 * channel(5..7)
}

/// Every text has a contrast of at least 4.5 to the last rectangle drawn below it.
fn contrast(name: &str, document: &Document<'_>, labels: &[Label<'_>]) {
    let rects: Vec<(f64, f64, f64, f64, &str)> = document
        .descendants()
        .filter(|node| node.tag_name().name() == "rect")
        .map(|node| {
            let (x, y) = (number(node, "x"), number(node, "y"));
            (x, y, x + number(node, "width"), y + number(node, "height"), node.attribute("fill").unwrap_or("#FFFFFF"))
        })
        .collect();
    for label in labels {
        let (x, y) = ((label.left + label.right) / 2.0, (label.top + label.bottom) / 2.0);
        let below = rects
            .iter()
            .rfind(|(left, top, right, bottom, _)| (*left..*right).contains(&x) && (*top..*bottom).contains(&y));
        let paper = below.map_or("#FFFFFF", |rect| rect.4);
        let (a, b) = (luminance(label.color) + 0.05, luminance(paper) + 0.05);
        let ratio = a.max(b) / a.min(b);
        assert!(ratio >= 4.5, "{name}: `{}` has a contrast of {ratio:.2} on {paper}", label.text);
    }
}
