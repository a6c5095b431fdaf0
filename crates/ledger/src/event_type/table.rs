//! The rows, and the types made from them.

use demur_core::{
    canonical::{self, ReadError},
    limit::Limits,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{EventRule, TraceKind, TypeName, UnknownFacts};
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
    ($($variant:ident $name:literal, $trace:ident $opens:literal, $roles:expr, $proofs:expr,
       $([$boxed:ident])? $facts:ident, $content:ident, $mandatory:literal, $meaning:literal;)+) => {
        /// An event type of this version.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
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
                        trace: TraceKind::$trace,
                        opens: $opens,
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
        #[non_exhaustive]
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
        }

        /// The content of an event, by its type.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
        #[serde(untagged)]
        #[non_exhaustive]
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
    // variant "name", trace opens, roles, proofs, facts, content, mandatory in the seed, meaning
    StoreCreated "store_created", Registry true, &[Role::Desk], KEY, [boxed] StoreCreated, NameContent, false,
        "A store begins; the event's hash names it.";
    KeyRegistered "key_registered", Registry false, &[Role::Holder], KEY, [boxed] KeyRegistered, NameContent, false,
        "A key enters the registry, signed with that key.";
    KeyRotated "key_rotated", Registry false, &[Role::Holder, Role::Desk], KEY, [boxed] KeyRotated, NoContent, false,
        "A key is followed by another, signed by the old key or its recovery key.";
    KeyRetired "key_retired", Registry false, &[Role::Desk], KEY, KeyRetired, NoContent, false,
        "The overlap after a rotation is over.";
    KeyRevoked "key_revoked", Registry false, &[Role::Desk], KEY, KeyRevoked, NoteContent, false,
        "A key may no longer speak; the root fixes what every trace held.";
    CheckpointRecorded "checkpoint_recorded", Registry false, &[Role::Desk], KEY, CheckpointRecorded, NoContent, false,
        "The set of all traces at one moment.";
    StoreRestored "store_restored", Registry false, &[Role::Desk], KEY, StoreRestored, NoteContent, false,
        "The store came back from a backup; a new epoch begins.";
    SessionInitialized "session_initialized", Run true, &[Role::Planner], KEY, SessionInitialized, SessionContent, false,
        "A run begins: who takes part, under which policy, for what.";
    ProposalCreated "proposal_created", Run false, &[Role::Planner], KEY, ProposalCreated, ProposalContent, true,
        "The planner proposes a unit of work.";
    ProposalReviewed "proposal_reviewed", Run false, &[Role::Critic], KEY, ProposalReviewed, ProposalReviewContent, false,
        "The critic decides on a proposal.";
    ToolIntentSigned "tool_intent_signed", Run false, &[Role::Executor], KEY, ToolIntentSigned, IntentContent, true,
        "The executor says what it is about to do.";
    ToolIntentReviewed "tool_intent_reviewed", Run false, &[Role::Critic], KEY, ToolIntentReviewed, RationaleContent, false,
        "The critic lets an intent through or blocks it.";
    ToolExecutionStarted "tool_execution_started", Run false, &[Role::Executor], KEY, ToolExecutionStarted, ExecutionContent, false,
        "A tool starts.";
    ToolExecutionCompleted "tool_execution_completed", Run false, &[Role::Executor], KEY, ToolExecutionCompleted, ExecutionResultContent, false,
        "A tool ended as it should.";
    ToolExecutionFailed "tool_execution_failed", Run false, &[Role::Executor], KEY, ToolExecutionFailed, FailureContent, false,
        "A tool failed.";
    ArtifactRecorded "artifact_recorded", Run false, &[Role::Executor], KEY, ArtifactRecorded, ArtifactContent, false,
        "Bytes were stored.";
    ClaimIssued "claim_issued", Run false, &[Role::Executor], KEY, ClaimIssued, ClaimContent, true,
        "The executor claims something and cites what it rests on.";
    ClaimChallenged "claim_challenged", Run false, &[Role::Critic], KEY, ClaimChallenged, ReasonContent, true,
        "The critic disputes a claim.";
    ClaimRevised "claim_revised", Run false, &[Role::Planner, Role::Executor], KEY, ClaimRevised, ClaimContent, false,
        "A claim takes the place of another.";
    ClaimResolved "claim_resolved", Run false, &[Role::Critic], KEY, ClaimResolved, ReasonContent, false,
        "The critic closes its challenge.";
    ClaimRetracted "claim_retracted", Run false, &[Role::Planner, Role::Executor], KEY, ClaimRetracted, ReasonContent, false,
        "A claim is taken back.";
    FinalStatementSigned "final_statement_signed", Run false, &[Role::Executor], KEY, FinalStatementSigned, FinalStatementContent, true,
        "The executor closes its work with the claims it stands by.";
    VerificationRunStarted "verification_run_started", Run false, &[Role::Auditor], KEY, VerificationRunStarted, NoContent, false,
        "The auditor begins to verify.";
    VerificationRunCompleted "verification_run_completed", Run false, &[Role::Auditor], KEY, VerificationRunCompleted, VerificationContent, true,
        "The auditor's verdict.";
    SessionAborted "session_aborted", Run false, &[Role::Operator], KEY_OR_NONE, SessionAborted, ReasonContent, false,
        "The operator ends the run.";
    RecoveryRecorded "recovery_recorded", Run false, &[Role::Desk], NONE, RecoveryRecorded, NoteContent, false,
        "The desk came back after a crash.";
    CommandRefused "command_refused", Run false, &[Role::Desk], NONE, CommandRefused, RefusalContent, false,
        "The desk refused a command; the run did not change.";
}

/// A key of the actor's own.
const KEY: &[ProofKind] = &[ProofKind::Ed25519];
/// The desk's word.
const NONE: &[ProofKind] = &[ProofKind::None];
/// Either.
const KEY_OR_NONE: &[ProofKind] = &[ProofKind::Ed25519, ProofKind::None];
