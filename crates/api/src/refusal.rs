//! What everybody is told who is told no, through every way in: a stable code, what was expected and found, the field it is
//! about and what to do.

use std::fmt::Display;

use demur_core::reason::Reason;

use crate::{code::Code, cure::cure_of, question::Ending};

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// The field it is about, as a dotted path.
    pub field: Option<String>,
    /// What was expected and what was found.
    pub message: String,
    /// What to do about it.
    pub cure: Option<String>,
    /// Who was first, when and how, where somebody was.
    pub outcome: Option<Box<Ending>>,
}

impl Refusal {
    /// Returns a refusal with this code.
    pub fn new(code: Code, message: impl Display) -> Self {
        Self { code, field: None, message: message.to_string(), cure: None, outcome: None }
    }

    /// Returns the refusal of something that cannot happen unless we made a mistake.
    pub fn bug(error: &impl Display) -> Self {
        Self { cure: cure_of(Code::Bug).map(str::to_owned), ..Self::new(Code::Bug, error) }
    }

    /// Returns the refusal of a request that cannot be read.
    pub fn malformed(message: impl Display) -> Self {
        Self::new(Code::Malformed, message).with_cure("GET /v1/openapi.json describes every request")
    }

    /// Returns the same refusal with what to do about it.
    #[must_use]
    pub fn with_cure(mut self, cure: impl Display) -> Self {
        self.cure = Some(cure.to_string());
        self
    }

    /// Returns the same refusal with the field it is about.
    #[must_use]
    pub fn about(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }
}

impl<E: Reason> From<E> for Refusal {
    fn from(reason: E) -> Self {
        let Some(code) = Code::read(reason.code()) else {
            return Self::bug(&format!("{}: {}", reason.code(), reason.message()));
        };
        let (field, cure) = (reason.field(), reason.cure().or(cure_of(code)));
        let [field, cure] = [field, cure].map(|text| text.map(str::to_owned));
        Self { field, cure, ..Self::new(code, reason.message()) }
    }
}
