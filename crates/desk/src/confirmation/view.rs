//! A confirmation as every interface shows it: the words, the exact operation, who may say yes until when, and what became of it.

use demur_api::{
    code::Code,
    confirmation::{
        ConfirmationEnding, ConfirmationId, ConfirmationView, ListedConfirmations, OperationEnding,
    },
    question::Whom,
    refusal::Refusal,
};
use demur_ledger::{
    confirmation::Confirmation,
    content::ConfirmationAskContent,
    event_type::Content,
    name::{Sequence, TraceId},
};
use demur_store::contract::{ConfirmationFilter, ConfirmationSummary};

use crate::{
    access::{Caller, may_read},
    owner::Owner,
    question, record,
};

/// Returns a confirmation as it stands.
pub fn view(owner: &Owner, id: ConfirmationId) -> Result<ConfirmationView, Refusal> {
    let (trace, sequence) = (id.0.trace, id.0.sequence);
    let summary = owner.sequencer().store().confirmation(trace, sequence)?;
    view_of(owner, &summary.ok_or_else(|| unknown(id))?)
}

/// Returns a confirmation, if this caller may see it.
pub(crate) fn seen(owner: &Owner, caller: &Caller, id: ConfirmationId) -> Result<ConfirmationView, Refusal> {
    let shown = view(owner, id)?;
    let may_see = caller.sees_questions_of(shown.asker.principal) || may_read(owner, caller, shown.trace)?;
    // What is not there and what this caller may not see is the same to it.
    if may_see { Ok(shown) } else { Err(unknown(id)) }
}

fn unknown(id: ConfirmationId) -> Refusal {
    let message = format!("expected a confirmation of this data folder, found none called {id}");
    Refusal::new(Code::ConfirmationUnknown, message).with_cure("`demur confirm list` shows what waits")
}

/// Returns a page of the confirmations that fit.
pub fn list(
    owner: &Owner,
    filter: &ConfirmationFilter,
    after: Option<&str>,
    limit: usize,
) -> Result<ListedConfirmations, Refusal> {
    let after = after.map(question::cursor).transpose()?;
    let mut summaries = owner.sequencer().store().confirmations(filter, after, limit + 1)?;
    let is_more = summaries.len() > limit;
    summaries.truncate(limit);
    let next = summaries.last().filter(|_| is_more).map(|last| last.cursor.to_string());
    let listed = summaries.iter().map(|summary| view_listed(owner, summary));
    let confirmations = listed.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    Ok(ListedConfirmations { confirmations, next })
}

/// Returns a confirmation among others; none where it cannot be read, for it must not hide them.
fn view_listed(owner: &Owner, summary: &ConfirmationSummary) -> Result<Option<ConfirmationView>, Refusal> {
    match view_of(owner, summary) {
        Err(error) if matches!(error.code, Code::RecordDamaged | Code::TraceNewer) => {
            let (trace, sequence, code) = (summary.trace, summary.sequence, error.code.as_str());
            tracing::warn!(%trace, %sequence, code, "a confirmation that cannot be read is left out of a list");
            Ok(None)
        }
        read => read.map(Some),
    }
}

fn view_of(owner: &Owner, summary: &ConfirmationSummary) -> Result<ConfirmationView, Refusal> {
    let (trace, sequence) = (summary.trace, summary.sequence);
    let (event, content) = record::read(owner.sequencer().store(), trace, sequence)?;
    let state = owner.sequencer().look(trace)?;
    let asked = state.confirmations().and_then(|confirmations| confirmations.find(sequence));
    let asked = asked.ok_or_else(|| record::damaged(trace, sequence))?;
    let words = match content {
        Some(Content::ConfirmationAsked(words)) => Some(words),
        _ => None,
    };
    let names = owner.key_directory()?;
    let mut shown = shown(summary, asked, words, *event.hash());
    names.name(shown.asker.principal).clone_into(&mut shown.asker.name);
    if let Some(ended) = ended_in(summary, asked) {
        let mut ending = ending(owner, trace, ended)?;
        if ending.by.is_none() {
            ending.by = ending.principal.map(|principal| names.name(principal).to_owned());
        }
        shown.outcome = Some(ending);
    }
    Ok(shown)
}

/// Returns the event that ended it. One that expired is changed by nothing after that.
fn ended_in(summary: &ConfirmationSummary, asked: &Confirmation) -> Option<Sequence> {
    match asked.outcome().said() {
        Some(said) => Some(said.at),
        None if summary.row.changed > summary.sequence => Some(summary.row.changed),
        None => None,
    }
}

fn shown(
    summary: &ConfirmationSummary,
    asked: &Confirmation,
    words: Option<ConfirmationAskContent>,
    hash: demur_core::hash::Digest,
) -> ConfirmationView {
    let facts = asked.facts();
    let (digest, risk) = (words.as_ref().map(|words| words.digest), words.as_ref().map(|words| words.risk));
    let text = |text: Option<&str>| text.map(str::to_owned);
    ConfirmationView {
        id: ConfirmationId::new(summary.trace, summary.sequence),
        trace: summary.trace,
        hash,
        state: asked.outcome().standing(),
        action: text(words.as_ref().map(|words| words.action.as_str())),
        consequence: text(words.as_ref().and_then(|words| words.consequence.as_deref())),
        language: text(words.as_ref().map(|words| words.language.as_str())),
        operation: words.map(|words| words.operation),
        digest,
        risk,
        about: facts.about,
        asked: summary.asked,
        deadline: facts.deadline,
        asker: Whom { name: String::new(), principal: asked.asker() },
        people: facts.answerers.people,
        assurance: facts.assurance,
        outcome: None,
        started: asked.starts().first().copied(),
        ended: asked.end().map(|end| OperationEnding { event: end.at, failed: end.failed }),
    }
}

fn ending(owner: &Owner, trace: TraceId, at: Sequence) -> Result<ConfirmationEnding, Refusal> {
    let (event, content) = record::read(owner.sequencer().store(), trace, at)?;
    let (by, note, instead) = match content {
        Some(Content::ConfirmationGiven(words)) => (words.by, words.note, None),
        Some(Content::ConfirmationRefused(words)) => (words.by, words.note, words.instead),
        _ => (None, None, None),
    };
    let assurance = match event.said().map(|said| said.facts) {
        Ok(demur_ledger::event_type::Facts::ConfirmationGiven(facts)) => Some(facts.assurance),
        Ok(demur_ledger::event_type::Facts::ConfirmationRefused(facts)) => Some(facts.assurance),
        _ => None,
    };
    Ok(ConfirmationEnding {
        by: by.map(|by| by.to_string()),
        principal: event.envelope().statement.as_ref().map(|_| event.envelope().actor),
        assurance,
        time: event.envelope().time,
        event: at,
        note: note.map(|note| note.to_string()),
        instead,
    })
}
