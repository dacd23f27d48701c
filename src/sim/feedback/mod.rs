//! The closed-loop driver: the traffic's first attempts, merged with what becomes of them.
//!
//! Every lane is a world of its own: the same first attempts meet its limiter, its clients come back
//! in their own time, and its backend works through what it lets pass. Between two batches of traffic
//! the worlds need nothing of each other, so each is advanced by one thread at a time.

mod pending;
mod refusal;
mod stream;
mod way;
mod witness;
mod world;

pub use stream::Stream;
pub use witness::{Answered, Ending, Measure, Scribe, Witness};
pub use world::{Population, World, WorldPlan};

use super::Observer;
use super::replay::{Options, Progress, pool};
use super::step::{Feeder, Step};
use crate::error::Error;
use crate::limiter::Verdicts;
use crate::traffic::Traffic;

/// Events between two looks at whether to go on, once the traffic has ended.
const EVENTS: u64 = 1 << 20;

/// Takes all traffic through all worlds, and shows the first attempts with the decisions on them to
/// the observers.
///
/// # Errors
/// If a source fails or the total cost passes [`TOTAL_COST_MAX`](super::TOTAL_COST_MAX).
pub fn feedback(
    traffic: &mut Traffic,
    worlds: &mut [World<'_>],
    observers: &mut [Box<dyn Observer + '_>],
    options: Options,
    progress: &mut Progress<'_>,
) -> Result<(), Error> {
    let pool = pool(options)?;
    let mut feeder = Feeder::new(traffic, usize::MAX);
    let mut step = Step::default();
    let mut verdicts: Vec<Verdicts> = worlds.iter().map(|_| Verdicts::default()).collect();
    loop {
        feeder.fill(&mut step, options.batch)?;
        // Once every world is stopped, nobody asks for what is still to come.
        let ended = step.batch.is_empty() || worlds.iter().all(World::is_stopped);
        if !progress(&step) {
            return Ok(());
        }
        let advance = |world: &mut World<'_>, verdicts: &mut Verdicts| {
            if ended { world.go_on(EVENTS) } else { world.advance(&step, verdicts).map(|()| true) }
        };
        let mut results: Vec<Result<bool, Error>> = worlds.iter().map(|_| Ok(true)).collect();
        let parts = worlds.iter_mut().zip(&mut verdicts).zip(&mut results);
        match &pool {
            None => parts.for_each(|((world, verdicts), result)| *result = advance(world, verdicts)),
            Some(pool) => pool.scope(|scope| {
                for ((world, verdicts), result) in parts {
                    scope.spawn(|_| *result = advance(world, verdicts));
                }
            }),
        }
        let done = results.into_iter().collect::<Result<Vec<bool>, Error>>()?;
        if ended {
            if done.iter().all(|done| *done) {
                return Ok(());
            }
            continue;
        }
        observers.iter_mut().for_each(|observer| observer.observe(&step, &verdicts));
    }
}
