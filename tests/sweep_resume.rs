//! A table that an interrupted sweep goes on with.

use crate::cli::{Ran, folder, rlsim_in, write};
use crate::sweep::BURST;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const ARGS: [&str; 8] =
    ["sweep", "s.toml", "--vary", "bucket.burst=1..4:step=1", "--vary", "limit=3/1h,4/1h", "-o", "out.csv"];

fn resumed(folder: &TempDir, more: &[&str]) -> Ran {
    rlsim_in(folder.path(), &[&ARGS[..], &["--resume"], more].concat(), b"")
}

fn table(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("out.csv")).expect("a table")
}

/// What an uninterrupted sweep writes and prints.
fn whole() -> (TempDir, String, String) {
    let folder = folder();
    write(&folder, "s.toml", BURST);
    let ran = rlsim_in(folder.path(), &ARGS, b"");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, "wrote out.csv\n"));
    let table = table(&folder);
    (folder, table, ran.stdout)
}

/// Cut anywhere, the table ends with the same bytes; so do the other outputs.
#[test]
fn a_torn_table_is_mended() {
    let (folder, full, text) = whole();
    assert_eq!(full.lines().count(), 1 + 8 * 2);
    for cut in (0..=full.len()).step_by(7).chain([full.len() - 1, full.len()]) {
        fs::write(folder.path().join("out.csv"), &full[..cut]).expect("written");
        let ran = resumed(&folder, &["-q"]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "cut at {cut}");
        assert!(table(&folder) == full && ran.stdout == text, "cut at {cut}: {}", table(&folder));
    }
    fs::remove_file(folder.path().join("out.csv")).expect("removed");
    assert_eq!(resumed(&folder, &["-q"]).stdout, text);
    assert_eq!(table(&folder), full);
}

/// Points are as they come while it runs; in the end they are in order.
#[test]
fn points_may_be_there_in_any_order() {
    let (folder, full, text) = whole();
    let lines: Vec<&str> = full.lines().collect();
    let mut points: Vec<String> = lines[1..].chunks(2).map(|rows| rows.join("\n")).collect();
    points.reverse();
    points.remove(3);
    let shuffled = format!("{}\n{}\n{}", lines[0], points.join("\n"), &lines[1][..9]);
    fs::write(folder.path().join("out.csv"), shuffled).expect("written");
    let ran = resumed(&folder, &[]);
    assert_eq!(ran.stderr, "7 of 8 points are in out.csv\nwrote out.csv\n");
    assert!(table(&folder) == full && ran.stdout == text);
}

/// What is there is not run again: a value that no run would give stays.
#[test]
fn what_is_done_is_done() {
    let (folder, full, _) = whole();
    let marked = full.replacen("1,3/1h,bucket,1,19,", "1,3/1h,bucket,777,19,", 1);
    assert_ne!(marked, full);
    let lines: Vec<&str> = marked.lines().take(9).collect();
    fs::write(folder.path().join("out.csv"), lines.join("\n") + "\n").expect("written");
    assert!(resumed(&folder, &["-q"]).clean().contains("777"));
    assert_eq!(table(&folder), marked);
    // Without --resume the table is replaced.
    rlsim_in(folder.path(), &[&ARGS[..], &["-q"]].concat(), b"").clean();
    assert_eq!(table(&folder), full);
}

/// A table of something else is left as it is.
#[test]
fn other_tables_are_left_alone() {
    let (folder, full, _) = whole();
    let lines: Vec<&str> = full.lines().collect();
    for (content, words) in [
        ("a,b\n1,2\n".to_owned(), &["its first line is `a,b`", "--resume", "out.csv"][..]),
        (full.replace(&full[full.len() - 17..full.len() - 1], "0123456789abcdef"), &["line 2 is of another sweep"]),
        (full.replacen("\n1,3/1h,fixed", "\n9,3/1h,fixed", 1), &["line 3 is not a row"]),
        (full.replacen(",16,", ",many,", 1), &["is not a row"]),
        (full.replacen(&format!("{}\n", lines[2]), "", 1), &["line 3 does not go with"]),
        (format!("{full}{}\n{}\n", lines[1], lines[2]), &["line 18 does not go with"]),
        (format!("{full}1,2\n"), &["line 18 is not a row"]),
    ] {
        fs::write(folder.path().join("out.csv"), &content).expect("written");
        resumed(&folder, &[]).fails(2, words);
        assert_eq!(table(&folder), content);
    }
    // The same table, and another scenario, grid or measure.
    fs::write(folder.path().join("out.csv"), &full).expect("written");
    resumed(&folder, &["--measure", "denied"]).fails(2, &["first line"]);
    resumed(&folder, &["--seed", "9"]).fails(2, &["another sweep"]);
    write(&folder, "s.toml", &BURST.replace("requests = 20", "requests = 21"));
    resumed(&folder, &[]).fails(2, &["another sweep"]);
    assert_eq!(table(&folder), full);
    // A comment changes nothing that is run.
    write(&folder, "s.toml", &format!("# the same\n{BURST}"));
    assert_eq!(resumed(&folder, &["-q"]).status, 0);
}

/// A trace of another content is another sweep.
#[test]
fn traces_count() {
    let folder = folder();
    write(
        &folder,
        "s.toml",
        "limit = \"2/1s\"\n[[traffic]]\ntrace = { file = \"t.csv\" }\n[[lane]]\nname = \"bucket\"\ngcra = {}\n",
    );
    write(&folder, "t.csv", "timestamp\n1\n1\n1\n");
    assert_eq!(resumed(&folder, &[]).status, 0);
    assert_eq!(resumed(&folder, &[]).status, 0);
    write(&folder, "t.csv", "timestamp\n1\n1\n2\n");
    resumed(&folder, &[]).fails(2, &["another sweep", "a trace"]);
}

#[test]
fn resume_needs_one_table() {
    let folder = folder();
    write(&folder, "s.toml", BURST);
    let sweep = |more: &[&str]| {
        rlsim_in(folder.path(), &[&["sweep", "s.toml", "--vary", "seed=1,2", "--resume"], more].concat(), b"")
    };
    sweep(&[]).fails(2, &["-o FILE.csv --resume"]);
    sweep(&["-o", "a.json"]).fails(2, &["-o FILE.csv --resume"]);
    sweep(&["-o", "a.csv", "-o", "b.csv"]).fails(2, &["one table"]);
    fs::create_dir(folder.path().join("d.csv")).expect("a folder");
    sweep(&["-o", "d.csv"]).fails(2, &["no regular file"]);
}

/// Each point takes a while, in a debug build and in any other.
const SLOW: &str = "limit = \"5/1s\"\nduration = \"300s\"\n[[traffic]]\npoisson = { rate = \"200/1s\" }\n[[lane]]\nname = \"bucket\"\ntoken-bucket = {}\n";

/// Starts a sweep, ends it by a signal once a point or two are done, and says how it ended.
fn ended_by(signal: &str, folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rlsim"))
        .args(args)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let (begun, table) = (Instant::now(), folder.join("out.csv"));
    let rows = || fs::read_to_string(&table).map_or(0, |text| text.lines().count());
    while rows() < 3 && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(2));
    }
    let killed = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().expect("piped"), &mut said).expect("text");
    (child.wait().expect("it ends").code(), said)
}

#[cfg(unix)]
#[test]
fn an_interrupted_sweep_loses_nothing() {
    let folder = folder();
    write(&folder, "s.toml", SLOW);
    let vary = ["sweep", "s.toml", "--vary", "seed=1..60:step=1", "--threads", "2", "-o"];
    let full = rlsim_in(folder.path(), &[&vary[..], &["full.csv", "-q"]].concat(), b"").clean();
    let expected = fs::read_to_string(folder.path().join("full.csv")).expect("a table");
    let args = [&vary[..], &["out.csv", "--resume"]].concat();
    let (status, said) = ended_by("-INT", folder.path(), &args);
    assert_eq!(status, Some(130), "{said}");
    assert!(said.contains("kept in out.csv"), "{said}");
    let after = table(&folder).lines().count();
    assert!((3..61).contains(&after), "{after}");
    // What does not even notice that it ends loses no more.
    ended_by("-KILL", folder.path(), &args);
    let ran = rlsim_in(folder.path(), &args, b"");
    assert!(ran.stderr.contains("of 60 points are in out.csv"), "{}", ran.stderr);
    assert!(ran.stdout == full && table(&folder) == expected);
    let left: Vec<_> =
        fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}
