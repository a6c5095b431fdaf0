//! Replies (6.3, 6.5): what a person decided or said, closed on all sides.

use demur_core::limit::Text;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Unexpected, Visitor},
};
use serde_json::{Map, Number, Value};

use crate::{
    form::{ReplyToken, SubscriptionId},
    member::present,
    number::Share,
    time::EventTime,
    word::ReplyDecision,
};

/// What a person decided about an action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmationReply {
    /// Which prompt it is about.
    pub reply_token: ReplyToken,
    /// What was decided.
    pub decision: ReplyDecision,
    /// Over which subscription it comes.
    pub subscription_id: SubscriptionId,
    /// When the person decided, by the sender's word.
    pub timestamp: EventTime,
    /// Who decided, by the sender's word.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Text<1, 256>>,
    /// Why.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub decision_rationale: Option<Text<1, 4096>>,
    /// What the person would allow instead. A reply with this allows nothing.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub modified_action: Option<Map<String, Value>>,
    /// Ties it to records elsewhere.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<Text<0, 1024>>,
}

/// What a person said to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClarificationReply {
    /// Which prompt it is about.
    pub reply_token: ReplyToken,
    /// What was said.
    pub response: Response,
    /// Over which subscription it comes.
    pub subscription_id: SubscriptionId,
    /// When the person said it, by the sender's word.
    pub timestamp: EventTime,
    /// Who said it, by the sender's word.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Text<1, 256>>,
    /// How sure the sender is that it understood the person.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Share<1>>,
    /// Ties it to records elsewhere.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<Text<0, 1024>>,
}

/// What was said: a text (also the value of a choice), yes or no, or a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// A text, or the value of a choice.
    Text(Text<1, 16_384>),
    /// Yes or no.
    YesNo(bool),
    /// A number.
    Number(Number),
}

impl Serialize for Response {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::YesNo(yes) => yes.serialize(serializer),
            Self::Number(number) => number.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Response {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl Visitor<'_> for Any {
            type Value = Response;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a text of 1 to 16384 code points, true, false or a number")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Response, E> {
                Text::try_from(text).map(Response::Text).map_err(E::custom)
            }

            fn visit_bool<E: Error>(self, yes: bool) -> Result<Response, E> {
                Ok(Response::YesNo(yes))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Response, E> {
                Ok(Response::Number(number.into()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Response, E> {
                Ok(Response::Number(number.into()))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Response, E> {
                let unfit = || E::invalid_value(Unexpected::Float(number), &self);
                Number::from_f64(number).map(Response::Number).ok_or_else(unfit)
            }
        }

        deserializer.deserialize_any(Any)
    }
}

impl JsonSchema for Response {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Response".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "oneOf": [
                { "type": "string", "minLength": 1, "maxLength": 16_384 },
                { "type": "boolean" },
                { "type": "number" },
            ]
        })
    }
}
