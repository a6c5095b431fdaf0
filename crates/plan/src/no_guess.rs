//! The proof that nothing was guessed (CLR-52, ONE-08): the rules that travel in the trace are asked again at every
//! step, and every value of the confirmed plan is held against the event it came from. Integrity is the verifier's to
//! say; this reads a trace that it let pass.

use std::collections::VecDeque;

use demur_engine::command::Saying;
use demur_ledger::{
    content::ConfirmationContent,
    envelope::Event,
    event_type::{Content, Facts},
    facts::Assurance,
    name::Sequence,
    question::Outcome,
};
use serde::Serialize;

use crate::{Error, Session, act, gap};

/// What the trace of a plan shows about guesses.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct NoGuess {
    /// The session of the clarification protocol.
    pub session: String,
    /// The agent that submitted the plan.
    pub agent: String,
    /// Every gap and what became of it.
    pub gaps: Vec<GapLine>,
    /// Where the values of the confirmed plan came from.
    pub values: Vec<ValueLine>,
    /// Whether the plan was confirmed.
    pub confirmed: bool,
    /// What does not hold.
    pub problems: Vec<Problem>,
}

/// One gap.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct GapLine {
    /// Its name.
    pub id: String,
    /// The field.
    pub field: String,
    /// What became of it.
    pub outcome: &'static str,
    /// The event with the answer or acceptance.
    pub event: Option<Sequence>,
    /// How sure one can be who said it.
    pub assurance: Option<Assurance>,
}

/// One value of the confirmed plan.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ValueLine {
    /// The field.
    pub field: String,
    /// The event it came from.
    pub source: Sequence,
    /// In words.
    pub origin: &'static str,
}

/// Something that does not hold.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// The event.
    pub event: Sequence,
    /// A stable code.
    pub code: &'static str,
    /// What was expected and what was found.
    pub message: String,
}

impl NoGuess {
    /// Returns what these events of a plan's trace show, each with its content.
    pub fn check(events: impl IntoIterator<Item = (Event, Option<Content>)>) -> Result<Self, Error> {
        let mut events = events.into_iter();
        let expected = "the submission of a plan";
        let (first, content) = events.next().ok_or(Error::Trace { at: Sequence::FIRST, expected })?;
        let session = Session::open(&first, content)?;
        let mut check = Check { session, due: VecDeque::new(), problems: Vec::new(), values: Vec::new() };
        for (event, content) in events {
            check.take(&event, content)?;
        }
        Ok(check.into_report())
    }

    /// Returns whether the plan was confirmed and nothing in it was guessed.
    pub const fn holds(&self) -> bool {
        self.confirmed && self.problems.is_empty()
    }
}

struct Check {
    session: Session,
    /// The gaps that the desk must ask next.
    due: VecDeque<Saying>,
    problems: Vec<Problem>,
    values: Vec<ValueLine>,
}

impl Check {
    fn take(&mut self, event: &Event, content: Option<Content>) -> Result<(), Error> {
        let at = event.position().sequence;
        let facts = match event.said() {
            Ok(said) => said.facts.clone(),
            Err(_) => return Err(Error::Trace { at, expected: "a statement or a record" }),
        };
        if let Facts::GapFound(_) = &facts {
            self.check_gap(at, &facts, content.as_ref());
        } else if let Some(saying) = self.due.pop_front() {
            self.due.clear();
            let message = format!(
                "expected the gap at {} to be asked, found {facts_kind}",
                field_of(&saying),
                facts_kind = kind_of(&facts)
            );
            self.problem(at, "GAP_NOT_ASKED", message);
        }
        let answered = self.judged(&facts, content.as_ref())?;
        if let (Facts::PlanConfirmed(_), Some(Content::PlanConfirmed(content))) = (&facts, &content) {
            self.check_confirmation(at, content)?;
        }
        if let Facts::QuestionDefaulted(facts) = &facts {
            let message = format!("expected an answer to question {}, found its default", facts.question);
            self.problem(at, "DEFAULTED", message);
        }
        self.session.fold(event, content)?;
        if let Facts::RulesRecorded(_) = &facts {
            self.due = act::first_gaps(&self.session.submitted, self.session.rules()?)?.into();
        }
        self.due.extend(answered);
        Ok(())
    }

    /// Returns the gaps that must follow an answer, by the rules and the plan before it.
    fn judged(&self, facts: &Facts, content: Option<&Content>) -> Result<Vec<Saying>, Error> {
        let (question, content) = match (facts, content) {
            (Facts::QuestionAnswered(facts), Some(Content::QuestionAnswered(content))) => {
                (facts.question.sequence, content)
            }
            _ => return Ok(Vec::new()),
        };
        let Some(gap) = self.session.gaps.iter().find(|gap| gap.question.sequence == question) else {
            return Ok(Vec::new());
        };
        let finding = self.session.finding(gap)?;
        let (_, sayings) = self.session.judge(gap, finding.as_ref(), &gap::typed(&content.answer))?;
        Ok(sayings)
    }

    fn check_gap(&mut self, at: Sequence, facts: &Facts, content: Option<&Content>) {
        let Some(due) = self.due.pop_front() else {
            return self.problem(at, "GAP_UNFOUNDED", "expected no gap here: the rules find none".to_owned());
        };
        if due.facts != *facts || due.content.as_ref() != content {
            let message =
                format!("expected the gap at {} as the rules word it, found another", field_of(&due));
            self.problem(at, "GAP_DIFFERS", message);
        }
    }

    fn check_confirmation(&mut self, at: Sequence, content: &ConfirmationContent) -> Result<(), Error> {
        for finding in self.session.detect()? {
            let message =
                format!("expected no gap in the confirmed plan, found {} at {}", finding.rule, finding.field);
            self.problem(at, "CONFIRMED_WITH_GAP", message);
        }
        if content.plan != act::members(&self.session.plan) {
            let message =
                "expected the plan as submitted with every answer in it, found other values".to_owned();
            self.problem(at, "PLAN_DIFFERS", message);
        }
        let Content::PlanConfirmed(expected) = self.session.confirm()?.content else { return Ok(()) };
        if expected.provenance != content.provenance {
            let message = "expected the source of every value in the plan, found others or fewer".to_owned();
            self.problem(at, "PROVENANCE_DIFFERS", message);
        }
        self.values = expected
            .provenance
            .iter()
            .map(|one| ValueLine {
                field: one.field.to_string(),
                source: one.source,
                origin: self.origin(one.source),
            })
            .collect();
        Ok(())
    }

    fn origin(&self, source: Sequence) -> &'static str {
        let given = self.session.work().questions().iter().find_map(|(_, asked)| match asked.outcome() {
            Outcome::Answered(given) if given.at == source => Some(*given),
            _ => None,
        });
        match given {
            None => "as submitted: the agent's word",
            Some(given) if given.by.is_some() && given.by == self.session.work().agent() => {
                "answered by the agent that submitted the plan"
            }
            Some(given) if given.assurance == Assurance::Agent => "answered by another agent's key",
            Some(given) if given.assurance == Assurance::Passkey => "answered by a person with a passkey",
            Some(_) => "answered by a person: the desk's word",
        }
    }

    fn problem(&mut self, event: Sequence, code: &'static str, message: String) {
        self.problems.push(Problem { event, code, message });
    }

    fn into_report(mut self) -> NoGuess {
        if let Some(saying) = self.due.pop_front() {
            let at = self.session.head().map_or(Sequence::FIRST, |head| head.sequence);
            let message = format!("expected the gap at {} to be asked, found the end", field_of(&saying));
            self.problem(at, "GAP_NOT_ASKED", message);
        }
        let gaps = self.session.gaps().map(|(gap, outcome)| {
            let given = outcome.and_then(Outcome::given);
            GapLine {
                id: gap.id.to_string(),
                field: gap.field.to_string(),
                outcome: outcome.map_or("unknown", Outcome::as_str),
                event: given.map(|given| given.at),
                assurance: given.map(|given| given.assurance),
            }
        });
        let gaps = gaps.collect();
        let confirmed = !self.values.is_empty() || self.session.confirmed().is_some();
        NoGuess {
            session: self.session.uuid().to_string(),
            agent: self.session.agent().to_string(),
            gaps,
            values: self.values,
            confirmed,
            problems: self.problems,
        }
    }
}

fn field_of(saying: &Saying) -> String {
    match &saying.content {
        Some(Content::GapFound(content)) => {
            content.field.as_ref().map_or_else(|| "a field".to_owned(), ToString::to_string)
        }
        _ => "a field".to_owned(),
    }
}

fn kind_of(facts: &Facts) -> &'static str {
    facts.event_type().map_or("an unknown event", demur_ledger::event_type::EventType::as_str)
}
