//! The desk as interfaces meet it, in this process: operations are called, and watches are begun.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod aaep;
mod access;
mod changed;
mod desk;
mod driver;
mod hung;
mod run_end;
mod store_check;
mod two_desks;
mod watch;
