//! A store in use: commands become events, on each store, whoever races and whatever fails.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod conditions;
mod crash;
mod elsewhere;
mod erase;
mod faults;
mod flow;
mod follow;
mod lease;
mod listener;
mod newer;
mod passkey;
mod race;
mod races;
mod recovery;
mod report;
mod series;
mod swap;
mod underway;
