//! Which replica an attempt meets.

use super::{ReplicasSpec, Routing};
use crate::limiter::KeyId;
use crate::rng::mix;
use crate::sim::client::{Dice, Draw};

/// Routes attempts to the replicas that run.
#[derive(Clone, Debug)]
pub struct Router {
    routing: Routing,
    /// Replicas that run, in order.
    running: Vec<u32>,
    next: usize,
    /// Changes where keys are routed anew.
    salt: u64,
    /// For each replica, attempts that it has not done with.
    busy: Vec<u64>,
}

impl Router {
    /// All replicas at the start of the run, of `most` in all.
    #[must_use]
    pub fn new(spec: &ReplicasSpec, most: u32) -> Self {
        Self {
            routing: spec.routing.clone(),
            running: (0..spec.count).collect(),
            next: 0,
            salt: 0,
            busy: vec![0; most as usize],
        }
    }

    /// Replicas that run, in order.
    #[must_use]
    pub fn running(&self) -> &[u32] {
        &self.running
    }

    /// From now on these run.
    pub fn run(&mut self, running: impl IntoIterator<Item = u32>) {
        self.running = running.into_iter().collect();
        self.running.sort_unstable();
        self.running.dedup();
    }

    /// Keys are routed anew.
    pub fn reroute(&mut self) {
        self.salt = mix(self.salt.wrapping_add(1));
    }

    /// A replica has an attempt to do with.
    pub fn begin(&mut self, replica: u32) {
        self.busy[replica as usize] += 1;
    }

    /// A replica has done with one.
    pub fn done(&mut self, replica: u32) {
        self.busy[replica as usize] -= 1;
    }

    /// The replica that an attempt meets.
    pub fn route(&mut self, key: KeyId, dice: Dice, made: u32) -> u32 {
        let count = self.running.len();
        let place = match &self.routing {
            _ if count == 1 => 0,
            Routing::RoundRobin => {
                let place = self.next % count;
                self.next = place + 1;
                place
            }
            Routing::Random => dice.up_to(Draw::Route, made, count as u64 - 1) as usize,
            // Of the replica with the highest hash: when one stops, only its keys move.
            Routing::Hash => {
                let hash = |replica: u32| mix(mix(u64::from(key.0) ^ self.salt) ^ mix(u64::from(replica) + 1));
                (0..count).max_by_key(|place| hash(self.running[*place])).unwrap_or(0)
            }
            Routing::Weights(weights) => {
                let weight = |replica: &u32| weights.get(*replica as usize).copied().unwrap_or(0);
                let total: u64 = self.running.iter().map(weight).sum();
                if total == 0 {
                    0
                } else {
                    let mut left = dice.up_to(Draw::Route, made, total - 1);
                    let holds = |replica: &u32| {
                        let weight = weight(replica);
                        let here = left < weight;
                        left = left.wrapping_sub(weight);
                        here
                    };
                    self.running.iter().position(holds).unwrap_or(0)
                }
            }
            Routing::Least => (0..count).min_by_key(|place| self.busy[self.running[*place] as usize]).unwrap_or(0),
        };
        self.running[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(routing: Routing) -> ReplicasSpec {
        ReplicasSpec { count: 3, routing, skew: Vec::new() }
    }

    #[test]
    fn shares_follow_the_weights() {
        let mut router = Router::new(&spec(Routing::Weights(vec![7, 2, 1])), 3);
        let mut counts = [0_u32; 3];
        for request in 0..100_000 {
            counts[router.route(KeyId(0), Dice::new(1, request), 1) as usize] += 1;
        }
        // Four standard deviations of a binomial count.
        for (count, share) in counts.into_iter().zip([0.7, 0.2, 0.1]) {
            let expected = 100_000.0 * share;
            assert!((f64::from(count) - expected).abs() < 4.0 * (expected * (1.0 - share)).sqrt(), "{counts:?}");
        }
    }

    #[test]
    fn a_key_stays_where_it_is_until_it_is_routed_anew() {
        let mut router = Router::new(&spec(Routing::Hash), 3);
        let places = |router: &mut Router| -> Vec<u32> {
            (0..300).map(|key| router.route(KeyId(key), Dice::new(1, 0), 1)).collect()
        };
        let before = places(&mut router);
        assert_eq!(before, places(&mut router));
        router.run([0, 2]);
        let without = places(&mut router);
        // Only the keys of the replica that stopped have moved.
        assert!(before.iter().zip(&without).all(|(before, after)| *before == 1 || before == after));
        router.run([0, 1, 2]);
        assert_eq!(before, places(&mut router));
        router.reroute();
        assert_ne!(before, places(&mut router));
    }
}
