//! What can be typed.

use crate::error::Error;
use crate::rng::MAX_SEED;
use crate::scenario::Override;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// What a bare `rlsim` prints.
pub const FIRST_STEPS: &str = "\
rlsim runs the same traffic through every rate limiter and shows what each lets through.

  rlsim run boundary                             why a fixed window lets twice the limit through
  rlsim run boundary --tui                       the same, step by step
  rlsim replay requests.csv --limit 100/1m       which requests of a trace a limit would refuse

`rlsim list` names the scenarios and algorithms, `rlsim --help` all commands.
";

const EXIT_CODES: &str = "\
Exit status: 0 done; 1 the run failed (trace, I/O); 2 usage or scenario invalid or unreadable;
3 an expectation unmet; 130 interrupted.";

/// A discrete-event simulator and visualizer for rate-limiter algorithms.
#[derive(Debug, Parser)]
#[command(name = "rlsim", version, about, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scenario and compare its lanes.
    Run(RunArgs),
    /// Run a scenario at every point of a grid of values.
    Sweep(SweepArgs),
    /// Replay a CSV trace through limiters, without a scenario.
    Replay(ReplayArgs),
    /// Rebuild a published result and compare, figure by figure.
    Paper(PaperArgs),
    /// Run every scenario with expectations and say which are met.
    Test(TestArgs),
    /// Validate scenarios without running them.
    Check(CheckArgs),
    /// List what there is: scenarios, papers, algorithms, traffic, words, topics.
    List(ListArgs),
    /// Print an embedded scenario.
    Show(ShowArgs),
    /// Explain an algorithm, a kind of traffic, a word of the report, or what can be written where.
    Explain(ExplainArgs),
    /// Write a scenario's traffic as CSV.
    Generate(GenerateArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Print the manual page.
    Man,
}

/// Reads a seed, whose limits are the same wherever it is stated.
fn seed(text: &str) -> Result<u64, String> {
    let seed = text.parse().ok().filter(|seed| *seed <= MAX_SEED);
    seed.ok_or_else(|| format!("expected a whole number, 0 to {MAX_SEED}"))
}

/// A path or name, and what to change of it.
#[derive(Debug, Args)]
pub struct ScenarioArgs {
    /// A scenario file, `-` for standard input, or the name of an embedded scenario.
    #[arg(value_name = "FILE")]
    pub file: String,
    #[command(flatten)]
    pub changes: ChangeArgs,
}

/// What the command line changes of a scenario.
#[derive(Debug, Args)]
pub struct ChangeArgs {
    /// Change a value: a top-level key, LANE.KNOB, TRAFFIC.KIND.KNOB, or *.PATH in every lane (repeatable).
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Change the seed.
    #[arg(long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
    /// Change the limit.
    #[arg(long, value_name = "UNITS/TIME")]
    pub limit: Option<String>,
    /// Run these algorithms only.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub algorithm: Vec<String>,
}

impl ChangeArgs {
    /// The changes, in order.
    pub fn overrides(&self) -> Result<Vec<Override>, Error> {
        let mut overrides = Vec::new();
        if !self.algorithm.is_empty() {
            overrides.push(Override::Algorithms(self.algorithm.clone()));
        }
        let set = |key: &str, value: String| Override::Set { path: vec![key.to_owned()], value };
        if let Some(limit) = &self.limit {
            overrides.push(set("limit", limit.clone()));
        }
        if let Some(seed) = self.seed {
            overrides.push(set("seed", seed.to_string()));
        }
        for text in &self.set {
            overrides.push(Override::parse(text)?);
        }
        Ok(overrides)
    }
}

/// Where results go and how they look.
#[derive(Clone, Debug, Args)]
pub struct OutputArgs {
    /// Write the report to a file; its kind by extension: .svg, .json, .csv (repeatable).
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Write every decision to a CSV file; `-` for standard output instead of the report.
    #[arg(long, value_name = "FILE")]
    pub decisions: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArgs,
    /// Open the interactive terminal view.
    #[arg(long)]
    pub tui: bool,
    /// Threads to use [default: all]; results do not depend on it.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Columns of the text report, at least 80 [default: the terminal's, else 100].
    #[arg(long, value_name = "N")]
    pub width: Option<usize>,
    #[command(flatten)]
    pub terminal: TerminalArgs,
}

/// What standard output carries.
#[derive(Clone, Debug, Args)]
pub struct FormatArgs {
    /// What standard output carries [default: text].
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Short for --format json.
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

impl FormatArgs {
    /// The format of standard output.
    pub fn chosen(&self) -> Format {
        if self.json { Format::Json } else { self.format.unwrap_or(Format::Text) }
    }

    /// Whether it was stated.
    pub fn is_stated(&self) -> bool {
        self.json || self.format.is_some()
    }
}

/// What a terminal is shown, and how.
#[derive(Clone, Debug, Args)]
pub struct TerminalArgs {
    /// When to colour the text.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Say nothing on standard error but errors.
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Csv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Run so many times, with this seed and those after it, and report means with 95 % intervals, as
    /// text or JSON; what is of one run (CSV, .svg, --decisions, --tui) is refused.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub runs: Option<u64>,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub struct SweepArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// What to vary (repeatable, for a grid): a path as in --set, and a list (1,2,4), a range with a
    /// step (0s..10s:step=1s) or one with a number of points (1..1000:points=10,log).
    #[arg(long, value_name = "PATH=VALUES", required = true)]
    pub vary: Vec<String>,
    /// What to measure (repeatable): a figure as in `[expect]` [default: peak, denied, and in a closed
    /// loop amplification and goodput-per-s].
    #[arg(long, value_name = "FIGURE")]
    pub measure: Vec<String>,
    /// Run these lanes only (repeatable) [default: all].
    #[arg(long, value_name = "NAME")]
    pub lane: Vec<String>,
    /// Write the results to a file; its kind by extension: .svg, .json, .csv (repeatable).
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Go on with the .csv output where an earlier sweep was interrupted.
    #[arg(long)]
    pub resume: bool,
    #[command(flatten)]
    pub format: FormatArgs,
    /// Threads to use [default: all]; results do not depend on it.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Columns of the text, at least 80 [default: the terminal's, else 100].
    #[arg(long, value_name = "N")]
    pub width: Option<usize>,
    #[command(flatten)]
    pub terminal: TerminalArgs,
}

#[derive(Clone, Debug, Args)]
pub struct ReplayArgs {
    /// CSV files, plain or gzip, `-` for standard input; several are merged by time.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<String>,
    /// The limit that every lane must enforce.
    #[arg(long, value_name = "UNITS/TIME")]
    pub limit: String,
    /// Burst of the buckets [default: the limit's units].
    #[arg(long, value_name = "N")]
    pub burst: Option<u64>,
    /// Column of the arrival time: a name, or a number from 1 [default: the first called timestamp, time,
    /// ts or the like; `rlsim explain trace` lists them].
    #[arg(long, value_name = "COL")]
    pub time: Option<String>,
    /// How times are written: auto (seconds, or a date-time, UTC without a zone), s, ms, us, ns, rfc3339
    /// or a strptime pattern [default: auto].
    #[arg(long, value_name = "FORMAT")]
    pub time_format: Option<String>,
    /// Column of the key [default: one key for all rows].
    #[arg(long, value_name = "COL")]
    pub key: Option<String>,
    /// Columns whose sum is the cost [default: every row costs 1].
    #[arg(long, value_name = "COL", value_delimiter = ',')]
    pub cost: Vec<String>,
    /// The first line is a row: columns go by number, the time is column 1 [default: if --time is a
    /// number and no column is named].
    #[arg(long)]
    pub no_header: bool,
    /// What to do about rows out of order: strict, sort, or how late they may be (5s) [default: strict].
    #[arg(long, value_name = "ORDER")]
    pub order: Option<String>,
    /// What to do about bad rows: error or skip [default: error].
    #[arg(long, value_name = "WHAT")]
    pub bad_rows: Option<String>,
    /// Algorithms to run [default: all six].
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub algorithm: Vec<String>,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Args)]
pub struct PaperArgs {
    /// The paper [default: list them].
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Runs at each point [default: as published].
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub runs: Option<u64>,
    /// Only at these values of what is varied.
    #[arg(long, value_name = "VALUE", value_delimiter = ',')]
    pub at: Vec<String>,
    /// Change the first run's seed.
    #[arg(long, value_name = "N", value_parser = seed)]
    pub seed: Option<u64>,
    /// Draw the published figure's counterpart to an .svg file.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
    /// Threads to use [default: all]; results do not depend on it.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    #[command(flatten)]
    pub terminal: TerminalArgs,
}

#[derive(Debug, Args)]
pub struct TestArgs {
    /// Scenario files, or directories searched for them [default: the current directory].
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// How results are written.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: TestFormat,
    /// Threads to use [default: all].
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TestFormat {
    Text,
    Junit,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Scenario files, `-` for standard input, or names of embedded scenarios.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<String>,
    /// Print the plan with every default stated, as a scenario that `rlsim run -` accepts.
    #[arg(long)]
    pub resolved: bool,
    #[command(flatten)]
    pub changes: ChangeArgs,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// What to list [default: everything].
    #[arg(value_name = "WHAT")]
    pub what: Option<Topic>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Topic {
    Scenarios,
    Papers,
    Algorithms,
    Traffic,
    Words,
    Topics,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The name of an embedded scenario.
    #[arg(value_name = "NAME")]
    pub name: String,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// An algorithm, a kind of traffic, a word of the report, or a topic; `rlsim list` names them all.
    #[arg(value_name = "NAME")]
    pub name: String,
}

#[derive(Debug, Args)]
pub struct GenerateArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Write to a file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}
