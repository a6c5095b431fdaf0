//! `demur confirm`: one operation by its digest, one yes or no, one start; silence is a no.

use std::process::{Child, Stdio};

use insta::assert_snapshot;
use serde_json::Value;

use crate::{
    asker::until,
    inbox::terminal::Terminal,
    sandbox::{Ran, Sandbox},
    server_life::kill,
};

/// Asks without waiting; returns the id.
fn wanted(sandbox: &Sandbox, more: &[&str]) -> String {
    let ask = ["confirm", "ask", ACTION, "--operation", OPERATION, "--no-wait"];
    sandbox.run(&[&ask, more].concat()).expect_code(0).stdout.trim_end().to_owned()
}

fn shown(sandbox: &Sandbox, id: &str) -> Value {
    sandbox.json(&["confirm", "show", id])
}

fn started(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    sandbox.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// ONE-09: somebody at the terminal sees what waits, whole, before a yes; a no needs no more than a word.
#[test]
fn somebody_at_the_inbox_sees_an_operation_and_decides_it() {
    let sandbox = Sandbox::new();
    let first = wanted(&sandbox, &[]);
    let terminal = Terminal::open(&sandbox, "inbox");
    terminal.shows(&format!("o1. {ACTION}"));
    // A yes is for what was shown.
    terminal.enter("o1 yes");
    terminal.shows("\"amount\": 10");
    assert_eq!(shown(&sandbox, &first)["state"], "open");
    terminal.enter("o1 yes as discussed");
    terminal.shows("Done: o1: Confirmed by");
    let given = shown(&sandbox, &first);
    assert_eq!(
        (given["state"].as_str(), given["outcome"]["note"].as_str()),
        (Some("given"), Some("as discussed"))
    );
    // What comes meanwhile shows by itself, and what others decide.
    let second = wanted(&sandbox, &[]);
    terminal.shows("New: o2.");
    terminal.enter("o2 no too much");
    terminal.shows("Done: o2: Refused by");
    let refused = shown(&sandbox, &second);
    assert_eq!(
        (refused["state"].as_str(), refused["outcome"]["note"].as_str()),
        (Some("refused"), Some("too much"))
    );
    let third = wanted(&sandbox, &[]);
    terminal.shows("New: o3.");
    sandbox.run(&["confirm", "refuse", &third]).expect_code(0);
    terminal.shows("o3: Refused by");
    terminal.enter("o3 yes");
    terminal.enter("o9");
    terminal.shows("No operation here has the number o9");
    assert_eq!(shown(&sandbox, &third)["state"], "refused");
}

/// ONE-09
#[test]
fn list_of_the_inbox_has_what_waits_for_a_yes() {
    let sandbox = Sandbox::new();
    let id = wanted(&sandbox, &[]);
    let listed = sandbox.run(&["inbox", "--list"]).expect_code(0).stdout.clone();
    assert!(listed.contains(ACTION) && listed.contains(&id), "{listed}");
    assert!(!listed.contains("Nothing waits"), "{listed}");
    let listed = sandbox.json(&["inbox", "--list"]);
    assert_eq!(listed["questions"], serde_json::json!([]), "{listed}");
    assert_eq!(listed["confirmations"][0]["id"], id.as_str(), "{listed}");
    sandbox.run(&["confirm", "refuse", &id]).expect_code(0);
    assert_eq!(sandbox.json(&["inbox", "--list"])["confirmations"], serde_json::json!([]));
    assert!(sandbox.run(&["inbox", "--list"]).expect_code(0).stdout.contains("Nothing waits"));
}

/// Kills the server, which has no time to say anything.
fn kill_server(sandbox: &Sandbox) {
    let server = sandbox.json(&["status"])["process"].as_u64().unwrap();
    kill(server.try_into().unwrap());
    until("it is gone", || sandbox.processes().is_empty().then_some(()));
}

/// Returns the code of a refusal.
fn code(ran: &Ran) -> String {
    ran.expect_code(3);
    let error: Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
    error["error"]["code"].as_str().unwrap_or_else(|| panic!("{error}")).to_owned()
}

/// ONE-09
#[test]
fn yes_serves_for_one_start_of_exactly_that_operation() {
    let sandbox = Sandbox::new();
    let id = wanted(&sandbox, &["--consequence", "The money is gone."]);
    let start = |operation: &str| sandbox.run(&["confirm", "start", &id, "--operation", operation, "--json"]);
    assert_eq!(code(&start(OPERATION)), "OPERATION_UNCONFIRMED");
    assert_snapshot!(sandbox.run(&["inbox", "--list"]), @r#"
    exit 0
    --- stdout
    - Send 10 to mallory
       from ask; waits for a yes or a no: `demur confirm show [ULID].0`
       [ULID].0
    "#);
    assert_snapshot!(sandbox.run(&["confirm", "list"]), @r#"
    exit 0
    --- stdout
    ID                            STATE  ASKER  ASKED                    ACTION
    [ULID].0  open   ask    [TIME]  Send 10 to mallory
    "#);
    let other = sandbox.run(&["confirm", "give", &id, "--digest", "0000", "--json"]);
    assert_eq!(code(&other), "CONFIRMATION_MISMATCH");
    assert_eq!(shown(&sandbox, &id)["state"], "open");
    assert_snapshot!(sandbox.run(&["confirm", "give", &id, "--note", "as discussed"]), @r#"
    exit 0
    --- stdout
    Send 10 to mallory
    What follows: The money is gone.
    Risk, as its asker says: high
    Operation:
      {
        "amount": 10,
        "to": "mallory"
      }
    Digest: [FINGERPRINT]
    Asked by ask at [TIME]
    State: Confirmed by [USER] (same user). as discussed
    Id: [ULID].0
    "#);
    assert_eq!(code(&sandbox.run(&["confirm", "refuse", &id, "--json"])), "CONFIRMATION_CLOSED");
    assert_eq!(code(&start(r#"{"amount":1000000,"to":"mallory"}"#)), "CONFIRMATION_MISMATCH");
    start(OPERATION).expect_code(0);
    assert_eq!(code(&start(OPERATION)), "CONFIRMATION_SPENT");
    let ended = sandbox.run(&["confirm", "end", &id, "--failed"]);
    assert!(ended.expect_code(0).stdout.contains("\nFailed, as its asker says in event "), "{ended}");
    assert_eq!(shown(&sandbox, &id)["ended"]["failed"], true);
    assert_eq!(code(&sandbox.run(&["confirm", "end", &id, "--json"])), "REFERENCE");
    let (trace, _) = id.split_once('.').unwrap();
    let export = sandbox.run(&["export", trace, "--out", "confirmed.jsonl"]);
    export.expect_code(0);
    let report = sandbox.run(&["verify", "confirmed.jsonl"]);
    assert!(report.expect_code(0).stdout.contains("ran once as event 5"), "{report}");
}

/// ONE-09
#[test]
fn whoever_waits_hears_yes_no_and_silence_by_exit_code() {
    let sandbox = Sandbox::new();
    for (act, code) in [("give", 0), ("refuse", 10)] {
        let child = started(&sandbox, &["confirm", "ask", ACTION, "--operation", OPERATION]);
        let open = || {
            let listed = sandbox.run(&["confirm", "list", "--json"]);
            let listed: Value = serde_json::from_str(&listed.stdout).ok()?;
            Some(listed["confirmations"][0]["id"].as_str()?.to_owned())
        };
        let id = until("it waits", open);
        sandbox.run(&["confirm", act, &id]).expect_code(0);
        let ran = sandbox.ran(child.wait_with_output().unwrap());
        let word = if code == 0 { "given\n" } else { "refused\n" };
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(code), word), "{ran}");
        sandbox.run(&["confirm", "wait", &id]).expect_code(code);
    }
    assert_snapshot!(sandbox.run(&["confirm", "ask", ACTION, "--operation", OPERATION, "--timeout", "1s"]), @r#"
    exit 12
    --- stdout
    expired
    --- stderr
    Confirmation [ULID].0 waits. `demur confirm show [ULID].0` shows it, `demur confirm give [ULID].0` confirms it.
    Refused: nobody confirmed it in time.
    "#);
}

/// ONE-09
#[test]
fn exactly_one_of_several_processes_decides() {
    let sandbox = Sandbox::new();
    for _ in 0..4 {
        let id = wanted(&sandbox, &[]);
        let acts = ["give", "refuse", "give", "refuse"];
        let children = acts.map(|act| started(&sandbox, &["confirm", act, &id, "--json"]));
        let ran = children.map(|child| sandbox.ran(child.wait_with_output().unwrap()));
        let state = shown(&sandbox, &id)["state"].as_str().unwrap().to_owned();
        let counted = if state == "given" { "give" } else { "refuse" };
        let codes = |act: &str| {
            let ran = acts.iter().zip(&ran).filter(|(one, _)| **one == act);
            ran.map(|(_, ran)| ran.code).collect::<Vec<_>>()
        };
        // The same said twice by the same person is one, or late.
        assert!(codes(counted).contains(&Some(0)), "{state}");
        let other = if counted == "give" { "refuse" } else { "give" };
        assert_eq!(codes(other), [Some(3), Some(3)], "{state}");
    }
}

/// ONE-09
#[test]
fn server_that_is_killed_keeps_what_waits() {
    let sandbox = Sandbox::new();
    let id = wanted(&sandbox, &[]);
    kill_server(&sandbox);
    assert_eq!(shown(&sandbox, &id)["state"], "open");
    sandbox.run(&["confirm", "refuse", &id, "--note", "too much"]).expect_code(0);
    kill_server(&sandbox);
    let ended = shown(&sandbox, &id);
    assert_eq!((&ended["state"], &ended["outcome"]["note"]), (&"refused".into(), &"too much".into()));
}

/// ONE-09
#[test]
fn plan_tells_what_it_begins_once_something_was_put_before_somebody() {
    let sandbox = Sandbox::new();
    let plan = crate::plan::with(&serde_json::json!({}));
    std::fs::write(sandbox.path("plan.json"), plan.to_string()).unwrap();
    sandbox.run(&["keys", "new", "agent", "--role", "agent"]).expect_code(0);
    sandbox.run(&["plan", "submit", "plan.json"]).expect_code(0);
    let begin =
        |more: &[&str]| sandbox.run(&[&["plan", "begin", "last", "transfer", "--json"], more].concat());
    begin(&[]).expect_code(0);
    let id = wanted(&sandbox, &["--trace", "last", "--as", "agent"]);
    sandbox.run(&["confirm", "refuse", &id]).expect_code(0);
    assert_eq!(code(&begin(&[])), "OPERATION_UNCONFIRMED");
    assert_eq!(code(&begin(&["--exact", OPERATION])), "OPERATION_UNCONFIRMED");
    begin(&["--exact", r#"{"amount":1,"to":"bob"}"#]).expect_code(0);
}

/// ONE-09 ONE-13: what a yes is to stays readable while something can be started on it.
#[test]
fn words_of_a_yes_are_not_erased_before_its_operation_starts() {
    let sandbox = Sandbox::new();
    let id = wanted(&sandbox, &[]);
    let (trace, _) = id.split_once('.').unwrap();
    let erase = |at: u64| sandbox.run(&["erase", &format!("{trace}.{at}"), "--why", "w", "--yes", "--json"]);
    let start = |operation: &str| sandbox.run(&["confirm", "start", &id, "--operation", operation, "--json"]);
    sandbox.run(&["confirm", "give", &id]).expect_code(0);
    for at in [0, 1] {
        let refused = erase(at);
        assert_eq!(code(&refused), "SETTLE_FIRST", "{refused}");
        assert!(refused.stderr.contains(&format!("demur confirm start {id}")), "{refused}");
    }
    // A process that has read nothing but the record holds to it too.
    kill_server(&sandbox);
    assert_eq!(code(&start(r#"{"amount":1000000,"to":"mallory"}"#)), "CONFIRMATION_MISMATCH");
    start(OPERATION).expect_code(0);
    erase(0).expect_code(0);
    erase(1).expect_code(0);
    // A no is kept whatever is erased: nothing starts on it.
    let id = wanted(&sandbox, &[]);
    sandbox.run(&["confirm", "refuse", &id]).expect_code(0);
    sandbox.run(&["erase", &id, "--why", "w", "--yes"]).expect_code(0);
    kill_server(&sandbox);
    let start = sandbox.run(&["confirm", "start", &id, "--operation", OPERATION, "--json"]);
    assert_eq!(code(&start), "OPERATION_UNCONFIRMED");
}

#[test]
fn operation_that_is_no_object_is_told_how_to_write_it() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["confirm", "ask", ACTION, "--operation", "10"]), @r#"
    exit 2
    --- stderr
    error: --operation: expected a JSON object, found something else: invalid type: integer `10`, expected a map at line 1 column 2
    hint: such as --operation '{"amount":10,"to":"mallory"}'
    "#);
}

const ACTION: &str = "Send 10 to mallory";
const OPERATION: &str = r#"{"amount":10,"to":"mallory"}"#;
