//! What follows the end of a run, in whatever way it ended: the registry fixes the set of all traces.

use demur_api::refusal::Refusal;
use demur_engine::reactor::CheckpointAfterRun;

use crate::owner::Owner;

/// Records the checkpoint that follows a run that has ended. The run is over, whatever becomes of this: what is not recorded
/// now is recorded after the next run.
pub(super) fn follow_end(owner: &Owner) {
    if let Err(error) = owner.sequencer().react(&CheckpointAfterRun) {
        let error = Refusal::from(error);
        tracing::warn!(code = error.code.as_str(), %error, "the checkpoint after a run could not be recorded");
    }
}
