//! Marks against the ledger: which questions stop an asker, for whom marks are kept, and that each has its mark.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, ErrorKind},
    sync::atomic::Ordering,
};

use demur_api::{
    question::{QuestionId, QuestionView},
    refusal::Refusal,
};
use demur_ledger::{
    facts::Severity,
    name::{PrincipalId, Sequence, TraceId},
    question::OutcomeKind,
};
use demur_store::contract::{QuestionFilter, QuestionSummary, Store};

use super::{HOOKED, Marks, OPEN, is_of, parse};
use crate::{
    durable, error,
    owner::Owner,
    pages::{self, ENTRIES_PER_READ},
    question::view,
    record, run,
};

/// Keeps marks for these askers from now on, or no longer. Returns the questions that stop them, the oldest first.
pub fn name(owner: &Owner, names: &[&str], on: bool) -> Result<Vec<QuestionView>, Refusal> {
    let marks = owner.marks();
    let _turn = marks.turn();
    {
        let mut kept = marks.kept();
        for name in names {
            if on {
                kept.askers.insert((*name).to_owned())
            } else {
                kept.askers.remove(*name)
            };
        }
    }
    if !on {
        // No mark is made any more for them: until the list is written anew, every hook asks.
        marks.give_up();
    }
    let found = put_right(owner)?;
    let key_directory = owner.key_directory()?;
    let stops =
        |stopped: &&Stopping| on && names.iter().any(|name| is_of(key_directory.name(stopped.asker), name));
    found.iter().filter(stops).map(|stopping| view(owner, stopping.id)).collect()
}

/// Writes for whom marks are kept, unless it is written already.
fn write(marks: &Marks, askers: &BTreeSet<String>) -> io::Result<()> {
    let written = fs::read(marks.folder.join(HOOKED)).map(|bytes| parse(&bytes)).unwrap_or_default();
    let open = marks.folder.join(OPEN);
    if written == *askers && (askers.is_empty() || open.is_dir()) {
        return Ok(());
    }
    durable::create_folder(&open)?;
    let list = serde_json::to_vec(askers).map_err(io::Error::other)?;
    durable::replace(&marks.folder.join(HOOKED), &list)
}

/// Gives every question that blocks its mark, and takes away what marks nothing.
pub fn tidy(owner: &Owner) -> Result<(), Refusal> {
    let marks = owner.marks();
    let _turn = marks.turn();
    let is_empty = marks.kept().askers.is_empty();
    if is_empty { Ok(()) } else { put_right(owner).map(drop) }
}

/// A question that stops somebody.
struct Stopping {
    id: QuestionId,
    asker: PrincipalId,
}

/// Puts the marks and the list right, and returns what stops the askers. Whoever calls has the turn. Whoever records waits for the few
/// files that change, not for the look into the ledger.
fn put_right(owner: &Owner) -> Result<Vec<Stopping>, Refusal> {
    let marks = owner.marks();
    let (askers, made) = {
        let kept = marks.kept();
        marks.missed.store(false, Ordering::Relaxed);
        (kept.askers.clone(), marks.made.load(Ordering::Relaxed))
    };
    if owner.sequencer().store().is_shared() {
        // One of the askers may have been registered elsewhere.
        owner.sequencer().newest_registry()?;
    }
    let key_directory = owner.key_directory()?;
    let desk = key_directory.registry().desk();
    let foreign = |name: &str| !askers.iter().any(|asker| is_of(name, asker));
    let others =
        key_directory.names().iter().filter(|(_, name)| foreign(name)).map(|(principal, _)| *principal);
    let others: BTreeSet<_> = others.filter(|principal| *principal != desk).collect();
    let holders = key_directory.registry().keys().map(|(_, record)| record.principal);
    let own = holders.filter(|holder| *holder != desk && !others.contains(holder)).collect();
    marks.kept().others = others;
    let found = if askers.is_empty() { Vec::new() } else { stopping(owner, &own)? };
    let wanted = found.iter().map(|stopping| stopping.id).collect();
    let _kept = marks.kept();
    // What was marked meanwhile may have been overlooked: then a mark too many stays until the next time.
    let is_whole = made == marks.made.load(Ordering::Relaxed);
    let trouble = |error: io::Error| error::file("keep marks in", &marks.folder.join(OPEN), &error);
    replace(marks, &wanted, is_whole).map_err(trouble)?;
    // First the marks, then the list: a hook trusts the marks once the list names its asker.
    if !marks.missed.load(Ordering::Relaxed) {
        let trouble = |error: io::Error| error::file("write", &marks.folder.join(HOOKED), &error);
        write(marks, &askers).map_err(trouble)?;
    }
    Ok(found)
}

/// Makes the marks that are missing, and if that is all there is, takes away the others.
fn replace(marks: &Marks, wanted: &BTreeSet<QuestionId>, is_whole: bool) -> io::Result<()> {
    let mut missing = wanted.clone();
    match fs::read_dir(marks.folder.join(OPEN)) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        there => {
            for mark in there? {
                let mark = mark?;
                let id = mark.file_name().to_str().and_then(|name| name.parse::<QuestionId>().ok());
                let is_wanted = id.is_some_and(|id| missing.remove(&id));
                if !is_wanted && is_whole {
                    durable::discard(&mark.path());
                }
            }
        }
    }
    missing.into_iter().try_for_each(|id| marks.try_mark(id))
}

/// Returns the questions that stop these holders of keys, the oldest first. A question that was declined or whose deadline
/// has passed goes on blocking: nobody releases itself by closing a form or by being in a hurry. One of a run that is over
/// stops nobody, for nothing can settle it any more. A gap is the rules' question, and stops whoever submitted the plan.
fn stopping(owner: &Owner, own: &BTreeSet<PrincipalId>) -> Result<Vec<Stopping>, Refusal> {
    let mut found = Vec::new();
    for asker in own {
        let asked = blocking(owner, *asker, STOPPING.to_vec())?;
        for summary in asked {
            if !run::is_over(owner, summary.trace)? {
                found.push((summary, *asker));
            }
        }
    }
    let mut authors = BTreeMap::new();
    // Nobody can call a gap off that nobody can answer any more.
    for summary in blocking(owner, owner.sequencer().registry().desk(), vec![OutcomeKind::Open])? {
        let author = match authors.get(&summary.trace) {
            Some(author) => *author,
            None => *authors.entry(summary.trace).or_insert(author_of(owner, summary.trace)?),
        };
        if own.contains(&author) {
            found.push((summary, author));
        }
    }
    found.sort_unstable_by_key(|(summary, _)| summary.cursor);
    let id = |summary: &QuestionSummary| QuestionId { trace: summary.trace, sequence: summary.sequence };
    Ok(found.into_iter().map(|(summary, asker)| Stopping { id: id(&summary), asker }).collect())
}

/// Returns whether a store holds a question or a gap that may stop somebody, whoever that is.
pub fn may_stop(store: &dyn Store) -> Result<bool, Refusal> {
    let (outcomes, severity) = (Some(STOPPING.to_vec()), Some(Severity::Block));
    let filter = QuestionFilter { outcomes, severity, ..QuestionFilter::default() };
    Ok(!store.questions(&filter, None, 1)?.is_empty())
}

/// Returns the blocking questions that somebody asked. Those of everybody else are not looked at, however many they are.
fn blocking(
    owner: &Owner,
    asker: PrincipalId,
    outcomes: Vec<OutcomeKind>,
) -> Result<Vec<QuestionSummary>, Refusal> {
    let filter = QuestionFilter {
        outcomes: Some(outcomes),
        asker: Some(asker),
        severity: Some(Severity::Block),
        ..QuestionFilter::default()
    };
    pages::read_to_end(|last: Option<&QuestionSummary>| {
        let after = last.map(|summary| summary.cursor);
        owner.sequencer().store().questions(&filter, after, ENTRIES_PER_READ)
    })
}

/// Returns whoever began a trace.
fn author_of(owner: &Owner, trace: TraceId) -> Result<PrincipalId, Refusal> {
    let (event, _) = record::read(owner.sequencer().store(), trace, Sequence::FIRST)?;
    Ok(event.envelope().actor)
}

/// How a question stands that stops its asker.
const STOPPING: [OutcomeKind; 3] = [OutcomeKind::Open, OutcomeKind::Declined, OutcomeKind::Expired];

#[cfg(test)]
mod tests {
    use super::*;

    /// A commit that made a mark while the ledger was looked at may have been overlooked there.
    #[test]
    fn mark_that_is_in_doubt_stays() {
        let folder = tempfile::tempdir().unwrap();
        let marks = Marks::of(folder.path());
        let [wanted, other] = [0, 1]
            .map(|number| format!("01ARZ3NDEKTSV4RRFFQ69G5FAV.{number}").parse::<QuestionId>().unwrap());
        let there = || -> BTreeSet<String> {
            let marks = fs::read_dir(folder.path().join(OPEN)).unwrap();
            marks.map(|mark| mark.unwrap().file_name().into_string().unwrap()).collect()
        };
        marks.mark(other);
        assert_eq!(marks.made.load(Ordering::Relaxed), 1, "it is known that something was marked");
        replace(&marks, &BTreeSet::from([wanted]), false).unwrap();
        assert_eq!(there(), BTreeSet::from([wanted.to_string(), other.to_string()]));
        replace(&marks, &BTreeSet::from([wanted]), true).unwrap();
        assert_eq!(there(), BTreeSet::from([wanted.to_string()]));
    }
}
