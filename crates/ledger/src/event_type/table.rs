//! The rows, and the types made from them.

use demur_core::{
    canonical::{self, ReadError},
    limit::Limits,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{EventRule, Opens, TraceKind, TypeName, UnknownFacts};
use crate::{
    content::{self, EventContent},
    facts::{self, EventFacts},
    name::Sequence,
    proof::ProofKind,
    role::Role,
};

/// The type in which [`Facts`] holds the facts of a row. Those with public keys are four times as large as the
/// others and rare, so they are boxed: every event is moved about in as many bytes as the largest variant has.
macro_rules! held {
    ([boxed] $facts:ident) => { Box<facts::$facts> };
    ($facts:ident) => { facts::$facts };
}

/// Makes [`EventType`], [`Facts`] and [`Content`] from one list, so that no row can be forgotten anywhere.
macro_rules! event_types {
    ($($variant:ident $name:literal, $traces:ident $opens:ident, $roles:expr, $proofs:expr,
       $([$boxed:ident])? $facts:ident, $content:ident, $mandatory:literal, $meaning:literal;)+) => {
        /// An event type of this version.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EventType {
            $(#[doc = $meaning] $variant,)+
        }

        impl EventType {
            /// Every event type, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the name on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Returns the type of this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }

            /// Returns the row of the table.
            pub const fn rule(self) -> &'static EventRule {
                match self {
                    $(Self::$variant => &EventRule {
                        traces: $traces,
                        opens: Opens::$opens,
                        roles: $roles,
                        proofs: $proofs,
                        content: <content::$content as EventContent>::RULE,
                        mandatory_in_seed: $mandatory,
                        meaning: $meaning,
                    },)+
                }
            }

            /// Returns the JSON Schemas of facts and content.
            pub fn schemas(self, generator: &mut schemars::SchemaGenerator) -> (schemars::Schema, schemars::Schema) {
                match self {
                    $(Self::$variant => (
                        generator.subschema_for::<facts::$facts>(),
                        generator.subschema_for::<content::$content>(),
                    ),)+
                }
            }
        }

        /// The facts of an event, by its type.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        #[serde(untagged)]
        pub enum Facts {
            $(#[doc = $meaning] $variant(held!($([$boxed])? $facts)),)+
            /// Facts of a type this version does not know.
            Unknown(UnknownFacts),
        }

        impl Facts {
            /// Returns the facts of an event of this type. The bytes were checked to be canonical before.
            pub fn parse(kind: &TypeName, raw: &RawValue) -> Result<Self, ReadError> {
                match kind {
                    TypeName::Known(kind) => Self::from_checked(*kind, raw.get()),
                    TypeName::Unknown(_) => Ok(Self::Unknown(UnknownFacts(raw.to_owned()))),
                }
            }

            /// Returns the facts of a type of this version, in a text that was checked to be canonical before.
            pub(crate) fn from_checked(kind: EventType, text: &str) -> Result<Self, ReadError> {
                match kind {
                    $(EventType::$variant => canonical::from_checked(text).map(Self::$variant),)+
                }
            }

            /// Returns the type these facts belong to, if this version knows it.
            pub const fn event_type(&self) -> Option<EventType> {
                match self { $(Self::$variant(_) => Some(EventType::$variant),)+ Self::Unknown(_) => None }
            }

            /// Calls `visit` with every earlier event of the trace that the facts refer to.
            pub fn cites(&self, visit: &mut dyn FnMut(Sequence)) {
                match self { $(Self::$variant(facts) => facts.cites(visit),)+ Self::Unknown(_) => {} }
            }

            /// Returns what is said of the way the act came; nothing where the type has no such fact.
            pub fn attribution(&self) -> Option<Option<&facts::Attribution>> {
                match self { $(Self::$variant(facts) => facts.attribution(),)+ Self::Unknown(_) => None }
            }

            /// Says which way the act came, where the type has such a fact.
            pub fn attribute(&mut self, attribution: facts::Attribution) {
                match self { $(Self::$variant(facts) => facts.attribute(attribution),)+ Self::Unknown(_) => {} }
            }
        }

        /// The content of an event, by its type.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        #[serde(untagged)]
        pub enum Content {
            $(#[doc = $meaning] $variant(content::$content),)+
        }

        impl Content {
            /// Returns the content of an event of this type; the bytes must be canonical JSON.
            pub fn parse(event_type: EventType, bytes: &[u8]) -> Result<Self, ReadError> {
                Self::from_checked(event_type, canonical::check(bytes, &Limits::CONTENT)?)
            }

            /// Returns the content in a text that was checked to be canonical, and within the limits of content.
            pub fn from_checked(event_type: EventType, text: &str) -> Result<Self, ReadError> {
                match event_type {
                    $(EventType::$variant => canonical::from_checked(text).map(Self::$variant),)+
                }
            }
        }

        $(impl From<facts::$facts> for Facts {
            fn from(facts: facts::$facts) -> Self { Self::$variant(facts.into()) }
        })+
    };
}

event_types! {
    // variant "name", traces opens, roles, proofs, facts, content, mandatory in the seed, meaning
    StoreCreated "store_created", REGISTRY Always, &[Role::Desk], KEY, [boxed] StoreCreated, NameContent, false,
        "A store begins; the event's hash names it.";
    KeyRegistered "key_registered", REGISTRY Never, &[Role::Holder], KEY, [boxed] KeyRegistered, NameContent, false,
        "A key enters the registry, signed with that key.";
    KeyRotated "key_rotated", REGISTRY Never, &[Role::Holder, Role::Desk], KEY, [boxed] KeyRotated, NoContent, false,
        "A key is followed by another, signed by the old key or its recovery key.";
    KeyRetired "key_retired", REGISTRY Never, &[Role::Desk], KEY, KeyRetired, NoContent, false,
        "The overlap after a rotation is over.";
    KeyRevoked "key_revoked", REGISTRY Never, &[Role::Desk], KEY, KeyRevoked, NoteContent, false,
        "A key may no longer speak; the root fixes what every trace held.";
    CheckpointRecorded "checkpoint_recorded", REGISTRY Never, &[Role::Desk], KEY, CheckpointRecorded, NoContent, false,
        "The set of all traces at one moment.";
    StoreRestored "store_restored", REGISTRY Never, &[Role::Desk], KEY, StoreRestored, NoteContent, false,
        "The store came back from a backup; a new epoch begins.";
    ClientBound "client_bound", REGISTRY Never, ADMINISTERING, KEY_OR_PASSKEY, ClientBound, NameContent, false,
        "A client speaks with a key that the desk keeps: whatever the key says, one of its clients says.";
    TokenMade "token_made", REGISTRY Never, ADMINISTERING, KEY_OR_PASSKEY, TokenMade, NameContent, false,
        "A client was given a token.";
    TokenRevoked "token_revoked", REGISTRY Never, ADMINISTERING, KEY_OR_PASSKEY, TokenRevoked, NoContent, false,
        "A token is worth nothing more.";
    PersonAdded "person_added", REGISTRY Never, ADMINISTERING, KEY_OR_PASSKEY, PersonAdded, NameContent, false,
        "A person comes in.";
    PersonChanged "person_changed", REGISTRY Never, ADMINISTERING, KEY_OR_PASSKEY, PersonChanged, NameContent, false,
        "A person has another name or another role.";
    PersonRemoved "person_removed", REGISTRY Never, ADMINISTERING, KEY_OR_PASSKEY, PersonRemoved, NoContent, false,
        "A person takes no part any more, and their passkeys end.";
    PasskeyRooted "passkey_rooted", REGISTRY Never, OF_PASSKEYS, PASSKEY, [boxed] PasskeyRooted, LabelContent, false,
        "The first passkey of the store, signed with itself: nobody vouches for it.";
    PasskeyAdded "passkey_added", REGISTRY Never, OF_PASSKEYS, PASSKEY, [boxed] PasskeyAdded, LabelContent, false,
        "Another passkey is registered, and an earlier one vouches for it.";
    PasskeyRemoved "passkey_removed", REGISTRY Never, OF_PASSKEYS, PASSKEY, PasskeyRemoved, NoContent, false,
        "A passkey speaks no more.";
    PasskeyReset "passkey_reset", REGISTRY Never, &[Role::Desk], KEY, [boxed] PasskeyReset, LabelContent, false,
        "All passkeys end but this new one, signed by the recovery key of the newest desk key.";
    JournalOpened "journal_opened", JOURNAL Always, &[Role::Desk], NONE, JournalOpened, NoContent, false,
        "The journal of sign-ins begins.";
    SessionOpened "session_opened", JOURNAL Never, &[Role::Person], PASSKEY_OR_NONE, SessionOpened, NoContent, false,
        "Somebody signed in.";
    SessionInitialized "session_initialized", RUN Always, &[Role::Planner], KEY, SessionInitialized, SessionContent, false,
        "A run begins: who takes part, under which policy, for what.";
    PolicyRecorded "policy_recorded", RUN Never, &[Role::Operator, Role::Desk], ANY_PROOF, PolicyRecorded, PolicyContent, false,
        "The policy of the run in full: what it demands of every tool.";
    ProposalCreated "proposal_created", RUN Never, &[Role::Planner], KEY, ProposalCreated, ProposalContent, true,
        "The planner proposes a unit of work.";
    ProposalReviewed "proposal_reviewed", RUN Never, &[Role::Critic], KEY, ProposalReviewed, ProposalReviewContent, false,
        "The critic decides on a proposal.";
    ToolIntentSigned "tool_intent_signed", RUN Never, &[Role::Executor], KEY, ToolIntentSigned, IntentContent, true,
        "The executor says what it is about to do.";
    ToolIntentReviewed "tool_intent_reviewed", RUN Never, &[Role::Critic], KEY, ToolIntentReviewed, RationaleContent, false,
        "The critic lets an intent through or blocks it.";
    ConditionJudged "condition_judged", RUN Never, &[Role::Critic], KEY, ConditionJudged, NoContent, false,
        "The critic says whether a condition of an approval holds for an intent.";
    CheckStated "check_stated", RUN Never, &[Role::Planner, Role::Executor, Role::Critic], KEY, CheckStated, CheckContent, false,
        "Somebody says what must be true of an artifact, so that everybody can tell.";
    ToolExecutionStarted "tool_execution_started", RUN Never, &[Role::Executor], KEY, ToolExecutionStarted, ExecutionContent, false,
        "A tool starts.";
    ToolExecutionCompleted "tool_execution_completed", RUN Never, &[Role::Executor], KEY, ToolExecutionCompleted, ExecutionResultContent, false,
        "A tool ended as it should.";
    ToolExecutionFailed "tool_execution_failed", RUN Never, &[Role::Executor], KEY, ToolExecutionFailed, FailureContent, false,
        "A tool failed.";
    ArtifactRecorded "artifact_recorded", RUN Never, &[Role::Executor], KEY, ArtifactRecorded, ArtifactContent, false,
        "Bytes were stored.";
    ClaimIssued "claim_issued", RUN Never, &[Role::Executor], KEY, ClaimIssued, ClaimContent, true,
        "The executor claims something and cites what it rests on.";
    ClaimChallenged "claim_challenged", RUN Never, &[Role::Critic], KEY, ClaimChallenged, ReasonContent, true,
        "The critic disputes a claim.";
    ClaimRevised "claim_revised", RUN Never, &[Role::Planner, Role::Executor], KEY, ClaimRevised, ClaimContent, false,
        "A claim takes the place of another.";
    ClaimResolved "claim_resolved", RUN Never, &[Role::Critic], KEY, ClaimResolved, ReasonContent, false,
        "The critic closes its challenge.";
    ClaimRetracted "claim_retracted", RUN Never, &[Role::Planner, Role::Executor], KEY, ClaimRetracted, ReasonContent, false,
        "A claim is taken back.";
    FinalStatementSigned "final_statement_signed", RUN Never, &[Role::Executor], KEY, FinalStatementSigned, FinalStatementContent, true,
        "The executor closes its work with the claims it stands by.";
    VerificationRunStarted "verification_run_started", RUN Never, &[Role::Auditor], KEY, VerificationRunStarted, NoContent, false,
        "The auditor begins to verify.";
    ReportRecorded "report_recorded", RUN Never, &[Role::Auditor], KEY, ReportRecorded, NoContent, false,
        "The auditor's report was stored; a verdict names it.";
    VerificationRunCompleted "verification_run_completed", RUN Never, &[Role::Auditor], KEY, VerificationRunCompleted, VerificationContent, true,
        "The auditor's verdict.";
    SessionAborted "session_aborted", RUN Never, &[Role::Operator], ANY_PROOF, SessionAborted, ReasonContent, false,
        "The operator ends the run.";
    RecoveryRecorded "recovery_recorded", RUN_OR_WORK Never, &[Role::Desk], NONE, RecoveryRecorded, NoteContent, false,
        "The desk came back after a crash.";
    CommandRefused "command_refused", RUN_OR_WORK Never, &[Role::Desk], NONE, CommandRefused, RefusalContent, false,
        "The desk refused a command; nothing else changed.";
    ContentErased "content_erased", ANYWHERE Never, &[Role::Operator, Role::Desk], ANY_PROOF, ContentErased, ErasureContent, false,
        "The words of an event are gone: its content, salt and artifact, and every paper that quotes it.";
    PlanSubmitted "plan_submitted", WORK Always, &[Role::Agent], KEY, PlanSubmitted, PlanContent, false,
        "An agent submits a plan.";
    RulesRecorded "rules_recorded", WORK Never, &[Role::Desk], NONE, RulesRecorded, RulesContent, false,
        "The rules that the plan is held against.";
    GapFound "gap_found", WORK Never, &[Role::Desk], NONE, [boxed] GapFound, QuestionContent, false,
        "The rules found a gap in the plan, and the desk asks.";
    GapAccepted "gap_accepted", WORK Never, ANSWERING, ANY_PROOF, GapAccepted, ActContent, false,
        "Somebody accepts what a question of severity warn points at.";
    GapWithdrawn "gap_withdrawn", WORK Never, &[Role::Desk], NONE, GapWithdrawn, ActContent, false,
        "The rules no longer find the gap, or its plan was withdrawn.";
    QuestionAsked "question_asked", RUN_OR_WORK Maybe, ASKING, KEY, [boxed] QuestionAsked, QuestionContent, false,
        "Somebody asks and waits.";
    QuestionDelivered "question_delivered", RUN_OR_WORK Never, &[Role::Desk], NONE, QuestionDelivered, DeliveryContent, false,
        "The question was put before somebody.";
    QuestionAnswered "question_answered", RUN_OR_WORK Never, ANSWERING, ANY_PROOF, QuestionAnswered, AnswerContent, false,
        "The first answer by somebody entitled; it counts once.";
    AnswerClaimed "answer_claimed", RUN_OR_WORK Never, ASKING, KEY, AnswerClaimed, AnswerClaimContent, false,
        "The asker says what it thinks; it settles nothing.";
    AnswerRejected "answer_rejected", RUN_OR_WORK Never, &[Role::Desk], NONE, AnswerRejected, RejectedContent, false,
        "Somebody gave an answer that the question does not take; it stays open.";
    AnswerSuperseded "answer_superseded", RUN_OR_WORK Never, ANSWERING, ANY_PROOF, AnswerSuperseded, AnswerContent, false,
        "Whoever answered answers again.";
    AnswerRevoked "answer_revoked", RUN_OR_WORK Never, ANSWERING, ANY_PROOF, AnswerRevoked, ActContent, false,
        "Whoever answered takes the answer back; the question is open again.";
    QuestionDeclined "question_declined", RUN_OR_WORK Never, DECLINING, ANY_PROOF, QuestionDeclined, ActContent, false,
        "Somebody who could answer will not, or whoever submitted the plan no longer asks; what waits goes on waiting.";
    QuestionPassedOn "question_passed_on", RUN_OR_WORK Never, ANSWERING, ANY_PROOF, QuestionPassedOn, ActContent, false,
        "Somebody who could answer hands the question to others.";
    QuestionEscalated "question_escalated", RUN_OR_WORK Never, &[Role::Desk], NONE, QuestionEscalated, ActContent, false,
        "The desk puts the question again, or to others.";
    QuestionExtended "question_extended", RUN_OR_WORK Never, ASKING, KEY, QuestionExtended, ActContent, false,
        "The asker gives more time.";
    QuestionCancelled "question_cancelled", RUN_OR_WORK Never, ASKING, KEY, QuestionCancelled, ActContent, false,
        "The asker no longer needs an answer.";
    QuestionExpired "question_expired", RUN_OR_WORK Never, &[Role::Desk], NONE, QuestionExpired, NoContent, false,
        "The deadline passed without an answer, or the run was aborted; what waits goes on waiting.";
    QuestionDefaulted "question_defaulted", RUN_OR_WORK Never, &[Role::Desk], NONE, QuestionDefaulted, DefaultContent, false,
        "The deadline passed, and the declared default holds.";
    ConfirmationAsked "confirmation_asked", RUN_OR_WORK Maybe, CONFIRMING, KEY_OR_NONE, ConfirmationAsked, ConfirmationAskContent, false,
        "An operation waits until somebody says yes to exactly it.";
    ConfirmationGiven "confirmation_given", RUN_OR_WORK Never, ANSWERING, ANY_PROOF, ConfirmationGiven, ConfirmationGivenContent, false,
        "Somebody entitled says yes; it serves for one start.";
    ConfirmationRefused "confirmation_refused", RUN_OR_WORK Never, ANSWERING, ANY_PROOF, ConfirmationRefused, ConfirmationRefusedContent, false,
        "Somebody entitled says no.";
    ConfirmationExpired "confirmation_expired", RUN_OR_WORK Never, &[Role::Desk], NONE, ConfirmationExpired, NoContent, false,
        "The deadline passed without a yes, the plan was withdrawn or the run aborted; that is a no.";
    OperationStarted "operation_started", WORK Never, &[Role::Agent], KEY, OperationStarted, OperationContent, false,
        "The agent begins an operation that no open question blocks, and spends its confirmation.";
    OperationEnded "operation_ended", WORK Never, &[Role::Agent], KEY, OperationEnded, OperationEndContent, false,
        "An operation is over, once.";
    PlanAmended "plan_amended", WORK Never, &[Role::Agent], KEY, PlanAmended, AmendedContent, false,
        "The agent changes its plan; what was answered stays.";
    PlanWithdrawn "plan_withdrawn", WORK Never, &[Role::Agent, Role::Person], ANY_PROOF, PlanWithdrawn, ActContent, false,
        "The agent or a person takes the plan back: nothing is asked about it any more, and nothing begins.";
    PlanConfirmed "plan_confirmed", WORK Never, &[Role::Agent], KEY, PlanConfirmed, ConfirmationContent, false,
        "The agent confirms the plan; every question is settled.";
    PaperRecorded "paper_recorded", WORK Never, &[Role::Desk], NONE, PaperRecorded, PaperContent, false,
        "The desk keeps a document that it signed: a round, what is open, an acceptance, a handoff.";
    PlanAttested "plan_attested", WORK Never, &[Role::Agent], KEY, PlanAttested, AttestationContent, false,
        "The agent attests what it made of the plan.";
}

/// A key of the actor's own.
const KEY: &[ProofKind] = &[ProofKind::Ed25519];
/// The desk's word.
const NONE: &[ProofKind] = &[ProofKind::None];
/// Either.
const KEY_OR_NONE: &[ProofKind] = &[ProofKind::Ed25519, ProofKind::None];
/// A passkey of the person's own.
const PASSKEY: &[ProofKind] = &[ProofKind::Webauthn];
/// It, or a key.
const KEY_OR_PASSKEY: &[ProofKind] = &[ProofKind::Ed25519, ProofKind::Webauthn];
/// It, or the desk's word.
const PASSKEY_OR_NONE: &[ProofKind] = &[ProofKind::None, ProofKind::Webauthn];
/// Any of them.
const ANY_PROOF: &[ProofKind] = &[ProofKind::Ed25519, ProofKind::None, ProofKind::Webauthn];

const REGISTRY: &[TraceKind] = &[TraceKind::Registry];
const RUN: &[TraceKind] = &[TraceKind::Run];
const WORK: &[TraceKind] = &[TraceKind::Work];
const RUN_OR_WORK: &[TraceKind] = &[TraceKind::Run, TraceKind::Work];
const JOURNAL: &[TraceKind] = &[TraceKind::Journal];
const ANYWHERE: &[TraceKind] = &[TraceKind::Registry, TraceKind::Run, TraceKind::Work, TraceKind::Journal];

/// Those who administer: the desk with its key, an operator with a passkey.
const ADMINISTERING: &[Role] = &[Role::Desk, Role::Operator];
/// Those who speak about passkeys: a person about their own, an operator about others' too.
const OF_PASSKEYS: &[Role] = &[Role::Person, Role::Operator];
/// Those who ask: the four roles of a run, and agents outside of one.
const ASKING: &[Role] = &[Role::Planner, Role::Executor, Role::Critic, Role::Auditor, Role::Agent];
/// Those who ask for a confirmation: they, and the desk for whoever wants to act.
const CONFIRMING: &[Role] =
    &[Role::Planner, Role::Executor, Role::Critic, Role::Auditor, Role::Agent, Role::Desk];
/// Those who answer: with a key, or a person through the desk.
const ANSWERING: &[Role] = &[Role::Answerer, Role::Person];
/// Those who end a question without an answer: they, and about a gap whoever submitted the plan.
const DECLINING: &[Role] = &[Role::Answerer, Role::Person, Role::Agent];
