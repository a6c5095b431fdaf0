//! A key and whose it is, as it stands in a file: a canonical JSON object and a line feed. `demur keys new` writes it, an
//! agent of its own reads it. The seed is wiped from memory wherever it was.

use std::borrow::Cow;

use demur_core::{
    canonical::{self, WriteError},
    key::SecretKey,
    limit::Limits,
};
use demur_ledger::{author::Author, name::PrincipalId, role::Role};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// A secret key and whose it is.
#[derive(Debug)]
pub struct KeyFile {
    /// The name its holder is known by.
    pub name: String,
    /// Who controls it.
    pub principal: PrincipalId,
    /// What it speaks as; `holder` for a recovery key, which speaks only about another key.
    pub role: Role,
    /// The key.
    pub secret: SecretKey,
}

impl KeyFile {
    /// More than any key file needs, with a name of 256 code points that all are escaped.
    pub const LARGEST: usize = 4096;

    /// Returns the bytes of the file.
    pub fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>, WriteError> {
        let seed = encode(&self.secret.seed());
        let wire = Wire {
            algorithm: ALGORITHM,
            name: Cow::Borrowed(&self.name),
            principal: self.principal,
            role: self.role,
            seed: &seed,
        };
        // Large enough from the start: a vector that grows leaves copies behind that nobody wipes.
        let mut bytes = Zeroizing::new(Vec::with_capacity(Self::LARGEST));
        canonical::write(&wire, &mut bytes)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Returns the key in these bytes.
    ///
    /// What is wrong with them is not told: the words of a parser may quote the seed.
    pub fn parse(bytes: &[u8]) -> Result<Self, NotAKeyFile> {
        let bytes = bytes.strip_suffix(b"\n").filter(|bytes| bytes.len() < Self::LARGEST);
        let wire: Wire<'_> =
            canonical::from_canonical(bytes.ok_or(NotAKeyFile)?, &Limits::EVENT).map_err(|_| NotAKeyFile)?;
        if wire.algorithm != ALGORITHM {
            return Err(NotAKeyFile);
        }
        let secret = SecretKey::from_seed(&*decode(wire.seed).ok_or(NotAKeyFile)?);
        Ok(Self { name: wire.name.into_owned(), principal: wire.principal, role: wire.role, secret })
    }

    /// Returns the author who signs with it.
    pub fn into_author(self) -> Author {
        Author::new(self.secret, self.principal, self.role)
    }
}

/// Bytes that are no key file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one key: algorithm, name, principal, role and seed in canonical JSON and a line feed")]
pub struct NotAKeyFile;

/// The object as it stands in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire<'a> {
    algorithm: &'a str,
    #[serde(borrow)]
    name: Cow<'a, str>,
    principal: PrincipalId,
    role: Role,
    seed: &'a str,
}

fn encode(seed: &[u8; 32]) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(64));
    for nibble in seed.iter().flat_map(|byte| [byte >> 4, byte & 15]) {
        text.push(char::from(DIGITS[usize::from(nibble)]));
    }
    text
}

fn decode(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let value =
        |digit: u8| DIGITS.iter().position(|known| *known == digit).and_then(|at| u8::try_from(at).ok());
    let mut seed = Zeroizing::new([0; 32]);
    for (byte, pair) in seed.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(seed)
}

const ALGORITHM: &str = "ed25519";
const DIGITS: &[u8; 16] = b"0123456789abcdef";
