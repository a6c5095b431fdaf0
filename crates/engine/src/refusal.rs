//! No, with a stable code, the field it is about and the cure. The codes of door, guards and registry stand in
//! the ledger crate; those below are the engine's own.

use std::fmt;

use demur_core::reason::Reason;
use demur_ledger::{
    admission::AdmissionError, content::TermsError, event_type::EventType, registry::RegistryError,
    state::GuardError,
};

/// Why a command was refused. The state of the trace has not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleRefusal {
    /// The stable code: an upper-case word such as `ROLE_FORBIDDEN`.
    pub code: &'static str,
    /// The field it is about, as a dotted path.
    pub field: Option<&'static str>,
    /// What was expected and what was found.
    pub message: String,
    /// What to do about it.
    pub cure: &'static str,
}

impl RuleRefusal {
    /// A command to a trace that failed an integrity check (LED-18).
    pub(crate) fn trace_failed() -> Self {
        Self {
            code: "TRACE_FAILED",
            field: Some("statement.trace"),
            message: "the trace failed an integrity check: nothing is added to it any more".to_owned(),
            cure: "run `demur store check` and open a new trace",
        }
    }

    /// A command about a run to a trace that is none.
    pub(crate) fn not_a_run() -> Self {
        Self {
            code: "NOT_A_RUN",
            field: Some("statement.trace"),
            message: "expected the trace of a run, found another kind or none".to_owned(),
            cure: "name the trace of a run",
        }
    }

    /// Something the desk says to a trace that nobody has opened.
    pub(crate) fn not_opened() -> Self {
        Self {
            code: "NOT_OPENED",
            field: Some("statement.trace"),
            message: "expected a trace that was opened, found none".to_owned(),
            cure: "open the trace first",
        }
    }

    /// Something on the desk's word that takes a key.
    pub(crate) fn needs_a_key(kind: EventType) -> Self {
        Self {
            code: "SIG_MISSING",
            field: Some("proof"),
            message: format!("{kind} needs a key: the desk cannot say it for its author"),
            cure: "have its author sign it",
        }
    }

    /// What the desk adds does not follow from what it adds it to.
    pub(crate) fn does_not_follow(message: String) -> Self {
        Self { code: "DOES_NOT_FOLLOW", field: None, message, cure: "work out again what follows" }
    }

    /// An answer to a question whose choices are gone.
    pub(crate) fn question_erased() -> Self {
        Self {
            code: "QUESTION_ERASED",
            field: Some("facts.question"),
            message: "expected the choices of the question to hold the answer against, found them erased"
                .to_owned(),
            cure: "ask again",
        }
    }

    /// An event that records bytes, without them (LED-12).
    pub(crate) fn artifact_missing() -> Self {
        Self {
            code: "ARTIFACT_MISSING",
            field: Some("artifact"),
            message: "expected the bytes of the artifact with the event that records it, found none"
                .to_owned(),
            cure: "send the artifact's bytes and salt with the statement",
        }
    }

    /// Bytes with an event that records none.
    pub(crate) fn artifact_unasked() -> Self {
        Self {
            code: "ARTIFACT_UNASKED",
            field: Some("artifact"),
            message: "found the bytes of an artifact with an event that records none".to_owned(),
            cure: "send bytes with artifact_recorded or report_recorded only",
        }
    }

    /// Bytes that are not what the statement commits to.
    pub(crate) fn artifact_mismatch() -> Self {
        Self {
            code: "ARTIFACT_MISMATCH",
            field: Some("artifact"),
            message: "the bytes and salt do not open the commitment in the facts".to_owned(),
            cure: "send exactly the bytes and the salt that the statement commits to",
        }
    }

    /// Content that names another size than the bytes have.
    pub(crate) fn artifact_size(named: u64, found: usize) -> Self {
        Self {
            code: "ARTIFACT_SIZE",
            field: Some("content.size"),
            message: format!("expected the {named} bytes that the content names, found {found}"),
            cure: "name the size of the bytes you send",
        }
    }

    /// More bytes than a line of an export can carry.
    pub(crate) fn artifact_too_large(found: usize, limit: usize) -> Self {
        Self {
            code: "ARTIFACT_TOO_LARGE",
            field: Some("artifact"),
            message: format!("expected an artifact of at most {limit} bytes, found {found}"),
            cure: "record it in parts, or record a summary of it",
        }
    }

    /// A statement so large that its envelope is no event any more.
    pub(crate) fn too_large(message: String) -> Self {
        Self {
            code: "EVENT_TOO_LARGE",
            field: Some("statement"),
            message,
            cure: "say less in the facts: an event has at most 64 KiB",
        }
    }
}

impl fmt::Display for RuleRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}; {}", self.code, self.message, self.cure)
    }
}

impl std::error::Error for RuleRefusal {}

impl Reason for RuleRefusal {
    fn code(&self) -> &'static str {
        self.code
    }

    fn field(&self) -> Option<&'static str> {
        self.field
    }

    fn message(&self) -> String {
        self.message.clone()
    }

    fn cure(&self) -> Option<&'static str> {
        Some(self.cure)
    }
}

impl From<AdmissionError> for RuleRefusal {
    fn from(error: AdmissionError) -> Self {
        Self { code: error.code(), field: error.field(), message: error.to_string(), cure: error.cure() }
    }
}

impl From<TermsError> for RuleRefusal {
    fn from(error: TermsError) -> Self {
        let (field, cure) = match error {
            TermsError::Request => ("content.request", "send the request digest that stands in the question"),
            TermsError::Default => ("content.default", "send the default that stands in the question"),
            TermsError::Choice { .. } => {
                ("content.answer", "send the value of the choice that the facts name")
            }
        };
        Self { code: error.code(), field: Some(field), message: error.to_string(), cure }
    }
}

impl From<GuardError> for RuleRefusal {
    fn from(error: GuardError) -> Self {
        Self { code: error.code(), field: error.field(), message: error.to_string(), cure: error.cure() }
    }
}

impl From<RegistryError> for RuleRefusal {
    fn from(error: RegistryError) -> Self {
        Self { code: error.code(), field: error.field(), message: error.to_string(), cure: error.cure() }
    }
}
