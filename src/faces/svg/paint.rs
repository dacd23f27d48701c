//! The drawing surface: a few shapes on whole coordinates, and the colours.
//!
//! Geometry that belongs together is one element: combs of marks and dashes are single polygons
//! whose parts are joined by edges without area.

use super::measure::{Font, clean};
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, Drawable, PathElement, PointCollection, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, FontDesc, FontFamily, FontStyle};

/// A colour.
pub use plotters::style::RGBColor as Color;

/// A point in the sheet's units.
pub type Point = (i32, i32);

/// Width of the sheet in its units: two for each pixel at the size it is shown, so that lines on
/// whole units are smooth.
pub const WIDTH: i32 = 1800;

/// Dash and gap of the line at which a window ends.
pub const RESTART_DASH: (i32, i32) = (4, 6);

/// Between two lines of a hatching.
const HATCH: i32 = 16;

/// What the SVG backend divides a font's size by.
const FONT_SCALE: f64 = 1.24;

/// Colours: told apart by lightness too, for grey prints; those of texts have a contrast of at least
/// 4.5 against everything they stand on.
pub mod palette {
    use super::Color;

    /// Titles, the trailing count.
    pub const INK: Color = Color(0x16, 0x20, 0x2E);
    /// What explains.
    pub const SOFT: Color = Color(0x4A, 0x55, 0x63);
    /// Baselines.
    pub const RULE: Color = Color(0x9A, 0xA5, 0xB1);
    /// Grid lines and separators.
    pub const FAINT: Color = Color(0xDD, 0xE3, 0xEA);
    /// The span of the close-up within the whole run.
    pub const LENS: Color = Color(0xE4, 0xEC, 0xF4);
    /// The paper.
    pub const PAPER: Color = Color(0xFF, 0xFF, 0xFF);
    /// Released at once.
    pub const ALLOWED: Color = Color(0x00, 0x4C, 0x80);
    /// Released later: marks and bins.
    pub const DELAYED: Color = Color(0x8F, 0xCB, 0xF0);
    /// The same where it carries text or lines.
    pub const DELAYED_INK: Color = Color(0x1C, 0x6C, 0x9E);
    /// Waiting to be released.
    pub const WAITING: Color = Color(0xC5, 0xE3, 0xF6);
    /// Refused: marks and bins.
    pub const DENIED: Color = Color(0xD5, 0x5E, 0x00);
    /// The same where it carries text.
    pub const DENIED_INK: Color = Color(0xA8, 0x45, 0x00);
    /// Above the limit.
    pub const EXCESS: Color = Color(0xF5, 0xC5, 0x42);
    /// Down to where the trailing count went.
    pub const BAND: Color = Color(0xC6, 0xCC, 0xD4);
    /// Down to where the lane's own state went.
    pub const STATE_BAND: Color = Color(0xE6, 0xCF, 0xE2);
    /// The lane's own state.
    pub const STATE: Color = Color(0x8A, 0x2C, 0x7A);
    /// Answers in time.
    pub const GOOD: Color = Color(0x2B, 0xA3, 0x7F);
    /// The same where it carries text.
    pub const GOOD_INK: Color = Color(0x00, 0x69, 0x4D);
    /// Behind a span in which something is wrong.
    pub const TROUBLE: Color = Color(0xF4, 0xEE, 0xE6);
    /// Its hatching.
    pub const HATCH: Color = Color(0xC9, 0xBC, 0xAA);
    /// Behind a tag.
    pub const TAG: Color = Color(0xEC, 0xEF, 0xF3);
}

/// On which side of its anchor a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// To the right.
    Start,
    /// On both sides.
    Middle,
    /// To the left.
    End,
}

/// Draws on one sheet.
pub struct Painter<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

impl<'a> Painter<'a> {
    /// A sheet of white paper of this height, drawn into `svg`.
    pub fn new(svg: &'a mut String, height: i32) -> Self {
        let size = (WIDTH.unsigned_abs(), height.unsigned_abs());
        let painter = Self { area: SVGBackend::with_string(svg, size).into_drawing_area() };
        painter.rect((0, 0), (WIDTH, height), palette::PAPER);
        painter
    }

    fn draw<E>(&self, element: &E)
    where
        for<'b> &'b E: PointCollection<'b, Point>,
        E: Drawable<SVGBackend<'a>>,
    {
        self.area.draw(element).expect("a string takes any drawing");
    }

    /// A text on its baseline.
    pub fn text(&self, (x, baseline): Point, font: Font, color: Color, anchor: Anchor, text: &str) {
        let style = if font.bold { FontStyle::Bold } else { FontStyle::Normal };
        let h = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let style = FontDesc::new(FontFamily::SansSerif, f64::from(font.size) * FONT_SCALE, style)
            .color(&color)
            .pos(Pos::new(h, VPos::Top));
        // Texts hang from 0.76 of their size above the baseline, in every renderer.
        let top = baseline - (font.size * 76 + 50) / 100;
        self.draw(&Text::new(clean(text), (x, top), style));
    }

    /// A line through points.
    pub fn line(&self, points: &[Point], color: Color, width: u32) {
        if points.len() > 1 {
            self.draw(&PathElement::new(points, color.stroke_width(width)));
        }
    }

    /// A filled polygon.
    pub fn polygon(&self, points: &[Point], color: Color) {
        if points.len() > 2 {
            self.draw(&Polygon::new(points, color.filled()));
        }
    }

    /// A filled rectangle.
    pub fn rect(&self, corner: Point, opposite: Point, color: Color) {
        self.draw(&Rectangle::new([corner, opposite], color.filled()));
    }

    /// A filled circle.
    pub fn dot(&self, center: Point, radius: i32, color: Color) {
        self.draw(&Circle::new(center, radius, color.filled()));
    }

    /// An open circle.
    pub fn ring(&self, center: Point, radius: i32, color: Color) {
        self.draw(&Circle::new(center, radius, color.stroke_width(2)));
    }

    /// Upright marks at each `x`, as one element.
    pub fn ticks(&self, xs: &[i32], (top, bottom): (i32, i32), color: Color) {
        let tooth = |x: &i32| [(*x - 1, bottom), (*x - 1, top), (*x + 1, top), (*x + 1, bottom)];
        self.polygon(&xs.iter().flat_map(tooth).collect::<Vec<_>>(), color);
    }

    /// Diagonal crosses at each `x`, as one element; thin ones where they overlap.
    pub fn crosses(&self, xs: &[i32], (top, bottom): (i32, i32), color: Color) {
        let half = (bottom - top) / 2;
        let crowded = xs.windows(2).any(|pair| pair[1] - pair[0] < 2 * half);
        let bar = if crowded { 1 } else { 3 };
        let cross = |x: &i32| {
            let (left, right) = (*x - half, *x + half);
            [
                (left, bottom),
                (right - bar, top),
                (right, top),
                (left + bar, bottom),
                (right - bar, bottom),
                (left, top),
                (left + bar, top),
                (right, bottom),
            ]
        };
        self.polygon(&xs.iter().flat_map(cross).collect::<Vec<_>>(), color);
    }

    /// A dashed level line, as one element.
    pub fn dashes(&self, (from, until): (i32, i32), y: i32, color: Color) {
        let dash = |x: i32| [(x, y + 1), (x, y - 1), ((x + 14).min(until), y - 1), ((x + 14).min(until), y + 1)];
        self.polygon(&(from..until).step_by(24).flat_map(dash).collect::<Vec<_>>(), color);
    }

    /// Level stripes within each span, as one element.
    pub fn stripes(&self, spans: &[(i32, i32)], (top, bottom): (i32, i32), color: Color) {
        let first = top + 4;
        let rows = || (first..bottom - 1).step_by(8);
        // Down along the left edge of each span, back up, and on at the height of its first stripe: no
        // edge between two stripes holds any area.
        let span = |(from, until): &(i32, i32)| {
            let (from, until) = (*from, *until);
            let down = rows().flat_map(move |y| [(from, y), (until, y), (until, y + 2), (from, y + 2)]);
            down.chain([(from, first)]).collect::<Vec<_>>()
        };
        self.polygon(&spans.iter().flat_map(span).collect::<Vec<_>>(), color);
    }

    /// Slanting lines within a rectangle, as one element.
    pub fn hatch(&self, (left, right): (i32, i32), (top, bottom): (i32, i32), color: Color) {
        let height = bottom - top;
        // Each line rises by as much as it goes to the right; down the left edge, then along the bottom,
        // so that edges between two lines hold no area.
        let first = left - height / HATCH * HATCH;
        let line = |foot: i32| {
            let (low, high) = (foot.max(left), (foot + height).min(right));
            let at = |x: i32| bottom - (x - foot);
            (high > low).then(|| [(low, at(low)), (high, at(high)), (high, at(high) + 2), (low, at(low) + 2)])
        };
        let lines = (first..right).step_by(HATCH as usize).filter_map(line).flatten();
        let corner = std::iter::once((left, bottom));
        let inside = lines.map(|(x, y)| (x, y.clamp(top, bottom)));
        self.polygon(&corner.clone().chain(inside).chain(corner).collect::<Vec<_>>(), color);
    }

    /// An upright line of dashes with gaps, as one element.
    pub fn upright(&self, x: i32, (top, bottom): (i32, i32), (dash, gap): (i32, i32), color: Color) {
        let part = |y: i32| {
            let end = (y + dash).min(bottom);
            [(x - 1, y), (x + 1, y), (x + 1, end), (x - 1, end)]
        };
        let starts = (top..bottom).step_by((dash + gap).unsigned_abs() as usize);
        self.polygon(&starts.flat_map(part).collect::<Vec<_>>(), color);
    }

    /// Ends the drawing.
    pub fn finish(self) {
        self.area.present().expect("a string takes any drawing");
    }
}
