//! Marks against the ledger: which questions stop an asker, for whom marks are kept, and that each has its mark.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, ErrorKind},
};

use demur_ledger::{
    facts::Severity,
    name::{PrincipalId, Sequence, TraceId},
    question::OutcomeKind,
};
use demur_store::contract::{QuestionFilter, QuestionSummary, Store as _};

use super::{HOOKED, Kept, Marks, OPEN, is_of};
use crate::{
    durable,
    error::CommandError,
    owner::Owner,
    question::{QuestionId, QuestionView, view},
    record, run,
};

/// Keeps marks for an asker from now on, or no longer. Returns whether that is new.
pub fn name(owner: &Owner, asker: &str, on: bool) -> Result<bool, CommandError> {
    let marks = owner.marks();
    let mut kept = marks.kept();
    let before = kept.askers.contains(asker);
    // Whatever was lost of the list is written anew.
    let there = marks.folder.join(HOOKED).exists();
    if before == on && (there || !on) {
        return Ok(false);
    }
    let mut askers = kept.askers.clone();
    if on {
        askers.insert(asker.to_owned())
    } else {
        askers.remove(asker)
    };
    kept.askers.clone_from(&askers);
    // First the marks, then the list: a hook trusts the marks once the list names its asker.
    put_right(owner, &mut kept)?;
    write(marks, &askers).map_err(|error| CommandError::file("write", &marks.folder.join(HOOKED), &error))?;
    Ok(true)
}

fn write(marks: &Marks, askers: &BTreeSet<String>) -> io::Result<()> {
    durable::create_folder(&marks.folder.join(OPEN))?;
    let list = serde_json::to_vec(askers).map_err(io::Error::other)?;
    durable::replace(&marks.folder.join(HOOKED), &list)
}

/// Gives every question that blocks its mark, and takes away what marks nothing.
pub fn tidy(owner: &Owner) -> Result<(), CommandError> {
    let mut kept = owner.marks().kept();
    if kept.askers.is_empty() { Ok(()) } else { put_right(owner, &mut kept) }
}

/// While this goes on no mark is made or taken away by what is recorded: whoever records waits a moment.
fn put_right(owner: &Owner, kept: &mut Kept) -> Result<(), CommandError> {
    let marks = owner.marks();
    let roster = owner.roster()?;
    let foreign = |name: &str| !kept.askers.iter().any(|asker| is_of(name, asker));
    let others = roster.names().iter().filter(|(_, name)| foreign(name)).map(|(principal, _)| *principal);
    kept.others = others.filter(|principal| *principal != roster.registry().desk()).collect();
    let mut wanted = BTreeSet::new();
    if !kept.askers.is_empty() {
        each_blocking(owner, |summary, asker| {
            if !kept.others.contains(&asker) {
                wanted.insert(QuestionId { trace: summary.trace, sequence: summary.sequence });
            }
            Ok(())
        })?;
    }
    let trouble = |error: io::Error| CommandError::file("keep marks in", &marks.folder.join(OPEN), &error);
    sweep(marks, &wanted).map_err(trouble)?;
    wanted.iter().try_for_each(|id| marks.try_mark(*id)).map_err(trouble)
}

fn sweep(marks: &Marks, wanted: &BTreeSet<QuestionId>) -> io::Result<()> {
    let there = match fs::read_dir(marks.folder.join(OPEN)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        there => there?,
    };
    for mark in there {
        let mark = mark?;
        let id = mark.file_name().to_str().and_then(|name| name.parse::<QuestionId>().ok());
        if !id.is_some_and(|id| wanted.contains(&id)) {
            durable::discard(&mark.path());
        }
    }
    Ok(())
}

/// Returns the questions that stop these askers, the oldest first.
pub fn blocking(owner: &Owner, askers: &[&str]) -> Result<Vec<QuestionView>, CommandError> {
    let roster = owner.roster()?;
    let mut found = Vec::new();
    each_blocking(owner, |summary, asker| {
        if askers.iter().any(|name| is_of(roster.name(asker), name)) {
            found.push(view(owner, QuestionId { trace: summary.trace, sequence: summary.sequence })?);
        }
        Ok(())
    })?;
    Ok(found)
}

/// Calls `visit` with every question that stops somebody, and whom it stops. A question that was declined or whose deadline
/// has passed goes on blocking: nobody releases itself by closing a form or by being in a hurry. One of a run that is over
/// stops nobody, for nothing can settle it any more. A gap is the rules' question, and stops whoever submitted the plan.
fn each_blocking(
    owner: &Owner,
    mut visit: impl FnMut(&QuestionSummary, PrincipalId) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let store = owner.ledger().store();
    let desk = owner.ledger().registry().desk();
    let filter = QuestionFilter {
        outcomes: Some(vec![OutcomeKind::Open, OutcomeKind::Declined, OutcomeKind::Expired]),
        severity: Some(Severity::Block),
        ..QuestionFilter::default()
    };
    let mut after = None;
    loop {
        let page = store.questions(&filter, after, PAGE)?;
        for summary in &page {
            let row = &summary.row;
            if run::is_over(owner, summary.trace)? {
                continue;
            }
            match row.asker == desk {
                false => visit(summary, row.asker)?,
                true if row.outcome == OutcomeKind::Open => visit(summary, author_of(owner, summary.trace)?)?,
                // Nobody can call a gap off that nobody can answer any more.
                true => {}
            }
        }
        after = page.last().map(|summary| summary.cursor);
        if page.len() < PAGE {
            return Ok(());
        }
    }
}

/// Returns whoever began a trace.
fn author_of(owner: &Owner, trace: TraceId) -> Result<PrincipalId, CommandError> {
    let (event, _) = record::read(owner.ledger().store(), trace, Sequence::FIRST)?;
    Ok(event.envelope().actor)
}

/// How many questions are read at a time.
const PAGE: usize = 256;
