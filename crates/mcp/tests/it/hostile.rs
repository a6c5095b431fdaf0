//! Clients that ask for what is not there, send what does not fit, take calls back, hang up, or send too much.

use std::{collections::BTreeSet, time::Duration};

use demur_mcp::door_settings::DoorSettings;
use demur_mcp::tools::list;
use serde_json::{Value, json};
use tokio::time;

use crate::{
    client::{Client, Opening, run, run_by_the_clock, words},
    desk::Desk,
};

#[test]
fn what_is_not_there_is_the_protocol_s_error() {
    run(async {
        let mut client = Client::modern(&Desk::new(true), json!({}), Opening::default());
        let reply = client.call("rm_rf", json!({})).await;
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
        assert!(
            reply["error"]["message"].as_str().unwrap().starts_with("Unknown tool: \"rm_rf\""),
            "{reply}"
        );
        let reply = client.request("resources/read", json!({"uri": "file:///etc/passwd"})).await;
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
        let reply = client.request("prompts/get", json!({"name": "nothing"})).await;
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
        let reply = client.request("no/such/method", json!({})).await;
        assert_eq!(reply["error"]["code"], -32601, "{reply}");
    });
}

/// No list here has a second page, so nobody can have a cursor.
#[test]
fn cursor_that_no_list_gave_is_the_protocol_s_error() {
    run(async {
        let mut client = Client::modern(&Desk::new(true), json!({}), Opening::default());
        for list in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
            for cursor in ["2", ""] {
                let reply = client.request(list, json!({"cursor": cursor})).await;
                assert_eq!(reply["error"]["code"], -32602, "{list} {cursor}: {reply}");
            }
            let reply = client.request(list, json!({})).await;
            assert!(reply["result"].is_object(), "{list}: {reply}");
        }
    });
}

/// A model that reads of a tool which is not there looks for it in vain.
#[test]
fn prompts_name_only_tools_that_are_there() {
    run(async {
        for sets in ["", "wwa", "session", "all"] {
            let sets = sets.parse().unwrap_or_default();
            let settings = DoorSettings { sets, ..Opening::default().settings };
            let opening = Opening { settings, ..Opening::default() };
            let mut client = Client::modern(&Desk::new(true), json!({}), opening);
            let tools: Vec<_> = list(sets).into_iter().map(|tool| tool.name.to_string()).collect();
            let prompts = client.request("prompts/list", json!({})).await["result"]["prompts"].clone();
            let mut named = 0;
            for prompt in prompts.as_array().unwrap() {
                let reply = client.request("prompts/get", json!({"name": prompt["name"]})).await;
                let words = reply["result"]["messages"][0]["content"]["text"].as_str().unwrap();
                let is_tool = |word: &&str| word.contains('_');
                for word in
                    words.split(|letter: char| !letter.is_alphanumeric() && letter != '_').filter(is_tool)
                {
                    assert!(tools.iter().any(|tool| tool == word), "{prompt}: {word} is not there");
                    named += 1;
                }
            }
            assert!(named >= 3, "the prompts say what to call");
        }
    });
}

/// A model reads what is wrong with its arguments, and nothing is asked.
#[test]
fn arguments_that_do_not_fit_are_told_to_the_model() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::modern(&desk, json!({}), Opening::default());
        let wrong = [
            ("ask_human", json!({}), ": missing field `question`"),
            ("ask_human", json!({"question": 5}), " (question): invalid type"),
            (
                "ask_human",
                json!({"question": ""}),
                " (question): expected a question with a letter or a number",
            ),
            (
                "ask_human",
                json!({"question": "Why?", "kind": "anything"}),
                " (kind): expected text, yes-no, choice, number or secret",
            ),
            ("ask_human", json!({"question": "Why?", "choices": "a"}), " (choices): invalid type"),
            ("ask_human", json!({"question": "Why?", "choices": ["a", 7]}), " (choices[1]): invalid type"),
            ("ask_human", json!({"question": "Why?", "surprise": true}), " (surprise): unknown field"),
            ("check_question", json!({"question_id": "nothing"}), " (question_id): expected the id"),
            ("ask_human", json!({"question": "Why?", "wait_s": -1}), " (wait_s): invalid value"),
            ("wwa_clarify_check", json!({"plan": []}), " (plan): invalid type"),
            ("wwa_clarify_audit", json!({"session_id": 7}), " (session_id): invalid type"),
            ("session_show", json!({"trace": "x"}), " (trace): expected"),
        ];
        for (tool, arguments, told) in wrong {
            let reply = client.call(tool, arguments.clone()).await;
            assert_eq!(reply["result"]["isError"], true, "{tool} {arguments}: {reply}");
            assert!(words(&reply).starts_with(&format!("ARGUMENTS{told}")), "{told}: {reply}");
            assert_eq!(reply["result"]["structuredContent"], Value::Null, "{reply}");
        }
        assert_eq!(desk.answers(), 0);
    });
}

#[test]
fn a_question_that_nobody_asked_is_unknown() {
    run(async {
        let mut client = Client::modern(&Desk::new(true), json!({}), Opening::default());
        let arguments = json!({"question_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV.9"});
        let reply = client.call("check_question", arguments).await;
        assert!(words(&reply).starts_with("QUESTION_UNKNOWN: "), "{reply}");
    });
}

#[test]
fn a_desk_that_never_answers_costs_its_time_and_no_more() {
    run(async {
        let opening = Opening::within(Duration::from_millis(10));
        let mut client = Client::modern(&Desk::mute(), json!({}), opening);
        let reply = client.call("ask_human", json!({"question": "Why?"})).await;
        assert!(words(&reply).starts_with("NO_REPLY: "), "{reply}");
        assert_eq!(reply["result"]["isError"], true, "{reply}");
    });
}

#[test]
fn a_call_that_is_taken_back_ends_and_its_question_stays() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::modern(&desk, json!({}), Opening::default());
        let number =
            client.ask("tools/call", json!({"name": "ask_human", "arguments": {"question": "Why?"}})).await;
        let id = desk.asked().await.id.to_string();
        let params = json!({"requestId": number, "reason": "changed my mind"});
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
        // What comes next is the answer to the next request.
        let next = client.request("tools/list", json!({})).await;
        assert!(next["result"]["tools"].is_array(), "{next}");
        assert_eq!(desk.state(&id), "open");
    });
}

#[test]
fn a_client_that_hangs_up_leaves_its_question_open() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::modern(&desk, json!({}), Opening::default());
        client.ask("tools/call", json!({"name": "ask_human", "arguments": {"question": "Why?"}})).await;
        let id = desk.asked().await.id.to_string();
        client.hang_up().await;
        assert_eq!(desk.state(&id), "open");
    });
}

#[test]
fn lines_that_are_no_messages_do_not_close_the_door() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::legacy(&desk, "2025-06-18", json!({}), Opening::default()).await;
        client.send(&json!("not a message")).await;
        client.send(&json!({"jsonrpc": "2.0"})).await;
        client.send(&json!({"jsonrpc": "2.0", "id": 77, "result": {"action": "accept"}})).await;
        let number = client.ask("tools/list", json!({})).await;
        let tools = loop {
            let message = client.next().await;
            if message["id"] == number {
                break message;
            }
            assert!(message["error"].is_object(), "{message}");
        };
        assert!(tools["result"]["tools"].is_array(), "{tools}");
    });
}

/// A request of the protocol whose members do not fit is that, and no unknown method.
#[test]
fn members_that_do_not_fit_are_named() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::modern(&desk, json!({"elicitation": {}}), Opening::default());
        let ask = |more: &Value| {
            let mut params = json!({"name": "ask_human", "arguments": {"question": "Why?"}});
            params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            ("tools/call", params)
        };
        let misfits = [
            (ask(&json!({"arguments": ["?"]})), "arguments"),
            (ask(&json!({"name": 5})), "name"),
            (ask(&json!({"requestState": 5})), "requestState"),
            (ask(&json!({"inputResponses": [1]})), "inputResponses"),
            (("resources/read", json!({"uri": 5})), "uri"),
            (("prompts/get", json!({"name": ["critic"]})), "name"),
        ];
        for ((method, params), member) in misfits {
            let reply = client.request(method, params).await;
            assert_eq!(reply["error"]["code"], -32602, "{reply}");
            let words = reply["error"]["message"].as_str().unwrap();
            assert!(words.starts_with(&format!("params of {method}: {member}: invalid type: ")), "{reply}");
        }
        let reply = client.request("tools/explode", json!({})).await;
        assert_eq!(reply["error"]["code"], -32601, "{reply}");
        assert_eq!(reply["error"]["message"], "unknown method \"tools/explode\"", "{reply}");
    });
}

/// Whoever sends more than there is room for is told so, at once, and the others wait on.
#[test]
fn a_flood_is_refused_and_costs_nobody_else() {
    run(async {
        let desk = Desk::new(true);
        let opening = Opening::within(Duration::from_millis(500));
        let mut client = Client::modern(&desk, json!({}), opening);
        let (calls, mut refused, mut waited) = (300, 0, 0);
        for number in 0..calls {
            let arguments = json!({"question": format!("{number}?")});
            client.ask("tools/call", json!({"name": "ask_human", "arguments": arguments})).await;
        }
        for _ in 0..calls {
            let reply = client.next().await;
            if words(&reply).starts_with("TOO_MANY_CALLS: expected at most 256 calls at once") {
                refused += 1;
            } else {
                assert!(words(&reply).contains("is open; nobody has answered yet."), "{reply}");
                waited += 1;
            }
        }
        assert_eq!((refused, waited), (calls - 256, 256));
    });
}

/// What is kept for a client that only writes is bounded: the server stops reading from it.
#[test]
fn a_client_that_never_reads_is_not_read_from_for_ever() {
    run_by_the_clock(async {
        let desk = Desk::new(true);
        let mut client = Client::modern(&desk, json!({}), Opening::default());
        let mut taken = 0;
        while time::timeout(Duration::from_mins(1), client.ask("tools/list", json!({}))).await.is_ok() {
            taken += 1;
            assert!(taken < 6_000, "the server goes on reading");
        }
        client.hang_up().await;
    });
}

#[test]
fn a_client_that_reads_late_loses_no_reply() {
    run_by_the_clock(async {
        let desk = Desk::new(true);
        let mut client = Client::modern(&desk, json!({}), Opening::default());
        let mut waits = BTreeSet::new();
        for _ in 0..2_000 {
            waits.insert(client.ask("tools/list", json!({})).await);
        }
        while !waits.is_empty() {
            let reply = client.next().await;
            assert!(reply["result"]["tools"].is_array(), "{reply}");
            assert!(waits.remove(&reply["id"].as_u64().unwrap()), "{reply}");
        }
    });
}

/// Two replies under one id could not be told apart, so the second request is not carried out.
#[test]
fn a_second_request_under_an_id_without_a_reply_is_refused() {
    run(async {
        let desk = Desk::new(true);
        let mut client = Client::legacy(&desk, "2025-11-25", json!({}), Opening::default()).await;
        let ask = |question: &str| {
            let params = json!({"name": "ask_human", "arguments": {"question": question}});
            json!({"jsonrpc": "2.0", "id": 50, "method": "tools/call", "params": params})
        };
        client.send(&ask("First?")).await;
        let asked = desk.asked().await;
        client.send(&ask("Second?")).await;
        let refused = client.next().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(50), &json!(-32600)), "{refused}");
        assert_eq!(desk.asked().await.id, asked.id, "nothing more was asked");
        desk.answer_elsewhere(asked.id, "one");
        let reply = client.next().await;
        assert_eq!(
            (&reply["id"], &reply["result"]["structuredContent"]["answer"]),
            (&json!(50), &json!("one"))
        );
        // With its reply the id is free, for clients that use it again.
        client.send(&json!({"jsonrpc": "2.0", "id": 50, "method": "ping"})).await;
        let reply = client.next().await;
        assert!(reply["result"].is_object(), "{reply}");
    });
}
