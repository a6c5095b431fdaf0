//! A token sees, answers and passes on what it is entitled to, and what it is not is to it as if it were not there (ONE-15).

use demur_api::server_limits::{ServerLimits, TokenQuotas};
use serde_json::{Value, json};

use crate::{
    browser::Browser,
    client::{Call, Reply},
    server::Server,
};

/// A question that nobody asked.
const NO_QUESTION: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV.0";

/// Everything that can be done about a question with a token that may answer.
fn acts(server: &Server, token: &str, id: &str) -> Vec<Reply> {
    let (at, by) = (format!("/v1/questions/{id}"), json!({"by": "kim"}));
    let call = |method: &str, path: &str| server.call(method, path).token(token);
    let post = |act: &str, document: &Value| call("POST", &format!("{at}/{act}")).json(document);
    let answer = json!({"answer": "this", "by": "kim"});
    let replaced = json!({"answer": "that", "by": "kim"});
    let delivered = json!({"questions": [id], "channel": "chat", "to": "kim"});
    let calls: Vec<Call> = vec![
        call("GET", &at),
        call("GET", &format!("{at}/history")),
        call("GET", &format!("{at}/wait?seconds=0")),
        post("answer", &answer),
        call("PUT", &format!("{at}/answer")).json(&replaced),
        call("DELETE", &format!("{at}/answer?by=kim")),
        post("accept", &by),
        post("decline", &by),
        post("pass", &json!({"by": "kim", "to": [], "people": true})),
        call("POST", "/v1/deliveries").json(&delivered),
    ];
    calls.iter().map(Call::send).collect()
}

fn listed(server: &Server, token: &str, query: &str) -> Vec<String> {
    let reply = server.call("GET", &format!("/v1/questions?{query}")).token(token).send();
    assert_eq!(reply.status, 200, "{reply:?}");
    let questions = reply.json()["questions"].as_array().unwrap().clone();
    questions.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

fn events(server: &Server, id: &str) -> usize {
    let reply = server.local("GET", &format!("/v1/traces/{}/events", &id[..26])).send();
    reply.json()["events"].as_array().unwrap().len()
}

fn code(reply: &Reply) -> (u16, String) {
    (reply.status, reply.code())
}

/// ONE-15: what a program says that somebody did reads as the program's word, an answer or not.
#[test]
fn what_a_relay_declines_or_passes_on_is_told_as_relayed() {
    let server = Server::start();
    let (asker, chat) = (server.token("asker", &["ask"]), server.token("chat", &["relay"]));
    let browser = Browser::sign_in(&server);
    let said = |id: &str| {
        let trace = browser.call("GET", &format!("/traces/{}", &id[..26])).send().text();
        assert!(trace.contains("(relayed by client"), "{trace}");
    };
    let post = |id: &str, act: &str, document: &Value| {
        let reply =
            server.call("POST", &format!("/v1/questions/{id}/{act}")).token(&chat).json(document).send();
        assert_eq!(reply.status, 200, "{reply:?}");
    };
    let assurances = |id: &str| {
        let history = server.local("GET", &format!("/v1/questions/{id}/history")).send().json();
        let events = history["events"].as_array().unwrap().clone();
        events.iter().map(|event| event["assurance"].clone()).collect::<Vec<_>>()
    };
    let declined = server.ask(&asker, &json!({"question": "Which?"}));
    post(&declined, "decline", &json!({"by": "kim", "reason": "no"}));
    said(&declined);
    let outcome = server.call("GET", &format!("/v1/questions/{declined}")).token(&asker).send().json();
    assert_eq!(
        (&outcome["outcome"]["by"], &outcome["outcome"]["assurance"]),
        (&json!("kim"), &json!("relayed")),
        "{outcome}"
    );
    assert_eq!(assurances(&declined), [Value::Null, json!("relayed")]);
    let passed = server.ask(&asker, &json!({"question": "And who?"}));
    let listed = listed(&server, &chat, "state=open");
    assert!(listed.contains(&passed), "{listed:?}");
    let key = server.token("finn", &["answer"]);
    assert!(!key.is_empty());
    post(&passed, "pass", &json!({"by": "kim", "to": ["finn"], "people": true}));
    said(&passed);
    assert_eq!(assurances(&passed), [Value::Null, json!("relayed")]);
    for id in [&declined, &passed] {
        let page = browser.call("GET", &format!("/questions/{id}")).send().text();
        assert!(page.contains("<bdi>kim</bdi> (relayed by a program)"), "{page}");
    }
    // What the user of this machine does is told as that.
    let own = server.ask(&asker, &json!({"question": "Yours?"}));
    let sent = server.local("POST", &format!("/v1/questions/{own}/decline")).json(&json!({})).send();
    assert_eq!(sent.json()["question"]["outcome"]["assurance"], "terminal", "{sent:?}");
    assert_eq!(assurances(&own), [Value::Null, json!("terminal")]);
}

/// ONE-15: a relay for anyone has its own questions; of others it hears what it hears of those that are not there.
#[test]
fn relay_without_people_knows_nothing_of_what_others_asked() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let chat = json!({"name": "chat", "scopes": ["relay"], "for_anyone": true});
    let chat = server.local("POST", "/v1/tokens").json(&chat).send().json();
    let chat = chat["secret"].as_str().unwrap();
    let id = server.ask(&asker, &json!({"question": "Which?"}));
    let (known, unknown) = (acts(&server, chat, &id), acts(&server, chat, NO_QUESTION));
    for (known, unknown) in known.iter().zip(&unknown) {
        assert_eq!(code(known), (404, "QUESTION_UNKNOWN".to_owned()), "{known:?}");
        let same = |reply: &Reply| reply.text().replace(&id, "ID").replace(NO_QUESTION, "ID");
        assert_eq!(same(known), same(unknown));
    }
    assert_eq!(listed(&server, chat, "limit=200"), Vec::<String>::new());
    assert_eq!(listed(&server, chat, &format!("trace={}", &id[..26])), Vec::<String>::new());
    assert_eq!(events(&server, &id), 1, "nothing is on record of it");
    // Another token of the name that asked is the same program: its question is its own.
    let same = json!({"name": "asker", "scopes": ["relay"], "for_anyone": true});
    let same = server.local("POST", "/v1/tokens").json(&same).send().json();
    let same = same["secret"].as_str().unwrap();
    assert_eq!(listed(&server, same, "limit=200"), [id.as_str()]);
    let kept = acts(&server, same, &id).swap_remove(3).json();
    assert!(kept["unsettled"].as_str().unwrap().contains("suggestion"), "{kept}");
}

/// ONE-15, ONE-11: a relay with people answers what people may answer, in their names only.
#[test]
fn relay_speaks_for_the_people_it_names_and_for_nobody_else() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let chat = server.token_for("chat", &["relay"], &["ada", "Ben"]);
    let id = server.ask(&asker, &json!({"question": "Which?"}));
    let agents = server.ask(&asker, &json!({"question": "Who is there?", "answering": "agents"}));
    assert_eq!(listed(&server, &chat, "limit=200"), [id.as_str()], "what only keys may answer is not there");
    assert_eq!(acts(&server, &chat, &agents)[0].code(), "QUESTION_UNKNOWN");
    let answer = |by: &str| {
        let document = json!({"answer": "this", "by": by});
        server.call("POST", &format!("/v1/questions/{id}/answer")).token(&chat).json(&document).send()
    };
    let before = events(&server, &id);
    for by in ["eve", "pat", "demur", "ada2"] {
        let refused = answer(by);
        assert_eq!(refused.code(), "ASSURANCE_OVERSTATED", "{refused:?}");
        assert_eq!(refused.json()["field"], "by");
    }
    assert_eq!(events(&server, &id), before, "nothing is recorded as anybody's act");
    let given = answer("BEN").json();
    let outcome = &given["question"]["outcome"];
    assert_eq!((&outcome["by"], &outcome["assurance"]), (&json!("Ben"), &json!("relayed")), "{given}");
    // A token that is made later for the same person is for the same one on record.
    let registered = |name: &str| {
        let token = server.token_for(name, &["relay"], &["ada"]);
        let id = token.split('_').nth(1).unwrap().to_owned();
        let tokens = server.local("GET", "/v1/tokens").send().json();
        tokens["tokens"].as_array().unwrap().iter().find(|one| one["id"] == id.as_str()).unwrap().clone()
    };
    assert_eq!(registered("mail")["people"], json!(["ada"]));
    let export = server.local("GET", &format!("/v1/traces/{}/export", &id[..26])).send().text();
    let made = |line: &&str| line.contains("\"token_made\"");
    let people: Vec<Value> = export
        .lines()
        .filter(made)
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|line| line["event"]["event"]["statement"]["facts"]["people"].clone())
        .collect();
    assert_eq!(people[1].as_array().unwrap().len(), 2, "{people:?}");
    assert!(people[1].as_array().unwrap().contains(&people[2][0]), "{people:?}");
    assert!(!export.lines().any(|line| line.contains("\"facts\"") && line.contains("\"people\":[\"ada\"")));
}

/// ONE-15
#[test]
fn relay_says_for_whom_it_is() {
    let server = Server::start();
    let made = |document: Value| server.local("POST", "/v1/tokens").json(&document).send();
    for (document, code) in [
        (json!({"name": "chat", "scopes": ["relay"]}), "PEOPLE_MISSING"),
        (json!({"name": "chat", "scopes": ["relay"], "people": ["ada"], "for_anyone": true}), "MALFORMED"),
        (json!({"name": "chat", "scopes": ["read"], "people": ["ada"]}), "SCOPE_INVALID"),
        (json!({"name": "chat", "scopes": ["read"], "for_anyone": true}), "SCOPE_INVALID"),
        (json!({"name": "chat", "scopes": ["relay"], "people": ["a\u{200b}da"]}), "NAME_INVALID"),
    ] {
        let refused = made(document);
        assert_eq!(refused.code(), code, "{refused:?}");
    }
    server.token("builder", &["ask"]);
    let taken = made(json!({"name": "chat", "scopes": ["relay"], "people": ["builder"]}));
    assert_eq!(code(&taken), (409, "NAME_TAKEN".to_owned()));
    server.token_for("chat", &["relay"], &["ada"]);
    let program = made(json!({"name": "ada", "scopes": ["ask"]}));
    assert_eq!(program.code(), "NAME_TAKEN", "no program has the name of somebody who is relayed");
}

/// ONE-15: keys for answering see what is put to them.
#[test]
fn answerer_sees_what_is_put_to_its_key() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let (ann, bea) = (server.token("ann", &["answer"]), server.token("bea", &["answer"]));
    let ask = |answering: &str| server.ask(&asker, &json!({"question": answering, "answering": answering}));
    let (people, agents, anybody) = (ask("people"), ask("agents"), ask("anybody"));
    for token in [&ann, &bea] {
        assert_eq!(listed(&server, token, "limit=200"), [agents.as_str(), &anybody]);
        assert_eq!(acts(&server, token, &people)[0].code(), "QUESTION_UNKNOWN");
    }
    let pass = json!({"to": ["ann"], "people": true});
    let passed = server.local("POST", &format!("/v1/questions/{people}/pass")).json(&pass).send();
    assert_eq!(passed.status, 200, "{passed:?}");
    assert_eq!(listed(&server, &ann, "limit=200"), [people.as_str(), &agents, &anybody]);
    assert_eq!(listed(&server, &bea, "limit=200"), [agents.as_str(), &anybody]);
    assert_eq!(server.call("GET", &format!("/v1/questions/{people}")).token(&ann).send().status, 200);
    // One page after the other, in both directions, brings each of them once.
    for newest in [false, true] {
        let (mut seen, mut after) = (Vec::new(), String::new());
        loop {
            let path = format!("/v1/questions?limit=1&newest={newest}{after}");
            let page = server.call("GET", &path).token(&ann).send().json();
            let ids = page["questions"].as_array().unwrap().iter();
            seen.extend(ids.map(|one| one["id"].as_str().unwrap().to_owned()));
            let Some(next) = page["next"].as_str() else { break };
            after = format!("&after={next}");
        }
        let mut expected = vec![people.clone(), agents.clone(), anybody.clone()];
        if newest {
            expected.reverse();
        }
        assert_eq!(seen, expected);
    }
}

/// ONE-15: whose keys there are is not for everybody.
#[test]
fn tokens_know_their_own_key_and_demurs() {
    let server = Server::start();
    let (ada, _) = (server.token("ada", &["ask"]), server.token("bea", &["answer"]));
    let chat = server.token("chat", &["relay"]);
    let reader = server.token("reader", &["read"]);
    let names = |token: &str| {
        let found = server.call("GET", "/v1/identities").token(token).send().json();
        let found = found["identities"].as_array().unwrap().clone();
        let mut names: Vec<_> = found.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&ada), ["ada", "desk"]);
    assert_eq!(names(&chat), ["desk"]);
    assert_eq!(names(&reader), ["ada", "bea", "desk"]);
    let all = server.call("GET", "/v1/identities").token(&reader).send().json();
    for key in all["identities"].as_array().unwrap() {
        let path = format!("/v1/identities/{}", key["fingerprint"].as_str().unwrap());
        let expected = if key["name"] == "bea" { 404 } else { 200 };
        let found = server.call("GET", &path).token(&ada).send();
        assert_eq!(found.status, expected, "{found:?}");
        let other = path.replace(&path[16..20], "0000");
        let unknown = server.call("GET", &other).token(&ada).send();
        assert!(expected == 200 || found.body == unknown.body, "{found:?} {unknown:?}");
    }
}

/// ONE-15: taken back, expired, of another folder, made up: the same, and nothing is recorded.
#[test]
fn token_that_is_no_good_does_nothing_in_anybodys_name() {
    let (server, other) = (Server::start(), Server::start());
    let asker = server.token("asker", &["ask"]);
    let id = server.ask(&asker, &json!({"question": "Which?"}));
    let revoked = server.token("chat", &["relay"]);
    let path = format!("/v1/tokens/{}", revoked.split('_').nth(1).unwrap());
    assert_eq!(server.local("DELETE", &path).send().status, 200);
    let foreign = other.token("chat", &["relay"]);
    let made_up = format!("dmr_{}_{}", &id[..26], "0".repeat(64));
    for token in [&revoked, &foreign, &made_up] {
        let document = json!({"answer": "this", "by": "kim"});
        let path = format!("/v1/questions/{id}/answer");
        let refused = server.call("POST", &path).token(token).json(&document).send();
        assert_eq!(code(&refused), (401, "UNAUTHENTICATED".to_owned()), "{refused:?}");
    }
    assert_eq!(events(&server, &id), 1);
}

/// ONE-15: whoever asks much does not bury what others ask, at the terminal as little as on the page.
#[test]
fn askers_take_turns_among_what_waits() {
    let quotas = TokenQuotas { open_questions: 1000, ..TokenQuotas::default() };
    let server = Server::start_within(ServerLimits { quotas, ..ServerLimits::default() });
    let (flooder, other) = (server.token("flooder", &["ask"]), server.token("other", &["ask"]));
    let ask = |token: &str, words: String| server.ask(token, &json!({"question": words}));
    let flood: Vec<_> = (0..300).map(|number| ask(&flooder, format!("Flood {number}?"))).collect();
    let own: Vec<_> = (0..2).map(|number| ask(&other, format!("Mine {number}?"))).collect();
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/questions?state=open&turns=true&limit=70{after}");
        let page = server.local("GET", &path).send().json();
        let ids = page["questions"].as_array().unwrap().iter();
        seen.extend(ids.map(|one| one["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    let expected = [&flood[..1], &own[..1], &flood[1..2], &own[1..], &flood[2..]].concat();
    assert_eq!(seen, expected);
    let page = Browser::sign_in(&server).call("GET", "/").send().text();
    let places = [&flood[0], &own[0], &flood[1], &own[1]]
        .map(|id| page.find(id.as_str()).expect("it is on the first page"));
    assert!(places.is_sorted(), "{places:?}");
    // Without asking for turns the list is as it was: the oldest first.
    assert_eq!(listed_locally(&server)[..2], flood[..2]);
}

/// ONE-11: what comes over the socket is a program's of this user; whose name that program says is worth nothing.
#[test]
fn nobody_is_named_over_the_socket_but_the_user_of_this_machine() {
    let server = Server::start();
    let asker = server.token("asker", &["ask"]);
    let added = server.local("POST", "/v1/people").json(&json!({"name": "zoe", "role": "answerer"})).send();
    assert_eq!(added.status, 201, "{added:?}");
    let relayed = |path: &str| server.local("POST", path).header("Demur-Relay", "desktop");
    let confirmation = json!({"action": "Send 10", "operation": {"amount": 10}});
    let confirmation =
        server.call("POST", "/v1/confirmations").token(&asker).json(&confirmation).send().json();
    let confirmation_path = format!("/v1/confirmations/{}/give", confirmation["id"].as_str().unwrap());
    let plan = json!({"plan": {"description": "a page"}});
    let plan = server.call("POST", "/v1/plans").token(&asker).json(&plan).send().json();
    let gap = format!("/v1/plans/{}/gaps/gap-001", plan["session_id"].as_str().unwrap());
    for by in ["Chief Risk Officer", "zoe", "pat user", "root"] {
        let id = server.ask(&asker, &json!({"question": format!("By {by}?")}));
        let answer = json!({"answer": "yes", "by": by});
        let act = json!({"by": by});
        let path = |act: &str| format!("/v1/questions/{id}/{act}");
        let calls = [
            server.local("POST", &path("answer")).json(&answer),
            server.local("POST", &path("decline")).json(&act),
            server.local("POST", &gap).json(&answer),
            server
                .local("POST", &confirmation_path)
                .json(&json!({"by": by, "digest": confirmation["digest"]})),
            relayed(&path("answer")).json(&answer),
        ];
        for call in calls {
            let refused = call.send();
            assert_eq!(code(&refused), (403, "FORBIDDEN".to_owned()), "{by}: {refused:?}");
            let problem = refused.json();
            assert_eq!(problem["field"], "by", "{problem}");
            assert!(problem["hint"].as_str().unwrap().contains("--for"), "{problem}");
        }
        assert_eq!(events(&server, &id), 1, "nothing is recorded");
    }
    for (by, name) in [(json!("pat"), "pat"), (Value::Null, "pat")] {
        let id = server.ask(&asker, &json!({"question": "Which?"}));
        let path = format!("/v1/questions/{id}/answer");
        let answered = server.local("POST", &path).json(&json!({"answer": "this", "by": by})).send();
        assert_eq!(answered.json()["question"]["outcome"]["by"], name, "{answered:?}");
    }
    for by in [json!("desktop user"), Value::Null] {
        let id = server.ask(&asker, &json!({"question": "Which?"}));
        let path = format!("/v1/questions/{id}/answer");
        let answered = relayed(&path).json(&json!({"answer": "this", "by": by})).send();
        let outcome = &answered.json()["question"]["outcome"];
        assert_eq!((&outcome["by"], &outcome["assurance"]), (&json!("desktop user"), &json!("relayed")));
    }
}

/// ONE-15: the registry travels in every export; what those are called who had nothing to do with the trace does not.
#[test]
fn export_names_those_who_took_part_and_nobody_else() {
    let server = Server::start();
    let (asker, reader) = (server.token("builder", &["ask"]), server.token("auditress", &["read"]));
    let chat = server.token_for("chatroom", &["relay"], &["kim"]);
    for name in ["merger-team", "layoffs"] {
        let token = server.token(name, &["ask"]);
        server.ask(&token, &json!({"question": "Ours?"}));
    }
    let added = server.local("POST", "/v1/people").json(&json!({"name": "zoe", "role": "answerer"})).send();
    assert_eq!(added.status, 201, "{added:?}");
    let id = server.ask(&asker, &json!({"question": "Which?"}));
    let path = format!("/v1/traces/{}/export", &id[..26]);
    let export = |token: &str| {
        let export = server.call("GET", &path).token(token).send();
        assert_eq!(export.status, 200, "{export:?}");
        let call = server.call("POST", "/v1/verify").token(&reader);
        let found = call.header("Content-Type", "application/jsonl").body(&export.body).send().json();
        (export.text(), found)
    };
    let everybody = ["builder", "chatroom", "merger-team", "layoffs", "zoe", "auditress"];
    let named = |text: &str| everybody.map(|name| text.contains(&format!("\"{name}\"")));
    let (text, found) = export(&asker);
    assert_eq!(named(&text), [true, false, false, false, false, false], "before anybody answered");
    assert!(text.contains("withheld"), "{found}");
    assert_eq!(found["code"], Value::Null, "{found}");
    assert!(found["verdict"].as_str().unwrap().starts_with("pass"), "{found}");
    let answer = json!({"answer": "this", "by": "kim"});
    let answered =
        server.call("POST", &format!("/v1/questions/{id}/answer")).token(&chat).json(&answer).send();
    assert_eq!(answered.status, 200, "{answered:?}");
    let (text, found) = export(&asker);
    assert_eq!(named(&text), [true, true, false, false, false, false], "with who passed the answer on");
    assert!(found["verdict"].as_str().unwrap().starts_with("pass"), "{found}");
    let (text, _) = export(&reader);
    assert_eq!(named(&text), [true; 6], "a reader reads everything");
    // A receipt names nobody.
    let receipt = server.call("GET", &format!("/v1/traces/{}/receipts/0", &id[..26])).token(&asker).send();
    assert_eq!((receipt.status, named(&receipt.text())), (200, [false; 6]), "{receipt:?}");
}

/// ONE-15: the rules ask in the name of whoever submits a plan.
#[test]
fn submitters_of_plans_take_turns_with_those_who_ask() {
    let server = Server::start();
    let (flooder, other) = (server.token("flooder", &["ask"]), server.token("other", &["ask"]));
    let submit = |token: &str| {
        let document = json!({"plan": {"description": "a page"}});
        let plan = server.call("POST", "/v1/plans").token(token).json(&document).send();
        assert_eq!(plan.status, 201, "{plan:?}");
        plan.json()["trace"].as_str().unwrap().to_owned()
    };
    let floods = [submit(&flooder), submit(&flooder), submit(&flooder)];
    let asked = server.ask(&other, &json!({"question": "Mine?"}));
    let own = submit(&other);
    let page = server.local("GET", "/v1/questions?state=open&turns=true&limit=200").send().json();
    let ids: Vec<_> =
        page["questions"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    let of_flooder = |id: &&str| floods.iter().any(|trace| id.starts_with(trace.as_str()));
    assert!(of_flooder(&ids[0]) && ids[1] == asked, "{ids:?}");
    assert!(of_flooder(&ids[2]) && ids[3].starts_with(&own), "{ids:?}");
}

fn listed_locally(server: &Server) -> Vec<String> {
    let page = server.local("GET", "/v1/questions?state=open&limit=2").send().json();
    let ids = page["questions"].as_array().unwrap().iter();
    ids.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

/// ONE-15: names that a reader mixes up are refused when they are made, whatever they are for.
#[test]
fn name_that_looks_like_another_is_refused_with_the_one_it_looks_like() {
    let server = Server::start();
    server.token("paul", &["ask"]);
    server.token("cope", &["ask"]);
    let added = server.local("POST", "/v1/people").json(&json!({"name": "zoe", "role": "answerer"})).send();
    assert_eq!(added.status, 201, "{added:?}");
    server.token_for("chat", &["relay"], &["ada"]);
    let token = |name: &str, scope: &str| {
        server.local("POST", "/v1/tokens").json(&json!({"name": name, "scopes": [scope]})).send()
    };
    let person = |name: &str| {
        server.local("POST", "/v1/people").json(&json!({"name": name, "role": "answerer"})).send()
    };
    let relayed = |name: &str| {
        let wanted = json!({"name": "other", "scopes": ["relay"], "people": [name]});
        server.local("POST", "/v1/tokens").json(&wanted).send()
    };
    let asks = |name: &str| {
        let path = format!("/v1/questions?as={}", name.replace(' ', "%20"));
        server.local("POST", &path).json(&json!({"question": "Which?"})).send()
    };
    for (reply, like) in [
        (token("pau1", "ask"), "paul"),
        (token("pauI", "read"), "paul"),
        (person("\u{440}\u{430}ul"), "letters"),
        (person("\u{217c}eo"), "letters"),
        (person("pau1"), "paul"),
        (relayed("pau1"), "paul"),
        (relayed("z\u{3bf}e"), "letters"),
        (token("\u{430}d\u{430}", "ask"), "letters"),
        (token("zoe.", "ask"), ""),
        (asks("pau1"), "paul"),
        (token("dernur", "ask"), "demur"),
        (token("p\u{ff41}t", "ask"), "letters"),
        (token("\u{441}\u{43e}\u{440}\u{435}", "ask"), "cope"),
    ] {
        let code = match like {
            "" => {
                assert_eq!(reply.status, 201, "{reply:?}");
                continue;
            }
            "letters" => "NAME_INVALID",
            _ => "NAME_CONFUSABLE",
        };
        assert_eq!(reply.code(), code, "{reply:?}");
        assert!(reply.json()["detail"].as_str().unwrap().contains(like), "{reply:?}");
    }
    assert_eq!(token("demur", "ask").code(), "NAME_TAKEN");
    assert_eq!(person("Demur").code(), "NAME_TAKEN");
    // A name that is there is no likeness of itself.
    server.token("paul", &["read"]);
    server.token("Paul", &["read"]);
}
