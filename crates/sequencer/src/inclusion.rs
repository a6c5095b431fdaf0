//! What shows that a trace stood under a recorded root (`docs/format.md` 7 and 9).

use demur_core::merkle::{self, Scheme};
use demur_ledger::{
    name::{Position, Sequence, TraceId},
    registry::Registry,
    signed::Inclusion,
};
use demur_store::contract::Cursor;

use super::{
    Sequencer, SequencerError,
    registry::{leaf, leaves, moment_key},
};

impl Sequencer {
    /// Returns what shows where a trace stood under the newest roots of a registry, oldest first. What was recorded
    /// after `through` does not count.
    pub(super) fn inclusions(
        &self,
        trace: TraceId,
        through: Position,
        registry: &Registry,
    ) -> Result<Vec<Inclusion>, SequencerError> {
        let mut newest: Vec<Sequence> = registry.roots().rev().take(MAX_ROOTS).collect();
        newest.reverse();
        let inclusions = newest.into_iter().map(|root| self.inclusion(trace, registry, root));
        let within = |inclusion: &Inclusion| inclusion.leaf.length.as_u64() <= through.sequence.number() + 1;
        inclusions.filter_map(Result::transpose).filter(|found| found.as_ref().map_or(true, within)).collect()
    }

    fn inclusion(
        &self,
        trace: TraceId,
        registry: &Registry,
        recorded: Sequence,
    ) -> Result<Option<Inclusion>, SequencerError> {
        let kept = self.store.record(&moment_key(recorded)?)?;
        let Some(moment) = kept.and_then(|kept| kept.value.bytes.try_into().ok()).map(Cursor::from_bytes)
        else {
            return Ok(None);
        };
        let heads = self.store.heads_at(moment)?;
        let Ok(place) = heads.binary_search_by_key(&trace, |(trace, _)| *trace) else { return Ok(None) };
        let leaves = leaves(&heads)?;
        let root = merkle::root(Scheme::DEMUR, &leaves);
        // The record is no part of the ledger: what it says is held against what is recorded.
        if registry.root(recorded) != Some((root, leaves.len() as u64)) {
            return Ok(None);
        }
        let path = merkle::inclusion(Scheme::DEMUR, &leaves, place);
        let (Ok(index), Ok(path)) = ((place as u64).try_into(), path.try_into()) else { return Ok(None) };
        Ok(Some(Inclusion { index, leaf: leaf(trace, &heads[place].1), path, registry: recorded }))
    }
}

/// How many roots an export shows a trace under: each means reading the heads of all traces.
const MAX_ROOTS: usize = 8;
