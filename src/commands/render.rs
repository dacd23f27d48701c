//! Errors as people read them.

use super::output::stderr;
use crate::error::{Diagnostic, Error};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// Prints an error on standard error, coloured if that is a terminal that wants it.
pub fn error(error: &Error) {
    use std::io::IsTerminal;
    let color = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let text = match error {
        Error::Scenario(diagnostic) => diagnostic_text(diagnostic, color),
        other => format!("error: {other}"),
    };
    stderr(text.trim_end());
}

/// An error as text without colours.
pub fn plain(error: &Error) -> String {
    match error {
        Error::Scenario(diagnostic) => diagnostic_text(diagnostic, false),
        other => other.to_string(),
    }
}

/// A fault with its line and a caret.
fn diagnostic_text(diagnostic: &Diagnostic, color: bool) -> String {
    let text = &diagnostic.text;
    let start = diagnostic.span.start.min(text.len());
    let end = diagnostic.span.end.clamp(start, text.len());
    // The first line of a table says where it is; its whole body would only be noise.
    let end = text[start..end].find('\n').map_or(end, |line| start + line);
    let snippet = Snippet::source(text.as_str())
        .path(diagnostic.name.as_str())
        .annotation(AnnotationKind::Primary.span(start..end).label(diagnostic.label.as_str()));
    let mut group = Level::ERROR.primary_title(diagnostic.message.as_str()).element(snippet);
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}
