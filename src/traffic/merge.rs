//! All sources of a run as one stream of batches, keys numbered by first appearance.

use super::pattern::{PatternSource, Stage};
use super::spec::{TrafficKind, TrafficPlan};
use super::{InputSummary, KeyTable, Source, SourceRows, TraceSource};
use crate::error::Error;
use crate::limiter::KeyId;
use crate::time::SimTime;
use hashbrown::HashMap;

/// Arrivals in order of time, as columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Arrivals before this batch.
    pub first: u64,
    /// When each arrives.
    pub at: Vec<SimTime>,
    /// Units it takes.
    pub cost: Vec<u64>,
    /// For each key column of the plan, its key.
    pub keys: Vec<Vec<KeyId>>,
    /// The source it came from, as an index into the plan's entries.
    pub source: Vec<u16>,
}

impl Batch {
    /// How many arrivals it holds.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// Splits off the arrivals from number `at` on.
    pub(crate) fn split_off(&mut self, at: usize) -> Self {
        Self {
            first: self.first + at as u64,
            at: self.at.split_off(at),
            cost: self.cost.split_off(at),
            keys: self
                .keys
                .iter_mut()
                .map(|keys| if keys.is_empty() { Vec::new() } else { keys.split_off(at) })
                .collect(),
            source: self.source.split_off(at),
        }
    }

    /// Forgets all arrivals but how many there were.
    pub(crate) fn clear(&mut self, columns: usize) {
        self.first += self.at.len() as u64;
        self.at.clear();
        self.cost.clear();
        self.source.clear();
        self.keys.resize_with(columns, Vec::new);
        self.keys.iter_mut().for_each(Vec::clear);
    }
}

/// The traffic of a run.
pub struct Traffic {
    start: SimTime,
    feeds: Vec<Feed>,
    columns: Vec<KeyColumn>,
    delivered: u64,
}

/// A source and what has been read of it.
struct Feed {
    source: Box<dyn Source>,
    rows: SourceRows,
    next: usize,
    /// Only arrivals in these instants count.
    from: SimTime,
    until: Option<SimTime>,
    /// Nothing more is read.
    ended: bool,
}

/// How one key column is numbered.
enum KeyColumn {
    /// One attribute of one source, from its beginning: the source's own numbers.
    Direct { attribute: usize },
    /// Numbers of its own.
    Mapped { attributes: Vec<usize>, names: KeyTable, maps: Vec<HashMap<Vec<u32>, u32, foldhash::fast::FixedState>> },
}

/// The name of a key of several attributes: `a|b`; what is a bar or a backslash in a value gets a
/// backslash, so that no two lists of values have one name.
fn joined(values: &[&[u8]]) -> Vec<u8> {
    if let [only] = values {
        return only.to_vec();
    }
    let mut name = Vec::new();
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            name.push(b'|');
        }
        for byte in *value {
            if matches!(byte, b'|' | b'\\') {
                name.push(b'\\');
            }
            name.push(*byte);
        }
    }
    name
}

/// Rows read from a source at a time.
const READ: usize = 4096;

impl Feed {
    /// Makes sure that a row is at hand, unless the source has ended.
    fn read(&mut self) -> Result<(), Error> {
        while self.next == self.rows.at.len() && !self.ended {
            self.rows.clear();
            self.next = 0;
            self.source.fill(&mut self.rows, READ)?;
            self.ended = self.rows.at.is_empty();
            self.cut();
        }
        Ok(())
    }

    /// Leaves out what lies outside the instants that count.
    fn cut(&mut self) {
        self.next = self.rows.at.partition_point(|at| *at < self.from);
        if let Some(until) = self.until {
            let kept = self.rows.at.partition_point(|at| *at < until);
            if kept < self.rows.at.len() {
                self.ended = true;
                self.rows.at.truncate(kept);
                self.next = self.next.min(kept);
            }
        }
    }

    fn head(&self) -> Option<SimTime> {
        self.rows.at.get(self.next).copied()
    }
}

impl Traffic {
    /// Opens all sources and reads the first rows of each.
    ///
    /// # Errors
    /// If a trace cannot be read.
    pub fn open(plan: &TrafficPlan) -> Result<Self, Error> {
        let attributes = plan.attributes.len();
        let mut traces = Vec::new();
        for entry in &plan.entries {
            traces.push(match &entry.kind {
                TrafficKind::Pattern(_) => None,
                TrafficKind::Trace(spec) => {
                    let mut feed = Feed {
                        source: Box::new(TraceSource::open(spec, &plan.attributes[1..])?),
                        rows: SourceRows::new(attributes),
                        next: 0,
                        from: SimTime::MIN,
                        until: None,
                        ended: false,
                    };
                    feed.read()?;
                    Some(feed)
                }
            });
        }
        let first = traces.iter().flatten().filter_map(Feed::head).min();
        let start = plan.start.or(first).unwrap_or(SimTime::EPOCH);
        let mut feeds = Vec::new();
        for (entry, trace) in plan.entries.iter().zip(traces) {
            let from = start.checked_add(entry.from).unwrap_or(SimTime::MAX);
            let span = match (entry.until, plan.duration) {
                (Some(until), Some(duration)) => Some(until.min(duration)),
                (until, duration) => until.or(duration),
            };
            let until = span.map(|span| start.checked_add(span).unwrap_or(SimTime::MAX));
            feeds.push(match (trace, &entry.kind) {
                (Some(mut feed), _) => {
                    // Without `from` and `start` nothing is left out at the beginning, not even
                    // what lies before a stated start.
                    feed.from = if entry.from.is_zero() { SimTime::MIN } else { from };
                    feed.until = until;
                    feed.cut();
                    feed
                }
                (None, TrafficKind::Pattern(spec)) => {
                    let stage = Stage { from, until, window: plan.window };
                    Feed {
                        source: Box::new(PatternSource::new(
                            &entry.name,
                            spec,
                            &plan.attributes[1..],
                            plan.seed,
                            stage,
                        )),
                        rows: SourceRows::new(attributes),
                        next: 0,
                        from: SimTime::MIN,
                        until: None,
                        ended: false,
                    }
                }
                (None, TrafficKind::Trace(_)) => unreachable!("every trace was opened above"),
            });
        }
        let columns = plan
            .columns
            .iter()
            .map(|attributes| match attributes[..] {
                [attribute] if feeds.len() == 1 && plan.entries[0].from.is_zero() => KeyColumn::Direct { attribute },
                _ => KeyColumn::Mapped {
                    attributes: attributes.clone(),
                    names: KeyTable::new(),
                    maps: feeds.iter().map(|_| HashMap::default()).collect(),
                },
            })
            .collect();
        Ok(Self { start, feeds, columns, delivered: 0 })
    }

    /// The first instant of the run: as stated, or the first arrival of the traces.
    #[must_use]
    pub const fn start(&self) -> SimTime {
        self.start
    }

    /// The keys of a column, by number.
    #[must_use]
    pub fn keys(&self, column: usize) -> &KeyTable {
        match &self.columns[column] {
            KeyColumn::Direct { attribute } => self.feeds[0].source.keys(*attribute),
            KeyColumn::Mapped { names, .. } => names,
        }
    }

    /// What has been read of each trace.
    #[must_use]
    pub fn inputs(&self) -> Vec<InputSummary> {
        self.feeds.iter().filter_map(|feed| feed.source.input()).collect()
    }

    /// Replaces the batch by the next arrivals, at most `max`; an empty batch is the end.
    ///
    /// # Errors
    /// If a trace cannot be read or a row of it is bad.
    pub fn fill(&mut self, batch: &mut Batch, max: usize) -> Result<(), Error> {
        batch.clear(self.columns.len());
        batch.first = self.delivered;
        while batch.len() < max {
            for feed in &mut self.feeds {
                feed.read()?;
            }
            // The earliest head; at one instant, the source stated first.
            let heads = self.feeds.iter().enumerate().filter_map(|(i, feed)| Some((feed.head()?, i)));
            let Some((_, source)) = heads.clone().min() else { break };
            // Its rows go out up to where another source's head comes first.
            let limit = heads.filter(|(_, i)| *i != source).min();
            let feed = &self.feeds[source];
            let end = match limit {
                None => feed.rows.at.len(),
                Some(limit) => feed.next + feed.rows.at[feed.next..].partition_point(|at| (*at, source) < limit),
            };
            let end = end.min(feed.next + (max - batch.len()));
            self.append(batch, source, end);
        }
        self.delivered += batch.len() as u64;
        Ok(())
    }

    /// Appends the rows of a source up to `end`.
    fn append(&mut self, batch: &mut Batch, source: usize, end: usize) {
        let feed = &mut self.feeds[source];
        let range = feed.next..end;
        feed.next = end;
        batch.at.extend_from_slice(&feed.rows.at[range.clone()]);
        batch.cost.extend_from_slice(&feed.rows.cost[range.clone()]);
        batch.source.resize(batch.at.len(), u16::try_from(source).expect("fewer than 2^16 traffic tables"));
        for (column, keys) in self.columns.iter_mut().zip(&mut batch.keys) {
            match column {
                KeyColumn::Direct { attribute } => {
                    keys.extend(feed.rows.ids[*attribute][range.clone()].iter().map(|id| KeyId(*id)));
                }
                KeyColumn::Mapped { attributes, names, maps } => {
                    let mut parts = Vec::with_capacity(attributes.len());
                    for row in range.clone() {
                        parts.clear();
                        parts.extend(attributes.iter().map(|attribute| feed.rows.ids[*attribute][row]));
                        let id = match maps[source].get(&parts) {
                            Some(id) => *id,
                            None => {
                                let values = attributes.iter().zip(&parts);
                                let values: Vec<&[u8]> =
                                    values.map(|(attribute, id)| feed.source.keys(*attribute).name(*id)).collect();
                                let id = names.intern(&joined(&values));
                                maps[source].insert(parts.clone(), id);
                                id
                            }
                        };
                        keys.push(KeyId(id));
                    }
                }
            }
        }
    }
}
