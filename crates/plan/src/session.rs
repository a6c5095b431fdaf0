//! A session as its trace tells it: the plan, the rules, every gap and what became of it. Read from events and their
//! content alone, by the desk before it goes on and by whoever verifies (CLR-22, CLR-30).

mod answers;
mod asked;
mod glance;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicU64, Ordering},
};

use demur_clarify::{
    name::{AgentId, FieldPath, GapId},
    status::PlanStatus,
    uuid::Uuid,
};
use demur_core::{canonical, hash::Digest, time::Timestamp};
use demur_engine::command::Saying;
use demur_ledger::{
    content::{AnswerValue, PlanContent, QuestionContent, RulesContent},
    envelope::Event,
    event_type::{Content, Facts},
    facts::{AnswerKind, Assurance, Question},
    meaning::Known,
    name::{Position, PrincipalId, Sequence, TraceId},
    question::Outcome,
    trace_state::{PlanStage, Work},
};
use demur_rules::{Finding, Plan, Rules, Settled, detect::KnownFindings};
use serde_json::{Map, Value};

pub use asked::{Claim, Gap};

use crate::{
    Error,
    consent::Consent,
    gap,
    paper::SignedPapers,
    view::{self, View},
};

/// A session of the clarification protocol.
#[derive(Debug)]
pub struct Session {
    pub(crate) trace: TraceId,
    pub(crate) uuid: Uuid,
    pub(crate) agent: AgentId,
    pub(crate) submitted: Plan,
    /// What the agent says, without any answer.
    pub(crate) own: OwnWord,
    pub(crate) plan: Plan,
    pub(crate) rules: Option<Rules>,
    pub(crate) settled: Settled,
    pub(crate) gaps: Vec<Gap>,
    /// Which gap is of which rule at which field.
    places: BTreeMap<glance::Place, usize>,
    /// What the rules find in the plan with every answer so far, where that is known.
    found: Option<KnownFindings>,
    /// Where the rules were asked again for the newest event, an answer; none where they have to be asked about everything.
    recent: Option<Vec<glance::Place>>,
    /// The answers that count, in the order in which they were first given.
    pub(crate) answers: Vec<Given>,
    /// What somebody let pass, for which values.
    pub(crate) consents: Vec<Consent>,
    /// What somebody answered that does not stand in the plan, because it settles nothing or settles it no more, by its field.
    /// It is still their last word there.
    pub(crate) last_words: BTreeMap<FieldPath, LastWord>,
    /// The gaps whose consent lapsed and that were not put again since, by their places.
    pub(crate) lapsed: BTreeSet<usize>,
    /// What was asked and answered, as the events tell it.
    pub(crate) rounds: Vec<Round>,
    /// What the desk signed.
    pub(crate) papers: SignedPapers,
    /// How often a gap was put.
    pub(crate) asks: u64,
    /// When the newest event was recorded.
    pub(crate) newest: Timestamp,
    /// Which question was put before whom.
    pub(crate) delivered: BTreeSet<(Sequence, String)>,
    /// What whoever submitted the plan would answer.
    claims: Vec<Claim>,
    /// The gaps that were open when the plan was withdrawn.
    pub(crate) left_open: BTreeSet<GapId>,
    /// The attestation as it was recorded.
    pub(crate) attested: Option<Map<String, Value>>,
    work: Work,
    effort: Effort,
}

/// How much the rules were asked so far, and how much they may be.
#[derive(Debug)]
struct Effort {
    spent: AtomicU64,
    budget: u64,
}

impl Effort {
    fn spend(&self, cost: u64, at: Sequence) -> Result<(), Error> {
        let spent = self.spent.fetch_add(cost, Ordering::Relaxed).saturating_add(cost);
        let expected = "a trace over which the rules need not be asked so often";
        if spent > self.budget { Err(Error::Trace { at, expected }) } else { Ok(()) }
    }
}

/// The plan by the word of its agent alone, and the event that says it.
#[derive(Clone, Debug)]
pub(crate) struct OwnWord {
    pub(crate) plan: Plan,
    pub(crate) event: Sequence,
}

/// An answer that counts.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) gap: usize,
    pub(crate) text: String,
    /// What it wrote into the plan.
    pub(crate) value: Value,
    pub(crate) event: Sequence,
    pub(crate) kind: AnswerKind,
    pub(crate) assurance: Assurance,
}

/// An answer that does not stand in the plan.
#[derive(Clone, Debug)]
pub(crate) struct LastWord {
    pub(crate) gap: usize,
    pub(crate) event: Sequence,
    /// What it says; none where it was said about other values than those that are asked about now.
    pub(crate) value: Option<Value>,
}

/// Why the rules find a gap in a plan that is confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsettled {
    /// Nobody settled it.
    Gap,
    /// Somebody let other values pass.
    Moved,
    /// What is at its field did not come from somebody who is known well enough.
    Below,
}

/// One ask and its answer, as the events tell it.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    pub(crate) resolved: bool,
    /// The event with the answer.
    pub(crate) event: Sequence,
}

impl Session {
    /// Returns the session that these events tell, each with its content.
    pub fn read(events: impl IntoIterator<Item = (Event, Option<Content>)>) -> Result<Self, Error> {
        let mut events = events.into_iter();
        let (first, content) = events
            .next()
            .ok_or(Error::Trace { at: Sequence::FIRST, expected: "the submission of a plan" })?;
        let mut session = Self::open(&first, content)?;
        for (event, content) in events {
            session.fold(&event, content)?;
        }
        Ok(session)
    }

    /// Returns the session that begins with this event.
    pub fn open(event: &Event, content: Option<Content>) -> Result<Self, Error> {
        let expected = "the submission of a plan";
        let at = event.position().sequence;
        let Some(Content::PlanSubmitted(PlanContent { agent, plan, session })) = content else {
            return Err(Error::Trace { at, expected });
        };
        let mut work = Work::new();
        work.follow(event, Known::NOTHING).map_err(|_| Error::Trace { at, expected })?;
        let plan = Plan::try_from(Value::Object(plan))?;
        let (time, uuid) = (event.envelope().time, session.as_str().parse::<Uuid>()?);
        if TraceId::of_session(uuid.as_u128()) != event.envelope().trace {
            return Err(Error::Trace { at, expected: "the session whose name the trace has" });
        }
        Ok(Self {
            trace: event.envelope().trace,
            uuid,
            agent: agent.as_str().parse()?,
            submitted: plan.clone(),
            own: OwnWord { plan: plan.clone(), event: at },
            plan,
            rules: None,
            settled: Settled::default(),
            gaps: Vec::new(),
            places: BTreeMap::new(),
            found: None,
            recent: None,
            answers: Vec::new(),
            consents: Vec::new(),
            last_words: BTreeMap::new(),
            lapsed: BTreeSet::new(),
            rounds: Vec::new(),
            papers: SignedPapers::new(uuid),
            asks: 0,
            newest: time,
            delivered: BTreeSet::new(),
            claims: Vec::new(),
            left_open: BTreeSet::new(),
            attested: None,
            work,
            effort: Effort { spent: AtomicU64::new(0), budget: u64::MAX },
        })
    }

    /// Folds the next event in.
    pub fn fold(&mut self, event: &Event, content: Option<Content>) -> Result<(), Error> {
        let at = event.position().sequence;
        let open: BTreeSet<_> = match event.said().map(|said| said.facts) {
            Ok(Facts::PlanWithdrawn(_)) => self.open_gaps().map(|gap| gap.id.clone()).collect(),
            _ => BTreeSet::new(),
        };
        let follows = Error::Trace { at, expected: "an event that follows" };
        self.work.follow(event, Known::NOTHING).map_err(|_| follows)?;
        let said = event.said().map_err(|_| Error::Trace { at, expected: "a statement or a record" })?;
        self.newest = event.envelope().time;
        self.recent = None;
        let hidden = || Error::Trace { at, expected: "its content, which is withheld or erased" };
        match (said.facts, content) {
            (Facts::RulesRecorded(_), Some(Content::RulesRecorded(content))) => {
                (self.rules, self.found) = (Some(recorded(at, &content)?), None);
            }
            (Facts::GapFound(facts), Some(Content::GapFound(content))) => {
                self.fold_gap(event.position(), &facts.0, content)?;
            }
            (Facts::QuestionAnswered(facts), Some(Content::QuestionAnswered(content))) => {
                self.fold_answer(at, facts, &content)?;
            }
            (Facts::AnswerSuperseded(facts), Some(Content::AnswerSuperseded(content))) => {
                self.take_back(facts.replaces)?;
                self.fold_answer(at, &facts.answer, &content)?;
            }
            (Facts::AnswerRevoked(facts), _) => {
                if self.is_gap(facts.question) {
                    self.rounds.push(Round { resolved: false, event: at });
                }
                self.take_back(facts.answer)?;
            }
            (Facts::AnswerRejected(facts), _) if self.is_gap(facts.question) => {
                self.rounds.push(Round { resolved: false, event: at });
            }
            (Facts::PaperRecorded(facts), Some(Content::PaperRecorded(content))) => {
                self.papers.fold(facts.kind, at, &content)?;
            }
            (Facts::QuestionDelivered(facts), Some(Content::QuestionDelivered(content))) => {
                self.delivered.insert((facts.question, content.to.to_string()));
            }
            (Facts::AnswerClaimed(facts), Some(Content::AnswerClaimed(content))) => {
                self.fold_claim(at, facts.question, &content.answer);
            }
            (Facts::PlanAttested(_), Some(Content::PlanAttested(content))) => {
                self.attested = Some(content.attestation);
            }
            (Facts::PlanAmended(_), Some(Content::PlanAmended(content))) => {
                self.fold_amendment(at, Value::Object(content.plan))?;
            }
            (Facts::PlanWithdrawn(_), _) => self.left_open = open,
            (Facts::GapAccepted(facts), _) => self.fold_acceptance(at, facts.question.sequence)?,
            (
                Facts::RulesRecorded(_)
                | Facts::GapFound(_)
                | Facts::QuestionAnswered(_)
                | Facts::AnswerSuperseded(_)
                | Facts::PaperRecorded(_)
                | Facts::PlanAmended(_)
                | Facts::PlanConfirmed(_)
                | Facts::PlanAttested(_),
                None,
            ) => return Err(hidden()),
            _ => {}
        }
        Ok(())
    }

    /// Returns its name in the clarification protocol.
    pub const fn uuid(&self) -> Uuid {
        self.uuid
    }

    /// Returns the trace.
    pub const fn trace(&self) -> TraceId {
        self.trace
    }

    /// Returns the agent that submitted the plan.
    pub const fn agent(&self) -> &AgentId {
        &self.agent
    }

    /// Returns whether every gap was settled by somebody, or is no longer found: what the signed record says.
    pub(crate) fn is_all_resolved(&self) -> bool {
        self.left_open.is_empty() && self.open_gaps().next().is_none()
    }

    /// Returns whether a gap is open in the signed record: nobody is asked any more where the plan is withdrawn.
    pub(crate) fn is_open_on_record(&self, id: &GapId) -> bool {
        self.left_open.contains(id) || self.open_gaps().any(|gap| gap.id == *id)
    }

    /// Returns the plan with every answer so far.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the plan as it was submitted.
    pub const fn submitted(&self) -> &Plan {
        &self.submitted
    }

    /// Returns whether this is the same submission again: the plan as it was submitted or amended last, the rules it is held
    /// against and whose it is (CLR-04).
    pub fn is_submission_of(&self, plan: &Plan, rules: &Rules, agent: PrincipalId) -> bool {
        let is_plan = self.submitted == *plan || self.is_newest(plan);
        is_plan && self.rules_hash() == Some(rules.hash()) && self.work.agent() == Some(agent)
    }

    /// Returns the state of the trace.
    pub const fn work(&self) -> &Work {
        &self.work
    }

    /// Returns the last event of the trace.
    pub const fn head(&self) -> Option<Position> {
        self.work.head()
    }

    /// Returns when the newest event was recorded.
    pub const fn newest(&self) -> Timestamp {
        self.newest
    }

    /// Returns the hash of the rules.
    pub fn rules_hash(&self) -> Option<Digest> {
        self.rules.as_ref().map(Rules::hash)
    }

    /// Returns the gaps that are not settled, in order.
    pub fn open_gaps(&self) -> impl Iterator<Item = &Gap> {
        self.gaps.iter().filter(|gap| !self.outcome(gap).is_none_or(Outcome::settles))
    }

    /// Returns every gap with what became of it.
    pub fn gaps(&self) -> impl Iterator<Item = (&Gap, Option<&Outcome>)> {
        self.gaps.iter().map(|gap| (gap, self.outcome(gap)))
    }

    /// Returns what whoever submitted the plan would answer to this gap as it is asked now, the newest last.
    pub fn claims(&self, gap: &Gap) -> impl Iterator<Item = &Claim> {
        self.claims.iter().filter(|claim| claim.question == gap.question.sequence)
    }

    /// Returns how many gaps are settled.
    pub fn accepted(&self) -> u64 {
        (self.gaps.len() - self.open_gaps().count()) as u64
    }

    /// Returns where it stands.
    pub fn standing(&self) -> PlanStatus {
        match self.work.plan() {
            PlanStage::Attested => PlanStatus::Attested,
            PlanStage::Confirmed(_) => PlanStatus::Confirmed,
            PlanStage::Withdrawn => PlanStatus::Withdrawn,
            PlanStage::None | PlanStage::Submitted if self.open_gaps().next().is_some() => {
                PlanStatus::NeedsClarification
            }
            PlanStage::None | PlanStage::Submitted => PlanStatus::ReadyToProceed,
        }
    }

    /// Returns the confirmation, if there is one.
    pub const fn confirmed(&self) -> Option<Sequence> {
        match self.work.plan() {
            PlanStage::Confirmed(at) => Some(at),
            _ => None,
        }
    }

    pub(crate) fn outcome(&self, gap: &Gap) -> Option<&Outcome> {
        self.work.questions().find(gap.question.sequence).map(demur_ledger::question::Asked::outcome)
    }

    /// Bounds how much the rules are asked from here on, for a reader of a file that others made.
    pub(crate) const fn limit_effort(&mut self, budget: u64) {
        self.effort.budget = budget;
    }

    /// Returns how much the rules were asked: the bytes they have, each time, and the gaps and consents that were looked at.
    pub(crate) fn effort(&self) -> u64 {
        self.effort.spent.load(Ordering::Relaxed)
    }

    /// Counts that the rules are asked so many times.
    fn spend(&self, rules: &Rules, times: u64) -> Result<(), Error> {
        let cost = rules.document().len() as u64 + self.gaps.len() as u64 * COST_OF_GAP;
        self.effort.spend(times * cost, self.newest_event())
    }

    fn newest_event(&self) -> Sequence {
        self.head().map_or(Sequence::FIRST, |head| head.sequence)
    }

    /// Returns what the rules find in the plan with every answer so far.
    pub(crate) fn detect(&self) -> Result<Vec<Finding>, Error> {
        let rules = self.rules()?;
        self.spend(rules, 1)?;
        Ok(rules.detect(&self.plan, &self.settled)?)
    }

    /// Returns what the rules find in the plan with every answer so far, and why each is not settled.
    pub(crate) fn unsettled(&self) -> Result<Vec<(Finding, Unsettled)>, Error> {
        let (rules, found) = (self.rules()?, self.detect()?);
        self.spend(rules, 1)?;
        let by_any = rules.detect(&self.plan, &self.settled.from_any_source())?;
        let by_any: BTreeSet<_> = by_any.iter().map(Finding::place).collect();
        let lapsed: BTreeSet<_> = self.lapsed.iter().filter_map(|place| self.gaps[*place].place()).collect();
        let why = |finding: &Finding| match finding.place() {
            moved if lapsed.contains(&moved) => Unsettled::Moved,
            there if by_any.contains(&there) => Unsettled::Gap,
            _ => Unsettled::Below,
        };
        Ok(found
            .into_iter()
            .map(|finding| {
                let why = why(&finding);
                (finding, why)
            })
            .collect())
    }

    /// Returns what the desk has to say so that the questions in the ledger are those that the rules ask now.
    pub fn due(&self) -> Result<Vec<Saying>, Error> {
        if self.work.plan() == PlanStage::Withdrawn {
            return self.closing();
        }
        self.spend(self.rules()?, 1)?;
        self.view()?.due()
    }

    /// Returns the session as the rules see it.
    pub(crate) fn view(&self) -> Result<View<'_>, Error> {
        self.view_with(self.plan.clone(), &self.answers)
    }

    /// Returns the session as the rules see it once the answer to a gap is taken back: that gap is open.
    pub(crate) fn view_without(&self, gap: &Gap, answer: Sequence) -> Result<View<'_>, Error> {
        let (plan, answers, settled) = self.without(answer)?;
        let mut view = self.view_with(plan, &answers)?;
        let place = self.place(gap)?;
        view.settled = settled;
        view.consents.retain(|consent| consent.gap != place);
        view.gaps[self.place(gap)?].1 = view::Standing::Open;
        Ok(view)
    }

    pub(crate) fn view_with(&self, plan: Plan, answers: &[Given]) -> Result<View<'_>, Error> {
        let counting: BTreeSet<_> = answers.iter().map(|given| given.event).collect();
        let standing = |place| self.standing_of(place, |event| counting.contains(&event));
        Ok(View {
            rules: self.rules()?,
            plan,
            settled: self.settled.clone(),
            gaps: self.gaps.iter().enumerate().map(|(place, gap)| (gap.clone(), standing(place))).collect(),
            consents: self.consents.clone(),
        })
    }

    pub(crate) fn is_open(&self, gap: &Gap) -> bool {
        self.outcome(gap).is_some_and(|outcome| !outcome.settles())
    }

    pub(crate) fn place(&self, gap: &Gap) -> Result<usize, Error> {
        let found = self.gaps.iter().position(|one| one.id == gap.id);
        found.ok_or_else(|| Error::OutOfDate { gap: gap.id.to_string() })
    }

    pub(crate) fn rules(&self) -> Result<&Rules, Error> {
        let expected = "the rules of the session after the plan";
        self.rules.as_ref().ok_or(Error::Trace { at: Sequence::FIRST, expected })
    }

    /// Returns the fields of the plan that no rule reads.
    pub fn unread(&self) -> Result<Vec<String>, Error> {
        Ok(self.rules()?.unread(&self.plan))
    }

    /// Returns the finding behind a gap, as the rules find it now.
    pub(crate) fn finding(&self, gap: &Gap) -> Result<Option<Finding>, Error> {
        Ok(self.detect()?.into_iter().find(|finding| gap.is_of(finding)))
    }

    fn fold_gap(
        &mut self,
        question: Position,
        facts: &Question,
        content: QuestionContent,
    ) -> Result<(), Error> {
        let expected = "a gap with a name and a field";
        let trouble = || Error::Trace { at: question.sequence, expected };
        let id: GapId = content.gap.as_ref().ok_or_else(trouble)?.as_str().parse()?;
        let field = gap::field(&content).ok_or_else(trouble)?;
        let asked = self.plan.value(&field).cloned();
        let found = Gap { id, question, field, content, facts: facts.clone(), asked };
        self.asks += 1;
        let known = self.gaps.iter().position(|gap| gap.id == found.id);
        if let Some(named) = glance::rule_and_field(&found) {
            self.places.insert(named, known.unwrap_or(self.gaps.len()));
        }
        match known {
            Some(place) => {
                self.gaps[place] = found;
                self.lapsed.remove(&place);
                // Whatever was said before, it is asked again.
                self.consents.retain(|consent| consent.gap != place);
            }
            None => self.gaps.push(found),
        }
        Ok(())
    }

    /// Keeps what whoever submitted the plan would answer; it settles nothing.
    fn fold_claim(&mut self, event: Sequence, question: Sequence, answer: &AnswerValue) {
        let gap = self.gaps.iter().find(|gap| gap.question.sequence == question);
        if let (Some(gap), Some(answer)) = (gap, gap::typed(answer)) {
            self.claims.push(Claim { gap: gap.id.clone(), question, answer, event });
        }
    }

    pub(crate) fn is_gap(&self, question: Sequence) -> bool {
        self.gaps.iter().any(|gap| gap.question.sequence == question)
    }
}

fn recorded(at: Sequence, content: &RulesContent) -> Result<Rules, Error> {
    let unwritable = Error::Trace { at, expected: "rules in canonical JSON" };
    let bytes = canonical::to_vec(&content.document).map_err(|_| unwritable)?;
    let rules = Rules::from_document(&bytes)?;
    if rules.hash() == content.hash {
        Ok(rules)
    } else {
        Err(Error::Trace { at, expected: "rules with the hash that stands beside them" })
    }
}

/// What it costs to look at a gap or a consent, beside a byte of rules.
const COST_OF_GAP: u64 = 64;
/// How often the rules are asked about one answer: what they find, and what they find before and after it.
const TIMES_FOR_ANSWER: u64 = 3;

/// What the audit record says where a warning was accepted without another answer.
pub const ACCEPTED: &str = "accepted as it is";
