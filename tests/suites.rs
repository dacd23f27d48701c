//! `rlsim test` over folders that hold anything.

use crate::cli::{folder, rlsim_in, write};
use std::fs;

const MET: &str = "limit = \"5/1s\"\n[[traffic]]\nburst = { requests = 8 }\n[expect.gcra]\ndenied = 3\n";

#[test]
fn one_bad_entry_does_not_hide_the_others() {
    let folder = folder();
    write(&folder, "m.toml", MET);
    write(&folder, "package.toml", "[package]\nname = \"other\"\n");
    write(&folder, "plain.toml", "limit = \"5/1s\"\n[[traffic]]\nburst = { requests = 8 }\n");
    write(&folder, "broken.toml", "limit = [\n");
    write(&folder, "misspelt.toml", &MET.replace("expect", "expct"));
    write(&folder, "nothing.toml", "limit = \"5/1s\"\n[[traffic]]\nburst = { requests = 8 }\n[expect]\n");
    fs::write(folder.path().join("latin.toml"), b"title = \"caf\xe9\"\n").expect("written");
    #[cfg(unix)]
    {
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, folder.path().join(name)).expect("a link");
        link("nowhere.toml", "dangling.toml");
        link("/dev/zero", "zero.toml");
        let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.toml")).status();
        assert!(made.is_ok_and(|status| status.success()));
    }
    let ran = rlsim_in(folder.path(), &["test", "."], b"");
    assert_eq!(ran.status, 2, "{}", ran.stdout);
    for words in [
        "ok    m.toml",
        "FAIL  broken.toml",
        "FAIL  latin.toml",
        "not UTF-8 text",
        "FAIL  misspelt.toml",
        "unknown key `expct`",
        "FAIL  nothing.toml",
        "states nothing",
        "skipped 2 files without [expect]",
    ] {
        assert!(ran.stdout.contains(words), "`{words}` is not in: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("zero.toml") && !ran.stdout.contains("pipe.toml"), "{}", ran.stdout);
    #[cfg(unix)]
    assert!(
        ran.stdout.contains("FAIL  dangling.toml\n      cannot read dangling.toml: No such file"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_named_file_without_expectations_fails_after_the_others_ran() {
    let folder = folder();
    write(&folder, "a.toml", "limit = \"5/1s\"\n[[traffic]]\nburst = { requests = 8 }\n");
    write(&folder, "b.toml", MET);
    let ran = rlsim_in(folder.path(), &["test", "none.toml", "a.toml", "b.toml", "b.toml"], b"");
    assert_eq!(ran.status, 2, "{}", ran.stdout);
    for words in [
        "FAIL  none.toml",
        "FAIL  a.toml",
        "no `[expect]` table",
        "ok    b.toml",
        "1 passed, 2 failed; 1 expectation met",
    ] {
        assert!(ran.stdout.contains(words), "`{words}` is not in: {}", ran.stdout);
    }
}

#[test]
fn a_trace_from_a_pipe_can_be_tested() {
    let folder = folder();
    let scenario = "limit = \"1/1s\"\n[[traffic]]\ntrace = { file = \"-\" }\n[expect.gcra]\ndenied = 1\n";
    write(&folder, "s.toml", scenario);
    let ran = rlsim_in(folder.path(), &["test", "s.toml"], b"timestamp\n0\n0.5\n");
    assert_eq!(ran.status, 0, "{}", ran.stdout);
}
