//! Whom a hook stops: a record for each name, so that every process of a store goes by the same list. An agent that a hook stops
//! must not let itself go.

use std::{collections::BTreeSet, iter};

use demur_api::{code::Code, question::QuestionView, refusal::Refusal};
use demur_core::hash::sha256;
use demur_ledger::facts::Severity;
use demur_store::contract::{RecordKey, Store, Swap};

use crate::{owner::Owner, records};

/// Returns the names that hooks stop.
pub(super) fn names(store: &dyn Store) -> Result<BTreeSet<String>, Refusal> {
    records::all(store, PREFIX)?.iter().map(records::read).collect()
}

/// Has a hook stop these names from now on, or no longer.
pub(super) fn set(owner: &Owner, names: &[&str], on: bool) -> Result<(), Refusal> {
    records::retry(|| {
        let mut swaps = Vec::new();
        for name in names {
            let key = key(name)?;
            match (on, owner.sequencer().store().record(&key)?) {
                (true, None) => swaps.push(records::creation(key, records::value(name, None)?)),
                (false, Some(kept)) => swaps.push(records::removal(key, kept.version)),
                (true, Some(_)) | (false, None) => {}
            }
        }
        if swaps.is_empty() { Ok(()) } else { Ok(owner.sequencer().swap(swaps)?) }
    })
}

/// Returns what must hold when a question is called off: where its asker does it, that no hook stops the asker. A person may call
/// it off, at the terminal or on a page.
pub(crate) fn release(
    owner: &Owner,
    question: &QuestionView,
    is_by_person: bool,
) -> Result<Vec<Swap>, Refusal> {
    let stops = question.severity == Severity::Block && question.state.stops_asker();
    if is_by_person || !stops {
        return Ok(Vec::new());
    }
    let mut absences = Vec::new();
    for name in names_of(&question.asker.name) {
        let key = key(name)?;
        if owner.sequencer().store().record(&key)?.is_some() {
            return Err(person_releases(question));
        }
        absences.push(Swap::absence(key));
    }
    Ok(absences)
}

fn person_releases(question: &QuestionView) -> Refusal {
    let id = question.id;
    let message = format!(
        "expected a person to cancel question {id}, found the agent that asked it: while the hook is on, only a person can"
    );
    Refusal::new(Code::PersonReleases, message)
        .with_cure(format!("a person answers it, or cancels it with `demur cancel {id}` or on its page"))
}

/// Returns every name under which somebody asks: its own, and those of which it is a role in a run.
fn names_of(holder: &str) -> impl Iterator<Item = &str> {
    let roles = holder.match_indices('.').map(|(end, _)| &holder[..end]);
    iter::once(holder).chain(roles.filter(|name| !name.is_empty()))
}

fn key(name: &str) -> Result<RecordKey, Refusal> {
    Ok(RecordKey::new(format!("{PREFIX}{}", sha256(name.as_bytes())))?)
}

/// What the keys of their records begin with.
const PREFIX: &str = "hook/";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::is_of;

    #[test]
    fn name_stops_its_holder_in_every_role() {
        let names: Vec<_> = names_of("a.b.planner").collect();
        assert_eq!(names, ["a.b.planner", "a", "a.b"]);
        assert!(names.iter().all(|name| is_of("a.b.planner", name)));
        assert_eq!(names_of(".a").collect::<Vec<_>>(), [".a"]);
    }
}
