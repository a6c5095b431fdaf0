//! Keys that come in at two desks: a name has one holder who may speak, and a holder one first key.

use std::collections::BTreeSet;

use demur_api::{
    code::Code,
    key::{MakeKey, NewKey, RevokeKey, RotateKey},
    refusal::Refusal,
};
use demur_core::key::{Fingerprint, SecretKey};
use demur_desk::{
    data::DataFolder,
    key,
    keyring::{self, FolderKeyring, KeyFile},
    owner::Owner,
};
use demur_ledger::{
    author::{Author, Place},
    facts::RevocationReason,
    name::PrincipalId,
    role::Role,
};
use tempfile::TempDir;

use super::at_once::{at_once, two_owners};

fn new_principal(owner: &Owner) -> PrincipalId {
    PrincipalId::new(owner.system().now().unwrap(), &mut { owner.system() })
}

fn make(
    owner: &Owner,
    name: &str,
    principal: PrincipalId,
    recovery: Option<&SecretKey>,
) -> Result<Fingerprint, Refusal> {
    let recovery = recovery.map(SecretKey::public);
    let wanted = MakeKey { name: name.try_into().unwrap(), role: Role::Agent, principal, recovery };
    key::register(owner, &NewKey::Made(wanted)).map(|made| made.public_key.fingerprint())
}

/// Returns how many holders of a name may speak.
fn speaking(owner: &Owner, name: &str) -> usize {
    owner.sequencer().newest_registry().unwrap();
    let entries = owner.entries().unwrap();
    let speaks = entries.iter().filter(|entry| entry.name == name && entry.status.speaks());
    speaks.map(|entry| entry.principal).collect::<BTreeSet<_>>().len()
}

/// Has the recovery key of a key that may no longer speak name a successor.
fn recover(
    owner: &Owner,
    old: Fingerprint,
    principal: PrincipalId,
    recovery: &SecretKey,
    folder: &TempDir,
) -> Result<(), Refusal> {
    let new = owner.generate();
    let file = KeyFile { name: "robot".to_owned(), principal, role: Role::Agent, secret: new.clone() };
    let keyring = FolderKeyring::of(&DataFolder::at(folder.path().to_owned()));
    keyring::create(&file, &keyring.path(&new.public().fingerprint())).unwrap();
    let registry = owner.sequencer().registry();
    let now = owner.system().now().unwrap();
    let place = Place { store: registry.store(), trace: registry.trace(), seen: Some(registry.head()), now };
    let author = Author::new(recovery.clone(), principal, Role::Agent);
    let said = author.rotate(&place, old, &new, Some(recovery.public()), &mut { owner.system() }).unwrap();
    let statement = Some(said.try_into().unwrap());
    key::rotate(owner, old, &RotateKey { statement, retire_now: false, recovery: None }).map(drop)
}

/// ONE-07
#[test]
fn name_has_one_holder_who_may_speak_however_keys_come_in() {
    for round in 0..16 {
        let (owners, folder) = two_owners();
        let (first, second, recovery) =
            (new_principal(&owners[0]), new_principal(&owners[0]), owners[0].generate());
        let old = make(&owners[0], "robot", first, Some(&recovery)).unwrap();
        let given = RevokeKey { reason: RevocationReason::Compromised, note: None };
        key::revoke(&owners[0], old, given).unwrap();
        let act = |at: usize, owner: &Owner| {
            if at == 0 {
                make(owner, "robot", second, None).map(drop)
            } else {
                recover(owner, old, first, &recovery, &folder)
            }
        };
        // At once, and one after the other where the second has not heard of the first.
        let done =
            if round % 2 == 0 { at_once(&owners, act) } else { [act(0, &owners[0]), act(1, &owners[1])] };
        let refused: Vec<_> = done.into_iter().filter_map(Result::err).map(|refusal| refusal.code).collect();
        assert_eq!(refused, [Code::NameTaken]);
        assert_eq!(speaking(&owners[0], "robot"), 1);
    }
}

#[test]
fn holder_gets_one_first_key() {
    let (owners, _folder) = two_owners();
    for round in 0..16 {
        let principal = new_principal(&owners[0]);
        let made = at_once(&owners, |at, owner| make(owner, &format!("robot {round} {at}"), principal, None));
        let refused: Vec<_> = made.into_iter().filter_map(Result::err).map(|refusal| refusal.code).collect();
        assert_eq!(refused, [Code::HolderKnown]);
    }
}
