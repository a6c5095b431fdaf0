//! An office in which anything may happen to a question, on any store.

use std::{iter, sync::Arc};

use demur_core::{hash::sha256, random::Seeded};
use demur_engine::command::{Consequences, Saying};
use demur_ledger::{
    author::{Author, Place},
    content::{
        ActContent, AnswerClaimContent, AnswerValue, ConfirmationAskContent, ConfirmationGivenContent,
        ConfirmationRefusedContent, DefaultContent, DeliveryContent, OperationContent, PlanContent,
        QuestionContent, RulesContent, Shown, Wording,
    },
    event_type::{Content, Facts},
    facts::{
        Assurance, Attribution, Door, GapFound, PlanSubmitted, Question, QuestionAnswered, QuestionAsked,
        Risk, Root, RulesRecorded,
    },
    name::{Position, PrincipalId, TraceId},
    role::Role,
    statement::Submission,
};
use demur_sequencer::{SequencerError, System as _};
use demur_store::contract::{QuestionSummary, Store};

use crate::{
    hall::{answer, answers, asks},
    office::{Office, Run},
    sample::{list, text},
};

/// An office with two agents that ask.
pub struct Inquiry {
    pub office: Office,
    agents: [Author; 2],
}

impl Inquiry {
    pub fn new(store: &Arc<dyn Store>) -> Self {
        Self::of(Office::create(Arc::clone(store)))
    }

    pub fn of(mut office: Office) -> Self {
        let agents = [Role::Agent; 2].map(|role| {
            office.register(role);
            let (key, principal, role) = office.agent(role);
            Author::new(key.clone(), *principal, *role)
        });
        Self { office, agents }
    }

    pub fn store(&self) -> &dyn Store {
        self.office.sequencer.store()
    }

    pub fn agent(&self, number: usize) -> PrincipalId {
        self.agents[number].principal()
    }

    /// Returns a trace that nobody has opened yet.
    pub fn trace(&self) -> Run {
        self.office.new_run()
    }

    /// Has the first agent ask in a trace of its own.
    pub fn ask(&self, question: Question) -> (Run, Position) {
        let mut run = self.trace();
        let asked = self.say(0, &mut run, QuestionAsked(question));
        (run, asked)
    }

    /// Returns a plan that may have gaps.
    pub fn plan(&self) -> Run {
        let mut run = self.trace();
        self.say(0, &mut run, PlanSubmitted {});
        self.tell(&mut run, Role::Desk, RulesRecorded {});
        run
    }

    /// Has the desk find a gap in a plan.
    pub fn find(&self, run: &mut Run, question: Question) -> Position {
        self.tell(run, Role::Desk, GapFound(question))
    }

    /// Has an agent say something.
    pub fn say(&self, number: usize, run: &mut Run, facts: impl Into<Facts>) -> Position {
        let submission = self.submission(number, run, facts.into());
        let acknowledged = self.office.sequencer.submit(submission, None).unwrap();
        run.seen = Some(acknowledged.position);
        acknowledged.position
    }

    /// Returns what an agent says, signed.
    pub fn submission(&self, number: usize, run: &Run, facts: Facts) -> Submission {
        let (clock, mut seed) = (&self.office.clock, [0; 32]);
        clock.fill(&mut seed);
        let store = self.office.sequencer.registry().store();
        let place = Place { store, trace: run.trace, seen: run.seen, now: clock.now() };
        let content = content(&facts);
        self.agents[number].say(&place, facts, content, &mut Seeded::new(seed)).unwrap()
    }

    /// Has the desk record something: its own word, or what a person did.
    pub fn tell(&self, run: &mut Run, role: Role, facts: impl Into<Facts>) -> Position {
        let position = self.try_tell(run.trace, role, facts).unwrap();
        run.seen = Some(position);
        position
    }

    pub fn try_tell(
        &self,
        trace: TraceId,
        role: Role,
        facts: impl Into<Facts>,
    ) -> Result<Position, SequencerError> {
        let mut facts = facts.into();
        if role == Role::Person {
            facts.attribute(Attribution::new(Door::Socket, Root::SameUser));
        }
        let first = Saying { role, content: content(&facts), facts };
        Ok(self.office.sequencer.record(trace, first, Consequences::default())?.position)
    }

    /// Returns how the list shows a question.
    pub fn shown(&self, run: &Run, asked: Position) -> Option<QuestionSummary> {
        self.store().question(run.trace, asked.sequence).unwrap()
    }
}

/// Returns the answer of a person.
pub const fn typed(question: Position) -> QuestionAnswered {
    answer(question, Assurance::Terminal)
}

fn content(facts: &Facts) -> Option<Content> {
    let act = || ActContent { by: None, reason: text("because") };
    Some(match facts {
        Facts::QuestionAsked(facts) => Content::QuestionAsked(words(&facts.0)),
        Facts::GapFound(facts) => Content::GapFound(words(&facts.0)),
        Facts::QuestionAnswered(_) => Content::QuestionAnswered(answers("there")),
        Facts::AnswerSuperseded(_) => Content::AnswerSuperseded(answers("elsewhere")),
        Facts::AnswerRevoked(_) => Content::AnswerRevoked(act()),
        Facts::AnswerClaimed(_) => Content::AnswerClaimed(AnswerClaimContent { answer: usual(), note: None }),
        Facts::GapAccepted(_) => Content::GapAccepted(act()),
        Facts::GapWithdrawn(_) => Content::GapWithdrawn(act()),
        Facts::QuestionDeclined(_) => Content::QuestionDeclined(act()),
        Facts::QuestionPassedOn(_) => Content::QuestionPassedOn(act()),
        Facts::QuestionEscalated(_) => Content::QuestionEscalated(act()),
        Facts::QuestionExtended(_) => Content::QuestionExtended(act()),
        Facts::QuestionCancelled(_) => Content::QuestionCancelled(act()),
        Facts::QuestionDefaulted(_) => Content::QuestionDefaulted(DefaultContent { default: usual() }),
        Facts::QuestionDelivered(_) => Content::QuestionDelivered(DeliveryContent {
            channel: text("terminal"),
            said_by: None,
            shown: Shown {
                choices: list([]),
                language: text("en"),
                recommendation: false,
                wording: Wording::Normal,
            },
            to: text("somebody"),
        }),
        Facts::PlanSubmitted(_) => Content::PlanSubmitted(PlanContent {
            agent: text("builder"),
            plan: iter::empty().collect(),
            session: text("0196bb7c-0000-7000-8000-000000000001"),
        }),
        Facts::RulesRecorded(_) => Content::RulesRecorded(RulesContent {
            document: iter::empty().collect(),
            hash: sha256(b"{}"),
            packs: list([text("default")]),
        }),
        Facts::ConfirmationAsked(_) => Content::ConfirmationAsked(ConfirmationAskContent {
            action: text("Deploy"),
            consequence: None,
            digest: sha256(b"{}"),
            language: text("en"),
            operation: iter::empty().collect(),
            risk: Risk::High,
        }),
        Facts::ConfirmationGiven(_) => Content::ConfirmationGiven(ConfirmationGivenContent {
            by: None,
            digest: sha256(b"{}"),
            note: None,
            shown: None,
        }),
        Facts::ConfirmationRefused(_) => Content::ConfirmationRefused(ConfirmationRefusedContent {
            by: None,
            digest: sha256(b"{}"),
            instead: None,
            note: None,
            shown: None,
        }),
        Facts::OperationStarted(_) => Content::OperationStarted(OperationContent {
            digest: Some(sha256(b"{}")),
            note: None,
            operation: Some(iter::empty().collect()),
        }),
        _ => return None,
    })
}

fn words(facts: &Question) -> QuestionContent {
    QuestionContent { default: facts.default.then(usual), ..asks() }
}

fn usual() -> AnswerValue {
    AnswerValue::Text(text("as usual"))
}
