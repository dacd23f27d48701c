//! The open-loop driver: batches of arrivals through every lane, no event queue.

use super::Observer;
use super::lane::{Lane, Tap};
use super::step::{Feeder, Step};
use crate::error::Error;
use crate::limiter::Verdicts;
use crate::traffic::Traffic;

/// How a replay is carried out; nothing here changes its results.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads used; at least one.
    pub threads: usize,
    /// Arrivals in a batch; at least one.
    pub batch: usize,
    /// From how many keys on a batch is decided and observed key by key.
    pub group_from: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { threads: 1, batch: 32_768, group_from: 4096 }
    }
}

/// Whether to go on after a batch, given how many arrivals have been decided.
pub type Progress<'a> = dyn FnMut(&Step) -> bool + Send + 'a;

/// The threads that a run uses beside the one it is called on; none for one thread.
pub(super) fn pool(options: Options) -> Result<Option<rayon::ThreadPool>, Error> {
    if options.threads <= 1 {
        return Ok(None);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
    pool.map(Some).map_err(|error| Error::usage(format!("cannot start {} threads: {error}", options.threads)))
}

/// Takes all arrivals through all lanes and shows every batch to the observers and the taps.
///
/// While a batch is decided the next one is read and the one before it is observed; each lane and
/// each observer is touched by one thread at a time, in order, so the number of threads cannot
/// change a result. `progress` sees each batch as it is about to be decided and may end the run
/// after it by answering `false`.
///
/// # Errors
/// If a source fails or the total cost passes [`TOTAL_COST_MAX`](super::TOTAL_COST_MAX).
pub fn replay(
    traffic: &mut Traffic,
    lanes: &mut [Lane],
    taps: &mut [Option<Box<dyn Tap + '_>>],
    observers: &mut [Box<dyn Observer + '_>],
    options: Options,
    progress: &mut Progress<'_>,
) -> Result<(), Error> {
    assert!(taps.is_empty() || taps.len() == lanes.len(), "one tap a lane or none at all");
    let pool = pool(options)?;
    let mut feeder = Feeder::new(traffic, options.group_from);
    let (mut next, mut now, mut done) = (Step::default(), Step::default(), Step::default());
    let mut verdicts: Vec<Verdicts> = lanes.iter().map(|_| Verdicts::default()).collect();
    feeder.fill(&mut now, options.batch)?;
    loop {
        let go_on = now.batch.is_empty() || progress(&now);
        let mut filled = Ok(());
        let mut tap_of = taps.iter_mut().map(Some).chain(std::iter::repeat_with(|| None));
        match &pool {
            None => {
                filled = feeder.fill(&mut next, options.batch);
                for lane in lanes.iter_mut().filter(|_| !now.batch.is_empty()) {
                    let tap = tap_of.next().flatten().and_then(Option::as_deref_mut);
                    lane.decide_batch(&now, tap);
                }
                if !done.batch.is_empty() {
                    observers.iter_mut().for_each(|observer| observer.observe(&done, &verdicts));
                }
            }
            Some(pool) => pool.scope(|scope| {
                scope.spawn(|_| filled = feeder.fill(&mut next, options.batch));
                if !done.batch.is_empty() {
                    for observer in &mut *observers {
                        let (done, verdicts) = (&done, &verdicts);
                        scope.spawn(move |_| observer.observe(done, verdicts));
                    }
                }
                for lane in lanes.iter_mut().filter(|_| !now.batch.is_empty()) {
                    let tap = tap_of.next().flatten().and_then(Option::as_deref_mut);
                    let now = &now;
                    scope.spawn(move |_| lane.decide_batch(now, tap));
                }
            }),
        }
        if now.batch.is_empty() {
            return Ok(());
        }
        for (lane, verdicts) in lanes.iter_mut().zip(&mut verdicts) {
            std::mem::swap(&mut lane.verdicts, verdicts);
        }
        filled?;
        std::mem::swap(&mut done, &mut now);
        std::mem::swap(&mut now, &mut next);
        if !go_on {
            // One more turn shows the last batch to the observers; this empty one has no columns,
            // so nothing may be decided in it.
            now = Step::default();
        }
    }
}
