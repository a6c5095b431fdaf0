//! What can be asked of demur and what comes back: operations, documents and refusals, the same through every way in.
//! Pure: no files, no clock, no store, no HTTP.
//!
//! | part | module |
//! |---|---|
//! | refusals and their codes | [`refusal`], [`code`] |
//! | questions | [`question`] |

pub mod code;
mod cure;
pub mod question;
pub mod refusal;
