//! What a verification goes by besides the file.

use demur_core::{hash::Digest, key::Fingerprint};

use super::StatedChecks;
use crate::{
    facts::VerificationProfile,
    name::Sequence,
    registry::Registry,
    signed::{Receipt, Signed},
};

/// The options of a verification.
#[derive(Clone, Debug)]
pub struct Options {
    /// How strictly to judge; integrity is the same in all profiles.
    pub profile: VerificationProfile,
    /// Keys the reader knows from elsewhere.
    pub pins: Vec<Pin>,
    /// Heads the reader knows from elsewhere.
    pub against: Vec<KnownHead>,
    /// A registry of the store that the reader has from elsewhere, perhaps newer than the one in the file.
    pub registry: Option<Registry>,
    /// Receipts the reader holds.
    pub receipts: Vec<Signed<Receipt>>,
    /// Whether a file without any of these fails.
    pub require_anchor: bool,
    /// Whether signatures are checked; without them the verdict is never "pass".
    pub signatures: bool,
    /// How many threads check lines.
    pub threads: usize,
    /// The checks that the file states, where somebody looked for them before: the file is read once, and they come too
    /// late.
    pub checks: StatedChecks,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            profile: VerificationProfile::Default,
            pins: Vec::new(),
            against: Vec::new(),
            registry: None,
            receipts: Vec::new(),
            require_anchor: false,
            signatures: true,
            threads: 1,
            checks: StatedChecks::default(),
        }
    }
}

/// A key the reader knows, under the name the reader gives it. The name `desk` stands for the desk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The reader's name for it.
    pub name: String,
    /// The key.
    pub fingerprint: Fingerprint,
}

/// An event of the trace the reader knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownHead {
    /// Where it stands, if the reader knows.
    pub sequence: Option<Sequence>,
    /// Its hash.
    pub hash: Digest,
}
