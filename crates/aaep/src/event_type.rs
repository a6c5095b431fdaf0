//! The types of events (3.2.2, 4): the twelve, in their compact form and as full addresses, and those of extensions.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{extension::Prefix, form::formed_text, word::Urgency};

/// Makes the enum of the twelve from one table.
macro_rules! core_types {
    ($($(#[$attribute:meta])* $variant:ident $name:literal $urgency:ident,)*) => {
        /// One of the twelve types of the core.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CoreType {
            $($(#[$attribute])* $variant,)*
        }

        impl CoreType {
            /// All twelve.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the type as it is written: `aaep:` and its name.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => concat!("aaep:", $name),)* }
            }

            /// Returns the urgency that events of this type have unless they say another.
            pub const fn usual_urgency(self) -> Urgency {
                match self { $(Self::$variant => Urgency::$urgency,)* }
            }

            fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

core_types! {
    /// A session begins: the first event of each.
    SessionStarted "agent.session.started" Normal,
    /// A session ends well.
    SessionCompleted "agent.session.completed" Normal,
    /// A session ends by an error.
    SessionErrored "agent.session.errored" Critical,
    /// A session was ended.
    SessionCancelled "agent.session.cancelled" Normal,
    /// The agent does something else now.
    StateChanged "agent.state.changed" Normal,
    /// How far the work is.
    ProgressUpdated "agent.progress.updated" Background,
    /// A tool is about to run.
    ToolInvoked "agent.tool.invoked" Normal,
    /// A tool ran.
    ToolCompleted "agent.tool.completed" Normal,
    /// A piece of output.
    OutputStreaming "agent.output.streaming" Normal,
    /// A person is to allow one action, or not.
    AwaitingConfirmation "agent.awaiting.confirmation" Critical,
    /// A person is to say what the agent does not know.
    AwaitingClarification "agent.awaiting.clarification" Critical,
    /// The agent hands the work over.
    HandoffRequested "agent.handoff.requested" Critical,
}

impl CoreType {
    /// Returns whether events of this type are critical, whatever they say.
    pub const fn is_always_critical(self) -> bool {
        matches!(self.usual_urgency(), Urgency::Critical)
    }

    /// Returns whether this type ends its session.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::SessionCompleted | Self::SessionErrored | Self::SessionCancelled)
    }
}

impl fmt::Display for CoreType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

formed_text! {
    /// The type of an extension: a prefix and a name, or a full address.
    ExtensionType, 512, "^[A-Za-z][A-Za-z0-9+.-]*:[^\\s]+$", "a prefix, a colon and a name, or an address",
    |text| {
        text.split_once(':').is_some_and(|(scheme, rest)| {
            let is_scheme = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-_".contains(&byte));
            !scheme.is_empty() && is_scheme && !rest.is_empty() && !rest.contains(char::is_whitespace)
        })
    }
}

impl ExtensionType {
    /// Returns the prefix of a compact type; none for a full address.
    pub fn prefix(&self) -> Option<Prefix> {
        let (prefix, rest) = self.as_str().split_once(':')?;
        if rest.starts_with("//") { None } else { prefix.parse().ok() }
    }

    /// Returns the type that a later version of the core calls by this name.
    pub(crate) fn later(name: &str) -> Option<Self> {
        format!("{}{name}", CORE_NAMESPACES[1]).parse().ok()
    }

    /// Returns whether this is a type of a later version of the core.
    pub(crate) fn is_of_core(&self) -> bool {
        CORE_NAMESPACES.iter().any(|namespace| self.as_str().starts_with(namespace))
    }
}

/// What kind of event this is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventName {
    /// One of the twelve.
    Core(CoreType),
    /// One of an extension, or of a later version of the core.
    Extension(ExtensionType),
}

impl EventName {
    /// Returns the kind that a `type` names, also one that this version does not know.
    pub(crate) fn of_any(text: &str) -> Option<Self> {
        let later = || CORE_NAMESPACES.iter().find_map(|namespace| text.strip_prefix(namespace));
        Self::of(text).or_else(|| ExtensionType::later(later()?).map(Self::Extension))
    }

    /// Returns the kind that a `type` names, in any of its forms; none where the core has no such type.
    ///
    /// The core calls its namespace `…/types/` in one place and `…/vocab/v1#` in another. Both are read; what is written is
    /// always compact.
    pub fn of(text: &str) -> Option<Self> {
        match CORE_NAMESPACES.iter().find_map(|namespace| text.strip_prefix(namespace)) {
            Some(name) => CoreType::named(name).map(Self::Core),
            None => text.parse().ok().map(Self::Extension),
        }
    }

    /// Returns the type as it is written.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Core(core) => core.as_str(),
            Self::Extension(extension) => extension.as_str(),
        }
    }

    /// Returns whether this is the given type of the core.
    pub fn is(&self, core: CoreType) -> bool {
        *self == Self::Core(core)
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

formed_text! {
    /// A pattern for types: one type exactly, or a beginning and `*`.
    TypePattern, 256, "^([^*\\s]+\\*?|\\*)$", "a type, or the beginning of one and *",
    |text| {
        let body = text.strip_suffix('*').unwrap_or(text);
        !body.contains('*') && !body.contains(char::is_whitespace)
    }
}

impl TypePattern {
    /// Returns whether a type fits. Types of the core are compared in their compact form.
    pub fn matches(&self, name: &str) -> bool {
        match self.as_str().strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == self.as_str(),
        }
    }
}

/// Which types a subscriber wants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct EventFilters {
    /// These alone; where nothing is said, `aaep:agent.*` and what the subscriber's extensions bring.
    #[serde(default, deserialize_with = "crate::member::present", skip_serializing_if = "Option::is_none")]
    pub include: Option<Patterns>,
    /// None of these, even if they are included.
    #[serde(default, deserialize_with = "crate::member::present", skip_serializing_if = "Option::is_none")]
    pub exclude: Option<Patterns>,
}

/// Patterns of one list.
pub type Patterns = demur_core::limit::List<TypePattern, 0, 64>;

/// What stands before the names of the core.
const CORE_NAMESPACES: [&str; 3] =
    ["aaep:", "https://aaep-protocol.org/types/", "https://aaep-protocol.org/vocab/v1#"];
