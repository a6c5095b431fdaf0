//! Keys as callers see them: the public facts of every key in the registry, and their changes.

mod change;
mod handle;
mod messages;
mod rotate;

pub use change::{list, register, revoke};
pub use rotate::rotate;
