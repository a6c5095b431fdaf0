//! What is done about a question: by those who may answer it, and by whoever asked. Whoever comes too late is told who was
//! first, when and how (ONE-02).

use std::{pin::Pin, sync::Arc, time::Duration};

use axum::{Extension, Json, extract::State};
use demur_api::{
    operation,
    question::{Answer, Deliveries, Done, Passing, QuestionId, QuestionView, Said},
    refusal::Refusal,
};
use demur_core::limit::Text;
use demur_desk::{owner::Owner, question, recording::Recording, session::Speaker};
use demur_ledger::{author::Author, question::OutcomeKind};
use hyper::StatusCode;
use serde::de::DeserializeOwned;

use super::{asker_of, people_apart, seen};
use crate::{
    api::{Api, Operation},
    caller::Caller,
    problem::Problem,
    read::{Document, Named},
    service::{Service, Shared},
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::of::<operation::AnswerQuestion>(), answer)
        .with(Operation::of::<operation::AcceptQuestion>(), answering(question::accept))
        .with(Operation::of::<operation::DeclineQuestion>(), answering(question::decline))
        .with(Operation::of::<operation::PassQuestion>(), pass)
        .with(Operation::of::<operation::ExtendQuestion>(), asking(question::extend))
        .with(Operation::of::<operation::CancelQuestion>(), asking(question::cancel))
        .with(Operation::of::<operation::DeliverQuestions>(), deliver)
}

/// What somebody says who may answer.
type ByAnswerer<T> = fn(&Owner, &QuestionView, &Speaker, &T) -> Result<Done, Refusal>;
/// What whoever asked says, and who wanted it.
type ByAsker<T> = fn(&Owner, &QuestionView, Arc<Author>, Option<Text<1, 256>>, &T) -> Result<Done, Refusal>;

/// What comes of it, in a moment.
type Reply = Pin<Box<dyn Future<Output = Result<Json<Done>, Problem>> + Send>>;

/// Returns the handler of something that those do who may answer.
fn answering<T>(
    say: ByAnswerer<T>,
) -> impl Fn(State<Shared>, Extension<Caller>, Named<QuestionId>, Document<T>) -> Reply + Clone
where
    T: Said + DeserializeOwned + Send + Sync + 'static,
{
    move |State(service): State<Shared>,
          Extension(caller): Extension<Caller>,
          Named(id): Named<QuestionId>,
          Document(given): Document<T>| {
        Box::pin(async move {
            let work = move |service: &Service, owner: &Owner| {
                let shown = seen(owner, &caller, id)?;
                let done = say(owner, &shown, &caller.answerer(owner, given.by().cloned())?, &given)?;
                note_answer(service, &done);
                Ok(done)
            };
            let done = service.work(work).await;
            told(&service, id, done).await
        })
    }
}

/// An answer that is about to be recorded, and where.
type Begun = (Arc<Owner>, Recording<Done>);

/// Answers: a question that was just asked without a thread that waits, any other like everything else.
fn answer(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(id): Named<QuestionId>,
    Document(given): Document<Answer>,
) -> Reply {
    let begun = begin(&service, &caller, id, &given);
    match begun {
        Err(error) => Box::pin(async move { told(&service, id, Err(error.into())).await }),
        Ok(Some((owner, recording))) => Box::pin(async move {
            let done = service.record(owner, recording).await;
            let done = done.inspect(|done| note_answer(&service, done));
            told(&service, id, done).await
        }),
        Ok(None) => {
            answering(question::answer)(State(service), Extension(caller), Named(id), Document(given))
        }
    }
}

/// Hands a question to others.
fn pass(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(id): Named<QuestionId>,
    Document(given): Document<Passing>,
) -> Reply {
    Box::pin(async move {
        let done = service.work(move |service, owner| {
            let shown = seen(owner, &caller, id)?;
            let speaker = caller.answerer(owner, given.by().cloned())?;
            question::pass_on(owner, &shown, &speaker, &people_apart(service, owner, given)?)
        });
        let done = done.await;
        told(&service, id, done).await
    })
}

/// Returns what is to be recorded for an answer to a question that was just asked.
fn begin(
    service: &Service,
    caller: &Caller,
    id: QuestionId,
    given: &Answer,
) -> Result<Option<Begun>, Refusal> {
    let Some(owner) = service.premises.here() else { return Ok(None) };
    let shown = question::recent(&owner, id)?;
    let Some(shown) = shown.filter(|shown| caller.sees_questions_of(shown.asker.principal)) else {
        return Ok(None);
    };
    let speaker = caller.answerer(&owner, given.by.clone())?;
    let recording = question::answering(&owner, &shown, &speaker, given)?;
    Ok(recording.map(|recording| (owner, recording)))
}

/// Returns the handler of something that whoever asked does.
fn asking<T>(
    say: ByAsker<T>,
) -> impl Fn(State<Shared>, Extension<Caller>, Named<QuestionId>, Document<T>) -> Reply + Clone
where
    T: Said + DeserializeOwned + Send + Sync + 'static,
{
    move |State(service): State<Shared>,
          Extension(caller): Extension<Caller>,
          Named(id): Named<QuestionId>,
          Document(given): Document<T>| {
        Box::pin(async move {
            let done = service.work(move |_, owner| {
                let (shown, asker, by) = asker_of(owner, &caller, id, given.by().cloned())?;
                say(owner, &shown, asker, by, &given)
            });
            let done = done.await;
            told(&service, id, done).await
        })
    }
}

/// Returns what came of it; whoever was too late is told who was first.
async fn told(service: &Shared, id: QuestionId, done: Result<Done, Problem>) -> Result<Json<Done>, Problem> {
    match done {
        Ok(done) => Ok(Json(done)),
        Err(problem) if problem.code().is_late() => {
            let shown = service.work(move |_, owner| question::view(owner, id)).await;
            Err(problem.with_outcome(shown.ok().and_then(|shown| shown.outcome)))
        }
        Err(problem) => Err(problem),
    }
}

/// Notes how long a question waited for an answer that was given now.
pub(in crate::routes) fn note_answer(service: &Service, done: &Done) {
    let ending = done
        .question
        .outcome
        .as_ref()
        .filter(|ending| ending.state == OutcomeKind::Answered && !done.repeated);
    if let Some(ending) = ending {
        let millis = ending.time.as_millis().saturating_sub(done.question.asked.as_millis());
        service.metrics.answered_after(Duration::from_millis(millis).as_secs_f64());
    }
}

async fn deliver(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Document(given): Document<Deliveries>,
) -> Result<StatusCode, Problem> {
    // Nobody who is shown something waits for the record of it.
    if !service.premises.is_ready() {
        return Err(crate::premises::lent().into());
    }
    let delivered = service.work(move |_, owner| {
        let speaker = caller.answerer(owner, given.to.clone())?;
        for id in &*given.questions {
            seen(owner, &caller, *id)?;
            question::deliver(owner, *id, &speaker, &given.channel)?;
        }
        Ok(())
    });
    delivered.await.map(|()| StatusCode::NO_CONTENT)
}
