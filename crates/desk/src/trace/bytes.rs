//! What comes out of a trace as bytes: an artifact, an export. No operations, but admitted like them.

use std::io::Write;

use demur_api::{code::Code, operation::SEEING, refusal::Refusal};
use demur_ledger::{
    envelope::Event,
    name::{Sequence, TraceId},
};
use demur_store::contract::Kept;

use super::{event, seen};
use crate::{
    access::{Caller, ShownNames},
    desk::Desk,
    key_directory::software,
};

impl Desk {
    /// Returns the bytes of the artifact that an event records. May block.
    pub fn artifact(&self, caller: &Caller, trace: TraceId, sequence: Sequence) -> Result<Vec<u8>, Refusal> {
        let by = self.admit(caller, SEEING)?;
        let owner = &*self.owner()?;
        seen(owner, by.caller(), trace)?;
        match event(owner, trace, sequence)?.artifact {
            Kept::Here(place) => owner
                .sequencer()
                .store()
                .artifact(&place.address)?
                .ok_or_else(|| no_artifact("expected the bytes of the artifact in the store, found none")),
            Kept::Erased => Err(no_artifact("expected an artifact, found one that was erased")),
            Kept::Absent => Err(no_artifact("expected an event that records an artifact, found another")),
        }
    }

    /// Checks that a caller may export a trace. May block.
    pub fn check_export(&self, caller: &Caller, trace: TraceId) -> Result<(), Refusal> {
        let by = self.admit(caller, SEEING)?;
        seen(&*self.owner()?, by.caller(), trace).map(|_| ())
    }

    /// Writes a trace as one file that anybody can verify offline (ONE-04). Of the registry a caller is shown what it may know.
    /// May block.
    pub fn export(&self, caller: &Caller, trace: TraceId, out: &mut dyn Write) -> Result<(), Refusal> {
        self.check_export(caller, trace)?;
        let owner = &*self.owner()?;
        let names = ShownNames::of(owner, caller, trace)?;
        let shows = |event: &Event| names.as_ref().is_none_or(|names| names.shows(event));
        owner.sequencer().export_showing(&shows, trace, software()?, out)?;
        Ok(())
    }
}

fn no_artifact(message: &str) -> Refusal {
    Refusal::new(Code::ArtifactUnknown, message)
}
