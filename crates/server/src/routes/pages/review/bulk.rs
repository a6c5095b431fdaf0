//! Several questions at once: declined, confirmed or answered with the same words. Each is shown before and told about after;
//! what does not fit one question does not stop the others.

use axum::{extract::State, response::Response};
use demur_api::{
    question::{Done, QuestionId, QuestionView, typed},
    refusal::Refusal,
};
use demur_core::limit::Text;
use demur_desk::access::Caller;
use demur_ledger::facts::{AnswerKind, Severity};
use demur_web::{
    bulk::{BulkFields, BulkItem, BulkResult, BulkReview},
    frame::{Here, Level, Visitor},
    passkey::Sending,
    question::{Closed, value_words},
    text::{self, Writer},
    words::ENGLISH,
};
use hyper::{Method, StatusCode};

use super::{Doing, intent::Intent, signed};
use crate::{
    api::{Api, Route},
    problem::Problem,
    routes::pages::{
        ANSWERING, Form, Visiting, page,
        questions::{frame_of, look_at, plain_card, wording},
    },
    service::Shared,
};

/// Adds the pages.
pub(super) fn add(api: Api) -> Api {
    api.with(Route::page(Method::POST, "/review", ANSWERING), review)
        .with(Route::page(Method::POST, "/bulk", ANSWERING), perform)
}

/// What a form asks for.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) ids: Vec<QuestionId>,
    fields: BulkFields,
    pub(super) level: Level,
}

/// One of the questions, and what is to be done about it.
pub(super) struct Chosen {
    id: QuestionId,
    pub(super) question: Option<QuestionView>,
    pub(super) intent: Result<Intent, String>,
}

impl Chosen {
    fn sending(&self, visitor: Option<&Visitor>) -> Option<Sending> {
        let (intent, question) = (self.intent.as_ref().ok()?, self.question.as_ref()?);
        Some(signed::sending(visitor, intent, question))
    }
}

impl Wanted {
    pub(super) fn read(form: &Form) -> Self {
        let field = |name| form.one(name).unwrap_or_default();
        let mut ids: Vec<QuestionId> = form.all("question").filter_map(|id| id.parse().ok()).collect();
        ids.sort_unstable();
        ids.dedup();
        let act = form.one("act").unwrap_or_else(|| BulkFields::default().act);
        let level = Level::from_word(&field("level")).unwrap_or_default();
        Self { ids, fields: BulkFields { act, value: field("value"), reason: field("reason") }, level }
    }

    /// Returns what is wrong before any question is looked at.
    pub(super) fn wrong(&self) -> Option<&'static str> {
        match self.ids.len() {
            0 => Some(ENGLISH.bulk_none),
            1..=MAX_QUESTIONS => match self.fields.act.as_str() {
                "answer" if self.fields.value.trim().is_empty() => Some(ENGLISH.wrong_empty),
                "answer" | "accept" | "decline" => None,
                _ => Some(ENGLISH.wrong_act),
            },
            _ => Some(ENGLISH.bulk_many),
        }
    }

    fn what(&self) -> &'static str {
        match self.fields.act.as_str() {
            "answer" => ENGLISH.act_answer,
            "accept" => ENGLISH.act_accept,
            _ => ENGLISH.act_decline,
        }
    }

    pub(super) async fn choose(&self, service: &Shared, caller: &Caller) -> Vec<Chosen> {
        let mut all = Vec::new();
        for id in self.ids.iter().take(MAX_QUESTIONS).copied() {
            all.push(match look_at(service, caller, id).await {
                Ok(question) => Chosen { id, intent: self.intent(&question), question: Some(question) },
                Err(problem) => Chosen { id, question: None, intent: Err(problem.refusal().to_string()) },
            });
        }
        all
    }

    fn intent(&self, question: &QuestionView) -> Result<Intent, String> {
        let reason = self.fields.reason.trim();
        let reason = (!reason.is_empty()).then(|| Text::try_from(reason)).transpose();
        let reason = reason.map_err(|error| error.to_string())?;
        match self.fields.act.as_str() {
            "answer" if question.kinds.contains(&AnswerKind::Secret) => {
                Err(ENGLISH.bulk_not_secret.to_owned())
            }
            "answer" => typed(&question.kinds, &question.choices, &self.fields.value)
                .map(|value| Intent::Answer { value, note: reason })
                .map_err(|error| error.to_string()),
            "accept" if question.gap.is_some() && question.severity == Severity::Warn => {
                Ok(Intent::Accept { note: reason })
            }
            "accept" => Err(ENGLISH.bulk_not_accept.to_owned()),
            _ => Ok(Intent::Decline { reason }),
        }
    }
}

/// Shows what will happen to each. Nothing changes, so it needs no key.
async fn review(State(service): State<Shared>, visiting: Visiting, form: Form) -> Result<Response, Problem> {
    let goes_back = form.one("back").is_some();
    show(&service, &visiting, Wanted::read(&form), goes_back, None).await
}

async fn show(
    service: &Shared,
    visiting: &Visiting,
    wanted: Wanted,
    goes_back: bool,
    warning: Option<&'static str>,
) -> Result<Response, Problem> {
    let frame = visiting.signing_frame(service, Here::Elsewhere).await?;
    let chosen = wanted.choose(service, &visiting.caller).await;
    let sending = sending(frame.visitor.as_ref(), &chosen);
    let items = chosen.iter().map(|chosen| item(service, chosen, wanted.level, frame.visitor.as_ref()));
    let items = items.collect::<Result<Vec<_>, Problem>>()?;
    let misfits = items.iter().any(|item| item.problem.is_some());
    let wrong = wanted.wrong().or_else(|| misfits.then_some(ENGLISH.bulk_misfits));
    let name = frame.visitor.as_ref().map_or("", |visitor| visitor.name.as_str());
    let said = if wanted.fields.is("answer") { &wanted.fields.value } else { &wanted.fields.reason };
    let said = Some(said.trim()).filter(|said| !said.is_empty());
    let status = match (goes_back, wrong, warning) {
        (true, ..) | (_, None, None) => StatusCode::OK,
        (_, Some(_), _) => StatusCode::UNPROCESSABLE_ENTITY,
        (_, None, Some(_)) => StatusCode::FORBIDDEN,
    };
    let shown = BulkReview {
        frame: &frame,
        what: wanted.what(),
        words: said.map(|said| text::block(said, None, &Writer::Named(name))),
        items,
        editing: goes_back || wrong.is_some(),
        wrong: wrong.filter(|_| !goes_back).or(warning),
        bulk: wanted.fields,
        sending,
        level: wanted.level,
    };
    page(status, &shown)
}

/// Returns how all of them can be sent: signed, as soon as one has to be.
fn sending(visitor: Option<&Visitor>, chosen: &[Chosen]) -> Sending {
    let each = chosen.iter().filter_map(|chosen| chosen.sending(visitor));
    let most = each.max_by_key(|sending| match sending {
        Sending::Missing | Sending::Plain => 0,
        Sending::Either => 1,
        Sending::Signed => 2,
    });
    most.unwrap_or(Sending::Plain)
}

fn item(
    service: &Shared,
    chosen: &Chosen,
    level: Level,
    visitor: Option<&Visitor>,
) -> Result<BulkItem, Problem> {
    let question = chosen.question.as_ref();
    let closed = question.is_some_and(|question| !question.is_open());
    let shown = match (&chosen.intent, question) {
        (Ok(Intent::Answer { value, .. }), Some(question)) => Some(value_words(question, value)),
        _ => None,
    };
    let problem = match &chosen.intent {
        _ if closed => Some(ENGLISH.bulk_closed.to_owned()),
        Ok(_) if chosen.sending(visitor) == Some(Sending::Missing) => Some(ENGLISH.bulk_missing.to_owned()),
        Ok(_) => None,
        Err(problem) => Some(problem.clone()),
    };
    let card = question.map(|question| plain_card(service, question, level)).transpose()?;
    Ok(BulkItem { id: chosen.id.to_string(), card, shown, problem })
}

/// Does what a review showed, one after the other.
async fn perform(State(service): State<Shared>, visiting: Visiting, form: Form) -> Result<Response, Problem> {
    let wanted = Wanted::read(&form);
    if form.check_key().is_err() || wanted.wrong().is_some() {
        return show(&service, &visiting, wanted, false, Some(ENGLISH.form_stale)).await;
    }
    let (caller, level) = (visiting.caller.clone(), wanted.level);
    let chosen = wanted.choose(&service, &caller).await;
    let done = service.work(move |desk| {
        let perform = |chosen: Chosen| {
            let became = chosen.intent.and_then(|intent| {
                let question = chosen.question.clone().ok_or_else(|| ENGLISH.late_gone.to_owned())?;
                let doing = Doing { question, intent, wording: wording(level), until: None };
                doing.perform(desk, &caller).map_err(|error| refusal(&error))
            });
            (chosen.id, chosen.question, became)
        };
        Ok(chosen.into_iter().map(perform).collect::<Vec<_>>())
    });
    let now = service.desk.now()?;
    let items = done.await?.into_iter().map(|(id, question, became)| {
        let card = question.map(|question| plain_card(&service, &question, level)).transpose()?;
        let (shown, problem) = match became {
            Ok(done) => told(&done, now),
            Err(problem) => (None, Some(problem)),
        };
        Ok(BulkItem { id: id.to_string(), card, shown, problem })
    });
    let items = items.collect::<Result<Vec<_>, Problem>>()?;
    page(StatusCode::OK, &BulkResult::new(&frame_of(&visiting), items))
}

/// Returns what became of a question, or why it is still open.
fn told(done: &Done, now: demur_core::time::Timestamp) -> (Option<text::Html>, Option<String>) {
    if let Some(why) = &done.unsettled {
        return (None, Some(format!("{} {why}", ENGLISH.unsettled_meaning)));
    }
    let ending = done.question.outcome.as_ref();
    let word = ending.map_or(ENGLISH.is_open, |ending| Closed::new(&done.question, ending, now).word);
    let again = if done.repeated { format!(". {}", ENGLISH.sent_again) } else { String::new() };
    (Some(text::line(&format!("{word}{again}"))), None)
}

fn refusal(error: &Refusal) -> String {
    error.cure.as_ref().map_or_else(|| error.to_string(), |cure| format!("{error}; {cure}"))
}

/// How many questions at once.
const MAX_QUESTIONS: usize = 100;
