//! Two files side by side: the registries always, the traces where both are of one. A desk that signed two histories is
//! shown by the two files together; one that came back from a backup has said so, and its other history is abandoned.

use demur_core::hash::Digest;

use super::Report;
use crate::name::Sequence;

/// How two verified files stand to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// They agree wherever both have an event.
    Agree,
    /// They part, and no restoration explains it.
    Part(Parting),
    /// They part where a restoration of the store left a history behind.
    Abandoned(Abandonment),
    /// What was asked cannot be told.
    Incomparable(&'static str),
}

/// The first event that two files disagree about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parting {
    /// Whether it stands in the registry, or else in the trace.
    pub in_registry: bool,
    /// Its place.
    pub sequence: Sequence,
    /// What the first file has there.
    pub first: Digest,
    /// What the second file has there.
    pub second: Digest,
}

/// What a restoration left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abandonment {
    /// How many events of registry and trace only the first file has.
    pub only_first: u64,
    /// How many events of registry and trace only the second file has.
    pub only_second: u64,
}

/// Compares two files. Whether both hold is for the caller to look at.
pub fn compare(first: &Report, second: &Report) -> Compared {
    if first.scope.store != second.scope.store {
        return Compared::Incomparable("the two files are of different stores: there is nothing to compare");
    }
    let (Some(ours), Some(theirs)) = (first.registry(), second.registry()) else {
        return Compared::Incomparable("one of the two files has no registry that holds");
    };
    let registries = Sides { first: ours.hashes(), second: theirs.hashes() };
    let restored = match registries.parting() {
        Some(at) if ours.is_restoration(at) || theirs.is_restoration(at) => Some(at),
        Some(at) => return Compared::Part(registries.parted(at, true)),
        None => None,
    };
    let mut left = restored.map(|at| registries.from(at));
    if first.scope.trace == second.scope.trace {
        let traces = Sides { first: first.hashes(), second: second.hashes() };
        if traces.first.is_empty() || traces.second.is_empty() {
            return Compared::Incomparable("one of the two files has no event that could be read");
        }
        // In the export of a registry the trace is the registry.
        let is_registry = first.scope.trace == ours.trace();
        match traces.parting().filter(|_| !is_registry) {
            Some(at) if across_restoration(first, second, at, restored) => add(&mut left, traces.from(at)),
            Some(at) => return Compared::Part(traces.parted(at, false)),
            None if !is_registry => {
                let end = traces.first.len().min(traces.second.len());
                if is_cut(first, second, end) || is_cut(second, first, end) {
                    add(&mut left, traces.from(end));
                }
            }
            None => {}
        }
    }
    match left {
        Some(left) => Compared::Abandoned(left),
        None if first.scope.trace != second.scope.trace => Compared::Incomparable(
            "the two files are of different traces: their registries agree, and nothing else is in both",
        ),
        None => Compared::Agree,
    }
}

/// The hashes of two histories.
struct Sides<'a> {
    first: &'a [Digest],
    second: &'a [Digest],
}

impl Sides<'_> {
    fn parting(&self) -> Option<usize> {
        self.first.iter().zip(self.second).position(|(first, second)| first != second)
    }

    fn parted(&self, at: usize, in_registry: bool) -> Parting {
        let (first, second) = (self.first[at], self.second[at]);
        Parting { in_registry, sequence: Sequence::at(at), first, second }
    }

    /// Returns how much each has from a place on.
    fn from(&self, at: usize) -> Abandonment {
        let beyond = |side: &[Digest]| side.len().saturating_sub(at) as u64;
        Abandonment { only_first: beyond(self.first), only_second: beyond(self.second) }
    }
}

fn add(left: &mut Option<Abandonment>, more: Abandonment) {
    let before = left.unwrap_or(Abandonment { only_first: 0, only_second: 0 });
    *left = Some(Abandonment {
        only_first: before.only_first + more.only_first,
        only_second: before.only_second + more.only_second,
    });
}

/// Returns whether a restoration lies between what two files have at one place: they are of different epochs, or the
/// registries part at a restoration and both went on after it.
fn across_restoration(first: &Report, second: &Report, at: usize, parted: Option<usize>) -> bool {
    let epochs = [first, second].map(|report| report.epoch_of(Sequence::at(at)));
    let begun = |report: &Report| {
        let registry = report.registry()?;
        parted
            .filter(|parted| registry.is_restoration(*parted))
            .map(|parted| registry.epoch_at(Sequence::at(parted)))
    };
    let restored = [first, second].into_iter().filter_map(begun).min();
    epochs[0] != epochs[1] || restored.is_some_and(|epoch| epochs[0] >= epoch)
}

/// Returns whether a file that was made after a restoration lacks what another one has from before it.
fn is_cut(shorter: &Report, longer: &Report, end: usize) -> bool {
    let has_more = longer.hashes().len() > end && shorter.hashes().len() == end;
    has_more
        && shorter.registry().is_some_and(|registry| registry.epoch() > longer.epoch_of(Sequence::at(end)))
}
