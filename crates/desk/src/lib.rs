//! A data folder in use: what the command line and the server both do with it. Decisions are the engine's; here are the
//! folder and its owner, the secrets, the rules, and the way from what somebody wants to what is recorded.
//!
//! | part | module |
//! |---|---|
//! | what is told about files, in letters that are safe to show | [`error`], [`visible`] |
//! | clock and randomness | [`world`] |
//! | data folder, secrets, the store in use | [`data`], [`keystore`], [`key_entry`], [`owner`], [`roster`], [`durable`] |
//! | rule packs | [`rules`] |
//! | plans | [`plan`], [`session`] |
//! | questions, and the marks that hooks look at | [`question`], [`marks`] |
//! | accountable runs | [`run`] |
//! | events with their words, and what holds of them; what is to be recorded | [`record`], [`excerpt`], [`recording`] |
//! | what the verifier says about a trace of the store, and about a file | [`audit`], [`verification`] |

pub mod audit;
pub mod data;
pub mod durable;
pub mod error;
pub mod excerpt;
pub mod key_entry;
mod keyed;
pub mod keystore;
pub mod marks;
pub mod owner;
pub mod plan;
pub mod question;
pub mod record;
pub mod recording;
pub mod roster;
pub mod rules;
pub mod run;
pub mod session;
pub mod verification;
pub mod visible;
pub mod world;
