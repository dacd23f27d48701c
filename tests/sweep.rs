//! `rlsim sweep`: a grid of scenarios, its numbers, its errors and what it writes.

use crate::cli::{Ran, folder, rlsim, rlsim_in, write};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

/// Twenty requests in one instant against a bucket that gets a token an hour.
pub const BURST: &str = "title = \"Twenty at once\"\nlimit = \"4/1h\"\n[[traffic]]\nname = \"crowd\"\nburst = { requests = 20 }\n\
                         [[lane]]\nname = \"bucket\"\ntoken-bucket = { rate = \"1/1h\" }\n[[lane]]\nfixed-window = {}\n";

fn with(text: &str) -> TempDir {
    let folder = folder();
    write(&folder, "s.toml", text);
    folder
}

fn sweep(folder: &TempDir, args: &[&str]) -> Ran {
    rlsim_in(folder.path(), &[&["sweep", "s.toml"], args].concat(), b"")
}

fn json(ran: Ran) -> Value {
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("JSON")
}

/// A bucket of b admits b of 20 in one instant: all released at once are b, and refused are 20 - b.
#[test]
fn a_burst_admits_what_the_bucket_holds() {
    let folder = with(BURST);
    let args = ["--vary", "bucket.burst=1,2,4,8,32", "--measure", "peak", "--measure", "denied", "--lane", "bucket"];
    let found = json(sweep(&folder, &[&args[..], &["--json"]].concat()));
    let rows: Vec<(u64, u64, u64)> = found["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| {
            let number = |value: &Value| value.as_u64().expect("a number");
            (number(&row["at"]["bucket.burst"]), number(&row["peak"]), number(&row["denied"]))
        })
        .collect();
    assert_eq!(rows, [(1, 1, 19), (2, 2, 18), (4, 4, 16), (8, 8, 12), (32, 20, 0)]);
    let text = sweep(&folder, &args).clean();
    let table: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(table.contains(&vec!["8", "12"]) && table.contains(&vec!["32", "20"]), "{text}");
}

/// At a rate r for t seconds, a bucket of one admits the first and then one each 1/r: of arrivals each
/// 100 ms, at 1/s the 1st, 11th, 21st ...; over 10 s that is 10 of 100.
#[test]
fn a_grid_of_rates_and_durations() {
    let folder =
        with("limit = \"9/1s\"\nduration = \"1s\"\n[[traffic]]\nsteady = { rate = \"10/1s\" }\n[[lane]]\ngcra = {}\n");
    let args = ["--set", "gcra.burst=1", "--vary", "gcra.rate=1/1s..5/1s:step=1", "--vary", "duration=2s..10s:step=4s"];
    let csv = sweep(&folder, &[&args[..], &["--measure", "allowed", "--format", "csv"]].concat()).clean();
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("gcra.rate,duration,lane,allowed,sweep"));
    let expected: Vec<String> =
        [(1, [2, 6, 10]), (2, [4, 12, 20]), (3, [5, 15, 25]), (4, [7, 20, 34]), (5, [10, 30, 50])]
            .iter()
            .flat_map(|(rate, counts)| {
                ["2s", "6s", "10s"]
                    .iter()
                    .zip(counts)
                    .map(move |(span, count)| format!("{rate}/1s,{span},gcra,{count}"))
            })
            .collect();
    let found: Vec<&str> = lines.map(|line| line.rsplit_once(',').expect("columns").0).collect();
    assert_eq!(found, expected);
    // The first axis goes across, the second down.
    let text = sweep(&folder, &[&args[..], &["--measure", "allowed"]].concat()).clean();
    let row: Vec<&str> =
        text.lines().find(|line| line.trim().starts_with("6s")).expect("a row").split_whitespace().collect();
    assert_eq!(row, ["6s", "6", "12", "15", "20", "30"]);
    assert!(text.contains("changed: gcra.burst=1") && text.contains("gcra: allowed"), "{text}");
}

#[test]
fn entries_of_lists_and_all_lanes_can_be_varied() {
    let folder = with(BURST);
    let peaks = |vary: &str| {
        let found = json(sweep(&folder, &["--vary", vary, "--measure", "denied", "--json"]));
        let rows = found["rows"].as_array().expect("rows").clone();
        rows.iter().map(|row| row["denied"].as_u64().expect("a number")).collect::<Vec<_>>()
    };
    // Refused are requests - 1 and requests - 4, of 10 and of 30.
    for path in
        ["crowd.burst.requests", "traffic.crowd.burst.requests", "traffic.0.requests", "traffic.*.burst.requests"]
    {
        assert_eq!(peaks(&format!("{path}=10,30")), [9, 6, 29, 26], "{path}");
    }
    for path in
        ["bucket.burst", "lane.0.burst", "lane.bucket.token-bucket.burst", "\"bucket\".burst", "*.token-bucket.burst"]
    {
        assert_eq!(peaks(&format!("{path}=2,3")), [18, 16, 17, 16], "{path}");
    }
    for path in ["lane.1.limit", "fixed-window.limit", "*.fixed-window.limit"] {
        assert_eq!(peaks(&format!("{path}=5/1h,6/1h")), [19, 15, 19, 14], "{path}");
    }
    // The same paths can be set.
    let set = rlsim_in(folder.path(), &["run", "s.toml", "--set", "lane.0.burst=7", "--json"], b"");
    assert_eq!(json(set)["lanes"][0]["denied"], 13);
    let set = rlsim_in(folder.path(), &["run", "s.toml", "--set", "*.gcra.burst=7"], b"");
    set.fails(2, &["--set *.gcra.burst", "no lane has `gcra`"]);
}

#[test]
fn a_table_that_some_lanes_lack_is_varied_where_it_is() {
    let text = BURST.replace("token-bucket =", "client = { retry = { fixed = { delay = \"1s\" } } }\ntoken-bucket =");
    let folder = with(&text.replace("limit =", "duration = \"10s\"\nlimit ="));
    let found = json(sweep(&folder, &["--vary", "*.client.max-attempts=1,2", "--json"]));
    assert_eq!(found["rows"].as_array().map(Vec::len), Some(4));
    assert_eq!(found["measures"][2]["name"], "amplification");
    sweep(&folder, &["--vary", "*.backend.servers=1,2"]).fails(2, &["no lane has `backend`", "or `backend.servers`"]);
}

#[test]
fn traffic_may_have_the_name_of_a_table() {
    let folder = with(
        &BURST
            .replace("crowd", "client")
            .replace("limit =", "duration = \"10s\"\nclient = { retry = { fixed = { delay = \"1s\" } } }\nlimit ="),
    );
    let found = json(sweep(&folder, &["--vary", "client.max-attempts=1,2", "--measure", "attempts", "--json"]));
    assert_eq!(found["rows"].as_array().map(Vec::len), Some(4));
    let found = json(sweep(&folder, &["--vary", "client.burst.requests=1,2", "--measure", "attempts", "--json"]));
    assert_eq!(found["rows"].as_array().map(Vec::len), Some(4));
}

#[test]
fn threads_change_nothing() {
    let folder = with("limit = \"5/1s\"\nduration = \"20s\"\n[[traffic]]\npoisson = { rate = \"6/1s\" }\nkeys = 3\n");
    let run = |threads: &str, name: &str| {
        let files = [format!("{name}.csv"), format!("{name}.json"), format!("{name}.svg")];
        let mut args = vec!["--vary", "seed=1..9:step=1", "--vary", "limit=2/1s,5/1s,9/1s", "--threads", threads, "-q"];
        files.iter().for_each(|file| args.extend(["-o", file.as_str()]));
        let text = sweep(&folder, &args).clean();
        let read = |file: &String| fs::read_to_string(folder.path().join(file)).expect("written");
        (text, files.iter().map(read).collect::<Vec<_>>())
    };
    let one = run("1", "one");
    assert_eq!(one, run("2", "two"));
    assert_eq!(one, run("5", "five"));
    // Standard output has the same.
    let args = ["--vary", "seed=1..9:step=1", "--vary", "limit=2/1s,5/1s,9/1s"];
    assert_eq!(sweep(&folder, &[&args[..], &["--format", "csv"]].concat()).clean(), one.1[0]);
    assert_eq!(sweep(&folder, &[&args[..], &["--json"]].concat()).clean(), one.1[1]);
}

/// A point is what a run of the same changes is.
#[test]
fn points_are_runs() {
    let args = ["--vary", "seed=3,4", "--vary", "token-bucket.burst=5,20", "--measure", "fingerprint", "--json"];
    let found = json(rlsim(&[&["sweep", "poisson"], &args[..]].concat()));
    for row in found["rows"].as_array().expect("rows") {
        let (seed, burst) = (row["at"]["seed"].to_string(), row["at"]["token-bucket.burst"].to_string());
        let set = format!("token-bucket.burst={burst}");
        let ran = json(rlsim(&["run", "poisson", "--seed", &seed, "--set", &set, "--json"]));
        let lane = ran["lanes"].as_array().expect("lanes").iter().find(|lane| lane["name"] == row["lane"]);
        assert_eq!(lane.expect("it is there")["fingerprint"], row["fingerprint"]);
    }
}

#[test]
fn figures_that_are_not_there_are_left_out() {
    let folder = with(BURST);
    let ran = sweep(
        &folder,
        &["--vary", "bucket.burst=1,2", "--measure", "wait-ns.p50", "--measure", "same-as", "--format", "csv"],
    );
    assert!(ran.clean().lines().nth(1).expect("a row").starts_with("1,bucket,0,,"));
    // Without a limit there is no peak; at a point with one there is.
    let bare = with("[[traffic]]\nburst = { requests = 5 }\n[[lane]]\ngcra = { rate = \"1/1s\", burst = 2 }\n");
    let found = sweep(&bare, &["--vary", "gcra.burst=1,2", "--format", "csv"]).clean();
    assert!(found.starts_with("gcra.burst,lane,denied,sweep\n"), "{found}");
    let found = sweep(&bare, &["--vary", "limit=1/1s,2/1s", "--measure", "peak.ratio", "--format", "csv"]).clean();
    assert!(found.contains("1/1s,gcra,2,") && found.contains("2/1s,gcra,1,"), "{found}");
    sweep(&bare, &["--vary", "gcra.burst=1,2", "--measure", "peak"]).fails(2, &["--measure", "limit"]);
}

#[test]
fn text_keeps_to_its_width() {
    let folder = with(&BURST.replace("\"bucket\"", "\"a bucket with a rather long name, as some have\""));
    for width in [80_usize, 100, 200] {
        for vary in [
            &["limit=1/1h..20/1h:step=1"][..],
            &["limit=1/1h..20/1h:step=1", "crowd.burst.requests=1..20:step=1"],
            &["limit=1/1h,2/1h", "crowd.burst.requests=1,2", "crowd.burst.over=1s..2s:step=1s"],
        ] {
            let mut args: Vec<&str> = vary.iter().flat_map(|vary| ["--vary", vary]).collect();
            let width_text = width.to_string();
            args.extend(["--width", &width_text]);
            for line in sweep(&folder, &args).clean().lines() {
                assert!(unicode_width::UnicodeWidthStr::width(line) <= width, "{line}");
            }
        }
    }
}

#[test]
fn errors_name_the_argument_and_what_is_accepted() {
    let folder = with(BURST);
    for (vary, words) in [
        ("bucket.burst", &["--vary", "no `=`", "PATH=VALUES", "^"][..]),
        ("bucket.burst=", &["no values", "1,2,4,8", "0s..10s:step=1s"]),
        ("bucket..burst=1", &["a part of the path is empty"]),
        ("bucket.burst=1..8", &["no step and no points", "points=10,log"]),
        ("bucket.burst=1..8:step=0", &["a step of zero", "^^^^^^ zero"]),
        ("bucket.burst=1..8:step=-1", &["goes the wrong way"]),
        ("bucket.burst=8..1:step=1", &["an empty range", "write 1..8"]),
        ("bucket.burst=1..1000000:step=1", &["a range of 1000000 values", "at most 100000"]),
        ("bucket=1,2", &["name what to change of lane `bucket`"]),
        ("*=1,2", &["name what to change of every lane"]),
        ("lane=1,2", &["name which lane to change: bucket, fixed-window"]),
        ("lane.2.burst=1,2", &["a list that ends with entry 1"]),
        ("lane.gcra.burst=1,2", &["`lane` has no `gcra`; there are bucket, fixed-window"]),
        ("traffic.crowds.burst.requests=1", &["`traffic` has no `crowds`; there are crowd"]),
        ("buckets.burst=1,2", &["did you mean `bucket`?", "^^^^^^^ leads nowhere"]),
        ("bucket.brst=1,2", &["s.toml (at bucket.brst=1)", "did you mean `burst`?"]),
        ("bucket.burst=3,2,1,0", &["s.toml (at bucket.burst=0)", "a burst of zero", "^"]),
        ("bucket.rate=1/1h,x", &["(at bucket.rate=x)"]),
    ] {
        let ran = sweep(&folder, &["--vary", vary, "-o", "never.csv"]);
        ran.fails(2, words);
        assert!(!folder.path().join("never.csv").exists(), "{vary}");
    }
    let both = |a: &str, b: &str| sweep(&folder, &["--vary", a, "--vary", b]);
    both("seed=1..1000:step=1", "bucket.burst=1..101:step=1").fails(2, &["1000 x 101 = 101000 points"]);
    both("seed=1,2", "seed=3,4").fails(2, &["`seed` is varied twice"]);
    both("bucket.burst=1,2", "limit=5/1h,0/1s,x").fails(2, &["(at bucket.burst=1, limit=x)"]);
    let one = |more: &[&str]| sweep(&folder, &[&["--vary", "bucket.burst=1,2"], more].concat());
    one(&["--measure", "pek"]).fails(2, &["--measure", "no figure is named `pek`", "did you mean `peak`?"]);
    one(&["--measure", "amplification"]).fails(2, &["closed loop"]);
    one(&["--measure", "peak", "--measure", "peak"]).fails(2, &["twice"]);
    one(&["--lane", "buket"]).fails(2, &["--lane", "did you mean `bucket`?"]);
    one(&["-o", "s.txt"]).fails(2, &[".svg, .json and .csv"]);
    one(&["-o", "a.svg", "--measure", "algorithm"]).fails(2, &["cannot be drawn"]);
    one(&["-o", "a.svg", "--vary", "seed=1,2", "--vary", "limit=1/1h"]).fails(2, &["one or two axes"]);
    one(&["--width", "20"]).fails(2, &["80"]);
    sweep(&folder, &[]).fails(2, &["--vary"]);
    sweep(&folder, &["--vary", "seed=1", "-o", "no/such/f.csv"]).fails(1, &["no/such/f.csv"]);
}

/// Nothing that is read is written over, by whatever path a trace is varied.
#[test]
fn inputs_are_kept() {
    let folder = with("limit = \"2/1s\"\n[[traffic]]\ntrace = { file = \"a.csv\" }\n[[lane]]\ngcra = {}\n");
    write(&folder, "a.csv", "timestamp\n1\n1\n1\n");
    write(&folder, "b.csv", "timestamp\n1\n1\n1\n1\n");
    let args = ["--vary", "trace.trace.file=a.csv,./b.csv", "--measure", "denied"];
    let found = sweep(&folder, &[&args[..], &["--format", "csv"]].concat()).clean();
    assert!(found.contains("a.csv,gcra,1,") && found.contains("./b.csv,gcra,2,"), "{found}");
    sweep(&folder, &[&args[..], &["-o", "b.csv"]].concat()).fails(2, &["b.csv is read by this run"]);
    sweep(&folder, &[&args[..], &["-o", "s.toml"]].concat()).fails(2, &["extension"]);
}

/// A trace from standard input is read once and replayed at every point.
#[test]
fn a_trace_from_standard_input() {
    let folder = with("limit = \"2/1s\"\n[[traffic]]\ntrace = { file = \"-\" }\n[[lane]]\ngcra = {}\n");
    let args = ["sweep", "s.toml", "--vary", "gcra.burst=1,2,3", "--measure", "denied", "--format", "csv"];
    let ran = rlsim_in(folder.path(), &args, b"timestamp\n1\n1\n1\n");
    let denied: Vec<&str> = ran.stdout.lines().skip(1).filter_map(|line| line.split(',').nth(2)).collect();
    assert_eq!(denied, ["2", "1", "0"], "{}", ran.stderr);
}

#[test]
fn pictures_are_well_formed_and_say_what_they_show() {
    let folder = with(BURST);
    let draw = |args: &[&str]| {
        sweep(&folder, &[args, &["-o", "f.svg", "-q"]].concat()).clean();
        fs::read_to_string(folder.path().join("f.svg")).expect("written")
    };
    for (vary, words) in [
        (
            &["bucket.burst=1..1000:points=5,log"][..],
            &["bucket.burst, log scale", "peak (units)", "denied (attempts)", "fixed-window"][..],
        ),
        (&["limit=1/1h,5/1h"], &["1/1h", "5/1h", "bucket"]),
        (&["bucket.token-bucket.initial=full,empty"], &["full", "empty"]),
        (
            &["bucket.burst=1..5:step=1", "crowd.burst.requests=5,10"],
            &["bucket.burst", "crowd.burst.requests", "bucket", "peak (units)"],
        ),
    ] {
        let args: Vec<&str> = vary.iter().flat_map(|vary| ["--vary", vary]).collect();
        let svg = draw(&args);
        let document = roxmltree::Document::parse(&svg).expect("well-formed");
        let root = document.root_element();
        let child = |name: &str| root.children().find(|node| node.has_tag_name(name)).and_then(|node| node.text());
        assert_eq!(child("title"), Some("Twenty at once"));
        assert!(child("desc").is_some_and(|text| text.contains("lanes over") && text.contains("bucket")));
        let text: String =
            document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect();
        for words in words {
            assert!(text.contains(words), "{words}: {text}");
        }
        // 12 pixels and more at the size that is stated.
        for node in document.descendants().filter(|node| node.has_tag_name("text")) {
            let size: f64 = node.attribute("font-size").expect("a size").parse().expect("a number");
            assert!(size / 2.0 >= 12.0, "{size}");
        }
        assert_eq!(root.attribute("width"), Some("900"));
    }
    // Values stand in their cells.
    let svg = draw(&["--vary", "bucket.burst=1,2", "--vary", "crowd.burst.requests=17,18", "--measure", "denied"]);
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let cells: Vec<&str> = document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
    assert!(["15", "16", "17"].iter().all(|value| cells.contains(value)), "{cells:?}");
}

/// Grids of any size can be drawn.
#[test]
fn pictures_of_extreme_grids() {
    let folder = with(BURST);
    for vary in [
        &["seed=7"][..],
        &["seed=7", "limit=1/1h"],
        &["seed=1..300:step=1"],
        &["seed=1..200:step=1", "limit=1/1h,2/1h"],
        &["limit=1/1h,2/1h", "seed=1..200:step=1"],
    ] {
        let args: Vec<&str> = vary.iter().flat_map(|vary| ["--vary", vary]).chain(["-o", "f.svg", "-q"]).collect();
        sweep(&folder, &args).clean();
        let svg = fs::read_to_string(folder.path().join("f.svg")).expect("written");
        roxmltree::Document::parse(&svg).expect("well-formed");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{vary:?}");
    }
}

/// Deployments and faults: a wildcard reaches the lanes that have the table, a fault goes by its number
/// or, where it is the only one, by its kind.
#[test]
fn deployments_and_faults_can_be_varied() {
    let folder = with(
        "limit = \"10/1s\"\nduration = \"20s\"\n[[traffic]]\nsteady = { rate = \"40/1s\" }\n\
         [[lane]]\nname = \"central\"\ntoken-bucket = {}\n\
         deployment = { central = { replicas = 2, round-trip = \"1ms\", timeout = \"10ms\", on-failure = \"open\" } }\n\
         [[lane]]\nname = \"hybrid\"\ntoken-bucket = {}\ndeployment = { hybrid = { replicas = 4, sync = { every = \"1s\" } } }\n\
         [[lane]]\nname = \"alone\"\ntoken-bucket = {}\n\
         [[fault]]\nstore-down = { from = \"2s\", until = \"3s\" }\n[[fault]]\nrestart = { replica = 0, at = \"9s\" }\n",
    );
    let allowed = |vary: &str, lane: &str| {
        let found = json(sweep(&folder, &["--vary", vary, "--measure", "allowed", "--lane", lane, "--json"]));
        let rows = found["rows"].as_array().expect("rows").clone();
        rows.iter().map(|row| row["allowed"].as_u64().expect("a number")).collect::<Vec<_>>()
    };
    let by_kind = allowed("fault.store-down.until=3s..6s:step=1s", "central");
    assert_eq!(by_kind, allowed("fault.0.store-down.until=3s..6s:step=1s", "central"));
    // Every second without a store lets through forty instead of ten.
    assert!(by_kind.windows(2).all(|pair| (25..=35).contains(&(pair[1] - pair[0]))), "{by_kind:?}");
    let every = allowed("*.deployment.hybrid.sync.every=100ms,1s,5s", "hybrid");
    assert!(every[0] != every[1] && every[1] != every[2], "{every:?}");
    let alone = allowed("*.deployment.hybrid.sync.every=100ms,1s,5s", "alone");
    assert!(alone[0] == alone[1] && alone[1] == alone[2], "{alone:?}");
    for (vary, words) in [
        ("fault.flush.at=1s", "no fault `flush`; there are store-down, restart"),
        ("fault.2.flush.at=1s", "ends with entry 1"),
        ("*.deployment.local.replicas=1,2", "no lane has `deployment.local`"),
    ] {
        sweep(&folder, &["--vary", vary]).fails(2, &[words, "--vary"]);
    }
}
