//! A plan on its way from submission to attestation (seed 000, section 5): the gaps that rules find become questions
//! of the ledger, answers become values of the plan, and the documents of the clarification protocol follow from the
//! trace alone.
//!
//! Pure: no files, no clock, no randomness. Here rules, the clarification protocol and the ledger meet; who may answer
//! and when is decided by the engine.
//!
//! | what | module |
//! |---|---|
//! | a session read from its trace | [`session`] |
//! | what is said next: submit, answer, accept, confirm | [`act`] |
//! | an answer is replaced or taken back | `change` |
//! | the plan is amended | `amend` |
//! | what somebody let pass, and for which values | `consent` |
//! | a gap or the plan is withdrawn, a gap is put again | `withdraw` |
//! | document, audit record, attestation, handoff | [`paper`] |
//! | the proof that nothing was guessed (CLR-52) | [`no_guess`] |

pub mod act;
mod amend;
mod change;
mod consent;
pub mod error;
mod gap;
pub mod no_guess;
pub mod paper;
pub mod session;
mod view;
mod withdraw;

pub use error::Error;
pub use session::{Gap, Session};
