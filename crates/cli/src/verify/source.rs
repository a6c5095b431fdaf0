//! Where the file comes from: a path, or standard input.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Seek as _},
    path::Path,
};

use demur_api::code::Code;
use demur_desk::visible::visible_path;
use demur_ledger::verify::{StatedChecks, VerifyError};

use super::unreadable;
use crate::failure::Failure;

/// Something to read.
pub(super) struct Source {
    shown: String,
    length: Option<u64>,
    input: Input,
}

/// What can be read, once or again.
enum Input {
    File(File),
    Stream(Box<dyn BufRead + Send>),
}

impl Source {
    /// Opens a path; `-` is standard input.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            let input = Input::Stream(Box::new(BufReader::with_capacity(BUFFER, io::stdin())));
            return Ok(Self { shown: "standard input".to_owned(), length: None, input });
        }
        let unreadable = |error: io::Error| Failure::unreadable(path, &error);
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            let message = format!("expected a file, found a folder: {}", visible_path(path));
            return Err(Failure::of(Code::FileUnreadable, message));
        }
        let length = metadata.is_file().then_some(metadata.len());
        let input = match length {
            Some(_) => Input::File(file),
            None => Input::Stream(Box::new(BufReader::with_capacity(BUFFER, file))),
        };
        Ok(Self { shown: visible_path(path), length, input })
    }

    /// Returns the source as it is named in messages.
    pub(super) fn shown(&self) -> String {
        self.shown.clone()
    }

    /// Returns how many bytes there are, where that is known.
    pub(super) const fn length(&self) -> Option<u64> {
        self.length
    }

    /// Returns the checks that a file states; none of a stream, which is read once.
    pub(super) fn find_checks(&mut self) -> Result<StatedChecks, Failure> {
        let Input::File(file) = &mut self.input else { return Ok(StatedChecks::default()) };
        let found = StatedChecks::find(BufReader::with_capacity(BUFFER, &*file));
        let found = found.and_then(|found| file.rewind().map(|()| found));
        found.map_err(|error| unreadable(&self.shown, &VerifyError::Read(error)))
    }

    /// Returns the reader.
    pub(super) fn into_reader(self) -> Box<dyn BufRead + Send> {
        match self.input {
            Input::File(file) => Box::new(BufReader::with_capacity(BUFFER, file)),
            Input::Stream(reader) => reader,
        }
    }
}

/// How much is read at a time.
const BUFFER: usize = 1 << 17;
