//! `demur show`, `answer`, `decline`, `extend`, `pass`, `cancel`, and `inbox --list`: one question, or the list of them.

mod change;
mod lines;

use std::{
    fs::File,
    io::{self, IsTerminal as _, Read as _},
    os::fd::AsFd as _,
};

use demur_api::{
    call::ApiRequest,
    code::{Code, RuleCode},
    operation::{
        self, AcceptQuestion, CancelQuestion, DeclineQuestion, DeliverQuestions, ListQuestions, NoArguments,
        Nothing, OfQuestion, Operation,
    },
    question::{
        Act, Answer, Deliveries, Done, Extension, Listed, Passing, QuestionId, QuestionListParameters,
        QuestionView, typed,
    },
    refusal::Refusal,
};
use demur_core::{limit::Whole, visible::visible};
use demur_ledger::{facts::AnswerKind, question::RestedEvent};
use serde::Serialize;
use zeroize::Zeroizing;

pub(crate) use lines::{describe, from, kinds, listed, remarks, state, summary, too_late, weight};

use crate::{
    arguments::{ActOnQuestion, AnswerQuestion, ExtendQuestion, PassQuestion, ShowQuestion},
    client::{Client, SocketRequest},
    context::Context,
    exit::Exit,
    failure::Failure,
    inbox, lookup,
    output::{Paint, Reply},
};

/// Shows a question and how it stands.
pub(crate) fn show(context: &mut Context<'_>, arguments: &ShowQuestion) -> Result<(), Failure> {
    let client = Client::of_existing(context)?;
    let question = fetch(&client, lookup::question(context, &arguments.question)?)?;
    let (id, waits) = (question.id, question.is_open());
    let rested = change::rested(&client, id)?;
    context.output.reply(&Shown { question, rested })?;
    // A program that looks is nobody who was shown it.
    if waits && context.output.is_live() { delivered(&client, vec![id]) } else { Ok(()) }
}

/// Answers a question.
pub(crate) fn answer(context: &mut Context<'_>, arguments: &AnswerQuestion) -> Result<Exit, Failure> {
    let client = Client::of_existing(context)?;
    let id = lookup::question(context, &arguments.question)?;
    if arguments.revoke {
        return change::revoke(context, &client, id, arguments.reason.clone());
    }
    let Some(words) = &arguments.answer else {
        let act = Act { reason: arguments.note.clone(), by: None };
        return told(context, &client, id, act_on::<AcceptQuestion>(&client, id, act));
    };
    let shown = fetch(&client, id)?;
    let words = match words.as_str() {
        "-" => read(context, &shown, arguments.replace)?,
        _ if shown.kinds.contains(&AnswerKind::Secret) => return Err(told_to_all(context, id)),
        words => Zeroizing::new(words.to_owned()),
    };
    let stays = match (arguments.replace, shown.is_open()) {
        (true, _) => "the answer stays as it is",
        (false, true) => "the question is still open",
        (false, false) => "the question is settled, nothing was recorded",
    };
    let given = Answer {
        answer: typed(&shown.kinds, &shown.choices, &words).map_err(|error| {
            Failure::from(error).with_hint(format!("{stays}; `demur show {id}` shows what fits"))
        })?,
        note: arguments.note.clone(),
        request: shown.request,
        by: None,
    };
    if arguments.replace {
        return change::replace(context, &client, &shown, given);
    }
    told(context, &client, id, act_on::<operation::AnswerQuestion>(&client, id, given))
}

/// Says that nobody here will answer.
pub(crate) fn decline(context: &mut Context<'_>, arguments: &ActOnQuestion) -> Result<Exit, Failure> {
    let client = Client::of_existing(context)?;
    let act = Act { reason: arguments.reason.clone(), by: None };
    let id = lookup::question(context, &arguments.question)?;
    told(context, &client, id, act_on::<DeclineQuestion>(&client, id, act))
}

/// Says that no answer is needed any more.
pub(crate) fn cancel(context: &mut Context<'_>, arguments: &ActOnQuestion) -> Result<Exit, Failure> {
    let client = Client::of_existing(context)?;
    let act = Act { reason: arguments.reason.clone(), by: None };
    let id = lookup::question(context, &arguments.question)?;
    told(context, &client, id, act_on::<CancelQuestion>(&client, id, act))
}

/// Gives more time.
pub(crate) fn extend(context: &mut Context<'_>, arguments: &ExtendQuestion) -> Result<Exit, Failure> {
    let client = Client::of_existing(context)?;
    let extension = Extension {
        seconds: Whole::try_from(arguments.time.as_secs())?,
        reason: arguments.reason.clone(),
        by: None,
    };
    let id = lookup::question(context, &arguments.question)?;
    told(context, &client, id, more_time(&client, id, extension))
}

/// Hands a question to others.
pub(crate) fn pass(context: &mut Context<'_>, arguments: &PassQuestion) -> Result<Exit, Failure> {
    let client = Client::of_existing(context)?;
    let to =
        arguments.to.clone().try_into().map_err(|error| Failure::input("USAGE", format!("--to: {error}")))?;
    let passing = Passing { to, people: arguments.people, reason: arguments.reason.clone(), by: None };
    let id = lookup::question(context, &arguments.question)?;
    let done = act_on::<operation::PassQuestion>(&client, id, passing);
    match done {
        Ok(done) if done.unsettled.is_none() && !done.repeated => {
            let to = arguments.to.iter().map(|name| visible(name).into_owned()).collect();
            context.output.reply(&Passed { done, to })?;
            Ok(Exit::Success)
        }
        done => told(context, &client, id, done),
    }
}

/// Returns a question as it stands.
pub(crate) fn fetch(client: &Client, id: QuestionId) -> Result<QuestionView, Failure> {
    client.call(ApiRequest::<operation::ShowQuestion>::get(OfQuestion { question: id }, Nothing {}))
}

/// Records that questions were shown here. What cannot be recorded is shown all the same.
pub(crate) fn delivered(client: &Client, questions: Vec<QuestionId>) -> Result<(), Failure> {
    let (Ok(questions), channel) = (questions.try_into(), "terminal".try_into()?) else { return Ok(()) };
    let deliveries = Deliveries { questions, channel, to: None };
    let request = ApiRequest::<DeliverQuestions>::send(NoArguments {}, deliveries);
    client
        .call_with(&request, SocketRequest::in_passing)
        .map(drop)
        .or_else(|error| if error.is_passing() { Ok(()) } else { Err(error) })
}

/// Returns a page of questions.
pub(crate) fn page(client: &Client, query: QuestionListParameters) -> Result<Listed, Failure> {
    client.call(ApiRequest::<ListQuestions>::get(NoArguments {}, query))
}

/// Does something about a question that a second time changes nothing.
pub(crate) fn act_on<O>(client: &Client, id: QuestionId, document: O::Body) -> Result<Done, Failure>
where
    O: Operation<Path = OfQuestion, Query = Nothing, Output = Done>,
{
    client.call(ApiRequest::<O>::send(OfQuestion { question: id }, document))
}

/// Gives more time, once: a second time would give it again.
pub(crate) fn more_time(client: &Client, id: QuestionId, extension: Extension) -> Result<Done, Failure> {
    let request = ApiRequest::<operation::ExtendQuestion>::send(OfQuestion { question: id }, extension);
    client.call_with(&request, SocketRequest::once)
}

/// Returns the answer that comes over standard input. A secret at a terminal is typed unseen.
fn read(
    context: &mut Context<'_>,
    shown: &QuestionView,
    replaces: bool,
) -> Result<Zeroizing<String>, Failure> {
    let secret = shown.kinds.contains(&AnswerKind::Secret);
    if !secret || !io::stdin().is_terminal() {
        return from_input("answer", secret);
    }
    if shown.outcome.is_some() && !replaces {
        return Err(late(context, Refusal::new(Code::Rule(RuleCode::QUESTION_CLOSED), ""), shown));
    }
    inbox::secret(context)?.ok_or_else(|| {
        let again = context.typed(&format!("answer {} -", shown.id));
        Failure::input("ANSWER_MISSING", "expected a secret, found none: the question stays open")
            .with_hint(format!("`{again}` asks for it again"))
    })
}

/// Returns the refusal of a secret that was typed into a command: whoever lists processes has seen it.
fn told_to_all(context: &Context<'_>, id: QuestionId) -> Failure {
    let again = context.typed(&format!("answer {id} -"));
    let message = "expected a secret where nobody sees it, found it in the command: other programs and the history of your \
                   shell may have it now; nothing was sent";
    Failure::input("SECRET_IN_COMMAND", message).with_hint(format!(
        "change that secret, then run `{again}`: it asks for it unseen, or reads it from a pipe"
    ))
}

/// Returns the text on standard input, for a command that takes `-`.
pub(crate) fn from_input(command: &str, secret: bool) -> Result<Zeroizing<String>, Failure> {
    // Not through the buffer of standard input, which nobody wipes; with room for all of it, so that it is never moved.
    let mut text = Zeroizing::new(String::with_capacity(MAX_ANSWER_BYTES + 1));
    let input = io::stdin().as_fd().try_clone_to_owned().map(File::from);
    let read = input.and_then(|input| input.take(MAX_ANSWER_BYTES as u64).read_to_string(&mut text));
    read.map_err(|error| {
        Failure::of(Code::FileUnreadable, format!("cannot read standard input: {error}"))
            .with_hint(format!("it has to be text in UTF-8; `demur {command} --help` shows how to give it"))
    })?;
    // The line feed that ends a line is no part of a secret.
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(Zeroizing::new(if secret { line.to_owned() } else { line.trim().to_owned() }))
}

/// Says what came of an act; somebody who came too late hears how the question ended.
fn told(
    context: &mut Context<'_>,
    client: &Client,
    id: QuestionId,
    done: Result<Done, Failure>,
) -> Result<Exit, Failure> {
    let done = match done {
        Err(Failure::Refused(refusal)) if refusal.code.is_late() => {
            return Err(late(context, refusal, &fetch(client, id)?));
        }
        done => done?,
    };
    let exit = if done.unsettled.is_some() { Exit::Refused } else { Exit::Success };
    context.output.reply(&Told(done))?;
    Ok(exit)
}

/// Returns a refusal in the words of the inbox, which name the time in the reader's zone.
fn late(context: &Context<'_>, refusal: Refusal, shown: &QuestionView) -> Failure {
    let message = too_late(&shown.id.to_string(), shown);
    let show = context.typed(&format!("show {}", shown.id));
    Refusal { message, ..refusal.with_cure(format!("`{show}` shows the question")) }.into()
}

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    question: QuestionView,
    /// What was done on answers that no longer count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rested: Vec<RestedEvent>,
}

impl Reply for Shown {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = describe(&self.question, paint);
        lines.extend(lines::rested(&self.rested, paint));
        lines
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Told(Done);

impl Reply for Told {
    fn lines(&self, paint: Paint) -> Vec<String> {
        lines::done(&self.0, paint)
    }
}

#[derive(Serialize)]
struct Passed {
    #[serde(flatten)]
    done: Done,
    #[serde(skip)]
    to: Vec<String>,
}

impl Reply for Passed {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let (to, people) = (self.to.join(", "), self.done.question.people);
        let passed = match (to.as_str(), people) {
            ("", _) => "passed to people".to_owned(),
            (to, true) => format!("passed to {to}. All people can still answer."),
            (to, false) => format!("passed to {to}"),
        };
        vec![format!("{} {passed}", paint.good("Done:"))]
    }
}

/// How much of standard input is read for an answer: more is no answer.
const MAX_ANSWER_BYTES: usize = 1 << 17;
