//! Which tests of a run have been going for too long, told from the lines that libtest prints.
//!
//! libtest says of a test that it has been running for over 60 seconds, once, and says how every test ends. A suite that
//! hangs outside of any test says nothing at all, so silence has a limit too.

use std::time::{Duration, Instant};

/// What is known about the tests that run now.
#[derive(Debug)]
pub(crate) struct Slow {
    limit: Duration,
    /// Tests that libtest has named as slow, and when they began.
    running: Vec<(String, Instant)>,
    /// When the last line came, once a suite has begun: a build may be silent for long.
    heard: Option<Instant>,
}

impl Slow {
    /// Returns a look-out for tests that take longer than `limit`.
    pub(crate) const fn new(limit: Duration) -> Self {
        Self { limit, running: Vec::new(), heard: None }
    }

    /// Takes note of one line of output; `begins_suite` says whether it announces a suite.
    pub(crate) fn read_line(&mut self, line: &str, begins_suite: bool, now: Instant) {
        if begins_suite || self.heard.is_some() {
            self.heard = Some(now);
        }
        if begins_suite || line.starts_with("test result: ") {
            self.running.clear();
        } else if let Some(name) = line.strip_prefix("test ") {
            if let Some(name) = name.strip_suffix(NOTICE) {
                self.running.push((name.to_owned(), now.checked_sub(NOTICED_AFTER).unwrap_or(now)));
            } else if let Some((name, _result)) = name.split_once(" ... ") {
                self.running.retain(|(running, _)| running != name);
            }
        }
    }

    /// Returns what is too late, in order to end it, and forgets it: tests by name, or none of them if the suite itself hangs.
    pub(crate) fn take_overdue(&mut self, now: Instant) -> Option<Vec<String>> {
        let late = |since: Instant| now.saturating_duration_since(since) >= self.limit;
        let names: Vec<String> =
            self.running.iter().filter(|(_, since)| late(*since)).map(|(name, _)| name.clone()).collect();
        // A test that is slow but in time keeps its suite silent.
        let is_silent = self.running.is_empty() && self.heard.is_some_and(late);
        if names.is_empty() && !is_silent {
            return None;
        }
        self.running.clear();
        self.heard = Some(now);
        Some(names)
    }
}

const NOTICE: &str = " has been running for over 60 seconds";
const NOTICED_AFTER: Duration = Duration::from_mins(1);

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_mins(5);

    /// A run of which these lines came, each at its second, and what was overdue at the end.
    fn overdue(lines: &[(u64, &str)], end: u64) -> Option<Vec<String>> {
        let (begin, mut slow) = (Instant::now() + Duration::from_hours(1), Slow::new(LIMIT));
        let at = |second| begin + Duration::from_secs(second);
        for (second, line) in lines {
            slow.read_line(line, line.starts_with("     Running"), at(*second));
        }
        let found = slow.take_overdue(at(end));
        assert!(found.is_none() || slow.take_overdue(at(end)).is_none(), "it was ended once");
        found
    }

    #[test]
    fn test_is_named_once_its_time_is_over_and_not_before() {
        let lines = [(0, SUITE), (60, "test life::hangs has been running for over 60 seconds")];
        assert_eq!(overdue(&lines, 299), None);
        assert_eq!(overdue(&lines, 300), Some(vec!["life::hangs".to_owned()]));
    }

    #[test]
    fn slow_test_that_ends_in_time_is_not_overdue() {
        let notice = "test slow has been running for over 60 seconds";
        for ending in ["test slow ... ok", "test slow ... FAILED", "test result: ok. 1 passed", SUITE] {
            assert_eq!(overdue(&[(0, SUITE), (60, notice), (200, ending)], 400), None, "{ending}");
        }
    }

    #[test]
    fn only_tests_that_are_too_late_are_named() {
        let lines = [
            (0, SUITE),
            (60, "test first has been running for over 60 seconds"),
            (200, "test second has been running for over 60 seconds"),
        ];
        assert_eq!(overdue(&lines, 301), Some(vec!["first".to_owned()]));
    }

    #[test]
    fn suite_that_says_nothing_is_overdue_and_a_silent_build_is_not() {
        assert_eq!(overdue(&[(0, SUITE), (10, "test result: ok. 1 passed")], 310), Some(vec![]));
        assert_eq!(overdue(&[(0, "   Compiling demur-core v0.1.0")], 9_999), None);
    }

    const SUITE: &str = "     Running tests/it/main.rs (target/debug/deps/it-0)";
}
