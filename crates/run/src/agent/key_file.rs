//! The key file of an agent, as `demur keys new NAME --role ROLE --out FILE` writes it: a canonical JSON object and a
//! line feed.

use std::borrow::Cow;

use demur_core::{canonical, key::SecretKey, limit::Limits};
use demur_ledger::{author::Author, name::PrincipalId, role::Role};
use serde::Deserialize;
use zeroize::Zeroizing;

/// Returns the author who signs with the key in these bytes.
///
/// What is wrong with a file is not told: the words of a parser may quote the seed.
pub fn read_key_file(bytes: &[u8]) -> Result<Author, KeyFileError> {
    let bytes = bytes.strip_suffix(b"\n").ok_or(KeyFileError)?;
    let wire: Wire<'_> = canonical::from_canonical(bytes, &Limits::EVENT).map_err(|_| KeyFileError)?;
    if wire.algorithm != "ed25519" {
        return Err(KeyFileError);
    }
    let secret = SecretKey::from_seed(&*decode(wire.seed).ok_or(KeyFileError)?);
    Ok(Author::new(secret, wire.principal, wire.role))
}

/// Bytes that are no key file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected one key: algorithm, name, principal, role and seed in canonical JSON and a line feed")]
pub struct KeyFileError;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire<'a> {
    algorithm: &'a str,
    #[serde(borrow, rename = "name")]
    _name: Cow<'a, str>,
    principal: PrincipalId,
    role: Role,
    seed: &'a str,
}

fn decode(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let mut seed = Zeroizing::new([0; 32]);
    if text.len() != 64 {
        return None;
    }
    for (byte, pair) in seed.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(seed)
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}
