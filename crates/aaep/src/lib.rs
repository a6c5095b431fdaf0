//! The Agent Accessibility Event Protocol (AAEP) 1.0.0, from both sides: events by which people who cannot see a screen follow an agent,
//! and prompts by which they answer it.
//!
//! Pure: no files, no clock, no randomness; times and random bytes are parameters. What lasts longer than a message is a value with
//! `handle(input, now)` and can be stored between two inputs.
//!
//! > **How to drive a machine.** Load the value, hand it one input and the time, store it with compare-and-swap if the step says
//! > `is_changed`, and only then act on the step. Where the store says that the value changed meanwhile, throw the step away and begin
//! > again. Ask `next_timeout()` when to hand it a tick. A process that dies then loses only steps that had no effect yet.
//!
//! | chapter | module |
//! |---|---|
//! | 3 envelope, 3.9 validation | [`envelope`], [`event`], [`error`] |
//! | 3.2 ids, times, addresses | [`form`], [`time`], [`number`] |
//! | 4 the twelve types | [`event_type`], [`payload`], [`word`] |
//! | 4.5 order in a session | [`sequence`] |
//! | 5 handshake, capabilities, what is granted | [`handshake`], [`capability`], [`negotiation`] |
//! | 5.4 to 5.8 subscriptions; filters, rate, coalescing | [`subscription`] |
//! | 5.10 manifest | [`manifest`] |
//! | 6 prompts and replies | [`prompt`], [`reply`] |
//! | 7 extensions; ours | [`extension`], [`resolved`] |
//! | 11 languages | [`language`] |
//!
//! Not here: transports (8), who may subscribe and reply (10), the public JSON Schemas themselves. Errata: the specification contradicts
//! itself in many places. `docs/design/016-aaep.md` lists what was decided.
//!
//! The smallest prompt:
//! ```
//! use demur_aaep::{event::EventReader, prompt::{Prompt, PromptInput, PromptOutcome}};
//!
//! let bytes = br#"{
//!     "@context": "https://aaep-protocol.org/context/v1", "type": "aaep:agent.awaiting.clarification",
//!     "event_id": "evt_1", "session_id": "sess_1", "timestamp": "2026-05-24T14:22:12.890Z",
//!     "producer": {"agent_id": "planner"}, "question": "Which age?", "reply_token": "rpl_1", "timeout_seconds": 300
//! }"#;
//! let event = EventReader::default().read(bytes)?.event;
//! assert!(event.is_critical());
//! let mut prompt = Prompt::open(&event).expect("the event asks something");
//! let step = prompt.handle(PromptInput::Tick, prompt.deadline());
//! assert_eq!(step.resolution.map(|resolution| resolution.outcome), Some(PromptOutcome::Expired));
//! # Ok::<(), demur_aaep::error::RuleViolation>(())
//! ```

pub mod capability;
mod check;
pub mod envelope;
pub mod error;
pub mod event;
pub mod event_type;
pub mod extension;
pub mod form;
pub mod handshake;
pub mod language;
pub mod manifest;
mod member;
pub mod negotiation;
pub mod number;
pub mod payload;
pub mod prompt;
pub mod reply;
pub mod resolved;
pub mod schema;
pub mod sequence;
pub mod subscription;
pub mod time;
pub mod word;
