//! The table of checks and codes, in the order they are made (`docs/checks.md` is generated from it).

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// A check. Findings of one line stand in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Check {
    /// The file is an export, whole and in order.
    File,
    /// Every object has the fields of its type.
    Schema,
    /// Envelope and statement tell one story, and the author knew what it cites.
    Statement,
    /// Events follow each other by number, hash and time.
    Chain,
    /// The registry obeys its rules, and events pin it properly.
    Registry,
    /// Every key may speak where and as what it speaks.
    Key,
    /// Every signature holds.
    Signature,
    /// Disclosed content opens its commitment and fits its type.
    Commitment,
    /// Artifacts are there and open their commitments.
    Artifact,
    /// No command stands twice.
    Replay,
    /// Only the right roles and participants speak.
    Role,
    /// The state machine and its guards allow every step.
    Order,
    /// Every claim rests on evidence that is there, and is not disputed.
    Claim,
    /// What was done is what was approved, claimed and demanded.
    Meaning,
    /// The run was verified and closed.
    Finalization,
    /// The desk signed the heads.
    Head,
    /// Inclusion proofs hold.
    Inclusion,
    /// The checkpoint binds the whole file.
    Checkpoint,
    /// Receipts, pinned keys and known heads agree with the file.
    Anchor,
    /// Two files do not contradict each other.
    Equivocation,
}

impl Check {
    /// Every check, in order.
    pub const ALL: [Self; 20] = [
        Self::File,
        Self::Schema,
        Self::Statement,
        Self::Chain,
        Self::Registry,
        Self::Key,
        Self::Signature,
        Self::Commitment,
        Self::Artifact,
        Self::Replay,
        Self::Role,
        Self::Order,
        Self::Claim,
        Self::Meaning,
        Self::Finalization,
        Self::Head,
        Self::Inclusion,
        Self::Checkpoint,
        Self::Anchor,
        Self::Equivocation,
    ];

    /// Returns what the check is about, in one sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::File => "the file is an export, whole and in order",
            Self::Schema => "every object has the fields of its type",
            Self::Statement => "envelope and statement tell one story, and the author knew what it cites",
            Self::Chain => "events follow each other by number, hash and time",
            Self::Registry => "the registry obeys its rules, and events pin it properly",
            Self::Key => "every key may speak where and as what it speaks",
            Self::Signature => "every signature holds",
            Self::Commitment => "disclosed content opens its commitment and fits its type",
            Self::Artifact => "artifacts are there and open their commitments",
            Self::Replay => "no command stands twice",
            Self::Role => "only the right roles and participants speak",
            Self::Order => "the state machine and its guards allow every step",
            Self::Claim => "every claim rests on evidence that is there, and is not disputed",
            Self::Meaning => "what was done is what was approved, claimed and demanded",
            Self::Finalization => "the run was verified and closed",
            Self::Head => "the desk signed the heads",
            Self::Inclusion => "inclusion proofs hold",
            Self::Checkpoint => "the checkpoint binds the whole file",
            Self::Anchor => "receipts, pinned keys and known heads agree with the file",
            Self::Equivocation => "two files do not contradict each other",
        }
    }
}

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingSeverity {
    /// Worth reading; the verdict is at best "pass with warnings".
    Warning,
    /// Could not be checked; the verdict is at best "not established".
    NotEstablished,
    /// Does not hold; the verdict is "fail".
    Failure,
}

macro_rules! codes {
    ($($variant:ident $name:literal, $check:ident, $severity:ident, $meaning:literal, $cure:literal;)+) => {
        /// What was found.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
        pub enum Code {
            $(#[doc = $meaning] #[serde(rename = $name)] $variant,)+
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the stable name.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Returns the check that finds it.
            pub const fn check(self) -> Check {
                match self { $(Self::$variant => Check::$check,)+ }
            }

            /// Returns how much it weighs under the default profile.
            pub const fn severity(self) -> FindingSeverity {
                match self { $(Self::$variant => FindingSeverity::$severity,)+ }
            }

            /// Returns what it means.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)+ }
            }

            /// Returns what to do about it.
            pub const fn cure(self) -> &'static str {
                match self { $(Self::$variant => $cure,)+ }
            }
        }
    };
}

codes! {
    FileMalformed "FILE_MALFORMED", File, Failure,
        "a line is not canonical JSON, not a line of this format, or not where it belongs",
        "ask for the file again; if it comes like this from the desk, do not trust it";
    FormatNewer "FORMAT_NEWER", File, Failure,
        "the file is of another format version",
        "use a newer version of demur";
    FileTruncated "FILE_TRUNCATED", File, Failure,
        "the file ends before its checkpoint",
        "ask for the whole file";
    SchemaInvalid "SCHEMA_INVALID", Schema, Failure,
        "an object has unknown or missing fields, or values out of range",
        "the file was not written by a sound desk: ask for it again";
    TypeUnknown "TYPE_UNKNOWN", Schema, NotEstablished,
        "an event type this version does not know: its integrity was checked, its meaning was not",
        "use a newer version of demur";
    ProofUnknown "PROOF_UNKNOWN", Schema, NotEstablished,
        "a kind of proof this version does not know: everything around it was checked, what it proves was not",
        "use a newer version of demur";
    StatementMismatch "STATEMENT_MISMATCH", Statement, Failure,
        "envelope and statement contradict each other or the place of the event",
        "the desk paired a statement with something else: do not trust it";
    SeenInvalid "SEEN_INVALID", Statement, Failure,
        "the author had seen another history than the one in the file",
        "history was rewritten after this statement was signed: compare with the author's receipts";
    CitesUnseen "CITES_UNSEEN", Statement, Failure,
        "the facts refer to an event that the author had not seen",
        "the desk moved the statement or the events before it: do not trust it";
    StatementExpired "STATEMENT_EXPIRED", Statement, Failure,
        "the event was recorded after its statement had expired",
        "the desk held the statement back: ask the author";
    ChainBreak "CHAIN_BREAK", Chain, Failure,
        "an event does not follow the one before it by number and hash",
        "something was changed, inserted, removed or moved: nothing from here on can be trusted";
    TimeBackwards "TIME_BACKWARDS", Chain, Failure,
        "an event is earlier than the one before it",
        "the desk's record of time is false from here on";
    RegistryInvalid "REGISTRY_INVALID", Registry, Failure,
        "a registry event breaks the rules of the registry",
        "the keys in this file cannot be trusted";
    RegistryPin "REGISTRY_PIN", Registry, Failure,
        "an event pins a registry position that is not there, or goes back to an earlier one",
        "a revocation may have been stepped around: do not trust the event";
    EpochMismatch "EPOCH_MISMATCH", Registry, Failure,
        "an event is of another epoch than the registry says",
        "parts of a restored and an abandoned history were mixed";
    TimeBeforePin "TIME_BEFORE_PIN", Registry, Warning,
        "an event is dated before the registry event it pins",
        "the desk's clock went back, or the date is false: rely on the order, not on the date";
    KeyUnknown "KEY_UNKNOWN", Key, Failure,
        "the key was not in the registry at the pinned position",
        "nobody vouches for this author";
    KeyRevoked "KEY_REVOKED", Key, Failure,
        "the key had been revoked",
        "a thief may have spoken: ignore what this key says from there on";
    KeyRetired "KEY_RETIRED", Key, Failure,
        "the key had been retired after a rotation",
        "ask its holder whether they still use the old key";
    KeyRoleMismatch "KEY_ROLE_MISMATCH", Key, Failure,
        "the key is not registered for the role it speaks in",
        "the author overstepped its role";
    ActorMismatch "ACTOR_MISMATCH", Key, Failure,
        "the actor is not the principal behind the proof",
        "the desk put the words of one into the mouth of another";
    RevokedSince "REVOKED_SINCE", Key, NotEstablished,
        "the desk's key that signed the file was revoked after the registry in the file ends",
        "a thief may have made the file: ask the desk for a new export of the trace";
    SigMissing "SIG_MISSING", Signature, Failure,
        "an event that needs a key has none",
        "this is the desk's word for what another should have signed";
    SigInvalid "SIG_INVALID", Signature, Failure,
        "a signature does not hold",
        "the statement is not what this key signed";
    PasskeyInvalid "PASSKEY_INVALID", Signature, Failure,
        "what a passkey signed is for another statement, page or host, or was made without a verified user",
        "do not take the act for the person's: nothing shows that they approved exactly this";
    SigUnchecked "SIG_UNCHECKED", Signature, NotEstablished,
        "signatures were not checked",
        "verify again without --hash-only";
    CommitmentMismatch "COMMITMENT_MISMATCH", Commitment, Failure,
        "the content is not what the author committed to",
        "the content was exchanged: ask the author for theirs";
    ContentInvalid "CONTENT_INVALID", Commitment, Failure,
        "the content does not fit its type or contradicts the facts",
        "the author signed nonsense, and the desk let it in";
    NameMissing "NAME_MISSING", Commitment, Failure,
        "what the holder of a key, or a client, is called was erased or withheld, and you pinned no name for the key or one of the client's",
        "pin the key under a name you know with --pin, or judge without --strict";
    NotDisclosed "NOT_DISCLOSED", Commitment, NotEstablished,
        "content was withheld, erased or lost: what it said cannot be checked",
        "ask for an export that discloses it, if you are entitled to it; what was erased is gone for good";
    ArtifactMissing "ARTIFACT_MISSING", Artifact, Failure,
        "an artifact was recorded and is no longer there",
        "look for the bytes elsewhere: the commitment in the facts can still check them";
    ArtifactHashMismatch "ARTIFACT_HASH_MISMATCH", Artifact, Failure,
        "an artifact is not what was recorded",
        "the bytes were exchanged: do not trust claims that rest on them";
    ReplayDuplicate "REPLAY_DUPLICATE", Replay, Failure,
        "one command of one key stands twice in the trace",
        "the desk used a signature twice";
    RolePolicyViolation "ROLE_POLICY_VIOLATION", Role, Failure,
        "somebody spoke who may not say this",
        "ignore the event, and ask why the desk let it in";
    OrderViolation "ORDER_VIOLATION", Order, Failure,
        "the event could not happen in this state of the trace",
        "the trace did not follow its rules from here on";
    ClaimUnproven "CLAIM_UNPROVEN", Claim, Failure,
        "a claim rests on an artifact that is missing or not what was recorded",
        "do not rely on the claim";
    ClaimDisputed "CLAIM_DISPUTED", Claim, Warning,
        "a challenge against a claim is open, a check of the critic is false, or what it cites failed later",
        "read the challenge, the check or the failure, and decide for yourself";
    PolicyMismatch "POLICY_MISMATCH", Meaning, Failure,
        "the policy of the run has other numbers than its opening",
        "nobody can tell which policy held: do not rely on the run";
    InputMismatch "INPUT_MISMATCH", Meaning, Failure,
        "a tool ran with another input than its intent names, or without one",
        "what was approved is not what was done: look at both inputs";
    ToolNotProposed "TOOL_NOT_PROPOSED", Meaning, Failure,
        "an intent is for a tool that its proposal does not require",
        "nobody approved this tool: look at what it did";
    ToolNotAllowed "TOOL_NOT_ALLOWED", Meaning, Failure,
        "an intent is for a tool that the policy does not name, or a call starts a program that it does not name for the tool",
        "the policy was stepped around: look at what the tool did";
    RiskUnderstated "RISK_UNDERSTATED", Meaning, Failure,
        "an intent says less risk than the policy puts the tool at",
        "a review may have been avoided: look at what the tool did";
    BlockedAgain "BLOCKED_AGAIN", Meaning, Failure,
        "a call that the critic blocked started without a new approval at that risk",
        "the block was stepped around: look at what the tool did";
    RetryLimit "RETRY_LIMIT", Meaning, Failure,
        "a call started again after it had failed as often as the policy allows",
        "ask why it was tried so often";
    ToolBlocked "TOOL_BLOCKED", Meaning, Failure,
        "a tool started while a question that blocks it was not settled",
        "nobody had answered yet: look at what the tool did";
    EvidenceWeak "EVIDENCE_WEAK", Meaning, Failure,
        "a claim cites evidence that its executions did not produce, or the same bytes more than once, or an execution names \
         an output that was there before it started",
        "do not rely on the claim";
    BundleDiffers "BUNDLE_DIFFERS", Meaning, Failure,
        "the final statement puts a claim in other words than those it was made in",
        "read the claims themselves, not the final statement";
    ConditionUnshown "CONDITION_UNSHOWN", Meaning, Failure,
        "a tool started though the critic had not shown that every condition of its approval holds, or one was shown by a \
         question without an answer that counts",
        "the approval did not cover it: look at what the tool did";
    CheckFailed "CHECK_FAILED", Meaning, Failure,
        "a check that the author of a claim states is false",
        "do not rely on the claim: the artifact says otherwise";
    CheckNotMade "CHECK_NOT_MADE", Meaning, NotEstablished,
        "a check could not be evaluated: the file was read once, and the bytes had gone by",
        "verify the file itself, not a stream of it";
    ReportMismatch "REPORT_MISMATCH", Meaning, Failure,
        "a verdict names a report that was not recorded, or is not the report's",
        "read the recorded reports, not the verdict";
    PaperInvalid "PAPER_INVALID", Meaning, Failure,
        "an ask, a round, a document, an attestation or a handoff is missing, not signed by the desk, or says something \
         else than the events",
        "do not rely on the paper: read the events it is about";
    NotErased "NOT_ERASED", Meaning, Failure,
        "the record says that words were erased, and the file has them",
        "the store kept what it says is gone: ask for it to be erased, and delete this file";
    ErasureUnrecorded "ERASURE_UNRECORDED", Meaning, Failure,
        "the file says that words were erased, and no event says by whom and why",
        "somebody removed them behind the record: ask the desk, and look for them in an earlier export";
    SpokeAfterFinal "SPOKE_AFTER_FINAL", Meaning, Failure,
        "somebody other than the auditor asked after the final statement",
        "ask why the desk let it in: all had been said";
    AssuranceOverstated "ASSURANCE_OVERSTATED", Meaning, Failure,
        "an act of a person claims more than the credential that it came with is worth, or does not say how it came",
        "do not take the word for the person's: the desk has put it too high";
    OwnClient "OWN_CLIENT", Meaning, Failure,
        "the program that asked answered where more than its word is demanded or without its form, or the record hides that it did",
        "the asker may have answered itself: ask the person";
    ClientHeldRoles "CLIENT_HELD_ROLES", Meaning, Warning,
        "one client did the work of the run and also judged it",
        "nobody else looked at the work: judge it yourself, or have it judged by another client";
    RootLate "ROOT_LATE", Meaning, Warning,
        "the first passkey was registered after a key or a token that an agent may hold: perhaps it is an agent's",
        "ask the person whose passkey it is said to be, and pin it with --pin";
    AgainstAnswer "AGAINST_ANSWER", Meaning, Warning,
        "an operation began though the answer to a question that held it up was no",
        "ask who did it, and why: the answer was not followed";
    SameUser "SAME_USER", Meaning, Warning,
        "in the strict profile: a tool started on a yes that came from a program of the same user: perhaps from the asker",
        "ask the person, or have calls confirmed by somebody who signed in or has a passkey";
    AnswerChanged "ANSWER_CHANGED", Meaning, Warning,
        "something was done on an answer that was replaced or taken back later",
        "look whether what was done has to be put right: the answer of then no longer counts";
    Guessed "GUESSED", Meaning, Failure,
        "with --no-guess: a gap or a value of the plan is not as the rules in the file say",
        "read the rows under Guesses: each names the event and what was expected";
    ConfirmationMismatch "CONFIRMATION_MISMATCH", Meaning, Failure,
        "a confirmation, or what was done on it, is about another operation than the one shown",
        "what was confirmed is not what was done: compare the two operations";
    ConfirmationSpent "CONFIRMATION_SPENT", Meaning, Failure,
        "more than one operation was started on one confirmation",
        "somebody said yes once: look at what the later ones did";
    OperationUnconfirmed "OPERATION_UNCONFIRMED", Meaning, Failure,
        "an operation started whose confirmation was open, refused, expired or not named",
        "nobody had said yes to it: look at what it did";
    ConfirmedOther "CONFIRMED_OTHER", Meaning, Warning,
        "an operation started on no confirmation, and somebody had said yes or no to another one of that name",
        "compare the two operations: nobody confirmed the one that started";
    FieldAnswered "FIELD_ANSWERED", Meaning, Failure,
        "an agent amended a field of its plan that somebody had answered",
        "the answer was stepped around: compare the amended plan with the answer";
    FinalizationIncomplete "FINALIZATION_INCOMPLETE", Finalization, Warning,
        "the run has no verification that passed, the plan is not confirmed, or a question or confirmation is open",
        "if it still goes on, wait for its end; otherwise ask why it ended so";
    HeadInvalid "HEAD_INVALID", Head, Failure,
        "a head is missing, names another event or is not signed by the desk",
        "the desk does not stand by this history";
    InclusionInvalid "INCLUSION_INVALID", Inclusion, Failure,
        "an inclusion proof does not hold",
        "what it should prove is not proven";
    OrderRestsOnDesk "ORDER_RESTS_ON_DESK", Inclusion, Warning,
        "events of a revoked key are not proven to come before the revocation",
        "only the desk says that they do: ask for an export with an inclusion proof";
    CheckpointInvalid "CHECKPOINT_INVALID", Checkpoint, Failure,
        "the checkpoint does not bind this file",
        "the file was changed after the desk made it";
    ReceiptMismatch "RECEIPT_MISMATCH", Anchor, Failure,
        "a receipt contradicts the file",
        "keep both: a receipt and an export that disagree show that the desk lied";
    ReceiptNewer "RECEIPT_NEWER", Anchor, NotEstablished,
        "a receipt was given after the registry in the file ends: whether the desk's key could give it is not to be seen",
        "export the trace again after the receipt, or give a newer registry with --registry";
    PinMismatch "PIN_MISMATCH", Anchor, Failure,
        "a pinned key is not in the registry as pinned",
        "this is another store, or its keys were exchanged";
    AgainstMismatch "AGAINST_MISMATCH", Anchor, Failure,
        "the file does not hold the head you know",
        "history was rewritten or cut off: compare with an earlier export";
    KeyUnlinked "KEY_UNLINKED", Anchor, Failure,
        "a key spoke that is none of those you pinned, and neither a rotation nor a passkey that vouches links it to one",
        "pin it too if you know whose it is, or judge without --strict";
    AnchorMissing "ANCHOR_MISSING", Anchor, Failure,
        "no receipt, pinned key or known head ties the file to what you know",
        "give one with --receipt, --pin or --against";
    Equivocation "EQUIVOCATION", Equivocation, Failure,
        "the desk signed two histories",
        "keep both files: together they prove it";
    HistoryAbandoned "HISTORY_ABANDONED", Equivocation, Warning,
        "the store came back from a backup, and a file holds events that its new history does not have",
        "keep both files, and ask the desk what became of the events that only one of them has";
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
