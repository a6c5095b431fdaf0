//! `ask_human`, `check_question`, `cancel_question`: a person is asked, and the call returns in time, whatever people do.

use std::sync::atomic::Ordering;

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{Ask, CancelQuestion, ForgetSecret, NoArguments, Nothing, OfQuestion, ReadSecret},
    question::{Act, AskParameters, AskedView, QuestionId, QuestionView},
};
use demur_ledger::{facts::AnswerKind, question::OutcomeKind};
use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult},
};

use crate::{
    arguments::{self, AskHuman, CheckQuestion},
    fresh::Fresh,
    need::Need,
    pass::Passed,
    reply::{self, Stop},
    state::Ticket,
    task::{self, Matter},
    tier::{Modes, Tier},
    visit::Visit,
};

/// Asks, or goes on with what was asked in an earlier round.
pub(crate) async fn ask(visit: &mut Visit<'_>, given: &AskHuman) -> Result<CallToolResponse, Stop> {
    let visit = visit.within(given.wait_s);
    match &visit.ticket {
        None => {
            let once = Some(visit.visitor.conversation.clone());
            let query =
                AskParameters { once, again: given.again.then_some(true), ..AskParameters::default() };
            let key = given.again.then(|| Fresh::open().and_then(|mut fresh| fresh.key())).transpose()?;
            let request = ApiRequest::<Ask> { path: NoArguments {}, query, body: given.ask()?, key };
            let AskedView { question, repeated } = visit.visitor.ask(request).await?;
            let told = put(visit, question).await?;
            Ok(if repeated == Some(true) { reply::repeated(told) } else { told })
        }
        Some(Ticket::Question(id)) => go_on(visit, *id).await,
        Some(Ticket::Plan(_)) => Err(another().into()),
    }
}

/// Puts a question before somebody, in the way of the client's tier, and waits for the answer.
async fn put(visit: &Visit<'_>, asked: QuestionView) -> Result<CallToolResponse, Stop> {
    if !asked.is_open() {
        return tell(visit, &asked).await;
    }
    match visit.tier {
        Tier::Task(_) if !visit.is_brief() => task::begin(visit, Matter::Question(asked.id), asked.asked),
        Tier::Rounds(modes) if !visit.is_brief() => round(visit, asked, modes, None).await,
        // Without a wait there is a form only where it outlives the call.
        Tier::Elicits(modes) if visit.manner.lasting || !visit.is_brief() => {
            elicit(visit, asked, modes).await
        }
        _ => wait(visit, asked).await,
    }
}

/// Asks in a form while the call waits; when the user closes it, the call waits for others.
async fn elicit(visit: &Visit<'_>, asked: QuestionView, modes: Modes) -> Result<CallToolResponse, Stop> {
    let need = Need::of(&asked);
    if !visit.may_show(&need) {
        return wait(visit, asked).await;
    }
    let mut passed = visit.elicit(&need, modes).await?;
    // Whoever is not understood is asked once more, with the reason.
    if let Some(Passed::Misfit(why)) = &passed {
        passed = visit.elicit(&need.again(why), modes).await?;
    }
    match passed {
        Some(Passed::Done(shown)) => tell(visit, &shown).await,
        _ => wait(visit, asked).await,
    }
}

/// Ends this round with the question; somebody without a way to be asked is waited for elsewhere.
async fn round(
    visit: &Visit<'_>,
    asked: QuestionView,
    modes: Modes,
    why: Option<&str>,
) -> Result<CallToolResponse, Stop> {
    let need = Need::of(&asked);
    if !visit.may_show(&need) {
        return wait(visit, asked).await;
    }
    let need = why.map_or(need.clone(), |why| need.again(why));
    match need.request(modes, visit.address().await.as_deref()) {
        Some(request) => {
            let ticket = Ticket::Question(asked.id);
            Ok(visit.input_required([(need.key, request)], &ticket)?.into())
        }
        None => wait(visit, asked).await,
    }
}

/// Goes on with a question that an earlier round asked. Whatever the client brings, the first answer counts.
async fn go_on(visit: &Visit<'_>, id: QuestionId) -> Result<CallToolResponse, Stop> {
    let asked = visit.look(id).await?;
    if !asked.is_open() {
        return tell(visit, &asked).await;
    }
    let need = Need::of(&asked);
    let (Tier::Rounds(modes), response) = (visit.tier, visit.response(&need)?) else {
        return wait(visit, asked).await;
    };
    match response {
        None => round(visit, asked, modes, None).await,
        Some(said) => match visit.pass_on(&need, said).await? {
            Passed::Done(shown) => tell(visit, &shown).await,
            Passed::Misfit(why) => round(visit, asked, modes, Some(&why)).await,
            // The form was closed, or led to the inbox: the answer comes from elsewhere.
            Passed::Nothing => wait(visit, asked).await,
        },
    }
}

/// Looks whether a question was answered, and waits for it as if it had just been asked. A form that is gone comes back,
/// unless its user closed it.
pub(crate) async fn check(visit: &mut Visit<'_>, given: &CheckQuestion) -> Result<CallToolResponse, Stop> {
    let visit = visit.within(given.wait_s);
    match &visit.ticket {
        Some(Ticket::Question(id)) if *id == given.question_id => return go_on(visit, *id).await,
        Some(_) => return Err(another().into()),
        None => {}
    }
    let shown = visit.look(given.question_id).await?;
    if !shown.is_open() {
        return tell(visit, &shown).await;
    }
    let enough = visit.memory.look(&visit.visitor.identity, &shown.id.to_string());
    visit.enough.store(enough, Ordering::Relaxed);
    put(visit, shown).await
}

/// Says that no answer is needed any more.
pub(crate) async fn cancel(
    visit: &Visit<'_>,
    given: &arguments::CancelQuestion,
) -> Result<CallToolResponse, Stop> {
    let act = Act { reason: given.reason.clone(), by: None };
    let request = ApiRequest::<CancelQuestion>::send(OfQuestion { question: given.question_id }, act);
    match visit.visitor.ask(request).await {
        Ok(done) => tell(visit, &done.question).await,
        // Somebody was faster: that is what the asker wants to know.
        Err(refusal) if refusal.code.is_late() => tell(visit, &visit.look(given.question_id).await?).await,
        Err(refusal) => Err(refusal.into()),
    }
}

fn another() -> ErrorData {
    ErrorData::invalid_params("expected the requestState of this question, found another", None)
}

/// Waits for the answer to a question that was open a moment ago.
async fn wait(visit: &Visit<'_>, asked: QuestionView) -> Result<CallToolResponse, Stop> {
    let closed = visit.closed(asked.id).await?;
    tell(visit, &closed.unwrap_or(asked)).await
}

async fn tell(visit: &Visit<'_>, shown: &QuestionView) -> Result<CallToolResponse, Stop> {
    Ok(result(visit, shown).await?.into())
}

/// Returns how a question stands, as its asker hears it.
pub(crate) async fn result(visit: &Visit<'_>, shown: &QuestionView) -> Result<CallToolResult, Stop> {
    let address = if shown.is_open() { visit.address().await } else { None };
    let secret = if is_secret(shown) { secret(visit, shown.id).await? } else { None };
    visit.heard(shown).await;
    Ok(reply::told(shown, address.as_deref(), secret, visit.enough.load(Ordering::Relaxed)))
}

/// Returns whether its answer is one that only its asker is told, once.
pub(crate) fn is_secret(shown: &QuestionView) -> bool {
    shown.state == OutcomeKind::Answered && shown.kinds.contains(&AnswerKind::Secret)
}

/// Returns a secret answer, once: then it is forgotten.
async fn secret(visit: &Visit<'_>, id: QuestionId) -> Result<Option<String>, Stop> {
    let path = OfQuestion { question: id };
    match visit.visitor.ask(ApiRequest::<ReadSecret>::get(path.clone(), Nothing {})).await {
        Ok(delivered) => {
            visit.visitor.ask(ApiRequest::<ForgetSecret>::get(path, Nothing {})).await?;
            Ok(Some(delivered.value.clone()))
        }
        Err(refusal) if refusal.code == Code::SecretGone => Ok(None),
        Err(refusal) => Err(refusal.into()),
    }
}
