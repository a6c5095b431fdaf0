//! The store on which every cell of the matrix runs: one of each thing, and everybody who may or may not see it. Made once;
//! each server works on a copy.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    thread,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    callers::{CLIENT, Credential},
    names::Names,
};
use crate::{
    browser::Browser,
    client::{Call, Reply},
    run,
    server::{Server, until},
};

/// The store and what is known about it.
pub(super) struct Seed {
    folder: TempDir,
    pub(super) names: Names,
    pub(super) credentials: BTreeMap<&'static str, Credential>,
    /// The keys that forms of people carry, by the kind of caller.
    pub(super) form_keys: BTreeMap<&'static str, String>,
    /// An export of a trace.
    pub(super) export: Vec<u8>,
    /// What attests a plan.
    pub(super) attestation: Value,
}

impl Seed {
    pub(super) fn plant() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Server::start_at(folder.path());
        let mut planter = Planter { server: &server, names: Names::default(), tokens: BTreeMap::new() };
        planter.make_tokens();
        planter.ask_questions();
        planter.ask_confirmations();
        planter.submit_plans();
        planter.open_runs();
        let attestation = planter.attestation();
        let path = format!("/v1/traces/{}/export", planter.names.value("trace answered"));
        let export = server.local("GET", &path).send().body;
        let mut credentials = BTreeMap::from([
            ("local", Credential::Local),
            ("local client", Credential::Client),
            ("nobody", Credential::Nothing),
        ]);
        let form_keys = planter.sign_in(&mut credentials);
        planter.spoil(&mut credentials);
        planter.name_keys();
        let Planter { names, tokens, .. } = planter;
        credentials.extend(tokens.into_iter().map(|(kind, secret)| (kind, Credential::Bearer(secret))));
        server.stop().unwrap();
        Self { folder, names, credentials, form_keys, export, attestation }
    }

    /// Makes a folder the same as that of the seed, whatever was done in it.
    pub(super) fn copy_to(&self, folder: &Path) {
        copy(self.folder.path(), folder);
    }
}

/// Makes one folder the same as another. Folders in it stay: there are many, and making them anew takes longer than all calls.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(to).unwrap() {
        let entry = entry.unwrap();
        let (is_new, is_folder) =
            (!from.join(entry.file_name()).exists(), entry.file_type().unwrap().is_dir());
        match (is_new, is_folder) {
            (false, _) => {}
            (true, true) => fs::remove_dir_all(entry.path()).unwrap(),
            (true, false) => fs::remove_file(entry.path()).unwrap(),
        }
    }
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (kind, to) = (entry.file_type().unwrap(), to.join(entry.file_name()));
        if kind.is_dir() {
            fs::create_dir_all(&to).unwrap();
            fs::set_permissions(&to, entry.metadata().unwrap().permissions()).unwrap();
            copy(&entry.path(), &to);
        } else if kind.is_file() {
            fs::copy(entry.path(), &to).unwrap();
        }
    }
}

/// Whoever fills the store.
struct Planter<'a> {
    server: &'a Server,
    names: Names,
    /// The secrets of tokens, by the kind of caller.
    tokens: BTreeMap<&'static str, String>,
}

impl Planter<'_> {
    fn make_tokens(&mut self) {
        for (kind, name, scopes) in [
            ("ask, owner", "ada", &["ask"][..]),
            ("ask, other", "eve", &["ask"]),
            ("ask, player", "bo", &["ask"]),
            ("answer", "ann", &["answer"]),
            ("relay", "rita", &["relay"]),
            ("read", "rex", &["read"]),
            ("metrics", "max", &["metrics"]),
            ("ask+relay, owner", "ada", &["ask", "relay"]),
            ("ask+relay, other", "eve", &["ask", "relay"]),
        ] {
            self.tokens.insert(kind, self.server.token(name, scopes));
        }
        for name in ["cy", "dee"] {
            // These two only play in runs: they are no kind of caller.
            self.tokens.insert(name, self.server.token(name, &["ask"]));
        }
    }

    fn by(&self, kind: &str, method: &str, path: &str) -> Call {
        match kind {
            "local" => self.server.local(method, path),
            "local client" => self.server.local(method, path).header("demur-relay", CLIENT),
            kind => self.server.call(method, path).token(&self.tokens[kind]),
        }
    }

    /// Has something made; ids begin with their time, so the next millisecond has to come for lists to have one order.
    fn make(&self, kind: &str, path: &str, document: &Value) -> Value {
        let before = SystemTime::now();
        while before.elapsed().unwrap_or_default() < Duration::from_millis(2) {
            thread::park_timeout(Duration::from_millis(1));
        }
        made(&self.by(kind, "POST", path).json(document).send())
    }

    fn ask(&mut self, name: &str, kind: &str, document: &Value) -> String {
        let asked = self.make(kind, "/v1/questions", document);
        let (id, trace) = (asked["id"].as_str().unwrap(), asked["trace"].as_str().unwrap());
        self.names.add(&format!("question {name}"), id);
        if document.get("trace").is_none() {
            self.names.add(&format!("trace {name}"), trace);
        }
        id.to_owned()
    }

    fn ask_questions(&mut self) {
        for name in
            ["open", "answered", "to answer", "to relay", "to decline", "to pass", "to cancel", "to do"]
        {
            self.ask(name, "ask, owner", &json!({"question": format!("The one {name}?")}));
        }
        let choices = json!([{"label": "Yes", "value": "yes"}, {"label": "No", "value": "no"}]);
        self.ask("of choices", "ask, owner", &json!({"question": "Yes or no?", "choices": choices}));
        self.ask("with a deadline", "ask, owner", &json!({"question": "Soon?", "timeout_seconds": 86_400}));
        self.ask("for anybody", "ask, owner", &json!({"question": "Anybody?", "answering": "anybody"}));
        self.ask("for agents", "ask, owner", &json!({"question": "Who is there?", "answering": "agents"}));
        self.ask("secret", "ask, owner", &json!({"question": "The password?", "kinds": ["secret"]}));
        self.ask("secret and open", "ask, owner", &json!({"question": "The PIN?", "kinds": ["secret"]}));
        self.ask("of the machine", "local", &json!({"question": "And I?"}));
        self.ask("of the client", "local client", &json!({"question": "And we?"}));
        for (name, answer) in [("answered", "this"), ("secret", "hunter2")] {
            let id = self.names.value(&format!("question {name}")).to_owned();
            self.make("local", &format!("/v1/questions/{id}/answer"), &json!({"answer": answer}));
        }
    }

    fn ask_confirmations(&mut self) {
        let by_tools = ["to refuse by a tool", "given for a tool"];
        for name in ["open", "given", "to give", "to refuse", "on the page"].into_iter().chain(by_tools) {
            let document = json!({"action": format!("Send 10, {name}"), "operation": {"amount": 10}});
            let asked = self.make("ask, owner", "/v1/confirmations", &document);
            self.names.add(&format!("confirmation {name}"), asked["id"].as_str().unwrap());
            self.names.add(&format!("trace of confirmation {name}"), asked["trace"].as_str().unwrap());
        }
        for name in ["confirmation given", "confirmation given for a tool"] {
            let id = self.names.value(name).to_owned();
            let digest = json!({"digest": super::rows::DIGEST});
            self.make("local", &format!("/v1/confirmations/{id}/give"), &digest);
        }
    }

    fn submit_plans(&mut self) {
        for (number, (name, members)) in [
            ("open", json!({"standards_selected": ["jsp-440"], "deployment_target": "uswds"})),
            ("warned", json!({"standards_selected": ["gdpr"], "real_build": true})),
            ("whole", json!({})),
            ("confirmed", json!({})),
            ("attested", json!({})),
        ]
        .into_iter()
        .enumerate()
        {
            let session = format!("0196bb7c-0000-7000-8000-00000000000{number}");
            let plan = json!({"plan": plan(&members), "session_id": session});
            let opened = self.make("ask, owner", "/v1/plans", &plan);
            self.names.add(&format!("plan {name}"), &session);
            self.names.add(&format!("trace of plan {name}"), opened["trace"].as_str().unwrap());
        }
        let at = |name: &str, rest: &str| format!("/v1/plans/{}{rest}", self.names.value(name));
        for name in ["plan confirmed", "plan attested"] {
            self.make("ask, owner", &at(name, "/confirm"), &json!({}));
        }
        self.make("ask, owner", &at("plan attested", "/attestation"), &super::rows::plans::files());
        for name in ["open", "warned"] {
            let trace = self.names.value(&format!("trace of plan {name}")).to_owned();
            let path = format!("/v1/questions?state=open&trace={trace}");
            let listed = made(&self.server.local("GET", &path).send());
            let mut questions = listed["questions"].as_array().unwrap().iter();
            let question = questions.find(|question| question["gap"] == "gap-001").unwrap();
            self.names.add(&format!("question of plan {name}"), question["id"].as_str().unwrap());
        }
    }

    fn open_runs(&mut self) {
        for name in ["open", "concluded"] {
            let opened = self.make("ask, owner", "/v1/runs", &run::opening());
            self.names.add(&format!("run {name}"), opened["trace"].as_str().unwrap());
        }
        let concluded = self.names.value("run concluded").to_owned();
        let claim = self.execute(&concluded);
        self.say(&concluded, "ask, player", &run::conclusion(claim));
        let open = self.names.value("run open").to_owned();
        let proposal = self.say(&open, "ask, owner", &run::proposal());
        self.say(&open, "cy", &run::review(proposal));
        self.say(&open, "ask, player", &run::artifact("log", "all is well"));
        for name in ["in the run", "in the run, to cancel"] {
            self.ask(name, "ask, player", &json!({"question": format!("The one {name}?"), "trace": open}));
        }
    }

    fn say(&self, trace: &str, kind: &str, document: &Value) -> u64 {
        self.make(kind, &format!("/v1/runs/{trace}/events"), document)["sequence"].as_u64().unwrap()
    }

    /// Takes a run as far as its claim.
    fn execute(&self, trace: &str) -> u64 {
        let say = |kind: &str, document: &Value| self.say(trace, kind, document);
        let proposal = say("ask, owner", &run::proposal());
        say("cy", &run::review(proposal));
        let intent = say("ask, player", &run::intent(proposal));
        say("cy", &run::intent_review(intent));
        let input = say("ask, player", &run::artifact("input", "{}"));
        let started = say("ask, player", &run::start(intent, input));
        let output = say("ask, player", &run::artifact("output", "all tests pass"));
        let execution = say("ask, player", &run::complete(started, output));
        say("ask, player", &run::claim("claim_issued", output, execution))
    }

    fn attestation(&self) -> Value {
        let path = format!("/v1/plans/{}/attestation", self.names.value("plan attested"));
        made(&self.by("ask, owner", "GET", &path).send())["attestation"].clone()
    }

    /// Adds a person of each role and signs each in; returns the keys of their forms.
    fn sign_in(
        &self,
        credentials: &mut BTreeMap<&'static str, Credential>,
    ) -> BTreeMap<&'static str, String> {
        let mut keys = BTreeMap::new();
        for (role, name) in [("operator", "olga"), ("answerer", "ines"), ("auditor", "amal")] {
            let browser = Browser::of_new(self.server, name, role);
            let key = browser.form_key();
            let secret = browser.cookie.split_once('=').unwrap().1.to_owned();
            credentials.insert(role, Credential::Cookie { secret, key: key.clone() });
            keys.insert(role, key);
        }
        keys
    }

    /// Makes a token that is revoked, and one that has expired: the last, because the next one sweeps it away.
    fn spoil(&self, credentials: &mut BTreeMap<&'static str, Credential>) {
        let revoked = self.server.token("ada", &["ask"]);
        let id = revoked.split('_').nth(1).unwrap();
        assert_eq!(self.server.local("DELETE", &format!("/v1/tokens/{id}")).send().status, 200);
        credentials.insert("revoked", Credential::Bearer(revoked));
        let short = json!({"name": "ada", "scopes": ["ask"], "seconds": 1});
        let expired = made(&self.server.local("POST", "/v1/tokens").json(&short).send());
        let expired = expired["secret"].as_str().unwrap().to_owned();
        let is_over = || self.server.call("GET", "/v1/identities").token(&expired).send().status == 401;
        until("the token expires", is_over);
        credentials.insert("expired", Credential::Bearer(expired));
    }

    /// Names principals, keys and tokens by their holders.
    fn name_keys(&mut self) {
        let listed = made(&self.server.local("GET", "/v1/identities").send());
        for key in listed["identities"].as_array().unwrap() {
            let name = key["name"].as_str().unwrap();
            for (member, kind) in
                [("principal", "principal"), ("fingerprint", "key"), ("public_key", "public key")]
            {
                self.names.add(&format!("{kind} {name}"), key[member].as_str().unwrap());
            }
        }
        let listed = made(&self.server.local("GET", "/v1/tokens").send());
        for token in listed["tokens"].as_array().unwrap() {
            let scopes = token["scopes"].as_array().unwrap();
            let scopes: Vec<_> = scopes.iter().map(|scope| scope.as_str().unwrap()).collect();
            let name = format!("token {} {}", token["name"].as_str().unwrap(), scopes.join("+"));
            // The one that has expired has the name and the scopes of another.
            let ends = !token["expires"].is_null() && scopes != ["person"];
            let name = if ends { format!("{name}, expired") } else { name };
            self.names.add(&name, token["id"].as_str().unwrap());
        }
    }
}

/// Returns the document of something that was done.
fn made(reply: &Reply) -> Value {
    assert!((200..300).contains(&reply.status), "{}: {}", reply.status, reply.text());
    if reply.body.is_empty() { Value::Null } else { reply.json() }
}

/// Returns a plan that lacks nothing, with these members.
pub(super) fn plan(members: &Value) -> Value {
    let mut plan = json!({
        "description": "a status page", "component_type": "webpart-react", "operation": "add",
        "data_storage": "properties", "api_choice": "rest",
    });
    plan.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    plan
}
