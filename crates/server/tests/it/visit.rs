//! A browser that is signed in: its cookie, and pages as it gets them.

use serde_json::{Value, json};

use crate::{
    client::{Call, Reply},
    server::Server,
};

/// A browser with a session.
pub(crate) struct Browser<'a> {
    server: &'a Server,
    pub(crate) cookie: String,
}

impl<'a> Browser<'a> {
    /// Signs the user of this machine in.
    pub(crate) fn of(server: &'a Server) -> Self {
        Self::with(server, &json!({}))
    }

    /// Signs somebody in who was added before.
    pub(crate) fn of_person(server: &'a Server, name: &str) -> Self {
        Self::with(server, &json!({"person": name}))
    }

    /// Adds somebody, and signs them in.
    pub(crate) fn of_new(server: &'a Server, name: &str, role: &str) -> Self {
        let added = server.local("POST", "/v1/people").json(&json!({"name": name, "role": role})).send();
        assert_eq!(added.status, 201, "{added:?}");
        Self::of_person(server, name)
    }

    fn with(server: &'a Server, wanted: &Value) -> Self {
        let link = server.local("POST", "/v1/sign-in").json(wanted).send();
        assert_eq!(link.status, 201, "{link:?}");
        let url = link.json()["url"].as_str().unwrap().to_owned();
        let code = url.split_once("code=").unwrap().1.to_owned();
        let signed = spend(server, &code);
        assert_eq!(signed.status, 303, "{signed:?}");
        let cookie = signed.header("set-cookie").unwrap().split_once(';').unwrap().0.to_owned();
        Self { server, cookie }
    }

    /// Returns a request as this browser sends it.
    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        self.server.call(method, path).header("Cookie", &self.cookie).header("Origin", &origin(self.server))
    }

    /// Returns a page; it has to be there.
    pub(crate) fn page(&self, path: &str) -> String {
        let reply = self.call("GET", path).send();
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        check(&reply);
        reply.text()
    }

    /// Sends a form.
    pub(crate) fn post(&self, path: &str, form: &str) -> Reply {
        let call = self.call("POST", path).header("Content-Type", "application/x-www-form-urlencoded");
        call.body(form.as_bytes()).send()
    }
}

/// Returns where the pages of a server come from.
pub(crate) fn origin(server: &Server) -> String {
    format!("http://localhost:{}", server.port())
}

/// Sends the form behind a link.
pub(crate) fn spend(server: &Server, code: &str) -> Reply {
    let form = format!("code={code}");
    server.call("POST", "/sign-in").header("Origin", &origin(server)).body(form.as_bytes()).send()
}

/// Checks what holds of every page: nothing from elsewhere, nothing inline, one heading of the first level.
pub(crate) fn check(reply: &Reply) {
    assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = reply.header("content-security-policy").unwrap_or_default();
    assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(reply.header("x-frame-options"), Some("DENY"));
    let text = reply.text();
    assert_eq!(text.matches("<h1").count(), 1, "{text}");
    for inline in [" style=\"", " onclick=", "javascript:", "<img", "<iframe"] {
        assert!(!text.contains(inline), "{inline}: {text}");
    }
}
