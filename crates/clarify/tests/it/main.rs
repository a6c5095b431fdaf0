//! Tests of the clarify crate from outside: documents, vectors, chain, attestation, handoff, identity.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod attestation;
mod chain;
mod committed;
mod document;
mod forms;
mod fuzz;
mod handoff;
mod identity;
mod identity_verification;
mod malformed;
mod properties;
mod python;
mod samples;
mod vectors;
mod world;
