//! Small files that are read as a whole: a path, or standard input. What is too large is not taken into memory.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use demur_api::code::Code;
use demur_desk::visible::{shell_word, visible_path};

use crate::failure::Failure;

/// A file as it was read.
#[derive(Debug)]
pub(crate) struct Input {
    /// The file as it is named in messages.
    pub(crate) shown: String,
    /// What it says.
    pub(crate) bytes: Vec<u8>,
}

impl Input {
    /// Reads the file at this path, of at most `most` bytes; `-` is standard input.
    pub(crate) fn read(path: &Path, most: usize) -> Result<Self, Failure> {
        let shown = shown(path);
        let reader: Box<dyn Read> =
            if path == Path::new(STANDARD) { Box::new(io::stdin()) } else { open(path)? };
        let mut bytes = Vec::new();
        let room = u64::try_from(most).map_or(u64::MAX, |most| most.saturating_add(1));
        reader
            .take(room)
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::of(Code::FileUnreadable, format!("cannot read {shown}: {error}")))?;
        if bytes.len() > most {
            let message = format!("{shown}: expected at most {most} bytes, found more");
            return Err(
                Failure::input("FILE_TOO_LARGE", message).with_hint("check that it is the file you mean")
            );
        }
        Ok(Self { shown, bytes })
    }
}

fn shown(path: &Path) -> String {
    if path == Path::new(STANDARD) { "standard input".to_owned() } else { visible_path(path) }
}

fn open(path: &Path) -> Result<Box<dyn Read>, Failure> {
    let unreadable = |error: io::Error| Failure::unreadable(path, &error);
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.is_dir() {
        let message = format!("expected a file, found a folder: {}", visible_path(path));
        return Err(Failure::of(Code::FileUnreadable, message)
            .with_hint(format!("`ls {}` shows the files in it", shell_word(path))));
    }
    Ok(Box::new(file))
}

/// What stands for standard input.
const STANDARD: &str = "-";
