//! Times as people here read them: in their own zone, with its name. Programs get RFC 3339 in UTC.

use std::sync::OnceLock;

use demur_core::time::Timestamp;
use jiff::tz::TimeZone;

/// Returns a time for people, to the second: in the zone that `TZ` names, or else the machine.
pub(crate) fn clock(time: Timestamp) -> String {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    // A zone that nobody knows is no reason to say nothing: then it is UTC, and says so.
    in_zone(time, ZONE.get_or_init(|| TimeZone::try_system().unwrap_or(TimeZone::UTC)))
}

fn in_zone(time: Timestamp, zone: &TimeZone) -> String {
    let millis = i64::try_from(time.as_millis()).ok();
    match millis.and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok()) {
        Some(instant) => instant.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string(),
        None => time.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_the_zone_of_the_reader_with_its_name() {
        let [winter, summer]: [Timestamp; 2] =
            ["2026-01-15T23:05:06.789Z", "2026-07-15T23:05:06.789Z"].map(|time| time.parse().unwrap());
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        assert_eq!(in_zone(winter, &berlin), "2026-01-16 00:05:06 CET");
        assert_eq!(in_zone(summer, &berlin), "2026-07-16 01:05:06 CEST");
        assert_eq!(in_zone(winter, &TimeZone::UTC), "2026-01-15 23:05:06 UTC");
        let last = Timestamp::from_millis(253_402_300_799_999).unwrap();
        assert_eq!(in_zone(last, &berlin), last.to_string());
    }
}
