//! The codes of refusals are part of the interface: doors and people go by them.

use std::collections::BTreeSet;

use demur_core::{canonical, hash::Purpose, key::SecretKey, random::Seeded, time::Timestamp};
use demur_engine::refusal::RuleRefusal;
use demur_ledger::{
    admission::{AdmissionError, ContentMismatch},
    client::HeldRoles,
    confirmation::{ConfirmationError, ConfirmationStanding},
    envelope::Disagreement,
    erasure::ErasureError,
    event_type::{EventType, TraceKind, TypeName},
    facts::{AnswerKind, Assurance, ProposalCreated, RefusalCode, Risk, Root, VerificationStatus},
    meaning::MeaningError,
    name::{ClientId, PrincipalId, Sequence, TokenId},
    passkey::PasskeyError,
    question::{Given, QuestionError},
    registry::{RegistryError, Standing},
    role::Role,
    state::{GuardError, Phase},
    statement::Statement,
    trace_state::PlanStage,
};

use crate::world::World;

#[test]
fn every_refusal_has_a_pinned_code_and_a_cure() {
    let refusals: Vec<RuleRefusal> = at_the_door()
        .into_iter()
        .map(RuleRefusal::from)
        .chain(of_the_guards().into_iter().map(RuleRefusal::from))
        .chain(of_the_registry().into_iter().map(RuleRefusal::from))
        .collect();
    for refusal in &refusals {
        assert!(RefusalCode::try_from(refusal.code.to_owned()).is_ok(), "{refusal}");
        assert!(!refusal.cure.is_empty() && !refusal.message.is_empty(), "{refusal}");
        assert!(!refusal.field.is_some_and(str::is_empty), "{refusal}");
        let shown = refusal.to_string();
        assert!(shown.starts_with(refusal.code) && shown.ends_with(refusal.cure), "{shown}");
    }
    let found: BTreeSet<_> = refusals.iter().map(|refusal| refusal.code).chain(OF_THE_ENGINE).collect();
    assert_eq!(found, PINNED.iter().copied().collect());
}

/// What is open in a run is bounded.
#[test]
fn too_much_at_once_is_refused() {
    let mut world = World::opened();
    let proposal = || ProposalCreated { fallback_for: None, replaces: None };
    for _ in 0..1024 {
        world.say(proposal());
    }
    assert_eq!(world.refuses(proposal()).code, "TOO_MANY");
}

fn at_the_door() -> Vec<AdmissionError> {
    use AdmissionError as E;
    let unreadable = Statement::parse(b"{").unwrap_err();
    let (kind, role) = (EventType::ProposalCreated, Role::Critic);
    let key = SecretKey::generate(&mut Seeded::from_number(1));
    let signature = key.sign(Purpose::Head, b"");
    let invalid = key.public().admit(Purpose::Statement, b"", &signature).unwrap_err();
    let since = Sequence::FIRST;
    vec![
        E::Statement(unreadable.clone()),
        E::UnknownType { kind: TypeName::Unknown("later".to_owned()) },
        E::Role { role, kind },
        E::NotForAuthors { kind },
        E::OtherStore,
        E::OtherTrace,
        E::NotOpened { kind },
        E::TraceExists,
        E::Seen,
        E::CitesUnseen { cited: since },
        E::Expired { not_after: Timestamp::MIN, now: Timestamp::MAX },
        E::Key(Standing::Revoked { since }),
        E::Key(Standing::Retired { since }),
        E::Key(Standing::Unknown),
        E::KeyRole { role },
        E::Signature(invalid),
        E::Passkey(PasskeyError::BeforePin),
        E::Passkey(PasskeyError::Signature),
        E::PersonRole { role },
        E::OtherPerson,
        E::Commitment,
        E::Content(unreadable),
        E::Mismatch(ContentMismatch),
        E::ContentRule { kind, required: true },
        E::ContentRule { kind, required: false },
        E::CommandUsed,
    ]
}

fn of_the_guards() -> Vec<GuardError> {
    use GuardError as E;
    let (kind, role, one) = (EventType::ProposalCreated, Role::Critic, Sequence::FIRST);
    let principal = PrincipalId::new(Timestamp::MIN, &mut Seeded::from_number(1));
    vec![
        E::Shape(Disagreement::NoBody),
        E::NotOfThisTrace { kind: kind.into(), trace: TraceKind::Run },
        E::NotOfThisTrace { kind: kind.into(), trace: TraceKind::Work },
        E::OutOfPlan { plan: PlanStage::Submitted, kind },
        E::Place { expected: 1, found: one },
        E::RoleForbidden { role, kind },
        E::NotParticipant { principal, role },
        E::OutOfPhase { phase: Phase::Planning, kind },
        E::NotOpened,
        E::OpenedAlready { kind: EventType::JournalOpened, trace: TraceKind::Journal },
        E::RoleMissing { role },
        E::RoleNotOfARun { role },
        E::JudgesOwnWork { principal, role },
        E::Reference { field: "claim", sequence: one, expected: "a claim" },
        E::Ascending { field: "evidence" },
        E::ConditionCount { found: 1 },
        E::ProposalNotApproved { proposal: one },
        E::ConditionsUnmet { conditions: 1 },
        E::ApprovalMissing { intent: one },
        E::IntentBlocked { intent: one },
        E::IntentUsed { intent: one },
        E::RetryLimit { limit: 1 },
        E::Erasure(ErasureError::NotThere { event: one }),
        E::Erasure(ErasureError::Nothing { event: one }),
        E::Erasure(ErasureError::Already { event: one }),
        E::PolicyMissing,
        E::PolicyFixed,
        E::FallbackNeeded,
        E::FallbackForbidden,
        E::ChallengeNeeded,
        E::NoArtifact { started: one },
        E::ExecutionOpen { started: one },
        E::EvidenceMinimum { minimum: 1, found: 0 },
        E::BundleIncomplete { expected: 1, found: 0 },
        E::TooMany { what: "claims", limit: 1 },
        E::VerificationOpen { started: one },
    ]
    .into_iter()
    .chain(of_the_questions().into_iter().map(E::Question))
    .chain(of_the_confirmations().into_iter().map(E::Confirmation))
    .chain(of_the_meaning().into_iter().map(E::Meaning))
    .collect()
}

fn of_the_meaning() -> Vec<MeaningError> {
    use MeaningError as E;
    let (one, tool) = (Sequence::FIRST, || "wc".into());
    vec![
        E::PolicyMismatch { field: "fallback" },
        E::InputMissing,
        E::InputMismatch { intent: one, input: one },
        E::ToolNotProposed { proposal: one, tool: tool() },
        E::ToolNotAllowed { tool: tool() },
        E::RiskUnderstated { tool: tool(), floor: Risk::High, found: Risk::Low },
        E::BlockedAgain { blocked: one, risk: Risk::Low },
        E::RetryLimit { limit: 1, failed: 2 },
        E::ToolBlocked { tool: tool(), question: one },
        E::EvidenceForeign { artifact: one, expected: "produced" },
        E::EvidenceAlike { minimum: 2, found: 1 },
        E::BundleDiffers { claim: one },
        E::ConditionUnshown { intent: one, condition: 0 },
        E::CheckFailed { claim: one, artifact: one },
        E::ReportMissing,
        E::ReportDiffers { report: one, says: None, found: VerificationStatus::Pass },
        E::SpokeAfterFinal { role: Role::Executor },
        E::AttributionPresence { is_recorded: true },
        E::AssuranceOverstated { claimed: Assurance::SignedIn, root: Root::SameUser },
        E::SignInUnshown { root: Root::Passkey, expected: "the session" },
        E::OwnClient,
        E::OwnClientUntold { client: ClientId::new(Timestamp::MIN, &mut Seeded::from_number(1)) },
        E::ClientHeldRoles(HeldRoles {
            client: ClientId::new(Timestamp::MIN, &mut Seeded::from_number(1)),
            roles: vec![Role::Planner, Role::Critic],
        }),
        E::ConfirmationMismatch { expected: "of the operation beside it" },
        E::ConfirmationSpent { confirmation: one, started: one },
        E::OperationUnconfirmed { confirmation: one, standing: ConfirmationStanding::Refused },
        E::ConfirmationErased { confirmation: one },
        E::TokenUnfit {
            token: TokenId::new(Timestamp::MIN, &mut Seeded::from_number(1)),
            expected: "another",
        },
        E::ConfirmationForeign { role: Role::Executor, tool: "sh".into() },
    ]
}

fn of_the_questions() -> Vec<QuestionError> {
    use QuestionError as E;
    let (question, answer, operation) = (Sequence::FIRST, Sequence::FIRST, "build".to_owned());
    let principal = PrincipalId::new(Timestamp::MIN, &mut Seeded::from_number(1));
    let (claimed, least) = (Assurance::Agent, Assurance::Passkey);
    let given = Given { at: answer, by: Some(principal), assurance: claimed, time: Timestamp::MIN };
    vec![
        E::Unknown { question },
        E::OtherQuestion { question },
        E::AlreadyAnswered { question, given },
        E::AlreadyAnswered { question, given: Given { by: None, ..given } },
        E::Closed { question, outcome: "declined" },
        E::Expired { question, deadline: Timestamp::MIN },
        E::StillInTime { question },
        E::SelfAnswer,
        E::NotEntitled { principal },
        E::NotForPeople,
        E::AssuranceForged { claimed, proof: "none" },
        E::AssuranceTooLow { claimed, least },
        E::ReplacesSurer { claimed, least, answer },
        E::Kind { found: AnswerKind::Numeric, kinds: vec![AnswerKind::YesNo, AnswerKind::Freetext] },
        E::Choice { choices: 2 },
        E::MustBeAnswered { question },
        E::NotAsker { question },
        E::Secret { question },
        E::NotYourAnswer { answer },
        E::NotAnswered { question },
        E::NotTheAnswer { question, answer },
        E::OperationBlocked { operation, question },
        E::Unsettled { questions: vec![question] },
        E::Form { field: "deadline", expected: "a time to come" },
        E::TooMany { limit: 1 },
    ]
}

fn of_the_confirmations() -> Vec<ConfirmationError> {
    use ConfirmationError as E;
    let (confirmation, standing) = (Sequence::FIRST, ConfirmationStanding::Expired);
    vec![
        E::Unknown { confirmation },
        E::Other { confirmation },
        E::Closed { confirmation, standing, said: None },
        E::Expired { confirmation, deadline: Timestamp::MIN },
        E::StillInTime { confirmation },
        E::OwnClient,
        E::AskedBefore { confirmation },
        E::StillOpen { confirmations: vec![confirmation] },
        E::Form { field: "deadline", expected: "a time to come" },
        E::TooMany { limit: 1 },
    ]
}

fn of_the_registry() -> Vec<RegistryError> {
    use RegistryError as E;
    let (kind, role, one) = (TypeName::from(EventType::KeyRevoked), Role::Critic, Sequence::FIRST);
    vec![
        E::Disagreement(Disagreement::NoBody),
        E::NotRegistry { kind: kind.clone() },
        E::Chain { expected: 1, found: one },
        E::NoProof,
        E::Role { role, kind: kind.clone() },
        E::Signer { kind, standing: Standing::Unknown },
        E::Actor,
        E::DeskPrincipal,
        E::KeyKnown,
        E::Subject(Standing::Unknown),
        E::Possession,
        E::Roles,
        E::Recovery,
        E::Rotation { found: one },
        E::LastDeskKey,
        E::Epoch { expected: 2, found: 3 },
        E::KeyBound,
        E::TokenKnown,
        E::TokenUnknown,
        E::TokenSpent,
        E::TokenScopes,
        E::TokenPeople,
        E::PersonKnown,
        E::PersonUnknown,
        E::NeedsTouch,
        E::RootKnown,
        E::RootRole,
        E::Voucher,
        E::LastOperatorPasskey,
        E::RpId,
        E::PasskeyFlags,
        E::PasskeyPossession(PasskeyError::Signature),
        E::NoRecovery,
        E::CheckpointOwed,
        E::Erasure(ErasureError::Already { event: one }),
        E::Pin,
        E::Write(canonical::to_vec(&f64::NAN).unwrap_err()),
    ]
}

/// The engine's own codes, each met in a test of its own or by the random walks.
const OF_THE_ENGINE: [&str; 14] = [
    "ANSWER_CHOICE",
    "ANSWER_DEFAULT",
    "ANSWER_REQUEST",
    "ARTIFACT_MISMATCH",
    "ARTIFACT_MISSING",
    "ARTIFACT_SIZE",
    "ARTIFACT_TOO_LARGE",
    "ARTIFACT_UNASKED",
    "DOES_NOT_FOLLOW",
    "EVENT_TOO_LARGE",
    "NOT_A_RUN",
    "QUESTION_ERASED",
    "SIG_MISSING",
    "TRACE_FAILED",
];

/// Every code there is.
pub(crate) const PINNED: &[&str] = &[
    "ACTOR",
    "ACTOR_MISMATCH",
    "ALREADY_ANSWERED",
    "ALREADY_ERASED",
    "ANSWER_CHOICE",
    "ANSWER_DEFAULT",
    "ANSWER_KIND",
    "ANSWER_REQUEST",
    "APPROVAL_MISSING",
    "ARTIFACT_MISMATCH",
    "ARTIFACT_MISSING",
    "ARTIFACT_SIZE",
    "ARTIFACT_TOO_LARGE",
    "ARTIFACT_UNASKED",
    "ASCENDING",
    "ASSURANCE_FORGED",
    "ASSURANCE_OVERSTATED",
    "ASSURANCE_TOO_LOW",
    "BLOCKED_AGAIN",
    "BUNDLE_DIFFERS",
    "BUNDLE_INCOMPLETE",
    "CHALLENGE_NEEDED",
    "CHECKPOINT_OWED",
    "CHECK_FAILED",
    "CITES_UNSEEN",
    "CLIENT_HELD_ROLES",
    "COMMAND_USED",
    "COMMITMENT",
    "CONDITIONS_UNMET",
    "CONDITION_COUNT",
    "CONDITION_UNSHOWN",
    "CONFIRMATIONS_OPEN",
    "CONFIRMATION_CLOSED",
    "CONFIRMATION_EXPIRED",
    "CONFIRMATION_FORM",
    "CONFIRMATION_IN_TIME",
    "CONFIRMATION_MISMATCH",
    "CONFIRMATION_OTHER",
    "CONFIRMATION_SPENT",
    "CONFIRMATION_UNKNOWN",
    "CONTENT_MALFORMED",
    "CONTENT_RULE",
    "DESK_PRINCIPAL",
    "DOES_NOT_FOLLOW",
    "ENROLMENT",
    "EPOCH",
    "EVENT_TOO_LARGE",
    "EVENT_UNKNOWN",
    "EVIDENCE_MINIMUM",
    "EVIDENCE_WEAK",
    "EXECUTION_OPEN",
    "EXPIRED",
    "FALLBACK_FORBIDDEN",
    "FALLBACK_NEEDED",
    "INPUT_MISMATCH",
    "INTENT_BLOCKED",
    "INTENT_USED",
    "JUDGES_OWN_WORK",
    "KEY_BOUND",
    "KEY_KNOWN",
    "KEY_RETIRED",
    "KEY_REVOKED",
    "KEY_ROLE",
    "KEY_ROLES",
    "KEY_ROLE_MISMATCH",
    "KEY_STATE",
    "KEY_UNKNOWN",
    "LAST_DESK_KEY",
    "LAST_OPERATOR_PASSKEY",
    "MUST_BE_ANSWERED",
    "NOTHING_TO_ERASE",
    "NOT_ANSWERED",
    "NOT_ASKER",
    "NOT_A_RUN",
    "NOT_ENTITLED",
    "NOT_FOR_AUTHORS",
    "NOT_OF_A_RUN",
    "NOT_OF_THIS_TRACE",
    "NOT_OPENED",
    "NOT_PARTICIPANT",
    "NOT_REGISTRY",
    "NOT_THE_ANSWER",
    "NOT_YOUR_ANSWER",
    "NO_ARTIFACT",
    "NO_RECOVERY",
    "OPERATION_BLOCKED",
    "OPERATION_UNCONFIRMED",
    "OTHER_STORE",
    "OTHER_TRACE",
    "OUT_OF_PHASE",
    "OUT_OF_PLAN",
    "OWN_CLIENT",
    "PASSKEY_INVALID",
    "PASSKEY_NEEDED",
    "PERSON_STATE",
    "PLACE",
    "POLICY_FIXED",
    "POLICY_MISMATCH",
    "POLICY_MISSING",
    "POSSESSION",
    "PROPOSAL_NOT_APPROVED",
    "QUESTIONS_OPEN",
    "QUESTION_CLOSED",
    "QUESTION_ERASED",
    "QUESTION_EXPIRED",
    "QUESTION_FORM",
    "QUESTION_IN_TIME",
    "QUESTION_OTHER",
    "QUESTION_SECRET",
    "QUESTION_UNKNOWN",
    "RECOVERY_KEY",
    "REFERENCE",
    "REGISTRY_SHAPE",
    "REPORT_MISMATCH",
    "RETRY_LIMIT",
    "RISK_UNDERSTATED",
    "ROLE_FORBIDDEN",
    "ROLE_MISSING",
    "ROLE_NOT_OF_A_RUN",
    "ROOT_KNOWN",
    "ROOT_ROLE",
    "ROTATION",
    "SEEN_UNKNOWN",
    "SELF_ANSWER",
    "SHAPE",
    "SIGNATURE_INVALID",
    "SIGNER_NOT_ENTITLED",
    "SIG_INVALID",
    "SIG_MISSING",
    "SPOKE_AFTER_FINAL",
    "STATEMENT_MALFORMED",
    "TOKEN_LIST",
    "TOKEN_STATE",
    "TOOL_BLOCKED",
    "TOOL_NOT_ALLOWED",
    "TOOL_NOT_PROPOSED",
    "TOO_MANY",
    "TRACE_EXISTS",
    "TRACE_FAILED",
    "TYPE_UNKNOWN",
    "VERIFICATION_OPEN",
    "VOUCHER",
    "WRITE",
];

/// Codes that a random walk does not meet.
pub(crate) const ELSEWHERE: &[&str] = &[
    // Passkeys have tests of their own.
    "ACTOR_MISMATCH",
    "CHECKPOINT_OWED",
    "ENROLMENT",
    "KEY_ROLE_MISMATCH",
    "LAST_OPERATOR_PASSKEY",
    "NO_RECOVERY",
    "PASSKEY_INVALID",
    "PASSKEY_NEEDED",
    "PERSON_STATE",
    "ROOT_KNOWN",
    "ROOT_ROLE",
    "SIG_INVALID",
    "VOUCHER",
    // Only a damaged store leads there: the engine makes no such events.
    "ACTOR",
    "PLACE",
    "REGISTRY_SHAPE",
    "SHAPE",
    "WRITE",
    // No statement within the limits of its fields is that large.
    "EVENT_TOO_LARGE",
    // No tool starts without an input any more: only a file of another desk has such an end.
    "NO_ARTIFACT",
    // Tests of their own: meaning.rs.
    "BUNDLE_DIFFERS",
    "CHECK_FAILED",
    "POLICY_MISMATCH",
    "REPORT_MISMATCH",
    "RISK_UNDERSTATED",
    "SPOKE_AFTER_FINAL",
    "TOOL_BLOCKED",
    "TOOL_NOT_ALLOWED",
    "TOOL_NOT_PROPOSED",
    // Tests of their own: client.rs and attribution.rs.
    "ASSURANCE_OVERSTATED",
    "OWN_CLIENT",
    "CLIENT_HELD_ROLES",
    "KEY_BOUND",
    "TOKEN_LIST",
    "TOKEN_STATE",
    // Tests of their own: confirmation.rs.
    "CONFIRMATIONS_OPEN",
    "CONFIRMATION_CLOSED",
    "CONFIRMATION_EXPIRED",
    "CONFIRMATION_FORM",
    "CONFIRMATION_IN_TIME",
    "CONFIRMATION_MISMATCH",
    "CONFIRMATION_OTHER",
    "CONFIRMATION_SPENT",
    "CONFIRMATION_UNKNOWN",
    "OPERATION_UNCONFIRMED",
    "OWN_CLIENT",
    // Tests of their own: erasure.rs.
    "ALREADY_ERASED",
    "EVENT_UNKNOWN",
    "NOTHING_TO_ERASE",
    // Tests of their own: question.rs, secret.rs and work.rs.
    "ALREADY_ANSWERED",
    "ANSWER_CHOICE",
    "ANSWER_DEFAULT",
    "ANSWER_KIND",
    "ANSWER_REQUEST",
    "ASSURANCE_FORGED",
    "ASSURANCE_TOO_LOW",
    "DOES_NOT_FOLLOW",
    "MUST_BE_ANSWERED",
    "NOT_ANSWERED",
    "NOT_ASKER",
    "NOT_ENTITLED",
    "NOT_OF_THIS_TRACE",
    "NOT_THE_ANSWER",
    "NOT_YOUR_ANSWER",
    "OPERATION_BLOCKED",
    "OUT_OF_PLAN",
    "QUESTIONS_OPEN",
    "QUESTION_CLOSED",
    "QUESTION_ERASED",
    "QUESTION_EXPIRED",
    "QUESTION_FORM",
    "QUESTION_IN_TIME",
    "QUESTION_OTHER",
    "QUESTION_SECRET",
    "QUESTION_UNKNOWN",
    "SELF_ANSWER",
    "SIG_MISSING",
    // Tests of their own.
    "ARTIFACT_TOO_LARGE",
    "TOO_MANY",
    "TRACE_FAILED",
];
