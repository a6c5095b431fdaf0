//! Desks, agents and runs for the tests of every crate that needs some: they fill a store with real signed events.
#![expect(missing_docs, reason = "for tests only: the names say enough")]
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test that cannot go on panics")]

pub mod authenticator;
pub mod hall;
pub mod inquiry;
pub mod meanwhile;
pub mod office;
pub mod sample;
