//! `demur identity`: the messages by which an agent tells others which key is its own (CLR-72; identity protocol 1.0.0,
//! `docs/clarify.md` 8). Signs with keys of the keyring and checks; the registry of the store is `demur keys`' alone.

mod message;
mod name;
mod reply;
mod sign;
mod verify;

use crate::{arguments::IdentityCommand, context::Context, exit::Exit, failure::Failure};

/// Runs one of the `identity` commands.
pub(crate) fn run(context: &mut Context<'_>, command: &IdentityCommand) -> Result<Exit, Failure> {
    match command {
        IdentityCommand::Register(arguments) => sign::register(context, arguments)?,
        IdentityCommand::Rotate(arguments) => sign::rotate(context, arguments)?,
        IdentityCommand::Revoke(arguments) => sign::revoke(context, arguments)?,
        IdentityCommand::Name(arguments) => name::run(context, arguments)?,
        IdentityCommand::Verify(arguments) => return verify::run(context, arguments),
    }
    Ok(Exit::Success)
}
