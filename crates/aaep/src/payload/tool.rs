//! Calls of tools (4.3.1, 4.3.2).

use demur_core::limit::Text;

use super::{Summary, TerseSummary, payload};
use crate::{
    form::{ToolCallId, ToolName},
    number::Millis,
    word::{RiskLevel, ToolStatus},
};

payload! {
    /// A tool is about to run. What cannot be undone was confirmed before.
    ToolInvoked {
        required {
            /// Which tool.
            tool: ToolName,
            /// What it is about to do, in a sentence.
            summary_normal: Summary,
        }
        optional {
            /// In a few words.
            summary_terse: TerseSummary,
            /// With everything that helps.
            summary_detailed: Summary,
            /// What the tool does in general.
            description: Text<1, 4096>,
            /// With what it is called, without secrets.
            args_summary: Text<0, 16_384>,
            /// How long it will take.
            expected_duration_ms: Millis,
            /// How much can go wrong; low where nothing is said.
            risk_level: RiskLevel,
            /// Whether it cannot be undone; it can where nothing is said.
            irreversible: bool,
            /// Names the call.
            tool_call_id: ToolCallId,
        }
    }
}

payload! {
    /// A tool ran, or was given up.
    ToolCompleted {
        required {
            /// Which tool.
            tool: ToolName,
            /// How it ended.
            status: ToolStatus,
        }
        optional {
            /// In a few words.
            summary_terse: TerseSummary,
            /// In a sentence.
            summary_normal: Summary,
            /// With everything that helps.
            summary_detailed: Summary,
            /// Names the call.
            tool_call_id: ToolCallId,
            /// How long it took.
            duration_ms: Millis,
            /// What went wrong.
            error_message: Text<1, 4096>,
        }
    }
}
