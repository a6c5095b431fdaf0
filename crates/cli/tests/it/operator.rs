//! Lies of somebody who has the data folder and the key of demur: the operator, or a program of the same user. Each is
//! told against real servers, and no strict verdict passes it.

mod forged;
mod taken_away;

use std::{fs, process::Command};

use serde_json::json;

use crate::{
    plan::{Planned, with},
    sandbox::{Ran, Sandbox},
};

/// LED-29 ONE-12: after a restoration two readers compare what they have.
#[test]
fn history_that_was_left_behind_is_called_abandoned() {
    let sandbox = asked();
    sandbox.run(&["store", "backup", "copy"]).expect_code(0);
    let id = open(&sandbox);
    sandbox.run(&["answer", &id, "main"]).expect_code(0);
    sandbox.run(&["export", "last", "--out", "before.jsonl"]).expect_code(0);
    sandbox.run(&["stop"]).expect_code(0);
    sandbox.run(&["store", "restore", "copy", "--replace"]).expect_code(0);
    sandbox.run(&["answer", &open(&sandbox), "another branch"]).expect_code(0);
    sandbox.run(&["export", "last", "--out", "after.jsonl"]).expect_code(0);
    let told = sandbox.run(&["verify", "before.jsonl", "after.jsonl"]);
    assert!(told.stdout.contains("HISTORY_ABANDONED"), "{told}");
    refused(&sandbox, &["verify", "--strict", "before.jsonl", "after.jsonl"], "HISTORY_ABANDONED");
}

/// ONE-12: two copies of one store go on apart, one of them with a revocation.
#[test]
fn two_registries_of_one_store_are_an_equivocation() {
    let sandbox = asked();
    sandbox.run(&["stop"]).expect_code(0);
    let copied = Command::new("cp").arg("-a").args([sandbox.path("data"), sandbox.path("other")]).status();
    assert!(copied.unwrap().success());
    sandbox.run(&["keys", "revoke", "bot", "--reason", "compromised"]).expect_code(0);
    sandbox.run(&["keys", "new", "carol", "--role", "critic", "--data", "other"]).expect_code(0);
    sandbox.run(&["export", "last", "--out", "one.jsonl"]).expect_code(0);
    sandbox.run(&["export", "last", "--data", "other", "--out", "two.jsonl"]).expect_code(0);
    sandbox.run(&["stop", "--data", "other"]).expect_code(0);
    refused(&sandbox, &["verify", "one.jsonl", "two.jsonl"], "EQUIVOCATION");
}

/// ONE-12: a file from before a revocation, shown to a reader who has the rest of the registry.
#[test]
fn registry_that_was_cut_before_a_revocation_does_not_pass() {
    let sandbox = asked();
    sandbox.run(&["export", "last", "--out", "old.jsonl"]).expect_code(0);
    let stolen = sandbox.fingerprint("desk");
    sandbox.run(&["keys", "rotate", "desk"]).expect_code(0);
    sandbox.run(&["keys", "revoke", &stolen, "--reason", "compromised"]).expect_code(0);
    sandbox.run(&["export", "registry", "--out", "registry.jsonl"]).expect_code(0);
    let alone = sandbox.run(&["verify", "old.jsonl"]);
    assert!(alone.stdout.contains("keys may have been revoked after registry event"), "{alone}");
    refused(&sandbox, &["verify", "--strict", "old.jsonl", "--registry", "registry.jsonl"], "REVOKED_SINCE");
}

/// CLR-16 CLR-52: rules that ask for nothing, under the name of those that ask.
#[test]
fn emptied_pack_under_the_name_of_the_built_in_one_is_called_changed() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("empty")).unwrap();
    let pack = "[pack]\nname = \"default\"\nversion = \"1\"\n\n[[required]]\nid = \"one\"\nfield = \"description\"\nquestion = \"What?\"\n";
    fs::write(sandbox.path("empty/pack.toml"), pack).unwrap();
    sandbox.run(&["rules", "use", "empty", "--only"]).expect_code(0);
    fs::write(sandbox.path("plan.json"), with(&json!({"real_build": true})).to_string()).unwrap();
    sandbox.run(&["keys", "new", "agent", "--role", "agent"]).expect_code(0);
    sandbox.run(&["plan", "submit", "plan.json", "--as", "agent"]).expect_code(0);
    sandbox.run(&["export", "last", "--out", "plan.jsonl"]).expect_code(0);
    let told = sandbox.run(&["verify", "--no-guess", "plan.jsonl"]);
    assert!(told.stdout.contains("changed"), "{told}");
}

/// ONE-12: the key of demur pinned alone says nothing about whose the other keys are.
#[test]
fn keys_that_nothing_links_to_a_pin_do_not_pass() {
    let sandbox = asked();
    sandbox.run(&["export", "last", "--out", "file.jsonl"]).expect_code(0);
    let pin = format!("desk={}", sandbox.fingerprint("desk"));
    refused(&sandbox, &["verify", "--strict", "--pin", &pin, "file.jsonl"], "KEY_UNLINKED");
}

/// CLR-24 CLR-52: words of a plan's record changed in the database.
#[test]
fn words_that_were_changed_in_the_database_do_not_verify() {
    let planned = Planned::new(&with(&json!({"real_build": true})));
    let sandbox = &planned.sandbox;
    planned.run("resolve", &["gap-001", "dist"]).expect_code(0);
    sandbox.tamper(
        "UPDATE events SET content = CAST(replace(CAST(content AS TEXT), '\"dist\"', '\"/etc\"') AS BLOB) WHERE content IS NOT NULL;",
    );
    let checked = sandbox.run(&["store", "check"]);
    assert!(checked.expect_code(1).stdout.contains("EVENT_DAMAGED event 5"), "{checked}");
}

/// Returns a folder in which a program asked a question.
fn asked() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&["keys", "new", "bot", "--role", "agent"]).expect_code(0);
    sandbox.run(&["ask", "Which branch?", "--as", "bot", "--no-wait"]).expect_code(0);
    sandbox
}

/// Expects that a verdict is none, or that it fails, and for this reason.
#[track_caller]
fn refused(sandbox: &Sandbox, words: &[&str], code: &str) {
    let ran: Ran = sandbox.run(words);
    assert!(ran.code == Some(1) && ran.stdout.contains(code), "{code}: {ran}");
}

/// Returns the id of the open question.
fn open(sandbox: &Sandbox) -> String {
    sandbox.json(&["inbox", "--list"])["questions"][0]["id"].as_str().unwrap().to_owned()
}
