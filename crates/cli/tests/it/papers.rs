//! What demur signs about a plan: once, kept in the trace, and checked offline with `demur audit verify` and
//! `demur handoff verify`.

use std::fs;

use demur_clarify::{chain::Chain, seal::Signer};
use demur_core::{canonical, key::SecretKey, octets::Octets};
use demur_desk::keyring::AGENT_ID;
use serde_json::{Value, json};

use crate::{
    plan::{Planned, with},
    sandbox::{Ran, Sandbox},
};

/// CLR-24 CLR-53 CLR-70 CLR-71: the key of demur is replaced between submission, answers, confirmation, attestation and
/// check; record, package and export hold at every point, and what was signed before stays as it was, byte for byte.
#[test]
fn papers_hold_however_often_the_key_is_replaced() {
    let planned = Planned::new(&with(&json!({"real_build": true, "standards_selected": ["gdpr"]})));
    let sandbox = &planned.sandbox;
    let mut rounds: Vec<Value> = Vec::new();
    let mut look = |step: &str| {
        rotate(sandbox);
        check(&planned, step);
        let record = sandbox.json(&["audit", &planned.session]);
        let now = record["chain"].as_array().unwrap().clone();
        assert_eq!(now[..rounds.len()], rounds[..], "{step}");
        rounds = now;
    };
    let document = planned.json("show", &[], 0)["document"].clone();
    look("submitted");
    assert_eq!(planned.json("show", &[], 0)["document"], document, "a new key signs nothing anew");
    planned.run("resolve", &["gap-002", "dist"]).expect_code(0);
    look("answered");
    planned.run("resolve", &["gap-001", "--accept"]).expect_code(0);
    look("accepted");
    let confirmed = planned.json("confirm", &[], 0);
    look("confirmed");
    let attestation = &confirmed["attestation"];
    assert_eq!(attestation["inputs"]["clarification_rounds"], 2);
    assert_eq!(planned.json("show", &[], 0)["attestation"], *attestation);
    fs::create_dir(sandbox.path("dist")).unwrap();
    fs::write(sandbox.path("dist/one"), "one").unwrap();
    planned.run("attest", &["--output", "dist"]).expect_code(0);
    look("attested");
    sandbox.run(&["export", "last", "--out", "last.jsonl"]).expect_code(0);
    sandbox.run(&["verify", "last.jsonl", "--no-guess"]).expect_code(0);
}

/// CLR-51 CLR-53: what was done to a record or a package is found offline.
#[test]
fn a_changed_record_or_package_does_not_hold() {
    let planned = Planned::new(&with(&json!({"real_build": true})));
    let sandbox = &planned.sandbox;
    planned.run("resolve", &["gap-001", "dist"]).expect_code(0);
    sandbox.run(&["export", "last", "--out", "trace.jsonl"]).expect_code(0);
    let record = sandbox.run(&["audit", &planned.session, "--json"]).stdout.clone();
    let package = sandbox.run(&["handoff", &planned.session, "--task", "go on"]).stdout.clone();
    for (command, document) in [("audit", &record), ("handoff", &package)] {
        fs::write(sandbox.path("paper.json"), document).unwrap();
        let holds = verify(sandbox, command, "paper.json", "trace.jsonl");
        assert!(holds.expect_code(0).stdout.starts_with("Holds: "), "{holds}");
        fs::write(sandbox.path("forged.json"), document.replace("\"dist\"", "\"/\"")).unwrap();
        let forged = verify(sandbox, command, "forged.json", "trace.jsonl");
        assert!(forged.expect_code(1).stdout.starts_with("Does not hold: "), "{forged}");
        fs::write(sandbox.path("forged.json"), document.replace("\"terminal\"", "\"passkey\"")).unwrap();
        verify(sandbox, command, "forged.json", "trace.jsonl").expect_code(1);
    }
    sandbox.run(&["export", "last", "--out", "later.jsonl"]).expect_code(0);
    for (command, document) in [("audit", &record), ("handoff", &package)] {
        fs::write(sandbox.path("paper.json"), document).unwrap();
        let holds = verify(sandbox, command, "paper.json", "later.jsonl");
        assert!(holds.expect_code(0).stdout.contains("word for word in event "), "{holds}");
    }
    let key = &planned.json("show", &[], 0)["attestation"];
    assert_eq!(*key, Value::Null, "not confirmed yet");
    fs::write(sandbox.path("paper.json"), &record).unwrap();
    let other = format!("ed25519:{}", "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    sandbox.run(&["audit", "verify", "paper.json", "--key", &other]).expect_code(1);
    let cut = format!("2:sha256:{}", "0".repeat(64));
    let known = ["audit", "verify", "paper.json", "--registry", "trace.jsonl", "--round", &cut];
    let ran = sandbox.run(&known);
    assert!(ran.expect_code(1).stdout.contains("the end was cut off"), "{ran}");
    // Nothing vouches for the signer: that is a mistake, not a verdict.
    sandbox.run(&["audit", "verify", "paper.json"]).expect_code(2);
    sandbox.run(&["audit", "verify", "trace.jsonl", "--registry", "trace.jsonl"]).expect_code(2);
    sandbox.run(&["audit", "verify", "paper.json", "--registry", "paper.json"]).expect_code(2);
}

/// CLR-51 CLR-53: what demur signed itself, with fewer rounds than its session has, does not hold beside the session.
#[test]
fn a_record_that_its_own_signer_cut_does_not_hold_beside_its_session() {
    let planned = Planned::new(&with(&json!({"real_build": true})));
    let sandbox = &planned.sandbox;
    let empty = sandbox.run(&["audit", &planned.session, "--json"]).stdout.clone();
    fs::write(sandbox.path("early.json"), &empty).unwrap();
    planned.run("resolve", &["gap-001", "dist"]).expect_code(0);
    sandbox.run(&["export", "last", "--out", "trace.jsonl"]).expect_code(0);
    let early = verify(sandbox, "audit", "early.json", "trace.jsonl");
    assert!(early.expect_code(0).stdout.contains("word for word in event "), "kept as it was then: {early}");
    let record = Chain::new(planned.session.parse().unwrap()).seal(false, &demurs_signer(sandbox)).unwrap();
    fs::write(sandbox.path("cut.json"), canonical::to_vec(&record).unwrap()).unwrap();
    let cut = verify(sandbox, "audit", "cut.json", "trace.jsonl");
    assert!(cut.expect_code(1).stdout.contains("other rounds, or more"), "{cut}");
}

/// Returns what signs as demur does, with the key in its folder.
fn demurs_signer(sandbox: &Sandbox) -> Signer {
    let files = fs::read_dir(sandbox.data().join("keys")).unwrap();
    let keys = files
        .filter_map(|file| serde_json::from_slice::<Value>(&fs::read(file.unwrap().path()).unwrap()).ok());
    let key = { keys }.find(|key| key["role"] == "desk").unwrap();
    let seed = Octets::<32, 32>::from_hex(key["seed"].as_str().unwrap()).unwrap();
    Signer::new(AGENT_ID.parse().unwrap(), SecretKey::from_seed(&<[u8; 32]>::try_from(&*seed).unwrap()))
}

/// CLR-33 CLR-44 CLR-45: an answer that closed choices do not take is told as escalated, stays in the record with its
/// words and whoever gave it, and the export holds.
#[test]
fn a_rejected_answer_is_a_round_with_its_words() {
    let planned =
        Planned::new(&with(&json!({"standards_selected": ["jsp-440"], "deployment_target": "uswds"})));
    let sandbox = &planned.sandbox;
    let rejected = planned.json("resolve", &["gap-001", "neither"], 3);
    assert_eq!((&rejected["status"], &rejected["accepted_answer"]), (&json!("escalated"), &Value::Null));
    planned.run("resolve", &["gap-001", "jsp-440-only"]).expect_code(0);
    let record = sandbox.json(&["audit", &planned.session]);
    let told = |round: &Value| (round["answer"].clone(), round["resolved"].clone());
    let rounds: Vec<_> = record["chain"].as_array().unwrap().iter().map(told).collect();
    assert_eq!(rounds, [(json!("neither"), json!(false)), (json!("jsp-440-only"), json!(true))]);
    for round in record["chain"].as_array().unwrap() {
        assert_eq!(round["answered_for"]["assurance"], "terminal");
    }
    check(&planned, "answered");
}

/// Checks record, package and export.
#[track_caller]
fn check(planned: &Planned, step: &str) {
    let sandbox = &planned.sandbox;
    let session = planned.session.as_str();
    let export = format!("{step}.jsonl");
    sandbox.run(&["export", "last", "--out", &export]).expect_code(0);
    sandbox.run(&["verify", &export]).expect_code(0);
    fs::write(sandbox.path("record.json"), &sandbox.run(&["audit", session, "--json"]).stdout).unwrap();
    verify(sandbox, "audit", "record.json", &export).expect_code(0);
    fs::write(sandbox.path("package.json"), &sandbox.run(&["handoff", session, "--task", "go on"]).stdout)
        .unwrap();
    verify(sandbox, "handoff", "package.json", &export).expect_code(0);
}

fn verify(sandbox: &Sandbox, command: &str, paper: &str, export: &str) -> Ran {
    sandbox.run(&[command, "verify", paper, "--registry", export])
}

/// Gives demur another key and ends the time of the old one.
fn rotate(sandbox: &Sandbox) {
    sandbox.run(&["keys", "rotate", "desk", "--retire-now"]).expect_code(0);
}

/// CLR-24 CLR-50: a round has the answer as the event has it, however it was typed; the export holds.
#[test]
fn an_answer_that_was_typed_otherwise_is_a_round_that_holds() {
    for typed in ["Yes", "true", " yes "] {
        let planned = Planned::new(&with(&json!({"standards_selected": ["gdpr"]})));
        let sandbox = &planned.sandbox;
        planned.run("resolve", &["gap-001", typed]).expect_code(0);
        let record = sandbox.json(&["audit", &planned.session]);
        assert_eq!(record["chain"][0]["answer"], "yes", "{typed:?}: {record}");
        sandbox.run(&["export", "last", "--out", "trace.jsonl"]).expect_code(0);
        sandbox.run(&["verify", "trace.jsonl"]).expect_code(0);
    }
}
