//! The order of keys: RFC 8785, section 3.2.3, by the UTF-16 code units of the unescaped key.

use std::cmp::Ordering;
use std::str::Chars;

/// A key in a text: where it stands without its quotes, and whether it holds an escape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) escaped: bool,
}

impl Key {
    /// Returns the key as it is written.
    pub(super) fn raw(self, text: &[u8]) -> &[u8] {
        &text[self.start..self.end]
    }
}

/// Returns the order of two keys of one text.
pub(super) fn compare(text: &[u8], left: Key, right: Key) -> Ordering {
    let (raw_left, raw_right) = (left.raw(text), right.raw(text));
    if left.escaped || right.escaped {
        Units::new(raw_left).cmp(Units::new(raw_right))
    } else {
        compare_plain(raw_left, raw_right)
    }
}

/// Returns the order of two keys in UTF-8 without escapes.
///
/// UTF-8 sorts by code point. UTF-16 differs in one respect: the surrogates of U+10000 and above sort before
/// U+E000 to U+FFFF. The first byte that differs tells which case it is.
fn compare_plain(left: &[u8], right: &[u8]) -> Ordering {
    match left.iter().zip(right).find(|(left, right)| left != right) {
        None => left.len().cmp(&right.len()),
        Some((&left, &right)) => {
            let order = left.cmp(&right);
            let surrogates_differ = (left >= FOUR_BYTES) != (right >= FOUR_BYTES);
            if surrogates_differ && left.min(right) >= FROM_E000 { order.reverse() } else { order }
        }
    }
}

/// The UTF-16 code units of a key as it is written, unescaped on the way.
struct Units<'a> {
    chars: Chars<'a>,
    /// The second half of a pair whose first half was given out.
    pending: Option<u16>,
}

impl<'a> Units<'a> {
    fn new(raw: &'a [u8]) -> Self {
        // Where the text was not known to be UTF-8 before, it is checked afterwards: then the order is moot.
        let text = std::str::from_utf8(raw).unwrap_or_default();
        Self { chars: text.chars(), pending: None }
    }

    /// Returns the unit of the escape whose backslash has been read.
    fn escape(&mut self) -> Option<u16> {
        match self.chars.next()? {
            'u' => {
                let digits = self.chars.by_ref().take(4).filter_map(|digit| digit.to_digit(16));
                u16::try_from(digits.fold(0, |unit, digit| unit << 4 | digit)).ok()
            }
            'b' => Some(0x08),
            't' => Some(0x09),
            'n' => Some(0x0a),
            'f' => Some(0x0c),
            'r' => Some(0x0d),
            other => u16::try_from(u32::from(other)).ok(),
        }
    }
}

impl Iterator for Units<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        if let Some(unit) = self.pending.take() {
            return Some(unit);
        }
        match self.chars.next()? {
            '\\' => self.escape(),
            other => {
                let mut units = [0; 2];
                if let [_, second] = *other.encode_utf16(&mut units) {
                    self.pending = Some(second);
                }
                Some(units[0])
            }
        }
    }
}

/// The first byte of characters from U+10000 on is at least this.
const FOUR_BYTES: u8 = 0xf0;

/// The first byte of characters from U+E000 on is at least this.
const FROM_E000: u8 = 0xee;
