//! What to do about the errors of the layers below that know no cure themselves: by code, in the words that everybody reads.

use crate::code::Code;

/// Returns what to do about an error with this code, where that is always the same.
pub(crate) fn cure_of(code: Code) -> Option<&'static str> {
    CURES.iter().find(|(known, _)| *known == code).map(|(_, cure)| *cure)
}

const CURES: &[(Code, &str)] = &[
    (Code::AnswerInvalid, ASKED),
    (Code::Bug, "this is a mistake in demur: please report it"),
    (Code::DiskFull, "`df -h` shows how full the disks are"),
    (Code::DocumentInvalid, ASKED),
    (
        Code::ErasureUnfinished,
        "erase it again: what is left is removed then, or when the server starts the next time",
    ),
    (Code::FolderInUse, "`demur status` shows which server has it, `demur stop` ends that one"),
    (Code::GapUnknown, ASKED),
    (Code::NoDeskKey, "the desk signs every change: restore its key from a backup of the folder keys"),
    (Code::PlanMalformed, ASKED),
    (Code::RecordDamaged, "`demur store check` says what else is wrong"),
    (Code::SessionUnreadable, ASKED),
    (Code::StoreDamaged, "nothing was changed; `demur store check` says what is wrong"),
    (Code::StoreGone, "leave the server running and call `demur doctor`: it says what can be saved"),
    (Code::StoreLocked, "`demur doctor` looks at the folder"),
    (Code::StoreNewer, "`demur --version` shows which one this is"),
    (Code::StoreOlder, "--data DIR names another folder; the build that wrote this one can read it"),
    (Code::StoreReadOnly, "`demur doctor` looks at the folder; --data DIR names another"),
    (Code::TooManyGaps, ASKED),
    (Code::TraceNewer, "nothing was changed; `demur --version` shows which one this is"),
    (Code::TraceUnknown, "`demur trace list` shows what is there"),
];
/// What to do about a plan.
const ASKED: &str = "nothing was recorded; `demur plan show SESSION` says what is asked";
