//! Operations: everything that demur does for a caller, each a type with its request and its reply. HTTP, MCP, the socket and
//! the pages call the same ones. Requests and replies of bytes, pages and streams are no operations.

mod path;
mod table;

use std::any::TypeId;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use path::{
    NoArguments, OfConfirmation, OfEvent, OfGap, OfIdentity, OfPasskey, OfPerson, OfPlan, OfQuestion,
    OfSignIn, OfToken, OfTouch, OfTrace, PathArguments, in_path,
};
pub use table::*;

use crate::scope::Scope;

/// One thing that can be done.
pub trait Operation: 'static {
    /// Its name, its place and who may.
    const ABOUT: About;
    /// The arguments in its path.
    type Path: PathArguments;
    /// The parameters in its query.
    type Query: ApiDocument;
    /// The document that is sent.
    type Body: ApiDocument;
    /// The document of the reply.
    type Output: ApiDocument;
}

/// The description of an operation, without its types.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name for programs.
    pub id: &'static str,
    /// Whether it reads, changes or removes.
    pub method: Method,
    /// Its path, with the names of its arguments in braces.
    pub path: &'static str,
    /// Who may: any of these. Empty where everybody may.
    pub scopes: &'static [Scope],
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Whether the same request under the same idempotency key is recorded once.
    pub keyed: bool,
    /// Whether its document may carry an artifact, and so be large.
    pub large: bool,
    /// Its statuses of success.
    pub statuses: &'static [Success],
}

/// A status of success.
#[derive(Clone, Copy, Debug)]
pub struct Success {
    /// The HTTP status.
    pub status: u16,
    /// What it means.
    pub meaning: &'static str,
}

/// Whether an operation reads, changes or removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Reads.
    Get,
    /// Changes something.
    Post,
    /// Puts something in the place of what is there.
    Put,
    /// Removes something.
    Delete,
}

impl Method {
    /// Returns the word of HTTP.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

/// A document of a request or a reply, written and read as JSON.
pub trait ApiDocument: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// Returns whether there is nothing to write.
    fn is_nothing() -> bool {
        TypeId::of::<Self>() == TypeId::of::<Nothing>()
    }
}

impl<T: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static> ApiDocument for T {}

/// A document that is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Nothing {}
