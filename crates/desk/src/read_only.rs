//! A data folder that is only read, beside its owner: nothing is locked, recorded or tidied. The key of the desk is needed
//! only where something is signed, such as an export.

use std::{
    cell::OnceCell,
    io::{self, Write},
    sync::Arc,
};

use demur_api::{key::ListedKeys, refusal::Refusal};
use demur_ledger::name::{Position, TraceId};
use demur_sequencer::{Sequencer, SequencerError};
use demur_store::contract::Store;

use crate::{
    data::DataFolder,
    key,
    key_directory::{KeyDirectory, software},
    keyring::{FolderKeyring, Keyring},
    operating_system::OperatingSystem,
    owner::open_sequencer,
};

/// A data folder open for reading.
pub struct ReadOnlyFolder {
    data: DataFolder,
    store: Arc<dyn Store>,
    sequencer: OnceCell<Sequencer>,
}

/// Why an export did not come to its end.
#[derive(Debug)]
pub enum ExportFailure {
    /// It cannot be written where it should go.
    Output(io::Error),
    /// It cannot be had.
    Refused(Refusal),
}

impl ReadOnlyFolder {
    /// Opens a data folder that has a registry.
    pub fn open(data: DataFolder) -> Result<Self, Refusal> {
        let Some(store) = data.read()? else { return Err(data.no_keys()) };
        if store.registry()?.is_none() {
            return Err(data.no_keys());
        }
        Ok(Self { data, store: Arc::new(store), sequencer: OnceCell::new() })
    }

    /// Returns the store.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Returns the secrets.
    pub fn keyring(&self) -> Arc<dyn Keyring> {
        FolderKeyring::shared(&self.data)
    }

    /// Returns the sequencer, which needs the key that signs exports and records nothing.
    pub fn sequencer(&self) -> Result<&Sequencer, Refusal> {
        if let Some(sequencer) = self.sequencer.get() {
            return Ok(sequencer);
        }
        let (store, system) = (Arc::clone(&self.store), OperatingSystem::open()?);
        let sequencer =
            open_sequencer(&self.keyring(), |find| Sequencer::read(store, find, Box::new(system)))?;
        Ok(self.sequencer.get_or_init(|| sequencer))
    }

    /// Returns every key, also where that of the desk is missing.
    pub fn keys(&self) -> Result<ListedKeys, Refusal> {
        let registry = demur_sequencer::registry(self.store())?;
        Ok(key::list(&KeyDirectory::read(self.store(), registry)?, &*self.keyring()))
    }

    /// Writes a trace as one file and returns its newest event in it. `tell` hears how many events are written.
    pub fn export(
        &self,
        trace: TraceId,
        out: &mut dyn Write,
        tell: &mut dyn FnMut(u64),
    ) -> Result<Position, ExportFailure> {
        let (sequencer, software) = (self.sequencer()?, software()?);
        sequencer.export(trace, software, out, tell).map_err(|error| match error {
            SequencerError::Output(error) => ExportFailure::Output(error),
            other => ExportFailure::Refused(other.into()),
        })
    }
}

impl<E: Into<Refusal>> From<E> for ExportFailure {
    fn from(error: E) -> Self {
        Self::Refused(error.into())
    }
}
