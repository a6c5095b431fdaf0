//! A statement that was signed elsewhere: it travels with what it commits to, and without the secret.

use demur_core::commitment::Salt;
use demur_ledger::{
    content::Opening,
    proof::{AuthorProof, KeySignature},
    statement::Submission,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, de::Error as _};
use serde_json::value::RawValue;

/// A statement with its signature.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignedStatement {
    /// The statement, in canonical JSON.
    #[schemars(schema_with = "document_schema")]
    pub statement: Box<RawValue>,
    /// The signature over its bytes.
    pub proof: KeySignature,
    /// The content that it commits to, in canonical JSON; none where there is none.
    #[serde(default)]
    #[schemars(schema_with = "content_schema")]
    pub content: Option<Box<RawValue>>,
    /// What opens the commitment to the content.
    #[serde(default)]
    pub salt: Option<Salt>,
}

impl TryFrom<Submission> for SignedStatement {
    type Error = serde_json::Error;

    fn try_from(submission: Submission) -> Result<Self, serde_json::Error> {
        let Submission { statement, proof, opening } = submission;
        let AuthorProof::Key(proof) = proof else {
            return Err(serde_json::Error::custom(
                "expected a statement signed with a key, found a passkey's",
            ));
        };
        let content = opening.as_ref().map(|opening| serde_json::from_slice(&opening.bytes)).transpose()?;
        let salt = opening.map(|opening| opening.salt);
        Ok(Self { statement: serde_json::from_slice(&statement)?, proof, content, salt })
    }
}

impl From<SignedStatement> for Submission {
    /// Whether any of it holds is for the ledger to say.
    fn from(signed: SignedStatement) -> Self {
        let opening = signed.content.zip(signed.salt);
        Self {
            statement: signed.statement.get().into(),
            proof: signed.proof.into(),
            opening: opening.map(|(content, salt)| Opening { bytes: content.get().into(), salt }),
        }
    }
}

fn document_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object", "description": "The statement as it was signed, in canonical JSON." })
}

fn content_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": ["object", "null"],
        "description": "The content that the statement commits to, in canonical JSON.",
    })
}
