//! The MCP door: any agent can ask, in four tiers from one definition (CLR-05, CLR-40 to CLR-43, ONE-01, ONE-02). It
//! knows the documents of `demur-api` and calls operations through [`host::CallerConnection`] alone; `docs/design/010-mcp.md` says why.
//!
//! | part | module |
//! |---|---|
//! | who comes through this door, and the connection to the desk | [`host`] |
//! | what is no message, and what is wrong with it | [`fault`] |
//! | how requests to clients are numbered | [`ids`] |
//! | what a client lacks, as a form or an address | `prompt` |
//! | which tier a client is served in | [`tier`] |
//! | how the door is kept: tools, window, revisions, forms | [`door_settings`] |
//! | what a process remembers of its callers | [`memory`] |
//! | what a client carries from one round to the next | [`state`] |
//! | the table of tools | [`tools`] |
//! | how many calls an asker has at once | [`call_limits`] |
//! | what is told once, and whether the reply with it was written | [`secret`], [`written`] |
//! | the door itself, over any transport | [`door`], [`stdio`] |

pub mod call_limits;
pub mod door;
pub mod door_settings;
pub mod fault;
pub mod host;
pub mod ids;
pub mod memory;
pub mod secret;
pub mod state;
pub mod stdio;
pub mod tier;
pub mod tools;
pub mod written;

mod arguments;
mod ask;
mod confirm;
mod era;
mod form;
mod list;
mod listen;
mod misfit;
mod new_names;
mod pass;
mod plan;
mod prompt;
mod prompts;
mod reply;
mod resources;
mod sessions;
mod task;
mod tool_call;
