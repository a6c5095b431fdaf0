//! Tests of the ledger crate from outside: format, door, registry, state, export, verifier.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod asking;
mod checks;
mod claims;
mod client;
mod committed;
mod corpus;
mod cut;
mod door;
mod erasure;
mod export;
mod forger;
mod format;
mod fuzz;
mod graph;
mod inclusion;
mod later;
mod meaning;
mod newer;
mod proof;
mod registry;
mod report;
mod state;
mod table;
mod timeline;
mod verify;
mod walker;
mod world;
