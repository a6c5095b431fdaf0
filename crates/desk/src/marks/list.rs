//! The file that says for whom marks are kept, and since which start of the machine: marks are not synced, so whatever a power
//! cut took with it is not relied on before a server has put it right.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, ErrorKind},
    path::Path,
};

use serde::{Deserialize, Serialize};

use crate::durable;

/// What the file says.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HookList {
    /// The start of the machine, as the kernel names it.
    boot: String,
    askers: BTreeSet<String>,
}

/// Returns for whom marks are kept; none where that is not known, or was known before the machine started last.
pub(super) fn read(folder: &Path) -> io::Result<Option<BTreeSet<String>>> {
    let bytes = match fs::read(folder.join(HOOKED)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // A list that cannot be read names nobody: every hook then asks the server, which writes it anew.
    let list = serde_json::from_slice::<HookList>(&bytes).ok();
    let is_current = |list: &HookList| boot().is_some_and(|boot| boot == list.boot);
    Ok(list.filter(is_current).map(|list| list.askers))
}

/// Says for whom marks are kept. Where the kernel has no name for its start, nothing is said, and every hook asks the server.
pub(super) fn write(folder: &Path, askers: &BTreeSet<String>) -> io::Result<()> {
    let Some(boot) = boot() else {
        remove(folder);
        return Ok(());
    };
    let list = serde_json::to_vec(&HookList { boot, askers: askers.clone() }).map_err(io::Error::other)?;
    durable::replace(&folder.join(HOOKED), &list)
}

/// Says nothing: every hook asks the server, and refuses where none answers.
pub(super) fn remove(folder: &Path) {
    durable::discard(&folder.join(HOOKED));
}

fn boot() -> Option<String> {
    fs::read_to_string(BOOT).ok().map(|name| name.trim().to_owned())
}

/// The file.
pub(super) const HOOKED: &str = "hooked.json";
/// Where Linux names the start of the machine.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::{AskerStanding, OPEN, standing};

    /// Marks are not synced: after a power cut one may be missing.
    #[test]
    fn list_of_another_start_of_the_machine_is_not_relied_on() {
        let folder = tempfile::tempdir().unwrap();
        let found = || standing(folder.path(), ["agent"].into_iter()).unwrap();
        durable::create_folder(&folder.path().join(OPEN)).unwrap();
        write(folder.path(), &BTreeSet::from(["agent".to_owned()])).unwrap();
        assert_eq!(found(), AskerStanding::Clear);
        let path = folder.path().join(HOOKED);
        let list = fs::read_to_string(&path).unwrap().replace(&boot().unwrap(), "another");
        fs::write(&path, list).unwrap();
        assert_eq!(found(), AskerStanding::Unknown);
        fs::write(&path, r#"["agent"]"#).unwrap();
        assert_eq!(found(), AskerStanding::Unknown, "a list that does not say when it was written");
    }
}
