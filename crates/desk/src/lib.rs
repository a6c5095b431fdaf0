//! A data folder in use: what the command line and the server both do with it. Decisions are the engine's; here are the
//! folder and its owner, the secrets, the rules, and the way from what somebody wants to what is recorded.
//!
//! | part | module |
//! |---|---|
//! | what is told about files, in letters that are safe to show | [`error`], [`visible`] |
//! | clock and randomness | [`operating_system`] |
//! | data folder, secrets, the store in use | [`data`], [`keyring`], [`key`], [`key_entry`], [`owner`], [`key_directory`], [`durable`] |
//! | rule packs | [`rules`] |
//! | plans | [`plan`], [`session`] |
//! | questions, and the marks that hooks look at | [`question`], [`marks`] |
//! | accountable runs | [`run`] |
//! | the way in: who may, how it is done, what needs no disk | [`entry`], [`access`], [`lookup`], [`desk`] |
//! | tokens and people | [`token`], [`person`] |
//! | who waits for what, who watches, and deadlines that pass | [`waiters`], [`watch`], [`follower`], [`deadlines`] |
//! | events with their words, and what holds of them; what is to be recorded | [`record`], [`excerpt`], [`recording`], [`trace`] |
//! | which ids begin so, what a trace is about | [`find`], [`subject`] |
//! | a checkpoint over the store, and a look at all of it; what is counted | [`store_check`], [`figures`] |
//! | what the verifier says about a trace of the store, and about a file | [`audit`], [`verification`] |

pub mod access;
pub mod audit;
pub mod data;
pub mod deadlines;
pub mod desk;
pub mod durable;
pub mod entry;
pub mod error;
pub mod excerpt;
pub mod figures;
pub mod find;
pub mod follower;
mod held_folder;
pub mod key;
pub mod key_directory;
pub mod key_entry;
mod keyed;
pub mod keyring;
pub mod large_turns;
mod local;
pub mod lookup;
pub mod marks;
pub mod name;
pub mod operating_system;
pub mod owner;
pub mod person;
pub mod plan;
pub mod question;
pub mod record;
pub mod recording;
mod records;
mod request_state;
pub mod rules;
pub mod run;
mod server_status;
pub mod session;
pub mod store_check;
pub mod subject;
pub mod token;
pub mod trace;
mod trouble_log;
pub mod verification;
pub mod visible;
pub mod waiters;
pub mod watch;
