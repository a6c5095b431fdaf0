//! The stages in which the executable runs a tool: it starts itself again for each of them.
//!
//! They are no commands: no help, completion or mistake on the command line may mention them, and reading the
//! command line would take longer than the rest of a stage.

use std::ffi::OsString;

use crate::exit::Exit;

/// Returns how the stage ended that these words ask for, or nothing if they ask for none.
pub(crate) fn stage(words: &[OsString]) -> Option<Exit> {
    let [_, stage] = words else { return None };
    let error = if stage == demur_sandbox::SUPERVISE {
        demur_sandbox::supervise().err()
    } else if stage == demur_sandbox::ENTER {
        demur_sandbox::enter().err()
    } else {
        return None;
    };
    Some(if error.is_none() { Exit::Success } else { Exit::Internal })
}

#[cfg(test)]
mod tests {
    #[test]
    fn server_knows_the_stage_that_supervises() {
        assert_eq!(demur_server::descent::SUPERVISOR, demur_sandbox::SUPERVISE);
    }
}
