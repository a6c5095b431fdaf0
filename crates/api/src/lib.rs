//! What can be asked of demur and what comes back: operations, documents and refusals, the same through every way in.
//! Pure: no files, no clock, no store, no HTTP.
//!
//! | part | module |
//! |---|---|
//! | questions | [`question`] |
//! | people who may sign in | [`person`] |
//! | who may what | [`scope`] |
//! | tokens | [`token`] |

pub mod person;
pub mod question;
pub mod scope;
pub mod token;
