//! Where the races are held: an office on a disk with an agent that asks, two answerers with keys of their own, and
//! a person at the terminal.

use std::{path::Path, sync::Arc};

use demur_core::{hash::sha256, random::Seeded};
use demur_engine::command::{Command, Consequences, Saying};
use demur_ledger::{
    author::{Author, Place},
    content::{AnswerContent, AnswerValue, QuestionContent, Shown, Wording, Wordings},
    event_type::{Content, Facts},
    facts::{
        AnswerKind, Answerers, Assurance, Attribution, Door, Question, QuestionAnswered, QuestionAsked, Root,
        Severity,
    },
    name::{CommandId, Operation, Position, TraceId},
    role::Role,
    statement::Submission,
    verify::Report,
};
use demur_sequencer::{Acknowledged, Sequencer, SequencerError, System as _};
use demur_store::{contract::Store, sqlite::SqliteStore};

use crate::{
    office::Office,
    sample::{list, text, whole},
};

/// An office in which questions are asked and answered.
pub struct Hall {
    office: Office,
    asker: Arc<Author>,
    answerers: [Arc<Author>; 2],
}

/// An answer that is ready to be sent.
pub enum Attempt {
    /// By a key.
    Signed { author: String, submission: Box<Submission> },
    /// By a person, through the desk.
    Typed { trace: TraceId, command: Box<Command> },
}

impl Attempt {
    /// Returns what everybody else is told about its author.
    pub fn name(&self) -> String {
        match self {
            Self::Signed { author, .. } => author.clone(),
            Self::Typed { .. } => "a person".to_owned(),
        }
    }

    /// Returns whether it is signed, so that the same bytes can be sent again.
    pub const fn has_key(&self) -> bool {
        matches!(self, Self::Signed { .. })
    }
}

impl Hall {
    pub fn create(folder: &Path) -> Self {
        Self::in_store(Arc::new(SqliteStore::create(folder).unwrap()))
    }

    pub fn in_store(store: Arc<dyn Store>) -> Self {
        let mut office = Office::create(store);
        let [asker, first, second] = [Role::Agent, Role::Answerer, Role::Answerer].map(|role| {
            office.register(role);
            let (key, principal, role) = office.agent(role);
            Arc::new(Author::new(key.clone(), *principal, *role))
        });
        Self { office, asker, answerers: [first, second] }
    }

    pub fn sequencer(&self) -> &Sequencer {
        &self.office.sequencer
    }

    pub fn new_trace(&self) -> TraceId {
        self.office.new_run().trace
    }

    /// Has the agent ask; the first question opens the trace.
    pub fn ask(&self, trace: TraceId, seen: Option<Position>) -> Position {
        let content = Content::QuestionAsked(asks());
        let submission = self.signed(&self.asker, trace, seen, QuestionAsked(question()).into(), content);
        self.sequencer().submit(submission, None).unwrap().position
    }

    /// Returns the command that opens a trace with a question, by an author of this process.
    pub fn asking(&self, trace: TraceId) -> Command {
        let (mut bytes, now) = ([0; 32], self.office.clock.now());
        self.office.clock.fill(&mut bytes);
        let place = Place { store: self.sequencer().registry().store(), trace, seen: None, now };
        let (content, mut random) = (Content::QuestionAsked(asks()), Seeded::new(bytes));
        let id = CommandId::new(now, &mut random);
        let spoken = self.asker.speak(id, &place, QuestionAsked(question()), Some(content), &mut random);
        Command::submit(spoken.unwrap(), None, Consequences::default())
    }

    /// Returns the command that records what a person answers in a trace that is there.
    pub fn answering(&self, trace: TraceId, asked: Position) -> Command {
        self.sequencer().newest(trace).unwrap().unwrap();
        let mut facts: Facts = answer(asked, Assurance::Terminal).into();
        facts.attribute(Attribution::new(Door::Socket, Root::SameUser));
        let content = Some(Content::QuestionAnswered(answers("a person")));
        let first = Saying { role: Role::Person, facts, content };
        Command::record(first, Consequences::default())
    }

    /// Has the agent ask something that ends unanswered after this many milliseconds.
    pub fn ask_for(&self, trace: TraceId, millis: u64) -> Position {
        let deadline = Some(self.office.clock.now().plus_millis(millis));
        let (facts, content) = (Question { deadline, ..question() }, Content::QuestionAsked(asks()));
        let submission = self.signed(&self.asker, trace, None, QuestionAsked(facts).into(), content);
        self.sequencer().submit(submission, None).unwrap().position
    }

    /// Returns the same office in another process: everything it knows comes from the disk.
    #[must_use]
    pub fn restarted(self, folder: &Path) -> Self {
        let Self { office, asker, answerers } = self;
        let people = office.leave();
        Self { office: people.enter(Arc::new(SqliteStore::open(folder).unwrap())), asker, answerers }
    }

    /// Returns a second process on the same store.
    #[must_use]
    pub fn twin(&self, store: Arc<dyn Store>) -> Self {
        let Self { office, asker, answerers } = self;
        Self { office: office.twin(store), asker: asker.clone(), answerers: answerers.clone() }
    }

    pub fn pass(&self, millis: u64) {
        self.office.clock.pass(millis);
    }

    /// Returns the answers of both answerers and, if wanted, of a person.
    pub fn attempts(&self, trace: TraceId, asked: Position, person_too: bool) -> Vec<Attempt> {
        let by_key = |author: &Arc<Author>| {
            let facts = answer(asked, Assurance::Agent).into();
            let content = Content::QuestionAnswered(answers(&author.principal().to_string()));
            let submission = Box::new(self.signed(author, trace, Some(asked), facts, content));
            Attempt::Signed { author: author.principal().to_string(), submission }
        };
        let mut attempts: Vec<_> = self.answerers.iter().map(by_key).collect();
        if person_too {
            attempts.push(Attempt::Typed { trace, command: Box::new(self.answering(trace, asked)) });
        }
        attempts
    }

    pub fn send(&self, attempt: &Attempt) -> Result<Acknowledged, SequencerError> {
        match attempt {
            Attempt::Signed { submission, .. } => self.sequencer().submit((**submission).clone(), None),
            Attempt::Typed { trace, command } => self.sequencer().perform(*trace, command),
        }
    }

    /// Returns what the verifier says about the export of a trace.
    pub fn verdict(&self, trace: TraceId) -> Report {
        self.office.verdict(trace)
    }

    fn signed(
        &self,
        author: &Author,
        trace: TraceId,
        seen: Option<Position>,
        facts: Facts,
        content: Content,
    ) -> Submission {
        let (mut bytes, clock) = ([0; 32], &self.office.clock);
        clock.fill(&mut bytes);
        let place = Place { store: self.sequencer().registry().store(), trace, seen, now: clock.now() };
        author.say(&place, facts, Some(content), &mut Seeded::new(bytes)).unwrap()
    }
}

/// Returns a question that anybody may answer in any words.
pub fn question() -> Question {
    Question {
        about: None,
        answerers: Answerers { people: true, principals: None },
        asker_settles: false,
        assurance: Assurance::Agent,
        blocks: list([Operation::try_from("build".to_owned()).unwrap()]),
        choices: whole(0),
        deadline: None,
        default: false,
        kinds: list([AnswerKind::Freetext]),
        repeats: None,
        severity: Severity::Block,
    }
}

pub fn asks() -> QuestionContent {
    QuestionContent {
        ask: None,
        choices: list([]),
        context: None,
        default: None,
        field: Some(text("output_path")),
        gap: None,
        language: text("en"),
        recommendation: None,
        request: Some(sha256(b"the request")),
        rule: None,
        suggestions: list([]),
        wording: Wordings {
            detailed: text("Where to, and why does it matter?"),
            normal: text("Where to?"),
            terse: text("Where?"),
        },
    }
}

pub const fn answer(question: Position, assurance: Assurance) -> QuestionAnswered {
    QuestionAnswered { attribution: None, assurance, choice: None, kind: AnswerKind::Freetext, question }
}

pub fn answers(words: &str) -> AnswerContent {
    let shown =
        Shown { choices: list([]), language: text("en"), recommendation: false, wording: Wording::Normal };
    AnswerContent {
        answer: AnswerValue::Text(text(words)),
        by: None,
        note: None,
        request: Some(sha256(b"the request")),
        shown: Some(shown),
        signed: None,
    }
}
