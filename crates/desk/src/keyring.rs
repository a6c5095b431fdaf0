//! The keystore: one file for each secret key, `keys/FINGERPRINT.key`, for its owner's eyes only. A recovery
//! key has the same form and lies wherever its owner wants it.

mod file;

use std::path::{Path, PathBuf};

use demur_api::refusal::Refusal;
use demur_core::key::Fingerprint;

pub use demur_api::key::Removal;
pub use demur_run::key_file::KeyFile;
pub use file::{KeyFileError, create, read};

use crate::{data::DataFolder, durable, error};

/// The secret keys of a data folder.
#[derive(Clone, Debug)]
pub struct Keystore {
    folder: PathBuf,
}

impl Keystore {
    /// Returns the keystore of a data folder.
    pub fn of(data: &DataFolder) -> Self {
        Self { folder: data.keys() }
    }

    /// Returns where the secrets are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns where the file of a key is, or would be.
    pub fn path(&self, fingerprint: &Fingerprint) -> PathBuf {
        self.folder.join(format!("{fingerprint}.key"))
    }

    /// Returns whether the secret of a key is here.
    pub fn holds(&self, fingerprint: &Fingerprint) -> bool {
        self.path(fingerprint).symlink_metadata().is_ok()
    }

    /// Returns whether there is any secret at all.
    pub fn is_empty(&self) -> bool {
        let is_key = |path: PathBuf| path.extension().is_some_and(|extension| extension == "key");
        self.folder
            .read_dir()
            .map_or(true, |mut files| !files.any(|file| file.is_ok_and(|file| is_key(file.path()))))
    }

    /// Keeps a secret. The caller owns the data folder.
    pub fn add(&self, key: &KeyFile) -> Result<PathBuf, Refusal> {
        durable::create_folder(&self.folder).map_err(|error| error::file("create", &self.folder, &error))?;
        file::check_folder(&self.folder)?;
        let fingerprint = key.secret.public().fingerprint();
        let path = self.path(&fingerprint);
        if self.holds(&fingerprint) {
            return Err(KeyFileError::Exists { path }.into());
        }
        let bytes = key.to_bytes()?;
        durable::replace(&path, &bytes).map_err(|error| error::file("write", &path, &error))?;
        Ok(path)
    }

    /// Returns the secret of a key, if nobody else can read it.
    pub fn load(&self, fingerprint: &Fingerprint) -> Result<KeyFile, KeyFileError> {
        file::check_folder(&self.folder)?;
        let path = self.path(fingerprint);
        let key = read(&path)?;
        if key.secret.public().fingerprint() == *fingerprint {
            Ok(key)
        } else {
            Err(KeyFileError::OtherKey { path })
        }
    }

    /// Removes the secret of a key; returns what became of its file.
    pub fn remove(&self, fingerprint: &Fingerprint) -> Removal {
        match durable::remove(&self.path(fingerprint)) {
            Ok(true) => Removal::Removed,
            Ok(false) => Removal::NotHere,
            Err(_) => Removal::Failed,
        }
    }
}
