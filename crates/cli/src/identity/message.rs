//! Files of identity messages: one message in any layout, or one on each line.

use std::path::{Path, PathBuf};

use demur_api::code::Code;
use demur_clarify::identity::{Found, IdentityVerification, VerificationError};

use crate::{failure::Failure, input::Input};

/// Returns all messages of these files, in order.
pub(super) fn all(paths: &[PathBuf]) -> Result<Vec<Found>, Failure> {
    let mut all = Vec::new();
    for path in paths {
        all.extend(of(path)?);
        if all.len() > IdentityVerification::MOST {
            let message = format!("expected at most {} messages, found more", IdentityVerification::MOST);
            return Err(Failure::of(Code::MessageMalformed, message));
        }
    }
    Ok(all)
}

fn of(path: &Path) -> Result<Vec<Found>, Failure> {
    let Input { shown, bytes } = Input::read(path, MAX_FILE_BYTES)?;
    let lines: Vec<(usize, &[u8])> = bytes
        .split(|byte| *byte == b'\n')
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim_ascii()))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    let is_object = |(_, line): &(usize, &[u8])| line.starts_with(b"{") && line.ends_with(b"}");
    if lines.len() < 2 || !lines.iter().all(is_object) {
        return Ok(vec![Found::read(&bytes, shown).map_err(|error| malformed(&error))?]);
    }
    let read = |(number, line): (usize, &[u8])| {
        Found::read(line, format!("{shown}:{number}")).map_err(|error| malformed(&error))
    };
    lines.into_iter().map(read).collect()
}

fn malformed(error: &VerificationError) -> Failure {
    Failure::of(Code::of(error.code()), error)
        .with_hint("a message is {\"message\": {\"agent_id\", \"timestamp\", \"payload\"}, \"signature\"}; docs/clarify.md, section 8, has the payloads")
}

/// How long a file of messages is at most, in bytes.
const MAX_FILE_BYTES: usize = 1 << 20;
