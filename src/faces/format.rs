//! Quantities as people read them.

use crate::report::{LaneReport, MeasureUnit, Report, SweepValue};
use crate::time::{SimTime, round_instants};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A span in three significant digits: `59.4 s`, `600 ms`, `12m30s`, `3d 4h`.
#[must_use]
pub fn duration(nanos: u128) -> String {
    const S: u128 = 1_000_000_000;
    if nanos >= 100 * S {
        let seconds = (nanos + S / 2) / S;
        let (days, hours, minutes, seconds) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
        return match (days, hours) {
            (0, 0) if seconds == 0 => format!("{minutes}m"),
            (0, 0) => format!("{minutes}m{seconds:02}s"),
            (0, _) => format!("{hours}h{minutes:02}m"),
            (1..1000, _) => format!("{days}d {hours}h"),
            _ => format!("{days}d"),
        };
    }
    let (scale, unit) = match nanos {
        0 => return "0".to_owned(),
        n if n >= S => (S, "s"),
        n if n >= 1_000_000 => (1_000_000, "ms"),
        n if n >= 1_000 => (1_000, "us"),
        _ => return format!("{nanos} ns"),
    };
    let value = nanos as f64 / scale as f64;
    let digits = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    // 999.9 ms rounds to a thousand of the smaller unit.
    if text == "1000" {
        return duration(1000 * scale);
    }
    format!("{text} {unit}")
}

/// A count with thin groups: `1,234,567`; four digits stand alone.
#[must_use]
pub fn count(value: u128) -> String {
    let digits = value.to_string();
    if digits.len() <= 4 {
        return digits;
    }
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A ratio to the limit: `2.00x`; whole from 100 on; with as many digits as it takes to be above 1.
#[must_use]
pub fn ratio(value: f64) -> String {
    if value > 1.0 && value < 1.005 {
        let texts = (2..=9).map(|digits| format!("{value:.digits$}"));
        let above = |text: &String| text.trim_end_matches('0') != "1.";
        return texts.into_iter().find(above).unwrap_or_else(|| "1.00".to_owned()) + "x";
    }
    if value >= 100.0 { format!("{}x", count(value.round() as u128)) } else { format!("{value:.2}x") }
}

/// A number in three digits or more: `3.82`, `26.5`, `251`.
#[must_use]
pub fn decimal(value: f64) -> String {
    match value {
        v if v >= 99.95 => count(v.round() as u128),
        v if v >= 9.995 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// A measured figure: `12,345`, `3.82`, `59.4 s`.
#[must_use]
pub fn figure(value: &SweepValue, unit: MeasureUnit) -> String {
    let sign = |negative: bool| if negative { "-" } else { "" };
    match (value, unit) {
        (SweepValue::Whole(nanos), MeasureUnit::Nanos) => {
            format!("{}{}", sign(*nanos < 0), duration(nanos.unsigned_abs()))
        }
        (SweepValue::Whole(number), _) => format!("{}{}", sign(*number < 0), count(number.unsigned_abs())),
        (SweepValue::Real(number), _) => format!("{}{}", sign(*number < 0.0), decimal(number.abs())),
        (SweepValue::Text(text), _) => text.clone(),
    }
}

/// How instants of one picture are written: all alike, as precise as the picture needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Decimals of a second.
    decimals: usize,
    /// Whether seconds are written at all.
    seconds: bool,
    /// Whether the date is.
    date: bool,
}

impl Clock {
    /// For instants of this span of a run, told apart at a hundredth of it.
    #[must_use]
    pub fn for_span(report: &Report, from_ns: i64, until_ns: i64) -> Self {
        let span = until_ns.saturating_sub(from_ns).unsigned_abs();
        let decimals = match span / 100 {
            0..1_000 => 9,
            1_000..1_000_000 => 6,
            1_000_000..300_000_000 => 3,
            _ => 0,
        };
        let seconds = span < 86_400_000_000_000;
        let day = |at: i64| report.instant(at).nanos().div_euclid(86_400_000_000_000);
        Self { decimals, seconds, date: day(report.offered.first_ns.unwrap_or(0).min(0)) != day(report.end_ns.max(0)) }
    }

    /// For the labels of an axis at these instants: no more than it takes, without the date.
    #[must_use]
    pub fn for_instants(instants: &[SimTime]) -> Self {
        let all_multiples = |step: i64| instants.iter().all(|at| at.nanos() % step == 0);
        let decimals = (0..9).find(|decimals| all_multiples(10_i64.pow(9 - decimals))).unwrap_or(9) as usize;
        Self { decimals, seconds: decimals > 0 || !all_multiples(60_000_000_000), date: false }
    }

    /// The same with at least milliseconds: for single instants in a sentence.
    #[must_use]
    pub fn precise(self) -> Self {
        Self { decimals: self.decimals.max(3), seconds: true, ..self }
    }

    /// Whether instants have their date.
    #[must_use]
    pub const fn shows_date(&self) -> bool {
        self.date
    }

    /// The time of day in UTC, with the date if the run spans several.
    #[must_use]
    pub fn time(&self, at: SimTime) -> String {
        // Times are cut, not rounded: 12:00 is not written for an instant before it.
        let time =
            jiff::Timestamp::from_nanosecond(i128::from(at.nanos())).expect("64 bits of nanoseconds are 1677 to 2262");
        let mut text = String::new();
        if self.date {
            text.push_str(&time.strftime("%Y-%m-%d ").to_string());
        }
        text.push_str(&time.strftime(if self.seconds { "%H:%M:%S" } else { "%H:%M" }).to_string());
        if self.decimals > 0 && self.seconds {
            let nanos = format!("{:09}", at.nanos().rem_euclid(1_000_000_000));
            text.push('.');
            text.push_str(&nanos[..self.decimals]);
        }
        text
    }
}

/// Round instants within a span, at most `most`, for the labels of a time axis: offsets from the
/// run's start, on round times of the clock.
#[must_use]
pub fn ticks(report: &Report, from_ns: i64, until_ns: i64, most: usize) -> Vec<i64> {
    round_instants(report.instant(from_ns), report.instant(until_ns), most)
        .into_iter()
        .map(|at| at.nanos().saturating_sub(report.start.nanos()))
        .collect()
}

/// The date of an instant, in UTC: `2026-01-31`.
#[must_use]
pub fn date(at: SimTime) -> String {
    let time =
        jiff::Timestamp::from_nanosecond(i128::from(at.nanos())).expect("64 bits of nanoseconds are 1677 to 2262");
    time.strftime("%Y-%m-%d").to_string()
}

/// A name in at most `width` columns, its middle left out if need be.
#[must_use]
pub fn fit(name: &str, width: usize) -> String {
    if name.width() <= width {
        return name.to_owned();
    }
    let room = width.saturating_sub(1);
    // As many letters as fit into these columns; a wide letter may leave one empty.
    let take = |letters: &mut dyn Iterator<Item = char>, columns: usize| {
        let mut used = 0;
        let fits = |letter: &char| {
            used += letter.width().unwrap_or(0);
            used <= columns
        };
        letters.take_while(fits).collect::<Vec<char>>()
    };
    let head = take(&mut name.chars(), room.div_ceil(2));
    let tail = take(&mut name.chars().rev(), room / 2);
    head.into_iter().chain(std::iter::once('…')).chain(tail.into_iter().rev()).take(width).collect()
}

/// A name in exactly `width` columns.
#[must_use]
pub fn padded(name: &str, width: usize) -> String {
    let name = fit(name, width);
    let blank = width.saturating_sub(name.width());
    name + &" ".repeat(blank)
}

/// What a lane's own state is called.
#[must_use]
pub fn state_name(lane: &LaneReport) -> &'static str {
    match lane.algorithm {
        "fixed-window" => "counter",
        "sliding-log" => "log",
        "sliding-counter" => "estimate",
        "token-bucket" => "tokens taken",
        "leaky-bucket" if lane.spec.get("mode").is_some_and(|mode| mode == "meter") => "level",
        "leaky-bucket" => "queue",
        _ => "TAT ahead",
    }
}

/// A title with what the command line changed.
#[must_use]
pub fn title(report: &Report) -> String {
    if report.changed.is_empty() {
        return report.title.clone();
    }
    format!("{} (changed: {})", report.title, report.changed.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(fit("token-bucket", 12), "token-bucket");
        assert_eq!(fit("a rather long name", 9), "a ra…name");
        assert_eq!(fit("日本語のとても長い名前", 9), "日本…名前");
        assert_eq!([0, 1, 2].map(|width| fit("abcd", width)), ["", "…", "a…"]);
        for width in 0..30 {
            for name in ["日本語のとても長い名前のレーン", "e\u{301}e\u{301}e\u{301} composed", "plain"]
            {
                assert!(fit(name, width).width() <= width, "{name} in {width}");
                assert_eq!(padded(name, width).width(), width);
            }
        }
    }

    #[test]
    fn spans_have_three_digits() {
        for (nanos, text) in [
            (0, "0"),
            (1, "1 ns"),
            (999, "999 ns"),
            (1_000, "1 us"),
            (1_500_000, "1.5 ms"),
            (999_960_000, "1 s"),
            (600_000_000, "600 ms"),
            (59_400_000_000, "59.4 s"),
            (59_999_000_000, "60 s"),
            (1_234_000_000, "1.23 s"),
            (99_970_000_000, "100 s"),
            (100_000_000_000, "1m40s"),
            (750_000_000_000, "12m30s"),
            (7_260_000_000_000, "2h01m"),
            (273_600_000_000_000, "3d 4h"),
        ] {
            assert_eq!(duration(nanos), text, "{nanos}");
        }
    }

    #[test]
    fn counts_are_grouped_from_five_digits_on() {
        assert_eq!(count(1_841), "1841");
        assert_eq!(count(18_305_870), "18,305,870");
    }

    #[test]
    fn ratios_have_two_decimals() {
        assert_eq!(ratio(2.0), "2.00x");
        assert_eq!(ratio(12_345.6), "12,346x");
    }
}
