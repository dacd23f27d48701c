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
    paragraph(&mut out, &format!("Rebuilt from {}, {runs}{each}.", models(report)), width, "");
    out.push('\n');
    for quirk in &report.quirks {
        paragraph(&mut out, quirk, width, "  ");
    }
    out.push('\n');
    table(&mut out, report, styles);
    out.push('\n');
    for text in verdicts(report) {
        paragraph(&mut out, &text, width, "");
    }
    if report.runs < FEW && report.rows.iter().any(|row| row.error > 0.0) {
        paragraph(&mut out, "With so few runs it is not well known how they scatter: more may agree.", width, "");
    }
    out
}

/// The scenarios.
fn models(report: &PaperReport) -> String {
    match &report.further_models[..] {
        [] => format!("scenario {}", report.model),
        [further @ .., last] => {
            let first: Vec<&str> = std::iter::once(report.model).chain(further.iter().copied()).collect();
            format!("scenarios {} and {last}", first.join(", "))
        }
    }
}

fn table(out: &mut String, report: &PaperReport, styles: Styles) {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    // Where nothing scatters, nothing is said of it.
    let scatters = report.rows.iter().any(|row| row.error > 0.0 || row.tolerance > 0.0);
    let cells = |before: [String; 6], error: String, tolerance: String, verdict: String| {
        let spread = if scatters { vec![error, tolerance] } else { Vec::new() };
        before.into_iter().chain(spread).chain([verdict]).collect::<Vec<_>>()
    };
    let at = report.varied.unwrap_or("");
    let header = [at, report.whose, "figure", "published", "", "rlsim"].map(str::to_owned);
    table.set_header(cells(header, "error".to_owned(), "may differ by".to_owned(), String::new()));
    for row in &report.rows {
        let verdict = match row.agrees {
            Some(true) => "agrees".to_owned(),
            Some(false) => styled(styles.denied, "differs"),
            None => String::new(),
        };
        let mark = if row.mark.is_empty() { String::new() } else { format!("[{}]", row.mark) };
        let figure = if row.unit.is_empty() { row.figure.to_owned() } else { format!("{} ({})", row.figure, row.unit) };
        let more = row.decimals + 1;
        let before = [row.at.to_owned(), row.lane.to_owned(), figure, published(row), mark, found(row)];
        table.add_row(cells(before, number(row.error, more), number(row.tolerance, more), verdict));
    }
    for i in if scatters { vec![3, 5, 6, 7] } else { vec![3, 5] } {
        if let Some(column) = table.column_mut(i) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// How many figures agree, of those that can be compared; what is said of the others.
fn verdicts(report: &PaperReport) -> Vec<String> {
    let (proofs, others): (Vec<&PaperRow>, Vec<&PaperRow>) =
        report.rows.iter().filter(|row| row.agrees.is_some()).partition(|row| row.mark == "proof");
    let agree = |rows: &[&PaperRow]| rows.iter().filter(|row| row.agrees == Some(true)).count();
    let mut said = Vec::new();
    if !others.is_empty() {
        said.push(format!(
            "{} of {} published figures agree: ours within four standard errors, theirs and ours together, and \
             rounding. [run]: measured with the original's own code or formula; [2nd]: second-hand, as cited by others.",
            agree(&others),
            others.len()
        ));
    }
    if report.rows.iter().any(|row| row.agrees.is_none()) {
        said.push(
            "[2nd]: published on their traffic and cited second-hand; ours differs, so the two are not compared."
                .to_owned(),
        );
    }
    if !proofs.is_empty() {
        said.push(format!("[proof]: {} of {} proven worst cases are reached exactly.", agree(&proofs), proofs.len()));
    }
    said
}

/// Fewer runs than these tell little of how they scatter.
const FEW: u64 = 8;

fn found(row: &PaperRow) -> String {
    if row.found.is_nan() { "none".to_owned() } else { number(row.found, row.found_decimals) }
}

fn published(row: &PaperRow) -> String {
    let below = if row.below { "<" } else { "" };
    row.published.map_or_else(String::new, |value| format!("{below}{}", number(value, row.decimals)))
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
