//! From a form to an event: what was filled in is shown once more, and only what is sent from there is done. The same with
//! and without a script. Nothing that was typed is lost: not by an error, not by an old page, not by coming too late.

mod bulk;
mod intent;
mod signed;

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use demur_api::{
    question::{
        Act, Answer, Done, Extension, Passing, QuestionId, QuestionView, Replacement, RevokeParameters,
    },
    refusal::Refusal,
};
use demur_desk::{access::Caller, desk::Desk, question::PersonalAct};
use demur_ledger::{content::Wording, question::OutcomeKind};
use demur_web::{
    frame::{Here, Level},
    review::{Late, Review},
    words::ENGLISH,
};
use hyper::{Method, StatusCode, header};
use zeroize::Zeroizing;

pub(super) use self::signed::{several_signed, signed};

use self::intent::{Intent, carried, draft};
use super::{
    ANSWERING, Form, Visiting, page,
    questions::{Showing, frame_of, look_at, plain_card, question_page, wording},
};
use crate::{
    api::{Api, Route},
    problem::Problem,
    read::Named,
    service::Shared,
};

/// Adds the pages.
pub(super) fn add(api: Api) -> Api {
    let api = bulk::add(api);
    api.with(Route::page(Method::POST, "/questions/{question}/review", ANSWERING), review)
        .with(Route::page(Method::POST, "/questions/{question}/{act}", ANSWERING), act)
}

/// Shows what will be sent. Nothing changes, so it needs no key.
async fn review(
    State(service): State<Shared>,
    visiting: Visiting,
    Named(id): Named<QuestionId>,
    form: Form,
) -> Result<Response, Problem> {
    let act = form.one("act").unwrap_or_default();
    let asked = Asked { service: &service, visiting: &visiting, id, act: &act, form: &form };
    if form.one("back").is_some() {
        return asked.form_again(None, StatusCode::OK).await;
    }
    asked.review(None, StatusCode::OK).await
}

/// Does what a review showed.
async fn act(
    State(service): State<Shared>,
    visiting: Visiting,
    Named((id, act)): Named<(QuestionId, String)>,
    form: Form,
) -> Result<Response, Problem> {
    let asked = Asked { service: &service, visiting: &visiting, id, act: &act, form: &form };
    if form.check_key().is_err() {
        // Of an older session, or of nobody: whoever looks at it now sends it knowingly or not at all.
        return asked.review(Some(ENGLISH.form_stale), StatusCode::FORBIDDEN).await;
    }
    asked.perform().await
}

/// Something that is asked for by a form.
struct Asked<'a> {
    service: &'a Shared,
    visiting: &'a Visiting,
    id: QuestionId,
    act: &'a str,
    form: &'a Form,
}

impl Asked<'_> {
    fn level(&self) -> Level {
        self.form.one("level").and_then(|word| Level::from_word(&word)).unwrap_or_default()
    }

    async fn question(&self) -> Result<QuestionView, Problem> {
        look_at(self.service, &self.visiting.caller, self.id).await
    }

    /// Returns the page that shows what will be sent.
    async fn review(&self, warning: Option<&str>, status: StatusCode) -> Result<Response, Problem> {
        if self.form.one("secret").map(Zeroizing::new).is_some() {
            let status = if status.is_success() { StatusCode::UNPROCESSABLE_ENTITY } else { status };
            return self.form_again(Some(intent::typed_again()), status).await;
        }
        let question = match self.question().await {
            Ok(question) => question,
            Err(problem) => return self.refused(&problem, None),
        };
        // What was declined or is past its time blocks until it is called off.
        let can_be_called_off =
            matches!(self.act, "cancel" | "ask-again" | "withdraw-plan") && question.state.is_left();
        let changes_answer = matches!(self.act, "replace" | "revoke");
        if changes_answer && question.is_open() {
            return self.form_again(None, StatusCode::CONFLICT).await;
        }
        let can_be_changed = changes_answer && question.state == OutcomeKind::Answered;
        if !question.is_open() && !can_be_called_off && !can_be_changed {
            return self.late(&question);
        }
        let intent = match Intent::read(self.act, self.form, &question) {
            Ok(intent) => intent,
            Err(wrong) => return self.form_again(Some(wrong), StatusCode::UNPROCESSABLE_ENTITY).await,
        };
        let frame = self.visiting.signing_frame(self.service, Here::Elsewhere).await?;
        let name = frame.visitor.as_ref().map_or("", |visitor| visitor.name.as_str());
        let (shown, recorded) = intent.shown(&question);
        let mut hidden = carried(self.form);
        if let (Intent::Extend { .. }, Some(deadline)) = (&intent, question.deadline) {
            // So that sending it twice gives more time once.
            hidden.retain(|(name, _)| *name != "until");
            hidden.push(("until", deadline.to_string()));
        }
        let shown = Review {
            frame: &frame,
            card: plain_card(self.service, &question, self.level())?,
            warning,
            act: intent.act(),
            what: intent.what(),
            shown,
            recorded,
            words: intent.words(&question, name),
            consequence: intent.consequence(),
            sending: signed::sending(frame.visitor.as_ref(), &intent, &question),
            hidden,
            note: intent.takes_note().then(|| self.form.one("note").unwrap_or_default()),
        };
        page(status, &shown)
    }

    /// Returns the question's page with what was typed, and what is wrong with it.
    async fn form_again(
        &self,
        wrong: Option<demur_web::question::Wrong>,
        status: StatusCode,
    ) -> Result<Response, Problem> {
        let draft = draft(self.act, self.form, wrong);
        let showing = Showing { id: self.id, level: self.level(), draft, sent: None };
        question_page(self.service, self.visiting, showing, status).await
    }

    /// Does it.
    async fn perform(&self) -> Result<Response, Problem> {
        let question = match self.question().await {
            Ok(question) => question,
            Err(problem) => return self.refused(&problem, None),
        };
        let intent = match Intent::read(self.act, self.form, &question) {
            Ok(intent) => intent,
            Err(wrong) => return self.form_again(Some(wrong), StatusCode::UNPROCESSABLE_ENTITY).await,
        };
        let (caller, level, until) = (self.visiting.caller.clone(), self.level(), self.form.one("until"));
        let doing = Doing { question, intent: intent.clone(), wording: wording(level), until };
        let done = self.service.work(move |desk| doing.perform(desk, &caller)).await;
        match done {
            Ok(Done { unsettled: Some(why), .. }) => self.unsettled(&why),
            Ok(Done { repeated: true, .. }) => Ok(self.go_on("again")),
            Ok(_) => Ok(self.go_on(intent.act())),
            Err(problem) => match self.question().await {
                Ok(question) if is_late(&intent, &problem, &question) => self.late(&question),
                Ok(question) => self.refused(&problem, Some(&question)),
                Err(_) => self.refused(&problem, None),
            },
        }
    }

    fn go_on(&self, sent: &str) -> Response {
        let place = format!("/questions/{}?sent={sent}", self.id);
        (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response()
    }

    /// Says who was first, when and how, and gives back what was typed (ONE-02).
    fn late(&self, question: &QuestionView) -> Result<Response, Problem> {
        let frame = frame_of(self.visiting);
        let shown = Late {
            frame: &frame,
            title: frame.words.late_title,
            card: Some(plain_card(self.service, question, self.level())?),
            detail: Some(frame.words.settled_already),
            kept: draft(self.act, self.form, None).words(),
        };
        page(StatusCode::CONFLICT, &shown)
    }

    /// Says why it was refused, and gives back what was typed.
    fn refused(&self, problem: &Problem, question: Option<&QuestionView>) -> Result<Response, Problem> {
        let frame = frame_of(self.visiting);
        let gone = problem.status() == StatusCode::NOT_FOUND;
        let refusal = problem.refusal();
        let detail = match (gone, &refusal.cure) {
            (true, _) => frame.words.late_gone.to_owned(),
            (false, Some(cure)) => format!("{refusal}; {cure}"),
            (false, None) => refusal.message.clone(),
        };
        let shown = Late {
            frame: &frame,
            title: frame.words.problem,
            card: question.map(|question| plain_card(self.service, question, self.level())).transpose()?,
            detail: Some(&detail),
            kept: draft(self.act, self.form, None).words(),
        };
        page(problem.status(), &shown)
    }

    fn unsettled(&self, why: &str) -> Result<Response, Problem> {
        let frame = frame_of(self.visiting);
        let detail = format!("{} {why}", frame.words.unsettled_meaning);
        let title = frame.words.unsettled_title;
        let shown = Late { frame: &frame, title, card: None, detail: Some(&detail), kept: String::new() };
        page(StatusCode::OK, &shown)
    }
}

/// Returns whether somebody was first: about the answer that counts only the refusal tells.
fn is_late(intent: &Intent, problem: &Problem, question: &QuestionView) -> bool {
    !question.is_open() && (!intent.changes_answer() || problem.refusal().code.is_late())
}

/// What is done about a question.
struct Doing {
    question: QuestionView,
    intent: Intent,
    wording: Wording,
    /// The deadline that was shown, where more time is given.
    until: Option<String>,
}

impl Doing {
    fn perform(self, desk: &Desk, caller: &Caller) -> Result<Done, Refusal> {
        if self.is_repeated() {
            return Ok(Done { question: self.question, repeated: true, unsettled: None });
        }
        let Self { question, intent, wording, .. } = self;
        desk.record_shown_first(caller, &question, wording);
        let by_person = |reason| Act { reason, by: None };
        let act = match intent {
            Intent::Answer { value, note } => {
                let given = Answer { answer: value, note, request: question.request, by: None };
                PersonalAct::Answer(given, wording)
            }
            Intent::Replace { value, note, answer } => {
                let given = Answer { answer: value, note, request: question.request, by: None };
                PersonalAct::Replace(Replacement::new(given, answer), wording)
            }
            Intent::Revoke { reason, answer } => {
                PersonalAct::Revoke(RevokeParameters { reason, by: None, answer })
            }
            Intent::Accept { note } => PersonalAct::Accept(by_person(note)),
            Intent::Decline { reason } => PersonalAct::Decline(by_person(reason)),
            Intent::AskBack { words } => PersonalAct::Decline(by_person(Some(words))),
            Intent::Pass { to, people, reason } => {
                PersonalAct::Pass(Passing { to: intent::one_name(&to), people, reason, by: None })
            }
            Intent::Extend { seconds } => PersonalAct::Extend(Extension { seconds, reason: None, by: None }),
            Intent::Cancel { reason } => PersonalAct::Cancel(by_person(reason)),
            Intent::AskAgain { reason } => PersonalAct::AskAgain(by_person(reason)),
            Intent::WithdrawPlan { reason } => PersonalAct::WithdrawPlan(by_person(reason)),
        };
        desk.act_in_person(caller, question.id, act)
    }

    /// Returns whether more time was given already: the deadline is no longer the one that was shown.
    fn is_repeated(&self) -> bool {
        let now = self.question.deadline.map(|deadline| deadline.to_string());
        matches!(self.intent, Intent::Extend { .. }) && self.until.is_some() && self.until != now
    }
}
