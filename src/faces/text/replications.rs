//! What many runs have in common, as a table.

use super::{Styles, TextOptions, styled};
use crate::faces::format::{count, duration, fit};
use crate::report::{ConditionReport, Estimate, Replications};
use comfy_table::{CellAlignment, Table};

/// Columns that a lane's name takes at most.
const NAME_WIDTH: usize = 24;

/// The table, with a heading.
#[must_use]
pub fn replications(found: &Replications, options: TextOptions) -> String {
    let styles = Styles::new(options.color);
    let last = found.first_seed.wrapping_add(found.runs - 1);
    let title = format!("{} runs, seeds {} to {last}", count(u128::from(found.runs)), found.first_seed);
    let mut out = format!("{}\n", styled(styles.title, &title));
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["lane", "figure", "mean", "95 % interval", "deviation"]);
    for lane in &found.lanes {
        let mut name = fit(&lane.name, NAME_WIDTH);
        let mut row = |figure: String, mean: String, interval: String, deviation: String| {
            table.add_row([std::mem::take(&mut name), figure, mean, interval, deviation]);
        };
        for (figure, estimate) in &lane.figures {
            let (label, write) = shown(figure);
            let runs = if estimate.runs < found.runs { format!(" ({} runs)", estimate.runs) } else { String::new() };
            let interval = interval(estimate, write);
            row(format!("{label}{runs}"), write(estimate.mean), interval, write(estimate.deviation));
        }
        for condition in &lane.conditions {
            let rate = &condition.rate_per_s;
            row(
                condition.figure.clone(),
                per_second(rate.mean),
                interval(rate, per_second),
                per_second(rate.deviation),
            );
            let ConditionReport { name, share, low, high, .. } = condition;
            row(
                format!("runs {name}"),
                percent(*share),
                format!("{} to {}", percent(*low), percent(*high)),
                String::new(),
            );
        }
    }
    if let Some(column) = table.column_mut(0) {
        column.set_padding((2, 0));
    }
    for i in 2..5 {
        if let Some(column) = table.column_mut(i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    let conditions = found.lanes.first().map_or(&[][..], |lane| &lane.conditions);
    for condition in conditions {
        out.push_str(&format!("  {}: {}\n", condition.name, condition.condition));
    }
    out.push_str("  Intervals hold the true mean 95 times in 100: Student's t for means");
    out.push_str(if conditions.is_empty() { ".\n" } else { ", Wilson's for shares.\n" });
    out
}

fn interval(estimate: &Estimate, write: fn(f64) -> String) -> String {
    format!("{} to {}", write(estimate.low), write(estimate.high))
}

type Write = fn(f64) -> String;

/// What a figure is called, and how it is written.
fn shown(figure: &str) -> (String, Write) {
    let known: (&str, Write) = match figure {
        "amplification" => ("attempts a request", three),
        "success_share" => ("success", percent),
        "goodput_per_s" => ("goodput", per_second),
        "time_to_success_p99_ns" => ("p99 of those done", time),
        "drain_ns" => ("last answer after", time),
        "wait_p99_ns" => ("p99 wait", time),
        "gave_up" => ("gave up", whole),
        other => (other, whole),
    };
    (known.0.to_owned(), known.1)
}

/// A mean of counts: a decimal below a thousand.
fn whole(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    let value = value.abs();
    if value < 1000.0 {
        return format!("{sign}{value:.1}");
    }
    format!("{sign}{}", count(value.round() as u128))
}

fn three(value: f64) -> String {
    format!("{value:.3}")
}

fn per_second(value: f64) -> String {
    format!("{}/s", if value.abs() < 100.0 { format!("{value:.2}") } else { whole(value) })
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn time(nanos: f64) -> String {
    let sign = if nanos < 0.0 { "-" } else { "" };
    format!("{sign}{}", duration(nanos.abs().round() as u128))
}
