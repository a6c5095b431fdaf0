//! What was put before whom: the desk records once that somebody was shown a question, and in which form. An asker can
//! show later that its question reached somebody.

use demur_api::refusal::Refusal;
use demur_core::{hash::sha256, limit::Text};
use demur_engine::command::{Consequences, Saying};
use demur_ledger::{
    content::{DeliveryContent, Wording},
    event_type::Content,
    facts::QuestionDelivered,
    name::{Sequence, TraceId},
    role::Role,
};
use demur_store::contract::RecordKey;

use super::{QuestionId, act::shown, view};
use crate::{owner::Owner, records, run, session::Speaker};

/// Records that somebody says that an open question was shown in its usual wording, unless it is on record that it was shown.
/// Returns whether it was recorded now.
pub fn deliver(
    owner: &Owner,
    id: QuestionId,
    speaker: &Speaker,
    (channel, said_by): (&Text<1, 64>, Option<Text<1, 256>>),
) -> Result<bool, Refusal> {
    deliver_shown(owner, id, speaker, (channel, said_by), Wording::Normal)
}

/// Records that an open question was shown to somebody in this wording, unless it is on record that it was shown. Returns
/// whether it was recorded now.
pub(super) fn deliver_shown(
    owner: &Owner,
    id: QuestionId,
    speaker: &Speaker,
    (channel, said_by): (&Text<1, 64>, Option<Text<1, 256>>),
    wording: Wording,
) -> Result<bool, Refusal> {
    let question = view(owner, id)?;
    let principal = speaker.principal();
    let to = match principal {
        Some(principal) => Text::cut(owner.key_directory()?.name(principal))?,
        None => speaker.by().map_or_else(|| Text::try_from("somebody"), Ok)?,
    };
    // The record of a run that is over is closed.
    if !question.is_open() || run::is_over(owner, id.trace)? {
        return Ok(false);
    }
    let facts = QuestionDelivered { question: id.sequence, to: principal };
    let content = DeliveryContent {
        channel: channel.clone(),
        said_by,
        shown: shown(&question, wording)?,
        to: to.clone(),
    };
    let content = Some(Content::QuestionDelivered(content));
    let saying = Saying { role: Role::Desk, facts: facts.into(), content };
    record_deliveries(owner, id.trace, &[(id.sequence, saying)], &to, channel)
}

/// Records what was put before somebody of the questions of a trace, each once however many processes want to: a record says so
/// that is made with the event. Returns whether anything was recorded now.
pub(crate) fn record_deliveries(
    owner: &Owner,
    trace: TraceId,
    deliveries: &[(Sequence, Saying)],
    to: &str,
    channel: &str,
) -> Result<bool, Refusal> {
    records::retry(|| {
        let (mut sayings, mut swaps) = (Vec::new(), Vec::new());
        for (sequence, saying) in deliveries {
            let key = key(QuestionId { trace, sequence: *sequence }, to, channel)?;
            if owner.sequencer().store().record(&key)?.is_none() {
                swaps.push(records::creation(key, records::value(&to, None)?));
                sayings.push(saying.clone());
            }
        }
        let mut sayings = sayings.into_iter();
        let Some(first) = sayings.next() else { return Ok(false) };
        let rest = Consequences { after: None, signing: None, sayings: sayings.collect() };
        owner.sequencer().record_with(trace, first, rest, &swaps)?;
        Ok(true)
    })
}

/// Removes the record of a delivery whose words are erased: its key and value tell who it was.
pub(crate) fn forget_delivery(
    owner: &Owner,
    id: QuestionId,
    delivered: &DeliveryContent,
) -> Result<(), Refusal> {
    records::remove(owner, &key(id, &delivered.to, &delivered.channel)?)
}

/// Returns the key of the record that a question was put before somebody on this way.
fn key(id: QuestionId, to: &str, channel: &str) -> Result<RecordKey, Refusal> {
    let whom = sha256(format!("{to}\0{channel}").as_bytes());
    Ok(RecordKey::new(format!("{PREFIX}{id}/{whom}"))?)
}

/// What the keys of deliveries begin with.
const PREFIX: &str = "delivered/";
