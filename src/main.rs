//! The `rlsim` binary.

use rlsim::commands::tui;
use rlsim::error::Error;
use rlsim::scenario::{Plan, ScenarioSource};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run", name, "--tui"] => {
            let name = (*name).to_owned();
            let load = move || Plan::new(&ScenarioSource::load(&name)?, &[]);
            let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
            tui::open(load, tui::Options { colour, ..tui::Options::default() })
        }
        _ => Err(Error::usage("rlsim run FILE --tui")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
