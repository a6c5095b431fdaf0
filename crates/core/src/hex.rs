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
    let (pairs, _) = text.as_chunks::<2>();
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        let (high, low) = (value(pair[0]), value(pair[1]));
        // A wrong digit is remembered rather than branched on, so that the loop stays straight.
        wrong |= high | low;
        *byte = (high << 4) | (low & 0x0f);
    }
    if wrong & WRONG == 0 { Ok(bytes) } else { Err(wrong_digit(text, expected)) }
}

/// Returns the value of a digit, or [`WRONG`]. Reckoned and not looked up, as [`digit`] is.
const fn value(digit: u8) -> u8 {
    let number = digit.wrapping_sub(b'0');
    let letter = digit.wrapping_sub(b'a');
    let of_letter = if letter < 6 { letter + 10 } else { WRONG };
    if number < 10 { number } else { of_letter }
}

/// Returns the digit of a value below 16. Reckoned and not looked up, so that the loop above becomes vector
/// instructions.
const fn digit(value: u8) -> u8 {
    value + if value < 10 { b'0' } else { b'a' - 10 }
}

#[cold]
fn wrong_digit(text: &[u8], expected: &'static str) -> FormError {
    let offset = text.iter().position(|&byte| value(byte) == WRONG).unwrap_or(0);
    FormError::Byte { expected, found: text[offset], offset }
}

/// Stands for every byte that is no digit; no digit has this bit.
const WRONG: u8 = 0x80;

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
