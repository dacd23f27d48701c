//! The program as it is typed: standard output, standard error and status together.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// What a run of the program left.
#[derive(Debug)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub status: i32,
}

/// Runs the program in the project's folder.
pub fn rlsim(args: &[&str]) -> Ran {
    rlsim_in(Path::new(env!("CARGO_MANIFEST_DIR")), args, b"")
}

pub fn rlsim_in(folder: &Path, args: &[&str], input: &[u8]) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rlsim"))
        .args(args)
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .env_remove("COLUMNS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that does not read its input closes it: that is no failure of the test.
    let _ = child.stdin.take().expect("piped").write_all(input);
    let output = child.wait_with_output().expect("the program ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program writes UTF-8");
    Ran {
        stdout: text(output.stdout),
        stderr: text(output.stderr),
        status: output.status.code().expect("the program was not killed"),
    }
}

impl Ran {
    /// It succeeded and said nothing on standard error.
    #[track_caller]
    pub fn clean(self) -> String {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""), "{}", self.stdout);
        self.stdout
    }

    /// It failed with this status, wrote nothing, and said all this.
    #[track_caller]
    pub fn fails(self, status: i32, words: &[&str]) {
        assert_eq!(self.status, status, "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "");
        for words in words {
            assert!(self.stderr.contains(words), "`{words}` is not in: {}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked") && !self.stderr.contains("RUST_BACKTRACE"), "{}", self.stderr);
    }
}

pub fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

pub fn write(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("written");
    path
}

#[test]
fn alone_it_prints_three_commands_to_copy() {
    let text = rlsim(&[]).clean();
    assert_eq!(text.lines().filter(|line| line.starts_with("  rlsim ")).count(), 3);
}

#[test]
fn the_boundary_is_explained() {
    let text = rlsim(&["run", "scenarios/boundary.toml"]).clean();
    // 100 requests in the last second before 12:00:00 and 100 in the first after it.
    for words in [
        "A fixed window lets twice the limit through at its edge",
        "200 requests, 1 key, 2026-01-01 11:59:59.000 to 12:00:00.990 UTC, limit 100 per 1m, seed 1",
        "fixed-window let 2.00x through and refused 0",
        "part at arrival 101 (12:00:00.000",
        "fixed-window releases 200 requests within 1m from 11:59:59.000, 2.00x the limit",
        "leaky-bucket admits the same 103 as token-bucket and gcra",
        "the longest 59.4 s",
    ] {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(words), "`{words}` is not in: {text}");
    }
    assert_eq!(rlsim(&["run", "boundary"]).clean(), text, "the embedded scenario is the same");
}

#[test]
fn text_keeps_to_its_width() {
    for scenario in rlsim::scenario::EMBEDDED {
        for width in [80_usize, 100, 133, 200] {
            let text = rlsim(&["run", scenario.name, "--width", &width.to_string()]).clean();
            for line in text.lines() {
                let columns = unicode_width::UnicodeWidthStr::width(line);
                assert!(columns <= width, "{columns} columns in {} at {width}: {line}", scenario.name);
            }
        }
    }
}

#[test]
fn colour_only_where_it_is_wanted() {
    assert!(!rlsim(&["run", "boundary"]).clean().contains('\x1b'), "a pipe is not coloured");
    let colored = rlsim(&["run", "boundary", "--color", "always"]).clean();
    assert!(colored.contains("\x1b["));
    // Without its escapes, the coloured text is the plain one.
    let mut plain = String::new();
    let mut rest = colored.as_str();
    while let Some(at) = rest.find('\x1b') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = &rest[rest.find('m').expect("an escape ends") + 1..];
    }
    plain.push_str(rest);
    assert_eq!(plain, rlsim(&["run", "boundary"]).clean());
}

#[test]
fn json_has_the_contract_fields() {
    let text = rlsim(&["run", "boundary", "--json"]).clean();
    assert_eq!(text, rlsim(&["run", "boundary", "--format", "json"]).clean());
    let report: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
    for field in
        ["schema", "rlsim", "title", "changed", "seed", "start", "limit", "scenario", "input", "offered", "lanes"]
    {
        assert!(report.get(field).is_some(), "{field}");
    }
    assert_eq!(report["start"], "2026-01-01T11:59:00Z");
    assert_eq!(report["limit"], serde_json::json!({ "units": 100, "window_ns": 60_000_000_000_u64 }));
    let offered = &report["offered"];
    assert_eq!((&offered["requests"], &offered["keys"], &offered["peak"]), (&200.into(), &1.into(), &200.into()));
    assert_eq!((&offered["first_ns"], &offered["last_ns"]), (&59_000_000_000_u64.into(), &60_990_000_000_u64.into()));
    for lane in report["lanes"].as_array().expect("lanes") {
        for field in [
            "name",
            "algorithm",
            "spec",
            "requests",
            "attempts",
            "retries",
            "allowed",
            "delayed",
            "denied",
            "unfinished",
            "cost_offered",
            "cost_admitted",
            "peak",
            "envelope",
            "false_denials",
            "false_admissions",
            "wait_ns",
            "state",
            "keys_denied",
            "top_denied",
            "classes",
            "timeline",
            "same_as",
            "fingerprint",
        ] {
            assert!(lane.get(field).is_some(), "{field}");
        }
        let sum = |field: &str| -> u64 {
            lane["timeline"][field].as_array().expect("bins").iter().filter_map(serde_json::Value::as_u64).sum()
        };
        for field in ["allowed", "delayed", "denied"] {
            assert_eq!(Some(sum(field)), lane[field].as_u64(), "the timeline holds every decision");
        }
        assert_eq!(lane["fingerprint"].as_str().map(str::len), Some(16));
    }
    assert_eq!(report["lanes"][5]["same_as"], "token-bucket");
}

#[test]
fn csv_has_a_row_a_lane() {
    let text = rlsim(&["run", "boundary", "--format", "csv"]).clean();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let denied = header.iter().position(|name| name == "denied").expect("a column");
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("valid CSV");
    let denied: Vec<&str> = rows.iter().map(|row| &row[denied]).collect();
    assert_eq!(denied, ["0", "100", "99", "97", "97", "97"]);
}

#[test]
fn decisions_are_a_row_a_lane_and_attempt() {
    let folder = folder();
    let ran = rlsim_in(folder.path(), &["run", "boundary", "--decisions", "all.csv"], b"");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, "wrote all.csv\n"));
    let text = fs::read_to_string(folder.path().join("all.csv")).expect("written");
    assert!(text.starts_with(
        "arrival,time_ns,lane,key,attempt,cost,decision,wait_ns,retry_after_ns,remaining,next_ns,full_ns\n"
    ));
    assert_eq!(text.lines().count(), 1 + 200 * 6);
    // At 12:00:00 the log is full with the last second's hundred; the first leaves at 12:00:59.
    assert!(text.contains("\n101,60000000000,sliding-log,client,1,1,deny,,59000000000,0,59000000000,59990000000\n"));
    assert!(text.contains("\n101,60000000000,fixed-window,client,1,1,allow,,,99,60000000000,60000000000\n"));
    assert_eq!(rlsim(&["run", "boundary", "--decisions", "-"]).clean(), text);
}

#[test]
fn files_are_written_by_their_extension() {
    let folder = folder();
    let ran = rlsim_in(folder.path(), &["run", "boundary", "-o", "a.json", "-o", "b.csv", "-o", "c.svg"], b"");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, "wrote a.json\nwrote b.csv\nwrote c.svg\n"));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
    assert_eq!(read("a.json"), rlsim(&["run", "boundary", "--json"]).clean());
    assert_eq!(read("b.csv"), rlsim(&["run", "boundary", "--format", "csv"]).clean());
    assert!(read("c.svg").starts_with("<svg"));
    let quiet = rlsim_in(folder.path(), &["run", "boundary", "-q", "-o", "a.json"], b"");
    assert_eq!(quiet.stderr, "");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 3, "nothing else is left behind");
}

#[test]
fn a_failed_run_leaves_files_alone() {
    let folder = folder();
    let kept = write(&folder, "kept.json", "precious");
    let trace = write(&folder, "t.csv", "timestamp,key\n1,a\nnonsense,b\n");
    let (kept, trace) = (kept.display().to_string(), trace.display().to_string());
    let args = ["replay", &trace, "--limit", "5/1s", "-o", &kept, "--decisions", &format!("{kept}.csv")];
    rlsim(&args).fails(1, &["t.csv:3:"]);
    assert_eq!(fs::read_to_string(&kept).expect("still there"), "precious");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "nothing half-written is left");
}

#[cfg(unix)]
#[test]
fn symbolic_links_and_permissions_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let real = write(&folder, "real.json", "old");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("allowed");
    std::os::unix::fs::symlink("real.json", folder.path().join("link.json")).expect("linked");
    let ran = rlsim_in(folder.path(), &["run", "boundary", "-q", "-o", "link.json"], b"");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(fs::symlink_metadata(folder.path().join("link.json")).expect("there").file_type().is_symlink());
    assert!(fs::read_to_string(&real).expect("there").starts_with('{'));
    assert_eq!(fs::metadata(&real).expect("there").permissions().mode() & 0o777, 0o640);
}

#[test]
fn outputs_that_contradict_are_usage_errors() {
    rlsim(&["run", "boundary", "--decisions", "-", "--json"]).fails(2, &["standard output"]);
    rlsim(&["run", "boundary", "-o", "x.png"]).fails(2, &[".svg, .json and .csv"]);
    rlsim(&["run", "boundary", "-o", "-"]).fails(2, &["--format"]);
    rlsim(&["run", "boundary", "-o", "no/such/folder/x.json"]).fails(1, &["cannot write no/such/folder/x.json"]);
    rlsim(&["run", "boundary", "-o", "x.json", "-o", "x.json"]).fails(2, &["named twice"]);
    rlsim(&["run", "boundary", "--tui", "--json"]).fails(2, &["--tui"]);
    rlsim(&["run", "boundary", "--width", "20"]).fails(2, &["80"]);
    rlsim(&["run", "boundary", "--threads", "0"]).fails(2, &["at least one"]);
    rlsim(&["run", "boundary", "--json", "--format", "csv"]).fails(2, &["--json"]);
}

#[test]
fn unknown_words_are_usage_errors_with_a_hint() {
    rlsim(&["rum"]).fails(2, &["run"]);
    rlsim(&["run"]).fails(2, &["FILE"]);
    rlsim(&["run", "bundary"]).fails(2, &["did you mean `boundary`?"]);
    rlsim(&["run", "boundary", "--algorithm", "token-buket"]).fails(2, &["did you mean `token-bucket`?"]);
    rlsim(&["run", "boundary", "--set", "nonsense"]).fails(2, &["PATH=VALUE"]);
    rlsim(&["run", "boundary", "--set", "nowhere.burst=5"]).fails(2, &["no lane", "token-bucket"]);
    rlsim(&["run", "boundary", "--set", "token-bucket.brust=5"]).fails(2, &["did you mean `burst`?"]);
    rlsim(&["run", "boundary", "--limit", "100"]).fails(2, &["does not say per what time"]);
    rlsim(&["explain", "nonsense"]).fails(2, &["token-bucket"]);
    rlsim(&["show", "nonsense"]).fails(2, &["boundary"]);
}

#[test]
fn changes_are_said_and_expectations_are_skipped() {
    let ran = rlsim(&["run", "boundary", "--set", "token-bucket.burst=10", "--seed", "7"]);
    assert_eq!(ran.status, 0);
    assert!(ran.stdout.contains("(changed:"), "{}", ran.stdout);
    assert!(ran.stdout.contains("token-bucket.burst=10"));
    assert!(ran.stderr.contains("expectations are not checked"));
    // With a burst of ten: 10 + floor(1.99 s x 100 / 60 s) = 13 pass.
    let report: serde_json::Value =
        serde_json::from_str(&rlsim(&["run", "boundary", "-q", "--json", "--set", "token-bucket.burst=10"]).clean())
            .expect("valid JSON");
    assert_eq!(report["lanes"][3]["allowed"], 13);
    assert_eq!(report["changed"], serde_json::json!(["token-bucket.burst=10"]));
}

#[test]
fn algorithms_can_be_chosen() {
    let text = rlsim(&["run", "boundary", "-q", "--format", "csv", "--algorithm", "gcra,fixed-window"]).clean();
    let lanes: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(lanes, ["gcra", "fixed-window"]);
}

#[test]
fn an_unmet_expectation_is_status_three_and_a_line() {
    let folder = folder();
    let scenario = "limit = \"5/1s\"\n[[traffic]]\nburst = { requests = 8 }\n[expect.gcra]\ndenied = 2\nallowed = 5\n";
    let path = write(&folder, "s.toml", scenario).display().to_string();
    let ran = rlsim(&["run", &path]);
    assert_eq!((ran.status, ran.stderr.as_str()), (3, "unmet: gcra.denied is 3, expected 2\n"));
    let ran = rlsim(&["test", &path]);
    assert_eq!(ran.status, 3);
    assert!(ran.stdout.contains("FAIL") && ran.stdout.contains("gcra.denied is 3, expected 2"), "{}", ran.stdout);
    let ran = rlsim(&["test", "--format", "junit", &path]);
    assert_eq!(ran.status, 3);
    assert!(ran.stdout.contains("<failure") && ran.stdout.contains("failures=\"1\""), "{}", ran.stdout);
}

#[test]
fn tests_are_found_in_folders() {
    let folder = folder();
    write(&folder, "a.toml", "limit = \"5/1s\"\n[[traffic]]\nburst = { requests = 8 }\n[expect.gcra]\ndenied = 3\n");
    write(&folder, "other.toml", "[package]\nname = \"not a scenario\"\n");
    fs::create_dir(folder.path().join("deep")).expect("made");
    write(&folder, "deep/b.toml", "limit = \"5/1s\"\n[[traffic]]\nburst = {}\n[expect.gcra]\ndenied = 3\n");
    let ran = rlsim_in(folder.path(), &["test"], b"");
    assert_eq!(ran.status, 2, "a scenario that is invalid is not merely unmet: {}", ran.stdout);
    assert!(ran.stdout.contains("ok    a.toml"), "{}", ran.stdout);
    assert!(ran.stdout.contains("FAIL  deep/b.toml") && ran.stdout.contains("`requests` is missing"), "{}", ran.stdout);
    assert!(ran.stdout.contains("1 passed, 1 failed"), "{}", ran.stdout);
    fs::remove_dir_all(folder.path().join("deep")).expect("removed");
    fs::remove_file(folder.path().join("a.toml")).expect("removed");
    rlsim_in(folder.path(), &["test"], b"").fails(2, &["no scenario with an `[expect]` table"]);
}

#[test]
fn a_scenario_can_come_from_standard_input() {
    let text = fs::read("scenarios/boundary.toml").expect("ours");
    let ran = rlsim_in(Path::new("."), &["run", "-", "--format", "csv"], &text);
    assert_eq!(ran.stdout, rlsim(&["run", "boundary", "--format", "csv"]).clean());
    let resolved = rlsim(&["check", "--resolved", "boundary"]).clean();
    let again = rlsim_in(Path::new("."), &["run", "-", "--format", "csv"], resolved.as_bytes());
    assert_eq!((again.stdout, again.status), (ran.stdout, 0));
}

#[test]
fn errors_point_at_the_place() {
    let folder = folder();
    write(&folder, "s.toml", "limit = \"5/1s\"\n[[traffic]]\nburst = { request = 8 }\n");
    let ran = rlsim_in(folder.path(), &["run", "s.toml"], b"");
    ran.fails(2, &["s.toml:3:11", "burst = { request = 8 }", "^^^^^^^", "did you mean `requests`?"]);
}

#[test]
fn a_trace_given_to_run_is_told_apart() {
    let folder = folder();
    write(&folder, "requests.csv", "timestamp,key\n1,a\n");
    let ran = rlsim_in(folder.path(), &["run", "requests.csv"], b"");
    ran.fails(2, &["rlsim replay requests.csv --limit 100/1m"]);
}

#[test]
fn generated_traffic_replays_the_same() {
    let folder = folder();
    let out = folder.path().join("t.csv").display().to_string();
    rlsim(&["generate", "poisson", "-o", &out]).clean();
    let direct = rlsim(&["run", "poisson", "--format", "csv"]).clean();
    let replayed =
        rlsim(&["replay", &out, "--limit", "100/1m", "--key", "key", "--cost", "cost", "--format", "csv"]).clean();
    // The same decisions at the same instants: all but the peak's offset, which counts from the first arrival.
    let prints = |text: &str| text.lines().map(|line| line.rsplit(',').next().map(str::to_owned)).collect::<Vec<_>>();
    assert_eq!(prints(&direct), prints(&replayed));
}

#[test]
fn replay_says_how_it_keyed() {
    let folder = folder();
    write(&folder, "t.csv", "timestamp,client,bytes\n0,a,10\n0.5,b,20\n1,a,30\n");
    let one = rlsim_in(folder.path(), &["replay", "t.csv", "--limit", "1/1s"], b"").clean();
    assert!(one.contains("3 requests, 1 key (no key column given)"), "{one}");
    let two = rlsim_in(folder.path(), &["replay", "t.csv", "--limit", "1/1s", "--key", "client"], b"").clean();
    assert!(two.contains("2 keys (column `client`)"), "{two}");
    let cost = rlsim_in(folder.path(), &["replay", "t.csv", "--limit", "1/1s", "--cost", "bytes"], b"").clean();
    assert!(cost.contains("3 requests costing 60 units"), "{cost}");
    rlsim_in(folder.path(), &["replay", "t.csv", "--limit", "1/1s", "--key", "clint"], b"")
        .fails(1, &["clint", "client"]);
    rlsim_in(folder.path(), &["replay", "none.csv", "--limit", "1/1s"], b"").fails(1, &["none.csv"]);
    rlsim_in(folder.path(), &["replay", "t.csv"], b"").fails(2, &["--limit"]);
}

const LOG: &str = "timestamp,key\n1,a\n2,b\n3,a\n3.5,c\n4,c\n";

#[test]
fn standard_input_is_as_good_as_a_file() {
    let folder = folder();
    write(&folder, "log.csv", LOG);
    let replay = |file: &str, sheet: &str| {
        let args = ["replay", file, "--key", "key", "--limit", "1/10s", "-o", sheet, "-q"];
        let text = rlsim_in(folder.path(), &args, LOG.as_bytes()).clean();
        let sheet = fs::read_to_string(folder.path().join(sheet)).expect("the sheet is there");
        (text.replace("<stdin>", "log.csv"), sheet.replace("&lt;stdin&gt;", "log.csv"))
    };
    assert_eq!(replay("-", "a.svg"), replay("log.csv", "b.svg"));
}

#[test]
fn what_is_read_is_not_written_over() {
    let folder = folder();
    let log = write(&folder, "log.csv", LOG);
    let scenario = write(&folder, "a.toml", "limit = \"1/1s\"\n[[traffic]]\ntrace = { file = \"log.csv\" }\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("log.csv", folder.path().join("link.csv")).expect("a link");
    for args in [
        vec!["replay", "log.csv", "--limit", "1/1s", "-o", "log.csv"],
        vec!["replay", "log.csv", "--limit", "1/1s", "-o", "link.csv"],
        vec!["run", "a.toml", "--decisions", "./log.csv"],
        vec!["run", "a.toml", "--decisions", "a.toml"],
    ] {
        rlsim_in(folder.path(), &args, b"").fails(2, &["is read by this run"]);
    }
    assert_eq!(fs::read_to_string(log).expect("kept"), LOG);
    assert!(fs::read_to_string(scenario).expect("kept").contains("log.csv"));
}

#[test]
fn rows_that_end_early_are_bad_rows() {
    let folder = folder();
    for end in ["\n", "\r\n", "\r"] {
        write(&folder, "last.csv", &["key,time", "b", "a,1", ""].join(end));
        rlsim_in(folder.path(), &["replay", "last.csv", "--limit", "1/1s"], b"").fails(1, &["last.csv:2"]);
        let bare = ["replay", "last.csv", "--limit", "1/1s", "--no-header", "--time", "2"];
        rlsim_in(folder.path(), &bare, b"").fails(1, &["last.csv:"]);
    }
}

#[test]
fn a_burst_is_checked_as_in_a_scenario() {
    let folder = folder();
    write(&folder, "log.csv", LOG);
    let replay = |limit: &str, burst: &str| {
        rlsim_in(folder.path(), &["replay", "log.csv", "--limit", limit, "--burst", burst], b"")
    };
    replay("0/1m", "5").fails(2, &["never come back"]);
    replay("1/1m", "18446744073709551615").fails(2, &["the most that is counted exactly"]);
}

#[test]
fn an_algorithm_named_twice_is_one_lane() {
    let folder = folder();
    write(&folder, "log.csv", LOG);
    let args = ["replay", "log.csv", "--limit", "1/1s", "--algorithm", "gcra,fixed-window,gcra", "--format", "csv"];
    assert_eq!(rlsim_in(folder.path(), &args, b"").clean().lines().count(), 3);
}

#[test]
fn one_file_is_not_written_twice() {
    let folder = folder();
    let twice = ["-o", "./x.csv", "--decisions", "x.csv"];
    rlsim_in(folder.path(), &[&["run", "boundary"][..], &twice].concat(), b"").fails(2, &["named twice"]);
}

#[test]
fn the_trace_among_the_tests_replays() {
    let text = rlsim(&["replay", "tests/data/requests.csv", "--limit", "60/1m", "--key", "client"]).clean();
    assert!(text.contains("240 requests, 3 keys (column `client`)"), "{text}");
}

#[test]
fn a_trace_read_from_its_middle_has_the_keys_it_shows() {
    let folder = folder();
    write(&folder, "log.csv", LOG);
    let entry = "trace = { file = \"log.csv\", key = \"key\" }\nfrom = \"2s\"\n";
    write(&folder, "a.toml", &format!("limit = \"1/1s\"\n[[traffic]]\n{entry}"));
    let report = rlsim_in(folder.path(), &["run", "a.toml", "--json"], b"").clean();
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["offered"]["keys"], 2, "a and c; b came before");
    assert_eq!(report["lanes"][0]["state"]["keys"], 2);
}

#[test]
#[cfg(unix)]
fn a_run_that_waits_for_input_can_be_ended() {
    let folder = folder();
    let mut child = Command::new(env!("CARGO_BIN_EXE_rlsim"))
        .args(["replay", "-", "--limit", "1/1s", "-o", "a.svg"])
        .current_dir(folder.path())
        .env("TMPDIR", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    // Held open: waiting for the program would close it.
    let stdin = child.stdin.take();
    let entries = || fs::read_dir(folder.path()).expect("a folder").count();
    let begun = std::time::Instant::now();
    // Its two temporary files tell that it waits.
    while entries() < 2 && begun.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let killed = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_eq!(entries(), 0, "nothing is left behind");
    drop(stdin);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rlsim"))
        .args(["run", "poisson", "--decisions", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn everything_listed_can_be_shown_and_explained() {
    let scenarios = rlsim(&["list", "scenarios"]).clean();
    for scenario in rlsim::scenario::EMBEDDED {
        assert!(scenarios.contains(scenario.name));
        assert_eq!(rlsim(&["show", scenario.name]).clean(), scenario.text);
    }
    for topic in ["algorithms", "traffic", "words", "topics"] {
        for line in rlsim(&["list", topic]).clean().lines() {
            let name = line.split_whitespace().next().expect("a name");
            assert!(rlsim(&["explain", name]).clean().len() > name.len() + 10, "{name}");
        }
    }
    let bucket = rlsim(&["explain", "token-bucket"]).clean();
    for heading in ["RULE", "STATE", "WORST CASE", "DIFFERS FROM", "SOURCE", "KNOBS"] {
        assert!(bucket.contains(heading), "{bucket}");
    }
    assert!(rlsim(&["completions", "bash"]).clean().contains("rlsim"));
    assert!(rlsim(&["man"]).clean().contains(".TH rlsim"));
    assert!(rlsim(&["--version"]).clean().starts_with("rlsim "));
    assert!(rlsim(&["--help"]).clean().contains("Exit status"));
}
