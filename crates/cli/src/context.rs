//! What every command is given.

use std::path::Path;

use crate::{data::DataFolder, error::CommandError, keystore::Keystore, output::Output};

/// The global options and the output.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    /// The value of `--data`.
    pub(crate) data: Option<&'a Path>,
    /// Where the answer goes.
    pub(crate) output: &'a mut Output,
}

impl Context<'_> {
    /// Returns the data folder.
    pub(crate) fn data(&self) -> Result<DataFolder, CommandError> {
        DataFolder::locate(self.data)
    }

    /// Returns the secrets of the data folder.
    pub(crate) fn keystore(&self) -> Result<Keystore, CommandError> {
        Ok(Keystore::of(&self.data()?))
    }
}
