//! `rlsim generate`: a scenario's traffic as a CSV trace.

use super::cli::GenerateArgs;
use super::output::{OutputFile, cannot_write};
use super::run::{check_inputs_are_kept, interrupt_flag};
use crate::error::Error;
use crate::scenario::{Plan, ScenarioSource};
use crate::time::SimTime;
use crate::traffic::{Batch, Traffic};
use std::path::Path;
use std::sync::atomic::Ordering;

/// Arrivals generated at a time.
const BATCH: usize = 16_384;

/// Writes all arrivals: time in seconds since the epoch, key, cost, class, attributes.
pub fn generate(args: &GenerateArgs) -> Result<u8, Error> {
    let source = ScenarioSource::load(&args.scenario.file)?;
    let mut plan = Plan::new(&source, &args.scenario.changes.overrides()?)?;
    check_inputs_are_kept(&plan, &args.output, Some(Path::new(&args.scenario.file)))?;
    plan.key_by_every_attribute();
    let classes: Vec<&str> = plan.traffic.entries.iter().map(|entry| entry.class.as_deref().unwrap_or("")).collect();
    let with_class = classes.iter().any(|class| !class.is_empty());
    let path = args.output.as_deref().unwrap_or(Path::new("-"));
    let failed = |source: std::io::Error| cannot_write(path, &source);
    let csv_failed = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(error) => failed(error),
        other => failed(std::io::Error::other(format!("{other:?}"))),
    };
    let mut writer = csv::Writer::from_writer(OutputFile::create(path)?);
    let mut header = vec!["timestamp", "key", "cost"];
    if with_class {
        header.push("class");
    }
    header.extend(plan.traffic.attributes.iter().skip(1).map(String::as_str));
    writer.write_record(&header).map_err(csv_failed)?;
    let mut traffic = Traffic::open(&plan.traffic)?;
    let mut batch = Batch::default();
    let interrupted = interrupt_flag();
    loop {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        traffic.fill(&mut batch, BATCH)?;
        if batch.is_empty() {
            break;
        }
        for row in 0..batch.len() {
            writer.write_field(seconds(batch.at[row])).map_err(csv_failed)?;
            writer.write_field(traffic.keys(0).name(batch.keys[0][row].0)).map_err(csv_failed)?;
            writer.write_field(batch.cost[row].to_string()).map_err(csv_failed)?;
            if with_class {
                writer.write_field(classes[usize::from(batch.source[row])]).map_err(csv_failed)?;
            }
            for column in 1..plan.traffic.columns.len() {
                writer.write_field(traffic.keys(column).name(batch.keys[column][row].0)).map_err(csv_failed)?;
            }
            writer.write_record(None::<&[u8]>).map_err(csv_failed)?;
        }
    }
    writer.into_inner().map_err(|error| failed(error.into_error()))?.finish()?;
    Ok(0)
}

/// An instant as exact decimal seconds since the epoch.
fn seconds(at: SimTime) -> String {
    let nanos = at.nanos();
    let (sign, nanos) = if nanos < 0 { ("-", nanos.unsigned_abs()) } else { ("", nanos.unsigned_abs()) };
    let (whole, fraction) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    if fraction == 0 {
        return format!("{sign}{whole}");
    }
    format!("{sign}{whole}.{}", format!("{fraction:09}").trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact() {
        for (nanos, text) in [(0, "0"), (-1_000_000_000, "-1"), (-1, "-0.000000001"), (1_500_000_000, "1.5")] {
            assert_eq!(seconds(SimTime::from_nanos(nanos)), text);
        }
    }
}
