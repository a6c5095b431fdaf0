//! What can be wrong with one event and what is kept beside it, the same in every store. Signatures are the verifier's
//! business.

use demur_core::{commitment::Commitment, hash::Digest, time::Timestamp};
use demur_ledger::{
    content::Opening,
    entry::{Address, ArtifactPlace},
    envelope::{Event, event_hash},
    event_type::Facts,
    name::{Position, Sequence, TraceId},
    newer::{Newer, NewerEvent, Reading},
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

/// The event of a place.
pub(crate) enum Found {
    /// One that can be judged.
    Known(Box<Event>),
    /// One that a newer version wrote; with what is not known here, if it stands where it belongs.
    Newer(Option<Newer>),
    /// None.
    Nothing,
}

impl Place<'_> {
    /// Returns the event, if its bytes are one; what is wrong with it goes to `wrong`.
    pub(crate) fn event(&self, wrong: &mut Vec<String>) -> Found {
        if event_hash(self.bytes) != self.position.hash {
            wrong.push("its bytes do not have its hash".to_owned());
        }
        let event = match Reading::of(self.bytes, &self.position.hash) {
            Reading::Known(event) => event,
            Reading::Newer(event) => return Found::Newer(self.newer(&event, wrong)),
            Reading::Damaged => {
                let error = Event::parse(self.bytes).err();
                let why =
                    error.map_or("of no type that this demur knows".to_owned(), |error| error.to_string());
                wrong.push(format!("its bytes are not an event: {why}"));
                return Found::Nothing;
            }
        };
        let envelope = event.envelope();
        if (envelope.trace, envelope.sequence, envelope.time)
            != (self.trace, self.position.sequence, self.time)
        {
            wrong.push("its columns say something else than its bytes".to_owned());
        }
        if !self.is_next() || envelope.previous != self.hash_before() {
            wrong.push(ASTRAY.to_owned());
        }
        Found::Known(Box::new(event))
    }

    /// Looks at what can be seen of an event that a newer version wrote.
    fn newer(&self, event: &NewerEvent<'_>, wrong: &mut Vec<String>) -> Option<Newer> {
        if self.is_next() && event.stands(self.trace, self.position.sequence, self.hash_before()) {
            return Some(event.newer().clone());
        }
        wrong.push(ASTRAY.to_owned());
        None
    }

    fn is_next(&self) -> bool {
        self.position.sequence == self.previous.map_or(Sequence::FIRST, |previous| previous.sequence.next())
    }

    fn hash_before(&self) -> Option<Digest> {
        self.previous.map(|previous| previous.hash)
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

const ASTRAY: &str = "it does not follow the event before it";
