//! What was done on an answer that was replaced or taken back later: every event between the two that the question blocked, or
//! that depends on what the question is about. Nothing is undone by it; reports name it.

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CLAIM, EXECUTE, PROPOSE};
use crate::{
    event_type::Facts,
    facts::{ConditionJudged, Question},
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
    intents: BTreeMap<Sequence, Intended>,
    /// The questions that conditions of intents were shown by.
    shown_by: BTreeMap<(Sequence, u64), Vec<Sequence>>,
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

/// What is remembered of an intent.
#[derive(Clone, Debug)]
struct Intended {
    proposal: Sequence,
    tool: Option<String>,
}

/// What an event does that may have waited for a question.
enum Act<'a> {
    /// An operation by its names, of this intent and this proposal where it is of one.
    Operation([&'a str; 2], [Option<Sequence>; 2]),
    /// It concludes: nothing is concluded over an open question.
    Conclusion,
}

impl RestedBook {
    /// Returns nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next event in that the guards let through; an intent comes with its tool, where that is disclosed. Returns what
    /// was done on the answer that the event ends.
    pub fn take(&mut self, at: Sequence, facts: &Facts, tool: Option<&str>) -> &[RestedEvent] {
        let before = self.found.len();
        self.note(at, facts);
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
            Facts::ToolIntentSigned(facts) => self.learn_intent(at, facts.proposal, tool),
            Facts::ConditionJudged(facts) => self.judge(facts),
            _ => {}
        }
        self.found.get(before..).unwrap_or_default()
    }

    /// Takes in the proposal and the tool of an intent, where the events before it are not read.
    pub fn learn_intent(&mut self, intent: Sequence, proposal: Sequence, tool: Option<&str>) {
        self.intents.insert(intent, Intended { proposal, tool: tool.map(ToOwned::to_owned) });
    }

    /// Returns what was done on answers that no longer count, in the order of those events.
    pub fn into_events(mut self) -> Vec<RestedEvent> {
        self.found.sort_unstable();
        self.found
    }

    /// Notes an event at every question whose answer it rests on.
    fn note(&mut self, at: Sequence, facts: &Facts) {
        let cited = self.cited(facts);
        // Taken out, so that what the event does can be read from the rest.
        let mut questions = std::mem::take(&mut self.questions);
        let act = self.act(facts);
        for (question, waited) in &mut questions {
            let rests = cited.contains(question) || act.as_ref().is_some_and(|act| waited.held_up(act));
            if rests && waited.answer.is_some() && waited.done.len() < MAX_DONE {
                waited.done.push(at);
            }
        }
        self.questions = questions;
    }

    /// Returns the questions that an event goes by: a judgement itself, and a start through the judgements of its conditions.
    fn cited(&self, facts: &Facts) -> Vec<Sequence> {
        match facts {
            Facts::ConditionJudged(facts) if facts.holds => facts.evidence.to_vec(),
            Facts::ToolExecutionStarted(facts) => {
                let of_intent = self.shown_by.range((facts.intent, 0)..=(facts.intent, u64::MAX));
                of_intent.flat_map(|(_, questions)| questions).copied().collect()
            }
            _ => Vec::new(),
        }
    }

    fn act<'a>(&'a self, facts: &'a Facts) -> Option<Act<'a>> {
        Some(match facts {
            Facts::ProposalCreated(_) => Act::Operation([PROPOSE; 2], [None; 2]),
            Facts::ToolIntentSigned(facts) => Act::Operation([""; 2], [None, Some(facts.proposal)]),
            Facts::ToolExecutionStarted(facts) => {
                let intent = self.intents.get(&facts.intent);
                let tool = intent.and_then(|intent| intent.tool.as_deref()).unwrap_or(EXECUTE);
                Act::Operation([EXECUTE, tool], [Some(facts.intent), intent.map(|intent| intent.proposal)])
            }
            Facts::ClaimIssued(_) | Facts::ClaimRevised(_) => Act::Operation([CLAIM; 2], [None; 2]),
            Facts::OperationStarted(facts) => Act::Operation([facts.operation.as_str(); 2], [None; 2]),
            Facts::FinalStatementSigned(_) | Facts::PlanConfirmed(_) => Act::Conclusion,
            _ => return None,
        })
    }

    /// A condition that is judged again is shown by what it is judged on then.
    fn judge(&mut self, facts: &ConditionJudged) {
        let cited =
            facts.evidence.iter().copied().filter(|at| facts.holds && self.questions.contains_key(at));
        self.shown_by.insert((facts.intent, facts.condition.as_u64()), cited.collect());
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
        let Act::Operation(names, of) = act else { return true };
        let is_about = self.about.is_some() && of.contains(&self.about);
        let blocks = self
            .blocks
            .iter()
            .any(|blocked| names.iter().any(|name| blocked.as_str().eq_ignore_ascii_case(name)));
        // A tool does not wait for a question about another intent or proposal.
        is_about || (blocks && (self.about.is_none() || *of == [None; 2]))
    }
}

/// How many events are kept of one answer.
const MAX_DONE: usize = 256;
