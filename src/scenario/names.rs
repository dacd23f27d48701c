//! Names and other words of a scenario that are told again in reports.

use super::source::ScenarioSource;
use crate::error::Error;
use std::ops::Range;
use toml::Spanned;

/// Unique names: own ones as they are, others by kind, repeats with -2, -3.
pub fn names<'a, 'b>(
    source: &ScenarioSource,
    what: &str,
    own: impl Iterator<Item = Option<&'a Spanned<String>>> + Clone,
    kinds: impl Iterator<Item = &'b str>,
) -> Result<Vec<String>, Error> {
    let mut taken: Vec<String> = Vec::new();
    for name in own.clone().flatten() {
        check_name(source, what, name.get_ref(), name.span())?;
        if taken.contains(name.get_ref()) {
            return Err(source.error(
                name.span(),
                format!("two {what} tables are named `{}`", name.get_ref()),
                "the second",
                Some("names are unique".to_owned()),
            ));
        }
        taken.push(name.get_ref().clone());
    }
    let mut names = Vec::new();
    for (own, kind) in own.zip(kinds) {
        if let Some(name) = own {
            names.push(name.get_ref().clone());
            continue;
        }
        let name = std::iter::once(kind.to_owned())
            .chain((2..).map(|n| format!("{kind}-{n}")))
            .find(|name| !taken.contains(name))
            .expect("numbers do not run out");
        taken.push(name.clone());
        names.push(name);
    }
    Ok(names)
}

fn check_name(source: &ScenarioSource, what: &str, name: &str, span: Range<usize>) -> Result<(), Error> {
    let why = if name.is_empty() {
        "it is empty"
    } else if name.contains('.') {
        "it has a dot, which separates the parts of a path such as `bucket.denied`"
    } else if name.chars().any(char::is_control) {
        return check_text(source, &format!("a {what}"), name, span);
    } else if name.trim() != name {
        "it begins or ends with a space"
    } else if name.chars().count() > 60 {
        "it is longer than 60 characters"
    } else {
        return Ok(());
    };
    Err(source.error(span, format!("`{name}` cannot name a {what}: {why}"), "choose another name", None))
}

/// Refuses what could not be told in a report: nothing at all, and characters that a terminal obeys.
pub fn check_text(source: &ScenarioSource, what: &str, text: &str, span: Range<usize>) -> Result<(), Error> {
    let why = if text.is_empty() {
        "it is empty"
    } else if text.chars().any(char::is_control) {
        "it has a control character"
    } else {
        return Ok(());
    };
    let message = format!("`{}` cannot name {what}: {why}", text.escape_debug());
    Err(source.error(span, message, "choose another name", None))
}

/// Refuses characters that a terminal obeys, but for ends of lines and tabs.
pub fn check_prose(source: &ScenarioSource, what: &str, text: Option<&Spanned<String>>) -> Result<(), Error> {
    let Some(text) = text else { return Ok(()) };
    let obeyed = |c: char| c.is_control() && !['\n', '\r', '\t'].contains(&c);
    match text.get_ref().chars().find(|c| obeyed(*c)) {
        None => Ok(()),
        Some(c) => {
            let message = format!("the {what} has the control character {}", c.escape_unicode());
            Err(source.error(text.span(), message, "not plain text", Some("leave it out".to_owned())))
        }
    }
}
