//! Arrivals and what became of them, below a lane's lines: a mark each, or bins of many.

use super::WHOLE_WIDTH;
use super::curve::straight;
use super::paint::{Color, Painter, palette};
use super::panel::{COLUMN, Panel};
use crate::report::{Counts, DecisionKind};
use crate::time::round_spans;

/// The narrowest bin of arrivals, and that of a narrow panel.
const BIN: i32 = 8;
const NARROW_BIN: i32 = 5;

/// Columns taken together, so that they can be told apart.
pub struct Bins {
    /// The columns at which they begin, and the end of the last.
    pub edges: Vec<usize>,
    /// How long each is, but what is cut off at the ends of the span.
    pub width_ns: u64,
}

impl Bins {
    /// The counts of each.
    pub fn sum(&self, counts: &[Counts]) -> Vec<Counts> {
        let within = |pair: &[usize]| counts.get(pair[0]..pair[1]).unwrap_or_default();
        let sum = |pair: &[usize]| {
            within(pair).iter().fold(Counts::default(), |mut sum, counts| {
                sum += *counts;
                sum
            })
        };
        self.edges.windows(2).map(sum).collect()
    }
}

impl Bins {
    /// The sums of plain counts of each.
    fn sum_of(&self, counts: &[u64]) -> Vec<u64> {
        let within = |pair: &[usize]| counts.get(pair[0]..pair[1]).unwrap_or_default();
        self.edges.windows(2).map(|pair| within(pair).iter().sum()).collect()
    }
}

impl Panel<'_> {
    /// The bins of the span: of a round length, on round times, none across a grid line.
    pub fn bins(&self) -> Bins {
        self.bins_from(self.narrowest())
    }

    /// The same, of at least this width in the sheet's units.
    pub fn bins_from(&self, narrowest: i32) -> Bins {
        self.round_bins(narrowest).unwrap_or_else(|| self.even_bins(narrowest))
    }

    /// As narrow as this width allows, wherever grid lines are.
    pub fn even_bins(&self, narrowest: i32) -> Bins {
        let step = self.merge(narrowest);
        let columns = self.detail.columns;
        Bins {
            edges: (0..columns).step_by(step).chain([columns]).collect(),
            width_ns: self.detail.edge(step.min(columns)).nanos().abs_diff(self.detail.from.nanos()),
        }
    }

    const fn narrowest(&self) -> i32 {
        if self.width > WHOLE_WIDTH { BIN } else { NARROW_BIN }
    }

    /// These bins, where the columns allow for them.
    fn round_bins(&self, narrowest: i32) -> Option<Bins> {
        let detail = self.detail;
        let (from, column) = (i128::from(detail.from.nanos()), self.column_ns()?);
        if from % column != 0 {
            return None;
        }
        let span = i128::from(detail.until.nanos()) - from;
        let fits = |bin: &i128| {
            bin % column == 0
                && bin * i128::from(self.width) >= span * i128::from(narrowest)
                && detail.ticks.iter().all(|tick| i128::from(tick.nanos()) % bin == 0)
        };
        let bin = round_spans().map(i128::from).find(fits)?;
        let begins = |i: &usize| (from + *i as i128 * column) % bin == 0;
        let edges = std::iter::once(0).chain((1..detail.columns).filter(begins)).chain([detail.columns]);
        Some(Bins { edges: edges.collect(), width_ns: u64::try_from(bin).ok()? })
    }

    /// Whether arrivals are few enough for a mark each.
    pub fn marked(&self) -> bool {
        let step = self.merge(COLUMN);
        let crowded = |lane: &crate::report::LaneDetail| {
            lane.counts.chunks(step).any(|merged| merged.iter().map(Counts::total).sum::<u64>() > 2)
        };
        !self.detail.arrivals.is_empty() && !self.detail.lanes.first().is_some_and(crowded)
    }

    /// What was sent: a mark each, or bins.
    pub fn sent(&self, painter: &Painter<'_>, (top, bottom): (i32, i32)) {
        if self.marked() {
            let xs: Vec<i32> = self.detail.arrivals.iter().map(|arrival| self.at(arrival.at)).collect();
            painter.ticks(&xs, (top, bottom), palette::SOFT);
        } else if let Some(lane) = self.detail.lanes.first() {
            let bins = self.bins();
            let counts = bins.sum_of(&lane.arrivals().collect::<Vec<_>>());
            let highest = counts.iter().copied().max().unwrap_or(0).max(1);
            self.stack(painter, (top, bottom), &bins, &[(counts, palette::SOFT)], highest);
        }
        painter.line(&[(self.x, bottom), (self.right(), bottom)], palette::RULE, 1);
    }

    /// What a lane did with each arrival, or with how many in each bin.
    pub fn decisions(&self, painter: &Painter<'_>, lane: usize, (top, bottom): (i32, i32)) {
        let detail = &self.detail.lanes[lane];
        if self.marked() {
            let of = |kind: DecisionKind| -> Vec<i32> {
                let arrivals = self.detail.arrivals.iter().zip(&detail.decisions);
                arrivals.filter(|(_, decision)| decision.kind == kind).map(|(arrival, _)| self.at(arrival.at)).collect()
            };
            let middle = (top + bottom) / 2;
            painter.ticks(&of(DecisionKind::Allow), (top, middle), palette::ALLOWED);
            for x in of(DecisionKind::Delay) {
                painter.ring((x, (top + middle) / 2), 5, palette::DELAYED_INK);
            }
            painter.crosses(&of(DecisionKind::Deny), (middle + 3, bottom), palette::DENIED);
        } else {
            let bins = self.bins();
            let counts = bins.sum(&detail.counts);
            let highest = counts.iter().map(Counts::total).max().unwrap_or(0).max(1);
            let of = |kind: fn(&Counts) -> u64| counts.iter().map(kind).collect::<Vec<_>>();
            let kinds = [
                (of(|c| c.allowed), palette::ALLOWED),
                (of(|c| c.delayed), palette::DELAYED),
                (of(|c| c.denied), palette::DENIED),
            ];
            if detail.fleet.is_some() {
                self.layers(painter, (top, bottom), &bins, &counts, highest);
            } else {
                self.stack(painter, (top, bottom), &bins, &kinds, highest);
            }
            painter.line(&[(self.x, bottom), (self.right(), bottom)], palette::RULE, 1);
        }
    }

    /// The width of a bin in nanoseconds and the most arrivals in one, where arrivals are binned.
    pub fn highest_bin(&self) -> Option<(u64, u64)> {
        if self.marked() || self.detail.arrivals_within == 0 {
            return None;
        }
        let bins = self.bins();
        let arrivals: Vec<u64> = self.detail.lanes.first()?.arrivals().collect();
        let highest = bins.sum_of(&arrivals).into_iter().max()?;
        Some((bins.width_ns, highest))
    }

    /// Bins of several kinds upon each other; what is there at all is seen.
    pub fn stack(
        &self,
        painter: &Painter<'_>,
        (top, bottom): (i32, i32),
        bins: &Bins,
        kinds: &[(Vec<u64>, Color)],
        highest: u64,
    ) {
        let height = f64::from(bottom - top);
        let mut floor = vec![bottom; bins.edges.len() - 1];
        for (counts, color) in kinds {
            let ceiling: Vec<i32> = counts
                .iter()
                .zip(&floor)
                .map(|(count, floor)| match count {
                    0 => *floor,
                    count => floor - ((*count as f64 / highest as f64 * height).round() as i32).max(2),
                })
                .collect();
            // One polygon, without area where there is nothing.
            if counts.iter().any(|count| *count > 0) {
                let x = |bin: usize| self.column_x(bins.edges[bin]);
                let over = (0..counts.len()).flat_map(|bin| [(x(bin), ceiling[bin]), (x(bin + 1), ceiling[bin])]);
                let under = (0..counts.len()).rev().flat_map(|bin| [(x(bin + 1), floor[bin]), (x(bin), floor[bin])]);
                painter.polygon(&straight(&over.chain(under).collect::<Vec<_>>()), *color);
            }
            floor = ceiling;
        }
    }
}
