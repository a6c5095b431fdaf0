//! ZIP 215 on bare bytes: the rule of files for keys that need not be good ones.
//!
//! [`PublicKey`](super::PublicKey) refuses malformed keys, so this layer is where tests and other
//! implementations compare verdicts about them.

use ed25519_zebra::VerificationKey;

use super::Batch;

/// Returns whether the signature holds for this key and message under ZIP 215.
#[must_use]
pub fn verify(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    let signature = ed25519_zebra::Signature::from_bytes(signature);
    VerificationKey::try_from(*key).is_ok_and(|key| key.verify(&signature, message).is_ok())
}

/// Returns whether all these signatures hold, checked at once.
#[must_use]
pub fn verify_batch(entries: &[(&[u8; 32], &[u8], &[u8; 64])]) -> bool {
    batch(entries).holds()
}

/// Returns the places of the signatures that do not hold, found as [`Batch::verify`] finds them.
#[must_use]
pub fn failures(entries: &[(&[u8; 32], &[u8], &[u8; 64])]) -> Vec<usize> {
    batch(entries).verify().err().unwrap_or_default()
}

fn batch(entries: &[(&[u8; 32], &[u8], &[u8; 64])]) -> Batch {
    let mut batch = Batch::with_capacity(entries.len());
    for (key, message, signature) in entries {
        batch.push_bytes(key, b"", message, signature);
    }
    batch
}
