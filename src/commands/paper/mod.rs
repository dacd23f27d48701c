//! `rlsim paper`: published results, rebuilt and compared.

mod aws_jitter;
mod brooker_collapse;
mod brooker_retries;
mod cloudflare;
mod databricks;
mod drl;
mod hotos21;
mod published;
mod rebuild;
mod rounds;
mod sre_throttling;

use super::cli::PaperArgs;
use super::output::{OutputFile, stderr, stdout, unless_gone};
use super::progress::Progress;
use super::run::{colour, options};
use super::signals::interrupt_flag;
use crate::error::Error;
use crate::faces::json::plain;
use crate::faces::svg;
use crate::faces::text::{TextOptions, paper as paper_text};
use crate::scenario::{Plan, ScenarioSource, closest};
use published::Paper;
use rebuild::Ask;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// All papers.
const PAPERS: [&Paper; 8] = [
    &aws_jitter::PAPER,
    &brooker_retries::PAPER,
    &brooker_collapse::PAPER,
    &hotos21::PAPER,
    &sre_throttling::PAPER,
    &cloudflare::PAPER,
    &drl::PAPER,
    &databricks::PAPER,
];

/// Names of the papers, and what each shows.
pub fn list() -> Result<Vec<(String, String)>, Error> {
    let one = |paper: &&Paper| {
        let source = ScenarioSource::load(paper.model())?;
        Ok((paper.name.to_owned(), format!("{} ({})", Plan::new(&source, &[])?.title, paper.source)))
    };
    PAPERS.iter().map(one).collect()
}

/// Rebuilds a paper, or lists them.
pub fn paper(args: &PaperArgs) -> Result<u8, Error> {
    let Some(name) = &args.name else {
        if args.output.is_some() || args.json {
            return Err(Error::usage("which paper? `rlsim paper` alone lists them"));
        }
        let papers = list()?;
        let width = papers.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let lines = papers.iter().map(|(name, what)| format!("  {name:width$}  {what}\n"));
        stdout(&format!("papers (rlsim paper NAME)\n{}", lines.collect::<String>()))?;
        return Ok(0);
    };
    let known = || PAPERS.iter().map(|paper| paper.name);
    let Some(paper) = PAPERS.into_iter().find(|paper| paper.name == name) else {
        let hint = closest(name, known()).map_or_else(String::new, |close| format!("did you mean `{close}`? "));
        let names = known().collect::<Vec<_>>().join(", ");
        return Err(Error::usage(format!("no paper is named `{name}`; {hint}there are {names}")));
    };
    let is_svg = |path: &Path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    if let Some(path) = args.output.as_ref().filter(|path| !is_svg(path)) {
        return Err(Error::usage(format!("-o {}: a paper's figure is an .svg file", path.display())));
    }
    let options = options(args.threads)?;
    let ask = Ask { runs: args.runs.unwrap_or(paper.runs), seed: args.seed, at: &args.at };
    let total = ask.points(paper)?.len() as u64 * ask.runs;
    let file = args.output.as_ref().map(|path| OutputFile::create(path)).transpose()?;
    let interrupted = interrupt_flag();
    let progress = Mutex::new(Progress::of_runs(args.terminal.quiet, total));
    let report = (paper.rebuild)(paper, &ask, options, &|done| {
        progress.lock().unwrap_or_else(PoisonError::into_inner).tick(done);
        !interrupted.load(Ordering::Relaxed)
    });
    progress.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
    let report = report?;
    if let (Some(file), Some(path)) = (file, &args.output) {
        unless_gone(file.write_all(&svg::paper(&report)))?;
        if !args.terminal.quiet {
            stderr(format_args!("wrote {}", path.display()));
        }
    }
    if args.json {
        stdout(&plain(&report))?;
    } else {
        stdout(&paper_text(&report, TextOptions { width: 100, color: colour(args.terminal.color) }))?;
    }
    Ok(if report.misses == 0 { 0 } else { 3 })
}
