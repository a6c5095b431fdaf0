//! What every part of demur stands on: ids, times, limits, canonical JSON, hashes, commitments, Ed25519 keys
//! and Merkle trees. It carries the section "Bytes" of the event format and the key rules of "Proof".
//!
//! The crate is pure. It reads no clock, draws no randomness, touches no file and starts no task: the time
//! and the randomness are parameters ([`time::Timestamp`], [`random::Random`]).
//!
//! | section of the format | module |
//! |---|---|
//! | Bytes: purposes and prefixes | [`hash`] |
//! | Bytes: RFC 8785 | [`canonical`], bounded by [`limit`] |
//! | Bytes: commitments | [`commitment`] |
//! | Statement: ids and times | [`id`], [`time`] |
//! | Proof: Ed25519 at the door and in files, keys of passkeys | [`key`] |
//! | Registry: RFC 6962 roots | [`merkle`] |
//!
//! [`jws`] signs and checks documents of protocols that ask for JSON Web Signatures. Errors of every layer are told by [`reason`].

pub mod canonical;
pub mod commitment;
pub mod form;
pub mod hash;
mod hex;
pub mod id;
pub mod jws;
pub mod key;
pub mod limit;
pub mod merkle;
pub mod octets;
pub mod quote;
pub mod random;
pub mod reason;
pub mod time;
pub mod visible;
pub mod words;

/// What [`ulid_id!`] needs to name from another crate; not part of the interface.
#[doc(hidden)]
pub mod macro_support {
    pub use schemars;
    pub use serde;
}
