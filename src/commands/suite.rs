//! `rlsim test`: every scenario with expectations, a line each.

use super::cli::{TestArgs, TestFormat};
use super::output::stdout;
use super::run::{interrupt_flag, options};
use super::spool::Spool;
use crate::error::Error;
use crate::runner::{self, Extras};
use crate::scenario::{Expectation, Plan, ScenarioSource};
use crate::sim::Options;
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

/// What there is to test, and what there is besides.
#[derive(Default)]
struct Suite {
    tested: Vec<Tested>,
    /// Files found that are no scenarios or expect nothing.
    skipped: usize,
}

/// Runs all tests under the paths.
pub fn test(args: &TestArgs) -> Result<u8, Error> {
    let options = options(args.threads)?;
    let here = [PathBuf::from(".")];
    let paths = if args.paths.is_empty() { &here[..] } else { &args.paths };
    let mut suite = Suite::default();
    for found in find(paths) {
        let one = match examine(&found, options) {
            Ok(Some(one)) => one,
            Ok(None) => {
                suite.skipped += 1;
                continue;
            }
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => Tested::failed(found.name(), &error),
        };
        if args.format == TestFormat::Text {
            stdout(&line(&one))?;
        }
        suite.tested.push(one);
    }
    if suite.tested.is_empty() {
        let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Error::usage(format!(
            "no scenario with an `[expect]` table under {}; such tables say what a lane must do",
            shown.join(", ")
        )));
    }
    stdout(&match args.format {
        TestFormat::Text => suite.summary(),
        TestFormat::Junit => junit(&suite.tested)?,
    })?;
    // An unmet expectation is what tests are for; anything else went wrong before it.
    let codes = suite.tested.iter().map(|one| one.code).filter(|code| *code != 0);
    Ok(codes.min_by_key(|code| u8::from(*code == 3)).unwrap_or(0))
}

impl Suite {
    fn summary(&self) -> String {
        let failed = self.tested.iter().filter(|one| one.code != 0).count();
        // Each failure of a run that came to its end is an expectation that is not met.
        let met = |one: &Tested| one.expectations.saturating_sub(one.failures.len());
        let met: usize = self.tested.iter().map(met).sum();
        let skipped = match self.skipped {
            0 => String::new(),
            n => format!("; skipped {} without [expect]", some(n as u64, "file")),
        };
        let met = some(met as u64, "expectation");
        format!("\n{} passed, {failed} failed; {met} met{skipped}\n", self.tested.len() - failed)
    }
}

impl Tested {
    fn failed(name: String, error: &Error) -> Self {
        let failures = vec![error.to_string()];
        Self { name, expectations: 0, requests: 0, failures, code: error.exit_code() }
    }
}

/// Runs one scenario, if it is one and expects something.
fn examine(found: &Found, options: Options) -> Result<Option<Tested>, Error> {
    let (path, named) = match found {
        Found::File { path, named } => (path, *named),
        Found::Unreadable { path, error } => {
            let source = error.raw_os_error().map_or_else(|| error.kind().into(), std::io::Error::from_raw_os_error);
            return Err(Error::Unreadable { path: path.clone(), source });
        }
    };
    let name = path.display().to_string();
    let source = ScenarioSource::load(&name)?;
    if !named && !is_scenario(&source) {
        return Ok(None);
    }
    let mut plan = Plan::new(&source, &[])?;
    if plan.expectations.is_empty() {
        return match named {
            true => Err(Error::usage("there is no `[expect]` table to test")),
            false => Ok(None),
        };
    }
    let _spool = Spool::take(&mut plan, false)?;
    let interrupted = interrupt_flag();
    let outcome = runner::run(&plan, options, Extras::default(), &mut |_| !interrupted.load(Ordering::Relaxed))?;
    let unmet = Expectation::unmet(&plan.expectations, &outcome.report);
    Ok(Some(Tested {
        name,
        expectations: plan.expectations.len(),
        requests: outcome.report.offered.requests,
        code: if unmet.is_empty() { 0 } else { 3 },
        failures: unmet.iter().map(ToString::to_string).collect(),
    }))
}

/// Whether a file found by its extension is meant for this program. What cannot be read as TOML may
/// be: it is looked at again, and complained of.
fn is_scenario(source: &ScenarioSource) -> bool {
    let Ok(table) = source.text.parse::<toml::Table>() else { return true };
    ["traffic", "lane", "expect"].iter().any(|key| table.contains_key(*key))
}

/// How many of something, with its plural.
fn some(n: u64, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") }
}

fn line(one: &Tested) -> String {
    let mut text = if one.code == 0 {
        let (stated, requests) = (some(one.expectations as u64, "expectation"), some(one.requests, "request"));
        format!("ok    {}  ({stated}, {requests})\n", one.name)
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

/// What the paths lead to.
enum Found {
    File {
        path: PathBuf,
        /// Whether the command line names it.
        named: bool,
    },
    Unreadable {
        path: PathBuf,
        error: std::io::Error,
    },
}

impl Found {
    fn path(&self) -> &Path {
        match self {
            Self::File { path, .. } | Self::Unreadable { path, .. } => path,
        }
    }

    fn name(&self) -> String {
        self.path().display().to_string()
    }
}

/// Files named, and under directories those that may be scenarios, in order of name.
fn find(paths: &[PathBuf]) -> Vec<Found> {
    let mut found = Vec::new();
    for path in paths {
        match fs::metadata(path) {
            Ok(meta) if meta.is_dir() => search(path, &mut found),
            Ok(_) => found.push(Found::File { path: path.clone(), named: true }),
            Err(error) => found.push(Found::Unreadable { path: path.clone(), error }),
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|one| seen.insert(one.path().to_path_buf()));
    found
}

fn search(folder: &Path, found: &mut Vec<Found>) {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => return found.push(Found::Unreadable { path: folder.to_path_buf(), error }),
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let path = if path.starts_with("./") { path.components().skip(1).collect() } else { path };
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        // Of the entry itself: links to folders are not followed, so that there is no way round.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if !hidden && entry.file_name() != "target" {
                search(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            match fs::metadata(&path) {
                Ok(meta) if meta.is_file() => found.push(Found::File { path, named: false }),
                // A pipe or a device would be waited for, perhaps for ever.
                Ok(_) => {}
                Err(error) => found.push(Found::Unreadable { path, error }),
            }
        }
    }
}
