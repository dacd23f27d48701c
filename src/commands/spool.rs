//! A trace from standard input is read once and kept in a temporary file, to be read again.

use super::output::remember_temporary;
use crate::error::Error;
use crate::scenario::Plan;
use crate::traffic::{TraceFile, TrafficKind};
use std::io::{self, Read};
use tempfile::NamedTempFile;

/// How much of standard input is kept for a run that can do without reading it twice.
const KEPT: u64 = 256 << 20;

/// A temporary file, gone with this.
pub struct Spool {
    file: NamedTempFile,
    /// Whether it holds all that there was.
    whole: bool,
}

impl Spool {
    /// Makes the plan read a temporary file wherever it would read standard input: all of it if
    /// `whole` is wanted. Else what is too long for a file stays a stream, which can be read only
    /// once.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn take(plan: &mut Plan, whole: bool) -> Result<Option<Self>, Error> {
        let mut spool = None;
        Self::reuse(plan, &mut spool, whole)?;
        Ok(spool)
    }

    /// As [`take`](Self::take), with the file of an earlier plan if there is one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn reuse(plan: &mut Plan, spool: &mut Option<Self>, whole: bool) -> Result<(), Error> {
        for entry in &mut plan.traffic.entries {
            if let TrafficKind::Trace(trace) = &mut entry.kind
                && matches!(trace.file, TraceFile::Stdin { .. })
            {
                let kept = match spool.take() {
                    Some(kept) => kept,
                    None => Self::read(whole).map_err(|source| {
                        let path = std::env::temp_dir();
                        Error::Io { path, action: "keep standard input for a second reading in", source }
                    })?,
                };
                let path = kept.file.path().to_owned();
                trace.file = if kept.whole { TraceFile::Path(path) } else { TraceFile::Stdin { head: Some(path) } };
                *spool = Some(kept);
            }
        }
        Ok(())
    }

    fn read(whole: bool) -> io::Result<Self> {
        let limit = if whole { u64::MAX } else { KEPT };
        let mut file = NamedTempFile::new()?;
        remember_temporary(file.path());
        let kept = io::copy(&mut io::stdin().lock().take(limit), &mut file)?;
        Ok(Self { file, whole: kept < limit })
    }
}
