//! The file of an export or of a picture: written beside its place, synced, renamed. No file is overwritten unless that was asked for,
//! and half of it is never left under the name.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, ErrorKind, Write},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process,
};

use demur_api::code::Code;
use demur_desk::{
    durable::{self, Tentative},
    visible::visible_path,
};

use crate::{failure::Failure, reader::ExportTrouble};

/// A file in the making.
pub(crate) struct NewFile {
    path: PathBuf,
    unfinished: PathBuf,
    /// What is being done, to complete "cannot ...".
    action: &'static str,
    out: BufWriter<File>,
    /// What is removed again if it comes to nothing.
    tentative: Vec<Tentative>,
}

impl NewFile {
    /// Begins a file at this path, for what `action` says; one that is there stays until the new one is whole, and without `force` is an error.
    pub(crate) fn begin(path: &Path, force: bool, action: &'static str) -> Result<Self, Failure> {
        let trouble = |error: &io::Error| Failure::file(action, path, error);
        let mut tentative = Vec::new();
        match path.metadata() {
            Ok(metadata) if !metadata.is_file() => {
                let message = format!("expected a file, found something else: {}", visible_path(path));
                return Err(Failure::of(Code::FileUnusable, message));
            }
            Ok(_) if force => {}
            // Its name is taken at once, so that nobody else's file is replaced later.
            _ => {
                create(path).map_err(|error| exists(trouble(&error), &error))?;
                tentative.push(Tentative::of(path.to_owned()));
            }
        }
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(format!(".{}.part", process::id()));
        let unfinished = PathBuf::from(unfinished);
        let file = create(&unfinished).map_err(|error| trouble(&error))?;
        tentative.push(Tentative::of(unfinished.clone()));
        Ok(Self { path: path.to_owned(), unfinished, action, out: BufWriter::new(file), tentative })
    }

    /// Puts the whole file in its place, durably.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        let mut put = || {
            self.out.flush()?;
            self.out.get_ref().sync_all()?;
            fs::rename(&self.unfinished, &self.path)?;
            durable::sync_folder_of(&self.path)
        };
        put().map_err(|error| Failure::file(self.action, &self.path, &error))?;
        self.tentative.drain(..).for_each(Tentative::keep);
        Ok(())
    }

    /// Returns the error of an export into this file.
    pub(crate) fn trouble(&self, trouble: ExportTrouble) -> Failure {
        match trouble {
            ExportTrouble::Output(error) => Failure::file(self.action, &self.path, &error),
            ExportTrouble::Refused(failure) => failure,
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn exists(shown: Failure, error: &io::Error) -> Failure {
    if error.kind() == ErrorKind::AlreadyExists {
        shown.with_hint("nothing is overwritten: name a new file, or say --force")
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn abandoned_file_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = NewFile::begin(&folder.path().join("run"), false, "write").unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(files(folder.path()), Vec::<String>::new());
    }

    #[test]
    fn replaced_file_stays_until_the_new_one_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        fs::write(&path, "old").unwrap();
        assert!(NewFile::begin(&path, false, "write").is_err());
        let mut file = NewFile::begin(&path, true, "write").unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.finish().unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), files(folder.path())),
            (b"new".to_vec(), vec!["run".to_owned()])
        );
    }
}
