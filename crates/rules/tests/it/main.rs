//! Tests of the rules crate from outside: the case table, packs with mistakes, layers, plans, answers.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod cases;
mod fuzz;
mod glance;
mod layers;
mod manual;
mod mistakes;
mod plans;
mod reading;
mod world;
