//! Lower-case hexadecimal, the spelling of digests, salts, keys and signatures (section "Bytes" of the
//! format). There is one spelling: upper case is refused.

use crate::form::FormError;

/// Writes the digits of `bytes` into `text`, which is twice as long.
pub(crate) fn encode(bytes: &[u8], text: &mut [u8]) {
    debug_assert_eq!(text.len(), 2 * bytes.len());
    let (pairs, _) = text.as_chunks_mut::<2>();
    for (pair, &byte) in pairs.iter_mut().zip(bytes) {
        *pair = [digit(byte >> 4), digit(byte & 0x0f)];
    }
}

/// Returns the `N` bytes that `text` spells with exactly `2 * N` lower-case digits.
pub(crate) fn decode<const N: usize>(text: &[u8], expected: &'static str) -> Result<[u8; N], FormError> {
    if text.len() != 2 * N {
        return Err(FormError::Length { expected, found: text.len() });
    }
    let mut bytes = [0; N];
    let mut wrong = 0;
    let (words, last_digits) = text.as_chunks::<8>();
    let (parts, last_bytes) = bytes.as_chunks_mut::<4>();
    for (part, word) in parts.iter_mut().zip(words) {
        let (four, wrong_here) = decode_eight(*word);
        // A wrong digit is remembered rather than branched on, so that the loop stays straight.
        wrong |= wrong_here;
        *part = four;
    }
    if !last_bytes.is_empty() {
        let mut word = *b"00000000";
        word[..last_digits.len()].copy_from_slice(last_digits);
        let (four, wrong_here) = decode_eight(word);
        wrong |= wrong_here;
        last_bytes.copy_from_slice(&four[..last_bytes.len()]);
    }
    if wrong == 0 { Ok(bytes) } else { Err(wrong_digit(text, expected)) }
}

/// Returns the four bytes that eight digits spell, and zero exactly if all of them are digits.
const fn decode_eight(digits: [u8; 8]) -> ([u8; 4], u64) {
    let word = u64::from_le_bytes(digits);
    // Letters have bit 6 and digits have not; `a` ends in 1 and means 10.
    let values = (word & (ONES * 0x0f)) + ((word >> 6) & ONES) * 9;
    // Written again, only digits come out as they were, and `g` to `o`, whose values are above 15.
    let is_letter = ((values + ONES * 6) >> 4) & ONES;
    let written = values + ONES * b'0' as u64 + is_letter * (b'a' - 10 - b'0') as u64;
    let wrong = (written ^ word) | (values & (ONES * 0x10));
    let pairs = (values << 4 | values >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    let [a, b, c, d, ..] = (fours | fours >> 16).to_le_bytes();
    ([a, b, c, d], wrong)
}

/// Returns the digit of a value below 16. Reckoned and not looked up, so that the loop above becomes vector
/// instructions.
const fn digit(value: u8) -> u8 {
    value + if value < 10 { b'0' } else { b'a' - 10 }
}

#[cold]
fn wrong_digit(text: &[u8], expected: &'static str) -> FormError {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let offset = text.iter().position(|byte| !is_digit(byte)).unwrap_or(0);
    FormError::Byte { expected, found: text[offset], offset }
}

const ONES: u64 = 0x0101_0101_0101_0101;

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    const EXPECTED: &str = "two hex digits";

    #[test]
    fn every_byte_survives_a_round_trip() {
        for byte in 0..=u8::MAX {
            let mut text = [0; 2];
            encode(&[byte], &mut text);
            assert_eq!(text.as_slice(), format!("{byte:02x}").as_bytes());
            assert_eq!(decode::<1>(&text, EXPECTED), Ok([byte]));
        }
    }

    #[test]
    fn refuses_every_pair_that_is_not_two_lower_case_digits() {
        for first in 0..=u8::MAX {
            for second in 0..=u8::MAX {
                let good = DIGITS.contains(&first) && DIGITS.contains(&second);
                assert_eq!(decode::<1>(&[first, second], EXPECTED).is_ok(), good, "{first:02x}{second:02x}");
            }
        }
    }

    #[test]
    fn refuses_every_other_byte_at_every_place() {
        let good = *b"0123456789abcdef0f";
        for place in 0..good.len() {
            for byte in 0..=u8::MAX {
                let mut text = good;
                text[place] = byte;
                assert_eq!(
                    decode::<9>(&text, EXPECTED).is_ok(),
                    DIGITS.contains(&byte),
                    "{byte:02x} at {place}"
                );
            }
        }
        assert_eq!(decode::<9>(&good, EXPECTED), Ok([0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x0f]));
    }

    #[test]
    fn names_the_first_wrong_byte() {
        let error = decode::<2>(b"0aFg", EXPECTED).unwrap_err();
        assert_eq!(error, FormError::Byte { expected: EXPECTED, found: b'F', offset: 2 });
        assert_eq!(error.to_string(), "expected two hex digits, found byte 0x46 at offset 2");
    }

    #[test]
    fn refuses_other_lengths() {
        for text in ["", "0", "000", "00000"] {
            let error = decode::<2>(text.as_bytes(), EXPECTED).unwrap_err();
            assert_eq!(error, FormError::Length { expected: EXPECTED, found: text.len() });
        }
    }
}
