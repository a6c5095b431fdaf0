//! Attackers before a server with a passkey, each a real process with the same user as the server, or with another one: what they try
//! to add, answer, vouch for, remove and reset without a touch, and what the record says then.

use std::{
    os::unix::process::CommandExt as _,
    process::{Command, Output},
};

use demur_core::hash::sha256;
use demur_testing::authenticator::Authenticator;
use serde_json::{Value, json};

use crate::{
    asker::{asked_over_the_socket, until},
    mcp::client::Client,
    not_run::not_run,
    sandbox::Sandbox,
    server_life::{is_alive, kill, server},
};

/// A server with a passkey, the browser of its holder, and a question that demands a passkey.
struct Attacked {
    sandbox: Sandbox,
    origin: String,
    cookie: String,
    passkey: Authenticator,
    question: String,
}

/// What HTTP said.
#[derive(Debug)]
struct Said {
    status: u16,
    body: Value,
}

impl Said {
    fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }
}

impl Attacked {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        sandbox.start_server();
        let (origin, cookie) = signed_in(&sandbox);
        let passkey = Authenticator::es256(1).at(&origin);
        let mut attacked = Self { sandbox, origin, cookie, passkey, question: String::new() };
        let code = attacked.sandbox.json(&["passkey", "code"]);
        let prepared = attacked.enrol(&attacked.passkey, code["code"].as_str());
        assert_eq!(attacked.finish(&prepared).body["acts"][0]["status"], "signed");
        let question = json!({"question": "Ship it?", "kinds": ["yes_no"], "assurance": "passkey"});
        attacked.question = asked_over_the_socket(&attacked.sandbox, &question);
        attacked
    }

    /// Sends something to the page's address, with the cookie and the key of the browser.
    fn page(&self, path: &str, document: &Value) -> Said {
        let (cookie, key) = (format!("Cookie: {}", self.cookie), format!("demur-form-key: {KEY}"));
        self.tcp(path, document, &["-H", &cookie, "-H", &key])
    }

    /// Sends something to the page's address.
    fn tcp(&self, path: &str, document: &Value, more: &[&str]) -> Said {
        said(
            &curl(&self.origin)
                .args(more)
                .args(["--json", &document.to_string()])
                .arg(self.at(path))
                .output()
                .unwrap(),
        )
    }

    /// Sends something over the socket, as a program of the same user.
    fn socket(&self, path: &str, document: &Value) -> Said {
        let mut curl = Command::new("curl");
        curl.args(["-s", "-w", "\n%{http_code}", "--unix-socket"]).arg(self.sandbox.data().join("socket"));
        said(
            &curl
                .args(["--json", &document.to_string()])
                .arg(format!("http://localhost{path}"))
                .output()
                .unwrap(),
        )
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    fn enrol(&self, passkey: &Authenticator, code: Option<&str>) -> Value {
        let (algorithm, [authenticator, credential, public_key]) = passkey.creation();
        let mut new = json!({"algorithm": algorithm, "authenticator": authenticator, "credential": credential,
            "label": "phone", "public_key": public_key});
        if let Some(code) = code {
            new["setup_code"] = json!(code);
        }
        let prepared = self.page("/v1/passkeys", &new);
        assert_eq!(prepared.status, 201, "{prepared:?}");
        prepared.body
    }

    fn prepare(&self, act: &Value) -> Value {
        let prepared = self.page("/v1/touches", &json!({"acts": [act]}));
        assert_eq!(prepared.status, 201, "{prepared:?}");
        prepared.body
    }

    fn finish(&self, prepared: &Value) -> Said {
        self.finish_with(&self.passkey, prepared)
    }

    fn finish_with(&self, passkey: &Authenticator, prepared: &Value) -> Said {
        let touch = &prepared["touch"];
        let [authenticator, client, credential, signature] =
            passkey.answer(touch["challenge"].as_str().unwrap());
        let made = json!({"authenticator": authenticator, "client": client, "credential": credential,
            "signature": signature});
        self.page(&format!("/v1/touches/{}", touch["name"].as_str().unwrap()), &made)
    }

    /// Everything that only a touch does, as acts.
    fn acts(&self) -> [Value; 5] {
        let key = self.passkey.fingerprint();
        [
            json!({"act": "answer", "question": self.question, "answer": true}),
            json!({"act": "add_passkey", "key": key}),
            json!({"act": "remove_passkey", "key": key}),
            json!({"act": "add_person", "name": "eve", "role": "operator"}),
            json!({"act": "decline", "question": self.question}),
        ]
    }

    /// Checks that nothing happened: the question is open, there is one passkey, and the record says of nobody that they signed.
    fn nothing_is_on_record(&self) {
        assert_eq!(self.sandbox.json(&["show", &self.question])["state"], "open");
        let listed = self.sandbox.json(&["passkey", "list"]);
        let active =
            listed["passkeys"].as_array().unwrap().iter().filter(|passkey| passkey["active"] == true);
        let keys: Vec<_> = active.map(|passkey| passkey["key"].clone()).collect();
        assert_eq!(keys, [json!(self.passkey.fingerprint())], "{listed}");
        let trace = self.question.split('.').next().unwrap();
        let file = self.sandbox.path("attacked.jsonl");
        let file = file.to_str().unwrap();
        self.sandbox.run(&["export", trace, "--out", file]).expect_code(0);
        let report = self.sandbox.json(&["verify", file]);
        let (verdict, passkeys) = (&report["verdict"], &report["report"]["passkeys"]);
        assert!(*verdict != "fail" && passkeys.as_array().is_none_or(Vec::is_empty), "{report}");
    }
}

/// Signs a browser in whose script keeps the key; returns where the pages are, and its cookie.
fn signed_in(sandbox: &Sandbox) -> (String, String) {
    let link = sandbox.json(&["open", "--print"]);
    let origin = link["url"].as_str().unwrap().strip_suffix("/sign-in").unwrap().to_owned();
    let form = format!("code={}&key={}", link["code"].as_str().unwrap(), sha256(KEY.as_bytes()));
    let signed =
        curl(&origin).args(["-i", "--data", &form]).arg(format!("{origin}/sign-in")).output().unwrap();
    let signed = String::from_utf8(signed.stdout).unwrap();
    let cookie = signed
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "))
        .unwrap_or_else(|| panic!("{signed}"));
    (origin, cookie.split(';').next().unwrap().to_owned())
}

/// Returns a call from a page of this address.
fn curl(origin: &str) -> Command {
    let host = origin.split_once("://").unwrap().1;
    let mut curl = Command::new("curl");
    curl.args(["-s", "-w", "\n%{http_code}", "--resolve", &format!("{host}:127.0.0.1")]);
    curl.args(["-H", &format!("Origin: {origin}")]);
    curl
}

fn said(output: &Output) -> Said {
    let text = String::from_utf8_lossy(&output.stdout);
    let (body, status) = text.rsplit_once('\n').unwrap_or_else(|| panic!("{output:?}"));
    Said { status: status.parse().unwrap(), body: serde_json::from_str(body).unwrap_or_default() }
}

/// ONE-10: the command line, the socket, the desk's own key, and a session of its own without the passkey.
#[test]
fn program_of_the_same_user_signs_nothing_without_a_touch() {
    let attacked = Attacked::new();
    let (sandbox, question) = (&attacked.sandbox, &attacked.question);
    let typed = attacked.socket(&format!("/v1/questions/{question}/answer"), &json!({"answer": true}));
    assert_eq!(typed.code(), "ASSURANCE_TOO_LOW", "{typed:?}");
    sandbox.run(&["answer", question, "yes"]).expect_code(3);
    let key = attacked.passkey.fingerprint().to_string();
    for act in attacked.acts() {
        assert_eq!(attacked.socket("/v1/touches", &json!({"acts": [act]})).code(), "FORBIDDEN", "{act}");
    }
    for arguments in [&["people", "add", "eve", "--role", "operator"][..], &["people", "remove", "eve"]] {
        assert_ne!(sandbox.run(arguments).code, Some(0), "{arguments:?}");
    }
    // The desk's key is here to be read, and it is no recovery key.
    let desk = sandbox.json(&["keys", "list"]);
    let desk = desk["keys"].as_array().unwrap().iter().find(|key| key["name"] == "desk").unwrap();
    let file = sandbox.data().join(format!("keys/{}.key", desk["fingerprint"].as_str().unwrap()));
    assert!(file.is_file(), "{file:?}");
    // A session of its own: it prepares, and has nothing to sign with.
    let (_, cookie) = signed_in(sandbox);
    let own = Attacked { cookie, ..attacked };
    let mine = Authenticator::ed25519(7).at(&own.origin);
    for act in own.acts().into_iter().filter(|act| act["act"] != "add_passkey") {
        let prepared = own.prepare(&act);
        if prepared["touch"].is_object() {
            assert_eq!(own.finish_with(&mine, &prepared).code(), "PASSKEY_MISSING", "{act}");
        } else {
            assert_eq!(prepared["acts"][0]["status"], "refused", "{act}");
        }
    }
    let prepared = own.enrol(&mine, None);
    let waits = own.finish_with(&mine, &prepared);
    assert_eq!(waits.body["acts"][0]["status"], "done", "{waits:?}");
    assert_eq!(
        own.finish_with(&mine, &waits.body["next"]).code(),
        "PASSKEY_MISSING",
        "it vouches for itself"
    );
    let reset = own.sandbox.run(&[
        "passkey",
        "reset",
        &mine.fingerprint().to_string(),
        "--recovery",
        file.to_str().unwrap(),
    ]);
    assert_ne!(reset.code, Some(0), "{reset}");
    let removed = own.socket(&format!("/v1/passkeys/{key}/reset"), &json!({}));
    assert!(removed.status >= 400, "{removed:?}");
    own.nothing_is_on_record();
}

/// ONE-10: what a list of sessions shows is no credential, and a cookie alone signs nothing.
#[test]
fn stolen_session_prepares_and_signs_nothing() {
    let attacked = Attacked::new();
    let listed = attacked.sandbox.json(&["people", "sessions"]);
    let id = listed["sessions"][0]["id"].as_str().unwrap();
    let (name, _) = attacked.cookie.split_once('=').unwrap();
    let as_cookie = format!("Cookie: {name}={id}");
    let acts = json!({"acts": [attacked.acts()[0]]});
    let by_id =
        attacked.tcp("/v1/touches", &acts, &["-H", &as_cookie, "-H", &format!("demur-form-key: {KEY}")]);
    assert_eq!(by_id.status, 401, "{by_id:?}");
    let cookie = format!("Cookie: {}", attacked.cookie);
    let alone = attacked.tcp("/v1/touches", &acts, &["-H", &cookie]);
    assert_eq!(alone.code(), "FORM_FOREIGN", "{alone:?}");
    // Somebody watches a touch and sends it themselves, without the key.
    let prepared = attacked.prepare(&attacked.acts()[0]);
    let path = format!("/v1/touches/{}", prepared["touch"]["name"].as_str().unwrap());
    let [authenticator, client, credential, signature] =
        attacked.passkey.answer(prepared["touch"]["challenge"].as_str().unwrap());
    let made = json!({"authenticator": authenticator, "client": client, "credential": credential, "signature": signature});
    assert_eq!(attacked.tcp(&path, &made, &["-H", &cookie]).code(), "FORM_FOREIGN");
    attacked.nothing_is_on_record();
}

/// ONE-10: no tool of an MCP client adds, vouches, removes or answers where a passkey is demanded.
#[test]
fn mcp_client_has_no_way_to_a_passkey() {
    let attacked = Attacked::new();
    let mut client = Client::modern(&attacked.sandbox, &[], &json!({"elicitation": {"form": {}, "url": {}}}));
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    assert!(!tools.is_empty());
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert!(
            !["passkey", "touch", "person", "people", "sign_in", "vouch"]
                .iter()
                .any(|word| name.contains(word)),
            "{name}"
        );
    }
    for (tool, arguments) in [
        ("answer", json!({"question": attacked.question, "answer": true})),
        ("wwa_clarify_resolve", json!({"question": attacked.question, "answer": true})),
        ("prepareTouch", json!({"acts": [attacked.acts()[0]]})),
    ] {
        let reply = client.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(reply["error"].is_object() || reply["result"]["isError"] == true, "{tool}: {reply}");
    }
    client.hang_up();
    attacked.nothing_is_on_record();
}

/// ONE-10: another process finishes what one prepared that was killed, and none does so twice.
#[test]
fn touch_is_finished_by_another_process_once_and_replayed_by_none() {
    let attacked = Attacked::new();
    let first = server(&attacked.sandbox);
    let prepared = attacked.prepare(&attacked.acts()[0]);
    kill(first);
    until("it is dead", || (!is_alive(first)).then_some(()));
    attacked.sandbox.start_server();
    assert_ne!(server(&attacked.sandbox), first);
    let finished = attacked.finish(&prepared);
    assert_eq!(finished.body["acts"][0]["status"], "signed", "{finished:?}");
    for _ in 0..2 {
        assert_eq!(attacked.finish(&prepared).code(), "TOUCH_UNKNOWN");
    }
    let shown = attacked.sandbox.json(&["show", &attacked.question]);
    assert_eq!((&shown["state"], &shown["outcome"]["assurance"]), (&json!("answered"), &json!("passkey")));
}

/// ONE-10 ONE-11: another user of the machine has neither folder nor socket, and over TCP it is a stranger.
#[test]
fn another_user_of_the_machine_is_a_stranger() {
    if !rustix::process::geteuid().is_root() {
        return not_run("a second user: needs root");
    }
    let attacked = Attacked::new();
    let as_other = |arguments: &[&str]| {
        let mut command = Command::new("curl");
        // SAFETY is the system's: the process gives up its user before it becomes the program.
        command.args(["-s", "-w", "\n%{http_code}"]).args(arguments).uid(OTHER_USER).gid(OTHER_USER);
        command.output().unwrap()
    };
    let socket = attacked.sandbox.data().join("socket");
    let over = as_other(&["--unix-socket", socket.to_str().unwrap(), "http://localhost/v1/passkeys"]);
    assert!(!over.status.success() || said(&over).status == 403, "{over:?}");
    let host = attacked.origin.split_once("://").unwrap().1.to_owned();
    for (path, document) in [
        ("/v1/passkeys/setup-code", json!({})),
        ("/v1/passkeys", json!({})),
        ("/v1/touches", json!({"acts": [attacked.acts()[0]]})),
        ("/v1/touches/x", json!({})),
        ("/v1/people", json!({"name": "eve", "role": "operator"})),
    ] {
        let (url, resolve) = (attacked.at(path), format!("{host}:127.0.0.1"));
        let origin = format!("Origin: {}", attacked.origin);
        let found =
            said(&as_other(&["--resolve", &resolve, "-H", &origin, "--json", &document.to_string(), &url]));
        assert_eq!(found.status, 401, "{path}: {found:?}");
    }
    attacked.nothing_is_on_record();
}

/// The key that the script of a page keeps.
const KEY: &str = "a key of a page";
/// A user who owns nothing here.
const OTHER_USER: u32 = 65534;
