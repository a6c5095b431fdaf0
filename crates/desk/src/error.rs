//! What is told about files: which, why, and the command that shows more.

use std::{io, path::Path};

use demur_api::{code::Code, refusal::Refusal};

use crate::visible::{shell_word, visible_path};

/// Returns the refusal of a file that cannot be read.
pub fn unreadable(path: &Path, error: &io::Error) -> Refusal {
    let message = format!("cannot read {}: {error}", visible_path(path));
    Refusal { cure: look(path, error.kind()), ..Refusal::new(Code::FileUnreadable, message) }
}

/// Returns the refusal of a file that could not be made. `action` completes "cannot ...".
///
/// A path that leads nowhere or that we may not use is the caller's to change; a full or broken disk is not.
pub fn file(action: &str, path: &Path, error: &io::Error) -> Refusal {
    let message = format!("cannot {action} {}: {error}", visible_path(path));
    let code = if is_about_the_path(error.kind()) { Code::FileUnusable } else { Code::FileTrouble };
    Refusal { cure: look(path, error.kind()), ..Refusal::new(code, message) }
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

#[cfg(test)]
mod tests {
    use demur_api::code::Class;

    use super::*;

    fn class_of(kind: io::ErrorKind) -> Class {
        file("read", Path::new("somewhere"), &io::Error::from(kind)).code.class()
    }

    #[test]
    fn a_bad_path_is_bad_input_and_a_bad_disk_is_ours() {
        assert_eq!(class_of(io::ErrorKind::NotFound), Class::Input);
        assert_eq!(class_of(io::ErrorKind::PermissionDenied), Class::Input);
        assert_eq!(class_of(io::ErrorKind::StorageFull), Class::Ours);
        assert_eq!(class_of(io::ErrorKind::Other), Class::Ours);
    }

    #[test]
    fn a_path_that_may_not_be_used_is_named_itself_where_it_is_there() {
        for (path, looked_at) in [("Cargo.toml", "Cargo.toml"), ("src/missing/x", "src"), ("missing", ".")] {
            let error = io::Error::from(io::ErrorKind::PermissionDenied);
            let error = unreadable(Path::new(path), &error);
            assert_eq!(error.cure, Some(format!("`ls -ld {looked_at}` shows who may use it")));
        }
    }
}
