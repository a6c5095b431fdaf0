//! The keyring in a data folder: one file for each secret key, `keys/FINGERPRINT.key`, for its owner's eyes only.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
};

use demur_api::{key::Removal, refusal::Refusal};
use demur_clarify::name::AgentId;
use demur_core::key::Fingerprint;
use demur_run::key_file::KeyFile;
use zeroize::Zeroizing;

use super::{
    Keyring, KeyringError, SecretPurpose,
    file::{self, KeyFileError},
    root,
};
use crate::{data::DataFolder, durable, error, visible::visible_path};

/// The secrets of a data folder.
#[derive(Clone, Debug)]
pub struct FolderKeyring {
    folder: PathBuf,
}

impl FolderKeyring {
    /// Returns the keyring of a data folder.
    pub fn of(data: &DataFolder) -> Self {
        Self { folder: data.keys() }
    }

    /// Returns the keyring of a data folder, to be shared.
    pub fn shared(data: &DataFolder) -> Arc<dyn Keyring> {
        Arc::new(Self::of(data))
    }

    /// Returns where the file of a key is, or would be.
    pub fn path(&self, key: &Fingerprint) -> PathBuf {
        self.folder.join(format!("{key}.key"))
    }

    /// Returns whether there is any secret key at all.
    pub fn is_empty(&self) -> bool {
        let is_key = |path: PathBuf| path.extension().is_some_and(|extension| extension == "key");
        self.folder
            .read_dir()
            .map_or(true, |mut files| !files.any(|file| file.is_ok_and(|file| is_key(file.path()))))
    }

    /// Removes half a secret that a dead process left. The caller has the folder alone.
    pub(crate) fn tidy(&self) -> Result<(), Refusal> {
        durable::sweep(&self.folder).map_err(|error| error::file("tidy", &self.folder, &error))
    }

    fn read(&self, key: &Fingerprint) -> Result<KeyFile, KeyFileError> {
        file::check_folder(&self.folder)?;
        let path = self.path(key);
        let found = file::read(&path)?;
        if found.secret.public().fingerprint() == *key {
            Ok(found)
        } else {
            Err(KeyFileError::OtherKey { path })
        }
    }
}

/// Makes the folder of secrets where there is none, and checks that it is for its owner only.
pub(super) fn prepare(folder: &Path) -> Result<(), Refusal> {
    durable::create_folder(folder).map_err(|error| error::file("create", folder, &error))?;
    Ok(file::check_folder(folder)?)
}

impl Keyring for FolderKeyring {
    fn agent_id(&self) -> Result<AgentId, Refusal> {
        let data = DataFolder::at(self.folder.parent().unwrap_or(&self.folder).to_owned());
        match data.settings()?.agent_id {
            Some(chosen) => Ok(chosen),
            None => AGENT_ID.parse().map_err(|error| Refusal::bug(&error)),
        }
    }

    fn load(&self, key: &Fingerprint) -> Result<KeyFile, KeyringError> {
        self.read(key).map_err(|error| match &error {
            KeyFileError::Unreadable { source, .. } if source.kind() == ErrorKind::NotFound => {
                KeyringError::Absent { place: visible_path(&self.folder), refusal: Box::new(error.into()) }
            }
            _ => KeyringError::Unusable(error.into()),
        })
    }

    fn keep(&self, key: &KeyFile) -> Result<(), Refusal> {
        prepare(&self.folder)?;
        let fingerprint = key.secret.public().fingerprint();
        let path = self.path(&fingerprint);
        if self.holds(&fingerprint) {
            return Err(KeyFileError::Exists { path }.into());
        }
        let bytes = key.to_bytes()?;
        durable::replace(&path, &bytes).map_err(|error| error::file("write", &path, &error))
    }

    fn remove(&self, key: &Fingerprint) -> Removal {
        match durable::remove(&self.path(key)) {
            Ok(true) => Removal::Removed,
            Ok(false) => Removal::NotHere,
            Err(_) => Removal::Failed,
        }
    }

    fn holds(&self, key: &Fingerprint) -> bool {
        self.path(key).symlink_metadata().is_ok()
    }

    fn place(&self, key: &Fingerprint) -> String {
        self.path(key).to_string_lossy().into_owned()
    }

    fn derive(&self, purpose: &SecretPurpose<'_>) -> Result<Zeroizing<[u8; 32]>, Refusal> {
        Ok(purpose.secret(&*root::read_or_create(&self.folder)?))
    }
}

/// The name under which demur signs where nobody chose another.
pub const AGENT_ID: &str = "demur-desk";
