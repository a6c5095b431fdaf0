//! Who calls over the Unix socket: the user of this machine, or a client that passes on what its own user says.

use demur_api::{code::Code, server::PROTOCOL};
use demur_core::limit::Text;
use demur_desk::access::Caller;
use hyper::HeaderMap;

use crate::problem::Problem;

/// A command of another version would misunderstand what it is told; one that does not say its version knows what it does.
pub(super) fn check_protocol(path: &str, headers: &HeaderMap) -> Result<(), Problem> {
    // Whoever is told to end this server must be able to.
    if path == STOP_PATH {
        return Ok(());
    }
    match headers.get(PROTOCOL_HEADER).map(|value| value.to_str().unwrap_or_default()) {
        Some(found) if found != PROTOCOL.to_string() => {
            let detail =
                format!("expected a command that speaks version {PROTOCOL} of the socket, found {found:?}");
            Err(Problem::new(Code::VersionMismatch, detail)
                .with_cure("`demur stop` ends this server; the next command starts the right one"))
        }
        _ => Ok(()),
    }
}

/// Returns the user of this machine as whoever its client says it speaks for.
pub(super) fn by_client(caller: Caller, headers: &HeaderMap) -> Result<Caller, Problem> {
    let Some(value) = headers.get(RELAY_HEADER) else { return Ok(caller) };
    let client = value.to_str().ok().and_then(|name| Text::try_from(name).ok()).ok_or_else(|| {
        Problem::malformed(format!("expected a name of 1 to 64 characters in {RELAY_HEADER}, found another"))
    })?;
    match caller {
        Caller::Local { name, .. } => Ok(Caller::through(name, client)?),
        other @ (Caller::Token(_) | Caller::Stranger) => Ok(other),
    }
}

/// How a server ends, whatever version the command has.
const STOP_PATH: &str = "/v1/server/stop";

/// Says which version of what goes over the socket a side speaks.
pub const PROTOCOL_HEADER: &str = "demur-protocol";

/// Says which client passes on, over the socket, what its own user says.
pub const RELAY_HEADER: &str = "demur-relay";

/// Says which process answered, to the user of this machine.
pub const PROCESS_HEADER: &str = "demur-process";
