//! What the inbox says.

use demur_api::question::{Done, QuestionView};
use demur_core::visible::visible;

use super::line::Number;
use crate::{
    keys::clock,
    output::{Paint, counted_as},
    question::{self, from, kinds, listed, remarks, state, weight},
};

/// Returns what can be typed.
pub(super) fn help(live: bool) -> Vec<String> {
    let mut lines: Vec<String> = HELP.iter().map(|(typed, does)| format!("  {typed:<12} {does}")).collect();
    if !live {
        lines.push(format!("  {:<12} tell what happened meanwhile", "Enter"));
    }
    lines.push("Words in full work, too: decline 3, extend 3 10m. A reason may be left out.".to_owned());
    lines
}

/// Returns the first line of the list.
pub(super) fn count(open: u64, live: bool) -> String {
    let comes = if live { "at once" } else { "when you press Enter" };
    match open {
        0 => {
            format!("Nothing waits. A question that somebody asks shows here {comes}. {KEYS}")
        }
        1 => format!("1 question waits. Type its number to read it, or its number and your answer. {KEYS}"),
        open => {
            format!("{open} questions wait. Type a number to read one, or its number and your answer. {KEYS}")
        }
    }
}

/// Returns a question as the list has it.
pub(super) fn lines(number: Number, question: &QuestionView) -> Vec<String> {
    let until = question.deadline.map_or_else(String::new, |time| format!("; until {}", clock(time)));
    let about = format!(
        "from {}; {}; {}{until}{}",
        from(question),
        weight(question),
        kinds(question),
        remarks(question, "; ")
    );
    let mut lines = listed(question, &about, &format!("type {number}"));
    if let Some(first) = lines.first_mut() {
        *first = format!("{number}. {first}");
    }
    lines
}

/// Returns the lines of a question that was just asked.
pub(super) fn new(number: Number, question: &QuestionView) -> Vec<String> {
    let mut lines = lines(number, question);
    if let Some(first) = lines.first_mut() {
        *first = format!("New: {first}");
    }
    lines
}

/// Returns the line of a question to which something happened.
pub(super) fn changed(number: Number, question: &QuestionView) -> String {
    match &question.outcome {
        Some(_) => format!("{number} was {}", state(question)),
        None => format!("{number} changed: {}", state(question)),
    }
}

/// Returns the line of new questions that were too many to show.
pub(super) fn untold(count: u64) -> String {
    let questions = counted_as(count, "more question was", "more questions were");
    format!("{questions} asked. `l` lists what is open, `m` goes on.")
}

/// Returns the line for somebody who came second.
pub(super) fn too_late(number: Number, question: &QuestionView) -> String {
    question::too_late(&number.to_string(), question)
}

/// Returns which numbers somebody may have meant who named one that is settled.
pub(super) fn these_wait(open: &[Number]) -> String {
    let shown: Vec<String> = open.iter().take(MAX_NUMBERS).map(Number::to_string).collect();
    let more = if open.len() > MAX_NUMBERS { " and more" } else { "" };
    match &shown[..] {
        [] => String::new(),
        [one] => format!(" This one waits: {one}."),
        several => format!(" These wait: {}{more}.", several.join(", ")),
    }
}

/// Returns the line of what was done.
pub(super) fn done(number: Number, done: &Done, paint: Paint) -> String {
    if let Some(why) = &done.unsettled {
        return format!("{} {number} stays open: {}", paint.bad("Not settled:"), visible(why));
    }
    let again = if done.repeated { " It was so before; nothing was recorded now." } else { "" };
    format!("{} {number} is {}.{again}", paint.good("Done:"), state(&done.question))
}

/// What helps, and what ends it.
const KEYS: &str = "`?` helps, `q` quits.";
/// How many numbers are named at once.
const MAX_NUMBERS: usize = 10;
/// What can be typed, and what it does.
const HELP: [(&str, &str); 12] = [
    ("3", "show question 3 in full; a secret is then asked for, unseen"),
    ("3 ANSWER", "answer it: a text, yes or no, a number, or a choice by number, value or label"),
    ("d 3 REASON", "decline: nobody here will answer"),
    ("a 3 REASON", "accept what a \"please confirm\" points at"),
    ("x 3 10m", "extend: ten minutes more"),
    ("p 3 NAME", "pass it to somebody by name; `p 3` alone to people"),
    ("c 3 REASON", "cancel: no answer is needed any more"),
    ("o1", "show operation 1 in full, which waits for a yes or a no"),
    ("o1 yes NOTE", "confirm exactly that, once it was shown; `o1 no REASON` refuses it"),
    ("l", "list what is open"),
    ("m", "more of the list"),
    ("q", "quit; what is open stays open"),
];
