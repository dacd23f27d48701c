//! Dotted paths into a scenario's text: `token-bucket.burst`, `"bucket of ten".burst`,
//! `traffic.0.steady.rate`.
//!
//! A part names a key of a table. In a list of tables it is an entry's name, its number from 0, the
//! kind of the only such entry, which is a key of that entry too, or `*` for every entry.

use std::ops::Range;
use toml_edit::{Array, InlineTable, Item, TableLike, Value};

/// The part that stands for every entry.
pub const EVERY: &str = "*";

/// What is wrong with a path, at which of its parts.
#[derive(Debug)]
pub struct Fault {
    /// The part.
    pub part: usize,
    /// Why it leads nowhere.
    pub message: String,
}

impl Fault {
    /// A fault of a part.
    pub fn at(part: usize, message: impl Into<String>) -> Self {
        Self { part, message: message.into() }
    }
}

/// A path as it is written, and where each part stands in the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// The parts, without quotes.
    pub parts: Vec<String>,
    /// Their places, with quotes.
    pub places: Vec<Range<usize>>,
}

/// Splits `PATH=VALUE` into the parts of its path and where the value begins. A part between quotes
/// may hold anything.
///
/// # Errors
/// If there is no `=`, or a part is empty or does not end: why, and where.
pub fn split(text: &str) -> Result<(Split, usize), (&'static str, Range<usize>)> {
    let mut split = Split::default();
    let mut from = 0;
    loop {
        let blank = text[from..].len() - text[from..].trim_start().len();
        let start = from + blank;
        let quote = text[start..].chars().next().filter(|first| ['"', '\''].contains(first));
        let (part, end) = match quote {
            Some(quote) => {
                let Some(length) = text[start + 1..].find(quote) else {
                    return Err(("a quote has no end", start..text.len()));
                };
                (&text[start + 1..start + 1 + length], start + length + 2)
            }
            None => {
                let end = text[start..].find(['.', '=']).map_or(text.len(), |at| start + at);
                let part = text[start..end].trim_end();
                (part, start + part.len())
            }
        };
        let after = &text[end..];
        let next = end + after.len() - after.trim_start().len();
        if part.is_empty() {
            return Err(("a part of the path is empty", start..end));
        }
        split.parts.push(part.to_owned());
        split.places.push(start..end);
        match text[next..].chars().next() {
            Some('=') => return Ok((split, next + 1)),
            Some('.') => from = next + 1,
            None => return Err(("there is no `=`", text.len()..text.len())),
            Some(_) => return Err(("after a quote comes `.` or `=`", next..text.len())),
        }
    }
}

/// A value as TOML reads it; what is none is a text.
fn value(text: &str) -> Value {
    text.parse::<Value>().unwrap_or_else(|_| Value::from(text))
}

/// Puts a value at a path below a table, making tables on the way. `part` is the number of the
/// path's first part, for faults.
pub fn put(table: &mut dyn TableLike, path: &[&str], text: &str, part: usize) -> Result<(), Fault> {
    match path {
        [] => Err(Fault::at(part.saturating_sub(1), "name what to change of it")),
        [key] => {
            table.insert(key, Item::Value(value(text)));
            Ok(())
        }
        [key, rest @ ..] => {
            let inner = table.entry(key).or_insert_with(|| Item::Value(Value::InlineTable(InlineTable::new())));
            put_below(inner, key, rest, text, part + 1)
        }
    }
}

/// The same below what a key has.
fn put_below(item: &mut Item, key: &str, rest: &[&str], text: &str, part: usize) -> Result<(), Fault> {
    if let Some(tables) = item.as_array_of_tables_mut() {
        let entries = select(&tables.iter().map(|table| table as &dyn TableLike).collect::<Vec<_>>(), None, rest[0]);
        for (index, used) in entries.map_err(|why| Fault::at(part, format!("`{key}` {why}")))? {
            let table = tables.get_mut(index).expect("an index of these tables");
            put(table, &rest[used..], text, part + used)?;
        }
        return Ok(());
    }
    if let Some(array) = item.as_array_mut() {
        return put_in_array(array, key, rest, text, part);
    }
    match item.as_table_like_mut() {
        Some(inner) => put(inner, rest, text, part),
        None => Err(Fault::at(part - 1, format!("`{key}` is a value, not a table"))),
    }
}

/// The same in a list written inline, of tables or of values.
fn put_in_array(array: &mut Array, key: &str, rest: &[&str], text: &str, part: usize) -> Result<(), Fault> {
    let tables: Vec<&dyn TableLike> =
        array.iter().filter_map(Value::as_inline_table).map(|table| table as &dyn TableLike).collect();
    let is_of_tables = tables.len() == array.len();
    let entries = match is_of_tables {
        true => select(&tables, None, rest[0]),
        false => numbered(rest[0], array.len()).map(|index| vec![(index, 1)]),
    };
    for (index, used) in entries.map_err(|why| Fault::at(part, format!("`{key}` {why}")))? {
        let entry = array.get_mut(index).expect("an index of this list");
        match (entry.as_inline_table_mut(), &rest[used..]) {
            (Some(table), below) => put(table, below, text, part + used)?,
            (None, []) => {
                array.replace(index, value(text));
            }
            (None, _) => return Err(Fault::at(part, format!("entry {index} of `{key}` is a value, not a table"))),
        }
    }
    Ok(())
}

/// Entries of a list that a part means, and how many parts that uses up: none where it is a kind.
///
/// # Errors
/// If it means none or several: how the sentence about the list goes on.
pub fn select(tables: &[&dyn TableLike], names: Option<&[String]>, part: &str) -> Result<Vec<(usize, usize)>, String> {
    if part == EVERY {
        return Ok((0..tables.len()).map(|index| (index, 1)).collect());
    }
    let own = |table: &&dyn TableLike| table.get("name").and_then(Item::as_str) == Some(part);
    let named = names.and_then(|names| names.iter().position(|name| name == part));
    if let Some(index) = named.or_else(|| tables.iter().position(own)) {
        return Ok(vec![(index, 1)]);
    }
    let of_kind: Vec<usize> = (0..tables.len()).filter(|index| tables[*index].contains_key(part)).collect();
    match &of_kind[..] {
        [only] => Ok(vec![(*only, 0)]),
        [] => match (numbered(part, tables.len()), names) {
            (Ok(index), _) => Ok(vec![(index, 1)]),
            (Err(_), Some(names)) if part.parse::<usize>().is_err() => {
                Err(format!("has no `{part}`; there are {}", names.join(", ")))
            }
            (Err(why), _) => Err(why),
        },
        several => {
            let numbers: Vec<String> = several.iter().map(ToString::to_string).collect();
            Err(format!("has `{part}` in {} entries; say which by its number: {}", several.len(), numbers.join(", ")))
        }
    }
}

/// An entry's number as it is written.
fn numbered(part: &str, length: usize) -> Result<usize, String> {
    let most = length.saturating_sub(1);
    match part.parse::<usize>() {
        Ok(index) if index < length => Ok(index),
        Ok(_) if length == 0 => Err("is an empty list".to_owned()),
        Ok(_) => Err(format!("is a list that ends with entry {most}, counted from 0")),
        Err(_) => Err(format!("is a list without a `{part}`; name an entry or give its number, 0 to {most}")),
    }
}

/// Whether all parts lead to a table that is there.
pub fn reaches(table: &dyn TableLike, path: &[&str]) -> bool {
    let [key, rest @ ..] = path else { return true };
    let Some(inner) = table.get(key) else { return false };
    let below = |tables: &[&dyn TableLike]| match rest {
        [] => false,
        [part, ..] => select(tables, None, part)
            .is_ok_and(|entries| entries.iter().any(|(index, used)| reaches(tables[*index], &rest[*used..]))),
    };
    match (inner.as_array_of_tables(), inner.as_array()) {
        (Some(tables), _) => below(&tables.iter().map(|table| table as &dyn TableLike).collect::<Vec<_>>()),
        (None, Some(array)) => {
            let tables: Vec<&dyn TableLike> =
                array.iter().filter_map(Value::as_inline_table).map(|table| table as &dyn TableLike).collect();
            tables.len() == array.len() && below(&tables)
        }
        (None, None) => inner.as_table_like().is_some_and(|inner| reaches(inner, rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml_edit::DocumentMut;

    fn parts(text: &str) -> Result<(Vec<String>, &str), &'static str> {
        split(text).map(|(split, value)| (split.parts, &text[value..])).map_err(|(why, _)| why)
    }

    #[test]
    fn paths_are_split_at_dots_outside_quotes() {
        let split = |text| parts(text).map(|(parts, value)| (parts.join("|"), value));
        assert_eq!(split("a.b=1"), Ok(("a|b".to_owned(), "1")));
        assert_eq!(split("bucket of ten . burst =1=2"), Ok(("bucket of ten|burst".to_owned(), "1=2")));
        assert_eq!(split("\"a.b=c\".d=e.f"), Ok(("a.b=c|d".to_owned(), "e.f")));
        assert_eq!(split("'a' . b="), Ok(("a|b".to_owned(), "")));
        for text in ["a.b", "", "=", ".a=1", "a..b=1", "\"a=1", "\"a\"b=1", "\"\".a=1"] {
            assert!(split(text).is_err(), "{text}");
        }
    }

    const TEXT: &str = "envelope = [\"1s\", \"2s\"]\nsteps = [{ a = 1 }, { b = { c = 2 } }]\n\
                        [[fault]]\nname = \"first\"\nstore-down = { until = \"1s\" }\n\
                        [[fault]]\nslow = { until = \"2s\" }\n[[fault]]\nslow = { until = \"3s\" }\n";

    fn changed(path: &str) -> Result<String, String> {
        let mut document: DocumentMut = TEXT.parse().expect("TOML");
        let parts: Vec<&str> = path.split('.').collect();
        let before: Vec<&str> = TEXT.lines().collect();
        put(document.as_table_mut(), &parts, "9", 0).map_err(|fault| format!("{} {}", fault.part, fault.message))?;
        let after = document.to_string();
        Ok(after.lines().filter(|line| !before.contains(line)).collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn entries_go_by_name_number_or_only_kind() {
        for path in ["fault.0.store-down.until", "fault.first.store-down.until", "fault.store-down.until"] {
            assert_eq!(changed(path), Ok("store-down = { until = 9 }".to_owned()), "{path}");
        }
        assert_eq!(changed("fault.2.slow.until"), Ok("slow = { until = 9 }".to_owned()));
        assert_eq!(changed("envelope.1"), Ok("envelope = [\"1s\", 9]".to_owned()));
        for path in ["steps.b.c", "steps.1.b.c"] {
            assert_eq!(changed(path), Ok("steps = [{ a = 1 }, { b = { c = 9 } }]".to_owned()), "{path}");
        }
        assert_eq!(changed("fault.*.from"), Ok("from = 9; from = 9; from = 9".to_owned()));
        assert_eq!(changed("new.table.key"), Ok("new = { table = { key = 9 } }".to_owned()));
    }

    #[test]
    fn what_leads_nowhere_says_where_and_why() {
        for (path, fault) in [
            ("fault.slow.until", "1 `fault` has `slow` in 2 entries; say which by its number: 1, 2"),
            ("fault.3.slow.until", "1 `fault` is a list that ends with entry 2, counted from 0"),
            ("fault.gone.until", "1 `fault` is a list without a `gone`; name an entry or give its number, 0 to 2"),
            ("fault.1", "1 name what to change of it"),
            ("envelope.one", "1 `envelope` is a list without a `one`; name an entry or give its number, 0 to 1"),
            ("envelope.0.a", "1 entry 0 of `envelope` is a value, not a table"),
            ("fault.first.name.x", "2 `name` is a value, not a table"),
        ] {
            assert_eq!(changed(path), Err(fault.to_owned()), "{path}");
        }
    }

    #[test]
    fn a_path_reaches_what_is_there() {
        let document: DocumentMut = TEXT.parse().expect("TOML");
        let reaches = |path: &str| reaches(document.as_table(), &path.split('.').collect::<Vec<_>>());
        assert!(reaches("fault.0") && reaches("fault.store-down") && reaches("steps.1.b") && reaches("fault.*.slow"));
        assert!(!reaches("fault.3") && !reaches("envelope.0") && !reaches("fault.0.slow") && !reaches("fault"));
    }
}
