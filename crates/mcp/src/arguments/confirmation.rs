//! What tools of confirmations take, as models write it.

use demur_api::confirmation::ConfirmationId;
use demur_core::{
    hash::Digest,
    limit::{Text, Whole},
};
use demur_ledger::{
    content::OperationObject,
    facts::Risk,
    name::{Operation, Sequence, TraceId},
};
use schemars::JsonSchema;
use serde::Deserialize;

/// An operation that a person is to confirm.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskConfirmation {
    /// What you want to do, in words.
    pub(crate) action: Text<1, 4096>,
    /// What follows from it.
    #[serde(default)]
    pub(crate) consequence: Option<Text<1, 4096>>,
    /// Exactly what you will do; the yes is for this alone.
    #[serde(default)]
    pub(crate) operation: Option<OperationObject>,
    #[serde(default)]
    pub(crate) risk: Option<Risk>,
    /// Seconds until it is refused.
    #[serde(default)]
    pub(crate) timeout_s: Option<Whole<1, 31_536_000>>,
    /// Your run.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub(crate) trace: Option<TraceId>,
    /// The intent in it, without `operation`.
    #[serde(default)]
    #[schemars(with = "Option<u64>")]
    pub(crate) about: Option<Sequence>,
    /// Seconds to wait at most.
    #[serde(default)]
    pub(crate) wait_s: Option<u32>,
}

/// A confirmation that was asked for.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckConfirmation {
    #[schemars(with = "String")]
    pub(crate) confirmation_id: ConfirmationId,
    #[serde(default)]
    pub(crate) wait_s: Option<u32>,
}

/// What a person said.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecideConfirmation {
    #[schemars(with = "String")]
    pub(crate) confirmation_id: ConfirmationId,
    /// As check_confirmation shows it.
    #[schemars(with = "String")]
    pub(crate) digest: Digest,
    /// Whether the person said yes.
    pub(crate) confirm: bool,
    /// Who said it.
    #[serde(default)]
    pub(crate) by: Option<Text<1, 256>>,
    #[serde(default)]
    pub(crate) note: Option<Text<1, 4096>>,
}

/// An operation that begins.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartOperation {
    #[schemars(with = "String")]
    pub(crate) confirmation_id: ConfirmationId,
    /// The same as was confirmed.
    pub(crate) operation: OperationObject,
    /// Its name, such as build: an open question may block it.
    #[serde(default)]
    pub(crate) name: Option<Operation>,
    #[serde(default)]
    pub(crate) note: Option<Text<1, 4096>>,
}

/// An operation that is over.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EndOperation {
    #[schemars(with = "String")]
    pub(crate) confirmation_id: ConfirmationId,
    #[serde(default)]
    pub(crate) failed: bool,
}
