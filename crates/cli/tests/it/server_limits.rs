//! How many connections, tokens and people a server takes is a setting.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use crate::{
    asker::{start, until},
    sandbox::Sandbox,
    server_life::{open, serve},
};

fn ended(sandbox: &Sandbox, mut serving: std::process::Child) {
    sandbox.run(&["stop"]).expect_code(0);
    serving.wait().unwrap();
}

#[test]
fn limits_are_as_set_and_shown() {
    let sandbox = Sandbox::new();
    let set = "--max-connections 64 --max-local-connections 16 --max-tokens 2 --max-people 1";
    let serving = serve(&sandbox, &set.split(' ').collect::<Vec<_>>());
    let shown = || {
        let limits = sandbox.json(&["status"])["limits"].clone();
        ["connections", "local_connections", "tokens", "people"].map(|name| limits[name].as_u64().unwrap())
    };
    assert_eq!(shown(), [64, 16, 2, 1]);
    let said = sandbox.run(&["doctor"]);
    assert!(
        said.stdout.contains("at most 64 connections over TCP, 16 of your own commands, 2 tokens, 1 people"),
        "{said}"
    );
    ended(&sandbox, serving);
    sandbox.start_server();
    assert_eq!(shown(), [3072, 1024, 1000, 500]);
}

#[test]
fn one_token_too_many_is_refused_and_a_lower_limit_takes_none_away() {
    let sandbox = Sandbox::new();
    let new = |name| ["token", "new", name, "--scope", "read"];
    let serving = serve(&sandbox, &["--max-tokens", "2"]);
    sandbox.run(&new("one")).expect_code(0);
    sandbox.run(&new("two")).expect_code(0);
    let error = sandbox.json_error(&new("three"), 3);
    assert_eq!(error["code"], "TOO_MANY_TOKENS");
    assert_eq!(error["message"], "expected at most 2 tokens and sessions, found 2");
    sandbox.json_error(&["token", "new", "asker", "--scope", "ask"], 3);
    let keys = sandbox.run(&["keys", "list"]);
    assert!(!keys.stdout.contains("asker"), "no key is made for a token that is refused: {keys}");
    ended(&sandbox, serving);
    let serving = serve(&sandbox, &["--max-tokens", "1"]);
    assert_eq!(sandbox.json(&["token", "list"])["tokens"].as_array().unwrap().len(), 2);
    sandbox.json_error(&new("three"), 3);
    ended(&sandbox, serving);
    let serving = serve(&sandbox, &["--max-tokens", "3"]);
    sandbox.run(&new("three")).expect_code(0);
    ended(&sandbox, serving);
}

#[test]
fn one_person_too_many_is_refused() {
    let sandbox = Sandbox::new();
    let serving = serve(&sandbox, &["--max-people", "1"]);
    sandbox.run(&["people", "add", "ada", "--role", "answerer"]).expect_code(0);
    let error = sandbox.json_error(&["people", "add", "bob", "--role", "answerer"], 3);
    assert_eq!(error["code"], "TOO_MANY_PEOPLE");
    assert_eq!(error["message"], "expected at most 1 people, found 1");
    ended(&sandbox, serving);
}

#[test]
fn commands_that_wait_leave_room_for_those_that_answer() {
    let sandbox = Sandbox::new();
    let serving = serve(&sandbox, &["--max-local-connections", "16"]);
    let askers: Vec<_> = (0..20).map(|number| start(&sandbox, &[&format!("Question {number}?")])).collect();
    until("as many wait as may", || (sandbox.json(&["status"])["waiting"] == 14).then_some(()));
    let ids = until("all are asked", || Some(open(&sandbox)).filter(|ids| ids.len() == 20));
    for id in &ids {
        sandbox.run(&["answer", id, "yes"]).expect_code(0);
    }
    for mut asker in askers {
        assert!(asker.wait().unwrap().success(), "those that had no room get their answer, too");
    }
    ended(&sandbox, serving);
}

#[test]
fn one_connection_too_many_takes_the_place_of_one_without_a_request() {
    let sandbox = Sandbox::new();
    let serving = serve(&sandbox, &["--max-connections", "64"]);
    let address =
        sandbox.json(&["status"])["address"].as_str().unwrap().replace("http://localhost", "127.0.0.1");
    let connect = || TcpStream::connect(&address).unwrap();
    let asks = |stream: &mut TcpStream| {
        let host = address.replace("127.0.0.1", "localhost");
        stream.write_all(format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();
    };
    let mut idle: Vec<TcpStream> = (0..64).map(|_| connect()).collect();
    let mut beyond = connect();
    asks(&mut beyond);
    assert!(beyond.read(&mut [0; 1024]).unwrap() > 0, "it is served at once");
    assert_eq!(idle[0].read(&mut [0; 1024]).unwrap(), 0, "the one that was silent for longest is gone");
    asks(&mut idle[63]);
    assert!(idle[63].read(&mut [0; 1024]).unwrap() > 0, "all others are there");
    drop(idle);
    ended(&sandbox, serving);
}

#[test]
fn limit_out_of_its_range_is_refused() {
    let sandbox = Sandbox::new();
    for (option, value, range) in [
        ("--max-connections", "63", "64..=16384"),
        ("--max-connections", "16385", "64..=16384"),
        ("--max-local-connections", "15", "16..=16384"),
        ("--max-tokens", "0", "1..=10000"),
        ("--max-people", "10001", "1..=10000"),
    ] {
        let ran = sandbox.run(&["serve", option, value]);
        assert!(ran.expect_code(2).stderr.contains(range), "{ran}");
    }
    assert!(!sandbox.data().exists());
}
