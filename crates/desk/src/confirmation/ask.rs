//! A confirmation is asked for: from the document of a caller to the event `confirmation_asked`, once per idempotency key.

use std::sync::Arc;

use demur_api::{
    code::Code,
    confirmation::{AskConfirmation, ConfirmationId},
    question::Answering,
    refusal::Refusal,
};
use demur_core::limit::List;
use demur_engine::command::{Command, Consequences};
use demur_ledger::{
    author::{Author, Place},
    content::{ConfirmationAskContent, OperationObject, call_operation, operation_digest},
    event_type::Content,
    facts::{Answerers, Assurance, ConfirmationAsked},
    name::{CommandId, Sequence, TraceId},
};

use crate::{
    keyed::{self, Keyed},
    owner::Owner,
    record,
};

/// Records that somebody asks for a confirmation. Returns it, and whether the same request had been recorded before.
pub(super) fn ask(
    owner: &Owner,
    author: &Arc<Author>,
    ask: &AskConfirmation,
    key: Option<&str>,
) -> Result<(ConfirmationId, bool), Refusal> {
    let keyed = key.map(|key| Keyed::new(author, key, ask)).transpose()?;
    if let Some(keyed) = &keyed
        && let Some(earlier) = keyed.earlier(owner, author)?
    {
        let sequence = keyed::position(&earlier)?.sequence;
        return Ok((ConfirmationId::new(earlier.trace, sequence), true));
    }
    let system = owner.system();
    let now = system.now()?;
    let trace = ask.trace.unwrap_or_else(|| TraceId::new(now, &mut { system }));
    let seen = match ask.trace {
        Some(trace) => owner.sequencer().newest(trace)?,
        None => None,
    };
    let place = Place { store: owner.sequencer().registry().store(), trace, seen, now };
    let content = Content::ConfirmationAsked(content(owner, ask)?);
    let command = keyed.as_ref().map_or_else(|| CommandId::new(now, &mut { system }), Keyed::command);
    let spoken = author.speak(command, &place, facts(ask, &place), Some(content), &mut { system })?;
    let command = Command::submit(spoken, None, Consequences::default());
    let swaps: Vec<_> = keyed.as_ref().map(Keyed::swap).transpose()?.into_iter().collect();
    let recorded = owner.sequencer().perform_with(trace, &command, &swaps)?;
    Ok((ConfirmationId::new(recorded.trace, recorded.position.sequence), recorded.repeated))
}

fn facts(ask: &AskConfirmation, place: &Place) -> ConfirmationAsked {
    let (people, principals, least) = match ask.answering {
        Answering::People => (true, Some(List::default()), Assurance::Relayed),
        Answering::Agents => (false, None, Assurance::Agent),
        Answering::Anybody => (true, None, Assurance::Agent),
    };
    let wait = ask.timeout_seconds.map(|seconds| seconds.as_u64().saturating_mul(1000));
    ConfirmationAsked {
        about: ask.about,
        answerers: Answerers { people, principals },
        assurance: ask.assurance.unwrap_or(least),
        deadline: wait.map(|wait| place.now.plus_millis(wait)),
    }
}

fn content(owner: &Owner, ask: &AskConfirmation) -> Result<ConfirmationAskContent, Refusal> {
    let operation = match (&ask.operation, ask.trace, ask.about) {
        (Some(operation), _, _) => operation.clone(),
        (None, Some(trace), Some(intent)) => call_of(owner, trace, intent)?,
        (None, _, _) => {
            let message = "expected the exact operation as a JSON object, found none";
            return Err(Refusal::new(Code::DocumentInvalid, message)
                .about("operation")
                .with_cure("send what would be done, such as {\"amount\": 10, \"to\": \"mallory\"}"));
        }
    };
    Ok(ConfirmationAskContent {
        action: ask.action.clone(),
        consequence: ask.consequence.clone(),
        digest: operation_digest(&operation)?,
        language: ask.language.clone(),
        operation,
        risk: ask.risk,
    })
}

/// Returns the operation that an intent of a run is.
fn call_of(owner: &Owner, trace: TraceId, intent: Sequence) -> Result<OperationObject, Refusal> {
    let found = record::find(owner.sequencer().store(), trace, intent)?;
    let Some((_, Some(Content::ToolIntentSigned(content)))) = found else {
        let message = format!("expected an intent of this run that can be read, found event {intent}");
        return Err(Refusal::new(Code::DocumentInvalid, message).about("about"));
    };
    Ok(call_operation(&content.tool, &content.input_hash))
}
