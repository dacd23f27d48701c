//! Values of a scenario file that TOML has no type for.

use crate::quota::{Limit, Rate};
use crate::rng::MAX_SEED;
use crate::time::{SimDuration, SimTime};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use toml::Spanned;

/// A value written as text: a duration, a rate, a limit, an instant.
#[derive(Clone, Copy, Debug)]
pub struct Text<T>(pub T);

/// A span of time and where it stands.
pub type Duration = Spanned<Text<SimDuration>>;

/// The span of time that is stated.
pub fn span(duration: &Duration) -> SimDuration {
    duration.get_ref().0
}

/// Lends the keys that several tables have in common. These are no flattened part of each table, because
/// then serde would find no unknown keys.
macro_rules! lend {
    ($lent:ident of $table:ident: [$($key:ident),+]) => {
        impl<'t> From<&'t $table> for $lent<'t> {
            fn from(table: &'t $table) -> Self {
                Self { $($key: table.$key.as_ref()),+ }
            }
        }
    };
    ($lent:ident of $($table:ident),+: $keys:tt) => { $(lend!($lent of $table: $keys);)+ };
}
pub(super) use lend;

/// What is expected of a text value, for errors about values of another type.
pub trait Expected: FromStr<Err: fmt::Display> {
    /// As in "expected ...".
    const EXPECTED: &'static str;
}

impl Expected for SimDuration {
    const EXPECTED: &'static str = "a duration such as \"1m30s\"";
}

impl Expected for Rate {
    const EXPECTED: &'static str = "a rate such as \"10/s\" or \"100/1m\"";
}

impl Expected for Limit {
    const EXPECTED: &'static str = "a limit such as \"100/1m\"";
}

impl<'de, T: Expected> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor<T>(PhantomData<T>);
        impl<T: Expected> Visitor<'_> for TextVisitor<T> {
            type Value = Text<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text<T>, E> {
                text.parse().map(Text).map_err(E::custom)
            }
            // A bare number gets the same hint as a text without its unit.
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Text<T>, E> {
                self.visit_str(&number.to_string())
            }
        }
        deserializer.deserialize_any(TextVisitor(PhantomData))
    }
}

/// An instant: RFC 3339, quoted or not.
#[derive(Clone, Copy, Debug)]
pub struct Instant(pub SimTime);

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InstantVisitor;
        impl<'de> Visitor<'de> for InstantVisitor {
            type Value = Instant;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an instant such as \"2026-01-01T12:00:00Z\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Instant, E> {
                instant(text).map(Instant).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Instant, A::Error> {
                let datetime = toml::value::Datetime::deserialize(de::value::MapAccessDeserializer::new(map))?;
                self.visit_str(&datetime.to_string())
            }
        }
        deserializer.deserialize_any(InstantVisitor)
    }
}

/// Reads an RFC 3339 instant.
fn instant(text: &str) -> Result<SimTime, String> {
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return SimTime::from_wide_nanos(time.as_nanosecond())
            .ok_or_else(|| format!("`{text}` lies outside 1823 to 2116, which is what the clock holds"));
    }
    // What is right but for the zone, or but for the year.
    let zoned = |pieces: &jiff::fmt::temporal::Pieces<'_>| pieces.offset().is_some();
    Err(match jiff::fmt::temporal::Pieces::parse(text) {
        Ok(pieces) if pieces.time().is_some() && !zoned(&pieces) => {
            format!("`{text}` has no time zone; add Z or an offset such as +01:00")
        }
        Ok(pieces) if pieces.time().is_some() => {
            format!("`{text}` lies outside 1823 to 2116, which is what the clock holds")
        }
        _ => format!("`{text}` is not an instant; write RFC 3339, as in `2026-01-01T12:00:00Z`"),
    })
}

/// The seed: a whole number that TOML can hold, so that it can be written down again.
#[derive(Clone, Copy, Debug)]
pub struct Seed(pub u64);

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SeedVisitor;
        impl Visitor<'_> for SeedVisitor {
            type Value = Seed;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number, 0 to {MAX_SEED}")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Seed, E> {
                let seed = u64::try_from(number).map(Seed);
                seed.map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
            }
        }
        deserializer.deserialize_any(SeedVisitor)
    }
}

/// One value or a list of them.
#[derive(Clone, Debug)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de> + Single> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + Single> Visitor<'de> for ListVisitor<T> {
            type Value = OneOrMany<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} or a list of them", T::EXPECTED)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<OneOrMany<T>, E> {
                T::text(text).map(|value| OneOrMany(vec![value])).map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<OneOrMany<T>, E> {
                T::number(number).map(|value| OneOrMany(vec![value])).map_err(E::custom)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<OneOrMany<T>, A::Error> {
                let mut list = Vec::new();
                while let Some(value) = seq.next_element()? {
                    list.push(value);
                }
                Ok(OneOrMany(list))
            }
        }
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

/// A value that may stand alone where a list may stand.
pub trait Single: Sized {
    /// As in "expected ... or a list of them".
    const EXPECTED: &'static str;
    /// From a text.
    fn text(text: &str) -> Result<Self, String>;
    /// From a number.
    fn number(number: i64) -> Result<Self, String>;
}

impl Single for String {
    const EXPECTED: &'static str = "a name";
    fn text(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
    fn number(number: i64) -> Result<Self, String> {
        Err(format!("`{number}` is a number; a name is quoted"))
    }
}

/// A column of a CSV file: its name or its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnValue {
    /// Its name in the header.
    Name(String),
    /// Its number, from 1.
    Number(usize),
}

impl Single for ColumnValue {
    const EXPECTED: &'static str = "a column's name, or its number from 1";
    fn text(text: &str) -> Result<Self, String> {
        Ok(Self::Name(text.to_owned()))
    }
    fn number(number: i64) -> Result<Self, String> {
        match usize::try_from(number) {
            Ok(number) if number > 0 => Ok(Self::Number(number)),
            _ => Err(format!("`{number}` is not a column; columns are numbered from 1")),
        }
    }
}

impl<'de> Deserialize<'de> for ColumnValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ColumnVisitor;
        impl Visitor<'_> for ColumnVisitor {
            type Value = ColumnValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(ColumnValue::EXPECTED)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<ColumnValue, E> {
                ColumnValue::text(text).map_err(E::custom)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<ColumnValue, E> {
                ColumnValue::number(number).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(ColumnVisitor)
    }
}

/// A whole number, or a table `T`.
#[derive(Clone, Debug)]
pub enum CountOr<T> {
    /// A number.
    Count(u64),
    /// A table.
    Table(T),
}

/// What is expected where a number or a table may stand.
pub trait TableOf {
    /// As in "expected ...".
    const EXPECTED: &'static str;
}

impl<'de, T: Deserialize<'de> + TableOf> Deserialize<'de> for CountOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + TableOf> Visitor<'de> for CountVisitor<T> {
            type Value = CountOr<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<CountOr<T>, E> {
                u64::try_from(number)
                    .map(CountOr::Count)
                    .map_err(|_| E::custom(format!("`{number}` is negative; expected {}", T::EXPECTED)))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CountOr<T>, A::Error> {
                T::deserialize(de::value::MapAccessDeserializer::new(map)).map(CountOr::Table)
            }
        }
        deserializer.deserialize_any(CountVisitor(PhantomData))
    }
}

/// A whole number or one of a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CountOrWord {
    /// A number.
    Count(u64),
    /// A word.
    Word(String),
}

impl<'de> Deserialize<'de> for CountOrWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordVisitor;
        impl Visitor<'_> for WordVisitor {
            type Value = CountOrWord;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number or a word")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<CountOrWord, E> {
                Ok(CountOrWord::Word(text.to_owned()))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<CountOrWord, E> {
                u64::try_from(number)
                    .map(CountOrWord::Count)
                    .map_err(|_| E::custom(format!("`{number}` is negative; expected a whole number or a word")))
            }
        }
        deserializer.deserialize_any(WordVisitor)
    }
}

/// One of a few words. A value of any other type is answered with the accepted ones too.
#[derive(Clone, Copy, Debug)]
pub struct Word<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for WordVisitor<T> {
            type Value = Word<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a word in quotes")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Word<T>, E> {
                T::deserialize(de::value::StrDeserializer::new(text)).map(Word)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Word<T>, E> {
                self.visit_str(&number.to_string())
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Word<T>, E> {
                self.visit_str(&number.to_string())
            }
            fn visit_bool<E: de::Error>(self, truth: bool) -> Result<Word<T>, E> {
                self.visit_str(&truth.to_string())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Word<T>, A::Error> {
                self.visit_str("a list")
            }
            fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Word<T>, A::Error> {
                self.visit_str("a table")
            }
        }
        deserializer.deserialize_any(WordVisitor(PhantomData))
    }
}

/// A word or a table `T`.
#[derive(Clone, Debug)]
pub enum WordOr<T> {
    /// A word.
    Word(String),
    /// A table.
    Table(T),
}

impl<'de, T: Deserialize<'de> + TableOf> Deserialize<'de> for WordOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de> + TableOf> Visitor<'de> for WordVisitor<T> {
            type Value = WordOr<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<WordOr<T>, E> {
                Ok(WordOr::Word(text.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WordOr<T>, A::Error> {
                T::deserialize(de::value::MapAccessDeserializer::new(map)).map(WordOr::Table)
            }
        }
        deserializer.deserialize_any(WordVisitor(PhantomData))
    }
}

/// Attributes by the names of their columns, or by name and column.
#[derive(Clone, Debug)]
pub struct NamesOrColumns(pub Vec<(String, ColumnValue)>);

impl<'de> Deserialize<'de> for NamesOrColumns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NamesVisitor;
        impl<'de> Visitor<'de> for NamesVisitor {
            type Value = NamesOrColumns;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of column names such as [\"tenant\", \"ip\"], or { ip = 3 }")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<NamesOrColumns, A::Error> {
                let mut list = Vec::new();
                while let Some(name) = seq.next_element::<String>()? {
                    list.push((name.clone(), ColumnValue::Name(name)));
                }
                Ok(NamesOrColumns(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<NamesOrColumns, A::Error> {
                let mut list = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    list.push(entry);
                }
                Ok(NamesOrColumns(list))
            }
        }
        deserializer.deserialize_any(NamesVisitor)
    }
}

/// What stands behind a figure in `[expect.LANE]`, each part with its place.
#[derive(Clone, Debug)]
pub enum ExpectValue {
    /// A number to be equal to.
    Integer(i64),
    /// The same with a fraction.
    Float(f64),
    /// A condition in words.
    Text(String),
    /// Figures of a figure, as in `peak.bound = 200`.
    Table(BTreeMap<Spanned<String>, Spanned<ExpectValue>>),
    /// What can be none of these: its type.
    Other(&'static str),
}

impl<'de> Deserialize<'de> for ExpectValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValueVisitor;
        impl<'de> Visitor<'de> for ValueVisitor {
            type Value = ExpectValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a condition such as 90 or \">= 90\"")
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<ExpectValue, E> {
                Ok(ExpectValue::Integer(number))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<ExpectValue, E> {
                Ok(ExpectValue::Float(number))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<ExpectValue, E> {
                Ok(ExpectValue::Text(text.to_owned()))
            }
            fn visit_bool<E: de::Error>(self, _: bool) -> Result<ExpectValue, E> {
                Ok(ExpectValue::Other("true or false"))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ExpectValue, A::Error> {
                while seq.next_element::<de::IgnoredAny>()?.is_some() {}
                Ok(ExpectValue::Other("a list"))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ExpectValue, A::Error> {
                let mut table = BTreeMap::new();
                while let Some((key, value)) = map.next_entry()? {
                    table.insert(key, value);
                }
                Ok(ExpectValue::Table(table))
            }
        }
        deserializer.deserialize_any(ValueVisitor)
    }
}
