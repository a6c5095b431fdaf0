//! The store of demur.

pub mod artifacts;
pub mod contract;
mod derived;
pub mod folder;
pub mod ledger;
pub mod memory;
pub mod sqlite;
