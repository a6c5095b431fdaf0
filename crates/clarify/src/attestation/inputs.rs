//! The inputs of an attestation: the plan, member by member, and beside it how many rounds of clarification came
//! before and which record holds them.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::expect;
use crate::{
    Error, audit::AuditRecord, error::FieldError, name::text_on_the_wire, read, seal::Sha256, uuid::Uuid,
};

/// The plan and what came before it. The members of the plan are free; three more are ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inputs(Map<String, Value>);

impl Inputs {
    pub(super) fn new(plan: &Map<String, Value>, record: &AuditRecord) -> Result<Self, Error> {
        if let Some(taken) = [ROUNDS, REFERENCE, HASH].into_iter().find(|name| plan.contains_key(*name)) {
            return Err(FieldError::new(format!("inputs.{taken}"), "no such member in a plan", "one").into());
        }
        let mut members = plan.clone();
        members.insert(ROUNDS.to_owned(), record.total_rounds.as_u64().into());
        let reference = ChainReference { session_id: record.session_id, hash: record.hash()? };
        members.insert(REFERENCE.to_owned(), reference.to_string().into());
        let hash = Sha256::of(&members)?;
        members.insert(HASH.to_owned(), hash.to_string().into());
        Ok(Self::try_from(members)?)
    }

    /// Returns the plan without the three members that an attestation adds.
    pub fn plan(&self) -> Map<String, Value> {
        let mut plan = self.0.clone();
        plan.retain(|name, _| ![ROUNDS, REFERENCE, HASH].contains(&name.as_str()));
        plan
    }

    /// Returns how many rounds of clarification came before.
    pub fn clarification_rounds(&self) -> u64 {
        self.0.get(ROUNDS).and_then(Value::as_u64).unwrap_or_default()
    }

    /// Checks its own hash, and that it refers to a record of this session.
    pub(super) fn verify_alone(&self, session: Uuid) -> Result<(), Error> {
        let mut members = self.0.clone();
        let hash = members.remove(HASH);
        expect("inputs.input_hash", &Sha256::of(&members)?, &member(HASH, hash.as_ref())?)?;
        let reference = member::<ChainReference>(REFERENCE, self.0.get(REFERENCE))?;
        expect("inputs.clarification_chain_ref", &session, &reference.session_id)?;
        Ok(())
    }

    pub(super) fn verify(&self, record: &AuditRecord) -> Result<(), Error> {
        let mut members = self.0.clone();
        let hash = members.remove(HASH);
        expect("inputs.input_hash", &Sha256::of(&members)?, &member(HASH, hash.as_ref())?)?;
        expect("inputs.clarification_rounds", &record.total_rounds.as_u64(), &self.clarification_rounds())?;
        let expected = ChainReference { session_id: record.session_id, hash: record.hash()? };
        expect("inputs.clarification_chain_ref", &expected, &member(REFERENCE, self.0.get(REFERENCE))?)?;
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Inputs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read::object::<D, Map<String, Value>, Self>(deserializer)
    }
}

impl TryFrom<Map<String, Value>> for Inputs {
    type Error = FieldError;

    fn try_from(members: Map<String, Value>) -> Result<Self, FieldError> {
        let rounds = members.get(ROUNDS).and_then(Value::as_u64);
        if rounds.is_none_or(|rounds| rounds > 1000) {
            return Err(FieldError::new(ROUNDS, "a whole number from 0 to 1000", "another value"));
        }
        member::<ChainReference>(REFERENCE, members.get(REFERENCE))?;
        member::<Sha256>(HASH, members.get(HASH))?;
        Ok(Self(members))
    }
}

impl JsonSchema for Inputs {
    fn schema_name() -> Cow<'static, str> {
        "Inputs".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let reference = generator.subschema_for::<ChainReference>();
        let hash = generator.subschema_for::<Sha256>();
        json_schema!({
            "description": "The plan, member by member, and what came before it.",
            "type": "object",
            "properties": {
                ROUNDS: { "type": "integer", "minimum": 0, "maximum": 1000 },
                REFERENCE: reference,
                HASH: hash,
            },
            "required": [ROUNDS, REFERENCE, HASH],
            "additionalProperties": true,
        })
    }
}

/// Which record holds the clarifications: `clarification://session/<uuid>#sha256:<hash of the record>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainReference {
    /// The session.
    pub session_id: Uuid,
    /// The hash of its record; without it the reference would fit any record of the session.
    pub hash: Sha256,
}

text_on_the_wire!(
    ChainReference,
    132,
    132,
    "^clarification://session/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}#sha256:[0-9a-f]{64}$"
);

impl FromStr for ChainReference {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        let parts = text.strip_prefix(ADDRESS).and_then(|rest| rest.split_once('#'));
        let parts = parts.and_then(|(session, hash)| Some((session.parse().ok()?, hash.parse().ok()?)));
        let (session_id, hash) = parts.ok_or_else(|| {
            FieldError::new(
                REFERENCE,
                "clarification://session/<uuid>#sha256:<64 hex digits>",
                "another text",
            )
        })?;
        Ok(Self { session_id, hash })
    }
}

impl fmt::Display for ChainReference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{ADDRESS}{}#{}", self.session_id, self.hash)
    }
}

fn member<T: FromStr<Err: ToString>>(name: &str, value: Option<&Value>) -> Result<T, FieldError> {
    let text = value.and_then(Value::as_str);
    let text = text.ok_or_else(|| FieldError::new(name, "a text", "none"))?;
    text.parse().map_err(|error: T::Err| FieldError::new(name, "its form", error))
}

const ADDRESS: &str = "clarification://session/";
const ROUNDS: &str = "clarification_rounds";
const REFERENCE: &str = "clarification_chain_ref";
const HASH: &str = "input_hash";
