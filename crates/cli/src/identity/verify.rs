//! `demur identity verify`: whether messages hold, and what the identity is at a time. Needs no data folder.

use std::path::Path;

use demur_api::code::Code;
use demur_clarify::{
    identity::{IdentityVerification, VerificationError},
    time::Time,
};
use demur_desk::operating_system::OperatingSystem;

use super::message;
use crate::{arguments::VerifyIdentity, context::Context, exit::Exit, failure::Failure};

/// Verifies messages.
pub(super) fn run(context: &mut Context<'_>, arguments: &VerifyIdentity) -> Result<Exit, Failure> {
    let inputs = arguments.files.iter().chain(&arguments.identity);
    if inputs.filter(|path| *path == Path::new("-")).count() > 1 {
        let message = "expected standard input once, found it twice";
        return Err(Failure::input("USAGE", message).with_hint("save one of them to a file first"));
    }
    let at = match arguments.at {
        Some(at) => at,
        None => Time::from(OperatingSystem::open()?.now()?),
    };
    let (history, came) = (message::all(&arguments.identity)?, message::all(&arguments.files)?);
    let verification =
        IdentityVerification::of(&history, &came, arguments.key, at).map_err(|error| unanchored(&error))?;
    context.output.reply(&verification)?;
    Ok(if verification.valid { Exit::Success } else { Exit::VerificationFailed })
}

fn unanchored(error: &VerificationError) -> Failure {
    Failure::of(Code::of(error.code()), error).with_hint(
        "give the agent's earlier messages with --identity FILE, or its key with --key ed25519:HEX",
    )
}
