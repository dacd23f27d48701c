//! What a lane's store and replicas have on their books, for those who look.

use super::fleet::Fleet;
use super::plan::instant;
use super::world::World;
use crate::limiter::{KeyId, Used};
use crate::sim::deployment::{DeploymentSpec, HybridSpec, Scheme};
use crate::sim::lane::Lane;
use crate::time::SimTime;

/// The books of a lane at one instant; to be asked for this instant and later ones, up to the next
/// change.
#[derive(Clone, Copy)]
pub struct Books<'a> {
    lane: &'a Lane,
    fleet: Option<&'a Fleet>,
}

/// What is counted of a key, by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Book {
    /// The store, or the only limiter.
    Shared,
    /// A replica.
    Replica(u32),
}

impl Books<'_> {
    /// Units of a key in use as a book has it, or, in a replica that spends what it has fetched, those
    /// that it has left; nothing where it does not count.
    #[must_use]
    pub fn units(&self, book: Book, key: KeyId, at: SimTime) -> Option<Used> {
        if let Some(held) = self.held(book, key) {
            return Some(Used { numerator: u128::from(held), denominator: 1 });
        }
        let (lane, at) = self.counter(book, key, at)?;
        Some(lane.usage(key, at))
    }

    /// How many can be in use; nothing where that is not told.
    #[must_use]
    pub fn limit(&self, book: Book, key: KeyId, at: SimTime) -> Option<u64> {
        if self.held(book, key).is_some() {
            return None;
        }
        let (lane, at) = self.counter(book, key, at)?;
        Some(lane.level(key, at).limit)
    }

    fn held(&self, book: Book, key: KeyId) -> Option<u64> {
        let (Book::Replica(number), Some(fleet)) = (book, self.fleet) else { return None };
        let lease = matches!(&fleet.spec, DeploymentSpec::Hybrid(HybridSpec { scheme: Scheme::Lease { .. }, .. }));
        let replica = fleet.replicas.get(number as usize).filter(|_| lease)?;
        Some(replica.leases.held(key))
    }

    /// The limiter that counts, and its own time.
    fn counter(&self, book: Book, key: KeyId, at: SimTime) -> Option<(&Lane, SimTime)> {
        match (book, self.fleet.map(|fleet| (fleet, &fleet.spec))) {
            (Book::Shared, None) => Some((self.lane, at)),
            (Book::Shared, Some((fleet, DeploymentSpec::Central(_)))) => Some((self.lane, fleet.expiry.time(key, at))),
            (Book::Shared, Some((fleet, DeploymentSpec::Hybrid(HybridSpec { scheme, .. })))) => {
                let counts = matches!(scheme, Scheme::Sync { .. } | Scheme::Lease { .. });
                counts.then(|| (self.lane, fleet.expiry.time(key, at)))
            }
            // The own limiter of a replica that asks a store is a filter before it.
            (Book::Shared, Some((_, DeploymentSpec::Local(_))))
            | (Book::Replica(_), None | Some((_, DeploymentSpec::Central(_)))) => None,
            (Book::Replica(number), Some((fleet, _))) => {
                let replica = fleet.replicas.get(number as usize)?;
                Some((replica.own.as_ref()?, instant(at, replica.skew)))
            }
        }
    }
}

impl World<'_> {
    /// Time comes to `now`: who looks sees what is known until then.
    #[inline(always)]
    pub(super) fn show_books(&mut self, now: u64) {
        if self.watched {
            self.show_watched(now);
        }
    }

    #[cold]
    fn show_watched(&mut self, now: u64) {
        let at = self.instant(now);
        let books = Books { lane: &self.lane, fleet: self.fleet.as_deref() };
        self.witness.look(at, &books);
    }
}
