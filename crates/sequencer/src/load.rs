//! From the store into memory (LED-22): the newest snapshot that fits, the events after it, each checked against its
//! hash, its chain and its signature, and the desk's signature on the last. What does not hold marks the trace as
//! failed (LED-18).

use demur_core::{
    hash::Purpose,
    key::{Batch, PublicKey},
};
use demur_engine::{snapshot, state::State};
use demur_ledger::{
    envelope::Event,
    event_type::Facts,
    name::{Position, Sequence, TraceId},
    proof::Proof,
    registry::Registry,
    signed::{Head, Signed},
};
use demur_store::contract::{Failure, Snapshot, Store, Stored};

use super::error::SequencerError;

/// Returns the state of a trace as the store has it. A trace that does not hold comes back marked as failed.
pub(super) fn load(store: &dyn Store, trace: TraceId, registry: &Registry) -> Result<State, SequencerError> {
    let Some(summary) = store.trace(trace)? else { return Ok(State::new(trace)) };
    if summary.failed.is_some() {
        return Ok(failed(trace));
    }
    let loading = Loading { store, trace, registry: Some(registry) };
    match loading.run() {
        Ok(state) => Ok(state),
        Err(SequencerError::Damaged { sequence, code, .. }) => {
            let failure = Failure { sequence: Some(sequence), code: code.to_owned() };
            store.mark_failed(trace, &failure)?;
            Ok(failed(trace))
        }
        Err(error) => Err(error),
    }
}

/// Returns the registry as the store has it.
pub(super) fn load_registry(store: &dyn Store) -> Result<State, SequencerError> {
    let trace = store.registry()?.ok_or(SequencerError::NotCreated)?;
    Loading { store, trace, registry: None }.run()
}

/// Checks the desk's signature on the newest event of a trace.
pub(super) fn check_newest(
    store: &dyn Store,
    trace: TraceId,
    registry: &Registry,
) -> Result<(), SequencerError> {
    let head = store.trace(trace)?.ok_or(SequencerError::TraceUnknown { trace })?.head;
    let stored = store.events(trace, head.sequence, 1)?.pop();
    let signed = stored.and_then(|stored| stored.head);
    Loading { store, trace, registry: Some(registry) }.check_signed(head, signed.as_ref(), registry)
}

fn failed(trace: TraceId) -> State {
    let mut state = State::new(trace);
    state.mark_failed();
    state
}

struct Loading<'a> {
    store: &'a dyn Store,
    trace: TraceId,
    /// The registry to check keys with; none while the registry itself is loaded.
    registry: Option<&'a Registry>,
}

impl Loading<'_> {
    fn run(&self) -> Result<State, SequencerError> {
        let mut state = self.resume()?.unwrap_or_else(|| State::new(self.trace));
        let mut last = None;
        loop {
            let page = self.store.events(self.trace, state.tip().next(), PAGE)?;
            let Some(newest) = page.last() else { break };
            let head = newest.head.clone();
            let full = page.len() == PAGE;
            self.fold(&mut state, &page)?;
            last = Some(head);
            if !full {
                break;
            }
        }
        let head = match last {
            Some(head) => head,
            None => self.newest(&state)?,
        };
        self.check_head(&state, head.as_ref())?;
        Ok(state)
    }

    fn resume(&self) -> Result<Option<State>, SequencerError> {
        let kept = self.store.snapshot(self.trace, snapshot::VERSION)?;
        let Some(Snapshot { head, bytes, .. }) = kept else { return Ok(None) };
        let page = self.store.events(self.trace, head.sequence, 1)?;
        let newest = page.first().map(|stored| self.parse(stored, head.sequence)).transpose()?;
        // A snapshot that does not fit is no violation: it is disposable.
        Ok(newest.and_then(|newest| snapshot::from_bytes(&bytes, &newest)))
    }

    /// Returns the signed head beside the newest event of a state that a snapshot holds completely.
    fn newest(&self, state: &State) -> Result<Option<Signed<Head>>, SequencerError> {
        let Some(head) = state.tip().head() else { return Ok(None) };
        Ok(self.store.events(self.trace, head.sequence, 1)?.pop().and_then(|stored| stored.head))
    }

    fn fold(&self, state: &mut State, page: &[Stored]) -> Result<(), SequencerError> {
        let mut batch = Batch::with_capacity(page.len());
        let mut signed = Vec::with_capacity(page.len());
        for stored in page {
            let at = state.tip().next();
            let event = self.parse(stored, at)?;
            state.apply(&event).map_err(|_| self.damaged(at, "CHAIN_BREAK"))?;
            if let (Proof::Ed25519(proof), Some(bytes)) = (&event.envelope().proof, event.statement_bytes()) {
                let key = self.key(state, &event).ok_or_else(|| self.damaged(at, "KEY_UNKNOWN"))?;
                batch.push(&key, Purpose::Statement, bytes, &proof.signature);
                signed.push(at);
            }
        }
        match batch.verify() {
            Ok(()) => Ok(()),
            Err(bad) => {
                let at = bad.first().and_then(|first| signed.get(*first)).copied().unwrap_or_default();
                Err(self.damaged(at, "SIG_INVALID"))
            }
        }
    }

    fn parse(&self, stored: &Stored, at: Sequence) -> Result<Event, SequencerError> {
        let event = Event::parse(&stored.bytes).map_err(|_| self.damaged(at, "SCHEMA_INVALID"))?;
        if *event.hash() == stored.hash { Ok(event) } else { Err(self.damaged(at, "CHAIN_BREAK")) }
    }

    /// Returns the key an event was signed with. A key that comes in with an event signs that event.
    fn key(&self, state: &State, event: &Event) -> Option<PublicKey> {
        let Proof::Ed25519(proof) = &event.envelope().proof else { return None };
        let registry = self.registry.or_else(|| state.registry())?;
        match event.said().ok()?.facts {
            Facts::StoreCreated(facts) => Some(facts.key),
            _ => registry.public_key(&proof.key).copied(),
        }
    }

    fn check_head(&self, state: &State, head: Option<&Signed<Head>>) -> Result<(), SequencerError> {
        let Some(position) = state.tip().head() else { return Ok(()) };
        let damaged = || self.damaged(position.sequence, "HEAD_INVALID");
        let registry = self.registry.or_else(|| state.registry()).ok_or_else(damaged)?;
        self.check_signed(position, head, registry)
    }

    fn check_signed(
        &self,
        position: Position,
        head: Option<&Signed<Head>>,
        registry: &Registry,
    ) -> Result<(), SequencerError> {
        let damaged = || self.damaged(position.sequence, "HEAD_INVALID");
        let head = head.filter(|head| head.document.head == position).ok_or_else(damaged)?;
        let at = head.document.registry.sequence;
        let key = registry.desk_key(&head.proof.key, at).map_err(|_| damaged())?;
        head.verify(&key.public).map_err(|_| damaged())
    }

    fn damaged(&self, sequence: Sequence, code: &'static str) -> SequencerError {
        SequencerError::Damaged { trace: self.trace, sequence, code }
    }
}

/// How many events are read at once.
const PAGE: usize = 1024;
