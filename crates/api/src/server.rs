//! The server itself: what it is and how it is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::server_limits::ServerLimits;

/// A server that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerStatus {
    /// The version of demur.
    pub version: String,
    /// The version of what goes over the socket: client and server must have the same.
    pub protocol: u32,
    /// The process.
    pub process: u32,
    /// The data folder.
    pub folder: String,
    /// The store, by the hash of its first event.
    pub store: String,
    /// Where it listens on TCP.
    pub address: Option<String>,
    /// Where its pages are: under a name that only browsers resolve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<String>,
    /// The port of this folder, where another program has it: neither pages nor programs come over TCP until it is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for_port: Option<u16>,
    /// How many questions are open.
    pub open: u64,
    /// How many questions somebody waits for at this moment.
    pub waiting: u64,
    /// How many connections, tokens and people it takes.
    #[serde(default)]
    pub limits: ServerLimits,
    /// Why nothing can be recorded, where that is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// How the server is.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// `ok`, or why not.
    pub status: String,
}

/// The paths of every schema.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SchemaList {
    /// By path.
    pub schemas: Vec<String>,
}

/// The version of what clients and server say to each other over the socket: both have to have the same.
pub const PROTOCOL: u32 = 3;
