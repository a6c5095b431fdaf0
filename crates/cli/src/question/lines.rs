//! A question as people read it. What came from the asker is shown as it is, with nothing hidden in it, and never cut.

use demur_core::visible::visible;
use demur_desk::question::{Done, QuestionView};
use demur_ledger::facts::{AnswerKind, Severity};

use crate::{keys::clock, output::Paint};

/// Returns everything about a question.
pub(crate) fn describe(question: &QuestionView, paint: Paint) -> Vec<String> {
    let words = question.question.as_deref().unwrap_or("(erased)");
    let mut lines = vec![paint.strong(&visible(words)), format!("  id        {}", question.id)];
    let mut line = |name: &str, text: String| lines.push(format!("  {name:<9} {text}"));
    line("asked by", format!("{} at {}", visible(&question.asker.name), clock(question.asked)));
    line("weight", weight(question).to_owned());
    if let Some(context) = &question.context {
        line("context", visible(context).into_owned());
    }
    if let Some(field) = &question.field {
        line("for", visible(field).into_owned());
    }
    if !question.blocks.is_empty() {
        let blocks: Vec<_> =
            question.blocks.iter().map(|block| visible(block.as_str()).into_owned()).collect();
        line("waits", blocks.join(", "));
    }
    line("answer", kinds(question));
    if let Some(default) = &question.default {
        line("default", visible(&default.to_string()).into_owned());
    }
    if let Some(recommended) = &question.recommendation {
        line("advice", format!("the asker would choose {}", visible(&recommended.to_string())));
    }
    line("until", question.deadline.map_or_else(|| "as long as it takes".to_owned(), clock));
    line("state", state(question));
    for (number, choice) in (1..).zip(&question.choices) {
        lines.push(format!("    {number}. {} ({})", visible(&choice.label), visible(&choice.value)));
    }
    lines
}

/// Returns a question in one line.
pub(crate) fn summary(question: &QuestionView) -> String {
    let words = question.question.as_deref().or(question.terse.as_deref()).unwrap_or("(erased)");
    format!("{} ({}, {})", visible(words), weight(question), visible(&question.asker.name))
}

/// Returns what came of an act.
pub(super) fn done(done: &Done, paint: Paint) -> Vec<String> {
    let question = &done.question;
    if let Some(why) = &done.unsettled {
        return vec![format!("{} the question stays open: {}", paint.bad("Not settled:"), visible(why))];
    }
    let again = if done.repeated { ". It was so before; nothing was recorded now." } else { "" };
    vec![format!("{} {}{again}", paint.good("Done:"), state(question))]
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
        AnswerKind::MultipleChoice => format!("one of {} choices", question.choices.len()),
        AnswerKind::Numeric => "a number".to_owned(),
        AnswerKind::Secret => "a secret, recorded nowhere".to_owned(),
    };
    question.kinds.iter().map(kind).collect::<Vec<_>>().join(" or ")
}

/// Returns how a question stands: what, by whom, when and how.
pub(crate) fn state(question: &QuestionView) -> String {
    let Some(ending) = &question.outcome else {
        return question
            .deadline
            .map_or_else(|| "open".to_owned(), |time| format!("open until {}", clock(time)));
    };
    let mut text = ending.state.clone();
    if let Some(by) = &ending.by {
        text = format!("{text} by {}", visible(by));
    }
    text = format!("{text} at {}", clock(ending.time));
    if let Some(assurance) = ending.assurance {
        text = format!("{text} ({})", assurance.as_str().replace('_', " "));
    }
    if let Some(value) = &ending.value {
        text = format!("{text}: {}", visible(&value.to_string()));
    }
    ending.note.as_ref().map_or_else(|| text.clone(), |note| format!("{text}; {}", visible(note)))
}
