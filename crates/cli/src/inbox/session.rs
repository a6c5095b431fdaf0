//! Somebody at the inbox: what they type is done, what happens meanwhile is told.

use std::sync::mpsc::Receiver;

use demur_api::{
    call::ApiRequest,
    code::Code,
    operation::{
        AcceptQuestion, AnswerQuestion, CancelQuestion, DeclineQuestion, NoArguments, Nothing, OfQuestion,
        Operation, PassQuestion, ShowServer,
    },
    question::{
        Act, Answer, Done, Extension, Listed, Passing, QuestionId, QuestionListParameters, QuestionView,
        typed,
    },
};
use demur_core::{
    limit::{Text, Whole},
    visible::visible,
};
use demur_ledger::{facts::AnswerKind, question::OutcomeKind};

use super::{
    face::{Face, Input},
    line::{Line, Number, Verdict},
    news::News,
    numbers::{Numbers, Seen},
    operations::Operations,
    words,
};
use crate::{
    client::Client,
    failure::Failure,
    output::error_lines,
    question::{self, describe},
};

/// An inbox in use.
pub(super) struct Session<'a> {
    client: Client,
    face: Face<'a>,
    news: Receiver<News>,
    numbers: Numbers,
    operations: Operations,
    /// Where the next page begins.
    after: Option<String>,
}

impl<'a> Session<'a> {
    pub(super) fn new(client: Client, face: Face<'a>, news: Receiver<News>, numbers: Numbers) -> Self {
        Self { client, face, news, numbers, operations: Operations::default(), after: None }
    }

    /// Serves whoever sits there until they leave.
    pub(super) fn run(mut self) -> Result<(), Failure> {
        self.list()?;
        loop {
            match self.face.read()? {
                Input::End => return Ok(()),
                Input::News => {
                    self.catch_up()?;
                }
                Input::Line(line) => {
                    let told = self.catch_up()?;
                    match Line::read(&line) {
                        Line::Leave => return Ok(()),
                        Line::Empty if !told && !self.face.is_live() => self.say("Nothing new.")?,
                        line => self.perform(&line)?,
                    }
                }
            }
        }
    }

    /// Does what a line asks for. What goes wrong is told; the inbox stays.
    fn perform(&mut self, line: &Line<'_>) -> Result<(), Failure> {
        let done = match *line {
            Line::Empty | Line::Leave => Ok(()),
            Line::Help => self.face.say(&words::help(self.face.is_live())),
            Line::List => self.list(),
            Line::More => self.more(),
            Line::Wrong(ref why) => self.say(&visible(why)),
            Line::Operation(number, verdict, note) => self.decide(number, verdict, note),
            Line::Show(number) => self.about(number, Self::show),
            Line::Answer(number, words) => self.about(number, |this, id| this.answer(number, id, words)),
            Line::Accept(number, reason) => self.act::<AcceptQuestion>(number, reason),
            Line::Decline(number, reason) => self.act::<DeclineQuestion>(number, reason),
            Line::Cancel(number, reason) => self.act::<CancelQuestion>(number, reason),
            Line::Extend(number, time, reason) => self.about(number, |this, id| {
                let seconds = Whole::try_from(time.as_secs())?;
                let extension = Extension { seconds, reason: text(reason)?, by: None };
                this.done(number, id, question::more_time(&this.client, id, extension))
            }),
            Line::Pass(number, names) => self.about(number, |this, id| {
                let passing = passing(names)?;
                this.done(number, id, question::act_on::<PassQuestion>(&this.client, id, passing))
            }),
        };
        match done {
            Err(error) if error.is(Code::OutputTrouble) || error.code() == "TERMINAL_TROUBLE" => Err(error),
            Err(error) => self.face.say(&error_lines(&error, self.face.paint())),
            Ok(()) => Ok(()),
        }
    }

    fn act<O>(&mut self, number: Number, reason: &str) -> Result<(), Failure>
    where
        O: Operation<Path = OfQuestion, Query = Nothing, Body = Act, Output = Done>,
    {
        self.about(number, |this, id| {
            let document = Act { reason: text(reason)?, by: None };
            this.done(number, id, question::act_on::<O>(&this.client, id, document))
        })
    }

    /// Does something about the question with this number.
    fn about(
        &mut self,
        number: Number,
        work: impl FnOnce(&mut Self, QuestionId) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        match self.numbers.id(number) {
            Some(id) => work(self, id),
            None => self.say(&format!("No question here has the number {number}. `l` lists what is open.")),
        }
    }

    /// Shows a question in full; one that asks for a secret is answered here, where nobody sees it.
    fn show(&mut self, id: QuestionId) -> Result<(), Failure> {
        let shown = question::fetch(&self.client, id)?;
        let number = self.numbers.see(&shown).number();
        self.face.say(&describe(&shown, self.face.paint()))?;
        if !is_secret(&shown) || !shown.is_open() {
            return Ok(());
        }
        self.say(&format!("What you type now is not shown. Enter alone leaves {number} open."))?;
        match self.face.secret(super::SECRET)? {
            Some(words) => self.give(number, &shown, &words),
            None => self.say(&format!("{number} stays open.")),
        }
    }

    fn answer(&mut self, number: Number, id: QuestionId, words: &str) -> Result<(), Failure> {
        let shown = question::fetch(&self.client, id)?;
        if is_secret(&shown) && shown.is_open() {
            return self.say(&format!(
                "{number} asks for a secret. Nothing was sent: type {number} alone, then the secret where nobody sees it."
            ));
        }
        self.give(number, &shown, words)
    }

    fn give(&mut self, number: Number, shown: &QuestionView, words: &str) -> Result<(), Failure> {
        // What is settled is told as such, whatever was typed.
        if shown.outcome.is_some() {
            self.numbers.see(shown);
            let waiting = words::these_wait(&self.numbers.open());
            return self.say(&format!("{}{waiting}", words::too_late(number, shown)));
        }
        let given = Answer {
            answer: typed(&shown.kinds, &shown.choices, words)?,
            note: None,
            request: shown.request,
            by: None,
        };
        let done = question::act_on::<AnswerQuestion>(&self.client, shown.id, given);
        self.done(number, shown.id, done)
    }

    /// Shows an operation, or decides it.
    fn decide(&mut self, number: Number, verdict: Verdict, note: &str) -> Result<(), Failure> {
        let paint = self.face.paint();
        let lines = self.operations.decide(&self.client, (number, verdict, note), paint)?;
        self.face.say(&lines)
    }

    /// Tells what came of something.
    fn done(&mut self, number: Number, id: QuestionId, done: Result<Done, Failure>) -> Result<(), Failure> {
        let lines = match done {
            Ok(done) => {
                self.numbers.see(&done.question);
                words::done(number, &done, self.face.paint())
            }
            Err(error) if error.is_late() => {
                let shown = question::fetch(&self.client, id)?;
                self.numbers.see(&shown);
                words::too_late(number, &shown)
            }
            Err(error) => return Err(error),
        };
        self.say(&lines)
    }

    /// Shows the first page of what is open.
    fn list(&mut self) -> Result<(), Failure> {
        let status = self.client.call(ApiRequest::<ShowServer>::get(NoArguments {}, Nothing {}))?;
        let page = question::page(&self.client, open_after(None))?;
        let mut lines = vec![words::count(status.open, self.face.is_live())];
        let shown = page.questions.iter().map(|question| question.id).collect();
        lines.extend(self.page(page));
        lines.extend(self.operations.list(&self.client)?);
        self.face.say(&lines)?;
        question::delivered(&self.client, shown)
    }

    /// Shows the next page.
    fn more(&mut self) -> Result<(), Failure> {
        let Some(after) = self.after.clone() else {
            return self.say("That is all that is open. `l` lists it from the beginning.");
        };
        let page = question::page(&self.client, open_after(Some(after)))?;
        let shown = page.questions.iter().map(|question| question.id).collect();
        let lines = self.page(page);
        self.face.say(&lines)?;
        question::delivered(&self.client, shown)
    }

    fn page(&mut self, page: Listed) -> Vec<String> {
        self.after = page.next;
        let numbered = self.numbers.see_all(&page.questions).into_iter();
        let mut lines: Vec<String> =
            numbered.flat_map(|(number, question)| words::lines(number, question)).collect();
        if self.after.is_some() {
            lines.push("`m` shows more.".to_owned());
        }
        lines
    }

    /// Tells what happened since; returns whether anything did.
    fn catch_up(&mut self) -> Result<bool, Failure> {
        let mut lines = Vec::new();
        let mut untold: u64 = 0;
        let mut shown = Vec::new();
        while let Ok(news) = self.news.try_recv() {
            let question = match news {
                News::Touched(question) => question,
                News::Operation(operation) => {
                    lines.extend(self.operations.news(&operation));
                    continue;
                }
                News::Ended(error) => {
                    lines.extend(error_lines(&error, self.face.paint()));
                    lines.push("News do not show by themselves any more; `l` lists what is open.".to_owned());
                    continue;
                }
            };
            let known = self.numbers.knows(question.id);
            if !known && (!question.is_open() || shown.len() >= MAX_QUESTIONS_TOLD) {
                untold += u64::from(question.is_open());
                continue;
            }
            match self.numbers.see(&question) {
                Seen::New(number) => {
                    lines.extend(words::new(number, &question));
                    shown.push(question.id);
                }
                Seen::Changed(number) => lines.push(words::changed(number, &question)),
                Seen::Same(_) => {}
            }
        }
        if untold > 0 {
            lines.push(words::untold(untold));
        }
        if !lines.is_empty() {
            self.face.say(&lines)?;
            question::delivered(&self.client, shown)?;
        }
        Ok(!lines.is_empty())
    }

    fn say(&mut self, line: &str) -> Result<(), Failure> {
        self.face.say(&[line.to_owned()])
    }
}

fn is_secret(question: &QuestionView) -> bool {
    question.kinds.contains(&AnswerKind::Secret)
}

fn text(words: &str) -> Result<Option<Text<1, 4096>>, Failure> {
    if words.is_empty() {
        return Ok(None);
    }
    Text::try_from(words)
        .map(Some)
        .map_err(|error| Failure::input("REASON_INVALID", format!("the reason: {error}")))
}

/// Returns to whom a question goes: to holders of keys by their names, or to people.
fn passing(names: &str) -> Result<Passing, Failure> {
    let wrong = |error: &dyn std::fmt::Display| Failure::of(Code::NameInvalid, format!("the names: {error}"));
    let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
    let to: Vec<Text<1, 64>> =
        names.map(|name| Text::try_from(name).map_err(|error| wrong(&error))).collect::<Result<_, _>>()?;
    let people = to.is_empty();
    Ok(Passing { to: to.try_into().map_err(|error| wrong(&error))?, people, reason: None, by: None })
}

/// Returns what asks for the open questions after a place.
fn open_after(after: Option<String>) -> QuestionListParameters {
    let state = Some(OutcomeKind::Open.to_string());
    QuestionListParameters {
        state,
        after,
        limit: Some(QUESTIONS_PER_PAGE),
        turns: Some(true),
        ..QuestionListParameters::default()
    }
}

/// How many questions a page has.
const QUESTIONS_PER_PAGE: usize = 20;
/// How many new questions are told at once.
const MAX_QUESTIONS_TOLD: usize = 10;
