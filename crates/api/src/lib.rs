//! What can be asked of demur and what comes back: operations, documents and refusals, the same through every way in.
//! Pure: no files, no clock, no store, no HTTP.
//!
//! | part | module |
//! |---|---|
//! | every operation; one call of an operation | [`operation`], [`call`] |
//! | scopes, of which an operation needs one | [`scope`] |
//! | refusals, their codes and cures; a refusal over the wire | [`refusal`], [`code`], `cure`, [`problem`] |
//! | questions | [`question`] |
//! | plans | [`plan`] |
//! | accountable runs | [`run`] |
//! | traces and their events; the feed of all events | [`trace`], [`feed`] |
//! | keys, statements signed elsewhere, messages about identities | [`key`], [`statement`], [`identity`] |
//! | tokens, people who may sign in, their passkeys | [`token`], [`person`], [`passkey`] |
//! | the server and its limits; the store | [`server`], [`server_limits`], [`store`] |
//! | questions that stop an agent, for hooks | [`hook`] |
//! | the secret that seals the state of an MCP request | [`request_state`] |
//! | JSON Schemas of all documents | [`schema`] |

pub mod call;
pub mod code;
pub mod confirmation;
mod cure;
pub mod feed;
pub mod hook;
pub mod identity;
pub mod key;
pub mod operation;
pub mod passkey;
pub mod person;
pub mod plan;
pub mod problem;
pub mod question;
pub mod refusal;
pub mod request_state;
pub mod run;
pub mod schema;
pub mod scope;
pub mod server;
pub mod server_limits;
pub mod statement;
pub mod store;
pub mod token;
pub mod trace;
