//! What is told of a question, in words.

use demur_aaep::{
    event_type::ExtensionType,
    form::{ReplyToken, Uri},
    payload::{
        AwaitingClarification, ExtensionPayload, HandoffRequested, Payload, PromptChoice, SessionCancelled,
        SessionCompleted, SessionErrored, SessionStarted, StateChanged,
    },
    prompt::ClarificationTerms,
    resolved::ResolvedOutcome,
    word::{CancelledBy, ErrorCategory, HandoffTarget, ResponseKind},
};
use demur_api::{question::QuestionView, refusal::Refusal};
use demur_core::{
    limit::{List, Text},
    time::Timestamp,
};
use demur_ledger::{
    content::AnswerValue,
    facts::{AnswerKind, Assurance},
    question::OutcomeKind,
};

/// Returns how the session of a question begins.
pub(super) fn started(shown: &QuestionView) -> Result<Payload, Refusal> {
    let words = format!("{} asks a question.", shown.asked_by());
    let mut started = SessionStarted::new(said(&words)?);
    started.summary_terse = Text::cut(&words).ok();
    Ok(started.into())
}

/// Returns that the agent waits for an answer.
pub(super) fn awaits() -> Result<Payload, Refusal> {
    step(IDLE, AWAITING_INPUT, "The agent waits for an answer.")
}

/// Returns that the agent still waits, in a new window.
pub(super) fn still_waits() -> Result<Payload, Refusal> {
    step(AWAITING_INPUT, AWAITING_INPUT, "The question still waits, and is asked again.")
}

/// Returns the prompt that asks a question in a window from now on; none where a reply of some subscriber cannot be its answer: it
/// wants a secret, or more than the word of a token that passes on what people say; its words are erased, or they do not fit into a
/// prompt. Nobody is to answer for nothing.
pub(super) fn asks(
    shown: &QuestionView,
    token: &ReplyToken,
    now: Timestamp,
) -> Result<Option<Payload>, Refusal> {
    let Some(question) = &shown.question else { return Ok(None) };
    let Some(kinds) = kinds(shown) else { return Ok(None) };
    if shown.assurance > Assurance::Relayed {
        return Ok(None);
    }
    let (seconds, is_last) = window(shown.deadline, now);
    let seconds = seconds.try_into().map_err(|error| Refusal::bug(&error))?;
    let mut asks = AwaitingClarification::new(said(question)?, token.clone(), seconds);
    asks.summary_terse = Text::cut(shown.terse.as_deref().unwrap_or(question)).ok();
    asks.summary_normal = Text::cut(question).ok();
    asks.summary_detailed = Text::cut(&detailed(shown, question)).ok();
    asks.context = shown.context.as_deref().and_then(|context| Text::cut(context).ok());
    if kinds.contains(&ResponseKind::MultipleChoice) {
        let choices = shown
            .choices
            .iter()
            .map(|choice| PromptChoice { value: choice.value.clone(), label: choice.label.clone() });
        let Ok(choices) = List::try_from(choices.collect::<Vec<_>>()) else { return Ok(None) };
        asks.choices = Some(choices);
    }
    asks.accepted_response_kinds = List::try_from(kinds).ok();
    // What holds at the end of a window that is renewed is another window.
    asks.default_response = shown.default.as_ref().filter(|_| is_last).and_then(spelled);
    if asks.default_response.is_some() && ClarificationTerms::of(&asks).default_answer().is_none() {
        asks.default_response = None;
    }
    Ok(Some(asks.into()))
}

/// Returns that a question waits elsewhere.
pub(super) fn announced(shown: &QuestionView, address: Option<&str>) -> Result<Payload, Refusal> {
    let question = shown.question.as_deref().unwrap_or("its words are erased");
    let words = format!("A question waits in the inbox, where alone it can be answered: {question}");
    let mut handed = HandoffRequested::new(said(&words)?, HandoffTarget::Human);
    handed.summary_terse = Text::cut("A question waits in the inbox.").ok();
    handed.summary_normal = Text::cut(&words).ok();
    handed.target_uri = address.and_then(|address| address.parse::<Uri>().ok());
    Ok(handed.into())
}

/// Returns what the agent does once a question has ended.
pub(super) fn moves_on(shown: &QuestionView) -> Result<Payload, Refusal> {
    let (to, words) = match shown.state {
        OutcomeKind::Open | OutcomeKind::Answered | OutcomeKind::Accepted => {
            (DECIDING, "The question was answered.")
        }
        OutcomeKind::Declined => (DECIDING, "Somebody declined to answer."),
        OutcomeKind::Defaulted => (DECIDING, "Nobody answered in time; the default holds."),
        OutcomeKind::Expired => (HANDING_OFF, "Nobody answered in time."),
        OutcomeKind::Cancelled | OutcomeKind::Withdrawn => (DECIDING, "The question was called off."),
    };
    step(AWAITING_INPUT, to, words)
}

/// Returns how the session of a question ends. A question that nobody answered and that has no default needs a person; nothing is
/// assumed.
pub(super) fn ends(shown: &QuestionView, inbox: Option<&str>) -> Result<Vec<Payload>, Refusal> {
    Ok(match shown.state {
        OutcomeKind::Expired => {
            let words = "Nobody answered in time, and nothing is assumed.";
            let mut handed = HandoffRequested::new(said(words)?, HandoffTarget::Human);
            handed.target_uri = inbox.and_then(|inbox| inbox.parse::<Uri>().ok());
            handed.summary_normal = Text::cut(words).ok();
            let mut errored = SessionErrored::new(ErrorCategory::RequiresUser, said(words)?);
            errored.recoverable = Some(true);
            vec![handed.into(), errored.into()]
        }
        OutcomeKind::Cancelled | OutcomeKind::Withdrawn => {
            vec![SessionCancelled::new(CancelledBy::Producer, said("The question was called off.")?).into()]
        }
        OutcomeKind::Open
        | OutcomeKind::Answered
        | OutcomeKind::Accepted
        | OutcomeKind::Declined
        | OutcomeKind::Defaulted => vec![SessionCompleted::new(said("The question is settled.")?).into()],
    })
}

/// Returns how a question ended, as everybody is told: in one word, when, and by whom.
pub(super) fn outcome(shown: &QuestionView) -> (ResolvedOutcome, Option<Timestamp>, Option<Text<1, 256>>) {
    let outcome = match shown.state {
        OutcomeKind::Answered | OutcomeKind::Accepted => ResolvedOutcome::Answered,
        OutcomeKind::Defaulted => ResolvedOutcome::Defaulted,
        OutcomeKind::Expired => ResolvedOutcome::Expired,
        OutcomeKind::Open | OutcomeKind::Declined | OutcomeKind::Cancelled | OutcomeKind::Withdrawn => {
            ResolvedOutcome::Cancelled
        }
    };
    let by = shown.outcome.as_ref().and_then(|ending| {
        let kind = if ending.principal.is_some() { "agent" } else { "user" };
        Text::cut(&format!("{kind}:{}", ending.by.as_deref()?)).ok()
    });
    (outcome, shown.outcome.as_ref().map(|ending| ending.time), by)
}

/// Returns an event of our extension.
pub(super) fn named(name: ExtensionType, words: &str) -> Payload {
    Payload::Extension(ExtensionPayload {
        name,
        summary_terse: Text::cut(words).ok(),
        summary_normal: Text::cut(words).ok(),
        summary_detailed: None,
    })
}

/// Returns the kinds of response; none where one of them is no response.
fn kinds(shown: &QuestionView) -> Option<Vec<ResponseKind>> {
    let kind = |kind: &AnswerKind| match kind {
        AnswerKind::Freetext => Some(ResponseKind::Freetext),
        AnswerKind::YesNo => Some(ResponseKind::YesNo),
        AnswerKind::MultipleChoice => Some(ResponseKind::MultipleChoice),
        AnswerKind::Numeric => Some(ResponseKind::Numeric),
        AnswerKind::Secret => None,
    };
    shown.kinds.iter().map(kind).collect()
}

/// Returns for how many seconds a window is open, and whether the question ends with it.
fn window(deadline: Option<Timestamp>, now: Timestamp) -> (u64, bool) {
    let left =
        |deadline: Timestamp| deadline.as_millis().saturating_sub(now.as_millis()).div_ceil(1000).max(1);
    deadline.map_or((LONGEST_WINDOW_SECONDS, false), |deadline| {
        (left(deadline).min(LONGEST_WINDOW_SECONDS), left(deadline) <= LONGEST_WINDOW_SECONDS)
    })
}

/// Returns a question with why it is asked and what the answer affects.
fn detailed(shown: &QuestionView, question: &str) -> String {
    let parts = [Some(shown.detailed.as_deref().unwrap_or(question)), shown.context.as_deref()];
    let by = format!("Asked by {}.", shown.asked_by());
    parts.into_iter().flatten().chain([&*by]).collect::<Vec<_>>().join("\n")
}

fn spelled(default: &AnswerValue) -> Option<Text<0, 4096>> {
    let text = match default {
        AnswerValue::Text(text) => text.to_string(),
        AnswerValue::Flag(flag) => flag.to_string(),
        AnswerValue::Number(number) => number.to_string(),
        AnswerValue::Sealed(_) => return None,
    };
    Text::try_from(text.as_str()).ok()
}

fn step(from: &str, to: &str, words: &str) -> Result<Payload, Refusal> {
    let mut step = StateChanged::new(Text::try_from(from)?, Text::try_from(to)?);
    step.summary_terse = Text::cut(words).ok();
    step.summary_normal = Text::cut(words).ok();
    Ok(step.into())
}

fn said(words: &str) -> Result<Text<1, 16_384>, Refusal> {
    Ok(Text::cut(words)?)
}

const IDLE: &str = "idle";
const AWAITING_INPUT: &str = "awaiting_input";
const DECIDING: &str = "deciding";
const HANDING_OFF: &str = "handing_off";
/// No prompt waits longer (4.4.2).
const LONGEST_WINDOW_SECONDS: u64 = 86_400;
