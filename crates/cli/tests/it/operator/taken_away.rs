//! What is taken out of a database, by hand and with its triggers off, is missed by the store itself: what demur signed about the
//! store lies beside the database. What nothing on the machine can tell is told by an export from before: the last row.

use std::fs;

use crate::{
    asker::asked,
    sandbox::{Ran, Sandbox},
    store_check::{CLOSE_UP, removal},
};

/// Takes the newest event of the registry out of the database.
const CUT_REGISTRY: &str = "
    DELETE FROM commands WHERE event = (SELECT max(ordinal) FROM events WHERE trace = 1);
    DELETE FROM key_changes WHERE sequence = (SELECT max(sequence) FROM events WHERE trace = 1);
    DELETE FROM snapshots WHERE trace = 1;
    DELETE FROM events WHERE ordinal = (SELECT max(ordinal) FROM events WHERE trace = 1);";

const HEAD: &str = "registry-head.json";
const ROOT: &str = "store-root.json";

/// Returns a store with the registry, a run that a recorded root covers, and a question that none does.
fn with_question() -> Sandbox {
    let sandbox = Sandbox::with_run();
    asked(&sandbox, &["Which?"]);
    sandbox
}

/// ONE-13: no recorded root covers the trace.
#[test]
fn trace_that_no_recorded_root_covers_is_missed() {
    let sandbox = with_question();
    sandbox.run(&["store", "check"]).expect_code(0);
    sandbox.tamper(&removal(3));
    missed(&sandbox, "expected the 3 traces of");
    assert!(!sandbox.run(&["store", "check"]).stdout.contains("ROOT_DIFFERS"));
}

/// ONE-13: its last event, and with it what was derived.
#[test]
fn trace_that_was_cut_is_missed() {
    let last = "(SELECT max(ordinal) FROM events WHERE trace = 2)";
    let cut = format!(
        "DELETE FROM commands WHERE event = {last}; DELETE FROM snapshots; DELETE FROM events WHERE ordinal = {last};"
    );
    for (close_up, why) in [("", "events are missing"), (CLOSE_UP, "as many, and not the same events")] {
        let sandbox = with_question();
        sandbox.tamper(&format!("{cut} {close_up}"));
        missed(&sandbox, why);
    }
}

/// ONE-13: the server looks, too, at what was changed under it.
#[test]
fn trace_that_is_taken_away_from_under_a_server_is_missed() {
    let sandbox = with_question();
    assert!(sandbox.data().join("socket").exists());
    Sandbox::tamper_with(&sandbox.database(), &removal(2));
    let checked = sandbox.run(&["store", "check"]);
    assert!(checked.expect_code(1).stdout.contains(ROOT), "{checked}");
}

/// ONE-13: an older head of the registry was signed by demur as well.
#[test]
fn older_head_put_back_beside_a_shortened_registry_is_missed() {
    let sandbox = Sandbox::with_run();
    let older = fs::read(sandbox.data().join(HEAD)).unwrap();
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
    sandbox.tamper(CUT_REGISTRY);
    fs::write(sandbox.data().join(HEAD), older).unwrap();
    missed(&sandbox, "expected registry event");
}

/// ONE-13: without the files nobody could tell, so nothing begins. What the cure says works, and is on record.
#[test]
fn files_that_were_removed_are_missed() {
    for name in [HEAD, ROOT] {
        let sandbox = Sandbox::with_run();
        sandbox.rest();
        fs::remove_file(sandbox.data().join(name)).unwrap();
        let refused = sandbox.json_error(&["keys", "new", "carol", "--role", "critic"], 2);
        assert_eq!(refused["code"], "STORE_DAMAGED", "{refused}");
        assert!(refused["message"].as_str().unwrap().contains(name), "{refused}");
        sandbox.run(&["store", "backup", "copy"]).expect_code(0);
        sandbox.run(&["store", "restore", "copy", "--replace"]).expect_code(0);
        sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
        let registry = sandbox.run(&["trace", "show", "registry"]);
        assert!(registry.stdout.contains("came back from a backup"), "{registry}");
        sandbox.run(&["store", "check"]).expect_code(0);
    }
}

/// ONE-13: a root that the desk did not sign, or that is about another moment, is none.
#[test]
fn root_that_demur_did_not_sign_is_refused() {
    for (was, now) in [("\"traces\":2", "\"traces\":1"), ("\"epoch\":1", "\"epoch\":2")] {
        let sandbox = Sandbox::with_run();
        sandbox.rest();
        let path = sandbox.data().join(ROOT);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(was), "{text}");
        fs::write(&path, text.replace(was, now)).unwrap();
        missed(&sandbox, "expected a document that demur signed");
    }
}

/// ONE-13: a trace is taken out of a backup, one that a recorded root covers or one that none does.
#[test]
fn backup_from_which_a_trace_was_taken_takes_nothing_over() {
    for (trace, why) in [(2, "registry event 9: expected the 2 traces it is a root over, found "), (3, ROOT)]
    {
        let sandbox = with_question();
        sandbox.run(&["store", "backup", "copy"]).expect_code(0);
        sandbox.rest();
        Sandbox::tamper_with(&sandbox.path("copy/ledger.db"), &removal(trace));
        let before = sandbox.contents();
        let restored = sandbox.run(&["store", "restore", "copy", "--replace"]);
        assert!(restored.code == Some(2) && restored.stderr.contains(why), "{restored}");
        assert_eq!(sandbox.contents(), before, "nothing was touched");
    }
}

/// ONE-13: whoever puts everything back as it was, the files too, is found by what somebody else has.
#[test]
fn everything_rolled_back_together_is_told_by_an_export_from_before() {
    let sandbox = Sandbox::with_run();
    sandbox.rest();
    let kept: Vec<_> = [HEAD, ROOT, "ledger.db"].map(|name| sandbox.data().join(name)).into();
    let older: Vec<_> = kept.iter().map(|path| fs::read(path).unwrap()).collect();
    sandbox.run(&["keys", "new", "dave", "--role", "critic"]).expect_code(0);
    sandbox.run(&["export", "registry", "--out", "before.jsonl"]).expect_code(0);
    sandbox.rest();
    for (path, bytes) in kept.iter().zip(older) {
        fs::write(path, bytes).unwrap();
    }
    // Nothing on the machine tells.
    sandbox.run(&["store", "check"]).expect_code(0);
    sandbox.run(&["keys", "new", "erin", "--role", "critic"]).expect_code(0);
    sandbox.run(&["export", "registry", "--out", "after.jsonl"]).expect_code(0);
    let told = sandbox.run(&["verify", "before.jsonl", "after.jsonl"]);
    assert!(told.expect_code(1).stdout.contains("EQUIVOCATION"), "{told}");
}

/// Expects that nothing begins in the folder, and that a check says why.
#[track_caller]
fn missed(sandbox: &Sandbox, why: &str) {
    let started: Ran = sandbox.run(&["keys", "new", "mallory", "--role", "critic"]);
    assert!(started.code == Some(2) && started.stderr.contains(why), "{started}");
    let checked = sandbox.run(&["store", "check"]);
    assert!(checked.expect_code(1).stdout.contains(why), "{checked}");
}
