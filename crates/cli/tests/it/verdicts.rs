//! One verdict in every form: over the whole corpus, what people read, the page that is written and the exit code say what the
//! answer for programs says, and none of them says more.

use std::{fmt::Write as _, fs, process::Command};

use crate::{
    corpus::Case,
    sandbox::{Sandbox, conformance},
};

/// The verdicts in words, so that none comes before one that begins with it.
const WORDS: [&str; 4] = ["PASS WITH WARNINGS", "PASS", "NOT ESTABLISHED", "FAIL"];

/// Returns the verdict that a text begins with.
fn verdict(text: &str) -> Option<&'static str> {
    WORDS.into_iter().find(|words| text.starts_with(words))
}

/// ONE-12
#[test]
fn text_page_and_exit_code_say_the_same_verdict() {
    let sandbox = Sandbox::new();
    let (page, mut wrong) = (sandbox.path("page.html"), String::new());
    for case in &Case::all() {
        let mut command = Command::new(env!("CARGO_BIN_EXE_demur"));
        command.current_dir(conformance("attacks")).env_clear().arg("verify");
        command.arg(&case.file).args(&case.second).args(&case.options).arg("--html").arg(&page);
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        if output.status.code() == Some(2) {
            // It is no export: there is no verdict in any form.
            let silent = text.is_empty() && !page.exists() && case.verdict == "fail";
            assert!(silent, "{}: {text}", case.name);
            continue;
        }
        let expected = case.verdict.to_uppercase().replace('_', " ");
        let in_text = text.lines().find_map(|line| line.strip_prefix("verdict  ")).and_then(verdict);
        let html = fs::read_to_string(&page).unwrap();
        let in_page = html.split_once("<strong>").and_then(|(_, rest)| verdict(rest));
        fs::remove_file(&page).unwrap();
        let passes = expected.starts_with("PASS");
        let found = (in_text, in_page, output.status.code());
        if found != (Some(&*expected), Some(&*expected), Some(i32::from(!passes))) {
            writeln!(wrong, "{}: expected {expected} everywhere, found {found:?}", case.name).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
