//! How wide texts are, without any font: by the widths of a wide sans-serif, so that a narrower one
//! leaves room and never too little.

use unicode_width::UnicodeWidthChar;

/// Widths of the characters from space to tilde, in hundredths of the font's size.
const REGULAR: [u8; 95] = [
    32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84,
    84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63, 61, 73, 68, 99, 69,
    61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61, 63, 63, 41, 52, 39, 63,
    59, 82, 59, 59, 52, 64, 34, 64, 84,
];

/// The same in bold.
const BOLD: [u8; 95] = [
    35, 46, 52, 84, 70, 100, 87, 31, 46, 46, 52, 84, 38, 42, 38, 37, 70, 70, 70, 70, 70, 70, 70, 70, 70, 70, 40, 40,
    84, 84, 84, 58, 100, 77, 76, 73, 83, 68, 68, 82, 84, 37, 37, 77, 64, 100, 84, 85, 73, 85, 77, 72, 68, 81, 77, 110,
    77, 72, 73, 46, 37, 46, 84, 50, 50, 67, 72, 59, 72, 68, 44, 72, 71, 34, 34, 67, 34, 104, 71, 69, 72, 72, 49, 60,
    48, 71, 65, 92, 65, 65, 58, 71, 37, 71, 84,
];

/// A font: its size in the sheet's units, and its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Font {
    /// Size.
    pub size: i32,
    /// Weight.
    pub bold: bool,
}

impl Font {
    /// A font of normal weight.
    pub const fn regular(size: i32) -> Self {
        Self { size, bold: false }
    }

    /// A bold font.
    pub const fn bold(size: i32) -> Self {
        Self { size, bold: true }
    }

    /// The width of a text, in the sheet's units.
    pub fn width(self, text: &str) -> i32 {
        let widths = if self.bold { &BOLD } else { &REGULAR };
        let hundredths: i32 = text
            .chars()
            .map(|c| match (c as usize).checked_sub(32).and_then(|i| widths.get(i)) {
                Some(width) => i32::from(*width),
                None => 70 * c.width().unwrap_or(1).max(1) as i32,
            })
            .sum();
        hundredths * self.size / 100 + 1
    }

    /// A text in at most `width`, its end left out if need be.
    pub fn clip(self, text: &str, width: i32) -> String {
        if self.width(text) <= width {
            return text.to_owned();
        }
        let mut short = String::new();
        let room = width - self.width("...");
        for c in text.chars() {
            short.push(c);
            if self.width(&short) > room {
                short.pop();
                break;
            }
        }
        format!("{}...", short.trim_end())
    }

    /// As [`wrap`](Self::wrap), with lines about equally long.
    pub fn balance(self, text: &str, width: i32, most: usize) -> Vec<String> {
        let lines = self.wrap(text, width, most);
        let (mut least, mut enough) = (0, width);
        while enough - least > self.size {
            let middle = (least + enough) / 2;
            // The same words on as many lines: nothing more is clipped.
            if self.wrap(text, middle, usize::MAX).len() <= lines.len() { enough = middle } else { least = middle }
        }
        if enough < width { self.wrap(text, enough, most) } else { lines }
    }

    /// Lines of at most `width`, broken at spaces, a word only where it is wider than a line; the
    /// last of `most` lines is clipped.
    pub fn wrap(self, text: &str, width: i32, most: usize) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut line = String::new();
        for word in text.split_whitespace() {
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if self.width(&longer) <= width {
                line = longer;
                continue;
            }
            if !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            for c in word.chars() {
                line.push(c);
                if self.width(&line) > width {
                    line.pop();
                    lines.push(std::mem::take(&mut line));
                    line.push(c);
                }
            }
        }
        if !line.is_empty() {
            lines.push(line);
        }
        if lines.len() > most {
            let rest = lines.split_off(most.saturating_sub(1)).join(" ");
            lines.push(self.clip(&rest, width.min(self.width(&rest) - 1)));
        }
        lines
    }
}

/// A text that XML can hold: control characters are written as `\xNN`.
pub fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' | '\n' | '\r' => clean.push(' '),
            c if c.is_control() => clean.push_str(&format!("\\x{:02x}", c as u32)),
            '\u{FFFE}' | '\u{FFFF}' => clean.push('\u{FFFD}'),
            c => clean.push(c),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_clips_and_never_passes_the_width() {
        let font = Font::regular(24);
        let text = "A fixed window lets twice the limit through at its edge, and aratherlongwordwithoutanyspaces";
        let lines = font.wrap(text, 300, 99);
        assert!(lines.len() > 3 && lines.iter().all(|line| font.width(line) <= 300), "{lines:?}");
        assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
        let clipped = font.wrap(text, 300, 2);
        assert!(clipped.len() == 2 && clipped[1].ends_with("..."), "{clipped:?}");
        assert!(font.width(&clipped[1]) <= 300);
        assert_eq!(font.wrap("", 300, 2), Vec::<String>::new());
        assert_eq!(Font::bold(24).clip("short", 300), "short");
        let balanced = font.balance("one two three four five six seven eight nine", 400, 3);
        assert_eq!(balanced, ["one two three four five", "six seven eight nine"]);
    }

    #[test]
    fn control_characters_are_spelt_out() {
        assert_eq!(clean("a\u{1}b\nc\u{7f}"), "a\\x01b c\\x7f");
    }
}
