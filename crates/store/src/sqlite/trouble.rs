//! What the store says about an error of SQLite.

use rusqlite::{Error, ErrorCode, ffi};

use super::column::UnknownWord;
use crate::{contract::StoreError, folder::trouble};

/// Returns what the store says about an error before the commit began: nothing was written.
pub(super) fn of(action: &'static str) -> impl FnOnce(Error) -> StoreError {
    move |error| match &error {
        Error::SqliteFailure(failure, message) => match failure.code {
            ErrorCode::DiskFull => StoreError::Full,
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Locked,
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::ReadOnly,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                let what = message.clone().unwrap_or_else(|| failure.to_string());
                StoreError::Corrupt { what }
            }
            // The file that readers and writer share could not grow.
            ErrorCode::SystemIoFailure if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => {
                StoreError::Full
            }
            _ => trouble(action, &error),
        },
        // A column that does not hold what only we write into it.
        Error::FromSqlConversionFailure(_, _, source) => match source.downcast_ref() {
            Some(UnknownWord { what, word }) => StoreError::WordNewer { what, word: word.clone() },
            None => StoreError::Corrupt { what: error.to_string() },
        },
        Error::IntegralValueOutOfRange(..) | Error::InvalidColumnType(..) => {
            StoreError::Corrupt { what: error.to_string() }
        }
        _ => trouble(action, &error),
    }
}

/// Returns what the store says about an error of the commit itself. Where writing or syncing failed, the log may
/// hold the whole transaction or not: only a restart tells.
pub(super) fn of_commit(action: &'static str) -> impl FnOnce(Error) -> StoreError {
    move |error| match error.sqlite_error_code() {
        Some(ErrorCode::SystemIoFailure) => match of(action)(error) {
            StoreError::Full => StoreError::Full,
            _ => StoreError::Uncertain,
        },
        _ => of(action)(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: i32) -> Error {
        Error::SqliteFailure(ffi::Error::new(code), None)
    }

    #[test]
    fn each_code_has_its_own_sentence() {
        let said = |code| of("append")(failure(code)).to_string();
        assert_eq!(said(ffi::SQLITE_FULL), StoreError::Full.to_string());
        assert_eq!(said(ffi::SQLITE_IOERR_SHMSIZE), StoreError::Full.to_string());
        assert_eq!(said(ffi::SQLITE_BUSY), StoreError::Locked.to_string());
        assert_eq!(said(ffi::SQLITE_READONLY_DBMOVED), StoreError::ReadOnly.to_string());
        assert!(matches!(of("append")(failure(ffi::SQLITE_CORRUPT_INDEX)), StoreError::Corrupt { .. }));
        assert!(matches!(of("append")(failure(ffi::SQLITE_IOERR_READ)), StoreError::Trouble { .. }));
    }

    /// ONE-05
    #[test]
    fn failed_sync_is_uncertain_only_in_a_commit() {
        let sync = || failure(ffi::SQLITE_IOERR_FSYNC);
        assert!(matches!(of_commit("append")(sync()), StoreError::Uncertain));
        assert!(matches!(of("append")(sync()), StoreError::Trouble { .. }));
        assert!(matches!(of_commit("append")(failure(ffi::SQLITE_FULL)), StoreError::Full));
        assert!(matches!(of_commit("append")(failure(ffi::SQLITE_BUSY)), StoreError::Locked));
    }
}
