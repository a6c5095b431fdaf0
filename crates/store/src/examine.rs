//! What can be wrong with one event and what is kept beside it, the same in every store. Signatures are the verifier's
//! business.

use demur_core::{commitment::Commitment, hash::Digest, time::Timestamp};
use demur_ledger::{
    content::Opening,
    entry::{Address, ArtifactPlace},
    envelope::{Event, event_hash},
    erasure::Erasures,
    name::{Position, Sequence, TraceId},
    newer::{Newer, NewerEvent, Reading},
};

use crate::{
    contract::{Kept, StoreError},
    derived,
};

/// How an event stands in a store.
pub(crate) struct Place<'a> {
    pub(crate) trace: TraceId,
    pub(crate) position: Position,
    /// As it stands in a column of its own, where there is one.
    pub(crate) time: Option<Timestamp>,
    pub(crate) bytes: &'a [u8],
    /// The event before it in its trace.
    pub(crate) previous: Option<Position>,
    pub(crate) content: &'a Kept<Opening>,
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
        let hash = event_hash(self.bytes);
        let has_its_hash = hash == self.position.hash;
        if !has_its_hash {
            wrong.push("its bytes do not have its hash".to_owned());
        }
        let event = match Reading::of(self.bytes, &hash) {
            Reading::Known(event) => event,
            Reading::Newer(event) if has_its_hash => return Found::Newer(self.newer(&event, wrong)),
            Reading::Newer(_) | Reading::Damaged => {
                let error = Event::parse(self.bytes).err();
                let why =
                    error.map_or("of no type that this demur knows".to_owned(), |error| error.to_string());
                wrong.push(format!("its bytes are not an event: {why}"));
                return Found::Nothing;
            }
        };
        let envelope = event.envelope();
        let place = (envelope.trace, envelope.sequence);
        if place != (self.trace, self.position.sequence) || !self.is_of(envelope.time) {
            wrong.push(COLUMNS.to_owned());
        }
        if !self.is_next() || envelope.previous != self.hash_before() {
            wrong.push(ASTRAY.to_owned());
        }
        if !self.opens(envelope.content) {
            wrong.push(CONTENT.to_owned());
        }
        Found::Known(Box::new(event))
    }

    /// Looks at what can be seen of an event that a newer version wrote.
    fn newer(&self, event: &NewerEvent<'_>, wrong: &mut Vec<String>) -> Option<Newer> {
        let before = wrong.len();
        if !self.is_next() || !event.stands(self.trace, self.position.sequence, self.hash_before()) {
            wrong.push(ASTRAY.to_owned());
        }
        if let Some((time, content)) = event.shown() {
            if !self.is_of(time) {
                wrong.push(COLUMNS.to_owned());
            }
            if !self.opens(content) {
                wrong.push(CONTENT.to_owned());
            }
        }
        (wrong.len() == before).then(|| event.newer().clone())
    }

    fn is_of(&self, time: Timestamp) -> bool {
        self.time.is_none_or(|column| column == time)
    }

    /// Returns whether the content beside it is what it commits to.
    fn opens(&self, commitment: Option<Commitment>) -> bool {
        match (self.content, commitment) {
            (Kept::Here(opening), Some(commitment)) => opening.commitment() == commitment,
            (Kept::Erased, Some(_)) | (Kept::Absent, None) => true,
            (Kept::Here(_) | Kept::Erased, None) | (Kept::Absent, Some(_)) => false,
        }
    }

    fn is_next(&self) -> bool {
        self.position.sequence == self.previous.map_or(Sequence::FIRST, |previous| previous.sequence.next())
    }

    fn hash_before(&self) -> Option<Digest> {
        self.previous.map(|previous| previous.hash)
    }
}

/// Looks at the artifact of an event; what is wrong with it goes to `wrong`.
pub(crate) fn artifact(
    event: &Event,
    artifact: &Kept<ArtifactPlace>,
    read: impl FnOnce(&Address) -> Result<Option<Vec<u8>>, StoreError>,
    wrong: &mut Vec<String>,
) -> Result<(), StoreError> {
    let Kept::Here(place) = artifact else { return Ok(()) };
    let Some(commitment) = event.said().ok().and_then(|said| said.facts.recorded_bytes()) else {
        wrong.push("an artifact lies beside it, and it names none".to_owned());
        return Ok(());
    };
    match read(&place.address) {
        Ok(Some(bytes)) if Commitment::to_artifact(&place.salt, &bytes) == *commitment => {}
        Ok(Some(_)) => wrong.push("its artifact is not what it commits to".to_owned()),
        Ok(None) => wrong.push("the file of its artifact is missing".to_owned()),
        Err(StoreError::Corrupt { what }) => wrong.push(what),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Holds what is kept beside the events of one trace against what its events say is gone.
#[derive(Default)]
pub(crate) struct ErasureCheck {
    erasures: Erasures,
    /// How each event stands: whether something of it is erased, and whether something of it is here.
    kept: Vec<(bool, bool)>,
}

impl ErasureCheck {
    /// Takes the next event of the trace.
    pub(crate) fn take(&mut self, bytes: &[u8], content: &Kept<Opening>, artifact: &Kept<ArtifactPlace>) {
        derived::note_erasures(&mut self.erasures, Sequence::at(self.kept.len()), bytes);
        let erased = matches!(content, Kept::Erased) || matches!(artifact, Kept::Erased);
        let here = matches!(content, Kept::Here(_)) || matches!(artifact, Kept::Here(_));
        self.kept.push((erased, here));
    }

    /// Returns the events for which the two differ, once all of the trace was taken.
    pub(crate) fn finish(self) -> Vec<(Sequence, String)> {
        let mut wrong = Vec::new();
        for (index, (erased, here)) in self.kept.into_iter().enumerate() {
            let at = Sequence::at(index);
            let is_recorded = self.erasures.contains(at);
            if is_recorded && here {
                wrong.push((at, NOT_ERASED.to_owned()));
            } else if erased && !is_recorded {
                wrong.push((at, UNRECORDED.to_owned()));
            }
        }
        wrong
    }
}

const NOT_ERASED: &str = "an event says that its words were erased, and they are here";
const UNRECORDED: &str = "its words were removed, and no event says by whom and why";
const COLUMNS: &str = "its columns say something else than its bytes";
const CONTENT: &str = "its content is not what it commits to";
const ASTRAY: &str = "it does not follow the event before it";
