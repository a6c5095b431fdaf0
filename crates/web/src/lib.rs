//! The web inbox as text: pure functions from what the desk says to HTML. Nothing here reads a clock, a disk or a request.
//!
//! | part | module |
//! |---|---|
//! | the frame around every page | [`frame`] |
//! | every text of the interface, in one place | [`words`] |
//! | stylesheet and script | [`assets`] |
//! | signing in, and pages that only say something | [`notice`] |
//!
//! Templates escape everything they are given. Text that a program or a person wrote reaches a page through [`text`] only,
//! which says what it is and shows what would hide.

pub mod assets;
pub mod frame;
pub mod notice;
pub mod text;
pub mod words;
