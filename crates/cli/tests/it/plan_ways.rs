//! What is promised of plans at every way in, at the command line; the server's own ways are tested with the server.

use serde_json::{Value, json};

use crate::{
    plan::{Planned, with},
    sandbox::Sandbox,
};

/// CLR-01: an ambiguous plan gets its gaps and nothing that was made of it, from every command that takes or shows it.
#[test]
fn ambiguous_input_gets_gaps_and_nothing_else() {
    let planned = Planned::new(&with(&json!({"standards_selected": ["the standard one"]})));
    let sandbox: &Sandbox = &planned.sandbox;
    let (trace, session) = (sandbox.trace(), planned.session.as_str());
    for words in [
        &["check", "plan.json"][..],
        &["plan", "submit", "plan.json"],
        &["plan", "submit", "plan.json", "--session", session],
        &["plan", "show", session],
    ] {
        let ran = sandbox.run(&[words, &["--json"]].concat());
        let reply: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
        assert_eq!(reply["status"], "needs_clarification", "{words:?}: {reply}");
        assert_eq!(reply["gaps"][0]["field"], "standards_selected.0", "{words:?}: {reply}");
        assert_eq!(reply["gaps"][0]["severity"], "BLOCK", "{words:?}: {reply}");
        assert_eq!(reply["document"]["status"], "needs_clarification", "{words:?}: {reply}");
        for made in ["plan", "attestation"] {
            assert!(reply.get(made).is_none_or(Value::is_null), "{words:?}: {reply}");
        }
    }
    sandbox.run(&["check", "plan.json"]).expect_code(3);
    std::fs::create_dir(sandbox.path("dist")).unwrap();
    std::fs::write(sandbox.path("dist/a"), "a").unwrap();
    for words in [&["confirm", session][..], &["attest", session, "--output", "dist"]] {
        let ran = sandbox.run(&[&["plan"], words, &["--json"]].concat());
        assert!(ran.code != Some(0) && ran.stdout.is_empty(), "{words:?}: {ran}");
    }
    let entries = sandbox.json(&["trace", "show", &trace])["entries"].as_array().unwrap().clone();
    let kinds: Vec<_> = entries.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert!(!kinds.contains(&"question_answered") && !kinds.contains(&"question_defaulted"), "{kinds:?}");
}

/// CLR-62: what a gap blocks does not begin, also where a person confirmed the operation.
#[test]
fn blocked_operation_does_not_begin_at_the_command_line() {
    let planned = Planned::new(&with(&json!({"real_build": true})));
    let sandbox = &planned.sandbox;
    let exact = r#"{"command":"make"}"#;
    let asked = sandbox.run(&[
        "confirm",
        "ask",
        "Build it",
        "--operation",
        exact,
        "--trace",
        &sandbox.trace(),
        "--as",
        "agent",
        "--no-wait",
        "--json",
    ]);
    let asked: Value = serde_json::from_str(&asked.stdout).unwrap_or_else(|_| panic!("{asked}"));
    let id = asked["id"].as_str().unwrap_or_else(|| panic!("{asked}"));
    sandbox.run(&["confirm", "give", id]).expect_code(0);
    let start = ["confirm", "start", id, "--operation", exact, "--name", "build"];
    let begin = ["plan", "begin", &planned.session, "build", "--exact", exact];
    for words in [&start[..], &begin[..]] {
        assert_eq!(sandbox.json_error(words, 3)["code"], "OPERATION_BLOCKED", "{words:?}");
    }
    planned.run("resolve", &["gap-001", "dist"]).expect_code(0);
    sandbox.run(&start).expect_code(0);
}
