//! A question as people read it. What came from the asker is shown as it is, with nothing hidden in it. Its lines are lines,
//! each but the first behind a bar: none of them can pass for a line of ours.

use demur_api::question::{Done, QuestionView, needed, way};
use demur_core::{visible::visible, words::clipped};
use demur_ledger::{
    attribution::assurance_word,
    facts::{AnswerKind, Assurance, Severity},
    question::{OutcomeKind, RestedEvent},
};

use crate::{
    keys::clock,
    output::{Paint, columns, counted, fitted},
};

/// Returns everything about a question.
pub(crate) fn describe(question: &QuestionView, paint: Paint) -> Vec<String> {
    let words = question.question.as_deref().unwrap_or("(erased)");
    let mut shown = fitted(words, columns(), BAR.len());
    let mut lines = vec![paint.strong(&shown.next().unwrap_or_default())];
    lines.extend(shown.map(|line| format!("{BAR}{}", paint.strong(&line))));
    lines.push(format!("  id        {}", question.id));
    let mut line = |name: &str, text: &str| {
        let mut shown = fitted(text, columns(), LABEL_COLUMNS);
        lines.push(format!("  {name:<9} {}", shown.next().unwrap_or_default()).trim_end().to_owned());
        lines.extend(shown.map(|line| format!("{:10}{BAR}{line}", "")));
    };
    line("asked by", &format!("{} at {}", visible(question.asked_by()), clock(question.asked)));
    if let Some(plan) = &question.plan {
        line("plan", &visible(&plan.words()));
    }
    line("weight", weight(question));
    if let Some(context) = &question.context {
        line("context", context);
    }
    if let Some(field) = &question.field {
        line("for", field);
    }
    if !question.blocks.is_empty() {
        let blocks: Vec<_> =
            question.blocks.iter().map(|block| visible(block.as_str()).into_owned()).collect();
        line("waits", &blocks.join(", "));
    }
    line("answer", &kinds(question));
    // Where only the choices fit, they are listed below.
    if !question.suggestions.is_empty() && question.kinds.contains(&AnswerKind::Freetext) {
        let said: Vec<_> = question.suggestions.iter().map(|said| visible(said)).collect();
        line("suggested", &format!("{}; any other text works, too", said.join(", ")));
    }
    if let Some(default) = &question.default {
        line("default", &default.to_string());
    }
    if let Some(recommended) = &question.recommendation {
        line("advice", &format!("the asker would choose {recommended}"));
    }
    line("until", &question.deadline.map_or_else(|| "as long as it takes".to_owned(), clock));
    if question.outcome.is_none() {
        line("needs", &format!("{}: {}", needed(question.assurance), way(question)));
    }
    line("state", &state(question));
    for (number, choice) in (1..).zip(&question.choices) {
        let (label, value) = (visible(&choice.label), visible(&choice.value));
        let choice = if label == value {
            format!("{number}. {label}")
        } else {
            format!("{number}. {label} ({value})")
        };
        let mut shown = fitted(&choice, columns(), LABEL_COLUMNS);
        lines.push(format!("    {}", shown.next().unwrap_or_default()));
        lines.extend(shown.map(|line| format!("    {BAR}{line}")));
    }
    lines
}

/// Returns what was done on answers that no longer count, each a warning.
pub(super) fn rested(events: &[RestedEvent], paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    for event in events {
        let words = event.to_string();
        let mut shown = fitted(&words, columns(), LABEL_COLUMNS);
        lines.push(format!("  {}   {}", paint.bad("warning"), shown.next().unwrap_or_default()));
        lines.extend(shown.map(|line| format!("{:10}{BAR}{line}", "")));
    }
    lines
}

/// Returns a question for a list: its words, as many as a list has room for, and what else a list says about it. `more` is
/// what shows the rest.
pub(crate) fn listed(question: &QuestionView, about: &str, more: &str) -> Vec<String> {
    listed_within(question, about, more, columns())
}

fn listed_within(question: &QuestionView, about: &str, more: &str, columns: Option<usize>) -> Vec<String> {
    let words = question.question.as_deref().or(question.terse.as_deref()).unwrap_or("(erased)");
    let about = format!("({about})");
    let (shown, is_cut) = beginning(words);
    let mut lines = barred(shown, columns);
    let together = format!("{} {about}", lines.concat());
    if !is_cut && lines.len() == 1 && fitted(&together, columns, LABEL_COLUMNS).count() == 1 {
        return vec![together];
    }
    if is_cut {
        lines.push(format!("  more: {more}"));
    }
    lines.extend(barred(&about, columns));
    lines
}

/// Returns the lines of a text for a list, each but the first behind the bar.
fn barred(text: &str, columns: Option<usize>) -> Vec<String> {
    let mut shown = fitted(text, columns, LABEL_COLUMNS);
    let first = shown.next().unwrap_or_default();
    [first].into_iter().chain(shown.map(|line| format!("{BAR}{line}"))).collect()
}

/// Returns a question in a list.
pub(crate) fn summary(question: &QuestionView, more: &str) -> Vec<String> {
    let about = format!("{}, {}{}", weight(question), from(question), remarks(question, ", "));
    listed(question, &about, more)
}

/// Returns who asks, and for whose plan.
pub(crate) fn from(question: &QuestionView) -> String {
    let asker = visible(question.asked_by());
    match &question.plan {
        Some(plan) => format!("{asker} for {}", visible(&plan.words())),
        None => asker.into_owned(),
    }
}

/// Returns what a list adds where it matters: that an answer at the terminal will not do, and that nobody waits.
pub(crate) fn remarks(question: &QuestionView, between: &str) -> String {
    let mut remarks = String::new();
    if question.outcome.is_some() {
        return remarks;
    }
    if question.assurance > Assurance::Terminal {
        remarks = format!("{between}needs {}", needed(question.assurance));
    }
    if question.waited_for == Some(false) {
        remarks = format!("{remarks}{between}{NOBODY}");
    }
    remarks
}

/// Returns as much of the words of a question as a list has room for, and whether that is not all.
fn beginning(words: &str) -> (&str, bool) {
    let words = words.trim_end_matches(['\n', '\r']);
    let line_end = words.match_indices('\n').nth(MAX_LISTED_LINES - 1).map(|(at, _)| at);
    let character_end = words.char_indices().nth(MAX_LISTED_CHARACTERS).map(|(at, _)| at);
    match [line_end, character_end].into_iter().flatten().min() {
        Some(end) => (&words[..end], true),
        None => (words, false),
    }
}

/// Returns what came of an act.
pub(super) fn done(done: &Done, paint: Paint) -> Vec<String> {
    let (question, words) = (&done.question, named(&done.question));
    if let Some(why) = &done.unsettled {
        return vec![format!("{} {words} stays open: {}", paint.bad("Not settled:"), visible(why))];
    }
    let again = if done.repeated { ". It was so before; nothing was recorded now." } else { "" };
    vec![format!("{} {words} is {}{again}", paint.good("Done:"), state(question))]
}

/// Returns what came of taking an answer back.
pub(super) fn revoked(done: &Done, paint: Paint) -> Vec<String> {
    let again = if done.repeated { " It was so before; nothing was recorded now." } else { "" };
    let words = named(&done.question);
    vec![format!(
        "{} the answer to {words} is taken back. The question is open again.{again}",
        paint.good("Done:")
    )]
}

/// Returns a question by how its words begin, on one line: somebody who typed `last` sees which one it was.
fn named(question: &QuestionView) -> String {
    let Some(words) = question.question.as_deref().or(question.terse.as_deref()) else {
        return format!("question {}", question.id);
    };
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("\"{}\"", visible(&clipped(&words, MAX_NAME_CHARACTERS, "...")))
}

/// Returns how much depends on a question, in words.
pub(crate) fn weight(question: &QuestionView) -> &'static str {
    match question.severity {
        Severity::Block => "must be answered",
        Severity::Warn => "please confirm",
    }
}

/// Returns which answers fit, in words.
pub(crate) fn kinds(question: &QuestionView) -> String {
    let kind = |kind: &AnswerKind| match kind {
        AnswerKind::Freetext => "any text".to_owned(),
        AnswerKind::YesNo => "yes or no".to_owned(),
        AnswerKind::MultipleChoice => format!("one of {}", counted(question.choices.len(), "choice")),
        AnswerKind::Numeric => "a number".to_owned(),
        AnswerKind::Secret => "a secret, recorded nowhere".to_owned(),
    };
    question.kinds.iter().map(kind).collect::<Vec<_>>().join(" or ")
}

/// Returns how a question stands: what, by whom, when and how.
pub(crate) fn state(question: &QuestionView) -> String {
    let Some(ending) = &question.outcome else {
        let open =
            question.deadline.map_or_else(|| "open".to_owned(), |time| format!("open until {}", clock(time)));
        return if question.waited_for == Some(false) { format!("{open}; {NOBODY}") } else { open };
    };
    let mut text = ending.state.to_string();
    if let Some(by) = &ending.by {
        text = format!("{text} by {}", visible(by));
    }
    text = format!("{text} at {}", clock(ending.time));
    if let Some(assurance) = ending.assurance {
        text = format!("{text} ({})", assurance_word(assurance));
    }
    if let Some(value) = &ending.value {
        text = format!("{text}: {}", visible(&value.to_string()));
    }
    ending.note.as_ref().map_or_else(|| text.clone(), |note| format!("{text}; {}", visible(note)))
}

/// Returns what somebody hears who comes too late, about a question under the name that was typed.
pub(crate) fn too_late(name: &str, question: &QuestionView) -> String {
    let default = question.outcome.as_ref().and_then(|ending| ending.value.as_ref());
    match (question.state, default) {
        (OutcomeKind::Expired, _) => {
            format!("Question {name} is over: nobody answered in time. Nothing was recorded now.")
        }
        (OutcomeKind::Defaulted, Some(value)) => format!(
            "Question {name} is over: nobody answered in time, and the default holds: {}. Nothing was recorded now.",
            visible(&value.to_string())
        ),
        _ => format!("Too late for {name}: it was {}. Nothing was recorded now.", state(question)),
    }
}

/// What stands before every line of an asker's words but the first.
const BAR: &str = "  | ";
/// The columns that labels, numbers and the bar take beside the words.
const LABEL_COLUMNS: usize = 14;
/// The program that asked has hung up.
const NOBODY: &str = "nobody waits for it now";
/// How many characters of a question name it.
const MAX_NAME_CHARACTERS: usize = 60;
/// How many lines of a question a list shows.
const MAX_LISTED_LINES: usize = 5;
/// How many characters of a question a list shows.
const MAX_LISTED_CHARACTERS: usize = 300;
