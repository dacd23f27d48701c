//! How the program ends when its streams do: readers that go away, devices that are full, pipes.
#![cfg(unix)]

use crate::cli::{folder, rlsim_in, write};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const UNMET: &str =
    "limit = \"5/1s\"\nduration = \"100s\"\n[[traffic]]\nsteady = { rate = \"100/s\" }\n[expect.gcra]\ndenied = 2\n";

/// What a shell makes of a line in which `rlsim` is the program: its status, and what was printed.
fn shell(folder: &Path, line: &str) -> (i32, String) {
    let output = Command::new("bash")
        .args(["-c", &format!("set -o pipefail; rlsim() {{ {} \"$@\"; }}; {line}", env!("CARGO_BIN_EXE_rlsim"))])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap_or(-1), text)
}

#[test]
fn a_reader_that_goes_away_does_not_hide_the_verdict() {
    let folder = folder();
    write(&folder, "un.toml", UNMET);
    write(&folder, "met.toml", &UNMET.replace("= 2", "= \">= 2\""));
    write(&folder, "bad.toml", "limit = 5\n");
    for (line, status) in [
        ("rlsim run un.toml -q | true", 3),
        ("rlsim test un.toml | true", 3),
        ("rlsim run un.toml --decisions - | head -1", 3),
        ("rlsim run un.toml --json | true", 3),
        ("rlsim check met.toml bad.toml | true", 2),
        ("rlsim run met.toml -q | true", 0),
        ("rlsim run met.toml --decisions - | head -1", 0),
        ("rlsim generate met.toml | head -1", 0),
        ("rlsim --help | true", 0),
    ] {
        let (code, text) = shell(folder.path(), line);
        assert_eq!(code, status, "{line}: {text}");
        assert!(!text.contains("panicked"), "{line}: {text}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_standard_error_that_cannot_be_written_changes_nothing() {
    let folder = folder();
    write(&folder, "un.toml", UNMET);
    for (line, status) in [
        ("rlsim run nosuch 2>/dev/full", 2),
        ("rlsim run un.toml 2>/dev/full", 3),
        ("rlsim nosuch 2>/dev/full", 2),
        ("rlsim run un.toml -o a.json 2>&1 >/dev/null | true", 3),
        ("rlsim run un.toml -o a.json 2>&-", 3),
    ] {
        let (code, text) = shell(folder.path(), line);
        assert_eq!(code, status, "{line}: {text}");
        assert!(!text.contains("panicked"), "{line}: {text}");
    }
    assert!(folder.path().join("a.json").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_written_is_named_as_the_user_named_it() {
    let folder = folder();
    write(&folder, "un.toml", UNMET);
    for (line, words) in [
        ("rlsim generate un.toml > /dev/full", "cannot write <stdout>: No space left on device"),
        ("rlsim run un.toml > /dev/full", "cannot write <stdout>: No space left on device"),
        ("rlsim run un.toml --decisions - > /dev/full", "cannot write <stdout>: No space left on device"),
        ("rlsim run un.toml -o nodir/x.svg", "cannot write nodir/x.svg: No such file or directory (os error 2)"),
        ("rlsim run un.toml --decisions nodir/x", "cannot write nodir/x: No such file or directory (os error 2)"),
        ("rlsim generate un.toml -o nodir/x", "cannot write nodir/x: No such file or directory (os error 2)"),
    ] {
        let (code, text) = shell(folder.path(), line);
        assert_eq!(code, 1, "{line}: {text}");
        assert!(text.contains(words) && !text.contains(".rlsim-"), "{line}: {text}");
    }
}

#[test]
fn generate_does_not_write_over_its_scenario() {
    let folder = folder();
    let scenario = write(&folder, "g.toml", UNMET);
    rlsim_in(folder.path(), &["generate", "g.toml", "-o", "./g.toml"], b"").fails(2, &["is read by this run"]);
    assert_eq!(fs::read_to_string(scenario).expect("kept"), UNMET);
}

#[test]
fn a_trace_from_a_pipe_is_as_good_as_a_file() {
    let folder = folder();
    let log = "timestamp,key\n1,a\n2,b\n3,a\n3.5,c\n4,c\n";
    write(&folder, "log.csv", log);
    let expected = rlsim_in(folder.path(), &["replay", "log.csv", "--limit", "1/10s", "--key", "key"], b"").clean();
    for (line, name) in [
        ("rlsim replay <(cat log.csv) --limit 1/10s --key key -o a.svg -q", "/dev/fd/63"),
        ("cat log.csv | rlsim replay /dev/stdin --limit 1/10s --key key -o a.svg -q", "/dev/stdin"),
        ("mkfifo p; cat log.csv > p & rlsim replay p --limit 1/10s --key key -o a.svg -q", "p"),
    ] {
        let (code, text) = shell(folder.path(), line);
        assert_eq!(code, 0, "{line}: {text}");
        // The name is as long as it is: lines are compared without their breaks.
        let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(flat(&text), flat(&expected.replace("log.csv", name)), "{line}");
    }
}

#[test]
fn what_waits_for_a_pipe_can_be_ended() {
    let folder = folder();
    let made = Command::new("mkfifo").arg(folder.path().join("p")).status();
    assert!(made.is_ok_and(|status| status.success()));
    write(&folder, "s.toml", "limit = \"1/1s\"\n[[traffic]]\ntrace = { file = \"p\" }\n[expect.gcra]\ndenied = 0\n");
    for args in [
        &["replay", "p", "--limit", "1/1s", "-o", "a.svg"][..],
        &["run", "s.toml"],
        &["test", "s.toml"],
        &["generate", "s.toml", "-o", "a.csv"],
        &["check", "p"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rlsim"))
            .args(args)
            .current_dir(folder.path())
            .env("TMPDIR", folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        std::thread::sleep(std::time::Duration::from_millis(500));
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(killed.is_ok_and(|status| status.success()));
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{args:?}");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2, "{args:?} leaves something behind");
    }
}
