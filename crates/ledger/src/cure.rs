//! What a refusal is about and what to do about it: the field and the cure of every error at the door, of the
//! guards and of the registry. The codes and messages stand with the errors.

use crate::{
    admission::AdmissionError,
    registry::{RegistryError, Standing},
    state::GuardError,
};

impl AdmissionError {
    /// Returns the field of the submission it is about.
    pub const fn field(&self) -> Option<&'static str> {
        Some(match self {
            Self::Statement(_) => "statement",
            Self::UnknownType { .. } | Self::NotForAuthors { .. } | Self::NotOpened { .. } => {
                "statement.type"
            }
            Self::Role { .. } | Self::KeyRole { .. } | Self::PersonRole { .. } => "statement.role",
            Self::OtherStore => "statement.store",
            Self::OtherTrace | Self::TraceExists => "statement.trace",
            Self::Seen => "statement.seen",
            Self::CitesUnseen { .. } => "statement.facts",
            Self::Expired { .. } => "statement.not_after",
            Self::Key(_) => "proof.key",
            Self::Signature(_) => "proof.signature",
            Self::Passkey(_) => "proof",
            Self::OtherPerson => "facts.person",
            Self::Commitment => "statement.content",
            Self::Content(_) | Self::Mismatch(_) | Self::ContentRule { .. } => "content",
            Self::CommandUsed => "statement.command",
        })
    }

    /// Returns what the author can do.
    pub const fn cure(&self) -> &'static str {
        match self {
            Self::Statement(_) => {
                "send the statement as canonical JSON (RFC 8785) with every field of the format"
            }
            Self::UnknownType { .. } => "use a newer version of demur, or one of the event types it lists",
            Self::Role { .. } => "let a participant in the right role say this",
            Self::NotForAuthors { .. } => "leave this to the desk",
            Self::OtherStore => "sign it for this store",
            Self::OtherTrace => "sign it for this trace",
            Self::NotOpened { .. } => "open the trace first",
            Self::TraceExists => "choose a new trace id",
            Self::Seen => "read the trace again and sign with its newest event as seen",
            Self::CitesUnseen { .. } => "read the trace up to that event before you refer to it",
            Self::Expired { .. } => "sign the statement again with a later not_after",
            Self::Key(Standing::Revoked { .. } | Standing::Retired { .. }) => "sign with an active key",
            Self::Key(_) => "register the key first",
            Self::KeyRole { .. } => "register a key for this role, or sign with one that has it",
            Self::Passkey(_) => "touch the passkey again on the page that shows what is signed",
            Self::PersonRole { .. } => {
                "have somebody say this who may: an operator, or whoever the question is for"
            }
            Self::OtherPerson => "sign in as the person whose passkey it is",
            Self::Signature(_) => "sign exactly the bytes you send, with the key you name",
            Self::Commitment => "send the content and salt that the statement commits to",
            Self::Content(_) => "send content of the shape that the event type asks for",
            Self::Mismatch(_) => "name the same conditions, claims or operation in facts and content",
            Self::ContentRule { required: true, .. } => "send the content with its salt",
            Self::ContentRule { required: false, .. } => "send no content with this event type",
            Self::CommandUsed => "give every command an id of its own; a repeat must have the same bytes",
        }
    }
}

impl GuardError {
    /// Returns the field of the statement it is about.
    pub fn field(&self) -> Option<&'static str> {
        Some(match self {
            Self::Shape(_) | Self::Place { .. } | Self::TooMany { .. } => return None,
            Self::NotOfThisTrace { .. }
            | Self::OpenedAlready { .. }
            | Self::OutOfPhase { .. }
            | Self::OutOfPlan { .. }
            | Self::PolicyMissing
            | Self::PolicyFixed
            | Self::NotOpened => "statement.type",
            Self::Question(error) => return error.field(),
            Self::Confirmation(error) => return error.field(),
            Self::Erasure(_) => "facts.event",
            Self::Meaning(error) => error.field(),
            Self::RoleForbidden { .. } | Self::NotParticipant { .. } => "statement.role",
            Self::RoleMissing { .. } | Self::RoleNotOfARun { .. } | Self::JudgesOwnWork { .. } => {
                "facts.participants"
            }
            Self::Reference { field, .. } | Self::Ascending { field } => in_facts(field),
            Self::ConditionCount { .. } => "facts.conditions",
            Self::ProposalNotApproved { .. } => "facts.proposal",
            Self::ConditionsUnmet { .. } => "facts.meets",
            Self::ApprovalMissing { .. } | Self::IntentBlocked { .. } | Self::IntentUsed { .. } => {
                "facts.intent"
            }
            Self::RetryLimit { .. } => "facts.retries",
            Self::FallbackNeeded | Self::FallbackForbidden => "facts.fallback_for",
            Self::NoArtifact { .. } => "facts.outputs",
            Self::ExecutionOpen { .. } => "facts.executions",
            Self::EvidenceMinimum { .. } => "facts.evidence",
            Self::BundleIncomplete { .. } => "facts.claims",
            Self::ChallengeNeeded | Self::VerificationOpen { .. } => "facts",
        })
    }

    /// Returns what has to happen first, or instead.
    pub const fn cure(&self) -> &'static str {
        match self {
            Self::Shape(_) => "send either a statement or a record",
            Self::NotOfThisTrace { .. } => "send it to the trace it belongs to",
            Self::OpenedAlready { .. } => "go on in the trace that is there",
            Self::OutOfPlan { .. } => {
                "settle the questions, confirm the plan, then attest, each once; a plan that is confirmed or withdrawn is followed by a new one"
            }
            Self::Question(error) => error.cure(),
            Self::Confirmation(error) => error.cure(),
            Self::Erasure(error) => error.cure(),
            Self::Meaning(error) => error.cure(),
            Self::PolicyMissing => "record the policy of the run first",
            Self::PolicyFixed => "open a run of its own for another policy",
            Self::Place { .. } => "read the trace again",
            Self::RoleForbidden { .. } => "let a participant in the right role say this",
            Self::NotParticipant { .. } => "open a run that names this participant",
            Self::OutOfPhase { phase, .. } if phase.is_final() => {
                "the run has ended: nothing more is recorded of it"
            }
            Self::OutOfPhase { .. } => "wait until the run has reached the phase where this may happen",
            Self::NotOpened => {
                "open the trace first: session_initialized, plan_submitted, question_asked or confirmation_asked"
            }
            Self::RoleMissing { .. } => "name at least a planner, an executor and a critic",
            Self::RoleNotOfARun { .. } => "name only planners, executors, critics and auditors",
            Self::JudgesOwnWork { .. } => "name another principal as critic or auditor",
            Self::Reference { .. } => "refer to an event of the kind that is expected",
            Self::Ascending { .. } => "sort the list and name everything once",
            Self::ConditionCount { .. } => "name conditions exactly when the approval is conditional",
            Self::ProposalNotApproved { .. } => "wait for the review, or revise the proposal",
            Self::ConditionsUnmet { .. } => "meet every condition of the approval and say so",
            Self::ApprovalMissing { .. } => "ask the critic to review the intent",
            Self::IntentBlocked { .. } => "sign a revised intent",
            Self::IntentUsed { .. } => "sign a new intent that names the failed one in retries",
            Self::RetryLimit { .. } => "claim the failure, or fall back to another proposal",
            Self::FallbackNeeded => "name the failed intent in fallback_for",
            Self::FallbackForbidden => "claim the failure",
            Self::ChallengeNeeded => "go on with claims, or wait for a challenge",
            Self::NoArtifact { .. } => "record an input or output artifact first",
            Self::ExecutionOpen { .. } => "end every execution first",
            Self::EvidenceMinimum { .. } => "cite more artifacts as evidence",
            Self::BundleIncomplete { .. } => "name exactly the claims in play, ascending",
            Self::TooMany { .. } => "close some of what is open first",
            Self::VerificationOpen { .. } => "complete the open verification run first",
        }
    }
}

impl RegistryError {
    /// Returns the stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Disagreement(_) | Self::Chain { .. } | Self::Pin | Self::NoProof => "REGISTRY_SHAPE",
            Self::NotRegistry { .. } => "NOT_REGISTRY",
            Self::Role { .. } => "ROLE_FORBIDDEN",
            Self::Signer { .. } => "SIGNER_NOT_ENTITLED",
            Self::Actor => "ACTOR",
            Self::DeskPrincipal => "DESK_PRINCIPAL",
            Self::KeyKnown => "KEY_KNOWN",
            Self::Subject(_) => "KEY_STATE",
            Self::Possession => "POSSESSION",
            Self::Roles => "KEY_ROLES",
            Self::Recovery => "RECOVERY_KEY",
            Self::Rotation { .. } => "ROTATION",
            Self::LastDeskKey => "LAST_DESK_KEY",
            Self::Epoch { .. } => "EPOCH",
            Self::KeyBound => "KEY_BOUND",
            Self::TokenKnown | Self::TokenUnknown | Self::TokenSpent => "TOKEN_STATE",
            Self::TokenScopes | Self::TokenPeople => "TOKEN_LIST",
            Self::PersonKnown | Self::PersonUnknown => "PERSON_STATE",
            Self::NeedsTouch => "PASSKEY_NEEDED",
            Self::RootKnown => "ROOT_KNOWN",
            Self::RootRole => "ROOT_ROLE",
            Self::Voucher => "VOUCHER",
            Self::LastOperatorPasskey => "LAST_OPERATOR_PASSKEY",
            Self::RpId | Self::PasskeyFlags => "ENROLMENT",
            Self::PasskeyPossession(error) => error.code(),
            Self::NoRecovery => "NO_RECOVERY",
            Self::CheckpointOwed => "CHECKPOINT_OWED",
            Self::Erasure(error) => error.code(),
            Self::Write(_) => "WRITE",
        }
    }

    /// Returns the field of the statement it is about.
    pub const fn field(&self) -> Option<&'static str> {
        Some(match self {
            Self::Disagreement(_)
            | Self::Chain { .. }
            | Self::Pin
            | Self::Write(_)
            | Self::CheckpointOwed => {
                return None;
            }
            Self::NotRegistry { .. } => "statement.type",
            Self::Role { .. } => "statement.role",
            Self::NoProof
            | Self::Signer { .. }
            | Self::Actor
            | Self::NeedsTouch
            | Self::Voucher
            | Self::NoRecovery => "proof.key",
            Self::DeskPrincipal => "facts.principal",
            Self::PersonKnown | Self::PersonUnknown | Self::RootRole => "facts.person",
            Self::RpId => "facts.rp",
            Self::PasskeyFlags => "facts.synced",
            Self::KeyKnown
            | Self::Subject(_)
            | Self::LastDeskKey
            | Self::KeyBound
            | Self::RootKnown
            | Self::LastOperatorPasskey => "facts.key",
            Self::Possession | Self::PasskeyPossession(_) => "facts.possession",
            Self::Roles => "facts.roles",
            Self::Recovery => "facts.recovery",
            Self::Rotation { .. } => "facts.rotation",
            Self::Epoch { .. } => "facts.epoch",
            Self::TokenKnown | Self::TokenUnknown | Self::TokenSpent => "facts.token",
            Self::TokenScopes => "facts.scopes",
            Self::TokenPeople => "facts.people",
            Self::Erasure(_) => "facts.event",
        })
    }

    /// Returns what to do about it.
    pub const fn cure(&self) -> &'static str {
        match self {
            Self::Disagreement(_) | Self::Chain { .. } | Self::Pin | Self::Write(_) => {
                "read the registry again"
            }
            Self::NotRegistry { .. } => "send it to the trace it belongs to",
            Self::Role { .. } => "sign in a role that the event type admits",
            Self::NoProof | Self::Actor => "sign with a key of the registry",
            Self::Signer { .. } => "sign with the key it is about, its recovery key or the desk's",
            Self::DeskPrincipal => "register the key under a principal of its own",
            Self::KeyKnown => "make a new key",
            Self::Subject(_) => "look at the key's state in the registry",
            Self::Possession => "sign the possession claim with the new key",
            Self::Roles => "name roles ascending, each once",
            Self::Recovery => "name another key as recovery key",
            Self::Rotation { .. } => "cite the rotation of this very key",
            Self::LastDeskKey => {
                "bring in another key of the desk first, by rotation or with its recovery key"
            }
            Self::Epoch { .. } => "use the next epoch",
            Self::KeyBound => "leave it: it is on record",
            Self::TokenKnown => "draw a new name for the token",
            Self::TokenUnknown | Self::TokenSpent => "look at the tokens of the registry",
            Self::TokenScopes | Self::TokenPeople => "sort the list and name everything once",
            Self::PersonKnown => "draw a new name for the person",
            Self::PersonUnknown => "look at the people of the registry, and add the person first",
            Self::NeedsTouch => "have an operator do it on a page, with their passkey",
            Self::RootKnown => {
                "add it with an earlier passkey, or reset them with the recovery key of the desk"
            }
            Self::RootRole => "make the person an operator first",
            Self::Voucher => {
                "touch a passkey of this person; an operator's where the person has none, or to remove one"
            }
            Self::LastOperatorPasskey => "add another passkey of an operator first",
            Self::RpId | Self::PasskeyFlags => "enrol the passkey again, on the page of this server",
            Self::PasskeyPossession(_) => "touch the new passkey again when the page asks for it",
            Self::NoRecovery => "open a new store: the desk's newest key has no recovery key",
            Self::CheckpointOwed => "record the checkpoint in the same commit",
            Self::Erasure(error) => error.cure(),
        }
    }
}

/// Returns the dotted path of a fact.
fn in_facts(name: &str) -> &'static str {
    match name {
        "about" => "facts.about",
        "artifact" => "facts.artifact",
        "challenge" => "facts.challenge",
        "claim" => "facts.claim",
        "confirmed" => "facts.confirmed",
        "evidence" => "facts.evidence",
        "executions" => "facts.executions",
        "fallback_for" => "facts.fallback_for",
        "intent" => "facts.intent",
        "outputs" => "facts.outputs",
        "participants" => "facts.participants",
        "proposal" => "facts.proposal",
        "replaces" => "facts.replaces",
        "retries" => "facts.retries",
        "started" => "facts.started",
        "through" => "facts.through",
        _ => "facts",
    }
}
