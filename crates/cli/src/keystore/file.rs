//! One key file: a canonical JSON object and a line feed. The seed is wiped from memory wherever it was.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, ErrorKind, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use demur_core::{canonical, key::SecretKey, limit::Limits};
use demur_ledger::{name::PrincipalId, role::Role};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::{
    durable,
    error::CommandError,
    visible::{shell_word, visible_path},
};

/// A secret key and whose it is.
#[derive(Debug)]
pub(crate) struct KeyFile {
    /// The name its holder is known by.
    pub(crate) name: String,
    /// Who controls it.
    pub(crate) principal: PrincipalId,
    /// What it speaks as; `holder` for a recovery key, which speaks only about another key.
    pub(crate) role: Role,
    /// The key.
    pub(crate) secret: SecretKey,
}

impl KeyFile {
    /// Returns the key in this file, if nobody else can read it.
    pub(crate) fn read(path: &Path) -> Result<Self, KeyFileError> {
        let unreadable = |source| KeyFileError::Unreadable { path: path.to_owned(), source };
        // Before it is opened: a pipe would wait for a writer.
        if !path.metadata().map_err(unreadable)?.is_file() {
            return Err(KeyFileError::Malformed { path: path.to_owned() });
        }
        let file = File::open(path).map_err(unreadable)?;
        check_mode(path, file.metadata().map_err(unreadable)?.permissions().mode(), 0o600)?;
        let mut bytes = Zeroizing::new(Vec::with_capacity(LARGEST + 1));
        file.take(LARGEST as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        Self::parse(&bytes).ok_or_else(|| KeyFileError::Malformed { path: path.to_owned() })
    }

    /// Writes the key to a file that must not be there yet.
    pub(crate) fn create(&self, path: &Path) -> Result<(), CommandError> {
        let bytes = self.to_bytes()?;
        durable::create(path, &bytes).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => KeyFileError::Exists { path: path.to_owned() }.into(),
            _ => CommandError::file("write", path, &error),
        })
    }

    /// Returns the bytes of the file.
    pub(super) fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>, canonical::WriteError> {
        let seed = encode(&self.secret.seed());
        let wire = Wire {
            algorithm: ALGORITHM,
            name: Cow::Borrowed(&self.name),
            principal: self.principal,
            role: self.role,
            seed: &seed,
        };
        // Large enough from the start: a vector that grows leaves copies behind that nobody wipes.
        let mut bytes = Zeroizing::new(Vec::with_capacity(LARGEST));
        canonical::write(&wire, &mut bytes)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// What is wrong is not told: the words of the parser may quote the seed.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_suffix(b"\n").filter(|bytes| bytes.len() < LARGEST)?;
        let wire: Wire<'_> = canonical::from_canonical(bytes, &Limits::EVENT).ok()?;
        if wire.algorithm != ALGORITHM {
            return None;
        }
        let secret = SecretKey::from_seed(&*decode(wire.seed)?);
        Some(Self { name: wire.name.into_owned(), principal: wire.principal, role: wire.role, secret })
    }
}

/// Checks that a folder of secrets is for its owner only.
pub(super) fn check_folder(path: &Path) -> Result<(), KeyFileError> {
    let unreadable = |source| KeyFileError::Unreadable { path: path.to_owned(), source };
    check_mode(path, path.metadata().map_err(unreadable)?.permissions().mode(), 0o700)
}

fn check_mode(path: &Path, mode: u32, wanted: u32) -> Result<(), KeyFileError> {
    if mode & OTHERS == 0 {
        Ok(())
    } else {
        Err(KeyFileError::TooOpen { path: path.to_owned(), mode: mode & 0o777, wanted })
    }
}

/// A key file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum KeyFileError {
    /// Not there, or not to be read.
    #[error("cannot read {}: {source}", visible_path(.path))]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Somebody else could have read it.
    #[error("expected only you to have access to {}, found mode {mode:03o}", visible_path(.path))]
    TooOpen {
        /// Which.
        path: PathBuf,
        /// Its mode.
        mode: u32,
        /// The mode it should have.
        wanted: u32,
    },
    /// Not a key file.
    #[error(
        "expected {} to hold one key: algorithm, name, principal, role and seed in canonical JSON and a line feed",
        visible_path(.path)
    )]
    Malformed {
        /// Which.
        path: PathBuf,
    },
    /// A key under the name of another.
    #[error("expected {} to hold the key it is named after, found another", visible_path(.path))]
    OtherKey {
        /// Which.
        path: PathBuf,
    },
    /// A file that must not be there.
    #[error("expected no file at {}, found one", visible_path(.path))]
    Exists {
        /// Which.
        path: PathBuf,
    },
}

impl From<KeyFileError> for CommandError {
    fn from(error: KeyFileError) -> Self {
        match &error {
            KeyFileError::Unreadable { path, source } => Self::unreadable(path, source),
            KeyFileError::TooOpen { path, wanted, .. } => Self::input("KEY_FILE_OPEN", &error)
                .with_hint(format!("run: chmod {wanted:o} {}", shell_word(path))),
            KeyFileError::Malformed { .. } => Self::input("KEY_FILE_MALFORMED", &error)
                .with_hint("name another file, or restore this one from a backup"),
            KeyFileError::OtherKey { .. } => {
                Self::input("KEY_FILE_MALFORMED", &error).with_hint("restore it from a backup")
            }
            KeyFileError::Exists { .. } => {
                Self::input("FILE_EXISTS", &error).with_hint("secrets are never overwritten: name a new file")
            }
        }
    }
}

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

/// The bits of a mode that let others in.
const OTHERS: u32 = 0o077;

/// More than any key file needs, with a name of 256 code points that all are escaped.
const LARGEST: usize = 4096;

#[cfg(test)]
mod tests {
    use demur_core::{random::Seeded, time::Timestamp};

    use super::*;

    fn key(name: &str) -> KeyFile {
        let mut random = Seeded::from_number(1);
        KeyFile {
            name: name.to_owned(),
            principal: PrincipalId::new(Timestamp::MIN, &mut random),
            role: Role::Critic,
            secret: SecretKey::from_seed(&[0xa7; 32]),
        }
    }

    #[test]
    fn file_has_one_canonical_spelling() {
        let bytes = key("Zoë \"Z\"").to_bytes().unwrap();
        let text = std::str::from_utf8(&bytes).unwrap();
        let principal = key("").principal;
        let seed = "a7".repeat(32);
        assert_eq!(
            text,
            format!(
                "{{\"algorithm\":\"ed25519\",\"name\":\"Zoë \\\"Z\\\"\",\"principal\":\"{principal}\",\
                 \"role\":\"critic\",\"seed\":\"{seed}\"}}\n"
            )
        );
        let read = KeyFile::parse(&bytes).unwrap();
        assert_eq!((read.name.as_str(), read.role), ("Zoë \"Z\"", Role::Critic));
        assert_eq!(read.secret.public(), key("").secret.public());
    }

    #[test]
    fn fuzz_damaged_key_files_are_taken_only_as_they_would_be_written() {
        let full = std::env::var("DEMUR_PROOF").is_ok_and(|value| value == "full");
        let good = key("Zoë").to_bytes().unwrap();
        let mut random = Seeded::from_number(23);
        let mut taken = 0;
        for _ in 0..if full { 1_000_000 } else { 10_000 } {
            let mut bytes = good.to_vec();
            let mut draw = [0; 10];
            demur_core::random::Random::fill(&mut random, &mut draw);
            let at = usize::from(u16::from_le_bytes([draw[0], draw[1]])) % bytes.len();
            match draw[2] % 4 {
                0 => bytes[at] ^= 1 << (draw[3] % 8),
                1 => bytes[at] = b"0123456789abcdefABZ"[usize::from(draw[3]) % 19],
                2 => bytes.truncate(at),
                _ => bytes.insert(at, draw[3]),
            }
            if let Some(read) = KeyFile::parse(&bytes) {
                assert_eq!(*read.to_bytes().unwrap(), bytes);
                taken += 1;
            }
        }
        assert!(taken > 0, "no damaged file was ever taken: the damage is too coarse to test anything");
    }

    #[test]
    fn refuses_every_other_spelling() {
        let good = String::from_utf8(key("a").to_bytes().unwrap().to_vec()).unwrap();
        let changed = [
            String::new(),
            good.trim_end().to_owned(),
            good.replace(':', ": "),
            good.replace("ed25519", "ed448"),
            good.replace("a7a7", "A7A7"),
            good.replace("a7\"}", "\"}"),
            good.replace('}', ",\"z\":1}"),
            good.replace("critic", "king"),
            format!("{good}{good}"),
        ];
        assert!(KeyFile::parse(good.as_bytes()).is_some());
        for text in changed {
            assert!(KeyFile::parse(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn longest_name_does_not_outgrow_the_buffer() {
        for name in ["\u{1}".repeat(256), "\u{10ffff}".repeat(256)] {
            let bytes = key(&name).to_bytes().unwrap();
            assert!(bytes.len() < LARGEST);
            assert_eq!(KeyFile::parse(&bytes).unwrap().name, name);
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let text = format!("{:?}", key("a"));
        assert!(!text.contains("a7a7") && !text.contains("167, 167"), "{text}");
    }
}
