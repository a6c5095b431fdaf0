//! The payloads of the twelve types (chapter 4), and what of an extension's event is understood.

mod output;
mod prompt;
mod session;
mod tool;
mod work;

use demur_core::limit::Text;
use serde::Serialize;

use crate::{
    event_type::{CoreType, EventName, ExtensionType},
    word::Verbosity,
};

pub(crate) use output::MAX_CHUNK_CHARACTERS;
pub use output::OutputStreaming;
pub use prompt::{AwaitingClarification, AwaitingConfirmation, PromptChoice, ResponseKinds};
pub use session::{SessionCancelled, SessionCompleted, SessionErrored, SessionStarted};
pub use tool::{ToolCompleted, ToolInvoked};
pub use work::{HandoffRequested, ProgressUpdated, StateChanged, StateName, StepNumber, WorkProgress};

/// A few words.
pub type TerseSummary = Text<1, 4096>;

/// A sentence, or everything that helps.
pub type Summary = Text<1, 16_384>;

/// Makes a payload: its required fields, its optional ones, and a constructor with the required ones.
macro_rules! payload {
    (
        $(#[$attribute:meta])*
        $name:ident {
            required { $($(#[$note:meta])* $required:ident: $type:ty,)* }
            optional { $($(#[$optional_note:meta])* $optional:ident: $optional_type:ty,)* }
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$note])* pub $required: $type,)*
            $(
                $(#[$optional_note])*
                #[serde(default, deserialize_with = "crate::member::present", skip_serializing_if = "Option::is_none")]
                pub $optional: Option<$optional_type>,
            )*
        }

        impl $name {
            /// Returns a payload with what is required and nothing else.
            pub const fn new($($required: $type),*) -> Self {
                Self { $($required,)* $($optional: None,)* }
            }
        }
    };
}

pub(crate) use payload;

/// Makes the enum of all payloads.
macro_rules! payloads {
    ($($(#[$attribute:meta])* $name:ident,)*) => {
        /// What an event says.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Payload {
            $($(#[$attribute])* $name($name),)*
            /// An event of an extension.
            Extension(ExtensionPayload),
        }

        impl Payload {
            /// Returns the type of the event.
            pub fn name(&self) -> EventName {
                match self {
                    $(Self::$name(_) => EventName::Core(CoreType::$name),)*
                    Self::Extension(payload) => EventName::Extension(payload.name.clone()),
                }
            }

            /// Returns which of the twelve this is.
            pub const fn core_type(&self) -> Option<CoreType> {
                match self {
                    $(Self::$name(_) => Some(CoreType::$name),)*
                    Self::Extension(_) => None,
                }
            }
        }

        $(impl From<$name> for Payload {
            fn from(payload: $name) -> Self {
                Self::$name(payload)
            }
        })*
    };
}

payloads! {
    /// A session begins.
    SessionStarted,
    /// A session ends well.
    SessionCompleted,
    /// A session ends by an error.
    SessionErrored,
    /// A session was ended.
    SessionCancelled,
    /// The agent does something else now.
    StateChanged,
    /// How far the work is.
    ProgressUpdated,
    /// A tool is about to run.
    ToolInvoked,
    /// A tool ran.
    ToolCompleted,
    /// A piece of output.
    OutputStreaming,
    /// One action is to be allowed, or not.
    AwaitingConfirmation,
    /// Something is to be said.
    AwaitingClarification,
    /// The agent hands the work over.
    HandoffRequested,
}

/// What is understood of an extension's event. Its other fields belong to its vocabulary; they stay in its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExtensionPayload {
    /// Its type.
    #[serde(skip)]
    pub name: ExtensionType,
    /// A few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_terse: Option<TerseSummary>,
    /// A sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_normal: Option<Summary>,
    /// Everything that helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_detailed: Option<Summary>,
}

/// The three wordings of an event, as far as it has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summaries<'a> {
    /// A few words.
    pub terse: Option<&'a str>,
    /// A sentence.
    pub normal: Option<&'a str>,
    /// Everything that helps.
    pub detailed: Option<&'a str>,
}

impl<'a> Summaries<'a> {
    /// Returns the wording for a verbosity, or the nearest there is: for `terse` the shortest, otherwise
    /// the longer one.
    pub fn worded(&self, verbosity: Verbosity) -> Option<&'a str> {
        let order = match verbosity {
            Verbosity::Terse => [self.terse, self.normal, self.detailed],
            Verbosity::Normal => [self.normal, self.detailed, self.terse],
            Verbosity::Detailed => [self.detailed, self.normal, self.terse],
        };
        order.into_iter().flatten().next()
    }
}

/// Collects the summaries of a payload that has all three as options.
macro_rules! optional_summaries {
    ($payload:expr) => {
        Summaries {
            terse: $payload.summary_terse.as_deref(),
            normal: $payload.summary_normal.as_deref(),
            detailed: $payload.summary_detailed.as_deref(),
        }
    };
}

/// Collects the summaries of a payload that always has a sentence.
macro_rules! required_summaries {
    ($payload:expr) => {
        Summaries {
            terse: $payload.summary_terse.as_deref(),
            normal: Some(&$payload.summary_normal),
            detailed: $payload.summary_detailed.as_deref(),
        }
    };
}

impl Payload {
    /// Returns the wordings that stand in the event.
    pub fn summaries(&self) -> Summaries<'_> {
        match self {
            Self::SessionStarted(payload) => required_summaries!(payload),
            Self::SessionCompleted(payload) => required_summaries!(payload),
            Self::SessionErrored(payload) => required_summaries!(payload),
            Self::SessionCancelled(payload) => required_summaries!(payload),
            Self::ToolInvoked(payload) => required_summaries!(payload),
            Self::StateChanged(payload) => optional_summaries!(payload),
            Self::ProgressUpdated(payload) => optional_summaries!(payload),
            Self::ToolCompleted(payload) => optional_summaries!(payload),
            Self::AwaitingConfirmation(payload) => optional_summaries!(payload),
            Self::AwaitingClarification(payload) => optional_summaries!(payload),
            Self::HandoffRequested(payload) => optional_summaries!(payload),
            Self::Extension(payload) => optional_summaries!(payload),
            Self::OutputStreaming(_) => Summaries::default(),
        }
    }

    /// Returns what to announce at a verbosity: the nearest wording, or else what the event is about in its own words.
    pub fn announcement(&self, verbosity: Verbosity) -> Option<&str> {
        self.summaries().worded(verbosity).or_else(|| match self {
            Self::AwaitingConfirmation(payload) => Some(&payload.action),
            Self::AwaitingClarification(payload) => Some(&payload.question),
            Self::HandoffRequested(payload) => Some(&payload.reason),
            Self::OutputStreaming(payload) => Some(&payload.chunk),
            Self::ToolCompleted(payload) => payload.error_message.as_deref(),
            Self::ProgressUpdated(payload) => payload.progress.description.as_deref(),
            Self::StateChanged(payload) => Some(&payload.to_state),
            Self::SessionStarted(_)
            | Self::SessionCompleted(_)
            | Self::SessionErrored(_)
            | Self::SessionCancelled(_)
            | Self::ToolInvoked(_)
            | Self::Extension(_) => None,
        })
    }
}
