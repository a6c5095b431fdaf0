//! What was put before whom: the desk records once that somebody was shown a question, and in which form. An asker can
//! show later that its question reached somebody.

use demur_api::refusal::Refusal;
use demur_core::limit::Text;
use demur_engine::command::{Consequences, Saying};
use demur_ledger::{
    content::{DeliveryContent, Wording},
    envelope::Event,
    event_type::{Content, Facts},
    facts::QuestionDelivered,
    role::Role,
};

use super::{QuestionId, act::shown, view};
use crate::{owner::Owner, record, run, session::Speaker};

/// Records that an open question was shown to somebody in its usual wording, unless it is on record that it was shown.
/// Returns whether it was recorded now.
pub fn deliver(
    owner: &Owner,
    id: QuestionId,
    speaker: &Speaker,
    channel: &Text<1, 64>,
) -> Result<bool, Refusal> {
    deliver_shown(owner, id, speaker, channel, Wording::Normal)
}

/// Records that an open question was shown to somebody in this wording, unless it is on record that it was shown. Returns
/// whether it was recorded now.
pub(super) fn deliver_shown(
    owner: &Owner,
    id: QuestionId,
    speaker: &Speaker,
    channel: &Text<1, 64>,
    wording: Wording,
) -> Result<bool, Refusal> {
    let question = view(owner, id)?;
    let principal = speaker.principal();
    let to = match principal {
        Some(principal) => Text::cut(owner.key_directory()?.name(principal))?,
        None => speaker.by().map_or_else(|| Text::try_from("somebody"), Ok)?,
    };
    // The record of a run that is over is closed.
    if !question.is_open() || run::is_over(owner, id.trace)? || was_delivered(owner, id, &to, channel)? {
        return Ok(false);
    }
    let facts = QuestionDelivered { question: id.sequence, to: principal };
    let content = DeliveryContent { channel: channel.clone(), shown: shown(&question, wording)?, to };
    let content = Some(Content::QuestionDelivered(content));
    let first = Saying { role: Role::Desk, facts: facts.into(), content };
    owner.sequencer().record(id.trace, first, Consequences::default())?;
    Ok(true)
}

/// Returns whether the record has it. What comes before the question is not about it.
fn was_delivered(
    owner: &Owner,
    id: QuestionId,
    to: &Text<1, 256>,
    channel: &Text<1, 64>,
) -> Result<bool, Refusal> {
    let mut found = false;
    let visit = |event: Event, content| {
        let about = event.said().is_ok_and(
            |said| matches!(said.facts, Facts::QuestionDelivered(facts) if facts.question == id.sequence),
        );
        let same = |words: &DeliveryContent| words.to == *to && words.channel == *channel;
        found = about && matches!(&content, Some(Content::QuestionDelivered(words)) if same(words));
        Ok::<_, Refusal>(!found)
    };
    record::walk(owner.sequencer().store(), id.trace, id.sequence.next(), visit)?;
    Ok(found)
}
