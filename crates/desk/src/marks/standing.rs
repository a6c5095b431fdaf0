//! Marks against the ledger: which questions stop an asker, for whom marks are kept, and that each has its mark.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, ErrorKind},
    sync::atomic::Ordering,
};

use demur_api::{
    confirmation::{ConfirmationId, ConfirmationView},
    question::{QuestionId, QuestionView},
    refusal::Refusal,
};
use demur_ledger::{
    confirmation::ConfirmationStanding, facts::Severity, name::PrincipalId, question::OutcomeKind,
};
use demur_store::contract::{
    ConfirmationFilter, ConfirmationSummary, QuestionFilter, QuestionSummary, Store,
};

use super::{
    Kept, Marks, OPEN, hooked, is_of,
    list::{self, HOOKED},
};
use crate::{
    confirmation, durable, error,
    owner::Owner,
    pages::{self, ENTRIES_PER_READ},
    question::view,
    run,
};

/// Has a hook stop these askers from now on, or no longer, and keeps marks for them. Returns the questions and confirmations
/// that stop them, the oldest first.
pub fn name(
    owner: &Owner,
    names: &[&str],
    on: bool,
) -> Result<(Vec<QuestionView>, Vec<ConfirmationView>), Refusal> {
    let marks = owner.marks();
    let _turn = marks.turn();
    if !on {
        // No mark is made any more for them: until the list is written anew, every hook asks.
        marks.give_up();
    }
    hooked::set(owner, names, on)?;
    let found = put_right(owner)?;
    let key_directory = owner.key_directory()?;
    let stops =
        |stopped: &&Stopping| on && names.iter().any(|name| is_of(key_directory.name(stopped.asker), name));
    let (mut questions, mut confirmations) = (Vec::new(), Vec::new());
    for stopping in found.iter().filter(stops) {
        match stopping.kind {
            StoppingKind::Question => questions.push(view(owner, stopping.id)?),
            StoppingKind::Confirmation => {
                confirmations.push(confirmation::view(owner, ConfirmationId(stopping.id))?);
            }
        }
    }
    Ok((questions, confirmations))
}

/// Gives every question that blocks its mark, and takes away what marks nothing.
pub fn tidy(owner: &Owner) -> Result<(), Refusal> {
    let marks = owner.marks();
    let _turn = marks.turn();
    if hooked::names(owner.sequencer().store())?.is_empty() {
        marks.give_up();
        return Ok(());
    }
    put_right(owner).map(drop)
}

/// Holders of keys.
type Holders = BTreeSet<PrincipalId>;

/// A question or a confirmation that stops somebody.
struct Stopping {
    kind: StoppingKind,
    /// Both are named by the event that asked.
    id: QuestionId,
    asker: PrincipalId,
}

#[derive(Clone, Copy)]
enum StoppingKind {
    Question,
    Confirmation,
}

/// Puts the marks and the list right, and returns what stops the askers. Whoever calls has the turn. Whoever records waits for the few
/// files that change, not for the look into the ledger.
fn put_right(owner: &Owner) -> Result<Vec<Stopping>, Refusal> {
    let marks = owner.marks();
    let store = owner.sequencer().store();
    let askers = hooked::names(store)?;
    if store.is_shared() {
        // What others record gets no mark in time.
        marks.give_up();
        // One of the askers may have been registered elsewhere.
        owner.sequencer().newest_registry()?;
        return stopping(owner, &divide(owner, &askers)?.1);
    }
    let (others, own) = divide(owner, &askers)?;
    // Before the look: what is recorded after it gets its mark.
    let made = {
        let mut kept = marks.kept();
        *kept = Kept { askers: askers.clone(), others };
        marks.missed.store(false, Ordering::Relaxed);
        marks.made.load(Ordering::Relaxed)
    };
    let found = stopping(owner, &own)?;
    let wanted = found.iter().map(|stopping| stopping.id).collect();
    let _kept = marks.kept();
    // What was marked meanwhile may have been overlooked: then a mark too many stays until the next time.
    let is_whole = made == marks.made.load(Ordering::Relaxed);
    let trouble = |error: io::Error| error::file("keep marks in", &marks.folder.join(OPEN), &error);
    replace(marks, &wanted, is_whole).map_err(trouble)?;
    // First the marks, then the list: a hook trusts the marks once the list names its asker.
    if askers.is_empty() {
        marks.give_up();
    } else if !marks.missed.load(Ordering::Relaxed) {
        write(marks, &askers).map_err(|error| error::file("write", &marks.folder.join(HOOKED), &error))?;
    }
    Ok(found)
}

/// Returns the holders of keys who are none of the askers, and those who are or may be.
fn divide(owner: &Owner, askers: &BTreeSet<String>) -> Result<(Holders, Holders), Refusal> {
    let key_directory = owner.key_directory()?;
    let desk = key_directory.registry().desk();
    let foreign = |name: &str| !askers.iter().any(|asker| is_of(name, asker));
    let others =
        key_directory.names().iter().filter(|(_, name)| foreign(name)).map(|(principal, _)| *principal);
    let others: Holders = others.filter(|principal| *principal != desk).collect();
    if askers.is_empty() {
        return Ok((others, Holders::new()));
    }
    let holders = key_directory.registry().keys().map(|(_, record)| record.principal);
    let own = holders.filter(|holder| *holder != desk && !others.contains(holder)).collect();
    Ok((others, own))
}

/// Writes for whom marks are kept, unless it is written already.
fn write(marks: &Marks, askers: &BTreeSet<String>) -> io::Result<()> {
    let open = marks.folder.join(OPEN);
    if list::read(&marks.folder)?.is_some_and(|written| written == *askers) && open.is_dir() {
        return Ok(());
    }
    durable::create_folder(&open)?;
    list::write(&marks.folder, askers)
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
fn stopping(owner: &Owner, own: &Holders) -> Result<Vec<Stopping>, Refusal> {
    if own.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for asker in own {
        for summary in blocking(owner, *asker, stopping_outcomes(), false)? {
            if !run::is_over(owner, summary.trace)? {
                found.push((summary, *asker));
            }
        }
        // Nobody can call a gap off that nobody can answer any more.
        let open = blocking(owner, *asker, vec![OutcomeKind::Open], true)?;
        let gaps = open.into_iter().filter(|summary| summary.row.submitter.is_some());
        found.extend(gaps.map(|summary| (summary, *asker)));
    }
    found.sort_unstable_by_key(|(summary, _)| summary.cursor);
    let id = |summary: &QuestionSummary| QuestionId { trace: summary.trace, sequence: summary.sequence };
    let kind = StoppingKind::Question;
    let questions = found.into_iter().map(|(summary, asker)| Stopping { kind, id: id(&summary), asker });
    Ok(questions.chain(undecided(owner, own)?).collect())
}

/// Returns the operations of these holders of keys that wait for a yes or a no: whoever asked for one does nothing else meanwhile.
/// Once there is a no, or time is over, the operation is refused and its asker goes on.
fn undecided(owner: &Owner, own: &Holders) -> Result<Vec<Stopping>, Refusal> {
    let mut found = Vec::new();
    for asker in own {
        let filter = ConfirmationFilter { asker: Some(*asker), ..waiting() };
        let waiting: Vec<ConfirmationSummary> = pages::read_to_end(|last: Option<&ConfirmationSummary>| {
            let after = last.map(|summary| summary.cursor);
            owner.sequencer().store().confirmations(&filter, after, ENTRIES_PER_READ)
        })?;
        for summary in waiting {
            if !run::is_over(owner, summary.trace)? {
                found.push((summary, *asker));
            }
        }
    }
    found.sort_unstable_by_key(|(summary, _)| summary.cursor);
    let id = |summary: &ConfirmationSummary| QuestionId { trace: summary.trace, sequence: summary.sequence };
    let kind = StoppingKind::Confirmation;
    Ok(found.into_iter().map(|(summary, asker)| Stopping { kind, id: id(&summary), asker }).collect())
}

fn waiting() -> ConfirmationFilter {
    ConfirmationFilter { outcomes: Some(vec![ConfirmationStanding::Open]), ..ConfirmationFilter::default() }
}

/// Returns whether a store holds a question, a gap or a confirmation that may stop somebody, whoever that is.
pub fn may_stop(store: &dyn Store) -> Result<bool, Refusal> {
    let (outcomes, severity) = (Some(stopping_outcomes()), Some(Severity::Block));
    let filter = QuestionFilter { outcomes, severity, ..QuestionFilter::default() };
    Ok(!store.questions(&filter, None, 1)?.is_empty()
        || !store.confirmations(&waiting(), None, 1)?.is_empty())
}

/// Returns the blocking questions that somebody asked, and the gaps of their plans if these are wanted too. Those of everybody else are not looked at, however many they are.
fn blocking(
    owner: &Owner,
    asker: PrincipalId,
    outcomes: Vec<OutcomeKind>,
    with_gaps: bool,
) -> Result<Vec<QuestionSummary>, Refusal> {
    let filter = QuestionFilter {
        outcomes: Some(outcomes),
        asker: Some(asker),
        with_gaps,
        severity: Some(Severity::Block),
        ..QuestionFilter::default()
    };
    pages::read_to_end(|last: Option<&QuestionSummary>| {
        let after = last.map(|summary| summary.cursor);
        owner.sequencer().store().questions(&filter, after, ENTRIES_PER_READ)
    })
}

/// Returns the outcomes after which a question goes on stopping its asker.
fn stopping_outcomes() -> Vec<OutcomeKind> {
    OutcomeKind::ALL.into_iter().filter(|outcome| outcome.stops_asker()).collect()
}

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
