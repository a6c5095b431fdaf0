//! What a client carries from one round of a request to the next. It is the client's to keep and nobody's to change:
//! sealed with a key of the data folder, bound to whoever asked, to the tool and to its arguments, and good for a day. It
//! names questions and nothing else. That an answer counts once is the ledger's doing: a state that comes twice finds
//! the answer that is on record.

use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    time::Duration,
};

use demur_api::question::QuestionId;
use demur_clarify::uuid::Uuid;
use demur_core::{canonical, hash::sha256, random::Random as _};
use rmcp::{
    ErrorData,
    model::{JsonObject, RequestStateCodec, RequestStateError, SealOptions},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::fresh::Fresh;

/// What seals and opens.
#[derive(Clone, Debug)]
pub struct States {
    codec: RequestStateCodec,
    good_for: Duration,
}

/// What a request goes on with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ticket {
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
    /// Returns what seals with the key of this data folder, which is made where there is none. The folder has to be
    /// there.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let path = folder.join(KEY_FILE_NAME);
        let key = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                create(&path)?;
                fs::read(&path)?
            }
            read => read?,
        };
        Self::with_key(key, STATE_LIFETIME).map_err(io::Error::other)
    }

    /// Returns what seals with this key, for so long.
    pub fn with_key(key: Vec<u8>, good_for: Duration) -> Result<Self, RequestStateError> {
        Ok(Self { codec: RequestStateCodec::try_new(key)?, good_for })
    }

    /// Returns a ticket as the client carries it.
    pub fn seal(&self, ticket: &Ticket, bound: &Bound) -> Result<String, ErrorData> {
        let options = SealOptions::new().associated_data(&bound.0).ttl(self.good_for);
        self.codec
            .seal_json_with(ticket, &options)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Returns the ticket that a client brings back. Whatever is wrong with it, the client hears one sentence.
    pub fn unseal(&self, sealed: &str, bound: &Bound) -> Result<Ticket, ErrorData> {
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

/// Makes the key. Whoever is second finds the key of the first; nobody ever reads half of one.
fn create(path: &Path) -> io::Result<()> {
    let mut fresh = Fresh::open().map_err(|refusal| io::Error::other(refusal.message))?;
    let mut key = [0; 32];
    fresh.fill(&mut key);
    let beside = path.with_extension(fresh.ulid().to_string());
    let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside);
    let made = written.and_then(|mut file| {
        file.write_all(&key)?;
        file.sync_all()?;
        fs::hard_link(&beside, path)
    });
    let removed = fs::remove_file(&beside);
    match made {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => removed,
    }
}

/// What binds the name of a task, in the place of a tool.
const TASKS: &str = "tasks";
/// What a client hears about a state that is not good.
const REFUSED: &str = "expected the requestState of this very call, unchanged and at most a day old, found another; \
                       call the tool again without requestState, or check_question with the id of the question";
/// Where the key lies in the data folder.
const KEY_FILE_NAME: &str = "request-state.key";
/// How long a state is good.
const STATE_LIFETIME: Duration = Duration::from_hours(24);
