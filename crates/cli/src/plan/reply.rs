//! Where a session stands, for people and for programs.

use demur_clarify::{document::Document, gap, uuid::Uuid};
use demur_core::visible::visible;
use demur_ledger::{
    facts::Assurance,
    name::{PrincipalId, Sequence, TraceId},
    question::Outcome,
};
use demur_plan::{Session, Standing};
use serde::Serialize;

use crate::{
    error::CommandError,
    exit::Exit,
    output::{Paint, Reply},
};

/// The answer of the commands about plans.
#[derive(Debug, Serialize)]
pub(crate) struct PlanReply {
    pub(crate) session_id: Option<Uuid>,
    pub(crate) trace: Option<TraceId>,
    pub(crate) status: &'static str,
    pub(crate) blocking_count: u64,
    pub(crate) warning_count: u64,
    /// Those that are open, as the clarification protocol writes them.
    pub(crate) gaps: Vec<gap::Gap>,
    /// Those that are settled, and how.
    pub(crate) settled: Vec<SettledGap>,
    /// SHA-256 of the rules.
    pub(crate) rules: String,
    /// The signed document while gaps are open.
    pub(crate) document: Option<Document>,
}

/// A gap that was settled.
#[derive(Debug, Serialize)]
pub(crate) struct SettledGap {
    id: String,
    field: String,
    outcome: &'static str,
    event: Option<Sequence>,
    by: Option<PrincipalId>,
    assurance: Option<Assurance>,
}

impl PlanReply {
    /// Returns where a session stands.
    pub(crate) fn of(session: &Session, document: Option<Document>) -> Result<Self, CommandError> {
        let gaps = session.open_gaps().map(demur_plan::Gap::to_clarify).collect::<Result<Vec<_>, _>>()?;
        let rules = session.rules_hash().map(|hash| hash.to_string()).unwrap_or_default();
        let mut reply = Self::new(session.standing().as_str(), gaps, rules, document);
        reply.session_id = Some(session.uuid());
        reply.trace = Some(session.trace());
        reply.settled = settled(session);
        Ok(reply)
    }

    /// Returns what a check found.
    pub(crate) fn new(
        status: &'static str,
        gaps: Vec<gap::Gap>,
        rules: String,
        document: Option<Document>,
    ) -> Self {
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
        }
    }

    /// Returns how the command ends.
    pub(crate) fn exit(&self) -> Exit {
        if self.status == Standing::NeedsClarification.as_str() { Exit::Refused } else { Exit::Success }
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

impl Reply for PlanReply {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(session) = self.session_id {
            lines.push(format!("Session {session}"));
        }
        let words = match self.status {
            "needs_clarification" => paint.bad("Needs clarification:"),
            "ready_to_proceed" => paint.good("Ready to proceed:"),
            "plan_accepted" => paint.good("The plan is confirmed:"),
            _ => paint.good("Attested:"),
        };
        let (block, warn) = (self.blocking_count, self.warning_count);
        lines.push(format!(
            "{words} {block} must be answered, {warn} to confirm, {} settled",
            self.settled.len()
        ));
        for gap in &self.gaps {
            lines.push(String::new());
            lines.extend(asked(gap));
        }
        for gap in &self.settled {
            let event = gap.event.map_or_else(String::new, |event| format!(" in event {event}"));
            let assurance = gap.assurance.map_or_else(String::new, |level| format!(" ({})", level.as_str()));
            lines.push(format!("  {} {}: {}{event}{assurance}", gap.id, visible(&gap.field), gap.outcome));
        }
        if let (Some(session), Some(gap)) = (self.session_id, self.gaps.first()) {
            lines.push(String::new());
            lines.push(format!("Answer: demur plan resolve {session} {} ANSWER", gap.id()));
        }
        lines
    }
}

/// Returns a gap as people read it.
fn asked(gap: &gap::Gap) -> Vec<String> {
    let weight = match gap.severity() {
        gap::Severity::Block => "must be answered",
        gap::Severity::Warn => "please confirm",
    };
    let mut lines =
        vec![format!("{} {} ({weight})", gap.id(), gap.field()), format!("  {}", visible(gap.question()))];
    if !gap.context().is_empty() {
        lines.push(format!("  {}", visible(gap.context())));
    }
    if !gap.suggestions().is_empty() {
        let suggestions: Vec<_> = gap.suggestions().iter().map(|text| visible(text).to_string()).collect();
        lines.push(format!("  for example: {}", suggestions.join(", ")));
    }
    if !gap.blocked_operations().is_empty() {
        let blocked: Vec<_> = gap.blocked_operations().iter().map(ToString::to_string).collect();
        lines.push(format!("  until then this waits: {}", blocked.join(", ")));
    }
    lines
}
