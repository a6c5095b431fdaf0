//! Passkeys over HTTP, with an authenticator in software: brought in, touched for what a person does, ended. What is recorded is held
//! against the export.

use demur_testing::authenticator::Authenticator;
use serde_json::{Value, json};

use crate::{
    browser::{Browser, host, origin},
    client::Reply,
    server::Server,
};

/// A passkey in the pocket of somebody whose browser is signed in.
pub(crate) struct Person<'a> {
    pub(crate) browser: Browser<'a>,
    pub(crate) passkey: Authenticator,
}

/// Returns a code for the first passkey.
pub(crate) fn setup_code(server: &Server) -> String {
    let made = server.local("POST", "/v1/passkeys/setup-code").send();
    assert_eq!(made.status, 201, "{made:?}");
    made.json()["code"].as_str().unwrap().to_owned()
}

/// Returns the document with which a new passkey comes in.
pub(crate) fn new_passkey(passkey: &Authenticator, label: &str, setup_code: Option<&str>) -> Value {
    let (algorithm, [authenticator, credential, public_key]) = passkey.creation();
    let mut document = json!({
        "algorithm": algorithm, "authenticator": authenticator, "credential": credential, "label": label,
        "public_key": public_key,
    });
    if let Some(code) = setup_code {
        document["setup_code"] = json!(code);
    }
    document
}

/// Returns the document of what a passkey makes of a prepared touch.
pub(crate) fn made(passkey: &Authenticator, prepared: &Value) -> Value {
    let [authenticator, client, credential, signature] =
        passkey.answer(prepared["challenge"].as_str().unwrap());
    json!({"authenticator": authenticator, "client": client, "credential": credential, "signature": signature})
}

impl<'a> Person<'a> {
    /// Returns the user of this machine, whose passkey is the first of the store.
    pub(crate) fn root(server: &'a Server, passkey: Authenticator) -> Self {
        let person = Self::here(server, passkey);
        let finished = person.enrol(Some(&setup_code(server)));
        assert_eq!(finished["acts"][0]["standing"], "signed", "{finished}");
        person
    }

    /// Returns the user of this machine with a passkey that has not come in.
    pub(crate) fn here(server: &'a Server, passkey: Authenticator) -> Self {
        Self { browser: Browser::sign_in(server), passkey: passkey.at(&origin(server)) }
    }

    /// Brings the passkey in, as far as it goes by itself.
    pub(crate) fn enrol(&self, code: Option<&str>) -> Value {
        let new = new_passkey(&self.passkey, "phone", code);
        let prepared = self.browser.call("POST", "/v1/passkeys").json(&new).send();
        assert_eq!(prepared.status, 201, "{prepared:?}");
        self.finish(&prepared.json()).json()
    }

    /// Has a touch prepared for these acts.
    pub(crate) fn prepare(&self, acts: &Value) -> Value {
        let prepared = self.browser.call("POST", "/v1/touches").json(&json!({"acts": acts})).send();
        assert_eq!(prepared.status, 201, "{prepared:?}");
        prepared.json()
    }

    /// Touches, and sends what the passkey made.
    pub(crate) fn finish(&self, prepared: &Value) -> Reply {
        self.send(prepared, &made(&self.passkey, prepared))
    }

    pub(crate) fn send(&self, prepared: &Value, made: &Value) -> Reply {
        let path = format!("/v1/touches/{}", prepared["touch"].as_str().unwrap());
        self.browser.call("POST", &path).json(made).send()
    }

    /// Does all of it; returns how each act stands.
    pub(crate) fn touch(&self, acts: &Value) -> Vec<String> {
        let finished = self.finish(&self.prepare(acts));
        assert_eq!(finished.status, 200, "{finished:?}");
        let finished = finished.json();
        let acts = finished["acts"].as_array().unwrap();
        acts.iter().map(|act| act["standing"].as_str().unwrap().to_owned()).collect()
    }
}

/// Asks for an answer that only a passkey gives.
fn ask(server: &Server, more: &Value) -> String {
    let mut question = json!({"question": "Ship it?", "kinds": ["yes_no"], "assurance": "passkey"});
    question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let asked = server.local("POST", "/v1/questions").json(&question).send();
    assert_eq!(asked.status, 201, "{asked:?}");
    asked.json()["id"].as_str().unwrap().to_owned()
}

fn question(server: &Server, id: &str) -> Value {
    server.local("GET", &format!("/v1/questions/{id}")).send().json()
}

fn yes(question: &str) -> Value {
    json!({"act": "answer", "question": question, "answer": true})
}

/// Returns the report about the trace of a question.
fn report(server: &Server, question: &str) -> Value {
    let trace = question.split_once('.').unwrap().0;
    let export = server.local("GET", &format!("/v1/traces/{trace}/export")).send();
    assert_eq!(export.status, 200);
    let checked = server.local("POST", "/v1/verify").header("Content-Type", "application/x-ndjson");
    checked.body(&export.body).send().json()
}

/// ONE-10
#[test]
fn answer_by_passkey_counts_where_nothing_else_does() {
    for passkey in [Authenticator::es256(1), Authenticator::ed25519(2), Authenticator::es256(3).synced()] {
        let server = Server::start();
        let pat = Person::root(&server, passkey);
        let id = ask(&server, &json!({}));
        let typed =
            server.local("POST", &format!("/v1/questions/{id}/answer")).json(&json!({"answer": true}));
        assert_eq!(typed.send().json()["code"], "ASSURANCE_TOO_LOW");
        let by_page = pat.browser.call("POST", &format!("/v1/questions/{id}/answer"));
        assert_eq!(by_page.json(&json!({"answer": true})).send().json()["code"], "ASSURANCE_TOO_LOW");
        assert_eq!(pat.touch(&json!([yes(&id)])), ["signed"]);
        let found = question(&server, &id);
        assert_eq!(
            (&found["state"], &found["outcome"]["assurance"]),
            (&json!("answered"), &json!("passkey"))
        );
        assert_eq!(found["outcome"]["by"], "pat");
        let report = report(&server, &id);
        assert_eq!(report["verdict"], "pass", "{report}");
    }
}
