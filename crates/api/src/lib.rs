//! What can be asked of demur and what comes back: operations, documents and refusals, the same through every way in.
//! Pure: no files, no clock, no store, no HTTP.
//!
//! | part | module |
//! |---|---|
//! | refusals and their codes | [`refusal`], [`code`] |
//! | questions | [`question`] |
//! | people who may sign in | [`person`] |
//! | who may what | [`scope`] |
//! | tokens | [`token`] |
//! | what a refusal says | [`problem`] |
//! | the server itself | [`server`] |
//! | what stops an agent | [`hook`] |
//! | what happens, as it happens | [`feed`] |
//! | plans | [`plan`] |
//! | accountable runs | [`run`] |
//! | the record | [`trace`] |
//! | keys and identities, statements signed elsewhere | [`key`], [`statement`] |
//! | the store itself | [`store`] |
//! | signed messages about identities | [`identity`] |
//! | everything that can be asked | [`operation`] |
//! | one call of an operation | [`call`] |

pub mod call;
pub mod code;
mod cure;
pub mod feed;
pub mod hook;
pub mod identity;
pub mod key;
pub mod operation;
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
