//! Paints the screen.

mod axis;
mod charts;
mod fleet;
mod header;
mod lanes;
pub(super) mod layout;
mod moment;
mod overlay;
mod theme;

use super::action::Run;
use super::app::App;
use crate::faces::format::fit;
use layout::{Layout, SMALLEST};
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::cmp::Ordering;
use theme::Theme;

/// Paints the whole screen.
pub fn draw(app: &App, frame: &mut Frame) {
    let area = frame.area();
    paint(app, area, frame.buffer_mut());
}

fn paint(app: &App, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let layout = Layout::of(app, (area.width, area.height));
    let theme = Theme::new(app.colour);
    if !layout.fits {
        return too_small(area, buf);
    }
    let mut canvas = Canvas { app, layout, theme, buf };
    header::title(&mut canvas, 0);
    let mut y = layout.title + layout.about;
    header::state(&mut canvas, y);
    y += 1;
    let Some(run) = &app.run else {
        let text = match app.running {
            Some(_) => "running the scenario; it is shown once that is done",
            None => "there is no run to show: r tries again, q quits",
        };
        let x = area.width.saturating_sub(self::width(text) as u16) / 2;
        canvas.put(x, area.height / 2, text, area.width - x, theme.dim());
        header::keys(&mut canvas, area.height - 1);
        return overlay::paint(&mut canvas);
    };
    axis::paint(&mut canvas, y);
    y += 1;
    if layout.arrivals > 0 {
        lanes::arrivals(&mut canvas, y);
        y += 1;
    }
    if layout.faults > 0 {
        fleet::faults(&mut canvas, y);
        y += 1;
    }
    for lane in layout.first..layout.first + usize::from(layout.lanes) {
        let chosen = lane == app.lane;
        lanes::lane(&mut canvas, run, lane, y);
        y += 1;
        if chosen && layout.charts > 0 {
            charts::paint(&mut canvas, run, lane, y);
            y += layout.charts;
        } else if layout.lane_rows > 1 {
            lanes::trailing(&mut canvas, run, lane, y);
            y += 1;
        }
    }
    if layout.differ > 0 {
        lanes::differ(&mut canvas, y);
        y += 1;
    }
    y += layout.gap;
    if layout.legend > 0 {
        header::legend(&mut canvas, y);
        y += 1;
    }
    y += layout.gap;
    if app.is_deployed() {
        fleet::paint(&mut canvas, run, y);
    } else {
        moment::paint(&mut canvas, run, y);
    }
    header::keys(&mut canvas, area.height - 1);
    overlay::paint(&mut canvas);
}

fn too_small(area: Rect, buf: &mut Buffer) {
    let (width, height) = SMALLEST;
    let smallest = format!("{width}x{height}");
    let forms =
        [format!("too small: needs at least {smallest}"), format!("needs {smallest}"), smallest, "…".to_owned()];
    let text = fit(fitting(&forms, area.width), usize::from(area.width));
    let x = area.width.saturating_sub(self::width(&text) as u16) / 2;
    buf.set_stringn(x, area.height / 2, text, usize::from(area.width), Style::new());
}

/// Columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    ratatui::text::Span::raw(text).width()
}

/// A text in lines of at most `columns`, broken between words, blanks at its beginning kept.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let blanks: String = text.chars().take_while(|letter| *letter == ' ').take(columns / 2).collect();
    let options = textwrap::Options::new(columns.max(1))
        .subsequent_indent(&blanks)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(std::borrow::Cow::into_owned).collect()
}

/// The first of several ways to say something that fits these columns; the last, shortest one if
/// none does.
fn fitting(forms: &[String], columns: u16) -> &str {
    let fits = forms.iter().find(|form| width(form) <= usize::from(columns));
    fits.or(forms.last()).map_or("", String::as_str)
}

/// The screen, what is painted on it, and how.
struct Canvas<'a> {
    app: &'a App,
    layout: Layout,
    theme: Theme,
    buf: &'a mut Buffer,
}

impl Canvas<'_> {
    /// Writes a text from column `x` on, at most `columns` wide; answers the column after it.
    fn put(&mut self, x: u16, y: u16, text: &str, columns: u16, style: Style) -> u16 {
        let area = self.buf.area;
        if y >= area.height || x >= area.width {
            return x;
        }
        let columns = columns.min(area.width - x);
        self.buf.set_stringn(x, y, fit(text, usize::from(columns)), usize::from(columns), style).0
    }

    /// Writes a text in `rows` lines at most, broken between words; `more` stands behind the last
    /// of them if something is missing. Answers how many lines were written.
    fn paragraph(
        &mut self,
        (x, y): (u16, u16),
        text: &str,
        (columns, rows): (u16, u16),
        more: &str,
        style: Style,
    ) -> u16 {
        let mut lines = wrapped(text, usize::from(columns));
        if let Some(last) = usize::from(rows).checked_sub(1)
            && lines.len() > usize::from(rows)
        {
            let room = usize::from(columns).saturating_sub(width(more));
            let kept = wrapped(&lines[last], room).into_iter().next().unwrap_or_default();
            lines[last] = kept.trim_end_matches([',', ':', ';']).to_owned() + more;
        }
        for (y, line) in (y..y.saturating_add(rows)).zip(&lines) {
            self.put(x, y, line, columns, style);
        }
        (lines.len() as u16).min(rows)
    }

    /// Writes a text that ends at column `x + columns`.
    fn put_right(&mut self, x: u16, y: u16, text: &str, columns: u16, style: Style) {
        let text = fit(text, usize::from(columns));
        let blank = columns.saturating_sub(width(&text) as u16);
        self.put(x + blank, y, &text, columns - blank, style);
    }

    /// Whose releases a lane's charts follow, where that is in question, in fewer and fewer words.
    fn whose(&self, run: &Run, lane: usize) -> Option<[String; 3]> {
        let key = self.app.covering()?.lanes[lane].key.as_deref()?;
        (run.report.offered.keys > 1).then(|| [format!("of key {key}"), format!("key {key}"), key.to_owned()])
    }

    /// The cursor's column on the screen.
    fn cursor_x(&self) -> u16 {
        let strip = self.layout.strip;
        strip.x + self.app.view.column(self.app.cursor.at.nanos(), usize::from(strip.width)) as u16
    }

    /// The cursor's line through one row of the strip.
    fn cursor(&mut self, y: u16) {
        let style = self.theme.cursor();
        self.put(self.cursor_x(), y, "│", 1, style);
    }

    /// One column of the strip that says something: grey where it is still to come, marked where
    /// the cursor is.
    fn sign(&mut self, x: u16, y: u16, sign: &str, passed: Style) {
        let cursor = self.cursor_x();
        let style = match x.cmp(&cursor) {
            Ordering::Less => passed,
            Ordering::Equal => self.theme.marked(passed),
            Ordering::Greater => self.theme.dim(),
        };
        self.put(x, y, sign, 1, style);
    }
}
