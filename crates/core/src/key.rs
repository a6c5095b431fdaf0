//! Ed25519 keys and signatures, and the keys of passkeys: section "Proof" of the format.
//!
//! Two rules meet here. The *door* ([`PublicKey::admit`]) takes only what the strict cofactorless rule accepts,
//! so that every implementation agrees about what gets in. *Files* ([`PublicKey::verify`], [`Batch`]) follow
//! ZIP 215, under which single and batch verification agree on every input. What the door admits, ZIP 215
//! accepts.
//!
//! Every signature of ours covers the prefix of its [`Purpose`](crate::hash::Purpose) and then the message.

mod batch;
mod passkey;
mod public;
mod secret;
mod signature;
pub mod zip215;

use thiserror::Error;

pub use batch::Batch;
pub use passkey::PasskeyKey;
pub use public::{Fingerprint, PublicKey};
pub use secret::SecretKey;
pub use signature::Signature;

/// A key that cannot be used, or a use that a key does not allow.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KeyError {
    /// The bytes are not the canonical encoding of a point.
    #[error("expected the canonical encoding of a point on the curve, found other bytes")]
    Encoding,
    /// The point is the identity, of small order, or of mixed order.
    #[error("expected a key of prime order, found a point with a small-order part")]
    Order,
    /// A foreign message begins like one of ours.
    #[error("expected a foreign message, found one that begins with \"demur/\"; sign it with its purpose")]
    OwnPrefix,
}

/// A signature that does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SignatureError {
    /// The strict rule of the door refuses it.
    #[error("expected a signature by key {} under the strict rule, found one that does not verify", .key.short())]
    Door {
        /// The key it was checked with.
        key: Fingerprint,
    },
    /// ZIP 215 refuses it.
    #[error("expected a signature by key {} under ZIP 215, found one that does not verify", .key.short())]
    File {
        /// The key it was checked with.
        key: Fingerprint,
    },
}
