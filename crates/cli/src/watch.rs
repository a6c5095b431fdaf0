//! `demur watch`: every event as it is recorded, one line each.

use demur_api::{confirmation::ConfirmationView, feed::Notice, question::QuestionView};
use serde::Serialize;

use crate::{
    arguments::Watch,
    client::{Client, Follow},
    confirm,
    context::Context,
    failure::Failure,
    keys::clock,
    output::{Paint, Reply},
    question,
};

/// Prints events until whoever reads has left.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Watch) -> Result<(), Failure> {
    let client = Client::of_existing(context)?;
    let mut follow = Follow::new(&client, arguments.after);
    follow.connect()?;
    context.output.remark("Watching. Ctrl-C ends it.");
    while !context.output.is_deserted() {
        let notice = follow.next()?;
        let asked = if context.output.is_json() { Vec::new() } else { asked(&client, &notice) };
        let wanted = if context.output.is_json() { Vec::new() } else { wanted(&client, &notice) };
        context.output.reply(&Happened { notice, asked, wanted })?;
    }
    Ok(())
}

/// Returns the questions that an event asks. One that cannot be looked at now is no reason to stop.
fn asked(client: &Client, notice: &Notice) -> Vec<QuestionView> {
    let asks = matches!(notice.kind.as_str(), "question_asked" | "gap_found");
    let ids = notice.questions.iter().filter(|_| asks);
    ids.filter_map(|id| question::fetch(client, *id).ok()).collect()
}

/// Returns the confirmations that an event asks for.
fn wanted(client: &Client, notice: &Notice) -> Vec<ConfirmationView> {
    let asks = notice.kind == "confirmation_asked";
    let ids = notice.confirmations.iter().filter(|_| asks);
    ids.filter_map(|id| confirm::fetch(client, *id).ok()).collect()
}

#[derive(Serialize)]
#[serde(transparent)]
struct Happened {
    notice: Notice,
    /// What people read beside it.
    #[serde(skip)]
    asked: Vec<QuestionView>,
    #[serde(skip)]
    wanted: Vec<ConfirmationView>,
}

impl Reply for Happened {
    fn lines(&self, _: Paint) -> Vec<String> {
        let Notice { trace, sequence, kind, time, questions, confirmations, .. } = &self.notice;
        let about = questions.iter().map(ToString::to_string);
        let about: Vec<_> = about.chain(confirmations.iter().map(ToString::to_string)).collect();
        let about = if about.is_empty() { String::new() } else { format!("  about {}", about.join(", ")) };
        let mut lines = vec![format!("{}  {trace} {sequence}  {kind}{about}", clock(*time))];
        for question in &self.asked {
            let shown = question::summary(question, &format!("demur show {}", question.id));
            lines.extend(shown.into_iter().map(|line| format!("    {line}")));
        }
        for confirmation in &self.wanted {
            lines.extend(confirm::summary(confirmation).into_iter().map(|line| format!("    {line}")));
        }
        lines
    }
}
