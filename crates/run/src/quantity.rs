//! Durations and sizes as people write them: `30s`, `5m`, `64 MiB`.

use std::fmt;

use serde::{Deserialize, Deserializer, de::Error};

/// A duration in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub u64);

impl fmt::Display for Duration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_multiple_of(1000) {
            write!(formatter, "{} s", self.0 / 1000)
        } else {
            write!(formatter, "{} ms", self.0)
        }
    }
}

/// A size from `MIN` to `MAX` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size<const MIN: u64, const MAX: u64>(u64);

impl<const MIN: u64, const MAX: u64> Size<MIN, MAX> {
    /// Returns a size that is known when the program is built; one out of range does not build.
    pub const fn of<const BYTES: u64>() -> Self {
        const { assert!(MIN <= BYTES && BYTES <= MAX, "the size is out of range") };
        Self(BYTES)
    }

    /// Returns how many bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let units = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
        parse(&text, &units).filter(|millis| (1..=DAY).contains(millis)).map(Self).ok_or_else(|| {
            D::Error::custom(format!("expected a duration such as \"30s\", from 1ms to 24h, found {text:?}"))
        })
    }
}

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Size<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("B", 1)];
        parse(&text, &units).filter(|bytes| (MIN..=MAX).contains(bytes)).map(Self).ok_or_else(|| {
            let (least, most) = (shown(MIN), shown(MAX));
            let expected = format!("expected a size such as \"64 MiB\", from {least} to {most}");
            D::Error::custom(format!("{expected}, found {text:?}"))
        })
    }
}

fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// Returns a size in the largest unit that shows it exactly.
fn shown(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let whole = units.into_iter().find(|(_, shift)| bytes >= 1 << shift && bytes.trailing_zeros() >= *shift);
    whole.map_or_else(|| format!("{bytes} B"), |(unit, shift)| format!("{} {unit}", bytes >> shift))
}

const DAY: u64 = 24 * 3_600_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_sizes_are_read_as_written() {
        #[derive(Debug, PartialEq, Deserialize)]
        struct Both {
            time: Duration,
            size: Size<1, { 1 << 30 }>,
        }
        let read =
            |time: &str, size: &str| toml::from_str::<Both>(&format!("time = {time:?}\nsize = {size:?}"));
        assert_eq!(
            read("30s", "64 MiB").unwrap(),
            Both { time: Duration(30_000), size: Size::of::<{ 64 << 20 }>() }
        );
        assert_eq!(read("250 ms", "1B").unwrap(), Both { time: Duration(250), size: Size::of::<1>() });
        for (time, size) in [
            ("30", "1B"),
            ("0s", "1B"),
            ("25h", "1B"),
            ("s", "1B"),
            ("1s", "1 MB"),
            ("1s", "-1B"),
            ("1s", "0 B"),
            ("1s", "2 GiB"),
        ] {
            let error = read(time, size).unwrap_err();
            assert!(error.message().starts_with("expected a "), "{error}");
        }
        assert!(read("99999999999999999999s", "1B").is_err());
    }
}
