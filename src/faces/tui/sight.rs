//! What is known of the run at a place: from looks at its spans, else from the report's bins.

use super::action::Run;
use super::app::App;
use super::view::Span;
use crate::report::{
    Counts, Deciders, Detail, Extent, FleetDetail, ReplicaDetail, RequestCounts, StoreDetail, TimelineReport,
};
use std::ops::Range;

/// What one lane had done as of the cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub counts: Counts,
    /// In a closed loop, what had become of its requests.
    pub requests: Option<RequestCounts>,
    /// Units released in the last window, of the lane's key.
    pub trailing: Option<u64>,
    pub peak: Option<u64>,
    /// Units in use, of the lane's key, when the last column had passed.
    pub level: Option<f64>,
}

/// What one replica had done as of the cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ReplicaFigures {
    pub counts: Counts,
    pub decided: Deciders,
    /// Units of the lane's key, by its own count or in its hand.
    pub level: Option<f64>,
}

fn span_of(detail: &Detail) -> Span {
    Span { from: detail.from.nanos(), until: detail.until.nanos() }
}

impl App {
    /// The look at exactly this span.
    pub(super) fn seen(&self, span: Span, columns: usize) -> Option<&Detail> {
        self.details.iter().find(|detail| span_of(detail) == span && detail.columns == columns)
    }

    /// The closest look that covers what is on the screen.
    pub(super) fn covering(&self) -> Option<&Detail> {
        let covering = self.details.iter().filter(|detail| span_of(detail).covers(self.view));
        covering.min_by_key(|detail| span_of(detail).length())
    }

    /// A look that lists the arrivals around the cursor, the widest there is.
    pub(super) fn listing(&self) -> Option<&Detail> {
        let known = self.details.iter().filter(|detail| detail.contains(self.cursor) && detail.lists_arrivals());
        known.max_by_key(|detail| span_of(detail).length())
    }

    /// The look that knows best what had happened as of the cursor.
    fn knowing(&self) -> Option<&Detail> {
        // Retries are not listed: there the closest look knows best.
        self.listing().filter(|_| !self.is_unlisted()).or_else(|| {
            // A look is exact where its columns end, and lags behind within them; what it knows at its
            // end is known after it, too, so that totals never fall as the cursor goes on.
            let unlisted = self.is_unlisted();
            let begun = |detail: &&Detail| detail.contains(self.cursor) || unlisted && detail.from <= self.cursor.at;
            let known = self.details.iter().filter(begun);
            known.min_by_key(|detail| self.cursor.at.since(detail.edge(detail.columns_passed(self.cursor))))
        })
    }

    /// What a lane had done as of the cursor; `None` while nothing is known of it.
    pub(super) fn figures(&self, lane: usize) -> Option<Figures> {
        if let Some(detail) = self.knowing() {
            let here = detail.contains(self.cursor);
            return Some(Figures {
                counts: detail.counts_at(lane, self.cursor),
                requests: detail.requests_at(lane, self.cursor),
                trailing: detail.trailing_at(lane, self.cursor).filter(|_| here),
                peak: detail.peak_at(lane, self.cursor),
                level: detail.level_at(lane, self.cursor).filter(|_| here),
            });
        }
        let bins = self.bins(lane)?;
        let passed = self.cursor.at.nanos().saturating_add(1);
        let mut counts = Counts::default();
        (0..bins.len()).take_while(|bin| bins.edge(bin + 1) <= passed).for_each(|bin| counts += bins.counts(bin));
        Some(Figures { counts, ..Figures::default() })
    }

    /// What replicas and store of a lane did, by the look that knows best.
    pub(super) fn fleet(&self, lane: usize) -> Option<&FleetDetail> {
        self.knowing()?.lanes.get(lane)?.fleet.as_ref()
    }

    /// Whether anything was looked at.
    pub(super) fn is_looked_at(&self) -> bool {
        self.knowing().is_some()
    }

    /// Whether the look that knows best holds the cursor.
    pub(super) fn is_within(&self) -> bool {
        self.knowing().is_some_and(|detail| detail.contains(self.cursor))
    }

    /// What each replica of a lane had done as of the cursor.
    pub(super) fn fleet_figures(&self, lane: usize) -> Option<Vec<ReplicaFigures>> {
        let (detail, fleet) = (self.knowing()?, self.fleet(lane)?);
        let passed = detail.columns_passed(self.cursor);
        let of = |replica: &ReplicaDetail| {
            let (counts, decided) = replica.until(passed);
            let level = passed.checked_sub(1).and_then(|last| replica.level.get(last)).map(|extent| extent.last);
            ReplicaFigures { counts, decided, level: level.filter(|_| detail.contains(self.cursor)) }
        };
        Some(fleet.replicas.iter().map(of).collect())
    }

    /// Operations of a store as of the cursor.
    pub(super) fn operations(&self, store: &StoreDetail) -> u64 {
        let passed = self.knowing().map_or(0, |detail| detail.columns_passed(self.cursor));
        store.operations_before + store.operations.iter().take(passed).sum::<u64>()
    }

    /// What a lane decided without the store in each column of the screen.
    pub(super) fn without(&self, lane: usize, columns: usize) -> Vec<u64> {
        let Some(detail) = self.covering() else { return Vec::new() };
        let Some(fleet) = &detail.lanes[lane].fleet else { return Vec::new() };
        let edge = |column| detail.edge(column).nanos();
        let counts = |column: usize| {
            let of = |replica: &ReplicaDetail| replica.decided.get(column).map_or(0, |by| by.without);
            Counts { denied: fleet.replicas.iter().map(of).sum(), ..Counts::default() }
        };
        resample(self.view, columns, detail.columns, &edge, counts).into_iter().map(|counts| counts.denied).collect()
    }

    /// The report's bins of a lane, unless one key alone is shown.
    fn bins(&self, lane: usize) -> Option<Bins<'_>> {
        let run = self.run.as_ref().filter(|_| self.key.is_none())?;
        Some(Bins { run, timeline: &run.report.lanes.get(lane)?.timeline })
    }

    /// What a lane did in each column of the screen; empty while nothing is known of it.
    pub(super) fn strip(&self, lane: usize, columns: usize) -> Vec<Counts> {
        if let Some(detail) = self.covering() {
            let counts = &detail.lanes[lane].counts;
            if span_of(detail) == self.view && detail.columns == columns {
                return counts.clone();
            }
            let edge = |column| detail.edge(column).nanos();
            return resample(self.view, columns, detail.columns, &edge, |column| counts[column]);
        }
        match self.bins(lane) {
            Some(bins) => resample(self.view, columns, bins.len(), &|bin| bins.edge(bin), |bin| bins.counts(bin)),
            None => Vec::new(),
        }
    }

    /// A count of a closed loop's requests in each column of the screen; empty while nothing is known.
    pub(super) fn requests(&self, lane: usize, columns: usize, of: impl Fn(&RequestCounts) -> u64) -> Vec<u64> {
        let Some(detail) = self.covering() else { return Vec::new() };
        let requests = &detail.lanes[lane].requests;
        let edge = |column| detail.edge(column).nanos();
        let counts = |column: usize| Counts { allowed: requests.get(column).map_or(0, &of), ..Counts::default() };
        resample(self.view, columns, detail.columns, &edge, counts).into_iter().map(|counts| counts.allowed).collect()
    }

    /// Arrivals in each column of the screen on which the lanes differ.
    pub(super) fn split(&self, columns: usize) -> Vec<u64> {
        let Some(detail) = self.covering() else { return Vec::new() };
        let edge = |column| detail.edge(column).nanos();
        let counts = |column: usize| Counts { denied: detail.split[column], ..Counts::default() };
        resample(self.view, columns, detail.columns, &edge, counts).into_iter().map(|counts| counts.denied).collect()
    }

    /// One of a look's quantities in each column of the screen.
    pub(super) fn extents<'a>(&'a self, columns: usize, of: impl Fn(&'a Detail) -> &'a [Extent]) -> Vec<Extent> {
        let Some(detail) = self.covering() else { return Vec::new() };
        let extents = of(detail);
        if extents.len() < detail.columns {
            return Vec::new();
        }
        let edge = |column| detail.edge(column).nanos();
        let joined = |range: Range<usize>| {
            let last = extents[range.end - 1].last;
            let max = extents[range].iter().fold(0.0_f64, |max, extent| max.max(extent.max));
            Extent { min: last.min(max), max, last }
        };
        (0..columns)
            .map(|column| {
                let (from, until) = (self.view.edge(column, columns), self.view.edge(column + 1, columns));
                joined(overlapping(detail.columns, &edge, from, until))
            })
            .collect()
    }
}

/// The bins of a timeline at their instants.
struct Bins<'a> {
    run: &'a Run,
    timeline: &'a TimelineReport,
}

impl Bins<'_> {
    fn len(&self) -> usize {
        self.timeline.allowed.len()
    }

    fn edge(&self, bin: usize) -> i64 {
        let width = i64::try_from(self.timeline.bin_ns).unwrap_or(i64::MAX);
        let offset = self.timeline.from_ns.saturating_add(width.saturating_mul(bin as i64));
        self.run.report.instant(offset).nanos()
    }

    fn counts(&self, bin: usize) -> Counts {
        let TimelineReport { allowed, delayed, denied, .. } = self.timeline;
        Counts { allowed: allowed[bin], delayed: delayed[bin], denied: denied[bin] }
    }
}

/// The first column whose edge is not before `at`, of `count` columns.
fn first_from(count: usize, edge: &dyn Fn(usize) -> i64, at: i64) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = (low + high) / 2;
        if edge(middle) < at { low = middle + 1 } else { high = middle }
    }
    low
}

/// The columns that share an instant with a span: at least one, the nearest.
fn overlapping(count: usize, edge: &dyn Fn(usize) -> i64, from: i64, until: i64) -> Range<usize> {
    let start = first_from(count, edge, from.saturating_add(1)).saturating_sub(1);
    let stop = first_from(count, edge, until).clamp(start + 1, count.max(start + 1));
    start..stop
}

/// Counts by other columns as counts by those of the screen. Where the others are wider, what is in
/// one of them is shown in all that it covers.
fn resample(
    view: Span,
    columns: usize,
    count: usize,
    edge: &dyn Fn(usize) -> i64,
    counts: impl Fn(usize) -> Counts,
) -> Vec<Counts> {
    let mut all = vec![Counts::default(); columns];
    if count == 0 {
        return all;
    }
    for (column, sum) in all.iter_mut().enumerate() {
        let (from, until) = (view.edge(column, columns), view.edge(column + 1, columns));
        if until <= edge(0) || from >= edge(count) {
            continue;
        }
        let begun = first_from(count, edge, from)..first_from(count, edge, until);
        let shown = if begun.is_empty() { overlapping(count, edge, from, until) } else { begun };
        shown.for_each(|other| *sum += counts(other));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denied(count: usize) -> Counts {
        Counts { denied: count as u64, ..Counts::default() }
    }

    #[test]
    fn finer_columns_are_added_and_wider_ones_repeated() {
        let view = Span { from: 0, until: 4_000 };
        let finer = resample(view, 2, 8, &|i| i as i64 * 500, denied);
        assert_eq!(finer, [denied(1 + 2 + 3), denied(4 + 5 + 6 + 7)]);
        let wider = resample(view, 4, 3, &|i| i as i64 * 2_000 - 1_000, denied);
        assert_eq!(wider, [denied(0), denied(1), denied(1), denied(2)]);
        let beyond = resample(view, 2, 1, &|i| i as i64 * 1_000, |_| denied(7));
        assert_eq!(beyond, [denied(7), denied(0)]);
    }
}
