//! Where a scenario's text comes from.

use super::embedded::{EMBEDDED, embedded};
use crate::error::{Diagnostic, Error, shortened};
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A scenario's text, its name, and what its relative paths are relative to.
#[derive(Clone, Debug)]
pub struct ScenarioSource {
    /// A path, `<stdin>`, or the name of an embedded scenario.
    pub name: String,
    /// The text.
    pub text: String,
    /// The folder of relative trace paths.
    pub folder: PathBuf,
    /// Whether its traces may be the embedded ones.
    pub embedded: bool,
}

impl ScenarioSource {
    /// Reads a file, standard input (`-`), or the embedded scenario of that name.
    ///
    /// # Errors
    /// If there is no such file or scenario, or it is not UTF-8 text.
    pub fn load(name: &str) -> Result<Self, Error> {
        if name == "-" {
            let unreadable = |source| Error::Unreadable { path: "<stdin>".into(), source };
            let bytes = read(std::io::stdin().lock()).map_err(unreadable)?;
            return Self::from_bytes("<stdin>", bytes, PathBuf::new(), false);
        }
        let path = Path::new(name);
        match std::fs::File::open(path).and_then(read) {
            Ok(bytes) => {
                let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
                Self::from_bytes(name, bytes, folder, false)
            }
            Err(error) => match embedded(name) {
                Some(scenario) => Ok(Self {
                    name: format!("scenarios/{}.toml", scenario.name),
                    text: scenario.text.to_owned(),
                    folder: PathBuf::new(),
                    embedded: true,
                }),
                None if error.kind() == std::io::ErrorKind::NotFound => Err(Error::usage(not_found(name))),
                None => Err(Error::Unreadable { path: path.to_path_buf(), source: error }),
            },
        }
    }

    fn from_bytes(name: &str, bytes: Vec<u8>, folder: PathBuf, embedded: bool) -> Result<Self, Error> {
        if bytes.len() as u64 > LARGEST {
            let mib = LARGEST >> 20;
            return Err(Error::usage(format!("{name} is more than {mib} MiB, which is too much for a scenario")));
        }
        if bytes.starts_with(&[0x1f, 0x8b]) {
            return Err(Error::usage(format!(
                "{name} is gzip data, not a scenario; to replay a trace: rlsim replay {name} --limit 100/1m"
            )));
        }
        if bytes.contains(&0) {
            return Err(Error::usage(format!("{name} holds zero bytes: it is not a text, so it is no scenario")));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            Error::usage(format!("{name} is not UTF-8 text from byte {} on", error.utf8_error().valid_up_to()))
        })?;
        Ok(Self { name: name.to_owned(), text, folder, embedded })
    }

    /// An error at a place of the text.
    pub(super) fn error(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
        help: Option<String>,
    ) -> Error {
        Error::Scenario(Box::new(Diagnostic {
            name: self.name.clone(),
            text: self.text.clone(),
            span,
            message: shortened(&message.into()),
            label: label.into(),
            help: help.map(|help| shortened(&help)),
        }))
    }
}

/// Bytes that a scenario may have.
const LARGEST: u64 = 16 << 20;

/// All bytes, or just more than a scenario may have: some files have no end.
fn read(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn not_found(name: &str) -> String {
    let names = EMBEDDED.iter().map(|scenario| scenario.name);
    let hint = match super::diagnose::closest(name.trim_end_matches(".toml"), names.clone()) {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("embedded: {}", names.collect::<Vec<_>>().join(", ")),
    };
    format!("no file and no embedded scenario is named `{name}`; {hint}")
}
