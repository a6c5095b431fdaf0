//! Answers that are replaced or taken back, as the desk keeps them.

use demur_api::question::{Answer, Ask, QuestionView, Replacement};
use demur_core::commitment::Commitment;
use demur_desk::{
    data::DataFolder,
    owner::Owner,
    question::{Once, answer, ask, ask_once, note_heard, replace, revoke, view},
    session::Speaker,
};
use demur_ledger::{
    content::AnswerValue,
    facts::{Attribution, Door, Root},
    role::Role,
};
use serde_json::json;

fn person() -> Speaker {
    Speaker::person("pat".try_into().unwrap(), Attribution::new(Door::Socket, Root::SameUser))
}

fn given(words: &str) -> Answer {
    let answer = AnswerValue::Text(words.try_into().unwrap());
    Answer { answer, note: None, request: None, by: None }
}

fn commitment(question: &QuestionView) -> Commitment {
    match question.outcome.as_ref().and_then(|ending| ending.value.clone()) {
        Some(AnswerValue::Sealed(sealed)) => sealed.commitment,
        other => panic!("expected a sealed answer, found {other:?}"),
    }
}

/// ONE-04: each value has a commitment of its own, and one that counts no longer is forgotten.
#[test]
fn secret_that_is_replaced_or_taken_back_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let (owner, _) = Owner::open_or_create(&DataFolder::at(folder.path().to_owned())).unwrap();
    let asker = owner.find_or_enrol("asker", Role::Agent).unwrap();
    let words: Ask =
        serde_json::from_value(json!({"question": "The password?", "kinds": ["secret"]})).unwrap();
    let id = ask(&owner, &asker, &words, None).unwrap().id;
    let shown = || view(&owner, id).unwrap();
    let is_kept = |commitment: &Commitment| owner.sequencer().store().secret(commitment).unwrap().is_some();
    let first = commitment(&answer(&owner, &shown(), &person(), &given("first")).unwrap().question);
    let second = Replacement::new(given("second"), None);
    let second = commitment(&replace(&owner, &shown(), &person(), &second).unwrap().question);
    assert_eq!((is_kept(&first), is_kept(&second)), (false, true));
    // Whoever comes second leaves nothing behind, and takes nothing away.
    let late = Replacement::new(given("third"), Some(1u32.into()));
    assert_eq!(replace(&owner, &shown(), &person(), &late).unwrap_err().code.as_str(), "NOT_THE_ANSWER");
    assert_eq!((is_kept(&first), is_kept(&second)), (false, true));
    revoke(&owner, &shown(), &person(), (None, None)).unwrap();
    assert!(!is_kept(&second));
}

/// A client that asks again in the same words hears what it has not heard.
#[test]
fn answer_in_the_place_of_one_that_was_heard_is_news() {
    let folder = tempfile::tempdir().unwrap();
    let (owner, _) = Owner::open_or_create(&DataFolder::at(folder.path().to_owned())).unwrap();
    let asker = owner.find_or_enrol("asker", Role::Agent).unwrap();
    let words: Ask = serde_json::from_value(json!({"question": "Which?"})).unwrap();
    let once = Once { session: "here", again: false, key: None };
    let ask_anew = || ask_once(&owner, &asker, &words, once).unwrap();
    let id = ask_anew().id;
    let shown = || view(&owner, id).unwrap();
    answer(&owner, &shown(), &person(), &given("this")).unwrap();
    note_heard(&owner, id).unwrap();
    replace(&owner, &shown(), &person(), &Replacement::new(given("that"), None)).unwrap();
    assert_eq!((ask_anew().id, ask_anew().repeated), (id, true), "the new answer was not heard");
    note_heard(&owner, id).unwrap();
    revoke(&owner, &shown(), &person(), (None, None)).unwrap();
    assert_eq!(ask_anew().id, id, "it is open again");
    answer(&owner, &shown(), &person(), &given("this")).unwrap();
    assert_eq!(ask_anew().id, id);
    note_heard(&owner, id).unwrap();
    assert_ne!(ask_anew().id, id, "everything was heard");
}
