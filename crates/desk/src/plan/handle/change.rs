//! An agent changes its own answer to a gap of its plan.

use demur_api::{
    plan::{AnswerChange, GapStatus, ResolveOwnGap, ResolvedGap},
    question::{QuestionId, Replacement},
    refusal::Refusal,
};
use demur_core::limit::Text;
use demur_ledger::content::AnswerValue;
use demur_plan::Session;

use super::told;
use crate::{
    owner::Owner,
    question::{self, replace, revoke},
    session::{self, Speaker},
};

/// Replaces an answer to a gap, or takes it back, in the name of whoever gave it.
pub(super) fn changing(
    owner: &Owner,
    speaker: &Speaker,
    (session, gap): (&Session, &str),
    change: AnswerChange,
    given: ResolveOwnGap,
) -> Result<ResolvedGap, Refusal> {
    let sequence = session.gap(gap)?.question.sequence;
    let shown = question::view(owner, QuestionId { trace: session.trace(), sequence })?;
    let (status, accepted_answer, reason) = match (change, given.answer) {
        (AnswerChange::Replace, Some(text)) => {
            let answer = AnswerValue::Text(Text::try_from(text.as_str())?);
            let replacement =
                Replacement { answer, note: given.note, request: shown.request, by: None, replaces: None };
            let done = replace(owner, &shown, speaker, &replacement)?;
            match done.unsettled {
                None => (GapStatus::Resolved, Some(text.to_string()), None),
                Some(why) => (GapStatus::Escalated, None, Some(why)),
            }
        }
        (AnswerChange::Revoke, None) => {
            revoke(owner, &shown, speaker, (None, given.note))?;
            (GapStatus::Revoked, None, None)
        }
        (AnswerChange::Replace, None) => {
            return Err(Refusal::malformed("expected the new answer, found none").about("answer"));
        }
        (AnswerChange::Revoke, Some(_)) => {
            return Err(Refusal::malformed("expected no answer beside `revoke`, found one").about("answer"));
        }
    };
    let to = speaker
        .principal()
        .map(|principal| owner.key_directory().map(|names| names.name(principal).to_owned()));
    let to = to.transpose()?.unwrap_or_default();
    let session = told(owner, &session::read(owner.sequencer(), session.uuid())?, &to)?;
    Ok(ResolvedGap { gap_id: gap.to_owned(), status, accepted_answer, reason, session })
}
