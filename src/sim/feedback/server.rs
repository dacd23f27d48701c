//! The store as a resource: one server that executes operations in the order in which they come.

use crate::sim::deployment::StoreSpec;

/// When the store can begin the next operation.
#[derive(Clone, Debug, Default)]
pub struct Server {
    service: u64,
    /// One operation every `period / units` nanoseconds at most.
    pace: Option<(u64, u64)>,
    free_at: u64,
    /// When the next may begin, in 1/units nanoseconds.
    next: u128,
}

impl Server {
    /// A store that has done nothing yet.
    pub fn new(spec: StoreSpec) -> Self {
        let pace = spec.capacity.map(|rate| rate.reduced());
        Self { service: spec.service.short_nanos(), pace, free_at: 0, next: 0 }
    }

    /// An operation reaches it at `now`: when it is executed.
    pub fn execute(&mut self, now: u64) -> u64 {
        let mut start = now.max(self.free_at);
        if let Some((period, units)) = self.pace {
            let units = u128::from(units);
            // Kept unrounded, so that what is rounded does not add up.
            let begin = self.next.max(u128::from(start) * units);
            start = u64::try_from(begin.div_ceil(units)).unwrap_or(u64::MAX);
            self.next = begin + u128::from(period);
        }
        self.free_at = start.saturating_add(self.service);
        self.free_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quota::Rate;
    use crate::time::SimDuration;

    #[test]
    fn operations_queue() {
        let service = SimDuration::from_nanos(20);
        let mut server = Server::new(StoreSpec { service, ..StoreSpec::default() });
        assert_eq!([0, 0, 5, 100].map(|now| server.execute(now)), [20, 40, 60, 120]);
    }

    #[test]
    fn a_capacity_is_kept_exactly() {
        let capacity = Some(Rate { units: 3, period: SimDuration::from_nanos(10) });
        let mut server = Server::new(StoreSpec { capacity, ..StoreSpec::default() });
        // Number n begins at 10 n / 3, rounded up.
        assert_eq!([0; 7].map(|now| server.execute(now)), [0, 4, 7, 10, 14, 17, 20]);
    }
}
