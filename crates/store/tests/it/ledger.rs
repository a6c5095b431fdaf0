//! The ledger in use: commands become events, on each store.

mod crash;
mod elsewhere;
mod faults;
mod flow;
mod listener;
mod newer;
mod races;
mod series;
mod underway;
