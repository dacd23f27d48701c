//! Which columns of a CSV file a trace uses.

use super::super::{Column, TraceSpec};
use super::quote;
use super::records::Record;

/// Columns by their index, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// How many the file has.
    pub count: usize,
    /// The arrival time.
    pub time: usize,
    /// The key, if there is one.
    pub key: Option<usize>,
    /// The costs, with what a cost is called in a message.
    pub costs: Vec<(usize, String)>,
    /// Further attributes, in the order asked for.
    pub attributes: Vec<usize>,
    /// What the key's column is called.
    pub keyed_by: Option<String>,
}

/// Why a column cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnFault {
    /// What is wrong.
    pub reason: String,
    /// What to do about it.
    pub remedy: Option<String>,
}

/// Names of a header that a message lists.
const LISTED: usize = 20;

impl Columns {
    /// Of a file without a record.
    pub const fn none() -> Self {
        Self { count: 0, time: 0, key: None, costs: Vec::new(), attributes: Vec::new(), keyed_by: None }
    }

    /// Finds the columns of a spec by the file's first record, which is the header or the first row.
    pub fn resolve(spec: &TraceSpec, wanted: &[String], first: Record<'_>) -> Result<Self, ColumnFault> {
        let names: Vec<&[u8]> = (0..first.len()).map(|index| first.field(index)).collect();
        if spec.header && names.iter().any(|name| name.contains(&0)) {
            return Err(ColumnFault {
                reason: "the header holds zero bytes; this is not a CSV file".to_owned(),
                remedy: None,
            });
        }
        let find = |column: &Column| match column {
            Column::Name(name) if spec.header => by_name(name, &names),
            Column::Name(name) => Err(ColumnFault {
                reason: format!(
                    "column {} is asked for by name, but the file is read as one without a header",
                    quote(name.as_bytes())
                ),
                remedy: Some("header = true takes the first line as the names of the columns".to_owned()),
            }),
            Column::Number(number) => by_number(*number, names.len(), spec.header),
        };
        let show = |index: usize| match spec.header {
            true => String::from_utf8_lossy(names[index]).into_owned(),
            false => format!("column {}", index + 1),
        };
        let key = spec.key.as_ref().map(find).transpose()?;
        let mut costs = Vec::new();
        for column in &spec.cost {
            let index = find(column)?;
            let called = match spec.cost.len() {
                1 => "cost".to_owned(),
                _ => format!("cost ({})", show(index)),
            };
            costs.push((index, called));
        }
        let attributes = wanted.iter().map(|name| {
            let Some((_, column)) = spec.attributes.iter().find(|(own, _)| own == name) else {
                return Err(ColumnFault {
                    reason: format!("a lane keys by `{name}`, for which this trace names no column"),
                    remedy: Some(format!("attributes = [\"{name}\"] takes it from the column of that name")),
                });
            };
            find(column)
        });
        let attributes = attributes.collect::<Result<_, _>>()?;
        Ok(Self { count: names.len(), time: find(&spec.time)?, key, costs, attributes, keyed_by: key.map(show) })
    }
}

fn by_number(number: usize, count: usize, header: bool) -> Result<usize, ColumnFault> {
    let what = if header { "header" } else { "first record" };
    let reason = match number {
        0 => "column 0 is asked for, but columns count from 1".to_owned(),
        number if number > count => format!("column {number} is asked for, but the {what} has {}", fields(count)),
        number => return Ok(number - 1),
    };
    Err(ColumnFault { reason, remedy: None })
}

fn by_name(name: &str, names: &[&[u8]]) -> Result<usize, ColumnFault> {
    let mut places = names.iter().enumerate().filter(|(_, found)| **found == name.as_bytes()).map(|(index, _)| index);
    let shown = quote(name.as_bytes());
    match (places.next(), places.next()) {
        (Some(index), None) => Ok(index),
        (Some(first), Some(second)) => Err(ColumnFault {
            reason: format!("the header has column {shown} twice, as column {} and {}", first + 1, second + 1),
            remedy: Some("name it by its number".to_owned()),
        }),
        (None, _) => {
            let mut list: Vec<String> = names.iter().take(LISTED).map(|found| quote(found)).collect();
            if names.len() > LISTED {
                list.push(format!("{} more", names.len() - LISTED));
            }
            let remedy = match likely(name, names) {
                Some(likely) => Some(format!("did you mean {}?", quote(likely))),
                None => other_delimiter(names)
                    .map(|delimiter| format!("columns are separated by commas; this header has {delimiter}")),
            };
            Err(ColumnFault {
                reason: format!("no column {shown} in the header, which has {}", list.join(", ")),
                remedy,
            })
        }
    }
}

/// The name that was probably meant: the same but for case and spaces, or else few letters away.
fn likely<'a>(name: &str, names: &[&'a [u8]]) -> Option<&'a [u8]> {
    let plain = |text: &str| text.trim().to_lowercase();
    let distances = names.iter().filter_map(|found| {
        let text = std::str::from_utf8(found).ok()?;
        Some((strsim::damerau_levenshtein(&plain(name), &plain(text)), *found))
    });
    let (distance, found) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= name.chars().count().div_ceil(4)).then_some(found)
}

/// What separates the columns of a header that has no comma.
fn other_delimiter(names: &[&[u8]]) -> Option<&'static str> {
    match names {
        [one] if one.contains(&b';') => Some("semicolons"),
        [one] if one.contains(&b'\t') => Some("tabs"),
        _ => None,
    }
}

/// `1 field`, `3 fields`.
pub fn fields(count: usize) -> String {
    if count == 1 { "1 field".to_owned() } else { format!("{count} fields") }
}
