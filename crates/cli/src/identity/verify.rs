//! `demur identity verify`: whether messages hold, and what the identity is at a time. Needs no data folder.

use std::path::Path;

use demur_clarify::{seal::AgentKey, time::Time};

use super::{
    chain::{self, Chain, Failure},
    message::{Found, Message},
    reply::{Anchor, Line, Problem, Verification},
};
use crate::{arguments::VerifyIdentity, context::Context, error::CommandError, exit::Exit, world::World};

/// Verifies messages.
pub(super) fn run(context: &mut Context<'_>, arguments: &VerifyIdentity) -> Result<Exit, CommandError> {
    let inputs = arguments.files.iter().chain(&arguments.identity);
    if inputs.filter(|path| *path == Path::new("-")).count() > 1 {
        let message = "expected standard input once, found it twice";
        return Err(CommandError::input("USAGE", message).with_hint("save one of them to a file first"));
    }
    let at = match arguments.at {
        Some(at) => at,
        None => Time::from(World::open()?.now()?),
    };
    let (history, came) = (Found::all(&arguments.identity)?, Found::all(&arguments.files)?);
    let verification = match (history.as_slice(), came.as_slice(), arguments.key) {
        ([], [Found { message: Message::Register(_), .. }, ..], pin) => judge(&came, &[], pin, at),
        ([], _, Some(key)) => signatures(&came, key, at),
        ([], _, None) => return Err(unanchored(&came)),
        (_, _, pin) => judge(&history, &came, pin, at),
    };
    context.output.reply(&verification)?;
    Ok(if verification.valid { Exit::Success } else { Exit::VerificationFailed })
}

/// Judges an agent's history, each message at its own time, and what came at `at`.
fn judge(history: &[Found], came: &[Found], pin: Option<AgentKey>, at: Time) -> Verification {
    let anchor = if pin.is_some() { Anchor::Pinned } else { Anchor::OwnWord };
    let mut verification = Verification::new(anchor, at, history.iter().chain(came).map(line).collect());
    let mut chain: Option<Chain> = None;
    for (index, found) in history.iter().chain(came).enumerate() {
        let message = &found.message;
        let received = if index < history.len() { message.timestamp() } else { at };
        let taken = match &mut chain {
            Some(chain) => chain.take(message, received),
            None => Chain::begin(message, pin).map(|begun| chain = Some(begun)),
        };
        if let Err(failure) = taken {
            return verification.failed(problem(index, found, failure));
        }
    }
    if let Some(chain) = chain {
        verification.standing(&chain);
    }
    verification
}

/// Checks signatures with one key and nothing else.
fn signatures(came: &[Found], key: AgentKey, at: Time) -> Verification {
    let mut verification = Verification::new(Anchor::KeyAlone, at, came.iter().map(line).collect());
    let agent = came.first().map(|found| found.message.agent_id());
    for (index, found) in came.iter().enumerate() {
        let same = match agent {
            Some(agent) if agent != found.message.agent_id() => Err(Failure {
                reason: "agent_mismatch",
                problem: format!("message.agent_id: expected {agent}, found {}", found.message.agent_id()),
            }),
            _ => Ok(()),
        };
        if let Err(failure) = same.and_then(|()| chain::check_with(&found.message, &key)) {
            return verification.failed(problem(index, found, failure));
        }
    }
    verification.keys = vec![key];
    verification
}

fn line(found: &Found) -> Line {
    Line {
        agent_id: found.message.agent_id().clone(),
        kind: found.message.kind(),
        place: found.place.clone(),
        timestamp: found.message.timestamp(),
    }
}

fn problem(index: usize, found: &Found, failure: Failure) -> Problem {
    let Failure { reason, problem } = failure;
    Problem { message: index + 1, place: found.place.clone(), reason, what: problem }
}

fn unanchored(came: &[Found]) -> CommandError {
    let place = came.first().map_or("", |found| found.place.as_str());
    let message =
        format!("{place}: expected a registration first, found another message and no key to check it with");
    CommandError::input("NO_IDENTITY", message).with_hint(
        "give the agent's earlier messages with --identity FILE, or its key with --key ed25519:HEX",
    )
}
