//! Lines and areas of a quantity over time.

use super::paint::Point;

/// A quantity over time.
#[derive(Default)]
pub struct Curve {
    /// Its line.
    pub line: Vec<Point>,
    /// Where the line is only the top of what the quantity did.
    pub band: Vec<Point>,
}

impl Curve {
    /// How often the line turns from up to down or back.
    pub fn turns(&self) -> usize {
        let slopes: Vec<i32> =
            self.line.windows(2).map(|pair| (pair[1].1 - pair[0].1).signum()).filter(|s| *s != 0).collect();
        slopes.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }
}

/// The same line without the points that lie between their neighbours.
pub fn straight(points: &[Point]) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::with_capacity(points.len());
    for &point in points {
        while let [.., a, b] = kept[..] {
            let (ab, bc) = ((b.0 - a.0, b.1 - a.1), (point.0 - b.0, point.1 - b.1));
            let cross = i64::from(ab.0) * i64::from(bc.1) - i64::from(ab.1) * i64::from(bc.0);
            let along = i64::from(ab.0) * i64::from(bc.0) + i64::from(ab.1) * i64::from(bc.1);
            if cross != 0 || along < 0 {
                break;
            }
            kept.pop();
        }
        if kept.last() != Some(&point) {
            kept.push(point);
        }
    }
    kept
}

/// The area between a line and a level below it, where the line is above it.
pub fn above(points: &[Point], level: i32) -> Vec<Point> {
    let mut clipped: Vec<Point> = Vec::with_capacity(points.len() + 2);
    for pair in points.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        clipped.push((a.0, a.1.min(level)));
        if (a.1 < level) != (b.1 < level) && a.1 != b.1 {
            let part = f64::from(level - a.1) / f64::from(b.1 - a.1);
            clipped.push((a.0 + (f64::from(b.0 - a.0) * part).round() as i32, level));
        }
    }
    clipped.extend(points.last().map(|last| (last.0, last.1.min(level))));
    closed(&straight(&clipped), level)
}

/// A line closed to an area down to `level`.
pub fn closed(points: &[Point], level: i32) -> Vec<Point> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    let mut area = vec![(first.0, level)];
    area.extend_from_slice(points);
    area.push((last.0, level));
    straight(&area)
}
