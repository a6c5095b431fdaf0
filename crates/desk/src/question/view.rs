//! A question as every door shows it: the words, who may answer until when, and what became of it.

use demur_api::{code::Code, question::QuestionPlan, refusal::Refusal};
use demur_core::hash::Digest;
use demur_ledger::{
    content::{PlanContent, QuestionContent},
    envelope::Event,
    event_type::{Content, Facts},
    facts::{Assurance, Question},
    name::{Sequence, TraceId},
    question::OutcomeKind,
    role::Role,
};
use demur_store::contract::QuestionSummary;

use super::{Ending, QuestionId, QuestionView, Whom};
use crate::{access::AnsweringKeys, key_directory::KeyDirectory, owner::Owner, record, subject::plan_name};

/// Returns a question as it stands.
pub fn view(owner: &Owner, id: QuestionId) -> Result<QuestionView, Refusal> {
    let store = owner.sequencer().store();
    // What others record in a shared store is heard of a moment later: whoever looks now reads it.
    if !store.is_shared()
        && let Some(shown) = owner.lookup().question(id)
    {
        return Ok(shown);
    }
    let summary = store.question(id.trace, id.sequence)?;
    summary.map_or_else(|| Err(unknown(id)), |summary| view_of(owner, &summary))
}

pub(super) fn unknown(id: QuestionId) -> Refusal {
    Refusal::new(
        Code::QuestionUnknown,
        format!("expected a question of this data folder, found none called {id}"),
    )
    .with_cure("`demur inbox --list` shows what waits")
}

/// Returns the keys that may answer a question as it stands.
pub(crate) fn answering_keys(owner: &Owner, id: QuestionId) -> Result<AnsweringKeys, Refusal> {
    let state = owner.sequencer().look(id.trace)?;
    let asked = state.questions().and_then(|questions| questions.find(id.sequence));
    let asked = asked.ok_or_else(|| record::damaged(id.trace, id.sequence))?;
    Ok(asked.facts().answerers.principals.as_ref().map(|keys| keys.to_vec()))
}

/// Returns the keys that may answer a question of a list: from the event that asked, where nothing has changed it since.
pub(super) fn listed_keys(owner: &Owner, summary: &QuestionSummary) -> Result<AnsweringKeys, Refusal> {
    if summary.row.changed != summary.sequence {
        return answering_keys(owner, QuestionId { trace: summary.trace, sequence: summary.sequence });
    }
    let (event, _) = record::read(owner.sequencer().store(), summary.trace, summary.sequence)?;
    let keys = match event.said().map(|said| said.facts) {
        Ok(Facts::QuestionAsked(facts)) => &facts.0.answerers.principals,
        Ok(Facts::GapFound(facts)) => &facts.0.answerers.principals,
        _ => return Err(record::damaged(summary.trace, summary.sequence).into()),
    };
    Ok(keys.as_ref().map(|keys| keys.to_vec()))
}

/// Returns a question that the list shows.
pub(super) fn view_of(owner: &Owner, summary: &QuestionSummary) -> Result<QuestionView, Refusal> {
    let (event, content) = record::read(owner.sequencer().store(), summary.trace, summary.sequence)?;
    let said = event.said().map_err(|_| record::damaged(summary.trace, summary.sequence))?;
    let facts = match said.facts {
        Facts::QuestionAsked(facts) => &facts.0,
        Facts::GapFound(facts) => &facts.0,
        _ => return Err(record::damaged(summary.trace, summary.sequence).into()),
    };
    let words = match &content {
        Some(Content::QuestionAsked(words) | Content::GapFound(words)) => Some(words),
        _ => None,
    };
    let mut shown = shown(summary, facts, words, *event.hash());
    if summary.row.outcome != OutcomeKind::Open {
        let (event, content) = record::read(owner.sequencer().store(), summary.trace, summary.row.changed)?;
        shown.outcome = Some(ending(&event, content, summary.row.outcome));
    } else if summary.row.changed != summary.sequence {
        let (_, content) = record::read(owner.sequencer().store(), summary.trace, summary.row.changed)?;
        // What the asker would answer, or whoever submitted the plan: one press settles it.
        if let Some(Content::AnswerClaimed(claim)) = content {
            shown.recommendation = Some(claim.answer);
        }
    }
    if shown.gap.is_some() {
        shown.plan = plan_of(owner, summary.trace)?;
    }
    Ok(named(&*owner.key_directory()?, shown))
}

/// Returns the plan that a trace is about, as people are told of it; none where its words are erased.
fn plan_of(owner: &Owner, trace: TraceId) -> Result<Option<QuestionPlan>, Refusal> {
    let (_, content) = record::read(owner.sequencer().store(), trace, Sequence::FIRST)?;
    let Some(Content::PlanSubmitted(PlanContent { agent, plan, session })) = content else { return Ok(None) };
    let session = session.as_str().parse().map_err(|_| record::damaged(trace, Sequence::FIRST))?;
    Ok(Some(QuestionPlan { agent: agent.to_string(), session, subject: plan_name(&plan) }))
}

/// Returns a question among others; none where it cannot be read, for it must not hide them. Whoever asks for this one hears
/// what is wrong with it, and a check of the store does.
pub(super) fn view_listed(owner: &Owner, summary: &QuestionSummary) -> Result<Option<QuestionView>, Refusal> {
    match view_of(owner, summary) {
        Err(error) if matches!(error.code, Code::RecordDamaged | Code::TraceNewer) => {
            let (trace, sequence, code) = (summary.trace, summary.sequence, error.code.as_str());
            tracing::warn!(%trace, %sequence, code, "a question that cannot be read is left out of a list");
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// Returns the question with the names of those who asked and answered with a key.
pub(crate) fn named(key_directory: &KeyDirectory, mut shown: QuestionView) -> QuestionView {
    key_directory.name(shown.asker.principal).clone_into(&mut shown.asker.name);
    if let Some(ending) = shown.outcome.as_mut().filter(|ending| ending.by.is_none()) {
        ending.by = ending.principal.map(|principal| key_directory.name(principal).to_owned());
    }
    shown
}

/// Returns a question without what became of it and without names.
pub(super) fn shown(
    summary: &QuestionSummary,
    facts: &Question,
    words: Option<&QuestionContent>,
    hash: Digest,
) -> QuestionView {
    let row = &summary.row;
    let text = |text: Option<&str>| text.map(str::to_owned);
    QuestionView {
        id: QuestionId { trace: summary.trace, sequence: summary.sequence },
        trace: summary.trace,
        hash,
        state: row.outcome,
        question: text(words.map(|words| words.wording.normal.as_str())),
        terse: text(words.map(|words| words.wording.terse.as_str())),
        detailed: text(words.map(|words| words.wording.detailed.as_str())),
        context: text(words.and_then(|words| words.context.as_deref())),
        field: text(words.and_then(|words| words.field.as_deref())),
        gap: text(words.and_then(|words| words.gap.as_deref())),
        plan: None,
        severity: row.severity,
        kinds: facts.kinds.to_vec(),
        choices: words.map(|words| words.choices.to_vec()).unwrap_or_default(),
        suggestions: words
            .map(|words| words.suggestions.iter().map(ToString::to_string).collect())
            .unwrap_or_default(),
        default: words.and_then(|words| words.default.clone()),
        recommendation: words.and_then(|words| words.recommendation.clone()),
        language: text(words.map(|words| words.language.as_str())),
        request: words.and_then(|words| words.request),
        blocks: facts.blocks.to_vec(),
        asked: summary.asked,
        deadline: row.deadline,
        asker: Whom { name: String::new(), principal: row.asker },
        people: row.people,
        assurance: facts.assurance,
        outcome: None,
        waited_for: None,
    }
}

/// Returns how sure one can be who settled a question, passed it on or gave it more time: by what is stated, or by what came with
/// it. None for the desk, and for what is no act of somebody who answers.
pub(super) fn act_assurance(event: &Event) -> Option<Assurance> {
    let said = event.said().ok()?;
    let facts = said.facts;
    match facts {
        Facts::QuestionAnswered(facts) => return Some(facts.assurance),
        Facts::AnswerSuperseded(facts) => return Some(facts.answer.assurance),
        Facts::GapAccepted(facts) => return Some(facts.assurance),
        Facts::QuestionDeclined(_)
        | Facts::QuestionPassedOn(_)
        | Facts::QuestionExtended(_)
        | Facts::AnswerRevoked(_)
        | Facts::GapWithdrawn(_)
        | Facts::QuestionCancelled(_) => {}
        _ => return None,
    }
    let envelope = event.envelope();
    if envelope.proof.assertion().is_some() {
        return Some(Assurance::Passkey);
    }
    let way = facts.attribution().flatten().map(|way| way.root.bears());
    // More time is given with the asker's key, whoever wanted it.
    let is_askers = matches!(facts, Facts::QuestionExtended(_)) || said.role == Role::Desk;
    let by_key = envelope.statement.is_some() && !is_askers;
    way.or_else(|| by_key.then_some(Assurance::Agent))
}

/// Returns what became of a question, as the event says that ended it, without names.
pub(super) fn ending(event: &Event, content: Option<Content>, outcome: OutcomeKind) -> Ending {
    let assurance = act_assurance(event);
    let (value, by, note) = match content {
        Some(Content::QuestionAnswered(words) | Content::AnswerSuperseded(words)) => {
            (Some(words.answer), words.by, words.note)
        }
        Some(Content::QuestionDefaulted(words)) => (Some(words.default), None, None),
        Some(
            Content::GapAccepted(words)
            | Content::GapWithdrawn(words)
            | Content::QuestionDeclined(words)
            | Content::QuestionCancelled(words),
        ) => (None, words.by, Some(words.reason)),
        _ => (None, None, None),
    };
    let principal = event.envelope().statement.as_ref().map(|_| event.envelope().actor);
    Ending {
        state: outcome,
        value,
        by: by.map(|by| by.to_string()),
        principal,
        assurance,
        time: event.envelope().time,
        event: event.position().sequence,
        note: note.map(|note| note.to_string()),
    }
}
