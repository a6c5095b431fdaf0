//! An answer is replaced or taken back: by whoever gave it, and through a way in that is as sure as the one it came by. What
//! counted already is told again; of two who change it at once, one counts (CLR-04).

use demur_api::{code::Code, refusal::Refusal};
use demur_clarify::uuid::Uuid;
use demur_core::limit::Text;
use demur_ledger::{
    content::{AnswerContent, AnswerValue, Wording},
    event_type::{Content, Facts},
    facts::{AnswerKind, AnswerRevoked, AnswerSuperseded, Assurance, QuestionAnswered},
    name::{Position, Sequence},
    question::{OutcomeKind, QuestionError},
};
use demur_plan::act;

use super::{
    Answer, Done, Ending, QuestionView, Replacement, RevokeParameters,
    act::{done, is_by, is_repeated, kind_of, lost, repeated, say, saying, shown, words},
    secret, view,
};
use crate::{
    owner::Owner,
    plan::{self, Resolution},
    record,
    session::Speaker,
};

/// Puts an answer in the place of the speaker's own, as the caller has just seen the question in its usual wording.
pub fn replace(
    owner: &Owner,
    question: &QuestionView,
    speaker: &Speaker,
    given: &Replacement,
) -> Result<Done, Refusal> {
    replace_shown(owner, question, speaker, given, Wording::Normal)
}

/// The same, by somebody who has just seen the question in this wording.
pub(super) fn replace_shown(
    owner: &Owner,
    question: &QuestionView,
    speaker: &Speaker,
    given: &Replacement,
    wording: Wording,
) -> Result<Done, Refusal> {
    if is_repeated(question, speaker, &given.answer) {
        return Ok(repeated(question));
    }
    let id = question.id;
    let own = own_answer(question, speaker).map_err(|error| lost(error, owner, id))?;
    let replaces = given.replaces.unwrap_or(own.event);
    if question.gap.is_some() {
        return replace_in_plan(owner, question, speaker, (&given.answer(), replaces, wording));
    }
    let superseded = |value| superseded(question, speaker, &given.answer(), (replaces, value, wording));
    let said = if kind_of(question, &given.answer)?.0 == AnswerKind::Secret {
        // It must not enter the ledger; the value it replaces is forgotten.
        secret::seal(owner, id, (speaker, &given.answer), |sealed| {
            say(owner, id, speaker, superseded(sealed)?)
        })
    } else {
        say(owner, id, speaker, superseded(given.answer.clone())?)
    };
    said.map_err(|error| lost(error, owner, id))?;
    done(owner, id)
}

/// Takes the speaker's own answer back: the question is open again.
pub fn revoke(
    owner: &Owner,
    question: &QuestionView,
    speaker: &Speaker,
    (answer, reason): (Option<Sequence>, Option<Text<1, 4096>>),
) -> Result<Done, Refusal> {
    let id = question.id;
    if question.is_open() && was_revoked(owner, question, speaker, answer)? {
        return Ok(repeated(question));
    }
    let own = own_answer(question, speaker).map_err(|error| lost(error, owner, id))?;
    let answer = answer.unwrap_or(own.event);
    let words = words(speaker.by(), reason, "taken back")?;
    let said = if question.gap.is_some() {
        plan::revoke(owner, speaker, (session_of(question)?, gap_of(question)), answer, &words.reason)
    } else {
        let facts = AnswerRevoked { attribution: None, answer, question: id.sequence };
        say(owner, id, speaker, saying(facts, Content::AnswerRevoked(words)))
    };
    said.map_err(|error| lost(error, owner, id))?;
    secret::forget_revoked(owner, own.value.as_ref());
    // A gap that is put in other words now has another place.
    let now = view(owner, id).unwrap_or_else(|_| question.clone());
    Ok(Done { question: now, repeated: false, unsettled: None })
}

/// Returns which answer is taken back, and why.
pub(super) fn revoked(
    given: &RevokeParameters,
) -> Result<(Option<Sequence>, Option<Text<1, 4096>>), Refusal> {
    Ok((given.answer, given.reason.as_deref().map(TryInto::try_into).transpose()?))
}

/// Returns the answer that counts, if this one gave it and is known as surely now as then.
fn own_answer<'a>(question: &'a QuestionView, speaker: &Speaker) -> Result<&'a Ending, Refusal> {
    let at = question.id.sequence;
    let ending = match &question.outcome {
        None => return Err(refused(&QuestionError::NotAnswered { question: at })),
        Some(ending) if ending.state == OutcomeKind::Answered => ending,
        Some(ending) => {
            let outcome = ending.state.as_str();
            return Err(refused(&QuestionError::Closed { question: at, outcome }));
        }
    };
    if !is_own(ending, speaker) {
        return Err(refused(&QuestionError::NotYourAnswer { answer: ending.event }));
    }
    let (claimed, least) = (speaker.assurance(), ending.assurance.unwrap_or(Assurance::Agent));
    if claimed < least {
        let surer = QuestionError::ReplacesSurer { claimed, least, answer: ending.event };
        return Err(refused(&surer).with_cure(way(question, least)));
    }
    Ok(ending)
}

/// Returns whether this one may have given the answer. What was relayed has the name that the relay gave it, so that any person is let
/// through here; the engine lets the same person or program change it, and refuses the others.
fn is_own(ending: &Ending, speaker: &Speaker) -> bool {
    let is_relayed = ending.principal.is_none() && ending.assurance == Some(Assurance::Relayed);
    is_by(ending, speaker) || (is_relayed && speaker.by().is_some())
}

/// Returns the way in that is as sure as the answer.
fn way(question: &QuestionView, least: Assurance) -> String {
    let id = question.id;
    match least {
        Assurance::Agent | Assurance::Relayed => "change it through the program that answered".to_owned(),
        Assurance::Terminal => {
            format!("`demur answer {id} ANSWER --replace` or `demur answer {id} --revoke` changes it")
        }
        Assurance::SignedIn | Assurance::Passkey => {
            format!("change it where you answered, in the browser: `demur open`, then question {id}")
        }
    }
}

fn refused(error: &QuestionError) -> Refusal {
    let refusal = Refusal::new(Code::of(error.code()), error).with_cure(error.cure());
    Refusal { field: error.field().map(str::to_owned), ..refusal }
}

/// Returns what is said when somebody answers in the place of an earlier answer.
fn superseded(
    question: &QuestionView,
    speaker: &Speaker,
    given: &Answer,
    (replaces, answer, wording): (Sequence, AnswerValue, Wording),
) -> Result<act::Act, Refusal> {
    let (kind, choice) = kind_of(question, &given.answer)?;
    let by = speaker.by();
    let shown = by.is_some().then(|| shown(question, wording)).transpose()?;
    let (note, request) = (given.note.clone(), given.request);
    let content = AnswerContent { answer, by, note, request, signed: None, shown };
    let position = Position::new(question.id.sequence, question.hash);
    let answer = QuestionAnswered {
        attribution: None,
        assurance: speaker.assurance(),
        choice,
        kind,
        question: position,
    };
    Ok(saying(AnswerSuperseded { answer, replaces }, Content::AnswerSuperseded(content)))
}

/// Replaces the answer to a gap of a plan: the rules judge it like an answer.
fn replace_in_plan(
    owner: &Owner,
    question: &QuestionView,
    speaker: &Speaker,
    (given, replaces, wording): (&Answer, Sequence, Wording),
) -> Result<Done, Refusal> {
    let (session, answer) = (session_of(question)?, given.answer.to_string());
    let note = given.note.clone();
    let resolution = Resolution { session, gap: gap_of(question), answer: Some(&answer), note };
    let (at, judged) = plan::replace(owner, speaker, &resolution, (replaces, wording))
        .map_err(|error| lost(error, owner, question.id))?;
    let unsettled = judged.unsettled();
    // A gap that was put again has another place now.
    let now = view(owner, question.id).unwrap_or_else(|_| question.clone());
    Ok(Done { question: now, repeated: at.is_none() && unsettled.is_none(), unsettled })
}

fn session_of(question: &QuestionView) -> Result<Uuid, Refusal> {
    Uuid::try_from(question.trace.as_ulid().as_u128()).map_err(|error| Refusal::bug(&error))
}

fn gap_of(question: &QuestionView) -> &str {
    question.gap.as_deref().unwrap_or_default()
}

/// Returns whether the last thing that happened to a question is that this one took the answer back.
fn was_revoked(
    owner: &Owner,
    question: &QuestionView,
    speaker: &Speaker,
    answer: Option<Sequence>,
) -> Result<bool, Refusal> {
    let (store, id) = (owner.sequencer().store(), question.id);
    let Some(summary) = store.question(id.trace, id.sequence)? else { return Ok(false) };
    let (event, content) = record::read(store, id.trace, summary.row.changed)?;
    let Ok(Facts::AnswerRevoked(facts)) = event.said().map(|said| said.facts) else { return Ok(false) };
    let is_it = facts.question == id.sequence && answer.is_none_or(|answer| answer == facts.answer);
    let is_by = match (speaker, content) {
        (Speaker::Key(author), _) => {
            event.envelope().statement.is_some() && event.envelope().actor == author.principal()
        }
        (Speaker::Person { name, .. }, Some(Content::AnswerRevoked(words))) => {
            words.by.as_ref() == Some(name)
        }
        (Speaker::Passkey(passkey), _) => {
            event.envelope().statement.is_some() && event.envelope().actor == passkey.person().principal()
        }
        (Speaker::Person { .. }, _) => false,
    };
    Ok(is_it && is_by)
}
