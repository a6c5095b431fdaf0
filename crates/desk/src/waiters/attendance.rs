//! Which askers wait for their answers, and which did and do so no longer. A program that asks again and again is not gone
//! between two requests, so that it takes a while until somebody counts as away. Nothing here is recorded: it is a hint for
//! whoever answers. Others who wait for the same question do not count: their leaving says nothing about the asker.

use demur_api::question::QuestionId;
use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// Who is there and who was.
#[derive(Debug, Default)]
pub(super) struct Attendance {
    /// How many requests of its asker wait for a question.
    present: HashMap<QuestionId, usize>,
    /// When the last of them ended.
    left: HashMap<QuestionId, Departure>,
}

#[derive(Clone, Copy, Debug)]
struct Departure {
    at: Instant,
    hung_up: bool,
}

impl Attendance {
    /// Notes that a question's asker waits for it.
    pub(super) fn came(&mut self, id: QuestionId) {
        *self.present.entry(id).or_default() += 1;
    }

    /// Notes that one of its requests is over: it was answered, or the connection broke.
    pub(super) fn left(&mut self, id: QuestionId, at: Instant, hung_up: bool) {
        match self.present.get_mut(&id) {
            Some(count) if *count > 1 => {
                *count -= 1;
                return;
            }
            _ => self.present.remove(&id),
        };
        if self.left.len() >= MAX_DEPARTURES
            && let Some(oldest) = self.left.iter().min_by_key(|(_, left)| left.at).map(|(id, _)| *id)
        {
            self.left.remove(&oldest);
        }
        self.left.insert(id, Departure { at, hung_up });
    }

    /// Returns whether the asker of a question waits for it; none where it has not waited, as far as is known.
    pub(super) fn waits(&self, id: QuestionId, now: Instant) -> Option<bool> {
        if self.present.contains_key(&id) {
            return Some(true);
        }
        let left = self.left.get(&id)?;
        let patience = if left.hung_up { RECONNECT_TIMEOUT } else { NEXT_REQUEST_TIMEOUT };
        Some(now.saturating_duration_since(left.at) < patience)
    }
}

/// How long a program may take to connect again after its connection broke.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a program that was told to wait on may take until its next request.
const NEXT_REQUEST_TIMEOUT: Duration = Duration::from_mins(2);
/// How many questions are remembered for which nobody waits.
const MAX_DEPARTURES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> QuestionId {
        format!("01ARZ3NDEKTSV4RRFFQ69G5FAV.{number}").parse().unwrap()
    }

    fn once(hung_up: bool) -> (Attendance, Instant) {
        let (mut attendance, now) = (Attendance::default(), Instant::now());
        assert_eq!(attendance.waits(id(0), now), None);
        attendance.came(id(0));
        assert_eq!(attendance.waits(id(0), now), Some(true));
        attendance.left(id(0), now, hung_up);
        (attendance, now)
    }

    #[test]
    fn caller_between_two_requests_is_not_away() {
        let (attendance, now) = once(false);
        assert_eq!(attendance.waits(id(0), now + Duration::from_secs(119)), Some(true));
        assert_eq!(attendance.waits(id(0), now + Duration::from_mins(2)), Some(false));
    }

    #[test]
    fn caller_that_hung_up_is_away_after_a_moment() {
        let (attendance, now) = once(true);
        assert_eq!(attendance.waits(id(0), now + Duration::from_secs(4)), Some(true));
        assert_eq!(attendance.waits(id(0), now + Duration::from_secs(5)), Some(false));
    }

    #[test]
    fn one_of_two_requests_that_ends_changes_nothing() {
        let (mut attendance, now) = once(true);
        attendance.came(id(0));
        attendance.came(id(0));
        attendance.left(id(0), now, true);
        assert_eq!(attendance.waits(id(0), now + Duration::from_hours(1)), Some(true));
    }

    #[test]
    fn memory_has_an_end_and_forgets_the_oldest() {
        let (mut attendance, now) = (Attendance::default(), Instant::now());
        for number in 0..=MAX_DEPARTURES {
            attendance.came(id(number));
            attendance.left(id(number), now + Duration::from_millis(number as u64), true);
        }
        assert_eq!((attendance.left.len(), attendance.present.len()), (MAX_DEPARTURES, 0));
        assert_eq!(attendance.waits(id(0), now), None);
        assert!(attendance.waits(id(MAX_DEPARTURES), now).is_some());
    }
}
