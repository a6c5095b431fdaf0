//! Tests of the aaep crate from outside: events, messages, machines driven by fake time.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]
#![expect(clippy::needless_pass_by_value, reason = "literal JSON is handed over where it is written")]

mod committed;
mod events;
mod extensions;
mod forms;
mod fuzz;
mod hub;
mod json_schema;
mod languages;
mod manifests;
mod messages;
mod negotiation;
mod prompts;
mod queue;
mod rules;
mod seed;
mod sequence;
mod subscriptions;
mod world;
