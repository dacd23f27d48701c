//! The full decision log, opt-in and streamed: one row a lane and attempt.

use crate::limiter::{Decision, KeyId, Verdicts};
use crate::sim::{Lane, Observer, Step, Tap};
use crate::time::{SimDuration, SimTime};
use crate::traffic::{Batch, display_key};
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// What one lane knew after one decision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    decision: Decision,
    retry_after: Option<SimDuration>,
    /// What remains, the time until more does, and until all; nothing where no limiter decided.
    quota: Option<(u64, SimDuration, SimDuration)>,
}

impl Row {
    /// What a lane knows of a key after this decision.
    pub(super) fn new(lane: Option<&Lane>, key: KeyId, at: SimTime, cost: u64, decision: Decision) -> Self {
        let level = lane.map(|lane| lane.level(key, at));
        let retry_after = match decision {
            Decision::Deny => lane.and_then(|lane| lane.retry_after(key, at, cost)),
            _ => None,
        };
        Self { decision, retry_after, quota: level.map(|level| (level.remaining, level.next, level.full)) }
    }

    /// From `decision` to `full_ns`.
    pub(super) fn fields(&self) -> [String; 6] {
        let (decision, wait) = match self.decision {
            Decision::Allow => ("allow", String::new()),
            Decision::Delay(wait) => ("delay", wait.nanos().to_string()),
            Decision::Deny => ("deny", String::new()),
        };
        let retry_after = match (self.decision, self.retry_after) {
            (Decision::Deny, Some(wait)) => wait.nanos().to_string(),
            (Decision::Deny, None) if self.quota.is_some() => "never".to_owned(),
            _ => String::new(),
        };
        let [remaining, next, full] = self.quota.map_or_else(Default::default, |(remaining, next, full)| {
            [u128::from(remaining), next.nanos(), full.nanos()].map(|number| number.to_string())
        });
        [decision.to_owned(), wait, retry_after, remaining, next, full]
    }
}

/// Rows of batches that are decided and not yet written.
type Queue = Arc<Mutex<Vec<Vec<Row>>>>;

/// Collects one lane's rows while the limiter's state is at hand.
pub struct DecisionTap {
    rows: Vec<Row>,
    queue: Queue,
}

impl Tap for DecisionTap {
    fn wants(&self, _batch: &Batch) -> bool {
        true
    }

    fn after(&mut self, batch: &Batch, row: usize, decision: Decision, lane: &Lane) {
        let key = batch.keys[lane.plan().column][row];
        self.rows.push(Row::new(Some(lane), key, batch.at[row], batch.cost[row], decision));
        if row + 1 == batch.len() {
            let rows = std::mem::take(&mut self.rows);
            self.queue.lock().unwrap_or_else(PoisonError::into_inner).push(rows);
        }
    }
}

/// Writes all lanes' rows as CSV, ordered by time, sequence and lane.
pub struct DecisionLog<W: Write> {
    writer: csv::Writer<W>,
    start: Option<SimTime>,
    lanes: Vec<String>,
    queues: Vec<Queue>,
    names: Vec<String>,
    failure: Arc<Mutex<Option<std::io::Error>>>,
}

pub(super) const HEADER: [&str; 12] = [
    "arrival",
    "time_ns",
    "lane",
    "key",
    "attempt",
    "cost",
    "decision",
    "wait_ns",
    "retry_after_ns",
    "remaining",
    "next_ns",
    "full_ns",
];

impl<W: Write + Send> DecisionLog<W> {
    /// A log of these lanes; times count from `start`, or from the first arrival.
    ///
    /// # Errors
    /// If the header cannot be written.
    pub fn new(writer: W, lanes: Vec<String>, start: Option<SimTime>) -> Result<Self, std::io::Error> {
        let mut writer = csv::Writer::from_writer(writer);
        writer.write_record(HEADER)?;
        let queues = lanes.iter().map(|_| Queue::default()).collect();
        Ok(Self { writer, start, lanes, queues, names: Vec::new(), failure: Arc::default() })
    }

    /// One tap for each lane.
    #[must_use]
    pub fn taps(&self) -> Vec<Option<Box<dyn Tap>>> {
        self.queues
            .iter()
            .map(|queue| Some(Box::new(DecisionTap { rows: Vec::new(), queue: queue.clone() }) as Box<dyn Tap>))
            .collect()
    }

    /// Where an error of writing is left; the run should then end.
    #[must_use]
    pub fn failure(&self) -> Arc<Mutex<Option<std::io::Error>>> {
        self.failure.clone()
    }

    /// Writes what is buffered and gives the writer back.
    ///
    /// # Errors
    /// If that fails, or writing had failed before.
    pub fn finish(self) -> Result<W, std::io::Error> {
        if let Some(error) = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        self.writer.into_inner().map_err(csv::IntoInnerError::into_error)
    }

    fn write(&mut self, step: &Step) -> Result<(), csv::Error> {
        let batch = &step.batch;
        let start = *self.start.get_or_insert_with(|| batch.at.first().copied().unwrap_or(SimTime::EPOCH));
        let lanes: Vec<Vec<Row>> =
            self.queues.iter().map(|queue| queue.lock().unwrap_or_else(PoisonError::into_inner).remove(0)).collect();
        for row in 0..batch.len() {
            let arrival = (batch.first + row as u64 + 1).to_string();
            let time = (batch.at[row].nanos() - start.nanos()).to_string();
            let cost = batch.cost[row].to_string();
            let key = &self.names[batch.keys[0][row].index()];
            for (lane, rows) in self.lanes.iter().zip(&lanes) {
                let answer = &rows[row];
                let [decision, wait, retry_after, remaining, next, full] = answer.fields();
                self.writer.write_record([
                    arrival.as_str(),
                    &time,
                    lane,
                    key,
                    "1",
                    &cost,
                    &decision,
                    &wait,
                    &retry_after,
                    &remaining,
                    &next,
                    &full,
                ])?;
            }
        }
        Ok(())
    }
}

impl<W: Write + Send> Observer for DecisionLog<W> {
    fn observe(&mut self, step: &Step, _verdicts: &[Verdicts]) {
        self.names.extend(step.new_keys.iter().map(|key| display_key(key)));
        if let Err(error) = self.write(step) {
            let error = match error.into_kind() {
                csv::ErrorKind::Io(error) => error,
                other => std::io::Error::other(format!("{other:?}")),
            };
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }
}
