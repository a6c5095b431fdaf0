//! The state of one trace: its end, what is open in it, and how often refusals were recorded lately. Folded from
//! events by [`State::apply`], which uses the same rules as the verifier.

use std::collections::BTreeMap;

use demur_core::time::Timestamp;
use demur_ledger::{
    chain::Tip,
    confirmation::Confirmations,
    envelope::Event,
    event_type::{Facts, TraceKind, TypeName},
    meaning::Known,
    name::{PrincipalId, Sequence, TraceId},
    question::Questions,
    registry::{Registry, RegistryError},
    state::{GuardError, Phase, State as RunState},
    trace_state::{TraceState, Work},
};
use serde::{Deserialize, Serialize};

/// A trace as decisions see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    tip: Tip,
    /// The newest registry event that an event of this trace went by.
    pinned: Option<Sequence>,
    body: Body,
    refusals: Refusals,
    failed: bool,
}

/// What kind of trace it is, and what is open in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// The store's registry.
    Registry(Box<Registry>),
    /// A run or a piece of work; or nothing has opened it yet.
    Trace(TraceState),
}

impl State {
    /// Returns the state of a trace that nothing has opened yet.
    pub const fn new(trace: TraceId) -> Self {
        Self {
            tip: Tip::new(trace),
            pinned: None,
            body: Body::Trace(TraceState::New),
            refusals: Refusals::new(),
            failed: false,
        }
    }

    /// Returns the state right after this event.
    pub(crate) fn from_parts(newest: &Event, trace: TraceState, refusals: Refusals) -> Self {
        let (tip, pinned) = (Tip::after(newest), pin(newest));
        Self { tip, pinned, body: Body::Trace(trace), refusals, failed: false }
    }

    /// Returns the end of the trace.
    pub const fn tip(&self) -> &Tip {
        &self.tip
    }

    /// Returns what is open.
    pub const fn body(&self) -> &Body {
        &self.body
    }

    /// Returns the run, if it is one.
    pub fn run(&self) -> Option<&RunState> {
        self.trace()?.run()
    }

    /// Returns the work, if it is that.
    pub fn work(&self) -> Option<&Work> {
        self.trace()?.work()
    }

    /// Returns the questions of a run or of work.
    pub fn questions(&self) -> Option<&Questions> {
        self.trace()?.questions()
    }

    /// Returns the confirmations of a run or of work.
    pub fn confirmations(&self) -> Option<&Confirmations> {
        self.trace()?.confirmations()
    }

    /// Returns what is open in a trace that is not the registry.
    pub const fn trace(&self) -> Option<&TraceState> {
        match &self.body {
            Body::Trace(trace) => Some(trace),
            Body::Registry(_) => None,
        }
    }

    /// Returns the registry, if it is that.
    pub fn registry(&self) -> Option<&Registry> {
        match &self.body {
            Body::Registry(registry) => Some(registry),
            Body::Trace(_) => None,
        }
    }

    /// Returns where the run stands, if it is one.
    pub fn phase(&self) -> Option<Phase> {
        self.run().map(RunState::phase)
    }

    /// Returns whether an integrity check failed.
    pub const fn is_failed(&self) -> bool {
        self.failed
    }

    /// Stops all progress after an integrity violation was found in the store (LED-18).
    pub const fn mark_failed(&mut self) {
        self.failed = true;
    }

    pub(crate) const fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Folds the next event in. On an error nothing has changed.
    pub fn apply(&mut self, event: &Event, known: Known<'_>) -> Result<(), ApplyError> {
        let envelope = event.envelope();
        let previous = self.tip.head().map(|head| head.hash);
        let chained = envelope.trace == self.tip.trace()
            && envelope.sequence == self.tip.next()
            && envelope.previous == previous
            && envelope.time >= self.tip.time()
            // Otherwise a key could speak again by an older registry.
            && pin(event) >= self.pinned;
        if !chained {
            return Err(ApplyError::Chain);
        }
        let said = event.agree().map_err(GuardError::Shape)?;
        match &mut self.body {
            Body::Registry(registry) => registry.apply(event)?,
            Body::Trace(TraceState::New) if opens_registry(said.kind) => {
                self.body = Body::Registry(Box::new(Registry::open(event)?));
            }
            Body::Trace(trace) => trace.apply(event, known)?,
        }
        if let Facts::CommandRefused(facts) = said.facts {
            self.refusals.count(facts.principal, envelope.time);
        }
        self.tip = Tip::after(event);
        self.pinned = pin(event);
        Ok(())
    }
}

fn pin(event: &Event) -> Option<Sequence> {
    event.envelope().registry.map(|position| position.sequence)
}

fn opens_registry(kind: &TypeName) -> bool {
    matches!(kind, TypeName::Known(kind) if kind.stands_in(TraceKind::Registry))
}

/// An event that does not follow.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// It is not chained to the event before it.
    #[error("the event does not follow the one before it")]
    Chain,
    /// A guard says no.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// The registry says no.
    #[error(transparent)]
    Registry(#[from] RegistryError),
}

/// How many refusals were recorded per participant in the current minute. Bounded by those who take part;
/// folded from the events themselves, so that it is the same after a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusals {
    recent: BTreeMap<PrincipalId, (Timestamp, u32)>,
}

impl Refusals {
    const fn new() -> Self {
        Self { recent: BTreeMap::new() }
    }

    /// Returns whether one more may be recorded now; others are answered and not recorded.
    pub(crate) fn allows(&self, principal: PrincipalId, now: Timestamp) -> bool {
        self.recent.get(&principal).is_none_or(|(since, count)| is_over(*since, now) || *count < PER_MINUTE)
    }

    fn count(&mut self, principal: PrincipalId, now: Timestamp) {
        let (since, count) = self.recent.entry(principal).or_insert((now, 0));
        if is_over(*since, now) {
            (*since, *count) = (now, 0);
        }
        *count += 1;
    }
}

fn is_over(since: Timestamp, now: Timestamp) -> bool {
    now.as_millis().saturating_sub(since.as_millis()) >= MINUTE
}

const MINUTE: u64 = 60_000;

/// How many refusals of one participant are recorded per minute and trace.
const PER_MINUTE: u32 = 8;
