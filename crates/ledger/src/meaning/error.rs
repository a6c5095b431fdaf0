//! What an event means that may not be: each demand of the format with its code, its field and its cure. At the door
//! such an event is refused; in a file the verifier finds it and goes on.

use crate::{
    attribution::assurance_word,
    client::HeldRoles,
    confirmation::ConfirmationStanding,
    facts::{Assurance, Risk, Root, VerificationStatus},
    name::{ClientId, Sequence, TokenId},
    role::Role,
    state::Blame,
    verify::Code,
};

/// An event whose meaning breaks a demand.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeaningError {
    /// The policy document has other numbers than the opening of the run.
    #[error("{field}: expected the value that stands in the opening of the run, found another")]
    PolicyMismatch {
        /// The number.
        field: &'static str,
    },
    /// A tool starts without its input.
    #[error("input: expected the artifact with the input of the tool, found null")]
    InputMissing,
    /// The recorded input is not the one that was intended.
    #[error("input: expected the bytes that intent {intent} names by hash, found others in artifact {input}")]
    InputMismatch {
        /// The intent.
        intent: Sequence,
        /// The artifact.
        input: Sequence,
    },
    /// A tool that the proposal does not ask for.
    #[error("expected a tool that proposal {proposal} requires, found {tool:?}")]
    ToolNotProposed {
        /// The proposal.
        proposal: Sequence,
        /// The tool.
        tool: Box<str>,
    },
    /// A tool that the policy does not name.
    #[error("expected a tool that the policy names, found {tool:?}")]
    ToolNotAllowed {
        /// The tool.
        tool: Box<str>,
    },
    /// A program that the policy does not let the tool start.
    #[error(
        "expected the input in event {input} to start a program that the policy names for {tool:?}, found another"
    )]
    ProgramNotAllowed {
        /// The input.
        input: Sequence,
        /// The tool.
        tool: Box<str>,
    },
    /// A risk below the tool's.
    #[error("expected {} risk or more for {tool:?}, as the policy says, found {}", floor.as_str(), found.as_str())]
    RiskUnderstated {
        /// The tool.
        tool: Box<str>,
        /// The least that the policy allows.
        floor: Risk,
        /// What the intent says.
        found: Risk,
    },
    /// A call that was blocked starts as if it had not been.
    #[error(
        "expected an approval after event {blocked}, which blocked this call, at {} risk or more, found none",
        risk.as_str()
    )]
    BlockedAgain {
        /// The review that blocked it.
        blocked: Sequence,
        /// The risk at which it was blocked.
        risk: Risk,
    },
    /// A call that failed too often.
    #[error(
        "expected at most {limit} failures of this call since it last completed, as the policy says, found {failed}"
    )]
    RetryLimit {
        /// How many the policy allows.
        limit: u64,
        /// How often it failed.
        failed: u64,
    },
    /// A question blocks the tool by its name.
    #[error("expected no unsettled question that blocks {tool:?}, found question {question}")]
    ToolBlocked {
        /// The tool.
        tool: Box<str>,
        /// The question.
        question: Sequence,
    },
    /// An output that was there before its execution started.
    #[error("outputs: expected artifacts recorded after the start in event {started}, found {artifact}")]
    OutputEarlier {
        /// The artifact.
        artifact: Sequence,
        /// The start.
        started: Sequence,
    },
    /// Evidence that does not come from the executions.
    #[error("evidence: expected what the cited executions {expected}, found artifact {artifact}")]
    EvidenceForeign {
        /// The artifact.
        artifact: Sequence,
        /// What counts as evidence here.
        expected: &'static str,
    },
    /// The same bytes more than once.
    #[error("evidence: expected at least {minimum} artifacts with different bytes, found {found}")]
    EvidenceAlike {
        /// The policy's minimum.
        minimum: u64,
        /// How many different ones there are.
        found: usize,
    },
    /// A final statement that puts a claim in other words.
    #[error("expected claim {claim} in the words in which it was made, found others")]
    BundleDiffers {
        /// The claim.
        claim: Sequence,
    },
    /// A condition that nobody has shown to hold.
    #[error(
        "expected condition {condition} of intent {intent} to be shown to hold by the critic, found that it is not"
    )]
    ConditionUnshown {
        /// The intent.
        intent: Sequence,
        /// The condition.
        condition: u64,
    },
    /// A judgement on a question that nobody settled.
    #[error(
        "expected condition {condition} to be shown by an answer that counts, found that question {question} has none"
    )]
    ConditionUnanswered {
        /// The condition.
        condition: u64,
        /// The question.
        question: Sequence,
    },
    /// A check that refutes its author's claim.
    #[error("expected a check of claim {claim} that is true of artifact {artifact}, found one that is false")]
    CheckFailed {
        /// The claim.
        claim: Sequence,
        /// The artifact.
        artifact: Sequence,
    },
    /// A verdict on a report that nobody can read.
    #[error("report: expected SHA-256 of the bytes of a recorded report, found another")]
    ReportMissing,
    /// A verdict that is not the report's.
    #[error("status: expected what report {report} says, {}, found {}", borne(*says), found.as_str())]
    ReportDiffers {
        /// The report.
        report: Sequence,
        /// The status that it bears.
        says: Option<VerificationStatus>,
        /// The verdict.
        found: VerificationStatus,
    },
    /// A digest of something else.
    #[error("digest: expected that {expected}, found another")]
    ConfirmationMismatch {
        /// Of what it should be.
        expected: &'static str,
    },
    /// A second start on one yes.
    #[error(
        "expected a confirmation that was not used yet, found that event {started} was started on confirmation {confirmation}"
    )]
    ConfirmationSpent {
        /// The confirmation.
        confirmation: Sequence,
        /// What was started on it.
        started: Sequence,
    },
    /// A start without a yes.
    #[error("expected a yes to confirmation {confirmation} before this starts on it, found {}", lacking(*standing))]
    OperationUnconfirmed {
        /// The confirmation.
        confirmation: Sequence,
        /// How it stands; given where the start does not name it.
        standing: ConfirmationStanding,
    },
    /// A start that does not say what starts, where somebody was asked to confirm something.
    #[error(
        "expected the exact operation that starts, since confirmation {confirmation} was asked for in this trace, found none told"
    )]
    OperationUntold {
        /// The newest confirmation.
        confirmation: Sequence,
    },
    /// A start on a yes of which nobody can tell any more what it was to.
    #[error(
        "expected a yes of which the words are there, found that the ask and the yes of confirmation {confirmation} were erased"
    )]
    ConfirmationErased {
        /// The confirmation.
        confirmation: Sequence,
    },
    /// Whoever wants to act asks in its own words where the policy wants a person's yes.
    #[error(
        "expected the critic or demur to ask about {tool:?}, for which the policy wants a person's yes, found the {role}"
    )]
    ConfirmationForeign {
        /// Who asks.
        role: Role,
        /// The tool.
        tool: Box<str>,
    },
    /// A tool that a person was to confirm.
    #[error(
        "expected that a person confirmed intent {intent}, as the policy says of {tool:?}, found that nobody did"
    )]
    ToolUnconfirmed {
        /// The intent.
        intent: Sequence,
        /// The tool.
        tool: Box<str>,
    },
    /// A question after all was said.
    #[error("expected no question but the auditor's after the final statement, found one of the {role}")]
    SpokeAfterFinal {
        /// Who asks.
        role: Role,
    },
    /// An amended plan that changes what somebody answered.
    #[error("{field}: expected what was answered to question {question}, found another value or none")]
    FieldAnswered {
        /// The question.
        question: Sequence,
        /// The field of the plan.
        field: Box<str>,
    },
    /// A client both does the work and judges it, and the policy does not allow that.
    #[error("expected clients that judge to be others than those that do the work, as the policy says: {0}")]
    ClientHeldRoles(HeldRoles),
    /// Somebody speaks whose client nobody knows, and the policy keeps those who judge apart.
    #[error(
        "expected the client of the {role} to be on record, since the policy wants other clients to judge than those that do the work, found none"
    )]
    ClientUnrecorded {
        /// The role.
        role: Role,
    },
    /// An act of a person without its way, or a way beside a signature.
    #[error("attribution: {}", if *is_recorded { "expected how the act came, because no signature proves it, found null" } else { "expected null, because the signature says who spoke, found an attribution" })]
    AttributionPresence {
        /// Whether the desk records it for a person.
        is_recorded: bool,
    },
    /// A word above what the credential rests on.
    #[error(
        "assurance: expected at most {:?}, which is what a credential of root {} is worth, found {:?}",
        assurance_word(root.bears()), root.as_str(), assurance_word(*claimed)
    )]
    AssuranceOverstated {
        /// The word.
        claimed: Assurance,
        /// What the credential rests on.
        root: Root,
    },
    /// An act that rests on a sign-in, and does not show it.
    #[error("attribution: expected {expected}, because it rests on root {}, found none", root.as_str())]
    SignInUnshown {
        /// What the credential is said to rest on.
        root: Root,
        /// What should be there.
        expected: &'static str,
    },
    /// A token that was not good for the act.
    #[error("token: expected {expected}, found {token}, of which the registry says something else")]
    TokenUnfit {
        /// The token.
        token: TokenId,
        /// What it should be.
        expected: &'static str,
    },
    /// The program that asked answers where more is demanded than its word, or without its form.
    #[error(
        "expected an answer of the program that asked to come through its own form, where relayed is enough, found another"
    )]
    OwnClient,
    /// The program that asked answers, and the record hides it.
    #[error("own: expected true, because client {client} is the asker's, found false")]
    OwnClientUntold {
        /// The client.
        client: ClientId,
    },
}

const fn lacking(standing: ConfirmationStanding) -> &'static str {
    match standing {
        ConfirmationStanding::Open => "that nobody has decided",
        ConfirmationStanding::Given => "that it does not name it",
        ConfirmationStanding::Refused => "that it was refused",
        ConfirmationStanding::Expired => "that it expired",
    }
}

fn borne(status: Option<VerificationStatus>) -> &'static str {
    status.map_or("no status", VerificationStatus::as_str)
}

impl MeaningError {
    /// Returns the stable code: where the desk refuses with it, a verifier finds it.
    pub const fn code(&self) -> &'static str {
        self.finding().as_str()
    }

    /// Returns the same as a finding of a verifier.
    pub const fn finding(&self) -> Code {
        match self {
            Self::PolicyMismatch { .. } => Code::PolicyMismatch,
            Self::InputMissing | Self::InputMismatch { .. } => Code::InputMismatch,
            Self::ToolNotProposed { .. } => Code::ToolNotProposed,
            Self::ToolNotAllowed { .. } | Self::ProgramNotAllowed { .. } => Code::ToolNotAllowed,
            Self::RiskUnderstated { .. } => Code::RiskUnderstated,
            Self::BlockedAgain { .. } => Code::BlockedAgain,
            Self::RetryLimit { .. } => Code::RetryLimit,
            Self::ToolBlocked { .. } => Code::ToolBlocked,
            Self::EvidenceForeign { .. } | Self::EvidenceAlike { .. } | Self::OutputEarlier { .. } => {
                Code::EvidenceWeak
            }
            Self::BundleDiffers { .. } => Code::BundleDiffers,
            Self::ConditionUnshown { .. } | Self::ConditionUnanswered { .. } => Code::ConditionUnshown,
            Self::CheckFailed { .. } => Code::CheckFailed,
            Self::ReportMissing | Self::ReportDiffers { .. } => Code::ReportMismatch,
            Self::ConfirmationMismatch { .. } => Code::ConfirmationMismatch,
            Self::ConfirmationSpent { .. } => Code::ConfirmationSpent,
            Self::OperationUnconfirmed { .. }
            | Self::OperationUntold { .. }
            | Self::ConfirmationErased { .. }
            | Self::ConfirmationForeign { .. }
            | Self::ToolUnconfirmed { .. } => Code::OperationUnconfirmed,
            Self::SpokeAfterFinal { .. } => Code::SpokeAfterFinal,
            Self::FieldAnswered { .. } => Code::FieldAnswered,
            Self::ClientHeldRoles(_) | Self::ClientUnrecorded { .. } => Code::ClientHeldRoles,
            Self::AttributionPresence { .. }
            | Self::AssuranceOverstated { .. }
            | Self::SignInUnshown { .. }
            | Self::TokenUnfit { .. } => Code::AssuranceOverstated,
            Self::OwnClient | Self::OwnClientUntold { .. } => Code::OwnClient,
        }
    }

    /// Returns who has to do something about it.
    pub const fn blame(&self) -> Blame {
        match self {
            Self::PolicyMismatch { .. }
            | Self::InputMissing
            | Self::BundleDiffers { .. }
            | Self::OutputEarlier { .. }
            | Self::CheckFailed { .. }
            | Self::ReportDiffers { .. }
            | Self::ConfirmationMismatch { .. }
            | Self::OperationUntold { .. } => Blame::Malformed,
            Self::InputMismatch { .. }
            | Self::ToolNotProposed { .. }
            | Self::ToolNotAllowed { .. }
            | Self::ProgramNotAllowed { .. }
            | Self::RiskUnderstated { .. }
            | Self::RetryLimit { .. }
            | Self::ConfirmationSpent { .. }
            | Self::ConfirmationForeign { .. }
            | Self::SpokeAfterFinal { .. }
            | Self::FieldAnswered { .. }
            | Self::ClientHeldRoles(_)
            | Self::ClientUnrecorded { .. }
            | Self::AttributionPresence { .. }
            | Self::AssuranceOverstated { .. }
            | Self::SignInUnshown { .. }
            | Self::TokenUnfit { .. }
            | Self::OwnClient
            | Self::OwnClientUntold { .. } => Blame::Forbidden,
            Self::BlockedAgain { .. }
            | Self::ToolBlocked { .. }
            | Self::EvidenceForeign { .. }
            | Self::EvidenceAlike { .. }
            | Self::ConditionUnshown { .. }
            | Self::ConditionUnanswered { .. }
            | Self::OperationUnconfirmed { .. }
            | Self::ConfirmationErased { .. }
            | Self::ToolUnconfirmed { .. }
            | Self::ReportMissing => Blame::TooEarly,
        }
    }

    /// Returns the field of the submission it is about.
    pub const fn field(&self) -> &'static str {
        match self {
            Self::PolicyMismatch { .. } => "content.document",
            Self::InputMissing | Self::InputMismatch { .. } | Self::ProgramNotAllowed { .. } => "facts.input",
            Self::ToolNotProposed { .. } | Self::ToolNotAllowed { .. } => "content.tool",
            Self::RiskUnderstated { .. } => "facts.risk",
            Self::BlockedAgain { .. }
            | Self::RetryLimit { .. }
            | Self::ToolBlocked { .. }
            | Self::ToolUnconfirmed { .. }
            | Self::ConditionUnshown { .. } => "facts.intent",
            Self::CheckFailed { .. } => "content.value",
            Self::EvidenceForeign { .. } | Self::EvidenceAlike { .. } | Self::ConditionUnanswered { .. } => {
                "facts.evidence"
            }
            Self::OutputEarlier { .. } => "facts.outputs",
            Self::BundleDiffers { .. } => "content.claims",
            Self::ReportMissing => "content.report",
            Self::ReportDiffers { .. } => "facts.status",
            Self::ConfirmationMismatch { .. } => "content.digest",
            Self::OperationUntold { .. } => "content.operation",
            Self::ConfirmationSpent { .. }
            | Self::ConfirmationErased { .. }
            | Self::OperationUnconfirmed { .. } => "facts.confirmation",
            Self::FieldAnswered { .. } => "content.plan",
            Self::SpokeAfterFinal { .. }
            | Self::ConfirmationForeign { .. }
            | Self::ClientHeldRoles(_)
            | Self::ClientUnrecorded { .. } => "statement.role",
            Self::AttributionPresence { .. } => "facts.attribution",
            Self::TokenUnfit { .. } => "facts.attribution.token",
            Self::SignInUnshown { .. } => "facts.attribution.root",
            Self::AssuranceOverstated { .. } => "facts.assurance",
            Self::OwnClient | Self::OwnClientUntold { .. } => "facts.attribution.own",
        }
    }

    /// Returns what has to happen first, or instead.
    pub const fn cure(&self) -> &'static str {
        match self {
            Self::PolicyMismatch { .. } => "record the policy that the run was opened with",
            Self::InputMissing => "record the input as an artifact and name it",
            Self::InputMismatch { .. } => "sign an intent for this input, or record the input it names",
            Self::ToolNotProposed { .. } => "propose the tool first",
            Self::ToolNotAllowed { .. } => {
                "use a tool that the policy names, or open a run under another policy"
            }
            Self::ProgramNotAllowed { .. } => {
                "start a program that the policy names for the tool, or open a run under another policy"
            }
            Self::RiskUnderstated { .. } => "sign the intent at the risk that the policy names",
            Self::BlockedAgain { .. } => "ask the critic to review an intent for it at that risk",
            Self::RetryLimit { .. } => "claim the failure, or fall back to another proposal",
            Self::ToolBlocked { .. } => "wait for the answer, or cancel the question",
            Self::EvidenceForeign { .. } => "cite the executions that the evidence comes from",
            Self::EvidenceAlike { .. } => "cite artifacts with different bytes",
            Self::OutputEarlier { .. } => "record what the tool produced once it has run, and name that",
            Self::BundleDiffers { .. } => "repeat every claim in its own words, or revise it first",
            Self::ConditionUnanswered { .. } => "wait for the answer, and judge the condition then",
            Self::ConditionUnshown { .. } => "have the critic judge the condition, or state a check of it",
            Self::CheckFailed { .. } => "claim what the artifact shows, or check what is true of it",
            Self::ReportMissing => "record the report first, and name SHA-256 of its bytes",
            Self::ReportDiffers { .. } => "give the verdict that the report bears",
            Self::ConfirmationMismatch { .. } => {
                "use the digest of exactly the operation that was shown and confirmed"
            }
            Self::ConfirmationSpent { .. } => "ask for a new confirmation: each serves for one start",
            Self::OperationUnconfirmed { .. } => {
                "wait until it is given and name it; what was refused or expired needs a new confirmation"
            }
            Self::ToolUnconfirmed { .. } => {
                "ask for a confirmation about the intent, and wait for a person's yes"
            }
            Self::OperationUntold { .. } => "start it with the exact operation, whole",
            Self::TokenUnfit { .. } => {
                "use a token that is good for it: `demur token new NAME --scope relay --for PERSON`"
            }
            Self::ConfirmationForeign { .. } => "sign the intent, and let the critic ask about it",
            Self::ConfirmationErased { .. } => "ask for a new confirmation, and start on that",
            Self::SpokeAfterFinal { .. } => "ask before the final statement, or in a trace of its own",
            Self::FieldAnswered { .. } => {
                "leave what was answered as it is; whoever answered can replace the answer or take it back"
            }
            Self::AttributionPresence { .. } => {
                "say how an act of a person came, and nothing of it beside a signature"
            }
            Self::AssuranceOverstated { .. } => "claim no more than the credential rests on",
            Self::SignInUnshown { .. } => {
                "sign in with a passkey that is on record, and say by which session it came"
            }
            Self::OwnClient => {
                "have a person answer without the program that asked: `demur answer`, or `demur open`"
            }
            Self::OwnClientUntold { .. } => "say that the program that asked answered",
            Self::ClientUnrecorded { .. } => {
                "speak with a token (`demur token new`), over MCP, or as a program that the task names with its `command`"
            }
            Self::ClientHeldRoles(_) => {
                "name a critic and an auditor with clients of their own, such as tokens made with `demur token new`"
            }
        }
    }
}
