//! Questions as pages: the lists, and one question with everything about it.

mod history;
mod search;

use axum::{extract::State, response::Response};
use demur_api::{
    call::ApiRequest,
    key::{KeyEntry, Status},
    operation as op,
    person::PersonRole,
    question::{QuestionId, QuestionListParameters, QuestionView},
};
use demur_desk::access::Caller;
use demur_ledger::{
    content::Wording,
    facts::{AnswerKind, Assurance},
    question::OutcomeKind,
    role::Role,
};
use demur_web::{
    frame::{Frame, Here, Level},
    list::{Counts, Filters, ListPage, Searched, Which},
    question::{Card, Draft, Look, Notice, QuestionPage, VisitorRights},
    words::ENGLISH,
};
use hyper::{Method, StatusCode};
use serde::Deserialize;

use super::{ANSWERING, LOOKING, Visiting, confirmations, page};
use crate::{
    api::{Api, Route},
    problem::Problem,
    read::{Named, Parameters},
    service::Shared,
};

/// Adds the pages.
pub(super) fn add(api: Api) -> Api {
    api.with(Route::page(Method::GET, "/", LOOKING), list)
        .with(Route::page(Method::GET, "/questions/{question}", LOOKING), show)
}

#[derive(Clone, Debug, Default, Deserialize)]
struct ListParameters {
    list: Option<String>,
    q: Option<String>,
    severity: Option<String>,
    asker: Option<String>,
    trace: Option<String>,
    after: Option<String>,
    level: Option<String>,
}

impl ListParameters {
    fn filters(self) -> Filters {
        let text = |given: Option<String>| given.map(|text| text.trim().to_owned()).unwrap_or_default();
        let given = |given: Option<String>| given.filter(|text| !text.is_empty());
        Filters {
            list: Which::from_word(&text(self.list)),
            text: text(self.q),
            severity: text(self.severity),
            asker: text(self.asker),
            trace: given(self.trace),
            after: given(self.after),
        }
    }
}

async fn list(
    State(service): State<Shared>,
    visiting: Visiting,
    Parameters(parameters): Parameters<ListParameters>,
) -> Result<Response, Problem> {
    let level = level(&visiting, parameters.level.as_deref());
    let filters = parameters.filters();
    let frame = visiting.frame(filters.list.here());
    let (search, caller) = (search::read(&filters)?, visiting.caller.clone());
    let found = service
        .work(move |desk| Ok((desk.find_questions(&caller, &search)?, desk.question_counts(&caller)?)));
    let (found, counted) = found.await?;
    let frame = signing(&service, &visiting, frame, &found.questions).await?;
    let look = Look { now: service.desk.now()?, level, visitor: frame.visitor.as_ref(), whole: false };
    let cards = found.questions.iter().map(|question| Card::new(question, &look)).collect();
    let searched = filters.reads_words().then_some(Searched { read: found.read, more: found.next.is_some() });
    let after = found.next.map(|place| place.to_string());
    let confirmations = confirmations::waiting(&service, &visiting.caller).await?;
    let counts = Counts { confirmations, ..counts(&counted) };
    page(StatusCode::OK, &ListPage::new(&frame, &filters, level, counts, cards, searched, after.as_deref()))
}

/// Returns the frame of a list: whether somebody has a passkey is asked for only where that decides what is offered.
async fn signing(
    service: &Shared,
    visiting: &Visiting,
    frame: Frame,
    found: &[QuestionView],
) -> Result<Frame, Problem> {
    let most = frame.visitor.as_ref().map_or(Assurance::Passkey, |visitor| visitor.assurance);
    let decides = |question: &QuestionView| {
        question.is_open() && (question.assurance > most || question.kinds.contains(&AnswerKind::Secret))
    };
    if found.iter().any(decides) { visiting.signing_frame(service, frame.here).await } else { Ok(frame) }
}

fn counts(counted: &[(OutcomeKind, u64)]) -> Counts {
    let mut counts = Counts::default();
    for (outcome, count) in counted {
        match outcome {
            OutcomeKind::Open => counts.open += count,
            OutcomeKind::Answered
            | OutcomeKind::Accepted
            | OutcomeKind::Declined
            | OutcomeKind::Expired
            | OutcomeKind::Defaulted
            | OutcomeKind::Cancelled
            | OutcomeKind::Withdrawn => counts.done += count,
        }
    }
    counts
}

/// Returns the wording of a level, as the record names it.
pub(super) const fn wording(level: Level) -> Wording {
    match level {
        Level::Terse => Wording::Terse,
        Level::Normal => Wording::Normal,
        Level::Detailed => Wording::Detailed,
    }
}

/// Returns the wording that is wanted now, or that the visitor always wants.
fn level(visiting: &Visiting, word: Option<&str>) -> Level {
    let always = || visiting.frame(Here::Elsewhere).visitor.map(|visitor| visitor.level);
    word.and_then(Level::from_word).or_else(always).unwrap_or_default()
}

#[derive(Clone, Debug, Default, Deserialize)]
struct ShowParameters {
    level: Option<String>,
    sent: Option<String>,
}

async fn show(
    State(service): State<Shared>,
    visiting: Visiting,
    Named(id): Named<QuestionId>,
    Parameters(parameters): Parameters<ShowParameters>,
) -> Result<Response, Problem> {
    let level = level(&visiting, parameters.level.as_deref());
    let showing = Showing { id, level, draft: Draft::default(), sent: parameters.sent };
    question_page(&service, &visiting, showing, StatusCode::OK).await
}

/// What the page of a question shows.
pub(super) struct Showing {
    pub(super) id: QuestionId,
    pub(super) level: Level,
    /// What was typed before.
    pub(super) draft: Draft,
    /// What was just done.
    pub(super) sent: Option<String>,
}

/// Returns the page of a question.
pub(super) async fn question_page(
    service: &Shared,
    visiting: &Visiting,
    showing: Showing,
    status: StatusCode,
) -> Result<Response, Problem> {
    let Showing { id, level, draft, sent } = showing;
    let now = service.desk.now()?;
    let question = look_at(service, &visiting.caller, id).await?;
    let next = if sent.is_some() { next_waiting(service, &visiting.caller, id).await? } else { None };
    let names = names(service, &visiting.caller).await?;
    let request = ApiRequest::<op::ShowQuestionHistory>::get(op::OfQuestion { question: id }, op::Nothing {});
    let history = service.desk.call(&visiting.caller, request).await?.document;
    let frame = visiting.signing_frame(service, Here::Elsewhere).await?;
    let look = Look { now, level, visitor: frame.visitor.as_ref(), whole: true };
    let mut card = Card::new(&question, &look);
    card.draft = draft;
    let shown = QuestionPage {
        frame: &frame,
        card,
        notice: sent.and_then(|sent| sent_words(&sent, &question)).map(|words| Notice { words, next }),
        names,
        keys_may_answer: question.assurance == Assurance::Agent,
        rights: rights(&visiting.caller),
        history: history.events.iter().map(|event| history::happening(event, now)).collect(),
        history_is_cut: history.is_cut,
        rested: history.rested,
    };
    page(status, &shown)
}

fn rights(caller: &Caller) -> VisitorRights {
    match caller {
        Caller::Token(token) if token.role == Some(PersonRole::Operator) => VisitorRights::Operates,
        caller if caller.may(ANSWERING) => VisitorRights::Answers,
        _ => VisitorRights::Reads,
    }
}

/// Returns a question that a caller may see.
pub(super) async fn look_at(
    service: &Shared,
    caller: &Caller,
    question: QuestionId,
) -> Result<QuestionView, Problem> {
    let request = ApiRequest::<op::ShowQuestion>::get(op::OfQuestion { question }, op::Nothing {});
    Ok(service.desk.call(caller, request).await?.document)
}

/// Returns the oldest question that waits for people besides this one.
async fn next_waiting(
    service: &Shared,
    caller: &Caller,
    done: QuestionId,
) -> Result<Option<String>, Problem> {
    let query = QuestionListParameters {
        state: Some(OutcomeKind::Open.as_str().to_owned()),
        people: Some(true),
        limit: Some(2),
        ..QuestionListParameters::default()
    };
    let request = ApiRequest::<op::ListQuestions>::get(op::NoArguments {}, query);
    let waiting = service.desk.call(caller, request).await?.document.questions;
    Ok(waiting.iter().map(|waiting| waiting.id).find(|id| *id != done).map(|id| id.to_string()))
}

/// Returns the names of those who have a key for answering.
async fn names(service: &Shared, caller: &Caller) -> Result<Vec<String>, Problem> {
    let request = ApiRequest::<op::ListIdentities>::get(op::NoArguments {}, op::Nothing {});
    let listed = service.desk.call(caller, request).await?.document;
    let answers = |entry: &KeyEntry| entry.status == Status::Active && entry.roles.contains(&Role::Answerer);
    let mut names: Vec<String> =
        listed.identities.into_iter().filter(answers).map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// Returns what a page says about what was just done; nothing for a word that means nothing. Anybody can make a link: that
/// something is on record is said only of a question that is no longer open.
fn sent_words(sent: &str, question: &QuestionView) -> Option<&'static str> {
    let over = !question.is_open();
    Some(match sent {
        "answer" if over => ENGLISH.sent_answered,
        "replace" if over => ENGLISH.sent_replaced,
        "revoke" if !over => ENGLISH.sent_revoked,
        "accept" if over => ENGLISH.sent_accepted,
        "decline" if over => ENGLISH.sent_declined,
        "ask-back" if over => ENGLISH.sent_asked_back,
        "cancel" if over => ENGLISH.sent_cancelled,
        "ask-again" if !over => ENGLISH.sent_asked_again,
        "withdraw-plan" if over => ENGLISH.sent_withdrawn,
        "pass" => ENGLISH.sent_passed,
        "extend" => ENGLISH.sent_extended,
        "again" => ENGLISH.sent_again,
        _ => return None,
    })
}

/// Returns a question for a page that shows it and offers nothing.
pub(super) fn plain_card(service: &Shared, question: &QuestionView, level: Level) -> Result<Card, Problem> {
    let look = Look { now: service.desk.now()?, level, visitor: None, whole: true };
    Ok(Card::new(question, &look))
}

/// Returns the frame of a page that is about one question.
pub(super) fn frame_of(visiting: &Visiting) -> Frame {
    visiting.frame(Here::Elsewhere)
}
