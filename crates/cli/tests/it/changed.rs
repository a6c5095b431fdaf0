//! `demur answer --replace` and `--revoke`, and what is told of what was done on an answer that no longer counts.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::{
    asker::{asked, shown},
    mcp::{client::Client, plans::plan},
    sandbox::Sandbox,
};

/// CLR-04
#[test]
fn answer_is_replaced_and_taken_back_at_the_command_line() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Which one?"]);
    let error = sandbox.json_error(&["answer", &id, "that", "--replace"], 3);
    assert_eq!(error["code"], "NOT_ANSWERED", "{error}");
    sandbox.run(&["answer", &id, "this"]).expect_code(0);
    let ran = sandbox.run(&["answer", &id, "that", "--replace", "--note", "better"]);
    assert!(ran.expect_code(0).stdout.contains("\"Which one?\" is answered by"), "{ran}");
    assert!(ran.stdout.contains(": that; better"), "{ran}");
    let again = sandbox.run(&["answer", &id, "that", "--replace"]);
    assert!(again.expect_code(0).stdout.contains("It was so before; nothing was recorded now."), "{again}");
    assert_eq!(sandbox.run(&["wait", &id]).expect_code(0).stdout, "that\n");
    let ran = sandbox.run(&["answer", &id, "--revoke", "--reason", "the wrong team"]);
    let said = "Done: the answer to \"Which one?\" is taken back. The question is open again.\n";
    assert_eq!(ran.expect_code(0).stdout, said);
    assert_eq!(shown(&sandbox, &id)["state"], "open");
    let again = sandbox.run(&["answer", &id, "--revoke"]);
    assert!(again.expect_code(0).stdout.ends_with("nothing was recorded now.\n"), "{again}");
    let shown = sandbox.run(&["trace", "show", "last"]).expect_code(0).stdout.clone();
    assert!(shown.contains("the wrong team"), "{shown}");
    sandbox.run(&["export", "last", "--out", "changed.jsonl"]).expect_code(0);
    sandbox.run(&["verify", "changed.jsonl"]).expect_code(0);
}

#[test]
fn whoever_waits_after_the_answer_was_taken_back_gets_the_next_one() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Which one?"]);
    sandbox.run(&["answer", &id, "this"]).expect_code(0);
    sandbox.run(&["answer", &id, "--revoke"]).expect_code(0);
    let waiting = sandbox.command(&["wait", &id]).stdout(Stdio::piped()).spawn().unwrap();
    sandbox.run(&["answer", &id, "that"]).expect_code(0);
    let ran = sandbox.ran(waiting.wait_with_output().unwrap());
    assert_eq!(ran.expect_code(0).stdout, "that\n");
}

#[test]
fn words_that_do_not_belong_together_are_refused() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Which one?"]);
    for wrong in [
        &["--revoke", "--replace"][..],
        &["this", "--revoke"],
        &["this", "--reason", "no"],
        &["--accept", "--replace"],
        &["--replace"],
        &["--revoke", "--note", "no"],
    ] {
        sandbox.json_error(&[&["answer", &id], wrong].concat(), 2);
    }
    let error = sandbox.json_error(&["answer", &id, "--revoke"], 3);
    assert_eq!(error["code"], "NOT_ANSWERED");
}

/// ONE-04: the asker gets the value that counts.
#[test]
fn secret_is_replaced_before_its_asker_takes_it() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Password?", "--secret"]);
    sandbox.feed(&["answer", &id, "-"], b"first-secret").expect_code(0);
    sandbox.feed(&["answer", &id, "-", "--replace"], b"second-secret\n").expect_code(0);
    assert_eq!(sandbox.run(&["wait", &id]).expect_code(0).stdout, "second-secret\n");
}

/// CLR-31, CLR-62: at the command line, in reports and on the question itself.
#[test]
fn what_rested_on_an_answer_is_named_and_goes_no_further() {
    let sandbox = Sandbox::new();
    let plan = json!({
        "description": "a status page", "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest", "standards_selected": ["jsp-440"],
        "deployment_target": "uswds",
    });
    std::fs::write(sandbox.path("plan.json"), plan.to_string()).unwrap();
    sandbox.run(&["keys", "new", "agent", "--role", "agent"]).expect_code(0);
    let submitted = sandbox.run(&["plan", "submit", "plan.json", "--as", "agent", "--json"]);
    let submitted: Value = serde_json::from_str(&submitted.expect_code(3).stdout).unwrap();
    let session = submitted["session_id"].as_str().unwrap();
    let id = sandbox.json(&["inbox", "--list"])["questions"][0]["id"].as_str().unwrap().to_owned();
    sandbox.run(&["answer", &id, "uswds-only"]).expect_code(0);
    let answer = shown(&sandbox, &id)["outcome"]["event"].as_u64().unwrap();
    let begin = ["plan", "begin", session, "build", "--as", "agent"];
    sandbox.run(&begin).expect_code(0);
    sandbox.run(&["answer", &id, "--revoke"]).expect_code(0);
    assert_eq!(sandbox.json_error(&begin, 3)["code"], "OPERATION_BLOCKED");
    let rested = &shown(&sandbox, &id)["rested"][0];
    let (done, ended) = (rested["event"].as_u64().unwrap(), rested["ended"].as_u64().unwrap());
    assert_eq!((&rested["answer"], &rested["how"]), (&json!(answer), &json!("revoked")));
    let line =
        format!("event {done} was done on the answer of event {answer}, which event {ended} took back");
    let told = sandbox.run(&["show", &id]).expect_code(0).stdout.clone();
    assert!(told.contains(&line), "{line}: {told}");
    let told = sandbox.run(&["trace", "show", "last"]).expect_code(0).stdout.clone();
    let row = format!("warning    done on the answer of #{answer}, which #{ended} took back");
    assert!(told.contains(&row), "{row}: {told}");
    sandbox.run(&["export", "last", "--out", "changed.jsonl"]).expect_code(0);
    let report = sandbox.run(&["verify", "changed.jsonl"]).expect_code(0).stdout.clone();
    assert!(report.contains("ANSWER_CHANGED") && report.contains(&line), "{report}");
    let reply = sandbox.json(&["verify", "changed.jsonl"]);
    assert_eq!(reply["report"]["rested"][0]["event"], done);
}

/// CLR-04: an agent changes what it said itself, by an act of its own, and nothing that a person said.
#[test]
fn client_changes_its_own_answer_to_a_gap_over_mcp() {
    let sandbox = Sandbox::new();
    sandbox.let_agents_answer_their_own_gaps();
    let mut client = Client::legacy(&sandbox, &["--tools", "wwa"], "2025-06-18", &json!({}));
    let mut given = plan();
    given["wait_s"] = json!(0);
    let checked = client.call("wwa_clarify_check", &given);
    let session = checked["structuredContent"]["session_id"].clone();
    let gaps: Vec<_> = checked["structuredContent"]["gaps"].as_array().unwrap().clone();
    let gap = |field: &str| gaps.iter().find(|gap| gap["field"] == field).unwrap()["id"].clone();
    let (kind, words) = (gap("component_type"), gap("description"));
    let mut resolve = |gap: &Value, more: Value| {
        let mut given = json!({"session_id": session, "gap_id": gap});
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.call("wwa_clarify_resolve", &given)
    };
    let status = |reply: &Value| reply["structuredContent"]["status"].clone();
    assert_eq!(status(&resolve(&words, json!({"answer": "Shows the weather"}))), "resolved");
    assert_eq!(
        status(&resolve(&words, json!({"answer": "Shows the weather"}))),
        "resolved",
        "the same again"
    );
    let refused = resolve(&words, json!({"answer": "Shows the time"}));
    let told = refused["content"][0]["text"].as_str().unwrap();
    assert!(refused["isError"] == true && told.starts_with("ALREADY_ANSWERED"), "{refused}");
    let replaced = resolve(&words, json!({"answer": "Shows the time", "change": "replace"}));
    assert_eq!(status(&replaced), "resolved", "{replaced}");
    assert_eq!(replaced["structuredContent"]["accepted_answer"], "Shows the time");
    let revoked = resolve(&words, json!({"change": "revoke"}));
    assert_eq!(
        (status(&revoked), &revoked["structuredContent"]["open_gaps"]),
        (json!("revoked"), &json!(2)),
        "{revoked}"
    );
    let entries = sandbox.json(&["trace", "show", "last"])["entries"].as_array().unwrap().clone();
    for kind in ["question_answered", "command_refused", "answer_superseded", "answer_revoked"] {
        assert_eq!(entries.iter().filter(|entry| entry["kind"] == kind).count(), 1, "{kind}");
    }
    let listed = sandbox.json(&["inbox", "--list"]);
    let of_kind = |one: &&Value| one["field"] == "component_type";
    let id = listed["questions"].as_array().unwrap().iter().find(of_kind).unwrap()["id"].clone();
    sandbox.run(&["answer", id.as_str().unwrap(), "webpart-react"]).expect_code(0);
    for change in [json!({"answer": "webpart-none", "change": "replace"}), json!({"change": "revoke"})] {
        let refused = resolve(&kind, change);
        let told = refused["content"][0]["text"].as_str().unwrap();
        assert!(refused["isError"] == true && told.starts_with("NOT_YOUR_ANSWER"), "{refused}");
    }
}

/// CLR-31: nothing that the plan was confirmed with is changed, at the command line or over MCP.
#[test]
fn answer_in_a_confirmed_plan_stays_as_it_is() {
    let sandbox = Sandbox::new();
    sandbox.let_agents_answer_their_own_gaps();
    let mut client = Client::legacy(&sandbox, &["--tools", "wwa"], "2025-06-18", &json!({}));
    let mut given = plan();
    given["wait_s"] = json!(0);
    let checked = client.call("wwa_clarify_check", &given);
    let session = checked["structuredContent"]["session_id"].clone();
    let gaps = checked["structuredContent"]["gaps"].as_array().unwrap().clone();
    let own = gaps.iter().find(|gap| gap["field"] == "description").unwrap()["id"].clone();
    let confirm = json!({"session_id": session});
    let resolve = |more: Value| {
        let mut given = json!({"session_id": session, "gap_id": own});
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        given
    };
    client.call("wwa_clarify_resolve", &resolve(json!({"answer": "Shows the weather"})));
    let listed = sandbox.json(&["inbox", "--list"]);
    let id = listed["questions"][0]["id"].as_str().unwrap().to_owned();
    sandbox.run(&["answer", &id, "webpart-react"]).expect_code(0);
    // An answer that was taken back holds the plan up again.
    sandbox.run(&["answer", &id, "--revoke"]).expect_code(0);
    let blocked = client.call("wwa_confirm_plan", &confirm);
    assert_eq!(blocked["isError"], true, "{blocked}");
    sandbox.run(&["answer", &id, "webpart-react"]).expect_code(0);
    let confirmed = client.call("wwa_confirm_plan", &confirm);
    assert_eq!(confirmed["structuredContent"]["status"], "plan_accepted", "{confirmed}");
    for change in [&["webpart-none", "--replace"][..], &["--revoke"]] {
        let error = sandbox.json_error(&[&["answer", &id], change].concat(), 3);
        assert_eq!(error["code"], "OUT_OF_PLAN", "{error}");
    }
    for change in [json!({"answer": "Shows the time", "change": "replace"}), json!({"change": "revoke"})] {
        let refused = client.call("wwa_clarify_resolve", &resolve(change));
        let told = refused["content"][0]["text"].as_str().unwrap();
        assert!(refused["isError"] == true && told.starts_with("OUT_OF_PLAN"), "{refused}");
    }
    assert_eq!(shown(&sandbox, &id)["outcome"]["value"], "webpart-react");
}

#[test]
fn change_that_no_client_can_make_is_refused_over_mcp() {
    let sandbox = Sandbox::new();
    sandbox.let_agents_answer_their_own_gaps();
    let mut client = Client::legacy(&sandbox, &["--tools", "wwa"], "2025-06-18", &json!({}));
    let mut given = plan();
    given["wait_s"] = json!(0);
    let session = client.call("wwa_clarify_check", &given)["structuredContent"]["session_id"].clone();
    let before = sandbox.json(&["inbox", "--list"]);
    for (wrong, code) in [
        (json!({"gap_id": "gap-001", "change": "replace"}), "MALFORMED"),
        (json!({"gap_id": "gap-001", "change": "revoke", "answer": "this"}), "MALFORMED"),
        (json!({"gap_id": "gap-001", "change": "revoke"}), "NOT_ANSWERED"),
        (json!({"gap_id": "gap-999", "change": "revoke"}), "GAP_UNKNOWN"),
    ] {
        let mut given = wrong.clone();
        given["session_id"] = session.clone();
        let refused = client.call("wwa_clarify_resolve", &given);
        let told = refused["content"][0]["text"].as_str().unwrap();
        assert!(refused["isError"] == true && told.starts_with(code), "{wrong}: {refused}");
    }
    let unknown = json!({"session_id": session, "gap_id": "gap-001", "change": "forget"});
    let refused = client.request("tools/call", json!({"name": "wwa_clarify_resolve", "arguments": unknown}));
    assert!(refused["result"]["isError"] == true || refused["error"].is_object(), "{refused}");
    assert_eq!(sandbox.json(&["inbox", "--list"]), before);
}

#[test]
fn watch_tells_that_an_answer_was_replaced_and_taken_back() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Which one?"]);
    sandbox.run(&["answer", &id, "this"]).expect_code(0);
    sandbox.run(&["answer", &id, "that", "--replace"]).expect_code(0);
    sandbox.run(&["answer", &id, "--revoke"]).expect_code(0);
    let mut command = sandbox.command(&["watch", "--after", "0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    for kind in ["answer_superseded", "answer_revoked"] {
        let line = lines.find(|line| line.contains(kind)).unwrap();
        assert!(line.ends_with(&format!("{kind}  about {id}")), "{line}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Returns the types of the events of a trace.
fn kinds(sandbox: &Sandbox, trace: &str) -> Vec<String> {
    let shown = sandbox.json(&["trace", "show", trace]);
    shown["entries"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
}

/// CLR-04 ONE-02: an agent replaces its answer through two bridges while a person at the command line tries to. Each change takes
/// the place of the one before it, and nobody changes what is another's.
#[test]
fn replacements_at_once_over_mcp_and_at_the_command_line_take_turns() {
    let sandbox = Sandbox::new();
    sandbox.let_agents_answer_their_own_gaps();
    let bridge = || Client::legacy(&sandbox, &["--tools", "wwa"], "2025-06-18", &json!({}));
    let mut clients = [bridge(), bridge()];
    let mut given = plan();
    given["wait_s"] = json!(0);
    let checked = clients[0].call("wwa_clarify_check", &given)["structuredContent"].clone();
    let gaps = checked["gaps"].as_array().unwrap();
    let gap = gaps.iter().find(|gap| gap["field"] == "description").unwrap()["id"].clone();
    let resolve = |answer: &str, change: &str| {
        let mut given = json!({"session_id": checked["session_id"], "gap_id": gap, "answer": answer});
        if !change.is_empty() {
            given["change"] = json!(change);
        }
        given
    };
    let listed = sandbox.json(&["inbox", "--list"]);
    let of_words = |one: &&Value| one["field"] == "description";
    let id = listed["questions"].as_array().unwrap().iter().find(of_words).unwrap()["id"].clone();
    let id = id.as_str().unwrap();
    clients[0].call("wwa_clarify_resolve", &resolve("Shows the weather", ""));
    let (replies, person) = std::thread::scope(|scope| {
        let replies = clients.iter_mut().enumerate().map(|(number, client)| {
            let given = resolve(&format!("Shows {number}"), "replace");
            scope.spawn(move || client.call("wwa_clarify_resolve", &given))
        });
        let replies: Vec<_> = replies.collect();
        let person = sandbox.json_error(&["answer", id, "Shows mine", "--replace"], 3);
        (replies.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>(), person)
    });
    assert_eq!(person["code"], "NOT_YOUR_ANSWER", "{person}");
    let done: Vec<_> = replies.iter().filter(|reply| reply["isError"] != true).collect();
    for reply in replies.iter().filter(|reply| reply["isError"] == true) {
        assert!(reply.to_string().contains("NOT_THE_ANSWER"), "{reply}");
    }
    let superseded = kinds(&sandbox, &id[..26]).iter().filter(|kind| *kind == "answer_superseded").count();
    assert_eq!(superseded, done.len(), "{replies:?}");
    assert!(superseded >= 1);
    let counts = shown(&sandbox, id)["outcome"]["value"].clone();
    assert!(
        done.iter().any(|reply| reply["structuredContent"]["accepted_answer"] == counts),
        "{counts}: {done:?}"
    );
    sandbox.run(&["export", "last", "--out", "changed.jsonl"]).expect_code(0);
    sandbox.run(&["verify", "changed.jsonl"]).expect_code(0);
    // What was settled so is no strict pass: the submitter answered itself.
    let other = sandbox.json(&["inbox", "--list"])["questions"][0]["id"].as_str().unwrap().to_owned();
    sandbox.run(&["answer", &other, "webpart-react"]).expect_code(0);
    let confirmed = clients[0].call("wwa_confirm_plan", &json!({"session_id": checked["session_id"]}));
    assert_eq!(confirmed["structuredContent"]["status"], "plan_accepted", "{confirmed}");
    sandbox.run(&["export", "last", "--out", "changed.jsonl", "--force"]).expect_code(0);
    let strict = sandbox.run(&["verify", "changed.jsonl", "--strict", "--no-guess", "--json"]);
    let strict: Value = serde_json::from_str(&strict.expect_code(1).stdout).unwrap();
    assert_eq!(strict["code"], "GUESSED", "{strict}");
    assert!(strict.to_string().contains("SELF_SETTLED"), "{strict}");
}

/// CLR-04 ONE-02
#[test]
fn replacements_by_several_processes_follow_each_other() {
    let sandbox = Sandbox::new();
    let id = asked(&sandbox, &["Which one?"]);
    sandbox.run(&["answer", &id, "this"]).expect_code(0);
    let replace = |number: usize| {
        let answer = format!("that {number}");
        let mut command = sandbox.command(&["answer", &id, &answer, "--replace", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..4).map(replace).collect();
    let ran: Vec<_> =
        children.into_iter().map(|child| sandbox.ran(child.wait_with_output().unwrap())).collect();
    for late in ran.iter().filter(|ran| ran.code != Some(0)) {
        assert!(late.expect_code(3).stderr.contains("NOT_THE_ANSWER"), "{late}");
    }
    let done = ran.iter().filter(|ran| ran.code == Some(0)).count();
    let superseded = kinds(&sandbox, &id[..26]).iter().filter(|kind| *kind == "answer_superseded").count();
    assert!(done == superseded && done >= 1, "{done} done, {superseded} recorded");
    assert!(shown(&sandbox, &id)["outcome"]["value"].as_str().unwrap().starts_with("that "));
    sandbox.run(&["export", "last", "--out", "changed.jsonl"]).expect_code(0);
    sandbox.run(&["verify", "changed.jsonl"]).expect_code(0);
}
