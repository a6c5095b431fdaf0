//! What most tests begin with: the seed's example, two signers, a chain of three rounds.

use std::str::FromStr;

use demur_clarify::{
    answer::{Answer, PartyKind},
    audit::AuditRecord,
    chain::Chain,
    document::Document,
    gap::{Gap, Severity},
    keys::KeyHistory,
    seal::Signer,
    time::Time,
    uuid::Uuid,
};
use demur_core::{key::SecretKey, limit::List};

/// Returns the value that a text spells.
pub(crate) fn of<T: FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

/// Returns a list of the values that these texts spell.
pub(crate) fn list<T, const MIN: usize, const MAX: usize>(texts: &[&str]) -> List<T, MIN, MAX>
where
    T: FromStr<Err: std::fmt::Debug>,
{
    List::try_from(texts.iter().map(|text| of(text)).collect::<Vec<T>>()).unwrap()
}

/// Returns the asking agent, with the key of RFC 8032, 7.1, test 1.
pub(crate) fn agent() -> Signer {
    signer("wwa-scaffold-v1.0.0", "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
}

/// Returns the answering party, with the key of RFC 8032, 7.1, test 2.
pub(crate) fn caller() -> Signer {
    signer("caller-01", "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
}

pub(crate) fn signer(name: &str, seed: &str) -> Signer {
    let mut bytes = [0; 32];
    for (byte, digits) in bytes.iter_mut().zip(seed.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
    }
    Signer::new(of(name), SecretKey::from_seed(&bytes))
}

pub(crate) fn keys() -> KeyHistory {
    KeyHistory::single(&agent())
}

pub(crate) fn session() -> Uuid {
    of("0196bb7c-0000-7000-8000-000000000001")
}

/// Returns the time this many seconds after the seed's example was asked.
pub(crate) fn after(seconds: u64) -> Time {
    of::<Time>("2026-05-10T15:00:00Z").plus_millis(seconds * 1000)
}

/// Returns the gap of the seed's example: JSP 440 with USWDS.
pub(crate) fn jurisdiction() -> Gap {
    let question =
        "JSP 440 (UK MOD) selected but deployment target is USWDS (USA). Which jurisdiction applies?";
    let context = "Compliance overlap: JSP 440 ↔ NATO STANAG. Possible UK/NATO deployment vs US system.";
    Gap::new(of("gap-001"), of("compliance.jurisdiction"), Severity::Block, of(question))
        .unwrap()
        .with_context(of(context))
        .with_suggestions(list(&["jsp-440-only", "uswds-only", "both-with-nato-stanag"]))
        .unwrap()
        .with_blocked_operations(list(&["planner", "developer", "build"]))
        .unwrap()
}

pub(crate) fn layout() -> Gap {
    Gap::new(
        of("gap-002"),
        of("languages.0"),
        Severity::Warn,
        of("ar-sa is written from right to left. Which layout?"),
    )
    .unwrap()
}

/// Returns the document of the seed's example.
pub(crate) fn document() -> Document {
    let gaps = List::try_from(vec![jurisdiction()]).unwrap();
    Document::sign(session(), after(0), gaps, demur_core::limit::Whole::of::<0>(), &agent()).unwrap()
}

/// Returns the chain of the seed's example: one round, answered by a party with a key.
pub(crate) fn one_round() -> Chain {
    let mut chain = Chain::new(session());
    let ask = chain.ask(jurisdiction(), after(0), &agent()).unwrap();
    let answer = Answer::sign(&ask, of("jsp-440-only"), after(83), &caller()).unwrap();
    chain.accept(&ask, &answer, true).unwrap();
    chain
}

/// Returns a chain with two more rounds: an answer that the agent recorded and that settled nothing, and the same gap
/// settled by a person with a key.
pub(crate) fn three_rounds() -> Chain {
    let mut chain = one_round();
    let ask = chain.ask(layout(), after(90), &agent()).unwrap();
    chain.record(&ask, of("the standard one"), after(100), false, &agent()).unwrap();
    let ask = chain.ask(layout(), after(101), &agent()).unwrap();
    let answer = Answer::sign(&ask, of("rtl"), after(130), &caller()).unwrap().of_kind(PartyKind::Human);
    chain.accept(&ask, &answer, true).unwrap();
    chain
}

pub(crate) fn record() -> AuditRecord {
    three_rounds().seal(false, &agent()).unwrap()
}

/// Returns how many cases to try: all of them where the full proof is asked for.
#[expect(clippy::disallowed_methods, reason = "tests read how much is asked of them")]
pub(crate) fn cases(full: usize, reduced: usize) -> usize {
    if std::env::var("DEMUR_PROOF").is_ok_and(|proof| proof == "full") { full } else { reduced }
}
