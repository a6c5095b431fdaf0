//! Many answer at once: one wins, and everybody hears who, when and how.

use std::{
    sync::{Arc, Barrier},
    thread,
};

use serde_json::json;

use crate::server::Server;

/// Over the socket there is the user of this machine and nobody else.
fn said_by(number: usize) -> String {
    if number.is_multiple_of(2) { format!("p{number}") } else { "pat".to_owned() }
}

/// ONE-02
#[test]
fn one_answer_wins_and_every_other_is_told_who_when_and_how() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let people: Vec<_> = (0..12).map(|number| format!("p{number}")).collect();
    let people: Vec<_> = people.iter().map(String::as_str).collect();
    let relay = server.token_for("client", &["relay"], &people);
    for round in 0..5 {
        let id = server.ask(&asker, &json!({"question": format!("Round {round}: who is first?")}));
        let path = format!("/v1/questions/{id}/answer");
        let start = Arc::new(Barrier::new(12));
        let threads: Vec<_> = (0..12)
            .map(|number| {
                let answer = json!({"answer": format!("a{number}"), "by": said_by(number)});
                let call = if number.is_multiple_of(2) {
                    server.call("POST", &path).token(&relay)
                } else {
                    server.local("POST", &path)
                };
                let (call, start) = (call.json(&answer), Arc::clone(&start));
                thread::spawn(move || {
                    start.wait();
                    (number, call.send())
                })
            })
            .collect();
        let replies: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let won: Vec<_> = replies.iter().filter(|(_, reply)| reply.status == 200).collect();
        assert_eq!(won.len(), 1);
        let (number, first) = won[0];
        let outcome = &first.json()["question"]["outcome"];
        let how = if number.is_multiple_of(2) { "relayed" } else { "terminal" };
        assert_eq!((&outcome["by"], &outcome["assurance"]), (&json!(said_by(*number)), &json!(how)));
        for (_, reply) in replies.iter().filter(|(other, _)| other != number) {
            assert_eq!((reply.status, reply.code().as_str()), (409, "ALREADY_ANSWERED"));
            assert_eq!(reply.json()["outcome"], *outcome, "who, when and how");
            assert!(reply.json()["hint"].as_str().unwrap().contains(&said_by(*number)));
        }
    }
}

/// ONE-02 CLR-04
#[test]
fn the_same_answer_again_counts_once_and_another_one_not_at_all() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Which?"}));
    let first = server.answer(&id, &json!("this")).json();
    let again = server.answer(&id, &json!("this"));
    assert_eq!((again.status, &again.json()["repeated"]), (200, &json!(true)));
    assert_eq!(again.json()["question"], first["question"]);
    let other = server.answer(&id, &json!("that"));
    assert_eq!((other.status, other.code().as_str()), (409, "ALREADY_ANSWERED"));
    assert_eq!(other.json()["outcome"], first["question"]["outcome"]);
}
