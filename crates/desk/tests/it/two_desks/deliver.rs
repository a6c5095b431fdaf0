//! What two desks put before one person is on record once.

use demur_api::question::Ask;
use demur_desk::{question, session::Speaker};
use demur_ledger::{
    facts::{Attribution, Door, Root},
    role::Role,
};
use serde_json::json;

use super::at_once::{at_once, two_owners};

#[test]
fn question_is_put_before_somebody_once_on_record() {
    let (owners, _folder) = two_owners();
    let asker = owners[0].find_or_enrol("asker", Role::Agent).unwrap();
    let ask: Ask = serde_json::from_value(json!({"question": "Which?"})).unwrap();
    let ada = Speaker::person("ada".try_into().unwrap(), Attribution::new(Door::Page, Root::Link));
    let channel = "web".try_into().unwrap();
    for _ in 0..32 {
        let id = question::ask(&owners[0], &asker, &ask, None).unwrap().id;
        let recorded =
            at_once(&owners, |_, owner| question::deliver(owner, id, &ada, (&channel, None)).unwrap());
        assert_eq!(recorded.into_iter().filter(|recorded| *recorded).count(), 1);
        assert!(!question::deliver(&owners[0], id, &ada, (&channel, None)).unwrap(), "it is on record");
    }
}
