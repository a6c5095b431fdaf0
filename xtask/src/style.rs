//! `cargo xtask style`: rules for source files that clippy does not know, which crate may need which, that no public name
//! means three things, and that the map of the workspace holds.

use std::fmt;
use std::path::Path;

use anyhow::Result;

use crate::house;
use crate::map;
use crate::source::{Function, Line, SourceMap};
use crate::verdict::Verdict;
use crate::walls;
use crate::workspace::Workspace;

/// Returns whether every Rust file, crate and public name of the workspace keeps the rules; prints each place that does not.
pub(crate) fn run() -> Result<Verdict> {
    let workspace = Workspace::locate()?;
    let files = workspace.files_with_extension(&["rs"])?;
    let mut errors = 0;
    for path in &files {
        for finding in check(path, &workspace.read(path)?) {
            println!("{}:{finding}", path.display());
            errors += usize::from(finding.severity == Severity::Error);
        }
    }
    let of_all = [walls::check(&workspace)?, house::check(&workspace)?, map::check(&workspace)?];
    for finding in of_all.into_iter().flatten() {
        println!("error: {finding}");
        errors += 1;
    }
    println!("style: {} files, {errors} errors", files.len());
    Ok(Verdict::from_passed(errors == 0))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    Warning,
    Error,
}

/// One place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    /// Counted from one, as editors do.
    line: usize,
    severity: Severity,
    message: String,
}

impl Finding {
    fn error(index: usize, message: impl Into<String>) -> Self {
        Self { line: index + 1, severity: Severity::Error, message: message.into() }
    }

    fn warning(index: usize, message: impl Into<String>) -> Self {
        Self { line: index + 1, severity: Severity::Warning, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        write!(formatter, "{}: {severity}: {}", self.line, self.message)
    }
}

/// Returns what is wrong with a file, by line.
fn check(path: &Path, text: &str) -> Vec<Finding> {
    let source = SourceMap::new(text);
    let is_test_file = is_test_file(path);
    let mut findings = check_file(text, is_test_file);
    findings.extend(check_functions(&source, is_test_file));
    for (index, line) in source.lines.iter().enumerate() {
        let is_test = is_test_file || source.is_test_line(index);
        findings.extend(check_line(line, is_test).into_iter().map(|message| Finding::error(index, message)));
    }
    findings.sort_by_key(|finding| finding.line);
    findings
}

fn check_file(text: &str, is_test_file: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !text.starts_with("//!") {
        findings.push(Finding::error(
            0,
            "expected the file to open with `//!`: what it is, which section it carries",
        ));
    }
    let count = text.lines().count();
    if count > FILE_LIMIT {
        findings.push(Finding::error(0, format!("file has {count} lines, at most {FILE_LIMIT} are allowed")));
    } else if count > FILE_WARNING && !is_test_file {
        findings.push(Finding::warning(0, format!("file has {count} lines, split it before {FILE_LIMIT}")));
    }
    findings
}

fn check_functions(source: &SourceMap, is_test_file: bool) -> Vec<Finding> {
    let counted = source.functions.iter().map(|function| (function, steps(source, function)));
    counted
        .filter(|(_, count)| *count > FUNCTION_LIMIT)
        .filter(|(function, _)| !is_test_file && !source.is_test_line(function.lines.start))
        .map(|(function, count)| {
            let name = &function.name;
            let message =
                format!("function `{name}` has {count} lines, at most {FUNCTION_LIMIT} are allowed");
            Finding::error(function.lines.start, message)
        })
        .collect()
}

/// Returns how many lines a function has, without those that only name one more variant of a match: matches over our own enums name
/// every variant, however many there are.
fn steps(source: &SourceMap, function: &Function) -> usize {
    let names_a_variant = |line: &&Line| {
        let code = line.code.trim();
        code.starts_with("| ") && code.ends_with("(_)")
    };
    let lines = &source.lines[function.lines.clone()];
    lines.len() - lines.iter().filter(names_a_variant).count()
}

/// Returns a message for each forbidden thing in a line.
fn check_line(line: &Line, is_test: bool) -> Vec<&'static str> {
    let code: String = line.code.split_whitespace().collect();
    let is_attribute = code.contains("#[") || code.contains("#![");
    let mut messages = Vec::new();
    if is_attribute && ["[allow(", ",allow("].iter().any(|allow| code.contains(allow)) {
        messages.push("`allow` hides a lint for ever: use `#[expect(lint, reason = \"...\")]`");
    }
    if is_attribute && (contains_word(&code, "ignore]") || contains_word(&code, "ignore=")) {
        messages.push("ignored tests prove nothing: reduce the count or remove the test");
    }
    if is_attribute && (contains_word(&code, "non_exhaustive]") || contains_word(&code, "non_exhaustive)")) {
        messages
            .push("nobody outside links this: matches over it are exhaustive, so leave `non_exhaustive` out");
    }
    if contains_word(&code, "todo!") || contains_word(&code, "unimplemented!") {
        messages.push("unfinished code: return an error or leave it out");
    }
    if is_test && contains_word(&code, "sleep(") {
        messages.push("tests do not sleep: drive the clock or wait for the event");
    }
    messages
}

/// Returns whether `word` occurs in the code and is not the end of a longer name.
fn contains_word(code: &str, word: &str) -> bool {
    code.match_indices(word).any(|(index, _)| {
        !code[..index].chars().next_back().is_some_and(|before| before.is_alphanumeric() || before == '_')
    })
}

pub(crate) fn is_test_file(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests")
        || path.file_name().is_some_and(|name| name == "tests.rs")
}

const FILE_LIMIT: usize = 1000;
const FILE_WARNING: usize = 600;
const FUNCTION_LIMIT: usize = 70;

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(path: &str, text: &str) -> Vec<usize> {
        let findings = check(Path::new(path), text);
        findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .map(|finding| finding.line)
            .collect()
    }

    fn function_of(lines: usize) -> String {
        format!("//! A.\nfn a() {{\n{}}}\n", "    b();\n".repeat(lines - 2))
    }

    #[test]
    fn file_must_open_with_its_documentation() {
        assert_eq!(errors("a.rs", "//! A.\n"), [0; 0]);
        assert_eq!(errors("a.rs", "\n//! A.\n"), [1]);
        assert_eq!(errors("a.rs", ""), [1]);
    }

    #[test]
    fn long_files_warn_first_and_fail_later() {
        let file = |lines: usize| format!("//! A.\n{}", "const A: u8 = 1;\n".repeat(lines - 1));
        let severities = |path: &str, lines| {
            check(Path::new(path), &file(lines))
                .into_iter()
                .map(|finding| finding.severity)
                .collect::<Vec<_>>()
        };
        assert_eq!(severities("a.rs", 600), []);
        assert_eq!(severities("a.rs", 601), [Severity::Warning]);
        assert_eq!(severities("tests/it/a.rs", 1000), []);
        assert_eq!(severities("tests/it/a.rs", 1001), [Severity::Error]);
    }

    #[test]
    fn functions_end_at_the_limit() {
        assert_eq!(errors("a.rs", &function_of(70)), [0; 0]);
        assert_eq!(errors("a.rs", &function_of(71)), [2]);
        assert_eq!(errors("tests/it/a.rs", &function_of(71)), [0; 0]);
    }

    #[test]
    fn variants_that_a_match_only_names_are_no_steps() {
        let named =
            |lines| function_of(70).replacen("{\n", &format!("{{\n{}", "    | A::B(_)\n".repeat(lines)), 1);
        assert_eq!(errors("a.rs", &named(40)), [0; 0]);
        assert_eq!(errors("a.rs", &named(40).replacen("| A::B(_)", "| A::B(_) => b(),", 1)), [2]);
    }

    #[test]
    fn forbids_allow_and_ignore() {
        let text = "//! A.\n#[allow(dead_code)]\n#![ allow(x)]\n#[cfg_attr(test, allow(x))]\n#[ignore]\n#[ignore = \"x\"]";
        assert_eq!(errors("a.rs", text), [2, 3, 4, 5, 6]);
        assert_eq!(errors("a.rs", "//! A.\n#[expect(x, reason = \"#[allow(x)]\")]\n// #[ignore]"), [0; 0]);
    }

    #[test]
    fn forbids_types_that_others_cannot_match_exhaustively() {
        let text = "//! A.\n#[non_exhaustive]\nenum A {}\n#[cfg_attr(test, non_exhaustive)]\nstruct B;";
        assert_eq!(errors("crates/a/src/a.rs", text), [2, 4]);
        let text =
            "//! A.\n// #[non_exhaustive]\nfn a() { b.finish_non_exhaustive() }\n#[doc = \"non_exhaustive\"]";
        assert_eq!(errors("crates/a/src/a.rs", text), [0; 0]);
    }

    #[test]
    fn forbids_unfinished_code() {
        assert_eq!(errors("a.rs", "//! A.\nfn a() { todo!() }\nfn b() { unimplemented!(\"x\") }"), [2, 3]);
        assert_eq!(errors("a.rs", "//! A.\nfn a() { my_todo!() } // todo!()"), [0; 0]);
    }

    #[test]
    fn forbids_sleep_in_tests_only() {
        let text =
            "//! A.\nfn a() { thread::sleep(x) }\n#[test]\nfn b() { sleep(x) }\nfn c() { fall_asleep(x) }";
        assert_eq!(errors("a.rs", text), [4]);
        assert_eq!(errors("crates/a/tests/it/a.rs", text), [2, 4]);
    }

    #[test]
    fn finding_reads_like_a_compiler_message() {
        assert_eq!(Finding::error(6, "bad").to_string(), "7: error: bad");
    }
}
