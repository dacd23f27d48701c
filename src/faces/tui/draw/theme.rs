//! Colours that a colour-blind reader can tell apart, and the same without colours.

use crate::report::Counts;
use ratatui::style::{Color, Modifier, Style};

/// Styles, with colours or without.
#[derive(Clone, Copy, Debug)]
pub struct Theme {
    colour: bool,
}

/// What became of the arrivals of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The sign: the share of the admitted, or how all were treated.
    pub sign: &'static str,
    /// Its style where the cursor has passed.
    pub style: Style,
}

impl Theme {
    pub const fn new(colour: bool) -> Self {
        Self { colour }
    }

    fn fg(self, index: u8) -> Style {
        if self.colour { Style::new().fg(Color::Indexed(index)) } else { Style::new() }
    }

    pub fn admitted(self) -> Style {
        self.fg(39)
    }

    pub fn delayed(self) -> Style {
        self.fg(178)
    }

    pub fn denied(self) -> Style {
        self.fg(202)
    }

    /// More than the limit.
    pub fn excess(self) -> Style {
        self.denied()
    }

    /// A cell of a bar above the limit, `filled` by so many eighths; where there are no colours, even
    /// the top of a bar has a sign of its own.
    pub const fn above(self, filled: usize) -> &'static str {
        match (filled, self.colour) {
            (8.., _) | (4.., false) => EXCESS,
            (_, true) => EIGHTHS[filled.saturating_sub(1)],
            (_, false) => "▖",
        }
    }

    /// Traffic, before anybody decided.
    pub const fn offered(self) -> Style {
        Style::new()
    }

    /// What the limiter itself keeps.
    pub fn level(self) -> Style {
        self.fg(108)
    }

    /// What is not yet, or matters less.
    pub fn dim(self) -> Style {
        if self.colour { self.fg(243) } else { Style::new().add_modifier(Modifier::DIM) }
    }

    /// Under the cursor.
    pub fn marked(self, style: Style) -> Style {
        match style.fg {
            _ if !self.colour => style.add_modifier(Modifier::REVERSED),
            // What is light itself would be lost on a light ground.
            None => style.fg(Color::Indexed(238)).bg(Color::Indexed(254)),
            _ => style.bg(Color::Indexed(254)),
        }
    }

    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub fn cursor(self) -> Style {
        self.strong()
    }

    /// Something that needs attention.
    pub fn warn(self) -> Style {
        self.fg(202).add_modifier(Modifier::BOLD)
    }

    /// The line that is chosen in a list.
    pub fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// The sign of one column of a strip.
    pub fn cell(self, counts: Counts) -> Cell {
        let admitted = counts.allowed + counts.delayed;
        let style = if counts.delayed > counts.allowed { self.delayed() } else { self.admitted() };
        let (sign, style) = match (admitted, counts.denied) {
            (0, 0) => ("·", self.dim()),
            (0, _) => ("x", self.denied()),
            (_, 0) if counts.delayed > counts.allowed => ("~", style),
            // Not quite a full block, so that lanes do not run into each other.
            (_, 0) => ("▇", style),
            (admitted, denied) => {
                let share = admitted as f64 / (admitted + denied) as f64;
                let sign = if share > 0.67 {
                    "▓"
                } else if share > 0.33 {
                    "▒"
                } else {
                    "░"
                };
                (sign, if self.colour { style.bg(Color::Indexed(202)) } else { style })
            }
        };
        Cell { sign, style }
    }
}

/// What is above the limit, also where there are no colours; the shades stand for shares.
pub const EXCESS: &str = "▞";

/// Blocks of one to eight eighths.
pub const EIGHTHS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_alone_tell_what_happened() {
        let plain = Theme::new(false);
        let sign = |allowed, delayed, denied| plain.cell(Counts { allowed, delayed, denied }).sign;
        assert_eq!([sign(0, 0, 0), sign(3, 0, 0), sign(0, 3, 0), sign(0, 0, 3)], ["·", "▇", "~", "x"]);
        assert_eq!([sign(9, 0, 1), sign(5, 0, 5), sign(0, 1, 9)], ["▓", "▒", "░"]);
        assert_eq!([1, 3, 4, 8].map(|filled| plain.above(filled)), ["▖", "▖", "▞", "▞"]);
        assert_eq!([1, 4, 8].map(|filled| Theme::new(true).above(filled)), ["▁", "▄", "▞"]);
        assert_eq!(plain.cell(Counts { allowed: 1, delayed: 0, denied: 1 }).style, Style::new());
    }
}
