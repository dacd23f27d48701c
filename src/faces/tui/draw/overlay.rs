//! What lies over the lanes: help, a failure, the list of keys.

use super::{Canvas, wrapped};
use crate::faces::format::count;
use crate::faces::tui::action::Run;
use crate::faces::tui::keys;
use crate::faces::tui::overlay::Overlay;
use crate::faces::tui::picker::Picker;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, BorderType, Clear, Widget};

/// Paints the overlay, if there is one.
pub fn paint(canvas: &mut Canvas) {
    match &canvas.app.overlay {
        Overlay::None => {}
        Overlay::Help { scroll } => help(canvas, *scroll),
        Overlay::Failure { text, scroll } => failure(canvas, text, *scroll),
        Overlay::Picker(picker) => {
            if let Some(run) = &canvas.app.run {
                pick(canvas, run, picker);
            }
        }
    }
}

/// A frame in the middle of the screen; what is inside it.
fn frame(canvas: &mut Canvas, title: &str, foot: &str, width: u16, height: u16) -> Rect {
    let area = canvas.layout.area;
    let (width, height) = ((width + 4).min(area.width), (height + 2).min(area.height));
    let frame = Rect::new((area.width - width) / 2, (area.height - height) / 2, width, height);
    Clear.render(frame, canvas.buf);
    let block = Block::bordered().border_type(BorderType::Rounded).title_top(format!(" {title} "));
    block.title_bottom(format!(" {foot} ")).render(frame, canvas.buf);
    Rect {
        x: frame.x + 2,
        y: frame.y + 1,
        width: frame.width.saturating_sub(4),
        height: frame.height.saturating_sub(2),
    }
}

/// Lines from `scroll` on, as far as they fit; the last page at most.
fn scrolled(scroll: usize, lines: usize, room: u16) -> std::ops::Range<usize> {
    let first = scroll.min(lines.saturating_sub(usize::from(room)));
    first..lines.min(first + usize::from(room))
}

/// Columns of the keys in the help.
const KEYS: u16 = 14;

fn help(canvas: &mut Canvas, scroll: usize) {
    let wide = canvas.layout.area.width.saturating_sub(8).min(76);
    // A key and what it does; neither: what the scenario is about.
    let mut lines: Vec<(Option<&str>, String)> = Vec::new();
    if let Some(about) = canvas.app.run.as_ref().and_then(|run| run.report.about.as_deref()) {
        lines.extend(wrapped(about, usize::from(wide)).into_iter().map(|line| (None, line)));
        lines.push((None, String::new()));
    }
    for (key, what) in keys::HELP {
        let what = wrapped(what, usize::from(wide.saturating_sub(KEYS)));
        let keys = std::iter::once(*key).chain(std::iter::repeat(""));
        lines.extend(keys.map(Some).zip(what));
    }
    let inner = frame(canvas, "help", "up down scroll, Esc closes", wide, lines.len() as u16);
    for (y, i) in (inner.y..).zip(scrolled(scroll, lines.len(), inner.height)) {
        match &lines[i] {
            (None, text) => drop(canvas.put(inner.x, y, text, inner.width, canvas.theme.dim())),
            (Some(key), what) => {
                canvas.put(inner.x, y, key, KEYS, canvas.theme.strong());
                canvas.put(inner.x + KEYS, y, what, inner.width.saturating_sub(KEYS), Style::new());
            }
        }
    }
}

fn failure(canvas: &mut Canvas, text: &str, scroll: usize) {
    let wide = canvas.layout.area.width.saturating_sub(8);
    let lines: Vec<String> = text.lines().flat_map(|line| wrapped(line, usize::from(wide))).collect();
    let longest = lines.iter().map(|line| super::width(line)).max().unwrap_or(0).max(44);
    let kept = canvas.app.run.is_some();
    let foot = if kept { "the run before is kept; r tries again, Esc closes" } else { "r tries again, Esc closes" };
    let inner = frame(
        canvas,
        "it could not be run again",
        foot,
        (longest as u16).max(super::width(foot) as u16),
        lines.len() as u16,
    );
    for (y, i) in (inner.y..).zip(scrolled(scroll, lines.len(), inner.height)) {
        canvas.put(inner.x, y, &lines[i], inner.width, Style::new());
    }
}

fn pick(canvas: &mut Canvas, run: &Run, picker: &Picker) {
    let dim = canvas.theme.dim();
    let matches: Vec<usize> = picker.matches(&run.keys).collect();
    let names = run.keys.iter().take(200).map(|key| super::width(&key.key)).max().unwrap_or(0).clamp(24, 48) as u16;
    let width = names + 12;
    let more = run.report.offered.keys > run.keys.len() as u64;
    let height = (matches.len() as u16 + 3 + u16::from(more)).min(canvas.layout.area.height.saturating_sub(4)).max(6);
    let inner = frame(canvas, "key", "type to filter, Enter shows it, Esc closes", width.max(44), height);
    if inner.height < 3 {
        return;
    }
    let x = canvas.put(inner.x, inner.y, "filter: ", inner.width, dim);
    let x =
        canvas.put(x, inner.y, &picker.filter, (inner.x + inner.width).saturating_sub(x + 1), canvas.theme.strong());
    canvas.put(x, inner.y, "_", 1, dim);
    let list = Rect { y: inner.y + 1, height: inner.height - 1 - u16::from(more), ..inner };
    let first = (picker.line + 1).saturating_sub(usize::from(list.height));
    for (y, line) in (list.y..list.y + list.height).zip(first..=matches.len()) {
        let (name, arrivals) = match line.checked_sub(1) {
            None => ("all keys", run.report.offered.requests),
            Some(i) => (run.keys[matches[i]].key.as_str(), run.keys[matches[i]].arrivals),
        };
        let style = if line == picker.line { canvas.theme.chosen() } else { Style::new() };
        canvas.put(list.x, y, &" ".repeat(usize::from(list.width)), list.width, style);
        let name = if name.is_empty() { "(the empty key)" } else { name };
        canvas.put(list.x, y, name, list.width.saturating_sub(12), style);
        canvas.put_right(list.x, y, &count(u128::from(arrivals)), list.width, style);
    }
    if matches.is_empty() && list.height > 1 {
        canvas.put(list.x, list.y + 1, "no key in the list matches", list.width, dim);
    }
    if more {
        let text = format!(
            "the {} busiest of {} keys",
            count(run.keys.len() as u128),
            count(u128::from(run.report.offered.keys))
        );
        canvas.put(inner.x, inner.y + inner.height - 1, &text, inner.width, dim);
    }
}
