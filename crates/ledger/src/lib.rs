//! The ledger of demur: events that an author signs and a desk orders, the state they fold into, and the
//! registry of keys that says who may speak.
//!
//! Carries `docs/format.md`, version 1, and the session protocol of seed 002. Pure: no files, no clock, no
//! randomness; time and random numbers are parameters.
//!
//! | `docs/format.md` | module |
//! |---|---|
//! | 2 Names | [`name`] |
//! | 3 Statement | [`statement`] |
//! | 4 Proof | [`proof`], [`passkey`] |
//! | 5 Envelope | [`envelope`] |
//! | 6 Event types | [`event_type`], [`facts`], [`content`] |
//! | 7 Registry | [`registry`] |
//! | 8 Heads, receipts, checkpoints | [`signed`] |
//! | 9 Export | [`export`] |
//! | 10 The state of a run | [`state`], [`meaning`] |
//! | 11 Questions and work | [`question`], [`confirmation`], [`trace_state`] |
//! | 12 How the format evolves | [`newer`] |
//!
//! Not built here: the proof `http_signature` (described in the format, unknown until built), consent events (their names
//! are reserved).
//!
//! The smallest trace: a desk opens a store and the registry trace holds its first event.
//! ```
//! use demur_core::{key::SecretKey, random::Seeded, time::Timestamp};
//! use demur_ledger::desk::Desk;
//!
//! let mut random = Seeded::from_number(1);
//! let now = Timestamp::from_millis(1_800_000_000_000)?;
//! let (desk, first) = Desk::create(SecretKey::generate(&mut random), None, "an example", now, &mut random)?;
//! assert_eq!(desk.store().as_digest(), first.event.hash());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod admission;
pub mod attribution;
pub mod author;
pub mod chain;
pub mod check;
pub mod client;
pub mod confirmation;
pub mod content;
mod cure;
pub mod desk;
pub mod entry;
pub mod envelope;
pub mod erasure;
pub mod event_type;
pub mod export;
pub mod facts;
pub mod graph;
pub mod markup;
pub mod meaning;
pub mod name;
pub mod newer;
pub mod passkey;
pub mod proof;
pub mod question;
mod reason;
pub mod registry;
pub mod role;
pub mod schema;
pub mod signed;
pub mod state;
pub mod statement;
pub mod timeline;
pub mod trace_state;
pub mod verify;
