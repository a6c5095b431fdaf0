//! What shows that a trace stood under a recorded root (`docs/format.md` 7 and 9).

use demur_core::{
    hash::Digest,
    merkle::{self, Scheme, WholeTree},
};
use demur_ledger::{
    name::{Position, Sequence, TraceId},
    registry::Registry,
    signed::{Inclusion, Signed, StoreRoot},
};
use demur_store::contract::{Cursor, Store};

use super::{
    Sequencer, SequencerError,
    registry::{leaf, leaves, moment_key},
};

/// The newest roots of a registry with the trees under them, oldest first: read once for the exports of many traces.
#[derive(Debug, Default)]
pub struct RootTrees(Vec<RootTree>);

/// A recorded root.
#[derive(Debug)]
struct RootTree {
    recorded: Sequence,
    /// The newest event of each trace when the root was recorded, by trace.
    heads: Vec<(TraceId, Position)>,
    tree: WholeTree,
}

/// A recorded root that the traces of the store do not have, or of which nobody knows when it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootMismatch {
    /// The registry event that recorded it.
    pub recorded: Sequence,
    /// How many traces it was recorded over.
    pub traces: u64,
    /// How many the store has of that moment; none where the moment is not known.
    pub found: Option<u64>,
}

impl Sequencer {
    /// Recomputes every root that the registry records from the traces in the store; returns those that differ. A trace that
    /// was taken away, cut or added to what was recorded then changes the root.
    pub fn check_roots(&self) -> Result<Vec<RootMismatch>, SequencerError> {
        let registry = self.newest_registry()?;
        let mut wrong = Vec::new();
        for recorded in registry.roots() {
            let traces = registry.root(recorded).map_or(0, |(_, traces)| traces);
            match self.heads_under(recorded)? {
                Some(heads) => {
                    let found = Some(heads.len() as u64);
                    if RootTree::new(&registry, recorded, heads)?.is_none() {
                        wrong.push(RootMismatch { recorded, traces, found });
                    }
                }
                None => wrong.push(RootMismatch { recorded, traces, found: None }),
            }
        }
        Ok(wrong)
    }

    /// Returns the root over all traces as of now, signed.
    #[expect(clippy::missing_panics_doc, reason = "a moment as text always fits")]
    pub fn store_root(&self) -> Result<Signed<StoreRoot>, SequencerError> {
        let moment = self.store.end()?;
        let (root, traces) = root_at(&*self.store, moment)?;
        // After the moment, so that it is no older than what stands under the root.
        let registry = self.newest_registry()?;
        let position = registry.head();
        let document = StoreRoot {
            epoch: registry.epoch_at(position.sequence),
            // Unwrap safety: 16 bytes as hexadecimal digits.
            moment: moment.to_string().try_into().expect("a cursor fits"),
            registry: position,
            root,
            store: registry.store(),
            time: self.at_hand.system.now(),
            traces: traces.try_into().map_err(|_| SequencerError::NotCreated)?,
        };
        self.at_hand.sign(document, &registry, position.sequence)
    }

    /// Returns the newest roots with their trees, for the exports of many traces: as many as an export shows a trace under,
    /// or fewer where a store has so many traces that their trees would take too much memory.
    pub fn root_trees(&self) -> Result<RootTrees, SequencerError> {
        let registry = self.newest_registry()?;
        let mut trees = Vec::new();
        let mut traces = 0;
        for recorded in registry.roots().rev().take(MAX_ROOTS) {
            let Some(heads) = self.heads_under(recorded)? else { continue };
            traces += heads.len();
            if traces > MAX_KEPT_TRACES && !trees.is_empty() {
                break;
            }
            trees.extend(RootTree::new(&registry, recorded, heads)?);
        }
        trees.reverse();
        Ok(RootTrees(trees))
    }

    /// Returns the newest roots that a trace stood under, with their trees.
    pub(super) fn root_trees_over(
        &self,
        trace: TraceId,
        registry: &Registry,
    ) -> Result<RootTrees, SequencerError> {
        let mut trees = Vec::new();
        for recorded in registry.roots().rev().take(MAX_ROOTS) {
            let Some(heads) = self.heads_under(recorded)? else { continue };
            if heads.binary_search_by_key(&trace, |(trace, _)| *trace).is_ok() {
                trees.extend(RootTree::new(registry, recorded, heads)?);
            }
        }
        trees.reverse();
        Ok(RootTrees(trees))
    }

    /// Returns the newest event of each trace when a root was recorded, where that is known.
    fn heads_under(&self, recorded: Sequence) -> Result<Option<Vec<(TraceId, Position)>>, SequencerError> {
        let kept = self.store.record(&moment_key(recorded)?)?;
        let moment = kept.and_then(|kept| kept.value.bytes.try_into().ok()).map(Cursor::from_bytes);
        Ok(moment.map(|moment| self.store.heads_at(moment)).transpose()?)
    }
}

/// Returns the root over all traces of a store as of a moment, and how many they are.
pub fn root_at(store: &dyn Store, moment: Cursor) -> Result<(Digest, u64), SequencerError> {
    let leaves = leaves(&store.heads_at(moment)?)?;
    Ok((merkle::root(Scheme::DEMUR, &leaves), leaves.len() as u64))
}

impl RootTrees {
    /// Returns what shows where a trace stood under these roots. What was recorded after `through` does not count.
    pub(super) fn inclusions(
        &self,
        trace: TraceId,
        through: Position,
    ) -> impl Iterator<Item = Inclusion> + '_ {
        let within =
            move |inclusion: &Inclusion| inclusion.leaf.length.as_u64() <= through.sequence.number() + 1;
        self.0.iter().filter_map(move |root| root.inclusion(trace)).filter(within)
    }
}

impl RootTree {
    /// Returns the tree over these heads; none where it does not have the root that is recorded. The record of its moment is no
    /// part of the ledger: what it says is held against what is recorded.
    fn new(
        registry: &Registry,
        recorded: Sequence,
        heads: Vec<(TraceId, Position)>,
    ) -> Result<Option<Self>, SequencerError> {
        let tree = WholeTree::new(Scheme::DEMUR, leaves(&heads)?);
        let holds = registry.root(recorded) == Some((tree.root(), heads.len() as u64));
        Ok(holds.then_some(Self { recorded, heads, tree }))
    }

    fn inclusion(&self, trace: TraceId) -> Option<Inclusion> {
        let place = self.heads.binary_search_by_key(&trace, |(trace, _)| *trace).ok()?;
        let (index, path) = ((place as u64).try_into().ok()?, self.tree.inclusion(place).try_into().ok()?);
        Some(Inclusion { index, leaf: leaf(trace, &self.heads[place].1), path, registry: self.recorded })
    }
}

/// How many roots an export shows a trace under: each means reading the heads of all traces.
const MAX_ROOTS: usize = 8;
/// How many traces the kept trees have together; each takes some 120 bytes.
const MAX_KEPT_TRACES: usize = 1 << 21;
