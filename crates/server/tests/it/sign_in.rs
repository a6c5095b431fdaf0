//! Signing in with a browser: a link is spent by a POST from its own page, never by a GET, and once.

use serde_json::json;

use crate::server::Server;

/// Returns the code of a new link.
fn code(server: &Server) -> String {
    let link = server.local("POST", "/v1/sign-in").send();
    assert_eq!(link.status, 201, "{link:?}");
    let url = link.json()["url"].as_str().unwrap().to_owned();
    assert!(url.starts_with(&format!("http://localhost:{}/sign-in?code=", server.port())), "{url}");
    url.split_once("code=").unwrap().1.to_owned()
}

fn origin(server: &Server) -> String {
    format!("http://localhost:{}", server.port())
}

/// Signs in and returns the cookie.
fn cookie(server: &Server, code: &str) -> String {
    let form = format!("code={code}");
    let signed =
        server.call("POST", "/sign-in").header("Origin", &origin(server)).body(form.as_bytes()).send();
    assert_eq!(signed.status, 303, "{signed:?}");
    let cookie = signed.header("set-cookie").unwrap().to_owned();
    for word in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    cookie.split_once(';').unwrap().0.to_owned()
}

#[test]
fn looking_at_a_link_does_not_spend_it_and_signing_in_does() {
    let server = Server::start();
    let code = code(&server);
    let path = format!("/sign-in?code={code}");
    for _ in 0..3 {
        let page = server.call("GET", &path).send();
        assert_eq!(page.status, 200, "{page:?}");
        assert!(page.header("set-cookie").is_none());
        assert_eq!(page.header("cache-control"), Some("no-store"));
    }
    cookie(&server, &code);
    let gone = server.call("GET", &path).send();
    assert_eq!(gone.status, 401);
    assert!(gone.text().contains("This link signs nobody in"), "{}", gone.text());
    let form = format!("code={code}");
    let again =
        server.call("POST", "/sign-in").header("Origin", &origin(&server)).body(form.as_bytes()).send();
    assert_eq!(again.status, 401);
    assert!(again.text().contains("demur open") && !again.text().contains(&code), "{}", again.text());
}

/// ONE-07
#[test]
fn a_browser_that_signed_in_answers_as_a_person() {
    let server = Server::start();
    let asker = server.token("builder", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Where to?", "assurance": "terminal"}));
    let path = format!("/v1/questions/{id}/answer");
    let proven = server.ask(&asker, &json!({"question": "Really?", "assurance": "signed_in"}));
    let cookie = cookie(&server, &code(&server));
    let call = || server.call("POST", &path).header("Cookie", &cookie).json(&json!({"answer": "there"}));
    assert_eq!(
        call().send().status,
        401,
        "without Origin a cookie is good for nothing that changes something"
    );
    assert_eq!(call().header("Origin", "http://evil.example").send().json()["code"], "ORIGIN_FORBIDDEN");
    let done = call().header("Origin", &origin(&server)).send();
    assert_eq!(done.status, 200, "{done:?}");
    let secret = cookie.split_once('=').unwrap().1;
    assert_eq!(server.call("GET", "/v1/questions").token(secret).send().status, 401, "a session is no token");
    let outcome = &done.json()["question"]["outcome"];
    assert_eq!((outcome["assurance"].as_str(), outcome["by"].as_str()), (Some("terminal"), Some("pat")));
    // The link was made over the socket: whoever holds the session is no more than a process of the same user.
    let path = format!("/v1/questions/{proven}/answer");
    let call = server.call("POST", &path).header("Cookie", &cookie).json(&json!({"answer": "really"}));
    assert_eq!(call.header("Origin", &origin(&server)).send().code(), "ASSURANCE_TOO_LOW");
}

#[test]
fn a_session_sees_but_neither_asks_nor_rules_the_server_and_can_be_taken_back() {
    let server = Server::start();
    let cookie = cookie(&server, &code(&server));
    let call = |method: &str, path: &str| {
        server.call(method, path).header("Cookie", &cookie).header("Origin", &origin(&server))
    };
    assert_eq!(call("GET", "/v1/questions").send().status, 200);
    assert_eq!(call("POST", "/v1/questions").json(&json!({"question": "Why?"})).send().status, 403);
    assert_eq!(call("GET", "/v1/tokens").send().status, 403);
    assert_eq!(call("POST", "/v1/server/stop").send().status, 403);
    let listed = server.local("GET", "/v1/tokens").send().json();
    let id = listed["tokens"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(server.local("DELETE", &format!("/v1/tokens/{id}")).send().status, 200);
    assert_eq!(call("GET", "/v1/questions").send().status, 401);
}

#[test]
fn links_are_for_the_user_of_this_machine_and_rubbish_signs_nobody_in() {
    let server = Server::start();
    let token = server.token("reader", &["ask", "read", "metrics", "relay"]);
    assert_eq!(server.call("POST", "/v1/sign-in").token(&token).send().status, 403);
    assert_eq!(server.call("POST", "/v1/sign-in").send().status, 401);
    for path in ["/sign-in", "/sign-in?code=", "/sign-in?code=zz", "/sign-in?code=%22%3E%3Cscript%3E"] {
        let page = server.call("GET", path).send();
        assert_eq!(page.status, 401, "{path}");
        assert!(page.text().contains("signs nobody in") && !page.text().contains("<script"), "{path}");
    }
    for form in ["", "code=", "code=zz", "kode=1", "\u{0}"] {
        let call = server.call("POST", "/sign-in").header("Origin", &origin(&server)).body(form.as_bytes());
        assert_eq!(call.send().status, 401, "{form:?}");
    }
    let code = code(&server);
    let bare = server.call("POST", "/sign-in").body(format!("code={code}").as_bytes()).send();
    assert_eq!(bare.status, 403, "not from the page: {bare:?}");
    assert_eq!(server.call("GET", &format!("/sign-in?code={code}")).send().status, 200, "it is not spent");
}
