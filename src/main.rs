//! The `rlsim` binary: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    rlsim::commands::main()
}
