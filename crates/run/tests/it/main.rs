//! Tests of the crate from outside: lines, agents and the programs in `examples/agents/python`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod agent;
mod key_file;
mod line;
mod office;
mod python;
mod roles;
mod transcript;
