//! People and what they may do: added, signed in under their names, removed; read-only where they only read; and how often
//! anybody may try.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

use demur_api::scope::Scope;
use demur_server::{api::Route, routes};
use serde_json::{Value, json};

use crate::{
    browser::{Browser, link, origin, spend, spend_at},
    client::head,
    server::{Server, until},
};

fn add(server: &Server, name: &str, role: &str) -> crate::client::Reply {
    server.local("POST", "/v1/people").json(&json!({"name": name, "role": role})).send()
}

#[test]
fn names_are_one_person_s_and_can_be_seen() {
    let server = Server::start();
    assert_eq!(add(&server, "Zoë", "answerer").status, 201);
    server.token("builder", &["ask"]);
    for (name, code) in [
        ("Zoë", "NAME_TAKEN"),
        ("ZOË", "NAME_TAKEN"),
        ("pat", "NAME_TAKEN"),
        ("Builder", "NAME_TAKEN"),
        ("desk", "NAME_TAKEN"),
        ("a\u{202e}b", "NAME_INVALID"),
        (" pat", "NAME_INVALID"),
        ("", "MALFORMED"),
    ] {
        assert_eq!(add(&server, name, "auditor").code(), code, "{name:?}");
    }
    assert_eq!(add(&server, "king", "king").status, 400);
    let listed = server.local("GET", "/v1/people").send().json();
    let listed: Vec<_> = listed["people"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(listed, [&json!("Zoë")]);
    assert_eq!(server.local("DELETE", "/v1/people/nobody").send().code(), "PERSON_UNKNOWN");
    let removed = server.local("DELETE", "/v1/people/zo%C3%AB").send().json();
    assert_eq!((&removed["person"]["name"], &removed["sessions"]), (&json!("Zoë"), &json!(0)));
}

/// ONE-07
#[test]
fn a_person_answers_under_the_own_name() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Where to?"}));
    let browser = Browser::of_new(&server, "zoe", "answerer");
    let page = browser.page("/traces");
    assert!(page.contains("<strong>zoe</strong> (answerer)"), "{page}");
    let answered =
        browser.call("POST", &format!("/v1/questions/{id}/answer")).json(&json!({"answer": "there"})).send();
    let outcome = &answered.json()["question"]["outcome"];
    assert_eq!((&outcome["by"], &outcome["assurance"]), (&json!("zoe"), &json!("terminal")));
}

#[test]
fn removal_ends_sessions_and_links_at_once() {
    let server = Server::start();
    let zoe = Browser::of_new(&server, "zoe", "operator");
    let other = Browser::of_new(&server, "other", "operator");
    let waiting = link(&server, &json!({"person": "zoe"}));
    assert_eq!(zoe.call("GET", "/v1/questions").send().status, 200);
    assert_eq!(server.local("DELETE", "/v1/people/zoe").send().json()["sessions"], 1);
    assert_eq!(zoe.call("GET", "/v1/questions").send().status, 401);
    assert_eq!(spend(&server, &waiting).status, 401);
    assert_eq!(other.call("GET", "/v1/questions").send().status, 200);
    let unknown = server.local("POST", "/v1/sign-in").json(&json!({"person": "zoe"})).send();
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "PERSON_UNKNOWN"));
}

#[test]
fn people_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start_at(folder.path());
    let cookie = Browser::of_new(&server, "zoe", "auditor").cookie;
    let value = cookie.split_once('=').unwrap().1.to_owned();
    server.stop().unwrap();
    let server = Server::start_at(folder.path());
    let name = format!("demur_session_{}={value}", server.port());
    assert_eq!(server.page("GET", "/v1/questions").header("Cookie", &name).send().status, 200);
    assert_eq!(server.local("GET", "/v1/people").send().json()["people"][0]["role"], "auditor");
}

/// Returns everything that could change, by where it is read.
fn everything(server: &Server, id: &str) -> BTreeMap<String, Value> {
    let paths = [
        "/v1/traces".to_owned(),
        "/v1/questions".to_owned(),
        "/v1/tokens".to_owned(),
        "/v1/people".to_owned(),
        "/v1/identities".to_owned(),
        format!("/v1/questions/{id}"),
    ];
    paths.into_iter().map(|path| (path.clone(), server.local("GET", &path).send().json())).collect()
}

#[test]
fn an_auditor_reads_everything_and_changes_nothing() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Where to?"}));
    let browser = Browser::of_new(&server, "ines", "auditor");
    let before = everything(&server, &id);
    let path = |operation: &Route| {
        [
            ("{question}", id.as_str()),
            ("{trace}", &id[..26]),
            ("{sequence}", "0"),
            ("{act}", "answer"),
            ("{change}", "add"),
            ("{sign_in}", "nobody"),
            ("{asset}", "demur.css"),
            ("{token}", "nobody"),
            ("{person}", "ines"),
            ("{session}", "0196bb7c-0000-7000-8000-000000000001"),
            ("{gap}", "gap-001"),
            ("{fingerprint}", &"0".repeat(64)),
            ("{*schema}", "ledger/envelope.json"),
        ]
        .iter()
        .fold(operation.path().to_owned(), |path, (name, value)| path.replace(name, value))
    };
    let key = browser.form_key();
    for operation in routes::operations() {
        let (method, path) = (operation.method().as_str(), path(&operation));
        // Everybody ends the own sessions.
        // Everybody looks after the own passkeys, and signs what the role allows.
        if path.contains("passkey") || path.contains("touch") {
            continue;
        }
        if matches!(path.as_str(), "/sign-out" | "/sign-in" | "/sessions/end")
            || path.starts_with("/v1/sessions")
        {
            continue;
        }
        let (media, body) = if operation.is_page() {
            ("application/x-www-form-urlencoded", format!("form_key={key}&act=answer&text=there&note=x"))
        } else {
            ("application/json", json!({"answer": "there", "reason": "no", "seconds": 60}).to_string())
        };
        let call = browser.call(method, &path).header("Content-Type", media).body(body.as_bytes());
        let (status, _) = head(&mut call.open()).unwrap();
        let reads = operation.is_open() || operation.scopes().contains(&Scope::Read);
        assert_eq!(status == 403, !reads, "{method} {path}: {status}");
        assert_ne!(status, 401, "{method} {path}");
    }
    assert_eq!(everything(&server, &id), before);
    for path in ["/", "/?list=others", "/?list=done", "/traces", "/settings", &format!("/questions/{id}")] {
        let page = browser.page(path);
        assert!(page.contains("(auditor)"), "{path}");
        assert!(!page.contains(&format!("action=\"/questions/{id}/review\"")), "{path}: {page}");
    }
    assert_eq!(everything(&server, &id), before, "looking changes nothing");
}

/// ONE-15: whoever guesses is held up, and keeps nobody out.
#[test]
fn codes_are_tried_only_so_often_and_a_good_one_works_meanwhile() {
    let server = Server::start();
    let wrong = "0".repeat(25);
    let (stop, limited) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut tried = 0;
                while !stop.load(Ordering::Acquire) && tried < 20_000 {
                    match spend(&server, &wrong).status {
                        401 => {}
                        429 => drop(limited.fetch_add(1, Ordering::AcqRel)),
                        other => panic!("{other}"),
                    }
                    tried += 1;
                }
            });
        }
        until("somebody is held up", || limited.load(Ordering::Acquire) > 100);
        for _ in 0..10 {
            let good = link(&server, &json!({}));
            assert_eq!(spend(&server, &good).status, 303, "a good code works all the same");
            assert_ne!(spend(&server, &good).status, 303, "once");
        }
        stop.store(true, Ordering::Release);
    });
    let reply = spend(&server, &wrong);
    let seconds: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds));
    assert!(reply.text().contains("<h1>") && reply.text().contains("try again in"), "{}", reply.text());
    let handed = server.page("POST", "/sign-in").header("Origin", "null").body(b"code=zz");
    assert_eq!(handed.send().status, 429, "from a file it is an attempt like any other");
    assert_eq!(server.page("GET", "/sign-in").send().status, 200, "the page is there");
}

#[test]
fn bad_credentials_are_held_up_and_good_ones_are_not() {
    let server = Server::start();
    let token = server.token("reader", &["read"]);
    let statuses: Vec<_> =
        (0..30).map(|n| server.call("GET", "/v1/traces").token(&format!("dmr_{n}")).send().status).collect();
    assert_eq!(statuses[..20], [401; 20]);
    assert!(statuses.ends_with(&[429]), "{statuses:?}");
    let reply = server.call("GET", "/v1/traces").token("dmr_x").send();
    assert!(reply.header("retry-after").is_some() && reply.code() == "TOO_MANY_ATTEMPTS");
    assert_eq!(server.call("GET", "/v1/traces").token(&token).send().status, 200);
    assert_eq!(server.call("GET", "/healthz").token("dmr_x").send().status, 200);
    assert_eq!(server.call("GET", "/v1/traces").send().status, 401, "no credentials are no attempt");
}

#[test]
fn a_session_changes_only_so_much_in_a_minute() {
    let server = Server::start();
    let (browser, other) = (Browser::sign_in(&server), Browser::of_new(&server, "zoe", "answerer"));
    let path = "/v1/questions/01ARZ3NDEKTSV4RRFFQ69G5FAV.3/decline";
    let act = |browser: &Browser<'_>| browser.call("POST", path).json(&json!({"reason": "no"})).send().status;
    let statuses: Vec<_> = (0..140).map(|_| act(&browser)).collect();
    assert!(statuses[..120].iter().all(|status| *status == 404), "{statuses:?}");
    assert!(statuses.contains(&429), "{statuses:?}");
    let page = browser.post("/questions/01ARZ3NDEKTSV4RRFFQ69G5FAV.3/review", &[("act", "answer")]);
    let again = (page.status, page.header("content-type"));
    assert_eq!(again, (429, Some("text/html; charset=utf-8")), "{}", page.text());
    assert!(page.header("retry-after").is_some());
    assert_eq!(browser.call("GET", "/v1/questions").send().status, 200, "looking is no act");
    assert_eq!(act(&other), 404, "others have their own");
}

#[test]
fn what_was_typed_outlives_its_session() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Where to?"}));
    let zoe = Browser::of_new(&server, "zoe", "answerer");
    let key = zoe.form_key();
    let listed = server.local("GET", "/v1/tokens").send().json();
    let session = listed["tokens"].as_array().unwrap().iter().find(|token| token["name"] == "zoe").unwrap();
    let session = session["id"].as_str().unwrap();
    assert_eq!(server.local("DELETE", &format!("/v1/tokens/{session}")).send().status, 200);
    let path = format!("/questions/{id}/answer");
    let typed = [("act", "answer"), ("kind", "text"), ("text", "over <there>"), ("form_key", key.as_str())];
    let lost = zoe.post(&path, &typed);
    assert_eq!(lost.status, 401);
    let page = lost.text();
    assert!(page.contains("over &#60;there&#62;") && page.contains("nothing is lost"), "{page}");
    assert!(page.contains(&format!("action=\"{path}\"")) && !page.contains(&key), "{page}");
    let again = Browser::of_person(&server, "zoe");
    let review = again.post(&path, &typed[..3]);
    let text = review.text();
    assert!(text.contains("over &#60;there&#62;") && text.contains(&format!("action=\"{path}\"")), "{text}");
    assert!(text.contains("autofocus"), "one button sends it: {text}");
    assert_eq!(server.local("GET", &format!("/v1/questions/{id}")).send().json()["state"], "open");
}

#[test]
fn behind_a_proxy_only_the_public_address_counts() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_behind(folder.path(), PUBLIC, &["127.0.0.1"]);
    let made = server.local("POST", "/v1/sign-in").send().json();
    assert_eq!(made["url"], format!("{PUBLIC}/sign-in"));
    let code = made["code"].as_str().unwrap();
    assert_eq!(server.call("GET", "/healthz").send().status, 421, "another name");
    let call = |method: &str, path: &str| server.call(method, path).header("Host", "demur.example");
    let form = format!("code={code}");
    let plain = call("POST", "/sign-in").header("Origin", &origin(&server)).body(form.as_bytes());
    assert_eq!(plain.send().status, 403, "another origin");
    let own = spend_at(&server, PUBLIC, code);
    let cookie = own.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-demur_session_") && cookie.contains("; Secure"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(call("GET", "/v1/questions").header("Cookie", cookie).send().status, 200);
}

/// Tries a code that is none, as somebody for whom these headers speak; returns the status.
fn guess(server: &Server, forwarded: &str) -> u16 {
    let call = server.call("POST", "/sign-in").header("Host", "demur.example").header("Origin", PUBLIC);
    call.header("X-Forwarded-For", forwarded).body(b"code=zz").send().status
}

/// ONE-15: what a header says counts from a proxy that was named, and from nobody else.
#[test]
fn forged_headers_of_proxies_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_behind(folder.path(), PUBLIC, &["127.0.0.0/8"]);
    let statuses: Vec<_> = (0..30).map(|at| guess(&server, &format!("9.9.9.{at}, 192.0.2.1"))).collect();
    assert!(statuses.ends_with(&[429]), "what stands further left anybody wrote: {statuses:?}");
    assert_eq!(guess(&server, "192.0.2.2"), 401, "somebody else behind the same proxy");
    drop(server);
    for trusted in [&[][..], &["10.0.0.0/8"]] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start_behind(folder.path(), PUBLIC, trusted);
        let statuses: Vec<_> = (0..30).map(|at| guess(&server, &format!("192.0.2.{at}"))).collect();
        assert!(statuses.ends_with(&[429]), "{trusted:?}: {statuses:?}");
    }
}

const PUBLIC: &str = "https://demur.example";
