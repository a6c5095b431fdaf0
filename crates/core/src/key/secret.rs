//! Secret keys: they sign for a purpose, or sign foreign messages that cannot be mistaken for ours.

use std::fmt;

use ed25519_dalek::SigningKey;
use ed25519_dalek::ed25519::signature::{MultipartSigner as _, Signer as _};
use zeroize::Zeroizing;

use super::{KeyError, PublicKey, Signature};
use crate::hash::{FAMILY_PREFIX, Purpose};
use crate::random::Random;

/// An Ed25519 secret key; wiped from memory when dropped.
#[derive(Clone)]
pub struct SecretKey {
    signing: SigningKey,
}

impl SecretKey {
    /// Returns a new key.
    pub fn generate(random: &mut dyn Random) -> Self {
        let mut seed = Zeroizing::new([0; 32]);
        random.fill(&mut *seed);
        Self::from_seed(&seed)
    }

    /// Returns the key of this seed (RFC 8032 calls the seed the private key).
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self { signing: SigningKey::from_bytes(seed) }
    }

    /// Returns the seed, to be kept.
    pub fn seed(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.signing.to_bytes())
    }

    /// Returns the public key.
    pub fn public(&self) -> PublicKey {
        PublicKey::of_secret(self.signing.verifying_key())
    }

    /// Returns the signature over the prefix of `purpose` and then `message`.
    pub fn sign(&self, purpose: Purpose, message: &[u8]) -> Signature {
        Signature::from_bytes(self.signing.multipart_sign(&[purpose.prefix(), message]).to_bytes())
    }

    /// Returns the signature over a message of another protocol, without a prefix.
    ///
    /// A message that begins like ours is refused: its signature could be presented as one of ours.
    pub fn sign_foreign(&self, message: &[u8]) -> Result<Signature, KeyError> {
        if message.starts_with(FAMILY_PREFIX) {
            return Err(KeyError::OwnPrefix);
        }
        Ok(Signature::from_bytes(self.signing.sign(message).to_bytes()))
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SecretKey(of {})", self.public().fingerprint().short())
    }
}
