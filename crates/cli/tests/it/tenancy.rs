//! Attackers with tokens, and without, against a server in a process of its own: it stays small, and others are served (ONE-15).

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use serde_json::json;

use crate::{
    doors::wire::Wire,
    sandbox::Sandbox,
    server_life::{serve, server},
};

fn address(sandbox: &Sandbox) -> String {
    let status = sandbox.json(&["status"]);
    status["address"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned()
}

fn token(sandbox: &Sandbox, name: &str) -> String {
    sandbox.json(&["token", "new", name, "--scope", "ask"])["secret"].as_str().unwrap().to_owned()
}

/// Returns how much memory a process ever held, in mebibytes.
fn most_memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address.replace("localhost", "127.0.0.1")).unwrap();
    stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// ONE-15: bodies that never end.
#[test]
fn six_hundred_unfinished_bodies_take_no_more_memory_than_is_given_and_others_ask() {
    let sandbox = Sandbox::new();
    let mut serving = serve(&sandbox, &[]);
    let (process, address) = (server(&sandbox), address(&sandbox));
    let tokens: Vec<_> = (0..4).map(|number| token(&sandbox, &format!("flooder-{number}"))).collect();
    let other = Wire::tcp(&address, token(&sandbox, "other"));
    let part = vec![b'x'; 1_000_000];
    let mut unfinished = Vec::new();
    for number in 0..600 {
        let mut stream = connect(&address);
        let head = format!(
            "POST /v1/questions HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: 1048576\r\n\r\n",
            tokens[number % tokens.len()]
        );
        stream.write_all(head.as_bytes()).unwrap();
        // Whoever is refused may find nobody who reads on.
        let _ = stream.write_all(&part);
        unfinished.push(stream);
        if number % 100 == 0 {
            other.post("/v1/questions", &json!({"question": format!("Mine {number}?")})).unwrap();
        }
    }
    other.post("/v1/questions", &json!({"question": "Mine?"})).unwrap();
    let refused = unfinished.iter_mut().rev().find_map(|stream| {
        let mut start = [0; 12];
        stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        stream.read_exact(&mut start).ok().map(|()| String::from_utf8_lossy(&start).into_owned())
    });
    assert_eq!(refused.as_deref(), Some("HTTP/1.1 429"), "the last of them found no room");
    let most = most_memory(process);
    assert!(most < 300, "{most} MiB");
    drop(unfinished);
    sandbox.run(&["stop"]).expect_code(0);
    serving.wait().unwrap();
}

/// ONE-15: connections that say nothing.
#[test]
fn silent_connections_leave_those_alone_who_have_a_token() {
    let sandbox = Sandbox::new();
    let mut serving = serve(&sandbox, &["--max-connections", "64", "--max-stranger-connections", "64"]);
    let address = address(&sandbox);
    let builder = token(&sandbox, "builder");
    let mut kept = connect(&address);
    let list = format!(
        "GET /v1/questions?limit=1 HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {builder}\r\n\r\n"
    );
    let mut served = || {
        kept.write_all(list.as_bytes()).unwrap();
        let mut start = [0; 4096];
        let length = kept.read(&mut start).unwrap();
        String::from_utf8_lossy(&start[..length]).starts_with("HTTP/1.1 200")
    };
    assert!(served());
    let mut silent: Vec<_> = (0..100).map(|_| connect(&address)).collect();
    // The first of them are told to go, once there are more than may be.
    assert_eq!(silent[0].read(&mut [0; 16]).unwrap_or(0), 0);
    assert!(served(), "the connection of a token is kept, silent or not");
    let other = Wire::tcp(&address, builder.clone());
    other.post("/v1/questions", &json!({"question": "Mine?"})).unwrap();
    drop(silent);
    sandbox.run(&["stop"]).expect_code(0);
    serving.wait().unwrap();
}

#[test]
fn quotas_are_as_set_and_as_kept() {
    let sandbox = Sandbox::with_keys();
    sandbox.rest();
    fs::write(sandbox.data().join("settings.json"), "{\"quotas\": {\"open_questions\": 2, \"waits\": 7}}")
        .unwrap();
    let mut serving = serve(&sandbox, &["--max-waits", "9"]);
    let quotas = sandbox.json(&["status"])["limits"]["quotas"].clone();
    assert_eq!((&quotas["open_questions"], &quotas["waits"]), (&json!(2), &json!(9)));
    assert_eq!(quotas["asks_per_hour"], 600, "what is kept nowhere is as it comes");
    let wire = Wire::tcp(&address(&sandbox), token(&sandbox, "builder"));
    let ask = |number| wire.post("/v1/questions", &json!({"question": format!("{number}?")}));
    ask(1).unwrap();
    ask(2).unwrap();
    assert_eq!(ask(3).unwrap_err()["code"], "QUOTA_EXCEEDED");
    sandbox.run(&["stop"]).expect_code(0);
    serving.wait().unwrap();
}

#[test]
fn relay_without_people_has_to_be_wanted() {
    let sandbox = Sandbox::with_keys();
    let error = sandbox.json_error(&["token", "new", "chat", "--scope", "relay"], 2);
    assert_eq!(error["code"], "PEOPLE_MISSING");
    assert!(error["hint"].as_str().unwrap().contains("--for PERSON"), "{error}");
    sandbox.run(&["token", "new", "chat", "--scope", "relay", "--for", "ada", "--for", "ben"]).expect_code(0);
    sandbox.run(&["token", "new", "desktop", "--scope", "relay", "--for-anyone"]).expect_code(0);
    let listed = sandbox.run(&["token", "list"]);
    for shown in ["ada, ben", "anyone, its own questions"] {
        assert!(listed.stdout.contains(shown), "{listed}");
    }
}
