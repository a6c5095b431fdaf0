//! A plan is amended or withdrawn, a gap withdrawn or put again (CLR-34). What is so already is not recorded twice.

use std::sync::Arc;

use demur_api::refusal::Refusal;
use demur_clarify::{status::PlanStatus, uuid::Uuid};
use demur_core::limit::Text;
use demur_ledger::{author::Author, name::TraceId};
use demur_plan::{Session, act::Act};
use demur_rules::Plan;

use crate::{
    owner::Owner,
    session::{self, Speaker},
};

/// Records another plan in the place of the one there is; what somebody answered stays.
pub fn amend(owner: &Owner, author: Arc<Author>, session: Uuid, plan: &Plan) -> Result<Session, Refusal> {
    once(owner, session, &Speaker::Key(author), |now| Ok(now.amend(plan)?))
}

/// Records that a plan is taken back, and with it everything that was asked about it.
pub fn withdraw(
    owner: &Owner,
    speaker: &Speaker,
    session: Uuid,
    reason: Option<&Text<1, 4096>>,
) -> Result<Session, Refusal> {
    let reason = worded(reason, "the plan is no longer wanted")?;
    once(owner, session, speaker, |now| {
        let is_over = now.standing() == PlanStatus::Withdrawn;
        Ok(if is_over { None } else { Some(now.withdraw(speaker.by(), reason.clone())?) })
    })
}

/// Records that nobody is asked about a gap any more.
pub fn withdraw_gap(
    owner: &Owner,
    speaker: &Speaker,
    (session, gap): (Uuid, &str),
    reason: Option<&Text<1, 4096>>,
) -> Result<Session, Refusal> {
    let reason = worded(reason, "no longer asked")?;
    once(owner, session, speaker, |now| Ok(now.withdraw_gap(now.gap(gap)?, speaker.by(), reason.clone())?))
}

/// Records that a gap is put again.
pub fn ask_again(
    owner: &Owner,
    speaker: &Speaker,
    (session, gap): (Uuid, &str),
    reason: Option<&Text<1, 4096>>,
) -> Result<Session, Refusal> {
    let reason = worded(reason, "asked again")?;
    let by = match (speaker.by(), speaker.principal()) {
        (Some(by), _) => Some(by),
        (None, Some(principal)) => Some(Text::cut(owner.key_directory()?.name(principal))?),
        (None, None) => None,
    };
    once(owner, session, speaker, |now| Ok(now.put_again(now.gap(gap)?, by.clone(), reason.clone())?))
}

/// Records what `make` says about a session as it is, if it says anything; returns the session after it.
fn once(
    owner: &Owner,
    session: Uuid,
    speaker: &Speaker,
    make: impl Fn(&Session) -> Result<Option<Act>, Refusal>,
) -> Result<Session, Refusal> {
    let read = || session::read(owner.sequencer(), session);
    let trace = TraceId::of_session(session.as_u128());
    for _ in 0..session::ATTEMPTS {
        let now = read()?;
        let Some(act) = make(&now)? else { return Ok(now) };
        match session::say(owner, trace, speaker, act) {
            Ok(_) => return read(),
            Err(error) if error.code == demur_api::code::Code::Moved => {}
            // Somebody else may have said the same meanwhile.
            Err(error) => return if make(&read()?)?.is_none() { read() } else { Err(error) },
        }
    }
    Err(demur_sequencer::SequencerError::Contended.into())
}

fn worded(reason: Option<&Text<1, 4096>>, usual: &str) -> Result<Text<1, 4096>, Refusal> {
    Ok(reason.cloned().map_or_else(|| Text::try_from(usual), Ok)?)
}
