//! What can go wrong, for people and for scripts: every failure of a command ends here as one exit code, one
//! stable code, one sentence and, where there is a cure, one hint.

mod ledger;
mod store;

use std::{borrow::Cow, fmt::Display, io, path::Path};

use serde::Serialize;

use crate::{
    exit::Exit,
    visible::{shell_word, visible_path},
};

/// A command that did not do what it was asked to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    exit: Exit,
    code: Cow<'static, str>,
    /// The field of a statement it is about, as a dotted path.
    field: Option<Cow<'static, str>>,
    message: String,
    hint: Option<String>,
}

impl CommandError {
    /// Returns an error of this kind. Codes are upper-case words, as in the ledger's refusals.
    pub fn new(exit: Exit, code: &'static str, message: impl Display) -> Self {
        Self { exit, code: code.into(), field: None, message: message.to_string(), hint: None }
    }

    /// Returns an error that somebody else told us, with its code and its field.
    pub fn told(exit: Exit, code: String, field: Option<String>, message: String) -> Self {
        Self { exit, code: code.into(), field: field.map(Cow::from), message, hint: None }
    }

    /// Returns an error about what was given.
    pub fn input(code: &'static str, message: impl Display) -> Self {
        Self::new(Exit::BadInput, code, message)
    }

    /// Returns the error of a rule that said no.
    pub fn refused(code: &'static str, message: impl Display) -> Self {
        Self::new(Exit::Refused, code, message)
    }

    /// Returns an error that is ours.
    pub fn internal(code: &'static str, message: impl Display) -> Self {
        Self::new(Exit::Internal, code, message)
    }

    /// Returns the error of a file that cannot be read.
    pub fn unreadable(path: &Path, error: &io::Error) -> Self {
        let message = format!("cannot read {}: {error}", visible_path(path));
        Self { hint: look(path, error.kind()), ..Self::input("FILE_UNREADABLE", message) }
    }

    /// Returns the error of a file that could not be made. `action` completes "cannot ...".
    ///
    /// A path that leads nowhere or that we may not use is the caller's to change; a full or broken disk is not.
    pub fn file(action: &str, path: &Path, error: &io::Error) -> Self {
        let (kind, message) = (error.kind(), format!("cannot {action} {}: {error}", visible_path(path)));
        let error = if is_about_the_path(error.kind()) {
            Self::input("FILE_UNUSABLE", message)
        } else {
            Self::internal("FILE_TROUBLE", message)
        };
        Self { hint: look(path, kind), ..error }
    }

    /// Returns the same error with what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// Returns the same error with the field it is about.
    #[must_use]
    pub fn about(mut self, field: Option<&'static str>) -> Self {
        self.field = field.map(Cow::from);
        self
    }

    /// Returns its stable code.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Returns whether nobody knows if what was asked for happened.
    pub fn is_uncertain(&self) -> bool {
        self.code == store::UNCERTAIN
    }

    /// Returns whether it is worth trying again later: a server steps aside, ends or was lost.
    pub fn is_passing(&self) -> bool {
        matches!(&*self.code, "FOLDER_LENT" | "STOPPING" | "CONNECTION_LOST")
    }

    /// Returns whether an answer was refused because it is not of a kind that was asked for.
    pub fn is_about_the_kind(&self) -> bool {
        is_about_the_kind(&self.code)
    }

    /// Returns whether somebody else was first.
    pub fn is_late(&self) -> bool {
        is_late(&self.code)
    }

    /// Returns how the command ends.
    pub const fn exit(&self) -> Exit {
        self.exit
    }

    /// Returns the field it is about.
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns the document for `--json`.
    pub fn document(&self) -> impl Serialize + '_ {
        #[derive(Serialize)]
        struct Document<'a> {
            error: Body<'a>,
        }
        #[derive(Serialize)]
        struct Body<'a> {
            code: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            field: Option<&'a str>,
            hint: Option<&'a str>,
            message: &'a str,
        }
        let Self { code, field, message, .. } = self;
        Document { error: Body { code, field: field.as_deref(), hint: self.hint(), message } }
    }
}

/// Returns the command that shows what is wrong with a path, where one does.
fn look(path: &Path, kind: io::ErrorKind) -> Option<String> {
    // The nearest folder that is there: a command that fails helps nobody.
    let near =
        || path.ancestors().skip(1).find(|folder| folder.is_dir()).map_or_else(|| ".".into(), shell_word);
    match kind {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            Some(format!("`ls {}` shows what is there", near()))
        }
        io::ErrorKind::PermissionDenied => {
            // What is there is what may not be used; what is not there is in a folder that may not.
            let refused = if path.symlink_metadata().is_ok() { shell_word(path) } else { near() };
            Some(format!("`ls -ld {refused}` shows who may use it"))
        }
        io::ErrorKind::StorageFull => Some(format!("`df -h {}` shows how much room is left", near())),
        io::ErrorKind::ReadOnlyFilesystem => {
            Some(format!("`df {}` shows the disk, which cannot be written", near()))
        }
        _ => None,
    }
}

fn is_about_the_path(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{
        AlreadyExists, InvalidFilename, InvalidInput, IsADirectory, NotADirectory, NotFound,
        PermissionDenied, ReadOnlyFilesystem,
    };
    matches!(
        kind,
        AlreadyExists
            | InvalidFilename
            | InvalidInput
            | IsADirectory
            | NotADirectory
            | NotFound
            | PermissionDenied
            | ReadOnlyFilesystem
    )
}

/// Returns whether a code says that an answer is not of a kind that was asked for.
pub fn is_about_the_kind(code: &str) -> bool {
    matches!(code, "ANSWER_KIND" | "ANSWER_CHOICE")
}

/// Returns whether a code says that somebody else was first.
pub fn is_late(code: &str) -> bool {
    matches!(code, "ALREADY_ANSWERED" | "QUESTION_CLOSED")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends_with(kind: io::ErrorKind) -> Exit {
        CommandError::file("read", Path::new("somewhere"), &io::Error::from(kind)).exit()
    }

    #[test]
    fn a_bad_path_is_bad_input_and_a_bad_disk_is_ours() {
        assert_eq!(ends_with(io::ErrorKind::NotFound), Exit::BadInput);
        assert_eq!(ends_with(io::ErrorKind::PermissionDenied), Exit::BadInput);
        assert_eq!(ends_with(io::ErrorKind::StorageFull), Exit::Internal);
        assert_eq!(ends_with(io::ErrorKind::Other), Exit::Internal);
    }

    #[test]
    fn a_path_that_may_not_be_used_is_named_itself_where_it_is_there() {
        for (path, looked_at) in [("Cargo.toml", "Cargo.toml"), ("src/missing/x", "src"), ("missing", ".")] {
            let error = io::Error::from(io::ErrorKind::PermissionDenied);
            let error = CommandError::unreadable(Path::new(path), &error);
            assert_eq!(error.hint(), Some(&*format!("`ls -ld {looked_at}` shows who may use it")));
        }
    }
}
