//! Keys that are kept elsewhere: their holders sign, and their statements travel.

use std::fs;

use demur_api::{
    key::{ListedKeys, NewKey, RegistryPlace},
    statement::SignedStatement,
};
use demur_core::{key::SecretKey, random::Seeded, time::Timestamp};
use demur_ledger::{
    author::{Author, Place},
    name::PrincipalId,
    role::Role,
    statement::Submission,
};
use serde_json::{Value, json};

use crate::{client::Reply, server::Server};

fn keys(server: &Server) -> ListedKeys {
    serde_json::from_value(server.local("GET", "/v1/keys").send().json()).unwrap()
}

/// A holder with a key that no server has.
struct Holder {
    secret: SecretKey,
    random: Seeded,
}

impl Holder {
    fn new(number: u8) -> Self {
        Self { secret: SecretKey::from_seed(&[number; 32]), random: Seeded::from_number(number.into()) }
    }

    fn author(&mut self, now: Timestamp) -> Author {
        Author::new(self.secret.clone(), PrincipalId::new(now, &mut self.random), Role::Critic)
    }

    fn registration(&mut self, server: &Server, name: &str) -> Submission {
        let place = place(server);
        self.author(place.now).register(&place, None, name, &mut self.random).unwrap()
    }
}

/// Has the server make a key; the holder is new unless one is named.
fn make(server: &Server, name: &str, holder: Option<PrincipalId>) -> Reply {
    let new = || PrincipalId::new(place(server).now, &mut Seeded::from_number(name.len() as u64));
    let made = json!({"name": name, "role": "critic", "principal": holder.unwrap_or_else(new)});
    server.local("POST", "/v1/keys").json(&json!({"made": made})).send()
}

fn place(server: &Server) -> Place {
    let RegistryPlace { store, trace, head, .. } = keys(server).registry;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = Timestamp::from_millis(now.as_millis().try_into().unwrap()).unwrap();
    Place { store, trace, seen: Some(head), now }
}

fn register(server: &Server, submission: Submission) -> Reply {
    let signed = NewKey::Signed(SignedStatement::try_from(submission).unwrap());
    server.local("POST", "/v1/keys").json(&serde_json::to_value(signed).unwrap()).send()
}

#[test]
fn key_that_is_kept_elsewhere_is_registered_by_its_own_word() {
    let server = Server::start();
    let mut holder = Holder::new(7);
    let submission = holder.registration(&server, "carol");
    let reply = register(&server, submission);
    assert_eq!((reply.status, &reply.json()["key_file"]), (201, &Value::Null));
    let keys = keys(&server).keys;
    let entry = keys.iter().find(|entry| entry.name == "carol").unwrap();
    assert_eq!((entry.public_key, entry.secret_here), (holder.secret.public(), Some(false)));
    let files = fs::read_dir(server.folder().join("keys")).unwrap();
    assert_eq!(files.count(), 1, "only the key of the desk is here");
}

#[test]
fn statement_that_is_no_registration_or_was_changed_registers_nothing() {
    let server = Server::start();
    let mut holder = Holder::new(8);
    let place = place(&server);
    let old = keys(&server).registry.desk.unwrap();
    let (author, new) = (holder.author(place.now), SecretKey::from_seed(&[9; 32]));
    let rotation = author.rotate(&place, old, &new, None, &mut holder.random).unwrap();
    let reply = register(&server, rotation);
    assert_eq!((reply.status, reply.code().as_str()), (400, "MALFORMED"));
    let mut changed = holder.registration(&server, "carol");
    changed.opening = holder.registration(&server, "mallory").opening;
    assert_ne!(register(&server, changed).status, 201);
    let mut forged = holder.registration(&server, "carol");
    forged.proof = Holder::new(10).registration(&server, "carol").proof;
    assert_ne!(register(&server, forged).status, 201);
    assert_eq!(keys(&server).keys.len(), 1, "the key of the desk");
}

#[test]
fn name_that_is_taken_is_refused_to_a_key_that_is_kept_elsewhere() {
    let server = Server::start();
    assert_eq!(register(&server, Holder::new(11).registration(&server, "carol")).status, 201);
    let reply = register(&server, Holder::new(12).registration(&server, "carol"));
    assert_eq!((reply.status, reply.code().as_str()), (409, "NAME_TAKEN"));
}

/// ONE-07: what a name hides, a reader of the record cannot see.
#[test]
fn name_that_hides_something_is_refused_to_everybody() {
    let server = Server::start();
    let post = |path, document: Value| server.local("POST", path).json(&document).send().code();
    for name in [" carol", "carol ", "ca\u{200b}rol", "ca\0rol", "ca\u{202e}rol", "\u{2800}", "?!"] {
        let person = json!({"name": name, "role": "answerer"});
        let codes = [
            make(&server, name, None).code(),
            register(&server, Holder::new(13).registration(&server, name)).code(),
            post("/v1/tokens", json!({"name": name, "scopes": ["ask"]})),
            post("/v1/tokens", json!({"name": name, "scopes": ["read"]})),
            post("/v1/people", person),
        ];
        assert_eq!(codes, ["NAME_INVALID"; 5], "{name:?}");
        let run = json!({"task": "t", "objective": "o", "agent": name});
        assert_eq!(post("/v1/runs", run), "NAME_INVALID", "{name:?}");
    }
    let asked = server.local("POST", "/v1/questions?as=carol%20").json(&json!({"question": "Who?"})).send();
    assert_eq!(asked.code(), "NAME_INVALID");
    assert_eq!(keys(&server).keys.len(), 1, "the key of the desk");
}

/// ONE-07: under the name of the user of this machine nobody else asks or answers.
#[test]
fn name_of_the_user_is_given_to_no_key() {
    let server = Server::start();
    for name in ["pat", "PAT", "p\u{200d}at"] {
        let token = json!({"name": name, "scopes": ["ask"]});
        let codes = [
            make(&server, name, None).code(),
            register(&server, Holder::new(14).registration(&server, name)).code(),
            server.local("POST", "/v1/tokens").json(&token).send().code(),
        ];
        assert_eq!(codes, ["NAME_TAKEN"; 3], "{name:?}");
    }
    let ask = |path| server.local("POST", path).json(&json!({"question": "Who asks?"}));
    assert_eq!(ask("/v1/questions?as=Pat").send().code(), "NAME_TAKEN");
    // A client cannot choose: it gets another name.
    let asked = ask("/v1/questions").header("demur-relay", "pat").send();
    assert_eq!(asked.json()["asker"]["name"], "mcp-pat");
}

#[test]
fn holder_who_has_a_key_gets_another_by_rotation_alone() {
    let server = Server::start();
    let mut holder = Holder::new(15);
    let first = holder.registration(&server, "carol");
    assert_eq!(register(&server, first).status, 201);
    let place = place(&server);
    for entry in keys(&server).keys {
        let reply = make(&server, "mallory", Some(entry.principal));
        assert_eq!((reply.status, reply.code().as_str()), (409, "HOLDER_KNOWN"), "{}", entry.name);
        let author = Author::new(SecretKey::from_seed(&[16; 32]), entry.principal, Role::Critic);
        let second = author.register(&place, None, "mallory", &mut holder.random).unwrap();
        assert_eq!(register(&server, second).code(), "HOLDER_KNOWN", "{}", entry.name);
    }
    assert_eq!(keys(&server).keys.len(), 2, "the desk's and carol's");
    assert_eq!(fs::read_dir(server.folder().join("keys")).unwrap().count(), 1, "the key of the desk");
}
