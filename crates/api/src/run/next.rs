//! Who can do what next in a run. A hint, not a rule: the ledger decides.

use demur_ledger::{name::Sequence, role::Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that somebody can do now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "RunNext")]
pub struct Next {
    /// In which role.
    pub role: Role,
    /// Who plays it.
    pub agent: String,
    /// What.
    pub act: RunAct,
    /// About which events, if about any.
    pub events: Vec<Sequence>,
}

/// What can be done in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunAct {
    /// Propose a unit of work; with events: in place of these, or after these failures.
    Propose,
    /// Decide on these proposals or intents.
    Review,
    /// Judge the conditions of these intents, or state a check that shows them.
    Judge,
    /// Say what is about to be done under these proposals.
    Intend,
    /// Start these intents.
    Start,
    /// Say how these executions ended.
    Report,
    /// Claim something; with events: revise these, which are disputed.
    Claim,
    /// Dispute these claims.
    Challenge,
    /// Close these challenges, once satisfied.
    Resolve,
    /// Close the work with every claim in play.
    Conclude,
    /// Verify and close the run.
    Audit,
}

impl RunAct {
    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Propose => "propose",
            Self::Review => "review",
            Self::Judge => "judge",
            Self::Intend => "intend",
            Self::Start => "start",
            Self::Report => "report",
            Self::Claim => "claim",
            Self::Challenge => "challenge",
            Self::Resolve => "resolve",
            Self::Conclude => "conclude",
            Self::Audit => "audit",
        }
    }
}
