//! Traces that can be read only once, from standard input or a pipe, are kept in temporary files to
//! be read again.

use super::output::remember_temporary;
use crate::error::Error;
use crate::scenario::Plan;
use crate::traffic::{TraceFile, TrafficKind};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// How much of standard input is kept for a run that can do without reading it twice.
const KEPT: u64 = 256 << 20;

/// Temporary files, gone with this.
#[derive(Default)]
pub struct Spool {
    kept: Vec<Kept>,
}

/// What was read of one input.
struct Kept {
    /// A pipe; none: standard input.
    pipe: Option<PathBuf>,
    file: NamedTempFile,
    /// Whether it holds all that there was.
    whole: bool,
}

impl Spool {
    /// Makes the plan read temporary files wherever it would read standard input or a pipe: all of
    /// standard input if `whole` is wanted, else what is too long for a file stays a stream, which
    /// can be read only once. Pipes are kept whole.
    ///
    /// # Errors
    /// If an input cannot be read or a file cannot be written.
    pub fn take(plan: &mut Plan, whole: bool) -> Result<Option<Self>, Error> {
        let mut spool = None;
        Self::reuse(plan, &mut spool, whole)?;
        Ok(spool)
    }

    /// As [`take`](Self::take), with the files of an earlier plan if there are some.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn reuse(plan: &mut Plan, spool: &mut Option<Self>, whole: bool) -> Result<(), Error> {
        for entry in &mut plan.traffic.entries {
            let TrafficKind::Trace(trace) = &mut entry.kind else { continue };
            let pipe = match &trace.file {
                TraceFile::Stdin { .. } => None,
                TraceFile::Path(path) if is_pipe(path) => Some(path.clone()),
                TraceFile::Path(_) | TraceFile::Embedded(_) => continue,
            };
            let kept = spool.get_or_insert_default().keep(pipe, &trace.display, whole)?;
            let path = kept.file.path().to_owned();
            trace.file = if kept.whole { TraceFile::Path(path) } else { TraceFile::Stdin { head: Some(path) } };
        }
        Ok(())
    }

    /// What was read of an input, now or before.
    fn keep(&mut self, pipe: Option<PathBuf>, display: &str, whole: bool) -> Result<&Kept, Error> {
        if let Some(at) = self.kept.iter().position(|kept| kept.pipe == pipe) {
            return Ok(&self.kept[at]);
        }
        let failed = |source| {
            let path = std::env::temp_dir();
            Error::Io { path, action: "keep the trace for a second reading in", source }
        };
        let mut file = NamedTempFile::new().map_err(failed)?;
        remember_temporary(file.path());
        let (mut input, limit): (Box<dyn Read>, u64) = match &pipe {
            None => (Box::new(io::stdin().lock()), if whole { u64::MAX } else { KEPT }),
            Some(path) => {
                let unreadable = |source| Error::Io { path: display.into(), action: "read", source };
                (Box::new(File::open(path).map_err(unreadable)?), u64::MAX)
            }
        };
        let read = io::copy(&mut input.by_ref().take(limit), &mut file).map_err(failed)?;
        self.kept.push(Kept { pipe, file, whole: read < limit });
        Ok(&self.kept[self.kept.len() - 1])
    }
}

/// Whether what is read from a path is gone afterwards. Other devices are left alone: some of them
/// never end.
#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo() || found.file_type().is_socket())
}

#[cfg(not(unix))]
fn is_pipe(_path: &Path) -> bool {
    false
}
