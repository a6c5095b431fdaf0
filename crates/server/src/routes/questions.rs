//! Questions over HTTP: asked, listed, waited for, answered, declined, passed on, extended, cancelled (ONE-01, ONE-02,
//! CLR-03, CLR-04).

mod acts;
mod once;
mod passing;

pub(super) use acts::note_answer;
pub(super) use passing::people_apart;

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use demur_api::{
    code::Code,
    operation,
    person::PersonRole,
    question::{
        Ask, AskParameters, AskedView, Delivered, Listed, QuestionId, QuestionListParameters, QuestionView,
        WaitParameters,
    },
    refusal::Refusal,
    scope::Scope,
};
use demur_core::limit::Text;
use demur_desk::{
    owner::Owner,
    question::{self, Asked},
    run,
};
use demur_ledger::{
    author::Author,
    event_type::TraceKind,
    name::{PrincipalId, TraceId},
    question::OutcomeKind,
    role::Role,
};
use demur_store::contract::QuestionFilter;
use hyper::{HeaderMap, StatusCode};
use tokio::time;

use self::once::Repeating;
use super::check_trace;
use crate::{
    api::{self, Api, Operation},
    caller::Caller,
    notices::Watch,
    problem::Problem,
    read::{Document, Named, Parameters, idempotency_key},
    service::Shared,
};

/// Adds the operations.
pub(super) fn add(api: Api) -> Api {
    once::add(add_secret(acts::add(add_asking(api))))
}

fn add_asking(api: Api) -> Api {
    api.with(Operation::of::<operation::Ask>(), ask)
        .with(Operation::of::<operation::ListQuestions>(), list)
        .with(Operation::of::<operation::ShowQuestion>(), show)
        .with(Operation::of::<operation::WaitForQuestion>(), wait)
}

fn add_secret(api: Api) -> Api {
    api.with(Operation::of::<operation::ReadSecret>(), secret)
        .with(Operation::of::<operation::ForgetSecret>(), forget)
}

async fn ask(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Parameters(parameters): Parameters<AskParameters>,
    headers: HeaderMap,
    Document(ask): Document<Ask>,
) -> Result<Response, Problem> {
    let key = idempotency_key(&headers)?;
    let seconds = seconds(parameters.wait.unwrap_or(0))?;
    let name = parameters.asker.map(|name| Text::<1, 64>::try_from(name.as_str())).transpose();
    let name = name.map_err(|error| Problem::malformed(format!("as: {error}")))?;
    let once = once::repeating(parameters.once, parameters.again, key.is_some())?;
    let is_once = once.is_some();
    let Asked { id, repeated } = record(&service, caller.clone(), name, ask, (once, key)).await?;
    let shown = match seconds {
        Duration::ZERO => look(&service, &caller, id).await?,
        seconds => until_closed(&service, id, caller, seconds).await?,
    };
    let status = if repeated { StatusCode::OK } else { StatusCode::CREATED };
    // A request that is sent again under its key gets the same bytes.
    let repeated = is_once.then_some(repeated);
    Ok((status, Json(AskedView { question: shown, repeated })).into_response())
}

async fn record(
    service: &Shared,
    caller: Caller,
    name: Option<Text<1, 64>>,
    ask: Ask,
    (once, key): (Option<Repeating>, Option<String>),
) -> Result<Asked, Problem> {
    // A new trace, by somebody whose key is there: nothing has to be looked up.
    if let (Caller::Token(_), None, None, None) = (&caller, ask.trace, &key, &once)
        && let Some(owner) = service.premises.here()
    {
        let author = caller.asker(&owner, name.as_deref())?;
        let recording = question::asking(&owner, &author, &ask)?;
        return service.record(owner, recording).await;
    }
    let recorded = service.work(move |_, owner| {
        // What is refused in a trace may be recorded there: strangers to it leave no mark.
        ask.trace.map_or(Ok(()), |trace| check_trace(owner, &caller, trace))?;
        let author = match ask.trace {
            Some(trace) if is_run(owner, trace)? => player_in(owner, &caller, trace, name.as_deref())?,
            _ => caller.asker(owner, name.as_deref())?,
        };
        match once {
            None => question::ask(owner, &author, &ask, key.as_deref()),
            Some(once) => question::ask_once(owner, &author, &ask, once.under(key.as_deref())),
        }
    });
    recorded.await
}

fn is_run(owner: &Owner, trace: TraceId) -> Result<bool, Refusal> {
    let found = owner.ledger().store().trace(trace)?;
    Ok(found.is_some_and(|summary| summary.kind == TraceKind::Run))
}

/// Returns whoever asks in a run: the caller in its role there. Of several, whoever does the work asks first.
fn player_in(
    owner: &Owner,
    caller: &Caller,
    trace: TraceId,
    name: Option<&str>,
) -> Result<Arc<Author>, Refusal> {
    let player = caller.player(owner, name)?;
    let state = owner.ledger().look(trace)?;
    let seats = run::seats(owner, &player)?;
    let plays = |role: Role| {
        let mut own = seats.iter().filter(|(seat, _)| *seat == role);
        own.any(|(_, principal)| state.trace().is_some_and(|state| state.has_participant(*principal)))
    };
    let first = [Role::Executor, Role::Planner, Role::Critic, Role::Auditor];
    run::author(owner, &player, first.into_iter().find(|role| plays(*role)).unwrap_or(Role::Executor))
}

async fn list(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Parameters(parameters): Parameters<QuestionListParameters>,
) -> Result<Json<Listed>, Problem> {
    let limit = parameters.limit.unwrap_or(50);
    if !(1..=200).contains(&limit) {
        return Err(Problem::malformed(format!("limit: expected 1 to 200, found {limit}")));
    }
    let mut filter = QuestionFilter {
        outcomes: parameters.state.as_deref().map(states).transpose()?,
        trace: parameters.trace,
        asker: own_only(&caller),
        severity: parameters.severity,
        people: parameters.people,
        newest_first: parameters.newest.unwrap_or(false),
    };
    let page = service.work(move |_, owner| {
        // Whoever takes part in a trace sees every question in it, also those of the rules.
        if filter.trace.is_some_and(|trace| check_trace(owner, &caller, trace).is_ok()) {
            filter.asker = None;
        }
        if parameters.mine == Some(true) {
            let askers = caller.askers(owner)?;
            return question::list_of(owner, &askers, &filter, parameters.after.as_deref(), limit);
        }
        question::list(owner, &filter, parameters.after.as_deref(), limit)
    });
    let mut page = page.await?;
    page.questions.iter_mut().for_each(|shown| service.notices.tell(shown));
    Ok(Json(page))
}

/// Whoever only asks sees only what it asked.
fn own_only(caller: &Caller) -> Option<PrincipalId> {
    match caller {
        Caller::Token(token) if !caller.may(&[Scope::Answer, Scope::Relay, Scope::Read]) => token.principal,
        Caller::Local { .. } | Caller::Token(_) | Caller::Stranger => None,
    }
}

fn states(words: &str) -> Result<Vec<OutcomeKind>, Problem> {
    let state = |word: &str| {
        OutcomeKind::ALL.into_iter().find(|kind| kind.as_str() == word).ok_or_else(|| {
            let known: Vec<_> = OutcomeKind::ALL.iter().map(|kind| kind.as_str()).collect();
            Problem::malformed(format!("state: expected {}, found another word", known.join(", ")))
        })
    };
    words.split(',').map(state).collect()
}

async fn show(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(id): Named<QuestionId>,
) -> Result<Json<QuestionView>, Problem> {
    let mut shown = look(&service, &caller, id).await?;
    service.notices.tell(&mut shown);
    Ok(Json(shown))
}

async fn wait(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(id): Named<QuestionId>,
    Parameters(parameters): Parameters<WaitParameters>,
) -> Result<Json<QuestionView>, Problem> {
    let seconds = seconds(parameters.seconds.unwrap_or(30))?;
    Ok(Json(until_closed(&service, id, caller, seconds).await?))
}

async fn secret(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(id): Named<QuestionId>,
) -> Result<Json<Delivered>, Problem> {
    let found = service.work(move |_, owner| {
        asker_of(owner, &caller, id, None)?;
        question::secret(owner, id)
    });
    Ok(Json(found.await?))
}

async fn forget(
    State(service): State<Shared>,
    Extension(caller): Extension<Caller>,
    Named(id): Named<QuestionId>,
) -> Result<StatusCode, Problem> {
    let forgotten = service.work(move |_, owner| {
        asker_of(owner, &caller, id, None)?;
        question::forget_secret(owner, id)
    });
    forgotten.await.map(|()| StatusCode::NO_CONTENT)
}

/// Returns a question that this caller may see: what was just recorded at once, the rest on a thread that may wait.
async fn look(service: &Shared, caller: &Caller, id: QuestionId) -> Result<QuestionView, Problem> {
    if let Some(owner) = service.premises.here()
        && let Some(shown) = question::recent(&owner, id)?
        && caller.sees_questions_of(shown.asker.principal)
    {
        return Ok(shown);
    }
    let caller = caller.clone();
    service.work(move |_, owner| seen(owner, &caller, id)).await
}

/// Returns the question, if this caller may see it.
pub(super) fn seen(owner: &Owner, caller: &Caller, id: QuestionId) -> Result<QuestionView, Refusal> {
    let shown = question::view(owner, id)?;
    if caller.sees_questions_of(shown.asker.principal) || check_trace(owner, caller, id.trace).is_ok() {
        return Ok(shown);
    }
    let message = format!("expected a question of this data folder, found none called {id}");
    Err(Refusal::new(Code::QuestionUnknown, message).with_cure("a token sees what it asked or may answer"))
}

/// Returns a question and whoever asked it, if this caller speaks for that one, and who the caller says wanted it.
fn asker_of(
    owner: &Owner,
    caller: &Caller,
    id: QuestionId,
    by: Option<Text<1, 256>>,
) -> Result<(QuestionView, Arc<Author>, Option<Text<1, 256>>), Refusal> {
    let shown = seen(owner, caller, id)?;
    let asker = shown.asker.principal;
    let by = match caller {
        // A client speaks for whoever asks under its name, and for nobody else.
        Caller::Local { client: Some(_), .. } if !is_client(owner, caller, &shown)? => {
            return Err(other());
        }
        // What a client does is its own act, signed with its key: its user has not said anything.
        Caller::Local { client: Some(_), .. } => None,
        Caller::Local { name, .. } => by.or_else(|| Some(name.clone())),
        caller if caller.is(asker) || plays_as(owner, caller, asker)? => None,
        Caller::Token(_) | Caller::Stranger => return Err(other()),
    };
    Ok((shown, owner.author_of(asker)?, by))
}

fn is_client(owner: &Owner, caller: &Caller, shown: &QuestionView) -> Result<bool, Refusal> {
    Ok(caller.client() == Some(&shown.asker.name) || plays_as(owner, caller, shown.asker.principal)?)
}

/// Returns whether the caller is this one in some run.
fn plays_as(owner: &Owner, caller: &Caller, asker: PrincipalId) -> Result<bool, Refusal> {
    Ok(caller.seats(owner)?.iter().any(|(_, principal)| *principal == asker))
}

/// Returns whoever asked, for a person at the inbox who speaks in that one's name: more time may have whoever may answer,
/// calling off is for operators. The record names the person.
pub(super) fn asker_for(
    owner: &Owner,
    caller: &Caller,
    question: &QuestionView,
    needed: PersonRole,
) -> Result<(Arc<Author>, Text<1, 256>), Refusal> {
    let Caller::Token(token) = caller else {
        return Err(Refusal::new(Code::Forbidden, "expected a person who is signed in, found somebody else"));
    };
    let may = token.role == Some(PersonRole::Operator) || token.role == Some(needed);
    if !may || !token.scopes.contains(&Scope::Person) || !question.people {
        let message = "expected somebody who may do this in the asker's name, found somebody else";
        return Err(Refusal::new(Code::Forbidden, message));
    }
    Ok((owner.author_of(question.asker.principal)?, Text::try_from(token.name.as_str())?))
}

fn other() -> Refusal {
    Refusal::new(Code::Forbidden, "expected whoever asked, found somebody else")
}

/// Returns the question once it is no longer open, or as it stands when the time is over.
async fn until_closed(
    service: &Shared,
    id: QuestionId,
    caller: Caller,
    patience: Duration,
) -> Result<QuestionView, Problem> {
    let watch = service.notices.watch(id);
    let shown = watched(service, &watch, id, caller, patience).await;
    watch.end();
    shown
}

async fn watched(
    service: &Shared,
    watch: &Watch,
    id: QuestionId,
    caller: Caller,
    patience: Duration,
) -> Result<QuestionView, Problem> {
    let until = time::Instant::now() + patience;
    loop {
        // Listening before looking: nothing that happens in between is missed.
        let mut told = std::pin::pin!(watch.notify().notified());
        told.as_mut().enable();
        if !service.is_good(&caller) {
            return Err(api::stranger());
        }
        let shown = look(service, &caller, id).await?;
        if !shown.is_open() {
            return Ok(shown);
        }
        if caller.waits_as(&shown.asker) {
            watch.is_of_asker();
        }
        tokio::select! {
            () = told => {}
            () = time::sleep_until(until) => return Ok(shown),
            () = service.stopping() => {
                return Err(Problem::new(Code::Stopping, "the server is about to end")
                    .with_cure("the question stays open: wait again"));
            }
        }
    }
}

fn seconds(wanted: u64) -> Result<Duration, Problem> {
    if wanted <= 300 {
        Ok(Duration::from_secs(wanted))
    } else {
        Err(Problem::malformed(format!("expected at most 300 seconds, found {wanted}")))
    }
}
