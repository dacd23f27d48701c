//! Random numbers that are the same on every machine: a named generator, one stream a name.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{SeedableRng, TryRng};
use rand_distr::{Distribution, StandardNormal};
use std::convert::Infallible;

/// The largest seed: what a TOML integer holds, so that every run can be written down and run again.
pub const MAX_SEED: u64 = i64::MAX as u64;

/// The seed of a run that comes later than the first: after the largest comes 0.
#[must_use]
pub const fn later_seed(first: u64, later: u64) -> u64 {
    first.wrapping_add(later) & MAX_SEED
}

/// The generator of a stream: depends on the run's seed and the stream's name, on nothing else.
#[must_use]
pub fn stream(seed: u64, name: &str) -> Xoshiro256PlusPlus {
    // The name's hash, then SplitMix64 steps for the four state words.
    let mut state = mix(seed) ^ hash(HASH_OF_NOTHING, name.as_bytes());
    let mut bytes = [0; 32];
    for word in bytes.chunks_exact_mut(8) {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        word.copy_from_slice(&mix(state).to_le_bytes());
    }
    Xoshiro256PlusPlus::from_seed(bytes)
}

/// Where [`hash`] begins.
pub const HASH_OF_NOTHING: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a over some bytes, after those that led to `hash`.
#[must_use]
pub fn hash(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The finalizer of SplitMix64: every input bit reaches every output bit.
#[inline]
#[must_use]
pub const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number in (0, 1] from 64 random bits.
#[must_use]
pub fn unit_interval(bits: u64) -> f64 {
    ((bits >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// An exponentially distributed number of this mean from 64 random bits, rounded once.
#[must_use]
pub fn exponential(bits: u64, mean: u64) -> u64 {
    libm::round(-libm::log(unit_interval(bits)) * mean as f64) as u64
}

/// The numbers that one draw may take, as many as it needs: SplitMix64.
struct Draws(u64);

impl TryRng for Draws {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.try_next_u64().map(|bits| (bits >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        Ok(mix(self.0))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

/// The distance from zero of a normally distributed number, from 64 random bits, rounded once.
#[must_use]
pub fn normal(bits: u64, mean: u64, deviation: u64) -> u64 {
    let standard: f64 = StandardNormal.sample(&mut Draws(bits));
    libm::round((mean as f64 + standard * deviation as f64).abs()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn streams_depend_on_seed_and_name_only() {
        let draw = |seed, name| stream(seed, name).next_u64();
        assert_eq!(draw(1, "client"), draw(1, "client"));
        assert_ne!(draw(1, "client"), draw(2, "client"));
        assert_ne!(draw(1, "client"), draw(1, "clients"));
    }

    /// The first outputs of SplitMix64 from seed 0, as its authors publish them.
    #[test]
    fn mix_is_splitmix64() {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        assert_eq!(mix(step), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(step.wrapping_mul(2)), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn normal_draws_have_their_mean_and_deviation() {
        let draws: Vec<f64> = (0..100_000).map(|n| normal(mix(n), 10_000_000, 2_000_000) as f64 / 1e6).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / draws.len() as f64;
        assert!((mean - 10.0).abs() < 0.03 && (variance.sqrt() - 2.0).abs() < 0.02, "{mean} {variance}");
        // The same on every machine.
        assert_eq!([normal(1, 100, 10), normal(2, 100, 10), normal(3, 100, 10)], [101, 102, 95]);
    }

    #[test]
    fn the_unit_interval_is_open_at_zero_and_closed_at_one() {
        assert!(unit_interval(0) > 0.0);
        assert!((unit_interval(u64::MAX) - 1.0).abs() < f64::EPSILON);
    }
}
