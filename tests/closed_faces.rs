//! Closed loops: what close looks and comparison sheets show is what the report says.

use super::figures::{MOST_BYTES, check, draw, look, number, stated};
use proptest::prelude::*;
use rlsim::faces::svg;
use rlsim::report::{Counts, LaneDetail, LaneReport, RequestCounts};
use rlsim::runner::{self, Closeup, Extras};
use rlsim::scenario::Plan;
use rlsim::sim::Options;
use rlsim::time::SimTime;
use roxmltree::{Document, Node};

/// A crowd behind one key that comes back in seven ways.
pub const STORM: &str = r#"
title = "A storm"
limit = "10/1s"
[[traffic]]
name = "client"
burst = { requests = 200 }
keys = 200
groups = { service = 1 }
[[lane]]
name = "fixed 1s"
key = "service"
token-bucket = { initial = "empty" }
client = { retry = { fixed = { delay = "1s" } } }
[[lane]]
name = "full jitter"
key = "service"
token-bucket = { initial = "empty" }
client = { retry = { exponential = { base = "1s", cap = "60s", jitter = "full" } }, max-attempts = 6 }
[[lane]]
name = "next token"
key = "service"
token-bucket = { initial = "empty" }
response = { retry-after = "exact" }
client = { retry = { retry-after = {} } }
[[lane]]
name = "reserved"
key = "service"
token-bucket = { initial = "empty" }
response = { retry-after = "reserved" }
client = { retry = { retry-after = {} } }
"#;

/// A backend that stands still for ten seconds, before a long queue and a short one.
pub const STALL: &str = r#"
duration = "200s"
limit = "100/1s"
[[traffic]]
steady = { rate = "3/1s" }
[[lane]]
name = "queue of 1000"
gcra = {}
client = { retry = { immediate = {} }, max-attempts = 4 }
backend = { servers = 1, service = "100ms", queue = 1000, overflow = "drop", timeout = "2s", stall = { from = "20s", until = "30s" } }
[[lane]]
name = "queue of 15"
gcra = {}
client = { retry = { immediate = {} }, max-attempts = 4 }
backend = { servers = 1, service = "100ms", queue = 15, overflow = "drop", timeout = "2s", stall = { from = "20s", until = "30s" } }
"#;

/// Two lanes of clients drawn at random.
fn scenario(rate: u64, retry: &str, attempts: u64, seed: u64) -> Plan {
    stated(&format!(
        "seed = {seed}\nduration = \"30s\"\nlimit = \"5/1s\"\n\
         [[traffic]]\npoisson = {{ rate = \"{rate}/1s\" }}\nkeys = 7\ngroups = {{ service = 1 }}\n\
         [[lane]]\nkey = \"service\"\nfixed-window = {{}}\nresponse = {{ retry-after = \"exact\" }}\n\
         client = {{ retry = {{ {retry} }}, max-attempts = {attempts}, round-trip = \"20ms\" }}\n\
         [[lane]]\nleaky-bucket = {{}}\nclient = {{ retry = {{ fixed = {{ delay = \"300ms\" }} }}, deadline = \"4s\" }}\n\
         backend = {{ servers = 2, service = {{ exponential = \"150ms\" }}, queue = 20, timeout = \"1s\", \
         brown-out = {{ from = \"9s\", until = \"12s\", factor = 0.25 }} }}\n"
    ))
}

fn total(lane: &LaneDetail) -> (u64, RequestCounts) {
    let mut requests = lane.requests_before;
    lane.requests.iter().for_each(|counts| requests += *counts);
    let attempts = lane.before.total() + lane.counts.iter().map(Counts::total).sum::<u64>();
    (attempts, requests)
}

fn reported(lane: &LaneReport) -> (u64, RequestCounts) {
    let closed = lane.closed.as_ref().expect("a closed loop");
    let requests = RequestCounts { first: closed.first_attempts, good: closed.succeeded, gave_up: closed.gave_up };
    (lane.attempts, requests)
}

#[test]
fn a_sheet_holds_every_attempt_and_every_answer() {
    for text in [STORM, STALL] {
        let (report, sheet) = look(&stated(text), Options::default());
        for (lane, detail) in report.lanes.iter().zip(&sheet.whole.lanes) {
            assert_eq!(total(detail), reported(lane), "{}", lane.name);
            // What lies before the close-up and in it was counted by the whole run, too.
            let (close, i) = (&sheet.focus, report.lanes.iter().position(|other| other.name == lane.name).unwrap_or(0));
            let at = |at: SimTime| {
                let passed = (0..=sheet.whole.columns).take_while(|column| sheet.whole.edge(*column) <= at).count() - 1;
                let mut sum = detail.requests_before;
                detail.requests[..passed].iter().for_each(|counts| sum += *counts);
                (sum, sheet.whole.edge(passed) == at)
            };
            let (before, exact) = at(close.from);
            assert!(!exact || before == close.lanes[i].requests_before, "{}", lane.name);
        }
    }
}

#[test]
fn a_sheet_shows_where_a_backend_stands_still() {
    let (report, sheet) = look(&stated(STALL), Options::default());
    for detail in [&sheet.whole, &sheet.focus] {
        for lane in &detail.lanes {
            let seconds = |at: SimTime| at.since(report.start).nanos() / 1_000_000_000;
            let slow: Vec<_> =
                lane.slow.iter().map(|slow| (seconds(slow.from), seconds(slow.until), slow.speed)).collect();
            assert_eq!(slow, [(20, 30, 0.0)]);
        }
    }
    let svg = svg::sheet(&report, &sheet);
    assert!(svg.contains("the backend stands still"));
    let document = Document::parse(&svg).expect("XML");
    let shades = rects(&document, "#C6CCD4");
    // Two panels of two lanes, and the sign in the legend.
    assert_eq!(shades.len(), 5);
    let (whole, close) = (shades[1], shades[2]);
    assert!(whole.1 - whole.0 < close.1 - close.0);
}

/// From where to where rectangles of one colour lie.
fn rects(document: &Document<'_>, fill: &str) -> Vec<(f64, f64)> {
    let rects = document.descendants().filter(|node| node.tag_name().name() == "rect");
    let of = |node: &Node<'_, '_>| node.attribute("fill") == Some(fill);
    rects.filter(of).map(|node| (number(node, "x"), number(node, "x") + number(node, "width"))).collect()
}

fn description(svg: &str) -> String {
    let document = Document::parse(svg).expect("XML");
    let node = document.descendants().find(|node| node.tag_name().name() == "desc").expect("a description");
    node.text().expect("words").to_owned()
}

#[test]
fn the_description_says_what_the_report_does() {
    let (report, sheet) = look(&stated(STORM), Options::default());
    let text = description(&svg::sheet(&report, &sheet));
    for lane in &report.lanes {
        let closed = lane.closed.as_ref().expect("a closed loop");
        let start = text.find(&format!("{} (", lane.name)).expect("every lane is described");
        let sentence = &text[start..start + text[start..].find(". ").unwrap_or(text.len() - start)];
        let says = |words: String| assert!(sentence.contains(&words), "no `{words}`: {sentence}");
        let grouped = |n: u64| rlsim::faces::format::count(u128::from(n));
        let (attempts, first) = (grouped(lane.attempts), closed.first_attempts);
        says(format!("{attempts} attempts, {first} first and {} retries", grouped(lane.retries)));
        says(format!("{} admitted, {} denied", grouped(lane.admitted()), grouped(lane.denied)));
        says(format!("{} answered in time, {} gave up", closed.succeeded, closed.gave_up));
        says(format!("{} attempts a request", rlsim::faces::format::decimal(closed.amplification.expect("some"))));
    }
    assert!(text.contains("drained in 20s, 1.00x ideal") && text.contains("goodput"), "{text}");
    assert!(!text.contains("requests denied"), "{text}");
    // 200 at once, which find the bucket empty; then 200, 190, ... 10, a second apart.
    assert!(text.contains("clients come back after 1s") && text.contains("2300 attempts"), "{text}");
}

#[test]
fn the_captions_are_the_highest_bars() {
    let (report, sheet) = look(&stated(STORM), Options::default());
    let svg = svg::sheet(&report, &sheet);
    let document = Document::parse(&svg).expect("XML");
    let texts = document.descendants().filter(|node| node.tag_name().name() == "text");
    let captions = texts.filter_map(|node| node.text()).map(str::trim);
    let captions: Vec<&str> = captions.filter(|text| text.starts_with("most ")).collect();
    assert!(svg.contains("close-up,") && captions.len() == 2 * report.lanes.len(), "{captions:?}");
    for (i, lane) in report.lanes.iter().enumerate() {
        // A bar is at least two units wide, in panels of these widths.
        for (detail, width, caption) in [(&sheet.whole, 330, captions[2 * i]), (&sheet.focus, 690, captions[2 * i + 1])]
        {
            let step = detail.columns.div_ceil(width / 2);
            let bars = detail.lanes[i].counts.chunks(step);
            let most = bars.map(|bar| bar.iter().map(Counts::total).sum::<u64>()).max().expect("columns");
            let count = caption.split(' ').nth(1).expect("a number").replace(',', "");
            assert_eq!(count.parse(), Ok(most), "{}: {caption}", lane.name);
        }
    }
}

#[test]
fn sheets_of_closed_loops_can_be_read() {
    let many: String = (0..12)
        .map(|i| {
            format!(
                "[[lane]]\nname = \"lane {i:-<50}\"\ngcra = {{}}\nclient = {{ retry = {{ sdk = {{ name = \"aws-standard-1.44\" }} }} }}\n"
            )
        })
        .collect();
    let crowd = "limit = \"5/1s\"\nduration = \"20s\"\n[[traffic]]\npoisson = { rate = \"20/1s\" }\ncost = 3\n";
    let never = "limit = \"0/1s\"\nduration = \"9s\"\n[[traffic]]\nsteady = { rate = \"2/1s\" }\n\
         [[lane]]\ngcra = {}\nclient = { retry = { fixed = { delay = \"1s\" } } }\n";
    let free = "duration = \"9s\"\n[[traffic]]\nsteady = { rate = \"2/1s\" }\n\
         [[lane]]\ngcra = { rate = \"1/1s\", burst = 1 }\nclient = { retry = { fixed = { delay = \"1s\" } } }\n";
    let quiet = "limit = \"9/1s\"\nduration = \"9s\"\n[[traffic]]\nsteady = { rate = \"2/1s\" }\nfrom = \"20s\"\n\
         [[lane]]\ngcra = {}\nclient = { retry = { fixed = { delay = \"1s\" } } }\n";
    let crowd = format!("{crowd}{many}");
    for (name, text) in
        [("storm", STORM), ("stall", STALL), ("many", &crowd), ("never", never), ("free", free), ("quiet", quiet)]
    {
        let drawn = draw(&stated(text), Options::default());
        check(name, &drawn);
        assert!(drawn.len() < MOST_BYTES, "{name}: {} bytes", drawn.len());
    }
}

#[test]
fn threads_change_no_byte_of_a_closed_loop() {
    let plan = stated(STORM);
    let one = draw(&plan, Options::default());
    assert!(draw(&plan, Options { threads: 4, batch: 16, ..Options::default() }) == one);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// A look whose columns are the report's own bins counts what they count; one key after the other
    /// adds up to all; and the sheet can be read.
    #[test]
    fn looks_count_what_the_report_counts(
        rate in 1_u64..12,
        retry in prop::sample::select(vec!["immediate = {}", "retry-after = {}", "fixed = { delay = \"1s\" }",
            "exponential = { base = \"100ms\", cap = \"2s\", jitter = \"full\" }"]),
        attempts in 1_u64..6,
        seed in 0_u64..1_000,
    ) {
        let plan = scenario(rate, retry, attempts, seed);
        let outcome = runner::run(&plan, Options::default(), Extras::default(), &mut |_| true).expect("it runs");
        for (i, lane) in outcome.report.lanes.iter().enumerate() {
            let closed = lane.closed.as_ref().expect("a closed loop");
            let timeline = &closed.loop_timeline;
            let columns = timeline.first.len();
            let from = outcome.report.start;
            let until = SimTime::from_nanos(from.nanos() + timeline.bin_ns as i64 * columns as i64);
            let look = |key| {
                let closeup = Closeup { from, until, columns, keep: 0, key };
                let detail = runner::detail(&plan, &outcome, closeup, Options::default(), &mut || true);
                detail.expect("it runs again").lanes.swap_remove(i)
            };
            let all = look(None);
            let first: Vec<u64> = all.requests.iter().map(|requests| requests.first).collect();
            let good: Vec<u64> = all.requests.iter().map(|requests| requests.good).collect();
            prop_assert_eq!(&first, &timeline.first);
            prop_assert_eq!(&good, &timeline.good);
            let retries: Vec<u64> = all.counts.iter().zip(&first).map(|(all, first)| all.total() - first).collect();
            prop_assert_eq!(&retries, &timeline.retries);
            // Who gives up after everything else has happened does so beyond the last bin.
            let ((sent, ends), (attempts, requests)) = (total(&all), reported(lane));
            prop_assert_eq!((sent, ends.first, ends.good), (attempts, requests.first, requests.good));
            prop_assert!(ends.gave_up <= requests.gave_up);
            let mut sum = vec![RequestCounts::default(); columns];
            for (_, key, _) in &outcome.index.busiest {
                sum.iter_mut().zip(&look(Some(*key)).requests).for_each(|(sum, counts)| *sum += *counts);
            }
            prop_assert_eq!(&sum, &all.requests);
        }
        check("a closed loop", &draw(&plan, Options::default()));
    }
}
