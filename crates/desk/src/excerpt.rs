//! Some events of a trace as people look at them: in words, each with what could be checked of it without reading the
//! rest. What the store lacks is told apart from what does not hold.

use demur_api::{
    refusal::Refusal,
    trace::{Line, Standing},
};
use demur_ledger::{
    content::Opening,
    entry::ArtifactPlace,
    envelope::Event,
    event_type::Content,
    export::Disclosure,
    graph::Graph,
    name::{Sequence, TraceId},
    timeline::{Entry, Timeline},
    verify::{Check, CheckedEvent, Finding, FindingSeverity, KeptEvent, check_excerpt},
};
use demur_sequencer::{SequencerError, read_event};
use demur_store::contract::{Kept, StoreError, Stored, TraceSummary};

use crate::{owner::Owner, record};

/// Returns what is known of a trace.
pub fn summary(owner: &Owner, trace: TraceId) -> Result<TraceSummary, Refusal> {
    Ok(owner.sequencer().store().trace(trace)?.ok_or(SequencerError::TraceUnknown { trace })?)
}

/// Returns up to so many events of a trace from a place on. Nothing else is read but the one before them, and artifacts
/// as long as they are small.
pub fn read(
    owner: &Owner,
    summary: &TraceSummary,
    from: Sequence,
    limit: usize,
) -> Result<Vec<Line>, Refusal> {
    let trace = summary.trace;
    let before = from.number().checked_sub(1).and_then(|number| Sequence::try_from(number).ok());
    let (start, skipped) = before.map_or((from, 0), |before| (before, 1));
    let stored = owner.sequencer().store().events(trace, start, limit.saturating_add(skipped))?;
    let key_directory = owner.key_directory()?;
    let checked =
        check_excerpt(key_directory.registry(), trace, start, summary.head, stored.iter().map(kept));
    let timeline = Timeline::without_state(key_directory.names().clone());
    let mut timeline = timeline.with_clients_of(key_directory.registry());
    let mut room = MAX_ARTIFACT_BYTES_PER_PAGE;
    for (checked, stored) in checked.iter().zip(&stored) {
        let said = checked.event.as_ref().and_then(|event| event.said().ok());
        if said.is_none_or(|said| said.facts.event_type().is_none()) {
            refuse_newer(trace, checked.sequence, stored)?;
        }
    }
    let lines = checked.into_iter().zip(stored).skip(skipped);
    Ok(lines.map(|(checked, stored)| line(owner, checked, stored, &mut timeline, &mut room)).collect())
}

/// Refuses what a newer version wrote: it is not damaged, and nobody here can say what it means.
pub fn refuse_newer(trace: TraceId, sequence: Sequence, stored: &Stored) -> Result<(), SequencerError> {
    match read_event(trace, sequence, stored) {
        Err(error @ SequencerError::Store(StoreError::TraceNewer { .. })) => Err(error),
        _ => Ok(()),
    }
}

/// Returns what a trace is about: the words of its first event.
pub fn opening(owner: &Owner, trace: TraceId) -> Result<Option<Entry>, Refusal> {
    match record::read(owner.sequencer().store(), trace, Sequence::FIRST) {
        Ok((event, content)) => Ok(Timeline::new().take(&event, content)),
        // Its own page says what is wrong with it.
        Err(SequencerError::Damaged { .. } | SequencerError::Store(StoreError::TraceNewer { .. })) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the states that a run went through, from its first event to its last.
pub fn graph(owner: &Owner, trace: TraceId) -> Result<Graph, Refusal> {
    let mut timeline = Timeline::with_names(owner.key_directory()?.names().clone());
    let mut graph = Graph::new();
    record::walk(owner.sequencer().store(), trace, Sequence::FIRST, |event, content| {
        if let Some(entry) = timeline.take(&event, content) {
            graph.take(&entry);
        }
        Ok::<_, Refusal>(true)
    })?;
    Ok(graph)
}

/// Returns the bytes of the artifact that an event records, with whether they are what the event commits to.
pub fn artifact(owner: &Owner, event: &Event, kept: &Kept<ArtifactPlace>) -> FoundArtifact {
    let Some(commitment) = event.said().ok().and_then(|said| said.facts.recorded_bytes()) else {
        return FoundArtifact { standing: Standing::None, bytes: None };
    };
    let place = match kept {
        Kept::Here(place) => place,
        Kept::Erased => return FoundArtifact { standing: Standing::Erased, bytes: None },
        Kept::Absent => return FoundArtifact { standing: Standing::Missing, bytes: None },
    };
    match owner.sequencer().store().artifact(&place.address) {
        Ok(Some(bytes)) => {
            let good = commitment.opens_artifact(&place.salt, &bytes);
            FoundArtifact { standing: if good { Standing::Good } else { Standing::Bad }, bytes: Some(bytes) }
        }
        Ok(None) => FoundArtifact { standing: Standing::Missing, bytes: None },
        // Other bytes than those that were kept are no artifact.
        Err(StoreError::Corrupt { .. }) => FoundArtifact { standing: Standing::Bad, bytes: None },
        Err(_) => FoundArtifact { standing: Standing::Unchecked, bytes: None },
    }
}

/// An artifact that was looked for.
#[derive(Clone, Debug)]
pub struct FoundArtifact {
    /// What was found.
    pub standing: Standing,
    /// The bytes, if they are there.
    pub bytes: Option<Vec<u8>>,
}

fn line(
    owner: &Owner,
    checked: CheckedEvent,
    stored: Stored,
    timeline: &mut Timeline,
    room: &mut u64,
) -> Line {
    let CheckedEvent { sequence, event, content, findings, .. } = checked;
    let unread = Line {
        sequence,
        entry: None,
        event: None,
        content: None,
        signature: Standing::Bad,
        chain: Standing::Bad,
        words: Standing::Bad,
        artifact: Standing::None,
        findings,
    };
    let Some(event) = event else { return unread };
    let fails = |checks: &[Check]| {
        let of = |finding: &&Finding| checks.contains(&finding.code.check());
        unread.findings.iter().filter(of).any(|finding| finding.severity == FindingSeverity::Failure)
    };
    let committed = event.envelope().content.is_some();
    Line {
        signature: match event.envelope().proof.key() {
            _ if fails(&[Check::Key, Check::Signature, Check::Registry]) => Standing::Bad,
            Some(_) => Standing::Good,
            None => Standing::None,
        },
        chain: if fails(&[Check::Statement, Check::Chain, Check::Head]) {
            Standing::Bad
        } else {
            Standing::Good
        },
        words: match &stored.content {
            _ if fails(&[Check::Commitment]) => Standing::Bad,
            Kept::Here(_) => Standing::Good,
            Kept::Erased => Standing::Erased,
            Kept::Absent if committed => Standing::Missing,
            Kept::Absent => Standing::None,
        },
        artifact: look(owner, &event, content.as_ref(), &stored, room),
        entry: timeline.take(&event, content),
        event: Some(event),
        content: match stored.content {
            Kept::Here(opening) => Some(opening.bytes),
            Kept::Absent | Kept::Erased => None,
        },
        ..unread
    }
}

/// Looks at the artifact of an event, if it is small enough for what is left of the room.
fn look(
    owner: &Owner,
    event: &Event,
    content: Option<&Content>,
    stored: &Stored,
    room: &mut u64,
) -> Standing {
    let size = match content {
        Some(Content::ArtifactRecorded(content)) => content.size.as_u64(),
        _ => 0,
    };
    if size > *room {
        return Standing::Unchecked;
    }
    let found = artifact(owner, event, &stored.artifact);
    *room = room.saturating_sub(found.bytes.map_or(0, |bytes| bytes.len() as u64));
    found.standing
}

/// Returns an event of the store as the verifier takes it.
fn kept(stored: &Stored) -> KeptEvent<'_> {
    let (disclosure, opening): (_, Option<&Opening>) = match &stored.content {
        Kept::Here(opening) => (Disclosure::Disclosed, Some(opening)),
        Kept::Erased => (Disclosure::Erased, None),
        Kept::Absent => (absent(stored), None),
    };
    KeptEvent { bytes: &stored.bytes, hash: stored.hash, disclosure, opening, head: stored.head.as_ref() }
}

/// Returns whether content that is not there should be.
fn absent(stored: &Stored) -> Disclosure {
    let committed = Event::parse(&stored.bytes).is_ok_and(|event| event.envelope().content.is_some());
    if committed { Disclosure::Missing } else { Disclosure::Absent }
}

/// How many bytes of artifacts are read for one page.
const MAX_ARTIFACT_BYTES_PER_PAGE: u64 = 4 << 20;
