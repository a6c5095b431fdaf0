//! Several people on one server with a public address: who looks after whom, and who only looks.

use serde_json::json;

use demur_testing::authenticator::Authenticator;

use crate::{
    browser::{Browser, cookie_of, encode, spend_at},
    passkeys::{Person, setup_code},
    server::Server,
};

const PUBLIC: &str = "https://demur.example";

fn public() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_behind(folder.path(), PUBLIC, &[]);
    (folder, server)
}

/// ONE-15
#[test]
fn operator_looks_after_people_and_tokens_and_nobody_else_does() {
    let (_folder, server) = public();
    let olga = Browser::of_new_at(&server, PUBLIC, "olga", "operator");
    let others = [("ines", "answerer"), ("amal", "auditor")]
        .map(|(name, role)| Browser::of_new_at(&server, PUBLIC, name, role));
    for (method, path) in [
        ("GET", "/v1/people"),
        ("POST", "/v1/people"),
        ("DELETE", "/v1/people/olga"),
        ("POST", "/v1/sign-in"),
        ("GET", "/v1/tokens"),
        ("POST", "/v1/tokens"),
        ("DELETE", "/v1/tokens/x"),
        ("GET", "/people"),
        ("POST", "/people/add"),
        ("GET", "/v1/keys"),
        ("POST", "/v1/server/stop"),
    ] {
        for other in &others {
            let body = encode(&[("form_key", &other.form_key())]);
            let media = "application/x-www-form-urlencoded";
            let call = other.call(method, path).header("Content-Type", media).body(body.as_bytes());
            assert_eq!(call.send().status, 403, "{method} {path}");
        }
    }
    for (method, path) in [("GET", "/v1/keys"), ("POST", "/v1/server/stop")] {
        assert_eq!(olga.call(method, path).send().status, 403, "{path}: for the user of the machine alone");
    }
    let token = server.token("robot", &["operate", "read"]);
    let call = server.call("GET", "/v1/people").header("Host", "demur.example").token(&token);
    assert_eq!(call.send().status, 403, "no token looks after people");
    let added = olga.call("POST", "/v1/people").json(&json!({"name": "nora", "role": "answerer"})).send();
    assert_eq!(added.status, 201, "{added:?}");
    let made = olga.call("POST", "/v1/sign-in").json(&json!({"person": "nora", "file": true})).send().json();
    assert_eq!(made.get("file"), None, "no browser here is hers");
    let signed = spend_at(&server, PUBLIC, made["code"].as_str().unwrap());
    let nora = Browser::of_cookie(&server, PUBLIC, cookie_of(&signed));
    assert_eq!(nora.call("GET", "/v1/questions").send().status, 200);
    let token = olga.call("POST", "/v1/tokens").json(&json!({"name": "bot", "scopes": ["ask"]})).send();
    assert_eq!(token.status, 201, "{token:?}");
    let sessions = olga.call("GET", "/v1/sessions").send().json();
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 4, "everybody's: {sessions}");
    assert_eq!(olga.call("DELETE", "/v1/people/nora").send().json()["sessions"], 1);
    assert_eq!(nora.call("GET", "/v1/questions").send().status, 401);
}

/// The user of the machine always remains, but nobody elsewhere could sign in any more.
#[test]
fn last_operator_does_not_remove_the_own_name() {
    let (_folder, server) = public();
    let olga = Browser::of_new_at(&server, PUBLIC, "olga", "operator");
    Browser::of_new_at(&server, PUBLIC, "ines", "answerer");
    assert_eq!(olga.call("DELETE", "/v1/people/OLGA").send().code(), "LAST_OPERATOR");
    assert_eq!(olga.send("/people/remove", &[("name", "olga")]).status, 403);
    Browser::of_new_at(&server, PUBLIC, "otto", "operator");
    assert_eq!(olga.call("DELETE", "/v1/people/olga").send().status, 200);
    assert_eq!(server.local("DELETE", "/v1/people/otto").send().status, 200, "the user of the machine may");
}

#[test]
fn people_and_tokens_are_looked_after_on_a_page() {
    let (_folder, server) = public();
    let olga = Browser::of_new_at(&server, PUBLIC, "olga", "operator");
    assert!(olga.page("/").contains("href=\"/people\""));
    for (path, fields) in [
        ("/people/add", &[("name", "nora"), ("role", "auditor")][..]),
        ("/people/add", &[("name", "nils"), ("role", "answerer")]),
        ("/people/remove", &[("name", "nils")]),
    ] {
        assert_eq!(olga.post(path, fields).status, 403, "{path}: without the key");
        let done = olga.send(path, fields);
        assert_eq!((done.status, done.header("location")), (303, Some("/people")), "{path}");
    }
    assert_eq!(olga.send("/people/add", &[("name", "king"), ("role", "king")]).status, 400);
    let shown = olga.send("/people/code", &[("name", "nora")]).text();
    let code = shown.split("<code>").nth(2).unwrap().split('<').next().unwrap().to_owned();
    assert!(shown.contains("https://demur.example/sign-in</code>") && code.len() == 29, "{shown}");
    let nora = Browser::of_cookie(&server, PUBLIC, cookie_of(&spend_at(&server, PUBLIC, &code)));
    assert!(!nora.page("/").contains("href=\"/people\""), "an auditor does not look after anybody");
    let shown = olga.send("/people/token", &[("name", "bot"), ("scope", "ask"), ("scope", "read")]).text();
    assert!(shown.contains("<code>dmr_"), "{shown}");
    let page = olga.page("/people");
    assert!(page.contains("<bdi>nora</bdi>") && !page.contains("nils") && !page.contains(&code), "{page}");
    assert!(page.contains("ask, read") && !page.contains("dmr_"), "what was made is shown once");
    let id = page.split("name=\"token\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(olga.send("/people/revoke", &[("token", id)]).status, 303);
    assert!(!olga.page("/people").contains("ask, read"));
}

/// A browser on the machine itself is no more than a program of its user, who has the command line. What an operator's passkey signs
/// is more: that is offered on the page, and nothing else (ONE-10).
#[test]
fn without_a_public_address_only_a_passkey_looks_after_people_from_a_browser() {
    let server = Server::start();
    let pat = Person::here(&server, Authenticator::es256(1));
    let browser = &pat.browser;
    assert!(!browser.page("/").contains("href=\"/people\""));
    let before = browser.page("/people");
    assert!(before.contains("demur people add") && !before.contains("action=\"/people/"), "{before}");
    assert_eq!(pat.enrol(Some(&setup_code(&server)))["acts"][0]["status"], "signed");
    assert!(browser.page("/passkeys").contains("href=\"/people\""));
    let add = json!([{"act": "add_person", "name": "olga", "role": "operator"}]);
    assert_eq!(pat.touch(&add), ["signed"]);
    let page = browser.page("/people");
    assert!(page.contains("<bdi>olga</bdi>") && page.contains("value=\"add-person\""), "{page}");
    for word in ["add-person", "change-person", "remove-person"] {
        assert!(page.contains(&format!("name=\"touch\" value=\"{word}\"")), "{word}");
    }
    for word in ["/people/code", "/people/token", "/sessions/end", ">Add this person<", ">Remove<"] {
        assert!(!page.contains(word), "{word} is for the terminal: {page}");
    }
    let ines = Browser::of_new(&server, "ines", "answerer");
    assert_eq!(ines.call("GET", "/people").send().status, 403);
    assert_eq!(browser.send("/people/add", &[("name", "x"), ("role", "answerer")]).status, 403);
    let refused = browser.call("POST", "/v1/people").json(&json!({"name": "x", "role": "operator"})).send();
    assert_eq!(refused.code(), "FORBIDDEN");
    assert!(refused.text().contains("--public-url"), "{}", refused.text());
}

/// ONE-15: reads everything, changes nothing: no answer, no confirmation, nothing called off or erased.
#[test]
fn auditor_neither_answers_nor_confirms_nor_erases() {
    let (_folder, server) = public();
    let ask = |path: &str, body| server.local("POST", path).json(&body).send().json();
    let id =
        ask("/v1/questions?as=builder", json!({"question": "Where to?"}))["id"].as_str().unwrap().to_owned();
    let wanted = json!({"action": "Send 10", "operation": {"amount": 10}});
    let confirmation = ask("/v1/confirmations?as=builder", wanted);
    let (confirmation, digest) = (confirmation["id"].as_str().unwrap(), confirmation["digest"].clone());
    let amal = Browser::of_new_at(&server, PUBLIC, "amal", "auditor");
    let trace = &id[..26];
    for (path, body) in [
        (format!("/v1/questions/{id}/answer"), json!({"answer": "there"})),
        (format!("/v1/questions/{id}/decline"), json!({"reason": "no"})),
        (format!("/v1/questions/{id}/cancel"), json!({"reason": "no"})),
        (format!("/v1/confirmations/{confirmation}/give"), json!({"digest": digest})),
        (format!("/v1/confirmations/{confirmation}/refuse"), json!({"digest": digest})),
        (format!("/v1/traces/{trace}/events/0/erase"), json!({"why": "no"})),
    ] {
        assert_eq!(amal.call("POST", &path).json(&body).send().status, 403, "{path}");
    }
    for path in [format!("/questions/{id}/answer"), format!("/confirmations/{confirmation}/give")] {
        assert_eq!(amal.send(&path, &[("text", "there"), ("digest", "0")]).status, 403, "{path}");
    }
    assert_eq!(amal.call("GET", &format!("/v1/questions/{id}")).send().json()["state"], "open");
}
