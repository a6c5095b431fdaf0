//! Times in words and in figures: how far off, and when exactly.

use demur_core::time::Timestamp;

use crate::words::{ENGLISH, Words, fill};

/// A point in time, as a page shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct When {
    /// For programs (RFC 3339).
    pub at: String,
    /// For people, to the second.
    pub clock: String,
    /// How far off it is.
    pub distance: String,
    /// Whether it is over.
    pub is_past: bool,
}

impl When {
    /// Returns a time as seen now.
    pub fn new(time: Timestamp, now: Timestamp) -> Self {
        Self { at: time.to_string(), clock: clock(time), distance: distance(time, now), is_past: time <= now }
    }
}

/// Returns a time for people, to the second.
pub fn clock(time: Timestamp) -> String {
    let text = time.to_string();
    match text.split_once('T') {
        Some((day, clock)) => format!("{day} {} {}", &clock[..8], ENGLISH.utc),
        None => text,
    }
}

/// Returns how far off a time is, in the largest unit that says something.
fn distance(time: Timestamp, now: Timestamp) -> String {
    let (time, now) = (time.as_millis(), now.as_millis());
    let minutes = time.abs_diff(now) / 60_000;
    let words: &Words = &ENGLISH;
    let ahead = time > now;
    let pick = |future: &'static str, past: &'static str| if ahead { future } else { past };
    match minutes {
        0 => pick(words.in_seconds, words.seconds_ago).to_owned(),
        1 => pick(words.in_minute, words.minute_ago).to_owned(),
        2..=89 => fill(pick(words.in_minutes, words.minutes_ago), &[&minutes]),
        90..=119 => pick(words.in_hour, words.hour_ago).to_owned(),
        120..=2879 => fill(pick(words.in_hours, words.hours_ago), &[&(minutes / 60)]),
        _ => fill(pick(words.in_days, words.days_ago), &[&(minutes / 1440)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_is_told_in_the_unit_that_says_something() {
        let now = Timestamp::from_millis(1_000_000_000_000).unwrap();
        for (seconds, expected) in [
            (30, "in less than a minute"),
            (61, "in 1 minute"),
            (300, "in 5 minutes"),
            (6000, "in 1 hour"),
            (7200, "in 2 hours"),
            (3 * 86_400, "in 3 days"),
        ] {
            assert_eq!(When::new(now.plus_millis(seconds * 1000), now).distance, expected);
        }
        let past = When::new(now, now.plus_millis(300_000));
        assert_eq!((past.distance.as_str(), past.is_past), ("5 minutes ago", true));
        assert_eq!(past.clock, "2001-09-09 01:46:40 UTC");
    }
}
