//! `demur inbox --list`: what waits, page by page, however much it is.

use demur_api::{
    confirmation::ConfirmationView,
    question::{QuestionId, QuestionListParameters, QuestionView},
};
use demur_core::{canonical, visible::visible};
use demur_ledger::question::OutcomeKind;

use crate::{
    client::Client,
    confirm,
    context::Context,
    failure::Failure,
    lookup::QuestionNumbers,
    question::{self, state, summary},
};

/// Prints what waits, or everything.
pub(super) fn run(context: &mut Context<'_>, client: &Client, all: bool) -> Result<(), Failure> {
    let json = context.output.is_json();
    let numbers = QuestionNumbers::of(&context.data()?);
    let state = (!all).then(|| OutcomeKind::Open.to_string());
    let turns = (!all).then_some(true);
    let mut query =
        QuestionListParameters { state, turns, limit: Some(PAGE), ..QuestionListParameters::default() };
    let mut count = 0;
    // The first page comes before the first word: a failure says nothing but why.
    let mut page = question::page(client, query.clone())?;
    loop {
        let mut text = Vec::new();
        // Programs name questions by their ids.
        let ids: Vec<QuestionId> = page.questions.iter().map(|question| question.id).collect();
        let given = if json { vec![None; ids.len()] } else { numbers.assign(&ids) };
        if numbers.was_held() && count == 0 {
            context.output.notice(HELD);
        }
        for (question, number) in page.questions.iter().zip(given) {
            count += 1;
            if json {
                text.extend_from_slice(if count == 1 { BEGIN } else { b"," });
                text.extend(canonical::to_vec(question)?);
            } else {
                text.extend(lines(number, question, all).into_bytes());
            }
        }
        context.output.write(&text)?;
        match page.next {
            Some(next) if !context.output.is_deserted() => query.after = Some(next),
            _ => break,
        }
        page = question::page(client, query.clone())?;
    }
    let mut waiting = confirm::open(client)?;
    // The oldest first, as questions are.
    waiting.reverse();
    if json {
        let mut text = if count == 0 { BEGIN.to_vec() } else { Vec::new() };
        text.extend_from_slice(b"],\"confirmations\":");
        text.extend(canonical::to_vec(&waiting)?);
        text.extend_from_slice(b"}\n");
        return context.output.write(&text);
    }
    if count == 0 && waiting.is_empty() {
        return context.output.write(format!("{EMPTY}\n").as_bytes());
    }
    let lines: String = waiting.iter().map(|one| operation(context, one)).collect();
    context.output.write(lines.as_bytes())
}

/// Returns an operation that waits for a yes or a no as the list has it. It is no question, and has no number among them.
fn operation(context: &Context<'_>, one: &ConfirmationView) -> String {
    let (id, asker) = (one.id, visible(&one.asker.name).into_owned());
    let show = context.typed(&format!("confirm show {id}"));
    format!("- {}\n   from {asker}; waits for a yes or a no: `{show}`\n   {id}\n", confirm::action(one))
}

/// Prints that nothing waits because there is no data folder, and what to do about that.
pub(super) fn nothing(context: &mut Context<'_>, missing: &Failure) -> Result<(), Failure> {
    if context.output.is_json() {
        return context.output.write(b"{\"questions\":[],\"confirmations\":[]}\n");
    }
    let hint = missing.hint().unwrap_or_default();
    context.output.write(format!("Nothing waits: {missing}.\n{hint}\n").as_bytes())
}

/// Returns a question as the list has it: its words and its id, among all questions also how it stands. Without a number
/// it is named by its id.
fn lines(number: Option<usize>, question: &QuestionView, all: bool) -> String {
    let name = number.map_or_else(|| question.id.to_string(), |number| number.to_string());
    let words = summary(question, &format!("demur show {name}")).join("\n   ");
    let number = number.map_or_else(|| "-".to_owned(), |number| format!("{number}."));
    let stands = if all { format!("   {}\n", state(question)) } else { String::new() };
    format!("{number} {words}\n{stands}   {}\n", question.id)
}

/// How many are read at once.
const PAGE: usize = 200;
const BEGIN: &[u8] = b"{\"questions\":[";
const HELD: &str =
    "Ids stand in place of numbers: another program has had the file of the numbers locked for 2 s.";
const EMPTY: &str = "Nothing waits. `demur inbox` shows a question as soon as somebody asks it.";
