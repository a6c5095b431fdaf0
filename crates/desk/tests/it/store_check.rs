//! A check of the store ends where nobody waits for it any more.

use std::{cell::Cell, sync::Mutex};

use demur_api::{code::Code, store::StoreCheckPart};
use demur_desk::{keyring::FolderKeyring, owner::Owner, store_check::check};

use crate::desk::House;

#[tokio::test]
async fn check_that_nobody_waits_for_ends_before_it_has_looked_at_every_trace() {
    let house = House::open();
    for number in 0..20 {
        house.ask(&format!("Number {number}?")).await;
    }
    house.desk.close();
    let owner = Owner::open(house.desk.data()).unwrap();
    let keyring = FolderKeyring::shared(house.desk.data());
    let traces = |looks: usize| {
        let left = Cell::new(looks);
        let is_gone = || left.replace(left.get().saturating_sub(1)) == 0;
        let seen = Mutex::new(0);
        let mark = |_, _: &_| panic!("nothing is wrong");
        let tell = &mut |step: demur_api::store::StoreCheckProgress| {
            if step.part == Some(StoreCheckPart::Traces) {
                *seen.lock().unwrap() = step.done;
            }
        };
        let checked = check(owner.sequencer().shared_store(), &keyring, &mark, tell, &is_gone);
        let seen = *seen.lock().unwrap();
        (checked.map(|check| check.problems.len()).map_err(|refusal| refusal.code), seen)
    };
    assert_eq!(traces(0), (Err(Code::Stopping), 0));
    let (checked, seen) = traces(5);
    assert_eq!(checked, Err(Code::Stopping));
    let (whole, all) = traces(usize::MAX);
    assert_eq!(whole, Ok(0));
    assert!(seen < all, "{seen} of {all}");
}
