//! Which columns of a CSV file a trace uses.

use super::super::{Column, TraceSpec};
use super::quote;
use super::records::Record;
use crate::error::Remedy;

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
    /// What the time's column is called, and the key's.
    pub timed_by: Option<String>,
    pub keyed_by: Option<String>,
}

/// Why a column cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnFault {
    /// What is wrong.
    pub reason: String,
    /// What to do about it.
    pub remedy: Option<Remedy>,
}

/// Names of a header that a message lists.
const LISTED: usize = 20;

impl Columns {
    /// Of a file without a record.
    pub const fn none() -> Self {
        Self { count: 0, time: 0, key: None, costs: Vec::new(), attributes: Vec::new(), timed_by: None, keyed_by: None }
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
                remedy: Some(Remedy::plain("header = true takes the first line as the names of the columns")),
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
                    remedy: Some(Remedy::plain(format!(
                        "attributes = [\"{name}\"] takes it from the column of that name"
                    ))),
                });
            };
            find(column)
        });
        let attributes = attributes.collect::<Result<_, _>>()?;
        let time = match &spec.time {
            Some(column) => find(column)?,
            None if spec.header => usual_time(&names)?,
            None => 0,
        };
        let (timed_by, keyed_by) = (Some(show(time)), key.map(show));
        Ok(Self { count: names.len(), time, key, costs, attributes, timed_by, keyed_by })
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

/// Names that a column of times usually has, in any case.
const USUAL: [&str; 10] =
    ["timestamp", "@timestamp", "time", "ts", "datetime", "date_time", "date", "unix_time", "epoch", "created_at"];

fn usual_time(names: &[&[u8]]) -> Result<usize, ColumnFault> {
    let usual = |name: &&[u8]| USUAL.iter().any(|usual| name.eq_ignore_ascii_case(usual.as_bytes()));
    names.iter().position(usual).ok_or_else(|| ColumnFault {
        reason: format!("no column has a usual name of a time, such as `timestamp`; the header has {}", list(names)),
        remedy: Some(match other_delimiter(names) {
            Some(delimiter) => separated(delimiter),
            None => Remedy::setting("time", "\"NAME\"", "NAME", "names the column").then(
                "; ",
                &Remedy::either("header = false, if this line is a row", "--no-header, if this line is a row"),
            ),
        }),
    })
}

/// The names of a header.
fn list(names: &[&[u8]]) -> String {
    let mut list: Vec<String> = names.iter().take(LISTED).map(|name| quote(name)).collect();
    if names.len() > LISTED {
        list.push(format!("{} more", names.len() - LISTED));
    }
    list.join(", ")
}

fn by_name(name: &str, names: &[&[u8]]) -> Result<usize, ColumnFault> {
    let mut places = names.iter().enumerate().filter(|(_, found)| **found == name.as_bytes()).map(|(index, _)| index);
    let shown = quote(name.as_bytes());
    match (places.next(), places.next()) {
        (Some(index), None) => Ok(index),
        (Some(first), Some(second)) => Err(ColumnFault {
            reason: format!("the header has column {shown} twice, as column {} and {}", first + 1, second + 1),
            remedy: Some(Remedy::plain("name it by its number")),
        }),
        (None, _) => {
            let remedy = match likely(name, names) {
                Some(likely) => Some(Remedy::plain(format!("did you mean {}?", quote(likely)))),
                None => other_delimiter(names).map(separated),
            };
            Err(ColumnFault { reason: format!("no column {shown} in the header, which has {}", list(names)), remedy })
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

fn separated(delimiter: &str) -> Remedy {
    Remedy::plain(format!("columns are separated by commas; this header has {delimiter}"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{BadRows, Order, TimeFormat, TraceFile};

    fn named(name: &str) -> Column {
        Column::Name(name.to_owned())
    }

    fn spec(time: Column, key: Option<Column>, header: bool) -> TraceSpec {
        TraceSpec {
            file: TraceFile::Stdin { head: None },
            display: "-".to_owned(),
            time: Some(time),
            time_format: TimeFormat::Auto,
            key,
            cost: Vec::new(),
            attributes: vec![("ip".to_owned(), named("client ip"))],
            header,
            order: Order::Strict,
            bad_rows: BadRows::Error,
        }
    }

    fn resolve(spec: &TraceSpec, wanted: &[&str], header: &str) -> Result<Columns, (String, String)> {
        let ends: Vec<u32> =
            header.match_indices(',').map(|(at, _)| at).chain([header.len()]).map(|at| at as u32).collect();
        let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
        Columns::resolve(spec, &wanted, Record::of(header.as_bytes(), &ends)).map_err(|fault| {
            (fault.reason, fault.remedy.map_or_else(String::new, |remedy| remedy.in_scenario().to_owned()))
        })
    }

    #[test]
    fn finds_columns_by_name_and_number() {
        let mut spec = spec(named("time"), Some(Column::Number(3)), true);
        spec.cost = vec![named("in"), named("out")];
        let columns = resolve(&spec, &["ip"], "out,time,who,in,client ip").expect("all there");
        assert_eq!((columns.count, columns.time, columns.key), (5, 1, Some(2)));
        assert_eq!(columns.costs, [(3, "cost (in)".to_owned()), (0, "cost (out)".to_owned())]);
        assert_eq!((&columns.attributes[..], columns.keyed_by.as_deref()), (&[4][..], Some("who")));
        let columns = resolve(&self::spec(Column::Number(1), Some(Column::Number(2)), false), &[], "1,a").expect("two");
        assert_eq!(columns.keyed_by.as_deref(), Some("column 2"));
    }

    #[test]
    fn says_which_column_is_missing() {
        for (time, header, reason, remedy) in [
            (
                "timestamp",
                "TIMESTAMP,b",
                "no column `timestamp` in the header, which has `TIMESTAMP`, `b`",
                "did you mean `TIMESTAMP`?",
            ),
            ("time", " time,b", "no column `time` in the header, which has ` time`, `b`", "did you mean ` time`?"),
            (
                "timestamp",
                "timestmap,b",
                "no column `timestamp` in the header, which has `timestmap`, `b`",
                "did you mean `timestmap`?",
            ),
            ("time", "when,b", "no column `time` in the header, which has `when`, `b`", ""),
            (
                "time",
                "when;b",
                "no column `time` in the header, which has `when;b`",
                "columns are separated by commas; this header has semicolons",
            ),
            ("time", "time,b,time", "the header has column `time` twice, as column 1 and 3", "name it by its number"),
        ] {
            assert_eq!(
                resolve(&spec(named(time), None, true), &[], header),
                Err((reason.to_owned(), remedy.to_owned()))
            );
        }
        let (reason, _) = resolve(&spec(named("time"), None, true), &[], &"x,".repeat(50)).expect_err("not there");
        assert!(reason.ends_with("`x`, 31 more"), "{reason}");
    }

    #[test]
    fn a_usual_name_needs_no_naming() {
        let spec = TraceSpec { time: None, ..spec(named(""), None, true) };
        let columns = resolve(&spec, &[], "key,TimeStamp,time").expect("a usual name");
        assert_eq!((columns.time, columns.timed_by.as_deref()), (1, Some("TimeStamp")));
        let (reason, remedy) = resolve(&spec, &[], "key,when").expect_err("no usual name");
        assert_eq!(reason, "no column has a usual name of a time, such as `timestamp`; the header has `key`, `when`");
        assert_eq!(remedy, "time = \"NAME\" names the column; header = false, if this line is a row");
        assert_eq!(resolve(&TraceSpec { header: false, ..spec }, &[], "1,a").expect("the first").time, 0);
    }

    #[test]
    fn says_what_is_wrong_with_a_number_or_an_attribute() {
        let number =
            |number, header| resolve(&spec(Column::Number(number), None, header), &[], "a,b").expect_err("wrong").0;
        assert_eq!(number(3, true), "column 3 is asked for, but the header has 2 fields");
        assert_eq!(number(3, false), "column 3 is asked for, but the first record has 2 fields");
        assert_eq!(number(0, true), "column 0 is asked for, but columns count from 1");
        let (reason, remedy) = resolve(&spec(named("a"), None, false), &[], "a").expect_err("no header");
        assert_eq!(reason, "column `a` is asked for by name, but the file is read as one without a header");
        assert!(remedy.starts_with("header = true"), "{remedy}");
        let (reason, _) = resolve(&spec(named("a"), None, true), &["tenant"], "a").expect_err("no such attribute");
        assert_eq!(reason, "a lane keys by `tenant`, for which this trace names no column");
    }
}
