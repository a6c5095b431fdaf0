//! Proofs as they stand in JSON: `"none"`, or an object with one member that names the kind.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, Visitor},
    ser::SerializeMap as _,
};
use serde_json::value::RawValue;

use super::{ED25519, KeySignature, NONE, Proof, UnknownProof, WEBAUTHN};
use crate::passkey::Assertion;

impl Serialize for Proof {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Ed25519(proof) => one_member(serializer, ED25519, proof),
            Self::Webauthn(assertion) => one_member(serializer, WEBAUTHN, assertion),
            Self::None => serializer.serialize_str(NONE),
            Self::Unknown(proof) => proof.serialize(serializer),
        }
    }
}

fn one_member<S: Serializer>(serializer: S, name: &str, value: &impl Serialize) -> Result<S::Ok, S::Error> {
    let mut members = serializer.serialize_map(Some(1))?;
    members.serialize_entry(name, value)?;
    members.end()
}

impl<'de> Deserialize<'de> for Proof {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ProofVisitor)
    }
}

struct ProofVisitor;

impl<'de> Visitor<'de> for ProofVisitor {
    type Value = Proof;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a proof")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Proof, E> {
        match name {
            NONE => Ok(Proof::None),
            name => unknown(name.to_owned(), None),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Proof, A::Error> {
        let name = members.next_key::<Cow<'de, str>>()?.ok_or_else(|| A::Error::custom(EXPECTED))?;
        let proof = match &*name {
            ED25519 => Proof::Ed25519(members.next_value::<KeySignature>()?),
            WEBAUTHN => Proof::Webauthn(members.next_value::<Box<Assertion>>()?),
            _ => unknown(name.into_owned(), Some(members.next_value::<Box<RawValue>>()?))?,
        };
        match members.next_key::<Cow<'de, str>>()? {
            None => Ok(proof),
            Some(_) => Err(A::Error::custom(EXPECTED)),
        }
    }
}

fn unknown<E: serde::de::Error>(name: String, value: Option<Box<RawValue>>) -> Result<Proof, E> {
    UnknownProof::of(name, value).map(Proof::Unknown).ok_or_else(|| E::custom(EXPECTED))
}

impl JsonSchema for Proof {
    fn schema_name() -> Cow<'static, str> {
        "Proof".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let key = generator.subschema_for::<KeySignature>();
        let assertion = generator.subschema_for::<Assertion>();
        let one = |name: &str, value: Schema, meaning: &str| {
            json_schema!({
                "description": meaning,
                "type": "object",
                "properties": {name: value},
                "required": [name],
                "additionalProperties": false,
            })
        };
        // A proof of a later version has another name; it is no part of this one.
        json_schema!({"description": "The proof of an event.", "oneOf": [
            one(ED25519, key, "A key of the author's own signed the statement."),
            one(WEBAUTHN, assertion, "A passkey signed the statement's leaf."),
            {"description": "Nothing, the desk's word.", "type": "string", "const": NONE},
        ]})
    }
}

const EXPECTED: &str = "expected \"none\", or one member that names a kind of proof";
