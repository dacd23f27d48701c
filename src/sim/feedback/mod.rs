//! The closed-loop driver: the traffic's first attempts, merged with what becomes of them.
//!
//! Every lane is a world of its own: the same first attempts meet its limiter, its clients come back
//! in their own time, and its backend works through what it lets pass. Between two batches of traffic
//! the worlds need nothing of each other, so each is advanced by one thread at a time.

mod pending;
mod stream;
mod way;
mod witness;
mod world;

pub use stream::Stream;
pub use witness::{Ending, Measure, Witness};
pub use world::{World, WorldPlan};

use super::Observer;
use super::replay::{Options, Progress, pool};
use super::step::{Feeder, Step};
use crate::error::Error;
use crate::limiter::Verdicts;
use crate::traffic::Traffic;

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
        let ended = step.batch.is_empty();
        if !ended && !progress(&step) {
            return Ok(());
        }
        let advance = |world: &mut World<'_>, verdicts: &mut Verdicts| {
            if ended { world.finish() } else { world.advance(&step, verdicts) }
        };
        let mut results: Vec<Result<(), Error>> = worlds.iter().map(|_| Ok(())).collect();
        let parts = worlds.iter_mut().zip(&mut verdicts).zip(&mut results);
        match &pool {
            None => parts.for_each(|((world, verdicts), result)| *result = advance(world, verdicts)),
            Some(pool) => pool.scope(|scope| {
                for ((world, verdicts), result) in parts {
                    scope.spawn(|_| *result = advance(world, verdicts));
                }
            }),
        }
        results.into_iter().collect::<Result<Vec<()>, Error>>()?;
        if ended {
            return Ok(());
        }
        observers.iter_mut().for_each(|observer| observer.observe(&step, &verdicts));
    }
}
