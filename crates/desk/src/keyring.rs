//! The keyring: where the secrets of a desk are kept. Nothing else of a desk reads or writes one, so that secrets can lie
//! elsewhere than in a folder. A recovery key has the form of a key file, too, and lies wherever its owner wants it.

mod file;
mod folder;
mod purpose;
mod root;

use std::sync::Arc;

use demur_api::refusal::Refusal;
use demur_clarify::name::AgentId;
use demur_core::key::Fingerprint;
use zeroize::Zeroizing;

pub use demur_api::key::Removal;
pub use demur_run::key_file::KeyFile;
pub use file::{KeyFileError, create, read};
pub use folder::{AGENT_ID, FolderKeyring};
pub use purpose::SecretPurpose;

/// Keeps secret keys, and makes secrets for other purposes.
pub trait Keyring: Send + Sync {
    /// Returns the secret of a key, if nobody else can read it.
    fn load(&self, key: &Fingerprint) -> Result<KeyFile, KeyringError>;

    /// Keeps the secret of a key that is not here yet. Durable when it returns.
    fn keep(&self, key: &KeyFile) -> Result<(), Refusal>;

    /// Removes the secret of a key; returns what became of it.
    fn remove(&self, key: &Fingerprint) -> Removal;

    /// Returns whether the secret of a key is here.
    fn holds(&self, key: &Fingerprint) -> bool;

    /// Returns where the secret of a key is, or would be, for people to read.
    fn place(&self, key: &Fingerprint) -> String;

    /// Returns the name under which documents of the clarification protocol are signed with the keys that are here.
    fn agent_id(&self) -> Result<AgentId, Refusal>;

    /// Returns the secret for a purpose: the same in every process that has this keyring, another one for each purpose.
    fn derive(&self, purpose: &SecretPurpose<'_>) -> Result<Zeroizing<[u8; 32]>, Refusal>;
}

/// A secret key that a keyring does not give.
#[derive(Debug)]
pub enum KeyringError {
    /// It has none.
    Absent {
        /// Where its secrets are, for people to read.
        place: String,
        /// What whoever wants it is told.
        refusal: Box<Refusal>,
    },
    /// It has one that cannot be used.
    Unusable(Refusal),
}

impl KeyringError {
    /// Returns what whoever wants the key is told, with a cure where there is no such key.
    pub fn with_cure_if_absent(self, cure: impl FnOnce(&str) -> String) -> Refusal {
        match self {
            Self::Absent { place, refusal } => refusal.with_cure(cure(&place)),
            Self::Unusable(refusal) => refusal,
        }
    }
}

impl From<KeyringError> for Refusal {
    fn from(error: KeyringError) -> Self {
        match error {
            KeyringError::Absent { refusal, .. } => *refusal,
            KeyringError::Unusable(refusal) => refusal,
        }
    }
}

/// A secret that goes away again unless it is kept: it means nothing before an event names its key.
pub(crate) struct TentativeKey {
    keyring: Arc<dyn Keyring>,
    key: Fingerprint,
    kept: bool,
}

impl TentativeKey {
    /// Keeps a secret until it is known whether it stays.
    pub(crate) fn of(keyring: &Arc<dyn Keyring>, key: &KeyFile) -> Result<Self, Refusal> {
        keyring.keep(key)?;
        let key = key.secret.public().fingerprint();
        Ok(Self { keyring: Arc::clone(keyring), key, kept: false })
    }

    /// Lets the secret stay.
    pub(crate) fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for TentativeKey {
    fn drop(&mut self) {
        if !self.kept {
            // The failure that led here is what the caller hears about.
            let _ = self.keyring.remove(&self.key);
        }
    }
}
