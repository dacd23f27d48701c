//! What can go wrong, with its place, cause and remedy.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

/// An error of the library. [`Error::exit_code`] says which exit status it means.
#[derive(Debug)]
pub enum Error {
    /// The command line is at fault.
    Usage {
        /// What was found and what is accepted.
        message: String,
    },
    /// A scenario is at fault, at a place in its text.
    Scenario(Box<Diagnostic>),
    /// A file that must be read before the run cannot be.
    Unreadable {
        /// The file as the user named it.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A trace is at fault.
    Trace {
        /// The file as the user named it.
        file: String,
        /// The line, counted from 1, where there is one.
        line: Option<u64>,
        /// What is wrong.
        reason: String,
        /// What to do about it.
        remedy: Option<Remedy>,
    },
    /// Reading or writing failed during the run.
    Io {
        /// The file as the user named it.
        path: PathBuf,
        /// What was attempted: "read", "write".
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// A quantity left the range in which it is exact.
    Range {
        /// Which, where, and what the range is.
        message: String,
    },
    /// The user ended the run.
    Interrupted,
}

/// What to do about a faulty trace. A setting is spelt in two ways, as in a scenario and as on the
/// command line, and it is for those who show it to know which their user writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    scenario: String,
    command_line: String,
}

impl Remedy {
    /// A remedy that is no setting.
    pub fn plain(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { scenario: text.clone(), command_line: text }
    }

    /// A setting, as in a scenario and as on the command line, and what it does.
    #[must_use]
    pub fn setting(key: &str, in_toml: &str, typed: &str, does: &str) -> Self {
        Self { scenario: format!("{key} = {in_toml} {does}"), command_line: format!("--{key} {typed} {does}") }
    }

    /// One text in a scenario and another on the command line.
    pub fn either(scenario: impl Into<String>, command_line: impl Into<String>) -> Self {
        Self { scenario: scenario.into(), command_line: command_line.into() }
    }

    /// This one and another.
    #[must_use]
    pub fn then(self, between: &str, other: &Self) -> Self {
        Self {
            scenario: self.scenario + between + &other.scenario,
            command_line: self.command_line + between + &other.command_line,
        }
    }

    /// As it is spelt in a scenario.
    #[must_use]
    pub fn in_scenario(&self) -> &str {
        &self.scenario
    }
}

/// A fault in a text: where, what, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Name of the text: a path, or `scenario boundary`.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// The bytes at fault.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What stands under the caret.
    pub label: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl Error {
    /// A usage error.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage { message: shortened(&message.into()) }
    }

    /// The exit status: 2 where the user's words are at fault, 1 where the run failed, 130 where
    /// the user ended it.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Usage { .. } | Self::Scenario(_) | Self::Unreadable { .. } => 2,
            Self::Trace { .. } | Self::Io { .. } | Self::Range { .. } => 1,
            Self::Interrupted => 130,
        }
    }

    /// The same for someone who wrote no scenario: remedies are spelt as on the command line.
    #[must_use]
    pub fn for_command_line(self) -> Self {
        match self {
            Self::Trace { file, line, reason, remedy } => {
                let remedy = remedy.map(|remedy| Remedy::plain(remedy.command_line));
                Self::Trace { file, line, reason, remedy }
            }
            other => other,
        }
    }

    /// Whether the reader of our output went away, which is not a failure.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// A message in which long values, which stand between backticks or quotes, are cut.
#[must_use]
pub fn shortened(message: &str) -> String {
    const LONG: usize = 100;
    const SHOWN: usize = 60;
    let mut text = String::new();
    let mut rest = message;
    while let Some(at) = rest.find(['`', '"']) {
        let (before, from) = rest.split_at(at + 1);
        text.push_str(before);
        rest = from;
        let quote = &before[at..];
        let Some(end) = rest.find(quote) else { break };
        let value = &rest[..end];
        if value.chars().count() > LONG {
            text.extend(value.chars().take(SHOWN));
            text.push('…');
        } else {
            text.push_str(value);
        }
        text.push_str(quote);
        rest = &rest[end + 1..];
    }
    match rest.chars().count() > 40 * LONG {
        true => text + &rest.chars().take(LONG).collect::<String>() + "…",
        false => text + rest,
    }
}

impl Diagnostic {
    /// Line and column of the fault, both from 1; columns count characters.
    #[must_use]
    pub fn position(&self) -> (usize, usize) {
        let start = self.span.start.min(self.text.len());
        let before = &self.text.as_bytes()[..start];
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        let from = before.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        (line, String::from_utf8_lossy(&before[from..]).chars().count() + 1)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.position();
        write!(f, "{}:{line}:{column}: {}", self.name, self.message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage { message } | Self::Range { message } => f.write_str(message),
            Self::Scenario(diagnostic) => diagnostic.fmt(f),
            Self::Unreadable { path, source } => write!(f, "cannot read {}: {source}", path.display()),
            Self::Trace { file, line, reason, remedy } => {
                match line {
                    Some(line) => write!(f, "{file}:{line}: {reason}")?,
                    None => write!(f, "{file}: {reason}")?,
                }
                match remedy {
                    Some(remedy) => write!(f, "; {}", remedy.in_scenario()),
                    None => Ok(()),
                }
            }
            Self::Interrupted => f.write_str("interrupted"),
            Self::Io { path, action, source } => write!(f, "cannot {action} {}: {source}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { source, .. } | Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
