//! What the program says: in the words of whoever it speaks to, with what is accepted.

use crate::cli::{folder, rlsim, rlsim_in, write};
use std::fs;

#[test]
fn replay_names_its_own_options() {
    let folder = folder();
    write(&folder, "ms.csv", "timestamp\n1700000000000\n");
    write(&folder, "late.csv", "timestamp\n5\n4\n");
    write(&folder, "bad.csv", "timestamp\n5\nx\n");
    write(&folder, "bare.csv", "5,a\n6,b\n");
    for (file, words) in [
        ("ms.csv", &["--time-format ms"][..]),
        ("late.csv", &["--order 1s", "--order sort"]),
        ("bad.csv", &["--bad-rows skip"]),
        ("bare.csv", &["--time NAME", "--no-header"]),
    ] {
        rlsim_in(folder.path(), &["replay", file, "--limit", "1/1s"], b"").fails(1, words);
        // The same trace in a scenario is mended in the scenario.
        let scenario = format!("limit = \"1/1s\"\n[[traffic]]\ntrace = {{ file = \"{file}\" }}\n");
        write(&folder, "s.toml", &scenario);
        let ran = rlsim_in(folder.path(), &["run", "s.toml"], b"");
        assert_eq!(ran.status, 1);
        assert!(!ran.stderr.contains("--") && ran.stderr.contains(" = "), "{}", ran.stderr);
    }
}

#[test]
fn a_trace_may_have_no_header() {
    let folder = folder();
    write(&folder, "bare.csv", "5,a\n6,b\n");
    let replay = |more: &[&str]| {
        let args = [&["replay", "bare.csv", "--limit", "1/1s", "--no-header"], more].concat();
        rlsim_in(folder.path(), &args, b"")
    };
    assert!(replay(&["--key", "2"]).clean().contains("2 requests, 2 keys"));
    assert!(replay(&[]).clean().contains("2 requests, 1 key"));
    replay(&["--key", "client"]).fails(2, &["`client`", "--no-header", "number"]);
}

#[test]
fn what_most_likely_is_not_meant_is_noted() {
    let folder = folder();
    let scenario = "limit = \"5/1s\"\nduration = \"10s\"\n[[traffic]]\nburst = { requests = 1 }\n[[traffic]]\n";
    for silent in
        ["burst = { requests = 3, at = \"10s\" }", "idle-then-spike = { idle = \"1s\", requests = 2, repeat = 0 }"]
    {
        write(&folder, "s.toml", &format!("{scenario}name = \"late\"\n{silent}\n"));
        for command in ["run", "check"] {
            let ran = rlsim_in(folder.path(), &[command, "s.toml"], b"");
            assert_eq!(ran.status, 0);
            assert!(ran.stderr.contains("traffic `late` sends nothing"), "{silent}: {}", ran.stderr);
            assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        }
    }
    write(&folder, "t.toml", "limit = \"5/1s\"\n[[traffic]]\ntrace = { file = \"none.csv\" }\n");
    let ran = rlsim_in(folder.path(), &["check", "t.toml"], b"");
    assert_eq!(ran.status, 0);
    assert_eq!(ran.stderr, "note: t.toml: traffic `trace` reads none.csv, which is not there\n");
}

#[test]
fn a_seed_is_what_toml_can_hold() {
    let folder = folder();
    let largest = "9223372036854775807";
    for seed in ["9223372036854775808", "18446744073709551615", "18446744073709551616", "-1"] {
        for typed in [&[&*format!("--seed={seed}")][..], &["--set", &format!("seed={seed}")]] {
            rlsim(&[&["run", "boundary"][..], typed].concat()).fails(2, &[largest]);
        }
        write(
            &folder,
            "s.toml",
            &format!("seed = {seed}\nlimit = \"5/1s\"\n[[traffic]]\nburst = {{ requests = 1 }}\n"),
        );
        let ran = rlsim_in(folder.path(), &["check", "s.toml"], b"");
        ran.fails(2, &[&format!("integer `{seed}`, expected a whole number, 0 to {largest}")]);
    }
    let resolved = rlsim(&["check", "boundary", "--resolved", "--seed", largest]);
    assert!(resolved.clean().contains(&format!("seed = {largest}")));
    // The run after the largest seed has one too.
    assert_eq!(rlsim(&["run", "poisson", "--seed", largest, "--runs", "2"]).status, 0);
}

#[test]
fn a_table_at_the_top_that_no_lane_uses_is_told() {
    for change in ["backend.servers=1", "client.max-attempts=1", "response.status=503"] {
        let told = format!("write *.{}", change.split('=').next().expect("a path"));
        if !change.starts_with("response") {
            rlsim(&["run", "metastable", "--set", change]).fails(2, &["no lane uses", &told]);
            rlsim(&["sweep", "metastable", "--vary", change]).fails(2, &["no lane uses", &told]);
        } else {
            assert_eq!(rlsim(&["run", "metastable", "--set", change]).status, 0, "lanes without one use it");
        }
    }
    let folder = folder();
    let scenario = |backend: &str| {
        let lane = "[[lane]]\ngcra = {}\nbackend = { service = \"1s\" }";
        format!("limit = \"5/1s\"\nbackend = {backend}\n[[traffic]]\nburst = {{ requests = 1 }}\n{lane}\n")
    };
    write(&folder, "s.toml", &scenario("{ service = \"2s\" }"));
    let ran = rlsim_in(folder.path(), &["check", "s.toml"], b"");
    assert!(ran.status == 0 && ran.stderr.contains("no lane uses the `backend` at the top"), "{}", ran.stderr);
    write(&folder, "s.toml", &scenario("{ servers = 3 }"));
    rlsim_in(folder.path(), &["check", "s.toml"], b"").fails(2, &["s.toml:2:11", "a backend without a service time"]);
}

#[test]
fn long_values_are_cut() {
    let folder = folder();
    let long = "a".repeat(5_000);
    write(&folder, "s.toml", &format!("limit = \"5/1s\"\n[[traffic]]\nburst = {{ requests = 1 }}\n{long} = 1\n"));
    for args in [vec!["check", "s.toml"], vec!["run", "boundary", "--limit", &long], vec!["explain", &long]] {
        let ran = rlsim_in(folder.path(), &args, b"");
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.len() < 2_000, "{}", ran.stderr);
    }
}

#[test]
fn what_is_no_text_is_told_apart() {
    let folder = folder();
    fs::write(folder.path().join("zeros.csv"), [0; 100]).expect("written");
    rlsim_in(folder.path(), &["replay", "zeros.csv", "--limit", "1/1s"], b"").fails(1, &["binary data"]);
    rlsim_in(folder.path(), &["run", "zeros.csv"], b"").fails(2, &["zero bytes"]);
    #[cfg(unix)]
    rlsim(&["run", "/dev/zero"]).fails(2, &["more than 16 MiB"]);
}

#[test]
fn one_plan_is_resolved_at_a_time() {
    rlsim(&["check", "--resolved", "boundary", "poisson"]).fails(2, &["one file"]);
}

#[test]
fn changes_leave_expectations_behind() {
    let ran = rlsim(&["run", "boundary", "--set", "gcra.name=x", "-q", "--format", "csv"]);
    assert!(ran.clean().contains("\nx,gcra,"));
    rlsim(&["run", "boundary", "--set", "GCRA.burst=5"]).fails(2, &["did you mean `gcra`?"]);
}

#[test]
fn a_copy_of_an_embedded_scenario_has_its_trace() {
    let folder = folder();
    write(&folder, "x.toml", &rlsim(&["show", "nasa"]).clean());
    let csv = rlsim(&["run", "nasa", "--format", "csv"]).clean();
    assert_eq!(rlsim_in(folder.path(), &["run", "x.toml", "--format", "csv"], b"").clean(), csv);
    let resolved = rlsim(&["check", "--resolved", "nasa"]).clean();
    assert_eq!(rlsim_in(folder.path(), &["run", "-", "--format", "csv"], resolved.as_bytes()).clean(), csv);
}

/// The keys that a table accepts: those that are named when it has another one.
fn accepted(table: &str) -> Vec<String> {
    let folder = folder();
    write(&folder, "s.toml", &format!("limit = \"5/1s\"\n{table}\n"));
    let ran = rlsim_in(folder.path(), &["check", "s.toml"], b"");
    let (_, names) = ran.stderr.split_once("accepted: ").unwrap_or_else(|| panic!("{table}: {}", ran.stderr));
    names.lines().next().unwrap_or("").split(", ").map(|name| name.trim_matches('"').to_owned()).collect()
}

#[test]
fn every_key_is_explained() {
    let mut explained = String::new();
    for topic in ["algorithms", "traffic", "words", "topics"] {
        for line in rlsim(&["list", topic]).clean().lines() {
            explained.push_str(&rlsim(&["explain", line.split_whitespace().next().expect("a name")]).clean());
        }
    }
    let words: Vec<&str> = explained.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).collect();
    let mut tables = vec!["zzz = 1".to_owned(), "[[traffic]]\nzzz = 1".to_owned(), "[[lane]]\nzzz = 1".to_owned()];
    let kinds =
        ["burst", "boundary-burst", "idle-then-spike", "steady", "poisson", "on-off", "ramp", "clients", "trace"];
    tables.extend(kinds.map(|kind| format!("[[traffic]]\n{kind} = {{ zzz = 1 }}")));
    tables.push("[[traffic]]\nkeys = { zzz = 1 }".to_owned());
    tables.push("[[traffic]]\nkeys = { zipf = { zzz = 1 } }".to_owned());
    tables.push("[[traffic]]\ntrace = { order = { zzz = 1 } }".to_owned());
    tables.extend(rlsim::limiter::LimiterSpec::NAMES.map(|name| format!("[[lane]]\n{name} = {{ zzz = 1 }}")));
    let closed = [
        "client = { zzz = 1 }",
        "client = { retry = { zzz = 1 } }",
        "client = { retry = { fixed = { zzz = 1 } } }",
        "client = { retry = { exponential = { zzz = 1 } } }",
        "client = { retry = { retry-after = { zzz = 1 } } }",
        "client = { retry = { sdk = { zzz = 1 } } }",
        "client = { retry = { sdk = { name = \"zzz\" } } }",
        "client = { budget = { zzz = 1 } }",
        "client = { throttle = { zzz = 1 } }",
        "client = { throttle = { grpc = { zzz = 1 } } }",
        "client = { throttle = { adaptive = { zzz = 1 } } }",
        "response = { zzz = 1 }",
        "response = { retry-after = \"zzz\" }",
        "response = { headers = \"zzz\" }",
        "backend = { zzz = 1 }",
        "backend = { service = { zzz = 1 } }",
        "backend = { service = { load-dependent = { zzz = 1 } } }",
        "backend = { order = \"zzz\" }",
        "backend = { overflow = \"zzz\" }",
        "backend = { stall = { zzz = 1 } }",
        "backend = { brown-out = { zzz = 1 } }",
        "deployment = { zzz = 1 }",
        "deployment = { central = { zzz = 1 } }",
        "deployment = { central = { operation = \"zzz\" } }",
        "deployment = { central = { clock = \"zzz\" } }",
        "deployment = { central = { store = { zzz = 1 } } }",
        "deployment = { central = { breaker = { zzz = 1 } } }",
        "deployment = { central = { prefilter = { zzz = 1 } } }",
        "deployment = { central = { fallback-share = \"zzz\" } }",
        "deployment = { local = { zzz = 1 } }",
        "deployment = { hybrid = { zzz = 1 } }",
        "deployment = { hybrid = { sync = { zzz = 1 } } }",
        "deployment = { hybrid = { sync = { every = \"1s\", debt = \"zzz\" } } }",
        "deployment = { hybrid = { lease = { zzz = 1 } } }",
        "deployment = { hybrid = { quota = { zzz = 1 } } }",
        "deployment = { hybrid = { drop = { zzz = 1 } } }",
        "deployment = { hybrid = { proportional = { zzz = 1 } } }",
        "deployment = { hybrid = { assignment = { zzz = 1 } } }",
        "deployment = { hybrid = { assignment = { report = \"1s\", no-assignment = \"zzz\" } } }",
        "deployment = { hybrid = { assignment = { report = \"1s\", expired = \"zzz\" } } }",
        "[[fault]]\nzzz = 1",
        "[[fault]]\nstore-down = { zzz = 1 }",
        "[[fault]]\nstore-slow = { zzz = 1 }",
        "[[fault]]\nstore-lag = { zzz = 1 }",
        "[[fault]]\npartition = { zzz = 1 }",
        "[[fault]]\nfailover = { zzz = 1 }",
        "[[fault]]\nflush = { zzz = 1 }",
        "[[fault]]\nrestart = { zzz = 1 }",
        "[[fault]]\nscale = { zzz = 1 }",
        "[[fault]]\nrandom = { zzz = 1 }",
        "[[fault]]\nrandom = { mean-between = \"1s\", kind = \"zzz\" }",
        "[[lane]]\ntoken-bucket = { backwards = \"zzz\" }",
    ];
    tables.extend(closed.map(str::to_owned));
    tables.push("[[traffic]]\nburst = { requests = 1 }\n[expect.gcra]\nzzz = 1".to_owned());
    for table in tables {
        for key in accepted(&table) {
            let known = key.split('.').all(|part| words.contains(&part)) || explained.contains(&key);
            assert!(known, "`{key}` of {table:?} is explained nowhere");
        }
    }
}

#[test]
fn every_field_of_the_report_and_column_of_the_log_is_explained() {
    let report = rlsim(&["explain", "report"]).clean();
    let json: serde_json::Value =
        serde_json::from_str(&rlsim(&["run", "health-checks", "--json"]).clean()).expect("JSON");
    let of = |value: &serde_json::Value| value.as_object().expect("a table").keys().cloned().collect::<Vec<_>>();
    let words: Vec<&str> = report.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let lane = &json["lanes"][0];
    let mut fields = of(&json);
    for part in ["offered", "limit", "focus"] {
        fields.extend(of(&json[part]));
    }
    fields.extend(of(lane));
    for part in ["peak", "over", "wait_ns", "state", "timeline"] {
        fields.extend(of(&lane[part]));
    }
    for part in ["envelope", "top_denied", "classes"] {
        fields.extend(of(&lane[part][0]));
    }
    fields.extend(of(&json["disagreements"][0]));
    for field in fields {
        assert!(words.contains(&field.as_str()), "`{field}` is not explained");
    }
    let columns = rlsim(&["explain", "decisions"]).clean();
    let log = rlsim(&["run", "boundary", "--decisions", "-"]).clean();
    for column in log.lines().next().expect("a header").split(',') {
        assert!(columns.contains(&format!("\n  {column} ")), "`{column}` is not explained");
    }
}

#[test]
fn examples_of_topics_are_right() {
    for topic in ["scenario", "traffic-fields", "expect", "units", "decisions", "report", "deployment", "faults"] {
        let text = rlsim(&["explain", topic]).clean();
        assert!(text.contains("Example"), "{topic} has no example");
        assert!(text.lines().all(|line| line.chars().count() <= 88), "{topic} is too wide");
    }
    let example = |topic: &str| {
        let text = rlsim(&["explain", topic]).clean();
        text.split_once("Example:\n").map(|(_, example)| example.to_owned()).expect("an example")
    };
    let folder = folder();
    let top = "limit = \"100/1m\"\nduration = \"1m\"\n";
    let normal = "[[traffic]]\nclass = \"normal\"\nsteady = { rate = \"1/s\" }\n";
    for text in [
        example("scenario"),
        example("deployment"),
        format!("{}{}", example("deployment"), example("faults")),
        format!("{top}{}", example("traffic-fields")),
        format!("{top}{normal}{}", example("expect")),
        format!("duration = \"1m\"\n{}\n{normal}", example("units")),
    ] {
        write(&folder, "s.toml", &text);
        rlsim_in(folder.path(), &["run", "s.toml"], b"").clean();
    }
}

#[test]
fn what_is_explained_elsewhere_is_pointed_at() {
    rlsim(&["explain", "boundary"]).fails(2, &["rlsim show boundary"]);
    rlsim(&["explain", "token-buket"]).fails(2, &["did you mean `token-bucket`?"]);
    let queue = rlsim(&["explain", "leaky-bucket"]).clean();
    assert!(queue.contains("cost 0 is released at once") && queue.contains("costs more is refused"), "{queue}");
}

#[test]
fn the_text_tells_whom_each_lane_refuses_most() {
    let folder = folder();
    // Key k comes k times a second for a second: 1 to 8 times; two are admitted.
    let rows: String = (1..=8).flat_map(|k| (0..k).map(move |i| format!("0.{i},key-{k}\n"))).collect();
    write(&folder, "t.csv", &format!("timestamp,client\n{rows}"));
    let args = ["replay", "t.csv", "--limit", "2/1s", "--key", "client", "--order", "sort"];
    let text = rlsim_in(folder.path(), &args, b"").clean();
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "Most refused fixed-window, sliding-log and sliding-counter, 6 keys: \
                key-8 6 of 8, key-7 5 of 7, key-6 4 of 6, key-5 3 of 5, key-4 2 of 4";
    assert!(flat.contains(told), "{text}");
    let args = ["replay", "t.csv", "--limit", "2/1s", "--order", "sort"];
    let one = rlsim_in(folder.path(), &args, b"").clean();
    assert!(!one.contains("Most refused"), "there is but one key: {one}");
}

#[test]
fn the_text_tells_of_the_spans_that_a_scenario_lists() {
    let text = rlsim(&["run", "idle-then-spike"]).clean();
    assert!(text.contains("Most released in any span"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("  fixed-window ") && line.ends_with(" 100 of 200")), "{text}");
    assert!(!rlsim(&["run", "boundary"]).clean().contains("Most released in any span"));
    let folder = folder();
    let spans: Vec<String> = (1..33).map(|n| format!("\"{n}ms\"")).collect();
    let scenario = format!("limit = \"5/1s\"\nenvelope = [{}]\n", spans.join(", "));
    write(&folder, "s.toml", &format!("{scenario}[[traffic]]\nburst = {{ requests = 8 }}\n"));
    let many = rlsim_in(folder.path(), &["run", "s.toml", "--width", "80"], b"").clean();
    assert!(many.contains(" 32ms\n") && many.lines().all(|line| line.chars().count() <= 80), "{many}");
}

#[test]
fn exceeding_a_limit_does_not_read_like_success() {
    let folder = folder();
    let scenario = "limit = \"5/1s\"\n[[traffic]]\nburst = { requests = 30 }\n[[lane]]\ngcra = { burst = 9 }\n";
    write(&folder, "s.toml", scenario);
    let text = rlsim_in(folder.path(), &["run", "s.toml"], b"").clean();
    assert!(text.contains("Every lane exceeded the limit: gcra let 1.80x through"), "{text}");
}

#[test]
#[cfg(unix)]
fn the_name_of_a_trace_does_not_command_the_terminal() {
    let folder = folder();
    write(&folder, "a\u{1b}[31m.csv", "timestamp\n1\n2\n");
    let text = rlsim_in(folder.path(), &["replay", "a\u{1b}[31m.csv", "--limit", "1/1s"], b"").clean();
    assert!(!text.contains('\u{1b}') && text.starts_with("a\\u{1b}[31m.csv"), "{text}");
}

#[test]
fn a_name_with_two_meanings_is_explained_twice() {
    let text = rlsim(&["explain", "burst"]).clean().to_owned();
    assert!(text.contains("burst (traffic): ") && text.contains("burst (word of the report): "), "{text}");
}

#[test]
fn options_are_named_where_they_are_wrong() {
    for option in ["--time", "--key", "--cost"] {
        rlsim(&["replay", "none.csv", "--limit", "1/1s", option, "0"]).fails(2, &[option, "numbered from 1"]);
    }
    let twice = ["sweep", "boundary", "--vary", "limit=1/1s,2/1s", "--vary", "limit=1/1s,3/1s"];
    let ran = rlsim(&twice);
    assert!(ran.stderr.contains("varied twice") && !ran.stderr.contains("nowhere"), "{}", ran.stderr);
}

#[test]
fn a_file_that_ends_within_its_gzip_header_is_told() {
    let folder = folder();
    fs::write(folder.path().join("short.csv.gz"), b"\x1f\x8b\x08\0\0").expect("written");
    rlsim_in(folder.path(), &["replay", "short.csv.gz", "--limit", "1/1s"], b"").fails(1, &["gzip", "end too early"]);
}

#[test]
fn long_keys_are_cut_in_sentences() {
    let folder = folder();
    let long = "k".repeat(300);
    write(&folder, "t.csv", &format!("timestamp,key\n1,a\n1,{long}\n1,{long}\n1,{long}\n"));
    let ran = rlsim_in(folder.path(), &["replay", "t.csv", "--limit", "2/1m", "--key", "key"], b"");
    assert!(!ran.clean().contains(&"k".repeat(50)));
}

#[test]
fn the_scenario_of_the_readme_is_met() {
    let readme = include_str!("../README.md");
    let scenario = readme.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a scenario");
    let folder = folder();
    write(&folder, "s.toml", scenario);
    assert_eq!(rlsim_in(folder.path(), &["test", "s.toml"], b"").status, 0);
}
