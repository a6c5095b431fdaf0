//! `demur ask`: a question from a shell, and its answer alone on standard output.

use std::io::{self, IsTerminal as _};

use demur_api::{
    call::{ApiRequest, IdempotencyKey},
    operation::{self, NoArguments},
    question::{Ask as Question, AskParameters, QuestionId, QuestionText, typed},
};
use demur_core::{
    id::Ulid,
    limit::{List, Text, Whole},
};
use demur_desk::operating_system::OperatingSystem;
use demur_ledger::{content::AnswerValue, facts::AnswerKind};
use serde::Serialize;

use crate::{
    arguments::{Ask, TypedQuestion},
    client::Client,
    context::Context,
    exit::Exit,
    failure::Failure,
    output::{Paint, Reply},
    question::from_input,
    wait::{self, Stops},
};

/// Asks, waits and prints the answer.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Ask) -> Result<Exit, Failure> {
    let question = question(arguments)?;
    let client = Client::open(context)?;
    let system = OperatingSystem::open()?;
    // A retry of the same request finds the question that the first one asked.
    let key = Ulid::new(system.now()?, &mut { system }).to_string();
    let key = Some(IdempotencyKey::try_from(key).map_err(|error| Failure::bug(&error))?);
    let query = AskParameters { asker: Some(arguments.asker.to_string()), ..AskParameters::default() };
    let request = ApiRequest::<operation::Ask> { path: NoArguments {}, query, body: question, key };
    let asked = client.call(request)?.question;
    // Before the caller hears of the question: from then on it may stop us.
    let stops = Stops::new(&client)?;
    let answer = if arguments.is_secret() { "-" } else { "ANSWER" };
    let command = context.typed(&format!("answer {} {answer}", asked.id));
    context.output.asked(asked.id, &command);
    if arguments.no_wait {
        context.output.reply(&Asked { id: asked.id })?;
        return Ok(Exit::Success);
    }
    wait::one_of(context, &client, stops, &[asked.id])
}

fn question(arguments: &Ask) -> Result<Question, Failure> {
    let mut question = Question::new(words(&arguments.question)?);
    let kind = match arguments.kind {
        _ if arguments.secret => AnswerKind::Secret,
        Some(kind) => kind.0,
        None if arguments.choice.is_empty() => AnswerKind::Freetext,
        None => AnswerKind::MultipleChoice,
    };
    let chooses = kind == AnswerKind::MultipleChoice;
    let wrong = match arguments.choice.len() {
        0 if chooses => Some("expected at least two --choice, found none".to_owned()),
        1 if chooses => Some("expected at least two --choice, found 1".to_owned()),
        found if found > 0 && !chooses => {
            Some(format!("expected --choice with --kind choice alone, found {found} with another kind"))
        }
        _ => None,
    };
    if let Some(message) = wrong {
        return Err(Failure::input("USAGE", message).with_hint("`demur ask --help` has examples"));
    }
    question.kinds = vec![kind].try_into()?;
    question.choices = List::try_from(arguments.choice.clone())
        .map_err(|error| Failure::input("USAGE", format!("--choice: {error}")))?;
    question.field.clone_from(&arguments.field);
    question.context.clone_from(&arguments.context);
    question.default =
        arguments.default.as_deref().map(|words| default(arguments, kind, words)).transpose()?;
    let seconds = arguments.timeout.map(|time| Whole::try_from(time.as_secs())).transpose();
    question.timeout_seconds =
        seconds.map_err(|error| Failure::input("USAGE", format!("--timeout: {error}")))?;
    Ok(question)
}

/// Returns the words of the question.
fn words(typed: &TypedQuestion) -> Result<QuestionText, Failure> {
    if let TypedQuestion::Words(words) = typed {
        return Ok(words.clone());
    }
    let wrong = |message: String| {
        Failure::input("USAGE", message).with_hint("`demur ask --help` shows how a question is asked")
    };
    if io::stdin().is_terminal() {
        return Err(wrong("expected the question on standard input, found a terminal".to_owned()));
    }
    let text = from_input("ask", false)?;
    QuestionText::try_from(text.as_str()).map_err(|error| wrong(format!("standard input: {error}")))
}

/// Returns the default as an answer of the kind that is asked for.
fn default(arguments: &Ask, kind: AnswerKind, words: &str) -> Result<AnswerValue, Failure> {
    let found = match kind {
        AnswerKind::YesNo | AnswerKind::Numeric => typed(&[kind], &[], words).ok(),
        // A text as it is, and a choice by its value alone: a script says what it means.
        _ => Text::try_from(words).ok().map(AnswerValue::Text),
    };
    found.filter(|value| value.fits(kind, &arguments.choice)).ok_or_else(|| {
        let message =
            format!("expected --default to be an answer of the kind that is asked for, found {words:?}");
        Failure::input("USAGE", message).with_hint("yes or no, a number, or the value of a choice")
    })
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
