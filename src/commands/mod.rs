//! The command line: parse it, wire the pieces, write files, own the terminal and the wall clock.

mod check;
mod cli;
mod explain;
mod generate;
mod headers;
mod list;
mod notes;
mod output;
mod paper;
mod progress;
mod render;
mod replay;
mod run;
mod signals;
mod spool;
mod suite;
mod sweep;
mod topics;
pub mod tui;

use crate::error::Error;
use clap::Parser;
use cli::{Cli, Command};
use std::process::ExitCode;

/// Runs the program with the process's arguments and returns its exit status: 0 done, 1 the run
/// failed, 2 usage or scenario invalid, 3 an expectation unmet, 130 interrupted.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers; anything else is a usage error.
            let code = if error.use_stderr() { 2 } else { 0 };
            let printed = error.print();
            let gone = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
            let failed = printed.is_err_and(|error| !gone(&error));
            return ExitCode::from(if failed && code == 0 { 1 } else { code });
        }
    };
    signals::install();
    match dispatch(cli) {
        Ok(code) => ExitCode::from(code),
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            render::error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

fn dispatch(cli: Cli) -> Result<u8, Error> {
    match cli.command {
        None => {
            output::stdout(cli::FIRST_STEPS)?;
            Ok(0)
        }
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Sweep(args)) => sweep::sweep(&args),
        Some(Command::Replay(args)) => replay::replay(&args),
        Some(Command::Paper(args)) => paper::paper(&args),
        Some(Command::Test(args)) => suite::test(&args),
        Some(Command::Check(args)) => check::check(&args),
        Some(Command::List(args)) => list::list(&args),
        Some(Command::Show(args)) => list::show(&args),
        Some(Command::Explain(args)) => explain::explain(&args),
        Some(Command::Generate(args)) => generate::generate(&args),
        Some(Command::Completions(args)) => list::completions(&args),
        Some(Command::Man) => list::man(),
    }
}
