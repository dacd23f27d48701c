//! What the comparison sheets say and draw, counted again from arrivals and decisions.

use super::figures::{draw, embedded, look, number, stated};
use rlsim::faces::svg;
use rlsim::report::{Counts, DecisionKind, Sheet};
use rlsim::scenario::EMBEDDED;
use rlsim::sim::Options;
use roxmltree::Document;

/// Texts of one colour and anchor.
fn texts<'a>(document: &'a Document<'a>, fill: &str, anchor: &str) -> Vec<(f64, f64, &'a str)> {
    let texts = document.descendants().filter(|node| node.tag_name().name() == "text");
    texts
        .filter(|node| node.attribute("fill") == Some(fill) && node.attribute("text-anchor") == Some(anchor))
        .map(|node| (number(node, "x"), number(node, "y"), node.text().unwrap_or("").trim()))
        .collect()
}

/// Points of lines of one colour and width.
fn polylines(document: &Document<'_>, stroke: &str, width: &str) -> Vec<Vec<(i32, i32)>> {
    let lines = document.descendants().filter(|node| node.tag_name().name() == "polyline");
    lines
        .filter(|node| node.attribute("stroke") == Some(stroke) && node.attribute("stroke-width") == Some(width))
        .map(|node| points(node.attribute("points").expect("points")))
        .collect()
}

fn points(text: &str) -> Vec<(i32, i32)> {
    let point = |point: &str| {
        let (x, y) = point.split_once(',').expect("a point");
        (x.parse().expect("a number"), y.parse().expect("a number"))
    };
    text.split_whitespace().map(point).collect()
}

/// Where the close-up begins, less what labels of the whole run reach out.
const BETWEEN_PANELS: f64 = 464.0;

/// The numbers above what was sent add up to what was sent, in each panel.
#[test]
fn numbers_leave_no_arrival_out() {
    for scenario in EMBEDDED.iter().filter(|scenario| !embedded(scenario.name).is_closed_loop()) {
        let (report, sheet) = look(&embedded(scenario.name), Options::default());
        let svg = svg::sheet(&report, &sheet);
        let document = Document::parse(&svg).expect("XML");
        let sum = |within: &dyn Fn(f64) -> bool| -> u64 {
            let numbers = texts(&document, "#16202E", "middle");
            let numbers = numbers.iter().filter(|(x, ..)| within(*x));
            numbers.map(|(_, _, text)| text.replace(',', "").parse::<u64>().expect("a number")).sum()
        };
        if svg.contains("close-up") {
            assert_eq!(sum(&|x| x < BETWEEN_PANELS), sheet.whole.arrivals_within, "{}, whole run", scenario.name);
            assert_eq!(sum(&|x| x > BETWEEN_PANELS), sheet.focus.arrivals_within, "{}, close-up", scenario.name);
        } else {
            assert_eq!(sum(&|_| true), sheet.whole.arrivals_within, "{}", scenario.name);
        }
        assert_eq!(sheet.whole.arrivals_within, report.offered.requests, "{}: the whole run", scenario.name);
    }
}

/// Every label of the time axis is the edge of a column, so that bins end there; and the columns
/// between two hold what was sent between them.
#[test]
fn columns_end_at_the_grid() {
    for scenario in EMBEDDED {
        let closed = embedded(scenario.name).is_closed_loop();
        let (_, sheet) = look(&embedded(scenario.name), Options::default());
        for detail in [&sheet.whole, &sheet.focus] {
            let column = |tick: &rlsim::time::SimTime| {
                (0..=detail.columns).find(|column| detail.edge(*column) == *tick).expect("a column begins there")
            };
            let edges: Vec<usize> =
                [0].into_iter().chain(detail.ticks.iter().map(column)).chain([detail.columns]).collect();
            let sums: Vec<u64> = edges
                .windows(2)
                .map(|pair| match closed {
                    // First attempts are the same for every lane; what lanes decide on, too, is retries.
                    true => detail.lanes[0].requests[pair[0]..pair[1]].iter().map(|counts| counts.first).sum(),
                    false => detail.lanes[0].counts[pair[0]..pair[1]].iter().map(Counts::total).sum(),
                })
                .collect();
            assert_eq!(sums, detail.between_ticks, "{}", scenario.name);
            assert!(detail.columns <= Sheet::COLUMNS);
        }
    }
}

/// In a run of a few nanoseconds the trailing count rises where the arrivals are marked.
#[test]
fn lines_rise_where_arrivals_are_marked() {
    let plan = stated(
        "start = \"2026-01-01T12:00:00Z\"\nlimit = \"3/10ns\"\nduration = \"10ns\"\n[[traffic]]\nsteady = { rate = \"1/2ns\" }\n\
         [[lane]]\nsliding-log = {}\n",
    );
    let svg = draw(&plan, Options::default());
    let document = Document::parse(&svg).expect("XML");
    let rises: Vec<i32> = polylines(&document, "#16202E", "3")
        .iter()
        .filter(|line| line.len() > 4)
        .flat_map(|line| {
            line.windows(2).filter(|pair| pair[1].1 < pair[0].1).map(|pair| (pair[0].0, pair[1].0)).collect::<Vec<_>>()
        })
        .map(|(from, until)| {
            assert_eq!(from, until, "it rises upright");
            from
        })
        .filter(|x| *x > 112)
        .collect();
    // Marks are two units wide; the first two that are not at the edge of the panel.
    let mark = document.descendants().filter(|node| node.attribute("fill") == Some("#004C80")).find_map(|node| {
        let points = points(node.attribute("points")?);
        (points.len() == 12).then(|| points.chunks(4).map(|tooth| (tooth[0].0 + tooth[2].0) / 2).collect::<Vec<_>>())
    });
    let marks: Vec<i32> = mark.expect("three are admitted").into_iter().filter(|x| *x > 112).collect();
    assert_eq!(rises[rises.len() - marks.len()..], marks);
}

/// How much and how long a lane is above the limit, counted again from single changes.
#[test]
fn what_is_above_is_said() {
    let (report, sheet) = look(&embedded("boundary"), Options::default());
    let svg = svg::sheet(&report, &sheet);
    let document = Document::parse(&svg).expect("XML");
    let said: Vec<&str> = texts(&document, "#16202E", "start").into_iter().map(|text| text.2).collect();
    let limit = report.limit.expect("a limit").units;
    let spans = [("fixed-window", "1m"), ("sliding-counter", "58.4s"), ("token-bucket", "59s"), ("gcra", "59s")];
    let mut above = Vec::new();
    for (lane, detail) in report.lanes.iter().zip(&sheet.whole.lanes) {
        // Each admitted arrival counts from its release until a window later.
        let decisions = sheet.whole.arrivals.iter().zip(&detail.decisions);
        let released: Vec<i64> = decisions
            .filter(|(_, decision)| decision.kind != DecisionKind::Deny)
            .map(|(arrival, decision)| arrival.at.nanos() + decision.wait_ns as i64)
            .collect();
        let window = report.limit.expect("a limit").window_ns as i64;
        let mut instants: Vec<i64> = released.iter().flat_map(|at| [*at, at + window]).collect();
        instants.sort_unstable();
        let value = |at: i64| released.iter().filter(|from| (**from..**from + window).contains(&at)).count() as u64;
        let most = instants.iter().map(|at| value(*at)).max().unwrap_or(0);
        let time: i64 = instants.windows(2).filter(|pair| value(pair[0]) > limit).map(|pair| pair[1] - pair[0]).sum();
        if most > limit {
            let (_, span) = spans.iter().find(|(name, _)| *name == lane.name).expect("is above");
            assert_eq!(rlsim::faces::format::duration(time as u128).replace(' ', "").replace("60s", "1m"), *span);
            above.push(format!("up to {} above; {span} in all;", most - limit));
        }
    }
    let found: Vec<&str> = said.into_iter().filter(|text| text.starts_with("up to")).collect();
    assert_eq!(found, above);
}

/// What was denied to each class stands in each lane, as the classes' decisions are.
#[test]
fn classes_are_told_apart() {
    for (name, classes) in [
        ("distributed-abuse", ["honest", "abuse"]),
        ("noisy-neighbour", ["normal", "noisy"]),
        ("health-checks", ["client", "health"]),
    ] {
        let (report, sheet) = look(&embedded(name), Options::default());
        let svg = svg::sheet(&report, &sheet);
        for lane in &report.lanes {
            assert_eq!(lane.classes.iter().map(|class| class.class.as_str()).collect::<Vec<_>>(), classes);
            assert_eq!(lane.classes.iter().map(|class| class.denied).sum::<u64>(), lane.denied);
            for class in &lane.classes {
                let number = |n: u64| rlsim::faces::format::count(u128::from(n));
                let text = format!("{} {} of {}", class.class, number(class.denied), number(class.attempts));
                assert!(svg.contains(&format!("\n{text}\n")), "{name}: {text}");
            }
        }
    }
}

/// What a lane counts that is full at something else than the limit reaches a line that says so.
#[test]
fn states_stand_on_a_scale_of_their_own() {
    let svg = draw(&embedded("idle-then-spike"), Options::default());
    let document = Document::parse(&svg).expect("XML");
    let labels = texts(&document, "#8A2C7A", "end");
    let full = labels.iter().find(|label| label.2 == "10").expect("10 is labelled").1;
    let zero = labels.iter().find(|label| label.2 == "0" && label.1 > full).expect("0 is labelled").1;
    // Labels hang 9 units above the height that they name.
    let (full, zero) = ((full + 9.0) as i32, (zero + 9.0) as i32);
    let states = polylines(&document, "#8A2C7A", "2");
    let reach = |line: &&Vec<(i32, i32)>| {
        line.len() > 4
            && line.iter().all(|point| (full - 1..=zero + 1).contains(&point.1))
            && line.iter().any(|point| point.1 <= full + 1)
    };
    assert!(states.iter().any(|line| reach(&line)), "no line between {full} and {zero}: {states:?}");
    assert!(!svg.contains("full at 10"));
}
