//! Tests that this machine cannot run: named as such, never counted as passed.

use std::{
    io::{self, Write as _},
    thread,
};

/// Says that the test of this thread was not run, and why. `cargo xtask test` reads the line and takes the test out of those that
/// passed; it is written past the harness, which keeps what a passing test prints.
pub(crate) fn not_run(why: &str) {
    let name = thread::current().name().unwrap_or("a test").to_owned();
    let mut out = io::stdout().lock();
    writeln!(out, "\nnot run: {name}: {why}").and_then(|()| out.flush()).unwrap();
}
