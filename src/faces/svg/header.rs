//! Above the lanes: the lesson, what was offered, and what the marks mean.

use super::MARGIN;
use super::legend::Legend;
use super::measure::{Font, clean};
use super::paint::{Anchor, Painter, WIDTH, palette};
use crate::faces::format::title;
use crate::report::Report;

const TITLE: Font = Font::bold(44);
const ABOUT: Font = Font::regular(28);

/// The header, laid out.
pub struct Header {
    title: Vec<String>,
    about: Vec<String>,
    legend: Legend,
}

impl Header {
    /// Lays out the header of a sheet.
    pub fn new(report: &Report, legend: Legend) -> Self {
        let width = WIDTH - 2 * MARGIN;
        Self {
            title: TITLE.balance(&clean(&title(report)), width, 8),
            about: ABOUT.wrap(&clean(report.about.as_deref().unwrap_or("")), width, 12),
            legend,
        }
    }

    /// Draws it from the top of the sheet, or only measures it: where it ends.
    pub fn draw(&self, painter: Option<&Painter<'_>>) -> i32 {
        let mut y = 20;
        let mut write = |lines: &[String], font: Font, color, leading: i32, gap: i32| {
            for line in lines {
                y += leading;
                if let Some(painter) = painter {
                    painter.text((MARGIN, y), font, color, Anchor::Start, line);
                }
            }
            y += if lines.is_empty() { 0 } else { gap };
        };
        write(&self.title, TITLE, palette::INK, 54, 14);
        write(&self.about, ABOUT, palette::INK, 37, 22);
        if let Some(painter) = painter {
            self.legend.draw(painter, MARGIN, y);
        }
        y + self.legend.height() + 30
    }
}
