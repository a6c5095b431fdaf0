//! The chain of rounds: what follows, what breaks it, and what it is called.

use demur_clarify::{
    Error,
    answer::{Answer, AnsweredFor},
    audit::{AuditRecord, Known},
    chain::{Break, Chain},
    gap::{Gap, Severity},
    keys::KeyHistory,
    name::GapId,
    read,
    round::Answerer,
    seal::Signer,
};
use demur_core::{canonical, key::SecretKey};
use serde_json::{Value, json};

use crate::world::{
    after, agent, caller, jurisdiction, keys, layout, of, one_round, record, session, three_rounds,
};

/// Returns why a record does not hold.
#[track_caller]
fn breaks(value: &Value) -> Break {
    let record: AuditRecord = read::from_slice(value.to_string().as_bytes()).unwrap();
    match record.verify(&keys(), &[]) {
        Err(Error::Chain(found)) => found,
        other => panic!("expected a break, found {other:?}"),
    }
}

/// Returns a record with the agent's signature made anew: the agent itself is the forger.
fn sealed(mut value: Value) -> Value {
    value.as_object_mut().unwrap().remove("chain_signature");
    let seal = agent().sign(&canonical::to_vec(&value).unwrap()).unwrap();
    value["chain_signature"] = seal.to_string().into();
    value
}

/// Returns a record with every `prev_hash` made anew, and the agent's signature.
fn relinked(mut value: Value) -> Value {
    let mut previous = Value::Null;
    for round in value["chain"].as_array_mut().unwrap() {
        round["prev_hash"] = previous;
        let hash = demur_core::hash::sha256(&canonical::to_vec(round).unwrap());
        previous = format!("sha256:{hash}").into();
    }
    value["total_rounds"] = value["chain"].as_array().unwrap().len().into();
    sealed(value)
}

fn value() -> Value {
    serde_json::to_value(record()).unwrap()
}

/// CLR-03, CLR-50
#[test]
fn a_record_shows_who_proved_and_what_was_only_recorded() {
    let verified = record().verify(&keys(), &[]).unwrap();
    assert_eq!((verified.rounds(), verified.recorded()), (3, 1));
    assert_eq!(verified.answers()[1], Answerer::Recorder);
    assert!(
        matches!(&verified.answers()[2], Answerer::Party(party) if party.agent_id.as_str() == "caller-01")
    );
    assert_eq!(verified.head(), three_rounds().head());
}

/// CLR-50
#[test]
fn a_session_without_gaps_has_an_empty_record() {
    let record = Chain::new(session()).seal(false, &agent()).unwrap();
    assert!(record.all_resolved);
    assert_eq!(record.verify(&keys(), &[]).unwrap().head(), None);
}

/// CLR-32: a gap that nobody answered, or whose answer settled nothing, stays open.
#[test]
fn an_open_gap_keeps_the_record_open() {
    assert!(!one_round().seal(true, &agent()).unwrap().all_resolved);
    let mut chain = one_round();
    let ask = chain.ask(layout(), after(90), &agent()).unwrap();
    chain.record(&ask, of("the standard one"), after(91), false, &agent()).unwrap();
    assert_eq!(chain.unresolved().map(GapId::as_str).collect::<Vec<_>>(), ["gap-002"]);
    let record = chain.seal(false, &agent()).unwrap();
    assert!(!record.all_resolved);
    let mut value = serde_json::to_value(&record).unwrap();
    value["all_resolved"] = true.into();
    assert_eq!(breaks(&sealed(value)), Break::AllResolved { gap: of("gap-002") });
}

/// CLR-51: a stranger changes any one member of any round.
#[test]
fn any_change_of_a_round_is_found() {
    for round in 0..3 {
        for (member, other) in [
            ("round", json!(7)),
            ("ask_timestamp", json!("2026-05-10T14:00:00Z")),
            ("ask_signature", json!(format!("ed25519:{}", "0a".repeat(64)))),
            ("gap", json!(jurisdiction().with_context(of("other")))),
            ("answer_timestamp", json!("2026-05-10T16:00:00Z")),
            ("answer", json!("other")),
            ("answer_signature", json!(format!("ed25519:{}", "0a".repeat(64)))),
            ("resolved", json!(round == 1)),
            ("prev_hash", json!(format!("sha256:{}", "0a".repeat(32)))),
        ] {
            let mut changed = value();
            changed["chain"][round][member] = other;
            breaks(&changed);
        }
    }
}

/// CLR-51: the names of what breaks, with the agent's signature made anew where that helps the forger.
#[test]
fn what_breaks_is_named() {
    let mut changed = value();
    changed["chain"][0]["answer"] = "uswds-only".into();
    assert!(
        matches!(breaks(&changed), Break::AnswerSignature { round: 1, ref signer, .. } if signer == "caller-01")
    );

    let mut changed = value();
    changed["chain"][0]["gap"]["question"] = "Yes?".into();
    assert!(matches!(breaks(&changed), Break::AskSignature { round: 1, .. }));

    let mut changed = value();
    changed["chain"][1]["prev_hash"] = Value::Null;
    assert_eq!(breaks(&sealed(changed)), Break::PreviousHash { round: 2 });

    let mut changed = value();
    changed["chain"].as_array_mut().unwrap().swap(0, 1);
    assert_eq!(breaks(&sealed(changed)), Break::RoundNumber { expected: 1, found: 2 });

    let mut changed = value();
    changed["chain"].as_array_mut().unwrap().remove(1);
    assert_eq!(breaks(&relinked(changed)), Break::RoundNumber { expected: 2, found: 3 });

    let mut changed = value();
    changed["total_rounds"] = 2.into();
    assert_eq!(breaks(&sealed(changed)), Break::TotalRounds { expected: 3, found: 2 });

    let mut changed = value();
    changed["all_resolved"] = false.into();
    assert!(matches!(breaks(&changed), Break::ChainSignature { .. }));

    let mut changed = value();
    changed["chain"][2]["answer_timestamp"] = "2026-05-10T15:01:40Z".into();
    assert_eq!(breaks(&changed), Break::AnswerBeforeAsk { round: 3 });

    let mut changed = value();
    changed["chain"][0]["ask_timestamp"] = "2026-05-10T15:01:23Z".into();
    changed["chain"][1]["ask_timestamp"] = "2026-05-10T15:00:00Z".into();
    changed["chain"][1]["prev_hash"] = relinked(changed.clone())["chain"][1]["prev_hash"].clone();
    let record: AuditRecord = read::from_slice(changed.to_string().as_bytes()).unwrap();
    let mut chain = Chain::new(session());
    chain.push(record.chain[0].clone()).unwrap();
    // Gaps are put together and answered one by one: the order of asks says nothing.
    chain.push(record.chain[1].clone()).unwrap();
}

/// CLR-51: renumbering does not help a stranger, who cannot sign the record, nor the agent against a known round.
#[test]
fn a_dropped_round_cannot_be_hidden_by_renumbering() {
    let mut changed = value();
    changed["chain"].as_array_mut().unwrap().remove(1);
    changed["chain"][1]["round"] = 2.into();
    let by_the_agent = relinked(changed);
    let mut by_a_stranger = by_the_agent.clone();
    by_a_stranger["chain_signature"] = value()["chain_signature"].clone();
    assert!(matches!(breaks(&by_a_stranger), Break::ChainSignature { .. }));
    let record: AuditRecord = read::from_slice(by_the_agent.to_string().as_bytes()).unwrap();
    let known = Known { round: 3, hash: three_rounds().head().unwrap() };
    let error = record.verify(&keys(), &[known]).unwrap_err();
    assert_eq!(error, Break::Truncated { round: 3, found: 2 }.into());
}

/// CLR-03: which ask a round belongs to stands under the signature of the ask.
#[test]
fn a_round_belongs_to_the_ask_it_names() {
    let mut changed = value();
    changed["chain"][1]["ask_round"] = 7.into();
    assert!(matches!(breaks(&relinked(changed)), Break::AskSignature { round: 2, .. }));
}

/// CLR-33: for whom the agent signed stands under its signature, and only where it signed.
#[test]
fn a_round_says_for_whom_the_agent_signed() {
    let ask = Chain::new(session()).ask(layout(), after(0), &agent()).unwrap();
    let ada = AnsweredFor { assurance: of("signed_in"), name: of("Ada") };
    let mut chain = Chain::new(session());
    chain.record_for(&ask, (of("rtl"), after(1)), true, Some(ada.clone()), &agent()).unwrap();
    let record = chain.seal(false, &agent()).unwrap();
    record.verify(&keys(), &[]).unwrap();
    assert_eq!(record.chain[0].answered_for(), Some(&ada));
    for (member, other) in [("assurance", "passkey"), ("name", "Eve")] {
        let mut changed = serde_json::to_value(&record).unwrap();
        changed["chain"][0]["answered_for"][member] = other.into();
        assert!(matches!(breaks(&relinked(changed)), Break::AnswerSignature { round: 1, .. }), "{member}");
    }
    let mut both = value();
    both["chain"][0]["answered_for"] = json!(ada);
    assert!(read::from_slice::<AuditRecord>(both.to_string().as_bytes()).is_err());
}

/// CLR-50: a gap that nobody settled and that is no longer asked is named; without that nothing may be called resolved.
#[test]
fn a_withdrawn_gap_is_named_in_the_record() {
    let mut chain = one_round();
    let ask = chain.ask(layout(), after(90), &agent()).unwrap();
    chain.record(&ask, of("latest"), after(91), false, &agent()).unwrap();
    let open = chain.seal_with(&[layout()], &agent()).unwrap();
    assert!(!open.all_resolved && open.withdrawn_gaps.is_none());
    let gone = chain.seal_with(&[], &agent()).unwrap();
    gone.verify(&keys(), &[]).unwrap();
    assert!(gone.all_resolved);
    let mut changed = serde_json::to_value(&gone).unwrap();
    changed.as_object_mut().unwrap().remove("withdrawn_gaps");
    assert_eq!(breaks(&sealed(changed)), Break::AllResolved { gap: of("gap-002") });
}

/// CLR-24: a record is its rounds and its seal, and both can be kept apart.
#[test]
fn a_record_is_written_down_again_from_its_seal() {
    let (chain, record) = (three_rounds(), record());
    assert_eq!(chain.sealed(&record.to_seal()).unwrap(), record);
    let earlier = one_round().seal(false, &agent()).unwrap();
    assert_eq!(chain.sealed(&earlier.to_seal()).unwrap(), earlier);
    assert!(one_round().sealed(&record.to_seal()).is_err());
}

/// CLR-51: only a round that the reader knows of shows that the end is missing.
#[test]
fn a_cut_end_is_found_against_a_known_round() {
    let head = three_rounds().head().unwrap();
    let shorter = one_round().seal(false, &agent()).unwrap();
    shorter.verify(&keys(), &[]).unwrap();
    let error = shorter.verify(&keys(), &[Known { round: 3, hash: head }]).unwrap_err();
    assert_eq!(error, Break::Truncated { round: 3, found: 1 }.into());
    record().verify(&keys(), &[Known { round: 3, hash: head }]).unwrap();
    let error = record().verify(&keys(), &[Known { round: 0, hash: head }]).unwrap_err();
    assert_eq!(error, Break::Truncated { round: 0, found: 3 }.into());
}

/// CLR-51: the agent rewrites an answer that only it signed.
#[test]
fn a_rewritten_record_is_found_against_a_known_round() {
    let known: Vec<Known> = record()
        .chain
        .iter()
        .zip(1..)
        .map(|(round, number)| Known { round: number, hash: round.hash().unwrap() })
        .collect();
    let mut chain = one_round();
    let ask = chain.ask(layout(), after(90), &agent()).unwrap();
    chain.record(&ask, of("rtl"), after(100), true, &agent()).unwrap();
    let rewritten = chain.seal(false, &agent()).unwrap();
    rewritten.verify(&keys(), &known[..1]).unwrap();
    assert_eq!(rewritten.verify(&keys(), &known[..2]), Err(Break::Rewritten { round: 2 }.into()));
}

/// CLR-04: an answer that replaces another is a round of its own; the last one says whether the gap is settled.
#[test]
fn a_replaced_answer_is_another_round() {
    let mut chain = one_round();
    let ask = chain.ask(jurisdiction(), after(90), &agent()).unwrap();
    let answer = Answer::sign(&ask, of("uswds-only"), after(91), &caller()).unwrap();
    chain.accept(&ask, &answer, true).unwrap();
    assert_eq!(chain.unresolved().count(), 0);
    chain.record(&ask, of("either"), after(92), false, &agent()).unwrap();
    assert_eq!(chain.unresolved().count(), 1);
}

#[test]
fn refuses_a_gap_that_turns_into_another() {
    let mut chain = one_round();
    let ask = chain.ask(layout(), after(90), &agent()).unwrap();
    chain.record(&ask, of("latest"), after(91), false, &agent()).unwrap();
    let other_field = Gap::new(of("gap-002"), of("output.path"), Severity::Warn, of("Where?")).unwrap();
    let heavier = Gap::new(of("gap-002"), of("languages.0"), Severity::Block, of("Which?")).unwrap();
    for other in [other_field, heavier] {
        let ask = chain.ask(other, after(92), &agent()).unwrap();
        let error = chain.record(&ask, of("dist"), after(93), true, &agent()).unwrap_err();
        assert_eq!(error, Break::GapChanged { round: 3, gap: of("gap-002") }.into());
    }
}

/// An asker never answers its own question: not under its name, not with its key under another.
#[test]
fn refuses_an_answer_by_the_asker() {
    let mut chain = Chain::new(session());
    let ask = chain.ask(jurisdiction(), after(0), &agent()).unwrap();
    let same_name = Signer::new(agent().agent_id().clone(), SecretKey::from_seed(&[9; 32]));
    let same_key = Signer::new(of("somebody"), SecretKey::from_seed(&SEED));
    for signer in [agent(), same_name, same_key] {
        let answer = Answer::sign(&ask, of("jsp-440-only"), after(1), &signer).unwrap();
        assert_eq!(chain.accept(&ask, &answer, true), Err(Break::SelfAnswer { round: 1 }.into()));
        let mut forged = value();
        forged["chain"] = json!([forged["chain"][0]]);
        forged["chain"][0]["answer_timestamp"] = json!(answer.answer_timestamp);
        forged["chain"][0]["answer_signature"] = json!(answer.answer_signature);
        forged["chain"][0]["answered_by"] = json!(answer.answered_by);
        assert_eq!(breaks(&relinked(forged)), Break::SelfAnswer { round: 1 });
    }
}

/// CLR-03: an answer belongs to one ask.
#[test]
fn refuses_an_answer_to_another_ask() {
    let mut chain = Chain::new(session());
    let ask = chain.ask(jurisdiction(), after(0), &agent()).unwrap();
    let reworded = chain.ask(jurisdiction().with_context(of("other")), after(0), &agent()).unwrap();
    let elsewhere = Chain::new(of("0196bb7c-0000-7000-8000-000000000002"))
        .ask(jurisdiction(), after(0), &agent())
        .unwrap();
    let other_gap = chain.ask(layout(), after(0), &agent()).unwrap();
    for (other, field) in [(reworded, "ask_signature"), (elsewhere, "session_id"), (other_gap, "gap_id")] {
        let answer = Answer::sign(&other, of("jsp-440-only"), after(1), &caller()).unwrap();
        let error = chain.accept(&ask, &answer, true).unwrap_err();
        assert!(matches!(&error, Error::Field(error) if error.field == field), "{error}");
    }
    let mut answer = Answer::sign(&ask, of("jsp-440-only"), after(1), &caller()).unwrap();
    answer.round = of("2");
    assert!(matches!(chain.accept(&ask, &answer, true), Err(Error::Field(error)) if error.field == "round"));
    answer.round = of("1");
    answer.answer = of("uswds-only");
    assert!(matches!(
        chain.accept(&ask, &answer, true),
        Err(Error::Signature { field: "answer_signature", .. })
    ));
    assert!(chain.rounds().is_empty());
}

#[test]
fn refuses_more_than_1000_rounds() {
    let mut chain = Chain::new(session());
    for _ in 0..1000 {
        let ask = chain.ask(layout(), after(0), &agent()).unwrap();
        chain.record(&ask, of("latest"), after(0), false, &agent()).unwrap();
    }
    chain.seal(false, &agent()).unwrap().verify(&keys(), &[]).unwrap();
    let error = chain.ask(layout(), after(0), &agent()).unwrap_err();
    assert!(matches!(error, Error::Field(error) if error.field == "round"));
}

#[test]
fn refuses_a_round_of_another_session() {
    let ask = Chain::new(of("0196bb7c-0000-7000-8000-000000000002"))
        .ask(jurisdiction(), after(0), &agent())
        .unwrap();
    let error = Chain::new(session()).record(&ask, of("a"), after(1), true, &agent()).unwrap_err();
    assert!(matches!(error, Error::Field(error) if error.field == "session_id"));
}

/// A signature made for one kind of document means nothing in another.
#[test]
fn no_signing_input_can_be_taken_for_another() {
    let ask = Chain::new(session()).ask(jurisdiction(), after(0), &agent()).unwrap();
    let answer =
        demur_clarify::answer::signing_input(&ask, caller().agent_id(), (&of("a"), after(1)), None).unwrap();
    let inputs = [
        crate::world::document().signing_input().unwrap(),
        ask.signing_input().unwrap(),
        answer,
        record().signing_input().unwrap(),
        crate::attestation::attestation().signing_input().unwrap(),
        crate::handoff::handoff().signing_input().unwrap(),
        crate::identity::registration().signing_input().unwrap(),
    ];
    let members = inputs.map(|input| {
        let value: Value = serde_json::from_slice(&input).unwrap();
        (value["type"].clone(), value.as_object().unwrap().keys().cloned().collect::<Vec<_>>())
    });
    for (index, one) in members.iter().enumerate() {
        assert!(!members[index + 1..].contains(one), "{one:?} twice");
    }
}

/// CLR-72: each signature is checked with the key that was valid then.
#[test]
fn keys_of_other_times_do_not_count() {
    let rotated = crate::identity::rotated();
    let mut chain = Chain::new(session());
    let ask = chain.ask(jurisdiction(), after(10), &agent()).unwrap();
    chain.record(&ask, of("jsp-440-only"), after(20), true, &agent()).unwrap();
    let next_day = 25 * 60 * 60;
    let new = crate::identity::new_agent();
    let ask = chain.ask(layout(), after(next_day), &new).unwrap();
    chain.record(&ask, of("rtl"), after(next_day), true, &new).unwrap();
    chain.seal(false, &new).unwrap().verify(&rotated.keys(), &[]).unwrap();
    let by_the_old_key = chain.seal(false, &agent()).unwrap().verify(&rotated.keys(), &[]);
    assert!(matches!(by_the_old_key, Err(Error::Chain(Break::ChainSignature { .. }))));
    let only_new = KeyHistory::single(&new);
    let error = chain.seal(false, &new).unwrap().verify(&only_new, &[]).unwrap_err();
    assert!(matches!(error, Error::Chain(Break::AskSignature { round: 1, .. })));
}

/// The seed of the agent's key: RFC 8032, 7.1, test 1.
const SEED: [u8; 32] = [
    0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44,
    0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
];
