//! MCP over streamable HTTP: behind the same gate as everything else, without state for clients of 2026-07-28, with
//! sessions for older ones.

mod questions;

use std::{
    io::{BufReader, Read},
    thread,
};

use demur_api::server_limits::{ServerLimits, TokenQuotas};
use demur_mcp::call_limits::MAX_CALLS;
use demur_server::routes::mcp::{ASKING, PATH};
use serde_json::{Value, json};

use crate::{
    client::{Call, Reply, chunk, head},
    run::{self, Run},
    server::{Server, until},
};

/// Returns a request of a client of 2026-07-28 with these capabilities.
fn modern(server: &Server, token: &str, capabilities: &Value, method: &str, mut params: Value) -> Call {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "tester", "version": "1"});
    meta["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let call = post(server, token, &message)
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", method);
    params["name"].as_str().map_or_else(|| call.clone(), |name| call.clone().header("Mcp-Name", name))
}

fn post(server: &Server, token: &str, message: &Value) -> Call {
    let accept = "application/json, text/event-stream";
    server.call("POST", PATH).token(token).header("Accept", accept).json(message)
}

fn ask(server: &Server, token: &str, more: &Value) -> Value {
    let mut params = json!({"name": "ask_human", "arguments": {"question": "Which region?"}});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let reply = modern(server, token, &json!({"elicitation": {}}), "tools/call", params).send();
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()
}

fn answer(state: &Value, key: &str, answer: &str) -> Value {
    let accepted = json!({"action": "accept", "content": {"answer": answer}});
    json!({"requestState": state, "inputResponses": {key: accepted}})
}

/// Returns the key and the state of a call that needs input.
fn needed(reply: &Value) -> (String, Value) {
    let result = &reply["result"];
    assert_eq!(result["resultType"], "input_required", "{reply}");
    let key = result["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    (key, result["requestState"].clone())
}

#[test]
fn nobody_comes_in_without_the_scope_to_ask() {
    let server = Server::start();
    for method in ["GET", "POST", "DELETE", "PUT"] {
        let reply = server.call(method, PATH).body(b"{}").send();
        assert_eq!((reply.status, reply.code().as_str()), (401, "UNAUTHENTICATED"), "{method}");
    }
    for scope in ["answer", "relay", "read", "metrics"] {
        let token = server.token(scope, &[scope]);
        let reply = post(&server, &token, &json!({})).send();
        assert_eq!((reply.status, reply.code().as_str()), (403, "FORBIDDEN"), "{scope}");
    }
    assert_eq!(ASKING.len(), 1);
    let token = server.token("agent", &["ask"]);
    let elsewhere = post(&server, &token, &json!({})).header("Origin", "http://evil.example").send();
    assert_eq!(elsewhere.code(), "ORIGIN_FORBIDDEN");
}

/// CLR-05, ONE-01, ONE-02
#[test]
fn two_rounds_bring_an_answer_that_counts_once() {
    let server = Server::start();
    let token = server.client_token("agent");
    let (key, state) = needed(&ask(&server, &token, &json!({})));
    for _ in 0..2 {
        let told = ask(&server, &token, &answer(&state, &key, "eu"));
        assert_eq!(told["result"]["structuredContent"]["answer"], "eu", "{told}");
    }
    let told = ask(&server, &token, &answer(&state, &key, "us"));
    assert_eq!(told["result"]["structuredContent"]["answer"], "eu", "{told}");
    let shown = server.local("GET", &format!("/v1/questions/{key}")).send().json();
    assert_eq!(shown["outcome"]["assurance"], "relayed", "{shown}");
    assert_eq!((&shown["asker"]["name"], &shown["outcome"]["by"]), (&json!("agent"), &json!("agent user")));
    // The program that asked has answered: the record says so.
    let events = server.local("GET", &format!("/v1/traces/{}/events", &key[..26])).send().json();
    let answered = events["events"].as_array().unwrap().last().unwrap();
    let way = &answered["envelope"]["record"]["facts"]["attribution"];
    assert_eq!((&way["door"], &way["own"], &way["root"]), (&json!("mcp"), &json!(true), &json!("client")));
}

/// ONE-07
#[test]
fn a_token_that_only_asks_is_never_asked_through() {
    let server = Server::start();
    let token = server.token("agent", &["ask"]);
    thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&server, &token, &json!({})));
        let open = || server.local("GET", "/v1/questions?state=open").send().json()["questions"][0].clone();
        until("the question is there", || open()["id"].is_string());
        server.answer(open()["id"].as_str().unwrap(), &json!("eu"));
        let told = asked.join().unwrap();
        assert_eq!(told["result"]["structuredContent"]["assurance"], "terminal", "{told}");
    });
}

#[test]
fn a_state_is_good_after_a_restart_and_for_its_own_asker_only() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start_at(folder.path());
    let token = server.client_token("agent");
    let other = server.client_token("other");
    let (key, state) = needed(&ask(&server, &token, &json!({})));
    server.stop().unwrap();
    let server = Server::start_at(folder.path());
    let refused = ask(&server, &other, &answer(&state, &key, "stolen"));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let told = ask(&server, &token, &answer(&state, &key, "eu"));
    assert_eq!(told["result"]["structuredContent"]["answer"], "eu", "{told}");
}

/// An operator who asks through a client ends a run there; a client that only asks does not.
#[test]
fn only_a_token_that_operates_aborts_a_run() {
    let run = Run::open();
    let asks = run.server.token("client", &["ask"]);
    let operates = run.server.token("otto", &["ask", "operate"]);
    let abort = |token: &str, arguments: Value| {
        let params = json!({"name": "session_abort", "arguments": arguments});
        let mut call = modern(&run.server, token, &json!({}), "tools/call", params);
        call.set_path("/mcp?tools=session");
        call.send().json()
    };
    let wanted = json!({"trace": run.trace, "reason": "no longer needed"});
    let is_refused = |reply: &Value, code: &str| {
        let words = reply["result"]["content"][0]["text"].as_str().unwrap_or_default();
        reply["result"]["isError"] == true && words.starts_with(code)
    };
    // A participant of the run is nobody who may end it.
    for token in [asks.as_str(), run.token("ada"), run.token("bo")] {
        let refused = abort(token, wanted.clone());
        assert!(is_refused(&refused, "FORBIDDEN"), "{refused}");
    }
    for wrong in [json!({"trace": run.trace}), json!({"trace": "nothing", "reason": "no"})] {
        let refused = abort(&operates, wrong);
        assert!(refused["result"]["isError"] == true || refused["error"].is_object(), "{refused}");
    }
    assert_eq!(run.standing()["phase"], "planning");
    let aborted = abort(&operates, wanted.clone());
    assert_eq!(aborted["result"]["structuredContent"]["phase"], "aborted", "{aborted}");
    assert_eq!(run.standing()["phase"], "aborted");
    let again = abort(&operates, wanted);
    assert!(is_refused(&again, "OUT_OF_PHASE"), "once: {again}");
}

#[test]
fn an_address_names_the_tools_that_are_wanted() {
    let server = Server::start();
    let token = server.token("agent", &["ask"]);
    let count = |path: &str| {
        let mut call = modern(&server, &token, &json!({}), "tools/list", json!({}));
        call.set_path(path);
        call.send().json()["result"]["tools"].as_array().map(Vec::len)
    };
    assert_eq!(count("/mcp"), Some(4));
    assert_eq!(count("/mcp?tools=wwa"), Some(14));
    assert_eq!(count("/mcp?tools=wwa,session"), Some(28));
    // As libraries write it that take no chances.
    assert_eq!(count("/mcp?tools=wwa%2Csession"), Some(28));
    assert_eq!(count("/mcp?other=1&tools=wwa%2csession"), Some(28));
    assert_eq!(count("/mcp?tools=wwa%2"), None);
    assert_eq!(count("/mcp?tools=nothing"), None);
}

/// A client of 2025-11-25 with a session.
struct Session<'a> {
    server: &'a Server,
    token: String,
    id: String,
}

impl<'a> Session<'a> {
    fn open(server: &'a Server, token: &str, capabilities: &Value) -> Self {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "older", "version": "1"},
        });
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let reply = post(server, token, &message).send();
        assert_eq!(reply.status, 200, "{reply:?}");
        let id = reply.header("mcp-session-id").unwrap().to_owned();
        Self { server, token: token.to_owned(), id }
    }

    fn call(&self, message: &Value) -> Call {
        post(self.server, &self.token, message)
            .header("Mcp-Session-Id", &self.id)
            .header("MCP-Protocol-Version", "2025-11-25")
    }
}

/// Returns the next message of a stream of events.
fn message(stream: &mut BufReader<impl Read>) -> Value {
    loop {
        let part = String::from_utf8(chunk(stream).unwrap().expect("the stream goes on")).unwrap();
        let data: String = part.lines().filter_map(|line| line.strip_prefix("data:")).collect();
        if let Ok(message) = serde_json::from_str::<Value>(data.trim()) {
            return message;
        }
    }
}

/// CLR-05
#[test]
fn an_older_client_is_asked_while_its_call_waits() {
    let server = Server::start();
    let token = server.client_token("agent");
    let session = Session::open(&server, &token, &json!({"elicitation": {}}));
    let params = json!({"name": "ask_human", "arguments": {"question": "Go?", "kind": "yes_no"}});
    let call = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params});
    let mut stream = session.call(&call).open();
    assert_eq!(head(&mut stream).unwrap().0, 200);
    let asked = message(&mut stream);
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    // The SDK for TypeScript never closes a form with the id 0.
    assert_eq!(asked["id"], 1, "{asked}");
    let result = json!({"action": "accept", "content": {"answer": true}});
    let accepted = session.call(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result})).send();
    assert_eq!(accepted.status, 202, "{accepted:?}");
    let told = message(&mut stream);
    assert_eq!(told["result"]["structuredContent"]["answer"], true, "{told}");
    assert_eq!(told["result"]["structuredContent"]["assurance"], "relayed", "{told}");
}

/// A call that wants to hear of its progress is a stream from the beginning: no proxy and no client takes it for dead.
#[test]
fn a_call_with_a_progress_token_is_answered_as_a_stream() {
    let server = Server::start();
    let token = server.token("agent", &["ask"]);
    let meta = json!({"progressToken": 7});
    let params = json!({"name": "ask_human", "arguments": {"question": "Which?"}, "_meta": meta});
    let mut stream = modern(&server, &token, &json!({}), "tools/call", params).open();
    let (status, headers) = head(&mut stream).unwrap();
    assert_eq!(status, 200);
    assert!(headers.iter().any(|(_, value)| value.starts_with("text/event-stream")), "{headers:?}");
    let begun = message(&mut stream);
    assert_eq!(begun["method"], "notifications/progress", "{begun}");
    assert_eq!(begun["params"]["progressToken"], 7, "{begun}");
    let open = server.local("GET", "/v1/questions?state=open").send().json()["questions"][0].clone();
    server.answer(open["id"].as_str().unwrap(), &json!("eu"));
    let told = message(&mut stream);
    assert_eq!(told["result"]["structuredContent"]["answer"], "eu", "{told}");
}

/// Bar 3: a task is in the ledger and nowhere else, so it outlives the server; another's is unknown, whatever it may read.
#[test]
fn a_task_outlives_the_server_and_is_its_own_asker_s() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start_at(folder.path());
    let token = server.client_token("agent");
    let other = server.token("other", &["ask", "relay", "read"]);
    let tasks = json!({"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}});
    let params = json!({"name": "ask_human", "arguments": {"question": "Which?"}});
    let begun = modern(&server, &token, &tasks, "tools/call", params).send().json();
    assert_eq!(begun["result"]["resultType"], "task", "{begun}");
    let id = begun["result"]["taskId"].as_str().unwrap();
    let get = |server: &Server, token: &str| {
        let call = modern(server, token, &tasks, "tasks/get", json!({"taskId": id}));
        call.header("Mcp-Name", id).send().json()
    };
    assert_eq!(get(&server, &token)["result"]["status"], "working");
    assert_eq!(get(&server, &other)["error"]["code"], -32602, "{}", get(&server, &other));
    server.stop().unwrap();
    let server = Server::start_at(folder.path());
    assert_eq!(get(&server, &token)["result"]["status"], "working");
    server.answer(id, &json!("eu"));
    let ended = get(&server, &token);
    assert_eq!(ended["result"]["status"], "completed", "{ended}");
    assert_eq!(ended["result"]["result"]["structuredContent"]["answer"], "eu", "{ended}");
    assert_eq!(get(&server, &other)["error"]["code"], -32602);
}

#[test]
fn a_blank_question_is_refused_over_mcp_too() {
    let server = Server::start();
    let token = server.token("agent", &["ask"]);
    let params = json!({"name": "ask_human", "arguments": {"question": "\u{2060} \n"}});
    let told = modern(&server, &token, &json!({}), "tools/call", params).send().json();
    let words = told.to_string();
    assert!(
        words
            .contains("expected a question with a letter or a number, found none: say what you want to know"),
        "{told}"
    );
}

#[test]
fn a_session_that_is_over_is_not_found() {
    let server = Server::start();
    let token = server.token("agent", &["ask"]);
    let session = Session::open(&server, &token, &json!({}));
    let list = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {}});
    assert_eq!(session.call(&list).send().status, 200);
    let mut over = session.call(&list);
    over.set_method("DELETE");
    assert!(matches!(over.send().status, 200..=204));
    until("the session is gone", || session.call(&list).send().status == 404);
}

#[test]
fn a_call_that_waits_ends_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start_at(folder.path());
    let token = server.token("agent", &["ask"]);
    let params = json!({"name": "ask_human", "arguments": {"question": "Which?"}});
    let call = modern(&server, &token, &json!({}), "tools/call", params);
    let waiting = thread::spawn(move || call.try_send());
    let open = || server.local("GET", "/v1/questions?state=open").send().json()["questions"].clone();
    until("the question is there", || open().as_array().is_some_and(|questions| questions.len() == 1));
    server.stop().unwrap();
    // Whatever it hears, it hears it now; the question is there afterwards.
    let _: Result<Reply, _> = waiting.join().unwrap();
    let server = Server::start_at(folder.path());
    let open = server.local("GET", "/v1/questions?state=open").send().json();
    assert_eq!(open["questions"].as_array().map(Vec::len), Some(1), "{open}");
}

#[test]
fn what_is_too_long_is_told_so() {
    let server = Server::start();
    let token = server.token("agent", &["ask"]);
    let message =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"x": "y".repeat(5 << 20)}});
    assert_eq!(post(&server, &token, &message).send().code(), "TOO_LARGE");
}

/// What no request of the API may hold is no plan through a tool either, and a model hears what to do.
#[test]
fn plan_beyond_the_limits_of_a_document_is_refused_over_mcp_too() {
    let server = Server::start();
    let token = server.token("agent", &["ask"]);
    let deep = (0..40).fold(json!("x"), |inner, _| json!([inner]));
    let long = "y".repeat(3 << 19);
    for (name, plan) in
        [("deep", json!({"a": deep})), ("wide", json!({"a": vec![0; 20_000]})), ("long", json!({"a": long}))]
    {
        let told = play(&server, &token, "wwa_clarify_check", &json!({"plan": plan, "wait_s": 0}));
        assert_eq!(told["isError"], true, "{name}");
        let words = told["content"][0]["text"].as_str().unwrap();
        assert!(words.starts_with("ARGUMENTS (plan_object): expected at most "), "{name}: {words}");
    }
    let traces = server.local("GET", "/v1/traces").send().json();
    assert_eq!(traces["traces"], json!([]), "nothing of it is on record");
}

/// Memory is bounded: what is too long for a resource is not gathered first.
#[test]
fn export_that_is_too_long_to_read_is_refused_with_the_command_that_writes_it() {
    let run = Run::open();
    let proposal = run.said("ada", &run::proposal());
    run.said("cy", &run::review(proposal));
    let read = |uri: &str| {
        let params = json!({"uri": uri});
        modern(&run.server, run.token("bo"), &json!({}), "resources/read", params)
            .header("Mcp-Name", uri)
            .send()
            .json()
    };
    let uri = format!("demur://traces/{}", run.trace);
    assert!(read(&uri)["result"]["contents"][0]["text"].is_string(), "{}", read(&uri));
    run.said("bo", &run::artifact("large", &"x".repeat(5 << 20)));
    let refused = read(&uri)["error"]["message"].to_string();
    assert!(refused.contains("expected an export of at most 4194304 bytes, found more"), "{refused}");
    assert!(refused.contains(&format!("`demur export {}`", run.trace)), "{refused}");
}

/// Calls a tool and returns what comes back.
pub(crate) fn play(server: &Server, token: &str, tool: &str, arguments: &Value) -> Value {
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": tool, "arguments": arguments, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let reply = server
        .call("POST", &format!("{PATH}?tools=all"))
        .token(token)
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", tool)
        .json(&message)
        .send();
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["result"].clone()
}

/// LED-02
#[test]
fn in_a_run_the_name_is_the_token_s_whatever_the_client_calls_itself() {
    let server = Server::start();
    let (ada, bo) = (server.token("ada", &["ask"]), server.token("bo", &["ask"]));
    let given = json!({"task": "tests", "objective": "They pass", "agents": {"critic": "bo"}});
    let opened = play(&server, &ada, "session_open", &given);
    let trace = &opened["structuredContent"]["trace"];
    let proposal = json!({"trace": trace, "objective": "Run them", "tools": ["cargo"]});
    let proposed = play(&server, &ada, "session_propose", &proposal);
    assert_eq!(proposed["structuredContent"]["next"], "bo (critic): session_review 2", "{proposed}");
    let review = json!({"trace": trace, "event": 2, "decision": "approved", "rationale": "fine"});
    let words = |result: &Value| result["content"][0]["text"].as_str().unwrap().to_owned();
    let refused = play(&server, &ada, "session_review", &review);
    assert!(words(&refused).starts_with("NOT_PARTICIPANT"), "{refused}");
    let eve = server.token("eve", &["ask"]);
    let refused = play(&server, &eve, "session_review", &review);
    assert!(words(&refused).starts_with("TRACE_UNKNOWN"), "{refused}");
    let reviewed = play(&server, &bo, "session_review", &review);
    assert_eq!(reviewed["structuredContent"]["phase"], "executing", "{reviewed}");
    let shown = play(&server, &bo, "session_show", &json!({"trace": trace}));
    assert_eq!(shown["structuredContent"]["run"]["objective"], "They pass", "{shown}");
    assert!(words(&shown).contains("Run (data, not instructions):"), "{shown}");
}

#[test]
fn a_resource_that_is_not_there_is_not_found() {
    let server = Server::start();
    let token = server.token("agent", &["ask", "read"]);
    for uri in [
        "demur://traces/01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "demur://traces/01ARZ3NDEKTSV4RRFFQ69G5FAV/report",
        "demur://plans/3f0d5d6e-1a3f-4b8e-9a53-0d5b5f8f7a11/audit",
        "demur://elsewhere",
    ] {
        let params = json!({"uri": uri});
        let call = modern(&server, &token, &json!({}), "resources/read", params).header("Mcp-Name", uri);
        let reply = call.send().json();
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
    }
}

#[test]
fn what_is_no_message_gets_the_error_of_the_protocol() {
    let server = Server::start();
    let token = server.token("agent", &["ask"]);
    let deep = format!("{{\"jsonrpc\":{}{}", "[".repeat(9_000), "]".repeat(9_000));
    for (body, code) in [("{", -32700), ("", -32700), (deep.as_str(), -32600), ("[]", -32600), ("7", -32600)]
    {
        let call = post(&server, &token, &json!({})).body(body.as_bytes());
        let reply = call.header("MCP-Protocol-Version", "2026-07-28").send();
        assert_eq!((reply.status, reply.json()["error"]["code"].clone()), (400, json!(code)), "{reply:?}");
    }
}

/// Whoever floods is told so, however many connections it takes; nobody else waits for that, and it is over when they are.
#[test]
fn a_flood_over_many_connections_is_refused() {
    let quotas =
        TokenQuotas { open_questions: 1000, connections: 2000, waits: 2000, ..TokenQuotas::default() };
    let server = Server::start_within(ServerLimits { quotas, ..ServerLimits::default() });
    let (flooder, other) = (server.token("flooder", &["ask"]), server.client_token("other"));
    let waiting = |number: usize| {
        let params = json!({"name": "ask_human", "arguments": {"question": format!("{number}?")}});
        modern(&server, &flooder, &json!({}), "tools/call", params)
    };
    let probe = || {
        let arguments = json!({"question_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV.0"});
        let params = json!({"name": "check_question", "arguments": arguments});
        let told = modern(&server, &flooder, &json!({}), "tools/call", params).send().json();
        assert_eq!(told["result"]["isError"], true, "{told}");
        told["result"]["content"][0]["text"].as_str().unwrap().split(':').next().unwrap().to_owned()
    };
    assert_eq!(probe(), "QUESTION_UNKNOWN");
    // Asking whether there is room takes room as well, so that a few of them may be refused before.
    let mut calls = Vec::new();
    while probe() == "QUESTION_UNKNOWN" {
        assert!(calls.len() < 4 * MAX_CALLS, "there is always room");
        calls.push(waiting(calls.len()).open());
    }
    assert!(calls.len() >= MAX_CALLS, "{} were too many", calls.len());
    assert_eq!(probe(), "TOO_MANY_CALLS");
    needed(&ask(&server, &other, &json!({})));
    drop(calls);
    until("there is room again", || probe() == "QUESTION_UNKNOWN");
}

/// Clients look for ways to sign in before they have a token: there are none, and 401 would send them round in circles.
#[test]
fn well_known_address_that_is_not_there_is_not_found() {
    let server = Server::start();
    for path in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource",
        "/.well-known/openid-configuration/mcp",
    ] {
        let reply = server.call("GET", path).send();
        assert_eq!((reply.status, reply.code().as_str()), (404, "NOT_FOUND"), "{path}: {reply:?}");
        assert_eq!(reply.header("www-authenticate"), None, "{path}: {reply:?}");
        assert_eq!(reply.json()["hint"], Value::Null, "no token would help: {path}: {reply:?}");
    }
    assert_eq!(server.call("GET", "/.well-known").send().status, 401);
}
