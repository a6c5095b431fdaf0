//! Keys as callers see them: the public facts of every key in the registry.

mod handle;
mod messages;
