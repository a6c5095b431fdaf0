//! A data folder that a newer version of demur has used: what it recorded is refused, everything else goes on.

use std::process::Command;

use demur_core::{canonical, hash::sha256};
use demur_desk::{data::DataFolder, keyring::FolderKeyring, owner::find_desk_key};
use demur_ledger::{
    entry::Entry,
    envelope::Event,
    name::TraceId,
    signed::{Head, Signed},
};
use demur_store::{
    contract::{Append, Leases as _, Store as _, Write, WriteOutcome},
    sqlite::SqliteStore,
};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{
    asker::{asked, shown},
    sandbox::Sandbox,
};

/// Records what a newer version would in a trace: an event of a type that this one does not know, under the desk's signature.
fn visit(sandbox: &Sandbox, trace: TraceId) {
    let store = SqliteStore::open(sandbox.data()).unwrap();
    let registry = demur_sequencer::registry(&store).unwrap();
    let summary = store.trace(trace).unwrap().unwrap();
    let envelope = json!({
        "actor": registry.desk(),
        "content": null,
        "epoch": 1,
        "format": 1,
        "previous": summary.head.hash,
        "proof": "none",
        "record": {"cause": null, "facts": {}, "role": "desk", "type": "question_muted"},
        "registry": registry.head(),
        "sequence": summary.head.sequence.next(),
        "statement": null,
        "store": registry.store(),
        "time": summary.changed,
        "trace": trace,
    });
    let event = Event::parse(&canonical::to_vec(&envelope).unwrap()).unwrap();
    let (store_id, head) = (registry.store(), event.position());
    let document = Head { epoch: 1, head, registry: registry.head(), store: store_id, trace };
    let data = DataFolder::locate(Some(&sandbox.data())).unwrap();
    let desk = find_desk_key(&FolderKeyring::of(&data), &store).unwrap();
    let append = Append {
        trace,
        expected: Some(summary.head),
        entries: vec![Entry { event, opening: None, artifact: None, meaning: None }],
        head: Signed::new(document, &desk).unwrap(),
        phase: summary.phase,
        questions: Vec::new(),
        confirmations: Vec::new(),
        snapshot: None,
    };
    let writer = store.begin_lease(sha256(b"")).unwrap().id;
    assert_eq!(store.commit(&[Write::of_events(writer, append)]).unwrap(), [WriteOutcome::Done]);
    store.end_lease(writer).unwrap();
}

/// Returns what the server says when it is asked for the events of a trace.
fn events(sandbox: &Sandbox, trace: TraceId) -> Value {
    let mut curl = Command::new("curl");
    curl.args(["-s", "--unix-socket"]).arg(sandbox.data().join("socket"));
    curl.arg(format!("http://localhost/v1/traces/{trace}/events"));
    serde_json::from_slice(&curl.output().unwrap().stdout).unwrap()
}

fn trace_of(question: &Value) -> TraceId {
    question["trace"].as_str().unwrap().parse().unwrap()
}

#[test]
fn newer_trace_is_refused_by_every_command_and_the_others_go_on() {
    let sandbox = Sandbox::new();
    let newer = asked(&sandbox, &["Ship it?"]);
    let other = asked(&sandbox, &["Name?"]);
    let trace = trace_of(&shown(&sandbox, &newer));
    sandbox.run(&["stop"]).expect_code(0);
    visit(&sandbox, trace);
    let id = trace.to_string();
    for call in [
        vec!["answer", &newer, "yes"],
        vec!["decline", &newer],
        vec!["export", &id, "--out", "trace.jsonl"],
        vec!["trace", "show", &id],
    ] {
        let error = sandbox.json_error(&call, 3);
        assert_eq!(error["code"], "TRACE_NEWER", "{call:?}: {error}");
    }
    assert_snapshot!(sandbox.run(&["answer", &newer, "yes"]), @r"
    exit 3
    --- stderr
    error: event 1 of trace [ULID] has the event type question_muted, which this demur does not know: use a newer version of demur
    hint: nothing was changed; `demur --version` shows which one this is
    ");
    assert_eq!(events(&sandbox, trace)["code"], "TRACE_NEWER");
    sandbox.run(&["answer", &other, "ada"]).expect_code(0);
    assert_eq!(shown(&sandbox, &other)["state"], "answered");
    sandbox.run(&["inbox", "--list"]).expect_code(0);
    sandbox.run(&["doctor"]).expect_code(0);
    let listed = sandbox.json(&["trace", "list"]);
    assert!(listed["traces"].as_array().unwrap().iter().all(|trace| trace["failed"].is_null()), "{listed}");
}

/// LED-18
#[test]
fn check_tells_of_a_newer_trace_and_marks_nothing() {
    let sandbox = Sandbox::new();
    let newer = asked(&sandbox, &["Ship it?"]);
    let trace = trace_of(&shown(&sandbox, &newer));
    sandbox.run(&["stop"]).expect_code(0);
    visit(&sandbox, trace);
    assert_snapshot!(sandbox.run(&["store", "check"]), @r"
    exit 3
    --- stdout
    TRACE_NEWER event 1 of trace [ULID] has the event type question_muted, which this demur does not know
        cure: use a newer version of demur; `demur --version` shows which one this is
    1 problem among 2 traces with 4 events.
    ");
    assert_eq!(sandbox.json(&["trace", "list"])["traces"][0]["failed"], Value::Null);
    // What follows from the others is made again, and no trace is another one afterwards.
    let before = sandbox.contents();
    sandbox.tamper("DELETE FROM key_changes");
    assert_snapshot!(sandbox.run(&["store", "rebuild"]), @r"
    exit 0
    --- stdout
    Rebuilt: index, commands, changes of keys and phases of runs were made again from 2 traces with 4 events.
      key_changes: rows added 2, rows removed 0
    Left alone: 1 trace with events of a newer version of demur.
    ");
    assert_eq!(sandbox.json(&["store", "rebuild"])["newer"], 1);
    assert_eq!(sandbox.contents(), before);
    // Damage beside it is damage.
    sandbox.tamper("UPDATE events SET content_salt = randomblob(32) WHERE trace = 2 AND sequence = 0");
    sandbox.run(&["store", "check"]).expect_code(1);
}

#[test]
fn newer_registry_closes_the_store_and_breaks_nothing() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    let trace = SqliteStore::open(sandbox.data()).unwrap().registry().unwrap().unwrap();
    visit(&sandbox, trace);
    for call in
        [&["keys", "list"][..], &["keys", "new", "carol", "--role", "critic"], &["ask", "Name?", "--no-wait"]]
    {
        let error = sandbox.json_error(call, 2);
        assert_eq!(error["code"], "STORE_NEWER", "{call:?}: {error}");
    }
    let check = sandbox.run(&["store", "check"]);
    assert!(check.expect_code(3).stdout.starts_with("TRACE_NEWER"), "{check}");
}
