//! What every command is given.

use std::{io::ErrorKind, path::Path};

use demur_desk::{
    data::DataFolder,
    durable,
    keyring::FolderKeyring,
    visible::{shell_word, visible_path},
};

use crate::{failure::Failure, output::Output};

/// The global options and the output.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    /// The value of `--data`.
    pub(crate) data: Option<&'a Path>,
    /// Where the answer goes.
    pub(crate) output: &'a mut Output,
}

impl Context<'_> {
    /// Returns the data folder, which nobody else can change.
    pub(crate) fn data(&self) -> Result<DataFolder, Failure> {
        let data = self.data_as_it_is()?;
        data.expect_own()?;
        Ok(data)
    }

    /// Returns the data folder for a command that says what is wrong with it.
    pub(crate) fn data_as_it_is(&self) -> Result<DataFolder, Failure> {
        Ok(DataFolder::locate(self.data)?)
    }

    /// Returns the data folder for a command that only looks: it has to be there with a store in it, and nothing is made.
    pub(crate) fn data_there(&self) -> Result<DataFolder, Failure> {
        let data = self.data()?;
        let found = match is_missing(&data) {
            true => Some("none"),
            false if !data.has_store()? => Some("a folder in which nothing is recorded"),
            false => None,
        };
        if let Some(found) = found {
            let message = format!("expected a data folder at {}, found {found}", visible_path(data.path()));
            let ask = self.typed("ask \"Which colour?\"");
            return Err(Failure::input(NO_DATA, message)
                .with_hint(format!("`{ask}` makes it with the first question; --data names another")));
        }
        Ok(data)
    }

    /// Returns the data folder for a command that writes: it is made where it is missing, which is said.
    pub(crate) fn data_made(&self) -> Result<DataFolder, Failure> {
        let data = self.data()?;
        if is_missing(&data) {
            let folder = data.path();
            durable::create_folder(folder).map_err(|error| Failure::file("create", folder, &error))?;
            self.output.made(folder);
        }
        Ok(data)
    }

    /// Returns what a list says that is empty because its data folder is not there, which may have been mistyped.
    pub(crate) fn nowhere(data: &DataFolder, things: &str) -> Option<String> {
        let folder = visible_path(data.path());
        is_missing(data).then(|| format!("No {things} in {folder}: there is no data folder there yet."))
    }

    /// Returns the secrets of the data folder.
    pub(crate) fn keyring(&self) -> Result<FolderKeyring, Failure> {
        Ok(FolderKeyring::of(&self.data()?))
    }

    /// Returns a command of demur as it is typed here: with the data folder that was named.
    pub(crate) fn typed(&self, command: &str) -> String {
        self.data.map_or_else(
            || format!("demur {command}"),
            |data| format!("demur --data {} {command}", shell_word(data)),
        )
    }
}

/// The code of a data folder that is not there.
pub(crate) const NO_DATA: &str = "NO_DATA";

/// Returns whether nothing lies where the folder should be. What lies there and is no folder is told elsewhere.
fn is_missing(data: &DataFolder) -> bool {
    data.path().symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound)
}
