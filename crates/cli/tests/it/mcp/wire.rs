//! What goes over the pipes of `demur mcp`: whatever is no message gets its error, and the bridge lives.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{client::Client, forms, open_question};
use crate::sandbox::{Sandbox, count};

/// Returns a line that is no message, the code of its error and the id of it.
fn malformed(number: usize) -> (Vec<u8>, i64, Value) {
    let deep = "[".repeat(200 + number);
    let (line, code, id) = match number % 8 {
        0 => (format!("not JSON {number}"), -32700, Value::Null),
        1 => (format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/list""#), -32700, Value::Null),
        2 => (format!(r#"{{"id":{number},"method":"tools/list"}}"#), -32600, json!(number)),
        3 => (format!(r#"{{"jsonrpc":"2.0","id":{number},"method":{number}}}"#), -32600, json!(number)),
        4 => (
            format!(r#"{{"jsonrpc":"2.0","id":"{number}","params":{{}}}}"#),
            -32600,
            json!(number.to_string()),
        ),
        5 => (format!(r#"[{{"jsonrpc":"2.0","id":{number},"method":"ping"}}]"#), -32600, Value::Null),
        6 => (
            format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"ping","params":{deep}"#),
            -32600,
            json!(number),
        ),
        _ => {
            let line = [br#"{"jsonrpc":"2.0","id":1,"method":""#, &[0xff, 0xfe][..], b"\"}\n"].concat();
            return (line, -32700, Value::Null);
        }
    };
    (format!("{line}\n").into_bytes(), code, id)
}

/// CLR-05: one error each, under the id of the message where that can be read, and the next request succeeds.
#[test]
fn proof_malformed_lines_get_one_error_each_and_the_bridge_lives() {
    let sandbox = Sandbox::new();
    let mut client = Client::modern(&sandbox, &[], &json!({}));
    client.request("tools/list", json!({}));
    let lines = count(80, 1000);
    let mut slowest = Duration::ZERO;
    for number in 0..lines {
        let (line, code, id) = malformed(number);
        let begun = Instant::now();
        client.write_bytes(&line);
        let reply = client.next();
        slowest = slowest.max(begun.elapsed());
        assert_eq!((&reply["error"]["code"], &reply["id"]), (&json!(code), &id), "line {number}: {reply}");
        assert!(reply.get("id").is_some(), "an id that cannot be read is null: {reply}");
    }
    let next = client.request("tools/list", json!({}));
    assert!(next["result"]["tools"].is_array(), "{next}");
    assert!(lines < 1000 || slowest <= Duration::from_millis(100), "{slowest:?}");
}

/// Whoever writes everything before it reads anything gets everything all the same.
#[test]
fn errors_wait_for_a_client_that_is_slow_to_read() {
    let sandbox = Sandbox::new();
    let mut client = Client::modern(&sandbox, &[], &json!({}));
    let lines: Vec<u8> = (0..1000).flat_map(|number| malformed(number).0).collect();
    client.write_bytes(&lines);
    let errors = (0..1000).filter(|_| client.next()["error"]["code"].is_i64()).count();
    assert_eq!(errors, 1000);
    assert!(client.request("tools/list", json!({}))["result"]["tools"].is_array());
}

/// CLR-05: a line that is too long is told while it still goes on, and costs no memory.
#[test]
fn endless_line_gets_one_error_with_its_id_and_costs_no_memory() {
    let sandbox = Sandbox::new();
    let mut client = Client::modern(&sandbox, &[], &json!({}));
    client.request("tools/list", json!({}));
    let before = client.peak_memory();
    client.write_bytes(br#"{"jsonrpc":"2.0","id":"endless","method":"tools/call","params":{"name":""#);
    let part = vec![b'a'; 1 << 20];
    for _ in 0..5 {
        client.write_bytes(&part);
    }
    let reply = client.next();
    assert_eq!((&reply["error"]["code"], &reply["id"]), (&json!(-32600), &json!("endless")), "{reply}");
    for _ in 0..60 {
        client.write_bytes(&part);
    }
    client.write_bytes(b"\"}}\n");
    let next = client.request("tools/list", json!({}));
    assert!(next["result"]["tools"].is_array(), "one error and no other: {next}");
    let grown = client.peak_memory() - before;
    assert!(grown < 24 << 10, "{grown} KiB more for a line of 64 MiB");
}

fn write_all(client: &mut Client, messages: &[Value]) {
    for message in messages {
        client.write(message);
    }
}

/// CLR-05: what comes before a request has opened the connection is ignored.
#[test]
fn notification_before_the_first_request_is_ignored() {
    let sandbox = Sandbox::new();
    let early = [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}),
        json!({"jsonrpc": "2.0", "method": "surprise"}),
        json!({"jsonrpc": "2.0", "id": 9, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 9, "error": {"code": 1, "message": "?"}}),
    ];
    let mut modern = Client::modern(&sandbox, &[], &json!({}));
    write_all(&mut modern, &early);
    let found = modern.request("server/discover", json!({}));
    assert!(found["result"]["supportedVersions"].is_array(), "{found}");
    // To ask what there is opens nothing.
    write_all(&mut modern, &early);
    let listed = modern.request("tools/list", json!({}));
    assert!(listed["result"]["tools"].is_array(), "{listed}");

    let mut legacy = Client::start(&sandbox, &[]);
    // Nor does a request that says nothing of its client.
    let refused = legacy.request("tools/list", json!({}));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    write_all(&mut legacy, &early);
    let info = json!({"name": "desktop", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    let reply = legacy.request("initialize", params);
    assert_eq!(reply["result"]["protocolVersion"], "2025-11-25", "{reply}");
    legacy.write(&early[0]);
    assert!(legacy.request("tools/list", json!({}))["result"]["tools"].is_array());
}

/// ONE-02: the first request of the server is number 1, in what is asked, answered and taken back.
#[test]
fn requests_of_the_server_are_numbered_from_one() {
    let sandbox = Sandbox::new();
    let mut client = Client::legacy(&sandbox, &[], "2025-11-25", &forms());
    let ask = |words: &str| json!({"name": "ask_human", "arguments": {"question": words}});
    let first = client.send("tools/call", ask("First?"));
    let asked = client.next();
    assert_eq!((&asked["method"], &asked["id"]), (&json!("elicitation/create"), &json!(1)), "{asked}");
    client.write(
        &json!({"jsonrpc": "2.0", "id": 1, "result": {"action": "accept", "content": {"answer": "one"}}}),
    );
    assert_eq!(client.reply(first)["result"]["structuredContent"]["answer"], "one");

    let second = client.send("tools/call", ask("Second?"));
    assert_eq!(client.next()["id"], 2);
    sandbox.run(&["answer", &open_question(&sandbox), "two"]).expect_code(0);
    let mut taken_back = Value::Null;
    let told = loop {
        let message = client.next();
        if message["method"] == "notifications/cancelled" {
            taken_back = message["params"]["requestId"].clone();
        } else if message["id"] == second {
            break message;
        }
    };
    assert_eq!(taken_back, 2);
    assert_eq!(told["result"]["structuredContent"]["answer"], "two", "{told}");
}
