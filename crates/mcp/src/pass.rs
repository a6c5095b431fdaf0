//! What is done at the desk in a caller's name, while a call waits and after it ended: a question is waited for, and what
//! the client's user said is passed on.

use demur_api::{
    call::ApiRequest,
    operation::{
        AcceptQuestion, AnswerQuestion, DeclineQuestion, NoArguments, NoteHeard, Nothing, OfQuestion,
        ShowQuestion, WaitForQuestion,
    },
    question::{Act, Answer, Done, Heard, QuestionId, QuestionView, WaitParameters},
    refusal::Refusal,
};
use demur_core::limit::{List, Text};
use std::time::Duration;

use tokio::{
    sync::watch,
    time::{self, Instant},
};

use crate::{
    host::{CallerConnection, Visitor},
    prompt::{Prompt, Said, user_of},
    reply::Stop,
};

/// What became of what a user said.
#[derive(Debug)]
pub(crate) enum Passed {
    /// It was recorded, or something was before: the question as it stands.
    Done(Box<QuestionView>),
    /// It settles nothing, and why.
    Misfit(String),
    /// Nothing was said.
    Nothing,
}

/// Returns a question as it stands.
pub(crate) async fn look(
    visitor: &Visitor<impl CallerConnection>,
    id: QuestionId,
) -> Result<QuestionView, Stop> {
    Ok(visitor.ask(ApiRequest::<ShowQuestion>::get(OfQuestion { question: id }, Nothing {})).await?)
}

/// Returns a question as whoever waits for it knows it: from memory if it was just asked. What is decided on it is decided again
/// by the commit.
pub(crate) async fn glance(
    visitor: &Visitor<impl CallerConnection>,
    id: QuestionId,
) -> Result<QuestionView, Stop> {
    let query = WaitParameters { seconds: Some(0) };
    Ok(visitor.ask(ApiRequest::<WaitForQuestion>::get(OfQuestion { question: id }, query)).await?)
}

/// Waits until a question is no longer open; none if it still is when the time is over.
pub(crate) async fn closing(
    visitor: &Visitor<impl CallerConnection>,
    id: QuestionId,
    until: Option<Instant>,
) -> Result<Option<QuestionView>, Stop> {
    loop {
        let left = until.map_or(MAX_REQUEST_WAIT, |until| until.saturating_duration_since(Instant::now()));
        let seconds = left.as_secs().clamp(1, MAX_REQUEST_WAIT.as_secs());
        let query = WaitParameters { seconds: Some(seconds) };
        let request = ApiRequest::<WaitForQuestion>::get(OfQuestion { question: id }, query);
        match visitor.ask_within(request, left.min(MAX_REQUEST_WAIT)).await {
            Ok(shown) if !shown.is_open() => return Ok(Some(shown)),
            Ok(_) => {}
            // The server is away for a moment: the question is still there.
            Err(refusal) if refusal.code.is_passing() => time::sleep(RETURN_DELAY).await,
            Err(refusal) => return Err(refusal.into()),
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            return Ok(None);
        }
    }
}

/// Passes on what the user of a caller said: of a token by the name that it was made under, whatever the program calls itself. Whoever
/// was first is what the user hears.
pub(crate) async fn pass_on(
    visitor: &Visitor<impl CallerConnection>,
    prompt: &Prompt,
    said: Said,
) -> Result<Passed, Stop> {
    let id = prompt.question;
    let by = Some(Text::cut(&user_of(&visitor.name)).map_err(|error| Refusal::bug(&error))?);
    let (path, act) = (OfQuestion { question: id }, Act { reason: None, by: by.clone() });
    let done = match said {
        Said::Nothing => return Ok(Passed::Nothing),
        Said::Misfit(why) => return Ok(Passed::Misfit(why)),
        Said::Declined => visitor.ask(ApiRequest::<DeclineQuestion>::send(path, act)).await,
        Said::Accepted => visitor.ask(ApiRequest::<AcceptQuestion>::send(path, act)).await,
        Said::Answer(answer) => {
            let given = Answer { answer, note: None, request: prompt.request_digest(), by };
            visitor.ask(ApiRequest::<AnswerQuestion>::send(path, given)).await
        }
    };
    match done {
        Ok(Done { unsettled: Some(why), .. }) => Ok(Passed::Misfit(why)),
        Ok(done) => Ok(Passed::Done(Box::new(done.question))),
        Err(refusal) if refusal.code.is_late() => Ok(Passed::Done(Box::new(look(visitor, id).await?))),
        Err(refusal) if refusal.code.is_about_the_kind() => Ok(Passed::Misfit(refusal.message)),
        Err(refusal) => Err(refusal.into()),
    }
}

/// Notes the outcomes that a caller hears now, so that somebody is asked anew when it asks in the same words.
pub(crate) async fn heard(visitor: &Visitor<impl CallerConnection>, told: &QuestionView) {
    if !told.is_open() && visitor.connection.is_heard().await {
        // What cannot be noted is told once more: better than a person who is asked twice.
        let Ok(questions) = List::try_from(vec![told.id]) else { return };
        let request = ApiRequest::<NoteHeard>::send(NoArguments {}, Heard { questions });
        let _ = visitor.ask_within(request, COURTESY_TIMEOUT).await;
    }
}

/// Waits until nobody listens any more.
pub(crate) async fn over(ended: &mut watch::Receiver<bool>) {
    // Without anybody to say so, it does not happen.
    if ended.wait_for(|ended| *ended).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// How long one request waits at most: the desk takes no more.
const MAX_REQUEST_WAIT: Duration = Duration::from_mins(1);
/// How long something is waited for that is a courtesy.
pub(crate) const COURTESY_TIMEOUT: Duration = Duration::from_secs(1);
/// How long something may be away that comes back at once.
pub(crate) const RETURN_DELAY: Duration = Duration::from_millis(100);
