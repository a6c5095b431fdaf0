//! How many connections, tokens and people a server takes: settings, with the range in which each is sensible.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many there are at the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerLimits {
    /// Connections over TCP at once.
    pub connections: u32,
    /// Connections over the socket at once, from the user of this machine.
    #[serde(default = "local_connections")]
    pub local_connections: u32,
    /// Tokens, with the sessions of people who are signed in.
    pub tokens: u32,
    /// People who may sign in besides the user of this machine.
    pub people: u32,
}

impl ServerLimits {
    /// How many connections there can be. Each takes one file descriptor and, with a page behind it, some 13 kB.
    pub const CONNECTIONS: RangeInclusive<u32> = 64..=16_384;
    /// How many connections over the socket there can be. One of eight is kept for requests that do not wait.
    pub const LOCAL_CONNECTIONS: RangeInclusive<u32> = 16..=16_384;
    /// How many tokens there can be: each is a record, and a server has all of them in memory.
    pub const TOKENS: RangeInclusive<u32> = 1..=10_000;
    /// How many people there can be: each is a record, and all of them are read when one is added.
    pub const PEOPLE: RangeInclusive<u32> = 1..=10_000;
}

impl Default for ServerLimits {
    /// As many connections as there are open pages that are kept up to date, and a thousand for everything else: all of
    /// them together stay below 50 MB (`cargo xtask bench viewers`).
    fn default() -> Self {
        Self {
            connections: MAX_VIEWERS + 1024,
            local_connections: local_connections(),
            tokens: 1000,
            people: 500,
        }
    }
}

const fn local_connections() -> u32 {
    1024
}

/// How many open pages are kept up to date: beside them there is room for pages and programs.
pub const MAX_VIEWERS: u32 = 2048;
