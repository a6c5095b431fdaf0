//! What the desk itself says in the registry, signed with its key: revocations, retirements, checkpoints, a
//! restoration.

use std::sync::PoisonError;

use demur_core::{
    commitment::Salt,
    hash::Digest,
    key::Fingerprint,
    limit::Whole,
    merkle::{self, Scheme},
};
use demur_engine::command::{Command, Consequences};
use demur_ledger::{
    admission::Checked,
    author::Draft,
    content::NoteContent,
    event_type::{Content, Facts},
    facts::{CheckpointRecorded, KeyRevoked, RevocationReason, StoreRestored},
    name::{CommandId, Position, Sequence, TraceId},
    registry::Registry,
    role::Role,
    signed::TraceLeaf,
    statement::Submission,
};
use demur_store::contract::{Cursor, RESTORED, RecordKey, RecordValue, StoreError, Swap, Version};

use super::{Acknowledged, Draw, Sequencer, SequencerError, commit::lock, perform::ATTEMPTS};

impl Sequencer {
    /// Records what the desk says about a key.
    pub fn state(
        &self,
        facts: impl Into<Facts>,
        content: Option<Content>,
    ) -> Result<Acknowledged, SequencerError> {
        let _turn = lock(&self.registry_turn);
        let said = (facts.into(), content);
        self.state_in_turn(self.new_command(), move |_| Ok((said.clone(), Vec::new())))
    }

    /// Records what the desk says in the registry together with changes of records: all, or nothing.
    pub fn state_with(
        &self,
        facts: impl Into<Facts>,
        content: Option<Content>,
        swaps: &[Swap],
    ) -> Result<Acknowledged, SequencerError> {
        let _turn = lock(&self.registry_turn);
        let said = (facts.into(), content);
        self.state_in_turn(self.new_command(), move |_| Ok((said.clone(), swaps.to_vec())))
    }

    /// Records a statement to the registry, and in the same commit what the desk states beside it, with changes of records.
    pub fn submit_stated(
        &self,
        submission: Submission,
        facts: impl Into<Facts>,
        content: Option<Content>,
        swaps: &[Swap],
    ) -> Result<Acknowledged, SequencerError> {
        let said = self.check(submission)?;
        let (trace, seen) = (said.statement().trace, said.statement().seen);
        let _turn = lock(&self.registry_turn);
        self.pay_owed()?;
        let stated = self.desk_statement(self.new_command(), (facts.into(), content), seen)?;
        self.perform_with(trace, &Command::submit_stated(said, vec![stated]), swaps)
    }

    /// Revokes a key. The root fixes what every trace held at this moment.
    pub fn revoke(
        &self,
        key: Fingerprint,
        reason: RevocationReason,
        content: Content,
    ) -> Result<Acknowledged, SequencerError> {
        let _turn = lock(&self.registry_turn);
        self.state_root(self.new_command(), move |(root, traces)| {
            (KeyRevoked { key, reason, root, traces }.into(), Some(content.clone()))
        })
    }

    /// Records the set of all traces as of now.
    pub fn checkpoint(&self) -> Result<Acknowledged, SequencerError> {
        self.checkpoint_as(self.new_command())
    }

    /// Records the set of all traces as of now, once for each command id.
    pub(super) fn checkpoint_as(&self, command: CommandId) -> Result<Acknowledged, SequencerError> {
        let _turn = lock(&self.registry_turn);
        self.state_root(command, |(root, traces)| (CheckpointRecorded { root, traces }.into(), None))
    }

    /// Begins a new epoch in a store that came back from a backup, before anything else is recorded.
    pub(super) fn note_restoration(&self) -> Result<(), SequencerError> {
        let Some(mark) = self.store.record(&RecordKey::new(RESTORED)?)? else { return Ok(()) };
        match self.record_restored(&Swap { key: mark.key, was: mark.version, next: None }) {
            // Another process has.
            Err(SequencerError::RecordChanged) => Ok(()),
            recorded => recorded.map(drop),
        }
    }

    /// Records the checkpoint that must follow the end of passkeys, where it is missing: whoever ended them was killed, or is about to
    /// record it. The caller has the turn of the registry.
    pub(super) fn pay_owed(&self) -> Result<(), SequencerError> {
        if self.newest_registry()?.owes_checkpoint() { self.pay_checkpoint() } else { Ok(()) }
    }

    fn pay_checkpoint(&self) -> Result<(), SequencerError> {
        let said = |(root, traces)| (CheckpointRecorded { root, traces }.into(), None);
        self.state_root(self.new_command(), said).map(drop)
    }

    /// Records a restoration and takes the mark of it away, together: however this ends, it is recorded once.
    fn record_restored(&self, unmarked: &Swap) -> Result<Acknowledged, SequencerError> {
        // Unwrap safety: a short text that is not empty.
        let note = "the store came back from a backup".try_into().expect("a short text fits");
        let content = Content::StoreRestored(NoteContent { note });
        let _turn = lock(&self.registry_turn);
        self.state_in_turn(self.new_command(), |registry| {
            let next = registry.epoch() + 1;
            let epoch = next.try_into().map_err(|_| SequencerError::NotCreated)?;
            Ok(((StoreRestored { epoch }.into(), Some(content.clone())), vec![unmarked.clone()]))
        })
    }

    fn new_command(&self) -> CommandId {
        CommandId::new(self.at_hand.system.now(), &mut Draw(&*self.at_hand.system))
    }

    /// Records what `statement` works out from the registry, with changes of records, and works it out again if another
    /// process was first. Signed with the key of today, also where that changed elsewhere.
    fn state_in_turn(
        &self,
        command: CommandId,
        statement: impl Fn(&Registry) -> Result<(Said, Vec<Swap>), SequencerError>,
    ) -> Result<Acknowledged, SequencerError> {
        for _ in 0..ATTEMPTS {
            let registry = self.newest_registry()?;
            let stated = statement(&registry).and_then(|(said, swaps)| {
                if registry.owes_checkpoint() && !matches!(said.0, Facts::CheckpointRecorded(_)) {
                    self.pay_checkpoint()?;
                    return Err(SequencerError::Moved);
                }
                let signed = self.signed_by_desk(command, said, &registry)?;
                self.perform_with(registry.trace(), &signed, &swaps)
            });
            match stated {
                Err(SequencerError::Moved) => {}
                stated => return stated,
            }
        }
        Err(SequencerError::Contended)
    }

    /// Returns the command that records what the desk says about the registry as it is.
    fn signed_by_desk(
        &self,
        command: CommandId,
        said: Said,
        registry: &Registry,
    ) -> Result<Command, SequencerError> {
        let stated = self.desk_statement(command, said, Some(registry.head()))?;
        let rest = Consequences { after: Some(registry.head()), signing: None, sayings: Vec::new() };
        Ok(Command::submit(stated, None, rest))
    }

    /// Returns what the desk says in the registry, signed by the key of today.
    fn desk_statement(
        &self,
        command: CommandId,
        (facts, content): Said,
        seen: Option<Position>,
    ) -> Result<Checked, SequencerError> {
        let (system, registry) = (&*self.at_hand.system, self.registry());
        let draft = Draft {
            command,
            content,
            facts,
            not_after: system.now().plus_millis(STATEMENT_LIFETIME_MILLIS),
            role: Role::Desk,
            seen,
            store: Some(registry.store()),
            trace: registry.trace(),
        };
        let salt = Salt::draw(&mut Draw(system));
        let submission =
            draft.sign(&self.at_hand.desk.read().unwrap_or_else(PoisonError::into_inner), salt)?;
        self.check(submission)
    }

    /// Has the desk state something about the root over all traces, the registry that it follows included, and keeps with it
    /// which moment the root is of, so that exports can show what stood under it.
    fn state_root(
        &self,
        command: CommandId,
        statement: impl Fn(Root) -> Said,
    ) -> Result<Acknowledged, SequencerError> {
        self.state_in_turn(command, |registry| {
            let moment = self.store.end()?;
            let heads = self.store.heads_at(moment)?;
            if !heads.contains(&(registry.trace(), registry.head())) {
                return Err(SequencerError::Moved);
            }
            let leaves = leaves(&heads)?;
            let traces = (leaves.len() as u64).try_into().map_err(|_| SequencerError::NotCreated)?;
            let said = statement((merkle::root(Scheme::DEMUR, &leaves), traces));
            // It is recorded right behind the registry that it speaks of, or not at all.
            Ok((said, vec![moment_swap(registry.head().sequence.next(), moment)?]))
        })
    }
}

/// What the desk says.
type Said = (Facts, Option<Content>);

/// A root with the number of traces under it.
type Root = (Digest, Whole<1, 9_007_199_254_740_991>);

/// Returns the key of the record that says which moment a recorded root is of. Without it nothing can be shown to have
/// stood under the root, and nothing else is lost.
pub(super) fn moment_key(recorded: Sequence) -> Result<RecordKey, StoreError> {
    RecordKey::new(format!("root/{recorded}"))
}

fn moment_swap(recorded: Sequence, moment: Cursor) -> Result<Swap, StoreError> {
    let next = RecordValue { bytes: moment.as_bytes().to_vec(), expires: None };
    Ok(Swap { key: moment_key(recorded)?, was: Version::ABSENT, next: Some(next) })
}

/// Returns the leaf hashes of the tree over all traces.
pub(super) fn leaves(heads: &[(TraceId, Position)]) -> Result<Vec<Digest>, SequencerError> {
    heads.iter().map(|(trace, head)| Ok(leaf(*trace, head).hash()?)).collect()
}

/// Returns a trace as a leaf.
pub(super) fn leaf(trace: TraceId, head: &Position) -> TraceLeaf {
    // Unwrap safety: a sequence is below 2^53-1, so the length fits and is at least 1.
    let length = head.sequence.next().number().try_into().expect("a length fits");
    TraceLeaf { head: head.hash, length, trace }
}

/// How long the desk's own statements are good for, in milliseconds.
const STATEMENT_LIFETIME_MILLIS: u64 = 60_000;

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    };

    use demur_core::{
        key::SecretKey,
        random::{Random as _, Seeded},
        time::Timestamp,
    };
    use demur_store::memory::MemoryStore;

    use super::*;
    use crate::System;

    /// A clock that stands still.
    #[derive(Default)]
    struct Still(AtomicU64);

    impl System for Still {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(1_800_000_000_000).unwrap()
        }

        fn fill(&self, bytes: &mut [u8]) {
            Seeded::from_number(self.0.fetch_add(1, Ordering::Relaxed)).fill(bytes);
        }
    }

    /// Nobody would ever take it out again.
    #[test]
    fn command_whose_head_cannot_be_signed_is_not_in_flight() {
        let [key, other] = [2, 3].map(|seed| SecretKey::generate(&mut Seeded::from_number(seed)));
        let store = Arc::new(MemoryStore::new());
        let sequencer = Sequencer::create(store, key, "desk", Box::<Still>::default()).unwrap();
        let registry = sequencer.registry();
        let root = merkle::root(Scheme::DEMUR, &leaves(&[(registry.trace(), registry.head())]).unwrap());
        let said = (CheckpointRecorded { root, traces: 1.try_into().unwrap() }.into(), None);
        let command = sequencer.signed_by_desk(sequencer.new_command(), said, &registry).unwrap();
        let own = std::mem::replace(&mut *sequencer.at_hand.desk.write().unwrap(), other);
        let refused = sequencer.perform(registry.trace(), &command);
        assert!(matches!(refused, Err(SequencerError::NoDeskKey)), "{refused:?}");
        assert!(lock(&sequencer.at_hand.in_flight).is_empty());
        // It counts once the key is back.
        *sequencer.at_hand.desk.write().unwrap() = own;
        sequencer.perform(registry.trace(), &command).unwrap();
    }
}
