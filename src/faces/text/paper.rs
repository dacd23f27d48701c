//! A published result beside its rebuilt counterpart, as a table.

use super::{Styles, TextOptions, paragraph, styled};
use crate::faces::format::count;
use crate::report::{PaperReport, PaperRow};
use comfy_table::{CellAlignment, Table};

/// The comparison as text.
#[must_use]
pub fn paper(report: &PaperReport, options: TextOptions) -> String {
    let styles = Styles::new(options.color);
    let width = options.width.max(super::MIN_WIDTH);
    let mut out = String::new();
    for line in textwrap::wrap(&report.title, super::wrapping(width, "")) {
        out.push_str(&format!("{}\n", styled(styles.title, &line)));
    }
    paragraph(&mut out, report.source, width, "");
    let each = if report.varied.is_some() { " at each point" } else { "" };
    let runs = if report.runs == 1 { "1 run".to_owned() } else { format!("{} runs", count(u128::from(report.runs))) };
    paragraph(&mut out, &format!("Rebuilt from scenario {}, {runs}{each}.", report.model), width, "");
    out.push('\n');
    for quirk in &report.quirks {
        paragraph(&mut out, quirk, width, "  ");
    }
    out.push('\n');
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let at = report.varied.unwrap_or("");
    table.set_header([at, "lane", "figure", "published", "", "rlsim", "error", "may differ by", ""]);
    for row in &report.rows {
        let verdict = if row.agrees { "agrees".to_owned() } else { styled(styles.denied, "differs") };
        let mark = format!("[{}]", row.mark);
        let figure = if row.unit.is_empty() { row.figure.to_owned() } else { format!("{} ({})", row.figure, row.unit) };
        let more = row.decimals + 1;
        table.add_row([
            row.at.to_owned(),
            row.lane.to_owned(),
            figure,
            number(row.published, row.decimals),
            mark,
            found(row),
            number(row.error, more),
            number(row.tolerance, more),
            verdict,
        ]);
    }
    for i in [3, 5, 6, 7] {
        if let Some(column) = table.column_mut(i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.push('\n');
    let agree = report.rows.len() - report.misses;
    let text = format!(
        "{agree} of {} published figures agree: ours within four standard errors, theirs and ours together, and \
         rounding. [run]: measured with the original's own code or formula; [2nd]: second-hand, as cited by others.",
        report.rows.len()
    );
    paragraph(&mut out, &text, width, "");
    if report.runs < FEW && report.rows.iter().any(|row| row.error > 0.0) {
        paragraph(&mut out, "With so few runs it is not well known how they scatter: more may agree.", width, "");
    }
    out
}

/// Fewer runs than these tell little of how they scatter.
const FEW: u64 = 8;

fn found(row: &PaperRow) -> String {
    if row.found.is_nan() { "none".to_owned() } else { number(row.found, row.decimals + 1) }
}

/// A number with so many decimals; groups of thousands where it has none.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    match whole.parse::<u128>() {
        Ok(whole) if whole >= 10_000 && fraction.is_empty() => count(whole),
        Ok(whole) if whole >= 10_000 => format!("{}.{fraction}", count(whole)),
        _ => text,
    }
}
