//! `rlsim sweep`: a scenario at every point of a grid of values.

mod journal;
mod topic;

pub use topic::TEXT as TOPIC;

use super::cli::{Format, SweepArgs};
use super::output::{OutputFile, stderr, stdout, unless_gone};
use super::progress::Progress;
use super::run::{Kind, check_kept, check_places, interrupt_flag, kind, options, text_options, traces};
use super::spool::Spool;
use crate::error::Error;
use crate::faces::json::plain;
use crate::faces::text::sweep as sweep_text;
use crate::faces::{csv, svg};
use crate::report::{MeasureUnit, SweepReport};
use crate::rng::{HASH_OF_NOTHING, hash, mix};
use crate::runner::{self, Prospect};
use crate::scenario::{Axis, Grid, Measure, Plan, ScenarioSource};
use journal::Journal;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs a sweep.
pub fn sweep(args: &SweepArgs) -> Result<u8, Error> {
    check_places(&args.output, None, args.width)?;
    let options = options(args.threads)?;
    let axes = args.vary.iter().map(|vary| Axis::parse(vary)).collect::<Result<Vec<_>, _>>()?;
    let journal_path = journal_path(args)?;
    let source = ScenarioSource::load(&args.scenario.file)?;
    let overrides = args.scenario.changes.overrides()?;
    let (grid, base) = Grid::new(&source, &overrides, axes, args.lane.clone())?;
    let interrupted = interrupt_flag();
    let (spool, read) = (Mutex::new(None), Mutex::new(BTreeSet::new()));
    let prepare = |plan: &mut Plan| {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        Spool::reuse(plan, &mut lock(&spool), true)?;
        lock(&read).extend(traces(plan).map(Path::to_path_buf));
        Ok(())
    };
    // All points are looked at before any is run.
    let prospect = runner::prospect(&grid, options.threads, &prepare)?;
    let measures = measures(args, &base, &prospect)?;
    let read = lock(&read).clone();
    check_kept(read.iter().map(PathBuf::as_path).chain([Path::new(&args.scenario.file)]), &args.output)?;
    let mut report = frame(&grid, &base, &measures, &prospect, &read);
    check_picture(args, &report)?;
    // Every file is opened before the run: a bad path fails in the first millisecond.
    let mut files = Vec::new();
    for path in args.output.iter().filter(|path| journal_path != Some(path)) {
        files.push((path, kind(path)?, OutputFile::create(path)?));
    }
    let (journal, mut found) = match journal_path {
        None => (None, BTreeMap::new()),
        Some(path) => {
            let (journal, found) = Journal::open(path, &report, &prospect)?;
            (Some(journal), found)
        }
    };
    let rest: Vec<usize> = (0..grid.points()).filter(|point| !found.contains_key(point)).collect();
    if let (false, Some(path), true) = (args.terminal.quiet, journal_path, !found.is_empty()) {
        stderr(format_args!("{} of {} points are in {}", found.len(), grid.points(), path.display()));
    }
    let progress = Mutex::new(Progress::of_runs(args.terminal.quiet, rest.len() as u64));
    let ran = runner::sweep(
        &grid,
        &rest,
        &measures,
        options,
        &prepare,
        &|point, rows| {
            journal.as_ref().map_or(Ok(()), |journal| journal.append(&csv::sweep_rows(&report, point, rows)))
        },
        &|done| {
            lock(&progress).tick(done);
            !interrupted.load(Ordering::Relaxed)
        },
    );
    progress.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
    if let (Err(Error::Interrupted), Some(path), false) = (&ran, journal_path, args.terminal.quiet) {
        stderr(format_args!("note: what is done is kept in {}; the same command goes on from there", path.display()));
    }
    found.extend(rest.into_iter().zip(ran?));
    report.points = found.into_values().collect();
    if let Some(path) = journal_path {
        files.push((path, Kind::Csv, OutputFile::create(path)?));
    }
    write(args, &report, files)?;
    drop(journal);
    Ok(verdict(&report, &grid))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The table that `--resume` goes on with.
fn journal_path(args: &SweepArgs) -> Result<Option<&PathBuf>, Error> {
    let mut tables = Vec::new();
    for path in &args.output {
        if kind(path)? == Kind::Csv {
            tables.push(path);
        }
    }
    match (args.resume, &tables[..]) {
        (false, _) => Ok(None),
        (true, [only]) => Ok(Some(only)),
        (true, []) => Err(Error::usage("--resume goes on with a table; say which: -o FILE.csv --resume")),
        (true, _) => Err(Error::usage("--resume goes on with one table, and several -o FILE.csv are stated")),
    }
}

fn measures(args: &SweepArgs, base: &Plan, prospect: &Prospect) -> Result<Vec<Measure>, Error> {
    let Prospect { limit, closed, .. } = *prospect;
    if args.measure.is_empty() {
        return Ok(Measure::usual(base, limit, closed));
    }
    for (i, path) in args.measure.iter().enumerate() {
        if args.measure[..i].contains(path) {
            return Err(Error::usage(format!("--measure {path}: it is there twice")));
        }
    }
    let one = |path: &String| {
        let measure = Measure::read(path, base)?;
        measure.check(limit, closed)?;
        Ok(measure)
    };
    args.measure.iter().map(one).collect()
}

/// The report but for its points.
fn frame(grid: &Grid, base: &Plan, measures: &[Measure], prospect: &Prospect, read: &BTreeSet<PathBuf>) -> SweepReport {
    let mut report = SweepReport {
        rlsim: env!("CARGO_PKG_VERSION"),
        title: base.title.clone(),
        changed: base.changed.clone(),
        axes: grid.axes(),
        measures: measures.iter().map(Measure::shown).collect(),
        lanes: prospect.lanes.clone(),
        closed: prospect.closed,
        stamp: String::new(),
        points: Vec::new(),
    };
    report.stamp = format!("{:016x}", stamp(&report, prospect, read));
    report
}

/// A number that stands for all that the results follow from: the scenario at every point, the grid,
/// the measures, the traces, and the program.
fn stamp(report: &SweepReport, prospect: &Prospect, read: &BTreeSet<PathBuf>) -> u64 {
    // Temporary files have another path each time, so only what is in them counts.
    let mut traces: Vec<u64> = read.iter().filter_map(|path| hash_of_file(path)).collect();
    traces.sort_unstable();
    let text = hash(HASH_OF_NOTHING, plain(report).as_bytes());
    let all = prospect.stamps.iter().chain(&traces);
    mix(all.fold(text, |sum, part| hash(sum, &part.to_le_bytes())))
}

/// What a regular file holds, in a number.
fn hash_of_file(path: &Path) -> Option<u64> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let (mut file, mut buffer, mut sum) = (File::open(path).ok()?, vec![0; 1 << 16], HASH_OF_NOTHING);
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(sum),
            read => sum = hash(sum, &buffer[..read]),
        }
    }
}

/// Refuses a picture of what cannot be drawn.
fn check_picture(args: &SweepArgs, report: &SweepReport) -> Result<(), Error> {
    for path in &args.output {
        if kind(path)? != Kind::Svg {
            continue;
        }
        let fail = |why: &str| Err(Error::usage(format!("-o {}: {why}", path.display())));
        if report.axes.len() > 2 {
            return fail("a picture has one or two axes; write .csv or .json, or leave out a --vary");
        }
        let drawn = match report.axes.len() {
            1 => report.measures.iter().any(|measure| measure.unit != MeasureUnit::Word),
            _ => report.measures.first().is_some_and(|measure| measure.unit != MeasureUnit::Word),
        };
        if !drawn {
            return fail(
                "what is measured first is a text, which cannot be drawn; add a --measure such as denied before it",
            );
        }
    }
    Ok(())
}

/// Fills the files and standard output.
fn write(args: &SweepArgs, report: &SweepReport, files: Vec<(&PathBuf, Kind, OutputFile)>) -> Result<(), Error> {
    for (path, kind, file) in files {
        let content = match kind {
            Kind::Json => plain(report),
            Kind::Csv => csv::sweep(report),
            Kind::Svg => svg::sweep(report),
        };
        unless_gone(file.write_all(&content))?;
        if !args.terminal.quiet {
            stderr(format_args!("wrote {}", path.display()));
        }
    }
    stdout(&match args.format.chosen() {
        Format::Json => plain(report),
        Format::Csv => csv::sweep(report),
        Format::Text => sweep_text(report, text_options(args.width, args.terminal.color)),
    })
}

/// Tells of lanes that were stopped.
fn verdict(report: &SweepReport, grid: &Grid) -> u8 {
    let stopped: Vec<(usize, &str)> = report.stopped().collect();
    let Some((point, lane)) = stopped.first() else { return 0 };
    let more = match stopped.len() - 1 {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    stderr(format_args!(
        "stopped after `max-events`: {lane} at {}{more}; what is told of it is partial (a storm that feeds itself? else raise `max-events`)",
        grid.spell(*point)
    ));
    1
}
