//! What was done on an answer that was replaced or taken back later: every event between the two that the question blocked, or
//! that depends on what the question is about. Nothing is undone by it; reports name it.

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CLAIM, EXECUTE, PROPOSE};
use crate::{
    event_type::Facts,
    facts::Question,
    name::{Operation, Sequence},
};

/// An event that was done on an answer which no longer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct RestedEvent {
    /// The event.
    pub event: Sequence,
    /// The event with the answer.
    pub answer: Sequence,
    /// The question.
    pub question: Sequence,
    /// The event that ended the answer.
    pub ended: Sequence,
    /// How.
    pub how: AnswerEnd,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerEnd {
    /// Another one took its place.
    Replaced,
    /// It was taken back.
    Revoked,
}

impl AnswerEnd {
    /// Returns what the event did that ended the answer.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Replaced => "replaced",
            Self::Revoked => "took back",
        }
    }
}

impl fmt::Display for RestedEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { event, answer, ended, how, .. } = self;
        let how = how.as_str();
        write!(formatter, "event {event} was done on the answer of event {answer}, which event {ended} {how}")
    }
}

/// What was done on answers, event by event.
#[derive(Clone, Debug, Default)]
pub struct RestedBook {
    questions: BTreeMap<Sequence, Waited>,
    /// The proposals of intents.
    proposals: BTreeMap<Sequence, Sequence>,
    found: Vec<RestedEvent>,
}

/// A question, and what was done on the answer that counts.
#[derive(Clone, Debug)]
struct Waited {
    blocks: Vec<Operation>,
    about: Option<Sequence>,
    answer: Option<Sequence>,
    done: Vec<Sequence>,
}

/// What an event does that may have waited for a question.
enum Act<'a> {
    /// An operation, of this intent and this proposal where it is of one.
    Operation(&'a str, [Option<Sequence>; 2]),
    /// It concludes: nothing is concluded over an open question.
    Conclusion,
}

impl RestedBook {
    /// Returns nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next event in that the guards let through.
    pub fn take(&mut self, at: Sequence, facts: &Facts) {
        if let Some(act) = self.act(facts) {
            let waited = self.questions.values_mut().filter(|waited| waited.done.len() < MAX_DONE);
            for waited in waited.filter(|waited| waited.answer.is_some() && waited.held_up(&act)) {
                waited.done.push(at);
            }
        }
        match facts {
            Facts::QuestionAsked(facts) => self.ask(at, &facts.0),
            Facts::GapFound(facts) => self.ask(at, &facts.0),
            Facts::QuestionAnswered(facts) => self.answer(at, facts.question.sequence),
            Facts::AnswerSuperseded(facts) => {
                let question = facts.answer.question.sequence;
                self.end(at, question, AnswerEnd::Replaced);
                self.answer(at, question);
            }
            Facts::AnswerRevoked(facts) => self.end(at, facts.question, AnswerEnd::Revoked),
            Facts::ToolIntentSigned(facts) => self.learn_intent(at, facts.proposal),
            _ => {}
        }
    }

    /// Takes in which proposal an intent belongs to, where the events before it are not read.
    pub fn learn_intent(&mut self, intent: Sequence, proposal: Sequence) {
        self.proposals.insert(intent, proposal);
    }

    /// Returns what was done on answers that no longer count, in the order of those events.
    pub fn into_events(mut self) -> Vec<RestedEvent> {
        self.found.sort_unstable();
        self.found
    }

    fn act<'a>(&self, facts: &'a Facts) -> Option<Act<'a>> {
        Some(match facts {
            Facts::ProposalCreated(_) => Act::Operation(PROPOSE, [None; 2]),
            Facts::ToolIntentSigned(facts) => Act::Operation("", [None, Some(facts.proposal)]),
            Facts::ToolExecutionStarted(facts) => {
                let proposal = self.proposals.get(&facts.intent).copied();
                Act::Operation(EXECUTE, [Some(facts.intent), proposal])
            }
            Facts::ClaimIssued(_) | Facts::ClaimRevised(_) => Act::Operation(CLAIM, [None; 2]),
            Facts::OperationStarted(facts) => Act::Operation(facts.operation.as_str(), [None; 2]),
            Facts::FinalStatementSigned(_) | Facts::PlanConfirmed(_) => Act::Conclusion,
            _ => return None,
        })
    }

    fn ask(&mut self, at: Sequence, facts: &Question) {
        if let Some(repeated) = facts.repeats {
            self.questions.remove(&repeated);
        }
        let (blocks, about) = (facts.blocks.to_vec(), facts.about);
        self.questions.insert(at, Waited { blocks, about, answer: None, done: Vec::new() });
    }

    fn answer(&mut self, at: Sequence, question: Sequence) {
        if let Some(waited) = self.questions.get_mut(&question) {
            waited.answer = Some(at);
        }
    }

    fn end(&mut self, ended: Sequence, question: Sequence, how: AnswerEnd) {
        let Some(waited) = self.questions.get_mut(&question) else { return };
        let (answer, done) = (waited.answer.take(), std::mem::take(&mut waited.done));
        let Some(answer) = answer else { return };
        self.found.extend(done.into_iter().map(|event| RestedEvent { event, answer, question, ended, how }));
    }
}

impl Waited {
    /// Returns whether this waits while the question is open, or depends on what the question is about.
    fn held_up(&self, act: &Act<'_>) -> bool {
        let Act::Operation(name, of) = act else { return true };
        let is_about = self.about.is_some() && of.contains(&self.about);
        let blocks = self.blocks.iter().any(|blocked| blocked.as_str().eq_ignore_ascii_case(name));
        // A tool does not wait for a question about another intent or proposal.
        is_about || (blocks && (self.about.is_none() || *of == [None; 2]))
    }
}

/// How many events are kept of one answer.
const MAX_DONE: usize = 256;
