//! The numbers that lists of questions print. A question keeps the first number it got in a data folder, in every
//! terminal, and no other question ever gets it: a number answers the question it was printed for, or none.
//!
//! They lie in a file beside the store, one id on each line; the number is that of the line. Lines are only added, under
//! a lock. A line that is no id is a number that is used up. The file is no part of the record: without it numbers begin
//! anew, and ids go on as they are.

use std::{
    collections::HashMap,
    fs::{File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
};

use demur_desk::question::QuestionId;

use crate::data::DataFolder;

/// The numbers of a data folder.
#[derive(Clone, Debug)]
pub(crate) struct QuestionNumbers {
    path: PathBuf,
}

impl QuestionNumbers {
    /// Returns the numbers of a data folder.
    pub(crate) fn of(data: &DataFolder) -> Self {
        Self { path: data.path().join(FILE) }
    }

    /// Returns the question with this number.
    pub(crate) fn find(&self, number: usize) -> Option<QuestionId> {
        let mut text = String::new();
        let file = File::open(&self.path).ok()?;
        file.lock_shared().ok()?;
        file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
        text.lines().nth(number.checked_sub(1)?)?.parse().ok()
    }

    /// Returns the numbers of these questions, in their order. Those that have none get the next ones, which are on the
    /// disk before anybody sees them. Where that fails, or where all numbers are used up, a question has none.
    pub(crate) fn assign(&self, questions: &[QuestionId]) -> Vec<Option<usize>> {
        self.try_assign(questions).unwrap_or_else(|_| vec![None; questions.len()])
    }

    fn try_assign(&self, questions: &[QuestionId]) -> io::Result<Vec<Option<usize>>> {
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(&self.path)?;
        file.lock()?;
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
        assert_eq!((numbers.find(1), numbers.find(3), numbers.find(4)), (Some(id(5)), Some(id(7)), None));
        assert_eq!(numbers.find(0), None);
    }

    #[test]
    fn half_a_line_uses_up_its_number() {
        let (_folder, numbers) = numbers();
        numbers.assign(&[id(1)]);
        fs::write(&numbers.path, format!("{}\n01ARZ3NDEK", id(1))).unwrap();
        assert_eq!(numbers.assign(&[id(2)]), [Some(3)]);
        assert_eq!((numbers.find(1), numbers.find(2), numbers.find(3)), (Some(id(1)), None, Some(id(2))));
    }

    #[test]
    fn file_is_for_its_owner_alone() {
        let (_folder, numbers) = numbers();
        numbers.assign(&[id(1)]);
        assert_eq!(fs::metadata(&numbers.path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn without_a_place_to_keep_them_there_are_none() {
        let numbers = QuestionNumbers { path: "/proc/numbers".into() };
        assert_eq!(numbers.assign(&[id(1)]), [None]);
        assert_eq!(numbers.find(1), None);
    }

    #[test]
    fn a_file_that_is_no_text_gives_none_and_stays() {
        let (_folder, numbers) = numbers();
        fs::write(&numbers.path, [0xff, b'\n']).unwrap();
        assert_eq!(numbers.assign(&[id(1)]), [None]);
        assert_eq!(fs::read(&numbers.path).unwrap(), [0xff, b'\n']);
    }
}
