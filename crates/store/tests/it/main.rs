//! What the store promises, held against each implementation.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod behaviour;
mod crash;
mod inquiry;
mod ledger;
mod memory;
mod office;
mod race;
mod sample;
mod sqlite;
