//! What was answered and what was done: each answer with what it says, each operation with the answer it went against, if
//! it did.

use std::collections::BTreeMap;

use demur_core::{hash::Digest, key::Fingerprint, quote::quoted};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Code, examine::Examined, finding::Found};
use crate::{
    confirmation::{Confirmation, Confirmations, call_digest},
    content::AnswerValue,
    envelope::Event,
    event_type::Facts,
    facts::{Attribution, Question, QuestionAnswered, Severity},
    meaning::Meaning,
    name::{PrincipalId, Sequence},
    proof::ProofKind,
    question::{EXECUTE, Given},
    timeline::Words,
};

/// An operation that began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OperationReport {
    /// The event.
    pub event: Sequence,
    /// The operation, or the tool of a run.
    pub operation: Option<String>,
    /// The digest of the operation, or of the tool with its input, where that is disclosed.
    pub digest: Option<Digest>,
    /// The operation itself in canonical JSON, where it is told and disclosed; at most 200 characters.
    pub told: Option<String>,
    /// The confirmation that it was started on; in a run the one about its intent.
    pub confirmation: Option<Sequence>,
    /// Whose key began it.
    pub by: PrincipalId,
    /// The answer "no" to a question that had held it up, if there is one.
    pub against: Option<Sequence>,
}

/// What an answer, acceptance or decision says, who the desk says it was, and how it came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SaidAnswer {
    /// In words, quoted; none where it is not disclosed.
    pub(super) words: Option<String>,
    /// The name the desk gives.
    pub(super) by: Option<String>,
    /// The way it came, where neither key nor passkey stands behind it.
    pub(super) way: Option<Attribution>,
    /// The touch that signed it, if one did.
    pub(super) touch: Option<SignedTouch>,
    /// The registry event that it goes by.
    pub(super) pinned: Sequence,
    is_no: bool,
}

/// A touch of a passkey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SignedTouch {
    pub(super) key: Fingerprint,
    /// How many statements it signed.
    pub(super) leaves: u64,
}

/// The answers and operations so far.
#[derive(Debug, Default)]
pub(super) struct ActBook {
    questions: BTreeMap<Sequence, Held>,
    intents: BTreeMap<Sequence, Intended>,
    said: BTreeMap<Sequence, SaidAnswer>,
    /// The gaps that were not put again.
    gaps: BTreeMap<Sequence, PutGap>,
    put_again: Vec<PutAgain>,
    operations: Vec<OperationReport>,
    /// What the operations are called that were started on a confirmation.
    confirmed: BTreeMap<Sequence, String>,
    total: u64,
}

/// What is remembered of an intent.
#[derive(Clone, Debug)]
struct Intended {
    tool: Option<String>,
    proposal: Sequence,
    /// The digest of the call.
    digest: Option<Digest>,
}

/// An operation that begins.
struct Start<'a> {
    /// What questions hold it up by.
    names: [&'a str; 2],
    /// The intent and the proposal that it is of.
    of: [Option<Sequence>; 2],
    report: OperationReport,
}

/// A gap and its newest answer.
#[derive(Debug)]
struct PutGap {
    severity: Severity,
    answer: Option<Given>,
}

/// A gap that was answered and then put again.
#[derive(Debug)]
pub(super) struct PutAgain {
    pub(super) question: Sequence,
    pub(super) severity: Severity,
    pub(super) answer: Given,
    /// The event that put it again.
    pub(super) again: Sequence,
}

/// What a question holds up, and the "no" that counts.
#[derive(Debug)]
struct Held {
    names: Vec<String>,
    about: Option<Sequence>,
    refused: Option<Sequence>,
}

impl ActBook {
    /// Takes an event that the state let through; returns what is worth reading about it.
    pub(super) fn take(&mut self, examined: &Examined, confirmations: Option<&Confirmations>) -> Vec<Found> {
        let Examined { event, words, meaning, .. } = examined;
        let at = event.envelope().sequence;
        let Ok(said) = event.said() else { return Vec::new() };
        match said.facts {
            // A gap asks for a value, not for leave: "no" may be the value.
            Facts::QuestionAsked(facts) => self.ask(at, &facts.0),
            Facts::GapFound(facts) => self.put(at, &facts.0),
            Facts::QuestionAnswered(facts) => self.answer(event, facts, words.as_ref()),
            Facts::AnswerSuperseded(facts) => self.answer(event, &facts.answer, words.as_ref()),
            facts @ (Facts::GapAccepted(_) | Facts::ConfirmationGiven(_) | Facts::ConfirmationRefused(_)) => {
                let by = match words {
                    Some(Words::Person(name)) => Some(name.to_string()),
                    _ => None,
                };
                let way = facts.attribution().flatten().cloned();
                self.said.insert(at, SaidAnswer { by, way, ..SaidAnswer::by(event) });
            }
            Facts::AnswerRevoked(facts) => {
                self.gaps.entry(facts.question).and_modify(|gap| gap.answer = None);
                if let Some(held) = self.questions.get_mut(&facts.question) {
                    held.refused = None;
                }
            }
            Facts::ToolIntentSigned(facts) => {
                let call = match meaning {
                    Some(Meaning::Intent(call)) => Some(call),
                    _ => None,
                };
                let tool = call.map(|call| call.tool.to_string());
                let digest = call.and_then(|call| call_digest(call));
                self.intents.insert(at, Intended { tool, proposal: facts.proposal, digest });
            }
            Facts::OperationStarted(facts) => {
                let name = facts.operation.as_str();
                let digest = match meaning {
                    Some(Meaning::Operation(operation)) => Some(operation.found),
                    _ => None,
                };
                let told = match words {
                    Some(Words::Operation(told)) => Some(shortened(told)),
                    _ => None,
                };
                let (operation, confirmation) = (Some(name.to_owned()), facts.confirmation);
                let by = event.envelope().actor;
                let against = None;
                let report =
                    OperationReport { event: at, operation, digest, told, confirmation, by, against };
                return self.begin(Start { names: [name; 2], of: [None; 2], report }, confirmations);
            }
            Facts::ToolExecutionStarted(facts) => {
                let Some(Intended { tool, proposal, digest }) = self.intents.get(&facts.intent).cloned()
                else {
                    return Vec::new();
                };
                let asked = confirmations.and_then(|all| all.about(facts.intent)).map(|(about, _)| about);
                let names = [EXECUTE, tool.as_deref().unwrap_or(EXECUTE)];
                let of = [Some(facts.intent), Some(proposal)];
                let (operation, told, against) = (tool.clone(), None, None);
                let by = event.envelope().actor;
                let report =
                    OperationReport { event: at, operation, digest, told, confirmation: asked, by, against };
                return self.begin(Start { names, of, report }, confirmations);
            }
            _ => {}
        }
        Vec::new()
    }

    /// Returns what an answer or acceptance says.
    pub(super) fn said(&self, answer: Sequence) -> Option<&SaidAnswer> {
        self.said.get(&answer)
    }

    /// Returns the answered gaps that were put again, in order.
    pub(super) fn put_again(&self) -> &[PutAgain] {
        &self.put_again
    }

    /// Returns the operations, the first of them only where there are many, and how many there are.
    pub(super) fn into_operations(self) -> (Vec<OperationReport>, u64) {
        (self.operations, self.total)
    }

    fn ask(&mut self, at: Sequence, facts: &Question) {
        let names = facts.blocks.iter().map(|name| name.as_str().to_owned()).collect();
        self.questions.insert(at, Held { names, about: facts.about, refused: None });
    }

    /// What somebody answered stays said when the gap is put again.
    fn put(&mut self, at: Sequence, facts: &Question) {
        let before = facts.repeats.and_then(|question| Some((question, self.gaps.remove(&question)?)));
        if let Some((question, PutGap { severity, answer: Some(answer) })) = before {
            self.put_again.push(PutAgain { question, severity, answer, again: at });
        }
        self.gaps.insert(at, PutGap { severity: facts.severity, answer: None });
    }

    fn answer(&mut self, event: &Event, facts: &QuestionAnswered, words: Option<&Words>) {
        let envelope = event.envelope();
        let at = envelope.sequence;
        let by = (envelope.proof.kind() == ProofKind::Ed25519).then_some(envelope.actor);
        let given = Given { at, by, assurance: facts.assurance, time: envelope.time };
        self.gaps.entry(facts.question.sequence).and_modify(|gap| gap.answer = Some(given));
        let mut said = match words {
            Some(Words::Answer(words)) => SaidAnswer::of(&words.value, words.by.as_deref()),
            _ => SaidAnswer::default(),
        };
        let SaidAnswer { touch, pinned, .. } = SaidAnswer::by(event);
        (said.touch, said.pinned) = (touch, pinned);
        said.way = facts.attribution.as_deref().cloned();
        if let Some(held) = self.questions.get_mut(&facts.question.sequence) {
            held.refused = said.is_no.then_some(at);
        }
        self.said.insert(at, said);
    }

    fn begin(&mut self, start: Start<'_>, confirmations: Option<&Confirmations>) -> Vec<Found> {
        let Start { names, of, mut report } = start;
        let refusing = |held: &Held| held.refused.filter(|_| held.is_over(&names, of));
        report.against = self.questions.values().find_map(refusing);
        let called = report.operation.as_deref().map_or_else(|| "a tool".to_owned(), quoted);
        let message =
            |answer: Sequence| format!("{called} began although the answer in event {answer} is no");
        let against = report.against.map(|answer| Found::new(Code::AgainstAnswer, message(answer)));
        let other = confirmations.and_then(|all| self.confirmed_other(&report, all)).map(|other| {
            let message = format!(
                "{called} began on no confirmation, and confirmation {other} is of another operation"
            );
            Found::new(Code::ConfirmedOther, message)
        });
        if let (Some(confirmation), Some(name)) = (report.confirmation, &report.operation) {
            self.confirmed.insert(confirmation, name.clone());
        }
        self.total += 1;
        if self.operations.len() < MAX_OPERATIONS {
            self.operations.push(report);
        }
        against.into_iter().chain(other).collect()
    }

    /// Returns the newest yes or no to another operation, where this one has none behind it. In a run it is of the same tool. In a
    /// piece of work a confirmation has the name of what was started on it, and before that it may be of any name.
    fn confirmed_other(&self, report: &OperationReport, confirmations: &Confirmations) -> Option<Sequence> {
        if report.confirmation.is_some() {
            return None;
        }
        let is_alike = |at: Sequence, asked: &Confirmation| {
            let name = match asked.facts().about {
                Some(intent) => self.intents.get(&intent)?.tool.as_ref(),
                None => self.confirmed.get(&at),
            };
            Some(name.is_none() || name == report.operation.as_ref())
        };
        let said = confirmations.iter().filter(|(_, asked)| asked.outcome().said().is_some());
        said.filter(|(at, asked)| is_alike(*at, asked) == Some(true)).map(|(at, _)| at).last()
    }
}

impl Held {
    /// Returns whether an operation of one of these names, of this intent and proposal, waits for the question.
    fn is_over(&self, names: &[&str], of: [Option<Sequence>; 2]) -> bool {
        let is_held = |name: &&str| self.names.iter().any(|held| held.eq_ignore_ascii_case(name));
        names.iter().any(is_held) && (self.about.is_none() || of == [None; 2] || of.contains(&self.about))
    }
}

impl SaidAnswer {
    /// Returns what is known of the author of an event.
    fn by(event: &Event) -> Self {
        let touch = event.envelope().proof.assertion();
        let touch = touch.map(|made| SignedTouch { key: made.key, leaves: made.leaves.len() as u64 });
        let pinned = event.envelope().registry.map_or(Sequence::FIRST, |pin| pin.sequence);
        Self { touch, pinned, ..Self::default() }
    }

    fn of(value: &AnswerValue, by: Option<&str>) -> Self {
        let words = match value {
            AnswerValue::Text(text) => quoted(&shortened(text)),
            AnswerValue::Flag(true) => "yes".to_owned(),
            AnswerValue::Flag(false) => "no".to_owned(),
            AnswerValue::Number(number) => number.to_string(),
            AnswerValue::Sealed(_) => "a secret, which is elsewhere".to_owned(),
        };
        let is_no = match value {
            AnswerValue::Flag(flag) => !flag,
            // A text, or the value of a choice.
            AnswerValue::Text(text) => text.trim().eq_ignore_ascii_case("no"),
            AnswerValue::Number(_) | AnswerValue::Sealed(_) => false,
        };
        Self { words: Some(words), by: by.map(ToOwned::to_owned), is_no, ..Self::default() }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// How many operations are listed.
const MAX_OPERATIONS: usize = 256;

/// How many characters of an answer are shown.
const MAX_SHOWN: usize = 200;
