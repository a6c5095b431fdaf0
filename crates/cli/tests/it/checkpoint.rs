//! `demur checkpoint`.

use demur_core::merkle::{self, Scheme};
use demur_ledger::signed::TraceLeaf;
use demur_store::{contract::Store as _, sqlite::SqliteStore};
use insta::assert_snapshot;

use crate::sandbox::Sandbox;

#[test]
fn checkpoint_is_recorded_and_told() {
    let sandbox = Sandbox::with_run();
    assert_snapshot!(sandbox.run(&["checkpoint"]), @r"
    exit 0
    --- stdout
    Recorded a checkpoint over 2 traces, the registry among them.
      root         [FINGERPRINT]
      event        10 of the registry, [FINGERPRINT]
    Keep the event's number and hash elsewhere: `demur verify --against` tells then if anything was rewritten.
    ");
}

#[test]
fn root_is_over_all_traces_as_they_were() {
    let sandbox = Sandbox::with_run();
    let heads = SqliteStore::open_read_only(sandbox.data()).unwrap().heads().unwrap();
    let reply = sandbox.json(&["checkpoint"]);
    let leaves: Vec<_> = heads
        .iter()
        .map(|(trace, head)| {
            let length = head.sequence.next().number().try_into().unwrap();
            TraceLeaf { head: head.hash, length, trace: *trace }.hash().unwrap()
        })
        .collect();
    assert_eq!(reply["root"], merkle::root(Scheme::DEMUR, &leaves).to_string());
    assert_eq!((&reply["traces"], &reply["event"]["sequence"]), (&2.into(), &10.into()));
}

#[test]
fn event_of_a_checkpoint_anchors_the_registry() {
    let sandbox = Sandbox::with_keys();
    let event = &sandbox.json(&["checkpoint"])["event"];
    let known = format!("{}:{}", event["sequence"], event["hash"].as_str().unwrap());
    sandbox.run(&["keys", "new", "carol", "--role", "critic"]).expect_code(0);
    let export = sandbox.run(&["export", "registry"]).stdout;
    sandbox.feed(&["verify", "-", "--against", &known, "--require-anchor"], export.as_bytes()).expect_code(0);
    let other = format!("{}:{}", event["sequence"], "0".repeat(64));
    sandbox.feed(&["verify", "-", "--against", &other], export.as_bytes()).expect_code(1);
}

#[test]
fn nothing_to_fix_in_an_empty_folder() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.json_error(&["checkpoint"], 2)["code"], "NO_KEYS");
    assert!(!sandbox.data().exists());
}
