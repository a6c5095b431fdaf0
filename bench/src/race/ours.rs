//! Our side: an agent asks, two answerers with keys of their own answer from two threads, through the ledger into SQLite
//! on a disk. An answer takes effect when it is acknowledged; whoever is refused was told who won.

use std::{
    sync::{Arc, Barrier},
    thread,
    time::Instant,
};

use anyhow::{Context as _, Result, ensure};
use demur_core::{hash::sha256, key::SecretKey, random::Seeded};
use demur_ledger::{
    author::{Author, Place},
    content::{AnswerContent, AnswerValue, QuestionContent, Wordings},
    event_type::{Content, Facts},
    facts::{AnswerKind, Answerers, Assurance, Question, QuestionAnswered, QuestionAsked, Severity},
    name::{Operation, Position, TraceId},
    role::Role,
    statement::Submission,
    verify::{Options, Verdict, verify},
};
use demur_sequencer::{Acknowledged, Sequencer, SequencerError};
use demur_store::sqlite::SqliteStore;

use super::Side;
use crate::append::cast::{Machine, now, register};

/// Returns what came of this many races, all in one trace.
pub(crate) fn race(races: u32) -> Result<Side> {
    let folder = tempfile::tempdir().context("cannot make a folder")?;
    let mut hall = Hall::create(&folder.path().join("data"))?;
    let mut side = Side { name: "demur, SQLite, synced".to_owned(), races, ..Side::default() };
    let mut seen = None;
    let begin = Instant::now();
    for _ in 0..races {
        let asked = hall.ask(seen)?;
        let answers = [hall.answer(0, asked)?, hall.answer(1, asked)?];
        let outcomes = hall.race(answers)?;
        seen = Some(side.count(outcomes, asked)?);
    }
    side.seconds = begin.elapsed().as_secs_f64();
    hall.check(races)?;
    Ok(side)
}

impl Side {
    /// Counts a race; returns the newest event of it.
    fn count(
        &mut self,
        outcomes: [Result<Acknowledged, SequencerError>; 2],
        asked: Position,
    ) -> Result<Position> {
        let (mut newest, mut given) = (asked, 0);
        for outcome in outcomes {
            match outcome {
                Ok(acknowledged) => {
                    given += 1;
                    newest = acknowledged.position;
                }
                Err(SequencerError::Refused(refusal)) if refusal.code == "ALREADY_ANSWERED" => self.told += 1,
                Err(error) => return Err(error.into()),
            }
        }
        match given {
            0 => self.never += 1,
            1 => self.once += 1,
            _ => {
                self.both += 1;
                self.both_think += 1;
            }
        }
        Ok(newest)
    }
}

struct Hall {
    ledger: Sequencer,
    asker: Author,
    answerers: [Author; 2],
    trace: TraceId,
    random: Seeded,
}

impl Hall {
    fn create(folder: &std::path::Path) -> Result<Self> {
        let mut random = Seeded::from_number(1);
        let desk = SecretKey::generate(&mut random);
        let store = SqliteStore::create(folder)?;
        let ledger = Sequencer::create(Arc::new(store), desk, "bench", Box::new(Machine::new(2)))?;
        let mut author = |role| {
            let (key, principal, role) = register(&ledger, role, &mut random)?;
            anyhow::Ok(Author::new(key, principal, role))
        };
        let asker = author(Role::Agent)?;
        let answerers = [author(Role::Answerer)?, author(Role::Answerer)?];
        let trace = TraceId::new(now(), &mut random);
        Ok(Self { ledger, asker, answerers, trace, random })
    }

    fn place(&self, seen: Option<Position>) -> Place {
        Place { store: self.ledger.registry().store(), trace: self.trace, seen, now: now() }
    }

    fn ask(&mut self, seen: Option<Position>) -> Result<Position> {
        let (facts, content) = (QuestionAsked(question()?), Content::QuestionAsked(asks()?));
        let submission = self.asker.say(&self.place(seen), facts, Some(content), &mut self.random)?;
        Ok(self.ledger.submit(submission, None)?.position)
    }

    /// Returns the signed answer of one of both.
    fn answer(&mut self, number: usize, question: Position) -> Result<Submission> {
        let facts: Facts = QuestionAnswered {
            attribution: None,
            assurance: Assurance::Agent,
            choice: None,
            kind: AnswerKind::Freetext,
            question,
        }
        .into();
        let content = AnswerContent {
            answer: AnswerValue::Text(["dist", "public"][number].try_into()?),
            by: None,
            note: None,
            request: Some(sha256(b"the request")),
            shown: None,
            signed: None,
        };
        let (place, content) = (self.place(Some(question)), Content::QuestionAnswered(content));
        Ok(self.answerers[number].say(&place, facts, Some(content), &mut self.random)?)
    }

    /// Submits both at the same moment.
    fn race(&self, answers: [Submission; 2]) -> Result<[Result<Acknowledged, SequencerError>; 2]> {
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            let submit = |submission| {
                barrier.wait();
                self.ledger.submit(submission, None)
            };
            let [first, second] = answers.map(|answer| scope.spawn(move || submit(answer)));
            let [first, second] = [first.join(), second.join()]
                .map(|outcome| outcome.map_err(|_| anyhow::anyhow!("an answerer panicked")));
            Ok([first?, second?])
        })
    }

    /// Holds the record against the verifier: every question has one answer.
    fn check(&self, races: u32) -> Result<()> {
        let mut export = Vec::new();
        self.ledger.export(self.trace, "demur-bench".try_into()?, &mut export, &mut |_| ())?;
        let report = verify(export.as_slice(), &Options::default(), &mut |_| ())?;
        ensure!(report.verdict != Verdict::Fail, "the record does not hold: {:?}", report.findings);
        let answered = report.questions.iter().filter(|question| question.answer.is_some()).count();
        ensure!(u32::try_from(answered)? == races, "expected {races} answers, found {answered}");
        Ok(())
    }
}

fn question() -> Result<Question> {
    Ok(Question {
        about: None,
        answerers: Answerers { people: true, principals: None },
        asker_settles: false,
        assurance: Assurance::Agent,
        blocks: vec![Operation::try_from("build".to_owned())?].try_into()?,
        choices: 0.try_into()?,
        deadline: None,
        default: false,
        kinds: vec![AnswerKind::Freetext].try_into()?,
        repeats: None,
        severity: Severity::Block,
    })
}

fn asks() -> Result<QuestionContent> {
    Ok(QuestionContent {
        ask: None,
        choices: Vec::new().try_into()?,
        context: None,
        default: None,
        field: Some("output_path".try_into()?),
        gap: None,
        language: "en".try_into()?,
        recommendation: None,
        request: Some(sha256(b"the request")),
        rule: None,
        suggestions: Vec::new().try_into()?,
        wording: Wordings {
            detailed: "Where to, and why does it matter?".try_into()?,
            normal: "Where to?".try_into()?,
            terse: "Where?".try_into()?,
        },
    })
}
