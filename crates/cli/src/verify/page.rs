//! The report as a page in a file of its own: no file is ever overwritten, and no half page is left behind.

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use demur_desk::durable;

use crate::failure::Failure;

/// A new file that waits for its page.
#[derive(Debug)]
pub(super) struct Page {
    path: PathBuf,
    file: File,
    written: bool,
}

impl Page {
    /// Creates the file, which must not be there yet.
    pub(super) fn reserve(path: &Path) -> Result<Self, Failure> {
        let file = File::create_new(path).map_err(|error| trouble(path, &error))?;
        Ok(Self { path: path.to_owned(), file, written: false })
    }

    /// Writes the page.
    pub(super) fn write(mut self, page: &str) -> Result<(), Failure> {
        let written = self.file.write_all(page.as_bytes()).and_then(|()| self.file.sync_all());
        written.map_err(|error| trouble(&self.path, &error))?;
        self.written = true;
        Ok(())
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if !self.written {
            durable::discard(&self.path);
        }
    }
}

fn trouble(path: &Path, error: &io::Error) -> Failure {
    let shown = Failure::file("write the page", path, error);
    if error.kind() == io::ErrorKind::AlreadyExists {
        shown.with_hint("nothing is overwritten: choose a path where no file is yet")
    } else {
        shown
    }
}
