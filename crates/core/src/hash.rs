//! SHA-256 with a purpose: section "Bytes" of the format. Everything we hash or sign begins with
//! `demur/v1/<purpose>\0`, one purpose per use, so that bytes made for one use mean nothing in another.

use std::fmt;

use sha2::Digest as _;

use crate::form::{FormError, text_form};
use crate::hex;

/// A SHA-256 digest; on the wire exactly 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest with these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes of the digest.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn encode(&self) -> [u8; 64] {
        let mut text = [0; 64];
        hex::encode(&self.0, &mut text);
        text
    }

    pub(crate) fn decode(text: &[u8]) -> Result<Self, FormError> {
        hex::decode(text, EXPECTED).map(Self)
    }
}

text_form!(Digest, 64, "^[0-9a-f]{64}$", EXPECTED);

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Digest({self})")
    }
}

/// What a hash or a signature is for; each purpose has a prefix of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// What an author says.
    Statement,
    /// What the desk records about it; the event hash.
    Envelope,
    /// The desk's signature under the end of a trace.
    Head,
    /// What binds an export, or all traces of a store.
    Checkpoint,
    /// What the holder of a statement takes home.
    Receipt,
    /// A commitment to content.
    Content,
    /// A commitment to an artifact.
    Artifact,
    /// A leaf of a Merkle tree.
    Leaf,
    /// An inner node of a Merkle tree.
    Node,
    /// The fingerprint of a key.
    Key,
    /// The proof that a registered key is in its owner's hands.
    Possession,
    /// The digest over the bytes of an export.
    Export,
    /// The command id of an effect that an event has in another trace.
    Effect,
    /// The token that a reply to a question carries.
    Reply,
    /// A commitment to a secret answer.
    Secret,
    /// A statement as a leaf of what a passkey is shown.
    Passkey,
    /// What a new passkey signs to show that somebody holds it.
    Enrolment,
}

impl Purpose {
    /// Every purpose, in the order of declaration.
    pub const ALL: &'static [Self] = &[
        Self::Statement,
        Self::Envelope,
        Self::Head,
        Self::Checkpoint,
        Self::Receipt,
        Self::Content,
        Self::Artifact,
        Self::Leaf,
        Self::Node,
        Self::Key,
        Self::Possession,
        Self::Export,
        Self::Effect,
        Self::Reply,
        Self::Secret,
        Self::Passkey,
        Self::Enrolment,
    ];

    /// Returns the bytes that everything of this purpose begins with.
    pub const fn prefix(self) -> &'static [u8] {
        match self {
            Self::Statement => b"demur/v1/statement\0",
            Self::Envelope => b"demur/v1/envelope\0",
            Self::Head => b"demur/v1/head\0",
            Self::Checkpoint => b"demur/v1/checkpoint\0",
            Self::Receipt => b"demur/v1/receipt\0",
            Self::Content => b"demur/v1/content\0",
            Self::Artifact => b"demur/v1/artifact\0",
            Self::Leaf => b"demur/v1/leaf\0",
            Self::Node => b"demur/v1/node\0",
            Self::Key => b"demur/v1/key\0",
            Self::Possession => b"demur/v1/possession\0",
            Self::Export => b"demur/v1/export\0",
            Self::Effect => b"demur/v1/effect\0",
            Self::Reply => b"demur/v1/reply\0",
            Self::Secret => b"demur/v1/secret\0",
            Self::Passkey => b"demur/v1/passkey\0",
            Self::Enrolment => b"demur/v1/enrolment\0",
        }
    }
}

/// A digest in the making, for input that does not lie in memory at once.
#[derive(Clone)]
pub struct Hasher(sha2::Sha256);

impl Hasher {
    /// Returns a hasher that has taken the prefix of `purpose` and nothing else.
    pub fn new(purpose: Purpose) -> Self {
        Self::with_prefix(purpose.prefix())
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of all bytes taken.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }

    /// Returns a hasher with a prefix that is no [`Purpose`]: another format's, or one that never leaves
    /// this process.
    pub(crate) fn with_prefix(prefix: &[u8]) -> Self {
        Self(sha2::Sha256::new_with_prefix(prefix))
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Hasher(..)")
    }
}

/// Returns SHA-256 over the prefix of `purpose` and then all `parts`.
///
/// The parts are joined without a mark between them: at most one of them may have a free length.
pub fn digest(purpose: Purpose, parts: &[&[u8]]) -> Digest {
    let mut hasher = Hasher::new(purpose);
    for part in parts {
        hasher.update(part);
    }
    hasher.finish()
}

/// Returns plain SHA-256, without a purpose.
///
/// Only for the addresses of a content-addressed store and for formats that are not ours. It must never
/// stand in a statement or an envelope: whoever can guess the content could confirm the guess.
pub fn sha256(bytes: &[u8]) -> Digest {
    Digest(sha2::Sha256::digest(bytes).into())
}

/// What all our prefixes begin with. Nothing foreign that we sign may begin so.
pub const FAMILY_PREFIX: &[u8] = b"demur/";

const EXPECTED: &str = "64 lower-case hex digits";
