//! `demur inbox`: what waits for an answer.

use demur_desk::question::QuestionView;
use serde::Serialize;

use crate::{
    arguments::Inbox,
    client::Client,
    context::Context,
    error::CommandError,
    output::{Paint, Reply},
    question::{self, summary},
};

/// Shows what waits.
pub(crate) fn run(context: &mut Context<'_>, arguments: &Inbox) -> Result<(), CommandError> {
    let client = Client::open(context)?;
    let state = if arguments.all { "" } else { "&state=open" };
    let mut questions = Vec::new();
    let mut after = String::new();
    loop {
        let page = question::page(&client, &format!("limit=200{state}{after}"))?;
        questions.extend(page.questions);
        match page.next {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    context.output.reply(&Waiting { questions })
}

#[derive(Serialize)]
struct Waiting {
    questions: Vec<QuestionView>,
}

impl Reply for Waiting {
    fn lines(&self, _: Paint) -> Vec<String> {
        if self.questions.is_empty() {
            return vec!["Nothing waits. A question that somebody asks shows here at once.".to_owned()];
        }
        let line = |(number, question): (usize, &QuestionView)| {
            vec![format!("{number}. {}", summary(question)), format!("   {}", question.id)]
        };
        (1..).zip(&self.questions).flat_map(line).collect()
    }
}
