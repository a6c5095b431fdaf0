//! What every command is given.

use std::path::Path;

use crate::{data::DataFolder, error::CommandError, keystore::Keystore, output::Output, visible::shell_word};

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

    /// Returns a command of demur as it is typed here: with the data folder that was named.
    pub(crate) fn typed(&self, command: &str) -> String {
        self.data.map_or_else(
            || format!("demur {command}"),
            |data| format!("demur --data {} {command}", shell_word(data)),
        )
    }
}
