//! The bytes that CSV gives a meaning, found many at a time.

/// Appends the places of all commas, quotes and line ends in `piece`, which begins at `base`.
pub fn mark(piece: &[u8], base: u32, marks: &mut Vec<u32>) {
    let (chunks, rest) = piece.as_chunks::<64>();
    let mut at = base;
    for chunk in chunks {
        let mut set = structural(chunk);
        while set != 0 {
            marks.push(at + set.trailing_zeros());
            set &= set - 1;
        }
        at += 64;
    }
    marks.extend((at..).zip(rest).filter(|(_, byte)| is_structural(**byte)).map(|(at, _)| at));
}

const fn is_structural(byte: u8) -> bool {
    (byte == b',') | (byte == b'\n') | (byte == b'\r') | (byte == b'"')
}

/// A bit for each byte that can end a field. Written so that the compiler compares many at once.
#[inline]
fn structural(chunk: &[u8; 64]) -> u64 {
    let mut flags = [0; 64];
    for (flag, byte) in flags.iter_mut().zip(chunk) {
        *flag = u8::from(is_structural(*byte));
    }
    let (words, _) = flags.as_chunks::<8>();
    let mut set = 0;
    for (i, word) in words.iter().enumerate() {
        // The product gathers the lowest bits of eight bytes in the highest byte.
        set |= (u64::from_le_bytes(*word).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn marks_are_all_that_ends_a_field(piece in "[a\u{80},\n\r\"]{0,200}", base in 0_u32..1000) {
            let mut marks = Vec::new();
            mark(piece.as_bytes(), base, &mut marks);
            let expected = (base..).zip(piece.as_bytes()).filter(|(_, byte)| b",\n\r\"".contains(byte)).map(|(at, _)| at);
            prop_assert_eq!(marks, expected.collect::<Vec<_>>());
        }
    }
}
