//! The proof that nothing was guessed (CLR-52, ONE-08): the rules that travel in the trace are asked again at every
//! step, and every value of the confirmed plan is held against the event it came from. Integrity is the verifier's to
//! say; this reads a trace that it let pass.

mod attested;
mod count;
mod settled;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use demur_core::{hash::Digest, key::Fingerprint};
use demur_engine::command::Saying;
use demur_ledger::{
    attribution::assurance_word,
    content::ConfirmationContent,
    envelope::Event,
    event_type::{Content, Facts},
    facts::{Assurance, Attribution, PaperKind, QuestionAnswered},
    name::{PersonId, Sequence},
    question::{Given, Outcome},
    registry::Registry,
    trace_state::PlanStage,
};
use demur_rules::Plan;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

pub use count::{ValueCounts, ValueOrigin};
pub use settled::SettledBy;

use crate::{Error, Session, act, gap, session::Unsettled};

/// What the trace of a plan shows about guesses.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NoGuess {
    /// The session of the clarification protocol.
    pub session: String,
    /// The agent that submitted the plan.
    pub agent: String,
    /// SHA-256 of the rules in the file, by which nothing was guessed.
    pub rules: Option<Digest>,
    /// The packs they were layered from, lowest first.
    pub packs: Vec<String>,
    /// Where the rules are not those that come with this program under the name they have, in words.
    pub changed: Vec<String>,
    /// How many values of the confirmed plan came from whom.
    pub counts: ValueCounts,
    /// Every gap and what became of it.
    pub gaps: Vec<GapLine>,
    /// Where the values of the confirmed plan came from.
    pub values: Vec<ValueLine>,
    /// Whether the plan was confirmed.
    pub confirmed: bool,
    /// What does not hold.
    pub problems: Vec<Problem>,
    /// What the rules allow and is a warning all the same; strict fails on it.
    pub warnings: Vec<Problem>,
    /// What is only said; a warning in strict.
    pub remarks: Vec<Problem>,
}

/// One gap.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "NoGuessGap")]
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
    /// Who settled it, as seen from the agent that submitted the plan.
    pub settled_by: Option<SettledBy>,
    /// Who settled it, in words.
    pub by: Option<String>,
}

/// One value of the confirmed plan.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "NoGuessValue")]
pub struct ValueLine {
    /// The field.
    pub field: String,
    /// The event it came from.
    pub source: Sequence,
    /// Who gave it.
    pub kind: ValueOrigin,
    /// In words.
    pub origin: String,
}

/// Something that does not hold.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "NoGuessProblem")]
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
        Ok(Self::counted(events, u64::MAX, None)?.0)
    }

    /// Returns the same for a file of so many bytes and its registry: what is done is bounded by a multiple of those bytes,
    /// and an error says where it would have been more.
    pub fn check_file(
        events: impl IntoIterator<Item = (Event, Option<Content>)>,
        bytes: u64,
        registry: Option<&Registry>,
    ) -> Result<Self, Error> {
        Ok(Self::counted(events, bytes.saturating_mul(EFFORT_PER_BYTE), registry)?.0)
    }

    /// Returns the same with how much was done for it, in a unit of its own.
    #[doc(hidden)]
    pub fn counted(
        events: impl IntoIterator<Item = (Event, Option<Content>)>,
        budget: u64,
        registry: Option<&Registry>,
    ) -> Result<(Self, u64), Error> {
        let mut events = events.into_iter();
        let expected = "the submission of a plan";
        let (first, content) = events.next().ok_or(Error::Trace { at: Sequence::FIRST, expected })?;
        let mut session = Session::open(&first, content)?;
        session.limit_effort(budget);
        let mut check = Check {
            session,
            registry,
            defaulted: BTreeSet::new(),
            ways: BTreeMap::new(),
            passkeys: BTreeMap::new(),
            due: VecDeque::new(),
            is_steady: false,
            papers: VecDeque::from([PaperKind::Document]),
            problems: Vec::new(),
            warnings: Vec::new(),
            remarks: Vec::new(),
            values: Vec::new(),
            confirmed: false,
        };
        for (event, content) in events {
            check.take(&event, content)?;
        }
        let effort = check.session.effort();
        Ok((check.into_report(), effort))
    }

    /// Returns whether the plan was confirmed and nothing in it was guessed.
    pub const fn holds(&self) -> bool {
        self.confirmed && self.problems.is_empty()
    }
}

struct Check<'a> {
    session: Session,
    registry: Option<&'a Registry>,
    /// The defaults that took effect.
    defaulted: BTreeSet<Sequence>,
    /// How answers and acceptances came that no key stands behind.
    ways: BTreeMap<Sequence, Attribution>,
    /// Which passkey signed others, and whose it is.
    passkeys: BTreeMap<Sequence, (Fingerprint, PersonId)>,
    /// The gaps that the desk must ask next.
    due: VecDeque<Saying>,
    /// Whether everything was said that was due, and nothing since could make more due than answers do.
    is_steady: bool,
    /// The papers that it must sign after them.
    papers: VecDeque<PaperKind>,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    remarks: Vec<Problem>,
    values: Vec<ValueLine>,
    confirmed: bool,
}

impl Check<'_> {
    fn take(&mut self, event: &Event, content: Option<Content>) -> Result<(), Error> {
        let at = event.position().sequence;
        let facts = match event.said() {
            Ok(said) => said.facts.clone(),
            Err(_) => return Err(Error::Trace { at, expected: "a statement or a record" }),
        };
        // A refusal changes nothing: what is due comes after it.
        if !matches!(facts, Facts::CommandRefused(_)) {
            self.check_due(at, &facts, content.as_ref());
            self.check_papers(at, &facts);
        }
        if let Some(Some(way)) = facts.attribution() {
            self.ways.insert(at, way.clone());
        }
        if let Some(made) = event.envelope().proof.assertion() {
            self.passkeys.insert(at, (made.key, event.envelope().actor.into()));
        }
        match (&facts, &content) {
            (Facts::QuestionAnswered(facts), _) => self.check_assurance(at, facts),
            (Facts::AnswerSuperseded(facts), _) => self.check_assurance(at, &facts.answer),
            (Facts::PlanAmended(_), Some(Content::PlanAmended(content))) => {
                self.check_amendment(at, &content.plan)?;
            }
            (Facts::PlanConfirmed(_), Some(Content::PlanConfirmed(content))) => {
                self.check_confirmation(at, content)?;
            }
            (Facts::QuestionDefaulted(facts), _) => {
                let message = format!("expected an answer to question {}, found its default", facts.question);
                self.problem(at, "DEFAULTED", message);
                self.defaulted.insert(at);
            }
            _ => {}
        }
        self.session.fold(event, content)?;
        let is_change = matches!(facts, Facts::PlanAmended(_) | Facts::PlanWithdrawn(_));
        self.is_steady &= self.problems.is_empty() && is_calm(&facts);
        match facts {
            Facts::QuestionAnswered(_) if self.is_steady => {
                self.due = self.session.due_after_answer()?.into();
            }
            Facts::RulesRecorded(_)
            | Facts::QuestionAnswered(_)
            | Facts::AnswerSuperseded(_)
            | Facts::AnswerRevoked(_)
            | Facts::PlanAmended(_)
            | Facts::PlanWithdrawn(_)
            | Facts::GapAccepted(_) => {
                (self.due, self.is_steady) = (self.session.due()?.into(), true);
            }
            Facts::PlanConfirmed(_) => {
                self.confirmed = true;
                self.papers = VecDeque::from([PaperKind::Acceptance]);
            }
            Facts::PlanAttested(_) => self.check_attestation(event)?,
            Facts::PaperRecorded(facts) => self.check_paper(at, facts.kind),
            _ => {}
        }
        if self.session.rounds.last().is_some_and(|round| round.event == at) {
            self.papers = VecDeque::from([PaperKind::Round, PaperKind::Document]);
        } else if is_change {
            self.papers = VecDeque::from([PaperKind::Document]);
        }
        Ok(())
    }

    /// The papers come right after what the rules make the desk say, each in its turn.
    fn check_papers(&mut self, at: Sequence, facts: &Facts) {
        let expected = match facts {
            Facts::RulesRecorded(_)
            | Facts::GapFound(_)
            | Facts::GapWithdrawn(_)
            | Facts::ConfirmationExpired(_) => return,
            Facts::PaperRecorded(facts) if facts.kind == PaperKind::Handoff => self.papers.pop_front(),
            Facts::PaperRecorded(facts) => self.papers.pop_front().filter(|due| *due != facts.kind),
            _ => self.papers.pop_front(),
        };
        if let Some(due) = expected {
            self.papers.clear();
            let message = format!("expected the signed {} here, found {}", due.as_str(), kind_of(facts));
            self.problem(at, "PAPER_MISSING", message);
        }
    }

    /// A paper says what the rules say: whether an answer settled its gap, and whether everything is settled.
    fn check_paper(&mut self, at: Sequence, kind: PaperKind) {
        let session = &self.session;
        let (told, known) = (session.papers.chain.rounds().last(), session.rounds.last());
        let settled = told.zip(known).is_none_or(|(told, known)| told.is_resolved() == known.resolved);
        let all = session.is_all_resolved();
        let sealed = session.papers.seal.as_ref().is_none_or(|seal| {
            let withdrawn = session.papers.chain.withdrawn(|id| session.is_open_on_record(id));
            let told = seal.withdrawn_gaps.as_ref().map_or(&[][..], |gaps| gaps.as_slice());
            seal.all_resolved == all && withdrawn.eq(told)
        });
        let counted =
            session.document().is_none_or(|document| document.accepted_gaps() == session.accepted());
        let holds = match kind {
            PaperKind::Round => settled && sealed,
            PaperKind::Document => sealed && counted,
            PaperKind::Acceptance => sealed,
            PaperKind::Handoff => true,
        };
        if !holds {
            let message = format!("expected a {} that says what was settled, found another", kind.as_str());
            self.problem(at, "PAPER_DIFFERS", message);
        }
    }

    /// What the rules make the desk say must come next, word for word, and nothing of the kind otherwise.
    fn check_due(&mut self, at: Sequence, facts: &Facts, content: Option<&Content>) {
        let about_gaps = match facts {
            Facts::GapFound(_) | Facts::GapWithdrawn(_) => true,
            // Nobody is asked for a yes any more where the plan is withdrawn.
            Facts::ConfirmationExpired(_) => self.session.work().plan() == PlanStage::Withdrawn,
            _ => false,
        };
        match (self.due.pop_front(), about_gaps) {
            (None, false) => {}
            (None, true) => {
                let message = "expected nothing about a gap here: the rules ask nothing new".to_owned();
                self.problem(at, "GAP_UNFOUNDED", message);
            }
            (Some(mut due), true) => {
                // The ask is signed; that it says the same, the verifier sees to.
                if let (Some(Content::GapFound(due)), Some(Content::GapFound(found))) =
                    (&mut due.content, content)
                {
                    due.ask.clone_from(&found.ask);
                }
                if due.facts != *facts || due.content.as_ref() != content {
                    let message =
                        format!("expected {} as the rules have it, found something else", told(&due));
                    self.problem(at, "GAP_DIFFERS", message);
                }
            }
            (Some(due), false) => {
                self.due.clear();
                let message = format!("expected {}, found {}", told(&due), kind_of(facts));
                self.problem(at, "GAP_NOT_ASKED", message);
            }
        }
    }

    /// Nobody answers around a gap at the same field that demands more.
    fn check_assurance(&mut self, at: Sequence, facts: &QuestionAnswered) {
        let gaps = &self.session.gaps;
        let Some(gap) = gaps.iter().find(|gap| gap.question.sequence == facts.question.sequence) else {
            return;
        };
        if let Some(other) = self.session.stricter(gap, facts.assurance) {
            let least = assurance_word(other.facts.assurance);
            let message = format!("expected at least the assurance {least:?} at {}, found less", gap.field);
            self.problem(at, "ANSWERED_BELOW", message);
        }
    }

    /// What somebody answered is in an amended plan as it was answered.
    fn check_amendment(&mut self, at: Sequence, plan: &Map<String, Value>) -> Result<(), Error> {
        let plan = Plan::try_from(Value::Object(plan.clone()))?;
        if let Some(given) = self.session.changed_answer(&plan) {
            let field = self.session.field(given);
            let message =
                format!("{field}: expected what was answered in event {}, found another value", given.event);
            self.problem(at, "FIELD_ANSWERED", message);
        }
        if let Some((field, word)) = self.session.stepped_around(&plan) {
            let message = format!(
                "{field}: expected nothing new here before somebody answers again, since event {} is their last word, found another value",
                word.event
            );
            self.problem(at, "FIELD_ANSWERED", message);
        }
        Ok(())
    }

    fn check_confirmation(&mut self, at: Sequence, content: &ConfirmationContent) -> Result<(), Error> {
        for (finding, why) in self.session.unsettled()? {
            let (rule, field) = (&finding.rule, &finding.field);
            let (code, message) = match why {
                Unsettled::Gap => {
                    let message = format!("expected no gap in the confirmed plan, found {rule} at {field}");
                    ("CONFIRMED_WITH_GAP", message)
                }
                Unsettled::Moved => {
                    let message = format!(
                        "{field}: expected the values that somebody let pass for {rule}, found others"
                    );
                    ("CONSENT_MOVED", message)
                }
                Unsettled::Below => {
                    let least = assurance_word(gap::assurance(finding.assurance));
                    let message = format!(
                        "{field}: expected an answer with at least the assurance {least:?} for {rule}, found a value of a lesser source"
                    );
                    ("ASSURANCE_BELOW", message)
                }
            };
            self.problem(at, code, message);
        }
        if content.plan != act::members(&self.session.plan) {
            let message =
                "expected the plan as submitted or amended, with every answer in it, found other values"
                    .to_owned();
            self.problem(at, "PLAN_DIFFERS", message);
        }
        if self.session.provenance()?.as_slice() != content.provenance.as_slice() {
            let message = "expected the source of every value in the plan, found others or fewer".to_owned();
            self.problem(at, "PROVENANCE_DIFFERS", message);
        }
        let given: BTreeMap<Sequence, Given> = {
            let questions = self.session.work().questions().iter();
            let given = questions.filter_map(|(_, asked)| asked.outcome().given());
            given.map(|given| (given.at, given)).collect()
        };
        let mut values = Vec::new();
        let mut differing = Vec::new();
        let plan = Value::Object(content.plan.clone());
        for one in &content.provenance {
            let value = plan.pointer(&format!("/{}", one.field.replace('.', "/")));
            if value.is_none() || value != self.session.sourced(one) {
                differing.push(one.field.to_string());
            }
            let (field, source) = (one.field.to_string(), one.source);
            let (kind, origin) = self.origin(source, given.get(&source));
            values.push(ValueLine { field, source, kind, origin });
        }
        for field in differing {
            let message = format!("{field}: expected the value that its source has, found another");
            self.problem(at, "VALUE_DIFFERS", message);
        }
        self.values = values;
        Ok(())
    }

    fn origin(&self, source: Sequence, given: Option<&Given>) -> (ValueOrigin, String) {
        if self.defaulted.contains(&source) {
            return (ValueOrigin::Default, "a default that took effect: nobody answered".to_owned());
        }
        match given {
            None if source == Sequence::FIRST => {
                (ValueOrigin::OwnWord, "as submitted: the agent's word".to_owned())
            }
            None => (ValueOrigin::OwnWord, format!("as amended in event {source}: the agent's word")),
            Some(given) => {
                let by = self.settled_by(given);
                (by.origin(), format!("answered by {}", self.words(by, given)))
            }
        }
    }

    fn problem(&mut self, event: Sequence, code: &'static str, message: String) {
        self.problems.push(Problem { event, code, message });
    }

    fn into_report(mut self) -> NoGuess {
        if let Some(due) = self.due.pop_front() {
            let at = self.session.head().map_or(Sequence::FIRST, |head| head.sequence);
            self.problem(at, "GAP_NOT_ASKED", format!("expected {}, found the end", told(&due)));
        }
        if let Some(due) = self.papers.pop_front() {
            let at = self.session.head().map_or(Sequence::FIRST, |head| head.sequence);
            self.problem(at, "PAPER_MISSING", format!("expected the signed {}, found the end", due.as_str()));
        }
        self.check_settled();
        let gaps = self.session.gaps().map(|(gap, outcome)| {
            let given = outcome.and_then(Outcome::given);
            let settled_by = given.map(|given| self.settled_by(&given));
            GapLine {
                id: gap.id.to_string(),
                field: gap.field.to_string(),
                outcome: outcome.map_or("unknown", Outcome::as_str),
                event: given.map(|given| given.at),
                assurance: given.map(|given| given.assurance),
                settled_by,
                by: settled_by.zip(given).map(|(by, given)| self.words(by, &given)),
            }
        });
        let gaps = gaps.collect();
        let rules = self.session.rules.as_ref();
        NoGuess {
            session: self.session.uuid().to_string(),
            agent: self.session.agent().to_string(),
            rules: rules.map(demur_rules::Rules::hash),
            packs: rules.map(packs).unwrap_or_default(),
            // A pack that cannot be read here is nobody's word for what the rules are.
            changed: rules.and_then(|rules| rules.differences().ok()).unwrap_or_default(),
            counts: ValueCounts::of(self.values.iter().map(|value| value.kind)),
            gaps,
            values: self.values,
            confirmed: self.confirmed,
            problems: self.problems,
            warnings: self.warnings,
            remarks: self.remarks,
        }
    }
}

/// Returns whether an event makes nothing due but by what it answers.
const fn is_calm(facts: &Facts) -> bool {
    matches!(
        facts,
        Facts::QuestionAnswered(_)
            | Facts::GapFound(_)
            | Facts::GapWithdrawn(_)
            | Facts::PaperRecorded(_)
            | Facts::AnswerRejected(_)
            | Facts::AnswerClaimed(_)
            | Facts::QuestionDelivered(_)
            | Facts::CommandRefused(_)
    )
}

fn packs(rules: &demur_rules::Rules) -> Vec<String> {
    rules.packs().iter().map(|pack| format!("{} {}", pack.name, pack.version)).collect()
}

fn told(saying: &Saying) -> String {
    match &saying.content {
        Some(Content::GapFound(content)) => {
            let field = content.field.as_ref().map_or("a field", |field| field.as_str());
            format!("the gap at {field} to be asked")
        }
        _ => "a gap to be withdrawn".to_owned(),
    }
}

fn kind_of(facts: &Facts) -> &'static str {
    facts.event_type().map_or("an unknown event", demur_ledger::event_type::EventType::as_str)
}

/// How often the rules are asked, at most, for each byte of the file: some ten times what an honest session needs.
const EFFORT_PER_BYTE: u64 = 256;
