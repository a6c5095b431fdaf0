//! What is known of the bytes of recorded artifacts and reports: their digests, what reports say, and which programs inputs start.

use std::collections::BTreeMap;

use demur_core::hash::Digest;

use super::MeaningError;
use crate::{check, facts::VerificationStatus, name::Sequence};

/// The SHA-256 of the bytes of recorded artifacts, by the event that records each. Unsalted, so it stays where the bytes
/// themselves are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArtifactDigests {
    digests: Vec<(Sequence, Digest)>,
    /// What reports say, where their bytes were read: the status they bear, if they bear one.
    statuses: BTreeMap<Sequence, Option<VerificationStatus>>,
    /// The digests of the programs that inputs start, where their bytes were read and have the form of a call.
    programs: BTreeMap<Sequence, Digest>,
}

impl ArtifactDigests {
    /// Returns no digests.
    pub const fn new() -> Self {
        Self { digests: Vec::new(), statuses: BTreeMap::new(), programs: BTreeMap::new() }
    }

    /// Adds an artifact that was recorded after all the others.
    pub fn push(&mut self, artifact: Sequence, digest: Digest) {
        debug_assert!(
            self.digests.last().is_none_or(|(last, _)| *last < artifact),
            "artifacts come in order"
        );
        self.digests.push((artifact, digest));
    }

    /// Returns the digest of an artifact's bytes, where it is known.
    pub fn find(&self, artifact: Sequence) -> Option<&Digest> {
        let index = self.digests.binary_search_by_key(&artifact, |(at, _)| *at).ok()?;
        self.digests.get(index).map(|(_, digest)| digest)
    }

    /// Takes note of what a report says, by its bytes.
    pub fn read_report(&mut self, report: Sequence, bytes: &[u8]) {
        self.statuses.insert(report, check::status(bytes));
    }

    /// Takes note of the program that an input starts, by its digest.
    pub fn learn_program(&mut self, input: Sequence, program: Digest) {
        self.programs.insert(input, program);
    }

    /// Returns the digest of the program that an input starts, where that is known.
    pub(crate) fn program(&self, input: Sequence) -> Option<&Digest> {
        self.programs.get(&input)
    }

    /// Returns how this verdict contradicts a report, if it does and the bytes of the report were read.
    pub(crate) fn contradiction(&self, report: Sequence, found: VerificationStatus) -> Option<MeaningError> {
        let says = *self.statuses.get(&report)?;
        (says != Some(found)).then_some(MeaningError::ReportDiffers { report, says, found })
    }

    /// Forgets the oldest, as long as there are more than so many and they came before this event.
    pub fn keep_newest(&mut self, count: usize, before: Sequence) {
        let more = self.digests.len().saturating_sub(count);
        let older = self.digests.partition_point(|(at, _)| *at < before);
        self.digests.drain(..more.min(older));
    }

    /// Forgets what was recorded from this event on.
    pub fn forget_from(&mut self, event: Sequence) {
        self.digests.truncate(self.digests.partition_point(|(at, _)| *at < event));
        self.statuses.retain(|at, _| *at < event);
        self.programs.retain(|at, _| *at < event);
    }
}

impl FromIterator<(Sequence, Digest)> for ArtifactDigests {
    /// Takes artifacts in any order.
    fn from_iter<I: IntoIterator<Item = (Sequence, Digest)>>(artifacts: I) -> Self {
        let mut artifacts: Vec<_> = artifacts.into_iter().collect();
        artifacts.sort_unstable();
        artifacts.dedup_by_key(|(at, _)| *at);
        Self { digests: artifacts, ..Self::new() }
    }
}

impl IntoIterator for ArtifactDigests {
    type Item = (Sequence, Digest);
    type IntoIter = std::vec::IntoIter<(Sequence, Digest)>;

    fn into_iter(self) -> Self::IntoIter {
        self.digests.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use demur_core::hash::sha256;

    use super::*;

    #[test]
    fn artifacts_are_found_by_the_event_that_records_them() {
        let at = |number: u32| Sequence::from(number);
        let mut artifacts: ArtifactDigests =
            [(at(9), sha256(b"9")), (at(4), sha256(b"4"))].into_iter().collect();
        artifacts.push(at(12), sha256(b"12"));
        assert_eq!(artifacts.find(at(4)), Some(&sha256(b"4")));
        assert_eq!(artifacts.find(at(5)), None);
        artifacts.forget_from(at(12));
        artifacts.keep_newest(1, at(4));
        assert_eq!(artifacts.digests.len(), 2, "nothing came before event 4");
        artifacts.keep_newest(1, at(12));
        assert_eq!(artifacts.digests, [(at(9), sha256(b"9"))]);
    }
}
