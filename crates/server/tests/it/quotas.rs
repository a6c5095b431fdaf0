//! What one token may have, and that others are served meanwhile (ONE-15).

use std::io::{BufReader, Write as _};

use demur_api::server_limits::{ServerLimits, TokenQuotas};
use demur_server::routes::mcp::PATH;
use serde_json::{Value, json};

use crate::{
    client::{Call, Reply, Stream},
    server::{Server, until},
};

fn within(quotas: TokenQuotas) -> Server {
    Server::start_within(ServerLimits { quotas, ..ServerLimits::default() })
}

fn ask(server: &Server, token: &str, question: &str) -> Call {
    server.call("POST", "/v1/questions").token(token).json(&json!({"question": question}))
}

/// Checks that a request is refused for want of this quota.
fn expect_full(reply: &Reply, quota: &str) {
    assert_eq!((reply.status, reply.code().as_str()), (429, "QUOTA_EXCEEDED"), "{reply:?}");
    let problem = reply.json();
    assert_eq!(problem["field"], quota, "{problem}");
    assert!(problem["detail"].as_str().unwrap().contains("found"), "{problem}");
    assert!(
        problem["hint"].as_str().unwrap().contains("when")
            || problem["hint"].as_str().unwrap().contains("in"),
        "{problem}"
    );
}

/// ONE-15
#[test]
fn one_open_question_too_many_is_refused_and_others_ask() {
    let folder = tempfile::tempdir().unwrap();
    let quotas = TokenQuotas { open_questions: 3, ..TokenQuotas::default() };
    let server = within(quotas);
    let (flooder, other) = (server.token("flooder", &["ask"]), server.token("other", &["ask"]));
    let keyed = ask(&server, &flooder, "0?").header("Idempotency-Key", "one");
    let first = keyed.send().json()["id"].as_str().unwrap().to_owned();
    for number in 1..3 {
        assert_eq!(ask(&server, &flooder, &format!("{number}?")).send().status, 201);
    }
    for _ in 0..3 {
        expect_full(&ask(&server, &flooder, "More?").send(), "open_questions");
    }
    let confirmation = json!({"action": "Send 10", "operation": {"amount": 10}});
    let confirmation = server.call("POST", "/v1/confirmations").token(&flooder).json(&confirmation).send();
    expect_full(&confirmation, "open_questions");
    let again = keyed.send();
    assert_eq!((again.status, &again.json()["id"]), (200, &json!(first)), "what is there is given again");
    // Another token of the same holder has no questions of its own.
    let same = server.token("flooder", &["ask"]);
    expect_full(&ask(&server, &same, "More?").send(), "open_questions");
    assert_eq!(ask(&server, &other, "Mine?").send().status, 201, "others ask meanwhile");
    assert_eq!(server.answer(&first, &json!("yes")).status, 200);
    assert_eq!(ask(&server, &flooder, "Now?").send().status, 201);
    expect_full(&ask(&server, &flooder, "More?").send(), "open_questions");
    drop(folder);
}

/// Sends these requests at one moment, each over a connection of its own; returns what was answered.
fn at_once(calls: &[Call]) -> Vec<Reply> {
    let sent = calls.iter().map(|call| {
        let (mut stream, bytes) = (call.connect().unwrap(), call.bytes(true));
        let (last, head) = bytes.split_last().unwrap();
        stream.write_all(head).unwrap();
        (stream, *last)
    });
    // Nothing is read before every connection waits for one byte.
    let sent: Vec<_> = sent.collect();
    let begun = sent.into_iter().map(|(mut stream, last)| {
        stream.write_all(&[last]).unwrap();
        stream
    });
    let begun: Vec<_> = begun.collect();
    begun.into_iter().map(|stream| Reply::read(&mut BufReader::new(stream)).unwrap()).collect()
}

fn with_status(replies: &[Reply], status: u16) -> usize {
    replies.iter().filter(|reply| reply.status == status).count()
}

fn open_of(server: &Server, token: &str) -> usize {
    let listed = server.call("GET", "/v1/questions?state=open&limit=200").token(token).send().json();
    listed["questions"].as_array().unwrap().len()
}

/// ONE-15: requests at the same moment get no more than the same requests one after the other.
#[test]
fn questions_asked_at_one_moment_are_held_to_the_quota() {
    let quotas = TokenQuotas { open_questions: 8, connections: 200, ..TokenQuotas::default() };
    let server = within(quotas);
    for round in 0..4 {
        let token = server.token(&format!("flooder{}", char::from(b'a' + round)), &["ask"]);
        // What is known already, and what has to be counted first.
        let before = if round % 2 == 0 { 0 } else { 3 };
        (0..before).for_each(|number| drop(server.ask(&token, &json!({"question": format!("{number}?")}))));
        let calls: Vec<_> = (0..64).map(|number| ask(&server, &token, &format!("Now {number}?"))).collect();
        let replies = at_once(&calls);
        let (asked, refused) = (with_status(&replies, 201), with_status(&replies, 429));
        assert_eq!((asked, refused, open_of(&server, &token)), (8 - before, 56 + before, 8), "{round}");
    }
}

/// ONE-15: a caller who leaves takes nothing back with it.
#[test]
fn questions_of_callers_who_leave_are_held_to_the_quota() {
    let server = within(TokenQuotas { open_questions: 8, connections: 200, ..TokenQuotas::default() });
    let token = server.token("flooder", &["ask"]);
    for round in 0..8 {
        for number in 0..16 {
            let mut stream = ask(&server, &token, &format!("{round}, {number}?")).connect().unwrap();
            stream.write_all(&ask(&server, &token, &format!("{round}, {number}?")).bytes(true)).unwrap();
        }
    }
    until("all is recorded", || open_of(&server, &token) >= 8);
    expect_full(&ask(&server, &token, "More?").send(), "open_questions");
    assert_eq!(open_of(&server, &token), 8);
}

/// ONE-15
#[test]
fn bytes_sent_at_one_moment_are_held_to_the_quota() {
    let quotas = TokenQuotas { mebibytes_per_hour: 1, connections: 200, ..TokenQuotas::default() };
    let server = within(quotas);
    let token = server.token("flooder", &["ask"]);
    let large = |number: usize| {
        let question =
            json!({"question": format!("{number} {}", "x".repeat(16_000)), "detailed": "y".repeat(16_000)});
        server.call("POST", "/v1/questions").token(&token).json(&question)
    };
    let replies = at_once(&(0..60).map(large).collect::<Vec<_>>());
    let asked = with_status(&replies, 201);
    // A question of 32 kB is recorded with a little more around it.
    assert!((24..=33).contains(&asked), "{asked} of 60");
    assert_eq!(asked + with_status(&replies, 429), 60);
}

/// ONE-15: the questions of a plan are those of whoever submits it.
#[test]
fn gaps_of_plans_count_for_whoever_submits_them() {
    let server = within(TokenQuotas { open_questions: 8, connections: 200, ..TokenQuotas::default() });
    let (flooder, other) = (server.token("flooder", &["ask"]), server.token("other", &["ask"]));
    let submit = |token: &str, number: u32| {
        let session = format!("0190c3a0-0000-7000-8000-{number:012}");
        // Empty as it is, the rules ask about everything in it.
        let document = json!({"plan": {"description": format!("page {number}")}, "session_id": session});
        server.call("POST", "/v1/plans").token(token).json(&document)
    };
    let gaps = |reply: &Reply| reply.json()["gaps"].as_array().unwrap().len();
    let open = |plans: &[Reply]| plans.iter().filter(|reply| reply.status == 201).map(gaps).sum::<usize>();
    let plans = at_once(&(0..32).map(|number| submit(&flooder, number)).collect::<Vec<_>>());
    let first = plans.iter().find(|reply| reply.status == 201).expect("the first has room");
    assert!(gaps(first) > 1, "{first:?}");
    assert!(open(&plans) < 8 + gaps(first), "{} open", open(&plans));
    let mut asked = open(&plans);
    for number in 40.. {
        let plan = submit(&flooder, number).send();
        if plan.status != 201 {
            break;
        }
        asked += gaps(&plan);
    }
    // The one that begins with a place left has all its questions.
    assert!((8..8 + gaps(first)).contains(&asked), "{asked} open");
    expect_full(&ask(&server, &flooder, "More?").send(), "open_questions");
    expect_full(&submit(&flooder, 99).send(), "open_questions");
    let number = plans.iter().position(|reply| reply.status == 201).unwrap();
    let again = submit(&flooder, u32::try_from(number).unwrap()).send();
    assert_eq!((again.status, &again.body), (200, &first.body), "what is there is given again");
    assert_eq!(ask(&server, &other, "Mine?").send().status, 201, "others ask meanwhile");
    assert_eq!(submit(&other, 50).send().status, 201);
}

/// ONE-15: what was asked before a server began counts.
#[test]
fn what_was_asked_in_the_last_hour_is_counted_from_the_record() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start_at(folder.path());
    let token = server.token("builder", &["ask"]);
    for number in 0..3 {
        let id = server.ask(&token, &json!({"question": format!("{number}?")}));
        server.answer(&id, &json!("yes"));
    }
    server.stop().unwrap();
    let quotas = TokenQuotas { asks_per_hour: 4, ..TokenQuotas::default() };
    let server = Server::start_at_within(folder.path(), ServerLimits { quotas, ..ServerLimits::default() });
    let keyed = ask(&server, &token, "Once?").header("Idempotency-Key", "one");
    assert_eq!(keyed.send().status, 201);
    expect_full(&ask(&server, &token, "More?").send(), "asks_per_hour");
    assert_eq!(keyed.send().status, 200);
    let told = ask(&server, &token, "More?").send().json();
    let seconds = told["hint"].as_str().unwrap().split(' ').rev().nth(1).unwrap().parse::<u64>().unwrap();
    assert!((3400..=3600).contains(&seconds), "{told}");
}

/// ONE-15: a request that is sent again costs nothing, however often.
#[test]
fn retries_are_not_counted() {
    let server = within(TokenQuotas { asks_per_hour: 2, ..TokenQuotas::default() });
    let token = server.token("builder", &["ask"]);
    let keyed = ask(&server, &token, "Once?").header("Idempotency-Key", "one");
    for number in 0..8 {
        assert_eq!(keyed.send().status, if number == 0 { 201 } else { 200 });
    }
    assert_eq!(ask(&server, &token, "Second?").send().status, 201);
    expect_full(&ask(&server, &token, "Third?").send(), "asks_per_hour");
}

/// ONE-15
#[test]
fn what_is_recorded_of_one_token_in_an_hour_is_limited() {
    let server = within(TokenQuotas { mebibytes_per_hour: 1, ..TokenQuotas::default() });
    let (flooder, other) = (server.token("flooder", &["ask"]), server.token("other", &["ask"]));
    let large = json!({"question": "x".repeat(16_000), "detailed": "y".repeat(16_000)});
    let asked = (0..64).map(|_| server.call("POST", "/v1/questions").token(&flooder).json(&large).send());
    let refused = { asked }.find(|reply| reply.status != 201).expect("there is a limit");
    expect_full(&refused, "mebibytes_per_hour");
    assert_eq!(ask(&server, &other, "Mine?").send().status, 201);
}

/// ONE-15
#[test]
fn one_wait_too_many_is_refused_and_a_question_is_recorded_all_the_same() {
    let server = within(TokenQuotas { waits: 2, ..TokenQuotas::default() });
    let (flooder, other) = (server.token("flooder", &["ask"]), server.token("other", &["ask"]));
    let ids = ["Which?", "And who?"].map(|question| server.ask(&flooder, &json!({"question": question})));
    let wait_for = |id: &str, seconds: u64| {
        server.call("GET", &format!("/v1/questions/{id}/wait?seconds={seconds}")).token(&flooder)
    };
    let waiting: Vec<BufReader<Box<dyn Stream>>> = ids.iter().map(|id| wait_for(id, 60).open()).collect();
    until("both wait", || server.local("GET", "/v1/server").send().json()["waiting"] == 2);
    let wait = |seconds| wait_for(&ids[0], seconds);
    expect_full(&wait(60).send(), "waits");
    assert_eq!(wait(0).send().status, 200, "looking is no waiting");
    let asking =
        server.call("POST", "/v1/questions?wait=60").token(&flooder).json(&json!({"question": "And?"}));
    let asked = asking.send();
    assert_eq!((asked.status, &asked.json()["state"]), (201, &json!("open")), "its asker hears its id");
    let own = server.ask(&other, &json!({"question": "Mine?"}));
    let path = format!("/v1/questions/{own}/wait?seconds=60");
    let mut waited = server.call("GET", &path).token(&other).open();
    server.answer(&own, &json!("yes"));
    assert_eq!(Reply::read(&mut waited).unwrap().json()["state"], "answered");
    drop(waiting);
    until("there is room again", || wait(1).send().status == 200);
}

/// ONE-15
#[test]
fn one_connection_of_a_token_too_many_is_refused_and_ended() {
    let server = within(TokenQuotas { connections: 3, ..TokenQuotas::default() });
    let (flooder, other) = (server.token("flooder", &["ask"]), server.token("other", &["ask"]));
    let list = |token: &str| server.call("GET", "/v1/questions").token(token);
    let open = || {
        let mut stream = list(&flooder).connect().unwrap();
        stream.write_all(&list(&flooder).bytes(false)).unwrap();
        let mut stream = BufReader::new(stream);
        assert_eq!(Reply::read(&mut stream).unwrap().status, 200);
        stream
    };
    let mut kept: Vec<_> = (0..3).map(|_| open()).collect();
    let refused = list(&flooder).send();
    expect_full(&refused, "connections");
    assert_eq!(refused.header("connection"), Some("close"));
    assert_eq!(list(&other).send().status, 200);
    kept.pop();
    until("there is room again", || list(&flooder).send().status == 200);
}

fn initialize(server: &Server, token: &str) -> Reply {
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}});
    post(server, token, &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).send()
}

fn post(server: &Server, token: &str, message: &Value) -> Call {
    let accept = "application/json, text/event-stream";
    server.call("POST", PATH).token(token).header("Accept", accept).json(message)
}

/// ONE-15: an id that leaked is good for nothing with another token.
#[test]
fn session_of_an_older_client_is_its_tokens() {
    let server = Server::start();
    let (own, other) = (server.client_token("own"), server.client_token("other"));
    let begun = initialize(&server, &own);
    assert_eq!(begun.status, 200, "{begun:?}");
    let id = begun.header("mcp-session-id").unwrap().to_owned();
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let within = |token: &str, method: &str, id: &str| {
        let call = post(&server, token, &list)
            .header("Mcp-Session-Id", id)
            .header("MCP-Protocol-Version", "2025-06-18");
        let mut call = call;
        call.set_method(method);
        call.send()
    };
    let unknown = "0a1b2c3d-0000-4000-8000-000000000000";
    for method in ["POST", "GET", "DELETE"] {
        let (stolen, absent) = (within(&other, method, &id), within(&other, method, unknown));
        assert_eq!((stolen.status, &stolen.body), (absent.status, &absent.body), "{method}");
        assert!(method == "DELETE" || stolen.status == 404, "{method}: {stolen:?}");
    }
    assert_eq!(within(&own, "POST", &id).status, 200, "it is there all the same");
    let path = format!("/v1/tokens/{}", own.split('_').nth(1).unwrap());
    assert_eq!(server.local("DELETE", &path).send().status, 200);
    assert_eq!(within(&own, "POST", &id).status, 401);
    // Another token of the same holder does not take it over.
    let same = server.client_token("own");
    until("the session has ended", || within(&same, "POST", &id).status == 404);
}

/// ONE-15
#[test]
fn one_session_too_many_is_refused() {
    let server = within(TokenQuotas { mcp_sessions: 2, ..TokenQuotas::default() });
    let (flooder, other) = (server.client_token("flooder"), server.client_token("other"));
    let begun: Vec<_> = (0..2).map(|_| initialize(&server, &flooder)).collect();
    assert!(begun.iter().all(|reply| reply.status == 200), "{begun:?}");
    expect_full(&initialize(&server, &flooder), "mcp_sessions");
    assert_eq!(initialize(&server, &other).status, 200);
    let id = begun[0].header("mcp-session-id").unwrap();
    let mut end = post(&server, &flooder, &json!({})).header("Mcp-Session-Id", id);
    end.set_method("DELETE");
    assert!(end.send().status < 300);
    assert_eq!(initialize(&server, &flooder).status, 200);
}
