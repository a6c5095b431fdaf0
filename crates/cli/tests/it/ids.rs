//! Ids as people type them: whole, the beginning, `last`, and the numbers that lists print.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::{
    asker::{asked, shown},
    sandbox::{Sandbox, redact},
};

/// Returns the text of a list.
fn listed(sandbox: &Sandbox, more: &[&str]) -> String {
    sandbox.run(&[&["inbox", "--list"], more].concat()).expect_code(0).stdout.clone()
}

/// Returns the words of the question that is meant.
fn meant(sandbox: &Sandbox, typed: &str) -> String {
    shown(sandbox, typed)["question"].as_str().unwrap().to_owned()
}

/// Returns how many characters of one id tell it from another.
fn telling(id: &str, other: &str) -> usize {
    id.bytes().zip(other.bytes()).take_while(|(one, two)| one == two).count() + 1
}

#[test]
fn questions_are_meant_by_number_by_beginning_and_by_last() {
    let sandbox = Sandbox::new();
    let (first, second) = (asked(&sandbox, &["First?"]), asked(&sandbox, &["Second?"]));
    assert_snapshot!(redact(&listed(&sandbox, &[])), @r"
    1. First? (must be answered, ask)
       [ULID].0
    2. Second? (must be answered, ask)
       [ULID].0
    ");
    let enough = telling(&first, &second);
    for (typed, words) in [
        ("1", "First?"),
        ("2", "Second?"),
        ("last", "Second?"),
        (&first[..enough], "First?"),
        (&second[..enough], "Second?"),
        (&first[..enough].to_lowercase(), "First?"),
        (&format!("{}.0", &first[..enough]), "First?"),
        (&first[..26], "First?"),
        (&first, "First?"),
    ] {
        assert_eq!(meant(&sandbox, typed), words, "{typed}");
    }
    sandbox.run(&["answer", "1", "one"]).expect_code(0);
    sandbox.run(&["decline", "last", "--reason", "no"]).expect_code(0);
    assert_eq!(shown(&sandbox, &first)["outcome"]["value"], "one");
    assert_eq!(shown(&sandbox, &second)["outcome"]["state"], "declined");
}

#[test]
fn each_command_about_a_question_takes_a_number() {
    let sandbox = Sandbox::new();
    for words in ["Extend?", "Cancel?", "Pass?"] {
        asked(&sandbox, &[words, "--timeout", "1h"]);
    }
    listed(&sandbox, &[]);
    sandbox.run(&["extend", "1", "30m"]).expect_code(0);
    sandbox.run(&["cancel", "2"]).expect_code(0);
    sandbox.run(&["pass", "3", "--people"]).expect_code(0);
    assert_eq!(shown(&sandbox, "2")["outcome"]["state"], "cancelled");
}

#[test]
fn a_number_never_means_another_question() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["First?"]);
    asked(&sandbox, &["Second?"]);
    // One terminal lists; meanwhile another answers, hears of a new question, and lists.
    listed(&sandbox, &[]);
    sandbox.run(&["answer", "1", "done"]).expect_code(0);
    asked(&sandbox, &["Third?"]);
    assert_snapshot!(redact(&listed(&sandbox, &[])), @r"
    2. Second? (must be answered, ask)
       [ULID].0
    3. Third? (must be answered, ask)
       [ULID].0
    ");
    // What the first terminal printed holds.
    assert_eq!(meant(&sandbox, "1"), "First?");
    assert_eq!(sandbox.json_error(&["answer", "1", "other"], 3)["code"], "ALREADY_ANSWERED");
    sandbox.run(&["answer", "2", "two"]).expect_code(0);
    // What no list printed is nothing yet.
    asked(&sandbox, &["Fourth?"]);
    assert_eq!(sandbox.json_error(&["answer", "4", "x"], 2)["code"], "QUESTION_UNKNOWN");
}

#[test]
fn numbers_that_cannot_be_kept_are_not_printed() {
    let sandbox = Sandbox::new();
    asked(&sandbox, &["First?"]);
    fs::create_dir(sandbox.data().join("numbers")).unwrap();
    assert_snapshot!(redact(&listed(&sandbox, &[])), @r"
    - First? (must be answered, ask)
       [ULID].0
    ");
}

#[test]
fn wrong_ids_are_told_in_one_wording() {
    let sandbox = Sandbox::new();
    let ids = [asked(&sandbox, &["First?"]), asked(&sandbox, &["Second?"])];
    let same = &ids[0][..telling(&ids[0], &ids[1]) - 1];
    let ran = sandbox.run(&["answer", same, "x"]);
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(ran.stderr.contains("expected one question, found 2 whose ids begin with"), "{ran}");
    assert!(ids.iter().all(|id| ran.stderr.contains(id.as_str())), "{ran}");
    let calls: [&[&str]; 10] = [
        &["show", "01A"],
        &["show", "01ARZ3"],
        &["show", "99"],
        &["show", "what?!"],
        &["plan", "show", "0198"],
        &["plan", "show", "0198a1"],
        &["plan", "show", "last"],
        &["run", "status", "01ARZ3"],
        &["run", "abort", "last", "--reason", "x"],
        &["token", "revoke", "nothing"],
    ];
    let told: String = calls.iter().map(|call| sandbox.run(call).to_string()).collect();
    assert_snapshot!(redact(&told), @r#"
    exit 2
    --- stderr
    error: expected at least 6 characters of the id of a question, found "01A"
    hint: `demur inbox --list --all` shows the ids
    exit 2
    --- stderr
    error: expected a question of this data folder, found none whose id begins with "01ARZ3"
    hint: `demur inbox --list --all` shows the ids
    exit 2
    --- stderr
    error: expected a number that a list of questions printed, found 99
    hint: `demur inbox --list` shows what waits, with numbers and ids
    exit 2
    --- stderr
    error: expected a question of this data folder, found none whose id begins with "what?!"
    hint: `demur inbox --list --all` shows the ids
    exit 2
    --- stderr
    error: expected at least 6 characters of the id of a plan, found "0198"
    hint: `demur plan list` shows the ids
    exit 2
    --- stderr
    error: expected a plan of this data folder, found none whose id begins with "0198a1"
    hint: `demur plan list` shows the ids
    exit 2
    --- stderr
    error: expected a plan for `last`, found none in this data folder
    hint: `demur plan list` shows what is there
    exit 2
    --- stderr
    error: expected a run of this data folder, found none whose id begins with "01ARZ3"
    hint: `demur trace list` shows the ids
    exit 2
    --- stderr
    error: expected a run that was started here, found none
    hint: start one with `demur run --task FILE`
    exit 2
    --- stderr
    error: expected a token of this data folder, found none whose id begins with "nothing"
    hint: `demur token list` shows the ids
    "#);
}

#[test]
fn an_id_in_a_message_is_inert_and_short() {
    let sandbox = Sandbox::new();
    let long = format!("\u{1b}[2J{}", "x".repeat(5000));
    let ran = sandbox.run(&["show", &long]);
    ran.expect_code(2);
    assert!(ran.stderr.len() < 300 && !ran.stderr.contains('\u{1b}'), "{ran}");
}

#[test]
fn traces_and_runs_are_meant_by_beginning_and_last() {
    let sandbox = Sandbox::with_run();
    let trace = sandbox.trace();
    let registry = sandbox.json(&["export", "registry", "--out", "registry.jsonl"])["trace"].clone();
    let enough = &trace[..telling(&trace, registry.as_str().unwrap()).max(6)];
    for typed in [enough, &trace] {
        assert_eq!(sandbox.json(&["run", "status", typed])["trace"], *trace, "{typed}");
    }
    for typed in [enough, "last", &trace] {
        let out = format!("{typed}.jsonl");
        assert_eq!(sandbox.json(&["export", typed, "--out", &out])["trace"], *trace, "{typed}");
        sandbox.run(&["trace", "show", typed]).expect_code(0);
        assert_eq!(sandbox.json(&["trace", "list", "--after", typed])["traces"], json!([]), "{typed}");
    }
}

#[test]
fn keys_and_tokens_are_meant_by_beginning_and_last() {
    let sandbox = Sandbox::with_keys();
    let bob = sandbox.fingerprint("bob");
    assert_eq!(sandbox.fingerprint("last"), bob);
    assert_eq!(sandbox.fingerprint(&bob[..6]), bob);
    for name in ["one", "two"] {
        sandbox.run(&["token", "new", name, "--scope", "ask"]).expect_code(0);
    }
    let ids = || -> Vec<String> {
        let listed = sandbox.json(&["token", "list"])["tokens"].clone();
        listed.as_array().unwrap().iter().map(|token| token["id"].as_str().unwrap().to_owned()).collect()
    };
    let both = ids();
    let enough = telling(&both[0], &both[1]).max(6);
    sandbox.run(&["token", "revoke", &both[0][..enough]]).expect_code(0);
    assert_eq!(ids(), both[1..]);
    sandbox.run(&["token", "revoke", "last"]).expect_code(0);
    assert_eq!(ids(), Vec::<String>::new());
}

#[test]
fn plans_are_listed_and_meant_by_beginning_and_last() {
    let sandbox = Sandbox::new();
    assert_snapshot!(sandbox.run(&["plan", "list"]), @r"
    exit 0
    --- stdout
    No plans in [DIR]/data: there is no data folder there yet. `demur plan submit FILE` submits one.
    ");
    assert!(!sandbox.data().exists(), "a list made a folder");
    sandbox.run(&["keys", "new", "agent", "--role", "agent"]).expect_code(0);
    let whole = json!({
        "description": "a status page", "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest",
    });
    let mut lacking = whole.clone();
    lacking["title"] = "Intranet".into();
    lacking["standards_selected"] = json!(["jsp-440"]);
    lacking["deployment_target"] = "uswds".into();
    for (file, plan, code) in [("whole.json", &whole, 0), ("lacking.json", &lacking, 3)] {
        fs::write(sandbox.path(file), plan.to_string()).unwrap();
        sandbox.run(&["plan", "submit", file]).expect_code(code);
    }
    // A question is no plan.
    asked(&sandbox, &["Deploy?"]);
    let plans = sandbox.json(&["plan", "list"])["plans"].clone();
    let session = |at: usize| plans[at]["session"].as_str().unwrap();
    let text = sandbox.run(&["plan", "list"]).stdout;
    let text = text.replace(session(0), "[SESSION 2]").replace(session(1), "[SESSION 1]");
    assert_snapshot!(redact(&text), @r"
    SESSION                               STATE             AGENT  SUBMITTED                SUBJECT
    [SESSION 2]  1 question open   agent  [TIME]  Intranet
    [SESSION 1]  ready to confirm  agent  [TIME]  a status page
    ");
    let enough = telling(session(0), session(1));
    for (typed, at) in [("last", 0), (&session(0)[..enough], 0), (&session(1)[..enough], 1), (session(1), 1)]
    {
        assert_eq!(sandbox.json(&["plan", "show", typed])["session_id"], session(at), "{typed}");
        sandbox.run(&["audit", typed]).expect_code(0);
    }
    let gap = ["plan", "resolve", "last", "gap-001", "jsp-440-only"];
    sandbox.run(&gap).expect_code(0);
    sandbox.run(&["plan", "begin", "last", "build"]).expect_code(0);
    sandbox.run(&["plan", "confirm", "last"]).expect_code(0);
    sandbox.run(&["handoff", "last", "--task", "go on"]).expect_code(0);
    let one = sandbox.json(&["plan", "list", "--limit", "1"]);
    assert_eq!(
        (&one["plans"][0]["session"], &one["plans"][0]["status"]),
        (&json!(session(0)), &json!("plan_accepted"))
    );
    let next = sandbox.json(&["plan", "list", "--after", one["next"].as_str().unwrap()]);
    assert_eq!(next["plans"][0]["session"], session(1));
}

#[test]
fn traces_are_listed_with_what_they_are_about() {
    let sandbox = Sandbox::new();
    let long = "Which of the two databases should hold the sessions of everybody who signs in?";
    asked(&sandbox, &[long]);
    sandbox.run(&["keys", "new", "agent", "--role", "agent"]).expect_code(0);
    fs::write(sandbox.path("plan.json"), r#"{"title":"Intranet"}"#).unwrap();
    sandbox.run(&["plan", "submit", "plan.json"]).expect_code(3);
    let traces = sandbox.json(&["trace", "list"])["traces"].clone();
    assert_eq!((&traces[0]["subject"], &traces[1]["subject"]), (&json!("Intranet"), &json!(long)));
    let text = sandbox.run(&["trace", "list"]).stdout;
    assert!(text.contains("Which of the two databases should hold the sessi..."), "{text}");
}

#[test]
fn a_list_of_all_says_what_became_of_the_settled() {
    let sandbox = Sandbox::new();
    for words in ["Name?", "Sure?", "Why?"] {
        asked(&sandbox, &[words]);
    }
    listed(&sandbox, &[]);
    sandbox.run(&["answer", "1", "ada", "--note", "as agreed"]).expect_code(0);
    sandbox.run(&["decline", "2", "--reason", "not mine"]).expect_code(0);
    assert_snapshot!(redact(&listed(&sandbox, &["--all"])), @r"
    1. Name? (must be answered, ask)
       answered by [USER] at [TIME] (same user): ada; as agreed
       [ULID].0
    2. Sure? (must be answered, ask)
       declined by [USER] at [TIME] (same user); not mine
       [ULID].0
    3. Why? (must be answered, ask)
       open
       [ULID].0
    ");
}
