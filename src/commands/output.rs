//! Files written whole or not at all, and standard output.

use crate::error::Error;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::NamedTempFile;

/// Writes a text to standard output. That nobody reads it any more is no failure, and ends nothing:
/// there is still a verdict to give.
pub fn stdout(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    unless_gone(out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|source| Error::Io {
        path: "<stdout>".into(),
        action: "write",
        source,
    }))
}

/// What writing came to, if its reader is still there.
pub fn unless_gone(written: Result<(), Error>) -> Result<(), Error> {
    match written {
        Err(error) if error.is_broken_pipe() => Ok(()),
        written => written,
    }
}

/// Writes a line to standard error. Where even that fails, there is nobody left to tell.
pub fn stderr(line: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Temporary files of this process. Those left are removed when it is ended from the side.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Has a temporary file removed even if the process is ended from the side.
pub fn remember_temporary(path: &Path) {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_path_buf());
}

/// Removes the temporary files there still are.
pub fn remove_temporary() {
    for path in TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // One that has been renamed or dropped is not there any more.
        let _ = fs::remove_file(path);
    }
}

/// A file being written: beside its place until it is finished, then renamed into it. Devices and
/// pipes are written straight; symbolic links are followed.
pub struct OutputFile {
    path: PathBuf,
    target: Target,
    /// Whether writing goes on, to nowhere, when the reader is gone.
    patient: bool,
}

enum Target {
    Beside { file: BufWriter<NamedTempFile>, place: PathBuf },
    Straight(BufWriter<File>),
    Stdout(io::Stdout),
}

impl OutputFile {
    /// Opens a file for writing, before the run, so that a bad path fails at once.
    ///
    /// # Errors
    /// If the folder does not exist or may not be written.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let failed = |source| cannot_write(path, &source);
        if path == Path::new("-") {
            return Ok(Self { path: "<stdout>".into(), target: Target::Stdout(io::stdout()), patient: false });
        }
        let target = match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(failed(io::Error::from(io::ErrorKind::IsADirectory))),
            Ok(found) if !found.is_file() => {
                let file = fs::OpenOptions::new().write(true).open(path).map_err(failed)?;
                Target::Straight(BufWriter::new(file))
            }
            found => {
                let place = resolve(path).map_err(failed)?;
                let folder = match place.parent() {
                    Some(folder) if !folder.as_os_str().is_empty() => folder,
                    _ => Path::new("."),
                };
                let mut builder = tempfile::Builder::new();
                builder.prefix(".rlsim-");
                permissions(&mut builder);
                let file = builder.tempfile_in(folder).map_err(failed)?;
                remember_temporary(file.path());
                if let Ok(found) = found {
                    file.as_file().set_permissions(found.permissions()).map_err(failed)?;
                }
                Target::Beside { file: BufWriter::new(file), place }
            }
        };
        Ok(Self { path: path.to_path_buf(), target, patient: false })
    }

    /// Has writing go on, to nowhere, when the reader is gone.
    pub fn patient(mut self, patient: bool) -> Self {
        self.patient = patient;
        self
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// If what is buffered cannot be written or the file cannot be renamed.
    pub fn finish(self) -> Result<(), Error> {
        let Self { path, target, patient } = self;
        let failed = |source| cannot_write(&path, &source);
        let flushed = |result: io::Result<()>| match result {
            Err(error) if patient && error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result.map_err(failed),
        };
        match target {
            Target::Straight(mut file) => flushed(file.flush()),
            Target::Stdout(mut out) => flushed(out.flush()),
            Target::Beside { file, place } => {
                let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
                file.persist(&place).map_err(|error| failed(error.error))?;
                Ok(())
            }
        }
    }

    /// Writes a whole text and puts the file in its place.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn write_all(mut self, text: &str) -> Result<(), Error> {
        Write::write_all(&mut self, text.as_bytes()).map_err(|source| cannot_write(&self.path, &source))?;
        self.finish()
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.target {
            Target::Beside { file, .. } => file.write(bytes),
            Target::Straight(file) => file.write(bytes),
            Target::Stdout(out) => out.write(bytes),
        };
        match written {
            Err(error) if self.patient && error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut self.target {
            Target::Beside { file, .. } => file.flush(),
            Target::Straight(file) => file.flush(),
            Target::Stdout(out) => out.flush(),
        };
        match flushed {
            Err(error) if self.patient && error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

/// An error of writing with the user's path and the system's reason. Errors about the temporary
/// file beside carry its name, which would tell nothing.
pub fn cannot_write(path: &Path, error: &io::Error) -> Error {
    let path = if path == Path::new("-") { Path::new("<stdout>") } else { path };
    let source = match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => {
            let text = error.to_string();
            let reason = text.split_once(" at path ").map_or(text.as_str(), |(reason, _)| reason);
            io::Error::new(error.kind(), reason.to_owned())
        }
    };
    Error::Io { path: path.to_path_buf(), action: "write", source }
}

/// The file that a path means: itself, or what its symbolic links lead to.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_path_buf();
    for _ in 0..40 {
        match fs::read_link(&place) {
            Ok(link) => place = place.parent().unwrap_or(Path::new("")).join(link),
            Err(_) => return Ok(place),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// A new file gets the permissions that any new file gets, not those of a private one.
#[cfg(unix)]
fn permissions(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn permissions(_builder: &mut tempfile::Builder<'_, '_>) {}
