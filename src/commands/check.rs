//! `rlsim check`: validate without running.

use super::cli::CheckArgs;
use super::notes::{missing, silent};
use super::output::{stderr, stdout};
use super::render;
use crate::error::Error;
use crate::scenario::{Plan, ScenarioSource};

/// Validates scenarios; with `--resolved`, prints the plan of each.
pub fn check(args: &CheckArgs) -> Result<u8, Error> {
    let overrides = args.changes.overrides()?;
    if args.resolved && args.files.len() > 1 {
        return Err(Error::usage("--resolved prints one plan, as one scenario; name one file"));
    }
    let mut code = 0;
    for file in &args.files {
        let plan = ScenarioSource::load(file).and_then(|source| Plan::new(&source, &overrides));
        match plan {
            Ok(plan) if args.resolved => {
                let text = toml::to_string_pretty(&plan.resolved()).expect("a resolved plan is plain data");
                stdout(&text)?;
            }
            Ok(plan) => {
                for note in missing(&plan).iter().chain(&silent(&plan)).chain(&plan.warnings) {
                    stderr(format_args!("note: {file}: {note}"));
                }
                let some = |n: usize, one: &str| if n == 1 { format!("1 {one}") } else { format!("{n} {one}s") };
                stdout(&format!(
                    "{file}: valid, {}, {}, {}\n",
                    some(plan.lanes.len(), "lane"),
                    some(plan.traffic.entries.len(), "traffic table"),
                    some(plan.expectations.len(), "expectation")
                ))?;
            }
            Err(error) => {
                // All files are looked at, so that one mistake does not hide the next.
                render::error(&error);
                code = error.exit_code();
            }
        }
    }
    Ok(code)
}
