//! Runs one tool in a helper process under limits: time, output, memory, processes, files, network. Linux only.
//!
//! The program that uses this crate starts itself again, twice. No step needs `unsafe`, privileges or control
//! groups. `docs/sandbox.md` says what is limited, how, and what is not.
//!
//! ```text
//! caller ──request, start──▶ supervisor ──request, start──▶ helper ──exec──▶ tool
//!        ◀──limits, outcome─            ◀──limits, failure──
//! ```
//!
//! | part | module |
//! |---|---|
//! | what to run, under which limits, what came of it | `request`, `limits`, `policy`, `outcome` |
//! | what this kernel cannot hold tools to | `support` |
//! | the caller's side | `client` |
//! | the stage that watches the tool and ends it | `supervise` |
//! | the stage that limits itself and becomes the tool | `enter` |
//! | what the stages say to each other | `wire` |

mod client;
mod enter;
mod error;
mod limits;
mod outcome;
mod policy;
mod request;
mod supervise;
mod support;
mod wire;

pub use client::{Prepared, Running, Stopper, prepare, run};
pub use enter::enter;
pub use error::SandboxError;
pub use limits::SandboxLimits;
pub use outcome::{Limit, ToolEnding, ToolOutcome};
pub use policy::SandboxPolicy;
pub use request::Request;
pub use supervise::supervise;
pub use support::missing;

/// The argument with which the executable must call [`supervise`].
pub const SUPERVISE: &str = "sandbox-supervise";

/// The argument with which the executable must call [`enter`].
pub const ENTER: &str = "sandbox-enter";
