//! Keys, signatures and hashes as the seed writes them, with a prefix that names the algorithm, and the bytes that
//! are signed: RFC 8785 of the document without its own signature, pure Ed25519 (RFC 8032), no prehash.
//!
//! These are documents of another protocol, so they carry no prefix of ours; [`SecretKey::sign_foreign`] makes
//! sure that none can be taken for one. Among themselves they differ by `type`, or by members that are required in
//! one and unknown in every other.

use std::{fmt, str::FromStr};

use demur_core::{
    canonical,
    form::FormError,
    hash::{self, Digest},
    key::{PublicKey, SecretKey, Signature},
};
use serde::Serialize;
use serde_json::Value;

use crate::{
    Error,
    name::{AgentId, text_on_the_wire},
};

/// Makes the prefixed form of a value of demur-core.
macro_rules! prefixed {
    ($(#[$attribute:meta])* $name:ident, $inner:ident, $prefix:literal, $length:literal, $pattern:literal) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($inner);

        impl $name {
            /// Returns the value without its prefix.
            pub const fn bare(&self) -> &$inner {
                &self.0
            }
        }

        impl From<$inner> for $name {
            fn from(bare: $inner) -> Self {
                Self(bare)
            }
        }

        impl FromStr for $name {
            type Err = FormError;

            fn from_str(text: &str) -> Result<Self, FormError> {
                let bare = text.strip_prefix($prefix).ok_or_else(|| FormError::Value {
                    expected: concat!("a text that begins with ", $prefix),
                    found: format!("{} bytes that do not", text.len()),
                })?;
                bare.parse().map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(&format!(concat!($prefix, "{}"), self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, concat!(stringify!($name), "({})"), self)
            }
        }

        text_on_the_wire!($name, $length, $length, $pattern);
    };
}

prefixed! {
    /// A public key: `ed25519:` and 64 lower-case hex digits.
    AgentKey, PublicKey, "ed25519:", 72, "^ed25519:[0-9a-f]{64}$"
}
prefixed! {
    /// A signature, unchecked: `ed25519:` and 128 lower-case hex digits.
    Seal, Signature, "ed25519:", 136, "^ed25519:[0-9a-f]{128}$"
}
prefixed! {
    /// A SHA-256 digest: `sha256:` and 64 lower-case hex digits.
    Sha256, Digest, "sha256:", 71, "^sha256:[0-9a-f]{64}$"
}

impl Seal {
    /// Stands where a signature will stand; what is signed never holds it.
    pub(crate) const NONE: Self = Self(Signature::from_bytes([0; 64]));
}

impl Sha256 {
    /// Returns the digest over the canonical form of a value.
    pub fn of<T: Serialize>(value: &T) -> Result<Self, Error> {
        Ok(Self(hash::sha256(&canonical::to_vec(value)?)))
    }
}

/// Whoever signs: a name and its secret key.
#[derive(Clone, Debug)]
pub struct Signer {
    agent_id: AgentId,
    secret: SecretKey,
}

impl Signer {
    /// Returns the signer with this name and key.
    pub const fn new(agent_id: AgentId, secret: SecretKey) -> Self {
        Self { agent_id, secret }
    }

    /// Returns the name.
    pub const fn agent_id(&self) -> &AgentId {
        &self.agent_id
    }

    /// Returns the public key.
    pub fn public_key(&self) -> AgentKey {
        AgentKey(self.secret.public())
    }

    /// Returns the signature over these bytes.
    pub fn sign(&self, input: &[u8]) -> Result<Seal, Error> {
        Ok(Seal(self.secret.sign_foreign(input)?))
    }
}

/// Returns the canonical form of a document without the member at this path, which holds its signature.
pub(crate) fn without<T: Serialize>(document: &T, path: &[&str]) -> Result<Vec<u8>, Error> {
    let mut value: Value = serde_json::from_slice(&canonical::to_vec(document)?)
        .map_err(|error| canonical::WriteError::Custom { message: error.to_string() })?;
    if let Some((member, parents)) = path.split_last() {
        let parent = parents.iter().try_fold(&mut value, |value, name| value.get_mut(*name));
        if let Some(Value::Object(members)) = parent {
            members.remove(*member);
        }
    }
    Ok(canonical::to_vec(&value)?)
}
