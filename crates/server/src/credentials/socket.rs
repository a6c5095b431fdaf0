//! Who calls over the Unix socket: the user of this machine, or a client that passes on what its own user says.

use demur_api::{code::Code, server::PROTOCOL};
use demur_core::limit::Text;
use demur_desk::access::Caller;
use hyper::HeaderMap;

use crate::problem::Problem;

/// A command of another version would misunderstand what it is told; one that does not say its version knows what it does.
pub(super) fn check_protocol(path: &str, headers: &HeaderMap) -> Result<(), Problem> {
    // A command of any version must be able to end this server.
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

/// A tool that demur runs under limits does not speak as the user who runs it.
pub(super) fn tool_calls() -> Problem {
    let detail = "expected a command of the user of this machine, found one that a tool of a run started";
    Problem::new(Code::CallerSupervised, detail)
        .with_cure("let the agent that plans or executes the run ask, or ask at a terminal of your own: `demur ask --help`")
}

/// Returns the user of this machine, with the client that passes on what its own user says, where one does.
pub(super) fn by_client(caller: Caller, headers: &HeaderMap) -> Result<Caller, Problem> {
    let Some(value) = headers.get(RELAY_HEADER) else { return Ok(caller) };
    let client = value.to_str().ok().and_then(|name| Text::try_from(name).ok()).ok_or_else(|| {
        Problem::malformed(format!("expected a name of 1 to 64 characters in {RELAY_HEADER}, found another"))
    })?;
    let id = match headers.get(CLIENT_HEADER).map(|value| value.to_str().unwrap_or_default().parse()) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(error)) => return Err(Problem::malformed(format!("{CLIENT_HEADER}: {error}"))),
    };
    match caller {
        Caller::Local { name, .. } => Ok(Caller::through(name, client, id)?),
        other @ (Caller::Token(_) | Caller::Stranger) => Ok(other),
    }
}

/// The path of the operation that ends the server.
const STOP_PATH: &str = "/v1/server/stop";

/// The header with the version of the protocol of the socket, in requests and responses.
pub const PROTOCOL_HEADER: &str = "demur-protocol";

/// The header with the name of a client that passes on what its own user says.
pub const RELAY_HEADER: &str = "demur-relay";

/// The header with the id of that client, where its connection tells which program it is.
pub const CLIENT_HEADER: &str = "demur-client";

/// The header with the process that answered, for the user of this machine.
pub const PROCESS_HEADER: &str = "demur-process";
