//! Operations: everything that can be asked of demur, each a type with what goes in and what comes out. HTTP, MCP, the
//! socket and the pages call the same ones; whatever needs bytes, pages or streams is none.

mod path;
mod table;

use std::any::TypeId;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use path::{
    NoArguments, OfEvent, OfGap, OfIdentity, OfPerson, OfPlan, OfQuestion, OfToken, OfTrace, PathArguments,
    in_path,
};
pub use table::*;

use crate::scope::Scope;

/// One thing that can be done.
pub trait Operation: 'static {
    /// Its name, its place and who may.
    const ABOUT: About;
    /// What stands in its path.
    type Path: PathArguments;
    /// What stands in its query.
    type Query: ApiDocument;
    /// What is sent along.
    type Body: ApiDocument;
    /// What comes back.
    type Output: ApiDocument;
}

/// What is known of an operation without its types.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name for programs.
    pub id: &'static str,
    /// What it does to what is there.
    pub method: Method,
    /// Where it is, with the names of what stands in the path in braces.
    pub path: &'static str,
    /// Who may: any of these. Empty where everybody may.
    pub scopes: &'static [Scope],
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Whether the same request under the same idempotency key is recorded once.
    pub keyed: bool,
    /// Whether what is sent along may carry an artifact.
    pub large: bool,
    /// What comes back when all goes well.
    pub statuses: &'static [Success],
}

/// One way in which all goes well.
#[derive(Clone, Copy, Debug)]
pub struct Success {
    /// The HTTP status.
    pub status: u16,
    /// What it means.
    pub meaning: &'static str,
}

/// What an operation does to what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Reads.
    Get,
    /// Does something.
    Post,
    /// Puts something in the place of what is there.
    Put,
    /// Takes something away.
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

/// What goes in or out, written and read as JSON.
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
