//! Tests of the engine from outside: decisions, refusals, repeats, snapshots, reactors.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod artifact;
mod asking;
mod attribution;
mod chain;
mod client;
mod clock;
mod codes;
mod confirmation;
mod determinism;
mod erasure;
mod failed;
mod journal;
mod meaning;
mod passkey;
mod people;
mod plan;
mod proof;
mod question;
mod reactor;
mod recorded;
mod recovery;
mod registry;
mod repeat;
mod reply_token;
mod secret;
mod snapshot;
mod spoken;
mod walk;
mod words;
mod world;
