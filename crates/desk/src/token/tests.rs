//! How long a token is believed that others may have taken back.

use demur_store::memory::MemoryStore;

use super::*;
use crate::data::DataFolder;

fn made(owner: &Owner, tokens: &Tokens) -> (String, String) {
    let wanted =
        Wanted { name: "reader".try_into().unwrap(), scopes: vec![Scope::Read], seconds: None, people: None };
    let (token, secret) = tokens.create(owner, wanted).unwrap();
    (token.id, secret)
}

#[test]
fn token_of_a_shared_store_is_good_for_one_second_after_it_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(MemoryStore::shared(Timestamp::from_millis(1_794_700_800_000).unwrap()));
    let (owner, _) = Owner::over(&DataFolder::at(folder.path().to_owned()), &(store as _)).unwrap();
    let tokens = Tokens::new(9);
    let (id, secret) = made(&owner, &tokens);
    tokens.load(&owner).unwrap();
    let read = tokens.known().read_at.unwrap();
    let good = |millis| {
        let now = read.plus_millis(millis);
        (tokens.is_loaded(now), tokens.find(&secret, now).is_some(), tokens.is_good(&id, now))
    };
    assert_eq!(good(0), (true, true, true));
    assert_eq!(good(999), (true, true, true));
    assert_eq!(good(1000), (false, false, false), "who comes now has them read again");
    let just_before = Timestamp::from_millis(read.as_millis() - 1).unwrap();
    assert!(tokens.find(&secret, just_before).is_some(), "whoever looked at the clock before they were read");
}

#[test]
fn token_of_a_store_that_nobody_shares_is_good_until_it_is_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let (owner, _) = Owner::open_or_create(&DataFolder::at(folder.path().to_owned())).unwrap();
    let tokens = Tokens::new(9);
    let (id, secret) = made(&owner, &tokens);
    tokens.load(&owner).unwrap();
    let later = owner.system().now().unwrap().plus_millis(3_600_000);
    assert!(tokens.is_loaded(later) && tokens.find(&secret, later).is_some() && tokens.is_good(&id, later));
    tokens.revoke(&owner, &id).unwrap();
    assert!(tokens.find(&secret, later).is_none() && !tokens.is_good(&id, later));
}
