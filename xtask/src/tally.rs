//! Counting what a test run prints: the `test result:` lines of libtest and the suites that cargo announces.

use std::fmt;
use std::time::Duration;

/// The sums of one or more runs of `cargo test`.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
    pub(crate) suites: Vec<Suite>,
    /// The tests that this machine could not run, each with its reason.
    pub(crate) not_run: Vec<String>,
    /// What went wrong beyond failed tests, in sentences.
    pub(crate) troubles: Vec<String>,
    /// The names of tests that failed.
    failures: Vec<String>,
    /// The names of tests that failed beside others and passed alone.
    pub(crate) unsteady: Vec<String>,
}

/// One test executable, or the documentation tests of one crate.
#[derive(Debug, PartialEq)]
pub(crate) struct Suite {
    pub(crate) name: String,
    pub(crate) seconds: f64,
    has_result: bool,
    /// How many tests it has, as it says before the first.
    expected: u64,
    /// How many of them have ended well, and how many have not.
    ended: (u64, u64),
    /// How many of those that ended well said that they were not run.
    not_run: u64,
}

impl Tally {
    /// Takes note of one line of output.
    pub(crate) fn read_line(&mut self, line: &str) {
        if let Some(name) = suite_name(line) {
            self.suites.push(Suite {
                name,
                seconds: 0.0,
                has_result: false,
                expected: 0,
                ended: (0, 0),
                not_run: 0,
            });
        } else if let Some(result) = TestResult::parse(line) {
            let not_run = self.suites.last().map_or(0, |suite| suite.not_run);
            self.passed += result.passed.saturating_sub(not_run);
            self.failed += result.failed;
            self.ignored += result.ignored;
            if let Some(suite) = self.suites.last_mut() {
                suite.seconds += result.seconds;
                suite.has_result = true;
            }
        } else if let (Some(test), Some(suite)) = (line.strip_prefix(NOT_RUN), self.suites.last_mut()) {
            self.not_run.push(test.to_owned());
            suite.not_run += 1;
        } else if let Some(suite) = self.suites.last_mut() {
            suite.read_line(line);
            self.failures.extend(failed_test(line).map(str::to_owned));
        }
    }

    /// Returns the tests that are worth another try: a few that failed, each known by its name, and no other trouble.
    pub(crate) fn worth_another_try(&self) -> Option<&[String]> {
        let count = self.failures.len();
        let is_all = u64::try_from(count).is_ok_and(|count| count == self.failed);
        (is_all && self.troubles.is_empty() && (1..=MOST_TRIED_AGAIN).contains(&count))
            .then_some(&*self.failures)
    }

    /// Takes note of the second try of [`Tally::worth_another_try`]: if all of them passed, none has failed.
    pub(crate) fn try_again(&mut self, again: &Self) {
        if again.is_success() && again.passed >= self.failed {
            self.passed += self.failed;
            self.failed = 0;
            self.unsteady.append(&mut self.failures);
        }
    }

    /// Takes note that the suite that ran last is ended because these tests took too long; none of them if it was silent.
    pub(crate) fn end_suite(&mut self, names: &[String], limit: Duration) {
        let Some(suite) = self.suites.last_mut() else { return };
        let overdue = u64::try_from(names.len()).unwrap_or(u64::MAX);
        let (mut passed, mut failed, mut lost) = (0, 0, 0);
        if !suite.has_result {
            (passed, failed) = suite.ended;
            passed = passed.saturating_sub(suite.not_run);
            lost = suite.expected.saturating_sub(passed + failed + overdue);
        }
        suite.has_result = true;
        self.passed += passed;
        self.failed += failed + overdue.max(1);
        let (name, limit) = (&suite.name, limit.as_secs());
        if names.is_empty() {
            self.troubles.push(format!("{name} said nothing for {limit} s and was ended"));
        }
        for test in names {
            self.troubles
                .push(format!("{test} took longer than {limit} s and was ended, with its suite {name}"));
        }
        if lost > 0 {
            self.troubles.push(format!("of {name} another {lost} have no result because of that"));
        }
    }

    /// Takes note of how cargo ended. A run that failed counts at least one failure, even when no test did: the
    /// code may not compile, or a suite may have crashed before it could print its result.
    pub(crate) fn finish(&mut self, success: bool) {
        if success {
            return;
        }
        for suite in self.suites.iter().filter(|suite| !suite.has_result) {
            self.troubles.push(format!("{} ended without a result", suite.name));
            self.failed += 1;
        }
        if self.failed == 0 {
            self.troubles.push("cargo test failed although no test did".to_owned());
            self.failed = 1;
        }
    }

    /// Adds the sums of another run.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.not_run.extend(other.not_run);
        self.suites.extend(other.suites);
        self.troubles.extend(other.troubles);
        self.failures.extend(other.failures);
        self.unsteady.extend(other.unsteady);
    }

    /// Returns the suites that took at least a second, slowest first, at most `count`.
    pub(crate) fn slowest(&self, count: usize) -> Vec<&Suite> {
        let mut suites: Vec<&Suite> = self.suites.iter().filter(|suite| suite.seconds >= 1.0).collect();
        suites.sort_by(|left, right| right.seconds.total_cmp(&left.seconds));
        suites.truncate(count);
        suites
    }

    /// Returns whether something ran and nothing failed.
    pub(crate) fn is_success(&self) -> bool {
        self.passed > 0 && self.failed == 0
    }
}

impl Suite {
    fn read_line(&mut self, line: &str) {
        if let Some(count) =
            line.strip_prefix("running ").and_then(|rest| rest.split(' ').next()?.parse().ok())
        {
            self.expected = count;
        } else if line.starts_with("test ") && line.ends_with(" ... ok") {
            self.ended.0 += 1;
        } else if failed_test(line).is_some() {
            self.ended.1 += 1;
        }
    }
}

/// Returns the name of the test that failed, as this line says.
fn failed_test(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// The total line, which is the last that a test run prints.
impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[derive(Debug, PartialEq)]
struct TestResult {
    passed: u64,
    failed: u64,
    ignored: u64,
    seconds: f64,
}

impl TestResult {
    fn parse(line: &str) -> Option<Self> {
        let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let mut parts = counts.split("; ");
        let result = Self {
            passed: counted(parts.next()?, " passed")?,
            failed: counted(parts.next()?, " failed")?,
            ignored: counted(parts.next()?, " ignored")?,
            seconds: parts.find_map(seconds).unwrap_or_default(),
        };
        Some(result)
    }
}

fn counted(part: &str, unit: &str) -> Option<u64> {
    part.strip_suffix(unit)?.parse().ok()
}

fn seconds(part: &str) -> Option<f64> {
    part.trim_end().strip_prefix("finished in ")?.strip_suffix('s')?.parse().ok()
}

/// Returns the name of the suite that cargo announces in this line.
pub(crate) fn suite_name(line: &str) -> Option<String> {
    if let Some(name) = line.strip_prefix("   Doc-tests ") {
        return Some(format!("{} (documentation)", name.trim_end()));
    }
    let (what, path) = line.strip_prefix("     Running ")?.trim_end().strip_suffix(')')?.split_once(" (")?;
    let file = path.rsplit(['/', '\\']).next()?;
    let name = file.rsplit_once('-').map_or(file, |(name, _hash)| name);
    Some(format!("{name} ({what})"))
}

/// How a test says that this machine cannot run it.
const NOT_RUN: &str = "not run: ";
/// More failures than these are no accident of a busy machine.
const MOST_TRIED_AGAIN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn tally_of(output: &str, success: bool) -> Tally {
        let mut tally = Tally::default();
        output.lines().for_each(|line| tally.read_line(line));
        tally.finish(success);
        tally
    }

    #[test]
    fn sums_every_result_line() {
        let tally = tally_of(TWO_SUITES, false);
        assert_eq!((tally.passed, tally.failed, tally.ignored), (15, 2, 1));
        assert_eq!(tally.to_string(), "15 passed, 2 failed");
        assert!(!tally.is_success());
        assert!(tally.troubles.is_empty());
    }

    #[test]
    fn test_that_could_not_run_is_named_and_has_not_passed() {
        let lines = "test a ... \nnot run: a: needs root\nok\ntest result: ok. 10 passed";
        let tally = tally_of(&TWO_SUITES.replace("test result: FAILED. 10 passed", lines), false);
        assert_eq!((tally.passed, tally.failed), (14, 2));
        assert_eq!(tally.not_run, ["a: needs root"]);
    }

    #[test]
    fn names_suites_without_their_hash() {
        let names: Vec<_> = tally_of(TWO_SUITES, false).suites.into_iter().map(|suite| suite.name).collect();
        assert_eq!(
            names,
            ["demur_core (unittests src/lib.rs)", "it (tests/it/main.rs)", "demur_core (documentation)"]
        );
    }

    #[test]
    fn lists_slow_suites_slowest_first() {
        let tally = tally_of(TWO_SUITES, false);
        let slowest: Vec<f64> = tally.slowest(5).iter().map(|suite| suite.seconds).collect();
        assert_eq!(slowest, [12.5, 1.25]);
        assert_eq!(tally.slowest(1).len(), 1);
    }

    #[test]
    fn ignores_lines_that_only_resemble_a_result() {
        for line in [
            "  test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: ok. five passed; 0 failed; 0 ignored",
            "test result: ok",
            "test a::b ... ok",
        ] {
            assert_eq!(TestResult::parse(line), None, "{line}");
        }
    }

    #[test]
    fn crashed_suite_counts_as_a_failure() {
        let crashed =
            TWO_SUITES.lines().take_while(|line| !line.starts_with("test result")).collect::<Vec<_>>();
        let tally = tally_of(&crashed.join("\n"), false);
        assert_eq!((tally.passed, tally.failed), (0, 1));
        assert_eq!(tally.troubles, ["demur_core (unittests src/lib.rs) ended without a result"]);
    }

    #[test]
    fn suite_that_is_ended_names_the_test_and_counts_what_ran_before() {
        let mut tally = Tally::default();
        for line in ENDED.lines() {
            tally.read_line(line);
        }
        tally.end_suite(&["life::hangs".to_owned()], Duration::from_mins(5));
        tally.finish(false);
        assert_eq!(tally.to_string(), "2 passed, 2 failed");
        assert_eq!(
            tally.troubles,
            [
                "life::hangs took longer than 300 s and was ended, with its suite it (tests/it/main.rs)",
                "of it (tests/it/main.rs) another 1 have no result because of that",
            ]
        );
    }

    #[test]
    fn suite_that_hangs_after_its_result_counts_its_tests_once_and_fails() {
        let mut tally = Tally::default();
        for line in TWO_SUITES.lines().take(6) {
            tally.read_line(line);
        }
        tally.end_suite(&[], Duration::from_mins(5));
        tally.finish(false);
        assert_eq!(tally.to_string(), "3 passed, 1 failed");
        assert_eq!(
            tally.troubles,
            ["demur_core (unittests src/lib.rs) said nothing for 300 s and was ended"]
        );
    }

    #[test]
    fn few_failures_are_tried_again_and_named_if_they_pass_alone() {
        let mut tally = tally_of(&failing(&["a::b", "c"]), false);
        assert_eq!(tally.worth_another_try().unwrap(), ["a::b", "c"]);
        tally.try_again(&tally_of(&result(2, 0), true));
        assert_eq!(tally.to_string(), "5 passed, 0 failed");
        assert_eq!(tally.unsteady, ["a::b", "c"]);
        assert!(tally.is_success());
    }

    #[test]
    fn second_try_that_fails_or_runs_too_little_changes_nothing() {
        for again in [tally_of(&result(1, 1), false), tally_of(&result(1, 0), true), tally_of("", true)] {
            let mut tally = tally_of(&failing(&["a", "b"]), false);
            tally.try_again(&again);
            assert_eq!(tally.to_string(), "3 passed, 2 failed");
            assert!(tally.unsteady.is_empty());
        }
    }

    #[test]
    fn many_failures_unknown_ones_and_other_trouble_are_not_tried_again() {
        assert_eq!(tally_of(&failing(&["a", "b", "c", "d"]), false).worth_another_try(), None);
        assert_eq!(tally_of(&result(3, 0), true).worth_another_try(), None);
        // The name of one stands in no line of its own.
        let hidden = failing(&["a", "b"]).replace("test b ...", "printed between: test b ...");
        assert_eq!(tally_of(&hidden, false).worth_another_try(), None);
        let crashed = format!("{}\n{SUITE}\n", failing(&["a"]));
        assert_eq!(tally_of(&crashed, false).worth_another_try(), None);
    }

    fn failing(names: &[&str]) -> String {
        let lines: Vec<_> = names.iter().map(|name| format!("test {name} ... FAILED")).collect();
        format!("{SUITE}\n{}\n{}", lines.join("\n"), result(3, names.len()))
    }

    fn result(passed: usize, failed: usize) -> String {
        let word = if failed == 0 { "ok" } else { "FAILED" };
        format!("test result: {word}. {passed} passed; {failed} failed; 0 ignored; finished in 0.10s")
    }

    const SUITE: &str = "     Running tests/it/main.rs (target/debug/deps/it-0123456789abcdef)";

    const ENDED: &str = "\
   Compiling demur-core v0.1.0
     Running tests/it/main.rs (target/debug/deps/it-0123456789abcdef)

running 5 tests
test a ... ok
test life::begins ... ok
test life::fails ... FAILED
test life::hangs has been running for over 60 seconds
";

    #[test]
    fn code_that_does_not_compile_counts_as_a_failure() {
        let tally = tally_of("error: could not compile `demur-core`", false);
        assert_eq!(tally.failed, 1);
        assert_eq!(tally.troubles.len(), 1);
    }

    #[test]
    fn run_of_nothing_is_no_success() {
        assert!(!tally_of("", true).is_success());
    }

    #[test]
    fn added_runs_sum_up() {
        let mut tally = tally_of(TWO_SUITES, false);
        tally.add(tally_of(TWO_SUITES, false));
        assert_eq!((tally.passed, tally.failed, tally.suites.len()), (30, 4, 6));
    }

    const TWO_SUITES: &str = "\
   Compiling demur-core v0.1.0
     Running unittests src/lib.rs (target/debug/deps/demur_core-0123456789abcdef)

running 4 tests
test hash::tests::agrees ... ok
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.25s

     Running tests/it/main.rs (target/debug/deps/it-0123456789abcdef)
test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 3 filtered out; finished in 12.50s

   Doc-tests demur_core
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
";
}
