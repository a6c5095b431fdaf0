//! The door: what a submission must satisfy before the desk orders it (`docs/format.md` 3 and 4; LED-09).
//! Everything here holds without the state of the run; the guards of [`crate::state`] come after it.

mod error;

use std::collections::BTreeSet;

use demur_core::{
    hash::{Digest, Purpose},
    key::{Fingerprint, PublicKey},
    time::Timestamp,
};

pub use error::AdmissionError;

use crate::{
    chain::Tip,
    content::{AnswerContent, AnswerValue, ContentRule, Opening, QuestionContent},
    envelope::Body,
    event_type::{Content, EventType, Facts, Opens, TypeName},
    facts::{AnswerKind, PersonRole, Question, QuestionAnswered},
    meaning::Meaning,
    name::{PersonId, PrincipalId, StoreId},
    passkey::{Assertion, ExpectedAssertion, PasskeyError},
    proof::{AuthorProof, ProofKind},
    registry::{Registry, Standing},
    role::Role,
    statement::{Statement, Submission},
};

/// A submission that its author signed: whoever reads it knows who said it. Checking it is most of the work and
/// needs no lock; [`Checked::stand_next`] then says whether it may stand next in its trace.
#[derive(Clone, Debug)]
pub struct Checked {
    submission: Submission,
    statement: Statement,
    kind: EventType,
    /// What the guards need of its content; or what is wrong with it wherever it may be put, which is kept because a refusal
    /// to a known author is recorded.
    form: Result<Option<Meaning>, AdmissionError>,
}

impl Checked {
    /// Returns the submission once its signature holds. Without a registry only the statement that creates a
    /// store can hold.
    pub fn new(submission: Submission, registry: Option<&Registry>) -> Result<Self, AdmissionError> {
        let statement = Statement::parse(&submission.statement)?;
        let kind = match &statement.kind {
            TypeName::Known(kind) => *kind,
            TypeName::Unknown(_) => return Err(AdmissionError::UnknownType { kind: statement.kind.clone() }),
        };
        check_proof(&submission, &statement, (kind, registry))?;
        Ok(Self::spoken(submission, statement, kind))
    }

    /// Returns a statement that is known to be signed with the key its proof names: it was signed here, or that was checked.
    pub(crate) fn spoken(submission: Submission, statement: Statement, kind: EventType) -> Self {
        let form = check_form(&submission, &statement, kind);
        Self { submission, statement, kind, form }
    }

    /// Returns the submission, to be sent elsewhere.
    pub fn into_submission(self) -> Submission {
        self.submission
    }

    /// Returns what the author said.
    pub const fn statement(&self) -> &Statement {
        &self.statement
    }

    /// Returns the exact bytes the author signed.
    pub fn statement_bytes(&self) -> &[u8] {
        &self.submission.statement
    }

    /// Returns the content that came with it, if it is what the statement commits to.
    pub fn opening(&self) -> Option<&Opening> {
        self.submission.opening.as_ref().filter(|_| self.form.is_ok())
    }

    /// Returns what the guards need of its content.
    pub fn meaning(&self) -> Option<&Meaning> {
        self.form.as_ref().ok()?.as_ref()
    }

    /// Takes note of whether the check that it states is true.
    pub fn settle_check(&mut self, holds: Option<bool>) {
        if let Ok(Some(meaning)) = &mut self.form {
            meaning.settle_check(holds);
        }
    }

    /// Returns the event type.
    pub const fn kind(&self) -> EventType {
        self.kind
    }

    /// Returns the key it was signed with.
    pub const fn key(&self) -> Fingerprint {
        self.submission.proof.key()
    }

    /// Returns the kind of its proof.
    pub const fn proof(&self) -> ProofKind {
        self.submission.proof.kind()
    }

    /// Returns the principal behind the key if the statement may stand next in this trace, as far as the door can
    /// tell. `seen` is the hash of this trace's event at the place that the statement's `seen` names, if any; `now` is the
    /// time that the event will carry, [`Tip::time_at`].
    pub fn stand_next(
        &self,
        registry: Option<&Registry>,
        tip: &Tip,
        seen: Option<Digest>,
        now: Timestamp,
    ) -> Result<PrincipalId, AdmissionError> {
        if let Err(flaw) = &self.form {
            return Err(flaw.clone());
        }
        check_place(&self.statement, self.kind, registry.map(Registry::store), tip, seen)?;
        if now > self.statement.not_after {
            return Err(AdmissionError::Expired { not_after: self.statement.not_after, now });
        }
        author(&self.submission.proof, &self.statement, registry, now)
    }

    /// Returns what goes into the envelope, the content beside it, and what the guards need of that.
    pub fn into_body(self) -> (Body, Option<Opening>, Option<Meaning>) {
        let Submission { proof, opening, .. } = self.submission;
        let body = Body::Statement(self.statement.into(), proof);
        (body, opening, self.form.ok().flatten())
    }
}

/// Checks that every earlier event the facts refer to was known to the author. Otherwise the desk could choose
/// what a number means after the signature was made.
pub fn check_cites(statement: &Statement) -> Result<(), AdmissionError> {
    let mut unseen = None;
    statement.facts.cites(&mut |cited| {
        if statement.seen.is_none_or(|seen| cited > seen.sequence) {
            unseen = unseen.or(Some(cited));
        }
    });
    match unseen {
        Some(cited) => Err(AdmissionError::CitesUnseen { cited }),
        None => Ok(()),
    }
}

/// Checks that every event which a confirmed plan names as a source was known to the author who confirms it. Otherwise the
/// desk could choose later who answered what.
pub fn check_sources(statement: &Statement, content: &Content) -> Result<(), AdmissionError> {
    let Content::PlanConfirmed(content) = content else { return Ok(()) };
    let sources = content.provenance.iter().map(|one| one.source);
    match { sources }.find(|source| statement.seen.is_none_or(|seen| *source > seen.sequence)) {
        Some(cited) => Err(AdmissionError::CitesUnseen { cited }),
        None => Ok(()),
    }
}

/// Checks everything that holds or not wherever the statement may be put. Returns what the guards need of the content.
fn check_form(
    submission: &Submission,
    statement: &Statement,
    kind: EventType,
) -> Result<Option<Meaning>, AdmissionError> {
    if !kind.admits_role(statement.role) {
        return Err(AdmissionError::Role { role: statement.role, kind });
    }
    if !kind.admits_proof(submission.proof.kind()) {
        return Err(AdmissionError::NotForAuthors { kind });
    }
    check_cites(statement)?;
    check_content(submission, statement, kind)
}

fn check_place(
    statement: &Statement,
    kind: EventType,
    store: Option<StoreId>,
    tip: &Tip,
    seen: Option<Digest>,
) -> Result<(), AdmissionError> {
    if statement.store != store {
        return Err(AdmissionError::OtherStore);
    }
    if statement.trace != tip.trace() {
        return Err(AdmissionError::OtherTrace);
    }
    let opens = tip.head().is_none();
    match (kind.rule().opens, opens) {
        (Opens::Never, true) => return Err(AdmissionError::NotOpened { kind }),
        (Opens::Always, false) => return Err(AdmissionError::TraceExists),
        _ => {}
    }
    match statement.seen {
        None if opens => Ok(()),
        Some(position) if seen == Some(position.hash) => Ok(()),
        _ => Err(AdmissionError::Seen),
    }
}

/// Checks the signature, whether or not its key may still speak.
fn check_proof(
    submission: &Submission,
    statement: &Statement,
    (kind, registry): (EventType, Option<&Registry>),
) -> Result<(), AdmissionError> {
    match &submission.proof {
        AuthorProof::Key(proof) => {
            let key = signing_key(proof.key, statement, registry)?;
            Ok(proof.admit(&key, Purpose::Statement, &submission.statement)?)
        }
        AuthorProof::Passkey(assertion) => {
            let registry = registry.ok_or(AdmissionError::OtherStore)?;
            let enrolment = match &statement.facts {
                Facts::PasskeyRooted(facts) => {
                    Some(&facts.0).filter(|new| new.key.fingerprint() == assertion.key)
                }
                _ => registry.passkey(&assertion.key).map(|record| &record.enrolment),
            };
            let enrolment = enrolment.ok_or(AdmissionError::Key(Standing::Unknown))?;
            let is_alone = kind.stands_alone() || statement.trace == registry.trace();
            let leaf = Assertion::leaf(&submission.statement);
            Ok(assertion.admit(&ExpectedAssertion { leaf, is_alone, enrolment })?)
        }
    }
}

/// Returns the key to check the signature with, whether or not it may still speak.
fn signing_key(
    fingerprint: Fingerprint,
    statement: &Statement,
    registry: Option<&Registry>,
) -> Result<PublicKey, AdmissionError> {
    let key = match (&statement.facts, registry) {
        // A key that registers itself must be the key that signs.
        (Facts::StoreCreated(facts), None) => Some(facts.key).filter(|key| key.fingerprint() == fingerprint),
        (Facts::KeyRegistered(facts), Some(_)) => {
            Some(facts.key).filter(|key| key.fingerprint() == fingerprint)
        }
        (_, Some(registry)) => registry.public_key(&fingerprint).copied(),
        (_, None) => return Err(AdmissionError::OtherStore),
    };
    key.ok_or(AdmissionError::Key(Standing::Unknown))
}

/// Returns the principal behind the key, if the key may say this now.
fn author(
    proof: &AuthorProof,
    statement: &Statement,
    registry: Option<&Registry>,
    now: Timestamp,
) -> Result<PrincipalId, AdmissionError> {
    match (&statement.facts, registry) {
        (_, Some(registry)) if proof.kind() == ProofKind::Webauthn => {
            person(&proof.key(), statement, registry, now).map(PersonId::principal)
        }
        (Facts::StoreCreated(facts), None) => Ok(facts.desk),
        (Facts::KeyRegistered(facts), Some(_)) => Ok(facts.principal),
        (Facts::KeyRotated(facts), Some(registry)) => {
            let old = registry.key(&facts.old).ok_or(AdmissionError::Key(Standing::Unknown))?;
            Ok(old.principal)
        }
        // A recovery key speaks for the desk here; whether it is that of the desk's newest key, the registry says.
        (Facts::PasskeyReset(_), Some(registry)) => Ok(registry.desk()),
        (_, Some(registry)) => {
            let at = registry.head().sequence;
            let record = registry.speaker(&proof.key(), at).map_err(AdmissionError::Key)?;
            if !record.roles.contains(&statement.role) {
                return Err(AdmissionError::KeyRole { role: statement.role });
            }
            Ok(record.principal)
        }
        (_, None) => Err(AdmissionError::OtherStore),
    }
}

/// Returns the person behind a passkey, if it may say this now.
fn person(
    key: &Fingerprint,
    statement: &Statement,
    registry: &Registry,
    now: Timestamp,
) -> Result<PersonId, AdmissionError> {
    let head = registry.head().sequence;
    if registry.time_at(head).is_some_and(|pinned| now < pinned) {
        return Err(PasskeyError::BeforePin.into());
    }
    // It speaks for itself before anybody knows it.
    if let Facts::PasskeyRooted(facts) = &statement.facts {
        return Ok(facts.0.person);
    }
    let person = registry.passkey_speaker(key, head).map_err(AdmissionError::Key)?.enrolment.person;
    let role = registry.role_of(person, head);
    if !role.is_some_and(|role| speaks_as(role, statement.role, &statement.facts)) {
        return Err(AdmissionError::PersonRole { role: statement.role });
    }
    match &statement.facts {
        Facts::SessionOpened(facts) if facts.person != person => Err(AdmissionError::OtherPerson),
        _ => Ok(person),
    }
}

/// Returns whether a person of this role may say such a thing with a passkey: an operator as that too, an auditor only to sign in
/// and about passkeys of their own.
pub(crate) fn speaks_as(person: PersonRole, role: Role, facts: &Facts) -> bool {
    let about_passkeys =
        matches!(facts, Facts::PasskeyAdded(_) | Facts::PasskeyRemoved(_) | Facts::SessionOpened(_));
    match (person, role) {
        (PersonRole::Operator, Role::Person | Role::Operator) | (PersonRole::Answerer, Role::Person) => true,
        (PersonRole::Auditor, Role::Person) => about_passkeys,
        _ => false,
    }
}

fn check_content(
    submission: &Submission,
    statement: &Statement,
    kind: EventType,
) -> Result<Option<Meaning>, AdmissionError> {
    match (kind.rule().content, &submission.opening, &statement.content) {
        (ContentRule::Absent, None, None) => Ok(None),
        (ContentRule::Required, Some(opening), Some(commitment)) => {
            if opening.commitment() != *commitment {
                return Err(AdmissionError::Commitment);
            }
            let content = Content::parse(kind, &opening.bytes).map_err(AdmissionError::Content)?;
            agrees(&statement.facts, &content)?;
            check_sources(statement, &content)?;
            Ok(Meaning::of(&content))
        }
        (rule, _, _) => Err(AdmissionError::ContentRule { kind, required: rule == ContentRule::Required }),
    }
}

/// Checks that content says nothing else than the facts beside it.
pub fn agrees(facts: &Facts, content: &Content) -> Result<(), ContentMismatch> {
    let holds = match (facts, content) {
        (Facts::ProposalReviewed(facts), Content::ProposalReviewed(content)) => {
            facts.conditions.as_u64() == content.conditions.len() as u64
        }
        (Facts::FinalStatementSigned(facts), Content::FinalStatementSigned(content)) => {
            facts.claims.iter().eq(content.claims.iter().map(|claim| &claim.claim))
        }
        (Facts::QuestionAsked(facts), Content::QuestionAsked(content)) => asks(&facts.0, content),
        (Facts::GapFound(facts), Content::GapFound(content)) => asks(&facts.0, content),
        (Facts::QuestionAnswered(facts), Content::QuestionAnswered(content)) => answers(facts, content),
        (Facts::AnswerSuperseded(facts), Content::AnswerSuperseded(content)) => {
            answers(&facts.answer, content)
        }
        (Facts::OperationStarted(facts), Content::OperationStarted(content)) => {
            // Whoever spends a yes tells for what.
            content.digest.is_some() == content.operation.is_some()
                && (facts.confirmation.is_none() || content.operation.is_some())
        }
        (_, Content::AnswerClaimed(content)) => !content.answer.is_sealed(),
        (_, Content::AnswerRejected(content)) => !content.answer.as_ref().is_some_and(AnswerValue::is_sealed),
        (_, Content::QuestionDefaulted(content)) => !content.default.is_sealed(),
        _ => true,
    };
    if holds { Ok(()) } else { Err(ContentMismatch) }
}

/// As many choices as the facts count, no value twice, and a default exactly if the facts say so, of a kind that
/// fits (AEP-11, AEP-16). What the asker offers is there to be read, and a secret has nothing on offer.
fn asks(facts: &Question, content: &QuestionContent) -> bool {
    let choices = content.choices.as_slice();
    let distinct = choices.iter().map(|choice| choice.value.as_str()).collect::<BTreeSet<_>>();
    let fits = |value: &AnswerValue| facts.kinds.iter().any(|kind| value.fits(*kind, choices));
    let offered = content.recommendation.is_some() || !content.suggestions.is_empty();
    let sealed = content.default.iter().chain(&content.recommendation).any(AnswerValue::is_sealed);
    facts.choices.as_u64() == choices.len() as u64
        && distinct.len() == choices.len()
        && facts.default == content.default.is_some()
        && content.default.as_ref().is_none_or(fits)
        && !sealed
        && !(offered && facts.is_secret())
}

/// The value is of the kind that the facts name. Which choice a value belongs to, only the question can tell.
fn answers(facts: &QuestionAnswered, content: &AnswerContent) -> bool {
    match facts.kind {
        AnswerKind::Secret => content.answer.is_sealed() && content.signed.is_none(),
        AnswerKind::MultipleChoice => matches!(content.answer, AnswerValue::Text(_)),
        kind => content.answer.fits(kind, &[]),
    }
}

/// Content that contradicts the facts it travels with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the content names another operation, other conditions, claims, choices or values than the facts")]
pub struct ContentMismatch;
