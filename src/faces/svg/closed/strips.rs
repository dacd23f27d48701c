//! Two strips of a lane on the time axis: attempts as bars, and below them what came of them.

use super::super::bins::Bins;
use super::super::curve::{closed, straight};
use super::super::paint::{Painter, Point, palette};
use super::super::panel::Panel;
use super::super::words::things;
use crate::report::{LaneDetail, LaneReport, Report};

/// The narrowest bar of attempts: as narrow as can be told apart, so that spikes are seen.
const BAR: i32 = 2;
/// The narrowest step of a rate, and the fewest that a panel is cut into where they could be more.
const RATE_BIN: i32 = 8;
const FEW_RATES: i32 = 8;
/// Where the lanes' highest bars are further apart than this, one scale would hide the lower ones.
const ALIKE: u64 = 3;
/// Retries without a gap for at least this long are striped; single spikes are thin enough to be told.
const STRIPED: i32 = 12;
/// A limit is shown, and rates are shown up to a multiple of it.
const ABOVE_LIMIT: f64 = 4.0;

/// What stands at the top of the strips.
#[derive(Clone, Copy)]
pub struct Heights {
    /// For each panel the most attempts in a bar of any lane; none where each lane has a scale of its
    /// own.
    pub attempts: [Option<u64>; 2],
    /// The highest rate, in attempts within [`window_ns`](Self::window_ns).
    pub rate: f64,
    /// The limit in the same unit, where it is in sight.
    pub limit: Option<f64>,
    /// What rates are told over: the limit's window, or a second.
    pub window_ns: u64,
    /// Some rate is above the top.
    pub cut: bool,
}

/// Attempts of one lane in the bars of one panel.
pub struct Attempts {
    bins: Bins,
    first: Vec<u64>,
    retries: Vec<u64>,
}

impl Attempts {
    /// The most in one bar.
    pub fn most(&self) -> u64 {
        self.first.iter().zip(&self.retries).map(|(first, retries)| first + retries).max().unwrap_or(0)
    }

    /// Width of a bar.
    pub const fn width_ns(&self) -> u64 {
        self.bins.width_ns
    }
}

/// Sums of a count over bins.
fn sums<T>(bins: &Bins, columns: &[T], of: impl Fn(&T) -> u64) -> Vec<u64> {
    let within = |pair: &[usize]| columns.get(pair[0]..pair[1]).unwrap_or_default().iter().map(&of).sum();
    bins.edges.windows(2).map(within).collect()
}

/// Whether the limit is one for all that a lane is asked: it counts requests, for one key.
fn is_shared(report: &Report, lane: &LaneReport) -> bool {
    lane.state.keys <= 1 && lane.exempt.is_empty() && things(report) == "requests"
}

impl Heights {
    /// As high as it takes.
    pub fn new(report: &Report, panels: &[Panel<'_>]) -> Self {
        let lanes = 0..report.lanes.len();
        let highest = |panel: &Panel<'_>| -> Vec<u64> {
            lanes.clone().map(|lane| panel.attempts(lane).most()).filter(|most| *most > 0).collect()
        };
        let alike = |panel: &Panel<'_>| {
            let highest = highest(panel);
            highest.iter().max() < highest.iter().min().map(|least| least * ALIKE).as_ref()
        };
        let mut attempts = [None; 2];
        if panels.iter().all(alike) {
            let most = panels.iter().map(|panel| highest(panel).into_iter().max());
            attempts.iter_mut().zip(most).for_each(|(shared, most)| *shared = most);
        }
        let window_ns = report.limit.map_or(1_000_000_000, |limit| limit.window_ns);
        let limit = report.limit.filter(|_| report.lanes.iter().all(|lane| is_shared(report, lane)));
        let limit = limit.map(|limit| limit.units as f64).filter(|limit| *limit > 0.0);
        let mut highest: f64 = 0.0;
        for panel in panels {
            for lane in lanes.clone() {
                let [_, admitted, good] = panel.rates(lane, window_ns);
                highest = admitted.iter().chain(&good).copied().fold(highest, f64::max);
            }
        }
        // A limit that nobody comes near would only press the lines down.
        let limit = limit.filter(|limit| *limit <= 3.0 * highest.max(f64::MIN_POSITIVE));
        let asked = |panel: &Panel<'_>, lane| panel.rates(lane, window_ns)[0].iter().copied().fold(0.0, f64::max);
        let offered = panels.iter().flat_map(|panel| lanes.clone().map(move |lane| asked(panel, lane)));
        let offered = offered.fold(0.0, f64::max);
        let near = if offered <= 2.0 * highest { offered } else { 0.0 };
        let top = highest.max(limit.unwrap_or(0.0)).max(near);
        let rate = 1.1 * limit.map_or(top, |limit| top.min(ABOVE_LIMIT * limit)).max(f64::MIN_POSITIVE);
        Self { attempts, rate, limit, window_ns, cut: highest.max(offered) > rate }
    }
}

/// The upright extent of the lower strip.
#[derive(Clone, Copy)]
pub struct Strip {
    /// Where the highest rate stands.
    pub top: i32,
    /// Where zero stands.
    pub base: i32,
    /// The highest rate.
    pub rate: f64,
}

impl Strip {
    /// Where a rate stands.
    pub fn y(self, rate: f64) -> i32 {
        let share = (rate / self.rate).clamp(0.0, 1.0);
        self.base - (share * f64::from(self.base - self.top)).round() as i32
    }
}

impl Panel<'_> {
    fn lane(&self, lane: usize) -> &LaneDetail {
        &self.detail.lanes[lane]
    }

    /// A lane's attempts, a bar each.
    pub fn attempts(&self, lane: usize) -> Attempts {
        let bins = self.even_bins(BAR);
        let detail = self.lane(lane);
        let first = sums(&bins, &detail.requests, |requests| requests.first);
        let all = sums(&bins, &detail.counts, crate::report::Counts::total);
        let retries = all.iter().zip(&first).map(|(all, first)| all.saturating_sub(*first)).collect();
        Attempts { bins, first, retries }
    }

    /// Bins wide enough to tell a rate: as long as what it is told over, unless that leaves few.
    fn rate_bins(&self, window_ns: u64) -> Bins {
        let span = self.detail.until.since(self.detail.from).nanos().max(1);
        let window = u128::from(window_ns) * self.width.unsigned_abs() as u128 / span;
        let window = i32::try_from(window).unwrap_or(i32::MAX).min(self.width / FEW_RATES);
        let mut bins = self.bins_from(window.max(RATE_BIN));
        // A rate over the rest of a bin tells little: it is counted with its neighbour.
        let short = |from: usize, until: usize| {
            let width = self.detail.edge(until).nanos().abs_diff(self.detail.edge(from).nanos());
            width <= bins.width_ns / 2
        };
        let last = bins.edges.len() - 1;
        let ends = [short(bins.edges[0], bins.edges[1]), short(bins.edges[last - 1], bins.edges[last])];
        if last > 2 && ends[1] {
            bins.edges.remove(last - 1);
        }
        if last > 2 && ends[0] {
            bins.edges.remove(1);
        }
        bins
    }

    /// What a lane was first asked, what it admitted and what was answered in time, in each wider bin,
    /// as rates over `window_ns`.
    fn rates(&self, lane: usize, window_ns: u64) -> [Vec<f64>; 3] {
        let bins = self.rate_bins(window_ns);
        let detail = self.lane(lane);
        let counts = [
            sums(&bins, &detail.requests, |requests| requests.first),
            sums(&bins, &detail.counts, |counts| counts.allowed + counts.delayed),
            sums(&bins, &detail.requests, |requests| requests.good),
        ];
        let width = |pair: &[usize]| self.detail.edge(pair[1]).nanos().abs_diff(self.detail.edge(pair[0]).nanos());
        let widths: Vec<u64> = bins.edges.windows(2).map(width).collect();
        let rate = |(count, width): (&u64, &u64)| *count as f64 * window_ns as f64 / (*width).max(1) as f64;
        counts.map(|counts| counts.iter().zip(&widths).map(rate).collect())
    }

    /// Where the backend is slow, behind everything else.
    pub fn slow(&self, painter: &Painter<'_>, lane: usize, (top, bottom): (i32, i32)) {
        for slow in &self.lane(lane).slow {
            let (from, until) = (self.at(slow.from), self.at(slow.until));
            painter.rect((from, top), (until.max(from + 2), bottom), palette::BAND);
        }
    }

    /// Bars of attempts: first attempts dark, retries upon them striped.
    pub fn bars(&self, painter: &Painter<'_>, attempts: &Attempts, (top, bottom): (i32, i32), highest: u64) {
        let Attempts { bins, first, retries } = attempts;
        let dark = (first.clone(), palette::INK);
        let highest = highest.max(1);
        self.stack(painter, (top, bottom), bins, &[dark.clone(), (retries.clone(), palette::DENIED)], highest);
        painter.stripes(&self.spikes(bins, retries), (top, bottom), palette::PAPER);
        if retries.iter().any(|retries| *retries > 0) {
            self.stack(painter, (top, bottom), bins, &[dark], highest);
        }
        painter.line(&[(self.x, bottom), (self.right(), bottom)], palette::RULE, 2);
    }

    /// From where to where there are retries, where that can be striped.
    fn spikes(&self, bins: &Bins, retries: &[u64]) -> Vec<(i32, i32)> {
        let mut spans: Vec<(i32, i32)> = Vec::new();
        for (pair, _) in bins.edges.windows(2).zip(retries).filter(|(_, retries)| **retries > 0) {
            let (from, until) = (self.column_x(pair[0]), self.column_x(pair[1]));
            match spans.last_mut() {
                Some(last) if from == last.1 => last.1 = until,
                _ => spans.push((from, until)),
            }
        }
        spans.retain(|(from, until)| until - from >= STRIPED);
        spans
    }

    /// What was asked for, admitted, and answered in time.
    pub fn flow(&self, painter: &Painter<'_>, lane: usize, strip: Strip, heights: Heights) {
        let [offered, admitted, good] =
            self.rates(lane, heights.window_ns).map(|rates| self.steps_of(&rates, strip, heights.window_ns));
        if good.iter().any(|(_, y)| *y < strip.base) {
            painter.polygon(&closed(&good, strip.base), palette::GOOD);
        }
        painter.line(&[(self.x, strip.base), (self.right(), strip.base)], palette::RULE, 2);
        if let Some(limit) = heights.limit {
            painter.dashes((self.x, self.right()), strip.y(limit), palette::SOFT);
        }
        painter.line(&offered, palette::INK, 2);
        painter.line(&admitted, palette::ALLOWED, 3);
    }

    /// A level for each wider bin.
    fn steps_of(&self, rates: &[f64], strip: Strip, window_ns: u64) -> Vec<Point> {
        let bins = self.rate_bins(window_ns);
        let level = |(pair, rate): (&[usize], &f64)| {
            let y = strip.y(*rate);
            // Little is not nothing.
            let y = if *rate > 0.0 { y.min(strip.base - 2) } else { y };
            [(self.column_x(pair[0]), y), (self.column_x(pair[1]), y)]
        };
        straight(&bins.edges.windows(2).zip(rates).flat_map(level).collect::<Vec<_>>())
    }
}
