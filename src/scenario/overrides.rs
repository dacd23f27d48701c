//! What the command line changes of a scenario, applied to its text so that one reader checks all.

use super::paths::{EVERY, Fault, put, reaches, select, split};
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
        let (path, value) = match split(text) {
            Ok((split, value)) => (split.parts, &text[value..]),
            Err((why, _)) => return fail(why),
        };
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
        let mut document = document(source)?;
        // Algorithms first: they decide which lanes there are to change.
        for change in overrides {
            if let Self::Algorithms(names) = change {
                algorithms(&mut document, names)?;
            }
        }
        for change in overrides {
            if let Self::Set { path, value } = change {
                set(&mut document, path, value)
                    .map_err(|fault| Error::usage(format!("--set {}: {}", path.join("."), fault.message)))?;
            }
        }
        Ok(changed(source, &document, format!("{} (changed)", source.name)))
    }
}

/// A scenario's text as a document that can be changed.
fn document(source: &ScenarioSource) -> Result<DocumentMut, Error> {
    let failed = |error: toml_edit::TomlError| Error::usage(format!("{}: {error}", source.name));
    source.text.parse().map_err(failed)
}

/// The changed scenario, under a name that says so.
fn changed(source: &ScenarioSource, document: &DocumentMut, name: String) -> ScenarioSource {
    let mut document = document.clone();
    // What was expected of the scenario is not expected of another one.
    document.remove("expect");
    ScenarioSource { name, text: document.to_string(), ..source.clone() }
}

/// The scenario with values put at paths, under a name that says so.
///
/// # Errors
/// If a path leads nowhere: which one, and at which of its parts.
pub(super) fn with_values<'a>(
    source: &ScenarioSource,
    values: impl Iterator<Item = (&'a [String], &'a str)>,
    name: String,
) -> Result<ScenarioSource, (usize, Fault)> {
    // What cannot be read was read before.
    let mut document = document(source).map_err(|error| (0, Fault::at(0, error.to_string())))?;
    for (i, (path, value)) in values.enumerate() {
        set(&mut document, path, value).map_err(|fault| (i, fault))?;
    }
    Ok(changed(source, &document, name))
}

/// The `[[lane]]` tables; without any, those of the six defaults are written first.
fn lanes(document: &mut DocumentMut) -> &mut ArrayOfTables {
    let item = document.entry("lane").or_insert_with(|| {
        let mut lanes = ArrayOfTables::new();
        LimiterSpec::NAMES.iter().for_each(|name| lanes.push(lane_of(name)));
        Item::ArrayOfTables(lanes)
    });
    as_tables(item).expect("the scenario was read before, so lanes are tables")
}

/// A list of tables; `lane = [{ ... }]` is the same thing as `[[lane]]` written inline.
fn as_tables(item: &mut Item) -> Option<&mut ArrayOfTables> {
    if let Item::Value(Value::Array(array)) = item {
        let mut tables = ArrayOfTables::new();
        for table in array.iter().filter_map(Value::as_inline_table) {
            tables.push(table.clone().into_table());
        }
        *item = Item::ArrayOfTables(tables);
    }
    item.as_array_of_tables_mut()
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

/// What a lane may state beside its algorithm.
const LANE_KEYS: [&str; 8] =
    ["name", "key", "exempt", "clock-resolution", "client", "response", "backend", "deployment"];

/// What traffic may state beside its kind.
const TRAFFIC_KEYS: [&str; 8] = ["name", "class", "keys", "cost", "from", "until", "groups", "spread"];

/// A path below a table of some kind: `bucket.burst` is short for `bucket.token-bucket.burst`.
fn spelt_out<'a>(table: &Table, path: &[&'a str], kinds: &[&'static str], own: &[&str]) -> Vec<&'a str> {
    let kind = kinds.iter().find(|kind| table.contains_key(kind));
    match (path, kind) {
        ([knob], Some(kind)) if !own.contains(knob) && !kinds.contains(knob) => vec![kind, knob],
        _ => path.to_vec(),
    }
}

fn set(document: &mut DocumentMut, path: &[String], text: &str) -> Result<(), Fault> {
    let parts: Vec<&str> = path.iter().map(String::as_str).collect();
    let lane_names = names(lanes(document), &LimiterSpec::NAMES);
    let traffic_names =
        document.get_mut("traffic").and_then(as_tables).map_or_else(Vec::new, |traffic| names(traffic, &KINDS));
    let first = parts[0];
    if first == EVERY {
        return set_every_lane(lanes(document), &parts[1..], text);
    }
    if lane_names.iter().any(|name| name == first) {
        return set_in(lanes(document), &lane_names, &LANES, &parts, text, 0);
    }
    // Traffic may be called `client`, as is a table of the scenario's.
    let of_traffic = |part: &&str| !KEYS.contains(&first) || TRAFFIC_KEYS.contains(part) || KINDS.contains(part);
    if traffic_names.iter().any(|name| name == first) && parts.get(1).is_some_and(of_traffic) {
        let traffic = document.get_mut("traffic").and_then(as_tables).expect("it has names");
        return set_in(traffic, &traffic_names, &TRAFFIC, &parts, text, 0);
    }
    match (first, &parts[1..]) {
        ("lane", below) if below.first() == Some(&EVERY) => set_every_lane(lanes(document), &below[1..], text),
        ("lane", below) => set_in(lanes(document), &lane_names, &LANES, below, text, 1),
        ("fault", below) => set_fault(document, below, text),
        ("traffic", below) if !traffic_names.is_empty() => {
            let traffic = document.get_mut("traffic").and_then(as_tables).expect("it has names");
            set_in(traffic, &traffic_names, &TRAFFIC, below, text, 1)
        }
        _ if KEYS.contains(&first) || document.contains_key(first) => {
            // Such a value would change nothing.
            if LANE_KEYS.contains(&first) && lanes(document).iter().all(|lane| lane.contains_key(first)) {
                let remedy = if path.len() > 1 { path[1..].join(".") } else { "KEY".to_owned() };
                return Err(Fault::at(
                    0,
                    format!("no lane uses the `{first}` at the top: each states its own; write *.{first}.{remedy}"),
                ));
            }
            put(document.as_table_mut(), &parts, text, 0)
        }
        _ => {
            let known = lane_names.iter().chain(&traffic_names).map(String::as_str).chain(KEYS).chain(["fault"]);
            let hint = super::diagnose::closest(first, known);
            let hint = hint.map_or_else(String::new, |close| format!("did you mean `{close}`? "));
            Err(Fault::at(
                0,
                format!(
                    "{hint}`{first}` is no lane ({}), no traffic ({}) and no key of a scenario",
                    lane_names.join(", "),
                    traffic_names.join(", ")
                ),
            ))
        }
    }
}

/// What is known of a list of tables.
struct Tables {
    /// What one of them is called.
    what: &'static str,
    kinds: &'static [&'static str],
    own: &'static [&'static str],
}

const LANES: Tables = Tables { what: "lane", kinds: &LimiterSpec::NAMES, own: &LANE_KEYS };
const TRAFFIC: Tables = Tables { what: "traffic", kinds: &KINDS, own: &TRAFFIC_KEYS };

/// Puts a value below the tables that the first part means.
fn set_in(
    tables: &mut ArrayOfTables,
    names: &[String],
    of: &Tables,
    path: &[&str],
    text: &str,
    part: usize,
) -> Result<(), Fault> {
    let Tables { what, kinds, own } = of;
    let Some(first) = path.first() else {
        return Err(Fault::at(part - 1, format!("name which {what} to change: {}", names.join(", "))));
    };
    let views: Vec<&dyn TableLike> = tables.iter().map(|table| table as &dyn TableLike).collect();
    let entries = select(&views, Some(names), first);
    for (index, used) in entries.map_err(|why| Fault::at(part, format!("`{what}` {why}")))? {
        let table = tables.get_mut(index).expect("an index of these tables");
        let knobs = spelt_out(table, &path[used..], kinds, own);
        if knobs.is_empty() {
            return Err(Fault::at(part, format!("name what to change of {what} `{}`", names[index])));
        }
        put(table, &knobs, text, part + used)?;
    }
    Ok(())
}

/// Changes a fault, which is called by its kind; repeats have -2, -3. Or by its number.
fn set_fault(document: &mut DocumentMut, path: &[&str], text: &str) -> Result<(), Fault> {
    let faults = document.get_mut("fault").and_then(as_tables).filter(|faults| !faults.is_empty());
    let Some(faults) = faults else { return Err(Fault::at(0, "the scenario has no faults")) };
    let kind = |table: &Table| table.iter().next().map(|(kind, _)| kind.to_owned()).unwrap_or_default();
    let kinds: Vec<String> = faults.iter().map(kind).collect();
    let called = names(faults, &kinds.iter().map(String::as_str).collect::<Vec<_>>());
    let [first, below @ ..] = path else {
        return Err(Fault::at(0, format!("name a fault and what to change of it: {}", called.join(", "))));
    };
    let views: Vec<&dyn TableLike> = faults.iter().map(|table| table as &dyn TableLike).collect();
    let numbered = first.parse::<usize>().is_ok() || *first == EVERY;
    if !numbered && !called.iter().any(|name| name == first) {
        return Err(Fault::at(1, format!("no fault `{first}`; there are {}", called.join(", "))));
    }
    for (index, _) in select(&views, Some(&called), first).map_err(|why| Fault::at(1, format!("`fault` {why}")))? {
        // The kind may be left out, as the name says it.
        let kind = kinds[index].as_str();
        let knobs: Vec<&str> = match below {
            [] => {
                let example = format!("as in `fault.{}.KEY=VALUE`", called[index]);
                return Err(Fault::at(1, format!("name a fault and what to change of it, {example}")));
            }
            [stated, ..] if *stated == kind => below.to_vec(),
            below => std::iter::once(kind).chain(below.iter().copied()).collect(),
        };
        put(faults.get_mut(index).expect("an index of these tables"), &knobs, text, 1)?;
    }
    Ok(())
}

/// Puts a value in every lane that has the table which it belongs to.
fn set_every_lane(lanes: &mut ArrayOfTables, path: &[&str], text: &str) -> Result<(), Fault> {
    let Some((_, parents)) = path.split_last() else {
        return Err(Fault::at(0, "name what to change of every lane"));
    };
    let mut found = false;
    for lane in lanes.iter_mut() {
        if reaches(lane, parents) {
            let knobs = spelt_out(lane, path, LANES.kinds, LANES.own);
            put(lane, &knobs, text, 1)?;
            found = true;
        }
    }
    if found {
        return Ok(());
    }
    let parents = parents.join(".");
    let top = if KEYS.contains(&path[0]) {
        format!(", or `{}` for what stands at the top", path.join("."))
    } else {
        String::new()
    };
    Err(Fault::at(1, format!("no lane has `{parents}`; name the lane to give it one{top}")))
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
