//! From the store's errors to the command's. What somebody can change by naming another folder or file ends with 2,
//! what is in use with 3, the machine's trouble with 4.

use demur_store::contract::StoreError;

use super::CommandError;

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        Self::from(&error)
    }
}

/// A commit that failed for everybody in it is told to each of them.
impl From<&StoreError> for CommandError {
    fn from(error: &StoreError) -> Self {
        match error {
            StoreError::Owned { .. } => Self::refused("FOLDER_IN_USE", error)
                .with_hint("`demur status` shows which server has it, `demur stop` ends that one"),
            StoreError::Locked => {
                Self::refused("STORE_LOCKED", error).with_hint("`demur doctor` looks at the folder")
            }
            StoreError::ReadOnly => Self::input("STORE_READ_ONLY", error)
                .with_hint("`demur doctor` looks at the folder; --data DIR names another"),
            StoreError::Corrupt { .. } => Self::input("STORE_DAMAGED", error)
                .with_hint("nothing was changed; `demur store check` says what is wrong"),
            StoreError::Newer { .. } => {
                Self::input("STORE_NEWER", error).with_hint("`demur --version` shows which one this is")
            }
            StoreError::RegistryNewer { .. } => Self::input("STORE_NEWER", error).with_hint(NEWER),
            StoreError::TraceNewer { .. } => Self::refused("TRACE_NEWER", error).with_hint(NEWER),
            StoreError::Foreign { .. } => Self::input("STORE_FOREIGN", error),
            StoreError::Missing { .. } => Self::input("NO_STORE", error),
            StoreError::Exists { .. } => Self::input("STORE_EXISTS", error),
            StoreError::Full => {
                Self::internal("DISK_FULL", error).with_hint("`df -h` shows how full the disks are")
            }
            StoreError::Stopped => Self::internal("STORE_STOPPED", error),
            StoreError::Uncertain => Self::internal(UNCERTAIN, error),
            StoreError::Trouble { .. } => Self::internal("STORE_TROUBLE", error),
            StoreError::Misuse { .. } => Self::bug(error),
        }
    }
}

/// What to do about what a newer version wrote.
const NEWER: &str = "nothing was changed; `demur --version` shows which one this is";
/// The code of a write that the disk did not confirm.
pub(super) const UNCERTAIN: &str = "WRITE_UNCERTAIN";

#[cfg(test)]
mod tests {
    use demur_store::ledger::LedgerError;

    use super::*;
    use crate::exit::Exit;

    /// Whoever does not know whether a key was registered must not throw its secret away.
    #[test]
    fn unconfirmed_writes_are_told_apart_however_they_come() {
        let uncertain = |error: LedgerError| CommandError::from(error).is_uncertain();
        assert!(uncertain(LedgerError::Uncertain));
        assert!(uncertain(StoreError::Uncertain.into()));
        assert!(!uncertain(StoreError::Full.into()));
        assert!(!uncertain(LedgerError::Commit(StoreError::Full.into())));
    }

    #[test]
    fn each_trouble_ends_as_the_table_of_exit_codes_says() {
        let ends = |error: StoreError| CommandError::from(error).exit();
        assert_eq!(ends(StoreError::Full), Exit::Internal);
        assert_eq!(ends(StoreError::Uncertain), Exit::Internal);
        assert_eq!(ends(StoreError::Locked), Exit::Refused);
        assert_eq!(ends(StoreError::Owned { lock: "lock".to_owned() }), Exit::Refused);
        assert_eq!(ends(StoreError::ReadOnly), Exit::BadInput);
        assert_eq!(ends(StoreError::Newer { found: 9, known: 1 }), Exit::BadInput);
        assert_eq!(ends(StoreError::Corrupt { what: "a page".to_owned() }), Exit::BadInput);
    }
}
