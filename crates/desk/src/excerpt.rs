//! Some events of a trace as people look at them: in words, each with what could be checked of it without reading the
//! rest. What the store lacks is told apart from what does not hold.

use demur_ledger::{
    content::Opening,
    envelope::Event,
    event_type::{Content, Facts},
    export::Disclosure,
    graph::Graph,
    name::{Sequence, TraceId},
    proof::Proof,
    timeline::{Entry, Timeline},
    verify::{Check, CheckedEvent, Finding, KeptEvent, Severity, check_excerpt},
};
use demur_store::{
    contract::{Kept, Store as _, Stored, StoreError, TraceSummary},
    ledger::LedgerError,
};

use crate::{error::CommandError, owner::Owner, record};

/// One event with what was found.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its place.
    pub sequence: Sequence,
    /// In words; none if it cannot be read.
    pub entry: Option<Entry>,
    /// The event; none if it cannot be read.
    pub event: Option<Event>,
    /// Its content as recorded, if it is there.
    pub content: Option<Vec<u8>>,
    /// Whether its author's signature holds, and the author's key could speak.
    pub signature: Standing,
    /// Whether it follows the event before it, and is the one that was recorded.
    pub chain: Standing,
    /// Whether its content is there and is what the event commits to.
    pub words: Standing,
    /// Whether the artifact that it records is there and is what the event commits to.
    pub artifact: Standing,
    /// What does not hold, in words.
    pub findings: Vec<Finding>,
}

/// What a look at one part of an event gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It holds.
    Good,
    /// It does not hold.
    Bad,
    /// It was recorded, and the store no longer finds it.
    Missing,
    /// It was erased on purpose.
    Erased,
    /// There is nothing that could hold.
    None,
    /// It was not looked at here.
    Unchecked,
}

/// Returns what is known of a trace.
pub fn summary(owner: &Owner, trace: TraceId) -> Result<TraceSummary, CommandError> {
    Ok(owner.ledger().store().trace(trace)?.ok_or(LedgerError::TraceUnknown { trace })?)
}

/// Returns up to so many events of a trace from a place on. Nothing else is read but the one before them, and artifacts
/// as long as they are small.
pub fn read(
    owner: &Owner,
    summary: &TraceSummary,
    from: Sequence,
    limit: usize,
) -> Result<Vec<Line>, CommandError> {
    let trace = summary.trace;
    let before = from.number().checked_sub(1).and_then(|number| Sequence::try_from(number).ok());
    let (start, skipped) = before.map_or((from, 0), |before| (before, 1));
    let stored = owner.ledger().store().events(trace, start, limit.saturating_add(skipped))?;
    let roster = owner.roster()?;
    let checked =
        check_excerpt(roster.registry(), trace, start, summary.head, stored.iter().map(kept));
    let mut timeline = Timeline::without_state(roster.names().clone());
    let mut room = ROOM;
    let lines = checked.into_iter().zip(stored).skip(skipped);
    lines.map(|(checked, stored)| line(owner, checked, stored, &mut timeline, &mut room)).collect()
}

/// Returns what a trace is about: the words of its first event.
pub fn opening(owner: &Owner, trace: TraceId) -> Result<Option<Entry>, CommandError> {
    let names = owner.roster()?.names().clone();
    let read = record::read(owner.ledger().store(), trace, Sequence::FIRST);
    let Ok((event, content)) = read else { return Ok(None) };
    Ok(Timeline::without_state(names).take(&event, content))
}

/// Returns the states that a run went through, from its first event to its last.
pub fn graph(owner: &Owner, trace: TraceId) -> Result<Graph, CommandError> {
    let mut timeline = Timeline::with_names(owner.roster()?.names().clone());
    let mut graph = Graph::new();
    record::walk(owner.ledger().store(), trace, Sequence::FIRST, |event, content| {
        if let Some(entry) = timeline.take(&event, content) {
            graph.take(&entry);
        }
        Ok::<_, CommandError>(true)
    })?;
    Ok(graph)
}

/// Returns the bytes of the artifact that an event records, with whether they are what the event commits to.
pub fn artifact(owner: &Owner, event: &Event, kept: &Kept<demur_engine::entry::ArtifactPlace>) -> Artifact {
    let Ok(Facts::ArtifactRecorded(facts)) = event.said().map(|said| said.facts) else {
        return Artifact { standing: Standing::None, bytes: None };
    };
    let place = match kept {
        Kept::Here(place) => place,
        Kept::Erased => return Artifact { standing: Standing::Erased, bytes: None },
        Kept::Absent => return Artifact { standing: Standing::Missing, bytes: None },
    };
    match owner.ledger().store().artifact(&place.address) {
        Ok(Some(bytes)) => {
            let good = facts.commitment.opens_artifact(&place.salt, &bytes);
            Artifact { standing: if good { Standing::Good } else { Standing::Bad }, bytes: Some(bytes) }
        }
        Ok(None) => Artifact { standing: Standing::Missing, bytes: None },
        // Other bytes than those that were kept are no artifact.
        Err(StoreError::Corrupt { .. }) => Artifact { standing: Standing::Bad, bytes: None },
        Err(_) => Artifact { standing: Standing::Unchecked, bytes: None },
    }
}

/// An artifact that was looked for.
#[derive(Clone, Debug)]
pub struct Artifact {
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
) -> Result<Line, CommandError> {
    let CheckedEvent { sequence, event, content, findings, .. } = checked;
    let looked = match &event {
        Some(event) => look(owner, event, content.as_ref(), &stored, room),
        None => Standing::Bad,
    };
    let entry = event.as_ref().and_then(|event| timeline.take(event, content));
    let bytes = match stored.content {
        Kept::Here(opening) => Some(opening.bytes),
        Kept::Absent | Kept::Erased => None,
    };
    let of = |checks: &[Check]| {
        let fails = |finding: &&Finding| {
            finding.severity == Severity::Failure && checks.contains(&finding.code.check())
        };
        event.is_none() || findings.iter().any(|finding| fails(&finding))
    };
    let keyed = event.as_ref().is_some_and(|event| matches!(event.envelope().proof, Proof::Ed25519(_)));
    let signature = match keyed {
        _ if of(&[Check::Key, Check::Signature, Check::Registry]) => Standing::Bad,
        true => Standing::Good,
        false => Standing::None,
    };
    let chained = !of(&[Check::Schema, Check::Statement, Check::Chain, Check::Head]);
    let committed = event.as_ref().is_some_and(|event| event.envelope().content.is_some());
    let words = match (&bytes, erased(&event, &findings)) {
        _ if of(&[Check::Commitment]) => Standing::Bad,
        (Some(_), _) => Standing::Good,
        (None, true) => Standing::Erased,
        (None, false) if committed => Standing::Missing,
        (None, false) => Standing::None,
    };
    let chain = if chained { Standing::Good } else { Standing::Bad };
    Ok(Line { sequence, entry, event, content: bytes, signature, chain, words, artifact: looked, findings })
}
