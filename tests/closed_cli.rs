//! The closed loop on the command line.

use crate::cli::{folder, rlsim, rlsim_in, write};

/// Rows of a log as maps from column to field.
fn rows(log: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(log.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().expect("CSV")
}

const TWO_LANES: &str = r#"
start = "2026-01-01T00:00:01Z"
limit = "3/6s"
response = { retry-after = "seconds", headers = "ietf" }
client = { retry = { retry-after = {} } }
[[traffic]]
burst = { requests = 5 }
[[lane]]
fixed-window = {}
[[lane]]
gcra = {}
"#;

#[test]
fn the_log_of_a_closed_loop_has_every_attempt_and_what_its_client_sees() {
    let folder = folder();
    write(&folder, "s.toml", TWO_LANES);
    let log = rlsim_in(folder.path(), &["run", "s.toml", "--decisions", "-"], b"").clean();
    let rows = rows(&log);
    // In order of time, and of lanes at one instant.
    let keys: Vec<(i64, bool)> =
        rows.iter().map(|row| (row["time_ns"].parse().expect("a number"), row["lane"] == "gcra")).collect();
    assert!(keys.is_sorted());
    // GCRA at 2 s an attempt: three at once, one after two seconds, one after four.
    let of = |lane: &str| rows.iter().filter(|row| row["lane"] == lane).collect::<Vec<_>>();
    let gcra: Vec<String> =
        of("gcra").iter().map(|row| format!("{} {} {}", row["arrival"], row["attempt"], row["decision"])).collect();
    let expected =
        ["1 1 allow", "2 1 allow", "3 1 allow", "4 1 deny", "5 1 deny", "4 2 allow", "5 2 deny", "5 3 allow"];
    assert_eq!(gcra, expected);
    let denied = of("gcra")[3];
    assert_eq!(denied["status"], "429");
    assert_eq!(
        denied["headers"],
        "Retry-After: 2 | RateLimit-Policy: \"default\";q=3;w=6 | RateLimit: \"default\";r=0;t=2"
    );
    assert_eq!(
        of("fixed-window")[0]["headers"],
        "RateLimit-Policy: \"default\";q=3;w=6 | RateLimit: \"default\";r=2;t=5"
    );
    // Without any answer that tells something, nothing of it is written.
    let plain = rlsim(&["run", "metastable", "--decisions", "-"]).clean();
    assert!(plain.lines().next().expect("a header").ends_with("full_ns"));
}

#[test]
fn a_storm_that_feeds_itself_is_stopped() {
    let folder = folder();
    write(
        &folder,
        "s.toml",
        "max-events = 2000\nlimit = \"10/1s\"\nresponse = { retry-after = \"exact\" }\nclient = { retry = { retry-after = {} } }\n\
         [[traffic]]\nburst = { requests = 500 }\n[[lane]]\ntoken-bucket = {}\n[[lane]]\ngcra = {}\n",
    );
    let ran = rlsim_in(folder.path(), &["run", "s.toml"], b"");
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("stopped after 2000 events: token-bucket, gcra"), "{}", ran.stderr);
    assert!(ran.stdout.contains("all that is told of them is partial"), "{}", ran.stdout);
}

#[test]
fn a_plan_of_a_closed_loop_is_its_own_scenario() {
    for name in ["retry-storm", "retry-after-lockstep", "reset-herd", "metastable", "budget", "fragile-backend"] {
        let csv = rlsim(&["run", name, "--format", "csv"]).clean();
        let resolved = rlsim(&["check", "--resolved", name]).clean();
        let again = rlsim_in(folder().path(), &["run", "-", "--format", "csv"], resolved.as_bytes()).clean();
        assert_eq!(again, csv, "{name}");
    }
}

#[test]
fn headers_are_explained_for_every_algorithm() {
    let text = rlsim(&["explain", "headers"]).clean();
    for name in rlsim::limiter::LimiterSpec::NAMES {
        assert!(text.contains(&format!("\n{name}\n    HTTP/1.1 429 Too Many Requests\n    Retry-After: ")), "{name}");
    }
    assert!(text.contains("Retry-After: Thu, 01 Jan 2026 00:00:03 GMT"));
}
