//! The door, tried by a scripted client over a pipe, with a desk that only remembers.
#![expect(clippy::unwrap_used, reason = "a test that meets what it does not expect has failed")]

mod client;
mod desk;
mod elicits;
mod heard;
mod hostile;
mod late;
mod listens;
mod rounds;
mod secrets;
mod states;
mod tasks;
mod told;
mod tools;
mod waits;
