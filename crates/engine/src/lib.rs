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
//! | what the store is given | [`demur_ledger::entry`] |
//! | effects on other traces | [`reactor`] |
//! | a state that saves reading a long trace | [`snapshot`] |
//!
//! A planner brings its key into the registry of a new store:
//!
//! ```
//! use demur_core::{key::SecretKey, random::Seeded, time::Timestamp};
//! use demur_engine::{
//!     Reply,
//!     command::{Command, Consequences},
//!     context::Context,
//!     decide,
//!     state::State,
//! };
//! use demur_ledger::{
//!     admission::Checked,
//!     author::{Author, Place},
//!     desk::Desk,
//!     meaning::{ArtifactDigests, Known},
//!     name::PrincipalId,
//!     role::Role,
//! };
//!
//! let mut random = Seeded::from_number(1); // A program takes the system's.
//! let now = Timestamp::from_millis(1_794_700_800_000)?;
//! let (desk, first) = Desk::create(SecretKey::generate(&mut random), None, "a store", now, &mut random)?;
//! let mut state = State::new(first.event.envelope().trace);
//! state.apply(&first.event, Known::NOTHING)?;
//!
//! let principal = PrincipalId::new(now, &mut random);
//! let planner = Author::new(SecretKey::generate(&mut random), principal, Role::Planner);
//! let seen = state.tip().head();
//! let place = Place { store: desk.store(), trace: state.tip().trace(), seen, now };
//! let submission = planner.register(&place, None, "a planner", &mut random)?;
//!
//! let said = Checked::new(submission, Some(desk.registry()))?;
//! let command = Command::submit(said, None, Consequences::default());
//! let seen = seen.map(|seen| seen.hash);
//! let artifacts = ArtifactDigests::new();
//! let (question, check, earlier) = (None, None, None);
//! let context = Context { registry: desk.registry(), seen, question, artifacts, check, earlier };
//! let decision = decide(&state, &context, command, now, &mut random);
//!
//! let event = &decision.events[0].event;
//! assert_eq!(decision.reply, Reply::Recorded(event.position()));
//! state.apply(event, Known::NOTHING)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod command;
pub mod context;
mod decide;
pub mod reactor;
pub mod refusal;
pub mod reply_token;
pub mod snapshot;
pub mod state;

pub use decide::{Decision, Reply, decide};
