//! What comes back where something was refused: problem details (RFC 9457) with a stable code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{code::Code, question::Ending, refusal::Refusal};

/// A problem, as it goes over the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProblemDetails {
    /// `urn:demur:problem:` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The HTTP status.
    pub status: u16,
    /// What kind of problem it is.
    pub title: String,
    /// The stable code.
    pub code: String,
    /// What was expected and found.
    pub detail: String,
    /// What to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The member it is about, as a dotted path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Who was first, when and how, where somebody was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Ending>,
}

/// What came over the wire, read back.
impl From<ProblemDetails> for Refusal {
    fn from(details: ProblemDetails) -> Self {
        let ProblemDetails { code, detail, hint, field, outcome, .. } = details;
        let Some(code) = Code::read(&code) else {
            return Self::bug(&format!(
                "the server refused with a code that is not known here, {code}: {detail}"
            ));
        };
        Self { code, field, message: detail, cure: hint, outcome: outcome.map(Box::new) }
    }
}
