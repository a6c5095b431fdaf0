//! The store of demur.

pub mod artifacts;
mod clock;
pub mod contract;
mod derived;
mod examine;
pub mod folder;
pub mod memory;
pub mod sqlite;
