//! Strings: RFC 8785, section 3.2.2.2. Quotes, backslashes and control characters are escaped, nothing else.

/// Appends a string with its quotes and returns whether it needed an escape.
pub(super) fn write(text: &str, out: &mut Vec<u8>) -> bool {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut from = 0;
    let mut at = find_special(bytes, 0);
    while at < bytes.len() {
        out.extend_from_slice(&bytes[from..at]);
        write_escape(bytes[at], out);
        from = at + 1;
        at = find_special(bytes, from);
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
    from > 0
}

/// Returns where the next quote, backslash or control character stands, or the length if there is none.
pub(super) fn find_special(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let marks = marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while at < bytes.len() && !is_special(bytes[at]) {
        at += 1;
    }
    at
}

/// Returns the letter of the two-byte escape of a character, if it has one.
pub(super) const fn short_escape(byte: u8) -> Option<u8> {
    match byte {
        b'"' | b'\\' => Some(byte),
        0x08 => Some(b'b'),
        0x09 => Some(b't'),
        0x0a => Some(b'n'),
        0x0c => Some(b'f'),
        0x0d => Some(b'r'),
        _ => None,
    }
}

const fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Returns eight bytes with the high bit set in the first special one, and no bit below it.
///
/// Subtracting borrows only out of a byte that is marked itself, so the lowest mark is right; marks above it
/// need not be.
const fn marks(word: u64) -> u64 {
    let control = word.wrapping_sub(ONES * 0x20);
    let quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    // A byte of 0x80 or more belongs to a longer character; its own high bit must not count as a borrow.
    (control | quote | backslash) & !word & HIGHS
}

#[cold]
fn write_escape(byte: u8, out: &mut Vec<u8>) {
    if let Some(letter) = short_escape(byte) {
        out.extend_from_slice(&[b'\\', letter]);
    } else {
        let [high, low] = [byte >> 4, byte & 0x0f].map(|digit| b"0123456789abcdef"[usize::from(digit)]);
        out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_each_special_byte_at_each_place_after_each_byte() {
        for special in (0..=u8::MAX).filter(|byte| is_special(*byte)) {
            for filler in (0..=u8::MAX).filter(|byte| !is_special(*byte)) {
                for place in 0..18 {
                    let mut bytes = [filler; 18];
                    bytes[place] = special;
                    assert_eq!(find_special(&bytes, 0), place, "{special:02x} among {filler:02x}");
                }
            }
        }
    }

    #[test]
    fn finds_nothing_where_nothing_is_special() {
        for filler in (0..=u8::MAX).filter(|byte| !is_special(*byte)) {
            for length in 0..20 {
                assert_eq!(find_special(&vec![filler; length], 0), length);
            }
        }
    }

    #[test]
    fn begins_where_it_is_told() {
        assert_eq!(find_special(b"\"abc\"def\"", 1), 4);
        assert_eq!(find_special(b"\"abc\"def\"", 5), 8);
        assert_eq!(find_special(b"\"abc\"def\"", 9), 9);
    }
}
