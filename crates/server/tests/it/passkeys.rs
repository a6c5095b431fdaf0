//! Passkeys over HTTP, with an authenticator in software: brought in, touched for what a person does, ended. What is recorded is held
//! against the export.

use demur_core::hash::sha256;
use demur_testing::authenticator::Authenticator;
use serde_json::{Value, json};

use crate::{
    browser::{Browser, host, origin},
    client::Reply,
    plan::plan,
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
    asserted(passkey, &prepared["touch"])
}

/// Returns the document of what a passkey makes of what it is to sign.
fn asserted(passkey: &Authenticator, request: &Value) -> Value {
    let [authenticator, client, credential, signature] =
        passkey.answer(request["challenge"].as_str().unwrap());
    json!({"authenticator": authenticator, "client": client, "credential": credential, "signature": signature})
}

impl<'a> Person<'a> {
    /// Returns the user of this machine, whose passkey is the first of the store.
    pub(crate) fn root(server: &'a Server, passkey: Authenticator) -> Self {
        let person = Self::here(server, passkey);
        let finished = person.enrol(Some(&setup_code(server)));
        assert_eq!(finished["acts"][0]["status"], "signed", "{finished}");
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
        let path = format!("/v1/touches/{}", prepared["touch"]["name"].as_str().unwrap());
        self.browser.call("POST", &path).json(made).send()
    }

    /// Does all of it; returns how each act stands.
    pub(crate) fn touch(&self, acts: &Value) -> Vec<String> {
        let finished = self.finish(&self.prepare(acts));
        assert_eq!(finished.status, 200, "{finished:?}");
        let finished = finished.json();
        let acts = finished["acts"].as_array().unwrap();
        acts.iter().map(|act| act["status"].as_str().unwrap().to_owned()).collect()
    }
}

/// Sends a document from the sign-in page.
fn from_page(server: &Server, path: &str, document: &Value) -> Reply {
    let here = origin(server);
    let call = server.call("POST", path).header("Host", host(&here)).header("Origin", &here);
    call.header("Accept", "application/json").json(document).send()
}

/// Signs a browser in with a passkey.
fn sign_in<'a>(server: &'a Server, name: &str, passkey: &Authenticator) -> Browser<'a> {
    let request = from_page(server, "/sign-in/passkey", &json!({"name": name})).json();
    let path = format!("/sign-in/passkey/{}", request["name"].as_str().unwrap());
    let key = sha256(KEY.as_bytes());
    let signed = from_page(server, &path, &json!({"made": asserted(passkey, &request), "key": key}));
    assert_eq!(signed.status, 204, "{signed:?}");
    let cookie = signed.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    Browser::with_key(server, &origin(server), cookie, KEY)
}

/// The key that the script of a page keeps.
const KEY: &str = "a key of a page";

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

/// ONE-10: each of the list is on record, and others are not kept back by one that somebody else was faster with.
#[test]
fn one_touch_signs_a_list_and_each_of_it_counts_by_itself() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::es256(1));
    let ids: Vec<_> =
        (0..20).map(|number| ask(&server, &json!({"question": format!("Ship {number}?")}))).collect();
    let acts: Value = ids.iter().map(|id| yes(id)).collect();
    let prepared = pat.prepare(&acts);
    let other = pat.prepare(&json!([yes(&ids[3])]));
    assert_eq!(pat.finish(&other).json()["acts"][0]["status"], "signed");
    let finished = pat.finish(&prepared).json();
    for (number, (id, act)) in ids.iter().zip(finished["acts"].as_array().unwrap()).enumerate() {
        let status = if number == 3 { "done" } else { "signed" };
        assert_eq!(act["status"], status, "{number}: {act}");
        assert_eq!(question(&server, id)["outcome"]["assurance"], "passkey");
    }
    let report = report(&server, &ids[0]);
    let most = &report["report"]["passkeys"][0]["most_at_once"];
    assert_eq!((&report["verdict"], most), (&json!("pass"), &json!(20)), "{report}");
    // The whole touch is over: nothing of it counts again.
    assert_eq!(pat.finish(&prepared).json()["code"], "TOUCH_UNKNOWN");
}

/// ONE-10
#[test]
fn later_passkeys_come_in_by_an_earlier_one_alone() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::es256(1));
    let second = Person {
        browser: Browser::sign_in(&server),
        passkey: Authenticator::ed25519(2).at(&origin(&server)),
    };
    let shown = second.enrol(None);
    assert_eq!(shown["acts"][0]["status"], "done");
    // It waits: what it was asked to have signed next is the first one's to sign.
    let next = &shown["next"];
    let own = second.finish(next);
    assert_eq!(own.json()["code"], "PASSKEY_MISSING", "{own:?}");
    let id = ask(&server, &json!({}));
    let refused = second.finish(&second.prepare(&json!([yes(&id)]))).json();
    assert_eq!(refused["code"], "PASSKEY_MISSING");
    let listed = pat.browser.call("GET", "/v1/passkeys").send().json();
    let waiting = &listed["waiting"][0];
    assert_eq!((&waiting["vouches"], &waiting["person"]), (&json!(true), &json!("pat")));
    assert_eq!(pat.touch(&json!([{"act": "add_passkey", "key": waiting["key"]}])), ["signed"]);
    assert_eq!(second.touch(&json!([yes(&id)])), ["signed"]);
    let listed = pat.browser.call("GET", "/v1/passkeys").send().json();
    let root = listed["passkeys"][0]["key"].clone();
    assert_eq!(listed["passkeys"][1]["voucher"], json!({"passkey": root}));
    assert_eq!(listed["waiting"], json!([]));
}

/// ONE-10
#[test]
fn removed_passkey_signs_nothing_more_and_the_last_one_stays() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::es256(1));
    let second =
        Person { browser: Browser::sign_in(&server), passkey: Authenticator::es256(2).at(&origin(&server)) };
    let next = second.enrol(None)["next"].clone();
    // The browser of the first passkey signs it, in the session that asked.
    let vouched = second.send(&next, &made(&pat.passkey, &next));
    assert_eq!(vouched.json()["acts"][0]["status"], "signed", "{vouched:?}");
    let id = ask(&server, &json!({}));
    let prepared = pat.prepare(&json!([yes(&id)]));
    let first = json!([{"act": "remove_passkey", "key": pat.passkey.fingerprint()}]);
    assert_eq!(second.touch(&first), ["signed"]);
    assert_eq!(pat.finish(&prepared).json()["code"], "KEY_REVOKED");
    assert_eq!(question(&server, &id)["state"], "open");
    let last = json!([{"act": "remove_passkey", "key": second.passkey.fingerprint()}]);
    let kept = second.prepare(&last);
    assert_eq!((&kept["acts"][0]["code"], &kept["touch"]), (&json!("LAST_OPERATOR_PASSKEY"), &Value::Null));
    assert_eq!(second.touch(&json!([yes(&id)])), ["signed"]);
    let report = report(&server, &id);
    assert_eq!(report["verdict"], "pass", "{report}");
}

/// ONE-10: a touch is of the session that it was shown in, for what it was prepared for.
#[test]
fn touch_is_worth_nothing_elsewhere() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::es256(1));
    let id = ask(&server, &json!({}));
    let prepared = pat.prepare(&json!([yes(&id)]));
    let elsewhere = Person { browser: Browser::sign_in(&server), passkey: pat.passkey.clone() };
    assert_eq!(elsewhere.finish(&prepared).json()["code"], "TOUCH_UNKNOWN");
    let stranger = Authenticator::es256(9).at(&origin(&server));
    assert_eq!(pat.send(&prepared, &made(&stranger, &prepared)).json()["code"], "PASSKEY_MISSING");
    let other = pat.prepare(&json!([{"act": "answer", "question": id, "answer": false}]));
    let swapped = pat.send(&prepared, &made(&pat.passkey, &other)).json();
    assert_eq!(swapped["code"], "PASSKEY_INVALID", "{swapped}");
    for (member, value) in
        [("authenticator", "AAAA"), ("client", "e30"), ("signature", "MAYCAQECAQE"), ("signature", "*")]
    {
        let mut spoiled = made(&pat.passkey, &prepared);
        spoiled[member] = json!(value);
        let refused = pat.send(&prepared, &spoiled);
        assert!(refused.status == 400 || refused.status == 409, "{member}: {refused:?}");
    }
    assert_eq!(question(&server, &id)["state"], "open");
    assert_eq!(pat.finish(&prepared).json()["acts"][0]["status"], "signed");
}

/// ONE-10: without its key a program that has the cookie prepares nothing.
#[test]
fn cookie_alone_and_tokens_prepare_nothing() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::es256(1));
    let id = ask(&server, &json!({}));
    let acts = json!({"acts": [yes(&id)]});
    let token = server.token("ada", &["ask"]);
    let refused = server.call("POST", "/v1/touches").token(&token).json(&acts).send();
    assert_eq!(refused.status, 403, "{refused:?}");
    let local = server.local("POST", "/v1/touches").json(&acts).send();
    assert_eq!(local.json()["code"], "FORBIDDEN", "{local:?}");
    let alone = server.call("POST", "/v1/touches").header("Host", host(&origin(&server)));
    let alone = alone.header("Origin", &origin(&server)).header("Cookie", &pat.browser.cookie);
    assert_eq!(alone.json(&acts).send().json()["code"], "FORM_FOREIGN");
}

/// ONE-10
#[test]
fn first_passkey_needs_the_code_of_the_terminal() {
    let server = Server::start();
    let pat = Person::here(&server, Authenticator::es256(1));
    let add = |code: Option<&str>| {
        let reply =
            pat.browser.call("POST", "/v1/passkeys").json(&new_passkey(&pat.passkey, "phone", code)).send();
        (reply.status, reply.json())
    };
    assert_eq!(add(None).1["code"], "SETUP_CODE_WRONG");
    let code = setup_code(&server);
    for _ in 0..5 {
        assert_eq!(add(Some("0000-0000")).1["code"], "SETUP_CODE_WRONG");
    }
    assert_eq!(add(Some(&code)).1["code"], "SETUP_CODE_WRONG", "five misses end it");
    let code = setup_code(&server);
    let typed = code.to_lowercase().replace('-', " ");
    let (status, prepared) = add(Some(&typed));
    assert_eq!(status, 201, "{prepared}");
    // A second one that began with the same code comes too late.
    let other = Person::here(&server, Authenticator::es256(2));
    let new = new_passkey(&other.passkey, "laptop", Some(&code));
    let second = other.browser.call("POST", "/v1/passkeys").json(&new).send().json();
    assert_eq!(pat.finish(&prepared).json()["acts"][0]["status"], "signed");
    let late = other.finish(&second);
    assert_ne!(late.status, 200, "{late:?}");
    let unverified = Authenticator::es256(3).unverified().at(&origin(&server));
    let new = new_passkey(&unverified, "stick", None);
    let refused = pat.browser.call("POST", "/v1/passkeys").json(&new).send().json();
    assert_eq!(refused["code"], "PASSKEY_UNFIT");
}

/// ONE-09, ONE-10
#[test]
fn confirmation_by_passkey_is_signed_alone() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::ed25519(1));
    let agent = server.token("ada", &["ask"]);
    let document = json!({"action": "Send 10", "operation": {"amount": 10}, "assurance": "passkey"});
    let asked = server.call("POST", "/v1/confirmations").token(&agent).json(&document).send();
    assert_eq!(asked.status, 201, "{asked:?}");
    let asked = asked.json();
    let give = json!({"act": "give", "confirmation": asked["id"], "digest": asked["digest"]});
    let id = ask(&server, &json!({}));
    let together = pat.browser.call("POST", "/v1/touches").json(&json!({"acts": [give, yes(&id)]})).send();
    assert_eq!(together.status, 400, "{together:?}");
    let other = json!({"act": "give", "confirmation": asked["id"], "digest": "0".repeat(64)});
    assert_eq!(pat.prepare(&json!([other]))["acts"][0]["status"], "waits");
    let mismatch = pat.finish(&pat.prepare(&json!([other]))).json();
    assert_eq!(mismatch["acts"][0]["code"], "CONFIRMATION_MISMATCH");
    assert_eq!(pat.touch(&json!([give])), ["signed"]);
    let path = format!("/v1/confirmations/{}", asked["id"].as_str().unwrap());
    let given = server.local("GET", &path).send().json();
    assert_eq!((&given["state"], &given["outcome"]["assurance"]), (&json!("given"), &json!("passkey")));
    assert_eq!(report(&server, asked["id"].as_str().unwrap())["verdict"], "pass");
}

/// ONE-10, ONE-11
#[test]
fn passkey_signs_a_browser_in_and_the_record_says_so() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::es256(1));
    let request = from_page(&server, "/sign-in/passkey", &json!({"name": "PAT"})).json();
    let path = format!("/sign-in/passkey/{}", request["name"].as_str().unwrap());
    let send = |passkey: &Authenticator, key: &str| {
        from_page(&server, &path, &json!({"made": asserted(passkey, &request), "key": key})).status
    };
    let (wrong, key) = (Authenticator::es256(2).at(&origin(&server)), sha256(KEY.as_bytes()).to_string());
    assert_eq!(
        send(&pat.passkey, ""),
        400,
        "without the key of a page the cookie alone would be worth a passkey"
    );
    assert_eq!((send(&wrong, &key), send(&pat.passkey, &key)), (409, 204));
    assert_eq!(send(&pat.passkey, &key), 404, "a touch signs in once");
    let browser = sign_in(&server, "PAT", &pat.passkey);
    let id = ask(&server, &json!({"assurance": "signed_in"}));
    let by_code =
        pat.browser.call("POST", &format!("/v1/questions/{id}/answer")).json(&json!({"answer": true}));
    assert_eq!(
        by_code.send().json()["code"],
        "ASSURANCE_TOO_LOW",
        "a code of the terminal is worth the same user"
    );
    let answered =
        browser.call("POST", &format!("/v1/questions/{id}/answer")).json(&json!({"answer": true})).send();
    assert_eq!(answered.status, 200, "{answered:?}");
    let found = question(&server, &id);
    assert_eq!(
        (&found["outcome"]["assurance"], &found["outcome"]["by"]),
        (&json!("signed_in"), &json!("pat"))
    );
    let trace = id.split_once('.').unwrap().0;
    let events = server.local("GET", &format!("/v1/traces/{trace}/events")).send().json();
    let answered = events["events"].as_array().unwrap().last().unwrap();
    let way = &answered["envelope"]["record"]["facts"]["attribution"];
    assert_eq!((&way["door"], &way["root"]), (&json!("page"), &json!("passkey")));
    assert!(way["person"].is_string() && way["session"].is_string(), "{way}");
}

/// ONE-10: names that somebody has and names that nobody has get answers of one shape, the same each time, and so do their touches.
#[test]
fn strangers_do_not_learn_who_has_a_passkey() {
    let server = Server::start();
    let early = from_page(&server, "/sign-in/passkey", &json!({"name": "pat"})).json();
    assert_eq!(early["code"], "PASSKEY_MISSING", "there is no passkey at all: {early}");
    let pat = Person::root(&server, Authenticator::es256(1));
    // Somebody without a passkey, and somebody with two.
    Browser::of_new(&server, "zoe", "answerer");
    let second = Person {
        browser: Browser::sign_in(&server),
        passkey: Authenticator::ed25519(2).at(&origin(&server)),
    };
    let next = second.enrol(None)["next"].clone();
    second.send(&next, &made(&pat.passkey, &next));
    let prepare = |name: &str| {
        let prepared = from_page(&server, "/sign-in/passkey", &json!({"name": name}));
        assert_eq!(prepared.status, 200, "{prepared:?}");
        prepared.json()
    };
    let key = sha256(KEY.as_bytes()).to_string();
    let signed_by = |name: &str, passkey: &Authenticator, wrong: Option<&str>| {
        let request = prepare(name);
        let path = format!("/sign-in/passkey/{}", request["name"].as_str().unwrap());
        let mut made = asserted(passkey, &request);
        if let Some(credential) = wrong {
            made["credential"] = json!(credential);
        }
        let refused = from_page(&server, &path, &json!({"made": made, "key": key}));
        (refused.status, refused.json())
    };
    let mut heard = Vec::new();
    for name in ["pat", "zoe", "nobody", "\u{202e}eve"] {
        let (one, again) = (prepare(name), prepare(name));
        let members: Vec<_> = one.as_object().unwrap().keys().cloned().collect();
        assert_eq!(members, ["challenge", "credentials", "name", "rp", "seconds"], "{name}");
        let credentials = one["credentials"].as_array().unwrap();
        assert_eq!((credentials.len(), &again["credentials"]), (8, &one["credentials"]), "{name}");
        assert_eq!((&one["rp"], &one["seconds"]), (&json!("demur.localhost"), &json!(600)));
        // What the first of them would have signed, and a passkey of nobody's.
        let first = credentials[0].as_str().unwrap();
        heard.push(signed_by(name, &Authenticator::es256(9).at(&origin(&server)), Some(first)));
        heard.push(signed_by(name, &Authenticator::es256(9).at(&origin(&server)), None));
    }
    let own = prepare("pat")["credentials"].clone();
    assert!(own.as_array().unwrap().contains(&asserted(&pat.passkey, &prepare("pat"))["credential"]));
    assert_ne!(own, prepare("nobody")["credentials"]);
    // A signature that does not hold sounds like a passkey that is not there.
    let elsewhere = pat.passkey.clone().at("http://demur.localhost:1");
    heard.push(signed_by("pat", &elsewhere, None));
    assert!(heard.iter().all(|(status, told)| (*status, told) == (409, &heard[0].1)), "{heard:#?}");
    assert_eq!(heard[0].1["code"], "PASSKEY_MISSING");
}

/// ONE-10: only a touch that failed is a try, and none of it keeps out whoever has the passkey.
#[test]
fn preparing_is_no_try_and_guessing_keeps_nobody_out() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::es256(1));
    let prepare = |name: &str| from_page(&server, "/sign-in/passkey", &json!({"name": name}));
    for _ in 0..25 {
        assert_eq!(prepare("pat").status, 200);
    }
    let request = prepare("pat").json();
    let path = format!("/sign-in/passkey/{}", request["name"].as_str().unwrap());
    let key = sha256(KEY.as_bytes()).to_string();
    let wrong = asserted(&Authenticator::es256(9).at(&origin(&server)), &request);
    let tries: Vec<_> =
        (0..24).map(|_| from_page(&server, &path, &json!({"made": wrong, "key": key})).status).collect();
    assert_eq!((tries[19], tries[23]), (409, 429), "{tries:?}");
    sign_in(&server, "pat", &pat.passkey);
    // Nothing is kept for strangers, and what they cost is bounded.
    let many: Vec<_> = (0..130).map(|number| prepare(&format!("name {number}")).status).collect();
    assert!(many.contains(&429), "{many:?}");
}

/// ONE-10: what is worked out before a touch leaves no mark, and nobody is said to have signed it.
#[test]
fn answer_that_settles_nothing_is_told_and_not_recorded() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::es256(1));
    let agent = server.token("agent", &["ask"]);
    let plan = plan(&json!({"standards_selected": ["jsp-440"], "deployment_target": "uswds"}));
    let submitted = server.call("POST", "/v1/plans").token(&agent).json(&json!({"plan": plan})).send();
    assert_eq!(submitted.status, 201, "{submitted:?}");
    let listed = server.local("GET", "/v1/questions?state=open").send().json();
    let id = listed["questions"][0]["id"].as_str().unwrap();
    let events = || server.local("GET", &format!("/v1/traces/{}", &id[..26])).send().json()["events"].clone();
    let before = events();
    let prepared = pat.prepare(&json!([{"act": "answer", "question": id, "answer": "the standard one"}]));
    let act = &prepared["acts"][0];
    assert_eq!(act["status"], "done", "{prepared}");
    assert!(act["detail"].as_str().unwrap().contains("expected one of jsp-440-only"), "{prepared}");
    assert_eq!((events(), &prepared["touch"]), (before, &Value::Null));
}

/// ONE-10: a passkey that was lost takes the sessions along that it opened.
#[test]
fn removed_passkey_ends_the_sessions_that_a_passkey_opened() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::es256(1));
    let by_passkey = sign_in(&server, "pat", &pat.passkey);
    let second =
        Person { browser: Browser::sign_in(&server), passkey: Authenticator::es256(2).at(&origin(&server)) };
    let next = second.enrol(None)["next"].clone();
    second.send(&next, &made(&pat.passkey, &next));
    assert_eq!(by_passkey.call("GET", "/settings").send().status, 200);
    let lost = json!([{"act": "remove_passkey", "key": pat.passkey.fingerprint()}]);
    assert_eq!(second.touch(&lost), ["signed"]);
    assert_eq!(by_passkey.call("GET", "/settings").send().status, 401);
}

/// ONE-10: what a session by a passkey says would be nobody's word without one.
#[test]
fn whoever_removes_the_own_last_passkey_is_signed_out_by_it() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::es256(1));
    let zoe = Person {
        browser: Browser::of_new(&server, "zoe", "answerer"),
        passkey: Authenticator::ed25519(2).at(&origin(&server)),
    };
    zoe.enrol(None);
    let key = zoe.passkey.fingerprint();
    assert_eq!(pat.touch(&json!([{"act": "add_passkey", "key": key}])), ["signed"]);
    let zoe = Person { browser: sign_in(&server, "zoe", &zoe.passkey), ..zoe };
    assert_eq!(zoe.touch(&json!([{"act": "remove_passkey", "key": key}])), ["signed"]);
    assert_eq!(zoe.browser.call("GET", "/settings").send().status, 401);
}

/// ONE-10: somebody who was added, with a passkey that an operator vouched for.
#[test]
fn added_person_gets_a_passkey_by_an_operator_and_signs_in() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::es256(1));
    let zoe = Person {
        browser: Browser::of_new(&server, "zoe", "answerer"),
        passkey: Authenticator::ed25519(2).at(&origin(&server)),
    };
    let waits = zoe.enrol(None);
    assert_eq!((&waits["acts"][0]["status"], &waits["next"]), (&json!("done"), &Value::Null));
    let listed = zoe.browser.call("GET", "/v1/passkeys").send().json();
    let (key, vouches) = (&listed["waiting"][0]["key"], &listed["waiting"][0]["vouches"]);
    assert_eq!(vouches, false, "nobody vouches for themselves");
    assert_eq!(pat.touch(&json!([{"act": "add_passkey", "key": key}])), ["signed"]);
    for _ in 0..2 {
        sign_in(&server, "zoe", &zoe.passkey);
    }
    let id = ask(&server, &json!({}));
    assert_eq!(zoe.touch(&json!([yes(&id)])), ["signed"]);
    assert_eq!(question(&server, &id)["outcome"]["by"], "zoe");
    // An answerer looks after nobody.
    let refused = zoe.prepare(&json!([{"act": "remove_person", "name": "pat"}]));
    assert_eq!(refused["acts"][0]["code"], "FORBIDDEN", "{refused}");
}

/// ONE-11
#[test]
fn people_stand_in_the_registry_and_operators_need_a_touch() {
    let server = Server::start();
    let add = |name: &str, role: &str| {
        server.local("POST", "/v1/people").json(&json!({"name": name, "role": role})).send()
    };
    assert_eq!(add("zoe", "operator").status, 201);
    let pat = Person::root(&server, Authenticator::es256(1));
    let refused = add("eve", "operator").json();
    assert_eq!(refused["code"], "PASSKEY_NEEDED", "{refused}");
    assert_eq!(add("ann", "answerer").status, 201, "who only answers needs no touch");
    assert_eq!(pat.touch(&json!([{"act": "add_person", "name": "max", "role": "operator"}])), ["signed"]);
    assert_eq!(pat.touch(&json!([{"act": "change_person", "name": "ann", "role": "auditor"}])), ["signed"]);
    let removed = server.local("DELETE", "/v1/people/max").send().json();
    assert_eq!(removed["code"], "PASSKEY_NEEDED");
    assert_eq!(pat.touch(&json!([{"act": "remove_person", "name": "max"}])), ["signed"]);
    let people = server.local("GET", "/v1/people").send().json();
    let names: Vec<_> =
        people["people"].as_array().unwrap().iter().map(|one| (&one["name"], &one["role"])).collect();
    assert_eq!(names, [(&json!("zoe"), &json!("operator")), (&json!("ann"), &json!("auditor"))]);
    // Somebody of the same name who is added later is somebody else.
    assert_eq!(pat.touch(&json!([{"act": "add_person", "name": "max", "role": "answerer"}])), ["signed"]);
    let ann = Browser::of_person(&server, "ann");
    let acts = json!({"acts": [{"act": "add_person", "name": "mia", "role": "answerer"}]});
    let refused = ann.call("POST", "/v1/touches").json(&acts).send().json();
    assert_eq!(refused["code"], "PASSKEY_MISSING", "{refused}");
}

/// ONE-10: the user of the machine is an operator, and where somebody else has the first passkey an operator's passkey says so.
#[test]
fn user_of_the_machine_comes_in_by_an_operator_who_had_the_first_passkey() {
    let server = Server::start();
    let zoe = Person {
        browser: Browser::of_new(&server, "zoe", "operator"),
        passkey: Authenticator::es256(1).at(&origin(&server)),
    };
    let first = zoe.enrol(Some(&setup_code(&server)));
    assert_eq!(first["acts"][0]["status"], "signed", "{first}");
    let pat = Person::here(&server, Authenticator::ed25519(2));
    let new = new_passkey(&pat.passkey, "laptop", None);
    let refused = pat.browser.call("POST", "/v1/passkeys").json(&new).send();
    assert_eq!(refused.json()["code"], "PASSKEY_NEEDED", "{refused:?}");
    let add = |role: &str| json!([{"act": "add_person", "name": "pat", "role": role}]);
    assert_eq!(zoe.prepare(&add("answerer"))["acts"][0]["code"], "MALFORMED", "the user is an operator");
    let by_desk = server.local("POST", "/v1/people").json(&json!({"name": "pat", "role": "operator"})).send();
    assert_eq!(by_desk.json()["code"], "NAME_TAKEN", "demur alone makes nobody an operator");
    assert_eq!(zoe.touch(&add("operator")), ["signed"]);
    assert_eq!(zoe.prepare(&add("operator"))["acts"][0]["code"], "NAME_TAKEN");
    assert_eq!(pat.enrol(None)["acts"][0]["status"], "done");
    let vouch = json!([{"act": "add_passkey", "key": pat.passkey.fingerprint()}]);
    assert_eq!(zoe.touch(&vouch), ["signed"]);
    let id = ask(&server, &json!({}));
    assert_eq!(pat.touch(&json!([yes(&id)])), ["signed"]);
    assert_eq!(question(&server, &id)["outcome"]["by"], "pat");
    assert_eq!(report(&server, &id)["verdict"], "pass");
}

/// ONE-10: a passkey of another address signs nothing here, so the last one of this address stays, and what waits says for which it is.
#[test]
fn last_passkey_of_this_address_stays_whatever_there_is_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let first = Authenticator::es256(1);
    drop(Person::root(&Server::start_at(folder.path()), first.clone()));
    let elsewhere = {
        let server = Server::start_elsewhere(folder.path());
        let moved = Person::here(&server, Authenticator::ed25519(2));
        let waits = moved.enrol(None);
        assert_eq!((&waits["acts"][0]["status"], &waits["next"]), (&json!("done"), &Value::Null));
        moved.passkey.clone()
    };
    let server = Server::start_at(folder.path());
    let pat = Person::here(&server, first);
    let listed = pat.browser.call("GET", "/v1/passkeys").send().json();
    let origin = listed["waiting"][0]["origin"].as_str().unwrap();
    assert!(origin.starts_with("http://demur.localhost:") && origin != crate::browser::origin(&server));
    assert!(pat.browser.page("/passkeys").contains(&format!("<dd>{origin}</dd>")));
    let vouch = json!([{"act": "add_passkey", "key": elsewhere.fingerprint()}]);
    assert_eq!(pat.touch(&vouch), ["signed"]);
    let last = json!([{"act": "remove_passkey", "key": pat.passkey.fingerprint()}]);
    let kept = pat.prepare(&last);
    assert_eq!(kept["acts"][0]["code"], "LAST_OPERATOR_PASSKEY", "{kept}");
    let other = json!([{"act": "remove_passkey", "key": elsewhere.fingerprint()}]);
    assert_eq!(pat.touch(&other), ["signed"], "the other one may go");
}

/// ONE-10: what waits for a touch is sealed, and what was signed is what the asker gets.
#[test]
fn secret_by_passkey_reaches_its_asker_and_waits_sealed() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::es256(1));
    let id = ask(&server, &json!({"kinds": ["secret"], "question": "Which key?"}));
    let secret = "hunter2-in-the-clear";
    let prepared = pat.prepare(&json!([{"act": "answer", "question": id, "answer": secret}]));
    for file in ["ledger.db", "ledger.db-wal", "secrets.db", "secrets.db-wal"] {
        let bytes = std::fs::read(server.folder().join(file)).unwrap_or_default();
        assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()), "{file}");
    }
    assert_eq!(pat.finish(&prepared).json()["acts"][0]["status"], "signed");
    let delivered = server.local("GET", &format!("/v1/questions/{id}/secret")).send().json();
    assert_eq!(delivered["value"], secret);
    let report = report(&server, &id);
    assert_eq!(report["verdict"], "pass", "{report:#}");
}

/// ONE-10: an answer that was signed is changed and taken back by the same person alone, signed again.
#[test]
fn signed_answer_is_changed_by_the_same_passkey_holder() {
    let server = Server::start();
    let pat = Person::root(&server, Authenticator::es256(1));
    let id = ask(&server, &json!({"assurance": "relayed"}));
    assert_eq!(pat.touch(&json!([yes(&id)])), ["signed"]);
    let typed =
        server.local("PUT", &format!("/v1/questions/{id}/answer")).json(&json!({"answer": false})).send();
    assert_eq!(typed.status, 409, "the terminal is less sure: {typed:?}");
    assert_eq!(pat.touch(&json!([{"act": "replace", "question": id, "answer": false}])), ["signed"]);
    assert_eq!(question(&server, &id)["outcome"]["value"], false);
    assert_eq!(pat.touch(&json!([{"act": "revoke", "question": id}])), ["signed"]);
    assert_eq!(question(&server, &id)["state"], "open");
    assert_eq!(pat.touch(&json!([{"act": "decline", "question": id, "reason": "not mine"}])), ["signed"]);
    let report = report(&server, &id);
    // Nobody answered in the end, and the file says so.
    assert_eq!(
        (&report["code"], &report["verdict"]),
        (&Value::Null, &json!("pass_with_warnings")),
        "{report:#}"
    );
}
