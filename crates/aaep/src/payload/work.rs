//! What the agent does, how far it is, and that somebody else has to go on (4.2, 4.4.3).

use demur_core::limit::Text;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Summary, TerseSummary, payload};
use crate::{
    form::Uri,
    member::present,
    number::{Integer, Millis, Share},
    word::{HandoffTarget, RiskLevel},
};

/// A state of an agent: `idle`, `thinking`, `calling_tool`, `writing_output`, `awaiting_input`, `deciding`, `handing_off`, or
/// another.
pub type StateName = Text<1, 64>;

payload! {
    /// The agent does something else now.
    StateChanged {
        required {
            /// What it did before; `idle` at first.
            from_state: StateName,
            /// What it does now.
            to_state: StateName,
        }
        optional {
            /// In a few words.
            summary_terse: TerseSummary,
            /// In a sentence.
            summary_normal: Summary,
            /// With everything that helps.
            summary_detailed: Summary,
            /// How long the new state will last.
            expected_duration_ms: Millis,
        }
    }
}

payload! {
    /// How far the work is.
    ProgressUpdated {
        required {
            /// How far; at least one of its fields is there.
            progress: WorkProgress,
        }
        optional {
            /// In a few words.
            summary_terse: TerseSummary,
            /// In a sentence.
            summary_normal: Summary,
            /// With everything that helps.
            summary_detailed: Summary,
            /// How long it will still take.
            eta_ms: Millis,
        }
    }
}

/// How far work is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkProgress {
    /// In percent.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub percent: Option<Share<100>>,
    /// The step it is at, from 1.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub step: Option<StepNumber>,
    /// How many steps there are.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub total_steps: Option<StepNumber>,
    /// What the step does.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<1, 4096>>,
}

/// A step, counted from 1.
pub type StepNumber = Integer<1, { (1 << 53) - 1 }>;

payload! {
    /// The agent hands the work over. Always critical.
    HandoffRequested {
        required {
            /// Why.
            reason: Summary,
            /// Who is to go on.
            target_kind: HandoffTarget,
        }
        optional {
            /// In a few words.
            summary_terse: TerseSummary,
            /// In a sentence.
            summary_normal: Summary,
            /// With everything that helps.
            summary_detailed: Summary,
            /// Where they are reached.
            target_uri: Uri,
            /// What they need to know.
            packaged_context: Map<String, Value>,
            /// How soon they are needed.
            urgency_for_handoff: RiskLevel,
        }
    }
}
