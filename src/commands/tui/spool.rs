//! A trace from standard input is read once and kept in a temporary file, to be read again.

use crate::error::Error;
use crate::scenario::Plan;
use crate::traffic::{TraceFile, TrafficKind};
use std::io;
use tempfile::NamedTempFile;

/// A plan's loader whose plans never read standard input.
pub struct Spooled<F> {
    load: F,
    file: Option<NamedTempFile>,
}

/// Wraps a loader.
pub const fn spooled<F: Fn() -> Result<Plan, Error>>(load: F) -> Spooled<F> {
    Spooled { load, file: None }
}

impl<F: Fn() -> Result<Plan, Error>> Spooled<F> {
    /// Whether standard input was a trace.
    pub const fn spooled(&self) -> bool {
        self.file.is_some()
    }

    /// Loads the plan, its traces on standard input replaced by the file.
    pub fn load(&mut self) -> Result<Plan, Error> {
        let mut plan = (self.load)()?;
        for entry in &mut plan.traffic.entries {
            if let TrafficKind::Trace(trace) = &mut entry.kind
                && trace.file == TraceFile::Stdin
            {
                let file = match self.file.take() {
                    Some(file) => file,
                    None => spool().map_err(|source| Error::Io { path: "<stdin>".into(), action: "keep", source })?,
                };
                trace.file = TraceFile::Path(file.path().to_owned());
                self.file = Some(file);
            }
        }
        Ok(plan)
    }
}

fn spool() -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    io::copy(&mut io::stdin().lock(), &mut file)?;
    Ok(file)
}
