//! A browser of one person, as far as a test needs one: it keeps its cookies, says where its forms come from, and sends them
//! with the key that their page gave.

use serde_json::{Value, json};

use crate::{
    client::{Call, Reply},
    server::Server,
};

/// A browser that is signed in.
pub(crate) struct Browser<'a> {
    server: &'a Server,
    /// Where its pages are.
    origin: String,
    /// The cookie of its session, `name=value`.
    pub(crate) cookie: String,
    /// What its forms carry.
    key: String,
}

impl<'a> Browser<'a> {
    /// Signs in as the user of this machine.
    pub(crate) fn sign_in(server: &'a Server) -> Self {
        Self::with(server, &json!({}))
    }

    /// Signs in as somebody who was added before.
    pub(crate) fn of_person(server: &'a Server, name: &str) -> Self {
        Self::with(server, &json!({"person": name}))
    }

    /// Adds somebody, and signs in as this one.
    pub(crate) fn of_new(server: &'a Server, name: &str, role: &str) -> Self {
        Self::of_new_at(server, &origin(server), name, role)
    }

    /// Does so on a server whose pages are at this address.
    pub(crate) fn of_new_at(server: &'a Server, origin: &str, name: &str, role: &str) -> Self {
        let added = server.local("POST", "/v1/people").json(&json!({"name": name, "role": role})).send();
        assert_eq!(added.status, 201, "{added:?}");
        let signed = spend_at(server, origin, &link(server, &json!({"person": name})));
        Self::of_cookie(server, origin, cookie_of(&signed))
    }

    fn with(server: &'a Server, wanted: &Value) -> Self {
        let signed = spend(server, &link(server, wanted));
        Self::of_cookie(server, &origin(server), cookie_of(&signed))
    }

    /// Returns a browser with this cookie.
    pub(crate) fn of_cookie(server: &'a Server, origin: &str, cookie: String) -> Self {
        let mut browser = Self { server, origin: origin.to_owned(), cookie, key: String::new() };
        browser.key = browser.form_key();
        browser
    }

    /// Returns a browser with this cookie, whose script keeps this key.
    pub(crate) fn with_key(server: &'a Server, origin: &str, cookie: String, key: &str) -> Self {
        Self { server, origin: origin.to_owned(), cookie, key: key.to_owned() }
    }

    /// Returns a call with the cookies, the origin and the key of this browser.
    pub(crate) fn call(&self, method: &str, path: &str) -> Call {
        let call = self.server.call(method, path).header("Host", host(&self.origin));
        let call = call.header("Cookie", &self.cookie).header("Origin", &self.origin);
        call.header("demur-form-key", &self.key)
    }

    /// Returns a page that is there.
    pub(crate) fn page(&self, path: &str) -> String {
        let reply = self.call("GET", path).send();
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.text()
    }

    /// Sends a form without a key.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let media = "application/x-www-form-urlencoded";
        self.call("POST", path).header("Content-Type", media).body(encode(fields).as_bytes()).send()
    }

    /// Sends a form with the key of this session.
    pub(crate) fn send(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let key = self.form_key();
        let mut fields = fields.to_vec();
        fields.push(("form_key", &key));
        self.post(path, &fields)
    }

    /// Returns the key of this session, as its pages carry it.
    pub(crate) fn form_key(&self) -> String {
        let page = self.page("/settings");
        let rest = page.split_once("name=\"form_key\" value=\"").unwrap().1;
        rest.split('"').next().unwrap().to_owned()
    }
}

/// Makes a link; returns its code.
pub(crate) fn link(server: &Server, wanted: &Value) -> String {
    let link = server.local("POST", "/v1/sign-in").json(wanted).send();
    assert_eq!(link.status, 201, "{link:?}");
    link.json()["code"].as_str().unwrap().to_owned()
}

/// Sends the form on which a code is typed.
pub(crate) fn spend(server: &Server, code: &str) -> Reply {
    spend_at(server, &origin(server), code)
}

/// Does so on a server whose pages are at this address.
pub(crate) fn spend_at(server: &Server, origin: &str, code: &str) -> Reply {
    let call = server.call("POST", "/sign-in").header("Host", host(origin)).header("Origin", origin);
    call.body(encode(&[("code", code)]).as_bytes()).send()
}

/// Returns the cookie that a reply sets, `name=value`.
pub(crate) fn cookie_of(signed: &Reply) -> String {
    assert_eq!(signed.status, 303, "{signed:?}");
    signed.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}

/// Returns the origin of the pages of a server.
pub(crate) fn origin(server: &Server) -> String {
    format!("http://demur.localhost:{}", server.port())
}

/// Returns the host of an origin.
pub(crate) fn host(origin: &str) -> &str {
    origin.split_once("://").unwrap().1
}

/// Returns fields as a form sends them.
pub(crate) fn encode(fields: &[(&str, &str)]) -> String {
    let part = |text: &str| -> String {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        text.bytes()
            .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
            .collect()
    };
    let fields = fields.iter().map(|(name, value)| format!("{}={}", part(name), part(value)));
    fields.collect::<Vec<_>>().join("&")
}

/// Returns the fields that a form on a page carries unseen.
pub(crate) fn hidden(page: &str, action: &str) -> Vec<(String, String)> {
    let (_, form) =
        page.split_once(&format!("action=\"{action}\"")).unwrap_or_else(|| panic!("{action}: {page}"));
    let form = form.split("</form>").next().unwrap();
    let field = |part: &str| {
        let (name, rest) = part.split_once("\" value=\"")?;
        let value = rest.split('"').next()?;
        Some((name.to_owned(), unescape(value)))
    };
    form.split("<input type=\"hidden\" name=\"").skip(1).filter_map(field).collect()
}

fn unescape(text: &str) -> String {
    let pairs = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
