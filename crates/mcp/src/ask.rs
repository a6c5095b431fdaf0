//! `ask_human`, `check_question`, `cancel_question`: a person is asked, and the call returns in time, whatever people do.

use std::sync::atomic::Ordering;

use demur_api::{
    call::ApiRequest,
    operation::{Ask, CancelQuestion, NoArguments, OfQuestion},
    question::{Act, AskParameters, AskedView, QuestionId, QuestionView},
};
use demur_ledger::{facts::AnswerKind, question::OutcomeKind};
use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult},
};

use crate::{
    arguments::{self, AskHuman, CheckQuestion},
    host::CallerConnection,
    new_names::NewNames,
    pass::Passed,
    prompt::Prompt,
    reply::{self, Stop},
    state::RoundState,
    task::{self, TaskSubject},
    tier::{Modes, Tier},
    tool_call::ToolCall,
};

/// Asks, or goes on with what was asked in an earlier round.
pub(crate) async fn ask(
    call: &mut ToolCall<'_, impl CallerConnection>,
    given: &AskHuman,
) -> Result<CallToolResponse, Stop> {
    let call = call.within(given.wait_s);
    match &call.round {
        None => {
            let once = Some(call.visitor.conversation.clone());
            let query =
                AskParameters { once, again: given.again.then_some(true), ..AskParameters::default() };
            let key = given.again.then(|| NewNames::open().and_then(|mut names| names.key())).transpose()?;
            let request = ApiRequest::<Ask> { path: NoArguments {}, query, body: given.ask()?, key };
            let AskedView { question, repeated } = call.visitor.ask(request).await?;
            let told = put(call, question).await?;
            Ok(if repeated == Some(true) { reply::repeated(told) } else { told })
        }
        Some(RoundState::Question(id)) => go_on(call, *id).await,
        Some(RoundState::Plan(_)) => Err(another().into()),
    }
}

/// Puts a question before somebody, in the way of the client's tier, and waits for the answer.
async fn put(
    call: &ToolCall<'_, impl CallerConnection>,
    asked: QuestionView,
) -> Result<CallToolResponse, Stop> {
    if !asked.is_open() {
        return tell(call, &asked).await;
    }
    match call.tier {
        Tier::Task(_) if !call.is_brief() => task::begin(call, TaskSubject::Question(asked.id), asked.asked),
        Tier::Rounds(modes) if !call.is_brief() => round(call, asked, modes, None).await,
        // Without a wait there is a form only where it outlives the call.
        Tier::Elicits(modes) if call.settings.lasting || !call.is_brief() => elicit(call, asked, modes).await,
        _ => wait(call, asked).await,
    }
}

/// Asks in a form while the call waits; when the user closes it, the call waits for others.
async fn elicit(
    call: &ToolCall<'_, impl CallerConnection>,
    asked: QuestionView,
    modes: Modes,
) -> Result<CallToolResponse, Stop> {
    let prompt = Prompt::of(&asked);
    if !call.may_show(&prompt) {
        return wait(call, asked).await;
    }
    let mut passed = call.elicit(&prompt, modes).await?;
    // Whoever is not understood is asked once more, with the reason.
    if let Some(Passed::Misfit(why)) = &passed {
        passed = call.elicit(&prompt.again(why), modes).await?;
    }
    match passed {
        Some(Passed::Done(shown)) => tell(call, &shown).await,
        _ => wait(call, asked).await,
    }
}

/// Ends this round with the question; somebody without a way to be asked is waited for elsewhere.
async fn round(
    call: &ToolCall<'_, impl CallerConnection>,
    asked: QuestionView,
    modes: Modes,
    why: Option<&str>,
) -> Result<CallToolResponse, Stop> {
    let prompt = Prompt::of(&asked);
    if !call.may_show(&prompt) {
        return wait(call, asked).await;
    }
    let prompt = why.map_or(prompt.clone(), |why| prompt.again(why));
    match prompt.request(modes, call.address().await.as_deref()) {
        Some(request) => {
            let round = RoundState::Question(asked.id);
            Ok(call.input_required([(prompt.key, request)], &round)?.into())
        }
        None => wait(call, asked).await,
    }
}

/// Goes on with a question that an earlier round asked. Whatever the client brings, the first answer counts.
async fn go_on(call: &ToolCall<'_, impl CallerConnection>, id: QuestionId) -> Result<CallToolResponse, Stop> {
    let asked = call.glance(id).await?;
    if !asked.is_open() {
        return tell(call, &asked).await;
    }
    let prompt = Prompt::of(&asked);
    let (Tier::Rounds(modes), response) = (call.tier, call.response(&prompt)?) else {
        return wait(call, asked).await;
    };
    match response {
        None => round(call, asked, modes, None).await,
        Some(said) => match call.pass_on(&prompt, said).await? {
            Passed::Done(shown) => tell(call, &shown).await,
            Passed::Misfit(why) => round(call, asked, modes, Some(&why)).await,
            // The form was closed, or led to the inbox: the answer comes from elsewhere.
            Passed::Nothing => wait(call, asked).await,
        },
    }
}

/// Looks whether a question was answered, and waits for it as if it had just been asked. A form that is gone comes back,
/// unless its user closed it.
pub(crate) async fn check(
    call: &mut ToolCall<'_, impl CallerConnection>,
    given: &CheckQuestion,
) -> Result<CallToolResponse, Stop> {
    let call = call.within(given.wait_s);
    match &call.round {
        Some(RoundState::Question(id)) if *id == given.question_id => return go_on(call, *id).await,
        Some(_) => return Err(another().into()),
        None => {}
    }
    let shown = call.look(given.question_id).await?;
    if !shown.is_open() {
        return tell(call, &shown).await;
    }
    let enough = call.memory.look(&call.visitor.identity, &shown.id.to_string());
    call.enough.store(enough, Ordering::Relaxed);
    put(call, shown).await
}

/// Says that no answer is needed any more.
pub(crate) async fn cancel(
    call: &ToolCall<'_, impl CallerConnection>,
    given: &arguments::CancelQuestion,
) -> Result<CallToolResponse, Stop> {
    let act = Act { reason: given.reason.clone(), by: None };
    let request = ApiRequest::<CancelQuestion>::send(OfQuestion { question: given.question_id }, act);
    match call.visitor.ask(request).await {
        Ok(done) => tell(call, &done.question).await,
        // Somebody was faster: that is what the asker wants to know.
        Err(refusal) if refusal.code.is_late() => tell(call, &call.look(given.question_id).await?).await,
        Err(refusal) => Err(refusal.into()),
    }
}

fn another() -> ErrorData {
    ErrorData::invalid_params("expected the requestState of this question, found another", None)
}

/// Waits for the answer to a question that was open a moment ago.
async fn wait(
    call: &ToolCall<'_, impl CallerConnection>,
    asked: QuestionView,
) -> Result<CallToolResponse, Stop> {
    let closed = call.closed(asked.id).await?;
    tell(call, &closed.unwrap_or(asked)).await
}

async fn tell(
    call: &ToolCall<'_, impl CallerConnection>,
    shown: &QuestionView,
) -> Result<CallToolResponse, Stop> {
    Ok(result(call, shown).await?.into())
}

/// Returns how a question stands, as its asker hears it.
pub(crate) async fn result(
    call: &ToolCall<'_, impl CallerConnection>,
    shown: &QuestionView,
) -> Result<CallToolResult, Stop> {
    let address = if shown.is_open() { call.address().await } else { None };
    let secret = if is_secret(shown) {
        call.secrets.tell(&call.visitor, shown.id, call.written.clone()).await?
    } else {
        None
    };
    call.heard(shown).await;
    Ok(reply::told(shown, address.as_deref(), secret, call.enough.load(Ordering::Relaxed)))
}

/// Returns whether its answer is one that only its asker is told, once.
pub(crate) fn is_secret(shown: &QuestionView) -> bool {
    shown.state == OutcomeKind::Answered && shown.kinds.contains(&AnswerKind::Secret)
}
