//! Tests of the ledger crate from outside: format, door, registry, state, export, verifier.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod committed;
mod corpus;
mod cut;
mod door;
mod export;
mod forger;
mod format;
mod fuzz;
mod registry;
mod state;
mod table;
mod verify;
mod world;
