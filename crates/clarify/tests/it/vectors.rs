//! The vectors under `conformance/clarify/`: those that came with the protocol's digest, and ours for the chain.

use demur_clarify::{
    answer::{self, Answer},
    ask::Ask,
    audit::AuditRecord,
    read,
};
use demur_core::canonical;
use serde_json::{Value, json};

use crate::{
    committed::{committed, conformance},
    world::{after, agent, caller, document, jurisdiction, keys, of, one_round, session, three_rounds},
};

fn vectors() -> Value {
    serde_json::from_str(&conformance("signature_vectors.json")).unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// CLR-23
#[test]
fn the_document_vector_holds() {
    let (vector, document) = (&vectors()["document"], document());
    assert_eq!(text(document.signing_input().unwrap()), vector["signing_input"]);
    assert_eq!(document.signature().to_string(), vector["signature"]);
}

/// CLR-03, CLR-23
#[test]
fn the_ask_and_answer_vectors_hold() {
    let vectors = vectors();
    let ask = Ask::sign(session(), of("1"), jurisdiction(), after(0), &agent()).unwrap();
    assert_eq!(text(ask.signing_input().unwrap()), vectors["ask"]["signing_input"]);
    assert_eq!(ask.ask_signature.to_string(), vectors["ask"]["signature"]);
    let said = of("jsp-440-only");
    let input = answer::signing_input(&ask, caller().agent_id(), (&said, after(83)), None).unwrap();
    assert_eq!(text(input), vectors["answer"]["signing_input"]);
    let answer = Answer::sign(&ask, said, after(83), &caller()).unwrap();
    assert_eq!(answer.answer_signature.to_string(), vectors["answer"]["signature"]);
    assert_eq!(agent().public_key().to_string(), vectors["agent_public_key"]);
    assert_eq!(caller().public_key().to_string(), vectors["answerer_public_key"]);
}

/// The chain vector of the digest differs from ours in `prev_hash` and `ask_round`, and in nothing else.
#[test]
fn the_old_chain_vector_lacks_only_previous_hash_and_ask() {
    let old = vectors()["chain"]["signing_input"].as_str().unwrap().to_owned();
    let mut ours: Value =
        serde_json::from_slice(&one_round().seal(false, &agent()).unwrap().signing_input().unwrap()).unwrap();
    assert_eq!(ours["chain"][0].as_object_mut().unwrap().remove("prev_hash"), Some(Value::Null));
    assert_eq!(ours["chain"][0].as_object_mut().unwrap().remove("ask_round"), Some(json!(1)));
    assert_eq!(text(canonical::to_vec(&ours).unwrap()), old);
    let error = read::from_slice::<AuditRecord>(
        old.replacen('{', &format!("{{\"chain_signature\":{},", vectors()["chain"]["chain_signature"]), 1)
            .as_bytes(),
    );
    assert!(error.unwrap_err().to_string().contains("missing field `ask_round`"));
}

/// CLR-50, CLR-51: the rule of `prev_hash`, committed.
#[test]
fn the_chain_vectors_are_committed() {
    let cases = [("one round", one_round()), ("three rounds", three_rounds())].map(|(name, chain)| {
        let record = chain.seal(false, &agent()).unwrap();
        record.verify(&keys(), &[]).unwrap();
        let hashes: Vec<_> = record.chain.iter().map(|round| round.hash().unwrap()).collect();
        json!({
            "name": name,
            "round_hashes": hashes,
            "signing_input": text(record.signing_input().unwrap()),
            "record": record,
            "record_hash": record.hash().unwrap(),
        })
    });
    let vectors = json!({
        "note": "prev_hash is sha256: and SHA-256 over the canonical form (RFC 8785) of the round before, null in round 1; \
                 chain_signature is by the agent over signing_input",
        "agent_id": agent().agent_id(),
        "agent_key_seed": "RFC 8032, 7.1, test 1",
        "agent_public_key": agent().public_key(),
        "answerer_key_seed": "RFC 8032, 7.1, test 2",
        "cases": cases,
    });
    committed("chain_vectors.json", &(serde_json::to_string_pretty(&vectors).unwrap() + "\n"));
}
