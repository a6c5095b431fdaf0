//! What an agent says to the desk: a signed statement, or that its turn is over.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use demur_core::{canonical, commitment::Salt, limit::Limits};
use demur_ledger::{author::Artifact, content::Opening, proof::Proof, statement::Submission};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{LineError, both, present};

/// One line from an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromAgent {
    /// A statement to be recorded.
    Submit(Box<Submit>),
    /// The turn is over.
    Done,
}

/// A signed statement, with the bytes that it records if it records any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submit {
    /// The statement, its proof and its content.
    pub submission: Submission,
    /// The bytes, with `artifact_recorded` and `report_recorded` only.
    pub artifact: Option<Artifact>,
}

impl FromAgent {
    /// Returns the line in these bytes, without the line feed.
    ///
    /// Statement and content are cut out as they stand. Whether they are of a known shape is for the door to say: a
    /// statement that is refused does not end the agent, a line that cannot be read does.
    pub fn parse(bytes: &[u8]) -> Result<Self, LineError> {
        let text = canonical::check(bytes, &Limits::LINE)?;
        match canonical::from_checked(text)? {
            Wire::Submit(submit) => Ok(Self::Submit(Box::new((*submit).try_into()?))),
            Wire::Done(Nothing {}) => Ok(Self::Done),
        }
    }

    /// Returns the bytes of the line, with the line feed.
    pub fn to_line(&self) -> Result<Vec<u8>, LineError> {
        match self {
            Self::Submit(submit) => submit.to_line(),
            Self::Done => Ok(b"{\"done\":{}}\n".to_vec()),
        }
    }
}

impl Submit {
    /// Returns the bytes of the line, with the line feed.
    ///
    /// Statement and content are canonical bytes already: they are joined, not written again.
    pub fn to_line(&self) -> Result<Vec<u8>, LineError> {
        #[derive(Serialize)]
        struct Stored<'a> {
            bytes: String,
            salt: &'a Salt,
        }
        let Submission { statement, proof, opening } = &self.submission;
        let artifact = self
            .artifact
            .as_ref()
            .map(|artifact| Stored { bytes: STANDARD.encode(&artifact.bytes), salt: &artifact.salt });
        let mut line = br#"{"submit":{"artifact":"#.to_vec();
        canonical::write(&artifact, &mut line)?;
        line.extend_from_slice(br#","content":"#);
        line.extend_from_slice(opening.as_ref().map_or(b"null", |opening| &opening.bytes));
        line.extend_from_slice(br#","proof":"#);
        canonical::write(&Proof::from(proof.clone()), &mut line)?;
        line.extend_from_slice(br#","salt":"#);
        canonical::write(&opening.as_ref().map(|opening| opening.salt), &mut line)?;
        line.extend_from_slice(br#","statement":"#);
        line.extend_from_slice(statement);
        line.extend_from_slice(b"}}\n");
        Ok(line)
    }
}

impl TryFrom<WireSubmit<'_>> for Submit {
    type Error = LineError;

    fn try_from(wire: WireSubmit<'_>) -> Result<Self, LineError> {
        let proof = match wire.proof {
            Proof::Ed25519(proof) => proof.into(),
            Proof::None | Proof::Webauthn(_) | Proof::Unknown(_) => return Err(LineError::Proof),
        };
        let content = both("content", wire.content, wire.salt)?;
        let opening = content.map(|(content, salt)| Opening { bytes: content.get().into(), salt });
        let artifact = wire.artifact.map(Artifact::try_from).transpose()?;
        Ok(Self {
            submission: Submission { statement: wire.statement.get().into(), proof, opening },
            artifact,
        })
    }
}

impl TryFrom<WireArtifact<'_>> for Artifact {
    type Error = LineError;

    fn try_from(wire: WireArtifact<'_>) -> Result<Self, LineError> {
        let bytes = STANDARD.decode(wire.bytes).map_err(|_| LineError::Base64)?;
        Ok(Self { bytes, salt: wire.salt })
    }
}

/// A line as it is read.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Wire<'a> {
    #[serde(borrow)]
    Submit(Box<WireSubmit<'a>>),
    Done(Nothing),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireSubmit<'a> {
    #[serde(borrow, deserialize_with = "present")]
    artifact: Option<WireArtifact<'a>>,
    #[serde(borrow, deserialize_with = "present")]
    content: Option<&'a RawValue>,
    proof: Proof,
    #[serde(deserialize_with = "present")]
    salt: Option<Salt>,
    #[serde(borrow)]
    statement: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireArtifact<'a> {
    bytes: &'a str,
    salt: Salt,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}
