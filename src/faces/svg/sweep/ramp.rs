//! Colours of a map: one hue from light to dark, so that order is seen in grey and by all eyes.

use crate::faces::svg::paint::Color;

/// From the least to the most.
const ANCHORS: [Color; 6] = [
    Color(0xF1, 0xF6, 0xFA),
    Color(0xC2, 0xDC, 0xF0),
    Color(0x7F, 0xB6, 0xDD),
    Color(0x3A, 0x85, 0xBF),
    Color(0x12, 0x50, 0x8A),
    Color(0x06, 0x23, 0x45),
];

/// The colour at a share of the way.
pub fn colour(share: f64) -> Color {
    let at = share.clamp(0.0, 1.0) * (ANCHORS.len() - 1) as f64;
    let index = (at as usize).min(ANCHORS.len() - 2);
    let (low, high, rest) = (ANCHORS[index], ANCHORS[index + 1], at - index as f64);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * rest).round() as u8;
    Color(mix(low.0, high.0), mix(low.1, high.1), mix(low.2, high.2))
}

/// Black or white, whichever stands out more on a colour: at least 4.5 to 1 on any.
pub fn ink_on(ground: Color) -> Color {
    let linear = |channel: u8| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.040_45 { share / 12.92 } else { libm::pow((share + 0.055) / 1.055, 2.4) }
    };
    let luminance = 0.2126 * linear(ground.0) + 0.7152 * linear(ground.1) + 0.0722 * linear(ground.2);
    if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) { Color(0, 0, 0) } else { Color(0xFF, 0xFF, 0xFF) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn darker_is_more_and_texts_stand_out() {
        let light = |color: Color| 2126 * u32::from(color.0) + 7152 * u32::from(color.1) + 722 * u32::from(color.2);
        let all: Vec<u32> = (0..=100).map(|i| light(colour(f64::from(i) / 100.0))).collect();
        assert!(all.windows(2).all(|pair| pair[0] > pair[1]));
        assert_eq!((ink_on(colour(0.0)).0, ink_on(colour(1.0)).0), (0, 0xFF));
    }
}
