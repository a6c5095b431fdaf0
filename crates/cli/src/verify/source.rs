//! Where the file comes from: a path, or standard input. It is opened once: whatever is looked at later is looked at in the
//! bytes that were verified.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek as _},
    path::Path,
};

use demur_api::code::Code;
use demur_desk::{spool::nameless, visible::visible_path};
use demur_ledger::verify::{Options, Report, StatedChecks, VerifyError, verify};

use super::unreadable;
use crate::{
    failure::Failure,
    output::{Progress, percent},
};

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
            return Self::of_stream(io::stdin(), "standard input".to_owned());
        }
        let unreadable = |error: io::Error| Failure::unreadable(path, &error);
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            let message = format!("expected a file, found a folder: {}", visible_path(path));
            return Err(Failure::of(Code::FileUnreadable, message));
        }
        if !metadata.is_file() {
            return Self::of_stream(file, visible_path(path));
        }
        Ok(Self { shown: visible_path(path), length: Some(metadata.len()), input: Input::File(file) })
    }

    /// What cannot be read twice is kept in a file without a name, as far as that may grow; the rest is read once.
    fn of_stream(mut stream: impl Read + Send + 'static, shown: String) -> Result<Self, Failure> {
        let Ok(mut file) = nameless() else {
            let input = Input::Stream(Box::new(BufReader::with_capacity(BUFFER, stream)));
            return Ok(Self { shown, length: None, input });
        };
        let copied = io::copy(&mut stream.by_ref().take(MAX_SPOOL_BYTES), &mut file);
        let copied = copied.and_then(|copied| file.rewind().map(|()| copied));
        let copied = copied.map_err(|error| unreadable(&shown, &VerifyError::Read(error)))?;
        if copied < MAX_SPOOL_BYTES {
            return Ok(Self { shown, length: Some(copied), input: Input::File(file) });
        }
        let input = Input::Stream(Box::new(BufReader::with_capacity(BUFFER, file.chain(stream))));
        Ok(Self { shown, length: None, input })
    }

    /// Verifies it, from its beginning.
    pub(super) fn verify(&mut self, options: &Options, watched: bool) -> Result<Report, Failure> {
        let options = &Options { checks: self.find_checks()?, ..options.clone() };
        let total = self.length.filter(|total| *total > 0);
        let mut progress = Progress::new(watched);
        let tell = &mut |bytes| {
            progress.tell(|| match total {
                Some(total) => format!("{} MB read, {} %", bytes / 1_000_000, percent(bytes, total)),
                None => format!("{} MB read", bytes / 1_000_000),
            });
        };
        let report = match &mut self.input {
            Input::File(file) => verify(BufReader::with_capacity(BUFFER, &*file), options, tell),
            Input::Stream(reader) => verify(reader, options, tell),
        };
        progress.clear();
        report.map_err(|error| unreadable(&self.shown, &error))
    }

    /// Returns it at its beginning once more; nothing of a stream, which is read once.
    pub(super) fn again(&mut self) -> Result<Option<impl BufRead>, Failure> {
        let Input::File(file) = &mut self.input else { return Ok(None) };
        file.rewind().map_err(|error| unreadable(&self.shown, &VerifyError::Read(error)))?;
        Ok(Some(BufReader::with_capacity(BUFFER, &*file)))
    }

    /// Returns the source as it is named in messages.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns the checks that a file states; none of a stream, which is read once.
    fn find_checks(&mut self) -> Result<StatedChecks, Failure> {
        let Input::File(file) = &mut self.input else { return Ok(StatedChecks::default()) };
        let found = StatedChecks::find(BufReader::with_capacity(BUFFER, &*file));
        let found = found.and_then(|found| file.rewind().map(|()| found));
        found.map_err(|error| unreadable(&self.shown, &VerifyError::Read(error)))
    }
}

/// How much of a stream is kept to be read again.
const MAX_SPOOL_BYTES: u64 = 1 << 30;

/// How much is read at a time.
const BUFFER: usize = 1 << 17;
