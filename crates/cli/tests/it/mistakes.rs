//! The mistakes that people make first, each made for real: one sentence says what is wrong, and a command that works
//! says what to do about it.

mod hint;
mod machine;
mod typed;

pub(crate) use machine::after;

use crate::sandbox::{Ran, Sandbox};

/// Checks what somebody is told who made a mistake: the exit code, one short sentence, and a command that helps.
fn told(sandbox: &Sandbox, (what, line): (&str, &[&str]), ran: &Ran, code: i32, words: &str) {
    assert_eq!(ran.code, Some(code), "{what}: {ran}");
    assert_eq!(ran.stdout, "", "{what}: {ran}");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let [error, hint] = lines[..] else { panic!("{what}: expected a sentence and a hint, found {ran}") };
    let sentence = error.strip_prefix("error: ").unwrap_or_else(|| panic!("{what}: {ran}"));
    assert!(sentence.contains(words), "{what}: expected {words:?}: {ran}");
    assert!(sentence.chars().count() <= LONGEST, "{what}: too long: {ran}");
    for debris in ["panicked", "backtrace", "Error {", "Error(", "Os {", "Some(", "None", "::"] {
        assert!(!ran.stderr.contains(debris), "{what}: {debris}: {ran}");
    }
    assert!(!sentence.starts_with("os error") && !sentence.contains('\u{1b}'), "{what}: {ran}");
    let hint = hint.strip_prefix("hint: ").unwrap_or_else(|| panic!("{what}: {ran}"));
    hint::helps(sandbox, what, line, hint);
}

/// How long a sentence may be.
const LONGEST: usize = 220;
