//! How many connections, tokens and people a server takes, and how much of it one token may have: settings, with the range in
//! which each is sensible.

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
    /// Connections over TCP that have not shown a token yet.
    #[serde(default = "stranger_connections")]
    pub stranger_connections: u32,
    /// How much of what is being sent is in memory, in mebibytes: for the user of this machine, and as much for all others.
    #[serde(default = "body_mebibytes")]
    pub body_mebibytes: u32,
    /// How much one token may have.
    #[serde(default)]
    pub quotas: TokenQuotas,
    /// How much of accessibility events there is.
    #[serde(default)]
    pub aaep: AaepLimits,
}

/// How much of accessibility events (AAEP) there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AaepLimits {
    /// Subscriptions of one token.
    pub subscriptions: u32,
    /// Sessions of one token that are open.
    pub sessions: u32,
    /// For how many hours events are kept. A prompt waits for a day at most.
    pub retention_hours: u32,
    /// After how many hours without events a session is given up.
    pub session_idle_hours: u32,
}

impl AaepLimits {
    /// How many subscriptions one token can have.
    pub const SUBSCRIPTIONS: RangeInclusive<u32> = 1..=16_384;
    /// How many sessions of one token can be open.
    pub const SESSIONS: RangeInclusive<u32> = 1..=10_000;
    /// For how long events can be kept: longer than any prompt waits.
    pub const RETENTION_HOURS: RangeInclusive<u32> = 25..=8_760;
    /// How long a session can be without events: longer than any prompt waits.
    pub const SESSION_IDLE_HOURS: RangeInclusive<u32> = 25..=8_760;

    /// Returns the first setting that is out of its range, by its name, with the range.
    pub fn out_of_range(&self) -> Option<(&'static str, RangeInclusive<u32>)> {
        let settings = [
            ("subscriptions", self.subscriptions, Self::SUBSCRIPTIONS),
            ("sessions", self.sessions, Self::SESSIONS),
            ("retention_hours", self.retention_hours, Self::RETENTION_HOURS),
            ("session_idle_hours", self.session_idle_hours, Self::SESSION_IDLE_HOURS),
        ];
        let unfit = settings.into_iter().find(|(_, value, range)| !range.contains(value));
        unfit.map(|(name, _, range)| (name, range))
    }
}

impl Default for AaepLimits {
    fn default() -> Self {
        Self { subscriptions: 256, sessions: 64, retention_hours: 72, session_idle_hours: 48 }
    }
}

/// How much one token may have, or all tokens of one name together where they speak with one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TokenQuotas {
    /// Questions and confirmations that are open.
    pub open_questions: u32,
    /// Questions, confirmations and plans in an hour.
    pub asks_per_hour: u32,
    /// What is recorded in an hour, in mebibytes.
    pub mebibytes_per_hour: u32,
    /// Connections over TCP.
    pub connections: u32,
    /// Sessions of MCP clients before 2026-07-28.
    pub mcp_sessions: u32,
    /// Requests that wait for something to happen.
    pub waits: u32,
}

impl TokenQuotas {
    /// How many questions can be open.
    pub const OPEN_QUESTIONS: RangeInclusive<u32> = 1..=100_000;
    /// How much can be asked in an hour.
    pub const ASKS_PER_HOUR: RangeInclusive<u32> = 1..=10_000_000;
    /// How much can be recorded in an hour.
    pub const MEBIBYTES_PER_HOUR: RangeInclusive<u32> = 1..=1_048_576;
    /// How many sessions there can be.
    pub const MCP_SESSIONS: RangeInclusive<u32> = 1..=512;
    /// How many requests can wait, and how many connections there can be.
    pub const WAITS: RangeInclusive<u32> = 1..=16_384;
}

impl Default for TokenQuotas {
    fn default() -> Self {
        Self {
            open_questions: 64,
            asks_per_hour: 600,
            mebibytes_per_hour: 256,
            connections: 256,
            mcp_sessions: 16,
            waits: 256,
        }
    }
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
    /// How many mebibytes of requests can be in memory. The largest document there is has to fit.
    pub const BODY_MEBIBYTES: RangeInclusive<u32> = 50..=4096;
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
            stranger_connections: stranger_connections(),
            body_mebibytes: body_mebibytes(),
            quotas: TokenQuotas::default(),
            aaep: AaepLimits::default(),
        }
    }
}

const fn local_connections() -> u32 {
    1024
}

const fn stranger_connections() -> u32 {
    1024
}

const fn body_mebibytes() -> u32 {
    96
}

/// How many open pages are kept up to date: beside them there is room for pages and programs.
pub const MAX_VIEWERS: u32 = 2048;
