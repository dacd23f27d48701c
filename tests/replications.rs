//! Many runs of one plan: their means, their intervals, the conditions that sort them.

use crate::cli::{folder, rlsim, rlsim_in, write};
use crate::simulate::{plan, try_plan};
use rlsim::report::Replications;
use rlsim::runner::{Extras, replicate, run};
use rlsim::sim::Options;

const CLOSED: &str = "seed = 7\nduration = \"30s\"\nlimit = \"5/1s\"\nclient = { retry = { exponential = { base = \"100ms\", cap = \"5s\", jitter = \"full\" } }, max-attempts = 4 }\n\
     backend = { service = { exponential = \"100ms\" }, timeout = \"1s\" }\n\
     conditions = { calm = \"goodput[5s..15s] >= 4/s\", busy = \"attempts > 8/s\", late = \"throughput[20s..] < 5/s\" }\n\
     [[traffic]]\npoisson = { rate = \"6/1s\" }\nkeys = 3\n[[lane]]\ntoken-bucket = {}\n[[lane]]\nfixed-window = {}\n";

fn many(text: &str, runs: u64, threads: usize) -> Replications {
    replicate(&plan(text), runs, Options { threads, ..Options::default() }, &|_| true).expect("it runs")
}

#[test]
fn threads_change_nothing() {
    let json = |threads| serde_json::to_string(&many(CLOSED, 12, threads)).expect("plain data");
    assert_eq!(json(1), json(2));
    assert_eq!(json(1), json(5));
}

#[test]
fn means_are_those_of_the_single_runs() {
    let found = many(CLOSED, 8, 2);
    assert_eq!((found.runs, found.first_seed), (8, 7));
    let single = |seed: u64| {
        let text = CLOSED.replace("seed = 7", &format!("seed = {seed}"));
        run(&plan(&text), Options::default(), Extras::default(), &mut |_| true).expect("it runs").report
    };
    let reports: Vec<_> = (7..15).map(single).collect();
    for (i, lane) in found.lanes.iter().enumerate() {
        let closed = || reports.iter().map(|report| report.lanes[i].closed.as_ref().expect("a closed loop"));
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / 8.0;
        let near = |name: &str, expected: f64| {
            let estimate = lane.figure(name).expect(name);
            assert!((estimate.mean - expected).abs() < 1e-9 * expected.max(1.0), "{name}");
            assert!(estimate.low <= estimate.mean && estimate.mean <= estimate.high && estimate.runs == 8);
        };
        near("attempts", mean(reports.iter().map(|report| report.lanes[i].attempts as f64).collect()));
        near("denied", mean(reports.iter().map(|report| report.lanes[i].denied as f64).collect()));
        near(
            "peak",
            mean(reports.iter().map(|report| report.lanes[i].peak.as_ref().expect("a limit").units as f64).collect()),
        );
        near("succeeded", mean(closed().map(|closed| closed.succeeded as f64).collect()));
        near("amplification", mean(closed().filter_map(|closed| closed.amplification).collect()));
        near("drain_ns", mean(closed().filter_map(|closed| closed.drain_ns.map(|ns| ns as f64)).collect()));
        let busy = lane.condition("busy").expect("stated");
        let above = reports.iter().filter(|report| report.lanes[i].attempts > 8 * 30).count() as u64;
        assert_eq!((busy.met, busy.condition.as_str()), (above, "attempts[0s..30s] > 8/1s"));
        assert!(busy.low <= busy.share && busy.share <= busy.high);
    }
}

/// Ten a second from 5 s on, each answered 100 ms later: every edge falls on an event.
#[test]
fn conditions_count_exactly() {
    let found = |condition: &str| {
        let text = format!(
            "duration = \"20s\"\nlimit = \"100/1s\"\nclient = {{}}\nbackend = {{ service = \"100ms\" }}\n\
             conditions = {{ it = \"{condition}\" }}\n[[traffic]]\nfrom = \"5s\"\nsteady = {{ rate = \"10/1s\" }}\n[[lane]]\ngcra = {{}}\n"
        );
        let found = many(&text, 2, 1);
        let it = found.lanes[0].condition("it").expect("stated").clone();
        (it.met == 2, it.rate_per_s.mean)
    };
    assert_eq!(found("attempts[5s..6s] >= 10/s"), (true, 10.0));
    assert_eq!(found("attempts[..5s] > 0/s"), (false, 0.0));
    assert_eq!(found("goodput[5s..5100ms] > 0/s"), (false, 0.0));
    assert_eq!(found("goodput[5100ms..5101ms] >= 1000/s"), (true, 1000.0));
    assert_eq!(found("goodput[5s..6s] < 10/s"), (true, 9.0));
    assert_eq!(found("throughput[10s..] <= 10/1s"), (true, 10.0));
    // A quarter of the run is silent: 7.5 a second, to the last attempt.
    assert_eq!(found("attempts > 15/2s"), (false, 7.5));
    assert_eq!(found("attempts >= 15/2s"), (true, 7.5));
}

#[test]
fn open_loops_have_figures_too() {
    let found = many("limit = \"10/1s\"\nduration = \"9s\"\n[[traffic]]\npoisson = { rate = \"12/1s\" }\n", 10, 2);
    assert_eq!(found.lanes.len(), 6);
    for lane in &found.lanes {
        let mean = |name: &str| lane.figure(name).expect(name).mean;
        assert!((mean("attempts") - mean("allowed") - mean("delayed") - mean("denied")).abs() < 1e-9);
        assert!(mean("attempts") > 80.0 && lane.conditions.is_empty());
    }
    assert!(try_plan("limit = \"1/1s\"\nduration = \"1s\"\nconditions = { a = \"attempts > 1/s\" }\n[[traffic]]\nsteady = { rate = \"1/1s\" }\n").is_err());
}

#[test]
fn a_resolved_plan_keeps_its_conditions() {
    let first = plan(CLOSED);
    let text = toml::to_string_pretty(&first.resolved()).expect("plain data");
    assert_eq!(plan(&text).conditions, first.conditions);
}

#[test]
fn many_runs_are_printed_and_written() {
    let folder = folder();
    write(&folder, "s.toml", CLOSED);
    let ran = rlsim_in(folder.path(), &["run", "s.toml", "--runs", "6", "-q"], b"");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for words in ["6 runs, seeds 7 to 12", "attempts a request", "runs calm", "late: throughput[20s..30s] < 5/1s"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    let json: serde_json::Value =
        serde_json::from_str(&rlsim_in(folder.path(), &["run", "s.toml", "--runs", "6", "--json"], b"").stdout)
            .expect("JSON");
    let lane = &json["replications"]["lanes"][0];
    assert_eq!(json["replications"]["runs"], 6);
    assert!(lane["figures"]["attempts"]["mean"].as_f64() > Some(100.0) && lane["conditions"][0]["share"].is_number());
    // One run is as it was before, and says where conditions are.
    let one = rlsim_in(folder.path(), &["run", "s.toml", "--json"], b"");
    assert!(!one.stdout.contains("replications\":{") && one.stderr.contains("--runs"));
    rlsim(&["run", "boundary", "--runs", "3", "--tui"]).fails(2, &["--runs"]);
    rlsim(&["run", "boundary", "--runs", "3", "--format", "csv"]).fails(2, &["--runs"]);
    // Nor do a sheet and a log, which are of one run.
    let folder = tempfile::tempdir().expect("a folder");
    for output in [["-o", "x.svg"], ["--decisions", "-"], ["--decisions", "x.csv"]] {
        let ran = rlsim_in(folder.path(), &[&["run", "boundary", "--runs", "3"][..], &output].concat(), b"");
        ran.fails(2, &["one run", "--runs"]);
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing is written");
    rlsim(&["run", "boundary", "--runs", "1"]).fails(2, &["2"]);
}

/// A trace that can be read only once is kept for all runs.
#[test]
fn a_trace_from_standard_input_is_read_for_every_run() {
    let folder = folder();
    write(&folder, "s.toml", "limit = \"2/1s\"\n[[traffic]]\ntrace = { file = \"-\" }\n[[lane]]\ngcra = {}\n");
    let ran = rlsim_in(folder.path(), &["run", "s.toml", "--runs", "3", "--json"], b"timestamp\n1\n1\n1\n2\n");
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    let attempts = &json["replications"]["lanes"][0]["figures"]["attempts"];
    assert_eq!((attempts["mean"].as_f64(), attempts["deviation"].as_f64()), (Some(4.0), Some(0.0)));
}
