//! Browsers that are signed in: how long, listed, ended, and what a cookie alone is worth.

use std::{thread, time::Duration};

use demur_core::hash::sha256;
use demur_desk::token::SessionTimeouts;
use serde_json::{Value, json};

use crate::{
    browser::{Browser, cookie_of, encode, link, origin},
    client::Reply,
    server::{Server, until},
};

fn sessions(browser: &Browser<'_>) -> Vec<Value> {
    browser.call("GET", "/v1/sessions").send().json()["sessions"].as_array().unwrap().clone()
}

fn here(idle: Duration, absolute: Duration) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_for_sessions(folder.path(), SessionTimeouts { idle, absolute });
    (folder, server)
}

/// ONE-11
#[test]
fn browser_that_nobody_uses_is_signed_out() {
    let (_folder, server) = here(Duration::from_secs(2), Duration::from_hours(12));
    let (used, left) = (Browser::sign_in(&server), Browser::of_new(&server, "zoe", "answerer"));
    let looks = |browser: &Browser<'_>, dest: &str| {
        browser.call("GET", "/settings").header("Sec-Fetch-Dest", dest).send().status
    };
    // What an open page fetches by itself keeps nobody signed in; going to a page does.
    until("nobody used it", || {
        assert_eq!(looks(&used, "document"), 200);
        thread::park_timeout(Duration::from_millis(50));
        looks(&left, "empty") == 401
    });
    assert_eq!(looks(&used, "document"), 200);
    let listed = sessions(&used);
    assert_eq!(listed.len(), 1, "{listed:?}");
}

#[test]
fn stream_of_a_page_ends_with_its_session() {
    let (_folder, server) = here(Duration::from_secs(1), Duration::from_hours(12));
    let browser = Browser::sign_in(&server);
    let mut live = browser.call("GET", "/live").open();
    let (status, _) = crate::client::head(&mut live).unwrap();
    assert_eq!(status, 200);
    while crate::client::chunk(&mut live).unwrap().is_some() {}
}

#[test]
fn browser_is_signed_out_in_the_end_however_much_it_is_used() {
    let (_folder, server) = here(Duration::from_hours(1), Duration::from_secs(2));
    let browser = Browser::sign_in(&server);
    assert!(browser.call("GET", "/").send().status == 200);
    until("it has ended", || browser.call("GET", "/settings").send().status == 401);
}

/// ONE-11: since when, last used, and what the browser calls itself, which does nothing.
#[test]
fn sessions_are_listed_and_ended_one_by_one_or_all() {
    let server = Server::start();
    let (mine, zoe) = (Browser::sign_in(&server), Browser::of_new(&server, "zoe", "auditor"));
    let hostile = "<script>alert(1)</script>\u{202e}";
    let code = link(&server, &json!({"person": "zoe"}));
    let body = encode(&[("code", &code)]);
    let call = server
        .page("POST", "/sign-in")
        .header("Origin", &origin(&server))
        .header("User-Agent", "<script>x</script>");
    let second = Browser::of_cookie(&server, &origin(&server), cookie_of(&call.body(body.as_bytes()).send()));
    assert_eq!(sessions(&zoe).len(), 2, "the own ones only");
    assert!(
        sessions(&mine).iter().all(|session| session["person"] == "pat"),
        "an operator's browser here is no more"
    );
    let listed = server.local("GET", "/v1/sessions").send().json();
    let listed = listed["sessions"].as_array().unwrap();
    assert_eq!(listed.len(), 3);
    for session in listed {
        for member in ["begun", "used", "ends", "id", "role"] {
            assert!(session[member].is_string(), "{session}");
        }
        assert_eq!((&session["address"], &session["bound"]), (&json!("127.0.0.1"), &json!(false)));
    }
    let page = zoe.page("/settings");
    assert!(page.contains("&#60;script&#62;x&#60;/script&#62;") && !page.contains("<script>x"), "{page}");
    assert!(!page.contains(hostile) && page.contains("this one"));
    let id = |browser: &Browser<'_>| {
        let own = sessions(browser).into_iter().find(|session| session["own"] == true).unwrap();
        own["id"].as_str().unwrap().to_owned()
    };
    let (own, other) = (id(&mine), id(&second));
    assert_eq!(
        zoe.call("DELETE", &format!("/v1/sessions/{own}")).send().code(),
        "SIGN_IN_UNKNOWN",
        "not hers"
    );
    assert_eq!(zoe.call("DELETE", "/v1/sessions?person=pat").send().code(), "FORBIDDEN");
    assert_eq!(zoe.post("/sessions/end", &[("session", &other)]).status, 403, "without the key");
    assert_eq!(zoe.send("/sessions/end", &[("session", &other)]).status, 303);
    assert_eq!((second.call("GET", "/").send().status, zoe.call("GET", "/").send().status), (401, 200));
    assert_eq!(server.local("DELETE", "/v1/sessions?person=zoe").send().json()["ended"], 1);
    assert_eq!((zoe.call("GET", "/").send().status, mine.call("GET", "/").send().status), (401, 200));
    assert_eq!(mine.send("/sessions/end", &[("all", "yes")]).status, 303);
    assert_eq!(mine.call("GET", "/").send().status, 401);
    assert_eq!(server.local("DELETE", &format!("/v1/sessions/{own}")).send().code(), "SIGN_IN_UNKNOWN");
}

/// A browser whose script keeps the key.
struct Bound<'a> {
    server: &'a Server,
    cookie: String,
    key: String,
}

impl<'a> Bound<'a> {
    fn sign_in(server: &'a Server) -> Self {
        let key = "5".repeat(64);
        let digest = sha256(key.as_bytes()).to_string();
        let form = encode(&[("code", &link(server, &json!({}))), ("key", &digest)]);
        let call = server.page("POST", "/sign-in").header("Origin", &origin(server));
        let cookie = cookie_of(&call.body(form.as_bytes()).send());
        Self { server, cookie, key }
    }

    /// Sends a form as whoever has the cookie, with these fields.
    fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let call = self
            .server
            .page("POST", path)
            .header("Cookie", &self.cookie)
            .header("Origin", &origin(self.server));
        let call = call
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Sec-Fetch-Site", "same-origin");
        call.body(encode(fields).as_bytes()).send()
    }

    fn page(&self, path: &str) -> String {
        self.server.page("GET", path).header("Cookie", &self.cookie).send().text()
    }
}

/// ONE-11 ONE-15: a program at another port of the name gets the cookie, and can say everything that a browser says by itself.
#[test]
fn cookie_alone_changes_nothing_where_a_script_keeps_the_key() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Where to?"}));
    let bound = Bound::sign_in(&server);
    let digest = sha256(bound.key.as_bytes()).to_string();
    let before = server.local("GET", &format!("/v1/traces/{}/events", &id[..26])).send().json();
    // What it would be for a session without a script, which anybody works out from the cookie.
    let secret = bound.cookie.split_once('=').unwrap().1;
    let derived = sha256(format!("demur form {secret}").as_bytes()).to_string()[..32].to_owned();
    for path in ["/", "/settings", &format!("/questions/{id}")] {
        let page = bound.page(path);
        assert!(page.contains(&format!("data-bound=\"{digest}\"")), "{page}");
        for part in page.split("name=\"form_key\" value=\"").skip(1) {
            assert!(part.starts_with('"'), "{part}");
        }
        assert!(!page.contains(&bound.key) && !page.contains(&derived));
    }
    let answer = format!("/questions/{id}/answer");
    for key in ["", &digest, &derived] {
        for path in [&*answer, "/shown", "/settings", "/sessions/end", "/sign-out"] {
            let fields =
                [("form_key", key), ("act", "answer"), ("text", "there"), ("question", &id), ("all", "yes")];
            let status = bound.post(path, &fields).status;
            assert_eq!(status, 403, "{path}");
        }
        let call = server.page("POST", &format!("/v1{answer}")).header("Cookie", &bound.cookie);
        let call = call.header("Origin", &origin(&server)).header("demur-form-key", key);
        assert_eq!(call.json(&json!({"answer": "there"})).send().code(), "FORM_FOREIGN");
    }
    assert_eq!(server.local("GET", &format!("/v1/traces/{}/events", &id[..26])).send().json(), before);
    let fields = [("form_key", bound.key.as_str()), ("text", "there"), ("level", "normal")];
    assert_eq!(bound.post(&answer, &fields).status, 303, "the page itself");
    let listed = server.local("GET", "/v1/sessions").send().json();
    assert_eq!(listed["sessions"][0]["bound"], true);
}
