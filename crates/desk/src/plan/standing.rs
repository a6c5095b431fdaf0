//! Where a session stands, for people and for programs.

use std::collections::BTreeSet;

use demur_clarify::{document::Document, gap, uuid::Uuid};
use demur_ledger::{
    facts::Assurance,
    name::{PrincipalId, Sequence, TraceId},
    question::Outcome,
};
use demur_plan::{Error, Session, act::Judged};
use schemars::JsonSchema;
use serde::Serialize;

/// Where a session stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanStanding {
    /// Its name in the protocol.
    pub session_id: Option<Uuid>,
    /// Its trace.
    pub trace: Option<TraceId>,
    /// `needs_clarification`, `ready_to_proceed`, `plan_accepted` or `attested`.
    pub status: &'static str,
    /// How many gaps must be answered.
    pub blocking_count: u64,
    /// How many are to be confirmed.
    pub warning_count: u64,
    /// Those that are open, as the clarification protocol writes them.
    pub gaps: Vec<gap::Gap>,
    /// Those that are settled, and how.
    pub settled: Vec<SettledGap>,
    /// SHA-256 of the rules.
    pub rules: String,
    /// The signed document while gaps are open.
    pub document: Option<Document>,
    /// The names of those gaps that take one of their suggestions and nothing else.
    #[serde(skip)]
    pub closed: BTreeSet<String>,
}

/// A gap that was settled.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SettledGap {
    /// Its name in the session.
    pub id: String,
    /// The field of the plan.
    pub field: String,
    /// What became of it.
    pub outcome: &'static str,
    /// The event that settled it.
    pub event: Option<Sequence>,
    /// Whose key; none for a person.
    pub by: Option<PrincipalId>,
    /// How sure one can be who it was.
    pub assurance: Option<Assurance>,
}

/// What became of an answer to a gap.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ResolvedGap {
    /// The gap's name in the session.
    pub gap_id: String,
    /// `resolved`, or `escalated` where the answer does not settle it.
    pub status: &'static str,
    /// The answer that counts.
    pub accepted_answer: Option<String>,
    /// Why it does not settle the gap.
    pub reason: Option<String>,
    /// Where the plan stands now.
    pub session: PlanStanding,
}

impl ResolvedGap {
    /// Returns what became of an answer that was judged so.
    pub fn new(gap: &str, answer: Option<&str>, judged: &Judged, session: PlanStanding) -> Self {
        let (status, reason) = match judged {
            Judged::Resolved => ("resolved", None),
            Judged::Escalated(why) => ("escalated", Some(why.to_string())),
        };
        let accepted_answer = answer.filter(|_| reason.is_none()).map(str::to_owned);
        Self { gap_id: gap.to_owned(), status, accepted_answer, reason, session }
    }
}

impl PlanStanding {
    /// Returns where a session stands.
    pub fn of(session: &Session, document: Option<Document>) -> Result<Self, Error> {
        let gaps = session.open_gaps().map(demur_plan::Gap::to_clarify).collect::<Result<Vec<_>, _>>()?;
        let rules = session.rules_hash().map(|hash| hash.to_string()).unwrap_or_default();
        let mut reply = Self::new(session.standing().as_str(), gaps, rules, document);
        reply.session_id = Some(session.uuid());
        reply.trace = Some(session.trace());
        reply.settled = settled(session);
        let closed = session.open_gaps().filter(|gap| gap.is_closed());
        reply.closed = closed.map(|gap| gap.id.to_string()).collect();
        Ok(reply)
    }

    /// Returns what a check found.
    pub fn new(status: &'static str, gaps: Vec<gap::Gap>, rules: String, document: Option<Document>) -> Self {
        let count = |severity| gaps.iter().filter(|gap| gap.severity() == severity).count() as u64;
        Self {
            session_id: None,
            trace: None,
            status,
            blocking_count: count(gap::Severity::Block),
            warning_count: count(gap::Severity::Warn),
            gaps,
            settled: Vec::new(),
            rules,
            document,
            closed: BTreeSet::new(),
        }
    }
}

fn settled(session: &Session) -> Vec<SettledGap> {
    let settled = session.gaps().filter(|(_, outcome)| outcome.is_some_and(Outcome::settles));
    let line = |(gap, outcome): (&demur_plan::Gap, Option<&Outcome>)| {
        let given = outcome.and_then(Outcome::given);
        SettledGap {
            id: gap.id.to_string(),
            field: gap.field.to_string(),
            outcome: outcome.map_or("unknown", Outcome::as_str),
            event: given.map(|given| given.at),
            by: given.and_then(|given| given.by),
            assurance: given.map(|given| given.assurance),
        }
    };
    settled.map(line).collect()
}
