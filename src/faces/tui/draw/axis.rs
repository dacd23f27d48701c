//! The time axis: round instants, and what the figures beside the strips are.

use super::Canvas;
use crate::faces::format::Clock;
use crate::faces::tui::view::Span;
use crate::time::SimTime;

/// Steps between labels that divide a minute, an hour and a day.
const STEPS: [i64; 18] = [
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
    15_000_000_000,
    30_000_000_000,
    60_000_000_000,
    120_000_000_000,
    300_000_000_000,
    600_000_000_000,
    900_000_000_000,
    1_800_000_000_000,
    3_600_000_000_000,
    7_200_000_000_000,
    10_800_000_000_000,
    21_600_000_000_000,
    43_200_000_000_000,
    86_400_000_000_000,
];

/// The smallest round step not below `least` nanoseconds.
fn step(least: i64) -> i64 {
    let (second, last) = (STEPS[0], STEPS[STEPS.len() - 1]);
    if least <= second {
        return decimal(1, least);
    }
    STEPS.into_iter().find(|step| *step >= least).unwrap_or_else(|| decimal(last, least))
}

/// The smallest of 1, 2, 5, 10, 20... units that is not below `least`.
fn decimal(unit: i64, least: i64) -> i64 {
    let mut decade = unit;
    loop {
        let step = [1, 2, 5].into_iter().map(|factor| decade.saturating_mul(factor)).find(|step| *step >= least);
        if let Some(step) = step {
            return step;
        }
        decade = decade.saturating_mul(10);
    }
}

/// How instants on multiples of this step are written: no more decimals than it takes.
fn label(clock: Clock, at: i64, step: i64) -> String {
    let text = clock.time(SimTime::from_nanos(at));
    let Some(dot) = text.rfind('.') else { return text };
    let needed = (0..9).find(|decimals| step % 10_i64.pow(9 - decimals) == 0).unwrap_or(9) as usize;
    let kept = if needed == 0 { dot } else { (dot + 1 + needed).min(text.len()) };
    text[..kept].to_owned()
}

/// The instants to label and their labels, as close as labels may stand.
fn ticks(clock: Clock, view: Span, columns: usize) -> Vec<(i64, String)> {
    let mut least = view.length() / columns.max(1) as i64 * 5;
    loop {
        let step = step(least.max(1));
        let wide = super::width(&label(clock, view.from, step)) + 3;
        if step >= view.length() || i128::from(step) * columns as i128 >= i128::from(view.length()) * wide as i128 {
            let first = view.from.div_euclid(step).saturating_add(i64::from(view.from.rem_euclid(step) != 0));
            let instants = (first..).map_while(|n| n.checked_mul(step)).take_while(|at| *at < view.until);
            return instants.map(|at| (at, label(clock, at, step))).collect();
        }
        least = step.saturating_add(1);
    }
}

/// Paints the axis and the heads of the figures.
pub fn paint(canvas: &mut Canvas, y: u16) {
    let (app, layout) = (canvas.app, canvas.layout);
    let Some(run) = &app.run else { return };
    let dim = canvas.theme.dim();
    if usize::from(layout.lanes) < run.report.lanes.len() {
        let shown = format!(
            "lanes {}-{} of {}",
            layout.first + 1,
            layout.first + usize::from(layout.lanes),
            run.report.lanes.len()
        );
        canvas.put(1, y, &shown, layout.names.width - 1, dim);
    }
    let clock = Clock::for_span(&run.report, app.view.from - run.report.start.nanos(), app.view.until - run.report.start.nanos());
    let columns = usize::from(layout.strip.width);
    for (at, text) in ticks(clock, app.view, columns) {
        let column = app.view.column(at, columns);
        if column + 1 + super::width(&text) <= columns {
            let x = canvas.put(layout.strip.x + column as u16, y, "╷", 1, dim);
            canvas.put(x, y, &text, layout.strip.width, dim);
        }
    }
    canvas.cursor(y);
    heads(canvas, y);
}

/// Heads of the figures: what they are, or, with a row below, as of when.
fn heads(canvas: &mut Canvas, y: u16) {
    let layout = canvas.layout;
    let (strong, dim) = (canvas.theme.strong(), canvas.theme.dim());
    let limit = canvas.app.run.as_ref().is_some_and(|run| run.report.limit.is_some());
    if layout.arrivals == 0 {
        return names(canvas, y);
    }
    let (x, width) = (layout.figures.x, layout.figures.width);
    let end = super::lanes::figures(layout.columns, limit).filter(|figure| figure.at_end).map(|figure| figure.width).sum();
    canvas.put_right(x, y, "at the cursor", width - end, strong);
    if end > 0 {
        canvas.put_right(x + width - end, y, "at the end", end, dim);
    }
    names(canvas, y + 1);
}

/// The names of the figures.
fn names(canvas: &mut Canvas, y: u16) {
    let limit = canvas.app.run.as_ref().is_some_and(|run| run.report.limit.is_some());
    let heads: Vec<_> = super::lanes::figures(canvas.layout.columns, limit).collect();
    let mut x = canvas.layout.figures.x;
    for figure in heads {
        let style = if figure.at_end { canvas.theme.dim() } else { canvas.theme.strong() };
        canvas.put_right(x, y, figure.head, figure.width, style);
        x += figure.width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_a_clock() {
        let second = 1_000_000_000;
        let cases = [
            (3, 5),
            (600, 1_000),
            (900_000_000, second),
            (second + 1, 2 * second),
            (7 * second, 10 * second),
            (40 * second, 60 * second),
            (4_000 * second, 7_200 * second),
            (50_000 * second, 86_400 * second),
            (2_000_000 * second, 50 * 86_400 * second),
        ];
        for (least, wanted) in cases {
            assert_eq!(step(least), wanted, "{least}");
        }
    }
}
