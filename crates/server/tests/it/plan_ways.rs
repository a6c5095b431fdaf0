//! What is promised of plans, over every way that a server has: HTTP with tokens, the socket, the pages and MCP.

use demur_server::routes::mcp::PATH;
use serde_json::{Value, json};

use crate::{browser::Browser, client::Reply, mcp::play, plan::plan, server::Server};

/// Sends an answer.
type Sending<'a> = &'a dyn Fn() -> Reply;

/// Sends an answer to this path.
type Answering<'a> = &'a dyn Fn(&str) -> Reply;

/// Begins an operation of this name; returns the code with which it is refused.
type Beginning<'a> = &'a dyn Fn(&str) -> String;

/// Returns a plan with one gap that must be answered: where a real build goes.
fn gappy() -> Value {
    plan(&json!({"real_build": true}))
}

fn post(server: &Server, token: &str, path: &str, document: &Value) -> Reply {
    server.call("POST", path).token(token).json(document).send()
}

/// Returns the code with which a tool refuses, or nothing where it does not.
fn code(result: &Value) -> String {
    if result["isError"] != true {
        return String::new();
    }
    let words = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
    words.split([':', ' ']).next().unwrap().to_owned()
}

/// Returns the first open question of a trace.
fn open(server: &Server, trace: &str) -> String {
    let path = format!("/v1/questions?trace={trace}&state=open");
    let listed = server.local("GET", &path).send().json();
    listed["questions"][0]["id"].as_str().unwrap_or_else(|| panic!("{listed}")).to_owned()
}

/// Returns what was said in a trace, event by event.
fn said(server: &Server, trace: &str) -> Vec<Value> {
    let events = server.local("GET", &format!("/v1/traces/{trace}/events")).send().json();
    let said = |event: &Value| {
        let envelope = &event["envelope"];
        if envelope["record"].is_null() { envelope["statement"].clone() } else { envelope["record"].clone() }
    };
    events["events"].as_array().unwrap().iter().map(said).collect()
}

/// CLR-01, CLR-60: an ambiguous plan gets its gaps, and nothing that was made of it, whichever way it comes in and is asked for.
#[test]
fn ambiguous_input_gets_gaps_and_nothing_else() {
    let server = Server::start();
    let agent = server.token("agent", &["ask"]);
    let vague = plan(&json!({"standards_selected": ["the standard one"]}));
    let http = |path: &str| post(&server, &agent, path, &json!({"plan": vague})).json();
    let tool = |name: &str| {
        play(&server, &agent, name, &json!({"plan": vague, "wait_s": 0}))["structuredContent"].clone()
    };
    let replies = [
        http("/v1/plans/check"),
        http("/v1/plans"),
        tool("wwa_clarify_check"),
        tool("wwa_scaffold_plan"),
        server.local("POST", "/v1/plans").json(&json!({"plan": vague})).send().json(),
    ];
    for reply in &replies {
        assert_eq!(reply["status"], "needs_clarification", "{reply}");
        let gap = &reply["gaps"][0];
        assert_eq!(
            (&gap["id"], &gap["field"], &gap["severity"]),
            (&json!("gap-001"), &json!("standards_selected.0"), &json!("BLOCK")),
            "{reply}"
        );
        assert_eq!(reply["document"]["status"], "needs_clarification", "{reply}");
        assert!(reply.get("plan").is_none_or(Value::is_null), "{reply}");
        assert!(reply.get("attestation").is_none_or(Value::is_null), "{reply}");
        let Some(session) = reply["session_id"].as_str() else { continue };
        for (path, code) in [("/plan", "NEEDS_CLARIFICATION"), ("/attestation", "NOT_ATTESTED")] {
            let path = format!("/v1/plans/{session}{path}");
            for call in [server.call("GET", &path).token(&agent), server.local("GET", &path)] {
                let refused = call.send();
                assert!(["SESSION_UNKNOWN", code].contains(&refused.code().as_str()), "{refused:?}");
                assert!(!refused.text().contains("webpart-react"), "{refused:?}");
            }
        }
    }
    // Nothing was filled in for anybody: what the agent said is all there is.
    let trace = replies[1]["trace"].as_str().unwrap();
    let said = said(&server, trace);
    let kinds: Vec<_> = said.iter().map(|one| one["type"].as_str().unwrap()).collect();
    assert!(!kinds.contains(&"question_answered") && !kinds.contains(&"question_defaulted"), "{kinds:?}");
}

/// CLR-04: over MCP, too, the same clarification gets the same answer, and a second answer that differs is refused and noted.
#[test]
fn repeated_clarification_gets_the_same_answer_over_mcp() {
    let server = Server::start();
    let agent = server.token("agent", &["ask"]);
    let given = json!({"plan": gappy(), "session_id": SESSION, "wait_s": 0});
    let first = play(&server, &agent, "wwa_clarify_check", &given);
    let trace = trace_of(&server);
    let recorded = said(&server, &trace).len();
    for _ in 0..3 {
        let again = play(&server, &agent, "wwa_clarify_check", &given);
        assert_eq!(again["structuredContent"].to_string(), first["structuredContent"].to_string());
        assert_eq!(again["content"], first["content"]);
    }
    assert_eq!(said(&server, &trace).len(), recorded, "nothing more is recorded");
    let mut other = given.clone();
    other["plan"]["description"] = json!("another page");
    assert_eq!(code(&play(&server, &agent, "wwa_clarify_check", &other)), "SESSION_CONFLICT");
}

/// CLR-04: a settled gap keeps its first answer at every way in; another one is refused, and that is on record.
#[test]
fn second_answer_to_a_settled_gap_is_refused_and_noted_at_every_way_in() {
    let server = Server::start();
    let (agent, relay) = (server.token("agent", &["ask"]), server.token("client", &["relay"]));
    let browser = Browser::sign_in(&server);
    let opened = post(&server, &agent, "/v1/plans", &json!({"plan": gappy(), "session_id": SESSION})).json();
    let trace = opened["trace"].as_str().unwrap();
    let id = open(&server, trace);
    let gap = format!("/v1/plans/{SESSION}/gaps/gap-001");
    let question = format!("/v1/questions/{id}/answer");
    let first = post(&server, &relay, &gap, &json!({"answer": "dist", "by": "kim"}));
    assert_eq!(first.json()["status"], "resolved", "{first:?}");
    let before = said(&server, trace).len();
    let again = post(&server, &relay, &gap, &json!({"answer": "dist", "by": "kim"}));
    assert_eq!((&again.json()["status"], said(&server, trace).len()), (&json!("resolved"), before));
    let shown = server.local("GET", &format!("/v1/questions/{id}")).send().json();
    let answer = json!({"answer": "out"});
    let by = json!({"answer": "out", "by": "lee"});
    let ways: [(&str, Sending<'_>); 5] = [
        ("gap, http", &|| post(&server, &relay, &gap, &by)),
        ("gap, socket", &|| server.local("POST", &gap).json(&answer).send()),
        ("question, http", &|| post(&server, &relay, &question, &by)),
        ("question, socket", &|| server.local("POST", &question).json(&answer).send()),
        ("question, page", &|| browser.call("POST", &question).json(&answer).send()),
    ];
    for (way, send) in ways {
        let before = said(&server, trace).len();
        let refused = send();
        assert_eq!((refused.status, refused.code().as_str()), (409, "ALREADY_ANSWERED"), "{way}");
        let after = said(&server, trace);
        assert_eq!(after.len(), before + 1, "{way}: the refusal is on record");
        assert_eq!(after[before]["facts"]["code"], "ALREADY_ANSWERED", "{way}");
        assert_eq!(server.local("GET", &format!("/v1/questions/{id}")).send().json(), shown, "{way}");
    }
}

/// CLR-33: the signed round and the report say of every answer who gave it and how that is known; what the submitting
/// client passed on itself is called its own.
#[test]
fn answers_name_who_gave_them_and_how_that_is_known() {
    let server = Server::start();
    let agent = server.token("agent", &["ask"]);
    let relay = server.token("client", &["relay"]);
    let browser = Browser::sign_in(&server);
    let by = json!({"answer": "dist", "by": "kim"});
    let alone = json!({"answer": "dist"});
    // A client with a form of its own, over the socket.
    let formed = |path: &str, document: &Value| {
        let call = server.local("POST", path).header("demur-relay", "claude");
        call.header("demur-client", "01ARZ3NDEKTSV4RRFFQ69G5FAV").json(document).send()
    };
    let ways: [(&str, Answering<'_>, &str, &str); 5] = [
        ("http", &|path| post(&server, &relay, path, &by), "relayed", "relayed by client"),
        ("socket", &|path| server.local("POST", path).json(&alone).send(), "terminal", "same user"),
        ("page", &|path| browser.call("POST", path).json(&alone).send(), "terminal", "same user"),
        ("mcp", &|path| formed(path, &alone), "relayed", "relayed by client"),
        ("own", &|path| formed(path, &alone), "relayed", "relayed by the asker's own client"),
    ];
    for (way, send, assurance, words) in ways {
        let plan = json!({"plan": gappy()});
        let opened = if way == "own" {
            formed("/v1/plans", &plan).json()
        } else {
            post(&server, &agent, "/v1/plans", &plan).json()
        };
        let (session, trace) = (opened["session_id"].as_str().unwrap(), opened["trace"].as_str().unwrap());
        let reply = send(&format!("/v1/questions/{}/answer", open(&server, trace)));
        assert_eq!(reply.status, 200, "{way}: {reply:?}");
        let path = format!("/v1/plans/{session}/audit");
        let record = server.local("GET", &path).send().json();
        let told = &record["chain"][0]["answered_for"];
        assert_eq!(told["assurance"], assurance, "{way}: {record}");
        assert!(told["name"].as_str().is_some_and(|name| !name.is_empty()), "{way}: {record}");
        let export = server.local("GET", &format!("/v1/traces/{trace}/export")).send().body;
        let report = server.local("POST", "/v1/verify").body(&export).send().json()["report"].clone();
        let asked = &report["questions"][0];
        assert_eq!(asked["assurance"], assurance, "{way}: {asked}");
        assert!(asked["name"].as_str().is_some_and(|name| !name.is_empty()), "{way}: {asked}");
        let how = asked["how"].as_str().unwrap_or_else(|| panic!("{way}: {asked}"));
        assert!(how.starts_with(words) && how.ends_with("recorded by demur"), "{way}: {how}");
        assert_eq!(asked["attribution"]["own"], way == "own", "{way}: {asked}");
    }
}

/// CLR-62: an operation that a gap names waits for it, however it is begun; settled, it goes.
#[test]
fn blocked_operation_does_not_begin_at_any_way_in() {
    let server = Server::start();
    let (agent, relay) = (server.token("agent", &["ask"]), server.token("client", &["relay"]));
    let opened = post(&server, &agent, "/v1/plans", &json!({"plan": gappy(), "session_id": SESSION})).json();
    let trace = opened["trace"].as_str().unwrap();
    let blocked = opened["gaps"][0]["blocked_operations"].as_array().unwrap().clone();
    assert!(blocked.contains(&json!("build")), "{opened}");
    // Confirmed by a person, which is no answer to the gap.
    let exact = json!({"command": "make"});
    let asked = json!({"action": "Build it", "operation": exact, "trace": trace});
    let asked = post(&server, &agent, "/v1/confirmations", &asked).json();
    let id = asked["id"].as_str().unwrap_or_else(|| panic!("{asked}"));
    let given = json!({"digest": asked["digest"], "by": "kim"});
    let given = post(&server, &relay, &format!("/v1/confirmations/{id}/give"), &given);
    assert_eq!(given.status, 200, "{given:?}");
    let begin = format!("/v1/plans/{SESSION}/operations");
    let start = format!("/v1/confirmations/{id}/start");
    let ways: [(&str, Beginning<'_>); 4] = [
        ("http", &|name| post(&server, &agent, &begin, &json!({"operation": name})).code()),
        ("socket", &|name| server.local("POST", &begin).json(&json!({"operation": name})).send().code()),
        ("confirmed, http", &|name| {
            post(&server, &agent, &start, &json!({"operation": exact, "name": name})).code()
        }),
        ("confirmed, mcp", &|name| {
            let given = json!({"confirmation_id": id, "operation": exact, "name": name});
            code(&play(&server, &agent, "start_operation", &given))
        }),
    ];
    for (way, send) in ways {
        for name in blocked.iter().map(|name| name.as_str().unwrap()).chain(["BUILD", "operation"]) {
            assert_eq!(send(name), "OPERATION_BLOCKED", "{way}: {name}");
        }
    }
    // It may be any.
    let unnamed = post(&server, &agent, &start, &json!({"operation": exact}));
    assert_eq!(unnamed.code(), "OPERATION_BLOCKED");
    let kinds = |kind: &str| said(&server, trace).iter().filter(|one| one["type"] == kind).count();
    assert_eq!(kinds("operation_started"), 0);
    let path = format!("/v1/plans/{SESSION}/gaps/gap-001");
    post(&server, &relay, &path, &json!({"answer": "dist", "by": "kim"}));
    let given = json!({"confirmation_id": id, "operation": exact, "name": "build"});
    assert_eq!(code(&play(&server, &agent, "start_operation", &given)), "");
    assert_eq!(kinds("operation_started"), 1);
}

/// What a tool that takes a session does while a gap of it is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum While {
    /// It is there to find out what is missing, or to settle it.
    Works,
    /// It makes something, and refuses with the gaps.
    Refuses,
}

/// Every tool that takes a session, with what it does while a gap is open. A new one has to be put here.
const OF_A_SESSION: [(&str, While); 10] = [
    ("wwa_attest_audit", While::Refuses),
    ("wwa_attest_sign", While::Refuses),
    ("wwa_attest_verify", While::Refuses),
    ("wwa_change_plan", While::Works),
    ("wwa_clarify_audit", While::Works),
    ("wwa_clarify_check", While::Works),
    ("wwa_clarify_resolve", While::Works),
    ("wwa_confirm_plan", While::Refuses),
    ("wwa_scaffold_attest", While::Refuses),
    ("wwa_scaffold_plan", While::Works),
];

/// CLR-63: every tool that makes something of a session looks first whether a gap of it is open, whatever became of its
/// question: asked, declined, withdrawn or asked again.
#[test]
fn no_tool_makes_anything_while_a_gap_is_unresolved() {
    let server = Server::start();
    let (agent, relay) = (server.token("agent", &["ask"]), server.token("client", &["relay"]));
    let opened = post(&server, &agent, "/v1/plans", &json!({"plan": gappy(), "session_id": SESSION})).json();
    let id = open(&server, opened["trace"].as_str().unwrap());
    let file = json!({"path": "a.ts", "sha256": format!("sha256:{}", "0".repeat(64))});
    let made = json!({"output_path": "out", "files": [file], "program_version": "1.0"});
    let refuses = |stage: &str| {
        for (tool, _) in OF_A_SESSION.into_iter().filter(|(_, does)| *does == While::Refuses) {
            let mut given = json!({"session_id": SESSION});
            if ["wwa_scaffold_attest", "wwa_attest_sign"].contains(&tool) {
                given.as_object_mut().unwrap().extend(made.as_object().unwrap().clone());
            }
            let refused = play(&server, &agent, tool, &given);
            assert_eq!(refused["isError"], true, "{stage}, {tool}: {refused}");
            if ["wwa_attest_audit", "wwa_attest_verify"].contains(&tool) {
                continue;
            }
            let told = &refused["structuredContent"];
            assert_eq!(told["status"], "needs_clarification", "{stage}, {tool}: {refused}");
            assert_eq!(told["gaps"][0]["id"], "gap-001", "{stage}, {tool}: {refused}");
        }
        let given = json!({"plan": gappy(), "session_id": SESSION, "wait_s": 0});
        let planned = play(&server, &agent, "wwa_scaffold_plan", &given);
        assert_eq!(planned["structuredContent"]["status"], "needs_clarification", "{stage}: {planned}");
        assert!(planned["structuredContent"].get("plan").is_none(), "{stage}: {planned}");
        for (path, body) in [("/confirm", json!({})), ("/attestation", made.clone())] {
            let refused = post(&server, &agent, &format!("/v1/plans/{SESSION}{path}"), &body);
            assert_eq!(refused.status, 409, "{stage}, {path}: {}", refused.text());
        }
    };
    let known: Vec<_> = OF_A_SESSION.iter().map(|(tool, _)| (*tool).to_owned()).collect();
    assert_eq!(tools_of_a_session(&server, &agent), known);
    refuses("asked");
    let declined = post(&server, &relay, &format!("/v1/questions/{id}/decline"), &json!({"by": "kim"}));
    assert_eq!(declined.status, 200, "{declined:?}");
    refuses("declined");
    let again = json!({"session_id": SESSION, "change": "ask_again", "gap_id": "gap-001"});
    assert_ne!(play(&server, &agent, "wwa_change_plan", &again)["isError"], true);
    refuses("asked again");
    let withdrawn = json!({"session_id": SESSION, "change": "withdraw", "gap_id": "gap-001"});
    assert_ne!(play(&server, &agent, "wwa_change_plan", &withdrawn)["isError"], true);
    refuses("withdrawn");
    assert_ne!(play(&server, &agent, "wwa_change_plan", &again)["isError"], true);
    let path = format!("/v1/plans/{SESSION}/gaps/gap-001");
    let vague = post(&server, &relay, &path, &json!({"answer": "the standard one", "by": "kim"}));
    assert_eq!(vague.json()["status"], "escalated", "{vague:?}");
    refuses("answered in vain");
    post(&server, &relay, &path, &json!({"answer": "dist", "by": "kim"}));
    let mut given = json!({"session_id": SESSION});
    given.as_object_mut().unwrap().extend(made.as_object().unwrap().clone());
    let attested = play(&server, &agent, "wwa_scaffold_attest", &given);
    assert!(attested["structuredContent"]["attestation"].is_object(), "{attested}");
}

/// Returns the tools that take a session, by name.
fn tools_of_a_session(server: &Server, token: &str) -> Vec<String> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
    let call = server.call("POST", &format!("{PATH}?tools=all")).token(token).json(&message);
    let call = call.header("Accept", "application/json, text/event-stream");
    let call = call.header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", "tools/list");
    let listed = call.send().json();
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    let takes = |tool: &&Value| tool["inputSchema"]["properties"].get("session_id").is_some();
    let mut names: Vec<_> =
        tools.iter().filter(takes).map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    names.sort_unstable();
    names
}

/// Returns the only trace there is.
fn trace_of(server: &Server) -> String {
    let traces = server.local("GET", "/v1/traces").send().json();
    traces["traces"][0]["trace"].as_str().unwrap_or_else(|| panic!("{traces}")).to_owned()
}

const SESSION: &str = "0196bb7c-0000-7000-8000-000000000001";
