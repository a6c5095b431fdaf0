//! An answer to a gap is replaced or taken back; the rules are asked what follows.

use demur_api::refusal::Refusal;
use demur_clarify::uuid::Uuid;
use demur_core::limit::Text;
use demur_ledger::{
    content::{Shown, Wording},
    name::{Position, Sequence, TraceId},
};
use demur_plan::act::{Judged, Voice};

use super::Resolution;
use crate::{
    owner::Owner,
    session::{self, Speaker},
};

/// Records another answer to a gap in the place of the one that counts, by somebody who was shown the gap in this wording.
/// Returns the event, if one was recorded now, and what the rules say about it.
pub fn replace(
    owner: &Owner,
    speaker: &Speaker,
    resolution: &Resolution<'_>,
    (replaces, wording): (Sequence, Wording),
) -> Result<(Option<Position>, Judged), Refusal> {
    let Resolution { session, gap, answer, .. } = *resolution;
    if session::read(owner.sequencer(), session)?.repeats_answer(gap, answer, speaker.principal())? {
        return Ok((None, Judged::Resolved));
    }
    let mut told = None;
    let performed = session::perform(owner, TraceId::of_session(session.as_u128()), speaker, || {
        let session = session::read(owner.sequencer(), session)?;
        let (gap, by) = (session.gap(gap)?, speaker.by());
        let shown = by.is_some().then(|| gap.shown()).transpose()?.map(|shown| Shown { wording, ..shown });
        let said = (speaker.assurance(), Voice { by, note: resolution.note.clone(), shown });
        let (act, judged) = session.replace(gap, replaces, answer.unwrap_or_default(), said)?;
        told = Some(judged.clone());
        Ok((act, judged))
    });
    super::judged(performed, told)
}

/// Records that an answer to a gap is taken back.
pub fn revoke(
    owner: &Owner,
    speaker: &Speaker,
    (session, gap): (Uuid, &str),
    answer: Sequence,
    reason: &Text<1, 4096>,
) -> Result<Position, Refusal> {
    let revoked = session::perform(owner, TraceId::of_session(session.as_u128()), speaker, || {
        let session = session::read(owner.sequencer(), session)?;
        let gap = session.gap(gap)?;
        Ok((session.revoke(gap, answer, (speaker.assurance(), speaker.by()), reason.clone())?, ()))
    });
    revoked.map(|(at, ())| at)
}
