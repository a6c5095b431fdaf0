//! Questions as pages: the lists, and one question with everything about it. Whoever may answer and was shown a question is
//! on record.

mod history;
mod search;
mod shown;

pub(super) use shown::wording;

use axum::{extract::State, response::Response};
use demur_api::{
    key::Status,
    person::PersonRole,
    question::{QuestionId, QuestionView},
    refusal::Refusal,
};
use demur_desk::{
    access::{Caller, seen_question},
    owner::Owner,
};
use demur_ledger::{facts::Assurance, question::OutcomeKind, role::Role};
use demur_web::{
    frame::{Frame, Here, Level},
    list::{Counts, Filters, ListPage, Searched, Which},
    question::{Card, Draft, Look, Notice, QuestionPage},
    words::ENGLISH,
};
use hyper::{Method, StatusCode};
use serde::Deserialize;

use super::{LOOKING, Visiting, page};
use crate::{
    api::{Api, Operation},
    problem::Problem,
    read::{Named, Parameters},
    service::Shared,
};

/// Adds the pages.
pub(super) fn add(api: Api) -> Api {
    api.with(Operation::page(Method::GET, "/", LOOKING), list)
        .with(Operation::page(Method::GET, "/questions/{question}", LOOKING), show)
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
    let wanted = search::Wanted::read(&filters)?;
    let (mut found, counts) =
        service.work(move |_, owner| Ok((search::find(owner, &wanted)?, counts(owner)?))).await?;
    found.questions.iter_mut().for_each(|question| service.desk.waiters().tell(question));
    shown::note(&service, &visiting.caller, &found.questions, level);
    let look = Look { now: service.desk.now()?, level, visitor: frame.visitor.as_ref(), whole: false };
    let cards = found.questions.iter().map(|question| Card::new(question, &look)).collect();
    let searched = filters.reads_words().then_some(Searched { read: found.read, more: found.next.is_some() });
    let after = found.next.as_deref();
    page(StatusCode::OK, &ListPage::new(&frame, &filters, level, counts, cards, searched, after))
}

fn counts(owner: &Owner) -> Result<Counts, Refusal> {
    let mut counts = Counts::default();
    for (outcome, count) in owner.ledger().store().question_counts()? {
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
    Ok(counts)
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

/// Everything that the page of a question needs from the desk.
struct Gathered {
    question: QuestionView,
    history: history::History,
    names: Vec<String>,
    next: Option<String>,
}

/// Returns the page of a question.
pub(super) async fn question_page(
    service: &Shared,
    visiting: &Visiting,
    showing: Showing,
    status: StatusCode,
) -> Result<Response, Problem> {
    let Showing { id, level, draft, sent } = showing;
    let (caller, now, was_sent) = (visiting.caller.clone(), service.desk.now()?, sent.is_some());
    let gathered = service.work(move |_, owner| {
        let question = seen_question(owner, &caller, id)?;
        let next = if was_sent { search::next_waiting(owner, id)? } else { None };
        let history = history::of(owner, id, now)?;
        Ok(Gathered { names: names(owner)?, question, history, next })
    });
    let Gathered { mut question, history, names, next } = gathered.await?;
    service.desk.waiters().tell(&mut question);
    shown::note(service, &visiting.caller, std::slice::from_ref(&question), level);
    let frame = frame_of(visiting);
    let look = Look { now, level, visitor: frame.visitor.as_ref(), whole: true };
    let mut card = Card::new(&question, &look);
    card.draft = draft;
    let shown = QuestionPage {
        frame: &frame,
        card,
        notice: sent.and_then(|sent| sent_words(&sent, &question)).map(|words| Notice { words, next }),
        names,
        keys_may_answer: question.assurance == Assurance::Agent,
        may_cancel: may_cancel(&visiting.caller),
        history: history.happenings,
        history_is_cut: history.is_cut,
    };
    page(status, &shown)
}

fn may_cancel(caller: &Caller) -> bool {
    matches!(caller, Caller::Token(token) if token.role == Some(PersonRole::Operator))
}

/// Returns the names of those who have a key for answering.
fn names(owner: &Owner) -> Result<Vec<String>, Refusal> {
    let entries = owner.entries()?.into_iter();
    let answers =
        entries.filter(|entry| entry.status == Status::Active && entry.roles.contains(&Role::Answerer));
    let mut names: Vec<String> = answers.map(|entry| entry.name).collect();
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
        "accept" if over => ENGLISH.sent_accepted,
        "decline" if over => ENGLISH.sent_declined,
        "ask-back" if over => ENGLISH.sent_asked_back,
        "cancel" if over => ENGLISH.sent_cancelled,
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
