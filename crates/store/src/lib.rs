//! The store of demur.

pub mod contract;
