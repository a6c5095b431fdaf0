//! Tests of plans from outside: what rules, answers and the desk make of a session.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod amended;
mod changed;
mod consent;
mod lifecycle;
mod moving;
mod no_guess;
mod office;
mod seed;
