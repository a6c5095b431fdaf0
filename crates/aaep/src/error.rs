//! The rules of the protocol that a message can break, each with the section it comes from, and the error that names one.

use std::fmt;

use demur_core::{
    canonical::{ReadError, ReadErrorKind},
    visible::visible,
    words::{ELLIPSIS, clipped},
};
use thiserror::Error;

/// Makes the enum of rules from one table.
macro_rules! rules {
    ($($(#[$attribute:meta])* $name:ident $code:literal $section:literal,)*) => {
        /// A rule that a message can break.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(#[$attribute])* $name,)*
        }

        impl Rule {
            /// Every rule, in the order in which they are looked at.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the stable code, for logs.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code),* }
            }

            /// Returns the section of the specification.
            pub const fn section(self) -> &'static str {
                match self { $(Self::$name => $section),* }
            }
        }
    };
}

rules! {
    /// Strict JSON in UTF-8: every key once, no number that some reader would change.
    Json "JSON" "3.8",
    /// The hard limits on bytes, depth, members and strings. Exceeding a soft limit of this section is no error.
    Limit "LIMIT" "3.7",
    /// Step 1: an object.
    Object "OBJECT" "3.9 step 1",
    /// Step 2: the required fields of the envelope are there.
    Required "REQUIRED_FIELD" "3.9 step 2",
    /// Step 3: they have the right types.
    FieldType "FIELD_TYPE" "3.9 step 3",
    /// Step 4: the core context is named first.
    CoreContext "CORE_CONTEXT" "3.9 step 4",
    /// Step 5: the type is one of the twelve, or of a declared extension.
    KnownType "KNOWN_TYPE" "3.9 step 5",
    /// Step 6: ids and timestamp have their form.
    FieldForm "FIELD_FORM" "3.9 step 6",
    /// The optional fields of the envelope have their types and forms.
    OptionalField "OPTIONAL_FIELD" "3.3, 3.4",
    /// The version is a published one.
    Version "VERSION" "3.4.4",
    /// Names that begin with `aaep_`, and those of JSON-LD, are not used.
    ReservedField "RESERVED_FIELD" "3.5",
    /// Custom fields stand in `extensions`.
    UnknownField "UNKNOWN_FIELD" "3.5",
    /// Step 7: the payload has the shape of its type.
    Payload "PAYLOAD" "3.9 step 7",
    /// Prompts, errors and handoffs are critical.
    Urgency "URGENCY" "4.1.3, 4.4",
    /// A step is not beyond the last one.
    ProgressSteps "PROGRESS_STEPS" "4.2.2",
    /// `multiple_choice` comes with choices.
    Choices "CHOICES" "4.4.2",
    /// No two choices have the same value.
    ChoiceValues "CHOICE_VALUES" "4.4.2",
    /// The default is an answer that would be accepted.
    DefaultResponse "DEFAULT_RESPONSE" "4.4.2",
    /// Replies to a confirmation are accept and reject.
    AllowedReplies "ALLOWED_REPLIES" "4.4.1",
    /// An irreversible action is not done by default.
    SafeDefault "SAFE_DEFAULT" "6.4.1",
    /// Prefixes have their form and are not reserved.
    ExtensionPrefix "EXTENSION_PREFIX" "7.3",
    /// Every prefix that is used is declared in the context.
    ExtensionDeclared "EXTENSION_DECLARED" "3.4.3, 7.3",
    /// Step 8: the fields of a known extension have its shape.
    ExtensionSchema "EXTENSION_SCHEMA" "3.9 step 8",
    /// A message of the handshake or a reply has its closed shape.
    Message "MESSAGE" "5, 6",
    /// The honoured capabilities are no wider than the requested ones.
    Honored "HONORED" "5.4.4",
    /// A manifest names the expected agent, and its signature holds.
    Manifest "MANIFEST" "5.10, 10.4",
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, section {}", self.code(), self.section())
    }
}

/// A rule that is broken, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field}: expected {expected}, found {found} ({rule})")]
pub struct RuleViolation {
    /// The rule.
    pub rule: Rule,
    /// The field, or `message` for the whole.
    pub field: String,
    /// What was expected.
    pub expected: String,
    /// What was found; outside text is clipped and made visible.
    pub found: String,
}

impl RuleViolation {
    pub(crate) fn new(
        rule: Rule,
        field: &str,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) -> Self {
        Self {
            rule,
            field: shown(field).into_owned(),
            expected: expected.to_string(),
            found: shown(&found.to_string()).into_owned(),
        }
    }

    /// Returns the error of a text that is no strict JSON or beyond the limits.
    pub(crate) fn of_json(error: &ReadError) -> Self {
        let (rule, expected) = match error.kind() {
            ReadErrorKind::TooLong { .. }
            | ReadErrorKind::TooDeep { .. }
            | ReadErrorKind::TooMany { .. }
            | ReadErrorKind::TextTooLong { .. } => (Rule::Limit, "a message within the limits"),
            _ => (Rule::Json, "strict JSON"),
        };
        Self::new(rule, WHOLE, expected, error)
    }

    /// Returns the error of a value that is good JSON of another shape.
    pub(crate) fn of_value(rule: Rule, field: &str, error: &ReadError) -> Self {
        let message = match error.kind() {
            ReadErrorKind::Shape { message } => message.as_str(),
            _ => return Self::new(rule, field, "strict JSON", error),
        };
        // serde adds a place, which is one within the value.
        let message = message.rsplit_once(" at line ").map_or(message, |(words, _)| words);
        match message.rsplit_once(", expected ") {
            Some((found, expected)) => Self::new(rule, field, shown(expected), found),
            None => Self::new(rule, field, "a value of its type", message),
        }
    }
}

/// Returns outside text as it may stand in a log.
pub(crate) fn shown(text: &str) -> std::borrow::Cow<'_, str> {
    match clipped(text, MAX_SHOWN_CHARACTERS, ELLIPSIS) {
        std::borrow::Cow::Borrowed(text) => visible(text),
        std::borrow::Cow::Owned(text) => visible(&text).into_owned().into(),
    }
}

/// Stands for the path of the whole message.
pub(crate) const WHOLE: &str = "message";

/// How much of an outside text an error repeats.
const MAX_SHOWN_CHARACTERS: usize = 120;
