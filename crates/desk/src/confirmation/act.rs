//! A yes, a no, the start and the end of what was confirmed. A retry of what counted already changes nothing; whoever comes second
//! is told who was first.

use std::sync::Arc;

use demur_api::{
    code::{Code, RuleCode},
    confirmation::{ConfirmationView, EndOperation, GiveConfirmation, RefuseConfirmation, StartOperation},
    refusal::Refusal,
};
use demur_core::{
    limit::{List, Text},
    visible::visible,
};
use demur_engine::command::Consequences;
use demur_ledger::{
    attribution::assurance_word,
    author::Author,
    client::is_client_of,
    confirmation::ConfirmationStanding,
    content::{
        ConfirmationGivenContent, ConfirmationRefusedContent, OperationContent, OperationEndContent, Shown,
        Wording, operation_digest,
    },
    event_type::{Content, Facts},
    facts::{ConfirmationGiven, ConfirmationRefused, OperationEnded, OperationStarted},
    name::Position,
};
use demur_plan::act::Act;

use super::view;
use crate::{
    access::Caller,
    owner::Owner,
    run,
    session::{self, Speaker},
};

/// Says yes to exactly the operation that was shown.
pub fn give(
    owner: &Owner,
    asked: &ConfirmationView,
    speaker: &Speaker,
    given: &GiveConfirmation,
) -> Result<ConfirmationView, Refusal> {
    if is_repeated(asked, speaker, ConfirmationStanding::Given) && asked.digest == Some(given.digest) {
        return Ok(asked.clone());
    }
    let facts = ConfirmationGiven {
        assurance: speaker.assurance(),
        attribution: None,
        confirmation: position(asked),
    };
    let (by, digest, note) = (speaker.by(), given.digest, given.note.clone());
    let shown = shown(asked, speaker)?;
    let content = ConfirmationGivenContent { by, digest, note, shown };
    say(owner, asked, speaker, facts.into(), Content::ConfirmationGiven(content))
}

/// Says no.
pub fn refuse(
    owner: &Owner,
    asked: &ConfirmationView,
    speaker: &Speaker,
    refused: &RefuseConfirmation,
) -> Result<ConfirmationView, Refusal> {
    if is_repeated(asked, speaker, ConfirmationStanding::Refused) && asked.digest == Some(refused.digest) {
        return Ok(asked.clone());
    }
    let facts = ConfirmationRefused {
        assurance: speaker.assurance(),
        attribution: None,
        confirmation: position(asked),
    };
    let (by, digest, note) = (speaker.by(), refused.digest, refused.note.clone());
    let (instead, shown) = (refused.instead.clone(), shown(asked, speaker)?);
    let content = ConfirmationRefusedContent { by, digest, instead, note, shown };
    say(owner, asked, speaker, facts.into(), Content::ConfirmationRefused(content))
}

/// Records that what was confirmed starts.
pub(super) fn start(
    owner: &Owner,
    asked: &ConfirmationView,
    author: Arc<Author>,
    started: StartOperation,
) -> Result<ConfirmationView, Refusal> {
    if asked.digest.is_none() {
        let message = format!(
            "expected a yes to an operation that can be read, found that the words of {} were erased",
            asked.id
        );
        return Err(Refusal::new(Code::Rule(RuleCode::OPERATION_UNCONFIRMED), message)
            .with_cure("ask for a new confirmation: nobody can tell any more what this one was for"));
    }
    let facts = OperationStarted { confirmation: Some(asked.id.0.sequence), operation: started.name };
    let digest = Some(operation_digest(&started.operation)?);
    let content = OperationContent { digest, note: started.note, operation: Some(started.operation) };
    say(owner, asked, &Speaker::Key(author), facts.into(), Content::OperationStarted(content))
}

/// Records that it is over.
pub(super) fn end(
    owner: &Owner,
    asked: &ConfirmationView,
    author: Arc<Author>,
    ended: &EndOperation,
) -> Result<ConfirmationView, Refusal> {
    let Some(started) = asked.started else {
        let message = format!("expected an operation that was started on {}, found none", asked.id);
        return Err(Refusal::new(Code::Rule(RuleCode::REFERENCE), message)
            .with_cure(format!("start it first: `demur confirm start {} --operation JSON`", asked.id)));
    };
    let facts = OperationEnded { failed: ended.failed, started };
    let content = OperationEndContent { digest: asked.digest };
    say(owner, asked, &Speaker::Key(author), facts.into(), Content::OperationEnded(content))
}

/// Checks that a caller is not the client whose operation this is: it does not confirm what it wants to do, in whosever name.
pub(super) fn check_other(owner: &Owner, caller: &Caller, asked: &ConfirmationView) -> Result<(), Refusal> {
    let is_client = match caller {
        // Command line and people in a browser are no clients.
        Caller::Local { client, .. } => client.is_some(),
        Caller::Token(_) => caller.role().is_none(),
        Caller::Stranger => false,
    };
    if !is_client {
        return Ok(());
    }
    let trace = owner.sequencer().look(asked.trace)?;
    let Some(trace) = trace.trace() else { return Ok(()) };
    let principal = asked.asker.principal;
    let mut acting = trace.acting();
    acting.push(principal);
    let key_directory = owner.key_directory()?;
    let registry = key_directory.registry();
    let is_acting = caller.askers(owner)?.iter().any(|own| acting.contains(own))
        || is_client_of(
            trace,
            (registry, registry.head().sequence),
            principal,
            caller.client_id().into_iter(),
        );
    if !is_acting {
        return Ok(());
    }
    let message = "expected a yes or a no of another, found one of the client whose operation it is";
    Err(Refusal::new(Code::Rule(RuleCode::OWN_CLIENT), message)
        .with_cure(format!("a person decides: `demur confirm show {}`, or at the inbox", asked.id)))
}

fn say(
    owner: &Owner,
    asked: &ConfirmationView,
    speaker: &Speaker,
    facts: Facts,
    content: Content,
) -> Result<ConfirmationView, Refusal> {
    let act = Act { facts, content, consequences: Consequences::default(), papers: None };
    match session::say(owner, asked.trace, speaker, act) {
        Err(error) if error.code == Code::Rule(RuleCode::CONFIRMATION_CLOSED) => {
            Err(too_late(error, &view(owner, asked.id)?))
        }
        Err(error)
            if error.code == Code::Rule(RuleCode::OUT_OF_PHASE)
                && run::is_over(owner, asked.trace).unwrap_or(false) =>
        {
            let message =
                format!("the run of confirmation {} is over: nothing starts on it any more", asked.id);
            Err(Refusal::new(Code::RunOver, message))
        }
        said => said.and_then(|_| view(owner, asked.id)),
    }
}

/// Tells whoever comes second who was first.
fn too_late(error: Refusal, now: &ConfirmationView) -> Refusal {
    let Some(ending) = &now.outcome else { return error };
    let done = match now.state {
        ConfirmationStanding::Given => "confirmed",
        ConfirmationStanding::Refused => "refused",
        ConfirmationStanding::Open | ConfirmationStanding::Expired => return error,
    };
    let by = ending.by.as_deref().map_or("somebody".into(), visible);
    let how = ending.assurance.map_or("", assurance_word);
    let message = format!("too late: {by} {done} it at {} ({how}); nothing was recorded now", ending.time);
    Refusal { message, ..error }.with_cure(format!("look at it: `demur confirm show {}`", now.id))
}

const fn position(asked: &ConfirmationView) -> Position {
    Position::new(asked.id.0.sequence, asked.hash)
}

fn is_repeated(asked: &ConfirmationView, speaker: &Speaker, standing: ConfirmationStanding) -> bool {
    let by = |ending: &demur_api::confirmation::ConfirmationEnding| match speaker {
        Speaker::Key(author) => ending.principal == Some(author.principal()),
        Speaker::Passkey(passkey) => ending.principal == Some(passkey.person().principal()),
        Speaker::Person { name, .. } => {
            ending.principal.is_none() && ending.by.as_deref() == Some(name.as_str())
        }
    };
    asked.state == standing && asked.outcome.as_ref().is_some_and(by)
}

/// Returns what a person was shown: the operation, in the asker's words.
fn shown(asked: &ConfirmationView, speaker: &Speaker) -> Result<Option<Shown>, Refusal> {
    if speaker.by().is_none() {
        return Ok(None);
    }
    let language = Text::try_from(asked.language.as_deref().unwrap_or("en"))?;
    let choices = List::default();
    Ok(Some(Shown { choices, language, recommendation: false, wording: Wording::Normal }))
}
