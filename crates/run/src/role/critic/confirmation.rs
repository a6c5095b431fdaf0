//! Calls that a person confirms: the critic asks about the intent, and blocks what was refused or not confirmed in time (ONE-09).

use demur_core::limit::{List, Text};
use demur_ledger::{
    confirmation::ConfirmationOutcome,
    content::{ConfirmationAskContent, call_operation, operation_digest},
    facts::{Answerers, Assurance, ConfirmationAsked},
    name::Sequence,
};

use serde_json::Value;

use super::intent::recorded_input;
use crate::{
    history::Intended,
    role::{Brief, Input, Look, Move, RoleError},
};

/// Where the confirmation of an intent stands.
pub(super) enum Confirming {
    /// A person is to be asked.
    Ask(Box<Move>),
    /// Nobody has said anything.
    Waits,
    /// It was refused, or nobody confirmed it in time.
    Refused(String),
    /// A person said yes, or none is needed.
    Fine,
}

pub(super) fn next(
    brief: &Brief<'_>,
    (at, intent): (Sequence, &Intended),
    look: &mut dyn Look,
) -> Result<Confirming, RoleError> {
    if !brief.policy.wants_person(&intent.tool) {
        return Ok(Confirming::Fine);
    }
    let Some((asked_at, asked)) = brief.history.state().confirmations().about(at) else {
        return ask(brief, (at, intent), look).map(|asks| Confirming::Ask(Box::new(asks)));
    };
    Ok(match asked.outcome() {
        ConfirmationOutcome::Open => Confirming::Waits,
        outcome if outcome.is_yes_of_a_person() => Confirming::Fine,
        ConfirmationOutcome::Given(said) => Confirming::Refused(format!(
            "the yes in #{} is an agent's, and the policy wants a person's",
            said.at
        )),
        ConfirmationOutcome::Refused(said) => {
            Confirming::Refused(format!("a person refused it in #{}", said.at))
        }
        ConfirmationOutcome::Expired => {
            Confirming::Refused(format!("nobody confirmed it in time (#{asked_at})"))
        }
    })
}

fn ask(
    brief: &Brief<'_>,
    (at, intent): (Sequence, &Intended),
    look: &mut dyn Look,
) -> Result<Move, RoleError> {
    let Some((artifact, input)) = recorded_input(brief, intent, look)? else {
        return Err(RoleError::Unplanned);
    };
    let command = input.map(|input| shown(&input)).unwrap_or_default();
    let hash = intent.input_hash.ok_or(RoleError::Unplanned)?;
    let operation = call_operation(&intent.tool, &hash);
    let digest = operation_digest(&operation).map_err(|error| RoleError::Look(error.to_string()))?;
    let consequence = format!("It runs once, with exactly the input that event #{artifact} records.");
    let content = ConfirmationAskContent {
        action: Text::cut(&format!("Run {}: {command}", intent.tool))?,
        consequence: Some(Text::cut(&consequence)?),
        digest,
        language: Text::try_from("en")?,
        operation,
        risk: intent.risk,
    };
    let answerers = Answerers { people: true, principals: Some(List::default()) };
    let facts =
        ConfirmationAsked { about: Some(at), answerers, assurance: Assurance::Relayed, deadline: None };
    let within = brief.policy.confirm_within.map(|within| within.0);
    Ok(Move::Confirm { facts, content, within })
}

/// Returns what runs, so that nobody takes one argument for two or a part of one for another: the command as a JSON list, and
/// what the tool reads.
fn shown(input: &Input) -> String {
    let command = Value::from(input.command.clone()).to_string();
    match input.stdin.as_str() {
        "" => command,
        stdin => format!("{command} with {} bytes on standard input: {}", stdin.len(), Value::from(stdin)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ONE-09
    #[test]
    fn a_person_sees_where_arguments_end_and_what_a_tool_reads() {
        let input = |command: &[&str], stdin: &str| Input {
            call: "c".into(),
            command: command.iter().map(ToString::to_string).collect(),
            stdin: stdin.into(),
        };
        assert_ne!(shown(&input(&["sh", "-c", "a b"], "")), shown(&input(&["sh", "-c", "a", "b"], "")));
        let shown = shown(&input(&["sh"], "rm -rf /\n"));
        assert_eq!(shown, r#"["sh"] with 9 bytes on standard input: "rm -rf /\n""#);
    }
}
