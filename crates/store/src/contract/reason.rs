//! The codes under which somebody is told what the machine did.

use demur_core::reason::{BUG, Reason};

use super::StoreError;

impl Reason for StoreError {
    fn code(&self) -> &'static str {
        match self {
            Self::Full => "DISK_FULL",
            Self::Locked => "STORE_LOCKED",
            Self::ReadOnly => "STORE_READ_ONLY",
            Self::Corrupt { .. } => "STORE_DAMAGED",
            Self::Newer { .. } | Self::RegistryNewer { .. } | Self::WordNewer { .. } => "STORE_NEWER",
            Self::TraceNewer { .. } => "TRACE_NEWER",
            Self::Older { .. } => "STORE_OLDER",
            Self::Foreign { .. } => "STORE_FOREIGN",
            Self::Owned { .. } => "FOLDER_IN_USE",
            Self::Missing { .. } => "NO_STORE",
            Self::Exists { .. } => "STORE_EXISTS",
            Self::Misuse { .. } => BUG,
            Self::Gone { .. } => "STORE_GONE",
            Self::LeaseLost => "LEASE_LOST",
            Self::Stopped => "STORE_STOPPED",
            Self::Uncertain => "WRITE_UNCERTAIN",
            Self::Trouble { .. } => "STORE_TROUBLE",
        }
    }
}
