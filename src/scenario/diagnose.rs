//! From an error of the TOML reader to a place, a cause and a remedy.

use super::source::ScenarioSource;
use crate::error::Error;
use crate::limiter::LimiterSpec;

/// The name of a known thing that a misspelt one most likely means.
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let scored = known.into_iter().map(|known| (strsim::jaro_winkler(&name, &known.to_lowercase()), known));
    scored.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, known)| known)
}

/// Explains an error of the TOML reader.
pub fn explain(source: &ScenarioSource, error: &toml::de::Error) -> Error {
    let span = error.span().unwrap_or(0..0);
    let found = source.text.get(span.clone()).unwrap_or("");
    let message = error.message().trim();
    if let Some(help) = looks_like_a_trace(&source.text) {
        return source.error(
            0..first_line(&source.text).len(),
            "this is not a scenario",
            "this looks like a trace",
            Some(help(&source.name)),
        );
    }
    if let Some((field, accepted)) = unknown_field(message) {
        let help = slip(&field, &source.text[span.end.min(source.text.len())..], &accepted);
        return source.error(span, format!("unknown key `{field}`"), "not a key of this table", Some(help));
    }
    if let Some((variant, accepted)) = unknown_variant(message) {
        let names: Vec<&str> = accepted.iter().map(String::as_str).collect();
        let help = match closest(&variant, names.iter().copied()) {
            Some(close) => format!("did you mean \"{close}\"? accepted: {}", quoted(&names)),
            None => format!("accepted: {}", quoted(&names)),
        };
        return source.error(
            span,
            format!("unknown value \"{variant}\""),
            "not one of the accepted values",
            Some(help),
        );
    }
    if let Some(field) = message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next()) {
        return source.error(span, format!("`{field}` is missing"), format!("this needs `{field}`"), None);
    }
    let message = plain_types(message);
    let (message, help) = match message.split_once("; ") {
        Some((message, help)) => (message.to_owned(), Some(help.to_owned())),
        None => (message, None),
    };
    let label = if found.is_empty() { "here" } else { "found this" };
    source.error(span, message, label, help)
}

/// The field and the accepted ones of serde's message about an unknown field.
fn unknown_field(message: &str) -> Option<(String, Vec<String>)> {
    let rest = message.strip_prefix("unknown field `")?;
    split_names(rest)
}

fn unknown_variant(message: &str) -> Option<(String, Vec<String>)> {
    let rest = message.strip_prefix("unknown variant `")?;
    split_names(rest)
}

fn split_names(rest: &str) -> Option<(String, Vec<String>)> {
    let (name, rest) = rest.split_once('`')?;
    let accepted = rest.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    Some((name.to_owned(), accepted))
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

/// What the writer of an unknown key most likely meant.
fn slip(field: &str, after: &str, accepted: &[String]) -> String {
    let names: Vec<&str> = accepted.iter().map(String::as_str).collect();
    let value = after.trim_start().strip_prefix('=').and_then(|rest| rest.lines().next()).unwrap_or("").trim();
    let word = value.trim_matches(|c| c == '"' || c == '\'');
    let word = word.split(['#', ',']).next().unwrap_or("").trim().trim_end_matches(['"', '\'']);
    if matches!(field, "algorithm" | "type" | "kind" | "limiter" | "pattern") {
        let name = closest(word, names.iter().copied()).unwrap_or("token-bucket");
        return format!("a lane names its algorithm, and traffic its kind, by a key of its own: `{name} = {{ ... }}`");
    }
    let plural = field.trim_end_matches('s');
    if names.contains(&plural) {
        return format!("write `{plural}`; a list repeats it: `[[{plural}]]`");
    }
    if matches!(field, "limiters" | "limiter" | "algorithms") && names.contains(&"lane") {
        return "limiters stand in `[[lane]]` tables".to_owned();
    }
    if names.contains(&"lane") && LimiterSpec::NAMES.contains(&field) {
        return format!("limiters stand in lanes: `[[lane]]`, then `{field} = {{ ... }}`");
    }
    if let Some(knob) = moved(field, &names) {
        return format!("write `{knob}`");
    }
    match closest(field, names.iter().copied()) {
        Some(close) => format!("did you mean `{close}`? accepted: {}", names.join(", ")),
        None if names.is_empty() => "this table takes no keys".to_owned(),
        None => format!("accepted: {}", names.join(", ")),
    }
}

/// Other tools' words for a knob.
fn moved(field: &str, accepted: &[&str]) -> Option<&'static str> {
    let knobs = match field {
        "capacity" | "size" | "max" | "bucket" => ["burst", "capacity", "limit"],
        "burst" | "max-burst" => ["burst", "capacity", "limit"],
        "window" | "period" | "requests" | "units" | "quota" => ["limit", "rate", "requests"],
        "refill-rate" | "fill-rate" | "rps" | "qps" | "rate" => ["rate", "limit", "rate"],
        "weight" | "tokens" => ["cost", "initial", "cost"],
        _ => return None,
    };
    knobs.into_iter().find(|knob| accepted.contains(knob) && *knob != field)
}

/// Types as people call them.
fn plain_types(message: &str) -> String {
    let mut text = message.to_owned();
    for (from, to) in [
        ("invalid value: ", ""),
        ("invalid type: ", ""),
        // More than 64 bits, which is nothing to bother anybody with.
        (" as i128", ""),
        (" as u128", ""),
        ("expected u64", "expected a whole number, 0 or more"),
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected f64", "expected a number"),
        ("expected a boolean", "expected true or false"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected a table"),
        ("sequence", "list"),
        ("map", "table"),
        ("boolean `", "`"),
        ("string \"", "text \""),
    ] {
        text = text.replace(from, to);
    }
    text
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

/// If the text looks like rows of a trace: what to run instead.
fn looks_like_a_trace(text: &str) -> Option<fn(&str) -> String> {
    let line = first_line(text).trim_start_matches('\u{feff}');
    let bare =
        !line.is_empty() && line.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.' | ':'));
    let csv = (line.contains(',') || bare) && !line.contains('=') && !line.starts_with('[');
    let log = line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(" - ");
    let json = line.starts_with('{');
    if csv {
        return Some(|name| format!("to replay a trace: rlsim replay {name} --limit 100/1m"));
    }
    if log || json {
        return Some(|_| "a trace is read as CSV: rlsim replay requests.csv --limit 100/1m".to_owned());
    }
    None
}
