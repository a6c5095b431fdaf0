//! The one random secret of a folder from which the others are made that are no keys.

use std::{
    fs::{self, File},
    io::{ErrorKind, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use demur_api::{code::Code, refusal::Refusal};
use demur_core::{id::Ulid, random::Random as _};
use zeroize::Zeroizing;

use super::{
    file::{KeyFileError, check_mode},
    folder,
};
use crate::{
    durable, error,
    operating_system::OperatingSystem,
    visible::{shell_word, visible_path},
};

/// Returns the secret of a folder, which is made where there is none.
pub(super) fn read_or_create(folder: &Path) -> Result<Zeroizing<[u8; 32]>, Refusal> {
    folder::prepare(folder)?;
    let path = folder.join(NAME);
    match read(&path) {
        Err(KeyFileError::Unreadable { source, .. }) if source.kind() == ErrorKind::NotFound => {
            create(folder, &path)?;
        }
        Err(KeyFileError::Malformed { .. }) => return Err(malformed(&path)),
        read => return Ok(read?),
    }
    Ok(read(&path)?)
}

/// Makes the secret. Whoever is second finds that of the first; nobody ever reads half of one.
fn create(folder: &Path, path: &Path) -> Result<(), Refusal> {
    let mut system = OperatingSystem::open()?;
    let mut secret = Zeroizing::new([0; 32]);
    system.fill(&mut *secret);
    // Under a name that nobody else uses, and that is swept where a dead process left it.
    let beside = folder.join(format!(".{NAME}.{}.new", Ulid::new(system.now()?, &mut system)));
    let linked = durable::create(&beside, &*secret).and_then(|()| {
        let linked = fs::hard_link(&beside, path);
        durable::discard(&beside);
        match linked {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            linked => linked.and_then(|()| durable::sync_folder_of(path)),
        }
    });
    linked.map_err(|error| error::file("write", path, &error))
}

fn read(path: &Path) -> Result<Zeroizing<[u8; 32]>, KeyFileError> {
    let unreadable = |source| KeyFileError::Unreadable { path: path.to_owned(), source };
    // Before it is opened: a pipe would wait for a writer.
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err(KeyFileError::Malformed { path: path.to_owned() });
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let about = file.metadata().map_err(unreadable)?;
    check_mode(path, about.permissions().mode(), 0o600)?;
    let mut secret = Zeroizing::new([0; 32]);
    match file.read_exact(&mut *secret) {
        Ok(()) if about.len() == 32 => Ok(secret),
        Ok(()) => Err(KeyFileError::Malformed { path: path.to_owned() }),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            Err(KeyFileError::Malformed { path: path.to_owned() })
        }
        Err(error) => Err(unreadable(error)),
    }
}

fn malformed(path: &Path) -> Refusal {
    let message =
        format!("expected {} to hold a secret of 32 bytes, found something else", visible_path(path));
    Refusal::new(Code::KeyFileMalformed, message).with_cure(format!(
        "restore it from a backup; or run: rm {} (a new one is made, and MCP clients have to call again)",
        shell_word(path)
    ))
}

/// The file of the secret.
const NAME: &str = "derive.secret";

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn everybody_finds_the_same_secret_whoever_makes_it() {
        let folder = tempfile::tempdir().unwrap();
        let keys = folder.path().join("keys");
        let found: Vec<_> = thread::scope(|scope| {
            let runs: Vec<_> = (0..8).map(|_| scope.spawn(|| read_or_create(&keys).unwrap())).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        assert!(found.iter().all(|secret| *secret == found[0] && **secret != [0; 32]));
        let names: Vec<_> = fs::read_dir(&keys).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [NAME], "nothing is left beside it");
        assert_eq!(fs::metadata(keys.join(NAME)).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn secret_that_others_can_read_or_that_is_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let keys = folder.path().join("keys");
        read_or_create(&keys).unwrap();
        let path = keys.join(NAME);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(read_or_create(&keys).unwrap_err().code, Code::KeyFileOpen);
        for bytes in [&[1; 31][..], &[1; 33], &[]] {
            fs::remove_file(&path).unwrap();
            durable::create(&path, bytes).unwrap();
            let refusal = read_or_create(&keys).unwrap_err();
            assert_eq!(refusal.code, Code::KeyFileMalformed, "{bytes:?}");
            assert!(refusal.cure.unwrap().contains("rm "));
        }
    }
}
