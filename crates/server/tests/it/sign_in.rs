//! Signing in with a browser: a code is spent by a form of the server's own page, once, and stands in no address.

use serde_json::json;

use crate::{
    browser::{Browser, cookie_of, encode, link, origin, spend},
    server::Server,
};

fn code(server: &Server) -> String {
    link(server, &json!({}))
}

/// ONE-11: addresses are kept by browsers, proxies and logs.
#[test]
fn a_code_stands_in_no_address_and_works_once() {
    let server = Server::start();
    let made = server.local("POST", "/v1/sign-in").send();
    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    let code = made["code"].as_str().unwrap();
    assert_eq!(made["url"], format!("{}/sign-in", origin(&server)));
    assert_eq!((made.get("file"), code.len()), (None, 29));
    let page = server.page("GET", "/sign-in").send();
    assert_eq!((page.status, page.header("cache-control")), (200, Some("no-store")));
    assert!(page.header("set-cookie").is_none() && page.text().contains("name=\"code\""));
    let in_address = server.page("GET", &format!("/sign-in?code={code}")).send();
    assert!(in_address.header("set-cookie").is_none() && !in_address.text().contains(code), "{in_address:?}");
    let signed = spend(&server, &code.to_lowercase().replace('-', " "));
    let cookie = signed.header("set-cookie").unwrap();
    for word in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=43200"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(!cookie.contains("Domain"), "for this host alone: {cookie}");
    assert_eq!((signed.status, signed.header("location")), (303, Some("/")));
    let again = spend(&server, code);
    assert_eq!(again.status, 401);
    assert!(
        again.text().contains("This code signs nobody in") && again.text().contains("demur open"),
        "{}",
        again.text()
    );
    assert!(!again.text().contains(code));
}

/// ONE-11: a page of another site could sign its visitor in under a name that is not theirs.
#[test]
fn what_no_page_of_ours_sends_is_shown_once_more() {
    let server = Server::start();
    let added = server.local("POST", "/v1/people").json(&json!({"name": "zoe", "role": "auditor"})).send();
    assert_eq!(added.status, 201);
    let code = link(&server, &json!({"person": "zoe"}));
    let body = encode(&[("code", &code)]);
    let send = |origin: Option<&str>, site: Option<&str>| {
        let mut call = server.page("POST", "/sign-in").body(body.as_bytes());
        for (name, value) in [("Origin", origin), ("Sec-Fetch-Site", site)] {
            call = value.map_or(call.clone(), |value| call.header(name, value));
        }
        call.send()
    };
    let own = origin(&server);
    for (from, site) in
        [(None, None), (Some("https://evil.example"), None), (Some(&*own), Some("cross-site"))]
    {
        let reply = send(from, site);
        assert_eq!((reply.status, reply.header("set-cookie")), (403, None), "{from:?} {site:?}");
    }
    for _ in 0..2 {
        let handed = send(Some("null"), Some("cross-site"));
        assert_eq!((handed.status, handed.header("set-cookie")), (200, None));
        let text = handed.text();
        assert!(
            text.contains("You sign in as <strong><bdi>zoe</bdi></strong> (auditor)") && text.contains(&code),
            "{text}"
        );
        assert!(handed.header("content-security-policy").unwrap().contains("form-action 'self'"));
    }
    assert_eq!(server.page("POST", "/questions/x/answer").header("Origin", "null").send().status, 403);
    assert_eq!(send(Some(&own), Some("same-origin")).status, 303);
    assert_eq!(send(Some("null"), None).status, 401, "it is spent");
}

/// ONE-07
#[test]
fn a_browser_that_signed_in_answers_as_a_person() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Where to?", "assurance": "terminal"}));
    let path = format!("/v1/questions/{id}/answer");
    let proven = server.ask(&asker, &json!({"question": "Really?", "assurance": "signed_in"}));
    let browser = Browser::sign_in(&server);
    let body = json!({"answer": "there"});
    let bare = server.page("POST", &path).header("Cookie", &browser.cookie).json(&body);
    assert_eq!(bare.send().status, 401, "without Origin a cookie is good for nothing that changes something");
    let call = || browser.call("POST", &path).json(&body);
    assert_eq!(call().header("Origin", "http://evil.example").send().code(), "ORIGIN_FORBIDDEN");
    assert_eq!(call().header("demur-form-key", "").send().code(), "FORM_FOREIGN");
    let done = call().send();
    assert_eq!(done.status, 200, "{done:?}");
    let secret = browser.cookie.split_once('=').unwrap().1;
    assert_eq!(server.call("GET", "/v1/questions").token(secret).send().status, 401, "a session is no token");
    let outcome = &done.json()["question"]["outcome"];
    assert_eq!((outcome["assurance"].as_str(), outcome["by"].as_str()), (Some("terminal"), Some("pat")));
    // The code was made over the socket: whoever holds the session is no more than a process of the same user.
    let path = format!("/v1/questions/{proven}/answer");
    let call = browser.call("POST", &path).json(&json!({"answer": "really"}));
    assert_eq!(call.send().code(), "ASSURANCE_TOO_LOW");
}

/// ONE-11: a cookie goes to every port of its host, so that host is nobody else's.
#[test]
fn pages_and_cookies_have_a_name_of_their_own() {
    let server = Server::start();
    let browser = Browser::sign_in(&server);
    for host in ["localhost", "127.0.0.1", "[::1]"] {
        let host = format!("{host}:{}", server.port());
        let page = server
            .call("GET", "/questions/x?level=terse")
            .header("Host", &host)
            .header("Cookie", &browser.cookie);
        let page = page.send();
        let place = format!("{}/questions/x?level=terse", origin(&server));
        assert_eq!((page.status, page.header("location")), (307, Some(place.as_str())), "{host}");
        let form = server.call("POST", "/settings").header("Host", &host).header("Cookie", &browser.cookie);
        assert_eq!(form.header("Origin", &format!("http://{host}")).body(b"").send().status, 421, "{host}");
        let api = server.call("GET", "/v1/questions").header("Host", &host).header("Cookie", &browser.cookie);
        assert_eq!(api.send().status, 401, "{host}: a cookie counts at its own name only");
    }
    let strange = server.call("GET", "//evil.example/../..").send();
    assert!(
        strange.header("location").is_none_or(|place| place.starts_with(&origin(&server))),
        "{strange:?}"
    );
    assert_eq!(browser.call("GET", "/v1/questions").send().status, 200);
    let token = server.token("reader", &["read"]);
    assert_eq!(
        server.call("GET", "/v1/questions").token(&token).send().status,
        200,
        "programs stay at localhost"
    );
}

#[test]
fn pages_stay_at_localhost_where_a_browser_wants_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start_with_pages_at(folder.path(), demur_desk::settings::PageHost::Shared);
    let at = format!("http://localhost:{}", server.port());
    assert_eq!(server.local("GET", "/v1/server").send().json()["pages"], at);
    assert_eq!(server.local("POST", "/v1/sign-in").send().json()["url"], format!("{at}/sign-in"));
    let signed = crate::browser::spend_at(&server, &at, &code(&server));
    let cookie = cookie_of(&signed);
    assert_eq!(server.call("GET", "/").header("Cookie", &cookie).send().status, 200);
    assert_eq!(server.page("GET", "/").send().status, 421, "the other name is none of this server's");
}

#[test]
fn a_session_sees_but_neither_asks_nor_rules_the_server_and_can_be_taken_back() {
    let server = Server::start();
    let browser = Browser::sign_in(&server);
    assert_eq!(browser.call("GET", "/v1/questions").send().status, 200);
    assert_eq!(browser.call("POST", "/v1/questions").json(&json!({"question": "Why?"})).send().status, 403);
    assert_eq!(browser.call("GET", "/v1/tokens").send().status, 403);
    assert_eq!(browser.call("POST", "/v1/sign-in").send().status, 403);
    assert_eq!(browser.call("POST", "/v1/server/stop").send().status, 403);
    let listed = server.local("GET", "/v1/tokens").send().json();
    let id = listed["tokens"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(server.local("DELETE", &format!("/v1/tokens/{id}")).send().status, 200);
    assert_eq!(browser.call("GET", "/v1/questions").send().status, 401);
}

#[test]
fn codes_are_for_the_user_of_this_machine_and_rubbish_signs_nobody_in() {
    let server = Server::start();
    let token = server.token("reader", &["ask", "read", "metrics", "relay"]);
    assert_eq!(server.call("POST", "/v1/sign-in").token(&token).send().status, 403);
    assert_eq!(server.call("POST", "/v1/sign-in").send().status, 401);
    for form in ["", "code=", "code=zz", "kode=1", "\u{0}", "code=%22%3E%3Cscript%3E"] {
        let call = server.page("POST", "/sign-in").header("Origin", &origin(&server)).body(form.as_bytes());
        let reply = call.send();
        assert_eq!(reply.status, 401, "{form:?}");
        assert!(
            !reply.text().contains("<script>alert") && !reply.text().contains("\"><script"),
            "{}",
            reply.text()
        );
    }
    let code = code(&server);
    let key = [("code", code.as_str()), ("key", "no digest")];
    let call =
        server.page("POST", "/sign-in").header("Origin", &origin(&server)).body(encode(&key).as_bytes());
    assert_eq!(call.send().status, 400, "not spent");
    assert_eq!(spend(&server, &code).status, 303);
}
