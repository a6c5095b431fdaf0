//! What a client carries from one round of a request to the next. It is the client's to keep and nobody's to change:
//! sealed with a secret of the desk's keyring, bound to whoever asked, to the tool and to its arguments, and good for a day. It
//! names questions and nothing else. That an answer counts once is the ledger's doing: a state that comes twice finds
//! the answer that is on record.

use std::time::Duration;

use demur_api::question::QuestionId;
use demur_clarify::uuid::Uuid;
use demur_core::{canonical, hash::sha256};
use rmcp::{
    ErrorData,
    model::{JsonObject, RequestStateCodec, RequestStateError, SealOptions},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// What seals and opens.
#[derive(Clone, Debug)]
pub struct States {
    codec: RequestStateCodec,
    good_for: Duration,
}

/// What a request goes on with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundState {
    /// A question that is on record.
    Question(QuestionId),
    /// A plan that is on record.
    Plan(Uuid),
}

/// What a state is good for, and for nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound(Vec<u8>);

impl Bound {
    /// Returns what binds a state to nothing that anybody calls.
    pub const fn none() -> Self {
        Self(Vec::new())
    }

    /// Returns what binds a state to whoever asked, to the tool and to its arguments.
    pub fn new(identity: &str, tool: &str, arguments: &JsonObject) -> Result<Self, ErrorData> {
        let arguments = canonical::to_vec(arguments)
            .map_err(|error| ErrorData::invalid_params(format!("arguments: {error}"), None))?;
        let mut bytes = Vec::new();
        for part in [identity.as_bytes(), tool.as_bytes(), sha256(&arguments).as_bytes()] {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part);
        }
        Ok(Self(bytes))
    }
}

impl States {
    /// Returns what seals with this key, for a day.
    pub fn with_key(key: &[u8; 32]) -> Result<Self, RequestStateError> {
        Self::good_for(key, STATE_LIFETIME)
    }

    /// Returns what seals with this key, for so long.
    pub fn good_for(key: &[u8; 32], good_for: Duration) -> Result<Self, RequestStateError> {
        Ok(Self { codec: RequestStateCodec::try_new(*key)?, good_for })
    }

    /// Returns the state of a round as the client carries it.
    pub fn seal(&self, round: &RoundState, bound: &Bound) -> Result<String, ErrorData> {
        let options = SealOptions::new().associated_data(&bound.0).ttl(self.good_for);
        self.codec
            .seal_json_with(round, &options)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Returns the state of a round that a client brings back. Whatever is wrong with it, the client hears one sentence.
    pub fn unseal(&self, sealed: &str, bound: &Bound) -> Result<RoundState, ErrorData> {
        self.codec.open_json_with(sealed, &bound.0).map_err(|error| {
            tracing::info!(%error, "a request state was refused");
            ErrorData::invalid_params(REFUSED, None)
        })
    }
}

impl States {
    /// Returns the name of a task, which only this caller can use: for good, as a task is.
    pub(crate) fn seal_task(&self, task: &impl Serialize, identity: &str) -> Result<String, ErrorData> {
        let bound = Bound::new(identity, TASKS, &JsonObject::new())?;
        let options = SealOptions::new().associated_data(&bound.0);
        self.codec
            .seal_json_with(task, &options)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Returns what a task of this caller is about; none for whatever else comes.
    pub(crate) fn unseal_task<T: DeserializeOwned>(&self, name: &str, identity: &str) -> Option<T> {
        let bound = Bound::new(identity, TASKS, &JsonObject::new()).ok()?;
        self.codec.open_json_with(name, &bound.0).ok()
    }
}

/// What binds the name of a task, in the place of a tool.
const TASKS: &str = "tasks";
/// What a client hears about a state that is not good.
const REFUSED: &str = "expected the requestState of this very call, unchanged and at most a day old, found another; \
                       call the tool again without requestState, or check_question with the id of the question";
/// How long a state is good.
const STATE_LIFETIME: Duration = Duration::from_hours(24);
