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
use serde_json::Value;

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
