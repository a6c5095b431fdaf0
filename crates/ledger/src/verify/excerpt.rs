//! Some events out of a trace, checked as far as that goes without the others: form, statement, place, key, signature,
//! content, and the desk's signature where there is one. What only the whole trace tells (the state, replays, claims) is
//! left to [`verify`](super::verify).

use demur_core::{hash::Digest, key::Batch, time::Timestamp};

use super::{
    Code, Finding, Section,
    examine::{self, Opened},
    finding::Found,
    opening,
    trail::check_desk,
};
use crate::{
    content::Opening,
    envelope::Event,
    event_type::Content,
    export::Disclosure,
    name::{Position, Sequence, TraceId},
    registry::Registry,
    signed::{Head, Signed},
};

/// An event as a store keeps it.
#[derive(Clone, Debug)]
pub struct KeptEvent<'a> {
    /// The canonical bytes of the envelope.
    pub bytes: &'a [u8],
    /// The hash under which it was recorded.
    pub hash: Digest,
    /// Whether its content is there.
    pub disclosure: Disclosure,
    /// The content with its salt, if it is there.
    pub opening: Option<&'a Opening>,
    /// The desk's signature, where this event was once the newest.
    pub head: Option<&'a Signed<Head>>,
}

/// An event of an excerpt with what was found.
#[derive(Clone, Debug)]
pub struct CheckedEvent {
    /// The place in the trace where it stands.
    pub sequence: Sequence,
    /// The event; none if it cannot be read.
    pub event: Option<Event>,
    /// Its content, if it is there and can be read.
    pub content: Option<Content>,
    /// What was found; nothing where everything that could be checked holds.
    pub findings: Vec<Finding>,
}

/// Checks consecutive events of a trace, from this place on. Whether the first follows the one before it shows only
/// where it is the first of the trace: begin one earlier. `newest` is the end of the trace as the store has it.
pub fn check_excerpt<'a>(
    registry: &Registry,
    trace: TraceId,
    from: Sequence,
    newest: Position,
    kept: impl IntoIterator<Item = KeptEvent<'a>>,
) -> Vec<CheckedEvent> {
    let mut walk = Excerpt { registry, trace, newest, before: None };
    let mut batch = Batch::with_capacity(0);
    let (mut checked, mut signed) = (Vec::new(), Vec::new());
    let mut at = from;
    for one in kept {
        let (event, mut found) = walk.check(at, &one);
        if let Some(event) = event.as_ref().filter(|_| trace != registry.trace()) {
            match examine::push_signature(event, event.statement_bytes(), registry, &mut batch) {
                Ok(true) => signed.push(checked.len()),
                Ok(false) => {}
                Err(error) => found.push(examine::bad_assertion(error)),
            }
        }
        let content = event.as_ref().and_then(|event| content(event, &one));
        let findings = found.into_iter().map(|found| finding(at, found)).collect();
        checked.push(CheckedEvent { sequence: at, event, content, findings });
        at = at.next();
    }
    for bad in batch.verify().err().into_iter().flatten() {
        let at = checked[signed[bad]].sequence;
        checked[signed[bad]].findings.push(finding(at, examine::bad_signature()));
    }
    checked
}

/// What is known of the events so far.
struct Excerpt<'a> {
    registry: &'a Registry,
    trace: TraceId,
    newest: Position,
    before: Option<(Digest, Timestamp)>,
}

impl Excerpt<'_> {
    fn check(&mut self, at: Sequence, kept: &KeptEvent<'_>) -> (Option<Event>, Vec<Found>) {
        let event = match Event::parse(kept.bytes) {
            Ok(event) => event,
            Err(error) => {
                self.before = None;
                return (None, vec![Found::new(Code::SchemaInvalid, error.to_string())]);
            }
        };
        let text = kept.opening.map(|opening| str::from_utf8(&opening.bytes).unwrap_or_default());
        let opened = Opened {
            event,
            content: text,
            bounded: false,
            disclosure: kept.disclosure,
            salt: kept.opening.map(|opening| opening.salt),
        };
        let (event, mut found) = examine::read_alone(opened);
        self.check_place(at, &event, kept, &mut found);
        if self.trace == self.registry.trace() {
            found.extend(opening::check_signature(&event, Some(self.registry)).err());
        } else {
            examine::check_author(&event, self.registry, &mut found);
        }
        self.before = Some((*event.hash(), event.envelope().time));
        (Some(event), found)
    }

    fn check_place(&self, at: Sequence, event: &Event, kept: &KeptEvent<'_>, found: &mut Vec<Found>) {
        let envelope = event.envelope();
        let broken = |message: &str| Found::new(Code::ChainBreak, message);
        if envelope.trace != self.trace {
            found.push(Found::new(Code::StatementMismatch, "the event is of another trace"));
        }
        if envelope.sequence != at {
            let message = format!("expected event {at}, found event {}", envelope.sequence);
            found.push(Found::new(Code::ChainBreak, message));
        }
        if *event.hash() != kept.hash {
            found.push(broken("the event is not the one that was recorded under this hash"));
        }
        if let Some((hash, time)) = self.before {
            if envelope.previous != Some(hash) {
                found.push(broken("the event names another one before it"));
            }
            if envelope.time < time {
                let message = format!("{} comes after {time}", envelope.time);
                found.push(Found::new(Code::TimeBackwards, message));
            }
        }
        if at == self.newest.sequence && *event.hash() != self.newest.hash {
            found.push(broken("the trace ends with another event"));
        }
        found.extend(self.check_head(event, kept.head).err());
    }

    /// The newest event stands under the desk's signature; an earlier one may.
    fn check_head(&self, event: &Event, head: Option<&Signed<Head>>) -> Result<(), Found> {
        let invalid = |message: String| Found::new(Code::HeadInvalid, message);
        let Some(signed) = head else {
            let newest = event.envelope().sequence == self.newest.sequence;
            let missing = || Err(invalid("no signed head names the last event".to_owned()));
            return if newest { missing() } else { Ok(()) };
        };
        let head = &signed.document;
        if head.store != self.registry.store() || head.trace != self.trace || head.head != event.position() {
            return Err(invalid("the head names another event".to_owned()));
        }
        check_desk(signed, &head.registry, head.epoch, self.registry, true)
            .map_err(|message| invalid(format!("the head {message}")))
    }
}

fn content(event: &Event, kept: &KeptEvent<'_>) -> Option<Content> {
    let kind = event.said().ok()?.facts.event_type()?;
    Content::parse(kind, &kept.opening?.bytes).ok()
}

fn finding(at: Sequence, found: Found) -> Finding {
    let Found { code, message, .. } = found;
    let severity = code.severity();
    Finding { code, severity, section: Section::Trace, line: None, sequence: Some(at), message }
}
