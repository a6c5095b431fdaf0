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
    confirmation::{Confirmation, ConfirmationStanding},
    content::ConfirmationAskContent,
    event_type::{Content, Facts},
    facts::ConfirmationAsked,
    name::{Sequence, TraceId},
};
use demur_store::contract::{ConfirmationFilter, ConfirmationSummary, Cursor};

use crate::{
    access::{AnsweringKeys, Caller, Part, Sight, may_read},
    owner::Owner,
    question, record,
};

/// Returns a confirmation as it stands.
pub fn view(owner: &Owner, id: ConfirmationId) -> Result<ConfirmationView, Refusal> {
    let (trace, sequence) = (id.0.trace, id.0.sequence);
    let summary = owner.sequencer().store().confirmation(trace, sequence)?;
    let summary = summary.ok_or_else(|| unknown(id))?;
    let known = Known::of_trace(owner, &summary)?;
    view_of(owner, &summary, &known)
}

/// Returns a confirmation, if this caller may see it.
pub(crate) fn seen(owner: &Owner, caller: &Caller, id: ConfirmationId) -> Result<ConfirmationView, Refusal> {
    let shown = view(owner, id)?;
    let sight = Sight::of(caller, owner.sequencer().registry());
    let keys = || answering_keys(owner, id);
    let may_see =
        sight.sees(shown.asker.principal, shown.people, keys)? || may_read(owner, caller, shown.trace)?;
    // What is not there and what this caller may not see is the same to it.
    if may_see { Ok(shown) } else { Err(unknown(id)) }
}

/// Returns the keys that may give or refuse a confirmation.
fn answering_keys(owner: &Owner, id: ConfirmationId) -> Result<AnsweringKeys, Refusal> {
    let (trace, sequence) = (id.0.trace, id.0.sequence);
    let state = owner.sequencer().look(trace)?;
    let asked = state.confirmations().and_then(|confirmations| confirmations.find(sequence));
    let asked = asked.ok_or_else(|| record::damaged(trace, sequence))?;
    Ok(asked.facts().answerers.principals.as_ref().map(|keys| keys.to_vec()))
}

fn unknown(id: ConfirmationId) -> Refusal {
    let message = format!("expected a confirmation of this data folder, found none called {id}");
    Refusal::new(Code::ConfirmationUnknown, message).with_cure("`demur confirm list` shows what waits")
}

/// Returns a page of the confirmations that fit and that a caller sees.
pub(crate) fn list(
    owner: &Owner,
    sight: &Sight,
    filter: &ConfirmationFilter,
    after: Option<&str>,
    limit: usize,
) -> Result<ListedConfirmations, Refusal> {
    let after = after.map(question::cursor).transpose()?;
    let read =
        |part: Part, after: Option<Cursor>, limit: usize| -> Result<Vec<ConfirmationSummary>, Refusal> {
            let filter = match part {
                Part::All => filter.clone(),
                Part::AskedBy(asker) => ConfirmationFilter { asker: Some(asker), ..filter.clone() },
                Part::ForPeople if filter.people == Some(false) => return Ok(Vec::new()),
                Part::ForPeople => ConfirmationFilter { people: Some(true), ..filter.clone() },
            };
            Ok(owner.sequencer().store().confirmations(&filter, after, limit)?)
        };
    let keys = |summary: &ConfirmationSummary| {
        answering_keys(owner, ConfirmationId::new(summary.trace, summary.sequence))
    };
    let (mut summaries, on) = sight.page((filter.newest_first, after, limit + 1), read, keys)?;
    let is_more = summaries.len() > limit;
    summaries.truncate(limit);
    let last = summaries.last().filter(|_| is_more).map(|last| last.cursor);
    let next = last.or(on).map(|next| next.to_string());
    let listed = summaries.iter().map(|summary| view_listed(owner, summary));
    let confirmations = listed.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    Ok(ListedConfirmations { confirmations, next })
}

/// Returns a confirmation among others; none where it cannot be read, for it must not hide them.
fn view_listed(owner: &Owner, summary: &ConfirmationSummary) -> Result<Option<ConfirmationView>, Refusal> {
    match Known::of_list(owner, summary).and_then(|known| view_of(owner, summary, &known)) {
        Err(error) if matches!(error.code, Code::RecordDamaged | Code::TraceNewer) => {
            let (trace, sequence, code) = (summary.trace, summary.sequence, error.code.as_str());
            tracing::warn!(%trace, %sequence, code, "a confirmation that cannot be read is left out of a list");
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// How a confirmation stands.
struct Known {
    state: ConfirmationStanding,
    /// The event that ended it.
    ended: Option<Sequence>,
    /// What was started on it.
    started: Option<Sequence>,
    /// How that ended.
    operation_ended: Option<OperationEnding>,
}

impl Known {
    /// Returns how it stands by its trace, read whole.
    fn of_trace(owner: &Owner, summary: &ConfirmationSummary) -> Result<Self, Refusal> {
        let (trace, sequence) = (summary.trace, summary.sequence);
        let state = owner.sequencer().look(trace)?;
        let asked = state.confirmations().and_then(|confirmations| confirmations.find(sequence));
        let asked = asked.ok_or_else(|| record::damaged(trace, sequence))?;
        Ok(Self {
            state: asked.outcome().standing(),
            ended: ended_in(summary, asked),
            started: asked.starts().first().copied(),
            operation_ended: asked.end().map(|end| OperationEnding { event: end.at, failed: end.failed }),
        })
    }

    /// Returns how it stands by the list. Only which event said yes does not stand there, once something was started on that.
    fn of_list(owner: &Owner, summary: &ConfirmationSummary) -> Result<Self, Refusal> {
        if summary.row.spent {
            return Self::of_trace(owner, summary);
        }
        let changed = summary.row.changed;
        let ended = (changed > summary.sequence).then_some(changed);
        Ok(Self { state: summary.row.outcome, ended, started: None, operation_ended: None })
    }
}

fn view_of(owner: &Owner, summary: &ConfirmationSummary, known: &Known) -> Result<ConfirmationView, Refusal> {
    let (trace, sequence) = (summary.trace, summary.sequence);
    let (event, content) = record::read(owner.sequencer().store(), trace, sequence)?;
    let Ok(Facts::ConfirmationAsked(facts)) = event.said().map(|said| said.facts) else {
        return Err(record::damaged(trace, sequence).into());
    };
    let words = match content {
        Some(Content::ConfirmationAsked(words)) => Some(words),
        _ => None,
    };
    let names = owner.key_directory()?;
    let mut shown = shown((summary, known), facts, words, *event.hash());
    names.name(shown.asker.principal).clone_into(&mut shown.asker.name);
    if let Some(ended) = known.ended {
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
    (summary, known): (&ConfirmationSummary, &Known),
    facts: &ConfirmationAsked,
    words: Option<ConfirmationAskContent>,
    hash: demur_core::hash::Digest,
) -> ConfirmationView {
    let (digest, risk) = (words.as_ref().map(|words| words.digest), words.as_ref().map(|words| words.risk));
    let text = |text: Option<&str>| text.map(str::to_owned);
    ConfirmationView {
        id: ConfirmationId::new(summary.trace, summary.sequence),
        trace: summary.trace,
        hash,
        state: known.state,
        action: text(words.as_ref().map(|words| words.action.as_str())),
        consequence: text(words.as_ref().and_then(|words| words.consequence.as_deref())),
        language: text(words.as_ref().map(|words| words.language.as_str())),
        operation: words.map(|words| words.operation),
        digest,
        risk,
        about: facts.about,
        asked: summary.asked,
        deadline: facts.deadline,
        asker: Whom { name: String::new(), principal: summary.row.asker },
        people: facts.answerers.people,
        assurance: facts.assurance,
        outcome: None,
        started: known.started,
        ended: known.operation_ended,
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
        Ok(Facts::ConfirmationGiven(facts)) => Some(facts.assurance),
        Ok(Facts::ConfirmationRefused(facts)) => Some(facts.assurance),
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
