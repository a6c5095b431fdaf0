//! The desk: every operation is admitted and done here, whichever interface it comes through. It has the store, the secrets,
//! the rules, the clock and the randomness. Decisions are the engine's.
//!
//! | part | module |
//! |---|---|
//! | the one entry; who may do what; what needs no disk | [`desk`], [`entry`], [`access`], [`lookup`] |
//! | how many large requests go on at once | [`large_turns`] |
//! | operations for the user of this machine alone; those about the server | `local`, `server_status`, `request_state` |
//! | questions; marks on the disk for hooks | [`question`], [`marks`] |
//! | passkeys: brought in, touched for what a person does | [`passkey`] |
//! | plans, and the rule packs they are held against | [`plan`], [`session`], [`rules`] |
//! | accountable runs | [`run`] |
//! | traces: listed, shown event by event, exported | [`trace`], [`record`], [`excerpt`], [`subject`] |
//! | ids by their beginning | [`find`] |
//! | keys, tokens, people, and the one space of their names | [`key`], [`key_entry`], [`key_directory`], [`token`], [`person`], [`name`] |
//! | data folder, store and secrets of one process; a folder that is only read | [`data`], `held_folder`, [`owner`], [`keyring`], [`durable`], [`read_only`]; what it keeps for every server: [`settings`] |
//! | records with compare and swap; idempotency keys; lists read to their end | `records`, `keyed`, `pages` |
//! | a statement on its way to the sequencer | [`recording`] |
//! | waiting, watching, deadlines that pass | [`waiters`], [`watch`], [`follower`], [`deadlines`], `trouble_log` |
//! | checkpoint and check of the whole store; figures | [`store_check`], [`figures`] |
//! | accessibility events: sessions published, followed, replied to | [`aaep`] |
//! | verification of a trace of the store, and of a file | [`audit`], [`verification`] |
//! | clock and randomness | [`operating_system`] |
//! | refusals about files, and paths that are safe to show | [`error`], [`visible`] |

pub mod aaep;
pub mod access;
pub mod audit;
pub mod client;
pub mod confirmation;
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
pub(crate) mod kept_file;
pub mod kept_head;
pub mod kept_root;
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
mod pages;
pub mod passkey;
pub mod person;
pub mod plan;
pub mod question;
pub mod read_only;
pub mod record;
pub mod recording;
mod records;
mod request_state;
pub mod rules;
pub mod run;
mod seal;
mod server_status;
pub mod session;
pub mod settings;
pub mod spool;
pub mod store_check;
pub mod subject;
pub mod token;
pub mod trace;
mod trouble_log;
pub mod verification;
pub mod visible;
pub mod waiters;
pub mod watch;
