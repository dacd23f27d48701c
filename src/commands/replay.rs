//! `rlsim replay`: traces without a scenario.

use super::cli::ReplayArgs;
use super::run::{carry_out, view};
use crate::error::Error;
use crate::scenario::{Plan, TraceOptions};
use crate::traffic::{BadRows, Column, Order, TimeFormat, TraceFile, TraceSpec};
use std::path::PathBuf;

/// Replays traces without a scenario.
pub fn replay(args: &ReplayArgs) -> Result<u8, Error> {
    if args.output.tui {
        let args = args.clone();
        return view(&args.output.clone(), move || trace_plan(&args));
    }
    // Whoever replays wrote no scenario: settings are spelt as they are typed.
    carry_out(trace_plan(args)?, &args.output, None, None).map_err(Error::for_command_line)
}

fn trace_plan(args: &ReplayArgs) -> Result<Plan, Error> {
    let limit = args.limit.parse().map_err(|error| Error::usage(format!("--limit: {error}")))?;
    if args.burst == Some(0) {
        return Err(Error::usage("--burst 0 would admit nothing for ever; the smallest burst is 1"));
    }
    let column = |option: &str, text: &String| match text.parse::<usize>() {
        Ok(0) => Err(Error::usage(format!("{option} 0: columns are numbered from 1"))),
        Ok(number) => Ok(Column::Number(number)),
        Err(_) => Ok(Column::Name(text.clone())),
    };
    let time = args.time.as_ref().map(|time| column("--time", time)).transpose()?;
    let key = args.key.as_ref().map(|key| column("--key", key)).transpose()?;
    let cost = args.cost.iter().map(|cost| column("--cost", cost)).collect::<Result<Vec<_>, _>>()?;
    let header = header(args, &time, &key, &cost)?;
    let time_format = match args.time_format.as_deref() {
        None | Some("auto") => TimeFormat::Auto,
        Some("s") => TimeFormat::Seconds,
        Some("ms") => TimeFormat::Millis,
        Some("us") => TimeFormat::Micros,
        Some("ns") => TimeFormat::Nanos,
        Some("rfc3339") => TimeFormat::Rfc3339,
        Some(pattern) if pattern.contains('%') => TimeFormat::Pattern(pattern.to_owned()),
        Some(other) => {
            return Err(Error::usage(format!(
                "--time-format {other}: accepted are auto, s, ms, us, ns, rfc3339 and strptime patterns such as `%d/%b/%Y:%H:%M:%S %z`"
            )));
        }
    };
    let order = match args.order.as_deref() {
        None | Some("strict") => Order::Strict,
        Some("sort") => Order::Sort,
        Some(window) => Order::Window(window.parse().map_err(|_| {
            Error::usage(format!("--order {window}: accepted are strict, sort, or how late a row may be, as in 5s"))
        })?),
    };
    let bad_rows = match args.bad_rows.as_deref() {
        None | Some("error") => BadRows::Error,
        Some("skip") => BadRows::Skip,
        Some(other) => return Err(Error::usage(format!("--bad-rows {other}: accepted are error and skip"))),
    };
    if args.files.iter().filter(|file| *file == "-").count() > 1 {
        return Err(Error::usage("standard input can be read only once"));
    }
    let traces = args
        .files
        .iter()
        .map(|file| TraceSpec {
            file: if file == "-" { TraceFile::Stdin { head: None } } else { TraceFile::Path(PathBuf::from(file)) },
            display: if file == "-" { "<stdin>".to_owned() } else { shown(file) },
            time: time.clone(),
            time_format: time_format.clone(),
            key: key.clone(),
            cost: cost.clone(),
            attributes: Vec::new(),
            header,
            order,
            bad_rows,
        })
        .collect();
    Plan::for_traces(TraceOptions { traces, limit, burst: args.burst, algorithms: args.algorithm.clone() })
}

/// A file's name without characters that a terminal would obey.
fn shown(file: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    file.chars().map(escaped).collect()
}

/// Whether the first line names the columns: unless it is said not to, or columns are numbered only.
fn header(args: &ReplayArgs, time: &Option<Column>, key: &Option<Column>, cost: &[Column]) -> Result<bool, Error> {
    let stated = time.iter().chain(key).chain(cost);
    let name = stated.clone().find_map(|column| match column {
        Column::Name(name) => Some(name),
        Column::Number(_) => None,
    });
    match (args.no_header, name) {
        (true, Some(name)) => Err(Error::usage(format!(
            "column `{name}` is named, but with --no-header no line names the columns; number them from 1"
        ))),
        (true, None) => Ok(false),
        (false, name) => Ok(time.is_none() || name.is_some()),
    }
}
