//! The numbers that lists of questions print. A question keeps the first number it got in a data folder, in every
//! terminal, and no other question ever gets it: a number answers the question it was printed for, or none.
//!
//! They lie in a file beside the store, one id on each line; the number is that of the line. Lines are only added, under
//! a lock. A line that is no id is a number that is used up. The file is no part of the record: without it numbers begin
//! anew, and ids go on as they are.

use demur_api::question::QuestionId;
use std::{
    cell::Cell,
    collections::HashMap,
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use demur_desk::data::DataFolder;
use rustix::fs::OFlags;

/// The numbers of a data folder.
#[derive(Clone, Debug)]
pub(crate) struct QuestionNumbers {
    path: PathBuf,
    /// How long somebody else may hold the lock. Whoever waited once in vain does not wait again.
    patience: Cell<Duration>,
}

impl QuestionNumbers {
    /// Returns the numbers of a data folder.
    pub(crate) fn of(data: &DataFolder) -> Self {
        Self { path: data.path().join(FILE), patience: Cell::new(LOCK_TIMEOUT) }
    }

    /// Returns the question with this number. A file that cannot be read has none; one that somebody holds is an error.
    pub(crate) fn find(&self, number: usize) -> Result<Option<QuestionId>, Held> {
        let mut text = String::new();
        let Ok(file) = self.open(OpenOptions::new().read(true)) else { return Ok(None) };
        match self.locked(File::try_lock_shared, &file) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => return Err(Held),
            Err(_) => return Ok(None),
            Ok(()) => {}
        }
        let read = file.take(MAX_BYTES).read_to_string(&mut text);
        let line = read.ok().and_then(|_| text.lines().nth(number.checked_sub(1)?));
        Ok(line.and_then(|line| line.parse().ok()))
    }

    /// Returns the file, if it is one: whatever else has its name is neither followed nor waited for.
    fn open(&self, options: &mut OpenOptions) -> io::Result<File> {
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let file = options.custom_flags(flags).open(&self.path)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// Takes a lock, unless somebody else keeps it too long.
    fn locked(&self, lock: fn(&File) -> Result<(), TryLockError>, file: &File) -> io::Result<()> {
        let until = Instant::now() + self.patience.get();
        loop {
            match lock(file) {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                    self.patience.set(Duration::ZERO);
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(TryLockError::WouldBlock) => thread::sleep(RETRY_INTERVAL),
            }
        }
    }

    /// Returns whether somebody held the lock too long.
    pub(crate) const fn was_held(&self) -> bool {
        self.patience.get().is_zero()
    }

    /// Returns the numbers of these questions, in their order. Those that have none get the next ones, which are on the
    /// disk before anybody sees them. Where that fails, or where all numbers are used up, a question has none.
    pub(crate) fn assign(&self, questions: &[QuestionId]) -> Vec<Option<usize>> {
        self.try_assign(questions).unwrap_or_else(|_| vec![None; questions.len()])
    }

    /// Uses up every number there is: none of them means a question any more. For a store that came back from a backup, where
    /// an id may mean another question than before.
    pub(crate) fn use_up(&self) {
        // Without the file there are no numbers.
        let _ = self.try_use_up();
    }

    fn try_use_up(&self) -> io::Result<()> {
        let mut file = self.open(OpenOptions::new().read(true).write(true))?;
        self.locked(File::try_lock, &file)?;
        let mut text = String::new();
        (&file).take(MAX_BYTES).read_to_string(&mut text)?;
        let used = "-\n".repeat(text.lines().count());
        file.rewind()?;
        file.write_all(used.as_bytes())?;
        file.set_len(used.len() as u64)?;
        file.sync_data()
    }

    fn try_assign(&self, questions: &[QuestionId]) -> io::Result<Vec<Option<usize>>> {
        let mut file = self.open(OpenOptions::new().read(true).append(true).create(true).mode(0o600))?;
        self.locked(File::try_lock, &file)?;
        let mut text = String::new();
        (&file).take(MAX_BYTES).read_to_string(&mut text)?;
        let lines = text.lines().zip(1..);
        let mut known: HashMap<QuestionId, usize> =
            lines.filter_map(|(line, number)| Some((line.parse().ok()?, number))).collect();
        let mut last = text.lines().count();
        let mut added = String::new();
        // Half a line was left by somebody who died: its number was never printed, and is used up.
        if !text.is_empty() && !text.ends_with('\n') {
            added.push('\n');
        }
        for question in questions {
            if last < MAX_NUMBERS && !known.contains_key(question) {
                last += 1;
                known.insert(*question, last);
                added.push_str(&question.to_string());
                added.push('\n');
            }
        }
        if !added.is_empty() {
            file.write_all(added.as_bytes())?;
            file.sync_data()?;
        }
        Ok(questions.iter().map(|question| known.get(question).copied()).collect())
    }
}

/// Somebody else holds the lock on the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected to read the numbers of questions within 2 s, found their file locked by another program")]
pub(crate) struct Held;

/// How long somebody else may hold the lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// How often it is tried.
const RETRY_INTERVAL: Duration = Duration::from_millis(10);
/// The file in the data folder.
const FILE: &str = "numbers";
/// How many numbers there are. Whoever has used them up names questions by their ids.
const MAX_NUMBERS: usize = 1_000_000;
/// More bytes than so many lines have.
const MAX_BYTES: u64 = 48 * 1_000_000;

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    fn id(number: usize) -> QuestionId {
        format!("01ARZ3NDEKTSV4RRFFQ69G5FAV.{number}").parse().unwrap()
    }

    fn numbers() -> (tempfile::TempDir, QuestionNumbers) {
        let folder = tempfile::tempdir().unwrap();
        let numbers = QuestionNumbers::of(&DataFolder::at(folder.path().to_owned()));
        (folder, numbers)
    }

    #[test]
    fn a_question_keeps_its_number_and_no_other_gets_it() {
        let (_folder, numbers) = numbers();
        assert_eq!(numbers.assign(&[id(5), id(6)]), [Some(1), Some(2)]);
        assert_eq!(numbers.assign(&[id(7), id(6)]), [Some(3), Some(2)]);
        let find = |number| numbers.find(number).unwrap();
        assert_eq!((find(1), find(3), find(4), find(0)), (Some(id(5)), Some(id(7)), None, None));
    }

    #[test]
    fn half_a_line_uses_up_its_number() {
        let (_folder, numbers) = numbers();
        numbers.assign(&[id(1)]);
        fs::write(&numbers.path, format!("{}\n01ARZ3NDEK", id(1))).unwrap();
        assert_eq!(numbers.assign(&[id(2)]), [Some(3)]);
        let find = |number| numbers.find(number).unwrap();
        assert_eq!((find(1), find(2), find(3)), (Some(id(1)), None, Some(id(2))));
    }

    #[test]
    fn numbers_that_are_used_up_mean_nothing_and_are_not_given_again() {
        let (_folder, numbers) = numbers();
        numbers.use_up();
        assert_eq!(numbers.assign(&[id(1), id(2)]), [Some(1), Some(2)]);
        numbers.use_up();
        assert_eq!((numbers.find(1), numbers.find(2)), (Ok(None), Ok(None)));
        assert_eq!(numbers.assign(&[id(2)]), [Some(3)]);
    }

    #[test]
    fn file_is_for_its_owner_alone() {
        let (_folder, numbers) = numbers();
        numbers.assign(&[id(1)]);
        assert_eq!(fs::metadata(&numbers.path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn without_a_place_to_keep_them_there_are_none() {
        let numbers = QuestionNumbers { path: "/proc/numbers".into(), patience: Cell::new(LOCK_TIMEOUT) };
        assert_eq!(numbers.assign(&[id(1)]), [None]);
        assert_eq!(numbers.find(1), Ok(None));
    }

    #[test]
    fn what_is_no_file_of_its_own_is_left_alone() {
        let (folder, numbers) = numbers();
        let other = folder.path().join("other");
        fs::write(&other, "").unwrap();
        std::os::unix::fs::symlink(&other, &numbers.path).unwrap();
        assert_eq!(numbers.assign(&[id(1)]), [None]);
        assert_eq!((fs::read(&other).unwrap(), numbers.find(1)), (Vec::new(), Ok(None)));
        fs::remove_file(&numbers.path).unwrap();
        // Whoever opened this for reading would wait for a writer.
        rustix::fs::mkfifoat(rustix::fs::CWD, &numbers.path, rustix::fs::Mode::RWXU).unwrap();
        assert_eq!((numbers.find(1), numbers.assign(&[id(1)])), (Ok(None), vec![None]));
    }

    #[test]
    fn a_lock_that_somebody_holds_is_told_and_not_waited_for_twice() {
        let (_folder, numbers) = numbers();
        numbers.assign(&[id(1)]);
        let held = File::open(&numbers.path).unwrap();
        held.lock().unwrap();
        assert_eq!((numbers.find(1), numbers.was_held()), (Err(Held), true));
        assert_eq!(numbers.assign(&[id(1)]), [None]);
        held.unlock().unwrap();
        assert_eq!(numbers.find(1), Ok(Some(id(1))));
    }

    #[test]
    fn a_file_that_is_no_text_gives_none_and_stays() {
        let (_folder, numbers) = numbers();
        fs::write(&numbers.path, [0xff, b'\n']).unwrap();
        assert_eq!(numbers.assign(&[id(1)]), [None]);
        assert_eq!(fs::read(&numbers.path).unwrap(), [0xff, b'\n']);
    }
}
