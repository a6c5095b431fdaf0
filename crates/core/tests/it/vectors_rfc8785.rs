//! The vectors of RFC 8785.

use demur_core::canonical;
use demur_core::limit::Limits;

use crate::readers;

macro_rules! file {
    ($name:literal) => {
        (
            $name,
            include_bytes!(concat!("../../../../conformance/core/rfc8785/", $name, ".input.json")).as_slice(),
            include_bytes!(concat!("../../../../conformance/core/rfc8785/", $name, ".expected.json"))
                .as_slice(),
        )
    };
}

#[test]
fn published_files_have_the_published_form() {
    for (name, input, expected) in FILES {
        let found = canonical::canonicalize(input, &Limits::EVENT).unwrap();
        assert_eq!(String::from_utf8_lossy(&found), String::from_utf8_lossy(expected), "{name}");
    }
}

#[test]
fn published_forms_are_canonical_and_their_inputs_are_not() {
    for (name, input, expected) in FILES {
        assert_eq!(readers::check(expected, &Limits::EVENT), Ok(()), "{name}");
        assert_eq!(readers::scan(input, &Limits::EVENT), Ok(()), "{name}");
        assert!(readers::check(input, &Limits::EVENT).is_err(), "{name}");
    }
}

#[test]
fn numbers_of_appendix_b_have_their_text() {
    let mut count = 0;
    for line in NUMBERS.lines() {
        let (bits, expected) = line.split_once(' ').unwrap();
        let number = f64::from_bits(u64::from_str_radix(bits, 16).unwrap());
        let mut found = Vec::new();
        let written = canonical::write_number(number, &mut found);
        if expected == "refused" {
            assert_eq!(written, Err(canonical::WriteError::NotFinite), "{bits}");
        } else {
            assert_eq!(String::from_utf8(found).unwrap(), expected, "{bits}");
        }
        count += 1;
    }
    assert_eq!(count, 26);
}

const FILES: [(&str, &[u8], &[u8]); 7] = [
    file!("arrays"),
    file!("french"),
    file!("structures"),
    file!("unicode"),
    file!("values"),
    file!("weird"),
    file!("section-3.2.3"),
];

const NUMBERS: &str = include_str!("../../../../conformance/core/rfc8785/numbers.txt");
