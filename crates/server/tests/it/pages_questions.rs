//! Questions in a browser without a script: listed, shown, answered, declined, extended; what is typed is never lost, and
//! what an agent wrote never acts.

use serde_json::{Value, json};

use crate::{
    browser::{Browser, hidden, origin},
    client::Reply,
    server::{Server, until},
};

/// Reviews a form and sends what the review carries.
fn review_and_send(browser: &Browser<'_>, id: &str, act: &str, fields: &[(&str, &str)]) -> Reply {
    let review = browser.post(&format!("/questions/{id}/review"), &[fields, &[("act", act)]].concat());
    assert_eq!(review.status, 200, "{}", review.text());
    let action = format!("/questions/{id}/{act}");
    let carried = hidden(&review.text(), &action);
    let carried: Vec<(&str, &str)> =
        carried.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    browser.post(&action, &carried)
}

fn state(server: &Server, id: &str) -> Value {
    server.local("GET", &format!("/v1/questions/{id}")).send().json()
}

/// ONE-01
#[test]
fn a_question_is_listed_reviewed_answered_and_done() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let ask = json!({"question": "Which port?", "context": "Two are free.", "blocks": ["deploy"], "choices": [
        {"label": "The first", "value": "7000"}, {"label": "The second", "value": "7001"}],
        "recommendation": "7001"});
    let id = server.ask(&asker, &ask);
    let browser = Browser::sign_in(&server);
    let list = browser.page("/");
    for words in
        ["Which port?", "builder", "Must be answered", "deploy", "Written by an agent", "Two are free."]
    {
        assert!(list.contains(words), "{words}: {list}");
    }
    assert!(
        list.contains("The second <span class=\"recommended\" lang=\"en\">(recommended by the asker)"),
        "{list}"
    );
    assert!(!list.contains(" checked"), "nothing is chosen");
    let review = browser.post(&format!("/questions/{id}/review"), &[("act", "answer"), ("choice", "1")]);
    assert_eq!(review.status, 200);
    assert!(review.text().contains("The second") && review.text().contains("<code>7001</code>"));
    assert_eq!(state(&server, &id)["state"], "open", "a review changes nothing");
    let early = browser.page(&format!("/questions/{id}?sent=answer"));
    assert!(!early.contains("is on record"), "a link that anybody can make says nothing: {early}");
    let sent = review_and_send(&browser, &id, "answer", &[("choice", "1")]);
    assert_eq!((sent.status, sent.header("location")), (303, Some(&*format!("/questions/{id}?sent=answer"))));
    let outcome = &state(&server, &id)["outcome"];
    assert_eq!(
        (&outcome["value"], &outcome["by"], &outcome["assurance"]),
        (&json!("7001"), &json!("pat"), &json!("terminal"))
    );
    let page = browser.page(&format!("/questions/{id}?sent=answer"));
    assert!(page.contains("Sent. Your answer is on record") && page.contains("Nothing else waits for you."));
    assert!(browser.page("/").contains("Nothing waits for you."));
    assert!(browser.page("/?list=done").contains("<strong>Answered</strong> by <bdi>pat</bdi>"));
}

/// AEP-10 AEP-11
#[test]
fn every_kind_has_its_own_form_and_takes_nothing_else() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let browser = Browser::sign_in(&server);
    let cases = [
        (json!({"question": "Why?", "kinds": ["yes_no"]}), "yes_no", "yes", json!(true), "maybe"),
        (json!({"question": "Why?", "kinds": ["numeric"]}), "number", " 0.5 ", json!(0.5), "half"),
        (json!({"question": "Why?"}), "text", " as it\r\nis ", json!("as it\nis"), " "),
        (json!({"question": "Why?", "suggestions": ["a", "b"]}), "suggestion", "1", json!("b"), "2"),
    ];
    for (ask, field, good, value, bad) in cases {
        let id = server.ask(&asker, &ask);
        let page = browser.page(&format!("/questions/{id}"));
        assert!(page.contains(&format!("name=\"{field}\"")), "{field}: {page}");
        let review = format!("/questions/{id}/review");
        let wrong = browser.post(&review, &[("act", "answer"), (field, bad)]);
        assert_eq!(wrong.status, 422, "{field}");
        if field == "number" {
            let text = wrong.text();
            assert!(
                text.contains("value=\"half\"") && text.contains("aria-describedby=\"wrong-number-"),
                "{text}"
            );
        }
        let other = if field == "yes_no" { ("number", "1") } else { ("yes_no", "yes") };
        assert_eq!(browser.post(&review, &[("act", "answer"), other]).status, 422, "{field}");
        assert_eq!(browser.post(&review, &[("act", "answer")]).status, 422, "{field}: nothing");
        assert_eq!(review_and_send(&browser, &id, "answer", &[(field, good)]).status, 303, "{field}");
        assert_eq!(state(&server, &id)["outcome"]["value"], value);
    }
}

#[test]
fn a_secret_is_asked_for_unseen_and_never_shown_again() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "The password?", "kinds": ["secret"]}));
    let browser = Browser::sign_in(&server);
    assert!(browser.page(&format!("/questions/{id}")).contains("type=\"password\" autocomplete=\"off\""));
    let place = format!("/questions/{id}");
    assert!(browser.page(&place).contains("Send the secret"));
    // An older page, a form of another session, a session that has ended: nothing is sent, and nothing is shown again.
    let (secret, stale) = ([("act", "answer"), ("secret", "hunter2")], "0".repeat(32));
    let review = browser.post(&format!("{place}/review"), &secret);
    let foreign = browser.post(&format!("{place}/answer"), &[secret[1], ("form_key", &stale)]);
    let wrong = browser.send(&format!("{place}/answer"), &[("secret", &"hunter2 ".repeat(3000))]);
    let media = "application/x-www-form-urlencoded";
    let unsigned = server.page("POST", &format!("{place}/answer")).header("Content-Type", media);
    let unsigned = unsigned.body(b"secret=hunter2&text=kept").send();
    for (reply, status) in [(&review, 422), (&foreign, 403), (&wrong, 422), (&unsigned, 401)] {
        assert_eq!(reply.status, status, "{}", reply.text());
        assert!(!reply.text().contains("hunter2"), "{}", reply.text());
    }
    assert!(review.text().contains("type it again") && unsigned.text().contains("kept"));
    assert_eq!(state(&server, &id)["state"], "open");
    let sent = browser.send(&format!("{place}/answer"), &secret[1..]);
    assert_eq!((sent.status, sent.header("cache-control")), (303, Some("no-store")));
    assert!(!browser.page(&format!("/questions/{id}")).contains("hunter2"));
    let kept = server.call("GET", &format!("/v1/questions/{id}/secret")).token(&asker).send();
    assert_eq!(kept.json()["value"], "hunter2");
}

/// ONE-02
#[test]
fn whoever_comes_second_is_told_who_was_first_and_keeps_the_words() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Where to?"}));
    let browser = Browser::of_new(&server, "max", "answerer");
    let key = browser.form_key();
    server.answer(&id, &json!("there"));
    for path in [format!("/questions/{id}/review"), format!("/questions/{id}/answer")] {
        let fields = [("act", "answer"), ("text", "<i>elsewhere</i>"), ("form_key", key.as_str())];
        let late = browser.post(&path, &fields);
        let text = late.text();
        assert_eq!(late.status, 409, "{text}");
        assert!(text.contains("<strong>Answered</strong> by <bdi>pat</bdi>"), "{text}");
        assert!(text.contains("same user"), "{text}");
        assert!(text.contains("&#60;i&#62;elsewhere&#60;/i&#62;</textarea>"), "{text}");
    }
    assert_eq!(state(&server, &id)["outcome"]["value"], "there");
    let page = browser.page(&format!("/questions/{id}"));
    assert!(page.contains("This question is settled.") && !page.contains("<form class=\"answer"));
}

/// CLR-04
#[test]
fn sending_twice_is_one_answer() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Where to?"}));
    let browser = Browser::sign_in(&server);
    let path = format!("/questions/{id}/answer");
    let first = browser.send(&path, &[("text", "there")]);
    assert_eq!(first.header("location"), Some(&*format!("/questions/{id}?sent=answer")));
    let again = browser.send(&path, &[("text", "there")]);
    assert_eq!(
        (again.status, again.header("location")),
        (303, Some(&*format!("/questions/{id}?sent=again")))
    );
    assert_eq!(browser.send(&path, &[("text", "elsewhere")]).status, 409);
    let path = format!("/questions/{id}/decline");
    assert_eq!(browser.send(&path, &[("reason", "no")]).status, 409);
}

#[test]
fn forms_of_others_change_nothing_and_lose_nothing() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Where to?"}));
    let browser = Browser::sign_in(&server);
    let other = Browser::sign_in(&server).form_key();
    let path = format!("/questions/{id}/answer");
    for forged in [vec![], vec![("form_key", "")], vec![("form_key", other.as_str())]] {
        let reply = browser.post(&path, &[forged, vec![("text", "my words")]].concat());
        let text = reply.text();
        assert_eq!(reply.status, 403, "{text}");
        assert!(text.contains("This form was not of this session"), "{text}");
        let carried = hidden(&text, &path);
        assert!(carried.contains(&("text".to_owned(), "my words".to_owned())), "{carried:?}");
    }
    let key = browser.form_key();
    let body = crate::browser::encode(&[("text", "x"), ("form_key", &key)]);
    let foreign =
        browser.call("POST", &path).header("Origin", "http://evil.example").body(body.as_bytes()).send();
    assert_eq!(foreign.status, 403);
    let without = server.page("POST", &path).header("Cookie", &browser.cookie).body(body.as_bytes()).send();
    assert_eq!(without.status, 401, "no Origin, no session");
    assert_eq!(state(&server, &id)["state"], "open");
}

#[test]
fn a_session_that_ended_keeps_what_was_typed() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Where to?"}));
    let path = format!("/questions/{id}/answer");
    let body = crate::browser::encode(&[("text", "a long & careful <answer>"), ("form_key", "old")]);
    let ended = server
        .page("POST", &path)
        .header("Origin", &origin(&server))
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body(body.as_bytes())
        .send();
    let text = ended.text();
    assert_eq!(ended.status, 401);
    assert!(text.contains("a long &#38; careful &#60;answer&#62;</textarea>"), "{text}");
    assert!(text.contains(&format!("action=\"{path}\"")), "{text}");
    let browser = Browser::sign_in(&server);
    let again = browser.post(&path, &[("text", "a long & careful <answer>")]);
    assert_eq!(again.status, 403, "looked at once more");
    let carried = hidden(&again.text(), &path);
    let carried: Vec<_> = carried.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(browser.post(&path, &carried).status, 303);
    assert_eq!(state(&server, &id)["outcome"]["value"], "a long & careful <answer>");
}

#[test]
fn declining_asking_back_and_calling_off_say_what_they_do() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let browser = Browser::sign_in(&server);
    for (act, field, ended) in [
        ("decline", "reason", "declined"),
        ("ask-back", "words", "declined"),
        ("cancel", "reason", "cancelled"),
    ] {
        let id = server.ask(&asker, &json!({"question": "Which one?"}));
        let review =
            browser.post(&format!("/questions/{id}/review"), &[("act", act), (field, "which *ones*?")]);
        assert!(review.text().contains("which <em>ones</em>?"), "{act}: {}", review.text());
        if act == "ask-back" {
            assert!(review.text().contains("This closes the question; the asker reads your words"));
            assert_eq!(browser.post(&format!("/questions/{id}/review"), &[("act", act)]).status, 422);
        }
        assert_eq!(review_and_send(&browser, &id, act, &[(field, "which *ones*?")]).status, 303, "{act}");
        let shown = state(&server, &id);
        assert_eq!(
            (&shown["state"], &shown["outcome"]["note"]),
            (&json!(ended), &json!("which *ones*?")),
            "{act}"
        );
        assert_eq!(shown["outcome"]["by"], "pat", "{act}");
    }
}

/// What it blocks stays blocked until then.
#[test]
fn declined_question_can_be_called_off_on_its_page() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let browser = Browser::sign_in(&server);
    let id = server.ask(&asker, &json!({"question": "Which one?"}));
    assert_eq!(review_and_send(&browser, &id, "decline", &[]).status, 303);
    let path = format!("/questions/{id}");
    assert!(browser.page(&path).contains("name=\"act\" value=\"cancel\""), "{}", browser.page(&path));
    assert_eq!(review_and_send(&browser, &id, "cancel", &[]).status, 303);
    assert_eq!(state(&server, &id)["state"], "cancelled");
    assert!(!browser.page(&path).contains("name=\"act\" value=\"cancel\""));
    assert_eq!(browser.post(&format!("{path}/review"), &[("act", "cancel")]).status, 409);
}

#[test]
fn more_time_is_given_once_and_the_record_says_who_wanted_it() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "In time?", "timeout_seconds": 600}));
    let browser = Browser::sign_in(&server);
    let before = state(&server, &id)["deadline"].as_str().unwrap().to_owned();
    assert!(browser.page("/").contains(&format!("data-deadline=\"{before}\"")));
    let review = browser.post(&format!("/questions/{id}/review"), &[("act", "extend"), ("seconds", "3600")]);
    let path = format!("/questions/{id}/extend");
    let carried = hidden(&review.text(), &path);
    let carried: Vec<_> = carried.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(
        browser.post(&path, &carried).header("location"),
        Some(&*format!("/questions/{id}?sent=extend"))
    );
    let after = state(&server, &id)["deadline"].as_str().unwrap().to_owned();
    assert!(after > before, "{after}");
    assert_eq!(
        browser.post(&path, &carried).header("location"),
        Some(&*format!("/questions/{id}?sent=again"))
    );
    assert_eq!(state(&server, &id)["deadline"], json!(after), "a replay gives no more");
    let page = browser.page(&format!("/questions/{id}"));
    assert!(page.contains("<bdi>pat</bdi></td><td>gave more time</td>"), "{page}");
    assert_eq!(
        browser.post(&format!("/questions/{id}/review"), &[("act", "extend"), ("seconds", "0")]).status,
        422
    );
}

#[test]
fn a_question_is_passed_to_a_holder_of_a_key() {
    let server = Server::start();
    let (asker, _helper) = (server.token("builder", &["ask"]), server.token("helper", &["answer"]));
    let browser = Browser::sign_in(&server);
    let only_people = server.ask(&asker, &json!({"question": "A person?"}));
    assert!(
        browser.page(&format!("/questions/{only_people}")).contains("Only people may answer this question")
    );
    let id = server.ask(&asker, &json!({"question": "Anybody?", "answering": "anybody"}));
    assert!(browser.page(&format!("/questions/{id}")).contains("<option value=\"helper\">helper</option>"));
    assert_eq!(browser.post(&format!("/questions/{id}/review"), &[("act", "pass")]).status, 422);
    assert_eq!(review_and_send(&browser, &id, "pass", &[("to", "helper"), ("reason", "yours")]).status, 303);
    assert!(browser.page("/?list=others").contains("Anybody?"));
    assert!(!browser.page("/").contains("Anybody?"));
    let nobody = server.ask(&asker, &json!({"question": "Anybody?", "answering": "anybody"}));
    let refused =
        browser.send(&format!("/questions/{nobody}/pass"), &[("to", "nobody"), ("reason", "kept words")]);
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("kept words"), "{}", refused.text());
}

#[test]
fn going_back_keeps_what_was_typed() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Where to?"}));
    let browser = Browser::sign_in(&server);
    let fields = [("act", "answer"), ("text", "\nover \"there\""), ("back", "yes")];
    let back = browser.post(&format!("/questions/{id}/review"), &fields);
    assert_eq!(back.status, 200);
    assert!(back.text().contains(">\n\nover &#34;there&#34;</textarea>"), "{}", back.text());
}

/// ONE-03 ONE-11: what a browser fetches in passing shows nobody anything; the script says it with the key, and an answer says it.
#[test]
fn what_was_shown_is_on_record_once_with_its_wording() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let question = json!({"question": "Seen?", "terse": "S?", "detailed": "Seen, in detail?"});
    let (id, other) = (server.ask(&asker, &question), server.ask(&asker, &question));
    let browser = Browser::sign_in(&server);
    let path = format!("/questions/{id}?level=terse");
    let shown = browser.page(&path);
    assert!(
        shown.contains("<h1 lang=\"en\" dir=\"auto\">S?</h1>") && shown.contains("data-level=\"terse\""),
        "{shown}"
    );
    for site in ["cross-site", "same-site", "same-origin", "none"] {
        let call =
            browser.call("GET", &path).header("Sec-Fetch-Site", site).header("Sec-Fetch-Dest", "image");
        assert_eq!(call.send().status, 200);
    }
    let fields = [("question", id.as_str()), ("level", "terse")];
    assert_eq!(browser.post("/shown", &fields).status, 403, "without the key");
    let body = crate::browser::encode(&[&fields[..], &[("form_key", &browser.form_key())]].concat());
    for (origin, status) in [("http://demur.localhost:1", 403), ("null", 403)] {
        let call = browser.call("POST", "/shown").header("Origin", origin).body(body.as_bytes());
        let media = "application/x-www-form-urlencoded";
        assert_eq!(call.header("Content-Type", media).send().status, status, "{origin}");
    }
    let events = |id: &str| {
        let reply = server.local("GET", &format!("/v1/traces/{}/events", &id[..26])).send();
        reply.json()["events"].clone()
    };
    assert_eq!(events(&id).as_array().unwrap().len(), 1, "nothing of that is on record");
    for _ in 0..3 {
        assert_eq!(browser.send("/shown", &fields).status, 204);
    }
    until("it is on record", || events(&id).as_array().unwrap().len() == 2);
    for id in [&id, &other] {
        let sent = review_and_send(&browser, id, "answer", &[("text", "yes"), ("level", "detailed")]);
        assert_eq!(sent.status, 303);
        let (events, wording) = (events(id), if *id == other { "detailed" } else { "terse" });
        assert_eq!(events.as_array().unwrap().len(), 3, "{events}");
        let shown = &events[1]["content"];
        assert_eq!((&shown["channel"], &shown["to"]), (&json!("web"), &json!("pat")));
        assert_eq!(shown["shown"]["wording"], wording);
        assert_eq!(events[2]["content"]["shown"]["wording"], "detailed");
    }
}

#[test]
fn what_is_reviewed_is_what_is_sent() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let browser = Browser::sign_in(&server);
    for (typed, kept) in [
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("zero\0byte", "zero\u{fffd}byte"),
        ("\u{202e}\u{200b}\u{1b}", "\u{202e}\u{200b}\u{1b}"),
        ("\"><&amp;'", "\"><&amp;'"),
    ] {
        let id = server.ask(&asker, &json!({"question": "What?"}));
        assert_eq!(review_and_send(&browser, &id, "answer", &[("text", typed)]).status, 303, "{typed:?}");
        assert_eq!(state(&server, &id)["outcome"]["value"], kept, "{typed:?}");
        assert!(!browser.page(&format!("/questions/{id}")).contains(['\u{202e}', '\u{1b}']));
    }
}

/// ONE-02, CLR-04: each after a review, and what was done on the first answer is told.
#[test]
fn an_answer_is_changed_and_taken_back_on_its_page() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let ask = json!({"question": "Which port?", "choices": [
        {"label": "The first", "value": "7000"}, {"label": "The second", "value": "7001"}]});
    let id = server.ask(&asker, &ask);
    let (browser, path) = (Browser::sign_in(&server), format!("/questions/{id}"));
    assert!(!browser.page(&path).contains("Change the answer"), "there is none yet");
    assert_eq!(review_and_send(&browser, &id, "answer", &[("choice", "0")]).status, 303);
    let page = browser.page(&path);
    assert!(page.contains("Change the answer") && page.contains("Take the answer back"), "{page}");
    let carried = hidden(&page, &format!("{path}/review"));
    let number = carried.iter().find(|(name, _)| name == "replaces").unwrap().1.clone();
    let replaces = ("replaces", number.as_str());
    let review = browser.post(&format!("{path}/review"), &[("act", "replace"), ("choice", "1"), replaces]);
    let text = review.text();
    assert!(text.contains("Change the answer to") && text.contains("The second"), "{text}");
    assert_eq!(state(&server, &id)["outcome"]["value"], "7000", "a review changes nothing");
    let sent = review_and_send(&browser, &id, "replace", &[("choice", "1"), replaces]);
    assert_eq!(sent.header("location"), Some(&*format!("{path}?sent=replace")), "{sent:?}");
    assert!(browser.page(&format!("{path}?sent=replace")).contains("Your new answer counts from now on"));
    assert_eq!(state(&server, &id)["outcome"]["value"], "7001");
    // A page that is old by now changes nothing.
    let old = browser.send(&format!("{path}/replace"), &[("choice", "0"), replaces]);
    assert_eq!(old.status, 409, "{old:?}");
    let other = Browser::of_new(&server, "max", "answerer");
    assert!(!other.page(&path).contains("Change the answer"), "somebody else's");
    let refused = other.send(&format!("{path}/revoke"), &[]);
    assert!(refused.status == 409 && refused.text().contains("has another author"), "{refused:?}");
    let newest = state(&server, &id)["outcome"]["event"].to_string();
    let newest = ("replaces", newest.as_str());
    let sent = review_and_send(&browser, &id, "revoke", &[("reason", "the wrong team"), newest]);
    assert_eq!(sent.header("location"), Some(&*format!("{path}?sent=revoke")), "{sent:?}");
    assert_eq!(state(&server, &id)["state"], "open");
    let page = browser.page(&format!("{path}?sent=revoke"));
    for words in ["The answer is taken back", "took the answer back", "answered anew", "Choose one"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let again = browser.post(&format!("{path}/review"), &[("act", "revoke"), newest]);
    assert_eq!(again.status, 409, "there is nothing to take back");
}

/// ONE-04
#[test]
fn a_secret_is_replaced_on_its_page_and_never_shown() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "The password?", "kinds": ["secret"]}));
    let browser = Browser::sign_in(&server);
    let sent = |act: &str, secret| browser.send(&format!("/questions/{id}/{act}"), &[("secret", secret)]);
    assert_eq!(sent("answer", "hunter2").status, 303);
    assert_eq!(sent("replace", "correct horse").status, 303);
    let kept = server.call("GET", &format!("/v1/questions/{id}/secret")).token(&asker).send().json();
    assert_eq!(kept["value"], "correct horse");
    let page = browser.page(&format!("/questions/{id}"));
    assert!(!page.contains("hunter2") && !page.contains("correct horse"), "{page}");
}

#[test]
fn a_change_that_does_not_fit_changes_nothing() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "How many?", "kinds": ["numeric"]}));
    let browser = Browser::sign_in(&server);
    assert_eq!(review_and_send(&browser, &id, "answer", &[("number", "3")]).status, 303);
    let before = state(&server, &id);
    let long = "x".repeat(1001);
    for wrong in [
        &[("act", "replace")][..],
        &[("act", "replace"), ("number", "many")],
        &[("act", "replace"), ("text", "four")],
        &[("act", "replace"), ("number", "4"), ("replaces", "one")],
        &[("act", "revoke"), ("replaces", "-1")],
        &[("act", "revoke"), ("reason", &long)],
    ] {
        let refused = browser.post(&format!("/questions/{id}/review"), wrong);
        assert_eq!(refused.status, 422, "{wrong:?}: {}", refused.text());
        let sent = browser.send(&format!("/questions/{id}/{}", wrong[0].1), &wrong[1..]);
        assert_eq!(sent.status, 422, "{wrong:?}: {}", sent.text());
    }
    assert_eq!(state(&server, &id), before);
}
