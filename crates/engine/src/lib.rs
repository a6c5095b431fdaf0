//! The engine of demur: commands are decided against the state of a trace, and decisions become events. The only
//! place where protocols meet. Pure: no files, no clock, no randomness of its own, no tasks.
//!
//! | of the one flow (`docs/design/003-engine-and-store.md`) | module |
//! |---|---|
//! | what came through a door | [`command`] |
//! | what is known of the trace | [`state`] |
//! | what else was looked up | [`context`] |
//! | the decision | [`decide`] |
//! | the answer when it is no | [`refusal`] |
//! | what the store is given | [`entry`] |
//! | effects on other traces | [`reactor`] |
//! | a state that saves reading a long trace | [`snapshot`] |

pub mod command;
pub mod context;
mod decide;
pub mod entry;
pub mod reactor;
pub mod refusal;
pub mod snapshot;
pub mod state;

pub use decide::{Decision, Reply, decide};
