//! From the store into memory (LED-22): the newest snapshot that fits, the events after it, each checked against its
//! hash, its chain and its signature, and the desk's signature on the last. What does not hold marks the trace as
//! failed (LED-18). That mark is for good, so damage is proven first: where an event went by a newer registry than the
//! one known here, another process wrote both, and the registry is read again before anything is said about keys. What a
//! newer version wrote is refused and not marked.

use std::sync::Arc;

use demur_core::{hash::Digest, key::Batch};
use demur_engine::{
    snapshot,
    state::{ApplyError, State},
};
use demur_ledger::{
    check,
    content::{CheckContent, Opening},
    entry::Address,
    envelope::Event,
    event_type::Facts,
    facts::CheckStated,
    meaning::{ArtifactDigests, Known, Meaning},
    name::{Position, Sequence, TraceId},
    newer::{NewerEvent, Reading},
    proof::{ProofError, Subject},
    registry::Registry,
    role::Role,
    signed::{Head, Signed},
    state::GuardError,
};
use demur_store::contract::{Failure, Kept, LeaseId, Snapshot, Store, StoreError, Stored};

use super::{error::SequencerError, queue::MAX_RECENT_HASHES, read::read_event};

/// The registry to check keys with.
#[derive(Clone)]
pub(super) struct Keys<'a> {
    /// As known so far.
    pub(super) registry: Arc<Registry>,
    /// Reads it again.
    pub(super) refresh: &'a dyn Fn() -> Result<Arc<Registry>, SequencerError>,
}

impl Keys<'_> {
    /// Returns whether the registry has this event, reading it again where it is not known here.
    fn reach(&mut self, pin: &Position) -> Result<bool, SequencerError> {
        if !self.registry.holds(pin) {
            self.registry = (self.refresh)()?;
        }
        Ok(self.registry.holds(pin))
    }
}

/// What was read of a trace.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) state: State,
    /// The hashes of the newest events that were read, oldest first.
    pub(super) recent: Vec<Digest>,
    /// The newest artifacts that were read.
    pub(super) artifacts: ArtifactDigests,
    /// Who wrote the newest of them.
    pub(super) writer: Option<LeaseId>,
}

impl Loaded {
    pub(super) const fn of(state: State) -> Self {
        Self { state, recent: Vec::new(), artifacts: ArtifactDigests::new(), writer: None }
    }
}

/// Returns the state of a trace as the store has it; `known` is what was read and verified of it before. A trace that does
/// not hold comes back marked as failed.
pub(super) fn load(
    store: &dyn Store,
    trace: TraceId,
    known: Option<State>,
    keys: &Keys<'_>,
) -> Result<Loaded, SequencerError> {
    let Some(summary) = store.trace(trace)? else { return Ok(Loaded::of(State::new(trace))) };
    if summary.failed.is_some() {
        return Ok(Loaded::of(failed(trace)));
    }
    let loading = || Loading::new(store, trace, Some(keys.clone()));
    let found = read_on(loading, known);
    match found {
        Err(SequencerError::Damaged { trace: found, sequence, code }) if found == trace => {
            let failure = Failure { sequence: Some(sequence), code: code.to_owned() };
            store.mark_failed(trace, &failure)?;
            Ok(Loaded::of(failed(trace)))
        }
        found => found,
    }
}

/// Returns the registry as the store has it; `known` is what was read and verified of it before.
pub(super) fn load_registry(store: &dyn Store, known: Option<State>) -> Result<Loaded, SequencerError> {
    let trace = store.registry()?.ok_or(SequencerError::NotCreated)?;
    read_on(|| Loading::new(store, trace, None), known)
}

/// Reads on from what is known. That something does not follow from it proves nothing, so everything is read then.
fn read_on<'a>(loading: impl Fn() -> Loading<'a>, known: Option<State>) -> Result<Loaded, SequencerError> {
    match known.map(|known| loading().run(Some(known))) {
        None | Some(Err(SequencerError::Damaged { .. })) => loading().run(None),
        Some(found) => found,
    }
}

/// Checks the desk's signature on the newest event of a trace.
pub(super) fn check_newest(store: &dyn Store, trace: TraceId, keys: Keys<'_>) -> Result<(), SequencerError> {
    let head = store.trace(trace)?.ok_or(SequencerError::TraceUnknown { trace })?.head;
    let stored = store.events(trace, head.sequence, 1)?.pop();
    let signed = stored.and_then(|stored| stored.head);
    let mut loading = Loading::new(store, trace, Some(keys));
    loading.check_head(&State::new(trace), head, signed.as_ref())
}

fn failed(trace: TraceId) -> State {
    let mut state = State::new(trace);
    state.mark_failed();
    state
}

struct Loading<'a> {
    store: &'a dyn Store,
    trace: TraceId,
    /// None while the registry itself is loaded.
    keys: Option<Keys<'a>>,
    /// The hashes of the newest events that were read.
    recent: Vec<Digest>,
    /// The newest artifacts that were read.
    artifacts: ArtifactDigests,
}

impl<'a> Loading<'a> {
    const fn new(store: &'a dyn Store, trace: TraceId, keys: Option<Keys<'a>>) -> Self {
        Self { store, trace, keys, recent: Vec::new(), artifacts: ArtifactDigests::new() }
    }

    /// Reads on from a state, or from the newest snapshot that fits.
    fn run(mut self, known: Option<State>) -> Result<Loaded, SequencerError> {
        let known = known.filter(|known| known.tip().head().is_some());
        let is_known = known.is_some();
        let mut state = match known {
            Some(known) => known,
            None => self.resume()?.unwrap_or_else(|| State::new(self.trace)),
        };
        let mut last = None;
        loop {
            let page = self.store.events(self.trace, state.tip().next(), EVENTS_PER_READ)?;
            self.fold(&mut state, &page)?;
            let is_full = page.len() == EVENTS_PER_READ;
            last = page.into_iter().next_back().or(last);
            if !is_full {
                break;
            }
        }
        if last.is_none() && is_known {
            // There is nothing new.
            return Ok(Loaded::of(state));
        }
        let Some(position) = state.tip().head() else { return Ok(Loaded::of(state)) };
        let newest = match last {
            Some(newest) => Some(newest),
            // A snapshot holds everything.
            None => self.store.events(self.trace, position.sequence, 1)?.pop(),
        };
        self.check_head(&state, position, newest.as_ref().and_then(|newest| newest.head.as_ref()))?;
        let writer = newest.map(|newest| newest.writer);
        Ok(Loaded { state, recent: self.recent, artifacts: self.artifacts, writer })
    }

    fn resume(&self) -> Result<Option<State>, SequencerError> {
        let kept = self.store.snapshot(self.trace, snapshot::VERSION)?;
        let Some(Snapshot { head, bytes, .. }) = kept else { return Ok(None) };
        let page = self.store.events(self.trace, head.sequence, 1)?;
        let newest = page.first().and_then(|stored| read_event(self.trace, head.sequence, stored).ok());
        // A snapshot that does not fit is no violation: it is disposable.
        Ok(newest
            .filter(|newest| newest.position() == head)
            .and_then(|newest| snapshot::from_bytes(&bytes, &newest)))
    }

    fn fold(&mut self, state: &mut State, page: &[Stored]) -> Result<(), SequencerError> {
        let mut batch = Batch::with_capacity(page.len());
        let mut signed = Vec::with_capacity(page.len());
        let mut newer = None;
        for stored in page {
            let at = state.tip().next();
            let event = match Reading::of(&stored.bytes, &stored.hash) {
                Reading::Known(event) => event,
                Reading::Damaged => {
                    // An event as it should be, but not the one that was recorded.
                    let is_another = Event::parse(&stored.bytes).is_ok();
                    return Err(self.damaged(at, if is_another { "CHAIN_BREAK" } else { "SCHEMA_INVALID" }));
                }
                Reading::Newer(event) => {
                    newer = Some(self.newer(state, &event, stored.head.as_ref(), &mut batch)?);
                    signed.resize(batch.len(), at);
                    break;
                }
            };
            let mut meaning = meaning(&event, &stored.content);
            if let Some(meaning) = &mut meaning {
                let outcome = self.look(&event, meaning)?;
                meaning.settle_check(outcome);
            }
            let known = Known { meaning: meaning.as_ref(), artifacts: &self.artifacts };
            state.apply(&event, known).map_err(|error| self.damaged(at, damage(&error)))?;
            self.prove(state, &event, &mut batch)?;
            signed.resize(batch.len(), at);
            self.recent.push(stored.hash);
            if let Kept::Here(place) = &stored.artifact {
                self.artifacts.push(at, *place.address.as_digest());
            }
        }
        self.recent.drain(..self.recent.len().saturating_sub(MAX_RECENT_HASHES));
        self.artifacts.keep_newest(MAX_RECENT_HASHES, state.tip().next());
        match batch.verify() {
            Ok(()) => newer.map_or(Ok(()), Err),
            Err(bad) => {
                let at = bad.first().and_then(|first| signed.get(*first)).copied().unwrap_or_default();
                Err(self.damaged(at, "SIG_INVALID"))
            }
        }
    }

    /// Returns the refusal of an event that a newer version wrote, once everything holds that can be seen of it.
    fn newer(
        &mut self,
        state: &State,
        event: &NewerEvent<'_>,
        head: Option<&Signed<Head>>,
        batch: &mut Batch,
    ) -> Result<SequencerError, SequencerError> {
        let (sequence, newer) = (state.tip().next(), event.newer().clone());
        if !event.follows(state.tip()) {
            return Err(self.damaged(sequence, "CHAIN_BREAK"));
        }
        let Some(keys) = &mut self.keys else {
            // What it does to the keys nobody can tell, so its signatures say nothing.
            return Ok(StoreError::RegistryNewer { sequence, newer }.into());
        };
        if let Some(pin) = event.registry()
            && !keys.reach(&pin)?
        {
            return Err(self.damaged(sequence, "REGISTRY_PIN"));
        }
        // A newer version may let others speak than those that this one knows.
        let _ = event.check(Some(&keys.registry), batch);
        self.check_signed(state, Position::new(sequence, *event.hash()), head)?;
        Ok(StoreError::TraceNewer { trace: self.trace, sequence, newer }.into())
    }

    /// Checks that the desk signed a newer event: by the head beside it, or, where others were committed with it, by the first
    /// head after it, to which the events in between lead.
    fn check_signed(
        &mut self,
        state: &State,
        mut position: Position,
        head: Option<&Signed<Head>>,
    ) -> Result<(), SequencerError> {
        let mut head = head.cloned();
        while head.is_none() {
            let at = position.sequence.next();
            let Some(stored) = self.store.events(self.trace, at, 1)?.pop() else {
                return Err(self.damaged(position.sequence, "HEAD_INVALID"));
            };
            if !self.follows(&stored, at, position) {
                return Err(self.damaged(at, "CHAIN_BREAK"));
            }
            position = Position::new(at, stored.hash);
            head = stored.head;
        }
        self.check_head(state, position, head.as_ref())
    }

    /// Returns whether a stored event follows another, as far as that can be seen.
    fn follows(&self, stored: &Stored, at: Sequence, before: Position) -> bool {
        match Reading::of(&stored.bytes, &stored.hash) {
            Reading::Known(event) => {
                let envelope = event.envelope();
                (envelope.trace, envelope.sequence, envelope.previous) == (self.trace, at, Some(before.hash))
            }
            Reading::Newer(event) => event.stands(self.trace, at, Some(before.hash)),
            Reading::Damaged => false,
        }
    }

    /// Adds what proves an event to the batch.
    fn prove(&mut self, state: &State, event: &Event, batch: &mut Batch) -> Result<(), SequencerError> {
        let (at, pin) = (event.envelope().sequence, event.envelope().registry);
        if let (Some(keys), Some(pin)) = (&mut self.keys, pin)
            && !keys.reach(&pin)?
        {
            return Err(self.damaged(at, "REGISTRY_PIN"));
        }
        let (subject, registry) = match &self.keys {
            Some(keys) => (Subject::new(event, event.statement_bytes()), Some(&*keys.registry)),
            None => (Subject::of_registry(event), state.registry()),
        };
        event.envelope().proof.check(&subject, registry, batch).map_err(|error| match error {
            ProofError::KeyUnknown { .. } => self.damaged(at, "KEY_UNKNOWN"),
            ProofError::NoStatement => self.damaged(at, "STATEMENT_MISMATCH"),
            ProofError::Passkey(error) => self.damaged(at, error.code()),
        })
    }

    /// Returns whether the check that an event states is true, where the state goes by it.
    fn look(&self, event: &Event, meaning: &Meaning) -> Result<Option<bool>, StoreError> {
        let said = event.said().ok().filter(|said| said.role == Role::Critic);
        match (said.map(|said| said.facts), meaning.check()) {
            (Some(Facts::CheckStated(CheckStated { artifact, condition: Some(_), .. })), Some(stated)) => {
                evaluate(self.store, self.trace, &self.artifacts, (*artifact, &stated.check))
            }
            _ => Ok(None),
        }
    }

    /// Checks the desk's signature on an event. `state` is the registry's, while that is loaded.
    fn check_head(
        &mut self,
        state: &State,
        position: Position,
        head: Option<&Signed<Head>>,
    ) -> Result<(), SequencerError> {
        let invalid = self.damaged(position.sequence, "HEAD_INVALID");
        let Some(head) = head.filter(|head| head.document.head == position) else { return Err(invalid) };
        if let Some(keys) = &mut self.keys
            && !keys.reach(&head.document.registry)?
        {
            return Err(invalid);
        }
        let registry = self.keys.as_ref().map(|keys| &*keys.registry).or_else(|| state.registry());
        let at = head.document.registry.sequence;
        let key = registry.and_then(|registry| registry.desk_key(&head.proof.key, at).ok());
        if key.is_some_and(|key| head.verify(&key.public).is_ok()) { Ok(()) } else { Err(invalid) }
    }

    fn damaged(&self, sequence: Sequence, code: &'static str) -> SequencerError {
        SequencerError::Damaged { trace: self.trace, sequence, code }
    }
}

/// Returns the digest of an artifact's bytes; what is not known is in the store, if they are still there.
pub(super) fn digest(
    store: &dyn Store,
    trace: TraceId,
    known: &ArtifactDigests,
    at: Sequence,
) -> Result<Option<Digest>, StoreError> {
    if let Some(digest) = known.find(at) {
        return Ok(Some(*digest));
    }
    Ok(match store.events(trace, at, 1)?.pop().map(|stored| stored.artifact) {
        Some(Kept::Here(place)) => Some(*place.address.as_digest()),
        Some(Kept::Absent | Kept::Erased) | None => None,
    })
}

/// Returns whether a check on an artifact is true, if its bytes are there.
pub(super) fn evaluate(
    store: &dyn Store,
    trace: TraceId,
    known: &ArtifactDigests,
    (at, check): (Sequence, &CheckContent),
) -> Result<Option<bool>, StoreError> {
    let Some(digest) = digest(store, trace, known, at)? else { return Ok(None) };
    Ok(bytes(store, digest)?.map(|bytes| check::holds(check, &bytes)))
}

/// Returns the bytes with this digest, if they are there as they were kept.
pub(super) fn bytes(store: &dyn Store, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
    match store.artifact(&Address::from_digest(digest)) {
        // Of other bytes nothing is said here: whoever verifies finds them.
        Err(StoreError::Corrupt { .. }) => Ok(None),
        found => found,
    }
}

/// Returns the code of an event that does not follow.
const fn damage(error: &ApplyError) -> &'static str {
    match error {
        ApplyError::Guard(GuardError::Meaning(error)) => error.code(),
        ApplyError::Chain | ApplyError::Guard(_) | ApplyError::Registry(_) => "CHAIN_BREAK",
    }
}

/// Returns what the guards need of the content that is kept beside an event.
fn meaning(event: &Event, content: &Kept<Opening>) -> Option<Meaning> {
    let Kept::Here(opening) = content else { return None };
    Meaning::of_opening(event.said().ok()?.facts.event_type()?, opening)
}

/// How many events are read at once.
const EVENTS_PER_READ: usize = 1024;
