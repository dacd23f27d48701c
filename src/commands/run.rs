//! `rlsim run`: one run, its reports and its files.

use super::cli::{Color, Format, OutputArgs, RunArgs};
use super::notes::silent;
use super::output::{OutputFile, cannot_write, stderr, stdout, unless_gone};
use super::progress::Progress;
pub use super::signals::interrupt_flag;
use super::spool::Spool;
use super::tui;
use crate::error::Error;
use crate::faces::text::{TextOptions, replications, text};
use crate::faces::{csv::csv, json::json, svg};
use crate::record::{AttemptLog, DecisionLog};
use crate::report::{LaneReport, Replications, Report};
use crate::runner::{self, Extras, Outcome};
use crate::scenario::{Expectation, Plan, ScenarioSource};
use crate::sim::Options;
use crate::traffic::{TraceFile, TraceSpec, TrafficKind};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs a scenario.
pub fn run(args: &RunArgs) -> Result<u8, Error> {
    if let (Some(_), Some(what)) = (args.runs, of_one_run(&args.output)) {
        return Err(Error::usage(format!("{what} one run; leave out --runs, or ask for text or JSON")));
    }
    if args.output.tui {
        let (name, overrides) = (args.scenario.file.clone(), args.scenario.changes.overrides()?);
        // Standard input holds a scenario once; a file is read again whenever the user asks.
        let read = (name == "-").then(|| ScenarioSource::load(&name)).transpose()?;
        return view(&args.output, move || match &read {
            Some(source) => Plan::new(source, &overrides),
            None => Plan::new(&ScenarioSource::load(&name)?, &overrides),
        });
    }
    let source = ScenarioSource::load(&args.scenario.file)?;
    let overrides = args.scenario.changes.overrides()?;
    let plan = Plan::new(&source, &overrides)?;
    if !overrides.is_empty() && !args.output.terminal.quiet && source.text.contains("[expect") {
        stderr("note: the scenario was changed, so its expectations are not checked");
    }
    if !args.output.terminal.quiet {
        silent(&plan).iter().for_each(|note| stderr(format_args!("note: {note}")));
        if args.runs.is_none() && !plan.conditions.is_empty() {
            stderr("note: conditions sort many runs; to see them add --runs 100");
        }
    }
    carry_out(plan, &args.output, Some(Path::new(&args.scenario.file)), args.runs)
}

/// What is asked for that can be of one run only.
fn of_one_run(args: &OutputArgs) -> Option<&'static str> {
    let file = |wanted: Kind| args.output.iter().any(|path| kind(path).is_ok_and(|kind| kind == wanted));
    if args.tui {
        return Some("--tui shows");
    }
    if args.format.chosen() == Format::Csv || file(Kind::Csv) {
        return Some("a CSV report is of");
    }
    if file(Kind::Svg) {
        return Some("a sheet draws");
    }
    args.decisions.as_ref().map(|_| "--decisions writes")
}

/// Runs a plan many times, with a bar meanwhile.
pub fn replicated(plan: &Plan, runs: u64, options: Options, quiet: bool) -> Result<Replications, Error> {
    let interrupted = interrupt_flag();
    let progress = Mutex::new(Progress::of_runs(quiet, runs));
    let found = runner::replicate(plan, runs, options, &|done| {
        progress.lock().unwrap_or_else(PoisonError::into_inner).tick(done);
        !interrupted.load(Ordering::Relaxed)
    });
    progress.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
    found
}

/// A report's file and what it is filled with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Svg,
    Json,
    Csv,
}

/// The kind of a file, by its extension.
pub fn kind(path: &Path) -> Result<Kind, Error> {
    let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    match extension.as_deref() {
        Some("svg") => Ok(Kind::Svg),
        Some("json") => Ok(Kind::Json),
        Some("csv") => Ok(Kind::Csv),
        _ => Err(Error::usage(format!(
            "-o {}: the kind of a file is told by its extension; accepted are .svg, .json and .csv",
            path.display()
        ))),
    }
}

/// Runs a plan and writes what is asked for.
pub fn carry_out(mut plan: Plan, args: &OutputArgs, scenario: Option<&Path>, runs: Option<u64>) -> Result<u8, Error> {
    check_outputs(args)?;
    check_inputs_are_kept(&plan, args.output.iter().chain(&args.decisions), scenario)?;
    let options = options(args.threads)?;
    // Every file is opened before the run: a bad path fails in the first millisecond.
    let mut files = Vec::new();
    for path in &args.output {
        files.push((path, kind(path)?, OutputFile::create(path)?));
    }
    let sheets = files.iter().any(|(_, kind, _)| matches!(kind, Kind::Svg));
    // What is run again is read again.
    let _spool = Spool::take(&mut plan, sheets || runs.is_some())?;
    let interrupted = interrupt_flag();
    let plan = &plan;
    let mut progress = Progress::new(args.terminal.quiet);
    let mut outcome = match &args.decisions {
        None => runner::run(plan, options, Extras::default(), &mut |rows| {
            progress.tick(rows);
            !interrupted.load(Ordering::Relaxed)
        })?,
        Some(path) => with_decisions(plan, options, path, &mut progress, interrupted)?,
    };
    progress.finish();
    if let Some(runs) = runs {
        outcome.report.replications = Some(replicated(plan, runs, options, args.terminal.quiet)?);
    }
    let wrote = |path: &Path| {
        if !args.terminal.quiet {
            stderr(format_args!("wrote {}", path.display()));
        }
    };
    for (path, kind, file) in files {
        let content = match kind {
            Kind::Json => json(&outcome.report),
            Kind::Csv => csv(&outcome.report),
            Kind::Svg => {
                let mut go_on = || !interrupted.load(Ordering::Relaxed);
                svg::sheet(&outcome.report, &runner::sheet(plan, &outcome, options, &mut go_on)?)
            }
        };
        // A reader that went away hides neither the other files nor the verdict.
        unless_gone(file.write_all(&content))?;
        wrote(path);
    }
    match &args.decisions {
        Some(path) if path == Path::new("-") => {}
        decisions => {
            if let Some(path) = decisions {
                wrote(path);
            }
            stdout(&printed(&outcome.report, args))?;
        }
    }
    Ok(verdict(plan, &outcome))
}

/// Opens the interactive view.
pub fn view(args: &OutputArgs, load: impl Fn() -> Result<Plan, Error> + Send + 'static) -> Result<u8, Error> {
    check_outputs(args)?;
    let (sim, describe) = (options(args.threads)?, super::render::plain);
    let options = tui::Options { sim, colour: colour(args.terminal.color), describe };
    tui::open(load, options)?;
    Ok(0)
}

/// Whether standard output wants colours.
pub fn colour(color: Color) -> bool {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            std::io::stdout().is_terminal() && !no_color && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// Tells of every expectation that is not met.
fn verdict(plan: &Plan, outcome: &Outcome) -> u8 {
    let unmet = Expectation::unmet(&plan.expectations, &outcome.report);
    for unmet in &unmet {
        stderr(format_args!("unmet: {unmet}"));
    }
    let stopped = |lane: &&LaneReport| lane.closed.as_ref().is_some_and(|closed| closed.partial);
    let stopped: Vec<&str> = outcome.report.lanes.iter().filter(stopped).map(|lane| lane.name.as_str()).collect();
    if !stopped.is_empty() {
        stderr(format_args!(
            "stopped after {} events: {}; what is told of it is partial (a storm that feeds itself? else raise `max-events`)",
            plan.max_events,
            stopped.join(", ")
        ));
        return 1;
    }
    if unmet.is_empty() { 0 } else { 3 }
}

fn printed(report: &Report, args: &OutputArgs) -> String {
    match args.format.chosen() {
        Format::Json => json(report),
        Format::Csv => csv(report),
        Format::Text => {
            let options = text_options(args.width, args.terminal.color);
            let many = report.replications.as_ref().map(|many| format!("\n{}", replications(many, options)));
            text(report, options) + many.as_deref().unwrap_or_default()
        }
    }
}

/// How a text on standard output is laid out.
pub fn text_options(width: Option<usize>, color: Color) -> TextOptions {
    let terminal = std::io::stdout().is_terminal();
    let width = width.unwrap_or_else(|| {
        let size = if terminal { terminal_size::terminal_size() } else { None };
        size.map_or(100, |(width, _)| usize::from(width.0))
    });
    TextOptions { width, color: colour(color) }
}

/// Refuses outputs that cannot be, or not together.
fn check_outputs(args: &OutputArgs) -> Result<(), Error> {
    let decisions_to_stdout = args.decisions.as_deref() == Some(Path::new("-"));
    if decisions_to_stdout && args.format.is_stated() {
        return Err(Error::usage(
            "both --decisions - and --format would write to standard output; give --decisions a file",
        ));
    }
    if args.tui && (args.format.is_stated() || args.decisions.is_some() || !args.output.is_empty()) {
        return Err(Error::usage("--tui shows the run instead of writing it; leave out -o, --format and --decisions"));
    }
    check_places(&args.output, args.decisions.as_deref(), args.width)
}

/// Refuses to write two outputs to one place, a report to none, and texts of no sensible width.
pub fn check_places(output: &[PathBuf], decisions: Option<&Path>, width: Option<usize>) -> Result<(), Error> {
    let paths: Vec<&Path> = output.iter().map(PathBuf::as_path).chain(decisions).collect();
    let places: Vec<PathBuf> = paths.iter().map(|path| place(path)).collect();
    for (i, path) in paths.iter().enumerate() {
        if places[..i].contains(&places[i]) {
            return Err(Error::usage(format!("{} is named twice as an output", path.display())));
        }
    }
    if output.iter().any(|path| path == Path::new("-")) {
        return Err(Error::usage("-o takes a file; to print a report on standard output use --format json or csv"));
    }
    if width.is_some_and(|width| !(80..=10_000).contains(&width)) {
        return Err(Error::usage("--width takes 80 to 10000 columns"));
    }
    Ok(())
}

/// Where a file is or would be, however its path is written.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let new = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(new).unwrap_or_else(|| path.to_path_buf())
}

/// Refuses to write over what is read.
pub fn check_inputs_are_kept<'a>(
    plan: &Plan,
    outputs: impl IntoIterator<Item = &'a PathBuf>,
    scenario: Option<&Path>,
) -> Result<(), Error> {
    check_kept(scenario.into_iter().chain(traces(plan)), outputs)
}

/// Files that a plan's traces are in.
pub fn traces(plan: &Plan) -> impl Iterator<Item = &Path> {
    plan.traffic.entries.iter().filter_map(|entry| match &entry.kind {
        TrafficKind::Trace(TraceSpec { file: TraceFile::Path(path), .. }) => Some(path.as_path()),
        _ => None,
    })
}

/// Refuses to write over any of these.
pub fn check_kept<'a, 'b>(
    read: impl Iterator<Item = &'b Path>,
    outputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), Error> {
    let regular = |path: &Path| path.canonicalize().ok().filter(|path| path.is_file());
    let read: Vec<PathBuf> = read.filter_map(regular).collect();
    for path in outputs {
        if regular(path).is_some_and(|path| read.contains(&path)) {
            return Err(Error::usage(format!("{} is read by this run; write to another file", path.display())));
        }
    }
    Ok(())
}

/// How the run is carried out.
pub fn options(threads: Option<usize>) -> Result<Options, Error> {
    let threads = match threads {
        Some(0) => return Err(Error::usage("--threads 0: at least one thread is needed")),
        Some(threads) if threads > 1024 => return Err(Error::usage("--threads takes at most 1024")),
        Some(threads) => threads,
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    Ok(Options { threads, ..Options::default() })
}

/// Runs with a decision log.
fn with_decisions(
    plan: &Plan,
    options: Options,
    path: &Path,
    progress: &mut Progress,
    interrupted: &'static AtomicBool,
) -> Result<Outcome, Error> {
    let failed = |source| cannot_write(path, &source);
    if plan.needs_feedback() {
        return with_attempts(plan, options, path, progress, interrupted);
    }
    let lanes = plan.lanes.iter().map(|lane| lane.name.clone()).collect();
    // Where there is a verdict to give, it is reached whether anybody reads the log or not.
    let file = OutputFile::create(path)?.patient(!plan.expectations.is_empty());
    let mut log = DecisionLog::new(file, lanes, plan.stated_start()).map_err(failed)?;
    let failure = log.failure();
    let writing_failed = || failure.lock().is_ok_and(|failure| failure.is_some());
    let extras = Extras { taps: log.taps(), observers: vec![Box::new(&mut log)], ..Extras::default() };
    // The log is written batch by batch, so batches stay small.
    let options = Options { batch: 4096, ..options };
    let outcome = runner::run(plan, options, extras, &mut |rows| {
        progress.tick(rows);
        !interrupted.load(Ordering::Relaxed) && !writing_failed()
    });
    let outcome = match outcome {
        Err(Error::Interrupted) if !interrupted.load(Ordering::Relaxed) => {
            log.finish().map_err(failed)?;
            return Err(Error::Interrupted);
        }
        outcome => outcome?,
    };
    log.finish().map_err(failed)?.finish()?;
    Ok(outcome)
}

/// Runs a closed loop with a decision log, whose rows are at hand in order only at the end.
fn with_attempts(
    plan: &Plan,
    options: Options,
    path: &Path,
    progress: &mut Progress,
    interrupted: &'static AtomicBool,
) -> Result<Outcome, Error> {
    let failed = |source| cannot_write(path, &source);
    let mut file = OutputFile::create(path)?.patient(!plan.expectations.is_empty());
    let kept = |source| Error::Io { path: std::env::temp_dir(), action: "keep the attempts of a lane in", source };
    let files = plan.lanes.iter().map(|_| tempfile::tempfile().map_err(kept)).collect::<Result<Vec<_>, _>>()?;
    let log = AttemptLog::new(&plan.lanes, files);
    let extras = Extras { scribes: log.scribes(&plan.lanes, plan.stated_start()), ..Extras::default() };
    let outcome = runner::run(plan, options, extras, &mut |rows| {
        progress.tick(rows);
        !interrupted.load(Ordering::Relaxed)
    })?;
    // A reader that went away is no failure.
    unless_gone(log.finish(&mut file).map_err(failed))?;
    unless_gone(file.finish())?;
    Ok(outcome)
}
