//! x
pub mod capability;
mod check;
pub mod envelope;
pub mod error;
pub mod event;
pub mod event_type;
pub mod extension;
pub mod form;
pub mod handshake;
pub mod language;
mod member;
pub mod number;
pub mod payload;
pub mod prompt;
pub mod reply;
pub mod time;
pub mod word;
