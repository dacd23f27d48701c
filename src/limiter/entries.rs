//! What a sliding log asks of that which keeps its entries.

/// Units that may count, and for how long an entry does.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub(super) units: u64,
    pub(super) lifetime: i64,
}

impl Span {
    /// The newest instant whose entries do not count any more at `at`.
    #[inline(always)]
    pub(super) const fn gone(self, at: i64) -> i64 {
        at - self.lifetime
    }
}

/// The entries of one key, in order of time; those that have left may linger until their room is needed.
/// Instants given never lie before the newest entry.
pub trait Entries: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// No entries.
    fn none() -> Self;
    /// When the newest was admitted; the least number if there is none.
    fn newest(&self) -> i64;
    /// Reads what a decision reads first.
    fn prefetch(&self) -> u64;
    /// When they were admitted and what they cost, oldest first, from the first after `gone` on.
    fn iter(&self, gone: i64) -> impl Iterator<Item = (i64, u64)>;
    /// Units of the entries after `gone`.
    fn used(&self, gone: i64) -> u64;
    /// The same; what is not after it is forgotten for good, also for a clock that is behind.
    fn sweep(&mut self, gone: i64) -> u64;
    /// Appends units, whether or not they fit.
    fn append(&mut self, at: i64, cost: u64, span: Span);
    /// Appends what was refused. More units than may count change no answer: of them the newest are kept.
    fn append_refused(&mut self, at: i64, cost: u64, span: Span);
    /// Takes back up to `units` of what was appended at `at`; how many.
    fn take_back(&mut self, at: i64, units: u64) -> u64;
    /// Decides, where that is quick and a refusal leaves nothing; `at` may lie before the newest entry.
    fn settle(&mut self, at: i64, cost: u64, span: Span) -> Option<bool>;
    /// Bytes on the heap.
    fn heap_bytes(&self) -> usize;
}
