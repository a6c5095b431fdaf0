//! Words that an operator has erased. The format lets that happen at any time; here what somebody waits for, or what a run that
//! goes on is judged by, is settled first: nobody is left with a question that has no words.

use demur_api::{
    code::{Code, RuleCode},
    operation::OfEvent,
    question::QuestionId,
    refusal::Refusal,
    trace::ErasedEvent,
};
use demur_core::limit::Text;
use demur_ledger::{
    confirmation::{Confirmation, Confirmations},
    erasure::Erasures,
    event_type::{Content, Facts},
    name::{Sequence, TraceId},
    question::{Asked, OutcomeKind},
    state::Phase,
    trace_state::{PlanStage, TraceState},
};
use demur_sequencer::{SequencerError, read_event};

use super::event;
use crate::{
    owner::Owner,
    question::{forget_delivery, forget_erased},
    record,
};

/// Erases the words of an event. What was erased before stays so, and nothing is recorded a second time.
pub(super) fn erase(owner: &Owner, of: &OfEvent, why: Text<1, 4096>) -> Result<ErasedEvent, Refusal> {
    let (ledger, OfEvent { trace, sequence: at }) = (owner.sequencer(), of.clone());
    ledger.store().trace(trace)?.ok_or(SequencerError::TraceUnknown { trace })?;
    let event = read_event(trace, at, &event(owner, trace, at)?)?;
    let kind = event.said().ok().map_or_else(String::new, |said| said.kind.to_string());
    let registry = ledger.registry();
    let known = if trace == registry.trace() { None } else { Some(ledger.look(trace)?) };
    let state = known.as_ref().and_then(|known| known.trace());
    let erasures = match state {
        Some(state) => state.erasures(),
        None => Some(registry.erasures()),
    };
    let nothing = Erasures::new();
    let erasures = erasures.unwrap_or(&nothing);
    if erasures.contains(at) {
        ledger.scrub()?;
        return Ok(ErasedEvent { trace, event: at, kind, papers: Vec::new(), recorded: None });
    }
    let papers: Vec<_> = erasures.gone_with(at).into_iter().filter(|one| *one != at).collect();
    if let Some(state) = state {
        let said = event.said().ok();
        refuse_waiting(state, trace, at)?;
        if let Some(said) = said {
            refuse_plan(state, trace, at, is_plan(said.facts) || !papers.is_empty())?;
            refuse_run(state, trace, at, said.facts)?;
            forget_beside(owner, trace, at, said.facts)?;
        }
    }
    let recorded = match ledger.erase(trace, at, why) {
        // Another caller was faster.
        Err(SequencerError::Refused(refusal)) if refusal.code == RuleCode::ALREADY_ERASED.as_str() => {
            ledger.scrub()?;
            None
        }
        erased => Some(erased?.position.sequence),
    };
    Ok(ErasedEvent { trace, event: at, kind, papers, recorded })
}

/// Removes what stands beside the record of the words of an event. Before they are erased, because afterwards nobody could tell
/// what to look for.
fn forget_beside(owner: &Owner, trace: TraceId, at: Sequence, facts: &Facts) -> Result<(), Refusal> {
    let (_, content) = record::read(owner.sequencer().store(), trace, at)?;
    match (content, facts) {
        (Some(Content::QuestionAnswered(said) | Content::AnswerSuperseded(said)), _) => {
            forget_erased(owner, &said.answer)
        }
        (Some(Content::QuestionDelivered(said)), Facts::QuestionDelivered(facts)) => {
            forget_delivery(owner, QuestionId { trace, sequence: facts.question }, &said)
        }
        _ => Ok(()),
    }
}

/// Refuses to erase a question or a confirmation that somebody is asked about.
fn refuse_waiting(state: &TraceState, trace: TraceId, at: Sequence) -> Result<(), Refusal> {
    let is_open = |asked: &Asked| asked.outcome().kind() == OutcomeKind::Open;
    if state.questions().and_then(|questions| questions.find(at)).is_some_and(is_open) {
        let id = QuestionId { trace, sequence: at };
        let message = format!("expected words that nobody waits for, found that question {id} is open");
        return Err(Refusal::new(Code::SettleFirst, message)
            .with_cure(format!("settle it first: `demur answer {id} TEXT` or `demur decline {id}`")));
    }
    let is_open = state.confirmations().is_some_and(|asked| asked.open().any(|(place, _)| place == at));
    if is_open {
        let message =
            format!("expected words that nobody waits for, found that confirmation {trace}.{at} is open");
        return Err(Refusal::new(Code::SettleFirst, message)
            .with_cure(format!("give or refuse it first: `demur confirm show {trace}.{at}` shows it")));
    }
    refuse_unspent(state, trace, at)
}

/// Refuses to erase what a yes was to while something can still be started on it.
fn refuse_unspent(state: &TraceState, trace: TraceId, at: Sequence) -> Result<(), Refusal> {
    let is_over = state.phase().is_some_and(Phase::is_final)
        || state.work().is_some_and(|work| work.plan() == PlanStage::Withdrawn);
    let said = |asked: &Confirmation| asked.unspent().map(|given| given.at);
    let mut unspent = state.confirmations().into_iter().flat_map(Confirmations::iter).filter(|_| !is_over);
    let found = unspent.find(|(place, asked)| said(asked).is_some_and(|said| at == *place || at == said));
    let Some((place, _)) = found else { return Ok(()) };
    let message = format!(
        "expected words that nothing rests on, found that confirmation {trace}.{place} is given and its operation has not started"
    );
    let cure = format!("start it first: `demur confirm start {trace}.{place}`, or let the words be");
    Err(Refusal::new(Code::SettleFirst, message).with_cure(cure))
}

/// Refuses to erase a part of a plan that has open questions.
fn refuse_plan(state: &TraceState, trace: TraceId, at: Sequence, is_part: bool) -> Result<(), Refusal> {
    let plan = state.work().filter(|work| is_part && work.plan() == PlanStage::Submitted);
    let is_open = |asked: &Asked| asked.outcome().kind() == OutcomeKind::Open;
    let open = plan.and_then(|work| work.questions().iter().find(|(_, asked)| is_open(asked)));
    let Some((open, _)) = open else { return Ok(()) };
    let id = QuestionId { trace, sequence: open };
    let message = format!(
        "expected a plan with no open question, found {id}: what is left to ask is told from event {at} or a paper that quotes it"
    );
    Err(Refusal::new(Code::SettleFirst, message)
        .with_cure(format!("settle its questions first: `demur answer {id} TEXT` or `demur decline {id}`")))
}

/// Refuses to erase what says what a run that goes on may do.
fn refuse_run(state: &TraceState, trace: TraceId, at: Sequence, facts: &Facts) -> Result<(), Refusal> {
    let goes_on = state.phase().is_some_and(|phase| !phase.is_final());
    let ruled =
        matches!(facts, Facts::PolicyRecorded(_) | Facts::ProposalCreated(_) | Facts::ToolIntentSigned(_));
    if goes_on && ruled {
        let message =
            format!("expected a run that is over, found that {trace} goes on and is held to event {at}");
        return Err(Refusal::new(Code::SettleFirst, message)
            .with_cure(format!("let it end, or end it: `demur run abort {trace} --reason TEXT`")));
    }
    Ok(())
}

/// Returns whether an event is part of what the plan is: with its words gone, nobody could tell what is left to ask.
const fn is_plan(facts: &Facts) -> bool {
    matches!(
        facts,
        Facts::PlanSubmitted(_)
            | Facts::PlanAmended(_)
            | Facts::RulesRecorded(_)
            | Facts::GapFound(_)
            | Facts::QuestionAnswered(_)
            | Facts::AnswerSuperseded(_)
            | Facts::PaperRecorded(_)
    )
}
