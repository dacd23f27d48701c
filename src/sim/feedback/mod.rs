//! The closed-loop driver: the traffic's first attempts, merged with what becomes of them.
//!
//! Every lane is a world of its own: the same first attempts meet its limiter, its clients come back
//! in their own time, and its backend works through what it lets pass. Between two batches of traffic
//! the worlds need nothing of each other, so each is advanced by one thread at a time.

mod asked;
mod books;
mod ending;
mod firsts;
mod fleet;
mod later;
mod lease;
mod operation;
mod pending;
mod plan;
mod refusal;
mod rounds;
mod server;
mod shares;
mod stream;
mod way;
mod witness;
mod world;

pub use books::{Book, Books};
pub use fleet::Decider;
pub use plan::{Population, Races, Remains, WorldPlan};
pub use stream::Stream;
pub use witness::{Answered, Ending, Measure, Released, Scribe, Told, Witness};
pub use world::World;

use super::Observer;
use super::replay::{Options, Progress, pool};
use super::step::{Feeder, Step};
use crate::error::Error;
use crate::limiter::Verdicts;
use crate::traffic::{Batch, Traffic};
use std::collections::VecDeque;

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
    // Steps whose arrivals some world has not decided yet, and one to fill.
    let (mut steps, mut step) = (VecDeque::new(), Step::default());
    let mut verdicts: Vec<Verdicts> = worlds.iter().map(|_| Verdicts::default()).collect();
    loop {
        feeder.fill(&mut step, options.batch)?;
        // Once every world is stopped, nobody asks for what is still to come.
        let ended = step.batch.is_empty() || worlds.iter().all(World::is_stopped);
        if !progress(&step) {
            return Ok(());
        }
        let advance =
            |world: &mut World<'_>| if ended { world.go_on(EVENTS) } else { world.advance(&step).map(|()| true) };
        let mut results: Vec<Result<bool, Error>> = worlds.iter().map(|_| Ok(true)).collect();
        let parts = worlds.iter_mut().zip(&mut results);
        match &pool {
            None => parts.for_each(|(world, result)| *result = advance(world)),
            Some(pool) => pool.scope(|scope| {
                for (world, result) in parts {
                    scope.spawn(|_| *result = advance(world));
                }
            }),
        }
        let done = results.into_iter().collect::<Result<Vec<bool>, Error>>()?;
        if !ended {
            let spare = Step { batch: Batch { first: step.batch.first, ..Batch::default() }, ..Step::default() };
            steps.push_back(std::mem::replace(&mut step, spare));
        }
        while let Some(oldest) = steps.front() {
            let count = oldest.batch.len();
            if worlds.iter().any(|world| world.arrivals_decided() < count) {
                break;
            }
            worlds.iter_mut().zip(&mut verdicts).for_each(|(world, verdicts)| world.take_decided(count, verdicts));
            observers.iter_mut().for_each(|observer| observer.observe(oldest, &verdicts));
            steps.pop_front();
        }
        if ended && done.iter().all(|done| *done) {
            return Ok(());
        }
    }
}
