//! A run as agents in processes of their own hear it: its events as they stand in an export, each with its artifact.

use demur_api::{
    code::Code,
    refusal::Refusal,
    run::{ReadRunParameters, RunLines},
};
use demur_ledger::{
    author::Artifact,
    content::Opening,
    entry::ArtifactPlace,
    envelope::Event,
    export::Disclosure,
    name::{Sequence, TraceId},
};
use demur_run::line::{ShownArtifact, ShownEvent};
use demur_sequencer::read_event;
use demur_store::contract::{Kept, Store, Stored};

use crate::owner::Owner;

/// The lines of what a client was not told yet, as many as fit into one answer. It reads the others.
pub(super) struct NewLines {
    lines: Vec<String>,
    /// The event whose line comes next.
    next: u64,
    /// How many bytes may still come; the last line may have more.
    pub(super) room: usize,
}

impl NewLines {
    /// Returns no lines yet, for a client that was told of so many events.
    pub(super) const fn after(told: u64) -> Self {
        Self { lines: Vec::new(), next: told, room: MAX_ANSWER_BYTES }
    }

    /// Takes the line of an event, if it is the next one and there is room.
    pub(super) fn push(&mut self, event: &Event, opening: Option<&Opening>) -> Result<(), Refusal> {
        if event.envelope().sequence.number() == self.next && self.room > 0 {
            let shown = ShownEvent::new(event.clone(), opening.cloned());
            let line = text(shown.to_line().map_err(|error| Refusal::bug(&error))?)?;
            self.room = self.room.saturating_sub(line.len());
            self.lines.push(line);
            self.next += 1;
        }
        Ok(())
    }

    /// Returns the lines.
    pub(super) fn into_vec(self) -> Vec<String> {
        self.lines
    }
}

/// Returns a line without its line feed, as text.
pub(super) fn text(mut line: Vec<u8>) -> Result<String, Refusal> {
    line.pop();
    String::from_utf8(line).map_err(|error| Refusal::bug(&error))
}

/// Returns the next lines of a run, as many as fit into one answer; at least those of one event, if there is one.
pub fn read_lines(owner: &Owner, trace: TraceId, wanted: &ReadRunParameters) -> Result<RunLines, Refusal> {
    let store = owner.sequencer().store();
    let from = Sequence::try_from(wanted.from.unwrap_or_default()).map_err(|error| {
        let cure = "name the first event that you do not know; the first of all is 0";
        Refusal::new(Code::Malformed, error).about("from").with_cure(cure)
    })?;
    let (mut lines, mut size, mut next) = (Vec::new(), 0, from);
    for stored in store.events(trace, from, EVENTS_PER_READ)? {
        let (line, artifact) = event_line(trace, next, stored)?;
        next = next.next();
        size += line.len();
        lines.push(line);
        if let Some(artifact) = artifact.filter(|_| wanted.artifacts == Some(true)) {
            let line = artifact_line(store, &artifact)?;
            size += line.len();
            lines.push(line);
        }
        if size > MAX_ANSWER_BYTES {
            break;
        }
    }
    Ok(RunLines { lines })
}

/// Where the artifact is that an event records.
struct RecordedArtifact {
    event: Sequence,
    place: Kept<ArtifactPlace>,
}

/// Returns the line of an event, and its artifact if it records one.
fn event_line(
    trace: TraceId,
    at: Sequence,
    stored: Stored,
) -> Result<(String, Option<RecordedArtifact>), Refusal> {
    let event = read_event(trace, at, &stored)?;
    let records = event.said().is_ok_and(|said| said.facts.recorded_bytes().is_some());
    let artifact = Some(stored.artifact).filter(|kept| records || !matches!(kept, Kept::Absent));
    let shown = match stored.content {
        Kept::Here(opening) => ShownEvent::new(event, Some(opening)),
        Kept::Absent => ShownEvent::new(event, None),
        Kept::Erased => ShownEvent { event, opening: None, disclosure: Disclosure::Erased },
    };
    let line = text(shown.to_line().map_err(|error| Refusal::bug(&error))?)?;
    Ok((line, artifact.map(|place| RecordedArtifact { event: at, place })))
}

fn artifact_line(store: &dyn Store, recorded: &RecordedArtifact) -> Result<String, Refusal> {
    let event = recorded.event;
    let without = |disclosure| ShownArtifact { event, artifact: None, disclosure };
    let shown = match &recorded.place {
        Kept::Absent => without(Disclosure::Missing),
        Kept::Erased => without(Disclosure::Erased),
        Kept::Here(place) => match store.artifact(&place.address)? {
            Some(bytes) => ShownArtifact::new(event, Artifact { bytes, salt: place.salt }),
            None => without(Disclosure::Missing),
        },
    };
    text(shown.to_line().map_err(|error| Refusal::bug(&error))?)
}

/// How many events are read at a time.
const EVENTS_PER_READ: usize = 256;
/// How much an answer holds before it ends with the event at hand.
const MAX_ANSWER_BYTES: usize = 4 << 20;
