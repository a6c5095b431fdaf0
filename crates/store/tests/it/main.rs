//! What the store promises, held against each implementation.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod behaviour;
mod memory;
mod sqlite;
