//! What somebody does about a question. A retry of what counted already changes nothing and is told so; whoever comes
//! second is told who was first (ONE-02, CLR-04).

use std::sync::Arc;

use demur_api::{
    code::{Code, RuleCode},
    key::{KeyEntry, Status},
    refusal::Refusal,
};
use demur_clarify::uuid::Uuid;
use demur_core::{
    limit::{Text, Whole},
    time::Timestamp,
};
use demur_engine::command::Consequences;
use demur_ledger::{
    attribution::assurance_word,
    author::Author,
    content::{ActContent, AnswerContent, AnswerValue, Shown, Wording},
    event_type::{Content, Facts},
    facts::{
        AnswerKind, Answerers, Assurance, QuestionAnswered, QuestionCancelled, QuestionDeclined,
        QuestionExtended, QuestionPassedOn,
    },
    name::{Position, PrincipalId},
    question::OutcomeKind,
    role::Role,
};
use demur_plan::act;

use super::{
    Act, Answer, Done, Ending, Extension, Kept, Passing, QuestionId, QuestionView,
    kept::{self, is_kept},
    needed, secret, view, way,
};
use crate::{
    lookup::Lookup,
    marks,
    owner::Owner,
    plan::{self, Resolution},
    recording::{Finished, Recording},
    records, run,
    session::{self, Speaker},
};

/// Answers a question, as the caller has just seen it in its usual wording.
pub fn answer(
    owner: &Owner,
    question: &QuestionView,
    speaker: &Speaker,
    given: &Answer,
) -> Result<Done, Refusal> {
    answer_shown(owner, question, speaker, given, Wording::Normal)
}

/// Answers a question, as the caller has just seen it in this wording.
pub(super) fn answer_shown(
    owner: &Owner,
    question: &QuestionView,
    speaker: &Speaker,
    given: &Answer,
    wording: Wording,
) -> Result<Done, Refusal> {
    if let Some(kept) = Kept::of(owner, question.asker.principal, speaker) {
        return kept::keep(owner, question, &kept, given);
    }
    if is_simple(question, speaker, given)? {
        let seen = session::seen(owner.sequencer(), question.id.trace, speaker)?;
        return answering_shown(owner.lookup(), question, speaker, given, (seen, wording))?.perform(owner);
    }
    if question.gap.is_some() {
        let settling = Settling { answer: Some(given.answer.to_string()), note: given.note.clone(), wording };
        return settle_gap(owner, question, speaker, settling);
    }
    if is_repeated(question, speaker, &given.answer) {
        return Ok(repeated(question));
    }
    // It must not enter the ledger.
    let sealed = secret::seal(owner, question.id, (speaker, &given.answer), |sealed| {
        say(owner, question.id, speaker, answered(question, speaker, given, (sealed, wording))?)
    });
    sealed.map_err(|error| lost(error, owner, question.id))?;
    done(owner, question.id)
}

/// Returns what is to be recorded for an answer; none where more than that has to be done or something has to be read, and
/// [`answer`] does it.
pub(crate) fn answering(
    at: &Lookup,
    question: &QuestionView,
    speaker: &Speaker,
    given: &Answer,
) -> Result<Option<Recording<Done>>, Refusal> {
    if !is_simple(question, speaker, given)? || is_kept(&at.registry(), question.asker.principal, speaker) {
        return Ok(None);
    }
    let seen = at.head(question.id.trace);
    if seen.is_none() && speaker.principal().is_some() {
        return Ok(None);
    }
    answering_shown(at, question, speaker, given, (seen, Wording::Normal)).map(Some)
}

/// Returns whether nothing but the answer has to be recorded.
fn is_simple(question: &QuestionView, speaker: &Speaker, given: &Answer) -> Result<bool, Refusal> {
    Ok(question.gap.is_none()
        && !is_repeated(question, speaker, &given.answer)
        && kind_of(question, &given.answer)?.0 != AnswerKind::Secret)
}

fn answering_shown(
    at: &Lookup,
    question: &QuestionView,
    speaker: &Speaker,
    given: &Answer,
    (seen, wording): (Option<Position>, Wording),
) -> Result<Recording<Done>, Refusal> {
    let id = question.id;
    let act = answered(question, speaker, given, (given.answer.clone(), wording))?;
    let command = session::command_at(at, (id.trace, seen), speaker, act)?;
    Ok(Recording::new(id.trace, command, move |at, recorded| {
        Ok(match recorded {
            Ok(_) => match at.question(id) {
                Some(question) => Finished::Done(Done { question, repeated: false, unsettled: None }),
                None => Finished::Rest(Box::new(move |owner| done(owner, id))),
            },
            Err(error) => Finished::Rest(Box::new(move |owner| Err(lost(error.into(), owner, id)))),
        })
    }))
}

/// Returns what is said when somebody answers.
fn answered(
    question: &QuestionView,
    speaker: &Speaker,
    given: &Answer,
    (answer, wording): (AnswerValue, Wording),
) -> Result<act::Act, Refusal> {
    let (kind, choice) = kind_of(question, &given.answer)?;
    let by = speaker.by();
    let shown = by.is_some().then(|| shown(question, wording)).transpose()?;
    let (note, request) = (given.note.clone(), given.request);
    let content = AnswerContent { answer, by, note, request, signed: None, shown };
    let position = Position::new(question.id.sequence, question.hash);
    let facts = QuestionAnswered {
        attribution: None,
        assurance: speaker.assurance(),
        choice,
        kind,
        question: position,
    };
    Ok(saying(facts, Content::QuestionAnswered(content)))
}

/// Accepts what a question of severity `warn` points at.
pub fn accept(owner: &Owner, question: &QuestionView, speaker: &Speaker, act: &Act) -> Result<Done, Refusal> {
    if question.gap.is_none() {
        let message = "expected a question about a plan, found one that has to be answered";
        return Err(
            Refusal::new(Code::Rule(RuleCode::MUST_BE_ANSWERED), message).with_cure("answer or decline it")
        );
    }
    let settling = Settling { answer: None, note: act.reason.clone(), wording: Wording::Normal };
    settle_gap(owner, question, speaker, settling)
}

/// Says that nobody here will answer.
pub fn decline(
    owner: &Owner,
    question: &QuestionView,
    speaker: &Speaker,
    act: &Act,
) -> Result<Done, Refusal> {
    let id = question.id;
    if question.state == OutcomeKind::Declined
        && question.outcome.as_ref().is_some_and(|ending| is_by(ending, speaker))
    {
        return Ok(repeated(question));
    }
    let facts = QuestionDeclined { attribution: None, question: id.sequence };
    let content = Content::QuestionDeclined(words(speaker.by(), act.reason.clone(), "declined")?);
    say(owner, id, speaker, saying(facts, content)).map_err(|error| lost(error, owner, id))?;
    done(owner, id)
}

/// Hands a question to others.
pub fn pass_on(
    owner: &Owner,
    question: &QuestionView,
    speaker: &Speaker,
    to: &Passing,
) -> Result<Done, Refusal> {
    let id = question.id;
    if !to.people && question.assurance > Assurance::Agent {
        let message = "expected people among those who may answer, found keys only: this question wants a person's word";
        return Err(Refusal::new(Code::PersonNeeded, message).with_cure(format!(
            "`demur pass {id} --people` leaves it to people; `--to` takes their names, too"
        )));
    }
    let mut principals = to.to.iter().map(|name| principal(owner, name)).collect::<Result<Vec<_>, _>>()?;
    principals.sort_unstable();
    principals.dedup();
    let answerers = Answerers { people: to.people, principals: Some(principals.try_into()?) };
    let facts = QuestionPassedOn { attribution: None, answerers, question: id.sequence };
    let content = Content::QuestionPassedOn(words(speaker.by(), to.reason.clone(), "passed on")?);
    say(owner, id, speaker, saying(facts, content)).map_err(|error| lost(error, owner, id))?;
    done(owner, id)
}

/// Gives more time, in the asker's name. `by` is whoever wanted it.
pub fn extend(
    owner: &Owner,
    question: &QuestionView,
    asker: Arc<Author>,
    by: Option<Text<1, 256>>,
    extension: &Extension,
) -> Result<Done, Refusal> {
    let id = question.id;
    let deadline = question.deadline.ok_or_else(|| lost(no_deadline(question), owner, id))?;
    let deadline: Timestamp = deadline.plus_millis(extension.seconds.as_u64().saturating_mul(1000));
    let facts = QuestionExtended { deadline, question: id.sequence };
    let content = Content::QuestionExtended(words(by, extension.reason.clone(), "more time is needed")?);
    say(owner, id, &Speaker::Key(asker), saying(facts, content)).map_err(|error| lost(error, owner, id))?;
    done(owner, id)
}

/// Returns why a question without a deadline gets no more time: it is over, or it needs none.
fn no_deadline(question: &QuestionView) -> Refusal {
    let QuestionView { id, outcome, .. } = question;
    if let Some(ending) = outcome {
        let message = format!("question {} is closed: {}", id.sequence, ending.state);
        return Refusal::new(Code::Rule(RuleCode::QUESTION_CLOSED), message);
    }
    let message = "expected a question with a deadline, found one that waits as long as it takes";
    Refusal::new(Code::NoDeadline, message)
        .with_cure(format!("nothing needs to be extended; `demur show {id}` shows it"))
}

/// Says that the asker no longer needs an answer. `by` is the person who wants it so; none where the asker itself does.
pub fn cancel(
    owner: &Owner,
    question: &QuestionView,
    asker: Arc<Author>,
    by: Option<Text<1, 256>>,
    act: &Act,
) -> Result<Done, Refusal> {
    let id = question.id;
    if question.state == OutcomeKind::Cancelled && question.asker.principal == asker.principal() {
        return Ok(repeated(question));
    }
    let facts = QuestionCancelled { question: id.sequence };
    let is_by_person = by.is_some();
    let content = Content::QuestionCancelled(words(by, act.reason.clone(), "no reason given")?);
    let (speaker, saying) = (Speaker::Key(asker), saying(facts, content));
    records::retry(|| {
        // A hook may be set in this very moment: then the commit is refused, and the next look says why.
        let unhooked = marks::release(owner, question, is_by_person)?;
        session::say_with(owner, id.trace, &speaker, saying.clone(), &unhooked)
    })
    .map_err(|error| lost(error, owner, id))?;
    done(owner, id)
}

/// What is said about a gap.
struct Settling {
    /// None where it is accepted as it is.
    answer: Option<String>,
    note: Option<Text<1, 4096>>,
    wording: Wording,
}

/// Settles a gap of a plan: the rules are asked what else follows.
fn settle_gap(
    owner: &Owner,
    question: &QuestionView,
    speaker: &Speaker,
    Settling { answer, note, wording }: Settling,
) -> Result<Done, Refusal> {
    let session = Uuid::try_from(question.trace.as_ulid().as_u128()).map_err(|error| Refusal::bug(&error))?;
    let gap = question.gap.as_deref().unwrap_or_default();
    let resolution = Resolution { session, gap, answer: answer.as_deref(), note };
    let (at, judged) = plan::resolve_shown(owner, speaker, &resolution, wording)
        .map_err(|error| lost(error, owner, question.id))?;
    let unsettled = judged.unsettled();
    // A gap that was put again has another place now.
    let now = view(owner, question.id).unwrap_or_else(|_| question.clone());
    Ok(Done { question: now, repeated: at.is_none() && unsettled.is_none(), unsettled })
}

pub(super) fn say(
    owner: &Owner,
    id: QuestionId,
    speaker: &Speaker,
    act: act::Act,
) -> Result<Position, Refusal> {
    session::say(owner, id.trace, speaker, act)
}

pub(super) fn saying(facts: impl Into<Facts>, content: Content) -> act::Act {
    act::Act { facts: facts.into(), content, consequences: Consequences::default(), papers: None }
}

pub(super) fn repeated(question: &QuestionView) -> Done {
    Done { question: question.clone(), repeated: true, unsettled: None }
}

pub(super) fn done(owner: &Owner, id: QuestionId) -> Result<Done, Refusal> {
    Ok(Done { question: view(owner, id)?, repeated: false, unsettled: None })
}

/// Returns the refusal with who was first, when and how, or with what is sure enough.
pub(super) fn lost(error: Refusal, owner: &Owner, id: QuestionId) -> Refusal {
    if error.code == Code::Rule(RuleCode::OUT_OF_PHASE) && run::is_over(owner, id.trace).unwrap_or(false) {
        let message =
            format!("the run of question {id} is over: nobody can answer it, and it blocks nothing");
        return Refusal::new(Code::RunOver, message);
    }
    let question = view(owner, id).ok();
    // About this question: an answer that uncovers a stricter one is refused under the same code.
    if error.code == Code::Rule(RuleCode::ASSURANCE_TOO_LOW)
        && error.field.as_deref() == Some("facts.assurance")
        && let Some(question) = &question
    {
        let (who, way) = (needed(question.assurance), way(question));
        return error.with_cure(format!("the asker wants the word of {who}: {way}"));
    }
    let ending = question.and_then(|question| question.outcome);
    let Some(ending) = ending.filter(|_| error.code.is_late()) else {
        return error;
    };
    let first = Box::new(ending.clone());
    let by = ending.by.unwrap_or_else(|| "demur".to_owned());
    let how =
        ending.assurance.map_or_else(String::new, |assurance| format!(", {}", assurance_word(assurance)));
    let (state, time) = (&ending.state, ending.time);
    let cure = format!("it was {state} by {by} at {time}{how}; nothing changed; `demur show {id}` shows it");
    Refusal { outcome: Some(first), ..error.with_cure(cure) }
}

/// Returns whether this very answer counts already.
pub(super) fn is_repeated(question: &QuestionView, speaker: &Speaker, answer: &AnswerValue) -> bool {
    let Some(ending) = question.outcome.as_ref().filter(|ending| ending.state == OutcomeKind::Answered)
    else {
        return false;
    };
    is_by(ending, speaker) && ending.value.as_ref() == Some(answer)
}

/// Returns whether this one did it.
pub(super) fn is_by(ending: &Ending, speaker: &Speaker) -> bool {
    match speaker {
        Speaker::Key(author) => ending.principal == Some(author.principal()),
        // Whoever answered without their passkey is the same person with it, and the other way round.
        Speaker::Passkey(passkey) => match ending.principal {
            Some(principal) => principal == passkey.person().principal(),
            None => ending.by.as_deref() == Some(passkey.name().as_str()),
        },
        Speaker::Person { name, way, .. } => match ending.principal {
            Some(principal) => way.person.is_some_and(|person| person.principal() == principal),
            None => ending.by.as_deref() == Some(name.as_str()),
        },
    }
}

/// Returns the kind of an answer among those that fit, and the number of the choice.
pub(super) fn kind_of(
    question: &QuestionView,
    answer: &AnswerValue,
) -> Result<(AnswerKind, Option<Whole<0, 31>>), Refusal> {
    let has = |kind| question.kinds.contains(&kind);
    let chosen = match answer {
        AnswerValue::Text(text) => {
            question.choices.iter().position(|choice| choice.value.as_str() == text.as_str())
        }
        _ => None,
    };
    let kind = match answer {
        AnswerValue::Text(_) if has(AnswerKind::Secret) => AnswerKind::Secret,
        AnswerValue::Text(_) if has(AnswerKind::MultipleChoice) && chosen.is_some() => {
            AnswerKind::MultipleChoice
        }
        AnswerValue::Text(_) if has(AnswerKind::Freetext) => AnswerKind::Freetext,
        AnswerValue::Flag(_) if has(AnswerKind::YesNo) => AnswerKind::YesNo,
        AnswerValue::Number(_) if has(AnswerKind::Numeric) => AnswerKind::Numeric,
        _ => return Err(misfit(question)),
    };
    let choice = chosen.filter(|_| kind == AnswerKind::MultipleChoice);
    Ok((kind, choice.map(|number| Whole::try_from(number as u64)).transpose()?))
}

fn misfit(question: &QuestionView) -> Refusal {
    let words = question.kinds.iter().map(|kind| match kind {
        AnswerKind::Freetext | AnswerKind::Secret => "a text".to_owned(),
        AnswerKind::YesNo => "true or false".to_owned(),
        AnswerKind::Numeric => "a number".to_owned(),
        AnswerKind::MultipleChoice => {
            let values: Vec<_> =
                question.choices.iter().map(|choice| format!("{:?}", choice.value.as_str())).collect();
            format!("one of {}", values.join(", "))
        }
    });
    let expected = words.collect::<Vec<_>>().join(" or ");
    Refusal::new(Code::AnswerKind, format!("expected {expected}, found another answer"))
        .about("answer")
        .with_cure("the question is still open: answer again")
}

/// Returns what somebody sees who is shown this wording and all choices in the asker's order.
pub(super) fn shown(question: &QuestionView, wording: Wording) -> Result<Shown, Refusal> {
    let choices = (0..question.choices.len() as u64).map(Whole::try_from).collect::<Result<Vec<_>, _>>()?;
    Ok(Shown {
        choices: choices.try_into()?,
        language: Text::try_from(question.language.as_deref().unwrap_or("en"))?,
        recommendation: question.recommendation.is_some(),
        wording,
    })
}

pub(super) fn words(
    by: Option<Text<1, 256>>,
    reason: Option<Text<1, 4096>>,
    otherwise: &str,
) -> Result<ActContent, Refusal> {
    Ok(ActContent { by, reason: reason.map_or_else(|| Text::try_from(otherwise), Ok)? })
}

/// Returns whether somebody of this name has a key for answering.
pub fn has_answering_key(owner: &Owner, name: &str) -> Result<bool, Refusal> {
    Ok(answering_key(owner, name)?.is_some())
}

fn answering_key(owner: &Owner, name: &str) -> Result<Option<PrincipalId>, Refusal> {
    let answers = |entry: &KeyEntry| {
        entry.name == name && entry.status == Status::Active && entry.roles.contains(&Role::Answerer)
    };
    Ok(owner.entries()?.into_iter().find(answers).map(|entry| entry.principal))
}

/// Returns the principal that has a key for answering under this name.
fn principal(owner: &Owner, name: &str) -> Result<PrincipalId, Refusal> {
    answering_key(owner, name)?.ok_or_else(|| {
        Refusal::new(
            Code::KeyUnknown,
            format!("expected a key of {name:?} that speaks as answerer, found none"),
        )
        .with_cure("make it with `demur keys new NAME --role answerer`")
    })
}
