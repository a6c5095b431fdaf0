//! The operations of traces.

use demur_api::{
    call::{ApiReply, ApiRequest},
    code::Code,
    operation as op,
    refusal::Refusal,
    trace::{EventView, KeptArtifact, ListedEvents, ListedTraces, TraceView, Violation},
};
use demur_ledger::{
    name::{Sequence, TraceId},
    signed::{Receipt, Signed},
};
use demur_sequencer::SequencerError;
use demur_store::contract::{Kept, Stored, TraceSummary};
use serde_json::value::RawValue;

use super::{event, listed, seen};
use crate::{access::Admitted, desk::Desk, entry::Handle, excerpt};

impl Handle<op::ListTraces> for Desk {
    fn handle(
        &self,
        _: &Admitted,
        request: ApiRequest<op::ListTraces>,
    ) -> Result<ApiReply<ListedTraces>, Refusal> {
        let (owner, after, limit) = (self.owner()?, request.query.after, limit(request.query.limit)?);
        let (found, next) = listed(&owner, after, limit)?;
        Ok(ApiReply::new(ListedTraces { traces: found.into_iter().map(trace_view).collect(), next }))
    }
}

impl Handle<op::ShowTrace> for Desk {
    fn handle(
        &self,
        by: &Admitted,
        request: ApiRequest<op::ShowTrace>,
    ) -> Result<ApiReply<TraceView>, Refusal> {
        let found = seen(&*self.owner()?, by.caller(), request.path.trace)?;
        Ok(ApiReply::new(trace_view(found)))
    }
}

impl Handle<op::ListEvents> for Desk {
    fn handle(
        &self,
        by: &Admitted,
        request: ApiRequest<op::ListEvents>,
    ) -> Result<ApiReply<ListedEvents>, Refusal> {
        let (owner, trace, limit) = (self.owner()?, request.path.trace, limit(request.query.limit)?);
        let head = seen(&owner, by.caller(), trace)?.head.sequence;
        let mut next = request.query.after.map_or(Sequence::FIRST, Sequence::next);
        let (mut events, mut bytes) = (Vec::new(), 0);
        // Content can be large: a page ends where it has grown enough.
        while events.len() < limit && bytes < PAGE_BYTES && next <= head {
            let Some(stored) = owner.ledger().store().events(trace, next, 1)?.pop() else { break };
            let shown = event_view(trace, next, stored)?;
            bytes += shown.size();
            events.push(shown);
            next = next.next();
        }
        let last = events.last().map(|event: &EventView| event.sequence);
        Ok(ApiReply::new(ListedEvents { next: last.filter(|last| *last < head), events }))
    }
}

impl Handle<op::ShowReceipt> for Desk {
    fn handle(
        &self,
        by: &Admitted,
        request: ApiRequest<op::ShowReceipt>,
    ) -> Result<ApiReply<Signed<Receipt>>, Refusal> {
        let (owner, op::OfEvent { trace, sequence }) = (self.owner()?, request.path);
        seen(&owner, by.caller(), trace)?;
        event(&owner, trace, sequence)?;
        let receipt = owner.ledger().receipt(trace, sequence)?.ok_or_else(|| {
            let message = "expected a statement that a key signed, found what the desk itself recorded";
            Refusal::new(Code::ReceiptUnknown, message)
        })?;
        Ok(ApiReply::new(receipt))
    }
}

pub(super) fn trace_view(summary: TraceSummary) -> TraceView {
    let TraceSummary { trace, kind, head, opened, changed, phase, failed, .. } = summary;
    let failed = failed.map(|failure| Violation { code: failure.code, sequence: failure.sequence });
    let events = head.sequence.next().number();
    TraceView { trace, kind, events, head, opened, changed, phase, failed }
}

fn event_view(trace: TraceId, sequence: Sequence, stored: Stored) -> Result<EventView, Refusal> {
    excerpt::refuse_newer(trace, sequence, &stored)?;
    let raw = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).ok();
        let raw = text.and_then(|text| RawValue::from_string(text).ok());
        raw.ok_or(SequencerError::Damaged { trace, sequence, code: "SCHEMA_INVALID" })
    };
    let erased = matches!(stored.content, Kept::Erased);
    let (content, salt) = match stored.content {
        Kept::Here(opening) => (Some(raw(opening.bytes)?), Some(opening.salt)),
        Kept::Absent | Kept::Erased => (None, None),
    };
    let artifact = match stored.artifact {
        Kept::Here(_) => Some(KeptArtifact::Here),
        Kept::Erased => Some(KeptArtifact::Erased),
        Kept::Absent => None,
    };
    Ok(EventView {
        sequence,
        hash: stored.hash,
        envelope: raw(stored.bytes)?,
        content,
        salt,
        erased,
        artifact,
    })
}

fn limit(wanted: Option<usize>) -> Result<usize, Refusal> {
    let limit = wanted.unwrap_or(50);
    if (1..=200).contains(&limit) {
        return Ok(limit);
    }
    Err(Refusal::malformed(format!("limit: expected 1 to 200, found {limit}")))
}

/// How large a page of events grows before it ends.
const PAGE_BYTES: usize = 1 << 20;
