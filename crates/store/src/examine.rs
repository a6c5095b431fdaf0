//! What can be wrong with one event and what is kept beside it, the same in every store. Signatures are the verifier's
//! business.

use demur_core::{commitment::Commitment, time::Timestamp};
use demur_ledger::{
    content::Opening,
    entry::{Address, ArtifactPlace},
    envelope::{Event, event_hash},
    event_type::Facts,
    name::{Position, Sequence, TraceId},
};

use crate::contract::{Kept, StoreError};

/// How an event stands in a store.
pub(crate) struct Place<'a> {
    pub(crate) trace: TraceId,
    pub(crate) position: Position,
    pub(crate) time: Timestamp,
    pub(crate) bytes: &'a [u8],
    /// The event before it in its trace.
    pub(crate) previous: Option<Position>,
}

impl Place<'_> {
    /// Returns the event, if its bytes are one; what is wrong with it goes to `wrong`.
    pub(crate) fn event(&self, wrong: &mut Vec<String>) -> Option<Event> {
        if event_hash(self.bytes) != self.position.hash {
            wrong.push("its bytes do not have its hash".to_owned());
        }
        let event = match Event::parse(self.bytes) {
            Ok(event) => event,
            Err(error) => {
                wrong.push(format!("its bytes are not an event: {error}"));
                return None;
            }
        };
        let envelope = event.envelope();
        if (envelope.trace, envelope.sequence, envelope.time)
            != (self.trace, self.position.sequence, self.time)
        {
            wrong.push("its columns say something else than its bytes".to_owned());
        }
        let expected = self.previous.map_or(Sequence::FIRST, |previous| previous.sequence.next());
        let previous = self.previous.map(|previous| previous.hash);
        if self.position.sequence != expected || envelope.previous != previous {
            wrong.push("it does not follow the event before it".to_owned());
        }
        Some(event)
    }
}

/// Looks at content and artifact of an event; what is wrong with them goes to `wrong`.
pub(crate) fn beside(
    event: &Event,
    content: &Kept<Opening>,
    artifact: &Kept<ArtifactPlace>,
    read: impl FnOnce(&Address) -> Result<Option<Vec<u8>>, StoreError>,
    wrong: &mut Vec<String>,
) -> Result<(), StoreError> {
    match (content, event.envelope().content) {
        (Kept::Here(opening), Some(commitment)) if opening.commitment() == commitment => {}
        (Kept::Erased, Some(_)) | (Kept::Absent, None) => {}
        _ => wrong.push("its content is not what it commits to".to_owned()),
    }
    let Kept::Here(place) = artifact else { return Ok(()) };
    let Ok(Facts::ArtifactRecorded(facts)) = event.said().map(|said| said.facts) else {
        wrong.push("an artifact lies beside it, and it names none".to_owned());
        return Ok(());
    };
    match read(&place.address) {
        Ok(Some(bytes)) if Commitment::to_artifact(&place.salt, &bytes) == facts.commitment => {}
        Ok(Some(_)) => wrong.push("its artifact is not what it commits to".to_owned()),
        Ok(None) => wrong.push("the file of its artifact is missing".to_owned()),
        Err(StoreError::Corrupt { what }) => wrong.push(what),
        Err(error) => return Err(error),
    }
    Ok(())
}
