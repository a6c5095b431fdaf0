//! The store of demur.

pub mod artifacts;
pub mod contract;
mod derived;
mod examine;
pub mod folder;
pub mod memory;
pub mod sqlite;
