//! From a command to its event, on a thread that waits: checked, decided with what has to be read first, waited for.

use std::sync::Arc;

use demur_engine::{
    Reply,
    command::{self, Command, Consequences},
    refusal::RuleRefusal,
    state::State,
};
use demur_ledger::{
    admission::Checked,
    author::Artifact,
    content::NoteContent,
    meaning::{self, ArtifactDigests},
    name::TraceId,
    registry::Registry,
    statement::Submission,
};
use demur_store::contract::{Conflict, Kept, StoreError, Swap};

use super::{
    Acknowledged, Sequencer, SequencerError,
    commit::{Ending, Slot, lock},
    decide::{self, Attempt, DecisionStep, EarlierEvent, LookedUp, Past, Queued, Wanted},
    load::{self, Keys, Loaded},
    queue::{HashLookup, States},
    write::Waits,
};

impl Sequencer {
    /// Returns what an author said, once its signature holds.
    pub(super) fn check(&self, submission: Submission) -> Result<Checked, SequencerError> {
        // It may have been registered elsewhere.
        let (key, registry) = (submission.proof.key(), self.registry());
        if registry.public_key(&key).is_none() && registry.passkey(&key).is_none() {
            self.newest_registry()?;
        }
        let said = Checked::new(submission, Some(&self.registry())).map_err(RuleRefusal::from);
        Ok(said.inspect_err(|_| self.at_hand.counters.count_refusal())?)
    }

    /// Returns the command that records what an author said, once its artifact is kept.
    pub(super) fn submission(
        &self,
        said: Checked,
        artifact: Option<&Artifact>,
        rest: Consequences,
    ) -> Result<Command, SequencerError> {
        let command = Command::submit(said, artifact, rest);
        if let (Command::Submit { artifact: Ok(Some(_)), .. }, Some(artifact)) = (&command, artifact) {
            self.store.put_artifact(&artifact.bytes)?;
        }
        Ok(command)
    }

    /// Decides a command until its event is recorded, or it is refused. When this returns, the event is on the disk. Commands of the registry
    /// take turns and go through [`Self::submit`].
    pub fn perform(&self, trace: TraceId, command: &Command) -> Result<Acknowledged, SequencerError> {
        self.perform_with(trace, command, &[])
    }

    /// Performs a command that changes records too: they change with its event or not at all, and not with a refusal that is
    /// recorded in its place; an absence that is asked for holds for both. A record that is not what it was ends it with
    /// [`SequencerError::RecordChanged`].
    pub fn perform_with(
        &self,
        trace: TraceId,
        command: &Command,
        swaps: &[Swap],
    ) -> Result<Acknowledged, SequencerError> {
        let _in_line = self.at_hand.counters.stand_in_line();
        let mut past = Past::Unknown;
        for _ in 0..ATTEMPTS {
            let wanted = Wanted { trace, command, past: &past, swaps, waits: Waits::OnAThread };
            match self.attempt(&wanted)? {
                Attempt::Settled(Reply::Recorded(position)) => {
                    return Ok(Acknowledged { trace, position, repeated: false });
                }
                Attempt::Settled(Reply::Repeated { trace, position }) => {
                    return Ok(Acknowledged { trace, position, repeated: true });
                }
                Attempt::Settled(Reply::Refused(refusal)) => {
                    self.at_hand.counters.count_refusal();
                    return Err(refusal.into());
                }
                Attempt::Settled(Reply::Moved) => return Err(SequencerError::Moved),
                Attempt::LookUp => past = Past::Known(self.earlier(command)?.map(Box::new)),
                Attempt::Again => {}
            }
        }
        Err(SequencerError::Contended)
    }

    /// Returns what a command became before.
    pub(super) fn earlier(&self, command: &Command) -> Result<Option<EarlierEvent>, SequencerError> {
        let Some((key, command)) = command.id() else { return Ok(None) };
        self.store.command(&key, command)?.as_ref().map(EarlierEvent::parse).transpose()
    }

    fn attempt(&self, wanted: &Wanted<'_>) -> Result<Attempt, SequencerError> {
        let Queued { reply, slot, leader, .. } = match self.enqueue(wanted) {
            Ok(DecisionStep::Queued(queued)) => queued,
            Ok(step) => return self.settle(wanted, step),
            // The desk's key changed after this was decided.
            Err(SequencerError::NoDeskKey) if self.at_hand.has_key() => return Ok(Attempt::Again),
            Err(error) => return Err(error),
        };
        match self.at_hand.commits.wait(&slot, leader, &|items| self.write(items)) {
            Ending::Done => Ok(Attempt::Settled(reply)),
            Ending::Conflict(Conflict::Registry) => self.refresh().map(|_| Attempt::Again),
            Ending::Conflict(Conflict::Command) => Ok(Attempt::LookUp),
            Ending::Conflict(Conflict::Record | Conflict::Post) => Err(SequencerError::RecordChanged),
            Ending::Conflict(Conflict::Lease) => Err(SequencerError::LeaseLost),
            Ending::Conflict(Conflict::Head | Conflict::Artifact) => Ok(Attempt::Again),
            Ending::Failed(error) => Err(SequencerError::Commit(error)),
            Ending::Uncertain => Err(SequencerError::Uncertain),
        }
    }

    /// Waits for what a step without a commit of its own depends on.
    pub(super) fn settle(&self, wanted: &Wanted<'_>, step: DecisionStep) -> Result<Attempt, SequencerError> {
        match step {
            DecisionStep::Queued(queued) => Ok(Attempt::Settled(queued.reply)),
            DecisionStep::Interrupted => self.recover(wanted.trace).map(|()| Attempt::Again),
            DecisionStep::Behind => self.refresh().map(|_| Attempt::Again),
            DecisionStep::InFlight(slot) => {
                self.watch(&slot);
                self.forget(wanted.command, &slot);
                Ok(Attempt::LookUp)
            }
            DecisionStep::Silent(reply, newest) => match newest.map(|slot| self.watch(&slot)) {
                None | Some(Ending::Done) => Ok(Attempt::Settled(reply)),
                // What it speaks of never got there.
                Some(_) => Ok(Attempt::Again),
            },
            DecisionStep::Over(attempt) => Ok(attempt),
        }
    }

    fn watch(&self, slot: &Slot) -> Ending {
        self.at_hand.commits.watch(slot, &|items| self.write(items))
    }

    /// Forgets a command in flight that has ended: a caller that panicked has left it there.
    fn forget(&self, command: &Command, slot: &Arc<Slot>) {
        let mut in_flight = lock(&self.at_hand.in_flight);
        if let Some(id) = command.id()
            && in_flight.get(&id).is_some_and(|now| Arc::ptr_eq(now, slot))
        {
            in_flight.remove(&id);
        }
    }

    /// Records that the desk came back to a trace after a crash.
    pub(super) fn recover(&self, trace: TraceId) -> Result<(), SequencerError> {
        // Unwrap safety: a short text that is not empty.
        let note = RECOVERED.try_into().expect("a short text fits");
        let command = &Command::Recover(NoteContent { note });
        let wanted = Wanted { trace, command, past: &Past::Unknown, swaps: &[], waits: Waits::OnAThread };
        self.attempt(&wanted).map(|_| ())
    }

    /// Returns whether the newest event of a run was written by a process that crashed, or slept for too long: what it was
    /// about to do then nobody knows (LED-22).
    pub(super) fn is_interrupted(&self, states: &States) -> Result<bool, StoreError> {
        let Some(writer) = states.interrupted_by().filter(|writer| *writer != self.at_hand.lease) else {
            return Ok(false);
        };
        // A lease that ended in good order is not in the list.
        Ok(self.store.leases()?.iter().any(|lease| lease.id == writer && !lease.lives))
    }

    /// Decides a command, and puts its events in line while nobody else decides in this trace. Others can wait for a caller who
    /// waits for its own commit.
    pub(super) fn enqueue(&self, wanted: &Wanted<'_>) -> Result<DecisionStep, SequencerError> {
        let queue = self.at_hand.queues.of(wanted.trace);
        let mut turn = queue.enter();
        if wanted.opens()
            && let Some(queued) = self.at_hand.decide_at_once(wanted, &queue, &mut turn)?
        {
            return Ok(DecisionStep::Queued(queued));
        }
        let states = turn.states(|known| self.load(wanted.trace, known))?;
        match (self.is_interrupted(states)?, wanted.command) {
            (true, Command::Recover(_))
            | (false, Command::Submit { .. } | Command::Abort(..) | Command::Record { .. }) => {}
            (true, _) => return Ok(DecisionStep::Interrupted),
            // Another caller has recorded it.
            (false, Command::Recover(_)) => return Ok(DecisionStep::Over(Attempt::Again)),
        }
        let looked_up = match self.at_hand.look_up(states, wanted) {
            Some(looked_up) => looked_up,
            None => self.look_up(states, wanted)?,
        };
        let step = self.at_hand.decide(wanted, &queue, states, looked_up)?;
        // No commit checks a reply without events. Where others write too, it may be wrong by now.
        if matches!(step, DecisionStep::Silent(Reply::Refused(_) | Reply::Moved, _))
            && self.store.is_shared()
            && self.store.trace(wanted.trace)?.map(|summary| summary.head) != states.recorded()
        {
            queue.void();
            return Ok(DecisionStep::Over(Attempt::Again));
        }
        Ok(step)
    }

    /// Returns what the decision of a command needs. A question that is answered was seen, so it is on the disk.
    fn look_up(&self, states: &States, wanted: &Wanted<'_>) -> Result<LookedUp, StoreError> {
        let Wanted { trace, command, .. } = *wanted;
        let seen = match (decide::seen_hash(states, command), command) {
            (HashLookup::Here(hash), _) => Some(hash),
            (HashLookup::Stored, Command::Submit { said, .. }) => match said.statement().seen {
                Some(seen) => self.store.hash(trace, seen.sequence)?,
                None => None,
            },
            (HashLookup::Stored | HashLookup::Absent, _) => None,
        };
        let asked = match command.answered() {
            Some(at) => self.store.events(trace, at, 1)?.pop(),
            None => None,
        };
        let question = asked.and_then(|stored| match stored.content {
            Kept::Here(opening) => command::question(&opening.bytes),
            Kept::Absent | Kept::Erased => None,
        });
        let artifacts = self.look_up_artifacts(states, trace, command)?;
        let check = match command.check() {
            Some(check) => load::evaluate(&*self.store, trace, states.artifacts(), check)?,
            None => None,
        };
        Ok(LookedUp { seen, question, artifacts, check })
    }

    /// Returns the bytes that a command rests on, by digest. Those that are not remembered are on the disk.
    fn look_up_artifacts(
        &self,
        states: &States,
        trace: TraceId,
        command: &Command,
    ) -> Result<ArtifactDigests, StoreError> {
        let mut found = Vec::new();
        for at in command.artifacts(&states.pending) {
            let digest = load::digest(&*self.store, trace, states.artifacts(), at)?;
            found.extend(digest.map(|digest| (at, digest)));
        }
        let mut artifacts: ArtifactDigests = found.iter().copied().collect();
        let named = command.report().and_then(|named| found.iter().find(|(_, digest)| digest == named));
        if let Some((at, digest)) = named
            && let Some(bytes) = load::bytes(&*self.store, *digest)?
        {
            artifacts.read_report(*at, &bytes);
        }
        let input = command.input(&states.pending);
        if let Some((at, digest)) = found.iter().find(|(at, _)| Some(*at) == input)
            && let Some(bytes) = load::bytes(&*self.store, *digest)?
            && let Some(program) = meaning::program(&bytes)
        {
            artifacts.learn_program(*at, program);
        }
        Ok(artifacts)
    }

    pub(super) fn keys<'a>(
        &self,
        refresh: &'a dyn Fn() -> Result<Arc<Registry>, SequencerError>,
    ) -> Keys<'a> {
        Keys { registry: self.registry(), refresh }
    }

    /// Reads a trace, from its known state on.
    pub(super) fn load(&self, trace: TraceId, known: Option<State>) -> Result<Loaded, SequencerError> {
        if trace == self.registry().trace() {
            return load::load_registry(&*self.store, known);
        }
        load::load(&*self.store, trace, known, &self.keys(&|| self.refresh()))
    }
}

/// What the desk remarks when it comes back.
const RECOVERED: &str = "the desk came back after a crash; the trace is whole up to this event";

/// How often others may come first before a caller is told to try later.
pub(super) const ATTEMPTS: usize = 64;
