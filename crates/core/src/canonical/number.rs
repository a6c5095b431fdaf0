//! Numbers as ECMAScript prints them: RFC 8785, section 3.2.2.3 (`Number::toString` of ECMA-262).

use std::fmt::{self, Write as _};

use super::tie;

/// The greatest whole number that every reader keeps exactly: 2^53 - 1.
pub(super) const GREATEST_INTEGER: u64 = (1 << 53) - 1;

/// Returns whether the canonical text of this number would be an integer literal that the reader refuses.
///
/// Doubles of 2^53 and more are whole, and ECMAScript prints them without exponent up to 10^21.
pub(super) fn is_beyond_integers(value: f64) -> bool {
    (FIRST_BEYOND..1e21).contains(&value.abs())
}

/// Appends a whole number in decimal digits.
pub(super) fn write_integer(mut number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 2;
        digits[start..start + 2].copy_from_slice(&PAIRS[(number % 100) as usize]);
        number /= 100;
        if number == 0 {
            break;
        }
    }
    // The first pair of a number with an odd count of digits begins with a zero that is not its own.
    start += usize::from(digits[start] == b'0');
    out.extend_from_slice(&digits[start..]);
}

/// The text of a finite number.
pub(super) struct Decimal {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Decimal {
    /// Returns the text of a number that is neither NaN nor infinite.
    pub(super) fn new(value: f64) -> Self {
        let mut text = Self { bytes: [0; LONGEST], length: 0 };
        if value == 0.0 {
            // Both zeros are printed alike.
            text.push(b'0');
            return text;
        }
        if value < 0.0 {
            text.push(b'-');
        }
        let mut digits = Digits { bytes: [0; LONGEST], length: 0 };
        // Rust prints the shortest digits that read back as the same number, which is what ECMA-262 asks for;
        // only ties and the layout differ.
        let written = write!(digits, "{:e}", value.abs());
        debug_assert!(written.is_ok(), "the digits of a double fit the buffer");
        let (digits, point) = digits.split();
        tie::settle(value.abs(), digits, point);
        text.lay_out(digits, point);
        text
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Lays out the digits of 0.DDD x 10^point.
    fn lay_out(&mut self, digits: &[u8], point: i32) {
        let count = digits.len();
        match usize::try_from(point) {
            Ok(point) if count <= point && point <= 21 => {
                self.extend(digits);
                self.zeros(point - count);
            }
            Ok(point) if 0 < point && point <= 21 => {
                self.extend(&digits[..point]);
                self.push(b'.');
                self.extend(&digits[point..]);
            }
            _ if -6 < point && point <= 0 => {
                self.extend(b"0.");
                self.zeros(point.unsigned_abs() as usize);
                self.extend(digits);
            }
            _ => self.lay_out_exponent(digits, point - 1),
        }
    }

    fn lay_out_exponent(&mut self, digits: &[u8], exponent: i32) {
        self.push(digits[0]);
        if digits.len() > 1 {
            self.push(b'.');
            self.extend(&digits[1..]);
        }
        self.extend(if exponent < 0 { b"e-" } else { b"e+" });
        let exponent = exponent.unsigned_abs();
        for divisor in [100, 10, 1] {
            if exponent >= divisor {
                self.push(b'0' + u8::try_from(exponent / divisor % 10).expect("a digit fits a byte"));
            }
        }
    }

    fn push(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    fn extend(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn zeros(&mut self, count: usize) {
        self.bytes[self.length..self.length + count].fill(b'0');
        self.length += count;
    }
}

/// What Rust prints for `{:e}`: a digit, perhaps a point and digits, `e`, and the exponent.
struct Digits {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Digits {
    /// Returns the digits without the point, and where the point belongs if they are read as 0.DDD.
    fn split(&mut self) -> (&mut [u8], i32) {
        let text = &mut self.bytes[..self.length];
        let mark = text.iter().position(|&byte| byte == b'e').unwrap_or(text.len());
        let negative = text.get(mark + 1) == Some(&b'-');
        let exponent = text[mark..]
            .iter()
            .filter(|byte| byte.is_ascii_digit())
            .fold(0, |exponent, digit| exponent * 10 + i32::from(digit - b'0'));
        let exponent = if negative { -exponent } else { exponent };
        if mark == 1 {
            return (&mut text[..1], exponent + 1);
        }
        // Move the first digit over the point.
        text[1] = text[0];
        (&mut text[1..mark], exponent + 1)
    }
}

impl fmt::Write for Digits {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// 2^53.
const FIRST_BEYOND: f64 = 9_007_199_254_740_992.0;

/// More than the longest text of a double, `-1.2345678901234567e-308` with 24 bytes and
/// `-0.0000012345678901234567` with 25.
const LONGEST: usize = 32;

static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    pairs
};
