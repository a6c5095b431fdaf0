//! Conditions of an approval. Words alone are for a critic who can read; with a check, demur's own critic can tell too.

use demur_core::limit::Text;
use demur_ledger::content::{CheckContent, CheckPlace, CheckValue, Comparison};
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};

/// What an approval demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The condition in words.
    pub text: Text<1, 4096>,
    /// The tools it is about; all if none are named.
    pub tools: Vec<Text<1, 256>>,
    /// What shows that it holds.
    pub check: Option<ConditionCheck>,
}

/// What shows that a condition holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionCheck {
    /// The call whose standard output is looked into; the input of the call in question if none is named.
    pub of: Option<Text<1, 64>>,
    /// What must be true there.
    pub check: CheckContent,
}

impl Condition {
    /// Returns whether it is about one of these tools.
    pub fn concerns(&self, tools: &[String]) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|tool| tools.iter().any(|other| *other == **tool))
    }
}

/// A condition as a table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    text: Text<1, 4096>,
    #[serde(default)]
    tools: Vec<Text<1, 256>>,
    #[serde(default)]
    of: Option<Text<1, 64>>,
    #[serde(default)]
    at: Option<CheckPlace>,
    #[serde(default)]
    is: Option<Comparison>,
    #[serde(default)]
    value: Option<CheckValue>,
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrTable)
    }
}

struct TextOrTable;

impl<'de> Visitor<'de> for TextOrTable {
    type Value = Condition;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a condition: a text, or a table with text, at, is and value")
    }

    fn visit_str<E: de::Error>(self, words: &str) -> Result<Condition, E> {
        Ok(Condition { text: words.try_into().map_err(E::custom)?, tools: Vec::new(), check: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Condition, A::Error> {
        let Table { text, tools, of, at, is, value } =
            Table::deserialize(MapAccessDeserializer::new(members))?;
        let check = match (at, is, value) {
            (Some(at), Some(is), Some(value)) => {
                Some(ConditionCheck { of, check: CheckContent { at, is, value } })
            }
            (None, None, None) if of.is_none() => None,
            _ => return Err(de::Error::custom("conditions: expected at, is and value together")),
        };
        Ok(Condition { text, tools, check })
    }
}
