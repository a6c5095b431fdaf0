//! What follows the end of a run, in whatever way it ended: the registry fixes the set of all traces.

use demur_api::refusal::Refusal;
use demur_core::limit::Text;
use demur_engine::{
    command::{Command, Consequences},
    reactor::CheckpointAfterRun,
};
use demur_ledger::{
    content::ReasonContent, event_type::Content, facts::SessionAborted, name::TraceId, role::Role,
};
use demur_sequencer::SequencerError;

use crate::{
    owner::Owner,
    passkey::{PasskeySpeaker, StatementPlace},
};

/// Records the checkpoint that follows a run that has ended. The run is over, whatever becomes of this: what is not recorded
/// now is recorded after the next run.
pub(super) fn follow_end(owner: &Owner) {
    if let Err(error) = owner.sequencer().react(&CheckpointAfterRun) {
        let error = Refusal::from(error);
        tracing::warn!(code = error.code.as_str(), %error, "the checkpoint after a run could not be recorded");
    }
}

/// Ends a run on the word of an operator who signs it with a passkey.
pub(crate) fn abort_signed(
    owner: &Owner,
    trace: TraceId,
    passkey: &PasskeySpeaker,
    reason: &Text<1, 4096>,
) -> Result<(), Refusal> {
    let seen = owner.sequencer().newest(trace)?.ok_or(SequencerError::TraceUnknown { trace })?;
    let registry = &*owner.sequencer().newest_registry()?;
    let place = StatementPlace { registry, trace, seen: Some(seen), role: Role::Operator };
    let content = Content::SessionAborted(ReasonContent { reason: Text::try_from(reason.as_str())? });
    let said = (SessionAborted { attribution: None }.into(), Some(content));
    let said = passkey.say(&place, &said, owner.system())?;
    owner.sequencer().perform(trace, &Command::submit(said, None, Consequences::default()))?;
    follow_end(owner);
    Ok(())
}
