//! Times: milliseconds since 1970 in UTC, with one spelling, `YYYY-MM-DDTHH:MM:SS.mmmZ` (RFC 3339 narrowed
//! to 24 bytes). Sections "Statement" (`not_after`) and "Envelope" (`time`) of the format.

use std::fmt;

use crate::form::{FormError, text_form};

/// A point in time between 1970 and the end of 9999, to the millisecond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The first time there is: 1970-01-01T00:00:00.000Z.
    pub const MIN: Self = Self(0);

    /// The last time there is: 9999-12-31T23:59:59.999Z.
    pub const MAX: Self = Self(253_402_300_799_999);

    /// Returns the time this many milliseconds after 1970-01-01T00:00:00Z, if it lies before the year 10000.
    pub fn from_millis(millis: u64) -> Result<Self, FormError> {
        if millis <= Self::MAX.0 {
            Ok(Self(millis))
        } else {
            let found = format!("{millis} ms after 1970");
            Err(FormError::Value { expected: "a time before the year 10000", found })
        }
    }

    /// Returns the milliseconds since 1970-01-01T00:00:00Z.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Returns the time this much later, or [`Timestamp::MAX`] where that would be after it.
    #[must_use]
    pub fn plus_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis)).min(Self::MAX)
    }

    fn encode(self) -> [u8; 24] {
        let (days, millis) = (self.0 / MILLIS_PER_DAY, self.0 % MILLIS_PER_DAY);
        let (year, month, day) = civil_from_days(days);
        let mut text = *b"0000-00-00T00:00:00.000Z";
        write_digits(&mut text[0..4], year);
        write_digits(&mut text[5..7], month);
        write_digits(&mut text[8..10], day);
        write_digits(&mut text[11..13], millis / 3_600_000);
        write_digits(&mut text[14..16], millis / 60_000 % 60);
        write_digits(&mut text[17..19], millis / 1000 % 60);
        write_digits(&mut text[20..23], millis % 1000);
        text
    }

    fn decode(text: &[u8]) -> Result<Self, FormError> {
        let text: &[u8; 24] =
            text.try_into().map_err(|_| FormError::Length { expected: EXPECTED, found: text.len() })?;
        for (offset, (&found, &mark)) in text.iter().zip(b"0000-00-00T00:00:00.000Z").enumerate() {
            let fits = if mark == b'0' { found.is_ascii_digit() } else { found == mark };
            if !fits {
                return Err(FormError::Byte { expected: EXPECTED, found, offset });
            }
        }
        let (year, month, day) = (number(&text[0..4]), number(&text[5..7]), number(&text[8..10]));
        let (hour, minute, second) = (number(&text[11..13]), number(&text[14..16]), number(&text[17..19]));
        let real = year >= 1970
            && (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day)
            && hour < 24
            && minute < 60
            // A leap second has no number of its own in milliseconds since 1970.
            && second < 60;
        if !real {
            let found = String::from_utf8_lossy(text).into_owned();
            return Err(FormError::Value { expected: "a real time from the years 1970 to 9999", found });
        }
        let seconds = (days_from_civil(year, month, day) * 24 + hour) * 3600 + minute * 60 + second;
        Ok(Self(seconds * 1000 + number(&text[20..23])))
    }
}

text_form!(Timestamp, 24, "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$", EXPECTED);

impl fmt::Debug for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Timestamp({self})")
    }
}

/// Returns year, month and day of the day this many days after 1970-01-01.
///
/// The year is counted from 1 March, so that the leap day is its last day and every month starts at a whole
/// number of days that a linear formula gives.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_TO_1970;
    let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// Returns how many days after 1970-01-01 a day is; the inverse of [`civil_from_days`].
fn days_from_civil(year: u64, month: u64, day: u64) -> u64 {
    let year = year - u64::from(month <= 2);
    let (era, year_of_era) = (year / 400, year % 400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970
}

fn days_in_month(year: u64, month: u64) -> u64 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

fn write_digits(text: &mut [u8], mut number: u64) {
    for place in text.iter_mut().rev() {
        *place += u8::try_from(number % 10).expect("a digit fits a byte");
        number /= 10;
    }
}

const EXPECTED: &str = "a time as YYYY-MM-DDTHH:MM:SS.mmmZ";
const MILLIS_PER_DAY: u64 = 86_400_000;

/// Days in 400 years, after which the calendar repeats.
const DAYS_PER_ERA: u64 = 146_097;

/// Days from 1 March of the year 0 to 1970-01-01.
const DAYS_TO_1970: u64 = 719_468;
