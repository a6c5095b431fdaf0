//! Calls the program as a person would, on a machine made of small scripts.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "clippy does not see that the functions beside the tests are theirs")]

mod command_line;
mod needs;
