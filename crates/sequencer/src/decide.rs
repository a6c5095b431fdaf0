//! From a command to its place in line, without a look at the store: decided against the pending state, folded into it, put;
//! and what can come of that.

use std::sync::Arc;

use demur_core::hash::Digest;
use demur_engine::{
    Decision, Reply,
    command::Command,
    context::{Context, Earlier},
    decide, snapshot,
};
use demur_ledger::{
    content::QuestionContent,
    entry::Entry,
    envelope::Event,
    meaning::{ArtifactDigests, Known},
    name::TraceId,
};
use demur_store::contract::{Performed, Snapshot, Swap, touched_confirmations, touched_questions};

use super::{
    SequencerError,
    at_hand::AtHand,
    commit::{CommitLeader, Slot, lock},
    head_document,
    queue::{HashLookup, Queue, States, Turn},
    read::read_performed,
    system::Draw,
    write::{Changes, Item, NewEvents, Waiting, Waits},
};

/// What somebody wants recorded.
pub(super) struct Wanted<'a> {
    pub(super) trace: TraceId,
    pub(super) command: &'a Command,
    /// What is known of what it became before.
    pub(super) past: &'a Past,
    /// The records that change with it.
    pub(super) swaps: &'a [Swap],
    pub(super) waits: Waits,
}

impl Wanted<'_> {
    /// Returns whether it begins a trace, and nothing speaks for the contrary.
    pub(super) fn opens(&self) -> bool {
        let opens = self.command.said().is_some_and(|said| said.statement().seen.is_none());
        opens && matches!(self.past, Past::Unknown)
    }
}

/// What came of deciding.
pub(super) enum DecisionStep {
    /// It waits for a commit.
    Queued(Queued),
    /// The desk crashed after the newest event; that is recorded first.
    Interrupted,
    /// The trace goes by a newer registry than the one known here, so another process wrote both.
    Behind,
    /// Whoever is in flight with this command decides it; the look afterwards finds the result.
    InFlight(Arc<Slot>),
    /// Nothing is to be recorded. The answer may speak of something that is not on the disk yet, such as who was first:
    /// whoever gets it hears of it when it is.
    Silent(Reply, Option<Arc<Slot>>),
    /// Decide again, or look the command up.
    Over(Attempt),
}

/// What waits for a commit.
pub(super) struct Queued {
    /// What the caller is told after it.
    pub(super) reply: Reply,
    pub(super) slot: Arc<Slot>,
    /// The lead, if nobody has it.
    pub(super) leader: Option<CommitLeader>,
    /// What was decided, for a caller who has more to say first.
    pub(super) events: Vec<Entry>,
}

/// What came of one attempt.
pub(super) enum Attempt {
    /// This is the answer, and what it speaks of is on the disk.
    Settled(Reply),
    /// Something changed in the meantime.
    Again,
    /// The command may have been recorded before.
    LookUp,
}

/// What is known of what a command became before. Nearly every command is new, so the store is asked only when
/// something speaks for the contrary: a refusal, or the store's own refusal to record it.
pub(super) enum Past {
    Unknown,
    Known(Option<Box<EarlierEvent>>),
}

impl Past {
    pub(super) fn earlier(&self) -> Option<Earlier<'_>> {
        match self {
            Self::Known(Some(event)) => Some(event.as_earlier()),
            Self::Known(None) | Self::Unknown => None,
        }
    }
}

/// The event that a command became before.
pub(super) struct EarlierEvent {
    trace: TraceId,
    event: Event,
}

impl EarlierEvent {
    pub(super) fn parse(performed: &Performed) -> Result<Self, SequencerError> {
        Ok(Self { trace: performed.trace, event: read_performed(performed)? })
    }

    fn as_earlier(&self) -> Earlier<'_> {
        Earlier {
            statement: self.event.statement_bytes().unwrap_or_default(),
            trace: self.trace,
            position: self.event.position(),
        }
    }
}

/// What a decision needs besides the state.
pub(super) struct LookedUp {
    /// The hash at the place that a statement has seen.
    pub(super) seen: Option<Digest>,
    /// The words of the question that is answered.
    pub(super) question: Option<Box<QuestionContent>>,
    /// The artifacts that a statement rests on.
    pub(super) artifacts: ArtifactDigests,
    /// Whether the check that is stated is true.
    pub(super) check: Option<bool>,
}

impl AtHand {
    /// Returns what the decision of a command needs, if nobody has to ask the store for it.
    pub(super) fn look_up(&self, states: &States, wanted: &Wanted<'_>) -> Option<LookedUp> {
        let seen = match seen_hash(states, wanted.command) {
            HashLookup::Here(hash) => Some(hash),
            HashLookup::Absent => None,
            HashLookup::Stored => return None,
        };
        let question = match wanted.command.answered() {
            Some(at) => Some(self.words.find(wanted.trace, at)?),
            None => None,
        };
        if wanted.command.looks_at_bytes(&states.pending) {
            // What they say only the store can tell.
            return None;
        }
        let artifacts = wanted.command.artifacts(&states.pending).into_iter();
        let artifacts = artifacts.map(|at| Some((at, *states.artifacts().find(at)?)));
        Some(LookedUp { seen, question, artifacts: artifacts.collect::<Option<_>>()?, check: None })
    }

    /// Decides with what is in memory, and puts what was decided in line. Where something has to be read first, and for
    /// whatever will not simply be recorded, there is none, and nothing has happened yet.
    pub(super) fn decide_at_once(
        &self,
        wanted: &Wanted<'_>,
        queue: &Arc<Queue>,
        turn: &mut Turn<'_>,
    ) -> Result<Option<Queued>, SequencerError> {
        // Whoever opens a trace has just drawn its id, so nothing of it has to be read. If it is there, the commit says so.
        let Some(states) = turn.at_hand(wanted.opens().then_some(wanted.trace)) else { return Ok(None) };
        // Whether the process that wrote last has crashed only the store can tell.
        let is_foreign = states.interrupted_by().is_some_and(|writer| writer != self.lease);
        let looked_up = if is_foreign { None } else { self.look_up(states, wanted) };
        let step = looked_up.map(|looked_up| self.decide(wanted, queue, states, looked_up)).transpose();
        if let Ok(Some(DecisionStep::Queued(queued))) = step {
            return Ok(Some(queued));
        }
        turn.forget_if_new();
        match step {
            Ok(_) | Err(SequencerError::NoDeskKey) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Decides, and puts what was decided in line. The caller has its turn in the queue.
    pub(super) fn decide(
        &self,
        wanted: &Wanted<'_>,
        queue: &Arc<Queue>,
        states: &mut States,
        looked_up: LookedUp,
    ) -> Result<DecisionStep, SequencerError> {
        let Wanted { command, past, swaps, waits, .. } = *wanted;
        let id = command.id();
        if let Some(slot) = id.and_then(|id| lock(&self.in_flight).get(&id).cloned()) {
            return Ok(DecisionStep::InFlight(slot));
        }
        let registry = self.registry();
        let LookedUp { seen, question, artifacts, check } = looked_up;
        let earlier = past.earlier();
        let context = Context { registry: &registry, seen, question, artifacts, check, earlier };
        let now = self.system.now();
        let Decision { events, reply } =
            decide(&states.pending, &context, command.clone(), now, &mut Draw(&*self.system));
        // A retry of something recorded is refused for many reasons before anybody knows that it is one.
        if matches!((&reply, past, id), (Reply::Refused(_), Past::Unknown, Some(_))) {
            return Ok(DecisionStep::Over(Attempt::LookUp));
        }
        if events.is_empty() {
            return Ok(DecisionStep::Silent(reply, states.newest.clone()));
        }
        let is_recorded = matches!(reply, Reply::Recorded(_));
        let (command, slot) = (id.filter(|_| is_recorded), Arc::default());
        let own = Some(Arc::clone(queue));
        let waiting = Waiting { queue: own, registry: None, command, slot: Arc::clone(&slot) };
        let Some((mut decided, waiting)) = fold(waiting, states, events, &context) else {
            queue.void();
            return Ok(DecisionStep::Behind);
        };
        // Somebody who is behind it already, or will be, signs the head for both.
        if !queue.is_followed() && waits != Waits::Later {
            decided.signed = Some(self.sign_head(decided.head.clone(), waiting.registry.as_deref())?);
        }
        let swaps = swaps.iter().filter(|swap| is_recorded || swap.is_absence()).cloned().collect();
        // From here on nothing fails, and before it is put nobody takes it out again.
        if let Some(id) = command {
            lock(&self.in_flight).insert(id, Arc::clone(&slot));
        }
        states.newest = Some(Arc::clone(&slot)).filter(|_| waits != Waits::Later);
        // Whoever has more to say goes by what was decided so far.
        let events = if waits == Waits::Later { decided.entries.clone() } else { Vec::new() };
        let changes = Changes { swaps, ..Changes::default() };
        let leader = self.commits.put(Item { events: Some(decided), changes, waits, waiting: vec![waiting] });
        Ok(DecisionStep::Queued(Queued { reply, slot, leader, events }))
    }
}

/// Returns what is known of the event at the place that a statement has seen.
pub(super) fn seen_hash(states: &States, command: &Command) -> HashLookup {
    let seen = command.said().and_then(|said| said.statement().seen);
    seen.map_or(HashLookup::Absent, |seen| states.hash(seen.sequence))
}

/// Folds decided events into the pending state and returns what is to be recorded; none if they do not follow,
/// because they were decided by an older registry than the trace has gone by already.
fn fold(
    mut waiting: Waiting,
    states: &mut States,
    entries: Vec<Entry>,
    context: &Context<'_>,
) -> Option<(NewEvents, Waiting)> {
    let (trace, expected) = (states.pending.tip().trace(), states.pending.tip().head());
    for entry in &entries {
        let known = Known { meaning: entry.meaning.as_ref(), artifacts: &context.artifacts };
        states.pending.apply(&entry.event, known).ok()?;
        states.remember(entry);
    }
    let pending = &states.pending;
    waiting.registry = pending.registry().map(|registry| Arc::new(registry.clone()));
    let head = pending.tip().head()?;
    let due = is_due(expected.map_or(0, |head| head.sequence.number()), head.sequence.number());
    let snapshot = if due { snapshot::to_bytes(pending) } else { None };
    let questions = pending.questions().map(|questions| touched_questions(&entries, questions));
    let confirmations = pending.confirmations().map(|asked| touched_confirmations(&entries, asked));
    let decided = NewEvents {
        trace,
        expected,
        entries,
        head: head_document(head, waiting.registry.as_deref().unwrap_or(context.registry), trace),
        signed: None,
        phase: pending.phase(),
        questions: questions.into_iter().flatten().collect(),
        confirmations: confirmations.into_iter().flatten().collect(),
        snapshot: snapshot.map(|bytes| Snapshot { head, version: snapshot::VERSION, bytes }),
    };
    Some((decided, waiting))
}

/// Whether a snapshot is due between two places of a trace.
const fn is_due(before: u64, after: u64) -> bool {
    before / SNAPSHOT_EVERY != after / SNAPSHOT_EVERY
}

/// How many events of a trace lie between two snapshots: reading so many is a small part of a restart.
const SNAPSHOT_EVERY: u64 = 4096;
