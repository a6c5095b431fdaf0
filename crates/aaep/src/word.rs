//! The words of the protocol: every field that has a fixed set of values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Makes an enum of words in lower case with underscores.
macro_rules! words {
    ($($(#[$attribute:meta])* $name:ident { $($(#[$note:meta])* $variant:ident,)* })*) => {
        $(
            $(#[$attribute])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
            #[serde(rename_all = "snake_case")]
            #[schemars(inline)]
            pub enum $name {
                $($(#[$note])* $variant,)*
            }

            impl $name {
                /// Every word.
                pub const ALL: &[Self] = &[$(Self::$variant),*];
            }
        )*
    };
}

words! {
    /// How soon an event has to be heard.
    Urgency {
        /// May be deferred or left out by the subscriber.
        Background,
        /// In its turn.
        Normal,
        /// At once: no filter, no rate and no coalescing holds it.
        Critical,
    }
    /// How many words a person wants.
    Verbosity {
        /// A few.
        Terse,
        /// A sentence.
        Normal,
        /// Everything that helps.
        Detailed,
    }
    /// How much can go wrong.
    RiskLevel {
        /// Little.
        Low,
        /// Something.
        Medium,
        /// Much.
        High,
    }
    /// Whether something can be undone.
    Reversibility {
        /// It can.
        Reversible,
        /// It can, and takes work.
        ReversibleWithEffort,
        /// It cannot.
        Irreversible,
    }
    /// What a person decides, or what holds when nobody does.
    ReplyDecision {
        /// The action may be done, once.
        Accept,
        /// It may not.
        Reject,
    }
    /// A kind of response.
    ResponseKind {
        /// Any text.
        Freetext,
        /// Yes or no.
        YesNo,
        /// The value of one choice.
        MultipleChoice,
        /// A number.
        Numeric,
    }
    /// What kind of error ended a session.
    ErrorCategory {
        /// Trying again may help.
        Transient,
        /// Trying again does not help.
        Permanent,
        /// A person has to do something first.
        RequiresUser,
        /// Nobody knows.
        Unknown,
    }
    /// Who cancelled a session.
    CancelledBy {
        /// The person.
        User,
        /// The agent.
        Producer,
        /// Time.
        Timeout,
        /// The system around it.
        System,
    }
    /// How a call of a tool ended.
    ToolStatus {
        /// It returned.
        Success,
        /// It failed.
        Error,
        /// It was given up.
        Timeout,
    }
    /// Who takes over.
    HandoffTarget {
        /// A person.
        Human,
        /// Another agent.
        SpecialistAgent,
        /// A queue.
        EscalationQueue,
    }
    /// Where a chunk of output ends, the finest first.
    CoalesceBoundary {
        /// Nowhere in particular.
        None,
        /// At the end of a word.
        Word,
        /// At the end of a sentence.
        Sentence,
        /// At the end of a paragraph.
        Paragraph,
        /// At the end of the output.
        Completion,
    }
    /// How much a person wants to hear at once.
    CognitiveLoad {
        /// As little as possible.
        Low,
        /// As usual.
        Medium,
        /// Everything.
        High,
    }
    /// Why a subscription was refused or ended by the producer.
    RejectionReason {
        /// Another version was asked for.
        VersionUnsupported,
        /// Only signed manifests are accepted, and there is none.
        ManifestSignatureRequired,
        /// Nothing of what was asked for can be offered.
        CapabilitiesIncompatible,
        /// There are too many subscriptions.
        RateLimit,
        /// No credential came along.
        AuthenticationRequired,
        /// The credential is not good for this.
        AuthorizationDenied,
        /// Not over this transport.
        TransportUnavailable,
        /// Something else.
        Unknown,
    }
}
