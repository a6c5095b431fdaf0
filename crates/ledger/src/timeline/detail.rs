//! What stands below the sentence of an entry: one labelled line for each fact.

use std::fmt::Display;

use demur_core::words::counted_as;

use super::entry::{Dispute, Entry, Execution, Named, Opening, Participant, ProposalPlan};
use crate::{event_type::EventType, facts::Risk};

/// One labelled fact. The text may hold anything that authors wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// What it is, in a word of up to ten letters.
    pub label: &'static str,
    /// The fact.
    pub text: String,
}

impl Entry {
    /// Returns what is known of the event beyond its sentence, in reading order.
    pub fn details(&self) -> Vec<Detail> {
        let mut list = List(Vec::new());
        list.extend(self.why_label(), self.why.as_ref().map(quoted));
        list.extend("sure", self.confidence.map(|sure| format!("{sure} %")));
        list.opening(self.opening.as_ref());
        list.extend("rule", self.rules.iter().cloned());
        list.plan(self.plan.as_ref());
        let conditions = self.conditions.iter().enumerate();
        list.extend("condition", conditions.map(|(number, words)| format!("{number}: {words}")));
        list.joined("meets", self.meets.iter().map(|number| format!("condition {number}")));
        list.extend("limit", self.limits.iter().cloned());
        list.extend("ended", self.ending.map(|ending| ending.to_string()));
        list.joined("input", self.input.iter().map(named));
        list.joined("output", self.outputs.iter().map(named));
        list.joined("evidence", self.evidence.iter().map(named));
        list.extend("execution", self.executions.iter().map(Execution::to_string));
        let revises = self.kind == EventType::ClaimRevised.as_str();
        list.extend(if revises { "replaces" } else { "claim" }, self.claims.iter().map(claim));
        list.extend("DISPUTED", self.disputed.iter().map(Dispute::to_string));
        let change = self.phase.filter(|step| step.from != step.to);
        list.extend("state", change.map(|step| format!("{} -> {}", step.from, step.to)));
        list.0
    }

    /// Returns what the author's own words are.
    fn why_label(&self) -> &'static str {
        match EventType::from_name(&self.kind) {
            Some(EventType::SessionInitialized | EventType::ProposalCreated) => "goal",
            Some(EventType::ClaimIssued | EventType::ClaimRevised) => "claim",
            Some(EventType::FinalStatementSigned) => "verdict",
            Some(EventType::VerificationRunCompleted) => "summary",
            Some(EventType::CheckStated) => "check",
            Some(
                EventType::StoreCreated
                | EventType::KeyRegistered
                | EventType::ClientBound
                | EventType::TokenMade,
            ) => "name",
            Some(EventType::ToolExecutionCompleted | EventType::RecoveryRecorded) => "note",
            _ => "why",
        }
    }
}

struct List(Vec<Detail>);

impl List {
    /// Adds one line for each text.
    fn extend(&mut self, label: &'static str, texts: impl IntoIterator<Item = String>) {
        self.0.extend(texts.into_iter().map(|text| Detail { label, text }));
    }

    /// Adds all texts as one line, if there are any.
    fn joined(&mut self, label: &'static str, texts: impl Iterator<Item = String>) {
        let text = texts.collect::<Vec<_>>().join(", ");
        self.extend(label, Some(text).filter(|text| !text.is_empty()));
    }

    fn opening(&mut self, opening: Option<&Opening>) {
        let Some(opening) = opening else { return };
        self.extend("task", opening.task.as_ref().map(quoted));
        self.extend("constraint", opening.constraints.iter().cloned());
        let participants = opening.participants.iter().map(|one| match &one.name {
            Some(name) => format!("{name} ({})", one.role),
            None => format!("{} ({})", one.principal, one.role),
        });
        self.joined("people", participants);
        let client = |one: &Participant| Some(format!("{}: {}", one.role, one.client.as_ref()?));
        self.extend("client", opening.participants.iter().filter_map(client));
        let policy = &opening.policy;
        let fallback = if policy.fallback { "fallback allowed" } else { "no fallback" };
        let words = format!(
            "approval from {} risk, {} per claim at least, {} per call, {fallback}",
            risk(policy.approval_from),
            counted_as(policy.evidence_minimum.as_u64(), "artifact", "artifacts"),
            counted_as(policy.retry_limit.as_u64(), "retry", "retries"),
        );
        self.extend("policy", [words]);
    }

    fn plan(&mut self, plan: Option<&ProposalPlan>) {
        let Some(plan) = plan else { return };
        self.extend("assumes", plan.assumptions.iter().cloned());
        self.extend("expects", plan.expected_evidence.iter().cloned());
        self.joined("tools", plan.required_tools.iter().cloned());
    }
}

/// Returns the name of a risk class.
pub(super) const fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
        Risk::Critical => "critical",
    }
}

fn quoted(text: impl Display) -> String {
    format!("\u{201c}{text}\u{201d}")
}

fn named(event: &Named) -> String {
    match &event.name {
        Some(name) => format!("#{} {name}", event.sequence),
        None => format!("#{}", event.sequence),
    }
}

fn claim(event: &Named) -> String {
    match &event.name {
        Some(text) => format!("#{} {}", event.sequence, quoted(text)),
        None => format!("#{}", event.sequence),
    }
}

impl Display for Execution {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "#{}", self.sequence)?;
        match (&self.tool, &self.ending) {
            (Some(tool), Some(ending)) => write!(formatter, " {tool}: {ending}"),
            (Some(tool), None) => write!(formatter, " {tool}"),
            (None, Some(ending)) => write!(formatter, " {ending}"),
            (None, None) => Ok(()),
        }
    }
}

impl Display for Dispute {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let challenges: Vec<_> = self.challenges.iter().map(|at| format!("#{at}")).collect();
        write!(formatter, "claim #{}, by challenge {}", self.claim, challenges.join(" and "))
    }
}
