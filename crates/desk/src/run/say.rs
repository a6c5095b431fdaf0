//! Somebody says one thing in one role of a run: signed with its key, once per idempotency key, and no final statement and no
//! verdict that the record does not bear.

use std::sync::Arc;

use demur_api::{code::Code, refusal::Refusal};
use demur_core::{
    canonical::{self, ReadError},
    hash::{Digest, sha256},
};
use demur_ledger::{
    author::{Artifact, Author, Place},
    event_type::{Content, EventType, Facts, Opens, TraceKind, TypeName},
    name::{CommandId, Position, TraceId},
    role::Role,
};
use demur_run::history::History;
use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::{check_record, check_run, read_on, unfounded};
use crate::{
    keyed::{self, Keyed},
    owner::Owner,
};

/// What somebody says.
#[derive(Clone, Debug)]
pub struct Saying {
    /// In which run.
    pub trace: TraceId,
    /// The event type, by its name.
    pub kind: String,
    /// Its facts; none with bytes, to which the desk commits.
    pub facts: Map<String, Value>,
    /// Its content.
    pub content: Option<Map<String, Value>>,
    /// The bytes of an artifact or a report, and the media type where the content names none.
    pub artifact: Option<(Vec<u8>, &'static str)>,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The event.
    pub position: Position,
    /// Whether the same request had been recorded before.
    pub repeated: bool,
}

/// The request that came under a key. An artifact is what its bytes are: its commitment is another each time.
#[derive(Serialize)]
struct Request<'a> {
    artifact: Option<Digest>,
    content: Option<&'a Content>,
    facts: Option<&'a Facts>,
    kind: &'static str,
    trace: TraceId,
}

/// Records what an author says in a run. The same request under the same idempotency key is recorded once, for good; another
/// request under it is refused (CLR-04). What was refused before is judged anew.
pub fn say(
    owner: &Owner,
    author: &Arc<Author>,
    saying: Saying,
    idempotency: Option<&str>,
) -> Result<Recorded, Refusal> {
    let ledger = owner.sequencer();
    let head = check_run(ledger.store(), saying.trace)?.head;
    let kind = kind(&saying.kind)?;
    let trace = saying.trace;
    let (facts, content, artifact) = read(owner, kind, saying)?;
    let request = Request {
        artifact: artifact.as_ref().map(|artifact| sha256(&artifact.bytes)),
        content: content.as_ref(),
        facts: (!kind.records_bytes()).then_some(&facts),
        kind: kind.as_str(),
        trace,
    };
    let keyed = idempotency.map(|key| Keyed::new(author, key, &request)).transpose()?;
    let earlier = || -> Result<Option<Recorded>, Refusal> {
        let Some(earlier) = keyed.as_ref().map(|keyed| keyed.earlier(owner, author)).transpose()?.flatten()
        else {
            return Ok(None);
        };
        Ok(Some(Recorded { position: keyed::position(&earlier)?, repeated: true }))
    };
    if let Some(earlier) = earlier()? {
        return Ok(earlier);
    }
    check(owner, trace, &facts)?;
    let system = owner.system();
    let place = Place { store: ledger.registry().store(), trace, seen: Some(head), now: system.now()? };
    let command = keyed.as_ref().map_or_else(|| CommandId::new(place.now, &mut { system }), Keyed::command);
    let spoken = author.speak(command, &place, facts, content, &mut { system })?;
    let swaps: Vec<_> = keyed.as_ref().map(Keyed::swap).transpose()?.into_iter().collect();
    match ledger.submit_with(spoken.into_submission(), artifact.as_ref(), &swaps) {
        Ok(recorded) => Ok(Recorded { position: recorded.position, repeated: recorded.repeated }),
        // Somebody else with the same key was faster.
        Err(error) => earlier()?.ok_or_else(|| error.into()),
    }
}

/// Returns the type of this name, if one of the four roles says such things after the opening.
fn kind(name: &str) -> Result<EventType, Refusal> {
    let said = |kind: &EventType| {
        let rule = kind.rule();
        rule.traces == [TraceKind::Run]
            && rule.opens == Opens::Never
            && Role::OF_A_RUN.iter().any(|role| kind.admits_role(*role))
    };
    if let Some(kind) = EventType::from_name(name).filter(said) {
        return Ok(kind);
    }
    let known: Vec<_> = EventType::ALL.iter().filter(|kind| said(kind)).map(|kind| kind.as_str()).collect();
    let message = format!("expected one of {}, found another", known.join(", "));
    let hint = "POST /v1/runs opens a run; POST /v1/questions asks in it, with its trace";
    Err(Refusal::new(Code::TypeForbidden, message).about("type").with_cure(hint))
}

/// Returns what is said, in the ledger's types.
fn read(
    owner: &Owner,
    kind: EventType,
    saying: Saying,
) -> Result<(Facts, Option<Content>, Option<Artifact>), Refusal> {
    let Saying { facts, content, artifact, .. } = saying;
    match (kind, artifact) {
        (kind, Some(_)) if kind.records_bytes() && !facts.is_empty() => {
            let message = "expected no facts with the bytes of an artifact or a report, found some";
            Err(Refusal::new(Code::Malformed, message)
                .about("facts")
                .with_cure("leave them out: the desk commits to the bytes itself"))
        }
        (EventType::ArtifactRecorded, Some((bytes, media_type))) => {
            let mut content = content.unwrap_or_default();
            content.entry("media_type").or_insert_with(|| json!(media_type));
            content.entry("size").or_insert_with(|| json!(bytes.len()));
            let artifact = Artifact::new(bytes, &mut { owner.system() });
            Ok((artifact.facts().into(), Some(read_content(kind, &content)?), Some(artifact)))
        }
        (EventType::ReportRecorded, Some((bytes, _))) => {
            let content = content.map(|content| read_content(kind, &content)).transpose()?;
            let artifact = Artifact::new(bytes, &mut { owner.system() });
            Ok((artifact.report_facts().into(), content, Some(artifact)))
        }
        (kind, None) if kind.records_bytes() => {
            let message =
                "expected the bytes of the artifact or report with the event that records it, found none";
            Err(Refusal::new(Code::ArtifactMissing, message)
                .about("artifact")
                .with_cure("send them as {\"text\": ...} or {\"base64\": ...}"))
        }
        // Bytes with an event that records none are the ledger's to refuse.
        (_, artifact) => {
            let content = content.map(|content| read_content(kind, &content)).transpose()?;
            let artifact = artifact.map(|(bytes, _)| Artifact::new(bytes, &mut { owner.system() }));
            Ok((read_facts(kind, &facts)?, content, artifact))
        }
    }
}

fn read_facts(kind: EventType, facts: &Map<String, Value>) -> Result<Facts, Refusal> {
    let text = String::from_utf8(canonical::to_vec(facts)?).map_err(|error| Refusal::bug(&error))?;
    let raw = RawValue::from_string(text).map_err(|error| Refusal::bug(&error))?;
    Facts::parse(&TypeName::from(kind), &raw).map_err(|error| malformed("facts", kind, &error))
}

fn read_content(kind: EventType, content: &Map<String, Value>) -> Result<Content, Refusal> {
    Content::parse(kind, &canonical::to_vec(content)?).map_err(|error| malformed("content", kind, &error))
}

fn malformed(field: &'static str, kind: EventType, error: &ReadError) -> Refusal {
    Refusal::new(Code::Malformed, format!("{field} of {kind}: {error}"))
        .about(field)
        .with_cure(format!("its schema is /schemas/ledger/events/{kind}.json; nothing was recorded"))
}

/// Checks what takes a look at the whole record.
fn check(owner: &Owner, trace: TraceId, facts: &Facts) -> Result<(), Refusal> {
    let ledger = owner.sequencer();
    match facts {
        Facts::FinalStatementSigned(_) => check_record(ledger, trace),
        Facts::VerificationRunCompleted(facts) => {
            let mut history = History::new();
            read_on(ledger.store(), trace, &mut history, |_, _| Ok::<_, Refusal>(()))?;
            match unfounded(ledger, trace, history.profile, facts.status)? {
                None => Ok(()),
                Some(refused) => {
                    let refusal = Refusal::new(Code::VerdictUnfounded, refused.message);
                    Err(Refusal { field: refused.field, ..refusal.with_cure(refused.cure) })
                }
            }
        }
        _ => Ok(()),
    }
}
