//! Figures of every lane at every point of a grid of scenarios.

use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct};
use serde::{Serialize, Serializer};

/// All that a sweep found.
#[derive(Clone, Debug)]
pub struct SweepReport {
    /// Version of the program.
    pub rlsim: &'static str,
    /// The scenario's title.
    pub title: String,
    /// What the command line changed of it before anything was varied.
    pub changed: Vec<String>,
    /// What is varied; the last one goes round fastest.
    pub axes: Vec<SweepAxis>,
    /// What is measured.
    pub measures: Vec<SweepMeasure>,
    /// Names of the lanes, in the order in which they are first met.
    pub lanes: Vec<String>,
    /// Whether there are closed loops among the points.
    pub closed: bool,
    /// 16 hex digits that stand for the scenario, the grid and the measures.
    pub stamp: String,
    /// Each point's lanes.
    pub points: Vec<Vec<SweepRow>>,
}

/// What is varied.
#[derive(Clone, Debug, Serialize)]
pub struct SweepAxis {
    /// Where its values are put.
    pub path: String,
    /// The end of the path that tells it from the others.
    pub name: String,
    /// What its numbers count.
    pub unit: AxisUnit,
    /// Whether equal steps are equal factors.
    pub log: bool,
    /// The values, as they are put into the scenario.
    pub values: Vec<String>,
    /// The same as numbers, if all are.
    pub numbers: Option<Vec<f64>>,
}

/// What the numbers of an axis count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AxisUnit {
    /// Themselves.
    Number,
    /// Nanoseconds.
    Nanos,
    /// Units in some time that is the same for all.
    Rate,
    /// Nothing: the values are words.
    Word,
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SweepMeasure {
    /// Its name, as in `[expect]`.
    pub name: String,
    /// What it counts.
    pub unit: MeasureUnit,
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasureUnit {
    /// Whole things.
    Count,
    /// A number with a fraction.
    Number,
    /// Nanoseconds.
    Nanos,
    /// Nothing: it is a text.
    Word,
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub enum SweepValue {
    /// A whole number.
    Whole(i128),
    /// A number with a fraction.
    Real(f64),
    /// A text.
    Text(String),
}

/// One lane at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepRow {
    /// The lane.
    pub lane: String,
    /// It was stopped after its most events: its figures are not all.
    pub partial: bool,
    /// A figure for each measure; nothing where it has none.
    pub values: Vec<Option<SweepValue>>,
}

impl SweepReport {
    /// Which value each axis has at a point.
    #[must_use]
    pub fn at(&self, mut point: usize) -> Vec<usize> {
        let mut indices: Vec<usize> = Vec::new();
        for axis in self.axes.iter().rev() {
            indices.push(point % axis.values.len());
            point /= axis.values.len();
        }
        indices.reverse();
        indices
    }

    /// The values of the axes at a point.
    #[must_use]
    pub fn values_at(&self, point: usize) -> Vec<&str> {
        self.axes.iter().zip(self.at(point)).map(|(axis, index)| axis.values[index].as_str()).collect()
    }

    /// A lane's figure at a point.
    #[must_use]
    pub fn value(&self, point: usize, lane: &str, measure: usize) -> Option<&SweepValue> {
        let row = self.points.get(point)?.iter().find(|row| row.lane == lane)?;
        row.values.get(measure)?.as_ref()
    }

    /// A lane's figure, if it is the same at every point of several.
    #[must_use]
    pub fn everywhere(&self, lane: &str, measure: usize) -> Option<&SweepValue> {
        let first = self.value(0, lane, measure)?;
        let same = |point| self.value(point, lane, measure) == Some(first);
        (self.points.len() > 1 && (1..self.points.len()).all(same)).then_some(first)
    }

    /// Points and lanes that were stopped.
    pub fn stopped(&self) -> impl Iterator<Item = (usize, &str)> {
        let rows = self.points.iter().enumerate().flat_map(|(point, rows)| rows.iter().map(move |row| (point, row)));
        rows.filter(|(_, row)| row.partial).map(|(point, row)| (point, row.lane.as_str()))
    }
}

impl SweepValue {
    /// The figure as a number, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Real(number) => Some(*number),
            Self::Text(_) => None,
        }
    }

    /// Reads a figure as [`Display`](std::fmt::Display) writes it; nothing if it is none of this unit.
    #[must_use]
    pub fn read(text: &str, unit: MeasureUnit) -> Option<Self> {
        match unit {
            MeasureUnit::Count | MeasureUnit::Nanos => text.parse().ok().map(Self::Whole),
            MeasureUnit::Number => text.parse().ok().filter(|number: &f64| number.is_finite()).map(Self::Real),
            MeasureUnit::Word => Some(Self::Text(text.to_owned())),
        }
    }
}

impl std::fmt::Display for SweepValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Real(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for SweepValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(number) => serializer.serialize_i128(*number),
            Self::Real(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl Serialize for SweepReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("SweepReport", 9)?;
        out.serialize_field("schema", &super::SCHEMA)?;
        out.serialize_field("rlsim", self.rlsim)?;
        out.serialize_field("title", &self.title)?;
        out.serialize_field("changed", &self.changed)?;
        out.serialize_field("axes", &self.axes)?;
        out.serialize_field("measures", &self.measures)?;
        out.serialize_field("lanes", &self.lanes)?;
        out.serialize_field("sweep", &self.stamp)?;
        out.serialize_field("rows", &Rows(self))?;
        out.end()
    }
}

/// A row for each point and lane, as they stand in the CSV.
struct Rows<'a>(&'a SweepReport);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(None)?;
        for (point, lanes) in self.0.points.iter().enumerate() {
            for row in lanes {
                rows.serialize_element(&Row { report: self.0, point, row })?;
            }
        }
        rows.end()
    }
}

struct Row<'a> {
    report: &'a SweepReport,
    point: usize,
    row: &'a SweepRow,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("at", &At(self.report, self.point))?;
        map.serialize_entry("lane", &self.row.lane)?;
        for (measure, value) in self.report.measures.iter().zip(&self.row.values) {
            map.serialize_entry(&measure.name, value)?;
        }
        if self.report.closed {
            map.serialize_entry("partial", &self.row.partial)?;
        }
        map.end()
    }
}

/// The values of a point by the paths of their axes; plain numbers as such.
struct At<'a>(&'a SweepReport, usize);

impl Serialize for At<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (axis, value) in self.0.axes.iter().zip(self.0.values_at(self.1)) {
            match value.parse::<i64>() {
                Ok(number) => map.serialize_entry(&axis.path, &number)?,
                Err(_) => map.serialize_entry(&axis.path, value)?,
            }
        }
        map.end()
    }
}
