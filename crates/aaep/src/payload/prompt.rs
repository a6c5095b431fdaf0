//! What a person is asked: to allow an action, or to say what is missing (4.4.1, 4.4.2).

use demur_core::limit::{List, Text};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Summary, TerseSummary, payload};
use crate::{
    form::ReplyToken,
    number::TimeoutSeconds,
    word::{ReplyDecision, ResponseKind, Reversibility, RiskLevel},
};

payload! {
    /// One action waits for a person's word. Always critical.
    AwaitingConfirmation {
        required {
            /// What would be done.
            action: Summary,
            /// What follows if it is.
            consequence: Summary,
            /// What a reply names; good for one.
            reply_token: ReplyToken,
            /// How long it waits.
            timeout_seconds: TimeoutSeconds,
            /// What holds when the time is up.
            default_decision: ReplyDecision,
        }
        optional {
            /// In a few words.
            summary_terse: TerseSummary,
            /// In a sentence.
            summary_normal: Summary,
            /// With everything that helps.
            summary_detailed: Summary,
            /// How much can go wrong.
            risk_level: RiskLevel,
            /// Whether it cannot be undone.
            irreversible: bool,
            /// Whether and how it can be undone.
            reversibility: Reversibility,
            /// Which replies are taken; both where nothing is said.
            allowed_replies: List<Text<0, 64>, 1, 32>,
            /// What else helps to decide.
            extra_context: Map<String, Value>,
        }
    }
}

payload! {
    /// A question waits for an answer. Always critical. An answer allows nothing.
    AwaitingClarification {
        required {
            /// The question; to be understood without anything else.
            question: Summary,
            /// What a reply names; good for one.
            reply_token: ReplyToken,
            /// How long it waits.
            timeout_seconds: TimeoutSeconds,
        }
        optional {
            /// In a few words.
            summary_terse: TerseSummary,
            /// In a sentence.
            summary_normal: Summary,
            /// Also why it is asked, and what the answer changes.
            summary_detailed: Summary,
            /// Which kinds of response are taken.
            accepted_response_kinds: ResponseKinds,
            /// What can be chosen.
            choices: List<PromptChoice, 2, 32>,
            /// Why it is asked.
            context: Text<1, 4096>,
            /// What the agent goes on with when the time is up. Subscribers do not interpret it.
            default_response: Text<0, 4096>,
        }
    }
}

/// Kinds of response.
pub type ResponseKinds = List<ResponseKind, 1, 4>;

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptChoice {
    /// What a reply says.
    pub value: Text<1, 256>,
    /// What the person reads.
    pub label: Text<1, 1024>,
}
