//! Where the file comes from: a path, or standard input.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use demur_api::code::Code;
use demur_desk::visible::visible_path;

use crate::failure::Failure;

/// Something to read.
pub(super) struct Source {
    shown: String,
    length: Option<u64>,
    reader: Box<dyn BufRead + Send>,
}

impl Source {
    /// Opens a path; `-` is standard input.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            let reader = Box::new(BufReader::with_capacity(BUFFER, io::stdin()));
            return Ok(Self { shown: "standard input".to_owned(), length: None, reader });
        }
        let unreadable = |error: io::Error| Failure::unreadable(path, &error);
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            let message = format!("expected a file, found a folder: {}", visible_path(path));
            return Err(Failure::of(Code::FileUnreadable, message));
        }
        let length = metadata.is_file().then_some(metadata.len());
        let reader = Box::new(BufReader::with_capacity(BUFFER, file));
        Ok(Self { shown: visible_path(path), length, reader })
    }

    /// Returns the source as it is named in messages.
    pub(super) fn shown(&self) -> String {
        self.shown.clone()
    }

    /// Returns how many bytes there are, where that is known.
    pub(super) const fn length(&self) -> Option<u64> {
        self.length
    }

    /// Returns the reader.
    pub(super) fn into_reader(self) -> Box<dyn BufRead + Send> {
        self.reader
    }
}

/// How much is read at a time.
const BUFFER: usize = 1 << 17;
