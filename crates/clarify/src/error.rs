//! What goes wrong with one document: it is malformed, it contradicts itself, its signature does not hold, or it
//! cannot be written. What breaks a chain of rounds has names of its own: [`crate::chain::Break`].

use demur_core::{
    canonical::{ReadError, WriteError},
    key::{KeyError, SignatureError},
};
use thiserror::Error as ThisError;

use crate::chain::Break;

/// A document that is refused, or that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
pub enum Error {
    /// The peer sent bytes that are no strict JSON, or too many of them.
    #[error("expected strict JSON within the limits: {0}")]
    Json(#[source] ReadError),
    /// The peer sent good JSON of another shape.
    #[error("{field}: {message}")]
    Shape {
        /// The dotted path of the field, or `document` for the whole.
        field: String,
        /// What was expected and found.
        message: String,
    },
    /// A value contradicts the rest of its document.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// A signature does not hold.
    #[error("{field}: expected a signature by a key of {signer} that was valid then, found another")]
    Signature {
        /// The member that holds the signature.
        field: &'static str,
        /// Who should have signed.
        signer: String,
        /// What the last key that was tried said; none where no key was valid.
        #[source]
        source: Option<SignatureError>,
    },
    /// A round does not follow those before it.
    #[error(transparent)]
    Chain(#[from] Break),
    /// A document has no canonical form; only free JSON inside of it can cause that.
    #[error("expected values with a canonical form: {0}")]
    Write(#[from] WriteError),
    /// The key refuses to sign.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// A value that contradicts the rest of its document.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[error("{field}: expected {expected}, found {found}")]
pub struct FieldError {
    /// The dotted path of the field.
    pub field: String,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl FieldError {
    #[expect(clippy::needless_pass_by_value, reason = "callers hand over what they just made")]
    pub(crate) fn new(field: impl Into<String>, expected: impl ToString, found: impl ToString) -> Self {
        Self { field: field.into(), expected: expected.to_string(), found: found.to_string() }
    }
}
