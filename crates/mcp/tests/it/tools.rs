//! The table of tools: complete, typed, and small enough to be paid for in every conversation.

use demur_mcp::tools::{Sets, list};
use rmcp::model::Tool;
use serde_json::json;

use crate::{
    client::{Client, Opening, run, words},
    desk::Desk,
};

#[test]
fn what_models_read_stays_short() {
    let tokens = |sets| {
        let bytes: usize = list(sets).iter().map(|tool| serde_json::to_vec(tool).unwrap().len()).sum();
        bytes / 4
    };
    assert!(tokens(Sets::default()) <= 800, "{}", tokens(Sets::default()));
    for set in ["wwa", "session", "confirm"] {
        let more = tokens(set.parse().unwrap()) - tokens(Sets::default());
        assert!(more < 2_500, "{set}: {more}");
    }
}

/// Where a client looks tools up by what they are for, this one stays in sight.
#[test]
fn tool_that_asks_is_always_loaded() {
    for tool in list(Sets::all()) {
        let meta = serde_json::to_value(&tool).unwrap()["_meta"].take();
        let expected =
            if tool.name == "ask_human" { json!({"anthropic/alwaysLoad": true}) } else { json!(null) };
        assert_eq!(meta, expected, "{}", tool.name);
    }
}

/// Nothing of it reaches the desk: a model hears which argument it is, and what to do.
#[test]
fn argument_that_fits_no_operation_is_named_by_its_place() {
    run(async {
        let mut client = Client::modern(&Desk::new(true), json!({}), Opening::default());
        let long = "x".repeat(257);
        for (tool, arguments, field) in [
            ("session_open", json!({"task": "", "objective": "o"}), "task"),
            ("session_open", json!({"task": long, "objective": "o"}), "task"),
            ("session_open", json!({"task": "t", "objective": "o", "constraints": [""]}), "constraints[0]"),
            (
                "session_open",
                json!({"task": "t", "objective": "o", "agents": {"critic": ""}}),
                "agents.critic",
            ),
            ("wwa_attest_verify", json!({"attestation": {"signature": 7}}), "attestation"),
        ] {
            let refused = client.call(tool, arguments).await;
            assert_eq!(refused["result"]["isError"], true, "{tool}: {refused}");
            let start = format!("ARGUMENTS ({field}");
            assert!(words(&refused).starts_with(&start), "{tool}: {}", words(&refused));
        }
    });
}

/// CLR-40, CLR-41, CLR-42, CLR-43
#[test]
fn every_tool_is_there_under_its_name() {
    let names = |sets| list(sets).iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(Sets::default()), ["ask_human", "check_question", "cancel_question", "list_questions"]);
    let wwa = names("wwa".parse().unwrap());
    assert_eq!(
        wwa[4..],
        [
            "wwa_clarify_check",
            "wwa_clarify_resolve",
            "wwa_clarify_audit",
            "wwa_scaffold_plan",
            "wwa_change_plan",
            "wwa_confirm_plan",
            "wwa_scaffold_attest",
            "wwa_attest_sign",
            "wwa_attest_verify",
            "wwa_attest_audit",
        ]
    );
    let session = names("session".parse().unwrap());
    assert_eq!(
        session[4..],
        [
            "session_list",
            "session_show",
            "session_verify",
            "session_open",
            "session_propose",
            "session_review",
            "session_intend",
            "session_start",
            "session_report",
            "session_claim",
            "session_challenge",
            "session_conclude",
            "session_audit",
            "session_abort",
        ]
    );
    let confirm = names("confirm".parse().unwrap());
    assert_eq!(
        confirm[4..],
        [
            "confirm_operation",
            "check_confirmation",
            "decide_confirmation",
            "start_operation",
            "end_operation",
        ]
    );
    assert_eq!(names("wwa,session,confirm".parse().unwrap()), names("all".parse().unwrap()));
    assert!("wwa,nothing".parse::<Sets>().is_err() && "".parse::<Sets>().is_err());
}

#[test]
fn every_tool_says_what_goes_in_and_out_and_what_to_expect() {
    for tool in list(Sets::all()) {
        let Tool { input_schema, output_schema, annotations, description, .. } = &tool;
        assert_eq!(input_schema["type"], "object", "{}", tool.name);
        // The members of a plan are free, and stand beside the other arguments there.
        let is_open = tool.name == "wwa_scaffold_plan";
        assert_eq!(input_schema["additionalProperties"], is_open, "{}", tool.name);
        assert_eq!(output_schema.as_ref().unwrap()["type"], "object", "{}", tool.name);
        // The older revisions know no `true` in the place of a schema.
        for schema in [input_schema, output_schema.as_ref().unwrap()] {
            let members = schema["properties"].as_object().unwrap();
            assert!(members.values().all(serde_json::Value::is_object), "{}: {members:?}", tool.name);
        }
        let hints = annotations.as_ref().unwrap();
        assert!(hints.read_only_hint.is_some() && hints.open_world_hint == Some(false), "{}", tool.name);
        assert!(hints.destructive_hint != Some(true), "{}", tool.name);
        assert!(description.as_ref().is_some_and(|words| (10..160).contains(&words.len())), "{}", tool.name);
    }
}
