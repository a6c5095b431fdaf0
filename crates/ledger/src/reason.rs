//! What callers of this crate can do wrong: all of it is a mistake in demur, for what others send is refused by the door,
//! the guards and the registry, each under a code of its own.

use demur_core::reason::{BUG, Reason};

use crate::{
    author::{AuthorError, DraftError},
    desk::DeskError,
};

impl Reason for AuthorError {
    fn code(&self) -> &'static str {
        BUG
    }
}

impl Reason for DeskError {
    fn code(&self) -> &'static str {
        BUG
    }
}

impl Reason for DraftError {
    fn code(&self) -> &'static str {
        BUG
    }
}
