//! `rlsim test`: every scenario with expectations, a line each.

use super::cli::{TestArgs, TestFormat};
use super::output::stdout;
use super::run::{interrupt_flag, options};
use crate::error::Error;
use crate::runner::{self, Extras};
use crate::scenario::{Expectation, Plan, ScenarioSource};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// What became of one scenario.
struct Tested {
    name: String,
    expectations: usize,
    requests: u64,
    /// One line each; none: all met.
    failures: Vec<String>,
    code: u8,
}

/// Runs all tests under the paths.
pub fn test(args: &TestArgs) -> Result<u8, Error> {
    let options = options(args.threads)?;
    let interrupted = interrupt_flag();
    let here = [PathBuf::from(".")];
    let paths = if args.paths.is_empty() { &here[..] } else { &args.paths };
    let files = find(paths)?;
    if files.is_empty() {
        let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Error::usage(format!(
            "no scenario with an `[expect]` table under {}; such tables say what a lane must do",
            shown.join(", ")
        )));
    }
    let mut tested = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let result = ScenarioSource::load(&name).and_then(|source| Plan::new(&source, &[])).and_then(|plan| {
            let go_on = &mut |_| !interrupted.load(Ordering::Relaxed);
            let outcome = runner::run(&plan, options, Extras::default(), go_on)?;
            Ok((plan, outcome))
        });
        let one = match result {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => Tested {
                name,
                expectations: 0,
                requests: 0,
                failures: vec![error.to_string()],
                code: error.exit_code(),
            },
            Ok((plan, outcome)) => {
                let unmet = Expectation::unmet(&plan.expectations, &outcome.report);
                Tested {
                    name,
                    expectations: plan.expectations.len(),
                    requests: outcome.report.offered.requests,
                    code: if unmet.is_empty() { 0 } else { 3 },
                    failures: unmet.iter().map(ToString::to_string).collect(),
                }
            }
        };
        if args.format == TestFormat::Text {
            stdout(&line(&one))?;
        }
        tested.push(one);
    }
    let failed = tested.iter().filter(|one| one.code != 0).count();
    match args.format {
        TestFormat::Text => {
            let met: usize = tested.iter().filter(|one| one.code == 0).map(|one| one.expectations).sum();
            stdout(&format!("\n{} passed, {failed} failed; {met} expectations met\n", tested.len() - failed))?;
        }
        TestFormat::Junit => stdout(&junit(&tested)?)?,
    }
    // An unmet expectation is what tests are for; anything else went wrong before it.
    Ok(tested.iter().map(|one| one.code).filter(|code| *code != 0).min_by_key(|code| u8::from(*code == 3)).unwrap_or(0))
}

fn line(one: &Tested) -> String {
    let mut text = if one.code == 0 {
        format!("ok    {}  ({} expectations, {} requests)\n", one.name, one.expectations, one.requests)
    } else {
        format!("FAIL  {}\n", one.name)
    };
    for failure in &one.failures {
        text.push_str(&format!("      {failure}\n"));
    }
    text
}

fn junit(tested: &[Tested]) -> Result<String, Error> {
    let mut suite = TestSuite::new("scenarios");
    for one in tested {
        let status = match one.code {
            0 => TestCaseStatus::success(),
            code => {
                let kind = if code == 3 { NonSuccessKind::Failure } else { NonSuccessKind::Error };
                let mut status = TestCaseStatus::non_success(kind);
                status.set_message(one.failures.join("; "));
                status
            }
        };
        suite.add_test_case(TestCase::new(one.name.as_str(), status));
    }
    let mut report = Report::new("rlsim");
    report.add_test_suite(suite);
    let text = report.to_string().map_err(|error| Error::usage(format!("cannot write JUnit: {error}")))?;
    Ok(if text.ends_with('\n') { text } else { text + "\n" })
}

/// Files named, and under directories those that state expectations, in order of name.
fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        let unreadable = |source| Error::Unreadable { path: path.clone(), source };
        if fs::metadata(path).map_err(unreadable)?.is_dir() {
            search(path, &mut files).map_err(unreadable)?;
        } else if states_expectations(path).map_err(unreadable)? {
            files.push(path.clone());
        } else {
            return Err(Error::usage(format!("{} has no `[expect]` table to test", path.display())));
        }
    }
    files.dedup();
    Ok(files)
}

fn search(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let kind = entry.file_type()?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && !hidden && entry.file_name() != "target" {
            search(&path, files)?;
        } else if !kind.is_dir() && path.extension().is_some_and(|e| e == "toml") && states_expectations(&path)? {
            files.push(if path.starts_with("./") { path.components().skip(1).collect() } else { path });
        }
    }
    Ok(())
}

/// Whether a scenario has an `[expect...]` table; read as text, so that a broken one is still found.
fn states_expectations(path: &Path) -> std::io::Result<bool> {
    let bytes = fs::read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("[expect") || line.starts_with("expect.") || line.starts_with("expect =")
    }))
}
