//! What the schemas let through and the prose demands of a payload (4.2.2, 4.4.1, 4.4.2, 6.4.1).

use std::{collections::BTreeSet, fmt::Debug};

use demur_core::limit::Text;

use crate::{
    error::{Rule, RuleViolation},
    payload::{AwaitingClarification, AwaitingConfirmation, Payload, WorkProgress},
    prompt::{ClarificationTerms, ConfirmationTerms},
    word::{ReplyDecision, ResponseKind},
};

/// Returns the first rule that a payload of good shape breaks.
pub(crate) fn payload(payload: &Payload) -> Result<(), RuleViolation> {
    match payload {
        Payload::AwaitingClarification(payload) => clarification(payload),
        Payload::AwaitingConfirmation(payload) => confirmation(payload),
        Payload::ProgressUpdated(payload) => progress(&payload.progress),
        Payload::SessionStarted(payload) => {
            let tools = payload.tools_available.iter().flatten();
            unique(Rule::Payload, "tools_available", tools.map(Text::as_str))
        }
        Payload::SessionCompleted(_)
        | Payload::SessionErrored(_)
        | Payload::SessionCancelled(_)
        | Payload::StateChanged(_)
        | Payload::ToolInvoked(_)
        | Payload::ToolCompleted(_)
        | Payload::OutputStreaming(_)
        | Payload::HandoffRequested(_)
        | Payload::Extension(_) => Ok(()),
    }
}

/// Returns the rule that a list with the same entry twice breaks.
pub(crate) fn unique<T: Copy + Ord + Debug>(
    rule: Rule,
    field: &str,
    entries: impl IntoIterator<Item = T>,
) -> Result<(), RuleViolation> {
    let mut seen = BTreeSet::new();
    match entries.into_iter().find(|entry| !seen.insert(*entry)) {
        Some(twice) => Err(RuleViolation::new(rule, field, "every entry once", format!("{twice:?} twice"))),
        None => Ok(()),
    }
}

fn clarification(payload: &AwaitingClarification) -> Result<(), RuleViolation> {
    let kinds = payload.accepted_response_kinds.iter().flatten();
    unique(Rule::Payload, "accepted_response_kinds", kinds.clone())?;
    if payload.choices.is_none() && kinds.clone().any(|kind| *kind == ResponseKind::MultipleChoice) {
        let expected = "2 to 32 choices, since multiple_choice is accepted";
        return Err(RuleViolation::new(Rule::Choices, "choices", expected, "none"));
    }
    let values = payload.choices.iter().flatten().map(|choice| choice.value.as_str());
    unique(Rule::ChoiceValues, "choices", values)?;
    let terms = ClarificationTerms::of(payload);
    match &payload.default_response {
        Some(default) if terms.default_answer().is_none() => {
            let expected = "an answer of a kind that is accepted";
            Err(RuleViolation::new(
                Rule::DefaultResponse,
                "default_response",
                expected,
                format!("{:?}", &**default),
            ))
        }
        _ => Ok(()),
    }
}

fn confirmation(payload: &AwaitingConfirmation) -> Result<(), RuleViolation> {
    let replies = payload.allowed_replies.iter().flatten().map(Text::as_str);
    unique(Rule::Payload, "allowed_replies", replies.clone())?;
    if let Some(other) = replies.clone().find(|reply| !matches!(*reply, "accept" | "reject")) {
        return Err(RuleViolation::new(Rule::AllowedReplies, "allowed_replies", "accept and reject", other));
    }
    let terms = ConfirmationTerms::of(payload);
    if payload.default_decision == ReplyDecision::Accept && terms.must_default_to_reject() {
        let expected = "reject, since the action cannot be undone and its risk is not low";
        return Err(RuleViolation::new(Rule::SafeDefault, "default_decision", expected, "accept"));
    }
    Ok(())
}

fn progress(progress: &WorkProgress) -> Result<(), RuleViolation> {
    if *progress == WorkProgress::default() {
        let expected = "percent, step, total_steps or description";
        return Err(RuleViolation::new(Rule::Payload, "progress", expected, "none of them"));
    }
    match (progress.step, progress.total_steps) {
        (Some(step), Some(total)) if step > total => {
            let expected = format!("at most {total:?}, the last step");
            Err(RuleViolation::new(Rule::ProgressSteps, "progress.step", expected, format!("{step:?}")))
        }
        _ => Ok(()),
    }
}
