//! Records that a newer version of demur wrote, among those of this one.

use demur_api::{code::Code, person::PersonRole, scope::Scope};
use demur_core::{hash::sha256, id::Ulid};
use demur_ledger::{
    facts::Root,
    name::{PersonId, TokenId},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::{
    access::{Browser, LinkOrigin},
    data::DataFolder,
    name,
    passkey::Administrator,
    person::{self, NewSession},
    token::{Tokens, Wanted},
};

fn owner() -> (Owner, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let (owner, _) = Owner::open_or_create(&DataFolder::at(folder.path().to_owned())).unwrap();
    (owner, folder)
}

/// Changes the record of a key as a newer version would have written it.
fn renew(owner: &Owner, key: RecordKey, change: impl FnOnce(&mut Value)) {
    let (was, mut document): (_, Value) = find(owner.sequencer().store(), &key).unwrap().unwrap();
    change(&mut document);
    assert!(swap(owner, vec![Swap { key, was, next: Some(value(&document, None).unwrap()) }]).unwrap());
}

fn session(tokens: &Tokens, owner: &Owner, name: &str) -> String {
    let mut system = owner.system();
    let (id, person) = (TokenId::new(system.now().unwrap(), &mut system), PersonId::from(Ulid::from_u128(1)));
    let rests_on = LinkOrigin { client: None, root: Root::SameUser, by: None };
    let new = NewSession { id, name: name.try_into().unwrap(), role: PersonRole::Answerer, person, rests_on };
    tokens.begin(owner, new, (sha256(b"opened"), Browser::default()), Vec::new()).unwrap().unwrap();
    id.to_string()
}

#[test]
fn newer_token_is_refused_and_the_others_are_listed_and_revoked() {
    let (owner, _folder) = owner();
    let tokens = Tokens::new(9);
    let make = |name: &str| {
        let scopes = vec![Scope::Read];
        let wanted = Wanted { name: name.try_into().unwrap(), scopes, people: None, seconds: None };
        tokens.create(&owner, wanted).unwrap().0.id
    };
    let (newer, known) = (make("newer"), make("known"));
    let key = RecordKey::new(format!("token/{newer}")).unwrap();
    renew(&owner, key, |kept| kept["token"]["scopes"] = json!(["dream"]));
    let listed: Vec<_> = tokens.list(&owner).unwrap().into_iter().map(|token| token.id).collect();
    assert_eq!(listed, [known.as_str()]);
    let refused = tokens.revoke(&owner, &newer).unwrap_err();
    assert_eq!(refused.code, Code::StoreNewer, "{refused:?}");
    assert!(
        refused.message.contains("use a newer version of demur") && refused.cure.is_some(),
        "{refused:?}"
    );
    tokens.revoke(&owner, &known).unwrap();
}

#[test]
fn newer_name_is_refused_and_other_people_are_added_and_listed() {
    let (owner, _folder) = owner();
    let add = |name: &str| {
        let new = (&name.try_into().unwrap(), PersonRole::Answerer);
        person::add(&owner, new, 9, &Administrator::Desk)
    };
    add("ada").unwrap();
    let kept = all(owner.sequencer().store(), name::PREFIX).unwrap();
    let is_person = |kept: &&KeptRecord| read::<Value>(kept).unwrap().get("person").is_some();
    let key = kept.iter().find(is_person).unwrap().key.clone();
    renew(&owner, key, |holder| holder["person"]["role"] = json!("dreamer"));
    add("bo").unwrap();
    let listed: Vec<_> = person::list(&owner).unwrap().into_iter().map(|person| person.name).collect();
    assert_eq!(listed, ["bo".try_into().unwrap()]);
    assert_eq!(add("ada").unwrap_err().code, Code::StoreNewer);
    assert_eq!(person::find(&owner, "ada").unwrap_err().code, Code::StoreNewer);
}

#[test]
fn session_that_a_newer_version_made_ends_with_its_person() {
    let (owner, _folder) = owner();
    let tokens = Tokens::new(9);
    let [adas, _bos] = ["ada", "bo"].map(|name| session(&tokens, &owner, name));
    let key = RecordKey::new(format!("token/{adas}")).unwrap();
    renew(&owner, key, |kept| kept["token"]["mood"] = json!("good"));
    assert_eq!(
        tokens.end_sessions(&owner, "ada", Vec::new(), |swaps| swap(&owner, swaps.to_vec())).unwrap(),
        Some(1)
    );
    assert_eq!(all(owner.sequencer().store(), "token/").unwrap().len(), 1);
}

#[test]
fn record_that_is_no_json_is_told_as_damage() {
    let (owner, _folder) = owner();
    let key = RecordKey::new("token/torn").unwrap();
    let torn = RecordValue { bytes: b"{\"token\":".to_vec(), expires: None };
    assert!(swap(&owner, vec![creation(key.clone(), torn)]).unwrap());
    let refused = find::<Value>(owner.sequencer().store(), &key).unwrap_err();
    assert_eq!(refused.code, Code::StoreDamaged, "{refused:?}");
}
