//! Reading Rust source just closely enough: which text is code, which is a comment, where functions are.
//!
//! Text inside string literals is neither, so a test may carry source as data without being taken for it.

mod function;
mod line;

pub(crate) use self::function::{Function, SourceMap};
pub(crate) use self::line::Line;
