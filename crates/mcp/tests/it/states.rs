//! What a client carries between rounds: worth nothing when it was changed, when it is another's, and when it is old.

use std::time::{Duration, Instant};

use demur_mcp::state::{Bound, RoundState, States};
use serde_json::{Value, json};

use crate::{
    client::{Client, Opening, forms, run},
    desk::Desk,
};

fn bound(identity: &str, tool: &str, arguments: &Value) -> Bound {
    Bound::new(identity, tool, arguments.as_object().unwrap()).unwrap()
}

fn round() -> RoundState {
    RoundState::Question("01ARZ3NDEKTSV4RRFFQ69G5FAV.0".parse().unwrap())
}

fn states() -> States {
    States::with_key(&[1; 32]).unwrap()
}

#[test]
fn rejects_every_change_of_a_single_character() {
    let bound = bound("a", "ask_human", &json!({"question": "Why?"}));
    let sealed = states().seal(&round(), &bound).unwrap();
    assert_eq!(states().unseal(&sealed, &bound).unwrap(), round());
    for at in 0..sealed.len() {
        let mut bytes = sealed.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        assert!(states().unseal(&changed, &bound).is_err(), "{at}: {changed}");
    }
    for cut in 0..sealed.len() {
        assert!(states().unseal(&sealed[..cut], &bound).is_err(), "{cut}");
    }
}

#[test]
fn rejects_what_belongs_to_another_asker_tool_or_request() {
    let own = bound("a", "ask_human", &json!({"question": "Why?"}));
    let sealed = states().seal(&round(), &own).unwrap();
    for other in [
        bound("b", "ask_human", &json!({"question": "Why?"})),
        bound("a", "wwa_clarify_check", &json!({"question": "Why?"})),
        bound("a", "ask_human", &json!({"question": "!"})),
        bound("aask_human", "", &json!({"question": "Why?"})),
    ] {
        assert!(states().unseal(&sealed, &other).is_err(), "{other:?}");
    }
    let other = States::with_key(&[2; 32]).unwrap();
    assert!(other.unseal(&sealed, &own).is_err(), "a key of another folder");
}

#[test]
fn rejects_what_is_too_old() {
    let states = States::good_for(&[1; 32], Duration::ZERO).unwrap();
    let bound = bound("a", "ask_human", &json!({}));
    let sealed = states.seal(&round(), &bound).unwrap();
    let until = Instant::now() + Duration::from_secs(5);
    let refused = loop {
        match states.unseal(&sealed, &bound) {
            Err(refused) => break refused,
            // It is good until the clock moves.
            Ok(_) => assert!(Instant::now() < until, "it never ends"),
        }
    };
    assert!(refused.message.contains("at most a day old"), "{refused:?}");
}

/// The protocol's own error, with one sentence that says what to do; the question stays answerable.
#[test]
fn a_client_with_a_state_that_is_not_its_own_hears_one_sentence() {
    run(async {
        let desk = Desk::new(true);
        let arguments = json!({"question": "Which?"});
        let mut one = Client::modern(&desk, forms(), Opening::default());
        let reply = one.call("ask_human", arguments.clone()).await;
        let state = reply["result"]["requestState"].as_str().unwrap().to_owned();
        let mut other = Client::modern(&desk, forms(), Opening { name: "thief", ..Opening::default() });
        let ask = |state: &str| json!({"name": "ask_human", "arguments": arguments, "requestState": state});
        let mut heard = Vec::new();
        heard.push(other.request("tools/call", ask(&state)).await);
        heard.push(one.request("tools/call", ask(&format!("{state}x"))).await);
        heard.push(one.request("tools/call", ask("nonsense")).await);
        for reply in heard {
            assert_eq!(reply["error"]["code"], -32602, "{reply}");
            assert!(reply["error"]["message"].as_str().unwrap().contains("check_question"), "{reply}");
        }
        assert_eq!(desk.state(&desk.asked().await.id.to_string()), "open");
    });
}
