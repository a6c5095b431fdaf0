//! The web inbox as text: pure functions from what the desk says to HTML. Nothing here reads a clock, a disk or a request.
//!
//! | part | module |
//! |---|---|
//! | the frame around every page | [`frame`] |
//! | every text of the interface, in one place | [`words`] |
//! | stylesheet and script | [`assets`] |
//! | traces, events, artifacts, runs, verification | [`trace`], [`event`], [`run`], [`verification`], [`badge`] |
//! | signing in, and pages that only say something | [`notice`] |
//! | text that somebody wrote, made inert | [`text`] |
//! | times in words | [`when`] |
//! | a question, its forms and its history | [`question`] |
//! | the lists, with filters | [`list`] |
//! | what will be sent, and what became of it | [`review`] |
//! | the same for several at once | [`bulk`] |
//! | operations that wait for a yes or a no | [`confirmation`] |
//! | passkeys, and how something can be sent: plainly, signed, or not at all | [`passkey`] |
//! | how the inbox behaves; browsers that are signed in; people and tokens | [`settings`], [`sessions`], [`people`] |
//!
//! Templates escape everything they are given. Text that a program or a person wrote reaches a page through [`text`] only,
//! which says what it is and shows what would hide.

pub mod assets;
pub mod badge;
pub mod bulk;
pub mod confirmation;
pub mod event;
pub mod frame;
pub mod list;
pub mod notice;
pub mod passkey;
pub mod people;
pub mod question;
pub mod review;
pub mod run;
pub mod sessions;
pub mod settings;
pub mod text;
pub mod trace;
pub mod verification;
pub mod when;
pub mod words;
