//! Where the action is: the span of a run that is worth a close look.

use crate::report::{Focus, LaneReport, OfferedReport};

/// The shortest focus, in bins of the timeline.
const MIN_BINS: usize = 24;

/// So few arrivals are shown all.
const FEW: u64 = 12;

/// Chooses the span to look at closely.
///
/// Bins with refusals, delays or disagreement are of interest, or, without any, bins with arrivals.
/// If they span only a few windows, the focus is all of them and the arrivals that lead up to them;
/// else it is the few windows in which most of that happens, among those that hold the highest peak
/// if a lane passed the limit. `split` counts disagreements by bin.
#[must_use]
pub fn focus(lanes: &[LaneReport], split: &[u64], end_ns: i64, window_ns: Option<u64>) -> Focus {
    let Some(first) = lanes.first().filter(|lane| !lane.timeline.allowed.is_empty()) else {
        return Focus { from_ns: 0, until_ns: end_ns.max(1) };
    };
    let (from, width, bins) = (first.timeline.from_ns, first.timeline.bin_ns as i64, first.timeline.allowed.len());
    let arrivals = |bin: usize| {
        let t = &first.timeline;
        t.allowed[bin] + t.delayed[bin] + t.denied[bin]
    };
    let action = |bin: usize| {
        let of_lane = |lane: &LaneReport| lane.timeline.denied[bin] + lane.timeline.delayed[bin];
        lanes.iter().map(of_lane).sum::<u64>() + split.get(bin).copied().unwrap_or(0)
    };
    let few_at_all = (0..bins).map(arrivals).sum::<u64>() <= FEW;
    let quiet = few_at_all || (0..bins).all(|bin| action(bin) == 0);
    let interest = |bin: usize| if quiet { arrivals(bin) } else { action(bin) };
    let start = (0..bins).find(|bin| interest(*bin) > 0).unwrap_or(0);
    let stop = (0..bins).rfind(|bin| interest(*bin) > 0).unwrap_or(0) + 1;

    let windows = |n: u64| window_ns.map_or(bins, |window| (window.saturating_mul(n) / width as u64) as usize);
    let few = windows(6).max(4 * MIN_BINS);
    let (start, stop) = if stop - start > few {
        let length = windows(4).max(2 * MIN_BINS).min(bins);
        let bin = |at: i64| usize::try_from(at.saturating_sub(from) / width).unwrap_or(0).min(bins - 1);
        let peak = highest(lanes, window_ns).map(|(from, until)| (bin(from), bin(until) + 1));
        busiest(bins, length, peak, interest)
    } else {
        (lead_in(start, stop, few, arrivals), stop)
    };
    let missing = MIN_BINS.saturating_sub(stop - start);
    let margin = ((stop - start) / 12).max(missing / 2).max(1) as i128;
    // A run may take up the whole range of an instant, and its margins more.
    let edge = |bin: i128| i128::from(from) + bin * i128::from(width);
    let whole = (from.min(0), edge(bins as i128).max(i128::from(end_ns)));
    let (from_ns, until_ns) = (edge(start as i128 - margin), edge(stop as i128 + margin));
    let step = nice_step(until_ns - from_ns);
    let from_ns = (from_ns.div_euclid(step) * step).max(i128::from(whole.0));
    let until_ns = ((until_ns.div_euclid(step) + 1) * step).min(whole.1).max(from_ns + 1);
    let clamp = |at: i128| at.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    Focus { from_ns: clamp(from_ns), until_ns: clamp(until_ns) }
}

/// The whole run: from its start, or the first arrival, until the stated end and until what the last
/// arrivals did to the limit is over, unless that takes longer than half the run; in a closed loop at
/// least until the last request is answered.
#[must_use]
pub fn whole(lanes: &[LaneReport], offered: &OfferedReport, end_ns: i64, window_ns: Option<u64>) -> Focus {
    let from = i128::from(offered.first_ns.unwrap_or(0).min(0));
    let (last, end_ns) = (i128::from(offered.last_ns.unwrap_or(0)), i128::from(end_ns));
    let wait = lanes.iter().filter_map(|lane| lane.wait_ns.max).max().unwrap_or(0);
    let echo = i128::from(window_ns.unwrap_or(0).max(wait));
    let short = offered.last_ns.is_some() && echo <= (end_ns.max(last) - from) / 2;
    let end = end_ns.max(if short { last + echo } else { last } + 1);
    let first = i128::from(offered.first_ns.unwrap_or(0));
    let drains = lanes.iter().filter_map(|lane| lane.closed.as_ref()?.drain_ns);
    let end = drains.map(|drain| first + i128::from(drain) + 1).fold(end, i128::max);
    let step = nice_step(end - from);
    let until = if end > end_ns { (end.div_euclid(step) + 1) * step } else { end };
    let clamp = |at: i128| at.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    Focus { from_ns: clamp(from), until_ns: clamp(until.max(from + 1)) }
}

/// The first and last instant of the span with the highest ratio to the limit, if that is above 1.
fn highest(lanes: &[LaneReport], window_ns: Option<u64>) -> Option<(i64, i64)> {
    let window = i64::try_from(window_ns?).ok()?;
    let mut highest = (1.0, None);
    for peak in lanes.iter().filter_map(|lane| lane.peak.as_ref()) {
        if let (Some(ratio), Some(from)) = (peak.ratio, peak.from_ns)
            && ratio > highest.0
        {
            highest = (ratio, Some((from, from.saturating_add(window - 1))));
        }
    }
    highest.1
}

/// The window of `length` bins that holds the most interest, the earliest of equals; only those that
/// hold all of `within` count, if they can.
fn busiest(
    bins: usize,
    length: usize,
    within: Option<(usize, usize)>,
    interest: impl Fn(usize) -> u64,
) -> (usize, usize) {
    let (first, last) = match within {
        Some((from, until)) => {
            let first = until.saturating_sub(length).min(bins - length);
            (first, from.clamp(first, bins - length))
        }
        None => (0, bins - length),
    };
    let mut sum: u64 = (first..first + length).map(&interest).sum();
    let mut best = (sum, first);
    for start in first + 1..=last {
        sum = sum + interest(start + length - 1) - interest(start - 1);
        if sum > best.0 {
            best = (sum, start);
        }
    }
    (best.1, best.1 + length)
}

/// The start moved back over the arrivals that lead up to it without a long pause.
fn lead_in(start: usize, stop: usize, few: usize, arrivals: impl Fn(usize) -> u64) -> usize {
    let pause = ((stop - start) / 2).max(4);
    let mut first = start;
    let mut at = start;
    while at > 0 && first - at < pause && stop - at < few {
        at -= 1;
        if arrivals(at) > 0 {
            first = at;
        }
    }
    first
}

/// A round step of about a fortieth of a span.
fn nice_step(span: i128) -> i128 {
    let rough = (span / 40).max(1);
    let mut step = 1_i128;
    while step < rough {
        let next = [2, 5, 10].into_iter().map(|factor| step * factor).find(|next| *next >= rough);
        match next {
            Some(next) => return next,
            None => step *= 10,
        }
    }
    step
}

#[cfg(test)]
mod tests {
    use super::{busiest, nice_step};

    #[test]
    fn the_busiest_span_holds_what_it_must() {
        let interest = |bin: usize| [0, 5, 0, 1, 0, 0, 3, 0, 9, 9][bin];
        assert_eq!(busiest(10, 3, None, interest), (7, 10));
        assert_eq!(busiest(10, 3, Some((2, 3)), interest), (1, 4));
        assert_eq!(busiest(10, 3, Some((5, 6)), interest), (4, 7));
        assert_eq!(busiest(10, 3, Some((0, 1)), interest), (0, 3));
        assert_eq!(busiest(10, 3, Some((2, 9)), interest), (6, 9), "what it cannot hold whole, it holds the end of");
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([1, 40, 80, 81, 4_000, 100_000].map(nice_step), [1, 1, 2, 2, 100, 5_000]);
    }
}
