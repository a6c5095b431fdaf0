//! The messages of a subscription (chapter 5), closed on all sides, and the one way in for everything a subscriber sends.
//!
//! The specification has no schemas for `subscription.renegotiate` and `subscription.close`; ours are as closed as the others.

use demur_core::{
    canonical,
    limit::{Limits, Text},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    capability::Capabilities,
    check::unique,
    envelope::Producer,
    error::{Rule, RuleViolation, WHOLE},
    extension::{ExtensionFields, Strictness},
    form::{AaepVersion, ReasonWord, SubscriptionId, Uri},
    member::{object, present, value},
    number::Integer,
    reply::{ClarificationReply, ConfirmationReply},
    word::RejectionReason,
};

/// A subscriber wants events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscriptionRequest {
    /// The version it speaks.
    pub aaep_version: AaepVersion,
    /// Names the subscriber, the same in all its versions.
    pub subscriber_id: Text<1, 256>,
    /// Its name for people.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub subscriber_name: Option<Text<0, 256>>,
    /// Its version.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub subscriber_version: Option<Text<0, 64>>,
    /// Where more is said about it.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub subscriber_manifest_uri: Option<Uri>,
    /// Ties it to records elsewhere.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<Text<0, 1024>>,
    /// What it can take.
    pub capabilities: Capabilities,
    /// Fields of extensions.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(
        with = "Option<std::collections::BTreeMap<String, serde_json::Map<String, serde_json::Value>>>"
    )]
    pub extensions: Option<ExtensionFields>,
}

/// The producer takes it on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscriptionAccepted {
    /// Names the subscription from now on.
    pub subscription_id: SubscriptionId,
    /// The version that is spoken.
    pub aaep_version: AaepVersion,
    /// Who the producer is.
    pub producer: Producer,
    /// What holds; never wider than what was asked for.
    pub honored_capabilities: Capabilities,
    /// Where the manifest is.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub manifest_uri: Option<Uri>,
    /// The manifest and its signature, as a compact JWS.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub signed_manifest: Option<Text<5, 131_072>>,
    /// In what it departs from the request.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub negotiation_notes: Option<Text<0, 4096>>,
}

/// The producer does not take it on, or no longer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscriptionRejected {
    /// Why.
    pub reason_code: RejectionReason,
    /// Why, for people.
    pub reason_message: Text<1, 4096>,
    /// After how long another try may succeed.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<Integer<0, 86_400>>,
    /// Where it says what it can do.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub alternative_manifest_uri: Option<Uri>,
}

/// A subscriber wants other terms. What it leaves out stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscriptionRenegotiate {
    /// The subscription.
    pub subscription_id: SubscriptionId,
    /// What is to change.
    pub capabilities: Capabilities,
}

/// Either side ends a subscription. A reason is optional: a subscriber that gives none can still leave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscriptionClose {
    /// The subscription.
    pub subscription_id: SubscriptionId,
    /// Why.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<ReasonWord>,
    /// Why, for people.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub reason_message: Option<Text<0, 4096>>,
}

/// Makes an enum of messages that say in `type` what they are.
macro_rules! messages {
    ($(#[$attribute:meta])* $name:ident { $($(#[$note:meta])* $variant:ident $tag:literal: $type:ty,)* }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(tag = "type")]
        pub enum $name {
            $($(#[$note])* #[serde(rename = $tag)] $variant($type),)*
        }

        impl $name {
            /// Returns the message in these bytes.
            pub fn read(bytes: &[u8]) -> Result<Self, RuleViolation> {
                let (name, members) = named_members(bytes)?;
                let message = match name.as_str() {
                    $($tag => Self::$variant(message(&members)?),)*
                    other => {
                        let expected = concat!("one of", $(" ", $tag),*);
                        return Err(RuleViolation::new(Rule::Message, "type", expected, other));
                    }
                };
                message.check()?;
                Ok(message)
            }

            /// Returns what stands in `type`.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $tag,)* }
            }
        }

        $(impl From<$type> for $name {
            fn from(message: $type) -> Self {
                Self::$variant(message)
            }
        })*
    };
}

messages! {
    /// What a subscriber sends.
    SubscriberMessage {
        /// A new subscription.
        Request "subscription.request": Box<SubscriptionRequest>,
        /// Other terms.
        Renegotiate "subscription.renegotiate": SubscriptionRenegotiate,
        /// The end of the subscription.
        Close "subscription.close": SubscriptionClose,
        /// A decision about an action.
        Confirmation "confirmation.reply": ConfirmationReply,
        /// An answer to a question.
        Clarification "clarification.reply": ClarificationReply,
    }
}

messages! {
    /// What a producer sends beside events.
    ProducerMessage {
        /// The subscription or its new terms are accepted.
        Accepted "subscription.accepted": Box<SubscriptionAccepted>,
        /// They are refused.
        Rejected "subscription.rejected": SubscriptionRejected,
        /// The end of the subscription.
        Close "subscription.close": SubscriptionClose,
    }
}

impl SubscriberMessage {
    fn check(&self) -> Result<(), RuleViolation> {
        match self {
            Self::Request(message) => check_capabilities("capabilities", &message.capabilities),
            Self::Renegotiate(message) => check_capabilities("capabilities", &message.capabilities),
            Self::Close(_) | Self::Confirmation(_) | Self::Clarification(_) => Ok(()),
        }
    }
}

impl ProducerMessage {
    fn check(&self) -> Result<(), RuleViolation> {
        match self {
            Self::Accepted(message) => {
                check_capabilities("honored_capabilities", &message.honored_capabilities)
            }
            Self::Rejected(_) | Self::Close(_) => Ok(()),
        }
    }
}

/// Returns the rule that a list with the same entry twice breaks.
fn check_capabilities(field: &str, capabilities: &Capabilities) -> Result<(), RuleViolation> {
    let rule = Rule::Message;
    let path = |name: &str| format!("{field}.{name}");
    unique(rule, &path("languages"), capabilities.languages.iter().flatten())?;
    unique(rule, &path("coalesce_boundaries"), capabilities.coalesce_boundaries.iter().flatten())?;
    let levels = capabilities.supported_conformance_levels.iter().flatten();
    unique(rule, &path("supported_conformance_levels"), levels)?;
    unique(rule, &path("supported_extensions"), capabilities.supported_extensions.iter().flatten())?;
    let filters = capabilities.event_filters.iter();
    unique(
        rule,
        &path("event_filters.include"),
        filters.clone().flat_map(|one| one.include.iter().flatten()),
    )?;
    unique(rule, &path("event_filters.exclude"), filters.flat_map(|one| one.exclude.iter().flatten()))
}

fn named_members(bytes: &[u8]) -> Result<(String, Vec<canonical::Member<'_>>), RuleViolation> {
    let members =
        canonical::members(bytes, &MESSAGE_LIMITS).map_err(|error| RuleViolation::of_json(&error))?;
    let members =
        members.ok_or_else(|| RuleViolation::new(Rule::Object, WHOLE, "an object", "another value"))?;
    let name = members.iter().find(|member| member.name == "type");
    let name = name.ok_or_else(|| RuleViolation::new(Rule::Message, "type", "a value", "none"))?;
    Ok((value(Rule::Message, "type", name.value)?, members))
}

fn message<T: DeserializeOwned>(members: &[canonical::Member<'_>]) -> Result<T, RuleViolation> {
    object(members, |name| name == "type", Strictness::Exact, Rule::Message)
}

/// Limits of a message. The longest reply has 16,384 code points, each of at most 12 bytes when it is escaped.
const MESSAGE_LIMITS: Limits = Limits { bytes: 256 << 10, depth: 16, members: 1024, text: 200 << 10 };
