//! Passkeys: a new one, those that there are, and the touch with which a person signs what is to be recorded. What a browser hands
//! out is bytes; here they are texts in unpadded base64url.

use demur_core::{
    hash::Digest,
    key::Fingerprint,
    limit::{List, Text},
    time::Timestamp,
};
use demur_ledger::{
    content::{AnswerValue, Wording},
    facts::PasskeyReset,
    name::{PrincipalId, Sequence, TraceId},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    confirmation::ConfirmationId, key::RegistryPlace, person::PersonRole, question::QuestionId,
    refusal::Refusal,
};

/// A code for the first passkey of a store: with it a person shows that they have this server's terminal.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SetupCode {
    /// Eight letters and figures, in two groups.
    pub code: String,
    /// For how many seconds it is good, once.
    pub seconds: u64,
    /// The page on which it is typed.
    pub url: String,
}

/// A passkey that a browser has made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPasskey {
    /// Its algorithm by its COSE number: -7 is ES256, -8 is Ed25519.
    pub algorithm: i64,
    /// What `getAuthenticatorData()` returns.
    pub authenticator: Text<1, 4096>,
    /// The id of the credential.
    pub credential: Text<1, 1364>,
    /// What its person calls it.
    pub label: Text<1, 256>,
    /// What `getPublicKey()` returns.
    pub public_key: Text<1, 1024>,
    /// The setup code, for the first passkey of a store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup_code: Option<Text<1, 32>>,
}

/// A passkey of the store.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ShownPasskey {
    /// Its fingerprint: what is pinned.
    pub key: Fingerprint,
    /// Whose it is.
    pub person: String,
    /// What its person calls it; none where that was erased.
    pub label: Option<String>,
    /// The page that it speaks on.
    pub origin: String,
    /// Whether it may be kept in several places, by its own word.
    pub eligible: bool,
    /// Who vouches for it.
    pub voucher: VouchedBy,
    /// Since when it may speak.
    pub since: Option<Timestamp>,
    /// Whether it may speak now.
    pub active: bool,
    /// Whether it is the caller's own.
    pub own: bool,
}

/// Who vouches for a passkey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VouchedBy {
    /// Nobody: it is the first of the store.
    Nobody,
    /// Nobody, and programs had keys or tokens before it came in.
    NobodyLate,
    /// An earlier passkey.
    Passkey(Fingerprint),
    /// The recovery key of the desk.
    Recovery,
}

/// A passkey that waits until somebody vouches for it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WaitingPasskey {
    /// Its fingerprint.
    pub key: Fingerprint,
    /// Whose it is to be.
    pub person: String,
    /// What its person calls it.
    pub label: String,
    /// The page that it speaks on.
    pub origin: String,
    /// Until when it waits.
    pub expires: Timestamp,
    /// Whether the caller can vouch for it.
    pub vouches: bool,
}

/// The passkeys of a store.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListedPasskeys {
    /// Those that came in, the oldest first.
    pub passkeys: Vec<ShownPasskey>,
    /// Those that nobody has vouched for yet.
    pub waiting: Vec<WaitingPasskey>,
    /// Whether the next passkey is the first one, for which a setup code is needed.
    pub needs_setup_code: bool,
}

/// What the recovery key of the desk signs so that all passkeys end but one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PasskeyToReset {
    /// Where the registry stands: the statement is for this place.
    pub registry: RegistryPlace,
    /// The principal of the desk, in whose name the recovery key speaks.
    pub desk: PrincipalId,
    /// The facts of the statement.
    pub facts: PasskeyReset,
    /// What its person calls the passkey: the content of the statement.
    pub label: Text<1, 256>,
    /// Whose it is.
    pub person: String,
}

/// Acts that one touch is to sign.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrepareTouch {
    /// What is to be recorded; each with what the person was shown.
    pub acts: List<TouchAct, 1, 64>,
}

/// Something that a person signs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "act", deny_unknown_fields)]
pub enum TouchAct {
    /// Answers a question.
    Answer {
        /// Which.
        question: QuestionId,
        /// What is answered.
        answer: AnswerValue,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Text<1, 4096>>,
        /// The digest of the request that waits, if the question names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<Digest>,
        /// The wording that was shown.
        #[serde(default)]
        wording: Wording,
    },
    /// Puts another answer in the place of one's own.
    Replace {
        /// Which question.
        question: QuestionId,
        /// What is answered now.
        answer: AnswerValue,
        /// Which answer it replaces; otherwise the one that counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<Sequence>,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Text<1, 4096>>,
        /// The digest of the request that waits, if the question names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<Digest>,
        /// The wording that was shown.
        #[serde(default)]
        wording: Wording,
    },
    /// Takes one's own answer back.
    Revoke {
        /// Which question.
        question: QuestionId,
        /// Which answer; otherwise the one that counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Sequence>,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text<1, 1000>>,
    },
    /// Accepts what a question of severity `warn` points at.
    Accept {
        /// Which question.
        question: QuestionId,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text<1, 4096>>,
    },
    /// Declines a question.
    Decline {
        /// Which.
        question: QuestionId,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text<1, 4096>>,
    },
    /// Says yes to the operation with this digest; signed alone.
    Give {
        /// Which confirmation.
        confirmation: ConfirmationId,
        /// The digest of the operation that was shown.
        digest: Digest,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Text<1, 4096>>,
    },
    /// Says no to the operation with this digest; signed alone.
    Refuse {
        /// Which confirmation.
        confirmation: ConfirmationId,
        /// The digest of the operation that was shown.
        digest: Digest,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Text<1, 4096>>,
    },
    /// Ends a run for good, as an operator; signed alone.
    AbortRun {
        /// Which.
        trace: TraceId,
        /// Why.
        reason: Text<1, 4096>,
    },
    /// Vouches for a passkey that waits; signed alone.
    AddPasskey {
        /// Which.
        key: Fingerprint,
    },
    /// Ends a passkey: one's own, or as an operator another's; signed alone.
    RemovePasskey {
        /// Which.
        key: Fingerprint,
    },
    /// Lets somebody sign in, as an operator; signed alone.
    AddPerson {
        /// The name.
        name: Text<1, 64>,
        /// What this one may do.
        role: PersonRole,
    },
    /// Gives somebody another role, as an operator; signed alone.
    ChangePerson {
        /// The name.
        name: Text<1, 64>,
        /// What this one may do from now on.
        role: PersonRole,
    },
    /// Lets somebody sign in no longer, as an operator; signed alone.
    RemovePerson {
        /// The name.
        name: Text<1, 64>,
    },
}

/// Acts that were worked out, and the touch that they wait for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PreparedTouch {
    /// How each act stands, in their order.
    pub acts: Vec<ActResult>,
    /// What a passkey is to sign; none where nothing is left to be signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touch: Option<TouchRequest>,
}

/// What a browser has a passkey sign.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TouchRequest {
    /// The name under which the touch is finished.
    pub name: String,
    /// What the passkey signs.
    pub challenge: String,
    /// The credentials of which one signs.
    pub credentials: Vec<String>,
    /// The host name that they are for.
    pub rp: String,
    /// For how many seconds it waits.
    pub seconds: u64,
}

/// How an act stands that a touch signs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ActResult {
    /// How it stands.
    pub status: ActStatus,
    /// The stable code of its refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Why it is refused, or what else is to be said, such as that an answer does not settle a gap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl ActResult {
    /// Returns an act that stands so.
    pub const fn of(status: ActStatus) -> Self {
        Self { status, code: None, detail: None, hint: None }
    }

    /// Returns an act that is refused.
    pub fn refused(refusal: Refusal) -> Self {
        let Refusal { code, message, cure, .. } = refusal;
        let (code, detail) = (Some(code.to_string()), Some(message));
        Self { status: ActStatus::Refused, code, detail, hint: cure }
    }
}

/// How an act stands that a touch signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActStatus {
    /// It waits for the touch.
    Waits,
    /// It is on record, signed.
    Signed,
    /// It needs no touch: it is on record already, or settled nothing.
    Done,
    /// It is refused.
    Refused,
}

/// What a passkey made of a touch.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BrowserAssertion {
    /// What the authenticator signed of its own.
    pub authenticator: Text<1, 1366>,
    /// What the browser signed, as `clientDataJSON` has it.
    pub client: Text<1, 5464>,
    /// Which credential signed.
    pub credential: Text<1, 1364>,
    /// The signature.
    pub signature: Text<1, 256>,
}

/// What became of a touch.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FinishedTouch {
    /// How each act stands, in their order.
    pub acts: Vec<ActResult>,
    /// Another touch that is needed: an earlier passkey of the same person vouches for the one that was shown now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Box<PreparedTouch>>,
}
