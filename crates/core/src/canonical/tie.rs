//! Ties between shortest digits. Where two of the shortest decimals are equally close to a number, RFC 8785
//! (section 3.2.2.3, by note 2 of ECMA-262) takes the even one; Rust takes the one above.

/// Replaces the digits of 0.DDD x 10^point by the even ones if they lie equally close to `value`.
///
/// The digits are the shortest ones for `value`, which is finite and positive.
pub(super) fn settle(value: f64, digits: &mut [u8], point: i32) {
    let Some(&last) = digits.last() else { return };
    // Two decimals of fifteen digits never read as the same double.
    if digits.len() > 15 && last % 2 == 1 {
        settle_odd(value, digits, point);
    }
}

#[cold]
fn settle_odd(value: f64, digits: &mut [u8], point: i32) {
    let count = digits.len();
    let number = digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    // The middle between two decimals has one digit more, a five.
    let exponent = point - i32::try_from(count).expect("a double has 17 digits") - 1;
    let last = digits[count - 1];
    for (middle, other) in [(number * 10 - 5, last - 1), (number * 10 + 5, last + 1)] {
        if !is_exactly(value, middle, exponent) {
            continue;
        }
        digits[count - 1] = other;
        // Below a power of two the doubles lie closer: the lower decimal may belong to the next one.
        if other > b'9' || !reads_as(value, digits, point) {
            digits[count - 1] = last;
        }
        return;
    }
}

/// Returns whether `value` is exactly `number` x 10^exponent; the number has at most eighteen digits.
fn is_exactly(value: f64, number: u64, exponent: i32) -> bool {
    let bits = value.to_bits();
    let biased = i32::try_from(bits >> 52 & 0x7ff).expect("eleven bits fit");
    if biased == 0 {
        // The digits of subnormal numbers go on for hundreds of places.
        return false;
    }
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    // 10^exponent is 2^exponent x 5^exponent. The fives go to the side where they are whole; beyond these
    // powers they divide neither a mantissa below 2^53 nor a number of eighteen digits.
    let fives = exponent.unsigned_abs();
    let (left, right) = match exponent {
        0..=22 => (mantissa, u128::from(number) * 5_u128.pow(fives)),
        -25..0 => (mantissa * 5_u128.pow(fives), u128::from(number)),
        _ => return false,
    };
    let (left_twos, right_twos) = (left.trailing_zeros(), right.trailing_zeros());
    let same_twos =
        i64::from(left_twos) + i64::from(biased - 1075) == i64::from(right_twos) + i64::from(exponent);
    same_twos && left >> left_twos == right >> right_twos
}

fn reads_as(value: f64, digits: &[u8], point: i32) -> bool {
    let text = format!("0.{}e{point}", String::from_utf8_lossy(digits));
    text.parse() == Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1424953923781206.25, halfway between two decimals of seventeen digits.
    const QUARTER: f64 = 5_699_815_695_124_825.0 / 4.0;

    #[test]
    fn exactness_is_exact() {
        for (value, number, exponent) in [
            (QUARTER, 142_495_392_378_120_625, -2),
            (0.5, 5, -1),
            (1024.0, 1024, 0),
            (1e22, 1, 22),
            (5e21, 5, 21),
            (2.0_f64.powi(-25), 298_023_223_876_953_125, -25),
        ] {
            assert!(is_exactly(value, number, exponent), "{value}");
            assert!(!is_exactly(value, number + 1, exponent), "{value}");
            assert!(!is_exactly(value, number, exponent + 1), "{value}");
        }
        assert!(!is_exactly(0.1, 1, -1));
        assert!(!is_exactly(1e23, 1, 23));
        assert!(!is_exactly(5e-324, 5, -324));
    }

    #[test]
    fn a_tie_goes_to_the_even_digit() {
        for (value, digits, settled, point) in [
            (QUARTER, b"14249539237812063", b"14249539237812062", 16),
            (QUARTER, b"14249539237812062", b"14249539237812062", 16),
            (QUARTER + 0.5, b"14249539237812067", b"14249539237812068", 16),
            (QUARTER + 0.5, b"14249539237812068", b"14249539237812068", 16),
        ] {
            let mut found = *digits;
            settle(value, &mut found, point);
            assert_eq!(found, *settled, "{value}");
        }
    }

    #[test]
    fn a_tie_stays_where_the_even_digits_read_as_another_number() {
        // Below this power of two the doubles lie twice as close as above it.
        let mut digits = *b"5960464477539063";
        settle(2.0_f64.powi(-24), &mut digits, -7);
        assert_eq!(&digits, b"5960464477539063");
    }
}
