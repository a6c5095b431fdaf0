//! The lists in a browser: who waits for what, found by words, page by page; several at once; and everything that somebody
//! could write to make a page do something.

use serde_json::json;

use crate::{
    browser::{Browser, hidden},
    server::Server,
};

/// Returns the names of the questions on a page, in their order.
fn listed(page: &str) -> Vec<String> {
    let parts = page.split("<article class=\"question\" id=\"q-").skip(1);
    parts.map(|part| part.split('"').next().unwrap().to_owned()).collect()
}

/// Returns where a page leads on.
fn next(page: &str) -> Option<String> {
    let (_, rest) = page.split_once("<p class=\"next\"><a href=\"")?;
    Some(rest.split('"').next()?.replace("&#38;", "&"))
}

#[test]
fn empty_lists_say_what_happens_next() {
    let server = Server::start();
    let browser = Browser::sign_in(&server);
    for (path, words) in [
        ("/", "Nothing waits for you. When an agent asks, its question appears here by itself"),
        ("/?list=others", "Nothing waits for others."),
        ("/?list=done", "Nothing is settled yet."),
        ("/?q=nothing", "Nothing here fits what you look for."),
    ] {
        assert!(browser.page(path).contains(words), "{path}");
    }
    for path in ["/?severity=much", "/?trace=x", "/?after=-1", "/?after=0123"] {
        let reply = browser.call("GET", path).send();
        assert_eq!(reply.status, 400, "{path}");
        assert!(reply.text().contains("<h1>This did not work</h1>"), "{path}");
    }
}

#[test]
fn lists_are_read_page_by_page_oldest_first_and_what_is_done_newest_first() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let ids: Vec<_> = (0..23).map(|n| server.ask(&asker, &json!({"question": format!("{n}?")}))).collect();
    let browser = Browser::sign_in(&server);
    let first = browser.page("/");
    assert_eq!(listed(&first), ids[..20]);
    assert!(!first.contains("data-live"), "a list that goes on is not made longer by itself");
    let second = browser.page(&next(&first).unwrap());
    assert_eq!((listed(&second), next(&second)), (ids[20..].to_vec(), None));
    for id in &ids {
        assert_eq!(server.answer(id, &json!("x")).status, 200);
    }
    let done = browser.page("/?list=done");
    let newest: Vec<_> = ids.iter().rev().cloned().collect();
    assert_eq!(listed(&done), newest[..20]);
    assert_eq!(listed(&browser.page(&next(&done).unwrap())), newest[20..]);
    assert!(done.contains("0 open in all, 23 settled."));
}

#[test]
fn questions_are_found_by_words_weight_asker_and_trace() {
    let server = Server::start();
    let (one, two) = (server.token("builder", &["ask"]), server.token("tester", &["ask"]));
    let port = server.ask(&one, &json!({"question": "Which Port?", "context": "Änderung nötig"}));
    let host = server.ask(&two, &json!({"question": "Which host?", "severity": "warn"}));
    let browser = Browser::sign_in(&server);
    for (query, expected) in [
        ("q=port", vec![&port]),
        ("q=%C3%A4nderung", vec![&port]),
        ("q=which", vec![&port, &host]),
        ("severity=warn", vec![&host]),
        ("severity=block&q=host", vec![]),
        ("asker=TEST", vec![&host]),
        (&*format!("trace={}", &port[..26]), vec![&port]),
    ] {
        let page = browser.page(&format!("/?{query}"));
        assert_eq!(listed(&page).iter().collect::<Vec<_>>(), expected, "{query}");
    }
    let page = browser.page("/?q=which");
    assert!(
        page.contains("2 questions were searched; that is all of them.") && page.contains("value=\"which\"")
    );
    assert!(browser.page("/?severity=warn").contains("Please confirm"));
}

/// AEP-09
#[test]
fn the_wording_is_the_visitor_s_choice_and_is_kept() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    server.ask(
        &asker,
        &json!({"question": "The question?", "terse": "Terse?", "detailed": "The question in detail?"}),
    );
    let mut browser = Browser::sign_in(&server);
    assert!(browser.page("/").contains(">The question?</a></h2>"));
    assert!(browser.page("/?level=detailed").contains(">The question in detail?</a></h2>"));
    assert!(browser.page("/settings").contains("data-keys=\"false\""));
    assert_eq!(browser.post("/settings", &[("level", "terse")]).status, 403, "it needs the key");
    let saved = browser.send("/settings", &[("level", "terse"), ("keys", "yes")]);
    assert_eq!((saved.status, saved.header("location")), (303, Some("/settings?saved=yes")));
    let cookie = saved.header("set-cookie").unwrap().to_owned();
    assert!(cookie.starts_with(&format!("demur_view_{}=terse.keys; ", server.port())), "{cookie}");
    assert!(cookie.contains("HttpOnly; SameSite=Lax"), "{cookie}");
    browser.cookie = format!("{}; {}", browser.cookie, cookie.split(';').next().unwrap());
    let list = browser.page("/");
    assert!(list.contains(">Terse?</a></h2>") && list.contains("data-keys=\"true\""), "{list}");
    browser.cookie =
        format!("{}; demur_view_{}=\"><script>", browser.cookie.split(';').next().unwrap(), server.port());
    assert!(browser.page("/").contains(">The question?</a></h2>"), "rubbish is the usual");
}

#[test]
fn nothing_that_an_agent_writes_acts_or_hides() {
    let server = Server::start();
    let asker = server.token("<b>builder", &["ask"]);
    let nasty = "<script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}\u{0}[x](javascript:alert(3)) ![y](https://z.example/p.png)";
    let ask = json!({"question": nasty, "terse": nasty, "detailed": nasty, "context": nasty, "suggestions": [nasty],
        "kinds": ["freetext", "multiple_choice", "yes_no", "numeric"], "field": "<i>f", "language": "x\"y",
        "choices": [{"label": nasty, "value": "\"><script>"}, {"label": "b", "value": "b"}], "recommendation": nasty,
        "timeout_seconds": 600, "default": "\"><script>"});
    let id = server.ask(&asker, &ask);
    let browser = Browser::sign_in(&server);
    let review = |fields: &[(&str, &str)]| browser.post(&format!("/questions/{id}/review"), fields).text();
    let hostile = [
        browser.page("/"),
        browser.page("/?q=%3Cscript%3E&asker=%22%3E%3Cscript%3E"),
        browser.page(&format!("/questions/{id}")),
        browser.page(&format!("/questions/{id}?level=detailed&sent=%3Cscript%3E")),
        review(&[("act", "answer"), ("choice", "0")]),
        review(&[("act", "answer"), ("suggestion", "0")]),
    ];
    // What the visitor typed is given back as it was typed, in fields only.
    let typed = [
        review(&[("act", "answer"), ("text", nasty)]),
        review(&[("act", "answer"), ("number", nasty)]),
        review(&[("act", nasty), ("text", nasty)]),
        browser.post("/review", &[("act", "decline"), ("reason", nasty), ("question", &id)]).text(),
    ];
    for page in hostile.iter().chain(&typed) {
        // The one script of ours that stands in pages, and those that have files.
        assert_eq!(page.matches("<script>function demurKey() {").count(), 1, "{page}");
        let page = page.replacen("<script>function", "", 1);
        for acts in ["<script>", "<img", "<b>", "<i>", "href=\"javascript:", "style="] {
            assert!(!page.contains(acts), "{acts:?} in {page}");
        }
        let own = page.matches("<script src=\"/assets/").count();
        assert_eq!((page.matches("<script ").count(), own), (2, 2), "ours alone");
    }
    for page in &hostile {
        assert!(!page.contains(['\u{202e}', '\0']), "{page}");
    }
    assert!(hostile[2].contains("[U+202E right-to-left override]") && hostile[2].contains("[U+0000 null]"));
    let sent = browser.send(&format!("/questions/{id}/answer"), &[("choice", "0")]);
    assert_eq!(sent.status, 303, "{}", sent.text());
    let done = browser.page(&format!("/questions/{id}"));
    assert!(!done.contains("<script>alert") && !done.contains('\u{202e}'));
}

/// AEP-12
#[test]
fn long_texts_are_shown_in_full_on_their_page_and_begun_in_the_list() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let long = format!("{}END", "word ".repeat(3000));
    let id = server.ask(&asker, &json!({"question": long}));
    let browser = Browser::sign_in(&server);
    let list = browser.page("/");
    assert!(!list.contains("END") && list.contains("characters more on the page of this question"));
    assert!(list.len() < 20_000, "{}", list.len());
    assert!(browser.page(&format!("/questions/{id}")).contains("END"));
    let much = "x".repeat(1 << 20);
    let reply = browser.post(&format!("/questions/{id}/review"), &[("act", "answer"), ("text", &much)]);
    let text = reply.text();
    assert_eq!(reply.status, 422);
    assert!(text.contains("Write at most 16384 characters; there were 1048576."));
    assert!(text.contains(&much), "it is given back");
    let beyond = "x".repeat(5 << 20);
    let reply = browser.post(&format!("/questions/{id}/review"), &[("act", "answer"), ("text", &beyond)]);
    assert_eq!(reply.status, 413);
    assert!(reply.text().contains("<h1>This did not work</h1>"));
}

#[test]
fn the_language_of_a_question_is_that_of_its_words_only() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "באיזה שער?", "language": "he"}));
    let browser = Browser::sign_in(&server);
    let page = browser.page(&format!("/questions/{id}"));
    assert!(page.contains("<html lang=\"en\">") && page.contains("<h1 lang=\"he\" dir=\"rtl\">"), "{page}");
}

#[test]
fn whoever_only_reads_sees_everything_and_no_form() {
    let server = Server::start();
    let (asker, reader) = (server.token("builder", &["ask"]), server.token("auditor", &["read"]));
    let id = server.ask(&asker, &json!({"question": "Which one?"}));
    let read = |path: &str| server.call("GET", path).token(&reader).send();
    for path in ["/".to_owned(), format!("/questions/{id}")] {
        let page = read(&path).text();
        assert!(page.contains("Which one?") && page.contains("answering needs another role"), "{page}");
        assert!(!page.contains("<form class=\"answer") && !page.contains("id=\"decline\""), "{page}");
    }
    for path in [format!("/questions/{id}/review"), format!("/questions/{id}/answer"), "/bulk".to_owned()] {
        let refused = server.call("POST", &path).token(&reader).body(b"act=answer&text=x").send();
        assert_eq!(refused.status, 403, "{path}");
    }
    let events = server.local("GET", &format!("/v1/traces/{}/events", &id[..26])).send().json();
    assert_eq!(events["events"].as_array().unwrap().len(), 1, "reading is no delivery");
}

#[test]
fn several_at_once_are_reviewed_sent_and_told_about_one_by_one() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let yes_no = json!({"question": "Yes?", "kinds": ["yes_no"]});
    let open = server.ask(&asker, &json!({"question": "Go?"}));
    let (first, second) = (server.ask(&asker, &yes_no), server.ask(&asker, &yes_no));
    let number = server.ask(&asker, &json!({"question": "How many?", "kinds": ["numeric"]}));
    let browser = Browser::sign_in(&server);
    assert!(browser.page("/").contains(&format!("value=\"{first}\" form=\"bulk\"")));
    let chosen =
        [("question", first.as_str()), ("question", &second), ("question", &open), ("act", "answer")];
    let misfit = browser.post("/review", &[&chosen[..], &[("question", &number), ("value", "yes")]].concat());
    assert_eq!(misfit.status, 422);
    assert!(misfit.text().contains(&format!("id=\"wrong-{number}\"")), "{}", misfit.text());
    assert_eq!(misfit.text().matches(" checked>").count(), 4, "three questions and the act");
    for (fields, words) in [
        (&[("act", "decline")][..], "Choose at least one question."),
        (&[("act", "answer"), ("question", &first)][..], "Write something first."),
        (&[("act", "accept"), ("question", &first)][..], "it cannot be confirmed as it is"),
        (&[("act", "erase"), ("question", &first)][..], "Choose what to do."),
    ] {
        let reply = browser.post("/review", fields);
        assert_eq!(reply.status, 422, "{fields:?}");
        assert!(reply.text().contains(words), "{words}: {}", reply.text());
    }
    let review = browser.post("/review", &[&chosen[..], &[("value", "yes")]].concat());
    assert_eq!(review.status, 200);
    assert_eq!(review.text().matches("<p class=\"value\">Answer: <bdi>yes</bdi></p>").count(), 3);
    let carried = hidden(&review.text(), "/bulk");
    let carried: Vec<_> = carried.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let keyless: Vec<_> = carried.iter().copied().filter(|(name, _)| *name != "form_key").collect();
    assert_eq!(browser.post("/bulk", &keyless).status, 403);
    server.answer(&second, &json!(false));
    let result = browser.post("/bulk", &carried).text();
    assert!(result.contains("2 of 3 done"), "{result}");
    assert!(result.contains("it was answered by pat at"), "{result}");
    let again = browser.post("/bulk", &carried).text();
    assert!(again.contains("2 of 3 done") && again.contains("nothing was recorded twice"), "{again}");
    let declined =
        browser.send("/bulk", &[("act", "decline"), ("question", &number), ("reason", "not ours")]);
    assert!(declined.text().contains("1 of 1 done"));
    let shown = server.local("GET", &format!("/v1/questions/{number}")).send().json();
    assert_eq!((&shown["state"], &shown["outcome"]["note"]), (&json!("declined"), &json!("not ours")));
}

#[test]
fn what_happened_to_a_question_is_told_in_order() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Which one?", "timeout_seconds": 600}));
    let more = server
        .call("POST", &format!("/v1/questions/{id}/extend"))
        .token(&asker)
        .json(&json!({"seconds": 60}));
    assert_eq!(more.send().status, 200);
    assert_eq!(server.answer(&id, &json!("that one")).status, 200);
    let page = Browser::sign_in(&server).page(&format!("/questions/{id}"));
    let (_, history) = page.split_once("History of this question</h2>").unwrap();
    let places: Vec<_> = ["<td>asked</td>", "<td>gave more time</td>", "<td>answered</td>"]
        .map(|words| history.find(words).unwrap_or_else(|| panic!("{words}: {history}")))
        .into();
    assert!(places.is_sorted(), "{history}");
    assert!(history.contains(&format!("href=\"/traces/{}/events/2\"", &id[..26])), "{history}");
    let missing = Browser::sign_in(&server).call("GET", "/questions/01ARZ3NDEKTSV4RRFFQ69G5FAV.3").send();
    assert_eq!(missing.status, 404);
    assert!(missing.text().contains("<h1>There is nothing here</h1>"));
}
