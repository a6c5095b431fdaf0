//! The door, tried by a scripted client over a pipe, with a desk that only remembers.

mod client;
mod desk;
mod elicits;
mod hostile;
mod rounds;
mod states;
mod told;
mod tools;
