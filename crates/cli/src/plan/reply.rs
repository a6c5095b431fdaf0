//! Where a session stands, in words.

use demur_api::plan::PlanStanding;
use demur_clarify::{gap, status::PlanStatus};
use demur_core::visible::visible;
use demur_ledger::{attribution::assurance_word, question::OutcomeKind};

use crate::{
    exit::Exit,
    output::{Paint, Reply},
};

/// Returns how a command ends that says where a session stands.
pub(crate) fn exit(standing: &PlanStanding) -> Exit {
    if standing.status == PlanStatus::NeedsClarification { Exit::Refused } else { Exit::Success }
}

impl Reply for PlanStanding {
    fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(session) = self.session_id {
            lines.push(format!("Session {session}"));
        }
        lines.extend(whose(self));
        let words = match self.status {
            PlanStatus::NeedsClarification => paint.bad("Needs clarification:"),
            PlanStatus::ReadyToProceed => paint.good("Ready to proceed:"),
            PlanStatus::Confirmed => paint.good("The plan is confirmed:"),
            PlanStatus::Attested => paint.good("Attested:"),
            PlanStatus::Withdrawn => paint.bad("Withdrawn:"),
        };
        let (block, warn) = (self.blocking_count, self.warning_count);
        let withdrawn = self.settled.iter().filter(|gap| gap.outcome == OutcomeKind::Withdrawn).count();
        let no_longer = if withdrawn > 0 { format!(", {withdrawn} no longer asked") } else { String::new() };
        lines.push(format!(
            "{words} {block} must be answered, {warn} to confirm, {} settled{no_longer}",
            self.settled.len() - withdrawn
        ));
        for gap in &self.gaps {
            lines.push(String::new());
            lines.extend(asked(gap, self.closed.contains(&gap.id().to_string())));
        }
        if !self.gaps.is_empty() && !self.settled.is_empty() {
            lines.extend([String::new(), "Settled".to_owned()]);
        }
        for gap in &self.settled {
            let event = gap.event.map_or_else(String::new, |event| format!(" in event {event}"));
            let assurance =
                gap.assurance.map_or_else(String::new, |level| format!(" ({})", assurance_word(level)));
            lines.push(format!("  {} {}: {}{event}{assurance}", gap.id, visible(&gap.field), gap.outcome));
        }
        lines.extend(unread(&self.unread));
        lines.extend(next(self));
        lines
    }
}

/// Returns whose plan it is, and what it is about.
fn whose(standing: &PlanStanding) -> Option<String> {
    let agent = visible(standing.agent.as_deref()?);
    Some(match &standing.subject {
        Some(subject) => format!("Plan of {agent}: {}", visible(subject)),
        None => format!("Plan of {agent}"),
    })
}

/// Returns what can be done next, each with its command.
fn next(standing: &PlanStanding) -> Vec<String> {
    let Some(session) = standing.session_id else { return Vec::new() };
    let is_unasked = |gap: &&gap::Gap| standing.unasked.contains(&gap.id().to_string());
    let mut lines = Vec::new();
    if let Some(gap) = standing.gaps.iter().find(|gap| !is_unasked(gap)) {
        let (id, accepts) = (gap.id(), gap.severity() == gap::Severity::Warn);
        lines.push(format!("Answer: demur plan resolve {session} {id} ANSWER"));
        lines.extend(accepts.then(|| format!("Accept: demur plan resolve {session} {id} --accept")));
    }
    lines.extend(standing.gaps.iter().filter(is_unasked).map(|gap| {
        format!("Nobody is asked about {0} now. Ask again: demur plan ask-again {session} {0}", gap.id())
    }));
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

/// Returns which fields nobody checked, if there are any.
fn unread(fields: &[String]) -> Option<String> {
    let shown: Vec<_> = fields.iter().take(MAX_UNREAD).map(|field| visible(field).to_string()).collect();
    let more = match fields.len().saturating_sub(MAX_UNREAD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!fields.is_empty())
        .then(|| format!("Named by no rule, so checked for vague words at most: {}{more}", shown.join(", ")))
}

/// How many fields are named that no rule reads.
const MAX_UNREAD: usize = 20;

/// Returns a gap as people read it.
fn asked(gap: &gap::Gap, closed: bool) -> Vec<String> {
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
        let suggestions = suggestions.join(", ");
        lines.push(if closed {
            format!("  choose one of: {suggestions}")
        } else {
            format!("  suggestions: {suggestions}; any other answer works, too")
        });
    }
    if !gap.blocked_operations().is_empty() {
        let blocked: Vec<_> = gap.blocked_operations().iter().map(ToString::to_string).collect();
        lines.push(format!("  until then this waits: {}", blocked.join(", ")));
    }
    lines
}
