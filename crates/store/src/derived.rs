//! What a store derives from events, the same in every store: commands, key changes, the kind of a trace; and
//! the shape that every append must have.

use std::iter;

use demur_core::{
    hash::{Purpose, digest},
    key::Fingerprint,
};
use demur_ledger::{
    entry::Entry,
    envelope::Event,
    erasure::Erasures,
    event_type::{Facts, TraceKind, TypeName},
    facts::Participant,
    name::{CommandId, Position, Sequence},
};

use crate::contract::{Append, Post, RecordValue, StoreError, Write};

/// Returns the author's key and command of an event that carries a statement.
pub(crate) fn command(event: &Event) -> Option<(Fingerprint, CommandId)> {
    let envelope = event.envelope();
    Some((envelope.proof.key()?, envelope.statement.as_ref()?.command))
}

/// Returns the keys whose standing a registry event changes.
pub(crate) fn changed_keys(event: &Event) -> Vec<Fingerprint> {
    event.said().map_or_else(|_| Vec::new(), |said| keys_of(said.facts))
}

fn keys_of(facts: &Facts) -> Vec<Fingerprint> {
    match facts {
        Facts::StoreCreated(facts) => vec![facts.key.fingerprint()],
        Facts::KeyRegistered(facts) => vec![facts.key.fingerprint()],
        Facts::KeyRotated(facts) => vec![facts.key.fingerprint(), facts.old],
        Facts::KeyRetired(facts) => vec![facts.key],
        Facts::KeyRevoked(facts) => vec![facts.key],
        Facts::PersonChanged(_)
        | Facts::PersonRemoved(_)
        | Facts::PasskeyRemoved(_)
        | Facts::PasskeyReset(_) => vec![of_people()],
        Facts::CheckpointRecorded(_)
        | Facts::StoreRestored(_)
        | Facts::ClientBound(_)
        | Facts::TokenMade(_)
        | Facts::TokenRevoked(_)
        | Facts::PersonAdded(_)
        | Facts::PasskeyRooted(_)
        | Facts::PasskeyAdded(_)
        | Facts::JournalOpened(_)
        | Facts::SessionOpened(_)
        | Facts::SessionInitialized(_)
        | Facts::PolicyRecorded(_)
        | Facts::ProposalCreated(_)
        | Facts::ProposalReviewed(_)
        | Facts::ToolIntentSigned(_)
        | Facts::ToolIntentReviewed(_)
        | Facts::ToolExecutionStarted(_)
        | Facts::ToolExecutionCompleted(_)
        | Facts::ToolExecutionFailed(_)
        | Facts::ArtifactRecorded(_)
        | Facts::ClaimIssued(_)
        | Facts::ClaimChallenged(_)
        | Facts::ClaimRevised(_)
        | Facts::ClaimResolved(_)
        | Facts::ClaimRetracted(_)
        | Facts::FinalStatementSigned(_)
        | Facts::VerificationRunStarted(_)
        | Facts::ConditionJudged(_)
        | Facts::CheckStated(_)
        | Facts::ReportRecorded(_)
        | Facts::VerificationRunCompleted(_)
        | Facts::SessionAborted(_)
        | Facts::RecoveryRecorded(_)
        | Facts::CommandRefused(_)
        | Facts::ContentErased(_)
        | Facts::PlanSubmitted(_)
        | Facts::RulesRecorded(_)
        | Facts::GapFound(_)
        | Facts::GapAccepted(_)
        | Facts::GapWithdrawn(_)
        | Facts::QuestionAsked(_)
        | Facts::QuestionDelivered(_)
        | Facts::QuestionAnswered(_)
        | Facts::AnswerClaimed(_)
        | Facts::AnswerRejected(_)
        | Facts::AnswerSuperseded(_)
        | Facts::AnswerRevoked(_)
        | Facts::QuestionDeclined(_)
        | Facts::QuestionPassedOn(_)
        | Facts::QuestionEscalated(_)
        | Facts::QuestionExtended(_)
        | Facts::QuestionCancelled(_)
        | Facts::QuestionExpired(_)
        | Facts::QuestionDefaulted(_)
        | Facts::ConfirmationAsked(_)
        | Facts::ConfirmationGiven(_)
        | Facts::ConfirmationRefused(_)
        | Facts::ConfirmationExpired(_)
        | Facts::OperationStarted(_)
        | Facts::OperationEnded(_)
        | Facts::PlanAmended(_)
        | Facts::PlanWithdrawn(_)
        | Facts::PlanConfirmed(_)
        | Facts::PaperRecorded(_)
        | Facts::PlanAttested(_)
        | Facts::Unknown(_) => Vec::new(),
    }
}

/// Returns the events of a trace whose words its events, all of them in order, say are gone.
pub(crate) fn erased<'a>(events: impl Iterator<Item = &'a [u8]>) -> Vec<Sequence> {
    let mut erasures = Erasures::new();
    let places = iter::successors(Some(Sequence::FIRST), |at| Some(at.next()));
    places.zip(events).for_each(|(at, bytes)| note_erasures(&mut erasures, at, bytes));
    erasures.erased().collect()
}

/// Takes note of what an event says is gone. What cannot be read says nothing about others; whoever checks the store finds it.
pub(crate) fn note_erasures(erasures: &mut Erasures, at: Sequence, bytes: &[u8]) {
    if let Ok(event) = Event::parse(bytes)
        && let Ok(said) = event.said()
    {
        erasures.fold(at, said.facts);
    }
}

/// Returns who takes part in the run that this event opens.
pub(crate) fn participants(event: &Event) -> Vec<Participant> {
    match event.said().map(|said| said.facts) {
        Ok(Facts::SessionInitialized(facts)) => facts.participants.as_slice().to_vec(),
        _ => Vec::new(),
    }
}

/// Returns the kind of the trace that this event opens.
pub(crate) fn opened_kind(event: &Event) -> Option<TraceKind> {
    match event.said().ok()?.kind {
        TypeName::Known(kind) => kind.opened(),
        TypeName::Unknown(_) => None,
    }
}

/// Returns the registry events an append was decided under, each with the key that must not have changed since:
/// those of the authors, and the desk's under the head.
pub(crate) fn pins(append: &Append) -> impl Iterator<Item = (Option<Position>, Option<Fingerprint>)> {
    let events = append.entries.iter().map(|entry| {
        let envelope = entry.event.envelope();
        let key = match envelope.proof.assertion() {
            Some(_) => Some(of_people()),
            None => command(&entry.event).map(|(key, _)| key),
        };
        (envelope.registry, key)
    });
    events.chain([(Some(append.head.document.registry), Some(append.head.proof.key))])
}

/// Returns what stands for every passkey: one event can end several, or take from their person what they may say, and names none
/// of them.
fn of_people() -> Fingerprint {
    digest(Purpose::Key, &[b"passkeys"]).into()
}

/// Refuses a write whose parts do not belong together, or that is none: a caller's mistake. Returns whether its events follow
/// the head it expects, and each other: if not, another caller was faster.
pub(crate) fn check_write(write: &Write) -> Result<bool, StoreError> {
    let misuse = |what| Err(StoreError::Misuse { what });
    let Write { append, swaps, posts, acknowledged, .. } = write;
    if append.is_none() && swaps.is_empty() && posts.is_empty() && acknowledged.is_empty() {
        return misuse("a write has nothing to write");
    }
    check_posts(posts)?;
    for (index, swap) in swaps.iter().enumerate() {
        if swaps[..index].iter().any(|earlier| earlier.key == swap.key) {
            return misuse("a write swaps one record twice");
        }
        if swap.next.as_ref().is_some_and(|next| next.bytes.len() > RecordValue::LARGEST) {
            return misuse("a record is larger than a record may be");
        }
    }
    append.as_ref().map_or(Ok(true), check_append)
}

/// Refuses posts that are too large or too many, and a name that stands on two of them.
fn check_posts(posts: &[Post]) -> Result<(), StoreError> {
    let misuse = |what| Err(StoreError::Misuse { what });
    if posts.len() > Post::MOST {
        return misuse("a write has more posts than a write may have");
    }
    for (index, post) in posts.iter().enumerate() {
        if post.bytes.len() > Post::LARGEST {
            return misuse("a post is larger than a post may be");
        }
        let is_same = |earlier: &Post| earlier.stream == post.stream && earlier.name == post.name;
        if post.name.is_some() && posts[..index].iter().any(is_same) {
            return misuse("a write posts two messages under one name");
        }
    }
    Ok(())
}

/// Refuses an append whose parts do not belong together: it would be in the ledger for good. Returns whether it is a chain.
fn check_append(append: &Append) -> Result<bool, StoreError> {
    let (mut before, mut is_chain) = (append.expected, true);
    for Entry { event, opening, .. } in &append.entries {
        let envelope = event.envelope();
        if envelope.trace != append.trace {
            return Err(StoreError::Misuse { what: "an event belongs to another trace" });
        }
        if envelope.content.is_some() != opening.is_some() {
            return Err(StoreError::Misuse { what: "an event and its content do not belong together" });
        }
        let next = before.map_or(Sequence::FIRST, |position| position.sequence.next());
        let previous = before.replace(event.position()).map(|position| position.hash);
        is_chain &= envelope.sequence == next && envelope.previous == previous;
    }
    let signed = &append.head.document;
    match append.entries.last() {
        None => Err(StoreError::Misuse { what: "an append has no events" }),
        Some(last) if signed.head == last.event.position() && signed.trace == append.trace => Ok(is_chain),
        Some(_) => Err(StoreError::Misuse { what: "the signed head is not the last event" }),
    }
}
