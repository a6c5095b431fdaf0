//! The page for people, made from the list.

use std::fmt::Write as _;

use super::list::{AttemptList, Demand};

/// Returns `docs/refusals.md`.
pub(crate) fn render(list: &AttemptList) -> String {
    let mut page = BEGIN.to_owned();
    for group in &list.groups {
        // Writing to a string never fails.
        let _ = write!(page, "\n## {}\n\n{}\n\n{HEAD}", group.title, group.about);
        for demand in list.demands_of(group) {
            write_rows(&mut page, demand);
        }
    }
    page
}

fn write_rows(page: &mut String, demand: &Demand) {
    for (at, attempt) in demand.attempts.iter().enumerate() {
        let text = if at == 0 { demand.text.as_str() } else { "" };
        let is_code = !attempt.refusal.contains(|letter: char| letter.is_ascii_lowercase());
        let mark = if is_code { "`" } else { "" };
        let _ = writeln!(
            page,
            "| {text} | {} | {} | {mark}{}{mark} | `{}` |",
            attempt.who.as_str(),
            attempt.way.as_str(),
            attempt.refusal,
            attempt.test
        );
    }
}

const HEAD: &str = "| demand | who tries | way | what comes of it | shown by |\n|---|---|---|---|---|\n";

const BEGIN: &str = "\
# What is refused, to whom, and which test tries it

Generated from `conformance/attempts.toml`; `cargo xtask attempts` checks that each test exists and speaks of the code, that every demand is
tried through every way in that can say it, and that every code about meaning in [checks](checks.md) is met at least once.

Rows over HTTP with a token, over MCP, over the lines of an agent in a process of its own, at the command line and on a page are tried from
outside, against a running server; what is refused there changes nothing but that the refusal may be noted. Rows called files are about what
somebody does to a database or to a file that others are given. The four who try:

- **executor**: the executor of a run, with its own key or token;
- **agent**: planner, critic, auditor, whoever submits a plan or asks, and their programs;
- **same user**: another program of the user who runs demur, over the socket or the command line;
- **operator**: somebody who has the data folder with its database and keys. Nothing can stop this one from writing; what is
  written is found out by `demur verify --strict` (with `--no-guess` for plans) or `demur store check`, never passed.

Tests are named `CRATE::MODULE::TEST` and stand in `crates/CRATE/tests/it/MODULE.rs`; `attack::NAME` is a file of `conformance/ledger/attacks`,
forged with the keys of everybody by a program that shares no code with the verifiers. Words instead of a code are what a report or a reply says.
";
