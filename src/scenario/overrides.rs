//! What the command line changes of a scenario, applied to its text so that one reader checks all.

use super::source::ScenarioSource;
use crate::error::Error;
use crate::limiter::LimiterSpec;
use std::fmt;
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Override {
    /// `--set PATH=VALUE`
    Set {
        /// Dotted path: a top-level key, or the name of a lane or of traffic first.
        path: Vec<String>,
        /// The value as it was written.
        value: String,
    },
    /// `--algorithm a,b`
    Algorithms(Vec<String>),
}

impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { path, value } => write!(f, "{}={value}", path.join(".")),
            Self::Algorithms(names) => write!(f, "algorithm={}", names.join(",")),
        }
    }
}

impl Override {
    /// Reads `PATH=VALUE`.
    ///
    /// # Errors
    /// If there is no `=` or a part of the path is empty.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let fail = |why: &str| {
            Err(Error::usage(format!("--set {text}: {why}; write PATH=VALUE, as in `--set token-bucket.burst=20`")))
        };
        let Some((path, value)) = text.split_once('=') else { return fail("there is no `=`") };
        let path: Vec<String> = path.split('.').map(|part| part.trim().to_owned()).collect();
        if path.iter().any(String::is_empty) {
            return fail("a part of the path is empty");
        }
        let value = value.trim();
        if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) && value.parse::<i64>().is_err() {
            return fail(&format!("the largest number is {}", i64::MAX));
        }
        Ok(Self::Set { path, value: value.to_owned() })
    }

    /// The scenario with all changes made.
    ///
    /// # Errors
    /// If a path leads nowhere or an algorithm is unknown.
    pub(super) fn apply(overrides: &[Self], source: &ScenarioSource) -> Result<ScenarioSource, Error> {
        let mut document: DocumentMut = source
            .text
            .parse()
            .map_err(|error: toml_edit::TomlError| Error::usage(format!("{}: {error}", source.name)))?;
        // Algorithms first: they decide which lanes there are to change.
        for change in overrides {
            if let Self::Algorithms(names) = change {
                algorithms(&mut document, names)?;
            }
        }
        for change in overrides {
            if let Self::Set { path, value } = change {
                set(&mut document, path, value)?;
            }
        }
        // What was expected of the scenario is not expected of another one.
        document.remove("expect");
        let mut changed = source.clone();
        changed.text = document.to_string();
        changed.name = format!("{} (changed)", source.name);
        Ok(changed)
    }
}

/// A value as TOML reads it; what is none is a text.
fn value(text: &str) -> Value {
    text.parse::<Value>().unwrap_or_else(|_| Value::from(text))
}

/// The `[[lane]]` tables; without any, those of the six defaults are written first.
fn lanes(document: &mut DocumentMut) -> &mut ArrayOfTables {
    let item = document.entry("lane").or_insert_with(|| {
        let mut lanes = ArrayOfTables::new();
        LimiterSpec::NAMES.iter().for_each(|name| lanes.push(lane_of(name)));
        Item::ArrayOfTables(lanes)
    });
    tables_of(item)
}

/// A list of tables, also if it is written inline: `lane = [{ ... }]`.
fn tables_of(item: &mut Item) -> &mut ArrayOfTables {
    if let Item::Value(Value::Array(array)) = item {
        let mut tables = ArrayOfTables::new();
        for table in array.iter().filter_map(Value::as_inline_table) {
            tables.push(table.clone().into_table());
        }
        *item = Item::ArrayOfTables(tables);
    }
    item.as_array_of_tables_mut().expect("the scenario was read before, so these are tables")
}

fn lane_of(algorithm: &str) -> Table {
    let mut lane = Table::new();
    lane.insert(algorithm, Item::Value(Value::InlineTable(InlineTable::new())));
    lane
}

/// What a table is called: its own name, or its kind, repeats with -2, -3.
fn names(tables: &ArrayOfTables, kinds: &[&str]) -> Vec<String> {
    let mut taken: Vec<String> = tables.iter().filter_map(own_name).collect();
    tables
        .iter()
        .map(|table| {
            own_name(table).unwrap_or_else(|| {
                let kind = kinds.iter().find(|kind| table.contains_key(kind)).copied().unwrap_or_default();
                let name = std::iter::once(kind.to_owned())
                    .chain((2..).map(|n| format!("{kind}-{n}")))
                    .find(|name| !taken.contains(name))
                    .expect("numbers do not run out");
                taken.push(name.clone());
                name
            })
        })
        .collect()
}

fn own_name(table: &Table) -> Option<String> {
    table.get("name")?.as_str().map(str::to_owned)
}

const KINDS: [&str; 9] =
    ["burst", "boundary-burst", "idle-then-spike", "steady", "poisson", "on-off", "ramp", "clients", "trace"];

/// What may be changed at the top of a scenario.
const KEYS: [&str; 14] = [
    "title",
    "about",
    "start",
    "duration",
    "seed",
    "limit",
    "envelope",
    "client",
    "response",
    "backend",
    "deployment",
    "max-events",
    "metric-bin",
    "conditions",
];

fn set(document: &mut DocumentMut, path: &[String], text: &str) -> Result<(), Error> {
    let shown = path.join(".");
    let lane_names = names(lanes(document), &LimiterSpec::NAMES);
    if let Some(index) = lane_names.iter().position(|name| *name == path[0]) {
        let lane = lanes(document).get_mut(index).expect("an index of these tables");
        let algorithm = LimiterSpec::NAMES.into_iter().find(|name| lane.contains_key(name));
        let knobs: Vec<&str> = path[1..].iter().map(String::as_str).collect();
        let own = ["name", "key", "exempt", "clock-resolution", "client", "response", "backend", "deployment"];
        let knobs = match (&knobs[..], algorithm) {
            ([], _) => return Err(Error::usage(format!("--set {shown}: name what to change of lane `{}`", path[0]))),
            // `bucket.burst` is short for `bucket.token-bucket.burst`.
            ([knob], Some(algorithm)) if !own.contains(knob) && !LimiterSpec::NAMES.contains(knob) => {
                vec![algorithm, knob]
            }
            _ => knobs,
        };
        return put(lane, &knobs, text, &shown);
    }
    if path[0] == "fault" {
        return set_fault(document, &path[1..], text, &shown);
    }
    if let Some(traffic) = document.get_mut("traffic").and_then(Item::as_array_of_tables_mut) {
        let traffic_names = names(traffic, &KINDS);
        if let Some(index) = traffic_names.iter().position(|name| *name == path[0])
            && path.len() > 1
        {
            let table = traffic.get_mut(index).expect("an index of these tables");
            let knobs: Vec<&str> = path[1..].iter().map(String::as_str).collect();
            return put(table, &knobs, text, &shown);
        }
        if !KEYS.contains(&path[0].as_str()) {
            let known = lane_names.iter().chain(&traffic_names).map(String::as_str).chain(KEYS).chain(["fault"]);
            let hint = super::diagnose::closest(&path[0], known);
            let hint = hint.map_or_else(String::new, |close| format!("did you mean `{close}`? "));
            return Err(Error::usage(format!(
                "--set {shown}: {hint}`{}` is no lane ({}), no traffic ({}) and no key of a scenario",
                path[0],
                lane_names.join(", "),
                traffic_names.join(", ")
            )));
        }
    }
    let knobs: Vec<&str> = path.iter().map(String::as_str).collect();
    put(document.as_table_mut(), &knobs, text, &shown)
}

/// Changes a fault, which is called by its kind; repeats have -2, -3.
fn set_fault(document: &mut DocumentMut, path: &[String], text: &str, shown: &str) -> Result<(), Error> {
    let fail = |why: String| Err(Error::usage(format!("--set {shown}: {why}")));
    let faults = document.get_mut("fault");
    let Some(faults) = faults.map(tables_of).filter(|faults| !faults.is_empty()) else {
        return fail("the scenario has no faults".to_owned());
    };
    let kind = |table: &Table| table.iter().next().map(|(kind, _)| kind.to_owned()).unwrap_or_default();
    let kinds: Vec<String> = faults.iter().map(kind).collect();
    let called = names(faults, &kinds.iter().map(String::as_str).collect::<Vec<_>>());
    match path {
        [name, knobs @ ..] if !knobs.is_empty() => match called.iter().position(|known| known == name) {
            Some(index) => {
                let knobs: Vec<&str> = std::iter::once(&kinds[index]).chain(knobs).map(String::as_str).collect();
                put(faults.get_mut(index).expect("an index of these tables"), &knobs, text, shown)
            }
            None => fail(format!("no fault `{name}`; there are {}", called.join(", "))),
        },
        _ => fail(format!("name a fault and what to change of it, as in `fault.{}.KEY=VALUE`", called[0])),
    }
}

/// Puts a value at a path below a table, making tables on the way.
fn put(table: &mut dyn TableLike, path: &[&str], text: &str, shown: &str) -> Result<(), Error> {
    match path {
        [] => Err(Error::usage(format!("--set {shown}: the path is empty"))),
        [key] => {
            table.insert(key, Item::Value(value(text)));
            Ok(())
        }
        [key, rest @ ..] => {
            let inner = table.entry(key).or_insert_with(|| Item::Value(Value::InlineTable(InlineTable::new())));
            match inner.as_table_like_mut() {
                Some(inner) => put(inner, rest, text, shown),
                None => Err(Error::usage(format!("--set {shown}: `{key}` is a value, not a table"))),
            }
        }
    }
}

/// Keeps the lanes of these algorithms, in this order; one that no lane has gets a default lane.
fn algorithms(document: &mut DocumentMut, names: &[String]) -> Result<(), Error> {
    let lanes = lanes(document);
    let mut kept = ArrayOfTables::new();
    for name in names {
        if !LimiterSpec::NAMES.contains(&name.as_str()) {
            return Err(super::plan::unknown_algorithm(name));
        }
        let mut found = false;
        for lane in lanes.iter().filter(|lane| lane.contains_key(name)) {
            kept.push(lane.clone());
            found = true;
        }
        if !found {
            kept.push(lane_of(name));
        }
    }
    *lanes = kept;
    Ok(())
}
