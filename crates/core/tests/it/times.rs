//! Timestamps, beside an independent calendar.

use demur_core::time::Timestamp;
use proptest::prelude::*;

fn time(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

#[test]
fn known_times_have_known_texts() {
    for (millis, text) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_400_001, "2000-02-29T00:00:00.001Z"),
        (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
        (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ] {
        let time = Timestamp::from_millis(millis).unwrap();
        assert_eq!(time.to_string(), text);
        assert_eq!(text.parse::<Timestamp>().unwrap(), time);
        assert_eq!(time.as_millis(), millis);
    }
}

#[test]
fn refuses_every_other_spelling() {
    for wrong in [
        "1970-01-01t00:00:00.000Z",
        "1970-01-01T00:00:00.000z",
        "1970-01-01 00:00:00.000Z",
        "1970-01-01T00:00:00Z",
        "1970-01-01T00:00:00.00Z",
        "1970-01-01T00:00:00.0000Z",
        "1970-01-01T00:00:00.000+00:00",
        "1970-01-01T00:00:00,000Z",
        "1970-1-01T00:00:00.000Z",
        "+970-01-01T00:00:00.000Z",
        "1970-01-01T00:00:00.00١Z",
        "",
    ] {
        assert_eq!(time(wrong), None, "{wrong}");
    }
}

#[test]
fn refuses_times_that_never_were() {
    for wrong in [
        "1969-12-31T23:59:59.999Z",
        "2023-02-29T00:00:00.000Z",
        "2100-02-29T00:00:00.000Z",
        "2024-02-30T00:00:00.000Z",
        "2024-04-31T00:00:00.000Z",
        "2024-00-01T00:00:00.000Z",
        "2024-13-01T00:00:00.000Z",
        "2024-01-00T00:00:00.000Z",
        "2024-01-32T00:00:00.000Z",
        "2024-01-01T24:00:00.000Z",
        "2024-01-01T00:60:00.000Z",
        "2016-12-31T23:59:60.000Z",
    ] {
        assert_eq!(time(wrong), None, "{wrong}");
    }
    let error = "2024-02-30T00:00:00.000Z".parse::<Timestamp>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a real time from the years 1970 to 9999, found 2024-02-30T00:00:00.000Z"
    );
}

#[test]
fn times_end_with_the_year_9999() {
    assert!(Timestamp::from_millis(Timestamp::MAX.as_millis() + 1).is_err());
    assert_eq!(Timestamp::MAX.plus_millis(1), Timestamp::MAX);
    assert_eq!(Timestamp::MIN.plus_millis(u64::MAX), Timestamp::MAX);
    assert_eq!(Timestamp::MIN.plus_millis(5).as_millis(), 5);
}

#[test]
fn every_day_is_the_day_of_the_independent_calendar() {
    let mut date = jiff::civil::date(1970, 1, 1);
    let days = Timestamp::MAX.as_millis() / 86_400_000;
    for day in 0..=days {
        let text = Timestamp::from_millis(day * 86_400_000).unwrap().to_string();
        let (year, month, of_month) = (date.year(), date.month(), date.day());
        assert_eq!(text, format!("{year:04}-{month:02}-{of_month:02}T00:00:00.000Z"));
        assert_eq!(time(&text).map(Timestamp::as_millis), Some(day * 86_400_000));
        date = date.tomorrow().unwrap_or(date);
    }
    assert_eq!(days, 2_932_896);
}

/// Beside it, dates and times of day count to the end of the year 9999; points in time of that library end a day before.
const EPOCH: jiff::civil::DateTime = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);

#[test]
fn last_day_is_the_last_day_of_the_independent_calendar() {
    for text in ["9999-12-30T22:00:01.000Z", "9999-12-31T23:59:59.999Z"] {
        let theirs: jiff::civil::DateTime = text.trim_end_matches('Z').parse().unwrap();
        let ours = time(text).map(|time| i128::from(time.as_millis()));
        assert_eq!(ours, Some(theirs.duration_since(EPOCH).as_millis()), "{text}");
    }
}

proptest! {
    #[test]
    fn texts_are_those_of_the_independent_implementation(millis in 0..=Timestamp::MAX.as_millis()) {
        let time = Timestamp::from_millis(millis).unwrap();
        let since = jiff::SignedDuration::from_millis(i64::try_from(millis).unwrap());
        let theirs = EPOCH.checked_add(since).unwrap();
        prop_assert_eq!(time.to_string(), theirs.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string());
        prop_assert_eq!(time.to_string().parse::<Timestamp>().unwrap(), time);
        let json = serde_json::to_string(&time).unwrap();
        prop_assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), time);
    }

    #[test]
    fn a_text_is_a_time_exactly_if_the_independent_implementation_says_so(
        text in "(19[67]|20[0-2]|210|999)[0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-5][0-9]\\.[0-9]{3}Z"
    ) {
        let theirs = text.trim_end_matches('Z').parse::<jiff::civil::DateTime>().ok();
        let theirs = theirs.map(|theirs| theirs.duration_since(EPOCH).as_millis());
        let ours = time(&text).map(|time| i128::from(time.as_millis()));
        prop_assert_eq!(ours, theirs.filter(|millis| *millis >= 0));
    }
}
