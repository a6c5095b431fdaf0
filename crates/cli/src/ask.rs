//! `demur ask`: a question from a shell, and its answer alone on standard output.

use std::time::Duration;

use demur_core::{
    id::Ulid,
    limit::{List, Text, Whole},
};
use demur_desk::question::{Ask as Question, Delivered, QuestionId, QuestionView, typed};
use demur_ledger::{content::AnswerValue, facts::AnswerKind};
use serde::Serialize;

use crate::{
    arguments::{Ask, Kind},
    client::{Call, Client},
    context::Context,
    error::CommandError,
    exit::Exit,
    output::{Paint, Reply},
    world::World,
};

/// Asks, waits and prints the answer.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Ask) -> Result<Exit, CommandError> {
    let question = question(arguments)?;
    let client = Client::open(context)?;
    let world = World::open()?;
    let key = Ulid::new(world.now()?, &mut { world }).to_string();
    let path = format!("/v1/questions?as={}", percent(&arguments.asker));
    // A retry of the same request finds the question that the first one asked.
    let asked: QuestionView = client.call(&Call::post(&path, &question)?.under(key))?;
    if arguments.no_wait {
        context.output.reply(&Asked { id: asked.id })?;
        return Ok(Exit::Success);
    }
    context.output.remark(&format!("Waiting for an answer to {}: `demur inbox` shows it.", asked.id));
    let ended = wait(&client, asked.id)?;
    let secret =
        if arguments.secret && ended.state == "answered" { Some(take(&client, asked.id)?) } else { None };
    tell(context, &ended, secret.as_ref())?;
    if secret.is_some() {
        // It has arrived: nobody needs it any more.
        client.send(&Call::delete(&format!("/v1/questions/{}/secret", asked.id)))?;
    }
    Ok(exit(&ended))
}

fn question(arguments: &Ask) -> Result<Question, CommandError> {
    let mut question = Question::new(arguments.question.clone());
    let kind = match (arguments.kind, arguments.secret, arguments.choice.is_empty()) {
        (_, true, _) => AnswerKind::Secret,
        (Some(Kind::YesNo), ..) => AnswerKind::YesNo,
        (Some(Kind::Number), ..) => AnswerKind::Numeric,
        (Some(Kind::Choice), ..) | (None, _, false) => AnswerKind::MultipleChoice,
        (Some(Kind::Text), ..) | (None, _, true) => AnswerKind::Freetext,
    };
    let chooses = kind == AnswerKind::MultipleChoice;
    if chooses == arguments.choice.is_empty() || arguments.choice.len() == 1 {
        let message = "expected two or more --choice exactly with --kind choice, found another number";
        return Err(CommandError::input("USAGE", message).with_hint("`demur ask --help` has examples"));
    }
    question.kinds = vec![kind].try_into()?;
    question.choices = List::try_from(arguments.choice.clone())
        .map_err(|error| CommandError::input("USAGE", format!("--choice: {error}")))?;
    question.field.clone_from(&arguments.field);
    question.context.clone_from(&arguments.context);
    question.default =
        arguments.default.as_deref().map(|words| default(arguments, kind, words)).transpose()?;
    let seconds = arguments.timeout.map(|time| Whole::try_from(time.as_secs())).transpose();
    question.timeout_seconds =
        seconds.map_err(|error| CommandError::input("USAGE", format!("--timeout: {error}")))?;
    Ok(question)
}

/// Returns the default as an answer of the kind that is asked for.
fn default(arguments: &Ask, kind: AnswerKind, words: &str) -> Result<AnswerValue, CommandError> {
    let found = match kind {
        AnswerKind::YesNo | AnswerKind::Numeric => typed(&[kind], &[], words).ok(),
        // A text as it is, and a choice by its value alone: a script says what it means.
        _ => Text::try_from(words).ok().map(AnswerValue::Text),
    };
    found.filter(|value| value.fits(kind, &arguments.choice)).ok_or_else(|| {
        let message =
            format!("expected --default to be an answer of the kind that is asked for, found {words:?}");
        CommandError::input("USAGE", message).with_hint("yes or no, a number, or the value of a choice")
    })
}

/// Returns the question once it is no longer open, however often the server is replaced meanwhile.
pub(crate) fn wait(client: &Client, id: QuestionId) -> Result<QuestionView, CommandError> {
    let path = format!("/v1/questions/{id}/wait?seconds={}", AT_A_TIME.as_secs());
    loop {
        match client.call::<QuestionView>(&Call::get(&path)) {
            Ok(shown) if shown.state != "open" => return Ok(shown),
            Ok(_) => {}
            // Another command has the folder for long, or the server is away: the question is still there.
            Err(error) if error.is_passing() => {}
            Err(error) => return Err(error),
        }
    }
}

fn take(client: &Client, id: QuestionId) -> Result<Delivered, CommandError> {
    client.call(&Call::get(&format!("/v1/questions/{id}/secret")))
}

/// Prints the answer, and nothing else, on standard output.
fn tell(
    context: &mut Context<'_>,
    question: &QuestionView,
    secret: Option<&Delivered>,
) -> Result<(), CommandError> {
    if context.output.is_json() {
        return context.output.reply(&Ended { question, secret });
    }
    let ending = question.outcome.as_ref();
    let value = secret.map(|secret| secret.value.clone());
    let value = value.or_else(|| ending.and_then(|ending| ending.value.as_ref()).map(ToString::to_string));
    if let Some(value) = value {
        context.output.write(format!("{value}\n").as_bytes())?;
    }
    if question.state != "answered" {
        let note = ending.and_then(|ending| ending.note.as_deref()).unwrap_or_default();
        let by =
            ending.and_then(|ending| ending.by.as_deref()).map_or_else(String::new, |by| format!(" by {by}"));
        context.output.remark(&format!("The question was {}{by}. {note}", question.state));
    }
    Ok(())
}

fn exit(question: &QuestionView) -> Exit {
    match question.state.as_str() {
        "answered" | "accepted" => Exit::Success,
        "declined" => Exit::Declined,
        "expired" => Exit::Expired,
        "defaulted" => Exit::Defaulted,
        _ => Exit::Cancelled,
    }
}

/// Returns a word as it may stand in a path or a query.
fn percent(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    word.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[derive(Serialize)]
struct Asked {
    id: QuestionId,
}

impl Reply for Asked {
    fn lines(&self, _: Paint) -> Vec<String> {
        vec![self.id.to_string()]
    }
}

#[derive(Serialize)]
struct Ended<'a> {
    question: &'a QuestionView,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<&'a Delivered>,
}

impl Reply for Ended<'_> {
    fn lines(&self, _: Paint) -> Vec<String> {
        Vec::new()
    }
}

/// How long one request waits: a connection that is broken without a word is noticed then.
const AT_A_TIME: Duration = Duration::from_mins(5);
