//! The inbox in a real browser: Chromium, driven by the tests in `web/tests`, against the real command. Pictures of the
//! pages are kept beside what was built; with `DEMUR_BLESS=1` those of the documents are replaced.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use demur_mcp_fixture::variable;

use crate::sandbox::count;

/// Runs the tests of one file in `web/tests`.
fn browser(file: &str) {
    browser_late(file, 0);
}

/// Runs them with stylesheet and script up to so many milliseconds late.
fn browser_late(file: &str, milliseconds: u32) {
    let pictures = kept("pictures");
    let output = Command::new(variable("DEMUR_MCP_NODE"))
        .arg(tests().join("run.mjs"))
        .arg(file)
        .env("DEMUR", env!("CARGO_BIN_EXE_demur"))
        .env("DEMUR_NODE", variable("DEMUR_BROWSER_MODULES"))
        .env("DEMUR_PICTURES", &pictures)
        .env("DEMUR_LATE", milliseconds.to_string())
        .output()
        .expect("Node cannot be started: run `cargo xtask test`");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.lines().any(|line| line.starts_with("ok ")), "no test ran: {said}");
    if env::var_os("DEMUR_BLESS").is_some() {
        bless(&pictures);
    }
}

/// Copies the pictures that documents show: those whose name begins with `docs-`.
fn bless(pictures: &Path) {
    let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    fs::create_dir_all(&documents).unwrap();
    for entry in fs::read_dir(pictures).unwrap() {
        let path = entry.unwrap().path();
        let name =
            path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix("docs-"));
        if let Some(name) = name {
            fs::copy(&path, documents.join(name)).unwrap();
        }
    }
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/tests")
}

fn kept(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser").join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// ONE-01 ONE-02 AEP-15
#[test]
fn people_answer_decline_extend_and_race() {
    browser("answering");
}

/// What people do rests on nothing that comes late on a bad network.
#[test]
fn proof_answers_wait_for_no_stylesheet_and_no_script() {
    for _ in 0..count(1, 10) {
        browser_late("answering", 500);
    }
}

/// ONE-09
#[test]
fn people_confirm_and_refuse_exactly_what_they_see() {
    browser("confirming");
}

/// AEP-15
#[test]
fn open_pages_follow_what_happens_and_say_it_once() {
    browser("live");
}

#[test]
fn every_page_is_accessible_in_light_and_dark_and_fits_a_phone() {
    browser("pages");
}

/// ONE-03 ONE-11 ONE-15
#[test]
fn browsers_sign_in_without_a_code_in_an_address_and_their_cookie_alone_changes_nothing() {
    browser("signing");
}

/// ONE-10: enrolled, touched for answers, confirmations and people, signed in with, and removed; both verifiers accept what was signed.
#[test]
fn people_sign_with_passkeys() {
    browser("passkeys");
}

#[test]
fn hostile_words_do_nothing_and_hide_nothing() {
    browser("hostile");
}
