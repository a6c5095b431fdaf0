//! How a session begins and ends (4.1).

use demur_core::limit::{List, Text};

use super::{Summary, TerseSummary, payload};
use crate::{
    form::{ErrorCode, ReasonWord, Uri},
    number::{Millis, Position},
    word::{CancelledBy, ErrorCategory},
};

payload! {
    /// A session begins: the first event of each.
    SessionStarted {
        required {
            /// What the session will do, in a sentence.
            summary_normal: Summary,
        }
        optional {
            /// In a few words.
            summary_terse: TerseSummary,
            /// With everything that helps.
            summary_detailed: Summary,
            /// How long it will take.
            expected_duration_ms: Millis,
            /// Who asked for it, such as `user:ada`.
            requested_by: Text<1, 256>,
            /// What was asked for, without secrets.
            request_text: Text<0, 16_384>,
            /// Which tools the agent has.
            tools_available: List<Text<1, 256>, 0, 256>,
        }
    }
}

payload! {
    /// A session ends well.
    SessionCompleted {
        required {
            /// What was done, in a sentence.
            summary_normal: Summary,
        }
        optional {
            /// In a few words.
            summary_terse: TerseSummary,
            /// With everything that helps.
            summary_detailed: Summary,
            /// How long it took.
            duration_ms: Millis,
            /// How many calls of tools there were.
            tool_invocations_count: Position,
            /// What came out.
            output_summary: Text<0, 16_384>,
            /// Where it is.
            result_uri: Uri,
        }
    }
}

payload! {
    /// A session ends by an error. Always critical.
    SessionErrored {
        required {
            /// What kind of error it is.
            error_category: ErrorCategory,
            /// What went wrong, in a sentence.
            summary_normal: Summary,
        }
        optional {
            /// In a few words.
            summary_terse: TerseSummary,
            /// With everything that helps.
            summary_detailed: Summary,
            /// A code for logs.
            error_code: ErrorCode,
            /// Where more is said about it.
            error_uri: Uri,
            /// Whether another try may succeed.
            recoverable: bool,
            /// What the person can do.
            remediation_hint: Text<1, 4096>,
        }
    }
}

payload! {
    /// A session was ended. Every open prompt of it is cancelled.
    SessionCancelled {
        required {
            /// Who ended it.
            cancelled_by: CancelledBy,
            /// What happened, in a sentence.
            summary_normal: Summary,
        }
        optional {
            /// In a few words.
            summary_terse: TerseSummary,
            /// With everything that helps.
            summary_detailed: Summary,
            /// Why.
            cancellation_reason: ReasonWord,
            /// What was done so far.
            partial_result: Text<0, 16_384>,
        }
    }
}
